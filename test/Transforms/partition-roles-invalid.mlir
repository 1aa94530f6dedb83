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
  // expected-note @below {{try split(up_down)}}
  %x = tile.load %a[0, 0] : !tile.tile<15x15xf32>
  %y = tile.neg %x : !tile.tile<15x15xf32>
  tile.store %y, %out[0, 0]
}

// -----

kiln.func @transposes(%a: !kiln.tensor<16x16xf32>, %out: !kiln.tensor<16x16xf32>) incore split(up_down) {
  %x = tile.load %a[0, 0] : !tile.tile<16x16xf32>
  // expected-error @below {{it turns the axis that is divided between the lanes into the other}}
  // expected-note @below {{try split(left_right)}}
  %y = tile.transpose %x : !tile.tile<16x16xf32>
  tile.store %y, %out[0, 0]
}

// -----

kiln.func @between_lanes(%a: !kiln.tensor<16x16xf32>, %t: !kiln.tensor<32x16xf32>) incore split(up_down) {
  %x = tile.load %a[0, 0] : !tile.tile<16x16xf32>
  // expected-note @below {{it is written here}}
  tile.store %x, %t[0, 0]
  // expected-error @below {{may touch what another lane writes, and lanes cannot wait for each other; use split(none), or two kernels}}
  %y = tile.load %t[8, 0] : !tile.tile<16x16xf32>
  tile.store %y, %t[16, 0]
}

// -----

// expected-remark @below {{@idle is not split over roles: it writes nothing}}
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
