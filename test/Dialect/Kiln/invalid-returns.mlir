// Results that are not one tensor each: rejected, with the reason.
// RUN: kiln-opt %s -split-input-file -verify-diagnostics

kiln.func @twice(%a: !kiln.tensor<8xf32>, %b: !kiln.tensor<8xf32>) -> (!kiln.tensor<8xf32>, !kiln.tensor<8xf32>, !kiln.tensor<8xf32>) orchestration {
  // expected-error@+1 {{result 2 names a tensor that is returned already, as result 0}}
  kiln.return %a, %b, %a
}

// -----

kiln.func @twice_new() -> (!kiln.tensor<8xf32>, !kiln.tensor<8xf32>) orchestration {
  %a = kiln.alloc() : !kiln.tensor<8xf32>
  // expected-error@+1 {{result 1 names a tensor that is returned already, as result 0}}
  kiln.return %a, %a
}

// -----

kiln.func @view(%a: !kiln.tensor<8xf32>) -> !kiln.tensor<4xf32> orchestration {
  %v = kiln.slice %a[4] [4] : !kiln.tensor<4xf32>
  // expected-error@+1 {{result 0 is neither a parameter nor a kiln.alloc of the function's outermost block; it is a view: return the tensor it is a view of}}
  kiln.return %v
}

// -----

kiln.func @inner() -> !kiln.tensor<8xf32> orchestration {
  %a = kiln.alloc() : !kiln.tensor<8xf32>
  kiln.return %a
}
kiln.func @passed_on() -> !kiln.tensor<8xf32> orchestration {
  %a = kiln.call @inner() -> !kiln.tensor<8xf32>
  // expected-error@+1 {{result 0 is neither a parameter nor a kiln.alloc of the function's outermost block; it is what @inner returns: allocate it here and let that function write it}}
  kiln.return %a
}

// -----

kiln.func @types(%a: !kiln.tensor<8xf32>, %b: !kiln.tensor<4xf32>) -> (!kiln.tensor<8xf32>, !kiln.tensor<4xf32>) orchestration {
  // expected-error@+1 {{returns 2 tensors of other types than the function declares}}
  kiln.return %b, %a
}
