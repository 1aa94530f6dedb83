#include "dump/DumpWriter.h"

#include "dump/DumpFormat.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>

using namespace kiln;
using dumpformat::onlyMarked, dumpformat::payloadOfMarked;

/// A worker's buffer goes to the writer when it holds this much.
static constexpr size_t chunkBytes = 256 << 10;
/// Workers wait when this much is on its way to the disk.
static constexpr size_t maxQueuedBytes = 32 << 20;

/// How long to wait for a worker, or for another thread that completes the dump, when the process
/// has to end. In any other case nobody is there to wait for.
static constexpr auto patience = std::chrono::milliseconds(200);

static Status ioError(const std::string &message) {
  return Status(StatusCode::IoError, "tensor dump stopped: " + message);
}

static Status ioErrno(const std::string &action, const std::string &path) {
  return ioError("cannot " + action + " '" + path + "': " + std::strerror(errno));
}

DumpWriter::DumpWriter(const DumpOptions &options, Run run, unsigned numWorkers)
    : Options(options), About(std::move(run)), Captures(numWorkers) {
  Directory = dumpDirectory(options.directory);
  ManifestPath = Directory + "/" + dumpformat::manifestFile;
  PayloadPath = Directory + "/" + dumpformat::payloadFile;
  open();
  if (!Payload)
    return;
  Thread = std::thread([this] { writeChunks(); });
  Rescue.emplace([this](const Status &why) {
    Status finished = finish(why, /*tasks=*/0);
    return finished.isOk() ? "the dump of what ran is in " + Directory : finished.message();
  });
}

DumpWriter::~DumpWriter() {
  Rescue.reset();
  stopThread();
}

void DumpWriter::open() {
  std::error_code error;
  std::filesystem::create_directories(Directory, error);
  if (error)
    return fail(ioError("cannot create directory '" + Directory + "': " + error.message()));
  for (const std::string &stale : {ManifestPath, PayloadPath})
    if (std::remove(stale.c_str()) != 0 && errno != ENOENT)
      return fail(ioErrno("replace", stale));
  sweepTemporaries(Directory);
  Expected<std::unique_ptr<TemporaryFile>> payload = TemporaryFile::create(PayloadPath);
  if (!payload)
    return fail(ioError(payload.status().message()));
  Payload = std::move(*payload);
}

void DumpWriter::fail(Status error) {
  std::lock_guard lock(Mutex);
  if (Error.isOk())
    Error = std::move(error);
  HasFailed.store(true, std::memory_order_relaxed);
  HasRoom.notify_all();
}

Status DumpWriter::error() {
  std::lock_guard lock(Mutex);
  return Error;
}

//===----------------------------------------------------------------------===//
// Capturing, by the workers
//===----------------------------------------------------------------------===//

void DumpWriter::beforeDispatch(unsigned worker, const DumpTask &task) {
  Capture &capture = Captures[worker];
  std::lock_guard lock(capture.mutex);
  if (capture.isClosed)
    return;
  if (!task.kernel.signature)
    capture.unsignedTasks.push_back(task.index);
  captureTensors(capture, task, DumpStage::BeforeDispatch);
  captureScalars(capture, task);
  flushIfFull(capture);
}

void DumpWriter::afterCompletion(unsigned worker, const DumpTask &task) {
  Capture &capture = Captures[worker];
  std::lock_guard lock(capture.mutex);
  if (capture.isClosed)
    return;
  captureTensors(capture, task, DumpStage::AfterCompletion);
  flushIfFull(capture);
}

DumpRecord DumpWriter::newRecord(Capture &capture, const DumpTask &task, size_t argIndex,
                                 DumpStage stage) {
  DumpRecord record{};
  record.sequence = NextSequence.fetch_add(1, std::memory_order_relaxed);
  record.task = task.index;
  record.kernel = static_cast<uint32_t>(task.kernel.funcId);
  capture.kernels.try_emplace(record.kernel, &task.kernel);
  record.argIndex = static_cast<uint16_t>(argIndex);
  record.stage = static_cast<uint8_t>(stage);
  record.binOffset = capture.chunk.payload.size();
  if (!task.kernel.signature)
    record.flags |= DumpRecord::Unsigned;
  return record;
}

void DumpWriter::captureTensors(Capture &capture, const DumpTask &task, DumpStage stage) {
  for (size_t i = 0; i < task.tensors.size() && !HasFailed.load(std::memory_order_relaxed); ++i) {
    Direction direction = task.directions[i];
    if (!(stage == DumpStage::BeforeDispatch ? reads(direction) : writes(direction)))
      continue;
    if (Options.level == onlyMarked && !task.marks[i])
      continue;
    if (task.tensors[i].rank > KILN_MAX_RANK)
      return fail(ioError("a tensor of rank " + std::to_string(task.tensors[i].rank)));
    DumpRecord record = newRecord(capture, task, i, stage);
    record.role = static_cast<uint8_t>(direction);
    if (task.marks[i])
      record.flags |= DumpRecord::Marked;
    if (task.kernel.signature && task.kernel.signature->tensors[i].internal)
      record.flags |= DumpRecord::Internal;
    describe(task.tensors[i], *task.buffers[i], record);
    if (hasPayload(record) && !appendPayload(capture, task.tensors[i], task.buffers[i], record))
      return;
    capture.chunk.records.push_back(record);
  }
}

bool DumpWriter::hasPayload(const DumpRecord &record) const {
  if (record.flags & DumpRecord::Internal)
    return false;
  return Options.level != payloadOfMarked || (record.flags & DumpRecord::Marked);
}

/// Where the tensor begins in its buffer.
static uint64_t byteOffset(const kiln_tensor &abi, const Buffer &buffer) {
  return static_cast<uint64_t>(static_cast<const std::byte *>(abi.data) -
                               static_cast<const std::byte *>(buffer.data()));
}

void DumpWriter::describe(const kiln_tensor &abi, const Buffer &buffer, DumpRecord &record) {
  record.rank = static_cast<uint8_t>(abi.rank);
  std::copy(abi.extents, abi.extents + abi.rank, record.shape);
  std::copy(abi.strides, abi.strides + abi.rank, record.strides);
  record.dtype = static_cast<uint8_t>(abi.dtype);
  record.address = reinterpret_cast<uintptr_t>(abi.data);
  record.bufferId = buffer.id();
  record.offset =
      byteOffset(abi, buffer) / static_cast<uint64_t>(sizeOf(static_cast<DType>(abi.dtype)));
  if (abi.flags & KILN_TENSOR_CONTIGUOUS)
    record.flags |= DumpRecord::Contiguous;
}

bool DumpWriter::appendPayload(Capture &capture, const kiln_tensor &abi,
                               const std::shared_ptr<Buffer> &buffer, DumpRecord &record) {
  Expected<Tensor> tensor =
      Tensor::view(buffer, byteOffset(abi, *buffer), static_cast<DType>(abi.dtype),
                   Dims(abi.extents, abi.rank), Dims(abi.strides, abi.rank));
  if (!tensor) {
    fail(ioError(tensor.status().message()));
    return false;
  }
  record.binSize = tensor->numBytes();
  std::vector<std::byte> &payload = capture.chunk.payload;
  if (tensor->isContiguous()) {
    auto *bytes = tensor->dataAs<std::byte>();
    payload.insert(payload.end(), bytes, bytes + record.binSize);
    return true;
  }
  Expected<std::vector<std::byte>> bytes = tensor->gatherBytes();
  if (!bytes) {
    fail(ioError(bytes.status().message()));
    return false;
  }
  payload.insert(payload.end(), bytes->begin(), bytes->end());
  return true;
}

void DumpWriter::captureScalars(Capture &capture, const DumpTask &task) {
  if (Options.level == onlyMarked) // tensors are marked, scalars cannot be
    return;
  for (size_t i = 0; i < task.scalars.size() && !HasFailed.load(std::memory_order_relaxed); ++i) {
    DumpRecord record =
        newRecord(capture, task, task.tensors.size() + i, DumpStage::BeforeDispatch);
    record.flags |= DumpRecord::Scalar;
    record.dtype = static_cast<uint8_t>(task.scalarTypes[i]);
    record.scalarBits = task.scalars[i];
    capture.chunk.records.push_back(record);
  }
}

void DumpWriter::flushIfFull(Capture &capture) {
  if (capture.chunk.bytes() >= chunkBytes)
    flush(capture);
}

void DumpWriter::flush(Capture &capture) {
  std::unique_lock lock(Mutex);
  HasRoom.wait(lock, [&] { return QueuedBytes < maxQueuedBytes || !Error.isOk(); });
  if (!Error.isOk()) {
    capture.chunk = Chunk();
    return;
  }
  QueuedBytes += capture.chunk.bytes();
  Queue.push_back(std::move(capture.chunk));
  capture.chunk = Chunk();
  if (!Spare.empty()) {
    capture.chunk = std::move(Spare.back());
    Spare.pop_back();
  }
  HasChunks.notify_one();
}

//===----------------------------------------------------------------------===//
// Writing, by the writer thread
//===----------------------------------------------------------------------===//

void DumpWriter::writeChunks() {
  std::unique_lock lock(Mutex);
  while (true) {
    HasChunks.wait(lock, [&] { return !Queue.empty() || IsStopping; });
    if (Queue.empty())
      return;
    Chunk chunk = std::move(Queue.front());
    Queue.pop_front();
    size_t bytes = chunk.bytes();
    lock.unlock();
    write(chunk);
    chunk.records.clear();
    chunk.payload.clear();
    lock.lock();
    QueuedBytes -= bytes;
    Spare.push_back(std::move(chunk));
    HasRoom.notify_all();
  }
}

void DumpWriter::write(Chunk &chunk) {
  if (HasFailed.load(std::memory_order_relaxed))
    return;
  size_t size = chunk.payload.size();
  if (Status bad = Payload->write({reinterpret_cast<const char *>(chunk.payload.data()), size});
      !bad.isOk())
    return fail(ioError(bad.message()));
  for (DumpRecord &record : chunk.records)
    record.binOffset += PayloadBytes;
  Records.insert(Records.end(), chunk.records.begin(), chunk.records.end());
  PayloadBytes += size;
}

void DumpWriter::stopThread() {
  if (!Thread.joinable())
    return;
  {
    std::lock_guard lock(Mutex);
    IsStopping = true;
    HasChunks.notify_one();
  }
  Thread.join();
}

//===----------------------------------------------------------------------===//
// The end of the run
//===----------------------------------------------------------------------===//

void DumpWriter::gather() {
  for (Capture &capture : Captures) {
    // Free where no task runs; a worker that waits for the disk in the middle of a capture loses
    // it.
    std::unique_lock lock(capture.mutex, patience);
    if (!lock)
      continue;
    flush(capture);
    capture.isClosed = true;
    Kernels.insert(capture.kernels.begin(), capture.kernels.end());
    UnsignedTasks.insert(UnsignedTasks.end(), capture.unsignedTasks.begin(),
                         capture.unsignedTasks.end());
  }
  std::sort(UnsignedTasks.begin(), UnsignedTasks.end());
  stopThread(); // it writes what is queued first
  std::erase_if(Records, [&](const DumpRecord &record) { return !Kernels.count(record.kernel); });
  std::sort(Records.begin(), Records.end(),
            [](const DumpRecord &a, const DumpRecord &b) { return a.sequence < b.sequence; });
}

uint64_t DumpWriter::lastTask() const {
  uint64_t last = 0;
  for (const DumpRecord &record : Records)
    last = std::max(last, record.task + 1);
  return last;
}

Status DumpWriter::finish(const Status &failure, uint64_t tasks) {
  std::unique_lock lock(Finishing, patience);
  if (!lock)
    return ioError("it is being written already");
  if (!Finished) {
    gather();
    // Who ends the process does not know how many tasks there were.
    Finished = writeFiles(failure, std::max(tasks, lastTask()));
    Payload.reset();
  }
  return *Finished;
}

Status DumpWriter::writeFiles(const Status &failure, uint64_t tasks) {
  if (Status bad = error(); !bad.isOk())
    return bad;
  // The payload first: a manifest never refers to a file that is not complete.
  if (Status bad = Payload->commit(); !bad.isOk())
    return ioError(bad.message());
  std::vector<std::string> manifest = renderManifest(failure, tasks);
  std::vector<std::string_view> parts(manifest.begin(), manifest.end());
  if (Status bad = writeFileAtomically(ManifestPath, parts); !bad.isOk()) {
    std::remove(PayloadPath.c_str());
    return ioError(bad.message());
  }
  return Status::ok();
}
