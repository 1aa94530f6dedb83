// The number of blocks comes from a number that a require bounds by an extent; blocks overlap by a row.
// RUN: split-file --leading-lines %s %t
// RUN: sh -c '%kiln check %t/wrong.mlir; test $? = 1' | FileCheck %s
// RUN: %kiln check %t/right.mlir | FileCheck %s --check-prefix=RIGHT
// CHECK: race: {{.*}}'y'
// RIGHT: {{^}}CLEAN

//--- wrong.mlir
module @rows {
  kiln.func @main(%x: !kiln.tensor<?x?xf32> in, %y: !kiln.tensor<?x?xf32> inout, %n: index) orchestration {
    %c0 = arith.constant 0 : index
    %c32 = arith.constant 32 : index
    %0 = arith.cmpi sge, %n, %c0 : index
    %1 = kiln.dim %x, 0
    %2 = arith.cmpi sle, %n, %1 : index
    %3 = arith.andi %0, %2 : i1
    kiln.require %3, "the first n rows"
    %4 = kiln.dim %x, 0
    %5 = kiln.dim %y, 0
    %6 = arith.cmpi eq, %4, %5 : index
    %7 = kiln.dim %x, 1
    %8 = kiln.dim %y, 1
    %9 = arith.cmpi eq, %7, %8 : index
    %10 = arith.andi %6, %9 : i1
    kiln.require %10, "one shape"
    %11 = arith.ceildivsi %n, %c32 : index
    %12 = kiln.dim %x, 1
    %13 = arith.ceildivsi %12, %c32 : index
    %14 = kiln.incore "copy" grid(%11, %13) {
      %c31 = arith.constant 31 : index
      %c32_0 = arith.constant 32 : index
      %block = tile.block_idx 0
      %block_1 = tile.block_idx 1
      %15 = arith.muli %block, %c31 : index
      %16 = arith.subi %n, %15 : index
      %19 = arith.muli %block, %c31 : index
      %20 = arith.muli %block_1, %c32_0 : index
      %21 = tile.load %x[%19, %20] : !tile.tile<32x32xf32>
      tile.store %21, %y[%19, %20] valid(%16, 32)
    }
  }
}

//--- right.mlir
module @rows {
  kiln.func @main(%x: !kiln.tensor<?x?xf32> in, %y: !kiln.tensor<?x?xf32> inout, %n: index) orchestration {
    %c0 = arith.constant 0 : index
    %c32 = arith.constant 32 : index
    %0 = arith.cmpi sge, %n, %c0 : index
    %1 = kiln.dim %x, 0
    %2 = arith.cmpi sle, %n, %1 : index
    %3 = arith.andi %0, %2 : i1
    kiln.require %3, "the first n rows"
    %4 = kiln.dim %x, 0
    %5 = kiln.dim %y, 0
    %6 = arith.cmpi eq, %4, %5 : index
    %7 = kiln.dim %x, 1
    %8 = kiln.dim %y, 1
    %9 = arith.cmpi eq, %7, %8 : index
    %10 = arith.andi %6, %9 : i1
    kiln.require %10, "one shape"
    %11 = arith.ceildivsi %n, %c32 : index
    %12 = kiln.dim %x, 1
    %13 = arith.ceildivsi %12, %c32 : index
    %14 = kiln.incore "copy" grid(%11, %13) {
      %c31 = arith.constant 32 : index
      %c32_0 = arith.constant 32 : index
      %block = tile.block_idx 0
      %block_1 = tile.block_idx 1
      %15 = arith.muli %block, %c31 : index
      %16 = arith.subi %n, %15 : index
      %19 = arith.muli %block, %c31 : index
      %20 = arith.muli %block_1, %c32_0 : index
      %21 = tile.load %x[%19, %20] : !tile.tile<32x32xf32>
      tile.store %21, %y[%19, %20] valid(%16, 32)
    }
  }
}
