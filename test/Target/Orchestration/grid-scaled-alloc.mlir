// What a launch needs for each of its blocks is allocated after the grid is known and before the launch, for constant and
// for run-time grids, and afresh in every iteration of a loop. The product is an Index: it refuses to overflow.
// RUN: %kiln emit %s --target orchestration | FileCheck %s
kiln.func @work(%x: !kiln.tensor<?x64xf32>, %__gm_pipe: !kiln.tensor<?xi8>) incore {
  %b = tile.block_idx 0
  %t = tile.load %x[%b, 0] : !tile.tile<1x64xf32>
  tile.store %t, %x[%b, 0]
  %c = arith.constant 1 : i8
  kiln.write %c, %__gm_pipe[0]
  %r = kiln.read %__gm_pipe[0] : i8
}
kiln.func @main(%x: !kiln.tensor<?x64xf32>, %n: !kiln.tensor<1xi32>) orchestration {
  %bytes = arith.constant 4096 : index
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c6 = arith.constant 6 : index

// CHECK:        const Tensor gm_pipe = rt.alloc(DType::I8, {Index(4096) * 6});
// CHECK-NEXT:   { // work
// CHECK-NEXT:     TaskArgs task("work");
// CHECK-NEXT:     task.add_inout(x);
// CHECK-NEXT:     task.add_inout(gm_pipe);
// CHECK-NEXT:     task.grid({6});
  %all = arith.muli %bytes, %c6 : index
  %__gm_pipe = kiln.alloc(%all) : !kiln.tensor<?xi8>
  %t0 = kiln.submit @work(%x, %__gm_pipe) grid(6)

// The number of blocks comes from the shape, twice used, so it has a name.
// CHECK:        const Index blocks = ceil_div(dim(x, 0), 4);
// CHECK-NEXT:   const Tensor ring = rt.alloc(DType::I8, {blocks * 4096});
// CHECK-NEXT:   { // work
// CHECK:          task.add_inout(ring); // gm_pipe
// CHECK-NEXT:     task.grid({blocks});
  %rows = kiln.dim %x, 0
  %blocks = arith.ceildivsi %rows, %c4 : index
  %some = arith.muli %blocks, %bytes : index
  %ring = kiln.alloc(%some) : !kiln.tensor<?xi8>
  %t1 = kiln.submit @work(%x, %ring) grid(%blocks)

// And from what a task computed: the allocation comes after the wait.
// CHECK:        const int32_t n_value = rt.get<int32_t>(n, {0});
// CHECK-NEXT:   const Index blocks_1 = cast<Index>(n_value);
// CHECK-NEXT:   for (const Index i : range(0, blocks_1, 1)) {
// CHECK-NEXT:     const Index blocks_2 = i + 1;
// CHECK-NEXT:     const Tensor fresh = rt.alloc(DType::I8, {blocks_2 * 4096});
// CHECK-NEXT:     { // work
// CHECK:            task.add_inout(fresh); // gm_pipe
// CHECK-NEXT:       task.grid({blocks_2, blocks_1});
  %v = kiln.get %n[0] : i32
  %count = arith.index_cast %v : i32 to index
  scf.for %i = %c0 to %count step %c1 {
    %here = arith.addi %i, %c1 : index
    %bytesHere = arith.muli %here, %bytes : index
    %fresh = kiln.alloc(%bytesHere) : !kiln.tensor<?xi8>
    %t2 = kiln.submit @work(%x, %fresh) grid(%here, %count)
  }
}
