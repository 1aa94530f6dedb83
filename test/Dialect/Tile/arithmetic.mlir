// RUN: kiln-opt --allow-unregistered-dialect %s > %t.mlir
// RUN: FileCheck %s < %t.mlir
// RUN: kiln-opt --allow-unregistered-dialect %t.mlir | diff %t.mlir -
// RUN: kiln-opt --allow-unregistered-dialect %s --mlir-print-op-generic | kiln-opt --allow-unregistered-dialect | diff %t.mlir -
// RUN: kiln-opt --allow-unregistered-dialect %s --emit-bytecode | kiln-opt --allow-unregistered-dialect | diff %t.mlir -

// Arithmetic: elementwise with broadcasting, comparisons, reductions, products, masks.

// CHECK-LABEL: kiln.func @binary(
// CHECK:         %[[X:.*]] = tile.load %x[0, 0] : !tile.tile<8x4xf32>
// CHECK-NEXT:    tile.add %[[X]], %[[X]] : !tile.tile<8x4xf32>
// CHECK-NEXT:    tile.sub %[[X]], %[[X]] : !tile.tile<8x4xf32>
// CHECK-NEXT:    tile.mul %[[X]], %[[X]] : !tile.tile<8x4xf32>
// CHECK-NEXT:    tile.div %[[X]], %[[X]] : !tile.tile<8x4xf32>
// CHECK-NEXT:    tile.max %[[X]], %[[X]] : !tile.tile<8x4xf32>
// CHECK-NEXT:    tile.min %[[X]], %[[X]] : !tile.tile<8x4xf32>
// CHECK-NEXT:    tile.pow %[[X]], %[[X]] : !tile.tile<8x4xf32>
// CHECK-NEXT:    tile.fmod %[[X]], %[[X]] : !tile.tile<8x4xf32>
kiln.func @binary(%x: !kiln.tensor<8x4xf32>) incore {
  %t = tile.load %x[0, 0] : !tile.tile<8x4xf32>
  %add = tile.add %t, %t : !tile.tile<8x4xf32>
  %sub = tile.sub %t, %t : !tile.tile<8x4xf32>
  %mul = tile.mul %t, %t : !tile.tile<8x4xf32>
  %div = tile.div %t, %t : !tile.tile<8x4xf32>
  %max = tile.max %t, %t : !tile.tile<8x4xf32>
  %min = tile.min %t, %t : !tile.tile<8x4xf32>
  %pow = tile.pow %t, %t : !tile.tile<8x4xf32>
  %fmod = tile.fmod %t, %t : !tile.tile<8x4xf32>
}

// CHECK-LABEL: kiln.func @unary(
// CHECK:         %[[X:.*]] = tile.load %x[0, 0] : !tile.tile<8x4xbf16>
// CHECK-NEXT:    tile.neg %[[X]] : !tile.tile<8x4xbf16>
// CHECK-NEXT:    tile.abs %[[X]] : !tile.tile<8x4xbf16>
// CHECK-NEXT:    tile.exp %[[X]] : !tile.tile<8x4xbf16>
// CHECK-NEXT:    tile.exp2 %[[X]] : !tile.tile<8x4xbf16>
// CHECK-NEXT:    tile.log %[[X]] : !tile.tile<8x4xbf16>
// CHECK-NEXT:    tile.sqrt %[[X]] : !tile.tile<8x4xbf16>
// CHECK-NEXT:    tile.rsqrt %[[X]] : !tile.tile<8x4xbf16>
// CHECK-NEXT:    tile.recip %[[X]] : !tile.tile<8x4xbf16>
// CHECK-NEXT:    tile.tanh %[[X]] : !tile.tile<8x4xbf16>
// CHECK-NEXT:    tile.sigmoid %[[X]] : !tile.tile<8x4xbf16>
// CHECK-NEXT:    tile.erf %[[X]] : !tile.tile<8x4xbf16>
// CHECK-NEXT:    tile.sin %[[X]] : !tile.tile<8x4xbf16>
// CHECK-NEXT:    tile.cos %[[X]] : !tile.tile<8x4xbf16>
kiln.func @unary(%x: !kiln.tensor<8x4xbf16>) incore {
  %t = tile.load %x[0, 0] : !tile.tile<8x4xbf16>
  %neg = tile.neg %t : !tile.tile<8x4xbf16>
  %abs = tile.abs %t : !tile.tile<8x4xbf16>
  %exp = tile.exp %t : !tile.tile<8x4xbf16>
  %exp2 = tile.exp2 %t : !tile.tile<8x4xbf16>
  %log = tile.log %t : !tile.tile<8x4xbf16>
  %sqrt = tile.sqrt %t : !tile.tile<8x4xbf16>
  %rsqrt = tile.rsqrt %t : !tile.tile<8x4xbf16>
  %recip = tile.recip %t : !tile.tile<8x4xbf16>
  %tanh = tile.tanh %t : !tile.tile<8x4xbf16>
  %sigmoid = tile.sigmoid %t : !tile.tile<8x4xbf16>
  %erf = tile.erf %t : !tile.tile<8x4xbf16>
  %sin = tile.sin %t : !tile.tile<8x4xbf16>
  %cos = tile.cos %t : !tile.tile<8x4xbf16>
}

// Integers have the arithmetic, the bits, and of the functions neg and abs.
// CHECK-LABEL: kiln.func @integers(
// CHECK:         tile.div %{{.*}}, %{{.*}} : !tile.tile<8x4xi32>
// CHECK-NEXT:    tile.neg %{{.*}} : !tile.tile<8x4xi32>
// CHECK-NEXT:    tile.abs %{{.*}} : !tile.tile<8x4xi32>
// CHECK-NEXT:    tile.fmod %{{.*}}, %{{.*}} : !tile.tile<8x4xi32>
// CHECK-NEXT:    tile.and %{{.*}}, %{{.*}} : !tile.tile<8x4xi32>
// CHECK-NEXT:    tile.or %{{.*}}, %n : !tile.tile<8x4xi32>
// CHECK-NEXT:    tile.xor %n, %{{.*}} : !tile.tile<8x4xi32>
// CHECK-NEXT:    tile.not %{{.*}} : !tile.tile<8x4xi32>
// CHECK-NEXT:    tile.shl %{{.*}}, %n : !tile.tile<8x4xi32>
// CHECK-NEXT:    tile.shr %n, %{{.*}} : !tile.tile<8x4xi32>
kiln.func @integers(%x: !kiln.tensor<8x4xi32>, %n: i32) incore {
  %t = tile.load %x[0, 0] : !tile.tile<8x4xi32>
  %a = tile.div %t, %t : !tile.tile<8x4xi32>
  %b = tile.neg %t : !tile.tile<8x4xi32>
  %c = tile.abs %t : !tile.tile<8x4xi32>
  %d = tile.fmod %t, %t : !tile.tile<8x4xi32>
  %e = tile.and %t, %t : !tile.tile<8x4xi32>
  %f = tile.or %t, %n : !tile.tile<8x4xi32>
  %g = tile.xor %n, %t : !tile.tile<8x4xi32>
  %h = tile.not %t : !tile.tile<8x4xi32>
  %i = tile.shl %t, %n : !tile.tile<8x4xi32>
  %j = tile.shr %n, %t : !tile.tile<8x4xi32>
}

// CHECK-LABEL: kiln.func @flags(
// CHECK:         tile.and %{{.*}}, %{{.*}} : !tile.tile<8x4xi1>
// CHECK-NEXT:    tile.or %{{.*}}, %{{.*}} : !tile.tile<8x4xi1>
// CHECK-NEXT:    tile.xor %{{.*}}, %{{.*}} : !tile.tile<8x4xi1>
// CHECK-NEXT:    tile.not %{{.*}} : !tile.tile<8x4xi1>
kiln.func @flags(%x: !kiln.tensor<8x4xi1>) incore {
  %t = tile.load %x[0, 0] : !tile.tile<8x4xi1>
  %a = tile.and %t, %t : !tile.tile<8x4xi1>
  %b = tile.or %t, %t : !tile.tile<8x4xi1>
  %c = tile.xor %t, %t : !tile.tile<8x4xi1>
  %d = tile.not %t : !tile.tile<8x4xi1>
}

// CHECK-LABEL: kiln.func @broadcast(
// CHECK:         %[[FULL:.*]] = tile.full %s : !tile.tile<8x4xf32>
// CHECK-NEXT:    %[[COL:.*]] = tile.full %s : !tile.tile<8x1xf32>
// CHECK-NEXT:    %[[ROW:.*]] = tile.full %s : !tile.tile<1x4xf32>
// CHECK-NEXT:    %[[ONE:.*]] = tile.full %s : !tile.tile<1x1xf32>
// CHECK-NEXT:    tile.add %[[FULL]], %[[COL]] : !tile.tile<8x4xf32>
// CHECK-NEXT:    tile.add %[[ROW]], %[[FULL]] : !tile.tile<8x4xf32>
// CHECK-NEXT:    tile.add %[[FULL]], %[[ONE]] : !tile.tile<8x4xf32>
// CHECK-NEXT:    tile.add %[[COL]], %[[ROW]] : !tile.tile<8x4xf32>
// CHECK-NEXT:    tile.add %[[FULL]], %s : !tile.tile<8x4xf32>
// CHECK-NEXT:    tile.add %s, %[[ROW]] : !tile.tile<1x4xf32>
kiln.func @broadcast(%s: f32) incore {
  %full = tile.full %s : !tile.tile<8x4xf32>
  %col = tile.full %s : !tile.tile<8x1xf32>
  %row = tile.full %s : !tile.tile<1x4xf32>
  %one = tile.full %s : !tile.tile<1x1xf32>
  %a = tile.add %full, %col : !tile.tile<8x4xf32>
  %b = tile.add %row, %full : !tile.tile<8x4xf32>
  %c = tile.add %full, %one : !tile.tile<8x4xf32>
  %d = tile.add %col, %row : !tile.tile<8x4xf32>
  %e = tile.add %full, %s : !tile.tile<8x4xf32>
  %f = tile.add %s, %row : !tile.tile<1x4xf32>
}

// CHECK-LABEL: kiln.func @compare(
// CHECK:         %[[X:.*]] = tile.full %s : !tile.tile<8x4xf32>
// CHECK-NEXT:    %[[C:.*]] = tile.cmp eq %[[X]], %s : !tile.tile<8x4xi1>
// CHECK-NEXT:    %[[C:.*]] = tile.cmp ne %[[X]], %s : !tile.tile<8x4xi1>
// CHECK-NEXT:    %[[C:.*]] = tile.cmp lt %[[X]], %s : !tile.tile<8x4xi1>
// CHECK-NEXT:    %[[C:.*]] = tile.cmp le %[[X]], %s : !tile.tile<8x4xi1>
// CHECK-NEXT:    %[[C:.*]] = tile.cmp gt %[[X]], %s : !tile.tile<8x4xi1>
// CHECK-NEXT:    %[[C:.*]] = tile.cmp ge %[[X]], %s : !tile.tile<8x4xi1>
// CHECK-NEXT:    tile.select %[[C]], %[[X]], %s : !tile.tile<8x4xf32>
// CHECK-NEXT:    tile.select %[[C]], %s, %s : !tile.tile<8x4xf32>
kiln.func @compare(%s: f32) incore {
  %t = tile.full %s : !tile.tile<8x4xf32>
  %eq = tile.cmp eq %t, %s : !tile.tile<8x4xi1>
  %ne = tile.cmp ne %t, %s : !tile.tile<8x4xi1>
  %lt = tile.cmp lt %t, %s : !tile.tile<8x4xi1>
  %le = tile.cmp le %t, %s : !tile.tile<8x4xi1>
  %gt = tile.cmp gt %t, %s : !tile.tile<8x4xi1>
  %ge = tile.cmp ge %t, %s : !tile.tile<8x4xi1>
  %a = tile.select %ge, %t, %s : !tile.tile<8x4xf32>
  %b = tile.select %ge, %s, %s : !tile.tile<8x4xf32>
}

// CHECK-LABEL: kiln.func @scan(
// CHECK:         tile.scan sum %[[X:.*]] axis(0) : !tile.tile<8x4xbf16>
// CHECK-NEXT:    tile.scan sum %[[X]] axis(1) : !tile.tile<8x4xbf16>
// CHECK-NEXT:    tile.scan max %[[X]] axis(1) exclusive : !tile.tile<8x4xbf16>
// CHECK-NEXT:    tile.scan min %[[X]] axis(0) reverse : !tile.tile<8x4xbf16>
// CHECK-NEXT:    tile.scan prod %[[X]] axis(1) exclusive reverse : !tile.tile<8x4xbf16>
kiln.func @scan(%s: bf16) incore {
  %t = tile.full %s : !tile.tile<8x4xbf16>
  %a = tile.scan sum %t axis(0) : !tile.tile<8x4xbf16>
  %b = tile.scan sum %t axis(1) : !tile.tile<8x4xbf16>
  %c = tile.scan max %t axis(1) exclusive : !tile.tile<8x4xbf16>
  %d = tile.scan min %t axis(0) reverse : !tile.tile<8x4xbf16>
  %e = tile.scan prod %t axis(1) exclusive reverse : !tile.tile<8x4xbf16>
}

// CHECK-LABEL: kiln.func @reduce(
// CHECK:         tile.reduce sum %[[X:.*]] axis(0) : !tile.tile<1x4xf32>
// CHECK-NEXT:    tile.reduce max %[[X]] axis(1) : !tile.tile<8x1xf32>
// CHECK-NEXT:    tile.reduce min %[[X]] axis(1) : !tile.tile<8x1xf32>
// CHECK-NEXT:    tile.reduce prod %[[X]] axis(1) : !tile.tile<8x1xf32>
// CHECK-NEXT:    tile.reduce argmax %[[X]] axis(0) : !tile.tile<1x4xi32>
// CHECK-NEXT:    tile.reduce argmin %[[X]] axis(1) : !tile.tile<8x1xi32>
kiln.func @reduce(%s: f32) incore {
  %t = tile.full %s : !tile.tile<8x4xf32>
  %a = tile.reduce sum %t axis(0) : !tile.tile<1x4xf32>
  %b = tile.reduce max %t axis(1) : !tile.tile<8x1xf32>
  %c = tile.reduce min %t axis(1) : !tile.tile<8x1xf32>
  %prod = tile.reduce prod %t axis(1) : !tile.tile<8x1xf32>
  %argmax = tile.reduce argmax %t axis(0) : !tile.tile<1x4xi32>
  %argmin = tile.reduce argmin %t axis(1) : !tile.tile<8x1xi32>
}

// CHECK-LABEL: kiln.func @matmul(
// CHECK:         %[[ACC:.*]] = tile.matmul %[[A:.*]], %[[B:.*]] : !tile.tile<8x16xf32>
// CHECK-NEXT:    tile.matmul %[[A]], %[[A]] trans_a : !tile.tile<4x4xf32>
// CHECK-NEXT:    tile.matmul %[[A]], %[[A]] trans_b : !tile.tile<8x8xf32>
// CHECK-NEXT:    tile.matmul %[[B]], %[[A]] trans_a trans_b : !tile.tile<16x8xf32>
// CHECK-NEXT:    tile.matmul_acc %[[ACC]], %[[A]], %[[B]] : !tile.tile<8x16xf32>
// CHECK-NEXT:    tile.matmul_acc %{{.*}}, %[[B]], %[[A]] trans_a trans_b {test.note} : !tile.tile<16x8xf32>
// CHECK:         tile.matmul %{{.*}}, %{{.*}} : !tile.tile<8x8xi32>
kiln.func @matmul(%s: bf16, %i: i8) incore {
  %a = tile.full %s : !tile.tile<8x4xbf16>
  %b = tile.full %s : !tile.tile<4x16xbf16>
  %ab = tile.matmul %a, %b : !tile.tile<8x16xf32>
  %aa = tile.matmul %a, %a trans_a : !tile.tile<4x4xf32>
  %aat = tile.matmul %a, %a trans_b : !tile.tile<8x8xf32>
  %tt = tile.matmul %b, %a trans_a trans_b : !tile.tile<16x8xf32>
  %acc = tile.matmul_acc %ab, %a, %b : !tile.tile<8x16xf32>
  %acct = tile.matmul_acc %tt, %b, %a trans_a trans_b {test.note} : !tile.tile<16x8xf32>
  %j = tile.full %i : !tile.tile<8x8xi8>
  %jj = tile.matmul %j, %j : !tile.tile<8x8xi32>
}

// CHECK-LABEL: kiln.func @begun(
// CHECK:         %[[P:.*]] = tile.matmul_start %[[A:.*]], %[[A]] trans_b : !tile.tile<8x8xf32>
// CHECK-NEXT:    %[[Q:.*]] = tile.await %[[P]] : !tile.tile<8x8xf32>
// CHECK-NEXT:    %[[R:.*]] = tile.matmul_start %[[A]], %[[A]] trans_b onto %[[Q]] : !tile.tile<8x8xf32>
// CHECK-NEXT:    tile.await %[[R]] : !tile.tile<8x8xf32>
kiln.func @begun(%s: bf16) incore {
  %a = tile.full %s : !tile.tile<8x4xbf16>
  %p = tile.matmul_start %a, %a trans_b : !tile.tile<8x8xf32>
  %q = tile.await %p : !tile.tile<8x8xf32>
  %r = tile.matmul_start %a, %a trans_b onto %q : !tile.tile<8x8xf32>
  %t = tile.await %r : !tile.tile<8x8xf32>
}

// CHECK-LABEL: kiln.func @mask(
// CHECK:         tile.mask %[[X:.*]] valid(%i, 3) : !tile.tile<8x4xf32>
// CHECK-NEXT:    tile.mask %[[X]] valid(0, %i) pad(zero) : !tile.tile<8x4xf32>
// CHECK-NEXT:    tile.mask %[[X]] valid(8, 4) pad(2.500000e+00) : !tile.tile<8x4xf32>
// CHECK-NEXT:    tile.mask_diag %[[X]] offset(%i) : !tile.tile<8x4xf32>
// CHECK-NEXT:    tile.mask_diag %[[X]] offset(%i) pad(min) : !tile.tile<8x4xf32>
// CHECK-NEXT:    tile.mask_diag %[[X]] offset(%i) pad(-1.000000e+00) : !tile.tile<8x4xf32>
kiln.func @mask(%s: f32, %i: index) incore {
  %t = tile.full %s : !tile.tile<8x4xf32>
  %a = tile.mask %t valid(%i, 3) : !tile.tile<8x4xf32>
  %b = tile.mask %t valid(0, %i) pad(zero) : !tile.tile<8x4xf32>
  %c = tile.mask %t valid(8, 4) pad(2.5) : !tile.tile<8x4xf32>
  %d = tile.mask_diag %t offset(%i) : !tile.tile<8x4xf32>
  %e = tile.mask_diag %t offset(%i) pad(min) : !tile.tile<8x4xf32>
  %f = tile.mask_diag %t offset(%i) pad(-1.0) : !tile.tile<8x4xf32>
}

// CHECK-LABEL: kiln.func @identity(
// CHECK-NEXT:    %block = tile.block_idx 0
// CHECK-NEXT:    %block_0 = tile.block_idx 2
// CHECK-NEXT:    %blocks = tile.block_count 1
// CHECK-NEXT:    %lane = tile.lane
// CHECK:         tile.element %[[X:.*]][%lane, 3] : f32
kiln.func @identity(%s: f32) incore {
  %a = tile.block_idx 0
  %b = tile.block_idx 2
  %c = tile.block_count 1
  %d = tile.lane
  %t = tile.full %s : !tile.tile<8x4xf32>
  %e = tile.element %t[%d, 3] : f32
}
