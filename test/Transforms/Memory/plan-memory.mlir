// Every tile gets an address; tiles that are never alive at once share memory.
// RUN: kiln-opt %s --tile-plan-memory=machine=a2a3sim | FileCheck %s
// RUN: kiln-opt %s --tile-plan-memory=machine=a2a3sim --tile-plan-memory=machine=a2a3sim | FileCheck %s
// RUN: kiln-opt %s "--tile-plan-memory=machine=a2a3sim report=true map=%t.json" 2>&1 | FileCheck %s --check-prefix=REPORT
// RUN: %any_python %S/Inputs/check_memory_map.py %t.json
// REPORT-DAG: remark: @chain uses 8192 of 188416 bytes of vec
// REPORT-DAG: remark: @products uses 65536 of 524288 bytes of mat
// REPORT-DAG: remark: @products uses 8192 of 65536 bytes of left
// REPORT-DAG: remark: @products uses 8192 of 65536 bytes of right
// REPORT-DAG: remark: @products uses 16384 of 131072 bytes of acc
// RUN: kiln-opt %s --tile-plan-memory=machine=a5sim | FileCheck %s --check-prefix=A5

// In place where an operand dies, reuse afterwards.
// CHECK-LABEL: kiln.func @chain
// CHECK: %[[A:.*]] = tile.load %x[0, 0] {kiln.address = array<i64: 0>}
// CHECK: %[[E:.*]] = tile.exp %[[A]] {kiln.address = array<i64: 0>}
// CHECK: %[[B:.*]] = tile.load %x[32, 0] {kiln.address = array<i64: 4096>}
// CHECK: tile.add %[[E]], %[[B]] {kiln.address = array<i64: 0>}
// CHECK: tile.load %x[0, 0] {kiln.address = array<i64: 0>}
kiln.func @chain(%x: !kiln.tensor<64x32xf32>) role(aiv) {
  %a = tile.load %x[0, 0] : !tile.tile<32x32xf32, vec>
  %e = tile.exp %a : !tile.tile<32x32xf32, vec>
  %b = tile.load %x[32, 0] : !tile.tile<32x32xf32, vec>
  %s = tile.add %e, %b : !tile.tile<32x32xf32, vec>
  tile.store %s, %x[0, 0]
  %c = tile.load %x[0, 0] : !tile.tile<32x32xf32, vec>
  tile.store %c, %x[32, 0]
}

// What is used again later is not overwritten; a reduction is not computed in place.
// CHECK-LABEL: kiln.func @later
// CHECK: %[[A:.*]] = tile.load {{.*}}{kiln.address = array<i64: 0>}
// CHECK: tile.exp %[[A]] {kiln.address = array<i64: 4096>}
// CHECK: tile.reduce {{.*}}{kiln.address = array<i64: 8192>}
kiln.func @later(%x: !kiln.tensor<32x32xf32>) role(aiv) {
  %a = tile.load %x[0, 0] : !tile.tile<32x32xf32, vec>
  %e = tile.exp %a : !tile.tile<32x32xf32, vec>
  %r = tile.reduce sum %e axis(1) : !tile.tile<32x1xf32, vec>
  %s = tile.add %a, %r : !tile.tile<32x32xf32, vec>
  tile.store %s, %x[0, 0]
}

// The accumulator has one place: what starts the loop, what it carries and what comes out. Loads of a pipelined loop have
// a buffer for each stage.
// CHECK-LABEL: kiln.func @products
// CHECK: tile.full {{.*}}{kiln.address = array<i64: 0>} : !tile.tile<64x64xf32, acc>
// CHECK: scf.for
// CHECK: tile.load %a{{.*}}{kiln.address = array<i64: 0>}
// CHECK: tile.load %a{{.*}}{kiln.address = array<i64: 32768>}
// CHECK: tile.move {{.*}}{kiln.address = array<i64: 0>} : !tile.tile<64x32xf32, left>
// CHECK: tile.move {{.*}}{kiln.address = array<i64: 0>} : !tile.tile<32x64xf32, right>
// CHECK: tile.matmul_acc {{.*}}{kiln.address = array<i64: 0>} : !tile.tile<64x64xf32, acc>
// CHECK: kiln.address = array<i64: 0>, kiln.loop
kiln.func @products(%a: !kiln.tensor<64x64xf32>, %n: index) role(aic) {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %z = arith.constant 0.0 : f32
  %zero = tile.full %z : !tile.tile<64x64xf32, acc>
  %sum = scf.for %k = %c0 to %n step %c32 iter_args(%acc = %zero) -> (!tile.tile<64x64xf32, acc>) {
    %at = tile.load %a[0, %k] : !tile.tile<64x32xf32, mat>
    %bt = tile.load %a[%k, 0] : !tile.tile<32x64xf32, mat>
    %l = tile.move %at : !tile.tile<64x32xf32, left>
    %r = tile.move %bt : !tile.tile<32x64xf32, right>
    %next = tile.matmul_acc %acc, %l, %r : !tile.tile<64x64xf32, acc>
    scf.yield %next : !tile.tile<64x64xf32, acc>
  } {kiln.loop = #kiln.loop<pipeline, stages = 4>}
  tile.store %sum, %a[0, 0]
}

// What a loop carries and still needs after the next is made: two places, and a copy at the end of an iteration.
// CHECK-LABEL: kiln.func @copied
// CHECK: %[[NEXT:.*]] = tile.exp %{{.*}} {kiln.address = array<i64: 4096>}
// CHECK: tile.add
// CHECK: kiln.address = array<i64: 0>}
kiln.func @copied(%x: !kiln.tensor<32x32xf32>, %n: index) role(aiv) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = tile.load %x[0, 0] : !tile.tile<32x32xf32, vec>
  %b = scf.for %i = %c0 to %n step %c1 iter_args(%c = %a) -> (!tile.tile<32x32xf32, vec>) {
    %e = tile.exp %c : !tile.tile<32x32xf32, vec>
    %s = tile.add %c, %e : !tile.tile<32x32xf32, vec>
    tile.store %s, %x[0, 0]
    scf.yield %e : !tile.tile<32x32xf32, vec>
  }
  tile.store %b, %x[0, 0]
}

// Where rings live in the consumer's memory they come first, and a popped tile stays in its slot. With the ring in
// global memory it has a buffer of its own.
// CHECK-LABEL: kiln.func @pops
// CHECK: tile.pop {{.*}}{kiln.address = array<i64: 0>}
// A5-LABEL: kiln.func @pops
// A5: tile.pop {{.*}}{kiln.address = array<i64: -1>}
// A5: tile.load {{.*}}{kiln.address = array<i64: 12288>}
!p = !tile.pipe<aic -> aiv, 64x32xf32, up_down>
kiln.func @pushes(%x: !kiln.tensor<64x32xf32>, %p: !p) role(aic) {
  %z = arith.constant 0.0 : f32
  %a = tile.full %z : !tile.tile<64x32xf32, acc>
  tile.push %a, %p
}
kiln.func @pops(%x: !kiln.tensor<64x32xf32>, %p: !p) role(aiv) {
  %a = tile.pop %p : !tile.tile<32x32xf32, vec>
  %b = tile.load %x[0, 0] : !tile.tile<32x32xf32, vec>
  %s = tile.add %a, %b : !tile.tile<32x32xf32, vec>
  tile.store %s, %x[0, 0]
  tile.free %p
}
kiln.func @group(%x: !kiln.tensor<64x32xf32>) group lanes(2) {
  %p = tile.pipe slots(3) : !p
  kiln.call @pushes(%x, %p)
  kiln.call @pops(%x, %p)
}

// A while loop has one place for what it carries, as a for loop does: what it starts from, what the condition looks at,
// and what comes out.
// CHECK-LABEL: kiln.func @until
// CHECK: tile.load %x[0, 0] {kiln.address = array<i64: 0>}
// CHECK: scf.while
// CHECK: tile.reduce {{.*}}{kiln.address = array<i64: 4096>}
// CHECK: scf.condition
// CHECK: tile.load %x[8, 0] {kiln.address = array<i64: 4096>}
// CHECK: tile.add {{.*}}{kiln.address = array<i64: 0>}
// CHECK: kiln.address = array<i64: 0>}
// CHECK: tile.store
kiln.func @until(%x: !kiln.tensor<64x32xf32>, %limit: f32) role(aiv) {
  %a = tile.load %x[0, 0] : !tile.tile<32x32xf32, vec>
  %end = scf.while (%s = %a) : (!tile.tile<32x32xf32, vec>) -> !tile.tile<32x32xf32, vec> {
    %r = tile.reduce sum %s axis(1) : !tile.tile<32x1xf32, vec>
    %e = tile.element %r[0, 0] : f32
    %more = arith.cmpf olt, %e, %limit : f32
    scf.condition(%more) %s : !tile.tile<32x32xf32, vec>
  } do {
  ^bb0(%s: !tile.tile<32x32xf32, vec>):
    %b = tile.load %x[8, 0] : !tile.tile<32x32xf32, vec>
    %t = tile.add %s, %b : !tile.tile<32x32xf32, vec>
    scf.yield %t : !tile.tile<32x32xf32, vec>
  }
  tile.store %end, %x[0, 0]
}

// What the body still needs after it made the next: two places.
// CHECK-LABEL: kiln.func @until_copied
// CHECK: scf.while
// CHECK: tile.exp {{.*}}{kiln.address = array<i64: 4096>}
// CHECK: tile.add
// CHECK: kiln.address = array<i64: 0>}
kiln.func @until_copied(%x: !kiln.tensor<32x32xf32>, %n: index) role(aiv) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = tile.load %x[0, 0] : !tile.tile<32x32xf32, vec>
  %end:2 = scf.while (%i = %n, %s = %a) : (index, !tile.tile<32x32xf32, vec>) -> (index, !tile.tile<32x32xf32, vec>) {
    %more = arith.cmpi sgt, %i, %c0 : index
    scf.condition(%more) %i, %s : index, !tile.tile<32x32xf32, vec>
  } do {
  ^bb0(%i: index, %s: !tile.tile<32x32xf32, vec>):
    %e = tile.exp %s : !tile.tile<32x32xf32, vec>
    %t = tile.add %s, %e : !tile.tile<32x32xf32, vec>
    tile.store %t, %x[0, 0]
    %next = arith.subi %i, %c1 : index
    scf.yield %next, %e : index, !tile.tile<32x32xf32, vec>
  }
  tile.store %end#1, %x[0, 0]
}

// One move for both products would be in `left` together with the other operand: where that is too much, each product
// gets a move of its own, also one inside a loop.
// CHECK-LABEL: kiln.func @moves
// CHECK: scf.for
// CHECK: %[[R:.*]] = tile.move {{.*}}, right>
// CHECK: tile.move %{{.*}} {kiln.address = array<i64: 0>} : !tile.tile<128x128xf32, left>
// CHECK-NEXT: tile.matmul %{{.*}}, %[[R]]
// CHECK: tile.move %{{.*}} {kiln.address = array<i64: 0>} : !tile.tile<128x128xf32, left>
// CHECK-NEXT: tile.matmul %{{.*}}, %[[R]]
// CHECK: tile.move %{{.*}} {kiln.address = array<i64: 0>} : !tile.tile<128x128xf32, left>
// CHECK-NEXT: tile.matmul
kiln.func @moves(%a: !kiln.tensor<128x128xf32>, %n: index) role(aic) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %at = tile.load %a[0, 0] : !tile.tile<128x128xf32, mat>
  %l = tile.move %at : !tile.tile<128x128xf32, left>
  scf.for %k = %c0 to %n step %c1 {
    %bt = tile.load %a[%k, 0] : !tile.tile<128x128xf32, mat>
    %r = tile.move %bt : !tile.tile<128x128xf32, right>
    %p = tile.matmul %l, %r : !tile.tile<128x128xf32, acc>
    tile.store %p, %a[0, 0]
    %m = tile.move %bt : !tile.tile<128x128xf32, left>
    %q = tile.matmul %m, %r : !tile.tile<128x128xf32, acc>
    tile.store %q, %a[0, 0]
  }
  %rt = tile.move %at : !tile.tile<128x128xf32, right>
  %s = tile.matmul %l, %rt : !tile.tile<128x128xf32, acc>
  tile.store %s, %a[0, 0]
}

// Without memories there is nothing to plan.
// CHECK-LABEL: kiln.func @whole
// CHECK-NOT: kiln.address
kiln.func @whole(%x: !kiln.tensor<8x8xf32>) incore {
  %a = tile.load %x[0, 0] : !tile.tile<8x8xf32>
  tile.store %a, %x[0, 0]
}

// A tile that only the condition of a loop looks at is a result of the loop as others are, so it has a place as they do.
// CHECK-LABEL: kiln.func @watched
// CHECK: %[[N:.*]]:2 = scf.while (%[[T:.*]] = %{{.*}}, %[[I:.*]] = %{{.*}})
// CHECK: scf.condition(%{{.*}}) %[[T]], %[[I]] : !tile.tile<8x8xf32, vec>, index
// CHECK: kiln.address = array<i64: 0>
kiln.func @watched(%x: !kiln.tensor<8x8xf32>) role(aiv) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %a = tile.load %x[0, 0] : !tile.tile<8x8xf32, vec>
  %n = scf.while (%t = %a, %i = %c0) : (!tile.tile<8x8xf32, vec>, index) -> index {
    %e = tile.element %t[0, 0] : f32
    %more = arith.cmpf ogt, %e, %zero : f32
    scf.condition(%more) %i : index
  } do {
  ^bb0(%i: index):
    %next = arith.addi %i, %c1 : index
    %b = tile.load %x[0, %next] : !tile.tile<8x8xf32, vec>
    scf.yield %b, %next : !tile.tile<8x8xf32, vec>, index
  }
  %c = tile.load %x[0, %n] : !tile.tile<8x8xf32, vec>
  tile.store %c, %x[0, 0]
}

// The results of a while loop lie where it keeps what it carries. These two change places, so the loop is turned over: it decides
// before it begins and at the end of each iteration, and carries what the condition handed on, in that order.
// CHECK-LABEL: kiln.func @swaps
// CHECK: %[[A:.*]] = tile.load
// CHECK: %[[B:.*]] = tile.exp %[[A]]
// CHECK: %[[FIRST:.*]] = arith.cmpi
// CHECK: %[[R:.*]]:3 = scf.while (%[[MORE:.*]] = %[[FIRST]], %[[S:.*]] = %{{.*}}, %[[T:.*]] = %{{.*}})
// CHECK-NEXT: scf.condition(%[[MORE]]) %[[MORE]], %[[S]], %[[T]]
// CHECK: ^bb0(%{{.*}}: i1, %[[U:.*]]: !tile.tile<8x8xf32, vec>, %[[V:.*]]: !tile.tile<8x8xf32, vec>):
// CHECK: %[[NEXT:.*]] = arith.cmpi
// CHECK: scf.yield %[[NEXT]]
// CHECK: tile.store %[[R]]#1
kiln.func @swaps(%x: !kiln.tensor<8x8xf32>, %n: index) role(aiv) {
  %c0 = arith.constant 0 : index
  %a = tile.load %x[0, 0] : !tile.tile<8x8xf32, vec>
  %b = tile.exp %a : !tile.tile<8x8xf32, vec>
  %end:2 = scf.while (%s = %a, %t = %b) : (!tile.tile<8x8xf32, vec>, !tile.tile<8x8xf32, vec>)
      -> (!tile.tile<8x8xf32, vec>, !tile.tile<8x8xf32, vec>) {
    %more = arith.cmpi sgt, %n, %c0 : index
    scf.condition(%more) %t, %s : !tile.tile<8x8xf32, vec>, !tile.tile<8x8xf32, vec>
  } do {
  ^bb0(%s: !tile.tile<8x8xf32, vec>, %t: !tile.tile<8x8xf32, vec>):
    scf.yield %s, %t : !tile.tile<8x8xf32, vec>, !tile.tile<8x8xf32, vec>
  }
  tile.store %end#0, %x[0, 0]
}

// Tiles that change places in each iteration are copied, one of them to a third place: no copy to a place comes before what was
// there has been copied.
// CHECK-LABEL: kiln.func @rotates
// CHECK: scf.for {{.*}} iter_args(%[[A:.*]] = %{{.*}}, %[[B:.*]] = %{{.*}})
// CHECK-NEXT: %[[C:.*]] = tile.move %[[B]] {kiln.address = array<i64: 512>}
// CHECK-NEXT: %[[D:.*]] = tile.move %[[A]] {kiln.address = array<i64: 256>}
// CHECK-NEXT: scf.yield %[[C]], %[[D]]
kiln.func @rotates(%x: !kiln.tensor<8x16xf32>, %n: index) role(aiv) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = tile.load %x[0, 0] : !tile.tile<8x8xf32, vec>
  %b = tile.load %x[0, 8] : !tile.tile<8x8xf32, vec>
  %end:2 = scf.for %i = %c0 to %n step %c1 iter_args(%s = %a, %t = %b) -> (!tile.tile<8x8xf32, vec>, !tile.tile<8x8xf32, vec>) {
    scf.yield %t, %s : !tile.tile<8x8xf32, vec>, !tile.tile<8x8xf32, vec>
  }
  tile.store %end#0, %x[0, 0]
  tile.store %end#1, %x[0, 8]
}
