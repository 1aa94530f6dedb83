// In a manual scope nobody orders the reader after the writer.
// RUN: split-file --leading-lines %s %t
// RUN: not %kiln run %t/wrong.mlir --seeds 4 --no-reference 2>&1 | FileCheck %s
// RUN: %kiln run %t/right.mlir --seeds 4 --no-reference 2>&1 | FileCheck %s --check-prefix=RIGHT
// RIGHT: checked {{.*}}: 0 findings

//--- wrong.mlir
kiln.func @copy(%x: !kiln.tensor<4x8xf32>, %y: !kiln.tensor<4x8xf32>) incore {
  %t = tile.load %x[0, 0] : !tile.tile<4x8xf32>
  // CHECK: wrong.mlir:[[#@LINE-1]]:8: error: race: task 1 (copy) reads element [0, 0] of 'x' (f32[4, 8]), which task 0 (fill) writes, and nothing orders the two; it holds 1 (in copy, block [0, 0, 0] of task 1)
  tile.store %t, %y[0, 0]
}
kiln.func @fill(%x: !kiln.tensor<4x8xf32>) incore {
  %one = arith.constant 1.0 : f32
  %t = tile.full %one : !tile.tile<4x8xf32>
  tile.store %t, %x[0, 0]
  // CHECK: wrong.mlir:[[#@LINE-1]]:3: note: task 0 (fill) writes it here (in fill, block [0, 0, 0] of task 0)
}
kiln.func @main(%y: !kiln.tensor<4x8xf32>) orchestration {
  %x = kiln.alloc() : !kiln.tensor<4x8xf32>
  kiln.scope manual {
    %a = kiln.submit @fill(%x)
    %b = kiln.submit @copy(%x, %y)
  }
}
// CHECK: wrong.mlir:[[#@LINE-3]]:10: note: task 1 is submitted here
// CHECK: wrong.mlir:[[#@LINE-5]]:10: note: task 0 is submitted here
// CHECK: note: give the later submit deps(...) on the earlier, or take both out of the manual scope
// CHECK: replay: kiln run {{.*}}wrong.mlir --no-reference --seeds 1 --seed 0
// CHECK: {{^}}FAIL

//--- right.mlir
kiln.func @fill(%x: !kiln.tensor<4x8xf32>) incore {
  %one = arith.constant 1.0 : f32
  %t = tile.full %one : !tile.tile<4x8xf32>
  tile.store %t, %x[0, 0]
}
kiln.func @copy(%x: !kiln.tensor<4x8xf32>, %y: !kiln.tensor<4x8xf32>) incore {
  %t = tile.load %x[0, 0] : !tile.tile<4x8xf32>
  tile.store %t, %y[0, 0]
}
kiln.func @main(%y: !kiln.tensor<4x8xf32>) orchestration {
  %x = kiln.alloc() : !kiln.tensor<4x8xf32>
  kiln.scope manual {
    %a = kiln.submit @fill(%x)
    %b = kiln.submit @copy(%x, %y) deps(%a)
  }
}
