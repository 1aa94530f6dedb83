// The task writes the other element.
// RUN: split-file --leading-lines %s %t
// RUN: not %kiln run %t/wrong.mlir --seeds 4 --no-reference 2>&1 | FileCheck %s
// RUN: %kiln run %t/right.mlir --seeds 4 --no-reference 2>&1 | FileCheck %s --check-prefix=RIGHT
// RIGHT: checked {{.*}}: 0 findings

//--- wrong.mlir
kiln.func @fill(%x: !kiln.tensor<4x8xf32>) incore {
  %one = arith.constant 1.0 : f32
  %t = tile.full %one : !tile.tile<4x8xf32>
  tile.store %t, %x[0, 0]
}
kiln.func @rows(%n: !kiln.tensor<2xi32>) incore {
  %four = arith.constant 4 : i32
  kiln.write %four, %n[0]
}
kiln.func @main(%y: !kiln.tensor<4x8xf32>) orchestration {
  %n = kiln.alloc() : !kiln.tensor<2xi32>
  %a = kiln.submit @rows(%n)
  %v = kiln.get %n[1] : i32
  // CHECK: wrong.mlir:[[#@LINE-1]]:{{[0-9]+}}: error: reads element [1] of 'n' (i32[2]), which nobody has written
  %b = kiln.submit @fill(%y)
}

//--- right.mlir
kiln.func @fill(%x: !kiln.tensor<4x8xf32>) incore {
  %one = arith.constant 1.0 : f32
  %t = tile.full %one : !tile.tile<4x8xf32>
  tile.store %t, %x[0, 0]
}
kiln.func @rows(%n: !kiln.tensor<2xi32>) incore {
  %four = arith.constant 4 : i32
  kiln.write %four, %n[0]
}
kiln.func @main(%y: !kiln.tensor<4x8xf32>) orchestration {
  %n = kiln.alloc() : !kiln.tensor<2xi32>
  %a = kiln.submit @rows(%n)
  %v = kiln.get %n[0] : i32
  %b = kiln.submit @fill(%y)
}
