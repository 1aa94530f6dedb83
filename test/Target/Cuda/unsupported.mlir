// REQUIRES: kiln
// RUN: split-file --leading-lines %s %t
// RUN: sh -c '%kiln emit %t/large.mlir --target cuda 2>&1; test $? = 2' | FileCheck %s --check-prefix=LARGE
// RUN: sh -c '%kiln emit %t/order.mlir --target cuda 2>&1; test $? = 2' | FileCheck %s --check-prefix=ORDER
// RUN: sh -c '%kiln emit %t/none.mlir --target cuda 2>&1; test $? = 2' | FileCheck %s --check-prefix=NONE

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
// Members that only a schedule at run time could order cannot be one kernel; they run side by side only if all of them are
// of another machine.
// ORDER: order.mlir:{{[0-9:]+}} error: role aiv of @vec does not exist on h200, and the members of @g cannot be one kernel:
// ORDER-SAME: ; they cannot run side by side, because role compute of @cube would have to stand beside it
!p = !tile.pipe<aiv -> compute, 8x8xf32>
kiln.func @cube(%y: !kiln.tensor<8x8xf32>, %p: !p) role(compute) {
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

//--- none.mlir
// With n = 0 one of them waits for ever; the program may require that there is something to do.
// NONE: none.mlir:{{[0-9:]+}} error: role aic of @produce does not exist on h200, and the members of @g cannot be one kernel:
// NONE: none.mlir:{{[0-9:]+}} note: its pipes are wrong: {{.*}} with n = 0
!p = !tile.pipe<aic -> aiv, 8x8xf32>
kiln.func @produce(%n: index, %x: !kiln.tensor<8x8xf32>, %p: !p) role(aic) {
  %c1 = arith.constant 1 : index
  %t = tile.load %x[0, 0] : !tile.tile<8x8xf32>
  tile.push %t, %p
  scf.for %i = %c1 to %n step %c1 {
    tile.push %t, %p
  }
}
kiln.func @consume(%n: index, %y: !kiln.tensor<8x8xf32>, %p: !p) role(aiv) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    %t = tile.pop %p : !tile.tile<8x8xf32>
    tile.store %t, %y[0, 0]
  }
}
kiln.func @g(%n: index, %x: !kiln.tensor<8x8xf32>, %y: !kiln.tensor<8x8xf32>) group {
  %p = tile.pipe : !p
  kiln.call @produce(%n, %x, %p)
  kiln.call @consume(%n, %y, %p)
}
kiln.func @main(%n: index, %x: !kiln.tensor<8x8xf32>, %y: !kiln.tensor<8x8xf32>) orchestration {
  kiln.submit @g(%n, %x, %y)
}
