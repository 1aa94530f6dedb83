// Products of 8-bit floats that the matrix unit makes as they are, of long sums of numbers of one sign: what the unit cuts off
// adds up, unless the threads add what it has summed over 128 columns. Lanes share the right side; the copy engine reads both, or
// threads copy, and some of a load is not wanted.
// REQUIRES: kiln, emulated-gpu, torch
// RUN: %emulate %kiln run %s -p h200 --arg a=192x4096:uniform --arg b=72x4096:uniform --arg c=192x72 | FileCheck %s
// RUN: %emulate %kiln run %s -p h200 --arg a=130x333:uniform --arg b=70x333:uniform --arg c=130x70 | FileCheck %s
// RUN: %kiln emit %s -p h200 --target cuda | FileCheck %s --check-prefix=CUDA
// CHECK: PASS
// CUDA:  using Pipe_to_compute = Pipe<{{.*}}, 2, Shared<f8e5m2, 128, 256>, Shared<f8e5m2, 72, 256>>;
// CUDA:  multiply<true>(

!f8 = !kiln.tensor<?x?xf8E5M2>
!sum = !tile.tile<128x72xf32>

kiln.func @main(%a: !f8 in, %b: !f8 in, %c: !kiln.tensor<?x?xf16> out) orchestration {
  %c128 = arith.constant 128 : index
  %rows = kiln.dim %c, 0
  %blocks = arith.ceildivsi %rows, %c128 : index
  %t = kiln.incore "product" grid(%blocks) split(up_down) {
    %c0 = arith.constant 0 : index
    %tm = arith.constant 128 : index
    %c256 = arith.constant 256 : index
    %zero = arith.constant 0.0 : f32
    %bi = tile.block_idx 0
    %i = arith.muli %bi, %tm : index
    %k = kiln.dim %a, 1
    %none = tile.full %zero : !sum
    %sum = scf.for %at = %c0 to %k step %c256 iter_args(%acc = %none) -> (!sum) {
      %left = arith.subi %k, %at : index
      %x = tile.load %a[%i, %at] valid(128, %left) : !tile.tile<128x256xf8E5M2>
      %y = tile.load %b[%c0, %at] : !tile.tile<72x256xf8E5M2>
      %next = tile.matmul_acc %acc, %x, %y trans_b : !sum
      scf.yield %next : !sum
    } {kiln.loop = #kiln.loop<pipeline, stages = 2>}
    %narrow = tile.cast %sum : !tile.tile<128x72xf16>
    tile.store %narrow, %c[%i, 0]
  }
}
