// REQUIRES: kiln
// RUN: %kiln emit %s --target cuda | FileCheck %s

// The first tile is used as long as others come through the same pipe: each lane copies it behind the rings, and its slot
// is free at once.

// CHECK-LABEL: void mul(
// CHECK-SAME:    SharedAddress memory)
// CHECK:       auto [[W:[a-z0-9_]+]] = copied(get<0>(to_compute.pop()), memory + [[RINGS:[0-9]+]], lane);
// CHECK-NEXT:  to_compute.free();
// CHECK:       for (i64
// CHECK:         auto [[T:[a-z0-9_]+]] = get<0>(to_compute.pop());
// CHECK:         multiply<false>({{.*}}, [[T]], [[W]]);
// CHECK-NEXT:    to_compute.free();
// CHECK:       SharedAddress memory = sharedAddress(shared);
// CHECK:       mul(args, {{.*}}, lane, to_compute, memory);

!p = !tile.pipe<dma -> compute, 64x64xbf16>
kiln.func @copy(%x: !kiln.tensor<?x64xbf16>, %n: index, %p: !p) role(dma) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %more = arith.addi %n, %c64 : index
  scf.for %i = %c0 to %more step %c64 {
    %t = tile.load %x[%i, 0] : !tile.tile<64x64xbf16>
    tile.push %t, %p
  }
}
kiln.func @mul(%y: !kiln.tensor<?x64xbf16>, %n: index, %p: !p) role(compute) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %w = tile.pop %p : !tile.tile<64x64xbf16>
  scf.for %i = %c0 to %n step %c64 {
    %t = tile.pop %p : !tile.tile<64x64xbf16>
    %s = tile.matmul %t, %w : !tile.tile<64x64xf32>
    %r = tile.cast %s : !tile.tile<64x64xbf16>
    tile.store %r, %y[%i, 0]
  }
}
kiln.func @held(%x: !kiln.tensor<?x64xbf16>, %y: !kiln.tensor<?x64xbf16>, %n: index) group {
  %p = tile.pipe : !p
  kiln.call @copy(%x, %n, %p)
  kiln.call @mul(%y, %n, %p)
}
kiln.func @main(%x: !kiln.tensor<?x64xbf16>, %y: !kiln.tensor<?x64xbf16>, %n: index) orchestration {
  %0 = kiln.submit @held(%x, %y, %n)
}
