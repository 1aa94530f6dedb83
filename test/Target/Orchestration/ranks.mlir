// REQUIRES: kiln
// RUN: %kiln emit %s --target orchestration | FileCheck %s
// RUN: %kiln build %s -p cpu -o %t
// RUN: FileCheck %s --input-file=%t/orchestration/main.cpp

// What several ranks do together, as C++: each a task with its tensors, its group, and what it comes after.

// CHECK:       { // all_gather
// CHECK-NEXT:    CollectiveArgs task(CollectiveKind::AllGather);
// CHECK-NEXT:    task.source(x);
// CHECK-NEXT:    task.target(y);
// CHECK-NEXT:    task.at(
// CHECK-NEXT:    rt.submit(task);
// CHECK-NEXT:  }
// CHECK:       TaskId all_reduce_task;
// CHECK-NEXT:  { // all_reduce
// CHECK-NEXT:    CollectiveArgs task(CollectiveKind::AllReduce);
// CHECK-NEXT:    task.target(y);
// CHECK-NEXT:    task.combine(Reduction::Max, /*fixedOrder=*/true);
// CHECK-NEXT:    task.along({any, 2}, 1);
// CHECK:         all_reduce_task = rt.submit(task);
// CHECK:       CollectiveArgs task(CollectiveKind::Send);
// CHECK-NEXT:    task.source(x);
// CHECK-NEXT:    task.peer(trunc_rem(rt.rank() + 1, rt.ranks()));
// CHECK-NEXT:    task.after(all_reduce_task);
// CHECK:       CollectiveArgs task(CollectiveKind::Broadcast);
// CHECK-NEXT:    task.target(z);
// CHECK-NEXT:    task.peer(rt.rank({any, 2}, 0));
// CHECK:       CollectiveArgs task(CollectiveKind::RankBarrier);

kiln.func @main(%x: !kiln.tensor<8x8xf32> in, %y: !kiln.tensor<?x8xf32> inout, %z: !kiln.tensor<8x8xf32> inout) orchestration {
  %me = kiln.rank
  %n = kiln.ranks
  %c1 = arith.constant 1 : index
  %up = arith.addi %me, %c1 : index
  %next = arith.remsi %up, %n : index
  %root = kiln.rank along <data of data = ?, tensor = 2>
  %0 = kiln.all_gather %x to %y
  %1 = kiln.all_reduce %y, max fixed_order along <tensor of data = ?, tensor = 2>
  %2 = kiln.send %x to %next deps(%1)
  %3 = kiln.broadcast %z from %root
  %4 = kiln.rank_barrier
}
