// A role that only copies makes the loads of pipelined loops; the lanes of the other share the products.
// RUN: kiln-opt %s --kiln-partition-roles=machine=hopper | FileCheck %s
// RUN: kiln-opt %s --kiln-partition-roles=machine=hopper -o %t.once && kiln-opt %t.once --kiln-partition-roles=machine=hopper | diff %t.once -
// RUN: kiln-opt %s --kiln-partition-roles=machine=hopper --tile-place-frees --kiln-check-pipes="machine=hopper report=true" 2>&1 | FileCheck %s --check-prefix=PROOF
// PROOF-COUNT-5: proved
// RUN: kiln-opt %s --kiln-partition-roles="machine=hopper report=true" -verify-diagnostics -o /dev/null

// Both operands of a product travel in one slot, whole; a lane takes its rows of the left one. What is added after the
// loop stays with the consumer. The rows are divided though the kernel does not ask for it.
// CHECK-LABEL: kiln.func @gemm_dma(%a: !kiln.tensor<?x?xbf16> in, %b: !kiln.tensor<?x?xbf16> in,
// CHECK-SAME:    %to_compute: !tile.pipe<dma -> compute, (128x64xbf16, 64x128xbf16)>) role(dma) {
// CHECK:         scf.for
// CHECK:           %[[A:.*]] = tile.load %a[0, %{{.*}}] : !tile.tile<128x64xbf16>
// CHECK-NEXT:      %[[B:.*]] = tile.load %b[%{{.*}}, 0] : !tile.tile<64x128xbf16>
// CHECK-NEXT:      tile.push %[[A]], %[[B]], %to_compute
// CHECK-NOT:     tile.load
// CHECK-LABEL: kiln.func @gemm_compute(
// CHECK:         %[[LANE:.*]] = tile.lane
// CHECK:         scf.for {{.*}} -> (!tile.tile<64x128xf32>)
// CHECK:           %[[T:.*]]:2 = tile.pop %to_compute : !tile.tile<128x64xbf16>, !tile.tile<64x128xbf16>
// CHECK:           %[[ROWS:.*]] = tile.extract %[[T]]#0[%{{.*}}, 0] : !tile.tile<64x64xbf16>
// CHECK-NEXT:      tile.matmul_acc %{{.*}}, %[[ROWS]], %[[T]]#1 : !tile.tile<64x128xf32>
// CHECK:         tile.load %r[%{{.*}}, 0] valid(%{{.*}}, 128) : !tile.tile<64x128xf32>
// CHECK:         tile.store
// CHECK-LABEL: kiln.func @gemm(
// CHECK-SAME:    group lanes(2)
// expected-remark @below {{@gemm is split over dma and compute, 2 lanes up_down}}
kiln.func @gemm(%a: !kiln.tensor<?x?xbf16>, %b: !kiln.tensor<?x?xbf16>, %r: !kiln.tensor<?x128xf32>,
                %out: !kiln.tensor<?x128xf32>) incore {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant 0.0 : f32
  %n = kiln.dim %a, 1
  %init = tile.full %zero : !tile.tile<128x128xf32>
  %acc = scf.for %k = %c0 to %n step %c64 iter_args(%sum = %init) -> (!tile.tile<128x128xf32>) {
    %at = tile.load %a[0, %k] : !tile.tile<128x64xbf16>
    // expected-note @below {{'!tile.tile<128x64xbf16>' and '!tile.tile<64x128xbf16>' go together from dma to compute, 32768 bytes a slot}}
    %bt = tile.load %b[%k, 0] : !tile.tile<64x128xbf16>
    %next = tile.matmul_acc %sum, %at, %bt : !tile.tile<128x128xf32>
    scf.yield %next : !tile.tile<128x128xf32>
  } {kiln.loop = #kiln.loop<pipeline, stages = 4>}
  %rt = tile.load %r[0, 0] : !tile.tile<128x128xf32>
  %y = tile.add %acc, %rt : !tile.tile<128x128xf32>
  tile.store %y, %out[0, 0]
}

// Columns divide the right operand; it is stored transposed, so a lane takes rows of it.
// CHECK-LABEL: kiln.func @columns_compute(
// CHECK:         %[[T:.*]]:2 = tile.pop
// CHECK:         %[[B:.*]] = tile.extract %[[T]]#1[%{{.*}}, 0] : !tile.tile<64x64xbf16>
// CHECK-NEXT:    tile.matmul_acc %{{.*}}, %[[T]]#0, %[[B]] trans_b : !tile.tile<128x64xf32>
// CHECK:         tile.store %{{.*}}, %out[0, %{{.*}}]
// expected-remark @below {{@columns is split over dma and compute, 2 lanes left_right}}
kiln.func @columns(%a: !kiln.tensor<128x?xbf16>, %b: !kiln.tensor<128x?xbf16>, %out: !kiln.tensor<128x128xf32>)
    incore split(left_right) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant 0.0 : f32
  %n = kiln.dim %a, 1
  %init = tile.full %zero : !tile.tile<128x128xf32>
  %acc = scf.for %k = %c0 to %n step %c64 iter_args(%sum = %init) -> (!tile.tile<128x128xf32>) {
    %at = tile.load %a[0, %k] : !tile.tile<128x64xbf16>
    // expected-note @below {{go together from dma to compute}}
    %bt = tile.load %b[0, %k] : !tile.tile<128x64xbf16>
    %next = tile.matmul_acc %sum, %at, %bt trans_b : !tile.tile<128x128xf32>
    scf.yield %next : !tile.tile<128x128xf32>
  } {kiln.loop = #kiln.loop<pipeline, stages = 4>}
  tile.store %acc, %out[0, 0]
}

// Attention: keys and values are used by different products, so each has a pipe of its own; both are needed whole.
// CHECK-LABEL: kiln.func @attention_dma(
// CHECK:           %[[K:.*]] = tile.load %k
// CHECK-NEXT:      tile.push %[[K]], %to_compute{{$}}
// CHECK-NEXT:      %[[V:.*]] = tile.load %v
// CHECK-NEXT:      tile.push %[[V]], %to_compute_1
// CHECK-LABEL: kiln.func @attention_compute(
// CHECK:         tile.load %q[%{{.*}}, 0] : !tile.tile<32x64xf32>
// CHECK:           tile.pop %to_compute : !tile.tile<64x64xf32>
// CHECK-NEXT:      tile.matmul {{.*}} trans_b : !tile.tile<32x64xf32>
// CHECK:           tile.pop %to_compute_1 : !tile.tile<64x64xf32>
// CHECK-NEXT:      tile.matmul_acc {{.*}} : !tile.tile<32x64xf32>
// expected-remark @below {{@attention is split over dma and compute, 2 lanes up_down}}
kiln.func @attention(%q: !kiln.tensor<64x64xf32>, %k: !kiln.tensor<?x64xf32>, %v: !kiln.tensor<?x64xf32>,
                     %out: !kiln.tensor<64x64xf32>) incore split(up_down) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant 0.0 : f32
  %n = kiln.dim %k, 0
  %qt = tile.load %q[0, 0] : !tile.tile<64x64xf32>
  %init = tile.full %zero : !tile.tile<64x64xf32>
  %acc = scf.for %i = %c0 to %n step %c64 iter_args(%sum = %init) -> (!tile.tile<64x64xf32>) {
    // expected-note @below {{goes from dma to compute, 16384 bytes a slot}}
    %kt = tile.load %k[%i, 0] : !tile.tile<64x64xf32>
    // expected-note @below {{goes from dma to compute, 16384 bytes a slot}}
    %vt = tile.load %v[%i, 0] : !tile.tile<64x64xf32>
    %s = tile.matmul %qt, %kt trans_b : !tile.tile<64x64xf32>
    %m = tile.reduce max %s axis(1) : !tile.tile<64x1xf32>
    %d = tile.sub %s, %m : !tile.tile<64x64xf32>
    %p = tile.exp %d : !tile.tile<64x64xf32>
    %next = tile.matmul_acc %sum, %p, %vt : !tile.tile<64x64xf32>
    scf.yield %next : !tile.tile<64x64xf32>
  } {kiln.loop = #kiln.loop<pipeline, stages = 2>}
  tile.store %acc, %out[0, 0]
}

// Tiles that are all divided travel divided.
// CHECK-LABEL: kiln.func @stream_dma(
// CHECK-SAME:    !tile.pipe<dma -> compute, (64x64xf32, 64x64xf32), up_down>
// CHECK-LABEL: kiln.func @stream_compute(
// CHECK:         tile.pop %to_compute : !tile.tile<32x64xf32>, !tile.tile<32x64xf32>
// expected-remark @below {{@stream is split over dma and compute, 2 lanes up_down}}
kiln.func @stream(%a: !kiln.tensor<?x64xf32>, %b: !kiln.tensor<?x64xf32>, %out: !kiln.tensor<?x64xf32>) incore {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %n = kiln.dim %a, 0
  scf.for %i = %c0 to %n step %c64 {
    %x = tile.load %a[%i, 0] : !tile.tile<64x64xf32>
    // expected-note @below {{go together from dma to compute}}
    %y = tile.load %b[%i, 0] : !tile.tile<64x64xf32>
    %z = tile.add %x, %y : !tile.tile<64x64xf32>
    tile.store %z, %out[%i, 0]
  } {kiln.loop = #kiln.loop<pipeline, stages = 2>}
}

// What the kernel writes itself, and what is read at a place that a tile says, stays with the consumer. A reduction of
// the rows keeps the kernel on one lane.
// CHECK-LABEL: kiln.func @stays(
// CHECK-SAME:    role(compute)
// expected-remark @below {{@stays has work for compute only}}
// expected-remark @below {{@stays runs on one lane of compute: 'tile.reduce' cannot be divided with split(up_down): it reduces along the axis that is divided between the lanes}}
kiln.func @stays(%a: !kiln.tensor<?x64xf32>, %table: !kiln.tensor<1x8xi64>, %out: !kiln.tensor<?x64xf32>) incore {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %n = kiln.dim %a, 0
  %places = tile.load %table[0, 0] : !tile.tile<1x8xi64>
  %place = tile.element %places[0, 3] : i64
  %row = arith.index_cast %place : i64 to index
  scf.for %i = %c0 to %n step %c64 {
    %x = tile.load %out[%i, 0] : !tile.tile<64x64xf32>
    %y = tile.load %a[%row, 0] : !tile.tile<64x64xf32>
    %s = tile.reduce sum %y axis(0) : !tile.tile<1x64xf32>
    %z = tile.add %x, %s : !tile.tile<64x64xf32>
    tile.store %z, %out[%i, 0]
  } {kiln.loop = #kiln.loop<pipeline, stages = 2>}
}

// A tile that is needed whole in one place and by parts in another is made whole; parts are taken from it.
// CHECK-LABEL: kiln.func @square_compute(
// CHECK:         %[[W:.*]] = tile.load %a[0, 0] : !tile.tile<64x64xf32>
// CHECK-NEXT:    %[[E:.*]] = tile.exp %[[W]] : !tile.tile<64x64xf32>
// CHECK:         %[[ROWS:.*]] = tile.extract %[[E]][%{{.*}}, 0] : !tile.tile<32x64xf32>
// CHECK-NEXT:    tile.matmul %[[ROWS]], %[[E]] : !tile.tile<32x64xf32>
// expected-remark @below {{@square is split over compute, 2 lanes up_down}}
kiln.func @square(%a: !kiln.tensor<64x64xf32>, %out: !kiln.tensor<64x64xf32>) incore split(up_down) {
  %x = tile.load %a[0, 0] : !tile.tile<64x64xf32>
  %e = tile.exp %x : !tile.tile<64x64xf32>
  %p = tile.matmul %e, %e : !tile.tile<64x64xf32>
  tile.store %p, %out[0, 0]
}

// A matrix instruction makes 64 rows: where a lane would have fewer, one lane has them all. So it has a single row.
// CHECK-LABEL: kiln.func @few(
// CHECK-SAME:    role(compute)
// expected-remark @below {{@few has work for compute only}}
kiln.func @few(%a: !kiln.tensor<64x64xf32>, %out: !kiln.tensor<64x64xf32>) incore {
  %x = tile.load %a[0, 0] : !tile.tile<64x64xf32>
  %p = tile.matmul %x, %x : !tile.tile<64x64xf32>
  tile.store %p, %out[0, 0]
}
// CHECK-LABEL: kiln.func @row(
// CHECK-SAME:    role(compute)
// expected-remark @below {{@row has work for compute only}}
kiln.func @row(%a: !kiln.tensor<1x64xf32>, %out: !kiln.tensor<1x64xf32>) incore {
  %x = tile.load %a[0, 0] : !tile.tile<1x64xf32>
  %e = tile.exp %x : !tile.tile<1x64xf32>
  tile.store %e, %out[0, 0]
}
