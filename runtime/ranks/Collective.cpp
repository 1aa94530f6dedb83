// What a collective means: who belongs together, and what becomes of whose memory.
#include "kiln/runtime/ranks.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>

using namespace kiln;

const char *kiln::toString(CollectiveKind kind) {
  static constexpr const char *names[] = {"all_reduce", "all_gather",  "reduce_scatter",
                                          "broadcast",  "all_to_all",  "send",
                                          "recv",       "rank_barrier"};
  return names[static_cast<uint8_t>(kind)];
}

const char *kiln::toString(Reduction how) {
  static constexpr const char *names[] = {"sum", "max", "min", "prod"};
  return names[static_cast<uint8_t>(how)];
}

Expected<RankLine> MeshAxis::lineOf(int64_t rank, int64_t ranks) const {
  auto wrong = [&](const std::string &why) {
    return Status(StatusCode::InvalidArgument, "a mesh of " + kiln::toString(Dims(extents)) + why +
                                                   "; there are " + std::to_string(ranks) +
                                                   " ranks");
  };
  if (extents.empty())
    return RankLine{0, 1, static_cast<int32_t>(ranks)};
  if (axis >= extents.size())
    return wrong(" has no axis " + std::to_string(axis));
  std::vector<int64_t> known = extents;
  int64_t product = 1, open = -1;
  for (size_t i = 0; i < known.size(); ++i) {
    if (known[i] == dynamicExtent && open < 0) {
      open = static_cast<int64_t>(i);
      continue;
    }
    if (known[i] < 1 || known[i] > maxRanks || product * known[i] > maxRanks)
      return wrong(" cannot be");
    product *= known[i];
  }
  if (open >= 0 && ranks % product == 0)
    product *= known[static_cast<size_t>(open)] = ranks / product;
  if (product != ranks || (open >= 0 && known[static_cast<size_t>(open)] < 1))
    return wrong(" needs another number of ranks");
  int64_t stride = 1;
  for (size_t i = axis + 1; i < known.size(); ++i)
    stride *= known[i];
  int64_t place = rank / stride % known[axis];
  return RankLine{static_cast<int32_t>(rank - place * stride), static_cast<int32_t>(stride),
                  static_cast<int32_t>(known[axis])};
}

//===----------------------------------------------------------------------===//
// What one rank can judge
//===----------------------------------------------------------------------===//

static Status wrong(const CollectiveTask &task, const std::string &why) {
  return Status(StatusCode::InvalidArgument, std::string(toString(task.kind)) + ": " + why,
                task.loc);
}

/// The parts of source and target, one for each rank.
static Status verifyTensors(const CollectiveTask &task, int64_t count) {
  bool hasBoth = !task.source.isNull() && !task.target.isNull();
  if (!hasBoth)
    return Status::ok();
  if (task.source.dtype() != task.target.dtype() || task.source.rank() != task.target.rank())
    return wrong(task, "the source is " + task.source.str() + ", the target " + task.target.str());
  bool gathers = task.kind == CollectiveKind::AllGather;
  const Tensor &small = gathers ? task.source : task.target;
  const Tensor &large = gathers ? task.target : task.source;
  bool fits = task.kind == CollectiveKind::AllToAll
                  ? small.extent(0) == large.extent(0) && small.extent(0) % count == 0
                  : small.extent(0) * count == large.extent(0);
  for (int axis = 1; axis < small.rank(); ++axis)
    fits &= small.extent(axis) == large.extent(axis);
  return fits ? Status::ok()
              : wrong(task, "the source is " + task.source.str() + " and the target " +
                                task.target.str() + ", which do not hold a part for each of " +
                                std::to_string(count) + " ranks along the first axis");
}

static Status verifyPeer(const CollectiveTask &task, int64_t me, int64_t count) {
  bool hasPeer = isBetweenTwo(task.kind) || task.kind == CollectiveKind::Broadcast;
  if (!hasPeer)
    return Status::ok();
  const char *what = task.kind == CollectiveKind::Broadcast ? "the root"
                     : task.kind == CollectiveKind::Send    ? "the receiver"
                                                            : "the sender";
  if (task.peer < 0 || task.peer >= count)
    return wrong(task, std::string(what) + " is rank " + std::to_string(task.peer) +
                           ", but there are ranks 0 to " + std::to_string(count - 1));
  if (isBetweenTwo(task.kind) && task.peer == me)
    return wrong(task, std::string(what) + " is rank " + std::to_string(me) + " itself");
  return Status::ok();
}

Expected<RankLine> kiln::resolve(const CollectiveTask &task, int64_t rank, int64_t ranks) {
  Expected<RankLine> line = task.group.lineOf(rank, ranks);
  if (!line)
    return wrong(task, line.status().message());
  if (Status bad = verifyPeer(task, line->placeOf(static_cast<int32_t>(rank)), line->count);
      !bad.isOk())
    return bad;
  if (Status bad = verifyTensors(task, line->count); !bad.isOk())
    return bad;
  return line;
}

//===----------------------------------------------------------------------===//
// Agreement
//===----------------------------------------------------------------------===//

static std::string textOf(const kiln_tensor &tensor) {
  std::string text = toString(static_cast<DType>(tensor.dtype));
  return text + kiln::toString(Dims(tensor.extents, tensor.rank));
}

std::string Collective::str() const {
  std::string text = toString(kind);
  if (shaped().rank > 0)
    text += " of " + textOf(shaped());
  if (peer >= 0)
    text += (kind == CollectiveKind::Send ? " to rank " : " from rank ") +
            std::to_string(line.at(peer));
  if (loc.isKnown())
    text += " at " + loc.str();
  return text;
}

static bool sameExtents(const kiln_tensor &a, const kiln_tensor &b) {
  return a.rank == b.rank && a.dtype == b.dtype &&
         std::equal(a.extents, a.extents + a.rank, b.extents);
}

Status kiln::verifyAgree(const Collective &mine, int32_t me, const Collective &other,
                         int32_t them) {
  const char *what = nullptr;
  bool isMessage = isBetweenTwo(mine.kind);
  if (!isMessage && mine.kind != other.kind)
    what = "come to different collectives";
  else if (!sameExtents(mine.shaped(), other.shaped()))
    what = isMessage ? "send and receive different types or extents"
                     : "have tensors of different types or extents";
  else if (!isMessage && mine.peer != other.peer)
    what = "name different roots";
  else if (!isMessage && (mine.how != other.how || mine.fixedOrder != other.fixedOrder))
    what = "combine in different ways";
  if (!what)
    return Status::ok();
  return Status(StatusCode::KernelFailed,
                "ranks " + std::to_string(std::min(me, them)) + " and " +
                    std::to_string(std::max(me, them)) + " " + what + ": rank " +
                    std::to_string(me) + " is at " + mine.str() + ", rank " + std::to_string(them) +
                    " at " + other.str(),
                mine.loc);
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

uint64_t kiln::bytesOf(const kiln_tensor &tensor) {
  uint64_t bytes =
      tensor.rank ? static_cast<uint64_t>(sizeOf(static_cast<DType>(tensor.dtype))) : 0;
  for (int i = 0; i < tensor.rank; ++i)
    bytes *= static_cast<uint64_t>(tensor.extents[i]);
  return bytes;
}

bool kiln::isPacked(const kiln_tensor &tensor) {
  return tensor.rank == 0 || tensor.flags & KILN_TENSOR_CONTIGUOUS;
}

void kiln::forEachRun(const kiln_tensor &tensor,
                      const std::function<void(std::byte *, size_t)> &visit) {
  int64_t size = sizeOf(static_cast<DType>(tensor.dtype));
  if (bytesOf(tensor) == 0)
    return;
  int inner = tensor.rank;
  int64_t run = 1;
  while (inner > 0 && (tensor.extents[inner - 1] == 1 || tensor.strides[inner - 1] == run))
    run *= tensor.extents[--inner];
  std::vector<int64_t> at(static_cast<size_t>(inner), 0);
  for (;;) {
    int64_t offset = 0;
    for (int i = 0; i < inner; ++i)
      offset += at[static_cast<size_t>(i)] * tensor.strides[i];
    visit(static_cast<std::byte *>(tensor.data) + offset * size, static_cast<size_t>(run * size));
    int axis = inner - 1;
    while (axis >= 0 && ++at[static_cast<size_t>(axis)] == tensor.extents[axis])
      at[static_cast<size_t>(axis--)] = 0;
    if (axis < 0)
      return;
  }
}

std::vector<std::byte> kiln::pack(const kiln_tensor &tensor) {
  std::vector<std::byte> bytes(bytesOf(tensor));
  std::byte *to = bytes.data();
  forEachRun(tensor, [&](const std::byte *run, size_t size) {
    std::memcpy(to, run, size);
    to += size;
  });
  return bytes;
}

void kiln::unpack(const void *from, const kiln_tensor &tensor) {
  const auto *next = static_cast<const std::byte *>(from);
  forEachRun(tensor, [&](std::byte *run, size_t size) {
    std::memcpy(run, next, size);
    next += size;
  });
}

//===----------------------------------------------------------------------===//
// Combining
//===----------------------------------------------------------------------===//

/// NaN wins, as it does in PyTorch.
template <typename T> static T larger(T a, T b) {
  if constexpr (std::is_floating_point_v<T>)
    return std::isnan(a) || a > b ? a : b;
  else
    return std::max(a, b);
}
template <typename T> static T smaller(T a, T b) {
  if constexpr (std::is_floating_point_v<T>)
    return std::isnan(a) || a < b ? a : b;
  else
    return std::min(a, b);
}

/// Integers wrap, so they are combined without a sign.
template <typename T> using Wrapping = std::conditional_t<std::is_integral_v<T>, uint64_t, T>;

/// Two parts, of which `into` may be one: no element is read after it was written.
template <typename T>
static void combineTwo(Reduction how, const T *a, const T *b, T *into, int64_t count) {
  switch (how) {
  case Reduction::Sum:
    for (int64_t i = 0; i < count; ++i)
      into[i] = static_cast<T>(Wrapping<T>(a[i]) + Wrapping<T>(b[i]));
    return;
  case Reduction::Prod:
    for (int64_t i = 0; i < count; ++i)
      into[i] = static_cast<T>(Wrapping<T>(a[i]) * Wrapping<T>(b[i]));
    return;
  case Reduction::Max:
    for (int64_t i = 0; i < count; ++i)
      into[i] = larger(a[i], b[i]);
    return;
  case Reduction::Min:
    for (int64_t i = 0; i < count; ++i)
      into[i] = smaller(a[i], b[i]);
    return;
  }
}

template <typename T> static void accumulate(Reduction how, T *into, const T *next, int64_t count) {
  combineTwo(how, into, next, into, count);
}

/// So many elements stay in the cache while all parts are gone through.
static constexpr int64_t blockElements = 4096;

template <typename T>
static void combineAs(Reduction how, std::span<const void *const> parts, T *into, int64_t count) {
  if (parts.size() == 2)
    return combineTwo(how, static_cast<const T *>(parts[0]), static_cast<const T *>(parts[1]), into,
                      count);
  for (int64_t at = 0; at < count; at += blockElements) {
    int64_t size = std::min(blockElements, count - at);
    std::array<T, blockElements> sum;
    std::memcpy(sum.data(), static_cast<const T *>(parts[0]) + at,
                static_cast<size_t>(size) * sizeof(T));
    for (const void *part : parts.subspan(1))
      accumulate(how, sum.data(), static_cast<const T *>(part) + at, size);
    std::memcpy(into + at, sum.data(), static_cast<size_t>(size) * sizeof(T));
  }
}

static void combineNarrow(DType type, Reduction how, std::span<const void *const> parts,
                          std::byte *into, int64_t count) {
  int64_t width = sizeOf(type);
  std::array<float, blockElements> sum, next;
  auto decode = [&](const void *part, int64_t at, int64_t size, float *to) {
    for (int64_t i = 0; i < size; ++i)
      to[i] = static_cast<float>(
          loadElement(type, static_cast<const std::byte *>(part) + (at + i) * width));
  };
  for (int64_t at = 0; at < count; at += blockElements) {
    int64_t size = std::min(blockElements, count - at);
    decode(parts[0], at, size, sum.data());
    for (const void *part : parts.subspan(1)) {
      decode(part, at, size, next.data());
      accumulate(how, sum.data(), next.data(), size);
    }
    for (int64_t i = 0; i < size; ++i)
      storeElement(type, into + (at + i) * width, sum[static_cast<size_t>(i)]);
  }
}

void kiln::combine(DType type, Reduction how, std::span<const void *const> parts, void *into,
                   int64_t count) {
  switch (type) {
  case DType::F32:
    return combineAs(how, parts, static_cast<float *>(into), count);
  case DType::I8:
    return combineAs(how, parts, static_cast<int8_t *>(into), count);
  case DType::I16:
    return combineAs(how, parts, static_cast<int16_t *>(into), count);
  case DType::I32:
    return combineAs(how, parts, static_cast<int32_t *>(into), count);
  case DType::I64:
  case DType::Index:
    return combineAs(how, parts, static_cast<int64_t *>(into), count);
  case DType::I1:
    return combineAs(how, parts, static_cast<uint8_t *>(into), count);
  default:
    return combineNarrow(type, how, parts, static_cast<std::byte *>(into), count);
  }
}

//===----------------------------------------------------------------------===//
// Ranks whose memory this process sees
//===----------------------------------------------------------------------===//

namespace {

/// What a rank reads, without gaps.
struct Input {
  explicit Input(const kiln_tensor &tensor) {
    if (!isPacked(tensor))
      copy = pack(tensor);
    data = copy.empty() ? static_cast<const std::byte *>(tensor.data) : copy.data();
  }
  std::vector<std::byte> copy;
  const std::byte *data;
};

/// What a rank writes, without gaps; brought to its place when it goes.
struct Output {
  explicit Output(const kiln_tensor &tensor) : tensor(tensor) {
    if (!isPacked(tensor))
      copy.resize(bytesOf(tensor));
    data = copy.empty() ? static_cast<std::byte *>(tensor.data) : copy.data();
  }
  ~Output() {
    if (!copy.empty())
      unpack(copy.data(), tensor);
  }
  Output(const Output &) = delete;
  const kiln_tensor &tensor;
  std::vector<std::byte> copy;
  std::byte *data;
};

void copyBytes(std::byte *to, const std::byte *from, uint64_t bytes) {
  if (bytes > 0 && to != from)
    std::memmove(to, from, bytes);
}

void reduceAll(std::span<const Collective *const> all) {
  const Collective &first = *all.front();
  bool scatters = first.kind == CollectiveKind::ReduceScatter;
  std::vector<Input> inputs;
  for (const Collective *each : all)
    inputs.emplace_back(scatters ? each->source : each->target);
  auto type = static_cast<DType>(first.target.dtype);
  uint64_t bytes = bytesOf(first.target);
  std::vector<const void *> parts(all.size());
  // What every rank gets is made before anybody's input is overwritten.
  std::vector<std::byte> result(bytes);
  for (size_t to = 0; to < all.size(); ++to) {
    if (to == 0 || scatters) {
      for (size_t i = 0; i < parts.size(); ++i)
        parts[i] = inputs[i].data + (scatters ? to * bytes : 0);
      combine(type, first.how, parts, result.data(), static_cast<int64_t>(bytes) / sizeOf(type));
    }
    copyBytes(Output(all[to]->target).data, result.data(), bytes);
  }
}

/// Brings part `part` of the source of one rank to part `place` of the target of another.
void exchangeAll(std::span<const Collective *const> all) {
  std::vector<Input> inputs;
  for (const Collective *each : all)
    inputs.emplace_back(each->source);
  bool gathers = all.front()->kind == CollectiveKind::AllGather;
  uint64_t bytes = bytesOf(all.front()->source) / (gathers ? 1 : all.size());
  for (size_t to = 0; to < all.size(); ++to) {
    Output output(all[to]->target);
    for (size_t from = 0; from < all.size(); ++from)
      copyBytes(output.data + from * bytes, inputs[from].data + (gathers ? 0 : to * bytes), bytes);
  }
}

void copyOne(const kiln_tensor &from, const kiln_tensor &to) {
  Input input(from);
  copyBytes(Output(to).data, input.data, bytesOf(from));
}

} // namespace

Status kiln::performTogether(std::span<const Collective *const> all) {
  const Collective &first = *all.front();
  switch (first.kind) {
  case CollectiveKind::AllReduce:
  case CollectiveKind::ReduceScatter:
    reduceAll(all);
    break;
  case CollectiveKind::AllGather:
  case CollectiveKind::AllToAll:
    exchangeAll(all);
    break;
  case CollectiveKind::Broadcast:
    for (const Collective *each : all)
      if (each != all[static_cast<size_t>(first.peer)])
        copyOne(all[static_cast<size_t>(first.peer)]->target, each->target);
    break;
  case CollectiveKind::Send:
    copyOne(first.source, all[1]->target);
    break;
  case CollectiveKind::Recv:
    copyOne(all[1]->source, first.target);
    break;
  case CollectiveKind::RankBarrier:
    break;
  }
  return Status::ok();
}

Status kiln::perform(Transport &transport, const Collective &collective) {
  std::atomic<bool> hasEnded{false};
  Status result;
  transport.start(collective, [&](Status status) {
    result = std::move(status);
    hasEnded.store(true);
  });
  if (!hasEnded.load())
    transport.wait([&] { return hasEnded.load(); });
  return result;
}

namespace {
class AloneTransport final : public Transport {
public:
  int32_t rank() const override { return 0; }
  int32_t ranks() const override { return 1; }
  void start(const Collective &collective, Done done) override {
    const Collective *all[] = {&collective};
    done(performTogether(all));
  }
  void wait(const std::function<bool()> &) override {}
  void fail(const Status &) override {}
};
} // namespace

Transport &kiln::aloneTransport() {
  static AloneTransport alone;
  return alone;
}
