// Seven rows do not divide over two lanes.
// RUN: not %kiln check %s 2>&1 | FileCheck %s

!t = !tile.tile<7x8xf32>
!p = !tile.pipe<aic -> aiv, 7x8xf32, up_down>
kiln.func @cube(%x: !kiln.tensor<8x8xf32>, %p: !p) role(aic) {
  %t = tile.load %x[0, 0] : !t
  tile.push %t, %p
}
kiln.func @pair(%x: !kiln.tensor<8x8xf32>) group lanes(2) {
  // CHECK-DAG: uneven-split.mlir:[[#@LINE+1]]:{{[0-9]+}}: error: 'tile.pipe' op split up_down cannot divide the extent 7 evenly over 2 lanes
  %p = tile.pipe slots(2) : !p
  kiln.call @cube(%x, %p)
}
