// REQUIRES: kiln, emulated-gpu
// RUN: split-file --leading-lines %s %t
// RUN: sh -c '%emulate %kiln run %t/late.mlir -p h200 --no-reference --arg x=16x8:ones --arg y=16x8 2>&1; test $? = 1' | FileCheck %s --check-prefix=LATE
// RUN: sh -c '%emulate %kiln run %t/left.mlir -p h200 --no-reference --arg x=16x8:ones --arg y=16x8 2>&1; test $? = 1' | FileCheck %s --check-prefix=LEFT

// Roles that wait for each other as they run may wait for ever: who compiled for a run is told who waits for what, also for
// tiles that nobody pops.

//--- late.mlir
// LATE: the kernel hangs: lane 0 of role aic waits for tiles in pipe 'to_aic', slot 1, at block [1, 0, 0]
!p = !tile.pipe<aiv -> aic, 8x8xf32>
kiln.func @one(%x: !kiln.tensor<?x8xf32>, %p: !p) role(aiv) {
  %t = tile.load %x[0, 0] : !tile.tile<8x8xf32>
  tile.push %t, %p
}
kiln.func @as_told(%x: !kiln.tensor<?x8xf32>, %y: !kiln.tensor<?x8xf32>, %p: !p) role(aic) {
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %half = arith.constant 0.5 : f32
  %i = tile.block_idx 0
  %row = arith.muli %i, %c8 : index
  %first = tile.pop %p : !tile.tile<8x8xf32>
  tile.store %first, %y[%row, 0]
  %t = tile.load %x[%row, 0] : !tile.tile<8x8xf32>
  %e = tile.element %t[0, 0] : f32
  %more = arith.cmpf ogt, %e, %half : f32
  %second = arith.cmpi eq, %i, %c1 : index
  %both = arith.andi %more, %second : i1
  scf.if %both {
    %u = tile.pop %p : !tile.tile<8x8xf32>
    tile.store %u, %y[%row, 0]
  }
}
kiln.func @g(%x: !kiln.tensor<?x8xf32> in, %y: !kiln.tensor<?x8xf32> out) group {
  %p = tile.pipe : !p
  kiln.call @one(%x, %p)
  kiln.call @as_told(%x, %y, %p)
}
kiln.func @main(%x: !kiln.tensor<?x8xf32> in, %y: !kiln.tensor<?x8xf32> out) orchestration {
  %c2 = arith.constant 2 : index
  kiln.submit @g(%x, %y) grid(%c2)
}

//--- left.mlir
// LEFT: the kernel hangs: lane {{[01]}} of role aiv waits for its last tiles to be popped from pipe 'to_aic', slot {{[01]}}, at block [0, 0, 0]
!p = !tile.pipe<aiv -> aic, 16x8xf32, up_down>
kiln.func @as_told(%x: !kiln.tensor<16x8xf32>, %p: !p) role(aiv) {
  %half = arith.constant 0.5 : f32
  %t = tile.load %x[0, 0] : !tile.tile<8x8xf32>
  tile.push %t, %p
  %e = tile.element %t[0, 0] : f32
  %more = arith.cmpf ogt, %e, %half : f32
  scf.if %more {
    tile.push %t, %p
  }
}
kiln.func @one(%y: !kiln.tensor<16x8xf32>, %p: !p) role(aic) {
  %t = tile.pop %p : !tile.tile<16x8xf32>
  tile.store %t, %y[0, 0]
}
kiln.func @g(%x: !kiln.tensor<16x8xf32> in, %y: !kiln.tensor<16x8xf32> out) group lanes(2) {
  %p = tile.pipe : !p
  kiln.call @as_told(%x, %p)
  kiln.call @one(%y, %p)
}
kiln.func @main(%x: !kiln.tensor<16x8xf32> in, %y: !kiln.tensor<16x8xf32> out) orchestration {
  kiln.submit @g(%x, %y)
}
