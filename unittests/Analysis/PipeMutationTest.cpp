// Right programs with one thing wrong: a push, pop or free dropped or repeated, a loop bound or a
// split changed. Each mutant is caught by the verifier, the proof or the simulator, or computes the
// same; and where the proof and the simulator both have a say, they agree.
#include "PipePrograms.h"
#include "kiln/Analysis/PipeProof.h"

#include "mlir/IR/Verifier.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace kiln;
using namespace kiln::test;
using namespace mlir;

namespace {

bool isPipeOp(Operation *op) { return isa<tile::PushOp, tile::PopOp, tile::FreeOp>(op); }

/// The operations of a module that can be mutated, in order.
std::vector<Operation *> targets(ModuleOp module) {
  std::vector<Operation *> found;
  module.walk([&](Operation *op) {
    if (isPipeOp(op) || isa<scf::ForOp>(op))
      found.push_back(op);
  });
  return found;
}

void drop(Operation *op) {
  OpBuilder builder(op);
  for (Value result : op->getResults()) {
    Value zero = arith::ConstantOp::create(builder, op->getLoc(), builder.getF32FloatAttr(0));
    result.replaceAllUsesWith(tile::FullOp::create(builder, op->getLoc(), result.getType(), zero));
  }
  op->erase();
}

void repeat(Operation *op) {
  OpBuilder builder(op->getContext());
  builder.setInsertionPointAfter(op);
  builder.clone(*op);
}

void changeBound(scf::ForOp loop, int64_t by) {
  OpBuilder builder(loop);
  Value amount = arith::ConstantIndexOp::create(builder, loop.getLoc(), by);
  loop.setUpperBound(arith::AddIOp::create(builder, loop.getLoc(), loop.getUpperBound(), amount));
}

/// Whether a loop makes both ends of what it sends, so that one iteration more or less is another
/// right program.
bool sendsToItself(Operation *op) {
  std::set<void *> pushed, popped;
  op->walk([&](tile::PushOp push) { pushed.insert(push.getPipe().getAsOpaquePointer()); });
  op->walk([&](tile::PopOp pop) { popped.insert(pop.getPipe().getAsOpaquePointer()); });
  return isa<scf::ForOp>(op) && pushed == popped;
}

/// A right program, and how to run it or a mutant of it.
struct Subject {
  std::string name;
  OwningOpRef<ModuleOp> module;
  std::string entry;
  std::function<std::vector<Argument>()> makeArgs;
  std::vector<double> expected; ///< The last argument afterwards.

  /// The result, or nothing if the simulator objects.
  std::optional<std::vector<double>> run(ModuleOp mutant, uint64_t seed) const {
    std::vector<Argument> args = makeArgs();
    auto func = mutant.lookupSymbol<ir::FuncOp>(entry);
    if (!simulate(mutant, func, args, withSeed(seed)).isOk())
      return std::nullopt;
    return elementsOf(std::get<Tensor>(args.back()));
  }
};

struct Tally {
  int verifier = 0, proof = 0, simulator = 0, result = 0, equivalent = 0;

  std::string str() const {
    return std::to_string(verifier) + " caught by the verifier, " + std::to_string(proof) +
           " by the proof, " + std::to_string(simulator) + " by the simulator alone, " +
           std::to_string(result) + " by the result, " + std::to_string(equivalent) + " equivalent";
  }
};

/// What the proof says first against any group; empty if nothing.
std::string refutation(ModuleOp module) {
  for (auto func : module.getOps<ir::FuncOp>()) {
    if (func.getKind() != ir::FuncKind::Group)
      continue;
    PipeProof proof = provePipes(func, 2);
    EXPECT_NE(proof.verdict, PipeProof::Verdict::Undecided) << proof.reasons.front().text;
    if (proof.verdict == PipeProof::Verdict::Refuted)
      return proof.findings.front().what.text;
  }
  return "";
}

/// What becomes of a mutant; fails the test if it is none of the good things.
void judge(ModuleOp mutant, const Subject &subject, bool mayDiffer, Tally &tally) {
  ScopedDiagnosticHandler quiet(mutant.getContext(), [](Diagnostic &) { return success(); });
  if (failed(verify(mutant))) {
    ++tally.verifier;
    return;
  }
  bool simulatorObjects = false, isEqual = true;
  for (uint64_t seed : {0, 1}) {
    std::optional<std::vector<double>> result = subject.run(mutant, seed);
    simulatorObjects |= !result;
    isEqual &= result == subject.expected;
  }
  if (std::string text = refutation(mutant); !text.empty()) {
    // A missing free alone does not stop the simulator.
    bool aboutFrees = text.find("write one tile.free") != std::string::npos;
    EXPECT_TRUE(simulatorObjects || aboutFrees) << text;
    ++tally.proof;
  } else if (simulatorObjects) {
    // One iteration more of a loop that sends to itself leaves the tensor; the pipes are fine.
    EXPECT_TRUE(mayDiffer) << "proved, but the simulator objects";
    ++tally.simulator;
  } else if (isEqual) {
    ++tally.equivalent;
  } else {
    EXPECT_TRUE(mayDiffer) << "computes something else and nobody objects";
    ++tally.result;
  }
}

/// Every mutant with one operation dropped or repeated, or one loop bound changed.
void mutate(const Subject &subject, Tally &tally) {
  for (size_t number = 0; number < targets(*subject.module).size(); ++number)
    for (bool more : {false, true}) {
      OwningOpRef<ModuleOp> mutant = ModuleOp(*subject.module).clone();
      Operation *op = targets(*mutant)[number];
      SCOPED_TRACE(subject.name + ": " + op->getName().getStringRef().str() + " number " +
                   std::to_string(number) + (more ? ", more" : ", less"));
      bool mayDiffer = sendsToItself(op);
      if (auto loop = dyn_cast<scf::ForOp>(op))
        changeBound(loop, more ? 1 : -1);
      else if (more)
        repeat(op);
      else
        drop(op);
      judge(*mutant, subject, mayDiffer, tally);
    }
}

TEST(PipeMutation, EveryMutantOfTheMatrixIsCaughtOrComputesTheSame) {
  Tally tally;
  for (const PipeProgram &program : legalPipePrograms()) {
    if (program.slots == 4)
      continue; // nothing that two slots do not show
    std::string error;
    Subject subject{program.name(), prepared(program.text(), error), "copy",
                    [] { return PipeData().args(); },
                    expectedResult(program, PipeData::wholeNumbers())};
    ASSERT_TRUE(subject.module) << error;
    mutate(subject, tally);
  }
  std::printf("mutants: %s\n", tally.str().c_str());
  EXPECT_GT(tally.proof, 1000);
}

TEST(PipeMutation, EveryMutantOfAnExampleIsCaughtOrComputesTheSame) {
  Tally tally;
  auto numbers = [](Dims extents) {
    Tensor tensor = poisoned(DType::F32, extents);
    for (int64_t i = 0; i < tensor.numElements(); ++i)
      tensor.dataAs<float>()[i] = float(i * 7919 % 7) - 3;
    return tensor;
  };
  for (auto [name, inputs, rows] : {std::tuple("feedback", 1, 5), std::tuple("two_groups", 3, 64),
                                    std::tuple("matmul_residual_pipes", 3, 64)}) {
    auto file = llvm::MemoryBuffer::getFile(std::string(KILN_EXAMPLES) + "/" + name + ".mlir");
    ASSERT_TRUE(bool(file)) << name;
    std::string error;
    Subject subject{name,
                    prepared((*file)->getBuffer().str(), error),
                    "main",
                    [&numbers, inputs = inputs, rows = rows] {
                      std::vector<Argument> args(size_t(inputs), numbers({rows, 64}));
                      args.push_back(tensorOf(DType::F32, {rows, 64},
                                              std::vector<double>(size_t(rows) * 64, 0.0)));
                      return args;
                    },
                    {}};
    ASSERT_TRUE(subject.module) << error;
    std::optional<std::vector<double>> expected = subject.run(*subject.module, 0);
    ASSERT_TRUE(expected) << name;
    subject.expected = *expected;
    mutate(subject, tally);
  }
  std::printf("mutants: %s\n", tally.str().c_str());
  EXPECT_GT(tally.proof, 20);
}

TEST(PipeMutation, AnotherSplitIsCaughtByTheVerifier) {
  for (const PipeProgram &program : legalPipePrograms())
    for (const std::string &split : kSplitNames) {
      if (split == program.split || program.slots != 2 || program.lanes == 1)
        continue;
      SCOPED_TRACE(program.name() + " to " + split);
      std::string error, text = program.text();
      size_t at = text.find(", " + program.split + ">");
      ASSERT_NE(at, std::string::npos);
      text.replace(at, program.split.size() + 3, ", " + split + ">");
      EXPECT_FALSE(prepared(text, error));
      EXPECT_TRUE(error.find("each lane has") != std::string::npos ||
                  error.find("or an even share of it per lane") != std::string::npos ||
                  error.find("handles") != std::string::npos ||
                  error.find("split none cannot join") != std::string::npos)
          << error;
    }
}

} // namespace
