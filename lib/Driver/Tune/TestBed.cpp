#include "Tune/TestBed.h"

#include "kiln/Program/Signature.h"

#include <algorithm>
#include <cmath>

using namespace mlir;

namespace kiln {

TestBed::TestBed(ir::FuncOp entry, const RunSettings &options, Budget &budget)
    : Entry(entry), Time(budget), RunsElsewhere(options.platform->memory() == TensorMemory::Gpu) {}

Expected<std::unique_ptr<TestBed>> TestBed::make(const Source &source, ir::FuncOp entry,
                                                 const RunSettings &options, Budget &budget) {
  Expected<std::vector<Argument>> inputs = argumentsOf(source, entry, options);
  if (!inputs)
    return inputs.status();
  std::unique_ptr<TestBed> bed(new TestBed(entry, options, budget));
  std::vector<bool> isWritten;
  for (size_t index = 0; index < inputs->size(); ++index)
    isWritten.push_back(entry.getArgDirection(index) != ir::Direction::In);
  Expected<std::unique_ptr<PlacedArguments>> placed = options.platform->place(*inputs, isWritten);
  if (!placed)
    return placed.status();
  bed->Args = std::move(*placed);
  bed->Call = bed->Args->forCalls();
  const std::string &text = source.example->formula;
  if (text.empty() || options.noFormula)
    return bed;
  Expected<std::unique_ptr<TorchWorker>> &worker = torchWorker();
  if (!worker)
    return bed; // then the usual choice is what others are held against
  Expected<FormulaResult> formula = evaluateFormula(text, source.config, entry, *inputs, **worker);
  if (!formula)
    return formula.status();
  bed->Formula = std::move(*formula);
  return bed;
}

/// How outputs differ from what they should be; empty if they do not.
std::string TestBed::findDifference(std::span<const Argument> args) {
  std::vector<std::string> names = parameterNames(Entry);
  if (Formula)
    for (const auto &[index, want] : Formula->outputs)
      if (Difference difference =
              compareWithFormula(std::get<Tensor>(args[index]), want, Formula->accumulates);
          !difference.ok)
        return names[index] + " is not what the formula says: " + difference.where();
  for (auto [index, want] : llvm::enumerate(Results))
    if (auto *tensor = std::get_if<Tensor>(&want);
        tensor && !(Formula && Formula->outputs.contains(index)) &&
        Entry.getArgDirection(index) != ir::Direction::In)
      if (Difference difference = compareWithReference(std::get<Tensor>(args[index]), *tensor);
          !difference.ok)
        return names[index] + " is not what the defaults compute: " + difference.where();
  return "";
}

std::string TestBed::check(const Compiled &compiled) {
  Spending spending(Time.checking);
  Status bad = Args->restore();
  bad = bad.isOk() ? compiled.call(Call) : bad;
  if (!bad.isOk())
    return bad.message();
  Expected<std::vector<Argument>> made = Args->read();
  if (!made)
    return made.status().message();
  if (std::string wrong = findDifference(*made); !wrong.empty())
    return wrong;
  if (Results.empty()) { // which later calls write to
    Expected<std::vector<Argument>> results = copyArguments(*made);
    if (!results)
      return results.status().message();
    Results = std::move(*results);
  }
  return "";
}

/// Calls for at least so long; the time of a call. Where calls only launch, it waits after each of
/// the first and then after more and more, so that waiting does not count.
static Expected<double> callFor(double seconds, const Compiled &compiled,
                                const std::vector<CallArg> &args, const PlacedArguments &place) {
  Budget::Clock::time_point start = Budget::Clock::now();
  unsigned calls = 0;
  Status state;
  do {
    for (unsigned more = std::clamp(calls, 1u, 64u); more > 0 && state.isOk(); --more, ++calls)
      state = compiled.call(args);
    if (state.isOk())
      state = place.wait();
  } while (state.isOk() && Budget::secondsSince(start) < seconds);
  if (!state.isOk())
    return state; // what an error took is no time
  return Budget::secondsSince(start) / calls;
}

Expected<double> TestBed::stretch(const Compiled &compiled) const {
  Spending spending(Time.measuring);
  return callFor(RunsElsewhere ? 0.002 : 0.000'25, compiled, Call, *Args);
}

Expected<double> TestBed::visit(const Compiled &compiled) const {
  if (RunsElsewhere) { // what goes on here disturbs it little, and many launches hide the waiting
    Spending spending(Time.measuring);
    return callFor(0.005, compiled, Call, *Args);
  }
  Budget::Clock::time_point start = Budget::Clock::now();
  double fastest = INFINITY;
  do {
    Expected<double> one = stretch(compiled);
    if (!one)
      return one.status();
    fastest = std::min(fastest, *one);
  } while (Budget::secondsSince(start) < 0.002);
  return fastest;
}

} // namespace kiln
