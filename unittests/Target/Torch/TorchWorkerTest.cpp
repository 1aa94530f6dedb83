//===- TorchWorkerTest.cpp - emitted PyTorch, executed -------------------------------===//
//
// One Python process serves all tests. They are skipped, and say so, where no Python has torch.
//
//===----------------------------------------------------------------------------===//
#include "TorchTesting.h"

#include "llvm/Support/FormatVariadic.h"

#include <cmath>
#include <cstdlib>
#include <unistd.h>

using namespace kiln;
using namespace kiln::test;

namespace {

/// Small whole numbers, so that sums of products are exact whatever their order.
Tensor numbers(Dims extents, unsigned seed) {
  Tensor made = tensor(DType::F32, extents);
  for (int64_t i = 0; i < made.numElements(); ++i)
    made.dataAs<float>()[i] = float(int((i * 7919 + int64_t(seed) * 104729) % 17) - 8);
  return made;
}

/// out = a * b + r, tile by tile through pipes: {0} type suffix, {1}x{2} the part of a lane, {3}
/// and {4} the row and column of the lane's part, {5} slots, {6} lanes, {7} and {8} what the vector
/// role does before and after its pop.
constexpr const char *kResidual = R"mlir(
!up = !tile.pipe<aiv -> aic, 16x16xf32{0}>
!down = !tile.pipe<aic -> aiv, 16x16xf32{0}>
kiln.func @mul_cube(%b: !kiln.tensor<16x16xf32> in, %n: index, %up: !up, %down: !down) role(aic) {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %bt = tile.load %b[0, 0] : !tile.tile<16x16xf32>
  scf.for %i = %c0 to %n step %c1 {{
    %at = tile.pop %up : !tile.tile<16x16xf32>
    %c = tile.matmul %at, %bt : !tile.tile<16x16xf32>
    tile.free %up
    tile.push %c, %down
  }
}
kiln.func @add_vec(%a: !kiln.tensor<?x16xf32> in, %r: !kiln.tensor<?x16xf32> in, %out: !kiln.tensor<?x16xf32> out,
                   %n: index, %up: !up, %down: !down) role(aiv) {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  %lane = tile.lane
  %off = arith.muli %lane, %c8 : index
  scf.for %i = %c0 to %n step %c1 {{
    %base = arith.muli %i, %c16 : index
    %row = arith.addi %base, {3} : index
    %at = tile.load %a[%row, {4}] : !tile.tile<{1}x{2}xf32>
    {7}
    %c = tile.pop %down : !tile.tile<{1}x{2}xf32>
    %rt = tile.load %r[%row, {4}] : !tile.tile<{1}x{2}xf32>
    %y = tile.add %c, %rt : !tile.tile<{1}x{2}xf32>
    tile.free %down
    {8}
    tile.store %y, %out[%row, {4}]
  }
}
kiln.func @fused(%a: !kiln.tensor<?x16xf32> in, %b: !kiln.tensor<16x16xf32> in, %r: !kiln.tensor<?x16xf32> in,
                 %out: !kiln.tensor<?x16xf32> out, %n: index) group lanes({6}) {{
  %up = tile.pipe slots({5}) : !up
  %down = tile.pipe slots({5}) : !down
  kiln.call @mul_cube(%b, %n, %up, %down)
  kiln.call @add_vec(%a, %r, %out, %n, %up, %down)
}
)mlir";

std::string residual(tile::Split split, int slots, const char *before = "tile.push %at, %up",
                     const char *after = "") {
  switch (split) {
  case tile::Split::None:
    return llvm::formatv(kResidual, "", 16, 16, "%c0", "%c0", slots, 1, before, after);
  case tile::Split::UpDown:
    return llvm::formatv(kResidual, ", up_down", 8, 16, "%off", "%c0", slots, 2, before, after);
  case tile::Split::LeftRight:
    return llvm::formatv(kResidual, ", left_right", 16, 8, "%c0", "%off", slots, 2, before, after);
  }
  return "";
}

struct Residual {
  explicit Residual(int64_t blocks)
      : Blocks(blocks), A(numbers({16 * blocks, 16}, 1)), B(numbers({16, 16}, 2)),
        R(numbers({16 * blocks, 16}, 3)), Out(tensor(DType::F32, {16 * blocks, 16})) {}

  std::vector<TorchArgument> args() const {
    return {A, B, R, Out, ScalarBits::fromInt(DType::Index, Blocks)};
  }

  bool isRight() const {
    for (int64_t i = 0; i < 16 * Blocks; ++i)
      for (int64_t j = 0; j < 16; ++j) {
        float want = R.dataAs<float>()[i * 16 + j];
        for (int64_t k = 0; k < 16; ++k)
          want += A.dataAs<float>()[i * 16 + k] * B.dataAs<float>()[k * 16 + j];
        if (!(Out.dataAs<float>()[i * 16 + j] == want))
          return false;
      }
    return true;
  }

  int64_t Blocks;
  Tensor A, B, R, Out;
};

//===----------------------------------------------------------------------===//
// Forks
//===----------------------------------------------------------------------===//

/// The process that a worker is a child of.
int64_t parentOf(TorchWorker &worker) {
  Tensor parent = tensor(DType::I64, {1});
  Status status = worker.run("import os\ndef f(x):\n    x.fill_(os.getppid())\n", "f", {{parent}});
  EXPECT_TRUE(status.isOk()) << status.str();
  return *parent.dataAs<int64_t>();
}

TEST(TorchForks, WorkersAreForksAsLongAsItLives) {
  std::unique_ptr<TorchForks> forks = TorchForks::start();
  if (!forks)
    GTEST_SKIP() << "no Python has torch";
  auto one = TorchWorker::start(), other = TorchWorker::start();
  ASSERT_TRUE(one && other);
  EXPECT_EQ(parentOf(**one), parentOf(**other));
  EXPECT_NE(parentOf(**one), getpid());
  int64_t parent = parentOf(**one);
  forks.reset();
  EXPECT_EQ((*one)->run("def f():\n    pass\n", "f", {}).str(), Status::ok().str()) << "lives on";
  auto later = TorchWorker::start();
  ASSERT_TRUE(later);
  EXPECT_NE(parentOf(**later), parent);
}

TEST(TorchForks, AForkThatDiesIsToldOfAsAnyWorker) {
  const char *dies = "import os\ndef f():\n    os.write(2, b'last words')\n    os._exit(7)\n";
  auto alone = TorchWorker::start();
  std::unique_ptr<TorchForks> forks = TorchForks::start();
  if (!alone || !forks)
    GTEST_SKIP() << "no Python has torch";
  auto fork = TorchWorker::start();
  ASSERT_TRUE(fork);
  EXPECT_EQ((*fork)->run(dies, "f", {}).str(), (*alone)->run(dies, "f", {}).str());
}

TEST(TorchForks, WithoutAnAnswerAWorkerIsStarted) {
  for (const char *nonsense :
       {"", "1000 python3", "0 python3", "-1", "x", "99999999999999999999"}) {
    setenv("KILN_TORCH_FORKS", nonsense, 1);
    auto worker = TorchWorker::start();
    unsetenv("KILN_TORCH_FORKS");
    if (!worker)
      GTEST_SKIP() << worker.status().str();
    EXPECT_TRUE((*worker)->run("def f():\n    pass\n", "f", {}).isOk()) << nonsense;
  }
}

} // namespace

//===----------------------------------------------------------------------===//
// Pipes
//===----------------------------------------------------------------------===//

TEST_F(TorchRun, BidirectionalPipesInEverySplitAndNumberOfSlots) {
  for (tile::Split split : {tile::Split::None, tile::Split::UpDown, tile::Split::LeftRight})
    for (int slots : {1, 2, 4})
      for (bool unbounded : {false, true}) {
        Residual data(3);
        Status status =
            Worker->run(emit(residual(split, slots), {"", unbounded, true}), "run", data.args());
        ASSERT_TRUE(status.isOk()) << status.str() << Worker->traceback();
        EXPECT_TRUE(data.isRight()) << tile::stringifySplit(split).str() << ", slots " << slots;
      }
}

TEST_F(TorchRun, DeadlockNamesTasksLanesAndPipesAndTheNextRunIsFine) {
  Residual data(1);
  std::string bothPopFirst = residual(tile::Split::UpDown, 2, "", "tile.push %at, %up");
  Status status = Worker->run(emit(bothPopFirst), "run", data.args());
  EXPECT_EQ(status.code(), StatusCode::Deadlock);
  EXPECT_EQ(
      status.message(),
      "RuntimeError: Cross-core simulation deadlock; tasks blocked: ["
      "mul_cube (lane 0) waits to pop from pipe 'to_aic' (queued [0, 0], popped and not freed "
      "[0, 0], slots 2), "
      "add_vec#0 (lane 0) waits to pop from pipe 'to_aiv' (queued [0, 0], popped and not freed "
      "[0, 0], slots 2), "
      "add_vec#1 (lane 1) waits to pop from pipe 'to_aiv' (queued [0, 0], popped and not freed "
      "[0, 0], slots 2)]");
  EXPECT_TRUE(has(Worker->traceback(), "Traceback (most recent call last)"));
  EXPECT_TRUE(std::isnan(data.Out.dataAs<float>()[0])) << "after an error no tensor has changed";

  ASSERT_TRUE(Worker->run(emit(residual(tile::Split::UpDown, 2)), "run", data.args()).isOk());
  EXPECT_TRUE(data.isRight());
  EXPECT_EQ(Worker->traceback(), "");
}

TEST_F(TorchRun, TilesLeftInAPipeAreAnError) {
  Residual data(1);
  std::string pushesTwice =
      residual(tile::Split::LeftRight, 2, "tile.push %at, %up", "tile.push %at, %up");
  Status status = Worker->run(emit(pushesTwice), "run", data.args());
  EXPECT_TRUE(
      has(status.message(), "group fused ended with tiles left in pipe 'to_aic': queued [1, 1]"))
      << status.message();
}

TEST_F(TorchRun, ErrorsInAMemberCarryItsNameAndLane) {
  Residual data(1);
  std::string divides =
      residual(tile::Split::UpDown, 2, "tile.push %at, %up",
               "%d = arith.subi %lane, %c1 : index\n    %q = arith.divsi %c1, %d : index\n"
               "    %w = tile.element %y[%q, 0] : f32\n    kiln.write %w, %out[0, 0]");
  // Lane 0 divides 1 by -1, and element -1 does not exist; lane 1 would divide by zero, but never
  // gets there.
  Status status = Worker->run(emit(divides), "run", data.args());
  EXPECT_EQ(status.message(),
            "RuntimeError: add_vec#0 (lane 0): IndexError: axis 0: 1 from -1 on is outside the "
            "extent 8");
}

TEST_F(TorchRun, DelayLineKeepsLanesApart) {
  std::string text = R"mlir(
!d = !tile.pipe<aiv -> aiv, 8x4xf32, up_down>
kiln.func @vec(%x: !kiln.tensor<?x4xf32> in, %y: !kiln.tensor<?x4xf32> out, %n: index, %d: !d) role(aiv) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  %z = arith.constant 0.0 : f32
  %zero = tile.full %z : !tile.tile<4x4xf32>
  tile.push %zero, %d
  tile.push %zero, %d
  %lane = tile.lane
  %off = arith.muli %lane, %c4 : index
  scf.for %i = %c0 to %n step %c1 {
    %b = arith.muli %i, %c8 : index
    %r = arith.addi %b, %off : index
    %t = tile.load %x[%r, 0] : !tile.tile<4x4xf32>
    %p = tile.pop %d : !tile.tile<4x4xf32>
    %s = tile.add %t, %p : !tile.tile<4x4xf32>
    tile.free %d
    tile.push %t, %d
    tile.store %s, %y[%r, 0]
  }
  %e0 = tile.pop %d : !tile.tile<4x4xf32>
  tile.free %d
  %e1 = tile.pop %d : !tile.tile<4x4xf32>
  tile.free %d
}
kiln.func @g(%x: !kiln.tensor<?x4xf32> in, %y: !kiln.tensor<?x4xf32> out, %n: index) group lanes(2) {
  %d = tile.pipe slots(2) : !d
  kiln.call @vec(%x, %y, %n, %d)
}
)mlir";
  Tensor x = numbers({40, 4}, 1), y = tensor(DType::F32, {40, 4});
  std::vector<TorchArgument> args = {x, y, ScalarBits::fromInt(DType::Index, 5)};
  Status status = Worker->run(emit(text), "run", args);
  ASSERT_TRUE(status.isOk()) << status.str();
  for (int i = 0; i < 160; ++i) // two tiles of eight rows ago
    ASSERT_EQ(y.dataAs<float>()[i], x.dataAs<float>()[i] + (i < 64 ? 0 : x.dataAs<float>()[i - 64]))
        << i;
}

TEST_F(TorchRun, RolesRunByThemselvesOnPipesFilledByHand) {
  std::string source = emit(residual(tile::Split::UpDown, 2)) + R"py(

def alone(a, b, out, n):
    for lane in 0, 1:
        _current_sb[0] = lane
        _tpush_to_aic('in', a[8 * lane:8 * lane + 8], 1)
    _current_sb[0] = 0
    mul_cube(b, n, 'in', 'result')
    out.copy_(_tpop_from_aic('result', 1))
    mul_cube(b, n, 'in', 'result')
)py";
  Residual data(1);
  ASSERT_TRUE(data.R.fillZero().isOk());
  std::vector<TorchArgument> args = {data.A, data.B, data.Out,
                                     ScalarBits::fromInt(DType::Index, 1)};
  Status status = Worker->run(source, "alone", args);
  EXPECT_EQ(
      status.message(),
      "RuntimeError: pop from pipe 'in' would wait for ever: queued [0], popped and not freed "
      "[0], slots unbounded");
  ASSERT_TRUE(Worker->run(source.substr(0, source.rfind("    mul_cube")), "alone", args).isOk());
  EXPECT_TRUE(data.isRight());
}

TEST_F(TorchRun, APopOfAPipeFilledByHandTakesOneTilesParts) {
  std::string source = emit(R"mlir(
kiln.func @send(%x: !kiln.tensor<16x4xf32> in, %p: !tile.pipe<aiv -> aic, 8x4xf32, up_down>) role(aiv) {
  %a = tile.load %x[0, 0] : !tile.tile<4x4xf32>
  tile.push %a, %p
}
kiln.func @join(%y: !kiln.tensor<16x4xf32> out, %p: !tile.pipe<aiv -> aic, 8x4xf32, up_down>) role(aic) {
  %a = tile.pop %p : !tile.tile<8x4xf32>
  tile.free %p
  %b = tile.pop %p : !tile.tile<8x4xf32>
  tile.free %p
  tile.store %a, %y[8, 0]
  tile.store %b, %y[0, 0]
}
)mlir") + R"py(

def alone(x, y):
    for row in range(0, 16, 4):
        sent = _tpush_to_aic('in', x[row:row + 4], 1)
        assert sent.equal(x[row:row + 4])
    join(y, 'in')


def too_few(x, y):
    send(x, 'rest')
    join(y, 'rest')

)py";
  Tensor x = numbers({16, 4}, 1), y = tensor(DType::F32, {16, 4});
  std::vector<TorchArgument> args = {x, y};
  Status status = Worker->run(source, "alone", args);
  ASSERT_TRUE(status.isOk()) << status.str();
  for (int i = 0; i < 64; ++i)
    ASSERT_EQ(y.dataAs<float>()[(i + 32) % 64], x.dataAs<float>()[i]) << i;
  EXPECT_EQ(Worker->run(source, "too_few", args).message(),
            "RuntimeError: only 1 parts of a tile of extent 8 are queued");
}

TEST_F(TorchRun, APushReturnsWhatItSent) {
  std::string source = emit(residual(tile::Split::UpDown, 2)) + R"py(

def sends(x, y):
    y.copy_(_tpush_to_aic('in', x, 1))
    for request in _tpush_to_aic_g('in', x, 1):
        assert request.ready()
)py";
  Tensor x = numbers({4, 4}, 1), y = tensor(DType::F32, {4, 4});
  std::vector<TorchArgument> args = {x, y};
  Status status = Worker->run(source, "sends", args);
  ASSERT_TRUE(status.isOk()) << status.str();
  EXPECT_EQ(y.dataAs<float>()[7], x.dataAs<float>()[7]);
}

/// Loops and branches in one another, as deep as Python would never take them.
std::string deepLoops(unsigned depth) {
  std::string body, end;
  for (unsigned level = 0; level < depth; ++level) {
    std::string n = std::to_string(level);
    body += level % 2 == 0
                ? "%i" + n + " = scf.for %k" + n + " = %zero to %two step %one iter_args(%c" + n +
                      " = " + (level == 0 ? "%zero" : "%c" + std::to_string(level - 2)) +
                      ") -> (index) {\n"
                : "%i" + n + " = scf.if %yes -> (index) {\n";
    end = (level % 2 == 0 ? "scf.yield %i" + std::to_string(level + 1) + " : index\n}\n"
                          : "scf.yield %i" + std::to_string(level + 1) +
                                " : index\n} else {\n scf.yield %zero : index\n}\n") +
          end;
  }
  return body + "%i" + std::to_string(depth) + " = arith.addi %c" +
         std::to_string((depth - 1) / 2 * 2) + ", %one : index\n" + end;
}

TEST_F(TorchRun, LoopsNestedDeeperThanPythonTakesThem) {
  // Each loop runs once.
  std::string text = "kiln.func @k(%y: !kiln.tensor<1xi64> out, %two: index, %yes: i1) incore {\n"
                     "%zero = arith.constant 0 : index\n%one = arith.constant 1 : index\n" +
                     deepLoops(112) +
                     "%w = arith.index_cast %i0 : index to i64\nkiln.write %w, %y[0]\n}\n";
  Tensor y = tensor(DType::I64, {1});
  std::vector<TorchArgument> args = {y, ScalarBits::fromInt(DType::Index, 1),
                                     ScalarBits::fromInt(DType::I1, 1)};
  std::string source = emit(text);
  Status status = Worker->run(source, "k", args);
  ASSERT_TRUE(status.isOk()) << status.str() << source;
  EXPECT_EQ(*y.getInt({0}), 1);
}

//===----------------------------------------------------------------------===//
// The worker
//===----------------------------------------------------------------------===//

TEST_F(TorchRun, TensorsOfEveryTypeArriveAndReturn) {
  for (const DTypeInfo &row : dtypeTable) {
    if (!row.isElement)
      continue;
    Tensor x = tensor(row.type, {3, 5}), y = tensor(row.type, {3, 5});
    ASSERT_TRUE(x.fillZero().isOk() && x.set({2, 3}, 1).isOk());
    std::vector<TorchArgument> args = {x, y};
    Status status = Worker->run("def f(x, y):\n    y.copy_(x)\n", "f", args);
    ASSERT_TRUE(status.isOk()) << row.name << ": " << status.str();
    EXPECT_EQ(*y.get({2, 3}), 1) << row.name;
    EXPECT_EQ(*y.get({2, 2}), 0) << row.name;
  }
}

TEST_F(TorchRun, StridesAreKeptAndGapsAreNotTouched) {
  Tensor base = tensor(DType::F32, {6, 8});
  ASSERT_TRUE(base.fillZero().isOk());
  Tensor view = *(*base.slice({1, 2}, {4, 3})).transpose({1, 0});
  std::vector<TorchArgument> args = {view};
  Status status =
      Worker->run("def f(x):\n    assert x.stride() == (1, 8) and x.shape == (3, 4), x.stride()\n"
                  "    x[2, 1] = 5.0\n",
                  "f", args);
  ASSERT_TRUE(status.isOk()) << status.str();
  for (int64_t i = 0; i < 6; ++i)
    for (int64_t j = 0; j < 8; ++j)
      EXPECT_EQ(*base.get({i, j}), i == 2 && j == 4 ? 5 : 0);
}

TEST_F(TorchRun, TensorsThatShareMemoryDoSoInPython) {
  Tensor base = tensor(DType::F32, {8});
  ASSERT_TRUE(base.fillZero().isOk());
  Tensor other = *base.slice({4}, {4}), empty = tensor(DType::F32, {0, 4});
  std::vector<TorchArgument> args = {base, other, empty};
  Status status = Worker->run(
      "def f(x, y, z):\n    x[4] = 3.0\n    y[1] = 2 * y[0]\n    assert z.shape == (0, 4)\n", "f",
      args);
  ASSERT_TRUE(status.isOk()) << status.str();
  EXPECT_EQ(*base.get({4}), 3);
  EXPECT_EQ(*base.get({5}), 6);
}

TEST_F(TorchRun, ReadOnlyTensorsStayAsTheyAre) {
  Tensor x = tensor(DType::F32, {2});
  ASSERT_TRUE(x.fillZero().isOk());
  std::vector<TorchArgument> args = {x.asReadOnly()};
  EXPECT_EQ(Worker->run("def f(x):\n    x[0] = 1\n", "f", args).code(), StatusCode::KernelFailed);
  EXPECT_EQ(*x.get({0}), 0);
}

TEST_F(TorchRun, ScalarsKeepTypeAndValue) {
  std::vector<TorchArgument> args = {
      ScalarBits::fromInt(DType::I64, INT64_MIN),    ScalarBits::fromInt(DType::Index, -3),
      ScalarBits::fromDouble(DType::F32, 0.1),       ScalarBits::fromDouble(DType::BF16, NAN),
      ScalarBits::fromDouble(DType::F16, -INFINITY), ScalarBits::fromInt(DType::I1, 1)};
  Status status =
      Worker->run("def f(a, b, c, d, e, g):\n"
                  "    assert (a, b, c) == (-2**63, -3, 0.10000000149011612), (a, b, c)\n"
                  "    assert d != d and e == float('-inf') and g is True\n",
                  "f", args);
  EXPECT_TRUE(status.isOk()) << status.str();
}

TEST_F(TorchRun, ExceptionsComeBackAndLeaveTheWorkerAlive) {
  Status status = Worker->run("def f():\n    return {}['gone']\n", "f", {});
  EXPECT_EQ(status.code(), StatusCode::KernelFailed);
  EXPECT_EQ(status.message(), "KeyError: 'gone'");
  EXPECT_TRUE(has(Worker->traceback(), "return {}['gone']"))
      << "with the source line: " << Worker->traceback();
  EXPECT_TRUE(has(Worker->run("def f(:\n", "f", {}).message(), "SyntaxError"));
  EXPECT_TRUE(has(Worker->run("import sys\ndef f():\n    sys.exit(3)\n", "f", {}).message(),
                  "SystemExit: 3"));
  EXPECT_TRUE(Worker->run("def f():\n    pass\n", "f", {}).isOk());
}

TEST_F(TorchRun, WhatAProgramPrintsDoesNotDisturb) {
  Tensor x = tensor(DType::F32, {1 << 20});
  std::vector<TorchArgument> args = {x};
  Status status = Worker->run(
      "import sys\ndef f(x):\n    for _ in range(20000):\n"
      "        print('a line on stdout', flush=True)\n        sys.stderr.write('and on stderr')\n"
      "    x.fill_(1)\n",
      "f", args);
  ASSERT_TRUE(status.isOk()) << status.str();
  EXPECT_EQ(*x.get({(1 << 20) - 1}), 1);
}

TEST_F(TorchRun, ADeadWorkerIsReportedNotWaitedFor) {
  Expected<std::unique_ptr<TorchWorker>> own = TorchWorker::start();
  ASSERT_TRUE(own.hasValue());
  Status status = (*own)->run(
      "import os\ndef f():\n    os.write(2, b'last words')\n    os._exit(7)\n", "f", {});
  EXPECT_EQ(status.code(), StatusCode::IoError);
  EXPECT_TRUE(has(status.message(), "exit code 7") && has(status.message(), "last words"))
      << status.message();
  EXPECT_EQ((*own)->run("def f(): pass\n", "f", {}).message(), status.message()) << "it stays dead";

  own = TorchWorker::start();
  Tensor x = tensor(DType::F32, {1 << 22}); // more than a socket buffers
  std::vector<TorchArgument> args = {x};
  status = (*own)->run("import os\ndef f(x):\n    os.kill(os.getpid(), 9)\n", "f", args);
  EXPECT_TRUE(has(status.message(), "signal")) << status.message();
}

TEST(TorchWorkerStart, KilnPythonWithoutTorchIsNamed) {
  const char *before = std::getenv("KILN_PYTHON");
  std::string saved = before ? before : "";
  for (const char *bad : {"/nonexistent/python", "/bin/true"}) {
    setenv("KILN_PYTHON", bad, 1);
    Expected<std::unique_ptr<TorchWorker>> worker = TorchWorker::start();
    ASSERT_FALSE(worker.hasValue());
    EXPECT_EQ(worker.status().code(), StatusCode::NotFound);
    EXPECT_TRUE(has(worker.status().message(), "KILN_PYTHON") &&
                has(worker.status().message(), bad))
        << worker.status().message();
  }
  if (before)
    setenv("KILN_PYTHON", saved.c_str(), 1);
  else
    unsetenv("KILN_PYTHON");
}
