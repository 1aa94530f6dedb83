// NaN made of finite numbers reaches an output: wrong if the inputs were given, else it depends on them. NaN that is
// not stored harms nobody.
// RUN: split-file --leading-lines %s %t
// RUN: not %kiln check %t/wrong.mlir --arg x=16x16:zeros | FileCheck %s
// RUN: sh -c '%kiln check %t/wrong.mlir; test $? = 3' | FileCheck %s --check-prefix=OPEN
// RUN: %kiln check %t/right.mlir | FileCheck %s --check-prefix=RIGHT
// RUN: not %kiln check %t/right.mlir --nan | FileCheck %s --check-prefix=NAN
// RIGHT: {{^}}CLEAN
// NAN: error: tile.log makes NaN at
// OPEN: incomplete: {{.*}}wrong.mlir:{{[0-9]+}}:8: tile.log makes NaN at [{{.*}}] of {{.*}}, and an output holds NaN; the inputs were made up
// OPEN-NEXT: give inputs that fit, such as --arg x=SHAPE:uniform

//--- wrong.mlir
kiln.func @k(%x: !kiln.tensor<16x16xf32> in, %y: !kiln.tensor<16x16xf32> out) incore {
  %one = arith.constant 1.0 : f32
  %t = tile.load %x[0, 0] : !tile.tile<16x16xf32>
  %m = tile.sub %t, %one : !tile.tile<16x16xf32>
  // CHECK: wrong.mlir:[[#@LINE+1]]:{{[0-9]+}}: error: tile.log makes NaN at [0, 0] of -1
  %l = tile.log %m : !tile.tile<16x16xf32>
  tile.store %l, %y[0, 0]
}

//--- right.mlir
kiln.func @k(%x: !kiln.tensor<16x16xf32> in, %y: !kiln.tensor<16x16xf32> out) incore {
  %one = arith.constant 1.0 : f32
  %t = tile.load %x[0, 0] : !tile.tile<16x16xf32>
  %l = tile.log %t : !tile.tile<16x16xf32>
  %n = tile.mul %l, %one : !tile.tile<16x16xf32>
  tile.store %t, %y[0, 0]
}
