// REQUIRES: kiln
// RUN: %kiln emit %s --target cuda | FileCheck %s

// Elements that change places go through shared memory: the tile is written there once, at the place that was planned for
// it, and each thread takes what its registers are to hold. A tile that is made in shared memory is read from there.

// CHECK-LABEL: void k(
// CHECK-SAME:    SharedAddress memory)
// CHECK:       auto [[X:[a-z0-9_]+]] = load<Reg<float, 8, 64>>
// CHECK:       auto [[S:[a-z0-9_]+]] = toShared([[X]], memory + [[AT:[0-9]+]], lane);
// CHECK-NEXT:  auto [[T:[a-z0-9_]+]] = transposed<Reg<float, 64, 8>>([[S]]);
// CHECK:       store([[T]], window<float, 64, 8>(args.y,
// CHECK:       = reshapedTo<Reg<float, 4, 128>>([[S]]);
// CHECK:       = boxFrom<Reg<float, 2, 32>>([[S]], 3, 5);
// CHECK:       = joined<Reg<float, 16, 64>, 0>([[S]], [[S]]);
// CHECK:       = inserted({{[a-z0-9_]+}}, [[X]], 1, 2);
// CHECK:       = taken<Reg<float, 8, 64>, 1>([[S]], {{[a-z0-9_]+}});
// CHECK:       = tile::sum_lines<Reg<float, 1, 64>, 0>([[S]]);
// CHECK:       = findExtreme<Reg<int, 8, 1>, 1, true>([[S]]);
// CHECK:       = tile::running_max<Reg<float, 8, 64>, 1, true, true>([[S]]);
// CHECK:       float [[E:[a-z0-9_]+]] = [[S]].get(7, 63);
// CHECK:       Shared<float, 8, 4> [[VALUES:[a-z0-9_]+]]{memory + {{[0-9]+}}};
// CHECK-NEXT:  Shared<int, 8, 4> [[COLUMNS:[a-z0-9_]+]]{memory + {{[0-9]+}}};
// CHECK-NEXT:  orderRows<true>([[S]], [[VALUES]], [[COLUMNS]], lane);
// CHECK:       store(toRegisters<Reg<float, 8, 4>>([[VALUES]]), window<float, 8, 4>(args.y,
// CHECK:       Reg<float, 8, 1> [[BEST:[a-z0-9_]+]]{};
// CHECK-NEXT:  Reg<float, 1, 1> [[SOFAR:[a-z0-9_]+]];
// CHECK-NEXT:  reduceLinesInto<decltype([[BEST]])::Layout, 1, decltype([[S]])>(
// CHECK-NEXT:    [&](int i, int j) { [[SOFAR]] = startOf<Reg<float, 1, 1>>(0.0f, i, j); },
// CHECK-NEXT:    [&](int row, int col) {
// CHECK-NEXT:      auto [[NEXT:[a-z0-9_]+]] = single<Reg<float, 1, 1>>([[S]].get(row, col));
// CHECK-NEXT:      auto [[BOTH:[a-z0-9_]+]] = tile::max<Reg<float, 1, 1>>([[SOFAR]], [[NEXT]]);
// CHECK-NEXT:      [[SOFAR]] = [[BOTH]];
// CHECK-NEXT:    },
// CHECK-NEXT:    [&](int i, int j) { [[BEST]].at[i][j] = [[SOFAR]].at[0][0]; });
// CHECK:       extern __shared__

kiln.func @main(%x: !kiln.tensor<?x?xf32>, %i: !kiln.tensor<?x?xi32>, %y: !kiln.tensor<?x?xf32>, %z: !kiln.tensor<?x?xi32>) orchestration {
  kiln.incore "k" split(none) {
    %v = tile.load %x[0, 0] : !tile.tile<8x64xf32>
    %index = tile.load %i[0, 0] : !tile.tile<8x64xi32>
    %transposed = tile.transpose %v : !tile.tile<64x8xf32>
    tile.store %transposed, %y[0, 0]
    %reshaped = tile.reshape %v : !tile.tile<4x128xf32>
    tile.store %reshaped, %y[64, 0]
    %box = tile.extract %v[3, 5] : !tile.tile<2x32xf32>
    tile.store %box, %y[68, 0]
    %joined = tile.concat %v, %v axis(0) : !tile.tile<16x64xf32>
    tile.store %joined, %y[72, 0]
    %inserted = tile.insert %box, %v[1, 2] : !tile.tile<8x64xf32>
    tile.store %inserted, %y[88, 0]
    %taken = tile.gather %v, %index axis(1) : !tile.tile<8x64xf32>
    tile.store %taken, %y[96, 0]
    %sum = tile.reduce sum %v axis(0) : !tile.tile<1x64xf32>
    tile.store %sum, %y[104, 0]
    %where = tile.reduce argmax %v axis(1) : !tile.tile<8x1xi32>
    tile.store %where, %z[0, 0]
    %scan = tile.scan max %v axis(1) exclusive reverse : !tile.tile<8x64xf32>
    tile.store %scan, %y[112, 0]
    %element = tile.element %v[7, 63] : f32
    %full = tile.full %element : !tile.tile<8x64xf32>
    tile.store %full, %y[120, 0]
    %values, %columns = tile.topk_rows %v : !tile.tile<8x4xf32>, !tile.tile<8x4xi32>
    tile.store %values, %y[128, 0]
    tile.store %columns, %z[8, 0]
    %zero = arith.constant 0.0 : f32
    %best = tile.reduce_with %v axis(1) start(%zero) {
    ^combine(%a: !tile.tile<8x1xf32>, %b: !tile.tile<8x1xf32>):
      %larger = tile.max %a, %b : !tile.tile<8x1xf32>
      tile.yield %larger
    } : !tile.tile<8x1xf32>
    tile.store %best, %y[136, 0]
  }
}
