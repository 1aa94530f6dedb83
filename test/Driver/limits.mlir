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

// Nor is a Python waited for that never answers, or that only hangs up.
// RUN: printf '#!/bin/sh\nexec sleep 100\n' > %t.never && chmod +x %t.never
// RUN: env KILN_PYTHON=%t.never sh -c '%kiln run %s -p torch --arg x=4x4 --timeout 1 2>&1; test $? = 2' | FileCheck %s --check-prefix=NEVER
// RUN: printf '#!/bin/sh\nsleep 100 &\necho $! > %t.child\nwait\n' > %t.parent && chmod +x %t.parent
// RUN: env KILN_PYTHON=%t.parent sh -c '%kiln run %s -p torch --arg x=4x4 --timeout 1 2>&1; test $? = 2' | FileCheck %s --check-prefix=PARENT
// RUN: sh -c 'sleep 0.2; ! grep "^State:[^Z]*$" /proc/$(cat %t.child)/status'
// RUN: printf '#!/bin/sh\nexec 0<&-\nexec sleep 100\n' > %t.hangsup && chmod +x %t.hangsup
// RUN: env KILN_PYTHON=%t.hangsup sh -c '%kiln run %s -p torch --arg x=4x4 2>&1; test $? = 2' | FileCheck %s --check-prefix=HANGSUP
// RUN: sh -c '%kiln run %s -p torch --arg x=4x4 --timeout 3 2>&1; test $? = 1' | FileCheck %s --check-prefix=REFERENCE

// NEVER: KILN_PYTHON does not name a Python with torch: {{.*}}never' did not answer within 1 s
// PARENT: parent' did not answer within 1 s
// HANGSUP: KILN_PYTHON does not name a Python with torch: {{.*}} was killed
// REFERENCE: did not answer within 3 s (--timeout SECONDS allows more): is there a loop that never ends?
// CHECK: error: the run took longer than 1 s; --timeout SECONDS allows more
// CHECK-SAME: task 0, kernel 'spin', was the first that did not run to its end
// DUMP: spin {{.*}}before_dispatch
// DUMP: run interrupted
// FILES: tensor_dump.bin
// FILES-NEXT: tensor_dump.json
// FILES-NOT: tmp
// BAD: --timeout soon: expected seconds
// INT: error: interrupted by SIGINT
// INT-SAME: task 0, kernel 'spin', was the first that did not run to its end

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
