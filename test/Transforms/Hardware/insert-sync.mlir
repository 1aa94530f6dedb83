// Flags between units, barriers within one; from iteration to iteration a flag is set once before the loop and waited for
// once after it; nothing that others imply.
// RUN: kiln-opt %s --tile-insert-sync=machine=a2a3 | FileCheck %s
// RUN: kiln-opt %s --tile-insert-sync=machine=a2a3 --tile-verify-sync="machine=a2a3 mutants=true" -o /dev/null 2>&1 | FileCheck %s --check-prefix=MUTANTS
// RUN: kiln-opt %s --tile-insert-sync=machine=a2a3 --tile-insert-sync=machine=a2a3 | FileCheck %s
// A machine without instructions has no units to keep in order.
// RUN: kiln-opt %s --tile-insert-sync=machine=a2a3sim | FileCheck %s --check-prefix=SIMULATED
// SIMULATED-NOT: sync.

// MUTANTS: remark: @straight: {{[0-9]+}} flags, barriers and parts of flags were left out in turn, and each was missed
// MUTANTS: remark: @loop: {{[0-9]+}} flags

// CHECK-LABEL: @straight
// CHECK: tile.load
// CHECK-NEXT: sync.set mte2 -> v id(0)
// CHECK-NEXT: sync.wait mte2 -> v id(0)
// CHECK-NEXT: tile.exp
// CHECK-NEXT: sync.barrier v
// CHECK-NEXT: tile.exp
// CHECK-NEXT: sync.set v -> mte3 id(0)
// CHECK-NEXT: sync.wait v -> mte3 id(0)
// CHECK-NEXT: tile.store
// CHECK-NEXT: sync.barrier all
// CHECK-NEXT: }
kiln.func @straight(%x: !kiln.tensor<64x64xf32> in, %y: !kiln.tensor<64x64xf32> out) role(aiv) {
  %a = tile.load %x[0, 0] {kiln.address = array<i64: 0>} : !tile.tile<64x64xf32, vec>
  %b = tile.exp %a {kiln.address = array<i64: 0>} : !tile.tile<64x64xf32, vec>
  %c = tile.exp %b {kiln.address = array<i64: 0>} : !tile.tile<64x64xf32, vec>
  tile.store %c, %y[0, 0]
}

// CHECK-LABEL: @loop
// CHECK: sync.set mte3 -> mte2 id(0)
// CHECK-NEXT: scf.for
// CHECK-NEXT: sync.wait mte3 -> mte2 id(0)
// CHECK-NEXT: tile.load
// CHECK-NEXT: sync.set mte2 -> mte3 id(0)
// CHECK-NEXT: sync.wait mte2 -> mte3 id(0)
// CHECK-NEXT: tile.store
// CHECK-NEXT: sync.set mte3 -> mte2 id(0)
// CHECK-NEXT: }
// CHECK-NEXT: sync.wait mte3 -> mte2 id(0)
// CHECK-NEXT: sync.barrier all
kiln.func @loop(%x: !kiln.tensor<64x64xf32> in, %y: !kiln.tensor<64x64xf32> out) role(aiv) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c9 = arith.constant 9 : index
  scf.for %i = %c0 to %c9 step %c1 {
    %a = tile.load %x[0, 0] {kiln.address = array<i64: 0>} : !tile.tile<64x64xf32, vec>
    tile.store %a, %y[0, 0]
  }
}
