// The right twins of not-proved.mlir, and what people write like them: proved for any number of ranks.
// RUN: split-file %s %t
// RUN: %kiln check %t/carried.mlir --as-given --seeds 1 | FileCheck %s
// RUN: %kiln check %t/mutual.mlir --as-given --seeds 1 | FileCheck %s
// RUN: %kiln check %t/helper.mlir --as-given --seeds 1 | FileCheck %s
// RUN: %kiln check %t/halo.mlir --as-given --seeds 1 | FileCheck %s
// RUN: %kiln check %t/fifo.mlir --as-given --seeds 1 | FileCheck %s
// RUN: %kiln check %t/shifts.mlir --as-given --seeds 1 | FileCheck %s
// RUN: %kiln check %t/root.mlir --as-given --seeds 1 | FileCheck %s
// RUN: %kiln check %t/rootlast.mlir --as-given --seeds 1 | FileCheck %s
// CHECK: the same on every rank, proved for any number of ranks
// CHECK-NOT: incomplete
// CHECK: CLEAN

//--- carried.mlir
// A loop that carries a value, with the same bounds on all ranks.
kiln.func @main(%y: !kiln.tensor<8x8xf32>) orchestration {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %c100 = arith.constant 100 : index
  %k = scf.for %i = %c1 to %c100 step %c1 iter_args(%a = %c0) -> (index) {
    %b = arith.addi %a, %c1 : index
    scf.yield %b : index
  }
  %small = arith.cmpi slt, %k, %c64 : index
  scf.if %small {
    %t = kiln.all_reduce %y, sum
  }
}

//--- mutual.mlir
// Two values that are carried.
kiln.func @main(%y: !kiln.tensor<8x8xf32>) orchestration {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c64 = arith.constant 64 : index
  %k:2 = scf.for %i = %c0 to %c2 step %c1 iter_args(%a = %c0, %b = %c0) -> (index, index) {
    %s = arith.addi %a, %c1 : index
    scf.yield %b, %s : index, index
  }
  %z = arith.addi %k#1, %c0 : index
  %zz = arith.cmpi sgt, %z, %c64 : index
  scf.if %zz {
    %u = kiln.rank_barrier
  }
  %big = arith.cmpi sgt, %k#0, %c64 : index
  scf.if %big {
    %t = kiln.all_reduce %y, sum
  }
}

//--- helper.mlir
// A helper that is called several times.
kiln.func @help(%y: !kiln.tensor<8x8xf32>, %k: index) orchestration {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  scf.for %i = %c0 to %c1 step %c1 {
    %is = arith.cmpi sgt, %k, %c64 : index
    scf.if %is {
      %t = kiln.all_reduce %y, max
    }
  }
}
kiln.func @main(%y: !kiln.tensor<8x8xf32>) orchestration {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c64 = arith.constant 64 : index
  %n = kiln.ranks
  kiln.call @help(%y, %c1)
  kiln.call @help(%y, %n)
  kiln.call @help(%y, %c2)
}

//--- halo.mlir
// An exchange with both neighbours.
kiln.func @copy(%x: !kiln.tensor<8x8xf32> in, %y: !kiln.tensor<8x8xf32> out) incore {
  %t = tile.load %x[0, 0] : !tile.tile<8x8xf32>
  tile.store %t, %y[0, 0]
}
kiln.func @add(%x: !kiln.tensor<8x8xf32> in, %y: !kiln.tensor<8x8xf32> inout) incore {
  %a = tile.load %x[0, 0] : !tile.tile<8x8xf32>
  %b = tile.load %y[0, 0] : !tile.tile<8x8xf32>
  %c = tile.add %a, %b : !tile.tile<8x8xf32>
  tile.store %c, %y[0, 0]
}
kiln.func @main(%x: !kiln.tensor<8x8xf32>, %y: !kiln.tensor<8x8xf32>) orchestration {
  %c1 = arith.constant 1 : index
  %me = kiln.rank
  %n = kiln.ranks
  %up = arith.addi %me, %c1 : index
  %next = arith.remsi %up, %n : index
  %around = arith.addi %me, %n : index
  %down = arith.subi %around, %c1 : index
  %previous = arith.remsi %down, %n : index
  %several = arith.cmpi sgt, %n, %c1 : index
  scf.if %several {
    %c = kiln.alloc() : !kiln.tensor<8x8xf32>
    %d = kiln.alloc() : !kiln.tensor<8x8xf32>
    %e = kiln.alloc() : !kiln.tensor<8x8xf32>
    %f = kiln.submit @copy(%x, %c)
    %s = kiln.send %x to %next
    %s2 = kiln.send %c to %previous
    %r1 = kiln.recv %e from %previous
    %r2 = kiln.recv %d from %next
    %v = kiln.submit @add(%d, %y)
  }
}

//--- fifo.mlir
// Two messages of different extents.
kiln.func @main() orchestration {
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %me = kiln.rank
  %n = kiln.ranks
  %up = arith.addi %me, %c1 : index
  %next = arith.remsi %up, %n : index
  %around = arith.addi %me, %n : index
  %down = arith.subi %around, %c1 : index
  %previous = arith.remsi %down, %n : index
  %many = arith.cmpi sgt, %n, %c64 : index
  scf.if %many {
    %a = kiln.alloc() : !kiln.tensor<8x8xf32>
    %b = kiln.alloc() : !kiln.tensor<4x8xf32>
    %c = kiln.alloc() : !kiln.tensor<8x8xf32>
    %d = kiln.alloc() : !kiln.tensor<4x8xf32>
    %s = kiln.send %a to %next
    %s2 = kiln.send %b to %next
    %r1 = kiln.recv %c from %previous
    %r2 = kiln.recv %d from %previous
  }
}

//--- shifts.mlir
// Everybody sends to everybody, one step further each time.
kiln.func @add(%x: !kiln.tensor<8x8xf32> in, %y: !kiln.tensor<8x8xf32> inout) incore {
  %a = tile.load %x[0, 0] : !tile.tile<8x8xf32>
  %b = tile.load %y[0, 0] : !tile.tile<8x8xf32>
  %c = tile.add %a, %b : !tile.tile<8x8xf32>
  tile.store %c, %y[0, 0]
}
kiln.func @main(%x: !kiln.tensor<8x8xf32>, %y: !kiln.tensor<8x8xf32>) orchestration {
  %c1 = arith.constant 1 : index
  %me = kiln.rank
  %n = kiln.ranks
  %around = arith.addi %me, %n : index
  scf.for %i = %c1 to %n step %c1 {
    %u = arith.addi %me, %i : index
    %to = arith.remsi %u, %n : index
    %d = arith.subi %around, %i : index
    %from = arith.remsi %d, %n : index
    %t = kiln.alloc() : !kiln.tensor<8x8xf32>
    %s = kiln.send %x to %to
    %r = kiln.recv %t from %from
    %v = kiln.submit @add(%t, %y)
  }
}

//--- root.mlir
// Each rank is the root once.
kiln.func @main(%y: !kiln.tensor<8x8xf32>) orchestration {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = kiln.ranks
  scf.for %i = %c0 to %n step %c1 {
    %t = kiln.broadcast %y from %i
  }
}

//--- rootlast.mlir
// The last rank is the root.
kiln.func @main(%y: !kiln.tensor<8x8xf32>) orchestration {
  %c1 = arith.constant 1 : index
  %n = kiln.ranks
  %l = arith.subi %n, %c1 : index
  %t = kiln.broadcast %y from %l
}
