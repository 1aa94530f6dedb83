// A submit without a kernel hands on order, and so does a chain; tasks outside the scope are ordered as ever.
// Only the fill has no order with what follows it.
// RUN: split-file --leading-lines %s %t
// RUN: not %kiln run %t/wrong.mlir --seeds 4 --no-reference 2>&1 | FileCheck %s
// RUN: %kiln run %t/right.mlir --seeds 4 --no-reference 2>&1 | FileCheck %s --check-prefix=RIGHT
// RIGHT: checked {{.*}}: 0 findings

//--- wrong.mlir
kiln.func @copy(%x: !kiln.tensor<4x8xf32>, %y: !kiln.tensor<4x8xf32>) incore {
  %t = tile.load %x[0, 0] : !tile.tile<4x8xf32>
  // CHECK: wrong.mlir:[[#@LINE-1]]:{{[0-9]+}}: error: race: task 1 (copy) reads element [0, 0] of 'x' (f32[4, 8]), which task 0 (fill) writes
  tile.store %t, %y[0, 0]
}
kiln.func @fill(%x: !kiln.tensor<4x8xf32>) incore {
  %one = arith.constant 1.0 : f32
  %t = tile.full %one : !tile.tile<4x8xf32>
  tile.store %t, %x[0, 0]
}
kiln.func @main(%y: !kiln.tensor<4x8xf32>) orchestration {
  %x = kiln.alloc() : !kiln.tensor<4x8xf32>
  %z = kiln.alloc() : !kiln.tensor<4x8xf32>
  kiln.scope manual {
    %a = kiln.submit @fill(%x)
    %b = kiln.submit @copy(%x, %z)
    %join = kiln.submit deps(%b)
    %c = kiln.submit @fill(%x) deps(%join)
  }
  %d = kiln.submit @copy(%z, %y)
}
// CHECK-NOT: task 4

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
  %z = kiln.alloc() : !kiln.tensor<4x8xf32>
  kiln.scope manual {
    %a = kiln.submit @fill(%x)
    %b = kiln.submit @copy(%x, %z) deps(%a)
    %join = kiln.submit deps(%b)
    %c = kiln.submit @fill(%x) deps(%join)
  }
  %d = kiln.submit @copy(%z, %y)
}
