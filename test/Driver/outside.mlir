// A load that misses its tensor is a fault, unless it says that it may: then all of it is the pad, on every platform.
// RUN: %kiln run %s --entry window --arg i=-20 -p cpu | FileCheck %s --check-prefix=PASS
// RUN: %kiln run %s --entry window --arg i=-20 -p a2a3sim | FileCheck %s --check-prefix=PASS
// RUN: %kiln run %s --entry window --arg i=-20 -p a5sim | FileCheck %s --check-prefix=PASS
// RUN: %kiln run %s --entry window --arg i=9223372036854775807 -p cpu | FileCheck %s --check-prefix=PASS
// RUN: %kiln run %s --entry window --arg i=9223372036854775807 -p a2a3sim | FileCheck %s --check-prefix=PASS
// RUN: %kiln run %s --entry window --arg i=9 --arg x=8x8:ones --no-reference --dump-tensor --out %t -p cpu
// RUN: %kiln dump %t --print | FileCheck %s --check-prefix=VALUES
// RUN: not %kiln run %s --entry strict --arg i=9 --no-reference -p cpu 2>&1 | FileCheck %s --check-prefix=FAULT
// RUN: not %kiln run %s --entry strict --arg i=9 --no-reference -p a2a3sim 2>&1 | FileCheck %s --check-prefix=FAULT
// RUN: not %kiln run %s --entry strict --arg i=9 -p torch 2>&1 | FileCheck %s --check-prefix=REFERENCE
// RUN: %kiln run %s --entry window --arg i=9 -p torch
// RUN: %kiln check %s --entry window --arg i=9 | FileCheck %s --check-prefix=CLEAN
// RUN: not %kiln check %s --entry strict --arg i=9 2>&1 | FileCheck %s --check-prefix=FAULT
// RUN: %kiln emit %s --target cuda -p h200 --entry window | FileCheck %s --check-prefix=CUDA
// RUN: kiln-opt %s | kiln-opt | FileCheck %s --check-prefix=TEXT

// PASS: PASS
// VALUES: -inf
// FAULT: tile.load: a tile of 8x8 at [9, 0] lies wholly outside 'x' (f32[8, 8])
// REFERENCE: outside.mlir:[[@LINE+15]]:8: error: {{.*}}a tile of 8x8 at [9, 0] lies wholly outside a tensor of [8, 8]
// CLEAN: CLEAN
// CUDA: load<Reg<float, 4, 8>>(window<float, 4, 8>(args.x, {scalarOf<i64>(args.i) + [[LANE:[a-z0-9_]+]], 0}, larger<i64>(7 - [[LANE]], 0), 8), least<float>())
// CUDA: load<Reg<float, 4, 8>>(window<float, 4, 8>(args.x, {[[LANE]] + 8, 0}), convert<float>(0))
// TEXT: tile.load %x[%i, 0] outside pad(min) valid(7, 8) : !tile.tile<8x8xf32>
// TEXT: tile.load %x[8, 0] outside : !tile.tile<8x8xf32>

kiln.func @window(%x: !kiln.tensor<8x8xf32> in, %y: !kiln.tensor<8x8xf32> out, %i: index) incore {
  %a = tile.load %x[%i, 0] outside pad(min) valid(7, 8) : !tile.tile<8x8xf32>
  %b = tile.load %x[8, 0] outside : !tile.tile<8x8xf32>
  %c = tile.add %a, %b : !tile.tile<8x8xf32>
  tile.store %c, %y[0, 0]
}

kiln.func @strict(%x: !kiln.tensor<8x8xf32> in, %y: !kiln.tensor<8x8xf32> out, %i: index) incore {
  %a = tile.load %x[%i, 0] : !tile.tile<8x8xf32>
  tile.store %a, %y[0, 0]
}
