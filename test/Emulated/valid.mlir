// REQUIRES: kiln, emulated-gpu, torch
// RUN: %emulate %kiln run %s -p h200 --arg x=200x128 --arg y=200x128 | FileCheck %s
// RUN: %emulate %kiln run %s -p h200 --arg x=172x128 --arg y=172x128 --seed 3 | FileCheck %s
// RUN: %kiln emit %s -p h200 --target cuda | FileCheck %s --check-prefix=CUDA

// Of whose rows a run says how many count: whole tiles come by the copy engine, of the others threads copy what counts, and
// zeros for the rest. Of each 100 rows the last 36 count twice, for 64 of them lie in one tile.

// CHECK: PASS
// CUDA:  validRequest<bf16, 64, 128, Touched::Once>(args.x, args.maps[1], {

!tile = !tile.tile<64x128xbf16>
!wide = !tile.tile<64x128xf32>

kiln.func @main(%x: !kiln.tensor<?x128xbf16> in, %y: !kiln.tensor<?x128xbf16> out) orchestration {
  %c100 = arith.constant 100 : index
  %rows = kiln.dim %x, 0
  %blocks = arith.ceildivsi %rows, %c100 : index
  %t = kiln.incore "k" grid(%blocks) split(none) {
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %each = arith.constant 100 : index
    %b = tile.block_idx 0
    %first = arith.muli %b, %each : index
    scf.for %i = %c0 to %each step %c64 {
      %left = arith.subi %each, %i : index
      %at = arith.addi %first, %i : index
      %a = tile.load %x[%at, 0] valid(%left, 128) : !tile
      %wide = tile.cast %a : !wide
      %sum = tile.add %wide, %wide : !wide
      %narrow = tile.cast %sum : !tile
      tile.store %narrow, %y[%at, 0] valid(%left, 128)
    } {kiln.loop = #kiln.loop<pipeline, stages = 2>}
  }
}
