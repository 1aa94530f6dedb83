// One tensor for the rings of a group, allocated for each launch by the number of its blocks.
// RUN: kiln-opt %s --kiln-inject-gm-pipe --kiln-infer-directions -split-input-file | FileCheck %s
// Idempotent:
// RUN: kiln-opt %s --kiln-inject-gm-pipe --kiln-inject-gm-pipe --kiln-infer-directions -split-input-file | FileCheck %s
// Nothing to do where pipes live elsewhere:
// RUN: kiln-opt %s --kiln-inject-gm-pipe=machine=a5sim -split-input-file | FileCheck %s --check-prefix=ELSEWHERE --implicit-check-not=kiln.ring
// ELSEWHERE-NOT: __gm_pipe

// Two slots of 64x64xf32 each way; the default slots become explicit. A token has no bytes.
// CHECK-LABEL: kiln.func @g(
// CHECK-SAME: %out: !kiln.tensor<64x64xf32> inout {kiln.inferred}, %s: index, %__gm_pipe: !kiln.tensor<?x66048xi8> inout {kiln.internal}) group lanes(2)
// CHECK: tile.pipe slots(2) {kiln.ring = array<i64: 16384, 0>} : !tile.pipe<aiv -> aic, 64x64xf32, up_down>
// CHECK: tile.pipe slots(1) {kiln.ring = array<i64: 33280, 32768, 49152, 65536>} : !tile.pipe<aic -> aiv, (64x64xf32, 64x64xf32, 64x2xbf16), up_down>
// CHECK: tile.pipe slots(2) : !tile.pipe<aic -> aiv, token>
!up = !tile.pipe<aiv -> aic, 64x64xf32, up_down>
!down = !tile.pipe<aic -> aiv, (64x64xf32, 64x64xf32, 64x2xbf16), up_down>
!go = !tile.pipe<aic -> aiv, token>
kiln.func @cube(%up: !up, %down: !down, %go: !go) role(aic) {
  %a = tile.pop %up : !tile.tile<64x64xf32>
  %b = tile.matmul %a, %a : !tile.tile<64x64xf32>
  %z = arith.constant 0.0 : bf16
  %n = tile.full %z : !tile.tile<64x2xbf16>
  tile.push %b, %b, %n, %down
  tile.push %go
}
kiln.func @vec(%out: !kiln.tensor<64x64xf32>, %up: !up, %down: !down, %go: !go) role(aiv) {
  %c32 = arith.constant 32 : index
  %lane = tile.lane
  %i = arith.muli %lane, %c32 : index
  %a = tile.load %out[%i, 0] : !tile.tile<32x64xf32>
  tile.push %a, %up
  %b, %c, %n = tile.pop %down : !tile.tile<32x64xf32>, !tile.tile<32x64xf32>, !tile.tile<32x2xbf16>
  tile.pop %go
  tile.store %b, %out[%i, 0]
}
kiln.func @g(%out: !kiln.tensor<64x64xf32>, %s: index) group lanes(2) {
  %up = tile.pipe : !up
  %down = tile.pipe slots(1) : !down
  %go = tile.pipe slots(2) : !go
  kiln.call @cube(%up, %down, %go)
  kiln.call @vec(%out, %up, %down, %go)
}

// Static, run-time and mixed grids; the allocation comes right before the launch, in the same block, after what the
// grid depends on; in a called orchestration as well.
// CHECK-LABEL: kiln.func @launches
// CHECK: %[[RINGS:.*]] = kiln.alloc() : !kiln.tensor<1x66048xi8>
// CHECK-NEXT: kiln.submit @g(%out, %n, %[[RINGS]])
// CHECK: kiln.alloc() name("__gm_pipe") : !kiln.tensor<24x66048xi8>
// CHECK-NEXT: kiln.submit @g({{.*}}) grid(6, 4)
// CHECK: scf.for %[[I:.*]] =
// CHECK: %[[COUNT:.*]] = kiln.get %sizes[%[[I]]]
// CHECK-NEXT: %[[SIZE:.*]] = arith.index_cast %[[COUNT]]
// CHECK: %[[A:.*]] = arith.maxsi %[[SIZE]], %{{.*}}
// CHECK: %[[B:.*]] = arith.maxsi %n, %{{.*}}
// CHECK-NEXT: %[[AB:.*]] = arith.muli %[[A]], %[[B]]
// CHECK: %[[ALL:.*]] = arith.muli %[[AB]], %{{.*}}
// CHECK-NEXT: %[[LOOP:.*]] = kiln.alloc(%[[ALL]]) name("__gm_pipe") : !kiln.tensor<?x66048xi8>
// CHECK-NEXT: kiln.submit @g(%out, %n, %[[LOOP]]) grid(%[[SIZE]], 3, %n)
// CHECK-LABEL: kiln.func @outer
// CHECK-NOT: kiln.alloc
// CHECK: kiln.call @launches(%out, %sizes, %n)
kiln.func @launches(%out: !kiln.tensor<64x64xf32>, %sizes: !kiln.tensor<?xi32>, %n: index) orchestration {
  %t = kiln.submit @g(%out, %n)
  %u = kiln.submit @g(%out, %n) grid(6, 4)
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    %count = kiln.get %sizes[%i] : i32
    %size = arith.index_cast %count : i32 to index
    %v = kiln.submit @g(%out, %n) grid(%size, 3, %n)
  }
}
kiln.func @outer(%out: !kiln.tensor<64x64xf32>, %sizes: !kiln.tensor<?xi32>, %n: index) orchestration {
  kiln.call @launches(%out, %sizes, %n)
}

// -----

// A group whose pipes carry only tokens needs no memory.
// CHECK-LABEL: kiln.func @tokens(%x: !kiln.tensor<8x8xf32> in) group
// CHECK-NOT: kiln.internal
!go = !tile.pipe<aic -> aiv, token>
kiln.func @cube(%go: !go) role(aic) {
  tile.push %go
}
kiln.func @vec(%x: !kiln.tensor<8x8xf32>, %go: !go) role(aiv) {
  tile.pop %go
}
kiln.func @tokens(%x: !kiln.tensor<8x8xf32>) group {
  %go = tile.pipe slots(2) : !go
  kiln.call @cube(%go)
  kiln.call @vec(%x, %go)
}

// -----

// Without sharding, for tests, all blocks use one row.
// RUN: kiln-opt %s --kiln-inject-gm-pipe=shard=false -split-input-file | FileCheck %s --check-prefix=SHARED
// SHARED: kiln.func @delay(%x: !kiln.tensor<8x8xf32>, %__gm_pipe: !kiln.tensor<?x1024xi8> inout {kiln.internal}) group lanes(2) attributes {kiln.shared_ring} {
// Both ends have lanes and nothing is split: each lane has a tile of its own in a slot.
// CHECK-LABEL: kiln.func @delay
// CHECK: tile.pipe slots(2) {kiln.ring = array<i64: 512, 0>} : !tile.pipe<aiv -> aiv, 8x8xf32>
!line = !tile.pipe<aiv -> aiv, 8x8xf32>
kiln.func @vec(%x: !kiln.tensor<8x8xf32>, %line: !line) role(aiv) {
  %a = tile.load %x[0, 0] : !tile.tile<8x8xf32>
  tile.push %a, %line
  %b = tile.pop %line : !tile.tile<8x8xf32>
}
kiln.func @delay(%x: !kiln.tensor<8x8xf32>) group lanes(2) {
  %line = tile.pipe slots(2) : !line
  kiln.call @vec(%x, %line)
}
