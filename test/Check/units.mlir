// The units of a core work at the same time. What no flag orders is refuted by the proof and found by the simulator, which
// tells of a race with both lines: in the core's own memory, and in global memory.
// RUN: split-file %s %t
// RUN: not %kiln check %t/core.mlir -p a2a3 | FileCheck %t/core.mlir
// RUN: not %kiln check %t/global.mlir -p a2a3 | FileCheck %t/global.mlir
// RUN: not %kiln check %t/end.mlir -p a2a3 | FileCheck %t/end.mlir

//--- core.mlir
// CHECK: core.mlir:[[@LINE+12]]:{{.*}}error: tile.add (unit v) may begin before an operation of unit mte2 that touches the same memory has finished
// CHECK: core.mlir:[[@LINE+10]]:{{.*}}note: this one (tile.load)
// CHECK: core.mlir:[[@LINE+10]]:{{.*}}race: tile.add (unit v) may begin before an operation of unit mte2 that touches the same memory has finished
// CHECK: core.mlir:[[@LINE+8]]:{{.*}}note: tile.load is here (in add)
// CHECK: note: the units of a core work at the same time: order the two with a flag
// CHECK: flags of @add: refuted
// CHECK: FINDINGS
kiln.func @add(%x: !kiln.tensor<64x64xf32> in, %y: !kiln.tensor<64x64xf32> out) role(aiv) {
  %a = tile.load %x[0, 0] {kiln.address = array<i64: 0>} : !tile.tile<64x64xf32, vec>
  sync.set mte2 -> v id(0)
  sync.wait mte2 -> v id(0)
  %b = tile.load %x[0, 0] {kiln.address = array<i64: 16384>} : !tile.tile<64x64xf32, vec>
  %c = tile.add %a, %b {kiln.address = array<i64: 0>} : !tile.tile<64x64xf32, vec>
  sync.set v -> mte3 id(0)
  sync.wait v -> mte3 id(0)
  tile.store %c, %y[0, 0]
  sync.barrier all
}

//--- global.mlir
// The tile that is loaded last is where nobody else is, but what it is loaded from may not have been stored.
// CHECK: global.mlir:[[@LINE+8]]:{{.*}}race: copy (unit mte2) reads element [0, 0] of 'y' {{.*}}which copy (unit mte3) writes, and nothing orders the two
// CHECK: global.mlir:[[@LINE+6]]:{{.*}}note: copy (unit mte3) writes it here
// CHECK: note: the units of a core work at the same time: order the two with a flag
kiln.func @copy(%x: !kiln.tensor<64x64xf32> in, %y: !kiln.tensor<64x64xf32> inout, %z: !kiln.tensor<64x64xf32> out) role(aiv) {
  %a = tile.load %x[0, 0] {kiln.address = array<i64: 0>} : !tile.tile<64x64xf32, vec>
  sync.set mte2 -> mte3 id(0)
  sync.wait mte2 -> mte3 id(0)
  tile.store %a, %y[0, 0]
  %b = tile.load %y[0, 0] {kiln.address = array<i64: 16384>} : !tile.tile<64x64xf32, vec>
  sync.set mte2 -> mte3 id(0)
  sync.wait mte2 -> mte3 id(0)
  tile.store %b, %z[0, 0]
  sync.barrier all
}

//--- end.mlir
// CHECK: end.mlir:[[@LINE+5]]:{{.*}}race: sync.set sets a flag that nobody waits for
// CHECK: end.mlir:[[@LINE+6]]:{{.*}}race: tile.store may not have finished when the role ends
kiln.func @copy(%x: !kiln.tensor<64x64xf32> in, %y: !kiln.tensor<64x64xf32> out) role(aiv) {
  %a = tile.load %x[0, 0] {kiln.address = array<i64: 0>} : !tile.tile<64x64xf32, vec>
  sync.set mte2 -> mte3 id(0)
  sync.set mte2 -> mte3 id(1)
  sync.wait mte2 -> mte3 id(0)
  tile.store %a, %y[0, 0]
}
