#include "StreamCollectives.h"

#include "Orchestrate.h"

#include "kiln/runtime/cuda_ranks.h"

#include <algorithm>

using namespace kiln;
using namespace kiln::cuda;

//===----------------------------------------------------------------------===//
// Messages that wait to be launched together
//===----------------------------------------------------------------------===//

namespace {

/// From the first to behind the last byte: views that interleave count as the same memory.
struct Range {
  explicit Range(const kiln_tensor &tensor)
      : begin(static_cast<const std::byte *>(tensor.data)), end(begin) {
    if (bytesOf(tensor) == 0)
      return;
    int64_t last = 0;
    for (int axis = 0; axis < tensor.rank; ++axis)
      last += (tensor.extents[axis] - 1) * tensor.strides[axis];
    end = begin + (last + 1) * sizeOf(static_cast<DType>(tensor.dtype));
  }
  bool overlaps(const Range &other) const { return begin < other.end && other.begin < end; }
  const std::byte *begin, *end;
};

const Tensor &tensorOf(const CollectiveTask &message) {
  return message.kind == CollectiveKind::Send ? message.source : message.target;
}

} // namespace

Status StreamCollectives::before(std::span<const kiln_tensor> read,
                                 std::span<const kiln_tensor> written,
                                 std::span<const uint64_t> deps) {
  auto isNeeded = [&](const Message &message) {
    Range memory(tensorOf(message.task).toAbi());
    auto overlaps = [&](const kiln_tensor &tensor) { return memory.overlaps(Range(tensor)); };
    bool receives = message.task.kind == CollectiveKind::Recv;
    return std::ranges::any_of(written, overlaps) ||
           (receives && std::ranges::any_of(read, overlaps)) ||
           std::ranges::find(deps, message.number) != deps.end();
  };
  return std::ranges::any_of(Messages, isNeeded) ? flush() : Status::ok();
}

Status StreamCollectives::flush() {
  if (Messages.empty())
    return Status::ok();
  std::vector<Message> messages = std::exchange(Messages, {});
  Expected<NcclComm> comm = Place.nccl->commOfAll();
  if (!comm)
    return comm.status();
  const Nccl &nccl = Place.nccl->library();
  std::vector<Packed> packed;
  for (const Message &message : messages) {
    bool sends = message.task.kind == CollectiveKind::Send;
    Expected<Packed> memory = pack(tensorOf(message.task), sends);
    if (!memory)
      return memory.status();
    packed.push_back(std::move(*memory));
  }
  NcclResult result = nccl.groupStart();
  for (size_t i = 0; i < messages.size() && result == 0; ++i) {
    const CollectiveTask &task = messages[i].task;
    uint64_t bytes = bytesOf(tensorOf(task).toAbi());
    Expected<RankLine> line = resolve(task, rank(), ranks());
    if (!line)
      return line.status();
    int peer = line->at(static_cast<int32_t>(task.peer));
    result = task.kind == CollectiveKind::Send
                 ? nccl.send(packed[i].data, bytes, kNcclBytes, peer, *comm, To)
                 : nccl.recv(packed[i].data, bytes, kNcclBytes, peer, *comm, To);
  }
  NcclResult ended = nccl.groupEnd();
  if (Status bad = Place.nccl->check(result ? result : ended, "ncclSend or ncclRecv", *comm);
      !bad.isOk())
    return bad.withLocation(messages.front().task.loc);
  for (size_t i = 0; i < messages.size(); ++i)
    if (messages[i].task.kind == CollectiveKind::Recv)
      if (Status bad = unpack(packed[i], messages[i].task.target); !bad.isOk())
        return bad;
  return Status::ok();
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

Status StreamCollectives::copy(void *to, const void *from, uint64_t bytes) {
  if (bytes == 0 || to == from)
    return Status::ok();
  return Cuda.check(Cuda.copyOnDevice(addressOf(to), addressOf(from), bytes, To),
                    "cuMemcpyDtoDAsync");
}

Expected<StreamCollectives::Packed> StreamCollectives::pack(const Tensor &tensor, bool isRead) {
  if (tensor.isNull())
    return Packed{};
  kiln_tensor about = tensor.toAbi();
  if (isPacked(about))
    return Packed{static_cast<std::byte *>(tensor.data()), nullptr};
  Expected<std::shared_ptr<Buffer>> memory = allocateOn(Cuda, To, bytesOf(about));
  if (!memory)
    return memory.status();
  Packed packed{static_cast<std::byte *>((*memory)->data()), *memory};
  Status status;
  std::byte *next = packed.data;
  if (isRead)
    forEachRun(about, [&](std::byte *run, size_t bytes) {
      status = status.isOk() ? copy(next, run, bytes) : status;
      next += bytes;
    });
  return status.isOk() ? Expected<Packed>(std::move(packed)) : status;
}

Status StreamCollectives::unpack(const Packed &packed, const Tensor &tensor) {
  Status status;
  const std::byte *next = packed.data;
  if (packed.copy)
    forEachRun(tensor.toAbi(), [&](std::byte *run, size_t bytes) {
      status = status.isOk() ? copy(run, next, bytes) : status;
      next += bytes;
    });
  return status;
}

//===----------------------------------------------------------------------===//
// Collectives
//===----------------------------------------------------------------------===//

static Collective collectiveOf(const CollectiveTask &task, const RankLine &line) {
  Collective made;
  made.kind = task.kind;
  made.how = task.how;
  made.fixedOrder = task.fixedOrder;
  made.line = line;
  made.peer = static_cast<int32_t>(task.peer);
  if (!task.source.isNull())
    made.source = task.source.toAbi();
  if (!task.target.isNull())
    made.target = task.target.toAbi();
  made.loc = task.loc;
  return made;
}

Status StreamCollectives::start(const CollectiveTask &task, uint64_t number) {
  Expected<RankLine> line = resolve(task, rank(), ranks());
  if (!line)
    return line.status();
  Collective collective = collectiveOf(task, *line);
  bool sends = task.kind == CollectiveKind::Send;
  if (isBetweenTwo(task.kind)) {
    kiln_tensor memory = tensorOf(task).toAbi();
    std::span<const kiln_tensor> mine(&memory, 1), none;
    std::vector<uint64_t> deps;
    for (const TaskId &dep : task.deps)
      deps.push_back(dep.index);
    if (Status bad = before(sends ? mine : none, sends ? none : mine, deps); !bad.isOk())
      return bad;
    Messages.push_back({task, number});
    return Status::ok();
  }
  // All ranks of a line come here, so nobody's message may be kept for later.
  if (Status bad = flush(); !bad.isOk())
    return bad;
  if (task.kind == CollectiveKind::RankBarrier)
    return barrier(collective);
  bool isAlone = line->count == 1 && (!Place.nccl || ranks() > 1);
  return (isAlone ? copyAlone(task) : launch(task, collective)).withLocation(task.loc);
}

/// What remains of a collective where a rank is by itself.
Status StreamCollectives::copyAlone(const CollectiveTask &task) {
  if (task.source.isNull() || task.target.isNull())
    return Status::ok();
  Expected<Packed> source = pack(task.source, true), target = pack(task.target, false);
  if (!source || !target)
    return source ? target.status() : source.status();
  if (Status bad = copy(target->data, source->data, bytesOf(task.source.toAbi())); !bad.isOk())
    return bad;
  return unpack(*target, task.target);
}

Status StreamCollectives::barrier(Collective collective) {
  if (Status bad = synchronize(); !bad.isOk())
    return bad;
  if (Place.nccl) {
    if (Expected<NcclComm> comm = Place.nccl->commOf(collective.line); !comm)
      return comm.status();
    collective.number = Place.nccl->nextNumber(collective.line);
  }
  return perform(*Place.transport, collective);
}

Status StreamCollectives::launch(const CollectiveTask &task, const Collective &collective) {
  Expected<NcclComm> comm = Place.nccl->commOf(collective.line);
  if (!comm)
    return comm.status();
  Place.nccl->announce(collective);
  bool isInPlace = task.source.isNull();
  Expected<Packed> source = pack(task.source, true), target = pack(task.target, isInPlace);
  if (!source || !target)
    return source ? target.status() : source.status();
  if (bytesOf((isInPlace ? task.target : task.source).toAbi()) == 0)
    return Status::ok();
  if (Status bad = launchOn(*comm, task, collective.line, *source, *target); !bad.isOk())
    return bad;
  return unpack(*target, task.target);
}

Status StreamCollectives::launchOn(NcclComm comm, const CollectiveTask &task, const RankLine &line,
                                   Packed &source, Packed &target) {
  const Nccl &nccl = Place.nccl->library();
  uint64_t bytes = bytesOf((task.source.isNull() ? task.target : task.source).toAbi());
  switch (task.kind) {
  case CollectiveKind::AllReduce:
    return reduce(comm, task, line, target.data, target.data);
  case CollectiveKind::ReduceScatter:
    return reduce(comm, task, line, source.data, target.data);
  case CollectiveKind::AllGather:
    return Place.nccl->check(nccl.allGather(source.data, target.data, bytes, kNcclBytes, comm, To),
                             "ncclAllGather", comm);
  case CollectiveKind::Broadcast:
    return Place.nccl->check(nccl.broadcast(target.data, target.data, bytes, kNcclBytes,
                                            static_cast<int>(task.peer), comm, To),
                             "ncclBroadcast", comm);
  case CollectiveKind::AllToAll: {
    uint64_t part = bytes / static_cast<uint64_t>(line.count);
    auto partOf = [&](std::byte *of) {
      return
          [=](int32_t place) { return std::pair(of + static_cast<uint64_t>(place) * part, part); };
    };
    auto [own, size] = partOf(source.data)(line.placeOf(rank()));
    if (Status bad = copy(partOf(target.data)(line.placeOf(rank())).first, own, size); !bad.isOk())
      return bad;
    return exchange(comm, line, partOf(source.data), partOf(target.data));
  }
  default:
    return Status(StatusCode::Internal, "not a collective of NCCL");
  }
}

Status StreamCollectives::exchange(
    NcclComm comm, const RankLine &line,
    const std::function<std::pair<std::byte *, uint64_t>(int32_t)> &sent,
    const std::function<std::pair<std::byte *, uint64_t>(int32_t)> &received) {
  const Nccl &nccl = Place.nccl->library();
  int32_t me = line.placeOf(rank());
  NcclResult result = nccl.groupStart();
  for (int32_t step = 1; step < line.count && result == 0; ++step) {
    int32_t to = (me + step) % line.count, from = (me - step + line.count) % line.count;
    if (auto [data, bytes] = sent(to); bytes > 0)
      result = nccl.send(data, bytes, kNcclBytes, to, comm, To);
    if (auto [data, bytes] = received(from); bytes > 0 && result == 0)
      result = nccl.recv(data, bytes, kNcclBytes, from, comm, To);
  }
  NcclResult ended = nccl.groupEnd();
  return Place.nccl->check(result ? result : ended, "ncclSend or ncclRecv", comm);
}

/// The elements that a rank combines: [first, last).
static std::pair<int64_t, int64_t> shareOf(int64_t elements, int32_t place, int32_t count) {
  return {elements * place / count, elements * (place + 1) / count};
}

Status StreamCollectives::reduce(NcclComm comm, const CollectiveTask &task, const RankLine &line,
                                 std::byte *input, std::byte *output) {
  const Nccl &nccl = Place.nccl->library();
  bool scatters = task.kind == CollectiveKind::ReduceScatter;
  const Tensor &whole = scatters ? task.source : task.target;
  DType type = whole.dtype();
  int64_t width = sizeOf(type), elements = whole.numElements();
  if (!needsRankKernel(type, task.how, task.fixedOrder)) {
    auto count = static_cast<size_t>(scatters ? elements / line.count : elements);
    auto function = scatters ? nccl.reduceScatter : nccl.allReduce;
    return Place.nccl->check(
        function(input, output, count, ncclType(type), ncclOperation(task.how), comm, To),
        scatters ? "ncclReduceScatter" : "ncclAllReduce", comm);
  }
  int32_t me = line.placeOf(rank());
  auto [first, last] = shareOf(elements, me, line.count);
  auto mine = static_cast<uint64_t>((last - first) * width);
  Expected<std::shared_ptr<Buffer>> memory =
      allocateOn(Cuda, To, mine * static_cast<uint64_t>(line.count));
  if (!memory)
    return memory.status();
  auto *parts = static_cast<std::byte *>((*memory)->data());
  auto shareIn = [&](std::byte *of) {
    return [=, count = line.count](int32_t place) {
      auto [begin, end] = shareOf(elements, place, count);
      return std::pair(of + begin * width, static_cast<uint64_t>((end - begin) * width));
    };
  };
  auto partOf = [=](int32_t place) {
    return std::pair(parts + static_cast<uint64_t>(place) * mine, mine);
  };
  if (Status bad = copy(partOf(me).first, shareIn(input)(me).first, mine); !bad.isOk())
    return bad;
  if (Status bad = exchange(comm, line, shareIn(input), partOf); !bad.isOk())
    return bad;
  if (Status bad =
          combine(task, parts, line.count, last - first, output + (scatters ? 0 : first * width));
      !bad.isOk() || scatters)
    return bad;
  auto result = shareIn(output)(me);
  return exchange(comm, line, [=](int32_t) { return result; }, shareIn(output));
}

Status StreamCollectives::combine(const CollectiveTask &task, std::byte *parts, int64_t ranks,
                                  int64_t count, std::byte *into) {
  if (count == 0)
    return Status::ok();
  DType type = task.target.dtype();
  std::string name = rankKernelName(type, task.how);
  auto kernel = std::ranges::find_if(
      Combining, [&](const LoadedKernel &each) { return each.description.name == name; });
  if (kernel == Combining.end())
    return Status(StatusCode::NotFound, "the program has no kernel '" + name +
                                            "' that combines what ranks exchanged; "
                                            "build it again");
  auto abiType = static_cast<int32_t>(type);
  const kiln_tensor tensors[] = {
      {parts, {ranks, count, 1, 1, 1}, {count, 1, 0, 0, 0}, abiType, 2, 0},
      {into, {count, 1, 1, 1, 1}, {1, 0, 0, 0, 0}, abiType, 1, 0}};
  constexpr int64_t elementsOfBlock = 1024;
  const int64_t blocks[3] = {(count + elementsOfBlock - 1) / elementsOfBlock, 1, 1};
  return launchKernel(On, *kernel, tensors, {}, blocks, {To});
}

//===----------------------------------------------------------------------===//
// The end
//===----------------------------------------------------------------------===//

Status StreamCollectives::synchronize() {
  if (Status bad = flush(); !bad.isOk())
    return bad;
  return Place.nccl ? Place.nccl->synchronize(To)
                    : Cuda.check(Cuda.streamSynchronize(To), "the kernels failed");
}

Status StreamCollectives::finish(const Status &ended) {
  Status status = ended.isOk() ? flush() : ended;
  if (!status.isOk() && Place.nccl)
    (void)Place.nccl->fail(status);
  return status;
}
