// RUN: kiln-opt %s --canonicalize | FileCheck %s

// What folds, and beside it what looks like it and must not.

!x = !tile.tile<4x8xf32>
!m = !tile.tile<4x8xf32, vec>

// CHECK-LABEL: kiln.func @same_type(
// CHECK-NEXT:    %[[T:.*]] = tile.load %x[0, 0]
// CHECK-NEXT:    tile.store %[[T]], %x[0, 0]
// CHECK-NEXT:    tile.store %[[T]], %x[1, 0]
// CHECK-NEXT:    tile.store %[[T]], %x[2, 0]
// CHECK-NEXT:    tile.store %[[T]], %x[3, 0]
// CHECK-NEXT:    tile.store %[[T]], %x[4, 0]
// CHECK-NEXT:    tile.store %[[T]], %x[5, 0]
// CHECK-NEXT:  }
kiln.func @same_type(%x: !kiln.tensor<16x8xf32>) incore {
  %t = tile.load %x[0, 0] : !x
  %a = tile.move %t : !x
  %b = tile.cast %t : !x
  %c = tile.reshape %t : !x
  %d = tile.extract %t[0, 0] : !x
  %e = tile.insert %t, %t[0, 0] : !x
  %f = tile.concat %t axis(1) : !x
  tile.store %a, %x[0, 0]
  tile.store %b, %x[1, 0]
  tile.store %c, %x[2, 0]
  tile.store %d, %x[3, 0]
  tile.store %e, %x[4, 0]
  tile.store %f, %x[5, 0]
}

// CHECK-LABEL: kiln.func @other_type(
// CHECK-NEXT:    %[[T:.*]] = tile.load %x[0, 0]
// CHECK-NEXT:    %[[A:.*]] = tile.move %[[T]]
// CHECK-NEXT:    %[[B:.*]] = tile.cast %[[T]]
// CHECK-NEXT:    %[[C:.*]] = tile.cast %[[B]]
// CHECK-NEXT:    %[[D:.*]] = tile.extract %[[T]][1, 0]
// CHECK-NEXT:    %[[E:.*]] = tile.insert %[[D]], %[[T]][0, 0]
// CHECK-NEXT:    %[[F:.*]] = tile.concat %[[D]], %[[D]] axis(0)
// CHECK-NEXT:    tile.store %[[A]]
// CHECK-NEXT:    tile.store %[[C]]
// CHECK-NEXT:    tile.store %[[E]]
// CHECK-NEXT:    tile.store %[[F]]
kiln.func @other_type(%x: !kiln.tensor<16x8xf32>) incore {
  %t = tile.load %x[0, 0] : !x
  %a = tile.move %t : !m
  %b = tile.cast %t : !tile.tile<4x8xbf16>
  %c = tile.cast %b : !x
  %d = tile.extract %t[1, 0] : !tile.tile<2x8xf32>
  %e = tile.insert %d, %t[0, 0] : !x
  %f = tile.concat %d, %d axis(0) : !x
  tile.store %a, %x[0, 0]
  tile.store %c, %x[1, 0]
  tile.store %e, %x[2, 0]
  tile.store %f, %x[3, 0]
}

// CHECK-LABEL: kiln.func @twice(
// CHECK-NEXT:    %[[T:.*]] = tile.load %x[0, 0] : !tile.tile<4x8xf32>
// CHECK-NEXT:    %[[I:.*]] = tile.load %y[0, 0] : !tile.tile<4x8xi32>
// CHECK-NEXT:    tile.store %[[T]], %x[0, 0]
// CHECK-NEXT:    tile.store %[[T]], %x[1, 0]
// CHECK-NEXT:    tile.store %[[I]], %y[0, 0]
// CHECK-NEXT:    %[[N:.*]] = tile.neg %[[T]]
// CHECK-NEXT:    tile.store %[[N]], %x[2, 0]
// CHECK-NEXT:  }
kiln.func @twice(%x: !kiln.tensor<16x8xf32>, %y: !kiln.tensor<16x8xi32>) incore {
  %t = tile.load %x[0, 0] : !x
  %i = tile.load %y[0, 0] : !tile.tile<4x8xi32>
  %a = tile.transpose %t : !tile.tile<8x4xf32>
  %b = tile.transpose %a : !x
  %n = tile.neg %t : !x
  %m = tile.neg %n : !x
  %p = tile.not %i : !tile.tile<4x8xi32>
  %q = tile.not %p : !tile.tile<4x8xi32>
  tile.store %b, %x[0, 0]
  tile.store %m, %x[1, 0]
  tile.store %q, %y[0, 0]
  %o = tile.neg %m : !x
  tile.store %o, %x[2, 0]
}

// Two transposes that also change the memory are not nothing.
// CHECK-LABEL: kiln.func @transposed_elsewhere(
// CHECK:         tile.transpose
// CHECK:         tile.transpose
kiln.func @transposed_elsewhere(%x: !kiln.tensor<16x8xf32>) incore {
  %t = tile.load %x[0, 0] : !x
  %a = tile.transpose %t : !tile.tile<8x4xf32>
  %b = tile.transpose %a : !m
  tile.store %b, %x[0, 0]
}

// CHECK-LABEL: kiln.func @reshapes(
// CHECK-NEXT:    %[[T:.*]] = tile.load %x[0, 0]
// CHECK-NEXT:    tile.store %[[T]], %x[0, 0]
// CHECK-NEXT:    %[[R:.*]] = tile.reshape %[[T]] : !tile.tile<16x2xf32>
// CHECK-NEXT:    tile.store %[[R]], %x[0, 0]
// CHECK-NEXT:  }
kiln.func @reshapes(%x: !kiln.tensor<16x8xf32>) incore {
  %t = tile.load %x[0, 0] : !x
  %a = tile.reshape %t : !tile.tile<8x4xf32>
  %b = tile.reshape %a : !x
  tile.store %b, %x[0, 0]
  %c = tile.reshape %a : !tile.tile<2x16xf32>
  %d = tile.reshape %c : !tile.tile<16x2xf32>
  tile.store %d, %x[0, 0]
}

// CHECK-LABEL: kiln.func @select(
// CHECK-NEXT:    %[[T:.*]] = tile.load %x[0, 0]
// CHECK-NEXT:    %[[C:.*]] = tile.cmp lt %[[T]], %s
// CHECK-NEXT:    tile.store %[[T]], %x[0, 0]
// CHECK-NEXT:    %[[S:.*]] = tile.select %[[C]], %s, %s : !tile.tile<4x8xf32>
// CHECK-NEXT:    tile.store %[[S]], %x[0, 0]
// CHECK-NEXT:  }
kiln.func @select(%x: !kiln.tensor<16x8xf32>, %s: f32) incore {
  %t = tile.load %x[0, 0] : !x
  %c = tile.cmp lt %t, %s : !tile.tile<4x8xi1>
  %a = tile.select %c, %t, %t : !x
  tile.store %a, %x[0, 0]
  %b = tile.select %c, %s, %s : !x
  tile.store %b, %x[0, 0]
}

// Of one element every reduction that keeps the type is that element; where it lies is 0, but an i32.
// CHECK-LABEL: kiln.func @reduce(
// CHECK-NEXT:    %[[T:.*]] = tile.load %x[0, 0] : !tile.tile<1x8xf32>
// CHECK-NEXT:    %[[I:.*]] = tile.load %y[0, 0] : !tile.tile<1x8xi32>
// CHECK-COUNT-4: tile.store %[[T]], %x[0, 0]
// CHECK-NEXT:    tile.reduce argmax %[[I]] axis(0)
// CHECK-NEXT:    tile.store
// CHECK-NEXT:    tile.reduce argmin %[[I]] axis(0)
// CHECK-NEXT:    tile.store
// CHECK-NEXT:    tile.reduce sum %[[T]] axis(1) : !tile.tile<1x1xf32>
kiln.func @reduce(%x: !kiln.tensor<16x8xf32>, %y: !kiln.tensor<16x8xi32>) incore {
  %t = tile.load %x[0, 0] : !tile.tile<1x8xf32>
  %i = tile.load %y[0, 0] : !tile.tile<1x8xi32>
  %a = tile.reduce sum %t axis(0) : !tile.tile<1x8xf32>
  %b = tile.reduce max %t axis(0) : !tile.tile<1x8xf32>
  %c = tile.reduce min %t axis(0) : !tile.tile<1x8xf32>
  %d = tile.reduce prod %t axis(0) : !tile.tile<1x8xf32>
  tile.store %a, %x[0, 0]
  tile.store %b, %x[0, 0]
  tile.store %c, %x[0, 0]
  tile.store %d, %x[0, 0]
  %e = tile.reduce argmax %i axis(0) : !tile.tile<1x8xi32>
  tile.store %e, %y[0, 0]
  %f = tile.reduce argmin %i axis(0) : !tile.tile<1x8xi32>
  tile.store %f, %y[0, 0]
  %g = tile.reduce sum %t axis(1) : !tile.tile<1x1xf32>
  tile.store %g, %x[0, 0]
}

// The first running sum is the first element; a single line runs on.
// CHECK-LABEL: kiln.func @scan(
// CHECK-NEXT:    %[[T:.*]] = tile.load %x[0, 0] : !tile.tile<1x8xf32>
// CHECK-NEXT:    tile.store %[[T]], %x[0, 0]
// CHECK-NEXT:    tile.scan sum %[[T]] axis(1) : !tile.tile<1x8xf32>
// CHECK-NEXT:    tile.store
// CHECK-NEXT:    tile.scan sum %[[T]] axis(0) exclusive : !tile.tile<1x8xf32>
kiln.func @scan(%x: !kiln.tensor<16x8xf32>) incore {
  %t = tile.load %x[0, 0] : !tile.tile<1x8xf32>
  %a = tile.scan sum %t axis(0) : !tile.tile<1x8xf32>
  tile.store %a, %x[0, 0]
  %b = tile.scan sum %t axis(1) : !tile.tile<1x8xf32>
  tile.store %b, %x[0, 0]
  %c = tile.scan sum %t axis(0) exclusive : !tile.tile<1x8xf32>
  tile.store %c, %x[0, 0]
}

// CHECK-LABEL: kiln.func @mask(
// CHECK-NEXT:    %[[T:.*]] = tile.load %x[0, 0]
// CHECK-NEXT:    tile.store %[[T]], %x[0, 0]
// CHECK-NEXT:    tile.store %[[T]], %x[0, 0]
// CHECK-NEXT:    tile.mask %[[T]] valid(4, 7)
// CHECK-NEXT:    tile.store
// CHECK-NEXT:    tile.mask %[[T]] valid(%n, 8)
kiln.func @mask(%x: !kiln.tensor<16x8xf32>, %n: index) incore {
  %t = tile.load %x[0, 0] : !x
  %a = tile.mask %t valid(4, 8) pad(min) : !x
  %b = tile.mask %t valid(100, 8) : !x
  tile.store %a, %x[0, 0]
  tile.store %b, %x[0, 0]
  %c = tile.mask %t valid(4, 7) : !x
  tile.store %c, %x[0, 0]
  %d = tile.mask %t valid(%n, 8) : !x
  tile.store %d, %x[0, 0]
}

// Nothing that NaN, infinity or the sign of zero would contradict.
// CHECK-LABEL: kiln.func @inexact(
// CHECK:         tile.add %{{.*}}, %cst
// CHECK:         tile.mul
// CHECK:         tile.sub
// CHECK:         tile.div
// CHECK:         tile.pow
// CHECK:         tile.recip
// CHECK:         tile.recip
kiln.func @inexact(%x: !kiln.tensor<16x8xf32>) incore {
  %zero = arith.constant 0.0 : f32
  %t = tile.load %x[0, 0] : !x
  %a = tile.add %t, %zero : !x
  %b = tile.mul %a, %zero : !x
  %c = tile.sub %b, %b : !x
  %d = tile.div %c, %c : !x
  %e = tile.pow %d, %zero : !x
  %f = tile.recip %e : !x
  %g = tile.recip %f : !x
  tile.store %g, %x[0, 0]
}
