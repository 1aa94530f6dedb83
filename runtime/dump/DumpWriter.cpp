#include "dump/DumpWriter.h"

#include "abi/FileIo.h"
#include "dump/DumpFormat.h"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <unistd.h>

using namespace kiln;
using Json = nlohmann::ordered_json;

static Status ioError(const std::string &message) {
  return Status(StatusCode::IoError, "tensor dump stopped: " + message);
}

static Status ioErrno(const std::string &action, const std::string &path) {
  return ioError("cannot " + action + " '" + path + "': " + std::strerror(errno));
}

DumpWriter::DumpWriter(const DumpOptions &options, unsigned) : Options(options) {
  Directory = options.directory + "/" + dumpformat::subdirectory;
  ManifestPath = Directory + "/" + dumpformat::manifestFile;
  PayloadPath = Directory + "/" + dumpformat::payloadFile;
  TempPath = PayloadPath + ".tmp" + std::to_string(getpid());
  open();
}

DumpWriter::~DumpWriter() {
  if (Payload)
    fail(ioError("abandoned"));
}

void DumpWriter::open() {
  std::error_code error;
  std::filesystem::create_directories(Directory, error);
  if (error)
    return fail(ioError("cannot create directory '" + Directory + "': " + error.message()));
  for (const std::string &stale : {ManifestPath, PayloadPath})
    if (std::remove(stale.c_str()) != 0 && errno != ENOENT)
      return fail(ioErrno("replace", stale));
  Payload = std::fopen(TempPath.c_str(), "wb");
  if (!Payload)
    fail(ioErrno("create", TempPath));
}

void DumpWriter::fail(Status error) {
  if (Error.isOk())
    Error = std::move(error);
  if (Payload) {
    std::fclose(Payload);
    std::remove(TempPath.c_str());
  }
  Payload = nullptr;
  Records.clear();
}

void DumpWriter::write(const void *bytes, uint64_t size) {
  if (size != 0 && std::fwrite(bytes, 1, size, Payload) != size)
    return fail(ioErrno("write", PayloadPath));
  PayloadBytes += size;
}

void DumpWriter::beforeDispatch(unsigned, const DumpTask &task) {
  std::lock_guard lock(Mutex);
  if (!Error.isOk())
    return;
  if (!task.kernel.signature)
    UnsignedTasks.insert(task.index);
  captureTensors(task, DumpStage::BeforeDispatch);
  captureScalars(task);
}

void DumpWriter::afterCompletion(unsigned, const DumpTask &task) {
  std::lock_guard lock(Mutex);
  captureTensors(task, DumpStage::AfterCompletion);
}

DumpRecord DumpWriter::newRecord(const DumpTask &task, size_t argIndex, DumpStage stage) {
  auto [it, isNew] = KernelIndex.try_emplace(&task.kernel, static_cast<uint32_t>(Kernels.size()));
  if (isNew)
    Kernels.push_back(&task.kernel);
  DumpRecord record{};
  record.task = task.index;
  record.kernel = it->second;
  record.argIndex = static_cast<uint16_t>(argIndex);
  record.stage = static_cast<uint8_t>(stage);
  record.binOffset = PayloadBytes;
  if (!task.kernel.signature)
    record.flags |= DumpRecord::Unsigned;
  return record;
}

void DumpWriter::captureTensors(const DumpTask &task, DumpStage stage) {
  for (size_t i = 0; i < task.tensors.size() && Error.isOk(); ++i) {
    Direction direction = task.directions[i];
    if (!(stage == DumpStage::BeforeDispatch ? reads(direction) : writes(direction)))
      continue;
    DumpRecord record = newRecord(task, i, stage);
    record.role = static_cast<uint8_t>(direction);
    if (task.kernel.signature && task.kernel.signature->tensors[i].internal)
      record.flags |= DumpRecord::Internal;
    append(task.tensors[i], task.buffers[i], record);
  }
}

void DumpWriter::append(const kiln_tensor &abi, const std::shared_ptr<Buffer> &buffer,
                        DumpRecord &record) {
  auto offset = static_cast<uint64_t>(static_cast<std::byte *>(abi.data) -
                                      static_cast<std::byte *>(buffer->data()));
  Expected<Tensor> tensor = Tensor::view(buffer, offset, static_cast<DType>(abi.dtype),
                                         Dims(abi.extents, abi.rank), Dims(abi.strides, abi.rank));
  if (!tensor)
    return fail(ioError(tensor.status().message()));
  record.rank = static_cast<uint8_t>(tensor->rank());
  std::copy(tensor->extents().begin(), tensor->extents().end(), record.shape);
  std::copy(tensor->strides().begin(), tensor->strides().end(), record.strides);
  record.dtype = static_cast<uint8_t>(tensor->dtype());
  record.address = reinterpret_cast<uintptr_t>(tensor->data());
  record.bufferId = buffer->id();
  record.offset = offset / static_cast<uint64_t>(sizeOf(tensor->dtype()));
  if (tensor->isContiguous())
    record.flags |= DumpRecord::Contiguous;
  if (!(record.flags & DumpRecord::Internal)) {
    record.binSize = tensor->numBytes();
    if (tensor->isContiguous()) {
      write(tensor->data(), record.binSize);
    } else if (Expected<std::vector<std::byte>> bytes = tensor->gatherBytes()) {
      write(bytes->data(), bytes->size());
    } else {
      fail(ioError(bytes.status().message()));
    }
  }
  if (Error.isOk())
    Records.push_back(record);
}

void DumpWriter::captureScalars(const DumpTask &task) {
  for (size_t i = 0; i < task.scalars.size() && Error.isOk(); ++i) {
    DumpRecord record = newRecord(task, task.tensors.size() + i, DumpStage::BeforeDispatch);
    record.flags |= DumpRecord::Scalar;
    record.dtype = static_cast<uint8_t>(task.scalarTypes[i]);
    record.scalarBits = task.scalars[i];
    Records.push_back(record);
  }
}

DumpEntry DumpWriter::describe(const DumpRecord &record) const {
  const KernelRecord &kernel = *Kernels[record.kernel];
  DumpEntry entry;
  entry.task = record.task;
  entry.kernel = kernel.name;
  entry.kernels = kernel.members.empty() ? std::vector<std::string>{kernel.name} : kernel.members;
  entry.argIndex = record.argIndex;
  entry.argName = kernel.signature ? kernel.signature->argName(record.argIndex)
                                   : "arg" + std::to_string(record.argIndex);
  entry.isScalar = record.flags & DumpRecord::Scalar;
  entry.role = static_cast<Direction>(record.role);
  entry.stage = static_cast<DumpStage>(record.stage);
  entry.dtype = static_cast<DType>(record.dtype);
  entry.hasSignature = !(record.flags & DumpRecord::Unsigned);
  entry.shape.assign(record.shape, record.shape + record.rank);
  entry.strides.assign(record.strides, record.strides + record.rank);
  entry.offset = record.offset;
  entry.contiguous = record.flags & DumpRecord::Contiguous;
  char address[24];
  std::snprintf(address, sizeof(address), "0x%llx",
                static_cast<unsigned long long>(record.address));
  entry.address = address;
  entry.bufferId = record.bufferId;
  entry.internal = record.flags & DumpRecord::Internal;
  entry.truncated = record.flags & DumpRecord::Truncated;
  entry.binOffset = record.binOffset;
  entry.binSize = record.binSize;
  entry.scalar = {record.scalarBits, entry.dtype};
  return entry;
}

std::string DumpWriter::renderManifest(const RunSummary &run) const {
  uint64_t scalars = 0, before = 0, truncated = 0;
  for (const DumpRecord &record : Records) {
    scalars += (record.flags & DumpRecord::Scalar) != 0;
    truncated += (record.flags & DumpRecord::Truncated) != 0;
    before += record.stage == static_cast<uint8_t>(DumpStage::BeforeDispatch);
  }
  Json root;
  root["format"] = dumpformat::formatName;
  root["version"] = dumpformat::formatVersion;
  root["level"] = Options.level;
  root["run"] = {{"program", run.program},
                 {"platform", run.platform},
                 {"seed", run.seed},
                 {"tasks", run.tasks},
                 {"status", run.failure.isOk() ? "ok" : "failed"},
                 {"error", run.failure.isOk() ? "" : run.failure.str()}};
  root["bin_file"] = dumpformat::payloadFile;
  root["bin_bytes"] = PayloadBytes;
  root["totals"] = {{"records", Records.size()},
                    {"tensors", Records.size() - scalars},
                    {"scalars", scalars},
                    {"by_stage",
                     {{toString(DumpStage::BeforeDispatch), before},
                      {toString(DumpStage::AfterCompletion), Records.size() - before}}},
                    {"truncated", truncated},
                    {"dropped", 0}, // nothing is ever dropped: a capture succeeds or the dump stops
                    {"unsigned", UnsignedTasks.size()}};
  root["unsigned_tasks"] = UnsignedTasks;

  // The head is for people, so indented; an entry a line, so that grep works.
  std::string text = root.dump(2, ' ', false, Json::error_handler_t::replace);
  text.erase(text.rfind("\n}"));
  text += ",\n  \"entries\": [";
  for (size_t i = 0; i < Records.size(); ++i)
    text +=
        (i ? ",\n    " : "\n    ") + dumpformat::toText(dumpformat::toJson(describe(Records[i])));
  return text + (Records.empty() ? "]\n}\n" : "\n  ]\n}\n");
}

Status DumpWriter::finish(const RunSummary &run) {
  if (!Error.isOk())
    return Error;
  std::FILE *payload = std::exchange(Payload, nullptr);
  if (std::fclose(payload) != 0) { // flushes: a full disk may show only here
    Status error = ioErrno("write", PayloadPath);
    std::remove(TempPath.c_str());
    return error;
  }
  // The payload first: a manifest never refers to a file that is not complete.
  if (std::rename(TempPath.c_str(), PayloadPath.c_str()) != 0) {
    Status error = ioErrno("create", PayloadPath);
    std::remove(TempPath.c_str());
    return error;
  }
  if (Status bad = writeFileAtomically(ManifestPath, renderManifest(run)); !bad.isOk()) {
    std::remove(PayloadPath.c_str());
    return ioError(bad.message());
  }
  return Status::ok();
}
