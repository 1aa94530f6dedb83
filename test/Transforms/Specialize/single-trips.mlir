// A kernel that walks along a row twice has a version for rows of one tile: no loops, and after cse one load.
// RUN: kiln-opt %s --tile-single-trips -split-input-file | FileCheck %s
// RUN: kiln-opt %s --tile-single-trips --canonicalize --cse -split-input-file | FileCheck %s --check-prefix=CSE
// RUN: kiln-opt %s --tile-single-trips=report=true -split-input-file -o /dev/null 2>&1 | FileCheck %s --check-prefix=REPORT

// CHECK-LABEL: kiln.func @norm
// CHECK:         %[[N:.*]] = kiln.dim %x, 1
// CHECK:         %[[END:.*]] = arith.addi %c0, %c64
// CHECK:         %[[BEGINS:.*]] = arith.cmpi slt, %c0, %[[N]]
// CHECK:         %[[ENDS:.*]] = arith.cmpi sle, %[[N]], %[[END]]
// CHECK:         %[[SHORT:.*]] = arith.andi %[[BEGINS]], %[[ENDS]]
// CHECK:         scf.if %[[SHORT]] {
// CHECK-NOT:       scf.for
// CHECK:           tile.load %x[%block, %c0]
// CHECK:           tile.load %x[%block, %c0]
// CHECK-NOT:       scf.for
// CHECK:           tile.store {{.*}}, %y[%block, %c0]
// CHECK:         } else {
// CHECK:           scf.for
// CHECK:           scf.for
// CHECK-LABEL: kiln.func @once
// CHECK-NOT:     scf.if

// CSE-LABEL:   kiln.func @norm
// CSE:           scf.if
// CSE:             tile.load %x
// CSE-NOT:         tile.load
// CSE:             tile.store
// CSE:           } else {

// REPORT:      remark: there is a version for rows of one tile, which loads it once
// REPORT-NOT:  remark
kiln.func @norm(%x: !kiln.tensor<?x?xf32> in, %y: !kiln.tensor<?x?xf32> out) incore {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant 0.0 : f32
  %block = tile.block_idx 0
  %n = kiln.dim %x, 1
  %start = tile.full %zero : !tile.tile<1x1xf32>
  %sum = scf.for %j = %c0 to %n step %c64 iter_args(%s = %start) -> (!tile.tile<1x1xf32>) {
    %t = tile.load %x[%block, %j] : !tile.tile<1x64xf32>
    %part = tile.reduce sum %t axis(1) : !tile.tile<1x1xf32>
    %next = tile.add %s, %part : !tile.tile<1x1xf32>
    scf.yield %next : !tile.tile<1x1xf32>
  }
  %scale = tile.rsqrt %sum : !tile.tile<1x1xf32>
  scf.for %j = %c0 to %n step %c64 {
    %t = tile.load %x[%block, %j] : !tile.tile<1x64xf32>
    %r = tile.mul %t, %scale : !tile.tile<1x64xf32>
    tile.store %r, %y[%block, %j]
  }
}

// One look: nothing is loaded again.
kiln.func @once(%x: !kiln.tensor<?x?xf32> in, %y: !kiln.tensor<?x?xf32> out) incore {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %block = tile.block_idx 0
  %n = kiln.dim %x, 1
  scf.for %j = %c0 to %n step %c64 {
    %t = tile.load %x[%block, %j] : !tile.tile<1x64xf32>
    %r = tile.exp %t : !tile.tile<1x64xf32>
    tile.store %r, %y[%block, %j]
  }
  scf.for %j = %c0 to %n step %c64 {
    %t = tile.load %y[%block, %j] : !tile.tile<1x64xf32>
    %r = tile.exp %t : !tile.tile<1x64xf32>
    tile.store %r, %y[%block, %j]
  }
}

// -----

// Loops of other bounds, pipelined loops and kernels with products stay as they are.
// CHECK-LABEL: kiln.func @other
// CHECK-NOT:     scf.if
// CHECK-LABEL: kiln.func @pipelined
// CHECK-NOT:     scf.if
// CHECK-LABEL: kiln.func @product
// CHECK-NOT:     scf.if
kiln.func @other(%x: !kiln.tensor<?x?xf32> in, %y: !kiln.tensor<?x?xf32> out) incore {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %c64 = arith.constant 64 : index
  %n = kiln.dim %x, 1
  scf.for %j = %c0 to %n step %c64 {
    %t = tile.load %x[0, %j] : !tile.tile<1x64xf32>
    tile.store %t, %y[0, %j]
  }
  scf.for %j = %c0 to %n step %c32 {
    %t = tile.load %x[0, %j] : !tile.tile<1x64xf32>
    tile.store %t, %y[1, %j]
  }
}
kiln.func @pipelined(%x: !kiln.tensor<?x?xf32> in, %y: !kiln.tensor<?x?xf32> out) incore {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %n = kiln.dim %x, 1
  scf.for %j = %c0 to %n step %c64 {
    %t = tile.load %x[0, %j] : !tile.tile<1x64xf32>
    tile.store %t, %y[0, %j]
  } {kiln.loop = #kiln.loop<pipeline, stages = 2>}
  scf.for %j = %c0 to %n step %c64 {
    %t = tile.load %x[0, %j] : !tile.tile<1x64xf32>
    tile.store %t, %y[1, %j]
  } {kiln.loop = #kiln.loop<pipeline, stages = 2>}
}
kiln.func @product(%x: !kiln.tensor<?x?xf32> in, %y: !kiln.tensor<?x?xf32> out) incore {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %n = kiln.dim %x, 1
  scf.for %j = %c0 to %n step %c64 {
    %t = tile.load %x[0, %j] : !tile.tile<64x64xf32>
    %p = tile.matmul %t, %t : !tile.tile<64x64xf32>
    tile.store %p, %y[0, %j]
  }
  scf.for %j = %c0 to %n step %c64 {
    %t = tile.load %x[0, %j] : !tile.tile<64x64xf32>
    tile.store %t, %y[64, %j]
  }
}
