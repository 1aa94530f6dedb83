//===- DumpWriter.h - captures one run's arguments -----------------------===//
//
// What: takes the arguments of each task before and after it runs, and writes tensor_dump.bin and
//   the manifest.
//
// Ownership: one writer per run, made when it begins and destroyed when it ends: nothing can leak
//   from one run into the next. It keeps pointers to kernel records (the registry outlives the
//   engine) and copies everything else.
//
// Errors: an I/O error stops the dump, never the run: later captures are ignored, the files are
//   removed, finish() returns IoError.
//
// Threads: the engine's thread. Internal to the runtime.
//
//===---------------------------------------------------------------------===//
#ifndef KILN_RUNTIME_DUMP_DUMPWRITER_H
#define KILN_RUNTIME_DUMP_DUMPWRITER_H

#include "dump/DumpRecord.h"
#include "kiln/runtime/dump.h"
#include "kiln/runtime/task.h"

#include <cstdio>
#include <mutex>
#include <set>
#include <span>
#include <string>
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
  std::span<const uint64_t> scalars;
  const DType *scalarTypes;
};

class DumpWriter {
public:
  struct RunSummary {
    std::string program, platform;
    uint64_t seed = 0;
    uint64_t tasks = 0;
    Status failure; // of the run
  };

  /// Makes the directory and removes what an earlier run left there, so that a crash never leaves
  /// an old manifest beside a new payload.
  DumpWriter(const DumpOptions &options, unsigned numWorkers);
  /// Without finish(): leaves nothing behind.
  ~DumpWriter();
  DumpWriter(const DumpWriter &) = delete;
  DumpWriter &operator=(const DumpWriter &) = delete;

  /// In and inout tensors, and every scalar.
  void beforeDispatch(unsigned worker, const DumpTask &task);
  /// Out and inout tensors. To be called before any successor may run.
  void afterCompletion(unsigned worker, const DumpTask &task);

  /// Completes both files, for failed runs too. Call once.
  Status finish(const RunSummary &run);

private:
  void open();
  void captureTensors(const DumpTask &task, DumpStage stage);
  void captureScalars(const DumpTask &task);
  DumpRecord newRecord(const DumpTask &task, size_t argIndex, DumpStage stage);
  void append(const kiln_tensor &abi, const std::shared_ptr<Buffer> &buffer, DumpRecord &record);
  void write(const void *bytes, uint64_t size);
  void fail(Status error);
  DumpEntry describe(const DumpRecord &record) const;
  std::string renderManifest(const RunSummary &run) const;

  std::mutex Mutex;
  DumpOptions Options;
  std::string Directory, TempPath, PayloadPath, ManifestPath;
  std::FILE *Payload = nullptr;
  uint64_t PayloadBytes = 0;
  Status Error;
  std::vector<DumpRecord> Records;
  std::vector<const KernelRecord *> Kernels;
  std::unordered_map<const KernelRecord *, uint32_t> KernelIndex;
  std::set<uint64_t> UnsignedTasks;
};

} // namespace kiln

#endif // KILN_RUNTIME_DUMP_DUMPWRITER_H
