// REQUIRES: kiln
// RUN: %kiln emit %s --target cuda | FileCheck %s

// Where the row is one whole tile, what is read of it behind a reduction is widened again from the words that were
// loaded: behind the first for the differences, behind the second for what is stored.

// CHECK:      if ({{.*}} && isWhole<Reg<bf16, 1, 1024>>([[X:[a-z0-9_]+]]) && isWhole<Reg<bf16, 1, 1024>>([[Y:[a-z0-9_]+]])) {
// CHECK-NEXT:   auto [[ROW:[a-z0-9_]+]] = loadWhole<Reg<bf16, 1, 1024>{{.*}}>([[X]]
// CHECK-NEXT:   auto [[FIRST:[a-z0-9_]+]] = cast<Reg<float, 1, 1024>>([[ROW]]);
// CHECK-NEXT:   auto [[MEAN:[a-z0-9_]+]] = tile::sum_columns<Reg<float, 1, 1>>([[FIRST]]);
// CHECK-NEXT:   auto [[AGAIN:[a-z0-9_]+]] = castLater<Later<Reg<float, 1, 1024>>>(again([[ROW]]));
// CHECK-NEXT:   auto [[OFF:[a-z0-9_]+]] = tile::sub<Reg<float, 1, 1024>>([[AGAIN]], [[MEAN]]);
// CHECK-NEXT:   auto [[SQUARE:[a-z0-9_]+]] = tile::mul<Reg<float, 1, 1024>>([[OFF]], [[OFF]]);
// CHECK-NEXT:   auto [[SUM:[a-z0-9_]+]] = tile::sum_columns<Reg<float, 1, 1>>([[SQUARE]]);
// CHECK-NEXT:   auto [[THIRD:[a-z0-9_]+]] = castLater<Later<Reg<float, 1, 1024>>>(again([[ROW]]));
// CHECK-NEXT:   auto [[LAST:[a-z0-9_]+]] = tile::sub<Later<Reg<float, 1, 1024>>>([[THIRD]], [[MEAN]]);
// CHECK-NEXT:   auto [[SCALED:[a-z0-9_]+]] = tile::mul<Later<Reg<float, 1, 1024>>>([[LAST]], [[SUM]]);
// CHECK-NEXT:   auto [[ROUNDED:[a-z0-9_]+]] = castLater<Later<Reg<bf16, 1, 1024>>>([[SCALED]]);
// CHECK-NEXT:   storeWhole<{{.*}}>([[ROUNDED]], [[Y]]);
// CHECK:      } else {
// CHECK-NOT:  again(
kiln.func @main(%x: !kiln.tensor<?x?xbf16>, %y: !kiln.tensor<?x?xbf16>) orchestration {
  kiln.incore "norm" grid(4) {
    %c0 = arith.constant 0 : index
    %c1024 = arith.constant 1024 : index
    %zero = arith.constant 0.0 : f32
    %i = tile.block_idx 0
    %n = kiln.dim %x, 1
    %start = tile.full %zero : !tile.tile<1x1xf32>
    %mean = scf.for %at = %c0 to %n step %c1024 iter_args(%s = %start) -> (!tile.tile<1x1xf32>) {
      %raw = tile.load %x[%i, %at] : !tile.tile<1x1024xbf16>
      %v = tile.cast %raw : !tile.tile<1x1024xf32>
      %part = tile.reduce sum %v axis(1) : !tile.tile<1x1xf32>
      scf.yield %part : !tile.tile<1x1xf32>
    }
    %sum = scf.for %at = %c0 to %n step %c1024 iter_args(%s = %start) -> (!tile.tile<1x1xf32>) {
      %raw = tile.load %x[%i, %at] : !tile.tile<1x1024xbf16>
      %v = tile.cast %raw : !tile.tile<1x1024xf32>
      %off = tile.sub %v, %mean : !tile.tile<1x1024xf32>
      %square = tile.mul %off, %off : !tile.tile<1x1024xf32>
      %part = tile.reduce sum %square axis(1) : !tile.tile<1x1xf32>
      scf.yield %part : !tile.tile<1x1xf32>
    }
    scf.for %at = %c0 to %n step %c1024 {
      %raw = tile.load %x[%i, %at] : !tile.tile<1x1024xbf16>
      %v = tile.cast %raw : !tile.tile<1x1024xf32>
      %off = tile.sub %v, %mean : !tile.tile<1x1024xf32>
      %scaled = tile.mul %off, %sum : !tile.tile<1x1024xf32>
      %rounded = tile.cast %scaled : !tile.tile<1x1024xbf16>
      tile.store %rounded, %y[%i, %at]
    }
  }
}
