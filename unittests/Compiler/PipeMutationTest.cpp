// Right programs with one thing wrong: a push, pop or free dropped or repeated, a loop bound or a
// split changed. Each mutant is caught by the verifier, the proof or the simulator, or computes the
// same; and where the proof and the simulator both have a say, they agree.
#include "PipePrograms.h"
#include "kiln/Analysis/PipeProof.h"

#include "mlir/IR/Verifier.h"

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

struct Tally {
  int verifier = 0, proof = 0, simulator = 0, result = 0, equivalent = 0;
};

/// What becomes of a mutant; fails the test if it is none of the good things.
void judge(ModuleOp mutant, const PipeProgram &program, bool mayDiffer, Tally &tally) {
  ScopedDiagnosticHandler quiet(mutant.getContext(), [](Diagnostic &) { return success(); });
  if (failed(verify(mutant))) {
    ++tally.verifier;
    return;
  }
  auto group = mutant.lookupSymbol<ir::FuncOp>("copy");
  PipeProof proof = provePipes(group, 2);
  bool simulatorObjects = false, isEqual = true;
  for (uint64_t seed : {0, 1}) {
    PipeData data;
    simulatorObjects |= !simulate(mutant, group, data.args(), withSeed(seed)).isOk();
    isEqual &= elementsOf(data.y) == expectedResult(program, elementsOf(data.x));
  }
  EXPECT_NE(proof.verdict, PipeProof::Verdict::Undecided) << proof.reasons.front().text;
  if (proof.verdict == PipeProof::Verdict::Refuted) {
    // A missing free alone does not stop the simulator.
    bool aboutFrees =
        proof.findings.front().what.text.find("write one tile.free") != std::string::npos;
    EXPECT_TRUE(simulatorObjects || aboutFrees) << proof.findings.front().what.text;
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

TEST(PipeMutation, EveryMutantIsCaughtOrComputesTheSame) {
  Tally tally;
  for (const PipeProgram &program : legalPipePrograms()) {
    if (program.slots == 4)
      continue; // nothing that two slots do not show
    std::string error;
    auto module = prepared(program.text(), error);
    ASSERT_TRUE(module) << error;
    for (size_t number = 0; number < targets(*module).size(); ++number)
      for (bool second : {false, true}) {
        OwningOpRef<ModuleOp> mutant = module->clone();
        Operation *op = targets(*mutant)[number];
        SCOPED_TRACE(program.name() + ": " + op->getName().getStringRef().str() + " number " +
                     std::to_string(number) + (second ? ", more" : ", less"));
        bool mayDiffer = sendsToItself(op);
        if (auto loop = dyn_cast<scf::ForOp>(op))
          changeBound(loop, second ? 1 : -1);
        else if (second)
          repeat(op);
        else
          drop(op);
        judge(*mutant, program, mayDiffer, tally);
      }
  }
  std::printf("mutants: %d caught by the verifier, %d by the proof, %d by the simulator alone, "
              "%d by its result, %d equivalent\n",
              tally.verifier, tally.proof, tally.simulator, tally.result, tally.equivalent);
  EXPECT_GT(tally.proof, 1000);
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
