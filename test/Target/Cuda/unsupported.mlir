// REQUIRES: kiln
// RUN: split-file --leading-lines %s %t
// RUN: sh -c '%kiln emit %t/large.mlir --target cuda 2>&1; test $? = 2' | FileCheck %s --check-prefix=LARGE
// RUN: sh -c '%kiln emit %t/order.mlir --target cuda 2>&1; test $? = 2' | FileCheck %s --check-prefix=ORDER

// What the backend cannot lower is an error at the user's line, never other code. This is the list of what it refuses;
// all examples and models are built by programs.test.

//--- large.mlir
// LARGE: large.mlir:[[#@LINE+3]]:{{[0-9]+}}: error: 'tile.load' cannot be compiled for h200: a tile of {{[0-9]+}} x {{[0-9]+}} does not fit the registers of a lane; use smaller tiles
kiln.func @main(%x: !kiln.tensor<?x?xf32>, %y: !kiln.tensor<?x?xf32>) orchestration {
  kiln.incore "k" {
    %v = tile.load %x[0, 0] : !tile.tile<256x1024xf32>
    tile.store %v, %y[0, 0]
  }
}

//--- order.mlir
// Members that only a schedule at run time could order cannot be one kernel.
// ORDER: order.mlir:{{[0-9:]+}} error: role aiv of @vec does not exist on h200, and the members of @g cannot be one kernel:
!p = !tile.pipe<aiv -> aic, 8x8xf32>
kiln.func @cube(%y: !kiln.tensor<8x8xf32>, %p: !p) role(aic) {
  %t = tile.pop %p : !tile.tile<8x8xf32>
  tile.barrier
}
kiln.func @vec(%x: !kiln.tensor<8x8xf32>, %p: !p) role(aiv) {
  %t = tile.load %x[0, 0] : !tile.tile<8x8xf32>
  tile.push %t, %p
  tile.barrier
}
kiln.func @g(%x: !kiln.tensor<8x8xf32>, %y: !kiln.tensor<8x8xf32>) group {
  %p = tile.pipe : !p
  kiln.call @vec(%x, %p)
  kiln.call @cube(%y, %p)
}
kiln.func @main(%x: !kiln.tensor<8x8xf32>, %y: !kiln.tensor<8x8xf32>) orchestration {
  kiln.submit @g(%x, %y) sync_start
}
