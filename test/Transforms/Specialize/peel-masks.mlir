// Iterations in which a mask keeps everything run in a loop without it.
// RUN: kiln-opt %s --tile-peel-masks | FileCheck %s
// RUN: kiln-opt %s --tile-peel-masks --tile-peel-masks | FileCheck %s
// RUN: kiln-opt %s --tile-peel-masks=report=true 2>&1 | FileCheck %s --check-prefix=REPORT

// The ragged end and the diagonal: up to the smaller of the two edges, no mask at all.
// CHECK-LABEL: kiln.func @scores(
// CHECK: %[[MIDDLE:.*]] = arith.addi %c0
// CHECK-NEXT: %[[END:.*]] = arith.minsi %[[MIDDLE]], %n
// CHECK-NEXT: %[[FIRST:.*]] = scf.for %{{.*}} = %c0 to %[[END]] step %c64 iter_args(%{{.*}} = %{{.*}})
// CHECK-NOT: tile.mask
// CHECK-NOT: valid
// CHECK: scf.yield
// CHECK: {kiln.loop = #kiln.loop<pipeline, stages = 2>}
// CHECK: scf.for %{{.*}} = %[[MIDDLE]] to %n step %c64 iter_args(%{{.*}} = %[[FIRST]])
// CHECK: tile.load {{.*}} valid(
// CHECK: tile.mask {{.*}} valid(64,
// CHECK: tile.mask_diag
// CHECK: scf.yield
// CHECK: kiln.peeled
// REPORT: [[#@LINE+9]]:{{[0-9]+}}: remark: masks of this loop that cost nothing before the edge: 3
kiln.func @scores(%k: !kiln.tensor<?x64xf32>, %out: !kiln.tensor<64x64xf32>, %n: index) incore {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %z = arith.constant 0.0 : f32
  %zero = tile.full %z : !tile.tile<64x64xf32>
  %block = tile.block_idx 0
  %row = arith.muli %block, %c64 : index
  // The loop.
  %sum = scf.for %i = %c0 to %n step %c64 iter_args(%acc = %zero) -> (!tile.tile<64x64xf32>) {
    %left = arith.subi %n, %i : index
    %most = arith.minsi %left, %c64 : index
    %x = tile.load %k[%i, 0] valid(%most, 64) : !tile.tile<64x64xf32>
    %m = tile.mask %x valid(64, %left) pad(min) : !tile.tile<64x64xf32>
    %o = arith.subi %row, %i : index
    %d = tile.mask_diag %m offset(%o) pad(min) : !tile.tile<64x64xf32>
    %s = tile.add %acc, %d : !tile.tile<64x64xf32>
    scf.yield %s : !tile.tile<64x64xf32>
  } {kiln.loop = #kiln.loop<pipeline, stages = 2>}
  tile.store %sum, %out[0, 0]
}

// An index that counts blocks, and an extent that the body asks for.
// CHECK-LABEL: kiln.func @blocks(
// CHECK: %[[N:.*]] = kiln.dim %k, 0
// CHECK: %[[ROOM:.*]] = arith.addi %{{.*}}, %[[N]]
// CHECK: arith.floordivsi %[[ROOM]], %c64
// CHECK: scf.for
// CHECK-NOT: tile.mask
// CHECK: scf.for
// CHECK: tile.mask
// REPORT: remark: masks of this loop that cost nothing before the edge: 1
kiln.func @blocks(%k: !kiln.tensor<?x64xf32>, %out: !kiln.tensor<64x64xf32>, %n: index) incore {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  scf.for %i = %c0 to %n step %c1 {
    %all = kiln.dim %k, 0
    %at = arith.muli %i, %c64 : index
    %left = arith.subi %all, %at : index
    %x = tile.load %k[%at, 0] : !tile.tile<64x64xf32>
    %m = tile.mask %x valid(%left, 64) : !tile.tile<64x64xf32>
    tile.store %m, %out[0, 0]
  }
}

// Masks that matter from the start on, always, or that nobody can say stay.
// CHECK-LABEL: kiln.func @stay(
// CHECK-COUNT-3: scf.for
// CHECK-NOT: scf.for
// REPORT: remark: the masks of this loop cost something in every iteration: no mask begins to matter at an index known before the loop
// REPORT: remark: the masks of this loop cost something in every iteration: its step is not a positive constant
// REPORT: remark: the masks of this loop cost something in every iteration: its index is not a signed index
kiln.func @stay(%x: !kiln.tensor<?x8xf32>, %n: index) incore {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  scf.for %i = %c0 to %n step %c8 {
    %t = tile.load %x[%i, 0] valid(%i, 8) : !tile.tile<8x8xf32>
    %u = tile.mask %t valid(8, 4) : !tile.tile<8x8xf32>
    tile.store %u, %x[%i, 0]
  }
  scf.for %i = %c0 to %n step %n {
    %left = arith.subi %n, %i : index
    %t = tile.load %x[%i, 0] valid(%left, 8) : !tile.tile<8x8xf32>
    tile.store %t, %x[%i, 0]
  }
  scf.for unsigned %i = %c0 to %n step %c8 {
    %left = arith.subi %n, %i : index
    %t = tile.load %x[%i, 0] valid(%left, 8) : !tile.tile<8x8xf32>
    tile.store %t, %x[%i, 0]
  }
}

// A sum of sums of itself doubles with each line: it is given up, not followed to its end.
// CHECK-LABEL: kiln.func @doubles(
// CHECK-COUNT-1: scf.for
// CHECK-NOT: scf.for
// REPORT: remark: the masks of this loop cost something in every iteration: no mask begins to matter at an index known before the loop
kiln.func @doubles(%x: !kiln.tensor<?x8xf32>, %n: index) incore {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  scf.for %i = %c0 to %n step %c8 {
    %0 = arith.subi %n, %i : index
    %1 = arith.addi %0, %0 : index
    %2 = arith.addi %1, %1 : index
    %3 = arith.addi %2, %2 : index
    %4 = arith.addi %3, %3 : index
    %5 = arith.addi %4, %4 : index
    %6 = arith.addi %5, %5 : index
    %7 = arith.addi %6, %6 : index
    %8 = arith.addi %7, %7 : index
    %9 = arith.addi %8, %8 : index
    %10 = arith.addi %9, %9 : index
    %11 = arith.addi %10, %10 : index
    %12 = arith.addi %11, %11 : index
    %13 = arith.addi %12, %12 : index
    %14 = arith.addi %13, %13 : index
    %15 = arith.addi %14, %14 : index
    %16 = arith.addi %15, %15 : index
    %17 = arith.addi %16, %16 : index
    %18 = arith.addi %17, %17 : index
    %19 = arith.addi %18, %18 : index
    %20 = arith.addi %19, %19 : index
    %21 = arith.addi %20, %20 : index
    %22 = arith.addi %21, %21 : index
    %23 = arith.addi %22, %22 : index
    %24 = arith.addi %23, %23 : index
    %25 = arith.addi %24, %24 : index
    %26 = arith.addi %25, %25 : index
    %27 = arith.addi %26, %26 : index
    %28 = arith.addi %27, %27 : index
    %29 = arith.addi %28, %28 : index
    %30 = arith.addi %29, %29 : index
    %31 = arith.addi %30, %30 : index
    %32 = arith.addi %31, %31 : index
    %33 = arith.addi %32, %32 : index
    %34 = arith.addi %33, %33 : index
    %35 = arith.addi %34, %34 : index
    %36 = arith.addi %35, %35 : index
    %37 = arith.addi %36, %36 : index
    %38 = arith.addi %37, %37 : index
    %39 = arith.addi %38, %38 : index
    %40 = arith.addi %39, %39 : index
    %41 = arith.addi %40, %40 : index
    %42 = arith.addi %41, %41 : index
    %43 = arith.addi %42, %42 : index
    %44 = arith.addi %43, %43 : index
    %45 = arith.addi %44, %44 : index
    %46 = arith.addi %45, %45 : index
    %47 = arith.addi %46, %46 : index
    %48 = arith.addi %47, %47 : index
    %t = tile.load %x[%i, 0] valid(%48, 8) : !tile.tile<8x8xf32>
    tile.store %t, %x[%i, 0]
  }
}

// A role with pipe operations in the loop keeps it whole: the other role has one loop too.
// CHECK-LABEL: kiln.func @role(
// CHECK-COUNT-1: scf.for
// CHECK-NOT: scf.for
// REPORT: remark: the masks of this loop cost something in every iteration: it pushes or pops
!p = !tile.pipe<aic -> aiv, 8x8xf32>
kiln.func @role(%n: index, %p: !p) role(aiv) {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  scf.for %i = %c0 to %n step %c8 {
    %left = arith.subi %n, %i : index
    %t = tile.pop %p : !tile.tile<8x8xf32>
    %u = tile.mask %t valid(8, %left) : !tile.tile<8x8xf32>
  }
}
