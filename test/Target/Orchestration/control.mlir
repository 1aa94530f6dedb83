// Loops, branches, scopes, views and calls.
// RUN: %kiln emit %s --target orchestration | FileCheck %s
kiln.func @use(%x: !kiln.tensor<?x?xf32>, %k: index) incore {
  %t = tile.load %x[0, 0] : !tile.tile<4x4xf32>
  tile.store %t, %x[0, 0]
}
kiln.func @line(%x: !kiln.tensor<?xf32>) incore {
  %v = kiln.read %x[0] : f32
}

// Callees come first; scalars are passed by value.
// CHECK:      void step(Orchestrator &rt, const Tensor &x, Index k) {
// CHECK:          task.add_scalar(k);
// CHECK:      }
// CHECK:      void main_1(Orchestrator &rt, const Arguments &args) {
kiln.func @main(%x: !kiln.tensor<8x8xf32>, %n: !kiln.tensor<2xi32>, %go: i1) orchestration {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c8 = arith.constant 8 : index

// Two carried values that change places need a third.
// CHECK:        Index carried = 1;
// CHECK-NEXT:   Index carried_1 = 2;
// CHECK-NEXT:   for (const Index i : range(0, 8, 2)) {
// CHECK-NEXT:     step(rt, x, i);
// CHECK-NEXT:     const auto next_carried_1 = carried + i;
// CHECK-NEXT:     carried = carried_1;
// CHECK-NEXT:     carried_1 = next_carried_1;
// CHECK-NEXT:   }
  %p:2 = scf.for %i = %c0 to %c8 step %c2 iter_args(%a = %c1, %b = %c2) -> (index, index) {
    kiln.call @step(%x, %i)
    %s = arith.addi %a, %i : index
    scf.yield %b, %s : index, index
  }

// CHECK-NEXT:   Index chosen{};
// CHECK-NEXT:   if (go) {
// CHECK-NEXT:     step(rt, x, carried);
// CHECK-NEXT:     chosen = 1;
// CHECK-NEXT:   } else {
// CHECK-NEXT:     chosen = carried_1 * 2;
// CHECK-NEXT:   }
// CHECK-NEXT:   step(rt, x, chosen);
  %r = scf.if %go -> index {
    kiln.call @step(%x, %p#0)
    scf.yield %c1 : index
  } else {
    %d = arith.muli %p#1, %c2 : index
    scf.yield %d : index
  }
  kiln.call @step(%x, %r)

// CHECK-NEXT:   Index carried_2 = chosen;
// CHECK-NEXT:   Index passed{};
// CHECK-NEXT:   while (true) {
// CHECK-NEXT:     passed = carried_2;
// CHECK-NEXT:     if (!(carried_2 < 8))
// CHECK-NEXT:       break;
// CHECK-NEXT:     carried_2 = passed * 2;
// CHECK-NEXT:   }
  %w = scf.while (%a = %r) : (index) -> index {
    %more = arith.cmpi slt, %a, %c8 : index
    scf.condition(%more) %a : index
  } do {
  ^bb0(%a: index):
    %next = arith.muli %a, %c2 : index
    scf.yield %next : index
  }

// CHECK-NEXT:   {
// CHECK-NEXT:     const Scope scope(rt, Scope::Manual);
// CHECK-NEXT:     const Tensor x_view = slice(x, {0, 4}, {8, 4});
// CHECK-NEXT:     const Tensor x_view_1 = transpose(x_view, {1, 0});
// CHECK-NEXT:     { // use
// CHECK:            task.add_inout(x_view_1); // x
// CHECK-NEXT:       task.add_scalar(passed); // k
// CHECK:        {
// CHECK-NEXT:     const Scope scope(rt);
// CHECK-NEXT:     const Tensor x_view_2 = slice(x, {passed, 0}, {1, 8}, {0});
  kiln.scope manual {
    %right = kiln.slice %x[0, 4] [8, 4] : !kiln.tensor<8x4xf32>
    %turned = kiln.transpose %right, [1, 0] : !kiln.tensor<4x8xf32>
    %t = kiln.submit @use(%turned, %w)
  }
  kiln.scope {
    %row = kiln.slice %x[%w, 0] [1, 8] drop [0] : !kiln.tensor<8xf32>
    %t = kiln.submit @line(%row)
  }
// CHECK:        const Tensor x_view_3 = reshape(x, {4, 16});
// CHECK:          task.add_scalar(Index(2)); // k
// CHECK:        rt.get<int32_t>(n, {1});
  %flat = kiln.reshape %x[4, 16] : !kiln.tensor<4x16xf32>
  %t = kiln.submit @use(%flat, %c2)
// CHECK-NEXT: }
  %unused = kiln.get %n[1] : i32
}
kiln.func @step(%x: !kiln.tensor<8x8xf32>, %k: index) orchestration {
  %t = kiln.submit @use(%x, %k)
}
