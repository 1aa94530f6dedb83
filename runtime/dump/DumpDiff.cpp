#include "dump/DumpDiff.h"

#include "dump/DumpFormat.h"
#include "kiln/runtime/compare.h"

#include <map>

using namespace kiln;

namespace {

/// What one dump has of one task.
struct TaskEntries {
  std::vector<const DumpEntry *> inputs;         // in and inout before, scalars
  std::map<uint32_t, const DumpEntry *> outputs; // out and inout after, by argument
  const DumpEntry *any = nullptr;
};

class Comparer {
public:
  Comparer(const DumpFile &first, const DumpFile &second) : First(first), Second(second) {}

  Status compareTask(uint64_t task, const TaskEntries &a, const TaskEntries &b);

  DumpComparison Result;

private:
  /// Notes that the task differs and says how.
  Status differ(uint64_t task, const DumpEntry &entry, std::string argument, std::string element,
                std::string first, std::string second);
  /// A dump of this kind says nothing of what it does not list.
  static bool isPartial(const DumpFile &file) { return file.level() == dumpformat::onlyMarked; }
  /// What only one dump lists is no difference if the other one need not list it.
  bool isUnknown(bool isInFirst) {
    bool unknown = isPartial(isInFirst ? Second : First);
    Result.onlyInOne += unknown;
    return unknown;
  }
  Status compareOutput(const DumpEntry &a, const DumpEntry &b);
  Status findDifferentInputs(const TaskEntries &a, const TaskEntries &b);
  /// Nothing if they are equal or cannot be compared.
  Expected<std::optional<Difference>> compareValues(const DumpEntry &a, const DumpEntry &b);

  const DumpFile &First, &Second;
};

} // namespace

/// "f32[2, 3]"
static std::string typeOf(const DumpEntry &entry) {
  return std::string(toString(entry.dtype)) + (entry.isScalar ? "" : toString(Dims(entry.shape)));
}

Status Comparer::differ(uint64_t task, const DumpEntry &entry, std::string argument,
                        std::string element, std::string first, std::string second) {
  Result.difference = {task,
                       entry.kernel,
                       std::move(argument),
                       std::move(element),
                       std::move(first),
                       std::move(second),
                       {}};
  return Status::ok();
}

Expected<std::optional<Difference>> Comparer::compareValues(const DumpEntry &a,
                                                            const DumpEntry &b) {
  Expected<Tensor> x = First.load(a), y = Second.load(b);
  if (!x || !y)
    return x ? y.status() : x.status();
  Difference difference = compareWithReference(*x, *y);
  return difference.ok ? std::nullopt : std::optional(difference);
}

Status Comparer::compareOutput(const DumpEntry &a, const DumpEntry &b) {
  if (typeOf(a) != typeOf(b))
    return differ(a.task, a, a.argName, "", typeOf(a), typeOf(b));
  if (!a.hasPayload() || !b.hasPayload()) {
    ++Result.withoutPayload;
    return Status::ok();
  }
  ++Result.compared;
  Expected<std::optional<Difference>> difference = compareValues(a, b);
  if (!difference)
    return difference.status();
  if (!*difference)
    return Status::ok();
  return differ(a.task, a, a.argName, (*difference)->element, (*difference)->have,
                (*difference)->want);
}

Status Comparer::findDifferentInputs(const TaskEntries &a, const TaskEntries &b) {
  for (const DumpEntry *x : a.inputs)
    for (const DumpEntry *y : b.inputs) {
      if (x->argIndex != y->argIndex)
        continue;
      bool differs = typeOf(*x) != typeOf(*y) || (x->isScalar && x->scalar.bits != y->scalar.bits);
      if (!differs && x->hasPayload() && y->hasPayload()) {
        Expected<std::optional<Difference>> difference = compareValues(*x, *y);
        if (!difference)
          return difference.status();
        differs = difference->has_value();
      }
      if (differs)
        Result.difference->inputs.push_back(x->argName);
    }
  return Status::ok();
}

Status Comparer::compareTask(uint64_t task, const TaskEntries &a, const TaskEntries &b) {
  if (!a.any || !b.any) {
    if (isUnknown(a.any))
      return Status::ok();
    const DumpEntry &there = a.any ? *a.any : *b.any;
    return differ(task, there, "", "", a.any ? "ran" : "did not run",
                  b.any ? "ran" : "did not run");
  }
  if (a.any->kernel != b.any->kernel)
    return differ(task, *a.any, "", "", "is '" + a.any->kernel + "'", "is '" + b.any->kernel + "'");
  if (a.outputs.empty() != b.outputs.empty() && isUnknown(!a.outputs.empty()))
    return Status::ok();
  if (a.outputs.empty() != b.outputs.empty())
    return differ(task, *a.any, "", "", a.outputs.empty() ? "did not finish" : "finished",
                  b.outputs.empty() ? "did not finish" : "finished");
  uint64_t before = Result.compared;
  for (const auto &[index, x] : a.outputs) {
    auto y = b.outputs.find(index);
    if (y == b.outputs.end() && isUnknown(/*isInFirst=*/true))
      continue;
    Status bad = y != b.outputs.end() ? compareOutput(*x, *y->second)
                                      : differ(task, *x, x->argName, "", "is an output", "is none");
    if (!bad.isOk())
      return bad;
    if (Result.difference)
      return findDifferentInputs(a, b);
  }
  Result.tasks += Result.compared != before;
  return Status::ok();
}

Expected<DumpComparison>
kiln::compareDumps(const DumpFile &first, const DumpFile &second,
                   const std::function<bool(const DumpEntry &)> &isSelected) {
  std::map<uint64_t, std::pair<TaskEntries, TaskEntries>> tasks;
  auto collect = [&](const DumpFile &file, TaskEntries std::pair<TaskEntries, TaskEntries>::*side) {
    for (const DumpEntry &entry : file.entries()) {
      if (entry.internal || !isSelected(entry))
        continue;
      TaskEntries &task = tasks[entry.task].*side;
      task.any = &entry;
      if (entry.stage == DumpStage::BeforeDispatch)
        task.inputs.push_back(&entry);
      else
        task.outputs[entry.argIndex] = &entry;
    }
  };
  collect(first, &std::pair<TaskEntries, TaskEntries>::first);
  collect(second, &std::pair<TaskEntries, TaskEntries>::second);
  Comparer comparer(first, second);
  for (const auto &[task, sides] : tasks) {
    if (Status bad = comparer.compareTask(task, sides.first, sides.second); !bad.isOk())
      return bad;
    if (comparer.Result.difference)
      break;
  }
  return comparer.Result;
}
