// The cpu platform: dumps and timelines as on the simulators, errors with their line, and what cannot be compiled.
// RUN: rm -rf %t && mkdir -p %t
// RUN: %kiln run %s --entry good -p cpu --arg x=5x7 --arg y=5x7 --no-reference --dump-args --timeline --out %t/a | FileCheck %s
// RUN: %kiln dump %t/a | FileCheck %s --check-prefix=DUMP
// RUN: %kiln run %s --entry good -p a5sim --arg x=5x7 --arg y=5x7 --no-reference --dump-args --out %t/b | FileCheck %s --check-prefix=SIM
// RUN: %kiln dump %t/a --diff %t/b | FileCheck %s --check-prefix=SAME
// RUN: not %kiln run %s --entry bad -p cpu --arg x=5x7 --arg y=5x7 --no-reference 2>&1 | FileCheck %s --check-prefix=BAD
// RUN: %kiln emit %s --target llvm | FileCheck %s --check-prefix=LLVM
// RUN: %kiln emit %S/../../examples/matmul.mlir --target llvm | FileCheck %s --check-prefix=PREFETCH

// CHECK: cpu on cpu: {{.*}} (compiled in
// CHECK: dump: {{.*}}tensor_dump
// CHECK: timeline: {{.*}}timeline.json
// CHECK: RAN
// SIM: RAN
// DUMP: twice
// SAME: equal: 1 outputs of 1 tasks
// BAD: cpu.mlir:[[#@LINE+20]]:{{.*}}tile.div: integer division by zero
// LLVM: define i32 @kiln.twice(ptr {{.*}}, ptr {{.*}}, ptr {{.*}})
// LLVM: define i32 @kiln.orchestration.good(
// PREFETCH: call void @llvm.prefetch

kiln.func @twice(%x: !kiln.tensor<?x?xf32>, %y: !kiln.tensor<?x?xf32>) incore {
  %a = tile.load %x[0, 0] : !tile.tile<8x8xf32>
  %b = tile.add %a, %a : !tile.tile<8x8xf32>
  tile.store %b, %y[0, 0]
}
kiln.func @good(%x: !kiln.tensor<?x?xf32>, %y: !kiln.tensor<?x?xf32>) orchestration {
  %t = kiln.submit @twice(%x, %y)
}

kiln.func @divides(%x: !kiln.tensor<?x?xf32>, %y: !kiln.tensor<?x?xf32>) incore {
  %i = tile.block_idx 0
  %a = tile.load %x[0, 0] : !tile.tile<8x8xf32>
  %c = tile.cast %a : !tile.tile<8x8xi32>
  %z = arith.constant 0 : i32
  %zero = tile.mul %c, %z : !tile.tile<8x8xi32>
  %d = tile.div %c, %zero : !tile.tile<8x8xi32>
  %e = tile.cast %d : !tile.tile<8x8xf32>
  tile.store %e, %y[0, 0]
}
kiln.func @bad(%x: !kiln.tensor<?x?xf32>, %y: !kiln.tensor<?x?xf32>) orchestration {
  %t = kiln.submit @divides(%x, %y)
}
