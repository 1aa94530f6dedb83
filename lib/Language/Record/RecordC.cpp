//===- RecordC.cpp - kiln/record_c.h -----------------------------------------------------===//
#include "Recorder.h"

#include "kiln/Dialect/Kiln/CompilerChoices.h"
#include "kiln/Program/Signature.h"

#include "mlir/IR/AsmState.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/JSON.h"

#include <atomic>

using namespace kiln;
using namespace kiln::record;

//===----------------------------------------------------------------------===//
// Recorder
//===----------------------------------------------------------------------===//

/// The upper half of a number says which program the value belongs to; 0 is none.
static constexpr unsigned kBitsInProgram = 32;

static uint64_t firstNumberOfProgram() {
  static std::atomic<uint64_t> programs = 0;
  return (++programs << kBitsInProgram) + 1;
}

Recorder::Recorder(const std::string &name, Where where, uint32_t flags)
    : program(std::make_unique<Tracer>(name, where)), goesOn(flags & KILN_RECORDER_GOES_ON),
      firstNumber(firstNumberOfProgram()) {
  program->nestsFunctions = flags & KILN_RECORDER_NESTS_FUNCTIONS;
}

void Recorder::give(const Held &held) {
  values.push_back(held);
  results.push_back({int64_t(firstNumber + values.size() - 1), held.kind, int32_t(held.type),
                     held.rows, held.cols, held.rank, 0});
}

void Recorder::give(int64_t constant) {
  results.push_back({constant, KILN_VALUE_CONSTANT, int32_t(DType::Index), 1, 1, 0, 0});
}

const Held &Recorder::held(uint64_t number) const {
  if (number == 0 && canGoOn())
    throw NotRecorded();
  if (number >= firstNumber && number - firstNumber < values.size())
    return values[number - firstNumber];
  uint64_t owner = number >> kBitsInProgram;
  if (owner != 0 && owner != firstNumber >> kBitsInProgram)
    throw BadArgument("takes values of this program, and one belongs to another");
  throw BadArgument("takes values of this program; " + std::to_string(number) + " is none");
}

Frame Recorder::end(Frame::Kind kind, const char *what) {
  if (!isIn(kind))
    throw BadArgument(std::string("ends ") + what + ", which is not what was begun last");
  Frame frame = std::move(frames.back());
  frames.pop_back();
  return frame;
}

void Recorder::endAllInFunction() {
  while (!frames.empty() && !isIn(Frame::Function))
    frames.pop_back();
}

void Recorder::fail(const std::string &message, Where where) {
  if (!program)
    return;
  program->line = where;
  program->error(message);
}

mlir::ModuleOp kiln::moduleOf(kiln_recorder *recorder) {
  return *recorder->recorder.program->module;
}

const std::vector<Status> &kiln::errorsOf(kiln_recorder *recorder) {
  recorder->recorder.program->verify();
  return recorder->recorder.program->errors;
}

//===----------------------------------------------------------------------===//
// The interface
//===----------------------------------------------------------------------===//

static const RecordedOp *findOperation(llvm::StringRef name) {
  static const llvm::StringMap<const RecordedOp *> byName = [] {
    llvm::StringMap<const RecordedOp *> map;
    for (const RecordedOp &each : operations())
      map[each.name] = &each;
    return map;
  }();
  return byName.lookup(name);
}

/// Runs what may throw; nothing leaves through C. False: it threw.
template <typename Body> static bool guarded(Recorder &recorder, Where where, Body body) {
  try {
    body();
    return true;
  } catch (const NotRecorded &) {
    return false;
  } catch (const std::exception &error) {
    recorder.fail(error.what(), where);
    return false;
  }
}

kiln_recorder *kiln_recorder_create(const char *name, uint32_t flags, kiln_where where) {
  try {
    return new kiln_recorder{Recorder(name ? name : "", where, flags)};
  } catch (const std::exception &) {
    return nullptr; // there is no memory
  }
}

void kiln_recorder_destroy(kiln_recorder *recorder) { delete recorder; }

/// Whether an item is this part, or a list that it is in.
static bool holds(const kiln_item &item, const kiln_item *part) {
  return &item == part || (item.kind == KILN_ITEM_LIST && item.is.list &&
                           llvm::any_of(std::span(item.is.list, item.count),
                                        [&](const kiln_item &each) { return holds(each, part); }));
}

static void recordOperation(Recorder &recorder, const char *name, const kiln_item *arguments,
                            uint32_t num_arguments) {
  if (!name || (num_arguments > 0 && !arguments))
    throw BadArgument(name ? "the list of arguments is NULL" : "the operation is NULL");
  const RecordedOp *operation = findOperation(name);
  if (!operation)
    throw BadArgument(std::string("there is no operation '") + name + "'");
  // What is left out at the end takes its default, too.
  std::vector<kiln_item> items(arguments, arguments + num_arguments);
  if (items.size() > operation->parameters.size())
    throw BadArgument(operation->name + " takes " + std::to_string(operation->parameters.size()) +
                      " arguments, not " + std::to_string(items.size()));
  items.resize(operation->parameters.size(), kiln_item{KILN_ITEM_NOTHING, 0, {0}});
  for (auto [item, parameter] : llvm::zip(items, operation->parameters))
    if (item.kind == KILN_ITEM_NOTHING && !parameter.standard)
      throw BadArgument(operation->name + " needs '" + parameter.name + "'");
  try {
    operation->record(recorder, items.data());
  } catch (const WrongKind &bad) {
    auto isIn = [&](const kiln_item &item) { return holds(item, bad.item); };
    size_t at = size_t(llvm::find_if(items, isIn) - items.begin());
    if (at == items.size())
      throw BadArgument(operation->name + " " + bad.what());
    throw BadArgument(operation->name + ": '" + operation->parameters[at].name + "' " + bad.what());
  } catch (const BadArgument &bad) {
    throw BadArgument(operation->name + " " + bad.what());
  }
}

int32_t kiln_record(kiln_recorder *handle, const char *name, const kiln_item *arguments,
                    uint32_t num_arguments, kiln_where where, kiln_result *results,
                    uint32_t max_results) {
  Recorder none;
  Recorder &recorder = handle ? handle->recorder : none;
  if (recorder.hasStopped())
    return -1;
  Tracer::Turn turn(recorder.program.get(), where);
  recorder.results.clear();
  bool isDone =
      guarded(recorder, where, [&] { recordOperation(recorder, name, arguments, num_arguments); });
  if (!isDone || recorder.hasStopped())
    return -1;
  for (size_t index = 0; results && index < recorder.results.size() && index < max_results; ++index)
    results[index] = recorder.results[index];
  return int32_t(recorder.results.size());
}

const kiln_result *kiln_recorder_results(kiln_recorder *handle) {
  return handle ? handle->recorder.results.data() : nullptr;
}

int32_t kiln_recorder_verify(kiln_recorder *handle) {
  if (!handle)
    return -1;
  guarded(handle->recorder, {}, [&] { (void)errorsOf(handle); });
  return handle->recorder.program->errors.empty() ? 0 : -1;
}

const char *kiln_recorder_error(kiln_recorder *handle, uint32_t index, kiln_where *where) {
  if (!handle)
    return index == 0 ? "the recorder is NULL" : "";
  Recorder &recorder = handle->recorder;
  recorder.text.clear();
  recorder.file.clear();
  SourceLoc at;
  if (const std::vector<Status> &errors = recorder.program->errors; index < errors.size()) {
    recorder.text = errors[index].message();
    at = errors[index].location();
    recorder.file = at.file;
  }
  if (where)
    *where = {recorder.file.c_str(), uint32_t(at.line), uint32_t(at.col)};
  return recorder.text.c_str();
}

int32_t kiln_recorder_choose(kiln_recorder *handle, const char *name, const char *value) {
  if (!handle)
    return -1;
  Recorder &recorder = handle->recorder;
  std::string wrong = name && value
                          ? ir::chooseForCompiler(recorder.program->module.get(), name, value)
                          : "the name of a choice for the compiler, or its value, is NULL";
  if (wrong.empty())
    return 0;
  recorder.fail(wrong, {});
  return -1;
}

const char *kiln_recorder_text(kiln_recorder *handle, int32_t with_locations) {
  if (!handle)
    return "";
  Recorder &recorder = handle->recorder;
  recorder.text.clear();
  llvm::raw_string_ostream os(recorder.text);
  mlir::OpPrintingFlags flags;
  if (with_locations)
    flags.enableDebugInfo(true, /*prettyForm=*/false);
  recorder.program->module->print(os, flags);
  return recorder.text.c_str();
}

const char *kiln_recorder_operations(void) {
  static const std::string text = [] {
    std::string made;
    llvm::raw_string_ostream stream(made);
    llvm::json::OStream json(stream); // a tree of hundreds of hash tables would take milliseconds
    auto writeParameter = [&](const RecordedOp::Parameter &parameter) {
      json.attribute("name", parameter.name);
      json.attribute("kind", parameter.kind);
      if (parameter.standard) {
        json.attributeBegin("default");
        json.rawValue(parameter.standard);
        json.attributeEnd();
      }
    };
    json.array([&] {
      for (const RecordedOp &operation : operations())
        json.object([&] {
          json.attribute("name", operation.name);
          json.attribute("summary", operation.summary);
          json.attributeArray("parameters", [&] {
            for (const RecordedOp::Parameter &parameter : operation.parameters)
              json.object([&] { writeParameter(parameter); });
          });
        });
    });
    return made;
  }();
  return text.c_str();
}
