// RUN: kiln-opt %s -split-input-file -verify-diagnostics -o /dev/null

kiln.func @main(%x: !kiln.tensor<8xf32>) orchestration {
  // expected-error @below {{combines by sum, max, min or prod, not by argmax}}
  %t = kiln.all_reduce %x, argmax
}

// -----

kiln.func @main(%x: !kiln.tensor<8xi1>) orchestration {
  // expected-error @below {{of i1 combines by max or min, not by sum}}
  %t = kiln.all_reduce %x, sum
}

// -----

kiln.func @main(%x: !kiln.tensor<8x4xf32>, %y: !kiln.tensor<16x5xf32>) orchestration {
  // expected-error @below {{joins parts along the first axis, but axis 1 of '!kiln.tensor<8x4xf32>' and '!kiln.tensor<16x5xf32>' differs}}
  %t = kiln.all_gather %x to %y
}

// -----

kiln.func @main(%x: !kiln.tensor<8xf32>, %y: !kiln.tensor<16xf16>) orchestration {
  // expected-error @below {{has tensors of different element types or ranks}}
  %t = kiln.all_gather %x to %y
}

// -----

kiln.func @main(%x: !kiln.tensor<8xf32>, %y: !kiln.tensor<20xf32>) orchestration {
  // expected-error @below {{has a part of 8 rows for each rank, of which 20 is no multiple}}
  %t = kiln.reduce_scatter %y to %x, sum
}

// -----

kiln.func @main(%x: !kiln.tensor<8xf32>, %y: !kiln.tensor<16xf32>) orchestration {
  // expected-error @below {{has a source of 8 rows and a target of 16; both hold one part for each rank}}
  %t = kiln.all_to_all %x to %y
}

// -----

kiln.func @main(%x: !kiln.tensor<8xf32>) orchestration {
  // expected-error @below {{reads and writes the same tensor}}
  %t = kiln.all_to_all %x to %x
}

// -----

kiln.func @main(%x: !kiln.tensor<8xf32>) orchestration {
  %r = arith.constant -1 : index
  // expected-error @below {{names rank -1; ranks count from 0}}
  %t = kiln.broadcast %x from %r
}

// -----

kiln.func @k(%x: !kiln.tensor<8xf32>) incore {
  // expected-error @below {{belongs to an orchestration}}
  %t = kiln.all_reduce %x, sum
}

// -----

kiln.func @main(%x: !kiln.tensor<8x8xf32>) orchestration {
  %t = kiln.incore "k" {
    // expected-error @below {{belongs to an orchestration}}
    %r = kiln.rank
    %c = tile.load %x[%r, 0] : !tile.tile<1x8xf32>
    tile.store %c, %x[%r, 0]
  }
}

// -----

kiln.func @main() orchestration {
  // expected-error @below {{the mesh has no axis 'pipe'}}
  %r = kiln.rank along <pipe of data = 2, tensor = 4>
}

// -----

kiln.func @main() orchestration {
  // expected-error @below {{one extent of a mesh may be left open, not several}}
  %r = kiln.rank along <data of data = ?, tensor = ?>
}

// -----

kiln.func @main() orchestration {
  // expected-error @below {{a mesh has extents of 1 or more}}
  %r = kiln.rank along <data of data = 0>
}

// -----

kiln.func @main() orchestration {
  // expected-error @below {{each its own}}
  %r = kiln.rank along <data of data = 2, data = 2>
}
