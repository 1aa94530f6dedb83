// Every tile of a role gets a memory; moves follow the paths of the machine.
// RUN: kiln-opt %s --tile-choose-spaces=machine=a2a3sim | FileCheck %s
// RUN: kiln-opt %s --tile-choose-spaces=machine=a2a3sim --tile-choose-spaces=machine=a2a3sim | FileCheck %s
// RUN: kiln-opt %s --tile-choose-spaces=machine=cpu | FileCheck %s --check-prefix=CPU
// RUN: kiln-opt %s "--tile-choose-spaces=machine=a2a3sim report=true" 2>&1 | FileCheck %s --check-prefix=REPORT
// REPORT-DAG: remark: @cube needs 2 moves between memories
// REPORT-DAG: remark: @vec needs 0 moves between memories
// REPORT-DAG: remark: @whole belongs to no role of ascend910b, so its tiles have no memory
// CPU-NOT: {{, (vec|mat|left|right|acc)>}}

!down = !tile.pipe<aic -> aiv, 64x64xf32>

// An accumulator starts in acc; loads arrive in mat and go on to left and right; a product leaves from acc.
// CHECK-LABEL: kiln.func @cube
// CHECK: %[[ZERO:.*]] = tile.full {{.*}} : !tile.tile<64x64xf32, acc>
// CHECK: %[[SUM:.*]] = scf.for {{.*}} iter_args(%[[ACC:.*]] = %[[ZERO]]) -> (!tile.tile<64x64xf32, acc>)
// CHECK:   %[[A:.*]] = tile.load %a{{.*}} : !tile.tile<64x32xf32, mat>
// CHECK:   %[[B:.*]] = tile.load %b{{.*}} : !tile.tile<32x64xf32, mat>
// CHECK:   %[[L:.*]] = tile.move %[[A]] : !tile.tile<64x32xf32, left>
// CHECK:   %[[R:.*]] = tile.move %[[B]] : !tile.tile<32x64xf32, right>
// CHECK:   tile.matmul_acc %[[ACC]], %[[L]], %[[R]] : !tile.tile<64x64xf32, acc>
// CHECK: tile.push %[[SUM]], %down
// A product that is multiplied again goes through mat.
kiln.func @cube(%a: !kiln.tensor<64x?xf32>, %b: !kiln.tensor<?x64xf32>, %n: index, %down: !down) role(aic) {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %z = arith.constant 0.0 : f32
  %zero = tile.full %z : !tile.tile<64x64xf32>
  %sum = scf.for %k = %c0 to %n step %c32 iter_args(%acc = %zero) -> (!tile.tile<64x64xf32>) {
    %at = tile.load %a[0, %k] : !tile.tile<64x32xf32>
    %bt = tile.load %b[%k, 0] : !tile.tile<32x64xf32>
    %next = tile.matmul_acc %acc, %at, %bt : !tile.tile<64x64xf32>
    scf.yield %next : !tile.tile<64x64xf32>
  }
  tile.push %sum, %down
}

// CHECK-LABEL: kiln.func @twice
// CHECK: %[[P:.*]] = tile.matmul {{.*}} : !tile.tile<32x32xf32, acc>
// CHECK: %[[M:.*]] = tile.move %[[P]] : !tile.tile<32x32xf32, mat>
// CHECK: %[[L:.*]] = tile.move %[[M]] : !tile.tile<32x32xf32, left>
// CHECK: %[[W:.*]] = tile.matmul %[[L]], {{.*}} : !tile.tile<32x32xf32, acc>
// CHECK-NEXT: tile.store %[[W]], %a[0, 0]
kiln.func @twice(%a: !kiln.tensor<32x32xf32>) role(aic) {
  %x = tile.load %a[0, 0] : !tile.tile<32x32xf32>
  %y = tile.matmul %x, %x : !tile.tile<32x32xf32>
  %w = tile.matmul %y, %x : !tile.tile<32x32xf32>
  tile.store %w, %a[0, 0]
}

// CHECK-LABEL: kiln.func @vec
// CHECK: tile.pop %down : !tile.tile<64x64xf32, vec>
// CHECK: scf.if {{.*}} -> (!tile.tile<64x64xf32, vec>)
// CHECK-NOT: tile.move
kiln.func @vec(%out: !kiln.tensor<64x64xf32>, %c: i1, %down: !down) role(aiv) {
  %x = tile.pop %down : !tile.tile<64x64xf32>
  %y = scf.if %c -> (!tile.tile<64x64xf32>) {
    %e = tile.exp %x : !tile.tile<64x64xf32>
    scf.yield %e : !tile.tile<64x64xf32>
  } else {
    scf.yield %x : !tile.tile<64x64xf32>
  }
  tile.store %y, %out[0, 0]
}

// A kernel that was not split stays as it is.
// CHECK-LABEL: kiln.func @whole
// CHECK: tile.load %x[0, 0] : !tile.tile<8x8xf32>
kiln.func @whole(%x: !kiln.tensor<8x8xf32>) incore {
  %a = tile.load %x[0, 0] : !tile.tile<8x8xf32>
  tile.store %a, %x[0, 0]
}
