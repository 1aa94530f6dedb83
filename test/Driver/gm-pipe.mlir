// Pipes in global memory, executed: each launch has a ring for each of its blocks.
// RUN: kiln-opt %s --kiln-prepare --tile-choose-spaces --kiln-inject-gm-pipe --tile-plan-memory -o %t.mlir
// RUN: %kiln run %t.mlir --seeds 3 --no-reference --arg a=64x64 --arg r=64x64 --arg out=64x64 | FileCheck %s
// RUN: %kiln run %t.mlir --seeds 3 --no-reference --arg a=256x64 --arg r=256x64 --arg out=256x64 | FileCheck %s
// RUN: %kiln run %t.mlir --seeds 3 --no-reference --arg a=1500x64 --arg r=1500x64 --arg out=1500x64 | FileCheck %s
// No block at all, so no row:
// RUN: %kiln run %t.mlir --seeds 3 --no-reference --arg a=0x64 --arg r=0x64 --arg out=0x64 | FileCheck %s
// A static grid, launches in a loop with sizes known late, a called orchestration, a group by itself:
// RUN: %kiln run %t.mlir --entry fixed --seeds 3 --no-reference | FileCheck %s
// RUN: %kiln run %t.mlir --entry late --seeds 3 --no-reference --arg a=512x64 --arg r=512x64 --arg out=512x64 --arg sizes=4:1,0,3,2 | FileCheck %s
// RUN: %kiln run %t.mlir --entry fused --seeds 3 --no-reference --arg a=64x64 --arg r=64x64 --arg out=64x64 | FileCheck %s
// CHECK: checked 3 schedules from seed 0 on: 0 findings
// CHECK: RAN

// One ring for all blocks is a race, at the push:
// RUN: kiln-opt %s --kiln-prepare --kiln-inject-gm-pipe=shard=false -o %t.shared.mlir --mlir-print-debuginfo
// RUN: not %kiln run %t.shared.mlir --seeds 3 --no-reference --arg a=256x64 --arg r=256x64 --arg out=256x64 2>&1 | FileCheck %s --check-prefix=RACE
// RUN: %kiln run %t.shared.mlir --seeds 3 --no-reference --arg a=64x64 --arg r=64x64 --arg out=64x64 | FileCheck %s
// RACE: gm-pipe.mlir:39:{{[0-9]+}}: error: race: block [{{[1-3]}}, 0, 0] writes element [0, 0] of '__gm_pipe' (f32[64, 64]), which block

// In the signature and in the task, without bytes in the dump:
// RUN: %kiln run %t.mlir -p a2a3sim --no-reference --dump-tensor --out %t.out --arg a=128x64 --arg r=128x64 --arg out=128x64
// RUN: %kiln dump %t.out --arg __gm_pipe | FileCheck %s --check-prefix=DUMP
// DUMP: fused {{.*}}__gm_pipe {{.*}}inout {{.*}}i8[2, 32768]
// DUMP-NOT: bytes{{$}}

// A grid that cannot be says so itself:
// RUN: not %kiln run %t.mlir -p a2a3sim --entry given --no-reference --arg n=-1 --arg a=64x64 --arg r=64x64 --arg out=64x64 2>&1 | FileCheck %s --check-prefix=NEGATIVE
// NEGATIVE: error: kiln.submit: kernel 'fused': grid [-1{{.*}} negative

!down = !tile.pipe<aic -> aiv, 64x64xf32, up_down>
kiln.func @mul(%a: !kiln.tensor<?x64xf32>, %b: !kiln.tensor<64x64xf32>, %down: !down) role(aic) {
  %c64 = arith.constant 64 : index
  %block = tile.block_idx 0
  %i = arith.muli %block, %c64 : index
  %x = tile.load %a[%i, 0] : !tile.tile<64x64xf32>
  %y = tile.load %b[0, 0] : !tile.tile<64x64xf32>
  %z = tile.matmul %x, %y : !tile.tile<64x64xf32>
  tile.push %z, %down
}
kiln.func @add(%r: !kiln.tensor<?x64xf32>, %out: !kiln.tensor<?x64xf32>, %down: !down) role(aiv) {
  %c64 = arith.constant 64 : index
  %c32 = arith.constant 32 : index
  %c0 = arith.constant 0 : index
  %block = tile.block_idx 0
  %top = arith.muli %block, %c64 : index
  %lane = tile.lane
  %part = arith.muli %lane, %c32 : index
  %i = arith.addi %top, %part : index
  %rows = kiln.dim %r, 0
  %rest = arith.subi %rows, %i : index
  %left = arith.maxsi %rest, %c0 : index
  %x = tile.pop %down : !tile.tile<32x64xf32>
  %y = tile.load %r[%i, 0] valid(%left, 64) : !tile.tile<32x64xf32>
  %z = tile.add %x, %y : !tile.tile<32x64xf32>
  tile.store %z, %out[%i, 0] valid(%left, 64)
}
kiln.func @fused(%a: !kiln.tensor<?x64xf32>, %b: !kiln.tensor<64x64xf32>, %r: !kiln.tensor<?x64xf32>, %out: !kiln.tensor<?x64xf32>) group lanes(2) {
  %down = tile.pipe slots(2) : !down
  kiln.call @mul(%a, %b, %down)
  kiln.call @add(%r, %out, %down)
}
kiln.func @given(%a: !kiln.tensor<?x64xf32>, %b: !kiln.tensor<64x64xf32>, %r: !kiln.tensor<?x64xf32>, %out: !kiln.tensor<?x64xf32>, %n: index) orchestration {
  %t = kiln.submit @fused(%a, %b, %r, %out) grid(%n)
}
kiln.func @main(%a: !kiln.tensor<?x64xf32>, %b: !kiln.tensor<64x64xf32>, %r: !kiln.tensor<?x64xf32>, %out: !kiln.tensor<?x64xf32>) orchestration {
  %c64 = arith.constant 64 : index
  %m = kiln.dim %a, 0
  %n = arith.ceildivsi %m, %c64 : index
  kiln.call @given(%a, %b, %r, %out, %n)
}
kiln.func @fixed(%a: !kiln.tensor<1536x64xf32>, %b: !kiln.tensor<64x64xf32>, %r: !kiln.tensor<1536x64xf32>, %out: !kiln.tensor<1536x64xf32>) orchestration {
  %t = kiln.submit @fused(%a, %b, %r, %out) grid(24)
}
kiln.func @late(%a: !kiln.tensor<?x64xf32>, %b: !kiln.tensor<64x64xf32>, %r: !kiln.tensor<?x64xf32>, %out: !kiln.tensor<?x64xf32> inout, %sizes: !kiln.tensor<4xi32>) orchestration {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c64 = arith.constant 64 : index
  %end = scf.for %i = %c0 to %c4 step %c1 iter_args(%from = %c0) -> (index) {
    %size = kiln.get %sizes[%i] : i32
    %n = arith.index_cast %size : i32 to index
    %rows = arith.muli %n, %c64 : index
    %x = kiln.slice %a[%from, 0] [%rows, 64] : !kiln.tensor<?x64xf32>
    %y = kiln.slice %r[%from, 0] [%rows, 64] : !kiln.tensor<?x64xf32>
    %z = kiln.slice %out[%from, 0] [%rows, 64] : !kiln.tensor<?x64xf32>
    %t = kiln.submit @fused(%x, %b, %y, %z) grid(%n)
    %next = arith.addi %from, %rows : index
    scf.yield %next : index
  }
}
