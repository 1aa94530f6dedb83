//===- TorchWorker.cpp - runs emitted PyTorch in a long-lived Python process --------===//
#include "TorchProcess.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"

#include <cstdlib>
#include <cstring>

namespace kiln {
namespace json = llvm::json;

//===----------------------------------------------------------------------===//
// Which Python
//===----------------------------------------------------------------------===//

TorchWorker::TorchWorker(std::unique_ptr<Process> process) : Python(std::move(process)) {}
TorchWorker::~TorchWorker() = default;
bool TorchWorker::isAlive() const { return Python->isAlive(); }
const std::string &TorchWorker::traceback() const { return Traceback; }
const std::string &TorchWorker::interpreter() const { return Python->Interpreter; }

Expected<std::unique_ptr<TorchWorker>> TorchWorker::start() {
  if (std::unique_ptr<Process> fork = Process::fork())
    return std::unique_ptr<TorchWorker>(new TorchWorker(std::move(fork)));
  return startOwn();
}

Expected<std::unique_ptr<TorchWorker>> TorchWorker::startOwn() {
  auto attempt = [](const std::string &interpreter) -> Expected<std::unique_ptr<TorchWorker>> {
    Expected<std::unique_ptr<Process>> process = Process::spawn(interpreter);
    if (!process)
      return process.status();
    Expected<Process::Message> hello = (*process)->hello();
    if (!hello)
      return hello.status();
    if (!hello->header.getBoolean("torch").value_or(false))
      return Status(StatusCode::NotFound, "'" + interpreter + "' has no torch");
    return std::unique_ptr<TorchWorker>(new TorchWorker(std::move(*process)));
  };
  if (const char *chosen = std::getenv("KILN_PYTHON"); chosen && *chosen) {
    Expected<std::unique_ptr<TorchWorker>> worker = attempt(chosen);
    if (worker || isInterrupted())
      return worker;
    return Status(StatusCode::NotFound,
                  "KILN_PYTHON does not name a Python with torch: " + worker.status().message());
  }
  std::string reasons;
  for (const char *interpreter : {"python3", "/usr/bin/python3"}) {
    Expected<std::unique_ptr<TorchWorker>> worker = attempt(interpreter);
    if (worker)
      return worker;
    reasons += (reasons.empty() ? "" : "; ") + worker.status().message();
  }
  return Status(StatusCode::NotFound,
                "there is no Python with torch (" + reasons +
                    "); install python3-torch, or set KILN_PYTHON to an interpreter that has it");
}

//===----------------------------------------------------------------------===//
// A run
//===----------------------------------------------------------------------===//

namespace {
/// Memory that one or several tensors lie in: sent once, so that what overlaps here overlaps there.
struct Region {
  std::byte *begin, *end;
  bool isWritable = false;
  llvm::StringRef bytes() const {
    return {reinterpret_cast<const char *>(begin), size_t(end - begin)};
  }
};
} // namespace

static std::byte *endOf(const Tensor &tensor) {
  return tensor.dataAs<std::byte>() + tensor.spanBytes();
}

static llvm::SmallVector<Region> regionsOf(std::span<const TorchArgument> args) {
  llvm::SmallVector<Region> all, merged;
  for (const TorchArgument &arg : args)
    if (auto *tensor = std::get_if<Tensor>(&arg); tensor && tensor->spanBytes() > 0)
      all.push_back({tensor->dataAs<std::byte>(), endOf(*tensor), !tensor->isReadOnly()});
  llvm::sort(all, [](const Region &a, const Region &b) { return a.begin < b.begin; });
  for (const Region &region : all) {
    if (merged.empty() || region.begin >= merged.back().end) {
      merged.push_back(region);
      continue;
    }
    merged.back().end = std::max(merged.back().end, region.end);
    merged.back().isWritable |= region.isWritable;
  }
  return merged;
}

static const char *torchName(DType dtype) {
  switch (dtype) {
  case DType::F32:
    return "float32";
  case DType::F16:
    return "float16";
  case DType::BF16:
    return "bfloat16";
  case DType::F8E4M3FN:
  case DType::F8E5M2:
    return "uint8";
  case DType::I8:
    return "int8";
  case DType::I16:
    return "int16";
  case DType::I32:
    return "int32";
  case DType::I64:
  case DType::Index:
    return "int64";
  case DType::I1:
    return "bool";
  }
  return "float32";
}

static json::Object describe(const Tensor &tensor, llvm::ArrayRef<Region> regions) {
  const auto *at = tensor.dataAs<std::byte>();
  size_t index = 0;
  while (index < regions.size() && !(at >= regions[index].begin && at < regions[index].end))
    ++index;
  int64_t offset = index < regions.size() ? at - regions[index].begin : 0;
  return json::Object{{"region", int64_t(index)},
                      {"offset", offset},
                      {"span", int64_t(tensor.spanBytes() / sizeOf(tensor.dtype()))},
                      {"dtype", torchName(tensor.dtype())},
                      {"extents", json::Array(tensor.extents())},
                      {"strides", json::Array(tensor.strides())}};
}

static json::Object describe(const ScalarBits &scalar) {
  if (isFloat(scalar.type)) {
    char text[64]; // hexadecimal: exact, and it knows infinity and NaN
    std::snprintf(text, sizeof text, "%a", scalar.asDouble());
    return json::Object{{"float", std::string(text)}};
  }
  return json::Object{{scalar.type == DType::I1 ? "bool" : "int", scalar.asInt()}};
}

/// The Python exception an answer tells of, if any.
static Status errorOf(const json::Object &header, std::string &traceback,
                      std::vector<int64_t> &failedLines) {
  std::optional<llvm::StringRef> error = header.getString("error");
  if (!error)
    return Status::ok();
  traceback = header.getString("traceback").value_or("").str();
  if (const json::Array *lines = header.getArray("lines"))
    for (const json::Value &line : *lines)
      failedLines.push_back(line.getAsInteger().value_or(0));
  bool isDeadlock = error->starts_with("RuntimeError: Cross-core simulation deadlock");
  return Status(isDeadlock ? StatusCode::Deadlock : StatusCode::KernelFailed, printable(*error));
}

Status TorchWorker::run(const std::string &source, const std::string &entry,
                        std::span<const TorchArgument> args) {
  Expected<std::optional<size_t>> done = execute(source, entry, args, std::nullopt);
  return done ? Status::ok() : done.status();
}

Expected<std::optional<size_t>> TorchWorker::record(const std::string &source,
                                                    const std::string &entry,
                                                    std::span<const TorchArgument> args,
                                                    uint64_t limit) {
  return execute(source, entry, args, limit);
}

Expected<std::optional<size_t>> TorchWorker::execute(const std::string &source,
                                                     const std::string &entry,
                                                     std::span<const TorchArgument> args,
                                                     std::optional<uint64_t> limit) {
  Traceback.clear();
  FailedLines.clear();
  llvm::SmallVector<Region> regions = regionsOf(args);
  json::Array specs;
  for (const TorchArgument &arg : args) {
    if (auto *tensor = std::get_if<Tensor>(&arg)) {
      if (Status status = tensor->validate(); !status.isOk())
        return status.withPrefix("argument " + std::to_string(specs.size()));
      specs.push_back(describe(*tensor, regions));
    } else {
      specs.push_back(describe(std::get<ScalarBits>(arg)));
    }
  }
  json::Object request{{"source", json::fixUTF8(source)},
                       {"entry", json::fixUTF8(entry)},
                       {"args", std::move(specs)}};
  if (limit)
    request["record"] = int64_t(std::min<uint64_t>(*limit, INT64_MAX));
  auto memory = llvm::to_vector(llvm::map_range(regions, std::mem_fn(&Region::bytes)));
  Expected<Process::Message> answer = Python->ask(request, memory);
  if (!answer && answer.status().code() == StatusCode::IoError && Python->isFork()) {
    // How a fork has ended only its parent knows; a Python of our own will tell.
    if (Expected<std::unique_ptr<TorchWorker>> own = startOwn()) {
      Python = std::move((*own)->Python);
      answer = Python->ask(std::move(request), memory);
    }
  }
  if (!answer)
    return answer.status();
  if (Status error = errorOf(answer->header, Traceback, FailedLines); !error.isOk())
    return error;
  llvm::StringRef bytes = answer->payload;
  for (const Region &region : regions) {
    llvm::StringRef now = bytes.take_front(region.bytes().size());
    bytes = bytes.drop_front(now.size());
    if (now == region.bytes())
      continue;
    if (!region.isWritable)
      return Status(StatusCode::KernelFailed, "the program stores to a tensor that is read-only");
    std::memcpy(region.begin, now.data(), now.size());
  }
  std::optional<int64_t> tasks = answer->header.getInteger("tasks");
  return tasks ? std::optional<size_t>(*tasks) : std::nullopt;
}

//===----------------------------------------------------------------------===//
// Tasks of a recorded run
//===----------------------------------------------------------------------===//

Expected<TorchRerun> TorchWorker::rerun(const std::string &source,
                                        std::span<const std::string> kernels, size_t first) {
  Traceback.clear();
  FailedLines.clear();
  json::Array names;
  for (const std::string &kernel : kernels)
    names.push_back(json::fixUTF8(kernel));
  Expected<Process::Message> answer = Python->ask(json::Object{{"source", json::fixUTF8(source)},
                                                               {"kernels", std::move(names)},
                                                               {"first", int64_t(first)}},
                                                  {});
  if (!answer)
    return answer.status();
  const json::Object &header = answer->header;
  Status error = errorOf(header, Traceback, FailedLines);
  if (!error.isOk() && !header.getInteger("task"))
    return error; // not that of a task
  TorchRerun result;
  result.tasks = header.getInteger("rerun").value_or(0);
  result.stop = header.getInteger("task");
  result.kernel = header.getString("kernel").value_or("").str();
  result.failure = error;
  const json::Array *changed = header.getArray("changed");
  llvm::StringRef bytes = answer->payload;
  for (const json::Value &value :
       changed ? llvm::ArrayRef<json::Value>(*changed) : llvm::ArrayRef<json::Value>()) {
    const json::Object &spec = *value.getAsObject();
    TorchRerun::Changed tensor;
    tensor.argument = *spec.getInteger("argument");
    for (const json::Value &extent : *spec.getArray("extents"))
      tensor.extents.push_back(*extent.getAsInteger());
    size_t size = *spec.getInteger("bytes");
    tensor.was = bytes.take_front(size).str();
    tensor.is = bytes.drop_front(size).take_front(size).str();
    bytes = bytes.drop_front(2 * size);
    result.changed.push_back(std::move(tensor));
  }
  return result;
}

} // namespace kiln
