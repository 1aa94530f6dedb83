// The mean is right, but padding differs from it like data.
// RUN: split-file --leading-lines %s %t
// RUN: not %kiln run %t/wrong.mlir --seeds 2 --arg x=10x5 --arg y=10x8 --no-reference 2>&1 | FileCheck %s
// RUN: %kiln run %t/right.mlir --seeds 2 --arg x=10x5 --arg y=10x8 --no-reference 2>&1 | FileCheck %s --check-prefix=RIGHT
// RIGHT: checked {{.*}}: 0 findings

//--- wrong.mlir
kiln.func @k(%x: !kiln.tensor<?x?xf32>, %y: !kiln.tensor<?x?xf32> inout) incore {
  %n = kiln.dim %x, 1
  %ni = arith.index_cast %n : index to i32
  %nf = arith.sitofp %ni : i32 to f32
  %a = tile.load %x[0, 0] : !tile.tile<16x8xf32>
  %s = tile.reduce sum %a axis(1) : !tile.tile<16x1xf32>
  %m = tile.div %s, %nf : !tile.tile<16x1xf32>
  %d = tile.sub %a, %m : !tile.tile<16x8xf32>
  %q = tile.mul %d, %d : !tile.tile<16x8xf32>
  %v = tile.reduce sum %q axis(1) : !tile.tile<16x1xf32>
  // CHECK: wrong.mlir:[[#@LINE-1]]:{{[0-9]+}}: error: the sum over axis 1 includes padding: in row 0 of the 16x8 tile only columns [0, 5) are data; column 5 holds {{.*}} and would have to hold 0
  // CHECK: wrong.mlir:[[#@LINE-7]]:{{[0-9]+}}: note: filled up with 0 here
  // CHECK: {{^}}  note: put a tile.mask with valid(16, N) pad(zero) before the sum, where N is how many columns are data, here 5
  tile.store %v, %y[0, 0]
}

//--- right.mlir
kiln.func @k(%x: !kiln.tensor<?x?xf32>, %y: !kiln.tensor<?x?xf32> inout) incore {
  %n = kiln.dim %x, 1
  %ni = arith.index_cast %n : index to i32
  %nf = arith.sitofp %ni : i32 to f32
  %a = tile.load %x[0, 0] : !tile.tile<16x8xf32>
  %s = tile.reduce sum %a axis(1) : !tile.tile<16x1xf32>
  %m = tile.div %s, %nf : !tile.tile<16x1xf32>
  %d = tile.sub %a, %m : !tile.tile<16x8xf32>
  %z = tile.mask %d valid(16, %n) : !tile.tile<16x8xf32>
  %q = tile.mul %z, %z : !tile.tile<16x8xf32>
  %v = tile.reduce sum %q axis(1) : !tile.tile<16x1xf32>
  tile.store %v, %y[0, 0]
}
