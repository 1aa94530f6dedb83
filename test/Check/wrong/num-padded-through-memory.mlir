// Padding is stored to memory that has room for it, and summed up by the next task as if it were data.
// RUN: split-file --leading-lines %s %t
// RUN: not %kiln check %t/wrong.mlir | FileCheck %s
// RUN: %kiln check %t/right.mlir | FileCheck %s --check-prefix=RIGHT
// RUN: %kiln check %t/right-overwritten.mlir | FileCheck %s --check-prefix=RIGHT
// RIGHT: {{^}}CLEAN

//--- wrong.mlir
kiln.func @exponents(%x: !kiln.tensor<16x?xf32> in, %m: !kiln.tensor<16x32xf32> out) incore {
  %t = tile.load %x[0, 0] : !tile.tile<16x32xf32>
  // CHECK: wrong.mlir:[[#@LINE+7]]:{{[0-9]+}}: error: the sum over axis 1 includes padding: in row 0 of the 16x32 tile only columns [0, {{[0-9]+}}) are data; column {{[0-9]+}} holds 1 and would have to hold 0
  // CHECK: wrong.mlir:[[#@LINE-2]]:{{[0-9]+}}: note: filled up with 0 here
  %e = tile.exp %t : !tile.tile<16x32xf32>
  tile.store %e, %m[0, 0]
}
kiln.func @sums(%m: !kiln.tensor<16x32xf32> in, %y: !kiln.tensor<16x1xf32> out) incore {
  %t = tile.load %m[0, 0] : !tile.tile<16x32xf32>
  %s = tile.reduce sum %t axis(1) : !tile.tile<16x1xf32>
  tile.store %s, %y[0, 0]
}
kiln.func @main(%x: !kiln.tensor<16x?xf32> in, %y: !kiln.tensor<16x1xf32> out) orchestration {
  %n = kiln.dim %x, 1
  %c32 = arith.constant 32 : index
  %fits = arith.cmpi sle, %n, %c32 : index
  kiln.require %fits, "x has at most 32 columns"
  %m = kiln.alloc() : !kiln.tensor<16x32xf32>
  %a = kiln.submit @exponents(%x, %m)
  %b = kiln.submit @sums(%m, %y)
}

//--- right.mlir
kiln.func @exponents(%x: !kiln.tensor<16x?xf32> in, %m: !kiln.tensor<16x32xf32> out) incore {
  %n = kiln.dim %x, 1
  %t = tile.load %x[0, 0] : !tile.tile<16x32xf32>
  %e = tile.exp %t : !tile.tile<16x32xf32>
  %z = tile.mask %e valid(16, %n) pad(zero) : !tile.tile<16x32xf32>
  tile.store %z, %m[0, 0]
}
kiln.func @sums(%m: !kiln.tensor<16x32xf32> in, %y: !kiln.tensor<16x1xf32> out) incore {
  %t = tile.load %m[0, 0] : !tile.tile<16x32xf32>
  %s = tile.reduce sum %t axis(1) : !tile.tile<16x1xf32>
  tile.store %s, %y[0, 0]
}
kiln.func @main(%x: !kiln.tensor<16x?xf32> in, %y: !kiln.tensor<16x1xf32> out) orchestration {
  %n = kiln.dim %x, 1
  %c32 = arith.constant 32 : index
  %fits = arith.cmpi sle, %n, %c32 : index
  kiln.require %fits, "x has at most 32 columns"
  %m = kiln.alloc() : !kiln.tensor<16x32xf32>
  %a = kiln.submit @exponents(%x, %m)
  %b = kiln.submit @sums(%m, %y)
}

//--- right-overwritten.mlir
kiln.func @first(%x: !kiln.tensor<16x?xf32> in, %m: !kiln.tensor<16x32xf32> out) incore {
  %t = tile.load %x[0, 0] pad(1.0) : !tile.tile<16x32xf32>
  tile.store %t, %m[0, 0]
}
kiln.func @second(%w: !kiln.tensor<16x32xf32> in, %m: !kiln.tensor<16x32xf32> out) incore {
  %t = tile.load %w[0, 0] : !tile.tile<16x32xf32>
  tile.store %t, %m[0, 0]
}
kiln.func @sums(%m: !kiln.tensor<16x32xf32> in, %y: !kiln.tensor<16x1xf32> out) incore {
  %t = tile.load %m[0, 0] : !tile.tile<16x32xf32>
  %s = tile.reduce sum %t axis(1) : !tile.tile<16x1xf32>
  tile.store %s, %y[0, 0]
}
kiln.func @main(%x: !kiln.tensor<16x?xf32> in, %w: !kiln.tensor<16x32xf32> in, %y: !kiln.tensor<16x1xf32> out) orchestration {
  %m = kiln.alloc() : !kiln.tensor<16x32xf32>
  %a = kiln.submit @first(%x, %m)
  %b = kiln.submit @second(%w, %m)
  %c = kiln.submit @sums(%m, %y)
}
