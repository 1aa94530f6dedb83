// Parts of a sum are for sums, and for products with what all threads of a row have alike; who needs the sum says so.
// RUN: kiln-opt %s -split-input-file -verify-diagnostics

kiln.func @whole(%x: !kiln.tensor<8x64xf32>, %y: !kiln.tensor<8x1xf32>) incore {
  %t = tile.load %x[0, 0] : !tile.tile<8x64xf32>
  // expected-error @below {{"kiln.part_of_sum" makes parts of a sum, which 'tile.store' needs whole}}
  %part = tile.reduce sum %t axis(1) {kiln.part_of_sum} : !tile.tile<8x1xf32>
  tile.store %part, %y[0, 0]
}

// -----

kiln.func @through_a_loop(%x: !kiln.tensor<8x64xf32>, %y: !kiln.tensor<8x1xf32>, %n: index) incore {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %t = tile.load %x[0, 0] : !tile.tile<8x64xf32>
  // expected-error @below {{"kiln.part_of_sum" makes parts of a sum, which 'tile.exp' needs whole}}
  %part = tile.reduce sum %t axis(1) {kiln.part_of_sum} : !tile.tile<8x1xf32>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%s = %part) -> (!tile.tile<8x1xf32>) {
    %next = tile.add %s, %s : !tile.tile<8x1xf32>
    scf.yield %next : !tile.tile<8x1xf32>
  }
  %e = tile.exp %r : !tile.tile<8x1xf32>
  tile.store %e, %y[0, 0]
}

// -----

kiln.func @greatest(%x: !kiln.tensor<8x64xf32>, %y: !kiln.tensor<8x1xf32>) incore {
  %t = tile.load %x[0, 0] : !tile.tile<8x64xf32>
  // expected-error @below {{"kiln.part_of_sum" belongs to sums of columns in f32}}
  %top = tile.reduce max %t axis(1) {kiln.part_of_sum} : !tile.tile<8x1xf32>
  tile.store %top, %y[0, 0]
}

// -----

kiln.func @of_many(%x: !kiln.tensor<8x64xf32>, %y: !kiln.tensor<8x1xf32>) incore {
  %t = tile.load %x[0, 0] : !tile.tile<8x64xf32>
  // expected-error @below {{"kiln.sum_of_parts" belongs to a sum of one column}}
  %sum = tile.reduce sum %t axis(1) {kiln.sum_of_parts} : !tile.tile<8x1xf32>
  tile.store %sum, %y[0, 0]
}
