// Awkward names run all the same: an entry called `run`, Python keywords, builtins and helper names as parameters, two
// parameters with one name.
// REQUIRES: torch
// RUN: %kiln run %s -p a2a3sim --arg lambda=16x8 --arg torch=16x8 --arg torch_1=16x8 | FileCheck %s
// RUN: %kiln emit %s --target torch | FileCheck %s --check-prefix=EMIT

// CHECK: against torch {{.*}} ok
// CHECK: PASS
// EMIT:     def run(
// EMIT-NOT: def run(
kiln.func @_load(%lambda: !kiln.tensor<?x8xf32>, %0: !kiln.tensor<?x8xf32> {kiln.name = "x"}, %1: !kiln.tensor<?x8xf32> {kiln.name = "x"}) incore {
  %a = tile.load %lambda[0, 0] : !tile.tile<16x8xf32>
  %b = tile.load %0[0, 0] : !tile.tile<16x8xf32>
  %c = tile.sub %a, %b : !tile.tile<16x8xf32>
  tile.store %c, %1[0, 0]
}
kiln.func @run(%lambda: !kiln.tensor<?x8xf32>, %0: !kiln.tensor<?x8xf32> {kiln.name = "torch"}, %1: !kiln.tensor<?x8xf32> {kiln.name = "torch"}) orchestration {
  %task = kiln.submit @_load(%lambda, %0, %1)
}
