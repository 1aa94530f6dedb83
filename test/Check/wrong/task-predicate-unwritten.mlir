// Nobody wrote what the predicate reads. The task would be skipped without a word.
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
kiln.func @main(%y: !kiln.tensor<4x8xf32>) orchestration {
  %f = kiln.alloc() : !kiln.tensor<1xi32>
  %b = kiln.submit @fill(%y) predicate(%f[0] > 0)
  // CHECK: wrong.mlir:[[#@LINE-1]]:{{[0-9]+}}: error: reads element [0] of 'f' (i32[1]), which nobody has written (in the predicate
}

//--- right.mlir
kiln.func @fill(%x: !kiln.tensor<4x8xf32>) incore {
  %one = arith.constant 1.0 : f32
  %t = tile.full %one : !tile.tile<4x8xf32>
  tile.store %t, %x[0, 0]
}
kiln.func @flag(%f: !kiln.tensor<1xi32>) incore {
  %one = arith.constant 1 : i32
  kiln.write %one, %f[0]
}
kiln.func @main(%y: !kiln.tensor<4x8xf32>) orchestration {
  %f = kiln.alloc() : !kiln.tensor<1xi32>
  %a = kiln.submit @flag(%f)
  %b = kiln.submit @fill(%y) predicate(%f[0] > 0)
}
