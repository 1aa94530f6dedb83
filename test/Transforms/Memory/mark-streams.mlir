// What a block does not touch again, and no other block touches, is marked.
// RUN: kiln-opt %s --tile-mark-streams | FileCheck %s

// CHECK-LABEL: kiln.func @norm
// CHECK:         scf.if
// CHECK:           tile.load %x[{{.*}}] {kiln.streams}
// CHECK:           tile.load %w[0] :
// CHECK:           tile.store {{.*}}, %y[{{.*}}] {kiln.streams}
// CHECK:         } else {
// CHECK:           scf.for
// The second look is still to come.
// CHECK:             tile.load %x[{{[^{]*}}] :
// CHECK:           scf.for
// CHECK:             tile.load %x[{{.*}}] {kiln.streams}
// CHECK:             tile.load %w[{{[^{]*}}] :
// CHECK:             tile.store {{.*}}, %y[{{.*}}] {kiln.streams}
kiln.func @norm(%x: !kiln.tensor<?x?xf32> in, %w: !kiln.tensor<?xf32> in, %y: !kiln.tensor<?x?xf32> out) role(compute) {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant 0.0 : f32
  %block = tile.block_idx 0
  %i = arith.muli %block, %c4 : index
  %n = kiln.dim %x, 1
  %short = arith.cmpi sle, %n, %c64 : index
  %start = tile.full %zero : !tile.tile<4x1xf32>
  scf.if %short {
    %t = tile.load %x[%i, 0] : !tile.tile<4x64xf32>
    %v = tile.load %w[0] : !tile.tile<1x64xf32>
    %r = tile.mul %t, %v : !tile.tile<4x64xf32>
    tile.store %r, %y[%i, 0]
  } else {
    %sum = scf.for %j = %c0 to %n step %c64 iter_args(%s = %start) -> (!tile.tile<4x1xf32>) {
      %t = tile.load %x[%i, %j] : !tile.tile<4x64xf32>
      %part = tile.reduce sum %t axis(1) : !tile.tile<4x1xf32>
      %next = tile.add %s, %part : !tile.tile<4x1xf32>
      scf.yield %next : !tile.tile<4x1xf32>
    }
    scf.for %j = %c0 to %n step %c64 {
      %t = tile.load %x[%i, %j] : !tile.tile<4x64xf32>
      %v = tile.load %w[%j] : !tile.tile<1x64xf32>
      %r = tile.mul %t, %v : !tile.tile<4x64xf32>
      %q = tile.mul %r, %sum : !tile.tile<4x64xf32>
      tile.store %q, %y[%i, %j]
    }
  }
}

// The same box in every iteration, and in one branch after the other: both come again.
// CHECK-LABEL: kiln.func @again
// CHECK-NOT:     kiln.streams
kiln.func @again(%x: !kiln.tensor<?x?xf32> in, %y: !kiln.tensor<?x?xf32> inout, %flag: i1) role(compute) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %block = tile.block_idx 0
  %n = kiln.dim %x, 1
  scf.for %j = %c0 to %n step %c1 {
    %t = tile.load %x[%block, 0] : !tile.tile<1x64xf32>
    scf.if %flag {
      tile.store %t, %y[%block, %j]
    } else {
      %u = tile.load %y[%block, %j] : !tile.tile<1x64xf32>
      tile.store %u, %y[%block, %j]
    }
  }
}

// Where a role copies it is what that sends, and nothing that the others could not leave to it.
// CHECK-LABEL: kiln.func @send
// CHECK:         tile.load %x[{{.*}}] {kiln.streams}
// CHECK-LABEL: kiln.func @take
// CHECK-NOT:     kiln.streams
// CHECK-LABEL: kiln.func @copy
kiln.func @send(%x: !kiln.tensor<?x?xf32>, %p: !tile.pipe<dma -> compute, 64x64xf32>) role(dma) {
  %block = tile.block_idx 0
  %t = tile.load %x[%block, 0] : !tile.tile<64x64xf32>
  tile.push %t, %p
}
kiln.func @take(%y: !kiln.tensor<?x?xf32>, %p: !tile.pipe<dma -> compute, 64x64xf32>) role(compute) {
  %block = tile.block_idx 0
  %t = tile.pop %p : !tile.tile<64x64xf32>
  tile.store %t, %y[%block, 0]
  tile.free %p
}
kiln.func @copy(%x: !kiln.tensor<?x?xf32>, %y: !kiln.tensor<?x?xf32>) group {
  %p = tile.pipe : !tile.pipe<dma -> compute, 64x64xf32>
  kiln.call @send(%x, %p)
  kiln.call @take(%y, %p)
}

// The last rounds of a loop, peeled from it, read what no other round does; another loop reads it again.
// CHECK-LABEL: kiln.func @rounds
// CHECK:         scf.for
// CHECK:           tile.load %x[{{.*}}] {kiln.streams}
// CHECK:           tile.load %y[{{[^{]*}}] :
// CHECK:         scf.for
// CHECK:           tile.load %x[{{.*}}] {kiln.streams}
// CHECK:         } {kiln.peeled}
// CHECK:         scf.for
// CHECK:           tile.load %y[{{.*}}] {kiln.streams}
kiln.func @rounds(%x: !kiln.tensor<?x?xf32> in, %y: !kiln.tensor<?x?xf32> in, %z: !kiln.tensor<?x?xf32> out, %some: index, %all: index) role(compute) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %block = tile.block_idx 0
  scf.for %j = %c0 to %some step %c64 {
    %t = tile.load %x[%block, %j] : !tile.tile<1x64xf32>
    %u = tile.load %y[%block, %j] : !tile.tile<1x64xf32>
    %v = tile.add %t, %u : !tile.tile<1x64xf32>
    tile.store %v, %z[%block, %j]
  }
  scf.for %j = %some to %all step %c64 {
    %t = tile.load %x[%block, %j] : !tile.tile<1x64xf32>
    tile.store %t, %z[%block, %j]
  } {kiln.peeled}
  scf.for %j = %c0 to %all step %c64 {
    %u = tile.load %y[%block, %j] : !tile.tile<1x64xf32>
    tile.store %u, %z[%block, %j]
  }
}
