// Groups in the simulator: splits, slots, lanes, schedules, and every way a pipe can go wrong.
#include "SimulatorTesting.h"

using namespace kiln;
using namespace kiln::test;

namespace {

//===----------------------------------------------------------------------===//
// The program of the language's description, over several tiles
//===----------------------------------------------------------------------===//

constexpr int64_t kTiles = 5;

/// out = a * b + r for kTiles tiles of 64x64; the vector role runs `AHEAD` tiles ahead of the
/// matrix role.
constexpr const char *kFused = R"mlir(
!up   = !tile.pipe<aiv -> aic, 64x64xf32, SPLIT>
!down = !tile.pipe<aic -> aiv, 64x64xf32, SPLIT>
kiln.func @mul_cube(%b: !kiln.tensor<64x64xf32> in, %up: !up, %down: !down) role(aic) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n  = arith.constant 5 : index
  %bt = tile.load %b[0, 0] : !tile.tile<64x64xf32>
  scf.for %i = %c0 to %n step %c1 {
    %at = tile.pop %up : !tile.tile<64x64xf32>
    %c  = tile.matmul %at, %bt : !tile.tile<64x64xf32>
    tile.free %up
    tile.push %c, %down
  }
}
kiln.func @add_vec(%a: !kiln.tensor<320x64xf32> in, %r: !kiln.tensor<320x64xf32> in, %out: !kiln.tensor<320x64xf32> out,
                   %up: !up, %down: !down) role(aiv) {
  %c0    = arith.constant 0 : index
  %c1    = arith.constant 1 : index
  %c64   = arith.constant 64 : index
  %n     = arith.constant 5 : index
  %ahead = arith.constant AHEAD : index
  %lane = tile.lane
  %rowstep = arith.constant ROWSTEP : index
  %colstep = arith.constant COLSTEP : index
  %row  = arith.muli %lane, %rowstep : index
  %col  = arith.muli %lane, %colstep : index
  scf.for %i = %c0 to %ahead step %c1 {
    %t  = arith.muli %i, %c64 : index
    %tr = arith.addi %t, %row : index
    %at = tile.load %a[%tr, %col] : !tile.tile<SHARE>
    tile.push %at, %up
  }
  scf.for %i = %c0 to %n step %c1 {
    %next = arith.addi %i, %ahead : index
    %more = arith.cmpi slt, %next, %n : index
    scf.if %more {
      %nt = arith.muli %next, %c64 : index
      %nr = arith.addi %nt, %row : index
      %at = tile.load %a[%nr, %col] : !tile.tile<SHARE>
      tile.push %at, %up
    }
    %t  = arith.muli %i, %c64 : index
    %tr = arith.addi %t, %row : index
    %rt = tile.load %r[%tr, %col] : !tile.tile<SHARE>
    %c  = tile.pop %down : !tile.tile<SHARE>
    %y  = tile.add %c, %rt : !tile.tile<SHARE>
    tile.free %down
    tile.store %y, %out[%tr, %col]
  }
}
kiln.func @fused(%a: !kiln.tensor<320x64xf32> in, %b: !kiln.tensor<64x64xf32> in, %r: !kiln.tensor<320x64xf32> in,
                 %out: !kiln.tensor<320x64xf32> out) group lanes(LANES) {
  %up   = tile.pipe slots(SLOTS) : !up
  %down = tile.pipe slots(SLOTS) : !down
  kiln.call @mul_cube(%b, %up, %down)
  kiln.call @add_vec(%a, %r, %out, %up, %down)
}
)mlir";

struct Split {
  std::string name, share, rowStep, colStep, lanes;
};
const Split kSplits[] = {{"none", "64x64xf32", "0", "0", "1"},
                         {"up_down", "32x64xf32", "32", "0", "2"},
                         {"left_right", "64x32xf32", "0", "32", "2"}};

Program fused(const Split &split, int64_t slots, int64_t ahead) {
  return Program(fill(kFused, {{"SPLIT", split.name},
                               {"SHARE", split.share},
                               {"ROWSTEP", split.rowStep},
                               {"COLSTEP", split.colStep},
                               {"LANES", split.lanes},
                               {"SLOTS", std::to_string(slots)},
                               {"AHEAD", std::to_string(ahead)}}));
}

TEST(SimulatorPipes, FusedMatmulInEverySplitSlotCountAndSchedule) {
  int64_t rows = kTiles * 64;
  std::vector<double> a = randomElements(rows * 64, 1), b = randomElements(int64_t(64) * 64, 2),
                      r = randomElements(rows * 64, 3);
  std::vector<double> want = r;
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < 64; ++j)
      for (int64_t k = 0; k < 64; ++k)
        want[i * 64 + j] += a[i * 64 + k] * b[k * 64 + j];

  std::vector<double> first;
  for (const Split &split : kSplits)
    for (int64_t slots : {1, 2, 4}) {
      Program program = fused(split, slots, std::min<int64_t>(slots, 3));
      for (uint64_t seed = 0; seed < 12; ++seed) {
        SCOPED_TRACE(split.name + ", slots " + std::to_string(slots) + ", seed " +
                     std::to_string(seed));
        Tensor out = poisoned(DType::F32, {rows, 64});
        EXPECT_OK(
            program.run("fused",
                        {tensorOf(DType::F32, {rows, 64}, a), tensorOf(DType::F32, {64, 64}, b),
                         tensorOf(DType::F32, {rows, 64}, r), out},
                        withSeed(seed)));
        std::vector<double> have = elementsOf(out);
        expectNear(have, want, 1e-5 * 64);
        if (first.empty())
          first = have;
        EXPECT_EQ(have, first) << "the result depends on the schedule";
      }
    }
}

TEST(SimulatorPipes, RunningFurtherAheadThanTheSlotsDeadlocks) {
  // One tile is on its way up, one result on its way down, one with the matrix role: the fourth
  // push never ends.
  Program program = fused(kSplits[1], 1, 4);
  Tensor a = tensorOf(DType::F32, {320, 64}, {}), b = tensorOf(DType::F32, {64, 64}, {});
  for (uint64_t seed = 0; seed < 5; ++seed)
    expectError(program.run("fused", {a, b, a, poisoned(DType::F32, {320, 64})}, withSeed(seed)),
                StatusCode::Deadlock,
                {"mul_cube waits to push into 'to_aiv' (1 of 1 slot full)",
                 "add_vec#0 waits to push into 'to_aic' (1 of 1 slot full)",
                 "add_vec#1 waits to push into 'to_aic' (1 of 1 slot full)",
                 "cycle of waits: mul_cube -> add_vec#0 -> mul_cube"});
}

//===----------------------------------------------------------------------===//
// Small groups
//===----------------------------------------------------------------------===//

/// A group of @cube and @vec on `x` and `y` with the pipes !up (to aic) and !down (to aiv).
std::string group(const std::string &cube, const std::string &vec,
                  const std::string &payload = "4x8xf32, up_down", int slots = 1, int lanes = 2) {
  return fill(R"mlir(
!up   = !tile.pipe<aiv -> aic, PAYLOAD>
!down = !tile.pipe<aic -> aiv, PAYLOAD>
kiln.func @cube(%x: !kiln.tensor<4x8xf32> in, %y: !kiln.tensor<4x8xf32> inout, %up: !up, %down: !down) role(aic) {
CUBE
}
kiln.func @vec(%x: !kiln.tensor<4x8xf32> in, %y: !kiln.tensor<4x8xf32> inout, %up: !up, %down: !down) role(aiv) {
VEC
}
kiln.func @pair(%x: !kiln.tensor<4x8xf32> in, %y: !kiln.tensor<4x8xf32> inout) group lanes(LANES) {
  %up = tile.pipe slots(SLOTS) : !up
  %down = tile.pipe slots(SLOTS) : !down
  kiln.call @cube(%x, %y, %up, %down)
  kiln.call @vec(%x, %y, %up, %down)
})mlir",
              {{"PAYLOAD", payload},
               {"CUBE", cube},
               {"VEC", vec},
               {"SLOTS", std::to_string(slots)},
               {"LANES", std::to_string(lanes)}});
}

/// Whole numbers, so that sums of a few are exact.
std::vector<Argument> xAndY() {
  std::vector<double> x(32);
  for (size_t i = 0; i < x.size(); ++i)
    x[i] = static_cast<double>(i * 7 % 32) - 16;
  return {tensorOf(DType::F32, {4, 8}, x), poisoned(DType::F32, {4, 8})};
}

TEST(SimulatorPipes, BothPoppingFirstIsADeadlockWithTheCycleAndTheLines) {
  Program program(
      group("%t = tile.pop %up : !tile.tile<4x8xf32>\n tile.free %up\n tile.push %t, %down",
            "%u = tile.pop %down : !tile.tile<2x8xf32>\n tile.free %down\n tile.push %u, %up",
            "4x8xf32, up_down", 2));
  std::string cube = program.lineOf("tile.pop %up") + ":6",
              vec = program.lineOf("tile.pop %down") + ":6";
  for (uint64_t seed = 0; seed < 20; ++seed) {
    Status status = program.run("pair", xAndY(), withSeed(seed));
    EXPECT_EQ(
        status.message().rfind("Cross-core simulation deadlock; tasks blocked: [cube waits", 0),
        0u);
    expectError(status, StatusCode::Deadlock,
                {"cube waits to pop from 'to_aic' (0 of 2 slots full) at " + cube,
                 "vec#0 waits to pop from 'to_aiv' (0 of 2 slots full) at " + vec,
                 "vec#1 waits to pop from 'to_aiv' (0 of 2 slots full) at " + vec,
                 "cycle of waits: cube -> vec#0 -> cube", "in @pair, block [0, 0, 0]"});
    EXPECT_EQ(status.location().str(), cube);
    EXPECT_EQ(status.message().find("seed 3") != std::string::npos, seed == 3);
  }
}

TEST(SimulatorPipes, APopMoreThanPushesNamesWhoHasEnded) {
  Program program(
      group("%t = tile.pop %up : !tile.tile<4x8xf32>\n tile.free %up\n"
            "%u = tile.pop %up : !tile.tile<4x8xf32>\n tile.free %up",
            "%c0 = arith.constant 0 : index\n %l = tile.load %x[0, 0] : !tile.tile<2x8xf32>\n"
            "tile.push %l, %up"));
  expectError(program.run("pair", xAndY()), StatusCode::Deadlock,
              {"tasks blocked: [cube waits to pop from 'to_aic' (0 of 1 slot full) at " +
                   program.lineOf("%u = "),
               "cube waits for vec#0, which has ended"});
}

TEST(SimulatorPipes, OneLaneMissingItsPartNamesThatLane) {
  Program program(group("%t = tile.pop %up : !tile.tile<4x8xf32>\n tile.free %up",
                        "%c0 = arith.constant 0 : index\n %lane = tile.lane\n"
                        "%first = arith.cmpi eq, %lane, %c0 : index\n"
                        "%l = tile.load %x[0, 0] : !tile.tile<2x8xf32>\n"
                        "scf.if %first {\n tile.push %l, %up\n }"));
  expectError(program.run("pair", xAndY()), StatusCode::Deadlock,
              {"cube waits for vec#1, which has ended"});
}

TEST(SimulatorPipes, AMissingFreeDeadlocksOnceTheRingIsFull) {
  std::string cube = "%t = tile.pop %up : !tile.tile<4x8xf32>\n FREE\n %u = tile.pop %up : "
                     "!tile.tile<4x8xf32>\n tile.free %up";
  std::string vec =
      "%l = tile.load %x[0, 0] : !tile.tile<2x8xf32>\n tile.push %l, %up\n tile.push %l, %up";
  Program missing(group(fill(cube, {{"FREE", ""}}), vec));
  expectError(missing.run("pair", xAndY()), StatusCode::Deadlock,
              {"cube waits to pop from 'to_aic' (1 of 1 slot popped and not freed)",
               "vec#1 waits to push into 'to_aic' (1 of 1 slot popped and not freed)"});
  EXPECT_OK(Program(group(fill(cube, {{"FREE", "tile.free %up"}}), vec)).run("pair", xAndY()));
  EXPECT_OK(
      Program(group(fill(cube, {{"FREE", ""}}), vec, "4x8xf32, up_down", 2)).run("pair", xAndY()));
}

TEST(SimulatorPipes, TilesLeftInAPipeAreAnErrorWithTheirPushes) {
  Program program(group(
      "%t = tile.load %x[0, 0] : !tile.tile<4x8xf32>\n tile.push %t, %down\n tile.push %t, %down\n"
      "tile.push %t, %down // last",
      "%u = tile.pop %down : !tile.tile<2x8xf32>\n tile.free %down", "4x8xf32, up_down", 4));
  std::string second = program.lineOf("tile.push %t, %down // last");
  Status status = program.run("pair", xAndY());
  expectError(
      status, StatusCode::KernelFailed,
      {"2 tiles are left in pipe 'to_aiv' when the group ends; pushed at", second, "in @pair"});
}

TEST(SimulatorPipes, AFreeWithoutAPopIsAnError) {
  Program program(group("tile.free %up", "%c0 = arith.constant 0 : index"));
  Status status = program.run("pair", xAndY());
  expectError(status, StatusCode::KernelFailed,
              {"tile.free: frees a slot of pipe 'to_aic', but every slot that was popped is free "
               "already (0 popped)",
               "(in cube, block [0, 0, 0])"});
  EXPECT_EQ(status.location().str(), program.lineOf("tile.free %up") + ":1");
}

TEST(SimulatorPipes, AMemberTheGroupDoesNotCallIsNamed) {
  std::string text = group("%t = tile.pop %up : !tile.tile<4x8xf32>\n tile.free %up",
                           "%c0 = arith.constant 0 : index");
  Program program(fill(text, {{"  kiln.call @vec(%x, %y, %up, %down)\n", ""}}));
  expectError(program.run("pair", xAndY()), StatusCode::Deadlock,
              {"cube waits for role aiv, which the group does not call"});
}

/// A group of @cube and @vec with one pipe from aic to aiv, x in and y out.
std::string oneWay(const std::string &payload, int slots, const std::string &cube,
                   const std::string &vec) {
  return fill(
      R"mlir(
!down = !tile.pipe<aic -> aiv, PAYLOAD>
kiln.func @cube(%x: !kiln.tensor<4x8xf32> in, %down: !down) role(aic) {
  %t = tile.load %x[0, 0] : !tile.tile<4x8xf32>
  %two = arith.constant 2.0 : f32
CUBE
}
kiln.func @vec(%y: !kiln.tensor<4x8xf32> out, %down: !down) role(aiv) {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %lane = tile.lane
  %row = arith.muli %lane, %c2 : index
  %col = arith.muli %lane, %c4 : index
VEC
}
kiln.func @pair(%x: !kiln.tensor<4x8xf32> in, %y: !kiln.tensor<4x8xf32> out) group lanes(2) {
  %down = tile.pipe slots(SLOTS) : !down
  kiln.call @cube(%x, %down)
  kiln.call @vec(%y, %down)
})mlir",
      {{"PAYLOAD", payload}, {"SLOTS", std::to_string(slots)}, {"CUBE", cube}, {"VEC", vec}});
}

/// Runs @pair under many seeds and compares y with `scale` * x.
void expectScaled(const std::string &text, double scale) {
  Program program(text);
  for (uint64_t seed = 0; seed < 20; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::vector<Argument> args = xAndY();
    EXPECT_OK(program.run("pair", args, withSeed(seed)));
    std::vector<double> want = elementsOf(std::get<Tensor>(args[0]));
    for (double &value : want)
      value *= scale;
    expectNear(elementsOf(std::get<Tensor>(args[1])), want, 0);
  }
}

TEST(SimulatorPipes, SplitNoneGivesEveryLaneTheSameSlotWhichIsFreeWhenAllFreedIt) {
  const char *cube =
      "tile.push %t, %down\n %d = tile.mul %t, %two : !tile.tile<4x8xf32>\n tile.push %d, %down";
  expectScaled(oneWay("4x8xf32", 1, cube, R"mlir(
    %u = tile.pop %down : !tile.tile<4x8xf32>
    tile.free %down
    %v = tile.pop %down : !tile.tile<4x8xf32>
    tile.free %down
    %s = tile.add %u, %v : !tile.tile<4x8xf32>
    %h = tile.extract %s[%row, %c0] : !tile.tile<2x8xf32>
    tile.store %h, %y[%row, 0])mlir"),
               3.0);
  // Lane 1 keeps the only slot: the second push waits for it alone.
  Program program(oneWay("4x8xf32", 1, cube, R"mlir(
    %u = tile.pop %down : !tile.tile<4x8xf32>
    %first = arith.cmpi eq, %lane, %c0 : index
    scf.if %first {
      tile.free %down
    }
    %v = tile.pop %down : !tile.tile<4x8xf32>)mlir"));
  expectError(program.run("pair", xAndY()), StatusCode::Deadlock,
              {"cube waits to push into 'to_aiv' (1 of 1 slot popped and not freed)",
               "cycle of waits: cube -> vec#1 -> cube"});
}

TEST(SimulatorPipes, APipeWithASplitGivesEachLaneItsPart) {
  const char *cube = "tile.push %t, %down";
  expectScaled(oneWay("4x8xf32, up_down", 1, cube,
                      "%u = tile.pop %down : !tile.tile<2x8xf32>\n tile.free %down\n tile.store "
                      "%u, %y[%row, 0]"),
               1.0);
  expectScaled(oneWay("4x8xf32, left_right", 1, cube,
                      "%u = tile.pop %down : !tile.tile<4x4xf32>\n tile.free %down\n tile.store "
                      "%u, %y[0, %col]"),
               1.0);
}

TEST(SimulatorPipes, TilesThatTravelTogetherShareASlot) {
  expectScaled(
      oneWay(
          "(4x8xf32, 4x1xf32), up_down", 1,
          "%ones = tile.full %two : !tile.tile<4x1xf32>\n tile.push %t, %ones, %down",
          "%u, %v = tile.pop %down : !tile.tile<2x8xf32>, !tile.tile<2x1xf32>\n tile.free %down\n"
          "%w = tile.mul %u, %v : !tile.tile<2x8xf32>\n tile.store %w, %y[%row, 0]"),
      2.0);
}

TEST(SimulatorPipes, ATokenOrdersWhatGoesThroughMemory) {
  // The matrix role writes y; the vector lanes double what they find there once they hold the
  // token.
  std::string text =
      fill(oneWay("token", 1, "tile.store %t, %y[0, 0]\n tile.push %down",
                  "tile.pop %down\n tile.free %down\n %two = arith.constant 2.0 : f32\n"
                  "%u = tile.load %y[%row, 0] : !tile.tile<2x8xf32>\n"
                  "%w = tile.mul %u, %two : !tile.tile<2x8xf32>\n tile.store %w, %y[%row, 0]"),
           {{"@cube(%x: !kiln.tensor<4x8xf32> in,",
             "@cube(%x: !kiln.tensor<4x8xf32> in, %y: !kiln.tensor<4x8xf32> out,"},
            {"@cube(%x, %down)", "@cube(%x, %y, %down)"},
            {"%y: !kiln.tensor<4x8xf32> out", "%y: !kiln.tensor<4x8xf32> inout"}});
  expectScaled(text, 2.0);
  Program unordered(fill(text, {{"tile.pop %down\n tile.free %down\n", ""}}));
  expectError(unordered.run("pair", xAndY()), StatusCode::KernelFailed,
              {"1 token is left in pipe 'to_aiv'"});
}

TEST(SimulatorPipes, ADelayLineFeedsALaneItsOwnPartBack) {
  // Prefix sums down the tiles of x, each lane over its own two rows of every tile.
  constexpr const char *text = R"mlir(
!line = !tile.pipe<aiv -> aiv, 4x8xf32, up_down>
kiln.func @scan(%x: !kiln.tensor<24x8xf32> in, %y: !kiln.tensor<24x8xf32> out, %line: !line) role(aiv) {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %c24 = arith.constant 24 : index
  %zero = arith.constant 0.0 : f32
  %lane = tile.lane
  %row = arith.muli %lane, %c2 : index
  %z = tile.full %zero : !tile.tile<2x8xf32>
  tile.push %z, %line
  scf.for %i = %c0 to %c24 step %c4 {
    %at = arith.addi %i, %row : index
    %before = tile.pop %line : !tile.tile<2x8xf32>
    tile.free %line
    %xt = tile.load %x[%at, 0] : !tile.tile<2x8xf32>
    %sum = tile.add %before, %xt : !tile.tile<2x8xf32>
    tile.store %sum, %y[%at, 0]
    tile.push %sum, %line
  }
  %last = tile.pop %line : !tile.tile<2x8xf32>
  tile.free %line
}
kiln.func @group(%x: !kiln.tensor<24x8xf32> in, %y: !kiln.tensor<24x8xf32> out) group lanes(2) {
  %line = tile.pipe slots(1) : !line
  kiln.call @scan(%x, %y, %line)
})mlir";
  Program program(text);
  std::vector<double> x(size_t(24) * 8), want;
  for (size_t i = 0; i < x.size(); ++i)
    x[i] = static_cast<double>(i % 13) - 6;
  want = x;
  for (size_t i = 32; i < want.size(); ++i)
    want[i] += want[i - 32];
  for (uint64_t seed = 0; seed < 10; ++seed) {
    Tensor y = poisoned(DType::F32, {24, 8});
    EXPECT_OK(program.run("group", {tensorOf(DType::F32, {24, 8}, x), y}, withSeed(seed)));
    EXPECT_EQ(elementsOf(y), want);
  }
  Program withoutStart(fill(text, {{"  tile.push %z, %line\n", ""}}));
  expectError(
      withoutStart.run("group", {tensorOf(DType::F32, {24, 8}, x), poisoned(DType::F32, {24, 8})}),
      StatusCode::Deadlock,
      {"scan#0 waits to pop from 'to_aiv'", "cycle of waits: scan#0 -> scan#0"});
}

TEST(SimulatorPipes, SeedZeroTakesTurnsAtEveryPipeOperation) {
  // Two lanes that never wait for each other log who runs: round robin alternates.
  Program program(R"mlir(
!line = !tile.pipe<aiv -> aiv, token, up_down>
kiln.func @log(%log: !kiln.tensor<7xi64> inout, %line: !line) role(aiv) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %one = arith.constant 1 : i64
  %lane = tile.lane
  %who = arith.index_cast %lane : index to i64
  scf.for %i = %c0 to %c3 step %c1 {
    %n = kiln.read %log[0] : i64
    %next = arith.addi %n, %one : i64
    %at = arith.index_cast %next : i64 to index
    kiln.write %who, %log[%at]
    kiln.write %next, %log[0]
    tile.push %line
    tile.pop %line
    tile.free %line
  }
}
kiln.func @group(%log: !kiln.tensor<7xi64> inout) group lanes(2) {
  %line = tile.pipe slots(1) : !line
  kiln.call @log(%log, %line)
})mlir");
  Tensor log = tensorOf(DType::I64, {7}, {0, 9, 9, 9, 9, 9, 9});
  EXPECT_OK(program.run("group", {log}));
  EXPECT_EQ(elementsOf(log), (std::vector<double>{6, 0, 1, 0, 1, 0, 1}));
}

TEST(SimulatorPipes, SeveralPipesToOneRoleAreNumberedAndDefaultSlotsComeFromTheMachine) {
  constexpr const char *text = R"mlir(
!down = !tile.pipe<aic -> aiv, token>
kiln.func @cube(%a: !down, %b: !down) role(aic) {
  tile.push %a
}
kiln.func @vec(%a: !down, %b: !down) role(aiv) {
  tile.pop %b
}
kiln.func @group() group {
  %a = tile.pipe : !down
  %b = tile.pipe : !down
  kiln.call @cube(%a, %b)
  kiln.call @vec(%a, %b)
})mlir";
  expectError(Program(text).run("group", {}), StatusCode::Deadlock,
              {"[vec waits to pop from 'to_aiv_1' (0 of 2 slots full)"});
  Machine machine = *findMachine("ascend910b");
  machine.defaultSlots = 5;
  SimulatorOptions options;
  options.machine = &machine;
  expectError(Program(text).run("group", {}, options), StatusCode::Deadlock,
              {"(0 of 5 slots full)"});
}

TEST(SimulatorPipes, AnAbsurdNumberOfLanesIsRefused) {
  Program program(R"mlir(
!up = !tile.pipe<aiv -> aic, token, up_down>
kiln.func @cube(%up: !up) role(aic) {}
kiln.func @group() group lanes(1000000000000) {
  %up = tile.pipe : !up
  kiln.call @cube(%up)
})mlir");
  expectError(program.run("group", {}), StatusCode::Unsupported,
              {"1000000000000 lanes; the simulator runs at most 64", program.lineOf("lanes(")});
}

} // namespace
