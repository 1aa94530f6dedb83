//===- StreamCollectives.h - what ranks do together, on the stream of one run
//------------------===//
//
// Collectives are launched on the orchestration's stream as kernels are. What NCCL does as the
// language has it NCCL does; for other sums ranks exchange their shares, and a kernel combines them
// in the order of the ranks.
//
// Messages: a send holds up the stream until the other rank receives, so a send and a recv that
// do not depend on each other have to be one group. Messages are therefore kept until something
// needs them (their memory, a collective, a value, the end) and are launched together then.
//
// Ownership: borrows all but the tensors of messages. Threads: the submitter's.
//
//===----------------------------------------------------------------------------===//
#ifndef KILN_RUNTIME_DEVICE_CUDA_STREAMCOLLECTIVES_H
#define KILN_RUNTIME_DEVICE_CUDA_STREAMCOLLECTIVES_H

#include "Launch.h"
#include "NcclRanks.h"

namespace kiln::cuda {

/// What a run does with ranks: who they are, and who carries bytes between their GPUs.
struct RankPlace {
  Transport *transport = &aloneTransport();
  NcclRanks *nccl = nullptr; ///< Null: there is one rank.
};

class StreamCollectives {
public:
  /// `combining` are the kernels that isRankKernel() says yes to.
  StreamCollectives(const Gpu &gpu, RankPlace place, std::span<const LoadedKernel> combining,
                    Stream stream)
      : On(gpu), Cuda(*gpu.driver), Place(place), Combining(combining), To(stream) {}

  int32_t rank() const { return Place.transport->rank(); }
  int32_t ranks() const { return Place.transport->ranks(); }

  /// Launches it; `number` is that of its task.
  Status start(const CollectiveTask &task, uint64_t number);
  /// Before a task that has these tensors is launched, and that comes after these tasks.
  Status before(std::span<const kiln_tensor> read, std::span<const kiln_tensor> written,
                std::span<const uint64_t> deps);
  /// Launches the messages that are kept.
  Status flush();
  /// Waits for the stream, with an eye on other ranks.
  Status synchronize();
  /// At the end of a run that ended so: messages are launched, or the other ranks are told.
  Status finish(const Status &ended);

private:
  struct Message {
    CollectiveTask task;
    uint64_t number;
  };
  /// A tensor without gaps: itself, or a copy that is brought back.
  struct Packed {
    std::byte *data = nullptr;
    std::shared_ptr<Buffer> copy;
  };

  Expected<Packed> pack(const Tensor &tensor, bool isRead);
  Status unpack(const Packed &packed, const Tensor &tensor);
  Status copy(void *to, const void *from, uint64_t bytes);
  Status copyAlone(const CollectiveTask &task);
  Status launch(const CollectiveTask &task, const Collective &collective);
  Status launchOn(NcclComm comm, const CollectiveTask &task, const RankLine &line, Packed &source,
                  Packed &target);
  Status barrier(Collective collective);
  /// One group of messages with every other rank of the line.
  Status exchange(NcclComm comm, const RankLine &line,
                  const std::function<std::pair<std::byte *, uint64_t>(int32_t)> &sent,
                  const std::function<std::pair<std::byte *, uint64_t>(int32_t)> &received);
  Status reduce(NcclComm comm, const CollectiveTask &task, const RankLine &line, std::byte *input,
                std::byte *output);
  Status combine(const CollectiveTask &task, std::byte *parts, int64_t ranks, int64_t count,
                 std::byte *into);

  const Gpu &On;
  const Driver &Cuda;
  const RankPlace Place;
  const std::span<const LoadedKernel> Combining;
  const Stream To;
  std::vector<Message> Messages;
};

} // namespace kiln::cuda

#endif // KILN_RUNTIME_DEVICE_CUDA_STREAMCOLLECTIVES_H
