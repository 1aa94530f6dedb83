// Rounding the number of blocks down leaves the ragged end unwritten: right for every multiple of four.
// RUN: split-file --leading-lines %s %t
// RUN: not %kiln run %t/wrong.mlir --seeds 4 --arg n=10 --no-reference 2>&1 | FileCheck %s
// RUN: %kiln run %t/right.mlir --seeds 4 --arg n=10 --no-reference 2>&1 | FileCheck %s --check-prefix=RIGHT
// RIGHT: checked {{.*}}: 0 findings

//--- wrong.mlir
kiln.func @rows(%x: !kiln.tensor<?x8xf32>) incore {
  %c4 = arith.constant 4 : index
  %one = arith.constant 1.0 : f32
  %block = tile.block_idx 0
  %row = arith.muli %block, %c4 : index
  %t = tile.full %one : !tile.tile<4x8xf32>
  tile.store %t, %x[%row, 0]
}
kiln.func @total(%x: !kiln.tensor<?x8xf32>, %y: !kiln.tensor<1x8xf32>) incore {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %zero = arith.constant 0.0 : f32
  %n = kiln.dim %x, 0
  %init = tile.full %zero : !tile.tile<1x8xf32>
  %sum = scf.for %i = %c0 to %n step %c4 iter_args(%s = %init) -> (!tile.tile<1x8xf32>) {
    %t = tile.load %x[%i, 0] : !tile.tile<4x8xf32>
  // CHECK: wrong.mlir:[[#@LINE-1]]:{{[0-9]+}}: error: reads element [8, 0] of 'x' (f32[10, 8]), which nobody has written
    %p = tile.reduce sum %t axis(0) : !tile.tile<1x8xf32>
    %next = tile.add %s, %p : !tile.tile<1x8xf32>
    scf.yield %next : !tile.tile<1x8xf32>
  }
  tile.store %sum, %y[0, 0]
}
kiln.func @main(%n: index, %y: !kiln.tensor<1x8xf32>) orchestration {
  %c4 = arith.constant 4 : index
  %x = kiln.alloc(%n) : !kiln.tensor<?x8xf32>
  %blocks = arith.divsi %n, %c4 : index
  %a = kiln.submit @rows(%x) grid(%blocks)
  %b = kiln.submit @total(%x, %y)
}

//--- right.mlir
kiln.func @rows(%x: !kiln.tensor<?x8xf32>) incore {
  %c4 = arith.constant 4 : index
  %one = arith.constant 1.0 : f32
  %block = tile.block_idx 0
  %row = arith.muli %block, %c4 : index
  %t = tile.full %one : !tile.tile<4x8xf32>
  tile.store %t, %x[%row, 0]
}
kiln.func @total(%x: !kiln.tensor<?x8xf32>, %y: !kiln.tensor<1x8xf32>) incore {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %zero = arith.constant 0.0 : f32
  %n = kiln.dim %x, 0
  %init = tile.full %zero : !tile.tile<1x8xf32>
  %sum = scf.for %i = %c0 to %n step %c4 iter_args(%s = %init) -> (!tile.tile<1x8xf32>) {
    %t = tile.load %x[%i, 0] : !tile.tile<4x8xf32>
    %p = tile.reduce sum %t axis(0) : !tile.tile<1x8xf32>
    %next = tile.add %s, %p : !tile.tile<1x8xf32>
    scf.yield %next : !tile.tile<1x8xf32>
  }
  tile.store %sum, %y[0, 0]
}
kiln.func @main(%n: index, %y: !kiln.tensor<1x8xf32>) orchestration {
  %c4 = arith.constant 4 : index
  %x = kiln.alloc(%n) : !kiln.tensor<?x8xf32>
  %blocks = arith.ceildivsi %n, %c4 : index
  %a = kiln.submit @rows(%x) grid(%blocks)
  %b = kiln.submit @total(%x, %y)
}
