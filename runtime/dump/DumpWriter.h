//===- DumpWriter.h - captures one run's arguments -----------------------===//
//
// What: takes the arguments of each task before and after it runs, and writes tensor_dump.bin and
//   the manifest. Each worker captures into a buffer of its own; full buffers go to one writer
//   thread. When that falls behind, workers wait for it: nothing is dropped. It waits for nobody
//   but the disk, so the waiting ends. Captures are numbered, and the manifest lists them in that
//   order.
//
// Ownership: one writer per run, made when it begins and destroyed when it ends: nothing can leak
//   from one run into the next. It keeps pointers to kernel records (the registry outlives the
//   engine) and copies everything else.
//
// Errors: an I/O error stops the dump, never the run: later captures are ignored, the files are
//   removed, finish() returns IoError.
//
// Threads: beforeDispatch() and afterCompletion() by worker `worker`, at most one thread each;
//   finish() by the engine's submitter while no task is running, or by whoever ends the process
//   (kiln/runtime/interrupt.h) while one still is. Internal to the runtime.
//
//===---------------------------------------------------------------------===//
#ifndef KILN_RUNTIME_DUMP_DUMPWRITER_H
#define KILN_RUNTIME_DUMP_DUMPWRITER_H

#include "abi/FileIo.h"
#include "dump/DumpRecord.h"
#include "kiln/runtime/dump.h"
#include "kiln/runtime/task.h"

#include <atomic>
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

namespace kiln {

/// The arguments of a task, in task order.
struct DumpTask {
  uint64_t index;
  const KernelRecord &kernel;
  std::span<const kiln_tensor> tensors;
  const std::shared_ptr<Buffer> *buffers; // of the tensors
  const Direction *directions;
  const bool *marks; // which tensors the program asked for
  std::span<const uint64_t> scalars;
  const DType *scalarTypes;
};

class DumpWriter {
public:
  /// What is known of a run when it begins.
  struct Run {
    std::string program, platform;
    uint64_t seed = 0;
  };

  /// Makes the directory and removes what earlier runs left there, so that a crash never leaves
  /// an old manifest beside a new payload. If the process has to end before the run does, the dump
  /// is completed with what there is.
  DumpWriter(const DumpOptions &options, Run run, unsigned numWorkers);
  /// Without finish(): leaves nothing behind.
  ~DumpWriter();
  DumpWriter(const DumpWriter &) = delete;
  DumpWriter &operator=(const DumpWriter &) = delete;

  /// In and inout tensors, and every scalar; at level 1 only what is marked.
  void beforeDispatch(unsigned worker, const DumpTask &task);
  /// Out and inout tensors, at level 1 the marked ones. To be called before any successor may run.
  void afterCompletion(unsigned worker, const DumpTask &task);

  /// Completes both files, for failed runs too: how the run ended, and how many tasks it had. What
  /// is captured later is ignored. A second call changes nothing and returns the same.
  Status finish(const Status &failure, uint64_t tasks);

private:
  /// What the writer thread gets.
  struct Chunk {
    std::vector<DumpRecord> records;
    std::vector<std::byte> payload;

    size_t bytes() const { return records.size() * sizeof(DumpRecord) + payload.size(); }
  };
  /// One worker's. A line of its own: workers fill theirs at the same time.
  struct alignas(64) Capture {
    std::timed_mutex mutex; // free while a kernel runs, so that others can finish the dump
    bool isClosed = false;
    Chunk chunk;
    std::vector<uint64_t> unsignedTasks;
    std::unordered_map<uint32_t, const KernelRecord *> kernels;
  };

  void open();
  void captureTensors(Capture &capture, const DumpTask &task, DumpStage stage);
  void captureScalars(Capture &capture, const DumpTask &task);
  DumpRecord newRecord(Capture &capture, const DumpTask &task, size_t argIndex, DumpStage stage);
  void describe(const kiln_tensor &abi, const Buffer &buffer, DumpRecord &record);
  /// Copies the elements; false when that is impossible and the dump has stopped.
  bool appendPayload(Capture &capture, const kiln_tensor &abi,
                     const std::shared_ptr<Buffer> &buffer, DumpRecord &record);
  bool hasPayload(const DumpRecord &record) const;
  /// Hands a worker's chunk to the writer thread and gives it an empty one.
  void flush(Capture &capture);
  void flushIfFull(Capture &capture);
  /// The writer thread.
  void writeChunks();
  void write(Chunk &chunk);
  /// Captures nothing any more. The first error counts.
  void fail(Status error);
  Status error();
  void stopThread();
  /// Everything the workers left, in the order of capture.
  void gather();
  Status writeFiles(const Status &failure, uint64_t tasks);
  /// The parts of the manifest, one after the other.
  std::vector<std::string> renderManifest(const Status &failure, uint64_t tasks) const;
  std::string renderEntries(std::span<const DumpRecord> records) const;
  /// Of all that was captured.
  uint64_t lastTask() const;

  const DumpOptions Options;
  const Run About;
  std::string Directory, PayloadPath, ManifestPath;
  std::vector<Capture> Captures; // by worker
  std::atomic<uint64_t> NextSequence{0};
  std::atomic<bool> HasFailed{false};

  std::mutex Mutex;
  std::condition_variable HasChunks, HasRoom;
  std::deque<Chunk> Queue;
  std::vector<Chunk> Spare; // emptied, with their memory
  size_t QueuedBytes = 0;
  bool IsStopping = false;
  Status Error;

  // The writer thread's while it runs.
  std::unique_ptr<TemporaryFile> Payload;
  uint64_t PayloadBytes = 0;
  std::vector<DumpRecord> Records;

  // For the manifest.
  std::unordered_map<uint32_t, const KernelRecord *> Kernels; // by function id
  std::vector<uint64_t> UnsignedTasks;

  std::thread Thread;

  std::timed_mutex Finishing;
  std::optional<Status> Finished;
  std::optional<OnInterrupt> Rescue; // last: gone before anything it uses
};

} // namespace kiln

#endif // KILN_RUNTIME_DUMP_DUMPWRITER_H
