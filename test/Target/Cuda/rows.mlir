// REQUIRES: kiln
// RUN: %kiln emit %s --target cuda | FileCheck %s

// Without products tiles are coalesced: 8 neighbours (16 bytes of bf16) a thread, a warp a row. No
// role copies, so there is no shared memory and no barrier; what nobody touches again is marked.
// Without that pass the same is loaded and stored as everything else.
// RUN: %kiln emit %s --target cuda --without tile-mark-streams | FileCheck %s --check-prefix=PLAIN
// RUN: not %kiln emit %s --target cuda --without kiln-outline 2>&1 | FileCheck %s --check-prefix=WITHOUT
// PLAIN-NOT: Touched
// WITHOUT: --without: kiln-outline not in {tile-single-trips,

// CHECK:      using Reg = Tile<T, typename Coalesced<32, 8>::Of<R, C>>;
// CHECK-NOT:  __shared__
// CHECK-LABEL: void norm_compute(
// CHECK:       auto [[SUM:[a-z0-9_]+]] = full<Reg<float, 8, 1>>(0.0f);
// CHECK:       for (i64
// CHECK:         auto [[RAW:[a-z0-9_]+]] = load<Reg<bf16, 8, 512>, Touched::Once>(window<bf16, 8, 512>(args.x, {{.*}}), least<bf16>());
// CHECK-NEXT:    auto [[X:[a-z0-9_]+]] = cast<Reg<float, 8, 512>>([[RAW]]);
// CHECK-NEXT:    auto [[PART:[a-z0-9_]+]] = tile::max_columns<Reg<float, 8, 1>>([[X]]);
// CHECK-NEXT:    [[SUM]] = tile::max<Reg<float, 8, 1>>([[SUM]], [[PART]]);
// CHECK:       store<Touched::Once>([[SUM]], window<float, 8, 1>(args.y,
// CHECK-LABEL: void __launch_bounds__(256, KILN_BLOCKS_AT_ONCE)
// CHECK:         norm_compute(args, blockAt<1>(number, args.grid), lane);

kiln.func @main(%x: !kiln.tensor<?x?xbf16>, %y: !kiln.tensor<?x?xf32>) orchestration {
  kiln.incore "norm" grid(4) {
    %c0 = arith.constant 0 : index
    %c16 = arith.constant 16 : index
    %c512 = arith.constant 512 : index
    %zero = arith.constant 0.0 : f32
    %block = tile.block_idx 0
    %i = arith.muli %block, %c16 : index
    %n = kiln.dim %x, 1
    %start = tile.full %zero : !tile.tile<16x1xf32>
    %sum = scf.for %at = %c0 to %n step %c512 iter_args(%s = %start) -> (!tile.tile<16x1xf32>) {
      %raw = tile.load %x[%i, %at] pad(min) : !tile.tile<16x512xbf16>
      %v = tile.cast %raw : !tile.tile<16x512xf32>
      %part = tile.reduce max %v axis(1) : !tile.tile<16x1xf32>
      %both = tile.max %s, %part : !tile.tile<16x1xf32>
      scf.yield %both : !tile.tile<16x1xf32>
    }
    tile.store %sum, %y[%i, 0]
  }
}
