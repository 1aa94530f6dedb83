// What the cpu platform cannot compile is named with its line, and is bad input.
// RUN: sh -c '%kiln run %s -p cpu --arg x=4 --no-reference 2>&1; test $? = 2' | FileCheck %s

// CHECK: cpu-barrier.mlir:[[#@LINE+5]]:{{.*}}tile.barrier: the cpu platform cannot stop a block in the middle yet
kiln.func @meets(%x: !kiln.tensor<?xf32>) incore {
  %i = tile.block_idx 0
  %a = tile.load %x[%i] : !tile.tile<1x1xf32>
  tile.store %a, %x[%i]
  tile.barrier
}
kiln.func @main(%x: !kiln.tensor<?xf32>) orchestration {
  %t = kiln.submit @meets(%x) grid(4) sync_start
}
