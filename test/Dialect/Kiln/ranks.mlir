// RUN: kiln-opt %s | kiln-opt | FileCheck %s

// What ranks do together, as text and back.

// CHECK-LABEL: kiln.func @main
kiln.func @main(%x: !kiln.tensor<?x8xf32>, %y: !kiln.tensor<?x8xf32>) orchestration {
  // CHECK: %[[ME:.*]] = kiln.rank
  %me = kiln.rank
  // CHECK: %[[N:.*]] = kiln.ranks
  %n = kiln.ranks
  // CHECK: kiln.rank along <tensor of data = 2, tensor = 4>
  %place = kiln.rank along <tensor of data = 2, tensor = 4>
  // CHECK: kiln.ranks along <data of data = ?, tensor = 4>
  %count = kiln.ranks along <data of data = ?, tensor = 4>
  // CHECK: %[[T:.*]] = kiln.all_reduce %{{.*}}, sum
  %t = kiln.all_reduce %x, sum
  // CHECK: kiln.all_reduce %{{.*}}, max fixed_order along <tensor of data = 2, tensor = 4> deps(%[[T]])
  %u = kiln.all_reduce %x, max fixed_order along <tensor of data = 2, tensor = 4> deps(%t)
  // CHECK: kiln.all_gather %{{.*}} to %{{.*}}
  %g = kiln.all_gather %x to %y
  // CHECK: kiln.reduce_scatter %{{.*}} to %{{.*}}, prod
  %r = kiln.reduce_scatter %y to %x, prod
  // CHECK: kiln.broadcast %{{.*}} from %[[ME]]
  %b = kiln.broadcast %x from %me
  // CHECK: kiln.all_to_all %{{.*}} to %{{.*}}
  %a = kiln.all_to_all %x to %y
  // CHECK: kiln.send %{{.*}} to %[[N]]
  %s = kiln.send %x to %n
  // CHECK: kiln.recv %{{.*}} from %[[N]]
  %v = kiln.recv %y from %n
  // CHECK: kiln.rank_barrier along <data of data = 2>
  %w = kiln.rank_barrier along <data of data = 2>
}
