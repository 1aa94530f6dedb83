// What lanes cannot share, each with its reason and what to do.
// RUN: kiln-opt %s --kiln-partition-roles -verify-diagnostics -split-input-file -o /dev/null

kiln.func @reshapes(%a: !kiln.tensor<16x16xf32>, %out: !kiln.tensor<32x8xf32>) incore split(left_right) {
  %x = tile.load %a[0, 0] : !tile.tile<16x16xf32>
  // expected-error @below {{cannot be divided with split(left_right): it moves elements from one lane's part into another's}}
  // expected-note @below {{try split(up_down), or split(none), which uses one lane}}
  %y = tile.reshape %x : !tile.tile<32x8xf32>
  tile.store %y, %out[0, 0]
}

// -----

kiln.func @extracts(%a: !kiln.tensor<16x16xf32>, %out: !kiln.tensor<8x16xf32>) incore split(up_down) {
  %x = tile.load %a[0, 0] : !tile.tile<16x16xf32>
  // expected-error @below {{cannot be divided with split(up_down): it takes a box that does not cover the axis divided between the lanes}}
  // expected-note @below {{try split(left_right)}}
  %y = tile.extract %x[4, 0] : !tile.tile<8x16xf32>
  tile.store %y, %out[0, 0]
}

// -----

kiln.func @inserts(%a: !kiln.tensor<16x16xf32>) incore split(up_down) {
  %x = tile.load %a[0, 0] : !tile.tile<16x16xf32>
  %y = tile.load %a[0, 0] : !tile.tile<8x16xf32>
  // expected-error @below {{cannot be divided with split(up_down): it replaces a box that does not cover the axis divided between the lanes}}
  // expected-note @below {{try split(left_right)}}
  %z = tile.insert %y, %x[4, 0] : !tile.tile<16x16xf32>
  tile.store %z, %a[0, 0]
}

// -----

kiln.func @concats(%a: !kiln.tensor<16x16xf32>, %out: !kiln.tensor<32x16xf32>) incore split(up_down) {
  %x = tile.load %a[0, 0] : !tile.tile<16x16xf32>
  // expected-error @below {{cannot be divided with split(up_down): it works along the axis divided between the lanes}}
  // expected-note @below {{try split(left_right)}}
  %y = tile.concat %x, %x axis(0) : !tile.tile<32x16xf32>
  tile.store %y, %out[0, 0]
}

// -----

kiln.func @scans(%a: !kiln.tensor<16x16xf32>, %out: !kiln.tensor<16x16xf32>) incore split(up_down) {
  %x = tile.load %a[0, 0] : !tile.tile<16x16xf32>
  // expected-error @below {{cannot be divided with split(up_down): it runs along the axis divided between the lanes}}
  // expected-note @below {{try split(left_right)}}
  %y = tile.scan sum %x axis(0) : !tile.tile<16x16xf32>
  tile.store %y, %out[0, 0]
}

// -----

kiln.func @scans_with(%a: !kiln.tensor<16x16xf32>, %out: !kiln.tensor<16x16xf32>) incore split(up_down) {
  %x = tile.load %a[0, 0] : !tile.tile<16x16xf32>
  %z = arith.constant 0.0 : f32
  // expected-error @below {{'tile.scan_with' op cannot be divided with split(up_down): it combines along the axis that is divided between the lanes}}
  // expected-note @below {{try split(left_right)}}
  %y = tile.scan_with %x axis(0) start(%z) {
  ^combine(%p: !tile.tile<1x16xf32>, %q: !tile.tile<1x16xf32>):
    %s = tile.add %p, %q : !tile.tile<1x16xf32>
    tile.yield %s
  } : !tile.tile<16x16xf32>
  tile.store %y, %out[0, 0]
}

// -----

kiln.func @sorts(%a: !kiln.tensor<16x16xf32>, %out: !kiln.tensor<16x16xf32>) incore split(left_right) {
  %x = tile.load %a[0, 0] : !tile.tile<16x16xf32>
  // expected-error @below {{cannot be divided with split(left_right): it orders along the axis divided between the lanes}}
  // expected-note @below {{try split(up_down)}}
  %v, %i = tile.sort_rows %x : !tile.tile<16x16xf32>, !tile.tile<16x16xi32>
  tile.store %v, %out[0, 0]
}

// -----

kiln.func @scatters(%a: !kiln.tensor<16x16xf32>, %rows: !kiln.tensor<16xi32>, %out: !kiln.tensor<64x16xf32>) incore split(up_down) {
  %x = tile.load %a[0, 0] : !tile.tile<16x16xf32>
  // expected-error @below {{cannot be divided with split(up_down): it writes rows that cannot be divided}}
  // expected-note @below {{no split works; use split(none), which uses one lane}}
  tile.scatter_rows %x, %out[0, 0] rows(%rows[0])
}

// -----

kiln.func @looks(%a: !kiln.tensor<16x16xf32>, %out: !kiln.tensor<16xf32>) incore split(up_down) {
  %x = tile.load %a[0, 0] : !tile.tile<16x16xf32>
  // expected-error @below {{cannot be divided with split(up_down): it takes an element that only one lane has}}
  // expected-note @below {{no split works; use split(none), which uses one lane}}
  %e = tile.element %x[3, 3] : f32
  kiln.write %e, %out[0]
}
