// Helpers that call helpers twice each: the calls double with every level, and are refused before memory is full.
// RUN: not kiln-opt %s --kiln-inline 2>&1 | FileCheck %s
// CHECK: error: 'kiln.call' op is one of more than {{[0-9]+}} calls of helpers to inline
kiln.func @h0(%x: !kiln.tensor<8x8xf32>) incore {
  %t = tile.load %x[0, 0] : !tile.tile<8x8xf32>
  tile.store %t, %x[0, 0]
}
kiln.func @h1(%x: !kiln.tensor<8x8xf32>) incore {
  kiln.call @h0(%x)
  kiln.call @h0(%x)
}
kiln.func @h2(%x: !kiln.tensor<8x8xf32>) incore {
  kiln.call @h1(%x)
  kiln.call @h1(%x)
}
kiln.func @h3(%x: !kiln.tensor<8x8xf32>) incore {
  kiln.call @h2(%x)
  kiln.call @h2(%x)
}
kiln.func @h4(%x: !kiln.tensor<8x8xf32>) incore {
  kiln.call @h3(%x)
  kiln.call @h3(%x)
}
kiln.func @h5(%x: !kiln.tensor<8x8xf32>) incore {
  kiln.call @h4(%x)
  kiln.call @h4(%x)
}
kiln.func @h6(%x: !kiln.tensor<8x8xf32>) incore {
  kiln.call @h5(%x)
  kiln.call @h5(%x)
}
kiln.func @h7(%x: !kiln.tensor<8x8xf32>) incore {
  kiln.call @h6(%x)
  kiln.call @h6(%x)
}
kiln.func @h8(%x: !kiln.tensor<8x8xf32>) incore {
  kiln.call @h7(%x)
  kiln.call @h7(%x)
}
kiln.func @h9(%x: !kiln.tensor<8x8xf32>) incore {
  kiln.call @h8(%x)
  kiln.call @h8(%x)
}
kiln.func @h10(%x: !kiln.tensor<8x8xf32>) incore {
  kiln.call @h9(%x)
  kiln.call @h9(%x)
}
kiln.func @h11(%x: !kiln.tensor<8x8xf32>) incore {
  kiln.call @h10(%x)
  kiln.call @h10(%x)
}
kiln.func @h12(%x: !kiln.tensor<8x8xf32>) incore {
  kiln.call @h11(%x)
  kiln.call @h11(%x)
}
kiln.func @h13(%x: !kiln.tensor<8x8xf32>) incore {
  kiln.call @h12(%x)
  kiln.call @h12(%x)
}
kiln.func @h14(%x: !kiln.tensor<8x8xf32>) incore {
  kiln.call @h13(%x)
  kiln.call @h13(%x)
}
kiln.func @h15(%x: !kiln.tensor<8x8xf32>) incore {
  kiln.call @h14(%x)
  kiln.call @h14(%x)
}
kiln.func @h16(%x: !kiln.tensor<8x8xf32>) incore {
  kiln.call @h15(%x)
  kiln.call @h15(%x)
}
kiln.func @h17(%x: !kiln.tensor<8x8xf32>) incore {
  kiln.call @h16(%x)
  kiln.call @h16(%x)
}
kiln.func @h18(%x: !kiln.tensor<8x8xf32>) incore {
  kiln.call @h17(%x)
  kiln.call @h17(%x)
}
kiln.func @h19(%x: !kiln.tensor<8x8xf32>) incore {
  kiln.call @h18(%x)
  kiln.call @h18(%x)
}
