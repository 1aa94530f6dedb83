// RUN: kiln-opt %s -split-input-file -verify-diagnostics -o /dev/null

// Allocations, views, single elements, launches.

kiln.func @alloc(%n: index) orchestration {
  // expected-error @below {{'kiln.alloc' op needs one size for each of the 2 dynamic extents, has 1}}
  %t = kiln.alloc(%n) : !kiln.tensor<?x?xf32>
}

// -----

kiln.func @alloc(%n: index) orchestration {
  // expected-error @below {{'kiln.alloc' op needs one size for each of the 0 dynamic extents, has 1}}
  %t = kiln.alloc(%n) : !kiln.tensor<4xf32>
}

// -----

kiln.func @dim(%x: !kiln.tensor<4x4xf32>) incore {
  // expected-error @below {{'kiln.dim' op axis 2 does not exist in a tensor of rank 2}}
  %d = kiln.dim %x, 2
}

// -----

kiln.func @dim(%x: !kiln.tensor<4x4xf32>) incore {
  // expected-error @below {{'kiln.dim' op axis -1 does not exist in a tensor of rank 2}}
  %d = kiln.dim %x, -1
}

// -----

kiln.func @dim(%x: f32) incore {
  // expected-error @below {{'kiln.dim' op operand #0 must be a strided view of data in global memory, but got 'f32'}}
  %d = kiln.dim %x, 0
}

// -----

//===----------------------------------------------------------------------===//
// kiln.slice
//===----------------------------------------------------------------------===//

kiln.func @slice(%x: !kiln.tensor<4x4xf32>) incore {
  // expected-error @below {{'kiln.slice' op needs one offset and one size for each of the 2 axes}}
  %s = kiln.slice %x[0] [4, 4] : !kiln.tensor<4x4xf32>
}

// -----

kiln.func @slice(%x: !kiln.tensor<4x4xf32>) incore {
  // expected-error @below {{'kiln.slice' op needs one offset and one size for each of the 2 axes}}
  %s = kiln.slice %x[0, 0] [4, 4, 4] : !kiln.tensor<4x4xf32>
}

// -----

kiln.func @slice(%x: !kiln.tensor<4x4xf32>) incore {
  // expected-error @below {{'kiln.slice' op offset -1 of axis 1 is negative}}
  %s = kiln.slice %x[0, -1] [4, 4] : !kiln.tensor<4x4xf32>
}

// -----

kiln.func @slice(%x: !kiln.tensor<4x4xf32>) incore {
  // expected-error @below {{'kiln.slice' op size -4 of axis 0 is negative}}
  %s = kiln.slice %x[0, 0] [-4, 4] : !kiln.tensor<4x4xf32>
}

// -----

kiln.func @slice(%x: !kiln.tensor<4x4xf32>) incore {
  // expected-error @below {{'kiln.slice' op axis 1: offset 1 + size 4 overruns the extent 4}}
  %s = kiln.slice %x[0, 1] [4, 4] : !kiln.tensor<4x4xf32>
}

// -----

kiln.func @slice(%x: !kiln.tensor<4x4xf32>, %i: index) incore {
  // expected-error @below {{'kiln.slice' op axis 0: offset 0 + size 5 overruns the extent 4}}
  %s = kiln.slice %x[%i, 0] [5, 4] : !kiln.tensor<5x4xf32>
}

// -----

kiln.func @slice(%x: !kiln.tensor<4x4xf32>) incore {
  // expected-error @below {{'kiln.slice' op axis 0: offset 9223372036854775807 + size 4 overruns the extent 4}}
  %s = kiln.slice %x[9223372036854775807, 0] [4, 4] : !kiln.tensor<4x4xf32>
}

// -----

kiln.func @slice(%x: !kiln.tensor<4x4xf32>) incore {
  // expected-error @below {{'kiln.slice' op axis 0 is dropped, so its size must be the constant 1}}
  %s = kiln.slice %x[0, 0] [2, 4] drop [0] : !kiln.tensor<4xf32>
}

// -----

kiln.func @slice(%x: !kiln.tensor<4x4xf32>, %n: index) incore {
  // expected-error @below {{'kiln.slice' op axis 0 is dropped, so its size must be the constant 1}}
  %s = kiln.slice %x[0, 0] [%n, 4] drop [0] : !kiln.tensor<4xf32>
}

// -----

kiln.func @slice(%x: !kiln.tensor<4x4xf32>) incore {
  // expected-error @below {{'kiln.slice' op dropped axis 2 does not exist}}
  %s = kiln.slice %x[0, 0] [1, 4] drop [2] : !kiln.tensor<1x4xf32>
}

// -----

kiln.func @slice(%x: !kiln.tensor<4x4xf32>) incore {
  // expected-error @below {{'kiln.slice' op dropped axis 9223372036854775807 does not exist}}
  %s = kiln.slice %x[0, 0] [1, 4] drop [9223372036854775807] : !kiln.tensor<1x4xf32>
}

// -----

kiln.func @slice(%x: !kiln.tensor<4x4xf32>) incore {
  // expected-error @below {{'kiln.slice' op drops every axis; for one element use kiln.read or kiln.get}}
  %s = kiln.slice %x[0, 0] [1, 1] drop [0, 1] : !kiln.tensor<1xf32>
}

// -----

kiln.func @slice(%x: !kiln.tensor<4x4xf32>, %n: index) incore {
  // expected-error @below {{'kiln.slice' op makes '!kiln.tensor<?x4xf32>', not '!kiln.tensor<4x4xf32>'}}
  %s = kiln.slice %x[0, 0] [%n, 4] : !kiln.tensor<4x4xf32>
}

// -----

// The strides of a view are not invented.
kiln.func @slice(%x: !kiln.tensor<4x4xf32>) incore {
  // expected-error @below {{'kiln.slice' op makes '!kiln.tensor<4x4xf32>', not '!kiln.tensor<4x4xf32, strides [4, 1]>'}}
  %s = kiln.slice %x[0, 0] [4, 4] : !kiln.tensor<4x4xf32, strides [4, 1]>
}

// -----

// expected-note @below {{prior use here}}
kiln.func @slice(%x: !kiln.tensor<4x4xf32>, %f: f32) incore {
  // expected-error @below {{use of value '%f' expects different type than prior uses: 'index' vs 'f32'}}
  %s = kiln.slice %x[%f, 0] [4, 4] : !kiln.tensor<4x4xf32>
}

// -----

//===----------------------------------------------------------------------===//
// kiln.transpose, kiln.reshape
//===----------------------------------------------------------------------===//

kiln.func @transpose(%x: !kiln.tensor<2x3xf32>) incore {
  // expected-error @below {{'kiln.transpose' op needs a permutation of the 2 axes}}
  %t = kiln.transpose %x, [0] : !kiln.tensor<2xf32>
}

// -----

kiln.func @transpose(%x: !kiln.tensor<2x3xf32>) incore {
  // expected-error @below {{'kiln.transpose' op needs a permutation of the 2 axes}}
  %t = kiln.transpose %x, [0, 0] : !kiln.tensor<2x2xf32>
}

// -----

kiln.func @transpose(%x: !kiln.tensor<2x3xf32>) incore {
  // expected-error @below {{'kiln.transpose' op needs a permutation of the 2 axes}}
  %t = kiln.transpose %x, [0, 9223372036854775807] : !kiln.tensor<2x3xf32>
}

// -----

kiln.func @transpose(%x: !kiln.tensor<2x3xf32>) incore {
  // expected-error @below {{'kiln.transpose' op makes '!kiln.tensor<3x2xf32>', not '!kiln.tensor<2x3xf32>'}}
  %t = kiln.transpose %x, [1, 0] : !kiln.tensor<2x3xf32>
}

// -----

kiln.func @reshape(%x: !kiln.tensor<2x3xf32>) incore {
  // expected-error @below {{'kiln.reshape' op makes '!kiln.tensor<3x2xf32>', not '!kiln.tensor<6xf32>'}}
  %t = kiln.reshape %x[3, 2] : !kiln.tensor<6xf32>
}

// -----

kiln.func @reshape(%x: !kiln.tensor<2x3xf32>) incore {
  // expected-error @below {{'kiln.reshape' op has 6 elements before and 8 after}}
  %t = kiln.reshape %x[8] : !kiln.tensor<8xf32>
}

// -----

kiln.func @reshape(%x: !kiln.tensor<2x3xf32>) incore {
  // expected-error @below {{'kiln.reshape' op negative extent -6}}
  %t = kiln.reshape %x[-6] : !kiln.tensor<6xf32>
}

// -----

kiln.func @reshape(%x: !kiln.tensor<2x3xf32>) incore {
  // expected-error @below {{'kiln.reshape' op a tensor has rank 1 to 5, this one has 6}}
  %t = kiln.reshape %x[1, 1, 1, 1, 2, 3] : !kiln.tensor<6xf32>
}

// -----

//===----------------------------------------------------------------------===//
// One element
//===----------------------------------------------------------------------===//

kiln.func @read(%x: !kiln.tensor<4x4xf32>) incore {
  // expected-error @below {{'kiln.read' op needs one index for each of the 2 axes, has 1}}
  %v = kiln.read %x[0] : f32
}

// -----

kiln.func @read(%x: !kiln.tensor<4xf32>) incore {
  // expected-error @below {{'kiln.read' op the scalar is 'i32' but the tensor holds 'f32'}}
  %v = kiln.read %x[0] : i32
}

// -----

kiln.func @read(%x: !kiln.tensor<4xf32>) incore {
  // expected-error @below {{'kiln.read' op index 4 is outside the tensor '!kiln.tensor<4xf32>'}}
  %v = kiln.read %x[4] : f32
}

// -----

kiln.func @write(%x: !kiln.tensor<?xf32>, %v: f32) incore {
  // expected-error @below {{'kiln.write' op index -1 is outside the tensor '!kiln.tensor<?xf32>'}}
  kiln.write %v, %x[-1]
}

// -----

kiln.func @write(%x: !kiln.tensor<?xf32>, %v: f16) incore {
  // expected-error @below {{'kiln.write' op the scalar is 'f16' but the tensor holds 'f32'}}
  kiln.write %v, %x[0]
}

// -----

kiln.func @get(%x: !kiln.tensor<0xf32>) orchestration {
  // expected-error @below {{'kiln.get' op index 0 is outside the tensor '!kiln.tensor<0xf32>'}}
  %v = kiln.get %x[0] : f32
}

// -----

// The number that stands for "not a constant" is no index.
kiln.func @read(%x: !kiln.tensor<4xf32>) incore {
  // expected-error @below {{'kiln.read' op has 0 values for the 1 entries of its indices that are not constant}}
  %v = kiln.read %x[-9223372036854775808] : f32
}

// -----

//===----------------------------------------------------------------------===//
// Launches
//===----------------------------------------------------------------------===//

kiln.func @k() incore {}
kiln.func @main() orchestration {
  // expected-error @below {{'kiln.submit' op has 4 grid dimensions; there are at most three}}
  %t = kiln.submit @k() grid(1, 2, 3, 4)
}

// -----

kiln.func @k() incore {}
kiln.func @main() orchestration {
  // expected-error @below {{'kiln.submit' op has the negative grid extent -2}}
  %t = kiln.submit @k() grid(1, -2)
}

// -----

kiln.func @k() incore {}
kiln.func @main(%n: index) orchestration {
  // expected-error @below {{'kiln.submit' op has more grid blocks than can be counted}}
  %t = kiln.submit @k() grid(4611686018427387904, %n, 4)
}

// -----

kiln.func @main(%n: index) orchestration {
  // expected-error @below {{'kiln.submit' op without a kernel carries dependencies only: no arguments, no grid}}
  %t = kiln.submit grid(%n)
}

// -----

kiln.func @main(%f: !kiln.tensor<4xf32>) orchestration {
  // expected-error @below {{'kiln.submit' op a predicate reads an integer tensor, not '!kiln.tensor<4xf32>'}}
  %t = kiln.submit predicate(%f[0] > 0)
}

// -----

kiln.func @main(%f: !kiln.tensor<4xi32>) orchestration {
  // expected-error @below {{'kiln.submit' op needs one index for each of the 1 axes, has 2}}
  %t = kiln.submit predicate(%f[0, 0] > 0)
}

// -----

kiln.func @main(%f: !kiln.tensor<4xi32>) orchestration {
  // expected-error @below {{'kiln.submit' op index 4 is outside the tensor '!kiln.tensor<4xi32>'}}
  %t = kiln.submit predicate(%f[4] > 0)
}

// -----

kiln.func @main(%f: !kiln.tensor<4xi32>) orchestration {
  // expected-error @below {{expected one of > >= < <= == ne}}
  %t = kiln.submit predicate(%f[0] lt 0)
}

// -----

kiln.func @main(%f: !kiln.tensor<4xi32>) orchestration {
  // expected-error @below {{expected '='}}
  %t = kiln.submit predicate(%f[0] = 0)
}

// -----

kiln.func @main(%f: !kiln.tensor<4xi32>) orchestration {
  // expected-error @below {{expected integer value}}
  %t = kiln.submit predicate(%f[0] > 0.5)
}

// -----

// expected-note @below {{prior use here}}
kiln.func @main(%n: index) orchestration {
  // expected-error @below {{use of value '%n' expects different type than prior uses: '!kiln.task' vs 'index'}}
  %t = kiln.submit deps(%n)
}

// -----

kiln.func @main() orchestration {
  // expected-error @below {{'kiln.incore' op needs a name}}
  %t = kiln.incore "" {}
}

// -----

kiln.func @main() orchestration {
  // expected-error @below {{'kiln.incore' op has the negative grid extent -1}}
  %t = kiln.incore "k" grid(-1) {}
}

// -----

kiln.func @main() orchestration {
  // expected-error @below {{'kiln.incore' op has 4 grid dimensions; there are at most three}}
  %t = kiln.incore "k" grid(1, 1, 1, 1) {}
}

// -----

kiln.func @main() orchestration {
  // expected-error @below {{expected string or keyword containing one of the following enum values for attribute 'split' [none, up_down, left_right]}}
  %t = kiln.incore "k" split(diagonal) {}
}

// -----

kiln.func @f(%f: !kiln.tensor<4xf32>) orchestration {
  // expected-error @below {{'kiln.incore' op a predicate reads an integer tensor, not '!kiln.tensor<4xf32>'}}
  %t = kiln.incore "k" predicate(%f[0] > 0) {
  }
}

// -----

kiln.func @f(%f: !kiln.tensor<4xi32>) orchestration {
  // expected-error @below {{'kiln.incore' op needs one index for each of the 1 axes, has 2}}
  %t = kiln.incore "k" predicate(%f[0, 0] > 0) {
  }
}

// -----

kiln.func @f(%f: !kiln.tensor<4xi32>) orchestration {
  // expected-error @below {{'kiln.incore' op index 4 is outside the tensor '!kiln.tensor<4xi32>'}}
  %t = kiln.incore "k" predicate(%f[4] > 0) {
  }
}
