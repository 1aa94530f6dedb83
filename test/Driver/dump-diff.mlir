// A program with one wrong kernel: --diff names it, and not those that only pass its result on.
// RUN: rm -rf %t.right %t.wrong %t.a5 && sed "s/tile.mul/tile.sub/" %s > %t.mlir
// RUN: %kiln run %s -p a2a3sim --no-reference --dump-args --out %t.right
// RUN: %kiln run %s --no-reference --dump-args --out %t.a5 -p a5sim
// RUN: %kiln run %t.mlir -p a2a3sim --no-reference --dump-args --out %t.wrong
// RUN: %kiln dump %t.right --diff %t.a5 | FileCheck %s --check-prefix=EQUAL
// RUN: not %kiln dump %t.right --diff %t.wrong | FileCheck %s
// RUN: not %kiln dump %t.right --diff %t.wrong --task 2 | FileCheck %s --check-prefix=LATER

// EQUAL: equal: 3 outputs of 3 tasks (0 without payload)

// CHECK:      the first difference is in task 1, kernel 'square', argument 'y', element [{{[0-7]}}, {{[0-7]}}]
// CHECK-NEXT: .right: {{[0-9.e-]+$}}
// CHECK-NEXT: .wrong: 0
// CHECK-NEXT: its recorded inputs are equal: look at the kernel

// LATER:      task 2, kernel 'double', argument 'y'
// LATER:      its inputs differ already: x
kiln.func @double(%x: !kiln.tensor<8x8xf32>, %y: !kiln.tensor<8x8xf32>) incore {
  %0 = tile.load %x[0, 0] : !tile.tile<8x8xf32>
  %1 = tile.add %0, %0 : !tile.tile<8x8xf32>
  tile.store %1, %y[0, 0]
}
kiln.func @square(%x: !kiln.tensor<8x8xf32>, %y: !kiln.tensor<8x8xf32>) incore {
  %0 = tile.load %x[0, 0] : !tile.tile<8x8xf32>
  %1 = tile.mul %0, %0 : !tile.tile<8x8xf32>
  tile.store %1, %y[0, 0]
}
kiln.func @main(%x: !kiln.tensor<8x8xf32>, %out: !kiln.tensor<8x8xf32>) orchestration {
  %a = kiln.alloc() : !kiln.tensor<8x8xf32>
  %b = kiln.alloc() : !kiln.tensor<8x8xf32>
  %0 = kiln.submit @double(%x, %a)
  %1 = kiln.submit @square(%a, %b)
  %2 = kiln.submit @double(%b, %out)
}
