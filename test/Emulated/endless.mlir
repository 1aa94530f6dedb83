// REQUIRES: kiln, emulated-gpu
// RUN: rm -rf %t
// RUN: %emulate %kiln build %s -p h200 -o %t
// RUN: sh -c '%emulate kiln-exec %t --arg x=8x64 --arg y=8x64 --timeout 1 2>&1; test $? = 1' | FileCheck %s
// RUN: sh -c 'KILN_GPU_TIMEOUT=1 %emulate kiln-exec %t --arg x=8x64 --arg y=8x64 2>&1; test $? = 1' | FileCheck %s --check-prefix=UNLIMITED

// Whoever runs a program whose kernel never ends learns which kernel that is, where a limit of time ends the run.

// CHECK: kiln: error: the run took longer than 1 s
// CHECK-NEXT: launch 1 of 1 of program 'endless' on GPU 0, launched 1.{{[0-9]}} s ago{{.*}}: kernel 'endless', grid [1, 1, 1] by 1 blocks of {{[0-9]+}} threads; x f32[8, 64], y f32[8, 64]
// CHECK-NEXT: kiln check PROG

// Without such a limit, and in calls of the JIT, one kernel has so many seconds.
// UNLIMITED: kiln: error: a kernel has not ended after 1 s
// UNLIMITED-NEXT: program 'endless': kernel 'endless', grid [1, 1, 1] by 1 blocks of {{[0-9]+}} threads; x f32[8, 64], y f32[8, 64]
// UNLIMITED-NEXT: 1 of its roles run on GPU 0, and none has begun or ended for 1.{{[0-9]}} s

kiln.func @main(%x: !kiln.tensor<8x64xf32> in, %y: !kiln.tensor<8x64xf32> out) orchestration {
  kiln.incore "endless" split(none) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %least = arith.constant 0xFF800000 : f32
    %last = scf.while (%n = %c0) : (index) -> index {
      %v = tile.load %x[0, 0] : !tile.tile<8x64xf32>
      %first = tile.element %v[0, 0] : f32
      %more = arith.cmpf oge, %first, %least : f32
      scf.condition(%more) %n : index
    } do {
    ^bb0(%n: index):
      %v = tile.load %x[0, 0] : !tile.tile<8x64xf32>
      tile.store %v, %y[0, 0]
      %next = arith.xori %n, %c1 : index
      scf.yield %next : index
    }
  }
}
