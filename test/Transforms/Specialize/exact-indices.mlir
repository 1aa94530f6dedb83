// What MLIR's canonicalizer would simplify wrongly is written in another way.
// RUN: kiln-opt %s --kiln-exact-indices -split-input-file | FileCheck %s
// RUN: kiln-opt %s --kiln-exact-indices --canonicalize -split-input-file | FileCheck %s --check-prefix=SIMPLE

// The upper bits of %i are lost on the way through i8.
// CHECK-LABEL: kiln.func @narrow
// CHECK:         %[[WIDE:.*]] = arith.index_cast %i : index to i64
// CHECK-NEXT:    %[[NARROW:.*]] = arith.trunci %[[WIDE]] : i64 to i8
// CHECK-NEXT:    %[[BACK:.*]] = arith.index_cast %[[NARROW]] : i8 to index
// SIMPLE-LABEL: kiln.func @narrow
// SIMPLE:        arith.trunci
// SIMPLE:        %[[BACK:.*]] = arith.index_cast %{{.*}} : i8 to index
// SIMPLE:        kiln.write %{{.*}}, %y[%[[BACK]]]
kiln.func @narrow(%y: !kiln.tensor<4xi8>, %i: index) incore {
  %n = arith.index_cast %i : index to i8
  %b = arith.index_cast %n : i8 to index
  kiln.write %n, %y[%b]
}

// -----

// CHECK-LABEL: kiln.func @unsigned
// CHECK:         arith.index_castui %i : index to i64
// CHECK-NEXT:    arith.trunci
// CHECK:         arith.index_cast %i : index to i64
// CHECK-NOT:     arith.trunci
kiln.func @unsigned(%y: !kiln.tensor<4xi16>, %z: !kiln.tensor<4xi64>, %i: index) incore {
  %n = arith.index_castui %i : index to i16
  kiln.write %n, %y[0]
  %w = arith.index_cast %i : index to i64
  kiln.write %w, %z[0]
}
