// Rings in shared memory: what lanes have there counts for each of them, a load that is only sent on has no memory of
// its own, and rings that do not say otherwise get the slots that there is room for.
// RUN: kiln-opt %s --tile-plan-memory=machine=hopper | FileCheck %s
// RUN: kiln-opt %s --tile-plan-memory=machine=hopper --tile-plan-memory=machine=hopper | FileCheck %s
// RUN: kiln-opt %s --tile-plan-memory="machine=hopper report=true" -o /dev/null 2>&1 | FileCheck %s --check-prefix=REPORT

// CHECK-LABEL: kiln.func @send
// CHECK: tile.load {{.*}}{kiln.address = array<i64: -1>}
!p = !tile.pipe<dma -> compute, 64x128xf32, up_down>
!q = !tile.pipe<dma -> compute, 64x128xf32>
kiln.func @send(%x: !kiln.tensor<?x128xf32>, %n: index, %p: !p, %q: !q) role(dma) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  scf.for %i = %c0 to %n step %c64 {
    %a = tile.load %x[%i, 0] : !tile.tile<64x128xf32, mat>
    tile.push %a, %p
    tile.push %a, %q
  }
}

// The ring of %q keeps its two slots, 64 KiB. Two lanes stage 4 KiB each behind the rings, so %p gets 4 of 32 KiB.
// CHECK-LABEL: kiln.func @receive
// CHECK: tile.load {{.*}}{kiln.address = array<i64: 196608>}
// REPORT: remark: pipe 'to_compute_0' has 4 slots of 32768 bytes, as memory allows
// REPORT: remark: @receive uses 204800 of 231424 bytes of mat
kiln.func @receive(%y: !kiln.tensor<?x128xf32>, %n: index, %p: !p, %q: !q) role(compute) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  scf.for %i = %c0 to %n step %c64 {
    %a = tile.pop %p : !tile.tile<32x128xf32, mat>
    %b = tile.pop %q : !tile.tile<64x128xf32, mat>
    %s = tile.load %y[%i, 0] : !tile.tile<8x128xf32, mat>
    tile.store %a, %y[%i, 0]
    tile.store %b, %y[%i, 0]
    tile.store %s, %y[%i, 0]
    tile.free %p
    tile.free %q
  }
}

// CHECK-LABEL: kiln.func @group
// CHECK: tile.pipe slots(4) : !tile.pipe<dma -> compute, 64x128xf32, up_down>
// CHECK: tile.pipe slots(2) : !tile.pipe<dma -> compute, 64x128xf32>
kiln.func @group(%x: !kiln.tensor<?x128xf32>, %y: !kiln.tensor<?x128xf32>, %n: index) group lanes(2) {
  %p = tile.pipe : !p
  %q = tile.pipe slots(2) : !q
  kiln.call @send(%x, %n, %p, %q)
  kiln.call @receive(%y, %n, %p, %q)
}

// Small tiles: no more than sixteen slots. What comes once needs no more than it has.
!s = !tile.pipe<dma -> compute, 8x128xf32>
kiln.func @send_few(%x: !kiln.tensor<?x128xf32>, %s: !s) role(dma) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c9 = arith.constant 9 : index
  scf.for %i = %c0 to %c9 step %c1 {
    %a = tile.load %x[%i, 0] : !tile.tile<8x128xf32, mat>
    tile.push %a, %s
  }
}
kiln.func @receive_few(%x: !kiln.tensor<?x128xf32>, %s: !s) role(compute) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c9 = arith.constant 9 : index
  scf.for %i = %c0 to %c9 step %c1 {
    %a = tile.pop %s : !tile.tile<8x128xf32, mat>
    tile.store %a, %x[8, 0]
    tile.free %s
  }
}
kiln.func @send_once(%x: !kiln.tensor<?x128xf32>, %s: !s) role(dma) {
  %a = tile.load %x[0, 0] : !tile.tile<8x128xf32, mat>
  tile.push %a, %s
}
kiln.func @receive_once(%x: !kiln.tensor<?x128xf32>, %s: !s) role(compute) {
  %a = tile.pop %s : !tile.tile<8x128xf32, mat>
  tile.store %a, %x[8, 0]
  tile.free %s
}
// CHECK-LABEL: kiln.func @once
// CHECK: tile.pipe : !tile.pipe
kiln.func @once(%x: !kiln.tensor<?x128xf32>) group {
  %s = tile.pipe : !s
  kiln.call @send_once(%x, %s)
  kiln.call @receive_once(%x, %s)
}
// CHECK-LABEL: kiln.func @few
// CHECK: tile.pipe slots(16)
kiln.func @few(%x: !kiln.tensor<?x128xf32>) group {
  %s = tile.pipe : !s
  kiln.call @send_few(%x, %s)
  kiln.call @receive_few(%x, %s)
}
