// What hand-written groups cost on the CPU: as one function, as roles on fibers, and, where there
// is one, as the kernel they were made from; and what all workers gain where blocks meet. Random
// data; all forms give the same bits, or nearly those of the kernel, before anything is timed;
// forms take turns.
//
//   kiln_bench_groups [--json FILE] [rounds]
#include "Measure.h"

#include "kiln/Language/ProgramAccess.h"
#include "kiln/Machine/Machine.h"
#include "kiln/Program/Signature.h"
#include "kiln/Target/Llvm/Llvm.h"
#include "kiln/Transforms/Passes.h"

#include "mlir/Parser/Parser.h"

#include <cmath>
#include <cstring>
#include <random>
#include <string_view>

using namespace kiln;
using namespace kiln::bench;

namespace {

constexpr int repeats = 5;

/// y = 2 x + 1, 512 times over, so that memory does not matter: one role loads, the other computes
/// and stores, block by block of 64 columns.
const char *const kStream = R"mlir(
!t = !tile.tile<4x64xf32>
!p = !tile.pipe<dma -> compute, 4x64xf32>
!x = !kiln.tensor<?x?xf32>
kiln.func @read(%x: !x, %p: !p) role(dma) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c512 = arith.constant 512 : index
  %c4 = arith.constant 4 : index
  %c64 = arith.constant 64 : index
  %b = tile.block_idx 0
  %j = arith.muli %b, %c64 : index
  %m = kiln.dim %x, 0
  scf.for %again = %c0 to %c512 step %c1 {
    scf.for %i = %c0 to %m step %c4 {
      %t = tile.load %x[%i, %j] : !t
      tile.push %t, %p
    }
  }
}
kiln.func @write(%x: !x, %y: !x, %p: !p) role(compute) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c512 = arith.constant 512 : index
  %c4 = arith.constant 4 : index
  %c64 = arith.constant 64 : index
  %one = arith.constant 1.0 : f32
  %two = arith.constant 2.0 : f32
  %b = tile.block_idx 0
  %j = arith.muli %b, %c64 : index
  %m = kiln.dim %x, 0
  scf.for %again = %c0 to %c512 step %c1 {
    scf.for %i = %c0 to %m step %c4 {
      %t = tile.pop %p : !t
      %d = tile.mul %t, %two : !t
      %s = tile.add %d, %one : !t
      tile.store %s, %y[%i, %j]
    }
  }
}
kiln.func @stream(%x: !x in, %y: !x out) group {
  %p = tile.pipe slots(2) : !p
  kiln.call @read(%x, %p)
  kiln.call @write(%x, %y, %p)
}
kiln.func @main(%x: !x in, %y: !x out) orchestration {
  %c64 = arith.constant 64 : index
  %n = kiln.dim %x, 1
  %blocks = arith.ceildivsi %n, %c64 : index
  %t = kiln.submit @stream(%x, %y) grid(%blocks)
})mlir";

/// y = x b + r by blocks of 64 rows: two lanes push and add half of the rows each.
const char *const kResidual = R"mlir(
!t = !tile.tile<64x64xf32>
!h = !tile.tile<32x64xf32>
!up = !tile.pipe<aiv -> aic, 64x64xf32, up_down>
!down = !tile.pipe<aic -> aiv, 64x64xf32, up_down>
!x = !kiln.tensor<?x64xf32>
!b = !kiln.tensor<64x64xf32>
kiln.func @cube(%x: !x, %b: !b, %up: !up, %down: !down) role(aic) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %m = kiln.dim %x, 0
  %w = tile.load %b[0, 0] : !t
  scf.for %i = %c0 to %m step %c64 {
    %a = tile.pop %up : !t
    %c = tile.matmul %a, %w : !t
    tile.push %c, %down
  }
}
kiln.func @vec(%x: !x, %y: !x, %up: !up, %down: !down) role(aiv) {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %c64 = arith.constant 64 : index
  %lane = tile.lane
  %part = arith.muli %lane, %c32 : index
  %m = kiln.dim %x, 0
  scf.for %i = %c0 to %m step %c64 {
    %row = arith.addi %i, %part : index
    %a = tile.load %x[%row, 0] : !h
    tile.push %a, %up
    %r = tile.load %x[%row, 0] : !h
    %c = tile.pop %down : !h
    %s = tile.add %c, %r : !h
    tile.store %s, %y[%row, 0]
  }
}
kiln.func @residual(%x: !x in, %b: !b in, %y: !x out) group lanes(2) {
  %up = tile.pipe slots(2) : !up
  %down = tile.pipe slots(2) : !down
  kiln.call @cube(%x, %b, %up, %down)
  kiln.call @vec(%x, %y, %up, %down)
}
kiln.func @main(%x: !x in, %b: !b in, %y: !x out) orchestration {
  %t = kiln.submit @residual(%x, %b, %y)
})mlir";

/// Twenty rounds: each block multiplies its tile by its neighbour's, and all meet.
const char *const kMeeting = R"mlir(
!t = !tile.tile<64x64xf32>
!x = !kiln.tensor<2x?x64xf32>
kiln.func @k(%x: !x inout) incore {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c20 = arith.constant 20 : index
  %c64 = arith.constant 64 : index
  %me = tile.block_idx 0
  %all = tile.block_count 0
  %after = arith.addi %me, %c1 : index
  %other = arith.remui %after, %all : index
  %mine = arith.muli %me, %c64 : index
  %its = arith.muli %other, %c64 : index
  scf.for %round = %c0 to %c20 step %c1 {
    %from = arith.remui %round, %c2 : index
    %to = arith.subi %c1, %from : index
    %a = tile.load %x[%from, %mine, 0] : !t
    %b = tile.load %x[%from, %its, 0] : !t
    %m = tile.matmul %a, %b : !t
    %r = tile.tanh %m : !t
    tile.store %r, %x[%to, %mine, 0]
    tile.barrier
  }
}
kiln.func @main(%x: !x inout) orchestration {
  %c64 = arith.constant 64 : index
  %n = kiln.dim %x, 1
  %blocks = arith.divui %n, %c64 : index
  %t = kiln.submit @k(%x) grid(%blocks) sync_start
})mlir";

mlir::MLIRContext &context() {
  static mlir::MLIRContext *made = [] {
    mlir::DialectRegistry registry;
    registerKilnDialects(registry);
    return new mlir::MLIRContext(registry, mlir::MLIRContext::Threading::DISABLED);
  }();
  return *made;
}

using Module = mlir::OwningOpRef<mlir::ModuleOp>;

void runPasses(mlir::ModuleOp module, const PipelineOptions &options) {
  mlir::PassManager passes(&context());
  buildPipeline(passes, options);
  check(succeeded(passes.run(module)), "passes");
}

/// A program in one form, compiled.
struct Form {
  Module module;
  CpuModule code;

  Form(mlir::ModuleOp source, bool mergeGroups) : module(source.clone()) {
    PipelineOptions options;
    options.machine = findMachine("cpu");
    options.mergeGroups = mergeGroups;
    runPasses(*module, options);
    code = take(compileForCpu(*module));
  }
  bool hasGroup() {
    return llvm::any_of(module->getOps<ir::FuncOp>(),
                        [](ir::FuncOp func) { return func.getKind() == ir::FuncKind::Group; });
  }
  double run(std::span<const Argument> args, uint64_t seed = 0) {
    CpuRunOptions options;
    options.seed = seed;
    double start = now();
    must(runOnCpu(code, module->lookupSymbol<ir::FuncOp>("main"), args, options));
    return now() - start;
  }
};

Tensor randomTensor(std::vector<int64_t> extents) {
  static std::mt19937 generator(1);
  std::uniform_real_distribution<float> distribution(-1, 1);
  Tensor tensor = take(Tensor::empty(DType::F32, extents));
  auto *data = tensor.dataAs<float>();
  for (int64_t i = 0; i < tensor.numElements(); ++i)
    data[i] = distribution(generator);
  return tensor;
}

/// The largest difference; a NaN counts as one.
double distance(const Tensor &a, const Tensor &b) {
  double most = 0;
  for (int64_t i = 0; i < a.numElements(); ++i) {
    double apart = std::abs(a.dataAs<float>()[i] - b.dataAs<float>()[i]);
    most = std::isnan(apart) ? INFINITY : std::max(most, apart);
  }
  return most;
}

void addRow(Report &report, const std::string &name, const Sample &kiln, const std::string &peer,
            const Sample &other) {
  auto ms = [](double seconds) { return seconds * 1e3; };
  report.add(
      {name, {ms(kiln.median), ms(kiln.low), ms(kiln.high)}, "ms", peer, ms(other.median), {}, {}});
}

/// Compares the forms of a group; the output is the last argument. `kernel` may be none.
void measure(Report &report, const std::string &name, mlir::ModuleOp source, mlir::ModuleOp kernel,
             std::vector<Tensor> tensors, int rounds) {
  Form merged(source, true), fibers(source, false);
  check(!merged.hasGroup() && fibers.hasGroup(), "a group is not merged, or merged on fibers");
  std::vector<Argument> args(tensors.begin(), tensors.end()), otherArgs = args;
  Tensor other = take(Tensor::empty(DType::F32, tensors.back().extents()));
  otherArgs.back() = other;
  (void)merged.run(args);
  (void)fibers.run(otherArgs);
  check(distance(tensors.back(), other) == 0, "merged and on fibers differ");
  auto time = [&](Form &form) { return [&] { return form.run(args); }; };
  if (!kernel) {
    std::vector<Sample> times = measureMakingThreads(rounds, repeats, time(merged), time(fibers));
    return addRow(report, name, times[0], "on fibers", times[1]);
  }
  Form whole(kernel, true);
  (void)whole.run(otherArgs);
  check(distance(tensors.back(), other) < 1e-5, "the group and the kernel differ");
  std::vector<Sample> times =
      measureMakingThreads(rounds, repeats, time(merged), time(fibers), time(whole));
  addRow(report, name, times[0], "on fibers", times[1]);
  addRow(report, name, times[0], "never split", times[2]);
}

Module parse(const char *text) {
  auto module = mlir::parseSourceString<mlir::ModuleOp>(text, mlir::ParserConfig(&context()));
  check(bool(module), "a program cannot be parsed");
  return module;
}

void measureAttention(Report &report, int rounds) {
  Module kernel = mlir::parseSourceFile<mlir::ModuleOp>(
      KILN_SOURCE_DIR "/models/flash_attention.mlir", mlir::ParserConfig(&context()));
  check(bool(kernel), "models/flash_attention.mlir cannot be read");
  Module split = kernel->clone();
  PipelineOptions options;
  options.machine = findMachine("a2a3sim");
  options.lastPass = "kiln-skew-pipeline";
  runPasses(*split, options);
  std::vector<int64_t> shape{8, 1024, 64};
  std::vector<Tensor> tensors;
  for (int i = 0; i < 4; ++i)
    tensors.push_back(randomTensor(shape));
  measure(report, "attention 8 x 1024 x 64, split and skewed", *split, *kernel, tensors, rounds);
}

/// A launch whose blocks meet, on all workers and on one.
void measureMeeting(Report &report, int rounds) {
  Module source = parse(kMeeting);
  Form form(*source, true);
  std::vector<int64_t> shape{2, int64_t(64) * 64, 64};
  Tensor one = randomTensor(shape), all = take(Tensor::empty(DType::F32, shape));
  std::memcpy(all.data(), one.data(), one.numElements() * sizeof(float));
  std::vector<Argument> oneArgs{one}, allArgs{all};
  (void)form.run(oneArgs, /*seed=*/1);
  (void)form.run(allArgs);
  check(distance(one, all) == 0, "blocks that meet on one worker and on all differ");
  std::vector<Sample> times = measureMakingThreads(
      rounds, repeats, [&] { return form.run(allArgs); }, [&] { return form.run(oneArgs, 1); });
  addRow(report, "64 blocks meet 20 times", times[0], "one worker", times[1]);
}

} // namespace

int main(int argc, char **argv) {
  std::string json;
  int rounds = 3;
  for (int i = 1; i < argc; ++i)
    if (std::string_view(argv[i]) == "--json" && i + 1 < argc)
      json = argv[++i];
    else
      rounds = std::max(1, countFrom(argv[i]));
  Report report;
  Module stream = parse(kStream), residual = parse(kResidual);
  measure(report, "512 times 2x + 1, 256 x 512, tiles of 4 x 64", *stream, {},
          {randomTensor({256, 512}), randomTensor({256, 512})}, rounds);
  measure(report, "x b + r, 65536 x 64, two lanes", *residual, {},
          {randomTensor({65536, 64}), randomTensor({64, 64}), randomTensor({65536, 64})}, rounds);
  measureAttention(report, rounds);
  measureMeeting(report, rounds);
  report.print();
  if (!json.empty())
    report.write(json);
  return 0;
}
