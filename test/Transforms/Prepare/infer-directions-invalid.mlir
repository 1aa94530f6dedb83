// RUN: kiln-opt %s --kiln-infer-directions -verify-diagnostics -split-input-file

// expected-error @below {{parameter 'x' is declared in but the body makes it inout}}
kiln.func @k(%x: !kiln.tensor<8x8xf32> in) incore {
  %t = tile.load %x[0, 0] : !tile.tile<8x8xf32>
  // expected-note @below {{it is written here}}
  tile.store %t, %x[0, 0]
}

// -----

// expected-error @below {{parameter 'y' is declared out; nothing writes it}}
kiln.func @k(%y: !kiln.tensor<8x8xf32> out) incore {
  %t = tile.load %y[0, 0] : !tile.tile<8x8xf32>
}

// -----

// expected-error @below {{parameter 'o' is declared out; nothing writes it}}
kiln.func @k(%o: !kiln.tensor<8x8xf32> out) incore {
}

// -----

kiln.func @inner(%z: !kiln.tensor<8x8xf32>) incore {
  %t = tile.load %z[0, 0] : !tile.tile<8x8xf32>
  tile.store %t, %z[0, 0]
}
// Tasks are ordered by what a kernel declares, so that is the truth.
// expected-error @below {{parameter 'z' is declared out but the body makes it inout}}
kiln.func @k(%z: !kiln.tensor<8x8xf32> out) incore {
  // expected-note @below {{it is read here}}
  kiln.call @inner(%z)
}

// -----

// expected-error @below {{parameter 'x' is declared inout; nothing writes it}}
kiln.func @k(%x: !kiln.tensor<8x8xf32> inout) incore {
  %t = tile.load %x[0, 0] : !tile.tile<8x8xf32>
}

// -----

// expected-error @below {{parameter 'x' is declared in but the body makes it inout}}
kiln.func @main(%x: !kiln.tensor<8x8xf32> in) orchestration {
  // expected-note @below {{it is written here}}
  %t = kiln.submit @k(%x)
}
kiln.func @k(%x: !kiln.tensor<8x8xf32>) incore {
  %t = tile.load %x[0, 0] : !tile.tile<8x8xf32>
  tile.store %t, %x[0, 0]
}
