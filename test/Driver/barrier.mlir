// Blocks that exchange their rows in place, under three schedules and in the reference: without the barriers they would
// read what others have already overwritten. A predicate of a kernel written in place skips another launch.
// REQUIRES: torch
// RUN: %kiln run %s -p a2a3sim --arg x=16x8 --arg flag=1 | FileCheck %s
// RUN: %kiln run %s -p a2a3sim --arg x=16x8 --arg flag=1 --seed 3 | FileCheck %s
// RUN: %kiln run %s --arg x=16x8 --arg flag=1 --seed 4 -p a5sim | FileCheck %s
// RUN: %kiln run %s --arg x=16x8 --arg flag=1 -p cpu | FileCheck %s
// CHECK: x {{ *}}against torch {{ *}}max |error| 0 {{ *}}ok
// CHECK: PASS

kiln.func @main(%x: !kiln.tensor<?x8xf32>, %flag: !kiln.tensor<1xi32>) orchestration {
  %c4 = arith.constant 4 : index
  %c1 = arith.constant 1 : index
  %rows = kiln.dim %x, 0
  %n = arith.ceildivsi %rows, %c4 : index
  %t = kiln.incore "rotate" grid(%n) sync_start {
    %b = tile.block_idx 0
    %next = arith.addi %b, %c1 : index
    %blocks = tile.block_count 0
    %from = arith.remsi %next, %blocks : index
    %i = arith.muli %from, %c4 : index
    %j = arith.muli %b, %c4 : index
    %a = tile.load %x[%i, 0] : !tile.tile<4x8xf32>
    tile.barrier
    tile.store %a, %x[%j, 0]
    tile.barrier
    %s, %columns = tile.sort_rows %a descending : !tile.tile<4x8xf32>, !tile.tile<4x8xi32>
    tile.store %s, %x[%j, 0] atomic(add)
  }
  %never = kiln.incore "clear" predicate(%flag[0] > 1000000) {
    %zero = arith.constant 0.0 : f32
    %z = tile.full %zero : !tile.tile<4x8xf32>
    tile.store %z, %x[0, 0]
  }
}
