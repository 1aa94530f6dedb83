#include "NcclRanks.h"

#include "abi/Environment.h"
#include "abi/ParseNumber.h"
#include "kiln/runtime/interrupt.h"

#include <chrono>
#include <cstring>
#include <mutex>
#include <thread>

using namespace kiln;
using namespace kiln::cuda;

/// What a rank says that it does, for the others to compare.
static constexpr int64_t textBytes = 256;

struct NcclRanks::Announcements {
  std::mutex mutex;
  Status failure; ///< Of the first that did not agree.
  size_t inFlight = 0;

  bool isQuiet() {
    std::lock_guard lock(mutex);
    return inFlight == 0;
  }
};

NcclRanks::NcclRanks(const Nccl &nccl, const Gpu &gpu, Transport &transport)
    : Library(nccl), On(gpu), Ranks(transport), Texts(std::make_shared<Announcements>()) {}

NcclRanks::~NcclRanks() {
  for (const auto &[line, comm] : Comms)
    Library.commDestroy(comm);
}

Expected<std::unique_ptr<NcclRanks>> NcclRanks::open(const Nccl &nccl, const Gpu &gpu,
                                                     Transport &transport) {
  std::unique_ptr<NcclRanks> made(new NcclRanks(nccl, gpu, transport));
  if (Expected<NcclComm> all = made->commOfAll(); !all)
    return all.status();
  return made;
}

Expected<NcclRanks *> NcclRanks::ofProcess(const Gpu &gpu, Transport &transport) {
  Expected<bool> isWanted = flagFromEnvironment("KILN_NCCL", false);
  if (!isWanted)
    return isWanted.status();
  if (!transport.isAmongProcesses() && !(*isWanted && transport.ranks() == 1))
    return static_cast<NcclRanks *>(nullptr);
  Expected<const Nccl *> nccl = Nccl::open();
  if (!nccl)
    return nccl.status();
  // Never destroyed: at the end of the process the driver may be gone before.
  static auto *all = new std::map<std::pair<Transport *, int>, std::unique_ptr<NcclRanks>>;
  static std::mutex mutex;
  std::lock_guard lock(mutex);
  std::unique_ptr<NcclRanks> &mine = (*all)[{&transport, gpu.number}];
  if (!mine) {
    Expected<std::unique_ptr<NcclRanks>> opened = open(**nccl, gpu, transport);
    if (!opened)
      return opened.status();
    mine = std::move(*opened);
  }
  return mine.get();
}

//===----------------------------------------------------------------------===//
// Communicators
//===----------------------------------------------------------------------===//

Expected<NcclId> NcclRanks::idOf(const RankLine &line) {
  NcclId id{};
  // Who has failed to make one sends what it has: all of them learn it from their communicator.
  NcclResult made = Ranks.rank() == line.first ? Library.getUniqueId(&id) : 0;
  Expected<Tensor> bytes = Tensor::view(id.bytes, DType::I8, {sizeof id.bytes});
  if (!bytes)
    return bytes.status();
  if (Status bad = line.count > 1 ? Ranks.prepare(line) : Status::ok(); !bad.isOk())
    return bad;
  Collective tell;
  tell.kind = CollectiveKind::Broadcast;
  tell.line = line;
  tell.number = nextNumber(line);
  tell.peer = 0;
  tell.target = bytes->toAbi();
  if (Status bad = perform(Ranks, tell); !bad.isOk())
    return bad;
  if (Status bad = check(made, "ncclGetUniqueId", nullptr); !bad.isOk())
    return bad;
  return id;
}

Expected<NcclComm> NcclRanks::commOf(const RankLine &line) {
  if (!Failure.isOk())
    return Failure;
  if (auto there = Comms.find(line); there != Comms.end())
    return there->second;
  Expected<NcclId> id = idOf(line);
  if (!id)
    return id.status();
  NcclComm comm = nullptr;
  if (NcclResult result =
          Library.commInitRank(&comm, line.count, *id, line.placeOf(Ranks.rank()))) {
    Status why = Library.check(result, "ncclCommInitRank");
    return fail(Status(why.code(),
                       why.message() + "; NCCL_DEBUG=WARN in the environment makes it say why"));
  }
  Comms[line] = comm;
  return comm;
}

//===----------------------------------------------------------------------===//
// Agreement and failures
//===----------------------------------------------------------------------===//

static std::string textOf(const Collective &collective) {
  bool reduces = collective.kind == CollectiveKind::AllReduce ||
                 collective.kind == CollectiveKind::ReduceScatter;
  return (reduces ? std::string(toString(collective.how)) +
                        (collective.fixedOrder ? " in order, " : ", ")
                  : "") +
         collective.str();
}

/// Ranks may be at different lines of the program; what they do must be the same.
static std::string withoutPlace(const std::string &text) {
  return text.substr(0, text.find(" at "));
}

void NcclRanks::announce(const Collective &collective) {
  if (collective.line.count == 1 || !Failure.isOk())
    return;
  struct Exchange {
    std::vector<char> mine, all;
  };
  auto texts = std::make_shared<Exchange>();
  texts->mine.resize(textBytes);
  texts->all.resize(static_cast<size_t>(textBytes * collective.line.count));
  std::string text = textOf(collective);
  std::memcpy(texts->mine.data(), text.data(),
              std::min(text.size(), static_cast<size_t>(textBytes) - 1));
  Expected<Tensor> source = Tensor::view(texts->mine.data(), DType::I8, {textBytes});
  Expected<Tensor> target =
      Tensor::view(texts->all.data(), DType::I8, {textBytes * collective.line.count});
  if (!source || !target)
    return;
  Collective gather;
  gather.kind = CollectiveKind::AllGather;
  gather.line = collective.line;
  gather.number = nextNumber(collective.line);
  gather.source = source->toAbi();
  gather.target = target->toAbi();
  {
    std::lock_guard lock(Texts->mutex);
    ++Texts->inFlight;
  }
  auto compare = [texts, state = Texts, me = Ranks.rank(), line = collective.line,
                  loc = collective.loc](Status status) {
    std::string mine = texts->mine.data();
    for (int32_t place = 0; place < line.count && status.isOk(); ++place)
      if (std::string other = texts->all.data() + place * textBytes;
          withoutPlace(other) != withoutPlace(mine))
        status = Status(StatusCode::KernelFailed,
                        "ranks " + std::to_string(me) + " and " + std::to_string(line.at(place)) +
                            " do not come to the same collective: rank " + std::to_string(me) +
                            " is at " + mine + ", rank " + std::to_string(line.at(place)) + " at " +
                            other,
                        loc);
    std::lock_guard lock(state->mutex);
    --state->inFlight;
    if (state->failure.isOk())
      state->failure = status;
  };
  Ranks.start(gather, compare);
}

Status NcclRanks::findFailure() {
  if (!Failure.isOk())
    return Failure;
  if (isInterrupted())
    return interruption();
  {
    std::lock_guard lock(Texts->mutex);
    if (!Texts->failure.isOk())
      return Texts->failure;
  }
  for (const auto &[line, comm] : Comms) {
    NcclResult state = 0, asked = Library.commGetAsyncError(comm, &state);
    NcclResult result = asked ? asked : state;
    if (result != 0 && result != kNcclInProgress)
      return Library.check(result, "NCCL, while ranks were waiting for each other", comm);
  }
  return Status::ok();
}

Status NcclRanks::fail(const Status &why) {
  if (!Failure.isOk())
    return Failure;
  Failure = why;
  for (const auto &[line, comm] : Comms)
    Library.commAbort(comm);
  Comms.clear();
  Ranks.fail(why);
  return Failure;
}

Status NcclRanks::synchronize(Stream stream) {
  const Driver &cuda = *On.driver;
  Event reached = nullptr;
  Result made = cuda.eventCreate(&reached, 2); // without times
  made = made ? made : cuda.eventRecord(reached, stream);
  Status status = cuda.check(made, "cuEventRecord");
  auto pause = std::chrono::microseconds(1);
  while (status.isOk()) {
    Result result = cuda.eventQuery(reached);
    if (status = findFailure(); !status.isOk() || (result == 0 && Texts->isQuiet()))
      break;
    if (result != 0 && result != kNotReady)
      status = cuda.check(result, "the kernels failed");
    std::this_thread::sleep_for(pause);
    pause = std::min(pause * 2, std::chrono::microseconds(500));
  }
  if (reached)
    cuda.eventDestroy(reached);
  return status.isOk() ? status : fail(status);
}

//===----------------------------------------------------------------------===//
// GPUs
//===----------------------------------------------------------------------===//

Expected<const Gpu *> kiln::cuda::gpuOfRank(const Driver &driver, const Transport *transport,
                                            bool mayShare) {
  int place = 0, count = 0;
  if (transport && transport->isAmongProcesses())
    for (const char *name :
         {"OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID", "PMI_LOCAL_RANK", "SLURM_LOCALID"})
      if (std::string text = textFromEnvironment(name); !text.empty() && parseAll(text, place))
        break;
  if (Status failed = driver.check(driver.deviceGetCount(&count), "cuDeviceGetCount");
      !failed.isOk())
    return failed;
  if (place >= count && !mayShare)
    return Status(StatusCode::Unsupported,
                  "rank " + std::to_string(transport->rank()) + " is process " +
                      std::to_string(place + 1) + " on its machine, which has " +
                      std::to_string(count) + (count == 1 ? " GPU" : " GPUs") +
                      "; NCCL needs one for each rank: start fewer processes for each machine, or "
                      "run all ranks in one process with --ranks");
  return driver.gpu(count > 0 ? place % count : place);
}
