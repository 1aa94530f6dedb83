//===- BarrierPrograms.h - programs whose blocks meet, for simulator and reference -------===//
#ifndef KILN_UNITTESTS_SIMULATOR_BARRIERPROGRAMS_H
#define KILN_UNITTESTS_SIMULATOR_BARRIERPROGRAMS_H

namespace kiln::test {

/// ROUNDS times: every block adds up what all have written and, when all have done so, writes the
/// sum. One of the two barriers is in a function the kernel calls.
inline constexpr const char *kAllSums = R"mlir(
kiln.func @main(%x: !kiln.tensor<?xf32> inout, %y: !kiln.tensor<?xf32> out) orchestration {
  %n = kiln.dim %x, 0
  %t = kiln.submit @k(%x, %y) grid(%n) sync_start
}
kiln.func @k(%x: !kiln.tensor<?xf32> inout, %y: !kiln.tensor<?xf32> out) incore {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %rounds = arith.constant ROUNDS : index
  %zero = arith.constant 0.0 : f32
  %me = tile.block_idx 0
  %n = tile.block_count 0
  scf.for %r = %c0 to %rounds step %c1 {
    %total = scf.for %i = %c0 to %n step %c1 iter_args(%sum = %zero) -> (f32) {
      %v = kiln.read %x[%i] : f32
      %s = arith.addf %sum, %v : f32
      scf.yield %s : f32
    }
    kiln.call @meet()
    kiln.write %total, %x[%me]
    kiln.write %total, %y[%me]
    tile.barrier
  }
}
kiln.func @meet() incore { tile.barrier }
)mlir";

/// Of three blocks the middle one ends without coming to the barrier.
inline constexpr const char *kOneNeverComes = R"mlir(
kiln.func @main(%x: !kiln.tensor<3xf32> inout) orchestration {
  %t = kiln.submit @k(%x) grid(3) sync_start
}
kiln.func @k(%x: !kiln.tensor<3xf32> inout) incore {
  %c1 = arith.constant 1 : index
  %me = tile.block_idx 0
  %isOther = arith.cmpi ne, %me, %c1 : index
  scf.if %isOther {
    tile.barrier // the place
  }
}
)mlir";

/// Every lane stores its rows, does VEC, reads those of the next block and pushes them to the cube,
/// which does CUBE and stores them. With a barrier as VEC the lanes of all blocks meet.
inline constexpr const char *kGroup = R"mlir(
!up = !tile.pipe<aiv -> aic, 8x4xf32, up_down>
kiln.func @main(%x: !kiln.tensor<?x4xf32> in, %m: !kiln.tensor<?x4xf32> inout, %y: !kiln.tensor<?x4xf32> out,
                %n: index) orchestration {
  %t = kiln.submit @g(%x, %m, %y) grid(%n) sync_start
}
kiln.func @g(%x: !kiln.tensor<?x4xf32> in, %m: !kiln.tensor<?x4xf32> inout, %y: !kiln.tensor<?x4xf32> out) group lanes(2) {
  %up = tile.pipe slots(1) : !up
  kiln.call @cube(%y, %up)
  kiln.call @vec(%x, %m, %up)
}
kiln.func @cube(%y: !kiln.tensor<?x4xf32> out, %up: !up) role(aic) {
  %c8 = arith.constant 8 : index
  %b = tile.block_idx 0
  %row = arith.muli %b, %c8 : index
  %t = tile.pop %up : !tile.tile<8x4xf32>
  tile.free %up
  CUBE
  tile.store %t, %y[%row, 0]
}
kiln.func @vec(%x: !kiln.tensor<?x4xf32> in, %m: !kiln.tensor<?x4xf32> inout, %up: !up) role(aiv) {
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  %b = tile.block_idx 0
  %n = tile.block_count 0
  %lane = tile.lane
  %off = arith.muli %lane, %c4 : index
  %base = arith.muli %b, %c8 : index
  %row = arith.addi %base, %off : index
  %t = tile.load %x[%row, 0] : !tile.tile<4x4xf32>
  tile.store %t, %m[%row, 0]
  VEC
  %next = arith.addi %b, %c1 : index
  %wrapped = arith.remsi %next, %n : index
  %from = arith.muli %wrapped, %c8 : index
  %other = arith.addi %from, %off : index
  %u = tile.load %m[%other, 0] : !tile.tile<4x4xf32>
  tile.push %u, %up
}
)mlir";

} // namespace kiln::test

#endif // KILN_UNITTESTS_SIMULATOR_BARRIERPROGRAMS_H
