// REQUIRES: kiln
// RUN: %kiln emit %s --target cuda | FileCheck %s

// Products that the matrix unit does not take are written like others: the device library sees that from the types. Their
// left operand is in shared memory then, and so is a right operand that was made in registers.

// CHECK-LABEL: void floats_compute(
// CHECK:       auto [[LEFT:[a-z0-9_]+]] = rowsFrom<64>(
// CHECK-NEXT:  = multiply<false>({{[a-z0-9_]+}}, [[LEFT]], {{[a-z0-9_]+}});
// CHECK-LABEL: void bytes(
// CHECK:       auto [[A:[a-z0-9_]+]] = load<Reg<i8, 16, 32>>
// CHECK:       auto [[SA:[a-z0-9_]+]] = toShared([[A]], memory + {{[0-9]+}}, lane);
// CHECK:       multiply<false>(full<Reg<int, 16, 24>>(0), [[SA]], {{[a-z0-9_]+}});

// Of 8 bits, in shapes that the matrix unit takes, they become products of halves.
// CHECK-LABEL: void halves(
// CHECK:       auto [[WIDE:[a-z0-9_]+]] = packed(
// CHECK:       auto [[RIGHT:[a-z0-9_]+]] = toShared({{.*}}, lane);
// CHECK:       auto [[P:[a-z0-9_]+]] = multiply<false>(full<Reg<float, 16, 32>>(0.0f), [[WIDE]], [[RIGHT]]);
// CHECK-NEXT:  = cast<Reg<int, 16, 32>>([[P]]);
// CHECK:       cast<Reg<f16, 16, 32>>
// CHECK:       multiply<true>(full<Reg<float, 16, 32>>(0.0f),
// CHECK-LABEL: void turned(
// CHECK:       multiply<true, true>(full<Reg<float, 16, 32>>(0.0f), {{[a-z0-9_]+}}, {{[a-z0-9_]+}});
// CHECK-LABEL: void eighths(
// CHECK:       load<Reg<f8e4m3, 16, 32>>
// CHECK:       load<Reg<f8e5m2, 32, 16>>

kiln.func @main(%a: !kiln.tensor<?x?xf32>, %b: !kiln.tensor<?x?xf32>, %c: !kiln.tensor<?x?xf32>, %d: !kiln.tensor<?x?xi8>, %e: !kiln.tensor<?x?xi32>, %f: !kiln.tensor<?x?xbf16>, %g: !kiln.tensor<?x?xf8E4M3FN>, %h: !kiln.tensor<?x?xf8E5M2>, %o: !kiln.tensor<?x?xf16>) orchestration {
  kiln.incore "floats" split(up_down) {
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %zero = arith.constant 0.0 : f32
    %k = kiln.dim %a, 1
    %start = tile.full %zero : !tile.tile<128x64xf32>
    %sum = scf.for %at = %c0 to %k step %c64 iter_args(%acc = %start) -> (!tile.tile<128x64xf32>) {
      %x = tile.load %a[0, %at] : !tile.tile<128x64xf32>
      %y = tile.load %b[%at, 0] : !tile.tile<64x64xf32>
      %next = tile.matmul_acc %acc, %x, %y : !tile.tile<128x64xf32>
      scf.yield %next : !tile.tile<128x64xf32>
    } {kiln.loop = #kiln.loop<pipeline, stages = 4>}
    tile.store %sum, %c[0, 0]
  }
  kiln.incore "bytes" split(none) {
    %x = tile.load %d[0, 0] : !tile.tile<16x32xi8>
    %y = tile.load %d[16, 0] : !tile.tile<32x24xi8>
    %z = tile.matmul %x, %y : !tile.tile<16x24xi32>
    tile.store %z, %e[0, 0]
  }
  kiln.incore "halves" split(none) {
    %x = tile.load %d[0, 0] : !tile.tile<16x32xi8>
    %y = tile.load %d[16, 0] : !tile.tile<32x32xi8>
    %z = tile.matmul %x, %y : !tile.tile<16x32xi32>
    tile.store %z, %e[16, 0]
    %v = tile.load %g[0, 0] : !tile.tile<16x32xf8E4M3FN>
    %w = tile.load %g[16, 0] : !tile.tile<32x32xf8E4M3FN>
    %u = tile.matmul %v, %w trans_b : !tile.tile<16x32xf32>
    tile.store %u, %c[144, 0]
  }
  kiln.incore "turned" split(none) {
    %x = tile.load %f[0, 0] : !tile.tile<64x16xbf16>
    %y = tile.load %f[64, 0] : !tile.tile<32x64xbf16>
    %z = tile.matmul %x, %y trans_a trans_b : !tile.tile<16x32xf32>
    tile.store %z, %c[128, 0]
  }
  kiln.incore "eighths" split(none) {
    %x = tile.load %g[0, 0] : !tile.tile<16x32xf8E4M3FN>
    %y = tile.load %h[0, 0] : !tile.tile<32x16xf8E5M2>
    %w = tile.cast %x : !tile.tile<16x32xf16>
    %v = tile.cast %y : !tile.tile<32x16xf16>
    %z = tile.matmul %w, %v : !tile.tile<16x16xf32>
    %n = tile.cast %z : !tile.tile<16x16xf16>
    tile.store %n, %o[0, 0]
  }
}
