// A run whose second kernel fails half-way leaves a readable dump up to that point, and the next run's dump holds nothing
// of it.
// RUN: rm -rf %t
// RUN: not %kiln run %s -p a2a3sim --no-reference --arg n=9 --dump-tensor --out %t 2>&1 | FileCheck %s --check-prefix=FAIL
// RUN: %kiln dump %t | FileCheck %s --check-prefix=HALF
// RUN: %kiln run %s -p a2a3sim --no-reference --arg n=3 --dump-tensor --out %t
// RUN: %kiln dump %t | FileCheck %s --check-prefix=WHOLE

// HALF:      0 {{ *}}fill {{ *}}after_completion {{.*}} t
// HALF-NEXT: 1 {{ *}}pick {{ *}}before_dispatch {{.*}} t
// HALF-NEXT: 1 {{ *}}pick {{ *}}before_dispatch {{.*}} n {{.*}} 9
// HALF-NOT:  after_completion
// HALF:      3 of 3 records{{.*}}run failed
// WHOLE-NOT: {{ 9$}}
// WHOLE:     1 {{ *}}pick {{ *}}after_completion {{.*}} out
// WHOLE:     4 of 4 records{{.*}}run ok
kiln.func @fill(%t: !kiln.tensor<8x8xf32>) incore {
  %c = arith.constant 2.0 : f32
  %x = tile.full %c : !tile.tile<8x8xf32>
  tile.store %x, %t[0, 0]
}
kiln.func @pick(%t: !kiln.tensor<8x8xf32>, %out: !kiln.tensor<1x1xf32>, %n: index) incore {
  // FAIL: dump-failure.mlir:[[#@LINE+1]]:{{[0-9]+}}: error: {{.*}}pick
  %v = kiln.read %t[%n, 0] : f32
  kiln.write %v, %out[0, 0]
}
kiln.func @main(%out: !kiln.tensor<1x1xf32>, %n: index) orchestration {
  %t = kiln.alloc() : !kiln.tensor<8x8xf32>
  %0 = kiln.submit @fill(%t)
  %1 = kiln.submit @pick(%t, %out, %n)
}
