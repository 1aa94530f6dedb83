// What a block writes in the next round others may still read, without a barrier before it.
// RUN: split-file --leading-lines %s %t
// RUN: not %kiln check %t/wrong.mlir | FileCheck %s
// RUN: %kiln check %t/right.mlir | FileCheck %s --check-prefix=RIGHT
// RIGHT: {{^}}CLEAN
// CHECK: error: race: block
// CHECK: note: the blocks of a launch run in any order between two barriers: put a tile.barrier between the two, let each have elements of its own, or add with tile.store ... atomic(add)
// CHECK: FINDINGS

//--- wrong.mlir
module @barrier_two_phase {
  kiln.func @main(%x: !kiln.tensor<?x?xf32> in, %y: !kiln.tensor<?x?xf32> out) orchestration {
    %c16 = arith.constant 16 : index
    %c128 = arith.constant 128 : index
    %0 = kiln.dim %x, 0
    %1 = kiln.dim %y, 0
    %2 = arith.cmpi eq, %0, %1 : index
    %3 = kiln.dim %x, 1
    %4 = kiln.dim %y, 1
    %5 = arith.cmpi eq, %3, %4 : index
    %6 = arith.andi %2, %5 : i1
    kiln.require %6, "s"
    %7 = kiln.dim %x, 1
    %8 = arith.cmpi eq, %7, %c16 : index
    %9 = kiln.dim %x, 0
    %10 = arith.cmpi sle, %9, %c128 : index
    %11 = arith.andi %8, %10 : i1
    kiln.require %11, "w"
    %12 = kiln.dim %x, 0
    %tmp = kiln.alloc(%12) : !kiln.tensor<?x16xf32>
    %13 = kiln.dim %x, 0
    %14 = arith.ceildivsi %13, %c16 : index
    %15 = kiln.incore "k" grid(%14) sync_start {
      %c16_0 = arith.constant 16 : index
      %c0 = arith.constant 0 : index
      %c3 = arith.constant 3 : index
      %c1 = arith.constant 1 : index
      %block = tile.block_idx 0
      %16 = arith.muli %block, %c16_0 : index
      %17 = tile.load %x[%16, 0] : !tile.tile<16x16xf32>
      %18 = scf.for %arg0 = %c0 to %c3 step %c1 iter_args(%arg1 = %17) -> (!tile.tile<16x16xf32>) {
        %20 = arith.muli %block, %c16_0 : index
        tile.store %arg1, %tmp[%20, 0]
        tile.barrier
        %21 = arith.subi %block, %c1 : index
        %22 = arith.maxsi %21, %c0 : index
        %23 = arith.muli %22, %c16_0 : index
        %24 = tile.load %tmp[%23, 0] : !tile.tile<16x16xf32>
        %25 = tile.add %arg1, %24 : !tile.tile<16x16xf32>
        scf.yield %25 : !tile.tile<16x16xf32>
      }
      %19 = arith.muli %block, %c16_0 : index
      tile.store %18, %y[%19, 0]
    }
  }
}

//--- right.mlir
module @barrier_two_phase {
  kiln.func @main(%x: !kiln.tensor<?x?xf32> in, %y: !kiln.tensor<?x?xf32> out) orchestration {
    %c16 = arith.constant 16 : index
    %c128 = arith.constant 128 : index
    %0 = kiln.dim %x, 0
    %1 = kiln.dim %y, 0
    %2 = arith.cmpi eq, %0, %1 : index
    %3 = kiln.dim %x, 1
    %4 = kiln.dim %y, 1
    %5 = arith.cmpi eq, %3, %4 : index
    %6 = arith.andi %2, %5 : i1
    kiln.require %6, "s"
    %7 = kiln.dim %x, 1
    %8 = arith.cmpi eq, %7, %c16 : index
    %9 = kiln.dim %x, 0
    %10 = arith.cmpi sle, %9, %c128 : index
    %11 = arith.andi %8, %10 : i1
    kiln.require %11, "w"
    %12 = kiln.dim %x, 0
    %tmp = kiln.alloc(%12) : !kiln.tensor<?x16xf32>
    %13 = kiln.dim %x, 0
    %14 = arith.ceildivsi %13, %c16 : index
    %15 = kiln.incore "k" grid(%14) sync_start {
      %c16_0 = arith.constant 16 : index
      %c0 = arith.constant 0 : index
      %c3 = arith.constant 3 : index
      %c1 = arith.constant 1 : index
      %block = tile.block_idx 0
      %16 = arith.muli %block, %c16_0 : index
      %17 = tile.load %x[%16, 0] : !tile.tile<16x16xf32>
      %18 = scf.for %arg0 = %c0 to %c3 step %c1 iter_args(%arg1 = %17) -> (!tile.tile<16x16xf32>) {
        %20 = arith.muli %block, %c16_0 : index
        tile.store %arg1, %tmp[%20, 0]
        tile.barrier
        %21 = arith.subi %block, %c1 : index
        %22 = arith.maxsi %21, %c0 : index
        %23 = arith.muli %22, %c16_0 : index
        %24 = tile.load %tmp[%23, 0] : !tile.tile<16x16xf32>
        %25 = tile.add %arg1, %24 : !tile.tile<16x16xf32>
        tile.barrier
        scf.yield %25 : !tile.tile<16x16xf32>
      }
      %19 = arith.muli %block, %c16_0 : index
      tile.store %18, %y[%19, 0]
    }
  }
}
