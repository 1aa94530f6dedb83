// An address is taken by another tile before the last use of the first; and one that lies outside the memory.
// RUN: split-file --leading-lines %s %t
// RUN: not %kiln run %t/wrong.mlir -p a2a3sim --no-reference 2>&1 | FileCheck %s
// RUN: not %kiln run %t/outside.mlir -p a2a3sim --no-reference 2>&1 | FileCheck %s --check-prefix=OUTSIDE
// RUN: %kiln run %t/right.mlir -p a2a3sim --no-reference 2>&1 | FileCheck %s --check-prefix=RIGHT
// RIGHT: RAN

//--- wrong.mlir
kiln.func @k(%x: !kiln.tensor<8x8xf32>) role(aiv) {
  %a = tile.load %x[0, 0] {kiln.address = array<i64: 0>} : !tile.tile<8x8xf32, vec>
  %b = tile.exp %a {kiln.address = array<i64: 128>} : !tile.tile<8x8xf32, vec>
  %c = tile.add %a, %b {kiln.address = array<i64: 512>} : !tile.tile<8x8xf32, vec>
  // CHECK: wrong.mlir:[[#@LINE-1]]:{{[0-9]+}}: error: 'tile.add' op uses the tile 8x8xf32 at byte 0 of vec, where another tile lies by now
  tile.store %c, %x[0, 0]
}

//--- outside.mlir
kiln.func @k(%x: !kiln.tensor<8x8xf32>) role(aiv) {
  %a = tile.load %x[0, 0] {kiln.address = array<i64: 188320>} : !tile.tile<8x8xf32, vec>
  // OUTSIDE: outside.mlir:[[#@LINE-1]]:{{[0-9]+}}: error: 'tile.load' op puts a tile of 8x8xf32 at byte 188320 of vec, which has 188416 bytes
  tile.store %a, %x[0, 0]
}

//--- right.mlir
kiln.func @k(%x: !kiln.tensor<8x8xf32>) role(aiv) {
  %a = tile.load %x[0, 0] {kiln.address = array<i64: 0>} : !tile.tile<8x8xf32, vec>
  %b = tile.exp %a {kiln.address = array<i64: 256>} : !tile.tile<8x8xf32, vec>
  %c = tile.add %a, %b {kiln.address = array<i64: 0>} : !tile.tile<8x8xf32, vec>
  tile.store %c, %x[0, 0]
}
