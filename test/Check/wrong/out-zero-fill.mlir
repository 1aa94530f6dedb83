// Zeros that fill up an output to whole tiles are what the program says, but not -inf.
// RUN: split-file --leading-lines %s %t
// RUN: not %kiln check %t/wrong.mlir 2>&1 | FileCheck %s
// RUN: %kiln check %t/right.mlir | FileCheck %s --check-prefix=RIGHT
// RIGHT: {{^}}CLEAN

//--- wrong.mlir
kiln.func @main(%x: !kiln.tensor<?xf32> in, %y: !kiln.tensor<?xf32> out) orchestration {
  %c32 = arith.constant 32 : index
  %n = kiln.dim %x, 0
  %g = arith.ceildivsi %n, %c32 : index
  %whole = arith.muli %g, %c32 : index
  %m = kiln.dim %y, 0
  %fits = arith.cmpi eq, %m, %whole : index
  kiln.require %fits, "y is whole tiles"
  %t = kiln.incore "k" grid(%g) {
    %c = arith.constant 32 : index
    %b = tile.block_idx 0
    %i = arith.muli %b, %c : index
    // CHECK: incomplete: {{.*}}wrong.mlir:[[#@LINE+1]]:{{[0-9]+}}: element [{{[0-9]+}}] of 'y' (f32[{{[0-9]+}}]) is padding (of tile.load at {{.*}}): it holds -inf, and nothing says that this is meant
    %a = tile.load %x[%i] pad(min) : !tile.tile<1x32xf32>
    tile.store %a, %y[%i]
  }
}
// CHECK: {{^}}INCOMPLETE

//--- right.mlir
kiln.func @main(%x: !kiln.tensor<?xf32> in, %y: !kiln.tensor<?xf32> out) orchestration {
  %c32 = arith.constant 32 : index
  %n = kiln.dim %x, 0
  %g = arith.ceildivsi %n, %c32 : index
  %whole = arith.muli %g, %c32 : index
  %m = kiln.dim %y, 0
  %fits = arith.cmpi eq, %m, %whole : index
  kiln.require %fits, "y is whole tiles"
  %t = kiln.incore "k" grid(%g) {
    %c = arith.constant 32 : index
    %b = tile.block_idx 0
    %i = arith.muli %b, %c : index
    %a = tile.load %x[%i] : !tile.tile<1x32xf32>
    tile.store %a, %y[%i]
  }
}
