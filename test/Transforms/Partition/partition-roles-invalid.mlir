// RUN: kiln-opt %s --kiln-partition-roles=report=true -verify-diagnostics -split-input-file -o /dev/null
// RUN: not kiln-opt %s --kiln-partition-roles=machine=abacus -split-input-file 2>&1 | FileCheck %s
// CHECK: there is no machine 'abacus'; kiln machines lists them

kiln.func @reduces(%a: !kiln.tensor<16x16xf32>, %out: !kiln.tensor<1x16xf32>) incore split(up_down) {
  %x = tile.load %a[0, 0] : !tile.tile<16x16xf32>
  %p = tile.matmul %x, %x : !tile.tile<16x16xf32>
  // expected-error @below {{cannot be divided with split(up_down): it reduces along the axis that is divided between the lanes}}
  // expected-note @below {{try split(left_right), or split(none), which uses one lane}}
  %s = tile.reduce sum %p axis(0) : !tile.tile<1x16xf32>
  tile.store %s, %out[0, 0]
}

// -----

kiln.func @uneven(%a: !kiln.tensor<15x15xf32>, %out: !kiln.tensor<15x15xf32>) incore split(left_right) {
  // expected-error @below {{'tile.load' op cannot be divided with split(left_right): '!tile.tile<15x15xf32>' does not divide evenly over 2 lanes}}
  // expected-note @below {{no split works; use split(none), which uses one lane}}
  %x = tile.load %a[0, 0] : !tile.tile<15x15xf32>
  %y = tile.neg %x : !tile.tile<15x15xf32>
  tile.store %y, %out[0, 0]
}

// -----

kiln.func @transposes(%a: !kiln.tensor<16x16xf32>, %out: !kiln.tensor<16x16xf32>) incore split(up_down) {
  %x = tile.load %a[0, 0] : !tile.tile<16x16xf32>
  // expected-error @below {{it turns the axis that is divided between the lanes into the other}}
  // expected-note @below {{no split works; use split(none), which uses one lane}}
  %y = tile.transpose %x : !tile.tile<16x16xf32>
  tile.store %y, %out[0, 0]
}

// -----

kiln.func @between_lanes(%a: !kiln.tensor<16x16xf32>, %t: !kiln.tensor<32x16xf32>) incore split(up_down) {
  %x = tile.load %a[0, 0] : !tile.tile<16x16xf32>
  // expected-note @below {{it is written here}}
  tile.store %x, %t[0, 0]
  // expected-error @below {{may touch what another lane writes, and lanes cannot wait for each other, as two kernels can}}
  // expected-note @below {{try split(left_right), or split(none), which uses one lane}}
  %y = tile.load %t[8, 0] : !tile.tile<16x16xf32>
  tile.store %y, %t[16, 0]
}

// -----

// The same tile in every iteration is fine; one that starts within another is not.
kiln.func @overlaps(%a: !kiln.tensor<16x16xf32>, %t: !kiln.tensor<?x16xf32>, %n: index) incore split(up_down) {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %x = tile.load %a[0, 0] : !tile.tile<16x16xf32>
  scf.for %i = %c0 to %n step %c8 {
    // expected-error @below {{may touch what another lane writes}}
    // expected-note @below {{try split(left_right), or split(none), which uses one lane}}
    // expected-note @below {{in another iteration}}
    tile.store %x, %t[%i, 0]
  }
}

// -----

// Views that move with the loop are followed to the tensor.
kiln.func @through_views(%a: !kiln.tensor<16x16xf32>, %t: !kiln.tensor<?x16xf32>, %n: index) incore split(up_down) {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %x = tile.load %a[0, 0] : !tile.tile<16x16xf32>
  scf.for %i = %c0 to %n step %c8 {
    %view = kiln.slice %t[%i, 0] [16, 16] : !kiln.tensor<16x16xf32>
    // expected-error @below {{may touch what another lane writes}}
    // expected-note @below {{try split(left_right), or split(none), which uses one lane}}
    // expected-note @below {{in another iteration}}
    tile.store %x, %view[0, 0]
  }
}

// -----

// A tile that only the first lane stores is read by all.
kiln.func @one_lane_writes(%a: !kiln.tensor<16x16xf32>, %t: !kiln.tensor<1x16xf32>, %out: !kiln.tensor<16x16xf32>)
    incore split(up_down) {
  %x = tile.load %a[0, 0] : !tile.tile<1x16xf32>
  // expected-note @below {{it is written here}}
  tile.store %x, %t[0, 0]
  // expected-error @below {{may touch what another lane writes}}
  // expected-note @below {{try split(left_right), or split(none), which uses one lane}}
  %y = tile.load %t[0, 0] : !tile.tile<1x16xf32>
  %z = tile.load %a[0, 0] : !tile.tile<16x16xf32>
  %w = tile.add %z, %y : !tile.tile<16x16xf32>
  tile.store %w, %out[0, 0]
}

// -----

// A transposed view has its rows along the other axis.
kiln.func @transposed(%a: !kiln.tensor<16x16xf32>, %t: !kiln.tensor<16x16xf32>) incore split(up_down) {
  %x = tile.load %a[0, 0] : !tile.tile<16x16xf32>
  // expected-note @below {{it is written here}}
  tile.store %x, %t[0, 0]
  %turned = kiln.transpose %t, [1, 0] : !kiln.tensor<16x16xf32>
  // expected-error @below {{may touch what another lane writes}}
  // expected-note @below {{no split works; use split(none), which uses one lane}}
  %y = tile.load %turned[0, 0] : !tile.tile<16x16xf32>
  tile.store %y, %a[0, 0]
}

// -----

kiln.func @gathers(%a: !kiln.tensor<16x16xf32>, %rows: !kiln.tensor<16xi32>, %t: !kiln.tensor<16x16xf32>)
    incore split(up_down) {
  %x = tile.load %a[0, 0] : !tile.tile<16x16xf32>
  // expected-note @below {{it is written here}}
  tile.store %x, %t[0, 0]
  // expected-error @below {{may touch what another lane writes}}
  // expected-note @below {{no split works; use split(none), which uses one lane}}
  %y = tile.gather_rows %t[0, 0] rows(%rows[0]) : !tile.tile<16x16xf32>
  tile.store %y, %a[0, 0]
}

// -----

// expected-error @below {{cannot be divided between lanes: it has a while loop}}
kiln.func @loops_in_lanes(%a: !kiln.tensor<16x16xf32>, %n: index) incore split(up_down) {
  %c0 = arith.constant 0 : index
  %x = tile.load %a[0, 0] : !tile.tile<16x16xf32>
  %end = scf.while (%i = %n) : (index) -> index {
    %more = arith.cmpi sgt, %i, %c0 : index
    scf.condition(%more) %i : index
  } do {
  ^bb0(%i: index):
    scf.yield %c0 : index
  }
  tile.store %x, %a[0, 0]
}

// -----

// expected-warning @below {{@multiplies_in_loops stays whole, without a memory plan: it has a while loop}}
kiln.func @multiplies_in_loops(%a: !kiln.tensor<16x16xf32>, %n: index) incore {
  %c0 = arith.constant 0 : index
  %x = tile.load %a[0, 0] : !tile.tile<16x16xf32>
  // expected-note @below {{this is in the way; no core can execute the kernel}}
  %end = scf.while (%i = %n) : (index) -> index {
    %more = arith.cmpi sgt, %i, %c0 : index
    scf.condition(%more) %i : index
  } do {
  ^bb0(%i: index):
    scf.yield %c0 : index
  }
  %p = tile.matmul %x, %x : !tile.tile<16x16xf32>
  tile.store %p, %a[0, 0]
}

// -----

// Without products it is the vector role's all the same.
// expected-remark @below {{@loops is not split over roles: it has a while loop}}
// expected-remark @below {{@loops has work for aiv only}}
kiln.func @loops(%a: !kiln.tensor<16x16xf32>, %n: index) incore {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %x = tile.load %a[0, 0] : !tile.tile<16x16xf32>
  %end = scf.while (%i = %n) : (index) -> index {
    %more = arith.cmpi sgt, %i, %c0 : index
    scf.condition(%more) %i : index
  } do {
  ^bb0(%i: index):
    %next = arith.subi %i, %c1 : index
    scf.yield %next : index
  }
  tile.store %x, %a[0, 0]
}

// -----

// expected-remark @below {{@idle is not split over roles: it writes nothing}}
// expected-remark @below {{@idle has work for aiv only}}
kiln.func @idle(%a: !kiln.tensor<16x16xf32>) incore {
}

// -----

// expected-remark @below {{@product has work for aic only}}
kiln.func @product(%a: !kiln.tensor<16x16xf32>, %out: !kiln.tensor<16x16xf32>) incore {
  %x = tile.load %a[0, 0] : !tile.tile<16x16xf32>
  %p = tile.matmul %x, %x : !tile.tile<16x16xf32>
  tile.store %p, %out[0, 0]
}

// -----

// expected-remark @below {{@both is split over aic and aiv, 2 lanes up_down}}
kiln.func @both(%a: !kiln.tensor<16x16xf32>, %out: !kiln.tensor<16x16xf32>) incore split(up_down) {
  %x = tile.load %a[0, 0] : !tile.tile<16x16xf32>
  // expected-note @below {{'!tile.tile<16x16xf32>' goes from aic to aiv, 1024 bytes a slot}}
  %p = tile.matmul %x, %x : !tile.tile<16x16xf32>
  %y = tile.exp %p : !tile.tile<16x16xf32>
  tile.store %y, %out[0, 0]
}

// -----

// What is in the way of a split; with products no role executes it whole.
// expected-warning @below {{@calls stays whole, without a memory plan: it calls a function, which has to be inlined first}}
kiln.func @calls(%a: !kiln.tensor<16x16xf32>) incore {
  %x = tile.load %a[0, 0] : !tile.tile<16x16xf32>
  %p = tile.matmul %x, %x : !tile.tile<16x16xf32>
  tile.store %p, %a[0, 0]
  // expected-note @below {{this is in the way; no core can execute the kernel}}
  kiln.call @helper(%a)
}
kiln.func @helper(%a: !kiln.tensor<16x16xf32>) incore {
  %x = tile.load %a[0, 0] : !tile.tile<16x16xf32>
  tile.store %x, %a[0, 0]
}

// -----

// expected-warning @below {{@allocates stays whole, without a memory plan: it allocates a tensor; allocate it in the orchestration}}
kiln.func @allocates(%a: !kiln.tensor<16x16xf32>) incore {
  // expected-note @below {{this is in the way}}
  %b = kiln.alloc() : !kiln.tensor<16x16xf32>
  %x = tile.load %a[0, 0] : !tile.tile<16x16xf32>
  %p = tile.matmul %x, %x : !tile.tile<16x16xf32>
  tile.store %p, %b[0, 0]
}

// -----

// A tensor that the matrix role writes and the vector role reads: a token, and in a loop one back.
// expected-remark @below {{@ordered is split over aic and aiv}}
kiln.func @ordered(%a: !kiln.tensor<16x16xf32>, %t: !kiln.tensor<16x16xf32>, %out: !kiln.tensor<16x16xf32>, %n: index) incore {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %x = tile.load %a[0, 0] : !tile.tile<16x16xf32>
  // expected-note @below {{aic waits here for aiv, which uses the same memory}}
  scf.for %i = %c0 to %n step %c1 {
    %p = tile.matmul %x, %x : !tile.tile<16x16xf32>
    tile.store %p, %t[0, 0]
    // expected-note @below {{aiv waits here for aic, which uses the same memory}}
    %y = tile.load %t[0, 0] : !tile.tile<16x16xf32>
    %e = tile.exp %y : !tile.tile<16x16xf32>
    tile.store %e, %out[0, 0]
  }
}

// -----

// expected-warning @below {{@asks stays whole, without a memory plan: it asks for its lane, which only a role has}}
kiln.func @asks(%a: !kiln.tensor<16x16xf32>, %out: !kiln.tensor<16x16xf32>) incore {
  // expected-note @below {{this is in the way; no core can execute the kernel}}
  %lane = tile.lane
  %x = tile.load %a[%lane, 0] : !tile.tile<16x16xf32>
  %p = tile.matmul %x, %x : !tile.tile<16x16xf32>
  tile.store %p, %out[0, 0]
}

// -----

// expected-warning @below {{@switches stays whole, without a memory plan: it contains an operation that is not of the language}}
kiln.func @switches(%a: !kiln.tensor<16x16xf32>, %out: !kiln.tensor<16x16xf32>, %n: index) incore {
  // expected-note @below {{this is in the way}}
  %i = scf.index_switch %n -> index
  case 1 {
    %c16 = arith.constant 16 : index
    scf.yield %c16 : index
  }
  default {
    %c0 = arith.constant 0 : index
    scf.yield %c0 : index
  }
  %x = tile.load %a[0, 0] : !tile.tile<16x16xf32>
  %p = tile.matmul %x, %x : !tile.tile<16x16xf32>
  tile.store %p, %out[%i, 0]
}

// -----

// expected-error @below {{'kiln.func' op asks for 3 lanes, but role aiv has at most 2}}
kiln.func @too_many_lanes(%a: !kiln.tensor<16x16xf32>) incore lanes(3) split(up_down) {
  %x = tile.load %a[0, 0] : !tile.tile<16x16xf32>
  tile.store %x, %a[0, 0]
}

// -----

// expected-error @below {{'kiln.func' op asks for 2 lanes, but for no split by which they would share the work}}
// expected-note @below {{try split(up_down), or split(none) and lanes(1), which use one lane}}
kiln.func @lanes_without_split(%a: !kiln.tensor<16x16xf32>) incore lanes(2) {
  %x = tile.load %a[0, 0] : !tile.tile<16x16xf32>
  tile.store %x, %a[0, 0]
}

// -----

kiln.func @lanes_and_no_split(%a: !kiln.tensor<16x16xf32>, %out: !kiln.tensor<16x16xf32>)
    incore lanes(2) split(up_down) {
  %x = tile.load %a[0, 0] : !tile.tile<16x16xf32>
  // expected-error @below {{it turns the axis that is divided between the lanes into the other}}
  // expected-note @below {{no split works; use split(none) and lanes(1), which use one lane}}
  %y = tile.transpose %x : !tile.tile<16x16xf32>
  tile.store %y, %out[0, 0]
}
