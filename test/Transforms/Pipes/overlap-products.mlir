// The second product of an iteration is made while the next one computes what it needs for its own.
// RUN: kiln-opt %s --kiln-pipeline="platform=h200 last=tile-overlap-products report=true" 2>&1 >/dev/null | FileCheck %s --check-prefix=REMARK
// RUN: kiln-opt %s --kiln-pipeline="platform=h200 last=tile-overlap-products" | FileCheck %s
// RUN: kiln emit %s -p h200 --target cuda | FileCheck %s --check-prefix=CUDA
// RUN: kiln emit %s -p h200 --target cuda --without tile-overlap-products | FileCheck %s --check-prefix=WITHOUT

!half = !tile.tile<128x64xbf16>
!scores = !tile.tile<128x128xf32>
!row = !tile.tile<128x1xf32>
!out = !tile.tile<128x64xf32>

// REMARK: remark: the last product of this loop runs beside the next iteration

// Queries come once a block, through the copying role.
// CHECK-LABEL: kiln.func @attention_dma
// CHECK:         tile.push %{{.*}}, %to_compute
// CHECK:         scf.for

// CHECK-LABEL: kiln.func @attention_compute
// CHECK:         scf.if
// CHECK:           tile.matmul %
// CHECK:           tile.free %to_compute_1
// CHECK:           scf.for
// CHECK:             %[[S:.*]] = tile.matmul_start %{{.*}}, %{{.*}} trans_b : !tile.tile<64x128xf32, acc>
// CHECK:             tile.pop %to_compute_2
// CHECK:             %[[O:.*]] = tile.matmul_start %{{.*}}, %{{.*}} onto %{{.*}} : !tile.tile<64x64xf32, acc>
// CHECK-NEXT:        tile.await %[[S]]
// CHECK-NEXT:        tile.free %to_compute_1
// CHECK:             tile.exp2
// CHECK:             tile.reduce sum
// CHECK:             tile.await %[[O]]
// CHECK-NEXT:        tile.free %to_compute_2
// CHECK:             tile.cast %{{.*}} : !tile.tile<64x128xbf16, vec>
// CHECK:             scf.yield
// The slot of the queries is free before the last product is made: those of the next block come beside it.
// CHECK:           tile.free %to_compute{{$}}
// CHECK:           tile.pop %to_compute_2
// CHECK:           tile.matmul_acc
// CHECK:           tile.free %to_compute_2
// CHECK:         } else {
// CHECK-NEXT:      tile.free %to_compute{{$}}
// CHECK-NEXT:      scf.yield
// CHECK-NEXT:    }
// CHECK-NOT:     tile.free

// CUDA:       start<true, false, true>([[S:[a-z0-9_]+]],
// CUDA:       start<false>([[O:[a-z0-9_]+]], {{[a-z0-9_]+,}}
// CUDA-NEXT:  await<1>([[S]]);
// CUDA:       await<0>([[O]]);
// CUDA:       packed(
// WITHOUT-NOT: start<
kiln.func @attention(%q: !kiln.tensor<?x64xbf16>, %k: !kiln.tensor<?x64xbf16>, %v: !kiln.tensor<?x64xbf16>,
                     %o: !kiln.tensor<?x64xf32>) incore {
  %c0 = arith.constant 0 : index
  %c128 = arith.constant 128 : index
  %n = kiln.dim %k, 0
  %z = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  %block = tile.block_idx 0
  %i = arith.muli %block, %c128 : index
  %queries = tile.load %q[%i, 0] : !half
  %m0 = tile.full %low : !row
  %o0 = tile.full %z : !out
  %s0 = tile.full %z : !row
  %r:3 = scf.for %j = %c0 to %n step %c128 iter_args(%m = %m0, %s = %s0, %acc = %o0) -> (!row, !row, !out) {
    %keys = tile.load %k[%j, 0] : !half
    %values = tile.load %v[%j, 0] : !half
    %scores = tile.matmul %queries, %keys trans_b : !scores
    %top = tile.reduce max %scores axis(1) : !row
    %next = tile.max %m, %top : !row
    %d = tile.sub %scores, %next : !scores
    %p = tile.exp %d : !scores
    %e = tile.sub %m, %next : !row
    %f = tile.exp %e : !row
    %sf = tile.mul %s, %f : !row
    %part = tile.reduce sum %p axis(1) : !row
    %sum = tile.add %sf, %part : !row
    %faded = tile.mul %acc, %f : !out
    %ph = tile.cast %p : !tile.tile<128x128xbf16>
    %new = tile.matmul_acc %faded, %ph, %values : !out
    scf.yield %next, %sum, %new : !row, !row, !out
  } {kiln.loop = #kiln.loop<pipeline, stages = 2>}
  %end = tile.div %r#2, %r#1 : !out
  tile.store %end, %o[%i, 0]
}
kiln.func @main(%q: !kiln.tensor<?x64xbf16>, %k: !kiln.tensor<?x64xbf16>, %v: !kiln.tensor<?x64xbf16>,
                %o: !kiln.tensor<?x64xf32>) orchestration {
  %c1 = arith.constant 1 : index
  %t = kiln.submit @attention(%q, %k, %v, %o) grid(%c1)
}
