// A read outside of a tensor of integers is a finding if it is one whatever they are.
// RUN: split-file --leading-lines %s %t
// RUN: not %kiln check %t/wrong.mlir | FileCheck %s
// RUN: %kiln check %t/right.mlir | FileCheck %s --check-prefix=RIGHT
// RIGHT: {{^}}CLEAN
// CHECK: error: kiln.read: element [1] is outside 'n' (i32[1])
// CHECK: FINDINGS

//--- wrong.mlir
module @get_order {
  kiln.func @main(%x: !kiln.tensor<?x?xf32> in, %n: !kiln.tensor<?xi32> in, %y: !kiln.tensor<?x?xf32> out) orchestration {
    %c16 = arith.constant 16 : index
    %c1 = arith.constant 1 : index
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
    %9 = kiln.dim %n, 0
    %10 = arith.cmpi eq, %9, %c1 : index
    %11 = arith.andi %8, %10 : i1
    kiln.require %11, "w"
    %12 = kiln.dim %x, 0
    %13 = arith.ceildivsi %12, %c16 : index
    %14 = kiln.incore "k" grid(%13) {
      %c16_0 = arith.constant 16 : index
      %c0 = arith.constant 0 : index
      %c1_1 = arith.constant 1 : index
      %cst = arith.constant 2.000000e+00 : f32
      %block = tile.block_idx 0
      %15 = arith.muli %block, %c16_0 : index
      %16 = tile.load %x[%15, 0] : !tile.tile<16x16xf32>
      %17 = kiln.read %n[1] : i32
      %18 = arith.index_cast %17 : i32 to index
      %19 = scf.for %arg0 = %c0 to %18 step %c1_1 iter_args(%arg1 = %16) -> (!tile.tile<16x16xf32>) {
        %21 = tile.mul %arg1, %cst : !tile.tile<16x16xf32>
        scf.yield %21 : !tile.tile<16x16xf32>
      }
      %20 = arith.muli %block, %c16_0 : index
      tile.store %19, %y[%20, 0]
    }
  }
}

//--- right.mlir
module @get_order {
  kiln.func @main(%x: !kiln.tensor<?x?xf32> in, %n: !kiln.tensor<?xi32> in, %y: !kiln.tensor<?x?xf32> out) orchestration {
    %c16 = arith.constant 16 : index
    %c1 = arith.constant 1 : index
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
    %9 = kiln.dim %n, 0
    %10 = arith.cmpi eq, %9, %c1 : index
    %11 = arith.andi %8, %10 : i1
    kiln.require %11, "w"
    %12 = kiln.dim %x, 0
    %13 = arith.ceildivsi %12, %c16 : index
    %14 = kiln.incore "k" grid(%13) {
      %c16_0 = arith.constant 16 : index
      %c0 = arith.constant 0 : index
      %c1_1 = arith.constant 1 : index
      %cst = arith.constant 2.000000e+00 : f32
      %block = tile.block_idx 0
      %15 = arith.muli %block, %c16_0 : index
      %16 = tile.load %x[%15, 0] : !tile.tile<16x16xf32>
      %17 = kiln.read %n[0] : i32
      %18 = arith.index_cast %17 : i32 to index
      %19 = scf.for %arg0 = %c0 to %18 step %c1_1 iter_args(%arg1 = %16) -> (!tile.tile<16x16xf32>) {
        %21 = tile.mul %arg1, %cst : !tile.tile<16x16xf32>
        scf.yield %21 : !tile.tile<16x16xf32>
      }
      %20 = arith.muli %block, %c16_0 : index
      tile.store %19, %y[%20, 0]
    }
  }
}
