//===- RecordC.cpp - kiln/record_c.h -----------------------------------------------------===//
#include "Recorder.h"

#include "kiln/Program/Signature.h"

#include "mlir/IR/AsmState.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/JSON.h"

using namespace kiln;
using namespace kiln::record;

struct kiln_recorder {
  Recorder recorder;
};

//===----------------------------------------------------------------------===//
// Recorder
//===----------------------------------------------------------------------===//

static SourceLoc lineOf(const kiln_where &where) {
  return {where.file ? where.file : "", int32_t(where.line), int32_t(where.column)};
}

/// Makes a line of another language the one that everything recorded in its scope has.
namespace {
class At {
public:
  explicit At(const kiln_where &where) : Line(lineOf(where)) { ProgramImpl::foreignLine = &Line; }
  ~At() { ProgramImpl::foreignLine = nullptr; }

private:
  SourceLoc Line;
};
} // namespace

static Program beginProgram(const std::string &name, const kiln_where &at) {
  At line(at);
  return Program(name);
}

Recorder::Recorder(const std::string &name, const kiln_where &at)
    : program(beginProgram(name, at)) {
  program.impl().nestsFunctions = true;
}

void Recorder::give(const Held &held) {
  values.push_back(held);
  results.push_back(
      {int64_t(values.size()), held.kind, int32_t(held.type), held.rows, held.cols, held.rank, 0});
}

void Recorder::give(int64_t constant) {
  results.push_back({constant, KILN_VALUE_CONSTANT, int32_t(DType::Index), 1, 1, 0, 0});
}

const Held &Recorder::held(uint64_t number) const {
  if (number == 0 || number > values.size())
    throw BadArgument("takes values of this program; " + std::to_string(number) + " is none");
  return values[number - 1];
}

Frame Recorder::end(Frame::Kind kind, const char *what) {
  if (!isIn(kind))
    throw BadArgument(std::string("ends ") + what + ", which is not what was begun last");
  Frame frame = std::move(frames.back());
  frames.pop_back();
  return frame;
}

void Recorder::beginFunction(const std::string &kind, const std::string &name,
                             const std::vector<ParamSpec> &params, const KernelOptions &options,
                             Where where) {
  static constexpr const char *kinds[] = {"orchestration", "incore", "group"};
  const auto *known = llvm::find_if(kinds, [&](const char *each) { return kind == each; });
  if (known == std::end(kinds))
    throw BadArgument("begins an orchestration, incore or group, not '" + kind + "'");
  Program::Header header{*known, name, {}, options};
  std::vector<detail::ParamType> types;
  for (const ParamSpec &param : params) {
    header.params.emplace_back(param.name.c_str(), param.extents);
    types.push_back(param.type);
  }
  Frame frame{.kind = Frame::Function};
  frame.function = program.begin(header, types, where);
  for (size_t index = 0; index < frame.function.args.size(); ++index) {
    detail::ParamType type = types[index];
    kiln_value_kind of = type.kind == detail::ParamType::TensorKind   ? KILN_VALUE_TENSOR
                         : type.kind == detail::ParamType::ScalarKind ? KILN_VALUE_SCALAR
                                                                      : KILN_VALUE_INDEX;
    give({of, frame.function.args[index], type.type, 1, 1, frame.function.ranks[index],
          type.access});
  }
  begin(frame);
}

void Recorder::endFunction() { program.end(end(Frame::Function, "a function").function); }

Kernel Recorder::kernelOf(const std::string &name) const { return Kernel(name); }

void Recorder::fail(const std::string &message, const kiln_where &at) {
  program.impl().errors.emplace_back(StatusCode::InvalidArgument, message, lineOf(at));
}

//===----------------------------------------------------------------------===//
// The interface
//===----------------------------------------------------------------------===//

static const Operation *findOperation(llvm::StringRef name) {
  static const llvm::StringMap<const Operation *> byName = [] {
    llvm::StringMap<const Operation *> map;
    for (const Operation &each : operations())
      map[each.name] = &each;
    return map;
  }();
  return byName.lookup(name);
}

/// Runs what may throw; nothing leaves through C.
template <typename Body>
static void guarded(Recorder &recorder, const kiln_where &where, Body body) {
  try {
    body();
  } catch (const std::exception &error) {
    recorder.fail(error.what(), where);
  }
}

kiln_recorder *kiln_recorder_create(const char *name, kiln_where where) {
  try {
    return new kiln_recorder{Recorder(name ? name : "", where)};
  } catch (const std::exception &) {
    return nullptr; // there is no memory
  }
}

void kiln_recorder_destroy(kiln_recorder *recorder) { delete recorder; }

int32_t kiln_record(kiln_recorder *handle, const char *name, const kiln_item *arguments,
                    uint32_t num_arguments, kiln_where where, kiln_result *results,
                    uint32_t max_results) {
  if (!handle || !handle->recorder.errors().empty())
    return -1;
  Recorder &recorder = handle->recorder;
  At line(where);
  ProgramImpl::Turn turn(recorder.program.impl());
  recorder.results.clear();
  guarded(recorder, where, [&] {
    if (!name || (num_arguments > 0 && !arguments))
      throw BadArgument(name ? "the list of arguments is NULL" : "the operation is NULL");
    const Operation *operation = findOperation(name);
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
      operation->record(recorder, items.data(), Where::current());
    } catch (const BadArgument &bad) {
      throw BadArgument(operation->name + " " + bad.what());
    }
  });
  if (!recorder.errors().empty())
    return -1;
  for (size_t index = 0; results && index < recorder.results.size() && index < max_results; ++index)
    results[index] = recorder.results[index];
  return int32_t(recorder.results.size());
}

int32_t kiln_recorder_verify(kiln_recorder *handle) {
  if (!handle)
    return -1;
  guarded(handle->recorder, {}, [&] { (void)handle->recorder.program.errors(); });
  return handle->recorder.errors().empty() ? 0 : -1;
}

const char *kiln_recorder_error(kiln_recorder *handle, kiln_where *where) {
  if (!handle)
    return "the recorder is NULL";
  Recorder &recorder = handle->recorder;
  recorder.text.clear();
  recorder.file.clear();
  SourceLoc at;
  if (!recorder.errors().empty()) {
    recorder.text = recorder.errors().front().message();
    at = recorder.errors().front().location();
    recorder.file = at.file;
  }
  if (where)
    *where = {recorder.file.c_str(), uint32_t(at.line), uint32_t(at.col)};
  return recorder.text.c_str();
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
  moduleOf(recorder.program)->print(os, flags);
  return recorder.text.c_str();
}

const char *kiln_recorder_operations(void) {
  static const std::string text = [] {
    std::string made;
    llvm::raw_string_ostream stream(made);
    llvm::json::OStream json(stream); // a tree of hundreds of hash tables would take milliseconds
    auto writeParameter = [&](const Operation::Parameter &parameter) {
      json.attribute("name", parameter.name);
      json.attribute("kind", parameter.kind);
      if (parameter.standard) {
        json.attributeBegin("default");
        json.rawValue(parameter.standard);
        json.attributeEnd();
      }
    };
    json.array([&] {
      for (const Operation &operation : operations())
        json.object([&] {
          json.attribute("name", operation.name);
          json.attribute("summary", operation.summary);
          json.attributeArray("parameters", [&] {
            for (const Operation::Parameter &parameter : operation.parameters)
              json.object([&] { writeParameter(parameter); });
          });
        });
    });
    return made;
  }();
  return text.c_str();
}
