// Runs that never end are ended, and say what was running.
// RUN: sh -c '%kiln run %s -p cpu --arg x=4x4 --timeout 1 --dump-tensor --out %t 2>&1; test $? = 1' | FileCheck %s
// RUN: %kiln dump %t | FileCheck %s --check-prefix=DUMP
// RUN: ls %t/tensor_dump | FileCheck %s --check-prefix=FILES
// RUN: %kiln build %s -o %t.bundle
// RUN: sh -c '%kiln exec %t.bundle --arg x=4x4 --timeout 1 2>&1; test $? = 1' | FileCheck %s
// RUN: sh -c '%kiln run %s --timeout soon 2>&1; test $? = 2' | FileCheck %s --check-prefix=BAD

// So does Ctrl-C, with the exit code that shells expect.
// RUN: sh -c 'timeout --preserve-status -s INT 3 %kiln run %s -p cpu --arg x=4x4 --dump-tensor --out %t.int 2>&1; test $? = 130' | FileCheck %s --check-prefix=INT
// RUN: %kiln dump %t.int | FileCheck %s --check-prefix=DUMP
// RUN: ls %t.int/tensor_dump | FileCheck %s --check-prefix=FILES

// CHECK: error: the run took longer than 1 s; --timeout SECONDS allows more
// CHECK: still running: kernel 'spin' (task 0)
// DUMP: spin {{.*}}before_dispatch
// DUMP: run interrupted
// FILES: tensor_dump.bin
// FILES-NEXT: tensor_dump.json
// FILES-NOT: tmp
// BAD: --timeout soon: expected seconds
// INT: error: interrupted by SIGINT
// INT: still running: kernel 'spin' (task 0)
// INT: the dump of what ran is in

kiln.func @spin(%x: !kiln.tensor<4x4xf32>) incore {
  %zero = arith.constant 0 : index
  %t = tile.load %x[0, 0] : !tile.tile<4x4xf32>
  tile.store %t, %x[0, 0]
  %end = scf.while (%i = %zero) : (index) -> index {
    %on = arith.cmpi eq, %zero, %zero : index
    scf.condition(%on) %i : index
  } do {
  ^bb0(%i: index):
    %v = tile.load %x[%i, 0] : !tile.tile<1x4xf32>
    tile.store %v, %x[%i, 0]
    scf.yield %i : index
  }
}
