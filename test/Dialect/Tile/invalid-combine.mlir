// RUN: kiln-opt %s -split-input-file -verify-diagnostics

kiln.func @axis(%t: !kiln.tensor<8x4xf32>, %z: f32) incore {
  %x = tile.load %t[0, 0] : !tile.tile<8x4xf32>
  // expected-error @below {{'tile.reduce_with' op axis is 0 (rows) or 1 (columns), not 2}}
  %y = tile.reduce_with %x axis(2) start(%z) {
  ^combine(%a: !tile.tile<8x1xf32>, %b: !tile.tile<8x1xf32>):
    tile.yield %a
  } : !tile.tile<8x1xf32>
}

// -----

kiln.func @shapes(%t: !kiln.tensor<8x4xf32>, %z: f32) incore {
  %x = tile.load %t[0, 0] : !tile.tile<8x4xf32>
  %w = tile.load %t[0, 0] : !tile.tile<8x2xf32>
  // expected-error @below {{'tile.reduce_with' op combines tiles of one shape, not 8x4 and 8x2}}
  %y:2 = tile.reduce_with %x, %w axis(1) start(%z, %z) {
  ^combine(%a: !tile.tile<8x1xf32>, %b: !tile.tile<8x1xf32>, %c: !tile.tile<8x1xf32>, %d: !tile.tile<8x1xf32>):
    tile.yield %a, %b
  } : !tile.tile<8x1xf32>, !tile.tile<8x1xf32>
}

// -----

kiln.func @starts(%t: !kiln.tensor<8x4xf32>, %z: f32) incore {
  %x = tile.load %t[0, 0] : !tile.tile<8x4xf32>
  // expected-error @below {{'tile.reduce_with' op needs one start for each of the 1 tiles, has 2}}
  %y = tile.reduce_with %x axis(1) start(%z, %z) {
  ^combine(%a: !tile.tile<8x1xf32>, %b: !tile.tile<8x1xf32>):
    tile.yield %a
  } : !tile.tile<8x1xf32>
}

// -----

kiln.func @start(%t: !kiln.tensor<8x4xf32>, %z: i32) incore {
  %x = tile.load %t[0, 0] : !tile.tile<8x4xf32>
  // expected-error @below {{'tile.scan_with' op starts '!tile.tile<8x4xf32>' with a 'f32' or '!tile.tile<8x1xf32>', not with 'i32'}}
  %y = tile.scan_with %x axis(1) start(%z) {
  ^combine(%a: !tile.tile<8x1xf32>, %b: !tile.tile<8x1xf32>):
    tile.yield %a
  } : !tile.tile<8x4xf32>
}

// -----

kiln.func @arguments(%t: !kiln.tensor<8x4xf32>, %z: f32) incore {
  %x = tile.load %t[0, 0] : !tile.tile<8x4xf32>
  // expected-error @below {{'tile.reduce_with' op the body takes a line of each tile, and then the next line of each: '!tile.tile<1x4xf32>', '!tile.tile<1x4xf32>'}}
  %y = tile.reduce_with %x axis(0) start(%z) {
  ^combine(%a: !tile.tile<8x1xf32>, %b: !tile.tile<8x1xf32>):
    tile.yield %a
  } : !tile.tile<8x1xf32>
}

// -----

kiln.func @body(%t: !kiln.tensor<8x4xf32>, %z: f32) incore {
  %x = tile.load %t[0, 0] : !tile.tile<8x4xf32>
  %y = tile.reduce_with %x axis(1) start(%z) {
  ^combine(%a: !tile.tile<8x1xf32>, %b: !tile.tile<8x1xf32>):
    // expected-error @below {{'tile.scan' op cannot stand in the body of tile.reduce_with, which combines element by element; elementwise operations, casts and constants can}}
    %s = tile.scan sum %b axis(0) : !tile.tile<8x1xf32>
    tile.yield %s
  } : !tile.tile<8x1xf32>
}

// -----

kiln.func @wide(%t: !kiln.tensor<8x4xf32>, %z: f32) incore {
  %x = tile.load %t[0, 0] : !tile.tile<8x4xf32>
  %y = tile.reduce_with %x axis(1) start(%z) {
  ^combine(%a: !tile.tile<8x1xf32>, %b: !tile.tile<8x1xf32>):
    %one = arith.constant 1.0 : f32
    // expected-error @below {{'tile.full' op makes 8x4 in the body of tile.reduce_with, which works on lines of 8x1}}
    %s = tile.full %one : !tile.tile<8x4xf32>
    tile.yield %a
  } : !tile.tile<8x1xf32>
}

// -----

kiln.func @yields(%t: !kiln.tensor<8x4xf32>, %z: f32) incore {
  %x = tile.load %t[0, 0] : !tile.tile<8x4xf32>
  %y = tile.reduce_with %x axis(1) start(%z) {
  ^combine(%a: !tile.tile<8x1xf32>, %b: !tile.tile<8x1xf32>):
    %c = tile.cmp lt %a, %b : !tile.tile<8x1xi1>
    // expected-error @below {{'tile.yield' op gives the next line of each tile: '!tile.tile<8x1xf32>'}}
    tile.yield %c
  } : !tile.tile<8x1xf32>
}

// -----

kiln.func @result(%t: !kiln.tensor<8x4xf32>, %z: f32) incore {
  %x = tile.load %t[0, 0] : !tile.tile<8x4xf32>
  // expected-error @below {{'tile.reduce_with' op makes '!tile.tile<8x1xf32>', not '!tile.tile<8x4xf32>'}}
  %y = tile.reduce_with %x axis(1) start(%z) {
  ^combine(%a: !tile.tile<8x1xf32>, %b: !tile.tile<8x1xf32>):
    tile.yield %b
  } : !tile.tile<8x4xf32>
}

// -----

kiln.func @outside(%t: !kiln.tensor<8x4xf32>, %z: f32) incore {
  %x = tile.load %t[0, 0] : !tile.tile<8x4xf32>
  // expected-note @below {{required by region isolation constraints}}
  %y = tile.reduce_with %x axis(1) start(%z) {
  ^combine(%a: !tile.tile<8x1xf32>, %b: !tile.tile<8x1xf32>):
    // expected-error @below {{'tile.add' op using value defined outside the region}}
    %c = tile.add %b, %z : !tile.tile<8x1xf32>
    tile.yield %c
  } : !tile.tile<8x1xf32>
}

// -----

kiln.func @alone(%x: !kiln.tensor<8x4xf32>) incore {
  %t = tile.load %x[0, 0] : !tile.tile<8x4xf32>
  // expected-error @below {{'tile.yield' op expects parent op to be one of 'tile.reduce_with, tile.scan_with'}}
  tile.yield %t
}
