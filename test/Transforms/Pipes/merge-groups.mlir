// Groups become one function where their members can take turns in a fixed order.
// RUN: kiln-opt %s --kiln-prepare --kiln-merge-groups=report=true --canonicalize --cse -split-input-file 2>%t | FileCheck %s
// RUN: FileCheck %s --check-prefix=SAY < %t

!t = !tile.tile<16x64xf32>
!p = !tile.pipe<aic -> aiv, 16x64xf32>

// Loops with as many iterations are one; the pushed tile is used where it is popped.
// CHECK-LABEL: kiln.func @one_way
// CHECK-SAME: incore attributes {kiln.members = ["produce", "consume"]}
// CHECK-NOT: tile.p{{ush|op|ipe}}
// CHECK: scf.for %[[I:.*]] = %c0 to %{{.*}} step %c16 {
// CHECK-NEXT: %[[T:.*]] = tile.load %x[%[[I]], 0]
// CHECK-NEXT: %[[S:.*]] = tile.add %[[T]], %[[T]]
// CHECK-NEXT: tile.store %[[S]], %y[%[[I]], 0]
// CHECK-NEXT: }
// CHECK-NEXT: }
// CHECK-NOT: kiln.func @produce
// SAY: remark: members of @one_way are one function
kiln.func @one_way(%x: !kiln.tensor<?x64xf32>, %y: !kiln.tensor<?x64xf32>) group {
  %p = tile.pipe slots(2) : !p
  kiln.call @produce(%x, %p)
  kiln.call @consume(%x, %y, %p)
}
kiln.func @produce(%x: !kiln.tensor<?x64xf32>, %p: !p) role(aic) {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %n = kiln.dim %x, 0
  scf.for %i = %c0 to %n step %c16 {
    %t = tile.load %x[%i, 0] : !t
    tile.push %t, %p
  }
}
kiln.func @consume(%x: !kiln.tensor<?x64xf32>, %y: !kiln.tensor<?x64xf32>, %p: !p) role(aiv) {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %n = kiln.dim %x, 0
  scf.for %i = %c0 to %n step %c16 {
    %t = tile.pop %p : !t
    %s = tile.add %t, %t : !t
    tile.store %s, %y[%i, 0]
  }
}

// -----

!t = !tile.tile<16x64xf32>
!p = !tile.pipe<aic -> aiv, 16x64xf32>

// The producer is an iteration ahead: its last tile is carried by the loop, and the consumer's last
// iteration runs behind it. There may be none.
// CHECK-LABEL: kiln.func @ahead
// CHECK: scf.if
// CHECK: %[[FIRST:.*]] = tile.load %x[%c0, 0]
// CHECK: %[[LAST:.*]] = scf.for %[[I:.*]] = %c1 to %n step %c1 iter_args(%[[WAITS:.*]] = %[[FIRST]])
// CHECK-NEXT: %[[BEFORE:.*]] = arith.addi %[[I]], %c-1
// CHECK-NEXT: tile.store %[[WAITS]], %y[%[[BEFORE]], 0]
// CHECK-NEXT: %[[NEXT:.*]] = tile.load %x[%[[I]], 0]
// CHECK-NEXT: scf.yield %[[NEXT]]
// CHECK: tile.store %[[LAST]], %y
kiln.func @ahead(%x: !kiln.tensor<?x64xf32>, %y: !kiln.tensor<?x64xf32>, %n: index) group {
  %p = tile.pipe slots(2) : !p
  kiln.call @produce(%x, %n, %p)
  kiln.call @consume(%y, %n, %p)
}
kiln.func @produce(%x: !kiln.tensor<?x64xf32>, %n: index, %p: !p) role(aic) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %any = arith.cmpi sgt, %n, %c0 : index
  scf.if %any {
    %t = tile.load %x[%c0, 0] : !t
    tile.push %t, %p
    scf.for %i = %c1 to %n step %c1 {
      %u = tile.load %x[%i, 0] : !t
      tile.push %u, %p
    }
  }
}
kiln.func @consume(%y: !kiln.tensor<?x64xf32>, %n: index, %p: !p) role(aiv) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    %t = tile.pop %p : !t
    tile.store %t, %y[%i, 0]
  }
}

// -----

!t = !tile.tile<16x64xf32>
!h = !tile.tile<8x64xf32>
!up = !tile.pipe<aiv -> aic, 16x64xf32, up_down>
!down = !tile.pipe<aic -> aiv, 16x64xf32, up_down>

// Lanes are copies: their parts are joined for the one who pops them whole, and taken out again.
// CHECK-LABEL: kiln.func @lanes
// CHECK-DAG: %[[A:.*]] = tile.load %x[%c0, 0] : !tile.tile<8x64xf32>
// CHECK-DAG: %[[B:.*]] = tile.load %x[%c8, 0] : !tile.tile<8x64xf32>
// CHECK: %[[WHOLE:.*]] = tile.concat %[[A]], %[[B]] axis(0)
// CHECK: %[[E:.*]] = tile.exp %[[WHOLE]]
// CHECK-DAG: %[[TOP:.*]] = tile.extract %[[E]][0, 0]
// CHECK-DAG: %[[BOTTOM:.*]] = tile.extract %[[E]][8, 0]
// CHECK-DAG: tile.store %[[TOP]], %x[%c0, 0]
// CHECK-DAG: tile.store %[[BOTTOM]], %x[%c8, 0]
kiln.func @lanes(%x: !kiln.tensor<16x64xf32>) group lanes(2) {
  %up = tile.pipe : !up
  %down = tile.pipe : !down
  kiln.call @cube(%up, %down)
  kiln.call @vec(%x, %up, %down)
}
kiln.func @cube(%up: !up, %down: !down) role(aic) {
  %t = tile.pop %up : !t
  %e = tile.exp %t : !t
  tile.push %e, %down
}
kiln.func @vec(%x: !kiln.tensor<16x64xf32>, %up: !up, %down: !down) role(aiv) {
  %c8 = arith.constant 8 : index
  %lane = tile.lane
  %row = arith.muli %lane, %c8 : index
  %t = tile.load %x[%row, 0] : !h
  tile.push %t, %up
  %u = tile.pop %down : !h
  tile.store %u, %x[%row, 0]
}

// -----

!t = !tile.tile<16x64xf32>
!p = !tile.pipe<aic -> aiv, 16x64xf32>

// With n = 0 it deadlocks, and fibers say so.
// CHECK-LABEL: kiln.func @not_for_none
// CHECK-SAME: group
// CHECK: kiln.func @produce
// SAY: remark: members of @not_for_none stay functions of their own: no order of its members was found that is the same for all trip counts
// SAY: note: its pipes are wrong: {{.*}} with n = 0
kiln.func @not_for_none(%n: index) group {
  %p = tile.pipe slots(2) : !p
  kiln.call @produce(%n, %p)
  kiln.call @consume(%n, %p)
}
kiln.func @produce(%n: index, %p: !p) role(aic) {
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %t = tile.full %zero : !t
  tile.push %t, %p
  scf.for %i = %c1 to %n step %c1 {
    tile.push %t, %p
  }
}
kiln.func @consume(%n: index, %p: !p) role(aiv) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    %t = tile.pop %p : !t
  }
}

// -----

!t = !tile.tile<16x64xf32>
!p = !tile.pipe<aic -> aiv, 16x64xf32>

// The same, where the program requires that it does not happen.
// CHECK-LABEL: kiln.func @required
// CHECK-SAME: incore
// CHECK-COUNT-1: kiln.require
// CHECK-NOT: kiln.require
// CHECK-NOT: tile.pop
// SAY: remark: members of @required are one function
kiln.func @required(%n: index) group {
  %c1 = arith.constant 1 : index
  %some = arith.cmpi sge, %n, %c1 : index
  kiln.require %some, "there is something to do"
  %p = tile.pipe slots(2) : !p
  kiln.call @produce(%n, %p)
  kiln.call @consume(%n, %p)
}
kiln.func @produce(%n: index, %p: !p) role(aic) {
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %t = tile.full %zero : !t
  tile.push %t, %p
  scf.for %i = %c1 to %n step %c1 {
    tile.push %t, %p
  }
}
kiln.func @consume(%n: index, %p: !p) role(aiv) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    %t = tile.pop %p : !t
  }
}

// -----

!t = !tile.tile<16x64xf32>
!p = !tile.pipe<aic -> aiv, 16x64xf32>

// An index parameter is a count, or the kernel is not launched: with n = -1 it would wait for ever.
// CHECK-LABEL: kiln.func @one_more
// CHECK-SAME: (%[[N:.*]]: index) incore
// CHECK-DAG: %[[ZERO:.*]] = arith.constant 0 : index
// CHECK: %[[COUNT:.*]] = arith.cmpi sge, %[[N]], %[[ZERO]]
// CHECK: kiln.require %[[COUNT]], "its roles would wait for each other for ever"
// CHECK-NOT: tile.pop
// SAY: remark: members of @one_more are one function
kiln.func @one_more(%n: index) group {
  %p = tile.pipe slots(2) : !p
  kiln.call @produce(%n, %p)
  kiln.call @consume(%n, %p)
}
kiln.func @produce(%n: index, %p: !p) role(aic) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %t = tile.full %zero : !t
  %more = arith.addi %n, %c1 : index
  scf.for %i = %c0 to %more step %c1 {
    tile.push %t, %p
  }
}
kiln.func @consume(%n: index, %p: !p) role(aiv) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %first = tile.pop %p : !t
  scf.for %i = %c0 to %n step %c1 {
    %t = tile.pop %p : !t
  }
}

// -----

!t = !tile.tile<16x64xf32>
!p = !tile.pipe<aic -> aiv, 16x64xf32>

// How often it pushes is in a tile.
// CHECK-LABEL: kiln.func @as_data_says
// CHECK-SAME: group
// SAY: remark: members of @as_data_says stay functions of their own: the condition depends on tile.element, whose result is known only when the program runs
// SAY: note: its pipes are not proved: the condition depends on tile.element
kiln.func @as_data_says(%x: !kiln.tensor<16x64xf32>) group {
  %p = tile.pipe slots(2) : !p
  kiln.call @produce(%x, %p)
  kiln.call @consume(%x, %p)
}
kiln.func @produce(%x: !kiln.tensor<16x64xf32>, %p: !p) role(aic) {
  %zero = arith.constant 0.0 : f32
  %t = tile.load %x[0, 0] : !t
  %e = tile.element %t[0, 0] : f32
  %more = arith.cmpf ogt, %e, %zero : f32
  scf.if %more {
    tile.push %t, %p
  }
}
kiln.func @consume(%x: !kiln.tensor<16x64xf32>, %p: !p) role(aiv) {
  %zero = arith.constant 0.0 : f32
  %t = tile.load %x[0, 0] : !t
  %e = tile.element %t[0, 0] : f32
  %more = arith.cmpf ogt, %e, %zero : f32
  scf.if %more {
    %u = tile.pop %p : !t
  }
}

// -----

!t = !tile.tile<16x64xf32>
!p = !tile.pipe<aic -> aiv, 16x64xf32>

// CHECK-LABEL: kiln.func @meets
// CHECK-SAME: group
// SAY: remark: members of @meets stay functions of their own: its blocks meet at a barrier, and each role waits there by itself
kiln.func @meets() group {
  %p = tile.pipe slots(2) : !p
  kiln.call @produce(%p)
  kiln.call @consume(%p)
}
kiln.func @produce(%p: !p) role(aic) {
  %zero = arith.constant 0.0 : f32
  %t = tile.full %zero : !t
  tile.push %t, %p
  tile.barrier
}
kiln.func @consume(%p: !p) role(aiv) {
  %t = tile.pop %p : !t
  tile.barrier
}
