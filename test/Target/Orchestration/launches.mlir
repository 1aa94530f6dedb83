// One block a task: arguments in the order of the signature with their directions, tensors before scalars, then the grid,
// explicit dependencies, the predicate, and where the user launched it.
// RUN: %kiln emit %s --target orchestration | FileCheck %s

// CHECK:      //   id  kernel
// CHECK-NEXT: //   0   scale (incore)
// CHECK-NEXT: //   1   bump (incore)
// CHECK-NEXT: //   2   pair (mix)
// CHECK-NEXT: //   3   cube (aic)
// CHECK-NEXT: //   4   vec (aiv)
// CHECK-NEXT: //   5   meet (incore)
// CHECK:      #include "kiln/runtime/orchestration.h"
// CHECK:      const Signature signature =
// CHECK-NEXT:     {"main", "orchestration",
// CHECK-NEXT:      {input("x", DType::F32, {any, 64}),
// CHECK-NEXT:       output("y", DType::F32, {any, 64}),
// CHECK-NEXT:       inout("n", DType::I32, {2})},
// CHECK-NEXT:      {{[{][{]}}"s", DType::F32}, {"m", DType::Index}}};
// CHECK:      const std::vector<Signature> kernels = {
// CHECK-NEXT:     {"scale", "incore",
// CHECK-NEXT:      {input("from", DType::F32, {any, 64}),
// CHECK-NEXT:       output("to", DType::F32, {any, 64})},
// CHECK-NEXT:      {{[{][{]}}"factor", DType::F32}}},
// The roles of a group are not launched.
// CHECK-NOT:      {"cube"
kiln.func @scale(%from: !kiln.tensor<?x64xf32>, %factor: f32, %to: !kiln.tensor<?x64xf32>) incore {
  %b = tile.block_idx 0
  %t = tile.load %from[%b, 0] : !tile.tile<1x64xf32>
  %u = tile.mul %t, %factor : !tile.tile<1x64xf32>
  tile.store %u, %to[%b, 0]
}
kiln.func @bump(%n: !kiln.tensor<2xi32>) incore {
  kiln.dump %n
  %v = kiln.read %n[0] : i32
  %c = arith.constant 1 : i32
  %w = arith.addi %v, %c : i32
  kiln.write %w, %n[0]
}
!down = !tile.pipe<aic -> aiv, 1x64xf32>
kiln.func @cube(%x: !kiln.tensor<?x64xf32>, %down: !down) role(aic) {
  %t = tile.load %x[0, 0] : !tile.tile<1x64xf32>
  tile.push %t, %down
}
kiln.func @vec(%y: !kiln.tensor<?x64xf32>, %down: !down) role(aiv) {
  %t = tile.pop %down : !tile.tile<1x64xf32>
  tile.store %t, %y[0, 0]
}
kiln.func @pair(%x: !kiln.tensor<?x64xf32>, %y: !kiln.tensor<?x64xf32>) group lanes(2) {
  %down = tile.pipe : !down
  kiln.call @cube(%x, %down)
  kiln.call @vec(%y, %down)
}
kiln.func @meet(%n: !kiln.tensor<2xi32>) incore {
  tile.barrier
  %v = kiln.read %n[0] : i32
}

// CHECK:      void main_1(Orchestrator &rt, const Arguments &args) {
// CHECK-NEXT:   const Tensor &x = args.tensor(0);
// CHECK-NEXT:   const Tensor &y = args.tensor(1);
// CHECK-NEXT:   const Tensor &n = args.tensor(2);
// CHECK-NEXT:   const float s = args.scalar<float>(0);
// CHECK-NEXT:   const Index m = args.scalar<Index>(1);
kiln.func @main(%s: f32, %x: !kiln.tensor<?x64xf32>, %y: !kiln.tensor<?x64xf32>, %m: index, %n: !kiln.tensor<2xi32>) orchestration {
// CHECK:        TaskId scale_task;
// CHECK-NEXT:   { // scale
// CHECK-NEXT:     TaskArgs task("scale");
// CHECK-NEXT:     task.add_input(x); // from
// CHECK-NEXT:     task.add_output(y); // to
// CHECK-NEXT:     task.add_scalar(s); // factor
// CHECK-NEXT:     task.grid({m});
// CHECK-NEXT:     task.at("{{.*}}launches.mlir", [[#@LINE+3]], 9);
// CHECK-NEXT:     scale_task = rt.submit(task);
// CHECK-NEXT:   }
  %t0 = kiln.submit @scale(%x, %s, %y) grid(%m)
// CHECK-NEXT:   TaskId bump_task;
// CHECK-NEXT:   { // bump
// CHECK-NEXT:     TaskArgs task("bump");
// CHECK-NEXT:     task.add_inout(n, Mark::Yes);
// CHECK-NEXT:     task.after(scale_task);
// CHECK:          bump_task = rt.submit(task);
  %t1 = kiln.submit @bump(%n) deps(%t0)
// CHECK:        TaskId order_task;
// CHECK-NEXT:   { // only orders others
// CHECK-NEXT:     TaskArgs task;
// CHECK-NEXT:     task.after(scale_task);
// CHECK-NEXT:     task.after(bump_task);
// CHECK:          order_task = rt.submit(task);
  %t2 = kiln.submit deps(%t0, %t1)
// CHECK:        { // pair: cube (aic) + vec (aiv, 2 lanes)
// CHECK-NEXT:     TaskArgs task("pair");
// CHECK-NEXT:     task.add_input(x);
// CHECK-NEXT:     task.add_output(y);
// CHECK-NEXT:     task.grid({m, 4});
// CHECK-NEXT:     task.after(order_task);
// CHECK-NEXT:     task.when(n, {0}, Compare::Gt, 3);
// CHECK:          rt.submit(task);
  %t3 = kiln.submit @pair(%x, %y) grid(%m, 4) deps(%t2) predicate(%n[0] > 3)
// CHECK:        rt.dump(x);
  kiln.dump %x
// CHECK:          task.grid({8});
// CHECK-NEXT:     task.sync_start();
  %t4 = kiln.submit @meet(%n) grid(8) sync_start
}
// CHECK:      extern "C" void orchestrate_launches_main(
// CHECK:        status = orchestrate(engine, args, signature, kernels, main_1);
