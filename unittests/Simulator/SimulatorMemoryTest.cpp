// What the simulator makes of addresses of tiles and of pipes in global memory. The passes verify
// both before it does, so these programs go to it directly.
#include "SimulatorTesting.h"

#include "kiln/Machine/Machine.h"

using namespace kiln;
using namespace kiln::test;

namespace {

SimulatorOptions onA2a3() {
  SimulatorOptions options;
  options.machine = findMachine("a2a3sim");
  return options;
}

constexpr const char *kChain = R"mlir(
kiln.func @k(%x: !kiln.tensor<8x8xf32> inout) role(aiv) {
  %a = tile.load %x[0, 0] {kiln.address = array<i64: FIRST>} : !tile.tile<8x8xf32, vec>
  %b = tile.exp %a {kiln.address = array<i64: SECOND>} : !tile.tile<8x8xf32, vec>
  %c = tile.add %a, %b {kiln.address = array<i64: FIRST>} : !tile.tile<8x8xf32, vec>
  tile.store %c, %x[0, 0]
}
)mlir";

Status runChain(const std::string &first, const std::string &second,
                const SimulatorOptions &options) {
  Program program(fill(kChain, {{"FIRST", first}, {"SECOND", second}}));
  std::vector<int64_t> extents{8, 8};
  return program.run("k", {tensorOf(DType::F32, extents, randomElements(64, 1))}, options);
}

TEST(SimulatorMemory, TilesAtAddressesOfTheirOwnRun) { EXPECT_OK(runChain("0", "256", onA2a3())); }

TEST(SimulatorMemory, ATileThatWasOverwrittenIsAFault) {
  expectError(runChain("0", "128", onA2a3()), StatusCode::KernelFailed,
              {"tile.add: uses the tile 8x8xf32 at byte 0 of vec, where another tile lies by now",
               "test.mlir:5"});
}

TEST(SimulatorMemory, ATileOutsideItsMemoryIsAFault) {
  expectError(runChain("188320", "0", onA2a3()), StatusCode::KernelFailed,
              {"tile.load: puts a tile of 8x8xf32 at byte 188320 of vec, which has 188416 bytes"});
}

TEST(SimulatorMemory, WithoutAMachineNothingLimitsMemory) {
  EXPECT_OK(runChain("188320", "0", SimulatorOptions()));
}

/// Two blocks; ROWS rows of rings for them.
constexpr const char *kRings = R"mlir(
!p = !tile.pipe<aic -> aiv, 4x8xf32>
kiln.func @cube(%x: !kiln.tensor<8x8xf32> in, %p: !p) role(aic) {
  %c4 = arith.constant 4 : index
  %block = tile.block_idx 0
  %i = arith.muli %block, %c4 : index
  %t = tile.load %x[%i, 0] : !tile.tile<4x8xf32>
  tile.push %t, %p
}
kiln.func @vec(%out: !kiln.tensor<8x8xf32> out, %p: !p) role(aiv) {
  %c4 = arith.constant 4 : index
  %block = tile.block_idx 0
  %i = arith.muli %block, %c4 : index
  %t = tile.pop %p : !tile.tile<4x8xf32>
  tile.free %p
  tile.store %t, %out[%i, 0]
}
kiln.func @g(%x: !kiln.tensor<8x8xf32> in, %out: !kiln.tensor<8x8xf32> out,
             %rings: !kiln.tensor<?x640xi8> inout {kiln.internal}) group {
  %p = tile.pipe slots(1) {kiln.ring = array<i64: 512, 128>} : !p
  kiln.call @cube(%x, %p)
  kiln.call @vec(%out, %p)
}
kiln.func @main(%x: !kiln.tensor<8x8xf32> in, %out: !kiln.tensor<8x8xf32> out, %rings: !kiln.tensor<?x640xi8> inout) orchestration {
  %t = kiln.submit @g(%x, %out, %rings) grid(2)
}
)mlir";

TEST(SimulatorMemory, PipesWithARingMoveTheirBytesThroughIt) {
  Program program(kRings);
  std::vector<int64_t> extents{8, 8}, ringExtents{2, 640};
  std::vector<double> elements = randomElements(64, 2);
  Tensor x = tensorOf(DType::F32, extents, elements), out = poisoned(DType::F32, extents),
         rings = poisoned(DType::I8, ringExtents);
  EXPECT_OK(program.run("main", {x, out, rings}, onA2a3()));
  EXPECT_EQ(elementsOf(out), elements);
  for (int64_t block = 0; block < 2; ++block)
    for (int64_t i = 0; i < 32; ++i)
      EXPECT_EQ(loadElement(DType::F32, rings.dataAs<std::byte>() + block * 640 + 128 + i * 4),
                elements[block * 32 + i])
          << "block " << block << ", element " << i;
}

TEST(SimulatorMemory, ABlockWithoutARowIsAFault) {
  Program program(kRings);
  std::vector<int64_t> extents{8, 8}, ringExtents{1, 640};
  Tensor x = tensorOf(DType::F32, extents, randomElements(64, 3)),
         out = poisoned(DType::F32, extents), rings = poisoned(DType::I8, ringExtents);
  expectError(program.run("main", {x, out, rings}, onA2a3()), StatusCode::KernelFailed,
              {"block number 1 has no ring: there are rows for 1 blocks"});
}

} // namespace
