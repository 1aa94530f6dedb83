// A kernel becomes a group of the same name and one function for each role.
// RUN: kiln-opt %s --kiln-partition-roles | FileCheck %s
// Applied to its own result the pass changes nothing.
// RUN: kiln-opt %s --kiln-partition-roles -o %t.once && kiln-opt %t.once --kiln-partition-roles | diff %t.once -
// RUN: kiln-opt %s --kiln-partition-roles --tile-place-frees --kiln-check-pipes=report 2>&1 | FileCheck %s --check-prefix=PROOF
// PROOF-COUNT-8: proved
// A machine of one role for everything has nothing to split.
// RUN: kiln-opt %s --kiln-partition-roles=machine=cpu | FileCheck %s --check-prefix=CPU
// CPU-COUNT-9: role(core)

// The result of the products crosses once, after the loop; what it is added to is loaded where it is added.
// CHECK-LABEL: kiln.func @epilogue_aic(%a: !kiln.tensor<?x64xf32> in, %b: !kiln.tensor<64x64xf32> in,
// CHECK-SAME:    %to_aiv: !tile.pipe<aic -> aiv, 64x64xf32>) role(aic) {
// CHECK:         %[[ACC:.*]] = scf.for {{.*}} iter_args
// CHECK:           tile.matmul_acc
// CHECK:         tile.push %[[ACC]], %to_aiv
// CHECK-LABEL: kiln.func @epilogue_aiv(%r: !kiln.tensor<64x64xf32> in, %out: !kiln.tensor<64x64xf32> out,
// CHECK-NOT:     scf.for
// CHECK:         %[[R:.*]] = tile.load %r
// CHECK-NEXT:    %[[C:.*]] = tile.pop %to_aiv
// CHECK-NEXT:    %[[Y:.*]] = tile.add %[[C]], %[[R]]
// CHECK-NEXT:    tile.store %[[Y]], %out
// CHECK-LABEL: kiln.func @epilogue(%a: !kiln.tensor<?x64xf32>, %b: !kiln.tensor<64x64xf32>, %r: !kiln.tensor<64x64xf32>, %out: !kiln.tensor<64x64xf32>) group {
// CHECK:         kiln.call @epilogue_aic(%a, %b, %to_aiv)
// CHECK:         kiln.call @epilogue_aiv(%r, %out, %to_aiv)
kiln.func @epilogue(%a: !kiln.tensor<?x64xf32>, %b: !kiln.tensor<64x64xf32>, %r: !kiln.tensor<64x64xf32>,
                    %out: !kiln.tensor<64x64xf32>) incore {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant 0.0 : f32
  %n = kiln.dim %a, 0
  %init = tile.full %zero : !tile.tile<64x64xf32>
  %acc = scf.for %i = %c0 to %n step %c64 iter_args(%sum = %init) -> (!tile.tile<64x64xf32>) {
    %x = tile.load %a[%i, 0] : !tile.tile<64x64xf32>
    %w = tile.load %b[0, 0] : !tile.tile<64x64xf32>
    %next = tile.matmul_acc %sum, %x, %w : !tile.tile<64x64xf32>
    scf.yield %next : !tile.tile<64x64xf32>
  }
  %rt = tile.load %r[0, 0] : !tile.tile<64x64xf32>
  %y = tile.add %acc, %rt : !tile.tile<64x64xf32>
  tile.store %y, %out[0, 0]
}

// An accumulator that the vector role scales stays there: the product crosses and is added.
// CHECK-LABEL: kiln.func @scaled_aic(
// CHECK:         scf.for {{[^(]*}} {
// CHECK:           tile.matmul %
// CHECK-NEXT:      tile.push
// CHECK-LABEL: kiln.func @scaled_aiv(
// CHECK:         scf.for {{.*}} iter_args(%[[SUM:.*]] = %
// CHECK:           %[[FADED:.*]] = tile.mul %[[SUM]]
// CHECK-NEXT:      %[[P:.*]] = tile.pop
// CHECK-NEXT:      %[[NEXT:.*]] = tile.add %[[FADED]], %[[P]]
// CHECK-NEXT:      scf.yield %[[NEXT]]
kiln.func @scaled(%a: !kiln.tensor<?x16xf32>, %out: !kiln.tensor<16x16xf32>, %fade: f32) incore {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %zero = arith.constant 0.0 : f32
  %n = kiln.dim %a, 0
  %init = tile.full %zero : !tile.tile<16x16xf32>
  %acc = scf.for %i = %c0 to %n step %c16 iter_args(%sum = %init) -> (!tile.tile<16x16xf32>) {
    %x = tile.load %a[%i, 0] : !tile.tile<16x16xf32>
    %faded = tile.mul %sum, %fade : !tile.tile<16x16xf32>
    %next = tile.matmul_acc %faded, %x, %x : !tile.tile<16x16xf32>
    scf.yield %next : !tile.tile<16x16xf32>
  }
  tile.store %acc, %out[0, 0]
}

// A tile that the matrix role updates stays there, though it starts in the vector role; a branch is in both roles.
// CHECK-LABEL: kiln.func @chain_aic(
// CHECK:         %[[START:.*]] = tile.pop %
// CHECK:         scf.for {{.*}} iter_args(%{{.*}} = %[[START]])
// CHECK:         scf.if
// CHECK-NEXT:      tile.matmul
// CHECK-NEXT:      tile.push
// CHECK-LABEL: kiln.func @chain_aiv(
// CHECK-NOT:     scf.for
// CHECK:         scf.if
// CHECK-NEXT:      tile.pop
// CHECK-NEXT:      tile.exp
// CHECK-NEXT:      tile.store
kiln.func @chain(%a: !kiln.tensor<16x16xf32>, %out: !kiln.tensor<16x16xf32>, %n: index) incore {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %x = tile.load %a[0, 0] : !tile.tile<16x16xf32>
  %start = tile.neg %x : !tile.tile<16x16xf32>
  %power = scf.for %i = %c0 to %n step %c1 iter_args(%p = %start) -> (!tile.tile<16x16xf32>) {
    %next = tile.matmul %p, %x : !tile.tile<16x16xf32>
    scf.yield %next : !tile.tile<16x16xf32>
  }
  %some = arith.cmpi sgt, %n, %c0 : index
  scf.if %some {
    %last = tile.matmul %power, %x : !tile.tile<16x16xf32>
    %y = tile.exp %last : !tile.tile<16x16xf32>
    tile.store %y, %out[0, 0]
  }
}

// A scalar of a tile crosses as a tile of one element.
// CHECK-LABEL: kiln.func @scalar_aic(
// CHECK:         %[[S:.*]] = tile.element
// CHECK-NEXT:    %[[T:.*]] = tile.full %[[S]] : !tile.tile<1x1xf32>
// CHECK-NEXT:    tile.push %[[T]]
// CHECK-LABEL: kiln.func @scalar_aiv(
// CHECK:         %[[T:.*]] = tile.pop %{{.*}} : !tile.tile<1x1xf32>
// CHECK-NEXT:    tile.element %[[T]][0, 0] : f32
kiln.func @scalar(%a: !kiln.tensor<16x16xf32>, %out: !kiln.tensor<16x16xf32>) incore {
  %x = tile.load %a[0, 0] : !tile.tile<16x16xf32>
  %p = tile.matmul %x, %x : !tile.tile<16x16xf32>
  %s = tile.element %p[3, 4] : f32
  %y = tile.mul %x, %s : !tile.tile<16x16xf32>
  tile.store %y, %out[0, 0]
}

// The matrix role loads what the vector role stored, and in the next iteration that is stored over.
// CHECK-LABEL: kiln.func @memory_aic(
// CHECK:         scf.for
// CHECK-NEXT:      tile.pop %order_aic{{$}}
// CHECK-NEXT:      tile.load %t
// CHECK-NEXT:      tile.matmul
// CHECK-NEXT:      tile.store
// CHECK-NEXT:      tile.push %order_aiv{{$}}
// CHECK-LABEL: kiln.func @memory_aiv(
// CHECK:         scf.for
// CHECK:           tile.store
// CHECK-NEXT:      tile.push %order_aic{{$}}
// CHECK-NEXT:      tile.pop %order_aiv{{$}}
kiln.func @memory(%a: !kiln.tensor<?x16xf32>, %t: !kiln.tensor<16x16xf32>, %out: !kiln.tensor<?x16xf32>) incore {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %n = kiln.dim %a, 0
  scf.for %i = %c0 to %n step %c16 {
    %x = tile.load %a[%i, 0] : !tile.tile<16x16xf32>
    %e = tile.exp %x : !tile.tile<16x16xf32>
    tile.store %e, %t[0, 0]
    %again = tile.load %t[0, 0] : !tile.tile<16x16xf32>
    %p = tile.matmul %again, %again : !tile.tile<16x16xf32>
    tile.store %p, %out[%i, 0]
  }
}

// Lanes share the rows. What is broadcast along them is whole, masks and accesses move with the lane, and what
// happens once the first lane does.
// CHECK-LABEL: kiln.func @rows_aic(
// CHECK:         tile.push %{{.*}}, %to_aiv
// CHECK:         tile.pop %to_aic : !tile.tile<16x16xf32>
// CHECK-LABEL: kiln.func @rows_aiv(
// CHECK:         %[[LANE:.*]] = tile.lane
// CHECK:         tile.load %bias[0] : !tile.tile<1x16xf32>
// CHECK:         tile.pop %to_aiv : !tile.tile<8x16xf32>
// CHECK:         tile.mask_diag {{.*}} : !tile.tile<8x16xf32>
// CHECK:         tile.push %{{.*}}, %to_aic
// CHECK:         %[[START:.*]] = arith.muli %[[LANE]], %c8
// CHECK:         %[[ROW:.*]] = arith.addi %row, %[[START]]
// CHECK:         %[[VALID:.*]] = arith.maxsi
// CHECK:         tile.store %{{.*}}, %out[%[[ROW]], 0] valid(%[[VALID]], 16)
// CHECK:         %[[FIRST:.*]] = arith.cmpi eq, %[[LANE]], %c0
// CHECK-NEXT:    scf.if %[[FIRST]] {
// CHECK-NEXT:      kiln.write
// CHECK-LABEL: kiln.func @rows(
// CHECK-SAME:    group lanes(2) {
// CHECK-DAG:     tile.pipe : !tile.pipe<aic -> aiv, 16x16xf32, up_down>
// CHECK-DAG:     tile.pipe : !tile.pipe<aiv -> aic, 16x16xf32, up_down>
kiln.func @rows(%a: !kiln.tensor<16x16xf32>, %bias: !kiln.tensor<16xf32>, %out: !kiln.tensor<?x16xf32>,
                %done: !kiln.tensor<4xi32>, %row: index) incore split(up_down) {
  %one = arith.constant 1 : i32
  %x = tile.load %a[0, 0] : !tile.tile<16x16xf32>
  %p = tile.matmul %x, %x : !tile.tile<16x16xf32>
  %b = tile.load %bias[0] : !tile.tile<1x16xf32>
  %y = tile.add %p, %b : !tile.tile<16x16xf32>
  %m = tile.mask_diag %y offset(%row) pad(zero) : !tile.tile<16x16xf32>
  %q = tile.matmul %m, %x : !tile.tile<16x16xf32>
  %s = tile.reduce sum %q axis(1) : !tile.tile<16x1xf32>
  %z = tile.sub %q, %s : !tile.tile<16x16xf32>
  tile.store %z, %out[%row, 0]
  kiln.write %one, %done[0]
}

// CHECK-LABEL: kiln.func @columns_aiv(
// CHECK:         tile.load %r[0, %{{.*}}] : !tile.tile<16x8xf32>
// CHECK:         tile.pop %to_aiv : !tile.tile<16x8xf32>
// CHECK:         tile.store %{{.*}}, %out[0, %{{.*}}]
kiln.func @columns(%a: !kiln.tensor<16x16xf32>, %r: !kiln.tensor<16x16xf32>, %out: !kiln.tensor<16x16xf32>)
    incore split(left_right) {
  %x = tile.load %a[0, 0] : !tile.tile<16x16xf32>
  %p = tile.matmul %x, %x : !tile.tile<16x16xf32>
  %rt = tile.load %r[0, 0] : !tile.tile<16x16xf32>
  %y = tile.add %p, %rt : !tile.tile<16x16xf32>
  tile.store %y, %out[0, 0]
}

// The work of one role: no pipes, launched as before.
// CHECK-LABEL: kiln.func @vector_only(
// CHECK-SAME:    role(aiv) {
kiln.func @vector_only(%a: !kiln.tensor<16x16xf32>, %out: !kiln.tensor<16x16xf32>) incore {
  %x = tile.load %a[0, 0] : !tile.tile<16x16xf32>
  %y = tile.exp %x : !tile.tile<16x16xf32>
  tile.store %y, %out[0, 0]
}

// With a split its lanes share the work all the same.
// CHECK-LABEL: kiln.func @vector_lanes_aiv(
// CHECK:         tile.exp {{.*}} : !tile.tile<8x16xf32>
// CHECK-LABEL: kiln.func @vector_lanes(
// CHECK-SAME:    group lanes(2)
kiln.func @vector_lanes(%a: !kiln.tensor<16x16xf32>, %out: !kiln.tensor<16x16xf32>) incore split(up_down) {
  %x = tile.load %a[0, 0] : !tile.tile<16x16xf32>
  %y = tile.exp %x : !tile.tile<16x16xf32>
  tile.store %y, %out[0, 0]
}

// Blocks of rows that follow each other are apart in all iterations, so lanes may write and read them, and roles
// need no token. Two lanes may add to one place atomically.
// CHECK-LABEL: kiln.func @apart_aic(
// CHECK-NOT:     order_
// CHECK-LABEL: kiln.func @apart_aiv(
// CHECK-NOT:     order_
// CHECK-LABEL: kiln.func @apart(
kiln.func @apart(%a: !kiln.tensor<?x16xf32>, %t: !kiln.tensor<?x32xf32>, %sum: !kiln.tensor<16x16xf32>)
    incore split(up_down) {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %n = kiln.dim %a, 0
  scf.for %i = %c0 to %n step %c16 {
    %x = tile.load %t[%i, 0] : !tile.tile<16x16xf32>
    %y = tile.exp %x : !tile.tile<16x16xf32>
    tile.store %y, %t[%i, 0]
    tile.store %y, %sum[0, 0] atomic(add)
    %w = tile.load %a[%i, 0] : !tile.tile<16x16xf32>
    %p = tile.matmul %w, %w : !tile.tile<16x16xf32>
    tile.store %p, %t[%i, 16]
  }
}
