// What is wrong with a value that the program computes is the program's fault, and exit code 1, on every platform; what
// is wrong with the arguments is exit code 2.
// RUN: sh -c '%kiln run %s -p cpu --arg x=4x4 --arg n=9223372036854775807 --arg r=0 2>&1; test $? = 1' | FileCheck %s --check-prefix=GRID
// RUN: sh -c '%kiln run %s -p a2a3sim --arg x=4x4 --arg n=9223372036854775807 --arg r=0 2>&1; test $? = 1' | FileCheck %s --check-prefix=GRID
// RUN: sh -c '%kiln run %s -p cpu --arg x=4x4 --arg n=-1 --arg r=0 2>&1; test $? = 1' | FileCheck %s --check-prefix=NEGATIVE
// RUN: sh -c '%kiln run %s -p torch --arg x=4x4 --arg n=-1 --arg r=0 2>&1; test $? = 1' | FileCheck %s --check-prefix=NEGATIVE
// RUN: sh -c '%kiln run %s -p torch --arg x=4x4 --arg n=9223372036854775807 --arg r=0 2>&1; test $? = 1' | FileCheck %s --check-prefix=GRID
// RUN: sh -c '%kiln run %s -p a2a3sim --arg x=4x4 --arg n=-1 --arg r=0 2>&1; test $? = 1' | FileCheck %s --check-prefix=NEGATIVE
// RUN: sh -c '%kiln run %s -p cpu --arg x=4x4 --arg n=1 --arg r=3 2>&1; test $? = 1' | FileCheck %s --check-prefix=SLICE
// RUN: sh -c '%kiln run %s -p a2a3sim --arg x=4x4 --arg n=1 --arg r=3 2>&1; test $? = 1' | FileCheck %s --check-prefix=SLICE
// RUN: sh -c '%kiln run %s -p cpu --arg x=4x5 --arg n=1 --arg r=0 2>&1; test $? = 2' | FileCheck %s --check-prefix=SHAPE
// RUN: sh -c '%kiln run %s -p a2a3sim --arg x=4x5 --arg n=1 --arg r=0 2>&1; test $? = 2' | FileCheck %s --check-prefix=SHAPE
// RUN: %kiln build %s -o %t.bundle
// RUN: sh -c '%kiln exec %t.bundle --arg x=4x4 --arg n=9223372036854775807 --arg r=0 2>&1; test $? = 1' | FileCheck %s --check-prefix=GRID
// RUN: sh -c '%kiln exec %t.bundle --arg x=4x5 --arg n=1 --arg r=0 2>&1; test $? = 2' | FileCheck %s --check-prefix=SHAPE

// GRID: exit-codes.mlir:30:{{.*}} grid [9223372036854775807] has too many blocks: a launch has at most 1099511627776
// NEGATIVE: exit-codes.mlir:30:{{.*}} grid [-1] has a negative dimension
// SLICE: exit-codes.mlir:29:{{.*}}slice
// SHAPE: 'x'

kiln.func @touch(%x: !kiln.tensor<2x4xf32>) incore {
  %t = tile.load %x[0, 0] : !tile.tile<2x4xf32>
  tile.store %t, %x[0, 0]
}

// At row %r there must be two.
kiln.func @main(%x: !kiln.tensor<?x4xf32>, %n: index, %r: index) orchestration {
  %rows = kiln.slice %x[%r, 0] [2, 4] : !kiln.tensor<2x4xf32>
  %t = kiln.submit @touch(%rows) grid(%n)
}
