// The last of the tiles that a loop adds up is ragged. A mask behind the loop would cut off data of the others.
// RUN: split-file --leading-lines %s %t
// RUN: not %kiln run %t/wrong.mlir --seeds 2 --arg x=10x13 --arg y=10x1 --no-reference 2>&1 | FileCheck %s
// RUN: %kiln run %t/right.mlir --seeds 2 --arg x=10x13 --arg y=10x1 --no-reference 2>&1 | FileCheck %s --check-prefix=RIGHT
// RUN: not %kiln run %t/wrong-without-a-loop.mlir --seeds 2 --arg x=10x13 --arg y=10x1 --no-reference 2>&1 | FileCheck %s --check-prefix=TWO
// RIGHT: checked {{.*}}: 0 findings

//--- wrong.mlir
kiln.func @k(%x: !kiln.tensor<?x?xf32>, %y: !kiln.tensor<?x?xf32> inout) incore {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %zero = arith.constant 0.0 : f32
  %n = kiln.dim %x, 1
  %init = tile.full %zero : !tile.tile<16x8xf32>
  %acc = scf.for %j = %c0 to %n step %c8 iter_args(%sum = %init) -> (!tile.tile<16x8xf32>) {
    %a = tile.load %x[0, %j] : !tile.tile<16x8xf32>
    %e = tile.exp %a : !tile.tile<16x8xf32>
    %next = tile.add %sum, %e : !tile.tile<16x8xf32>
    // CHECK: wrong.mlir:[[#@LINE-1]]:{{[0-9]+}}: error: tile.add combines padding with what the loop carries: in row 0 of the 16x8 tile only columns [0, 5) are data; column 5 holds 1 and would have to hold 0
    // CHECK: wrong.mlir:[[#@LINE-4]]:{{[0-9]+}}: note: filled up with 0 here
    scf.yield %next : !tile.tile<16x8xf32>
  }
  %s = tile.reduce sum %acc axis(1) : !tile.tile<16x1xf32>
  tile.store %s, %y[0, 0]
}

//--- right.mlir
kiln.func @k(%x: !kiln.tensor<?x?xf32>, %y: !kiln.tensor<?x?xf32> inout) incore {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %zero = arith.constant 0.0 : f32
  %n = kiln.dim %x, 1
  %init = tile.full %zero : !tile.tile<16x8xf32>
  %acc = scf.for %j = %c0 to %n step %c8 iter_args(%sum = %init) -> (!tile.tile<16x8xf32>) {
    %a = tile.load %x[0, %j] pad(min) : !tile.tile<16x8xf32>
    %e = tile.exp %a : !tile.tile<16x8xf32>
    %next = tile.add %sum, %e : !tile.tile<16x8xf32>
    scf.yield %next : !tile.tile<16x8xf32>
  }
  %s = tile.reduce sum %acc axis(1) : !tile.tile<16x1xf32>
  tile.store %s, %y[0, 0]
}

// Two tiles may be combined beyond an edge on purpose; the sum that takes the result for data may not.
//--- wrong-without-a-loop.mlir
kiln.func @k(%x: !kiln.tensor<?x?xf32>, %y: !kiln.tensor<?x?xf32> inout) incore {
  %a = tile.load %x[0, 0] : !tile.tile<16x8xf32>
  %b = tile.load %x[0, 8] : !tile.tile<16x8xf32>
  %e = tile.exp %b : !tile.tile<16x8xf32>
  %both = tile.add %a, %e : !tile.tile<16x8xf32>
  %s = tile.reduce sum %both axis(1) : !tile.tile<16x1xf32>
  // TWO: wrong-without-a-loop.mlir:[[#@LINE-1]]:{{[0-9]+}}: error: the sum over axis 1 includes padding: in row 0 of the 16x8 tile only columns [0, 5) are data; column 5 holds {{.*}} and would have to hold 0
  // TWO: wrong-without-a-loop.mlir:[[#@LINE-3]]:{{[0-9]+}}: note: tile.add combines padding with data here, where it would have to hold 0: put a tile.mask with pad(zero) before that
  tile.store %s, %y[0, 0]
}
