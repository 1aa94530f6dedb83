// A debugger stops at the user's line and names the kernel, though the code is made while the process runs.
// REQUIRES: gdb
// RUN: gdb -q -nx -batch -ex "set breakpoint pending on" -ex "break gdb.mlir:10" -ex run -ex "backtrace 1" \
// RUN:   --args %kiln run %s --no-reference --arg x=16x16 --arg y=16x16 2>&1 | FileCheck %s
// CHECK: hit Breakpoint 1, kiln.scale () at {{.*}}gdb.mlir:10
// CHECK: #0 {{.*}}kiln.scale () at {{.*}}gdb.mlir:10

kiln.func @scale(%x: !kiln.tensor<?x?xf32> in, %y: !kiln.tensor<?x?xf32> out) incore {
  %a = tile.load %x[0, 0] : !tile.tile<16x16xf32>
  %s = tile.reduce sum %a axis(1) : !tile.tile<16x1xf32>
  %q = tile.div %a, %s : !tile.tile<16x16xf32>
  tile.store %q, %y[0, 0]
}
kiln.func @main(%x: !kiln.tensor<?x?xf32> in, %y: !kiln.tensor<?x?xf32> out) orchestration {
  %t = kiln.submit @scale(%x, %y)
}
