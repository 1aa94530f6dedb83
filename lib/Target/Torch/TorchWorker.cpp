//===- TorchWorker.cpp - runs emitted PyTorch in a long-lived Python process --------===//
#include "kiln/Target/Torch/TorchWorker.h"

#include "TorchWorkerScript.h"
#include "kiln/runtime/interrupt.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/JSON.h"

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

extern char **environ;

namespace kiln {
namespace json = llvm::json;

static Status ioError(const std::string &what) {
  return Status(StatusCode::IoError, what + ": " + std::strerror(errno));
}

/// Seconds in which a Python has to say whether it has torch, which takes it a tenth of one.
static constexpr uint64_t startLimit = 20;
/// Seconds that a run may take; 0: any time.
static std::atomic<uint64_t> timeLimit{defaultTimeout};

static uint64_t startSeconds() {
  uint64_t limit = timeLimit;
  return limit == 0 ? startLimit : std::min(limit, startLimit);
}

//===----------------------------------------------------------------------===//
// The process
//===----------------------------------------------------------------------===//

namespace {
struct Message {
  json::Object header;
  std::string payload;
};
} // namespace

/// Ends a Python and whatever it started: each is the leader of a process group of its own.
static void killGroup(pid_t leader) {
  if (leader > 0)
    ::kill(-leader, SIGKILL);
}

/// What a Python wrote, as it may be printed: not too long, and nothing that steers a terminal.
static std::string printable(llvm::StringRef text) {
  constexpr size_t longest = 4096;
  std::string shown;
  llvm::raw_string_ostream os(shown);
  for (char c : text.take_front(longest))
    if (llvm::isPrint(c) || c == '\n' || static_cast<unsigned char>(c) >= 0x80)
      os << c;
    else
      os << (c == '\t' ? " " : "?");
  if (text.size() > longest)
    os << "... (" << text.size() - longest << " bytes more)";
  return shown;
}

/// A Python process that runs the worker script, and the socket to talk to it.
class TorchWorker::Process {
public:
  static Expected<std::unique_ptr<Process>> spawn(const std::string &interpreter);
  ~Process();

  /// Sends a message made of several pieces, then waits for the answer, for ever if `seconds` is 0.
  /// Reads stderr meanwhile, so that the process never blocks on a full pipe. Who does not answer
  /// in time is killed.
  Expected<Message> exchange(llvm::ArrayRef<llvm::StringRef> pieces, uint64_t seconds);
  /// Sends a request with the memory it speaks of, and waits for the answer.
  Expected<Message> ask(json::Object request, llvm::ArrayRef<llvm::StringRef> memory);

  bool isAlive() const { return Socket >= 0; }

  const std::string Interpreter;

private:
  Process(std::string interpreter, pid_t pid, int socket, int errors)
      : Interpreter(std::move(interpreter)), Pid(pid), Socket(socket), Errors(errors),
        Rescue([this](const Status &) {
          killGroup(Pid);
          return "";
        }) {}

  Status sendSome(llvm::StringRef &piece);
  Status receiveSome(std::string &answer);
  void drainErrors();
  Status died();
  /// Ends the process because of `why`, which is also the answer to whoever asks later.
  Status kill(Status why);
  /// Until it has ended by itself; kills it if that takes more than a second. Its exit state.
  int awaitEnd();

  std::atomic<pid_t> Pid; ///< 0 once the process is gone.
  int Socket;             ///< -1 once the process is gone.
  int Errors;
  std::string ErrorText; ///< The end of what it wrote to stderr.
  Status Death;
  OnInterrupt Rescue; ///< It must not outlive this process.
};

Expected<std::unique_ptr<TorchWorker::Process>>
TorchWorker::Process::spawn(const std::string &interpreter) {
  // A socket and not a pipe: only a socket can be written without risking SIGPIPE.
  int link[2], errors[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, link) != 0)
    return ioError("cannot make a socket for the Python worker");
  if (pipe2(errors, O_CLOEXEC) != 0) {
    Status status = ioError("cannot make a pipe for the Python worker");
    close(link[0]), close(link[1]);
    return status;
  }
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, link[1], STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, errors[1], STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, errors[1], STDERR_FILENO);
  const char *argv[] = {interpreter.c_str(), "-c", torch::kWorkerScript, nullptr};
  pid_t pid = 0;
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  posix_spawnattr_setpgroup(&attributes, 0); // a group of its own
  int failure = posix_spawnp(&pid, interpreter.c_str(), &actions, &attributes,
                             const_cast<char **>(argv), environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  close(link[1]), close(errors[1]);
  if (failure != 0) {
    close(link[0]), close(errors[0]);
    return Status(StatusCode::NotFound,
                  "cannot run '" + interpreter + "': " + std::strerror(failure));
  }
  fcntl(errors[0], F_SETFL, O_NONBLOCK);
  return std::unique_ptr<Process>(new Process(interpreter, pid, link[0], errors[0]));
}

TorchWorker::Process::~Process() {
  if (Socket >= 0)
    close(Socket); // the worker reads the end of the stream and exits
  close(Errors);   // and does not wait for us to read its last words
  awaitEnd();
}

int TorchWorker::Process::awaitEnd() {
  int state = 0;
  if (Pid <= 0)
    return state;
  auto hasEnded = [&] {
    siginfo_t info = {};
    return waitid(P_PID, Pid, &info, WEXITED | WNOHANG | WNOWAIT) != 0 || info.si_pid != 0;
  };
  for (int attempt = 0; attempt < 200 && !isInterrupted() && !hasEnded(); ++attempt)
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  killGroup(Pid); // before it is waited for: until then nobody else can get its number
  waitpid(Pid, &state, 0);
  Pid = 0;
  return state;
}

Status TorchWorker::Process::kill(Status why) {
  killGroup(Pid);
  close(Socket);
  Socket = -1;
  awaitEnd();
  return Death = std::move(why);
}

void TorchWorker::Process::drainErrors() {
  constexpr size_t kept = 16384;
  char buffer[4096];
  for (int chunks = 0; chunks < 64; ++chunks) { // not for ever, if it writes faster than this reads
    ssize_t got = read(Errors, buffer, sizeof buffer);
    if (got <= 0)
      break;
    ErrorText.append(buffer, got);
    if (ErrorText.size() > 2 * kept)
      ErrorText.erase(0, ErrorText.size() - kept);
  }
}

/// Ends the process, and says how it ended.
Status TorchWorker::Process::died() {
  close(Socket);
  Socket = -1;
  int state = awaitEnd();
  drainErrors();
  std::string how = WIFSIGNALED(state)
                        ? std::string("was killed by signal ") + strsignal(WTERMSIG(state))
                        : "ended with exit code " + std::to_string(WEXITSTATUS(state));
  llvm::StringRef last = llvm::StringRef(ErrorText).trim();
  Death = Status(StatusCode::IoError, "the Python worker (" + Interpreter + ") " + how +
                                          (last.empty() ? "" : "; it wrote:\n" + printable(last)));
  return Death;
}

Status TorchWorker::Process::sendSome(llvm::StringRef &piece) {
  ssize_t sent = send(Socket, piece.data(), piece.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  if (sent >= 0)
    piece = piece.drop_front(sent);
  else if (errno != EAGAIN && errno != EINTR)
    return died();
  return Status::ok();
}

Status TorchWorker::Process::receiveSome(std::string &answer) {
  static constexpr size_t chunk = 1 << 20;
  size_t before = answer.size();
  answer.resize(before + chunk);
  ssize_t got = recv(Socket, answer.data() + before, chunk, MSG_DONTWAIT);
  int error = errno;
  answer.resize(before + std::max<ssize_t>(got, 0));
  if (got == 0 || (got < 0 && error != EAGAIN && error != EINTR))
    return died();
  return Status::ok();
}

/// Takes a message apart; false as long as some of it is missing.
static Expected<bool> parseMessage(std::string &data, Message &message) {
  uint64_t length = 0;
  if (data.size() < sizeof length)
    return false;
  std::memcpy(&length, data.data(), sizeof length);
  if (data.size() - sizeof length < length)
    return false;
  llvm::Expected<json::Value> header =
      json::parse(llvm::StringRef(data).substr(sizeof length, length));
  if (!header || !header->getAsObject()) {
    llvm::consumeError(header.takeError());
    return Status(StatusCode::Internal, "the Python worker answered with something else than JSON");
  }
  message.header = *header->getAsObject();
  if (data.size() - sizeof length - length <
      uint64_t(message.header.getInteger("bytes").value_or(0)))
    return false;
  message.payload = data.substr(sizeof length + length);
  return true;
}

Expected<Message> TorchWorker::Process::exchange(llvm::ArrayRef<llvm::StringRef> pieces,
                                                 uint64_t seconds) {
  if (Socket < 0)
    return Death;
  using Clock = std::chrono::steady_clock;
  auto start = Clock::now();
  llvm::SmallVector<llvm::StringRef> waiting(pieces);
  llvm::MutableArrayRef<llvm::StringRef> left = waiting;
  std::string data;
  Message message;
  while (true) {
    Expected<bool> isComplete = parseMessage(data, message);
    if (!isComplete)
      return isComplete.status();
    if (*isComplete)
      return message;
    if (isInterrupted())
      return kill(Status(StatusCode::Interrupted, "interrupted while Python was running"));
    if (seconds > 0 && Clock::now() - start > std::chrono::seconds(seconds))
      return kill(Status(StatusCode::KernelFailed, "'" + Interpreter + "' did not answer within " +
                                                       std::to_string(seconds) + " s"));
    while (!left.empty() && left.front().empty())
      left = left.drop_front();
    pollfd fds[] = {{Socket, short(POLLIN | (left.empty() ? 0 : POLLOUT)), 0}, {Errors, POLLIN, 0}};
    if (poll(fds, 2, /*milliseconds=*/100) < 0 && errno != EINTR)
      return ioError("waiting for the Python worker");
    drainErrors();
    if (fds[0].revents & POLLOUT)
      if (Status status = sendSome(left.front()); !status.isOk())
        return status;
    if (fds[0].revents & (POLLIN | POLLHUP | POLLERR))
      if (Status status = receiveSome(data); !status.isOk())
        return status;
  }
}

Expected<Message> TorchWorker::Process::ask(json::Object request,
                                            llvm::ArrayRef<llvm::StringRef> memory) {
  json::Array sizes;
  for (llvm::StringRef region : memory)
    sizes.push_back(int64_t(region.size()));
  request["regions"] = std::move(sizes);
  std::string header = llvm::formatv("{0}", json::Value(std::move(request))).str();
  uint64_t length = header.size();
  llvm::SmallVector<llvm::StringRef> pieces = {
      {reinterpret_cast<const char *>(&length), sizeof length}, header};
  pieces.append(memory.begin(), memory.end());
  Expected<Message> answer = exchange(pieces, timeLimit);
  if (!answer && answer.status().code() == StatusCode::KernelFailed)
    return Status(StatusCode::KernelFailed,
                  answer.status().message() +
                      " (--timeout SECONDS allows more): is there a loop that never ends?");
  return answer;
}

//===----------------------------------------------------------------------===//
// Which Python
//===----------------------------------------------------------------------===//

TorchWorker::TorchWorker(std::unique_ptr<Process> process) : Python(std::move(process)) {}
TorchWorker::~TorchWorker() = default;
void TorchWorker::setTimeLimit(uint64_t seconds) { timeLimit = seconds; }
bool TorchWorker::isAlive() const { return Python->isAlive(); }
const std::string &TorchWorker::traceback() const { return Traceback; }
const std::string &TorchWorker::interpreter() const { return Python->Interpreter; }

Expected<std::unique_ptr<TorchWorker>> TorchWorker::start() {
  auto attempt = [](const std::string &interpreter) -> Expected<std::unique_ptr<TorchWorker>> {
    Expected<std::unique_ptr<Process>> process = Process::spawn(interpreter);
    if (!process)
      return process.status();
    Expected<Message> hello = (*process)->exchange({}, startSeconds());
    if (!hello)
      return hello.status();
    if (!hello->header.getBoolean("torch").value_or(false))
      return Status(StatusCode::NotFound, "'" + interpreter + "' has no torch");
    return std::unique_ptr<TorchWorker>(new TorchWorker(std::move(*process)));
  };
  if (const char *chosen = std::getenv("KILN_PYTHON"); chosen && *chosen) {
    Expected<std::unique_ptr<TorchWorker>> worker = attempt(chosen);
    if (worker || isInterrupted())
      return worker;
    return Status(StatusCode::NotFound,
                  "KILN_PYTHON does not name a Python with torch: " + worker.status().message());
  }
  std::string reasons;
  for (const char *interpreter : {"python3", "/usr/bin/python3"}) {
    Expected<std::unique_ptr<TorchWorker>> worker = attempt(interpreter);
    if (worker)
      return worker;
    reasons += (reasons.empty() ? "" : "; ") + worker.status().message();
  }
  return Status(StatusCode::NotFound,
                "there is no Python with torch (" + reasons +
                    "); install python3-torch, or set KILN_PYTHON to an interpreter that has it");
}

//===----------------------------------------------------------------------===//
// A run
//===----------------------------------------------------------------------===//

namespace {
/// Memory that one or several tensors lie in: sent once, so that what overlaps here overlaps there.
struct Region {
  std::byte *begin, *end;
  bool isWritable = false;
  llvm::StringRef bytes() const {
    return {reinterpret_cast<const char *>(begin), size_t(end - begin)};
  }
};
} // namespace

static std::byte *endOf(const Tensor &tensor) {
  return tensor.dataAs<std::byte>() + tensor.spanBytes();
}

static llvm::SmallVector<Region> regionsOf(std::span<const TorchArgument> args) {
  llvm::SmallVector<Region> all, merged;
  for (const TorchArgument &arg : args)
    if (auto *tensor = std::get_if<Tensor>(&arg); tensor && tensor->spanBytes() > 0)
      all.push_back({tensor->dataAs<std::byte>(), endOf(*tensor), !tensor->isReadOnly()});
  llvm::sort(all, [](const Region &a, const Region &b) { return a.begin < b.begin; });
  for (const Region &region : all) {
    if (merged.empty() || region.begin >= merged.back().end) {
      merged.push_back(region);
      continue;
    }
    merged.back().end = std::max(merged.back().end, region.end);
    merged.back().isWritable |= region.isWritable;
  }
  return merged;
}

static const char *torchName(DType dtype) {
  switch (dtype) {
  case DType::F32:
    return "float32";
  case DType::F16:
    return "float16";
  case DType::BF16:
    return "bfloat16";
  case DType::F8E4M3FN:
  case DType::F8E5M2:
    return "uint8";
  case DType::I8:
    return "int8";
  case DType::I16:
    return "int16";
  case DType::I32:
    return "int32";
  case DType::I64:
  case DType::Index:
    return "int64";
  case DType::I1:
    return "bool";
  }
  return "float32";
}

static json::Object describe(const Tensor &tensor, llvm::ArrayRef<Region> regions) {
  const auto *at = tensor.dataAs<std::byte>();
  size_t index = 0;
  while (index < regions.size() && !(at >= regions[index].begin && at < regions[index].end))
    ++index;
  int64_t offset = index < regions.size() ? at - regions[index].begin : 0;
  return json::Object{{"region", int64_t(index)},
                      {"offset", offset},
                      {"span", int64_t(tensor.spanBytes() / sizeOf(tensor.dtype()))},
                      {"dtype", torchName(tensor.dtype())},
                      {"extents", json::Array(tensor.extents())},
                      {"strides", json::Array(tensor.strides())}};
}

static json::Object describe(const ScalarBits &scalar) {
  if (isFloat(scalar.type)) {
    char text[64]; // hexadecimal: exact, and it knows infinity and NaN
    std::snprintf(text, sizeof text, "%a", scalar.asDouble());
    return json::Object{{"float", std::string(text)}};
  }
  return json::Object{{scalar.type == DType::I1 ? "bool" : "int", scalar.asInt()}};
}

/// The Python exception an answer tells of, if any.
static Status errorOf(const json::Object &header, std::string &traceback,
                      std::vector<int64_t> &failedLines) {
  std::optional<llvm::StringRef> error = header.getString("error");
  if (!error)
    return Status::ok();
  traceback = header.getString("traceback").value_or("").str();
  if (const json::Array *lines = header.getArray("lines"))
    for (const json::Value &line : *lines)
      failedLines.push_back(line.getAsInteger().value_or(0));
  bool isDeadlock = error->starts_with("RuntimeError: Cross-core simulation deadlock");
  return Status(isDeadlock ? StatusCode::Deadlock : StatusCode::KernelFailed, printable(*error));
}

Status TorchWorker::run(const std::string &source, const std::string &entry,
                        std::span<const TorchArgument> args) {
  Expected<std::optional<size_t>> done = execute(source, entry, args, std::nullopt);
  return done ? Status::ok() : done.status();
}

Expected<std::optional<size_t>> TorchWorker::record(const std::string &source,
                                                    const std::string &entry,
                                                    std::span<const TorchArgument> args,
                                                    uint64_t limit) {
  return execute(source, entry, args, limit);
}

Expected<std::optional<size_t>> TorchWorker::execute(const std::string &source,
                                                     const std::string &entry,
                                                     std::span<const TorchArgument> args,
                                                     std::optional<uint64_t> limit) {
  Traceback.clear();
  FailedLines.clear();
  llvm::SmallVector<Region> regions = regionsOf(args);
  json::Array specs;
  for (const TorchArgument &arg : args) {
    if (auto *tensor = std::get_if<Tensor>(&arg)) {
      if (Status status = tensor->validate(); !status.isOk())
        return status.withPrefix("argument " + std::to_string(specs.size()));
      specs.push_back(describe(*tensor, regions));
    } else {
      specs.push_back(describe(std::get<ScalarBits>(arg)));
    }
  }
  json::Object request{{"source", json::fixUTF8(source)},
                       {"entry", json::fixUTF8(entry)},
                       {"args", std::move(specs)}};
  if (limit)
    request["record"] = int64_t(std::min<uint64_t>(*limit, INT64_MAX));
  Expected<Message> answer = Python->ask(
      std::move(request), llvm::to_vector(llvm::map_range(regions, std::mem_fn(&Region::bytes))));
  if (!answer)
    return answer.status();
  if (Status error = errorOf(answer->header, Traceback, FailedLines); !error.isOk())
    return error;
  llvm::StringRef bytes = answer->payload;
  for (const Region &region : regions) {
    llvm::StringRef now = bytes.take_front(region.bytes().size());
    bytes = bytes.drop_front(now.size());
    if (now == region.bytes())
      continue;
    if (!region.isWritable)
      return Status(StatusCode::KernelFailed, "the program stores to a tensor that is read-only");
    std::memcpy(region.begin, now.data(), now.size());
  }
  std::optional<int64_t> tasks = answer->header.getInteger("tasks");
  return tasks ? std::optional<size_t>(*tasks) : std::nullopt;
}

//===----------------------------------------------------------------------===//
// Tasks of a recorded run
//===----------------------------------------------------------------------===//

Expected<TorchRerun> TorchWorker::rerun(const std::string &source,
                                        std::span<const std::string> kernels, size_t first) {
  Traceback.clear();
  FailedLines.clear();
  json::Array names;
  for (const std::string &kernel : kernels)
    names.push_back(json::fixUTF8(kernel));
  Expected<Message> answer = Python->ask(json::Object{{"source", json::fixUTF8(source)},
                                                      {"kernels", std::move(names)},
                                                      {"first", int64_t(first)}},
                                         {});
  if (!answer)
    return answer.status();
  const json::Object &header = answer->header;
  Status error = errorOf(header, Traceback, FailedLines);
  if (!error.isOk() && !header.getInteger("task"))
    return error; // not that of a task
  TorchRerun result;
  result.tasks = header.getInteger("rerun").value_or(0);
  result.stop = header.getInteger("task");
  result.kernel = header.getString("kernel").value_or("").str();
  result.failure = error;
  const json::Array *changed = header.getArray("changed");
  llvm::StringRef bytes = answer->payload;
  for (const json::Value &value :
       changed ? llvm::ArrayRef<json::Value>(*changed) : llvm::ArrayRef<json::Value>()) {
    const json::Object &spec = *value.getAsObject();
    TorchRerun::Changed tensor;
    tensor.argument = *spec.getInteger("argument");
    for (const json::Value &extent : *spec.getArray("extents"))
      tensor.extents.push_back(*extent.getAsInteger());
    size_t size = *spec.getInteger("bytes");
    tensor.was = bytes.take_front(size).str();
    tensor.is = bytes.drop_front(size).take_front(size).str();
    bytes = bytes.drop_front(2 * size);
    result.changed.push_back(std::move(tensor));
  }
  return result;
}

} // namespace kiln
