// A body that is not associative: targets combine in an order of their own, so its value is nobody's.
// RUN: split-file --leading-lines %s %t
// RUN: not %kiln check %t/wrong.mlir 2>&1 | FileCheck %s
// RUN: not %kiln check %t/scan.mlir 2>&1 | FileCheck %s --check-prefix=SCAN
// RUN: not %kiln check %t/integers.mlir 2>&1 | FileCheck %s --check-prefix=INTEGERS
// RUN: %kiln check %t/right.mlir | FileCheck %s --check-prefix=RIGHT
// RIGHT: CLEAN

//--- wrong.mlir
kiln.func @k(%x: !kiln.tensor<8x16xf32>, %y: !kiln.tensor<8x1xf32>) incore {
  %t = tile.load %x[0, 0] : !tile.tile<8x16xf32>
  %z = arith.constant 0.0 : f32
  %s = tile.reduce_with %t axis(1) start(%z) {
  // CHECK: wrong.mlir:[[#@LINE-1]]:{{[0-9]+}}: error: the body of tile.reduce_with is not associative: for a = {{.*}}, b = {{.*}}, c = {{.*}}: combined from the left they give {{.*}}, from the right {{.*}}
  // CHECK: note: targets combine in an order of their own; write the body so that combine(combine(a, b), c) is combine(a, combine(b, c)), or use a loop
  // CHECK: FINDINGS
  ^combine(%a: !tile.tile<8x1xf32>, %b: !tile.tile<8x1xf32>):
    %c = tile.sub %a, %b : !tile.tile<8x1xf32>
    tile.yield %c
  } : !tile.tile<8x1xf32>
  tile.store %s, %y[0, 0]
}

// The second of two tiles, and from the end.
//--- scan.mlir
kiln.func @k(%x: !kiln.tensor<8x16xf32>, %y: !kiln.tensor<8x16xf32>) incore {
  %t = tile.load %x[0, 0] : !tile.tile<8x16xf32>
  %z = arith.constant 0.0 : f32
  %m, %s = tile.scan_with %t, %t axis(0) start(%z, %z) reverse {
  // SCAN: scan.mlir:[[#@LINE-1]]:{{[0-9]+}}: error: the body of tile.scan_with is not associative: for a = ({{.*}}, {{.*}}), b = ({{.*}}, {{.*}}), c =
  ^combine(%a: !tile.tile<1x16xf32>, %b: !tile.tile<1x16xf32>, %c: !tile.tile<1x16xf32>, %d: !tile.tile<1x16xf32>):
    %e = tile.max %a, %c : !tile.tile<1x16xf32>
    %two = arith.constant 2.0 : f32
    %f = tile.div %b, %two : !tile.tile<1x16xf32>
    %g = tile.add %f, %d : !tile.tile<1x16xf32>
    tile.yield %e, %g
  } : !tile.tile<8x16xf32>, !tile.tile<8x16xf32>
  tile.store %s, %y[0, 0]
}

//--- integers.mlir
kiln.func @k(%x: !kiln.tensor<8x16xi32>, %y: !kiln.tensor<1x16xi32>) incore {
  %t = tile.load %x[0, 0] : !tile.tile<8x16xi32>
  %z = arith.constant 3 : i32
  %s = tile.reduce_with %t axis(0) start(%z) {
  // INTEGERS: integers.mlir:[[#@LINE-1]]:{{[0-9]+}}: error: the body of tile.reduce_with is not associative: for a = 3, b =
  ^combine(%a: !tile.tile<1x16xi32>, %b: !tile.tile<1x16xi32>):
    %one = arith.constant 1 : i32
    %c = tile.mul %a, %b : !tile.tile<1x16xi32>
    %d = tile.add %c, %one : !tile.tile<1x16xi32>
    tile.yield %d
  } : !tile.tile<1x16xi32>
  tile.store %s, %y[0, 0]
}

// Mean and variance of parts merge into those of the whole: associative, but not commutative to the last bit.
//--- right.mlir
kiln.func @k(%x: !kiln.tensor<8x16xf32>, %mean: !kiln.tensor<8x1xf32>, %square: !kiln.tensor<8x1xf32>) incore {
  %t = tile.load %x[0, 0] : !tile.tile<8x16xf32>
  %one = arith.constant 1.0 : f32
  %zero = arith.constant 0.0 : f32
  %ones = tile.full %one : !tile.tile<8x16xf32>
  %zeros = tile.full %zero : !tile.tile<8x16xf32>
  %n, %m, %s = tile.reduce_with %ones, %t, %zeros axis(1) start(%zero, %zero, %zero) {
  ^combine(%n0: !tile.tile<8x1xf32>, %m0: !tile.tile<8x1xf32>, %s0: !tile.tile<8x1xf32>,
           %n1: !tile.tile<8x1xf32>, %m1: !tile.tile<8x1xf32>, %s1: !tile.tile<8x1xf32>):
    %count = tile.add %n0, %n1 : !tile.tile<8x1xf32>
    %share = tile.div %n1, %count : !tile.tile<8x1xf32>
    %apart = tile.sub %m1, %m0 : !tile.tile<8x1xf32>
    %step = tile.mul %apart, %share : !tile.tile<8x1xf32>
    %middle = tile.add %m0, %step : !tile.tile<8x1xf32>
    %product = tile.mul %apart, %step : !tile.tile<8x1xf32>
    %weighted = tile.mul %product, %n0 : !tile.tile<8x1xf32>
    %both = tile.add %s0, %s1 : !tile.tile<8x1xf32>
    %spread = tile.add %both, %weighted : !tile.tile<8x1xf32>
    tile.yield %count, %middle, %spread
  } : !tile.tile<8x1xf32>, !tile.tile<8x1xf32>, !tile.tile<8x1xf32>
  tile.store %m, %mean[0, 0]
  tile.store %s, %square[0, 0]
}
