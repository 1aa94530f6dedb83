// REQUIRES: kiln
// RUN: %kiln emit %s --target cuda | FileCheck %s

// The copy engine is told of tiles of parameters; where less than a whole one counts, which a run decides, threads copy.
// Other loads of the copying role go to the same slots, copied by its threads: other padding, rows of other lengths, views,
// rows from anywhere. Tensors have up to five axes.

// CHECK-LABEL: void k_dma(
// CHECK:       auto [[FIVE:[a-z0-9_]+]] = request<bf16, 16, 64>(args.five, args.maps[0], {0, 0, 0, [[I:at[0-9]+]], 0});
// CHECK:       = validRequest<bf16, 16, 64>(args.x, args.maps[1], {[[I]], 0}, 3, 64);
// CHECK:       = copyRequest(window<bf16, 16, 64>(args.x, {[[I]], 0}), least<bf16>());
// CHECK:       = copyRequest(window<bf16, 16, 48>(args.x, {[[I]], 0}), convert<bf16>(0));
// CHECK:       Tensor [[V:v[0-9]+]] = slice<3>(args.x, {16, 0}, {64, 64}, 2);
// CHECK:       = copyRequest(window<bf16, 16, 64>([[V]], {[[I]], 0}), convert<bf16>(0));
// CHECK:       = copyRequest(rowsWindow<bf16, 16, 64, int>(args.x, {0, 0}, args.rows, {[[I]]}), convert<bf16>(0));
// CHECK:       = copyRequest(window<bf16, 1, 16>(args.one, {[[I]]}), convert<bf16>(0));

// Lanes that share a tile take their rows or columns of it out of the slot.
// CHECK-LABEL: void rows_compute(
// CHECK:       = rowsFrom<4>(get<0>(to_compute.pop()), lane * 4);
// CHECK-LABEL: void columns_compute(
// CHECK:       = colsFrom<32>(get<0>(to_compute.pop()), lane * 32);

kiln.func @main(%x: !kiln.tensor<?x64xbf16>, %one: !kiln.tensor<?xbf16>, %five: !kiln.tensor<2x2x2x?x64xbf16>, %rows: !kiln.tensor<?xi32>, %y: !kiln.tensor<?x64xbf16>, %z: !kiln.tensor<?x48xbf16>, %w: !kiln.tensor<?x16xbf16>, %rowwise: !kiln.tensor<?x64xbf16>, %columnwise: !kiln.tensor<?x64xbf16>) orchestration {
  kiln.incore "k" split(none) {
    %c0 = arith.constant 0 : index
    %c16 = arith.constant 16 : index
    %c64 = arith.constant 64 : index
    scf.for %i = %c0 to %c64 step %c16 {
      %a = tile.load %five[0, 0, 0, %i, 0] : !tile.tile<16x64xbf16>
      %b = tile.load %x[%i, 0] valid(3, 64) : !tile.tile<16x64xbf16>
      %c = tile.load %x[%i, 0] pad(min) : !tile.tile<16x64xbf16>
      %d = tile.load %x[%i, 0] : !tile.tile<16x48xbf16>
      %v = kiln.slice %x[16, 0] [64, 64] : !kiln.tensor<64x64xbf16>
      %e = tile.load %v[%i, 0] : !tile.tile<16x64xbf16>
      %f = tile.gather_rows %x[0, 0] rows(%rows[%i]) : !tile.tile<16x64xbf16>
      %g = tile.load %one[%i] : !tile.tile<1x16xbf16>
      %ab = tile.add %a, %b : !tile.tile<16x64xbf16>
      %abc = tile.add %ab, %c : !tile.tile<16x64xbf16>
      %abce = tile.add %abc, %e : !tile.tile<16x64xbf16>
      %all = tile.add %abce, %f : !tile.tile<16x64xbf16>
      tile.store %all, %y[%i, 0]
      tile.store %d, %z[%i, 0]
      tile.store %g, %w[%i, 0]
    } {kiln.loop = #kiln.loop<pipeline, stages = 2>}
  }
  kiln.incore "rows" split(up_down) {
    %c0 = arith.constant 0 : index
    %c8 = arith.constant 8 : index
    %c64 = arith.constant 64 : index
    scf.for %i = %c0 to %c64 step %c8 {
      %a = tile.load %x[%i, 0] : !tile.tile<8x64xbf16>
      tile.store %a, %rowwise[%i, 0]
    } {kiln.loop = #kiln.loop<pipeline, stages = 2>}
  }
  kiln.incore "columns" split(left_right) {
    %c0 = arith.constant 0 : index
    %c8 = arith.constant 8 : index
    %c64 = arith.constant 64 : index
    scf.for %i = %c0 to %c64 step %c8 {
      %a = tile.load %x[%i, 0] : !tile.tile<8x64xbf16>
      tile.store %a, %columnwise[%i, 0]
    } {kiln.loop = #kiln.loop<pipeline, stages = 2>}
  }
}
