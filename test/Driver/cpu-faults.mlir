// What native code finds wrong when it runs, in the words of the simulator: the operation, the values, the tensor, the line.
// DEFINE: %{entry} =
// DEFINE: %{prefix} =
// DEFINE: %{i} = 0
// DEFINE: %{on} = not %kiln run %s --entry %{entry} --arg i=%{i} --no-reference -p
// DEFINE: %{both} = %{on} cpu 2>&1 | FileCheck %s --check-prefix=%{prefix} && %{on} a2a3sim 2>&1 | FileCheck %s --check-prefix=%{prefix}

// REDEFINE: %{entry} = read
// REDEFINE: %{prefix} = READ
// REDEFINE: %{i} = 9
// RUN: %{both}
// REDEFINE: %{entry} = write
// REDEFINE: %{prefix} = WRITE
// REDEFINE: %{i} = -1
// RUN: %{both}
// REDEFINE: %{entry} = view
// REDEFINE: %{prefix} = VIEW
// REDEFINE: %{i} = 2
// RUN: %{both}
// REDEFINE: %{entry} = load
// REDEFINE: %{prefix} = LOAD
// REDEFINE: %{i} = 9223372036854775807
// RUN: %{both}
// REDEFINE: %{entry} = store
// REDEFINE: %{prefix} = STORE
// REDEFINE: %{i} = -8
// RUN: %{both}
// REDEFINE: %{entry} = slice
// REDEFINE: %{prefix} = SLICE
// REDEFINE: %{i} = 3
// RUN: %{both}
// REDEFINE: %{entry} = extract
// REDEFINE: %{prefix} = EXTRACT
// REDEFINE: %{i} = 7
// RUN: %{both}
// REDEFINE: %{entry} = divide
// REDEFINE: %{prefix} = DIVIDE
// REDEFINE: %{i} = 0
// RUN: %{both}
// REDEFINE: %{entry} = step
// REDEFINE: %{prefix} = STEP
// REDEFINE: %{i} = -3
// RUN: %{both}
// REDEFINE: %{entry} = sum
// REDEFINE: %{prefix} = SUM
// REDEFINE: %{i} = 9223372036854775807
// RUN: %{both}
// REDEFINE: %{entry} = get
// REDEFINE: %{prefix} = GET
// REDEFINE: %{i} = 4 --arg n=5:zeros
// RUN: %{both}
// REDEFINE: %{entry} = part
// REDEFINE: %{prefix} = PART
// REDEFINE: %{i} = 3 --arg y=5x8
// RUN: %{both}
// REDEFINE: %{entry} = launch
// REDEFINE: %{prefix} = LAUNCH
// REDEFINE: %{i} = 4611686018427387904
// RUN: %{both}

kiln.func @read(%x: !kiln.tensor<4x8xf32> in, %y: !kiln.tensor<4x8xf32> out, %i: index) incore {
  // READ: cpu-faults.mlir:[[#@LINE+1]]:{{.*}}kiln.read: element [9, 3] is outside 'x' (f32[4, 8])
  %v = kiln.read %x[%i, 3] : f32
  kiln.write %v, %y[0, 0]
}
kiln.func @write(%x: !kiln.tensor<4x8xf32> in, %y: !kiln.tensor<4x8xf32> out, %i: index) incore {
  %v = kiln.read %x[0, 0] : f32
  // WRITE: cpu-faults.mlir:[[#@LINE+1]]:{{.*}}kiln.write: element [0, -1] is outside 'y' (f32[4, 8])
  kiln.write %v, %y[0, %i]
}
kiln.func @view(%x: !kiln.tensor<4x8xf32> in, %y: !kiln.tensor<4x8xf32> out, %i: index) incore {
  %part = kiln.slice %x[0, 0] [2, 8] : !kiln.tensor<2x8xf32>
  // VIEW: cpu-faults.mlir:[[#@LINE+1]]:{{.*}}kiln.read: element [2, 0] is outside a view of 'x' (f32[2, 8])
  %v = kiln.read %part[%i, 0] : f32
  kiln.write %v, %y[0, 0]
}
kiln.func @load(%x: !kiln.tensor<4x8xf32> in, %y: !kiln.tensor<4x8xf32> out, %i: index) incore {
  // LOAD: cpu-faults.mlir:[[#@LINE+1]]:{{.*}}tile.load: a tile of 4x8 at [9223372036854775807, 0] lies wholly outside 'x' (f32[4, 8])
  %t = tile.load %x[%i, 0] : !tile.tile<4x8xf32>
  tile.store %t, %y[0, 0]
}
kiln.func @store(%x: !kiln.tensor<4x8xf32> in, %y: !kiln.tensor<4x8xf32> out, %i: index) incore {
  %t = tile.load %x[0, 0] : !tile.tile<4x8xf32>
  // STORE: cpu-faults.mlir:[[#@LINE+1]]:{{.*}}tile.store: a tile of 4x8 at [0, -8] lies wholly outside 'y' (f32[4, 8])
  tile.store %t, %y[0, %i]
}
kiln.func @slice(%x: !kiln.tensor<4x8xf32> in, %y: !kiln.tensor<4x8xf32> out, %i: index) incore {
  // SLICE: cpu-faults.mlir:[[#@LINE+1]]:{{.*}}kiln.slice: slice [3, +2) of axis 0 is outside its extent 4; the tensor is 'x' (f32[4, 8])
  %part = kiln.slice %x[%i, 0] [2, 8] : !kiln.tensor<2x8xf32>
  %t = tile.load %part[0, 0] : !tile.tile<2x8xf32>
  tile.store %t, %y[0, 0]
}
kiln.func @extract(%x: !kiln.tensor<4x8xf32> in, %y: !kiln.tensor<4x8xf32> out, %i: index) incore {
  %t = tile.load %x[0, 0] : !tile.tile<4x8xf32>
  // EXTRACT: cpu-faults.mlir:[[#@LINE+1]]:{{.*}}tile.extract: a box of 4x2 at [0, 7] lies outside the tile of 4x8
  %e = tile.extract %t[0, %i] : !tile.tile<4x2xf32>
  tile.store %e, %y[0, 0]
}
kiln.func @divide(%x: !kiln.tensor<4x8xf32> in, %y: !kiln.tensor<4x8xf32> out, %i: index) incore {
  %c7 = arith.constant 7 : index
  // DIVIDE: cpu-faults.mlir:[[#@LINE+1]]:{{.*}}arith.divsi: integer division of 7 by zero
  %q = arith.divsi %c7, %i : index
  %v = kiln.read %x[0, 0] : f32
  kiln.write %v, %y[0, %q]
}
kiln.func @step(%x: !kiln.tensor<4x8xf32> in, %y: !kiln.tensor<4x8xf32> out, %i: index) incore {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %v = kiln.read %x[0, 0] : f32
  // STEP: cpu-faults.mlir:[[#@LINE+1]]:{{.*}}scf.for: the step of the loop is -3; it must be positive
  scf.for %k = %c0 to %c4 step %i {
    kiln.write %v, %y[0, %k]
  }
}
kiln.func @sum(%x: !kiln.tensor<4x8xf32> in, %y: !kiln.tensor<4x8xf32> out, %i: index) incore {
  %c1 = arith.constant 1 : index
  // SUM: cpu-faults.mlir:[[#@LINE+1]]:{{.*}}arith.addi: the result for 9223372036854775807 and 1 does not fit the 64 bits of an index
  %s = arith.addi %i, %c1 : index
  %t = tile.load %x[0, 0] : !tile.tile<4x8xf32>
  tile.store %t, %y[0, 0] valid(%s, 8)
}
kiln.func @launch(%x: !kiln.tensor<4x8xf32>, %y: !kiln.tensor<4x8xf32>, %i: index) orchestration {
  // LAUNCH: cpu-faults.mlir:[[#@LINE+1]]:{{.*}}arith.muli: the result for 4611686018427387904 and 4611686018427387904 does not fit the 64 bits of an index
  %n = arith.muli %i, %i : index
  kiln.submit @sum(%x, %y, %n)
}
kiln.func @get(%x: !kiln.tensor<4x8xf32>, %n: !kiln.tensor<?xi64>, %i: index) orchestration {
  %t = kiln.slice %n[1] [3] : !kiln.tensor<3xi64>
  // GET: cpu-faults.mlir:[[#@LINE+1]]:{{.*}}kiln.get: element [4] is outside a view of 'n' (i64[3])
  %v = kiln.get %t[%i] : i64
  %k = arith.index_cast %v : i64 to index
  kiln.submit @sum(%x, %x, %k)
}
kiln.func @part(%x: !kiln.tensor<4x8xf32>, %y: !kiln.tensor<?x8xf32>, %i: index) orchestration {
  // PART: cpu-faults.mlir:[[#@LINE+1]]:{{.*}}kiln.slice: slice [3, +4) of axis 0 is outside its extent 5; the tensor is 'y' (f32[5, 8])
  %s = kiln.slice %y[%i, 0] [4, 8] : !kiln.tensor<4x8xf32>
  kiln.submit @sum(%x, %s, %i)
}
