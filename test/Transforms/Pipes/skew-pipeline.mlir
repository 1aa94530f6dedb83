// Pushes of a pipelined loop that do not wait for its pops run ahead.
// RUN: kiln-opt %s --tile-place-frees --kiln-skew-pipeline | FileCheck %s
// RUN: kiln-opt %s --tile-place-frees --kiln-skew-pipeline -o %t.once && kiln-opt %t.once --kiln-skew-pipeline | diff %t.once -
// RUN: kiln-opt %s --tile-place-frees --kiln-check-pipes=report --kiln-skew-pipeline --kiln-check-pipes=report -o /dev/null 2>&1 | FileCheck %s --check-prefix=PROOF
// PROOF-COUNT-14: proved{{$}}
// RUN: kiln-opt %s --tile-place-frees --kiln-skew-pipeline=report -verify-diagnostics -o /dev/null
// RUN: not kiln-opt %s --kiln-skew-pipeline=machine=abacus 2>&1 | FileCheck %s --check-prefix=MACHINE
// MACHINE: there is no machine 'abacus'; kiln machines lists them

!t = !tile.tile<16x16xf32>
!down = !tile.pipe<aic -> aiv, 16x16xf32>
!up = !tile.pipe<aiv -> aic, 16x16xf32>

// The scores of the next block are on their way before the probabilities of this one are waited for. Which block the rest
// belongs to is computed again; the tile that both parts use is carried.
// CHECK-LABEL: kiln.func @scores(
// CHECK:         %[[TRIPS:.*]] = arith.ceildivsi %n, %c16
// CHECK:         %[[ANY:.*]] = arith.cmpi sgt, %[[TRIPS]], %c0
// CHECK:         scf.if %[[ANY]]
// CHECK-NEXT:      %[[K0:.*]] = tile.load %k[%c0, 0]
// CHECK-NEXT:      %[[S0:.*]] = tile.matmul %{{.*}}, %[[K0]]
// CHECK-NEXT:      tile.push %[[S0]], %down
// CHECK:           %[[LAST:.*]] = arith.subi %n, %c16
// CHECK:           %[[RESULT:.*]]:2 = scf.for %[[I:.*]] = %c0 to %[[LAST]] step %c16 iter_args(%[[SUM:.*]] = %{{.*}}, %[[K:.*]] = %[[K0]])
// CHECK-NEXT:        %[[NEXT:.*]] = arith.addi %[[I]], %c16
// CHECK-NEXT:        %[[K1:.*]] = tile.load %k[%[[NEXT]], 0]
// CHECK-NEXT:        %[[S1:.*]] = tile.matmul %{{.*}}, %[[K1]]
// CHECK-NEXT:        tile.push %[[S1]], %down
// CHECK-NEXT:        %[[P:.*]] = tile.pop %up
// CHECK-NEXT:        %[[O:.*]] = tile.matmul_acc %[[SUM]], %[[P]], %[[K]]
// CHECK-NEXT:        tile.free %up
// CHECK-NEXT:        scf.yield %[[O]], %[[K1]]
// CHECK-NEXT:      } {kiln.loop = #kiln.loop<pipeline, stages = 1>}
// CHECK:           %[[P2:.*]] = tile.pop %up
// CHECK-NEXT:      tile.matmul_acc %[[RESULT]]#0, %[[P2]], %[[RESULT]]#1
// CHECK-NEXT:      tile.free %up
kiln.func @scores(%q: !kiln.tensor<16x16xf32>, %k: !kiln.tensor<?x16xf32>, %out: !kiln.tensor<16x16xf32>, %n: index,
                  %down: !down, %up: !up) role(aic) {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %zero = arith.constant 0.0 : f32
  %qt = tile.load %q[0, 0] : !t
  %init = tile.full %zero : !t
  // expected-remark @below {{1 push runs 1 iteration ahead}}
  %acc = scf.for %i = %c0 to %n step %c16 iter_args(%sum = %init) -> (!t) {
    %kt = tile.load %k[%i, 0] : !t
    %s = tile.matmul %qt, %kt trans_b : !t
    // expected-note @below {{this one}}
    tile.push %s, %down
    %p = tile.pop %up : !t
    %o = tile.matmul_acc %sum, %p, %kt : !t
    scf.yield %o : !t
  } {kiln.loop = #kiln.loop<pipeline, stages = 2>}
  tile.store %acc, %out[0, 0]
}
// The other side answers: its pushes wait for its pops.
kiln.func @softmax(%n: index, %down: !down, %up: !up) role(aiv) {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  // expected-remark @below {{no push of this loop runs ahead: each waits for a pop of its own iteration, or of the one before}}
  scf.for %i = %c0 to %n step %c16 {
    %s = tile.pop %down : !t
    %e = tile.exp %s : !t
    tile.push %e, %up
  } {kiln.loop = #kiln.loop<pipeline, stages = 2>}
}
kiln.func @attention(%q: !kiln.tensor<16x16xf32>, %k: !kiln.tensor<?x16xf32>, %out: !kiln.tensor<16x16xf32>, %n: index) group {
  %down = tile.pipe slots(2) : !down
  %up = tile.pipe slots(2) : !up
  kiln.call @scores(%q, %k, %out, %n, %down, %up)
  kiln.call @softmax(%n, %down, %up)
}

// Four slots and four stages: three iterations ahead. A known number of iterations needs no guard.
// CHECK-LABEL: kiln.func @far(
// CHECK-NOT:     scf.if
// CHECK-COUNT-3: tile.push %{{.*}}, %down
// CHECK:         scf.for
// CHECK:           tile.push %{{.*}}, %down
// CHECK:           tile.pop %up
// CHECK:         } {kiln.loop = #kiln.loop<pipeline, stages = 1>}
// CHECK-COUNT-3: tile.pop %up
kiln.func @far(%x: !kiln.tensor<160x16xf32>, %out: !kiln.tensor<160x16xf32>, %down: !down, %up: !up) role(aic) {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %c160 = arith.constant 160 : index
  // expected-remark @below {{1 push runs 3 iterations ahead}}
  scf.for %i = %c0 to %c160 step %c16 {
    %t = tile.load %x[%i, 0] : !t
    // expected-note @below {{this one}}
    tile.push %t, %down
    %p = tile.pop %up : !t
    tile.store %p, %out[%i, 0]
  } {kiln.loop = #kiln.loop<pipeline, stages = 4>}
}
kiln.func @echo(%down: !down, %up: !up) role(aiv) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c10 = arith.constant 10 : index
  scf.for %i = %c0 to %c10 step %c1 {
    %s = tile.pop %down : !t
    tile.push %s, %up
  }
}
kiln.func @far_group(%x: !kiln.tensor<160x16xf32>, %out: !kiln.tensor<160x16xf32>) group {
  %down = tile.pipe slots(4) : !down
  %up = tile.pipe slots(4) : !up
  kiln.call @far(%x, %out, %down, %up)
  kiln.call @echo(%down, %up)
}

// A value that the ahead part carries for itself moves on with it; the rest sees that of its own iteration.
// CHECK-LABEL: kiln.func @carries(
// CHECK:         scf.for {{.*}} iter_args(%[[AHEAD:.*]] = %{{.*}}, %[[MINE:.*]] = %{{.*}})
// CHECK:           %[[E:.*]] = tile.exp %[[AHEAD]]
// CHECK:           tile.push %[[E]], %down
// CHECK:           %[[P:.*]] = tile.pop %up
// CHECK:           %[[Y:.*]] = tile.add %[[P]], %[[MINE]]
// CHECK:           scf.yield %[[E]], %[[AHEAD]]
kiln.func @carries(%x: !kiln.tensor<16x16xf32>, %out: !kiln.tensor<?x16xf32>, %n: index, %down: !down, %up: !up) role(aic) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %t = tile.load %x[0, 0] : !t
  // expected-remark @below {{1 push runs 1 iteration ahead}}
  %end = scf.for %i = %c0 to %n step %c1 iter_args(%a = %t) -> (!t) {
    %e = tile.exp %a : !t
    // expected-note @below {{this one}}
    tile.push %e, %down
    %p = tile.pop %up : !t
    %y = tile.add %p, %a : !t
    %row = arith.muli %i, %c16 : index
    tile.store %y, %out[%row, 0]
    scf.yield %e : !t
  } {kiln.loop = #kiln.loop<pipeline, stages = 2>}
  tile.store %end, %out[0, 0]
}
kiln.func @echo_n(%n: index, %down: !down, %up: !up) role(aiv) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    %s = tile.pop %down : !t
    tile.push %s, %up
  }
}
kiln.func @carries_group(%x: !kiln.tensor<16x16xf32>, %out: !kiln.tensor<?x16xf32>, %n: index) group {
  %down = tile.pipe : !down
  %up = tile.pipe : !up
  kiln.call @carries(%x, %out, %n, %down, %up)
  kiln.call @echo_n(%n, %down, %up)
}

// What stays: one slot, tokens, one stage (or no pipeline at all), a read of what the loop writes.
kiln.func @one_slot(%x: !kiln.tensor<16x16xf32>, %n: index, %down: !down, %up: !up) role(aic) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %t = tile.load %x[0, 0] : !t
  // expected-remark @below {{no push of this loop runs ahead: its pipes have one slot}}
  scf.for %i = %c0 to %n step %c1 {
    tile.push %t, %down
    %p = tile.pop %up : !t
  } {kiln.loop = #kiln.loop<pipeline, stages = 2>}
}
kiln.func @echo_one(%n: index, %down: !down, %up: !up) role(aiv) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    %s = tile.pop %down : !t
    tile.push %s, %up
  }
}
kiln.func @one_slot_group(%x: !kiln.tensor<16x16xf32>, %n: index) group {
  %down = tile.pipe slots(1) : !down
  %up = tile.pipe : !up
  kiln.call @one_slot(%x, %n, %down, %up)
  kiln.call @echo_one(%n, %down, %up)
}

!token = !tile.pipe<aiv -> aic, token>
kiln.func @ordered(%x: !kiln.tensor<16x16xf32>, %n: index, %down: !down, %up: !token) role(aic) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // expected-remark @below {{no push of this loop runs ahead: tokens or barriers order its accesses to memory}}
  scf.for %i = %c0 to %n step %c1 {
    %t = tile.load %x[0, 0] : !t
    tile.push %t, %down
    tile.pop %up
  } {kiln.loop = #kiln.loop<pipeline, stages = 2>}
}
kiln.func @answers(%x: !kiln.tensor<16x16xf32>, %n: index, %down: !down, %up: !token) role(aiv) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    %s = tile.pop %down : !t
    tile.store %s, %x[0, 0]
    tile.push %up
  }
}
kiln.func @ordered_group(%x: !kiln.tensor<16x16xf32>, %n: index) group {
  %down = tile.pipe : !down
  %up = tile.pipe : !token
  kiln.call @ordered(%x, %n, %down, %up)
  kiln.call @answers(%x, %n, %down, %up)
}

kiln.func @in_order(%x: !kiln.tensor<16x16xf32>, %n: index, %down: !down, %up: !up) role(aic) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    %t = tile.load %x[0, 0] : !t
    tile.push %t, %down
    %p = tile.pop %up : !t
  }
}
kiln.func @echo_in_order(%n: index, %down: !down, %up: !up) role(aiv) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    %s = tile.pop %down : !t
    tile.push %s, %up
  }
}
// CHECK-LABEL: kiln.func @in_order(
// CHECK-NOT:     scf.if
// CHECK-COUNT-1: tile.push
// CHECK-LABEL: kiln.func @echo_in_order
kiln.func @in_order_group(%x: !kiln.tensor<16x16xf32>, %n: index) group {
  %down = tile.pipe : !down
  %up = tile.pipe : !up
  kiln.call @in_order(%x, %n, %down, %up)
  kiln.call @echo_in_order(%n, %down, %up)
}

kiln.func @rereads(%x: !kiln.tensor<16x16xf32>, %n: index, %down: !down, %up: !up) role(aic) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // expected-remark @below {{no push of this loop runs ahead: each waits for a pop of its own iteration, or of the one before}}
  scf.for %i = %c0 to %n step %c1 {
    %t = tile.load %x[0, 0] : !t
    tile.push %t, %down
    %p = tile.pop %up : !t
    tile.store %p, %x[0, 0]
  } {kiln.loop = #kiln.loop<pipeline, stages = 2>}
}
kiln.func @echo_rereads(%n: index, %down: !down, %up: !up) role(aiv) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    %s = tile.pop %down : !t
    tile.push %s, %up
  }
}
kiln.func @rereads_group(%x: !kiln.tensor<16x16xf32>, %n: index) group {
  %down = tile.pipe : !down
  %up = tile.pipe : !up
  kiln.call @rereads(%x, %n, %down, %up)
  kiln.call @echo_rereads(%n, %down, %up)
}
