// REQUIRES: kiln
// RUN: sh -c '%kiln check %s -p h200 --arg x=256x64 --arg y=256x64 --arg n=256 2>&1; test $? = 1' | FileCheck %s --check-prefix=FOUND

// One tile more is popped than pushed, which the check finds. scripts/gpu-check runs it all the same: where kernels are
// compiled for a run, a wait that takes too long ends them, and names the pipe.

// FOUND: FINDINGS

!p = !tile.pipe<dma -> compute, 64x64xbf16>
kiln.func @copy(%x: !kiln.tensor<?x64xbf16>, %n: index, %p: !p) role(dma) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  scf.for %i = %c0 to %n step %c64 {
    %t = tile.load %x[%i, 0] : !tile.tile<64x64xbf16>
    tile.push %t, %p
  }
}
kiln.func @add(%y: !kiln.tensor<?x64xbf16>, %n: index, %p: !p) role(compute) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  scf.for %i = %c0 to %n step %c64 {
    %t = tile.pop %p : !tile.tile<64x64xbf16>
    %s = tile.matmul %t, %t : !tile.tile<64x64xf32>
    %r = tile.cast %s : !tile.tile<64x64xbf16>
    tile.store %r, %y[%i, 0]
  }
  %last = tile.pop %p : !tile.tile<64x64xbf16>
  %s = tile.matmul %last, %last : !tile.tile<64x64xf32>
  %r = tile.cast %s : !tile.tile<64x64xbf16>
  tile.store %r, %y[0, 0]
}
kiln.func @hang(%x: !kiln.tensor<?x64xbf16>, %y: !kiln.tensor<?x64xbf16>, %n: index) group {
  %p = tile.pipe : !p
  kiln.call @copy(%x, %n, %p)
  kiln.call @add(%y, %n, %p)
}
kiln.func @main(%x: !kiln.tensor<?x64xbf16>, %y: !kiln.tensor<?x64xbf16> inout, %n: index) orchestration {
  %0 = kiln.submit @hang(%x, %y, %n)
}
