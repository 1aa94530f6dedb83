#include "ranks/MpiOperation.h"

#include "abi/ParseNumber.h"
#include "kiln/runtime/interrupt.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <dlfcn.h>
#include <filesystem>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

using namespace kiln;

/// What a rank says it does, for the others to compare.
static constexpr size_t headerBytes = 192;
/// Collectives up to this size travel together with the header. All headers leave room for that:
/// ranks that do different things must not disagree about how long they are.
static constexpr uint64_t smallBytes = 320;
static constexpr uint64_t firstBytes = headerBytes + smallBytes;
/// A message begins with what both ranks do, and whether it is lent.
static constexpr size_t messageHeaderBytes = headerBytes + sizeof(LoanTerms);
/// So many ranks exchange parts with each other directly; with more, MPI's trees are better.
static constexpr int32_t directRanks = 8;
/// One message of MPI; its counts have 31 bits.
static constexpr uint64_t messageBytes = uint64_t{1} << 30;

//===----------------------------------------------------------------------===//
// Opening and closing
//===----------------------------------------------------------------------===//

/// Where libkiln_mpi.so may be: where the user says, or beside this code.
static std::vector<std::string> candidates() {
  if (const char *given = std::getenv("KILN_MPI_LIBRARY"); given && *given)
    return {given};
  Dl_info here{};
  std::vector<std::string> paths;
  if (dladdr(reinterpret_cast<void *>(&candidates), &here) && here.dli_fname) {
    std::error_code error;
    std::filesystem::path self = std::filesystem::canonical(here.dli_fname, error);
    for (const char *folder : {".", "../lib", "../lib/kiln", "../../lib"})
      paths.push_back((self.parent_path() / folder / "libkiln_mpi.so").string());
  }
  paths.emplace_back("libkiln_mpi.so");
  return paths;
}

static Expected<const kiln_mpi_functions *> loadLibrary() {
  std::string why;
  for (const std::string &path : candidates()) {
    std::error_code error;
    if (path.find('/') != std::string::npos && !std::filesystem::exists(path, error))
      continue;
    // MPI opens parts of itself that look for its symbols, so they have to be seen.
    void *library = dlopen(path.c_str(), RTLD_NOW | RTLD_GLOBAL);
    if (!library) {
      const char *text = dlerror();
      why = text ? text : path;
      continue;
    }
    auto table = reinterpret_cast<decltype(&kiln_mpi)>(dlsym(library, "kiln_mpi"));
    if (table && table()->version == KILN_MPI_VERSION)
      return table();
    why = path + " belongs to another version of Kiln";
  }
  return Status(StatusCode::NotFound,
                "ranks that are processes need MPI, and this Kiln has none (" + why +
                    "); install Open MPI with scripts/setup and build Kiln again, or run all ranks "
                    "in one process with --ranks");
}

Expected<std::unique_ptr<MpiTransport>> MpiTransport::open() {
  Expected<const kiln_mpi_functions *> functions = loadLibrary();
  if (!functions)
    return functions.status();
  std::unique_ptr<MpiTransport> made(new MpiTransport(*functions));
  if (int error = made->Mpi.open(&made->Rank, &made->Ranks); error == -1)
    return Status(StatusCode::Unsupported, "this MPI does not allow threads");
  else if (error)
    return made->errorOf(error, {});
  if (Status bad = made->prepare({0, 1, made->Ranks}); !bad.isOk())
    return bad;
  if (Status bad = made->openWatch(); !bad.isOk())
    return bad;
  if (Status bad = made->openLending(); !bad.isOk())
    return bad;
  made->Worker = std::thread([transport = made.get()] { transport->work(); });
  return made;
}

MpiTransport::~MpiTransport() {
  {
    std::lock_guard lock(Mutex);
    IsStopping = true;
  }
  HasWork.notify_all();
  if (Worker.joinable())
    Worker.join();
}

void MpiTransport::close(bool failed) {
  if (failed)
    Mpi.abort(1);
  awaitOthers();
  std::lock_guard lock(Mutex);
  IsStopping = true; // the thread asks MPI nothing any more
  (void)Mpi.close();
}

Status MpiTransport::errorOf(int error, const Collective &collective) const {
  char text[512] = "";
  Mpi.explain(error, text, sizeof text);
  return Status(StatusCode::KernelFailed, std::string("MPI: ") + text, collective.loc);
}

Status MpiTransport::prepare(const RankLine &line) {
  std::lock_guard lock(Mutex);
  if (Lines.count(line))
    return Status::ok();
  kiln_mpi_line *made = nullptr;
  if (int error = Mpi.make_line(line.first, line.stride, line.count, &made))
    return errorOf(error, {});
  Lines[line] = made;
  return Status::ok();
}

Status MpiTransport::openLending() {
  if (Ranks == 1)
    return Status::ok();
  FileAddress mine = Loans.open();
  std::vector<FileAddress> all(static_cast<size_t>(Ranks));
  kiln_mpi_request request;
  int error = Mpi.gather(&mine, all.data(), sizeof mine, Lines[RankLine{0, 1, Ranks}], &request);
  uint64_t bytes = 0;
  for (int hasEnded = 0; error == 0 && !hasEnded;)
    error = Mpi.test(&request, &hasEnded, &bytes);
  if (error)
    return errorOf(error, {});
  Loans.setOthers(std::move(all));
  return Status::ok();
}

bool MpiTransport::hasFailed() {
  std::lock_guard lock(Mutex);
  return !Failure.isOk() || isInterrupted();
}

void MpiTransport::own(const kiln_tensor &tensor, MemoryAccess access) {
  if (Loans.hasLoans())
    Loans.own(tensor, access, [this] { return hasFailed(); });
}

void MpiTransport::settle() {
  if (Loans.hasLoans())
    Loans.settle([this] { return hasFailed(); });
}

//===----------------------------------------------------------------------===//
// Driving operations
//===----------------------------------------------------------------------===//

void MpiTransport::check(Operation &op, int error) {
  if (error && op.status.isOk())
    op.status = errorOf(error, op.collective);
}

void MpiTransport::start(const Collective &collective, Done done) {
  if (collective.line.count == 1) {
    const Collective *all[] = {&collective};
    return done(performTogether(all));
  }
  std::vector<std::pair<Done, Status>> ended;
  {
    std::lock_guard lock(Mutex);
    if (!Failure.isOk()) {
      ended.emplace_back(std::move(done), Failure);
    } else {
      Operation &op = Running.emplace_back();
      op.collective = collective;
      op.done = std::move(done);
      op.line = Lines[collective.line];
      op.me = collective.line.placeOf(Rank);
      noteStarted(op);
      begin(op);
      progress(ended);
    }
  }
  // A small one has ended before the thread is awake; it looks by itself soon enough.
  if (bytesOf(collective.shaped()) > smallBytes)
    HasWork.notify_one();
  for (auto &[call, status] : ended)
    call(status);
}

bool MpiTransport::advance(Operation &op) {
  for (;;) {
    while (!op.requests.empty()) {
      int hasEnded = 0;
      uint64_t bytes = 0;
      check(op, Mpi.test(&op.requests.back(), &hasEnded, &bytes));
      if (!op.status.isOk())
        return true;
      if (!hasEnded)
        return false;
      ++Steps;
      op.requests.pop_back();
    }
    if (op.hasHeader)
      compareHeaders(op);
    if (!op.next || !op.status.isOk())
      return true;
    Stage stage = std::exchange(op.next, nullptr);
    (this->*stage)(op);
  }
}

void MpiTransport::progress(std::vector<std::pair<Done, Status>> &ended) {
  for (auto it = Running.begin(); it != Running.end();) {
    if (!Failure.isOk() && it->status.isOk())
      it->status = Failure;
    if (it->status.isOk() && !advance(*it)) {
      ++it;
      continue;
    }
    if (it->status.isOk() && !it->target.empty())
      unpack(it->target.data(), it->collective.target);
    if (!it->status.isOk() && Failure.isOk())
      Failure = it->status;
    ++Events;
    ended.emplace_back(std::move(it->done), it->status);
    if (it->status.isOk() && it->parts.bytes > Spare.bytes)
      Spare = std::move(it->parts);
    // MPI may still write what has failed: its memory stays until the process ends.
    if (it->status.isOk())
      it = Running.erase(it);
    else
      new Operation(std::move(*it)), it = Running.erase(it);
  }
}

void MpiTransport::wait(const std::function<bool()> &isOver) {
  Waiting.fetch_add(1);
  // With more ranks than cores whoever is waited for may have none.
  static const unsigned cores = std::thread::hardware_concurrency();
  const unsigned roundsBeforeYield = static_cast<unsigned>(Ranks) > cores ? 0 : 200;
  for (unsigned round = 0; !isOver(); ++round) {
    Loans.serve();
    std::vector<std::pair<Done, Status>> ended;
    {
      std::lock_guard lock(Mutex);
      if (isInterrupted() && Failure.isOk())
        Failure = interruption();
      progress(ended);
    }
    for (auto &[call, status] : ended)
      call(status);
    if (round > roundsBeforeYield)
      std::this_thread::yield();
  }
  Waiting.fetch_sub(1);
}

void MpiTransport::work() {
  // Looking costs who computes a few microseconds: what has not ended after some looks is looked at
  // less often. Who has nothing to compute looks all the time, in wait().
  constexpr std::chrono::microseconds often{50}, seldom{400};
  // Somebody in wait() drives; two that do get into each other's way.
  constexpr unsigned looksBesideWaiting = 50;
  unsigned skipped = 0;
  for (std::chrono::microseconds pause = often;;) {
    Loans.serve();
    if (Waiting.load() > 0 && ++skipped < looksBesideWaiting) {
      std::this_thread::sleep_for(seldom);
      continue;
    }
    skipped = 0;
    std::vector<std::pair<Done, Status>> ended;
    {
      std::unique_lock lock(Mutex);
      if (Running.empty()) {
        HasWork.wait_for(lock, std::chrono::milliseconds(1),
                         [&] { return IsStopping || !Running.empty(); });
        pause = often;
      }
      if (IsStopping)
        return;
      // While nothing is in flight MPI is the program's, which may use it for itself.
      if (Running.empty())
        continue;
      lookAround();
      uint64_t before = Steps;
      if (Waiting.load() == 0 || !Failure.isOk())
        progress(ended);
      pause = Steps == before ? std::min(2 * pause, seldom) : often;
    }
    for (auto &[call, status] : ended)
      call(status);
    std::this_thread::sleep_for(pause);
  }
}

void MpiTransport::fail(const Status &why) {
  std::vector<std::pair<Done, Status>> ended;
  {
    std::lock_guard lock(Mutex);
    if (Failure.isOk())
      Failure = why;
    progress(ended);
  }
  for (auto &[call, status] : ended)
    call(status);
}

//===----------------------------------------------------------------------===//
// What is sent
//===----------------------------------------------------------------------===//

int32_t MpiTransport::tagOf(const Operation &op) const {
  // Every MPI has tags up to 32767.
  return static_cast<int32_t>(op.collective.number % 8192) * 4 + isBetweenTwo(op.collective.kind);
}

void MpiTransport::send(Operation &op, const void *data, uint64_t bytes, int32_t to) {
  const auto *from = static_cast<const std::byte *>(data);
  for (uint64_t at = 0; at < bytes || at == 0; at += messageBytes)
    check(op, Mpi.send(from + at, std::min(bytes - at, messageBytes), to, tagOf(op), op.line,
                       &op.requests.emplace_back()));
}

void MpiTransport::receive(Operation &op, void *data, uint64_t bytes, int32_t from) {
  auto *to = static_cast<std::byte *>(data);
  for (uint64_t at = 0; at < bytes || at == 0; at += messageBytes)
    check(op, Mpi.receive(to + at, std::min(bytes - at, messageBytes), from, tagOf(op), op.line,
                          &op.requests.emplace_back()));
}

static void writeHeader(const Collective &collective, std::byte *to) {
  std::string text = collective.str();
  if (collective.kind == CollectiveKind::AllReduce ||
      collective.kind == CollectiveKind::ReduceScatter)
    text = std::string(toString(collective.how)) + (collective.fixedOrder ? " in order, " : ", ") +
           text;
  // Where it is cut off, what is left still tells different collectives apart.
  size_t size = std::min(text.size(), headerBytes - 1);
  std::memset(to, 0, headerBytes);
  std::memcpy(to, text.data(), size);
}

void MpiTransport::compareHeaders(Operation &op) {
  op.hasHeader = false;
  if (isBetweenTwo(op.collective.kind))
    return compareMessage(op);
  auto textOf = [&](int32_t place) {
    return std::string(reinterpret_cast<const char *>(op.headers.data() +
                                                      static_cast<size_t>(place) * firstBytes));
  };
  // Ranks may be at different lines of the program; what they do must be the same.
  auto what = [](const std::string &text) { return text.substr(0, text.find(" at ")); };
  std::string mine = textOf(op.me);
  for (int32_t place = 0; place < op.count(); ++place)
    if (std::string other = textOf(place); what(other) != what(mine)) {
      op.status = Status(
          StatusCode::KernelFailed,
          "ranks " + std::to_string(Rank) + " and " + std::to_string(op.collective.line.at(place)) +
              " do not come to the same collective: rank " + std::to_string(Rank) + " is at " +
              mine + ", rank " + std::to_string(op.collective.line.at(place)) + " at " + other,
          op.collective.loc);
      return;
    }
}

/// What a header says of a tensor: "f32[8, 8]".
static std::string tensorIn(const std::string &text) {
  size_t from = text.find(" of "), to = text.find(']', from);
  return from == std::string::npos ? "" : text.substr(from + 4, to - from - 3);
}

void MpiTransport::compareMessage(Operation &op) {
  std::string mine(reinterpret_cast<const char *>(op.mine.data())),
      other(reinterpret_cast<const char *>(op.headers.data()));
  if (tensorIn(mine) == tensorIn(other))
    return;
  std::string me = std::to_string(Rank), them = std::to_string(op.watched.peer);
  op.status = Status(StatusCode::KernelFailed,
                     "ranks " + me + " and " + them +
                         " send and receive different types or extents: rank " + me + " is at " +
                         mine + ", rank " + them + " at " + other,
                     op.collective.loc);
}

//===----------------------------------------------------------------------===//
// Collectives
//===----------------------------------------------------------------------===//

void MpiTransport::begin(Operation &op) {
  const Collective &what = op.collective;
  if (what.source.rank && !isPacked(what.source))
    op.source = pack(what.source);
  bool readsTarget =
      what.kind == CollectiveKind::AllReduce || what.kind == CollectiveKind::Broadcast;
  if (what.target.rank && !isPacked(what.target)) {
    op.target = readsTarget ? pack(what.target) : std::vector<std::byte>(bytesOf(what.target));
    if (readsTarget)
      op.source = op.target;
  }
  if (isBetweenTwo(what.kind))
    return beginMessage(op);
  op.mine.resize(firstBytes);
  op.headers.resize(firstBytes * static_cast<uint64_t>(op.count()));
  writeHeader(what, op.mine.data());
  op.hasHeader = true;
  // A small one takes everything to everybody, and each does for itself what is to be done. What is
  // larger has to wait: where it is longer than wanted, Open MPI writes it beyond its end.
  uint64_t bytes = bytesOf(what.source.rank ? what.source : what.target);
  if (bytes > 0 && bytes <= smallBytes)
    std::memcpy(op.mine.data() + headerBytes, op.input(), bytes);
  op.next = bytes <= smallBytes ? &MpiTransport::finishSmall : &MpiTransport::carry;
  check(op, Mpi.gather(op.mine.data(), op.headers.data(), firstBytes, op.line,
                       &op.requests.emplace_back()));
}

/// All ranks agree.
void MpiTransport::carry(Operation &op) {
  const Collective &what = op.collective;
  uint64_t bytes = bytesOf(what.source.rank ? what.source : what.target);
  switch (what.kind) {
  case CollectiveKind::AllReduce:
  case CollectiveKind::ReduceScatter:
    return exchange(op);
  case CollectiveKind::AllGather:
    return gatherAll(op);
  case CollectiveKind::AllToAll:
    return exchangeParts(op);
  case CollectiveKind::Broadcast:
    for (uint64_t at = 0; at < bytes; at += messageBytes)
      check(op, Mpi.broadcast(op.output() + at, std::min(bytes - at, messageBytes), what.peer,
                              op.line, &op.requests.emplace_back()));
    return;
  default:
    return;
  }
}

void MpiTransport::finishSmall(Operation &op) {
  const Collective &what = op.collective;
  auto count = static_cast<uint64_t>(op.count()), me = static_cast<uint64_t>(op.me);
  auto partOf = [&](uint64_t place) {
    return op.headers.data() + place * firstBytes + headerBytes;
  };
  uint64_t bytes = bytesOf(what.target);
  std::vector<const void *> parts(count);
  switch (what.kind) {
  case CollectiveKind::AllReduce:
  case CollectiveKind::ReduceScatter:
    for (uint64_t i = 0; i < count; ++i)
      parts[i] = partOf(i) + (what.kind == CollectiveKind::AllReduce ? 0 : me * bytes);
    return combine(op.type(), what.how, parts, op.output(),
                   static_cast<int64_t>(bytes) / sizeOf(op.type()));
  case CollectiveKind::AllGather:
  case CollectiveKind::AllToAll:
    for (uint64_t i = 0; i < count; ++i)
      std::memcpy(op.output() + i * (bytes / count),
                  partOf(i) + (what.kind == CollectiveKind::AllGather ? 0 : me * (bytes / count)),
                  bytes / count);
    return;
  case CollectiveKind::Broadcast:
    if (bytes > 0)
      std::memcpy(op.output(), partOf(static_cast<uint64_t>(what.peer)), bytes);
    return;
  default:
    return;
  }
}

MpiTransport::Memory MpiTransport::takeMemory(uint64_t bytes) {
  if (Spare.bytes >= bytes)
    return std::exchange(Spare, {});
  return {std::unique_ptr<std::byte[]>(new std::byte[bytes]), bytes};
}

/// Where what another rank sends is kept: there is no place for this rank's own.
std::byte *MpiTransport::partOf(Operation &op, int32_t place, uint64_t bytes) {
  return op.parts.data.get() + static_cast<uint64_t>(place - (place > op.me)) * bytes;
}

/// The elements that a rank combines: [first, last).
static std::pair<int64_t, int64_t> shareOf(int64_t elements, int32_t place, int32_t count) {
  return {elements * place / count, elements * (place + 1) / count};
}

/// Each rank gets everybody's elements of its share.
void MpiTransport::exchange(Operation &op) {
  const Collective &what = op.collective;
  const kiln_tensor &from = what.source.rank ? what.source : what.target;
  int64_t width = sizeOf(op.type()), elements = static_cast<int64_t>(bytesOf(from)) / width;
  bool isNative = width == 4 || (!isFloat(op.type()) && op.type() != DType::I1);
  // MPI may lose NaN in max and min.
  isNative &= !isFloat(op.type()) || what.how == Reduction::Sum || what.how == Reduction::Prod;
  if (what.kind == CollectiveKind::AllReduce && !what.fixedOrder && op.count() > directRanks &&
      isNative && elements <= INT32_MAX)
    return check(op, Mpi.reduce(op.output(), static_cast<uint64_t>(elements), from.dtype,
                                static_cast<int>(what.how), op.line, &op.requests.emplace_back()));
  auto [first, last] = shareOf(elements, op.me, op.count());
  auto mine = static_cast<uint64_t>((last - first) * width);
  op.parts = takeMemory(mine * static_cast<uint64_t>(op.count() - 1));
  for (int32_t step = 1; step < op.count(); ++step) {
    int32_t to = (op.me + step) % op.count(), other = (op.me - step + op.count()) % op.count();
    receive(op, partOf(op, other, mine), mine, other);
    auto [begin, end] = shareOf(elements, to, op.count());
    send(op, op.input() + begin * width, static_cast<uint64_t>((end - begin) * width), to);
  }
  op.next = &MpiTransport::combineMine;
}

void MpiTransport::combineMine(Operation &op) {
  const Collective &what = op.collective;
  bool scatters = what.kind == CollectiveKind::ReduceScatter;
  const kiln_tensor &from = what.source.rank ? what.source : what.target;
  int64_t width = sizeOf(op.type()), elements = static_cast<int64_t>(bytesOf(from)) / width;
  auto [first, last] = shareOf(elements, op.me, op.count());
  auto mine = static_cast<uint64_t>((last - first) * width);
  std::vector<const void *> parts(static_cast<size_t>(op.count()));
  for (int32_t place = 0; place < op.count(); ++place)
    parts[static_cast<size_t>(place)] =
        place == op.me ? op.input() + first * width : partOf(op, place, mine);
  std::byte *into = op.output() + (scatters ? 0 : first * width);
  combine(op.type(), what.how, parts, into, last - first);
  if (!scatters)
    spreadResult(op);
}

void MpiTransport::spreadResult(Operation &op) {
  int64_t width = sizeOf(op.type());
  int64_t elements = static_cast<int64_t>(bytesOf(op.collective.target)) / width;
  auto [first, last] = shareOf(elements, op.me, op.count());
  for (int32_t step = 1; step < op.count(); ++step) {
    int32_t to = (op.me + step) % op.count(), other = (op.me - step + op.count()) % op.count();
    auto [begin, end] = shareOf(elements, other, op.count());
    receive(op, op.output() + begin * width, static_cast<uint64_t>((end - begin) * width), other);
    send(op, op.output() + first * width, static_cast<uint64_t>((last - first) * width), to);
  }
}

#ifdef __SSE2__
/// What is larger than the caches goes past them: memory that is written need not be read first.
static void copyPastCaches(std::byte *to, const std::byte *from, uint64_t bytes) {
  constexpr uint64_t step = 256, ahead = 4096;
  uint64_t at = -reinterpret_cast<uint64_t>(to) % sizeof(__m128i);
  std::memcpy(to, from, at);
  for (; at + step <= bytes; at += step) {
    __m128i loaded[step / sizeof(__m128i)];
    const auto *source = reinterpret_cast<const __m128i *>(from + at);
    auto *target = reinterpret_cast<__m128i *>(to + at);
    for (size_t i = 0; i < std::size(loaded); ++i)
      loaded[i] = _mm_loadu_si128(source + i);
    for (uint64_t line = 0; line < step; line += 64)
      __builtin_prefetch(from + at + ahead + line);
    for (size_t i = 0; i < std::size(loaded); ++i)
      _mm_stream_si128(target + i, loaded[i]);
  }
  _mm_sfence();
  std::memcpy(to + at, from + at, bytes - at);
}
#endif

static void copyOwn(std::byte *to, const std::byte *from, uint64_t bytes) {
#ifdef __SSE2__
  constexpr uint64_t largerThanCaches = uint64_t{16} << 20;
  if (bytes >= largerThanCaches)
    return copyPastCaches(to, from, bytes);
#endif
  std::memcpy(to, from, bytes);
}

void MpiTransport::gatherAll(Operation &op) {
  uint64_t bytes = bytesOf(op.collective.source);
  if (op.count() > directRanks && bytes <= messageBytes)
    return check(op,
                 Mpi.gather(op.input(), op.output(), bytes, op.line, &op.requests.emplace_back()));
  for (int32_t step = 1; step < op.count(); ++step) {
    int32_t to = (op.me + step) % op.count(), other = (op.me - step + op.count()) % op.count();
    receive(op, op.output() + static_cast<uint64_t>(other) * bytes, bytes, other);
    send(op, op.input(), bytes, to);
  }
  copyOwn(op.output() + static_cast<uint64_t>(op.me) * bytes, op.input(), bytes);
}

void MpiTransport::exchangeParts(Operation &op) {
  uint64_t bytes = bytesOf(op.collective.source) / static_cast<uint64_t>(op.count());
  for (int32_t step = 1; step < op.count(); ++step) {
    int32_t to = (op.me + step) % op.count(), other = (op.me - step + op.count()) % op.count();
    receive(op, op.output() + static_cast<uint64_t>(other) * bytes, bytes, other);
    send(op, op.input() + static_cast<uint64_t>(to) * bytes, bytes, to);
  }
  auto mine = static_cast<uint64_t>(op.me) * bytes;
  copyOwn(op.output() + mine, op.input() + mine, bytes);
}

void MpiTransport::beginMessage(Operation &op) {
  const Collective &what = op.collective;
  // Messages are counted from one rank to another, whatever the group; so the line is the world's.
  op.line = Lines[RankLine{0, 1, Ranks}];
  op.mine.resize(messageHeaderBytes);
  op.headers.resize(messageHeaderBytes);
  int32_t peer = what.line.at(what.peer), ofSender = tagOf(op) + 1, ofReceiver = ofSender + 1;
  bool sends = what.kind == CollectiveKind::Send;
  writeHeader(what, op.mine.data());
  op.terms = sends ? Loans.offer(what, peer) : Loans.wish(what, peer);
  std::memcpy(op.mine.data() + headerBytes, &op.terms, sizeof op.terms);
  op.hasHeader = true;
  op.next = &MpiTransport::carryMessage;
  check(op, Mpi.receive(op.headers.data(), messageHeaderBytes, peer, sends ? ofReceiver : ofSender,
                        op.line, &op.requests.emplace_back()));
  check(op, Mpi.send(op.mine.data(), messageHeaderBytes, peer, sends ? ofSender : ofReceiver,
                     op.line, &op.requests.emplace_back()));
}

/// The other rank is there, so a send ends when that receives.
void MpiTransport::carryMessage(Operation &op) {
  const Collective &what = op.collective;
  int32_t peer = what.line.at(what.peer);
  bool sends = what.kind == CollectiveKind::Send;
  LoanTerms theirs;
  std::memcpy(&theirs, op.headers.data() + headerBytes, sizeof theirs);
  if (agree(op.terms, theirs)) {
    if (!sends)
      op.status = Loans.borrow(what, peer, theirs).withLocation(what.loc);
    return;
  }
  Loans.withdraw(op.terms);
  if (sends)
    send(op, op.input(), bytesOf(what.source), peer);
  else
    receive(op, op.output(), bytesOf(what.target), peer);
}

//===----------------------------------------------------------------------===//
// The process's transport
//===----------------------------------------------------------------------===//

std::optional<int32_t> kiln::launchedRanks() {
  for (const char *name : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE"})
    if (const char *text = std::getenv(name))
      if (int32_t number = 0; parseAll(text, number) && number > 0)
        return number;
  return std::nullopt;
}

static std::unique_ptr<MpiTransport> &processTransport() {
  static auto *transport = new std::unique_ptr<MpiTransport>; // MPI may outlive main
  return *transport;
}

Expected<Transport *> kiln::openMpi() {
  std::unique_ptr<MpiTransport> &transport = processTransport();
  if (!transport) {
    Expected<std::unique_ptr<MpiTransport>> opened = MpiTransport::open();
    if (!opened)
      return opened.status();
    transport = std::move(*opened);
  }
  return static_cast<Transport *>(transport.get());
}

void kiln::closeMpi(bool failed) {
  std::unique_ptr<MpiTransport> &transport = processTransport();
  if (!transport)
    return;
  std::fflush(nullptr);
  transport->close(failed);
  transport.reset();
}
