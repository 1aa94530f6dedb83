// RUN: kiln-opt %s --kiln-exact-indices -split-input-file -verify-diagnostics

kiln.func @f(%y: !kiln.tensor<4xi8>) incore {
  %big = arith.constant 4611686018427387904 : index
  // expected-error @below {{'arith.addi' op has a result that never fits the 64 bits of an index}}
  %sum = arith.addi %big, %big : index
}

// -----

// What is computed from constants alone is a constant.
kiln.func @f(%y: !kiln.tensor<4xi8>) incore {
  %big = arith.constant 9223372036854775806 : index
  %one = arith.constant 1 : index
  %most = arith.ori %big, %one : index
  // expected-error @below {{'arith.addi' op has a result that never fits the 64 bits of an index}}
  %sum = arith.addi %most, %one : index
}

// -----

// MLIR would add the two constants first, and multiply them.
kiln.func @f(%y: !kiln.tensor<4xi8>, %n: index) incore {
  %big = arith.constant 9223372036854775807 : index
  %more = arith.addi %n, %big : index
  // expected-error @below {{'arith.addi' op combines constants that together do not fit the 64 bits of an index}}
  %sum = arith.addi %more, %big : index
}

// -----

kiln.func @f(%y: !kiln.tensor<4xi8>, %n: index) incore {
  %big = arith.constant 1099511627776 : index
  %more = arith.muli %n, %big : index
  // expected-error @below {{'arith.muli' op combines constants that together do not fit the 64 bits of an index}}
  %product = arith.muli %more, %big : index
}

// -----

kiln.func @f(%y: !kiln.tensor<4xi8>) incore {
  %least = arith.constant -9223372036854775808 : index
  %one = arith.constant -1 : index
  // expected-error @below {{'arith.divsi' op has a result that never fits the 64 bits of an index}}
  %q = arith.divsi %least, %one : index
}
