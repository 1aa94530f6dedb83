// The only store of what products made is staged, if nobody in the group does anything else with its tensor.
// RUN: kiln-opt %s --tile-stage-stores | FileCheck %s

!a = !kiln.tensor<?x?xbf16>
!pipe = !tile.pipe<dma -> compute, (128x64xbf16)>
!half = !tile.tile<128x64xbf16, vec>

kiln.func @dma(%a: !a in, %p: !pipe) role(dma) {
  %t = tile.load %a[0, 0] : !tile.tile<128x64xbf16, mat>
  tile.push %t, %p
}
// CHECK-LABEL: kiln.func @once
// CHECK:         tile.store %{{.*}}, %c[0, 0] {kiln.staged}
kiln.func @once(%c: !a out, %p: !pipe) role(compute) {
  %x = tile.pop %p : !tile.tile<128x64xbf16, mat>
  %l = tile.move %x : !tile.tile<128x64xbf16, left>
  %r = tile.move %x : !tile.tile<128x64xbf16, right>
  %s = tile.matmul %l, %r trans_b : !tile.tile<128x128xf32, acc>
  tile.free %p
  %v = tile.move %s : !tile.tile<128x128xf32, vec>
  %o = tile.cast %v : !tile.tile<128x128xbf16, vec>
  tile.store %o, %c[0, 0]
}
kiln.func @one(%a: !a in, %c: !a out) group {
  %p = tile.pipe : !pipe
  kiln.call @dma(%a, %p)
  kiln.call @once(%c, %p)
}

// What was there is read again; two stores; not 16 bits; added.
// CHECK-LABEL: kiln.func @reads
// CHECK-NOT:     kiln.staged
kiln.func @reads(%c: !a inout, %p: !pipe) role(compute) {
  %x = tile.pop %p : !tile.tile<128x64xbf16, mat>
  %l = tile.move %x : !tile.tile<128x64xbf16, left>
  %r = tile.move %x : !tile.tile<128x64xbf16, right>
  %s = tile.matmul %l, %r trans_b : !tile.tile<128x128xf32, acc>
  tile.free %p
  %before = tile.load %c[0, 0] : !tile.tile<128x128xbf16, vec>
  %v = tile.move %s : !tile.tile<128x128xf32, vec>
  %o = tile.cast %v : !tile.tile<128x128xbf16, vec>
  %sum = tile.add %o, %before : !tile.tile<128x128xbf16, vec>
  tile.store %sum, %c[0, 0]
}
kiln.func @two(%a: !a in, %c: !a inout) group {
  %p = tile.pipe : !pipe
  kiln.call @dma(%a, %p)
  kiln.call @reads(%c, %p)
}

// CHECK-LABEL: kiln.func @copied_too
// CHECK-NOT:     kiln.staged
kiln.func @copied_too(%c: !a out, %p: !pipe) role(compute) {
  %x = tile.pop %p : !tile.tile<128x64xbf16, mat>
  %l = tile.move %x : !tile.tile<128x64xbf16, left>
  %r = tile.move %x : !tile.tile<128x64xbf16, right>
  %s = tile.matmul %l, %r trans_b : !tile.tile<128x128xf32, acc>
  tile.free %p
  %v = tile.move %s : !tile.tile<128x128xf32, vec>
  %o = tile.cast %v : !tile.tile<128x128xbf16, vec>
  tile.store %o, %c[0, 0]
}
kiln.func @three(%a: !a inout) group {
  %p = tile.pipe : !pipe
  kiln.call @dma(%a, %p)
  kiln.call @copied_too(%a, %p)
}

// CHECK-LABEL: kiln.func @wide
// CHECK-NOT:     kiln.staged
kiln.func @wide(%c: !kiln.tensor<?x?xf32> out, %p: !pipe) role(compute) {
  %x = tile.pop %p : !tile.tile<128x64xbf16, mat>
  %l = tile.move %x : !tile.tile<128x64xbf16, left>
  %r = tile.move %x : !tile.tile<128x64xbf16, right>
  %s = tile.matmul %l, %r trans_b : !tile.tile<128x128xf32, acc>
  tile.free %p
  %v = tile.move %s : !tile.tile<128x128xf32, vec>
  tile.store %v, %c[0, 0]
}
kiln.func @four(%a: !a in, %c: !kiln.tensor<?x?xf32> out) group {
  %p = tile.pipe : !pipe
  kiln.call @dma(%a, %p)
  kiln.call @wide(%c, %p)
}
