//===- NcclRanks.h - the communicators of this process ---------------------------------------===//
//
// Ranks that are processes, each with a GPU of its own: a communicator of NCCL for every line of
// ranks that does something together. The transport that started the ranks carries what the host
// has to say: the ids by which communicators find each other, and the line of text by which ranks
// see that they come to the same collective.
//
// Failures: whatever goes wrong on any rank aborts all communicators of this process, so that what
// waits on the GPU ends; from then on everything fails with the first error.
//
// Ownership: communicators; borrows the rest. Threads: one at a time.
//
//===----------------------------------------------------------------------------===//
#ifndef KILN_RUNTIME_DEVICE_CUDA_NCCLRANKS_H
#define KILN_RUNTIME_DEVICE_CUDA_NCCLRANKS_H

#include "Nccl.h"

#include <map>
#include <memory>

namespace kiln::cuda {

class NcclRanks {
public:
  /// The communicator of all ranks is made here, because those that send messages are not known:
  /// every rank calls it. The GPU is the current one.
  static Expected<std::unique_ptr<NcclRanks>> open(const Nccl &nccl, const Gpu &gpu,
                                                   Transport &transport);
  /// Those of the process; lives as long as it. Null where the ranks do without: there is one, or
  /// they are threads of this process. NotFound or Unsupported where NCCL is missing.
  static Expected<NcclRanks *> ofProcess(const Gpu &gpu, Transport &transport);
  ~NcclRanks();
  NcclRanks(const NcclRanks &) = delete;
  NcclRanks &operator=(const NcclRanks &) = delete;

  /// Made when it is first asked for, by all ranks of the line.
  Expected<NcclComm> commOf(const RankLine &line);
  Expected<NcclComm> commOfAll() { return commOf({0, 1, Ranks.ranks()}); }
  /// Tells the ranks of its line what this one does, and goes on; whether they agree shows later.
  /// The line has its communicator.
  void announce(const Collective &collective);
  /// Waits for everything on the stream, and looks meanwhile whether another rank has failed, or
  /// whether this process is to stop.
  Status synchronize(Stream stream);
  /// Aborts everything, unless something has failed before; the first failure.
  Status fail(const Status &why);

  Status check(NcclResult result, const char *what, NcclComm comm) {
    return result == 0 ? Status::ok() : fail(Library.check(result, what, comm));
  }
  /// What the host does with the ranks of a line is counted.
  uint64_t nextNumber(const RankLine &line) { return Numbers[line]++; }
  const Nccl &library() const { return Library; }
  Transport &transport() const { return Ranks; }

private:
  struct Announcements; ///< Shared with calls that come from the transport's threads.

  NcclRanks(const Nccl &nccl, const Gpu &gpu, Transport &transport);
  Expected<NcclId> idOf(const RankLine &line);
  /// What is known to have gone wrong by now.
  Status findFailure();

  const Nccl &Library;
  const Gpu &On;
  Transport &Ranks;
  std::map<RankLine, NcclComm> Comms;
  std::map<RankLine, uint64_t> Numbers;
  std::shared_ptr<Announcements> Texts;
  Status Failure;
};

/// The GPU of a rank: as its process is counted on its machine, the first one if ranks are threads.
/// Unsupported where a machine has more ranks than GPUs, unless they may share one.
Expected<const Gpu *> gpuOfRank(const Driver &driver, const Transport *transport, bool mayShare);

} // namespace kiln::cuda

#endif // KILN_RUNTIME_DEVICE_CUDA_NCCLRANKS_H
