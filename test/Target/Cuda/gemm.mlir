// REQUIRES: kiln
// RUN: %kiln emit %s --target cuda | FileCheck %s

// A product with an epilogue: the copying role describes transfers and pushes them, each lane
// multiplies its rows of what it pops, and stores from registers.

// CHECK:      #include "kiln.cuh"
// CHECK:      namespace kernel_proj {
// CHECK:      using Reg = Tile<T, Fragments::Of<R, C>>;
// CHECK-NEXT: using Pipe_to_compute = Pipe<4, 2, Shared<bf16, 128, 64>, Shared<bf16, 64, 256>>;
// CHECK:      struct Args {
// CHECK-NEXT:   TensorMap maps[3];
// CHECK-NEXT:   Tensor a;
// CHECK-NEXT:   Tensor b;
// CHECK-NEXT:   Tensor bias;
// CHECK-NEXT:   Tensor c;
// CHECK-NEXT:   u64 s;
// CHECK-NEXT:   i64 grid[3];

// CHECK-LABEL: void proj_dma(
// CHECK:       for (i64 [[K:at[0-9]+]] = 0; [[K]] < args.a.extents[1]; [[K]] += 64) {
// CHECK-NEXT:    auto a_tile = request<bf16, 128, 64>(args.a, args.maps[0], {{.*}}, [[K]]});
// CHECK-NEXT:    auto b_tile = request<bf16, 64, 256>(args.b, args.maps[1], {[[K]],
// CHECK-NEXT:    to_compute.push(a_tile, b_tile);

// CHECK-LABEL: void proj_compute(
// CHECK:       auto product_tile = full<Reg<float, 64, 256>>(0.0f);
// CHECK:       for (i64
// CHECK:         auto [[SLOT:slot[0-9]+]] = to_compute.pop();
// CHECK-NEXT:    auto a_tile = get<0>([[SLOT]]);
// CHECK-NEXT:    auto b_tile = get<1>([[SLOT]]);
// CHECK-NEXT:    auto a_tile_part = rowsFrom<64>(a_tile, lane * 64);
// CHECK-NEXT:    start<false>(product_tile, a_tile_part, b_tile);
// CHECK-NEXT:    delayed.store(lane, [[AT:at[0-9]+]] + 64 >= args.a.extents[1]);
// CHECK-NEXT:    await<0>(product_tile);
// CHECK-NEXT:    to_compute.free();
// CHECK-NEXT:  }
// CHECK:       load<Reg<float, 1, 256>>(window<float, 1, 256>(args.bias,
// CHECK:       tile::mul<Reg<float, 64, 256>>({{.*}}, scalarOf<float>(args.s));
// CHECK:       cast<Reg<bf16, 64, 256>>
// CHECK:       delayed.keep({{.*}}, window<bf16, 64, 256>(args.c, {{.*}}), args.c,

// CHECK-LABEL: void __launch_bounds__(384, 1)
// CHECK:       progress::begin();
// CHECK-NEXT:  if (lane == 2) {
// CHECK-NEXT:    giveBackRegisters<24 + 16 * KILN_REGISTERS_MOVED>();
// CHECK-NEXT:    if (warpInGroup() == 0) {
// CHECK-NEXT:      Walk<16> walk(args.grid, blocks);
// CHECK-NEXT:      ptx::awaitPrerequisites();
// CHECK-NEXT:      for (; walk.isInside(); walk.next())
// CHECK-NEXT:        proj_dma(args, walk.block, 0, to_compute);
// CHECK-NEXT:      ptx::launchDependents();
// CHECK-NEXT:      progress::end();
// CHECK-NEXT:    }
// CHECK-NEXT:  } else {
// CHECK-NEXT:    takeRegisters<240 - 8 * KILN_REGISTERS_MOVED>();

kiln.func @main(%a: !kiln.tensor<?x?xbf16>, %b: !kiln.tensor<?x?xbf16>, %bias: !kiln.tensor<?xf32>, %c: !kiln.tensor<?x?xbf16>, %s: f32) orchestration {
  kiln.incore "proj" grid(4, 4) split(up_down) {
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %c128 = arith.constant 128 : index
    %c256 = arith.constant 256 : index
    %zero = arith.constant 0.0 : f32
    %bi = tile.block_idx 0
    %bj = tile.block_idx 1
    %i = arith.muli %bi, %c128 : index
    %j = arith.muli %bj, %c256 : index
    %k = kiln.dim %a, 1
    %start = tile.full %zero : !tile.tile<128x256xf32>
    %sum = scf.for %at = %c0 to %k step %c64 iter_args(%acc = %start) -> (!tile.tile<128x256xf32>) {
      %x = tile.load %a[%i, %at] : !tile.tile<128x64xbf16>
      %y = tile.load %b[%at, %j] : !tile.tile<64x256xbf16>
      %next = tile.matmul_acc %acc, %x, %y : !tile.tile<128x256xf32>
      scf.yield %next : !tile.tile<128x256xf32>
    } {kiln.loop = #kiln.loop<pipeline, stages = 4>}
    %row = tile.load %bias[%j] : !tile.tile<1x256xf32>
    %moved = tile.add %sum, %row : !tile.tile<128x256xf32>
    %scaled = tile.mul %moved, %s : !tile.tile<128x256xf32>
    %rounded = tile.cast %scaled : !tile.tile<128x256xbf16>
    tile.store %rounded, %c[%i, %j]
  }
}
