//===- TorchProcess.cpp - starts Python, and talks to it ----------------------------------===//
#include "TorchProcess.h"

#include "TorchWorkerScript.h"

#include "llvm/ADT/StringExtras.h"

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
#include <utility>

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

void TorchWorker::setTimeLimit(uint64_t seconds) { timeLimit = seconds; }

static uint64_t startSeconds() {
  uint64_t limit = timeLimit;
  return limit == 0 ? startLimit : std::min(limit, startLimit);
}

std::string printable(llvm::StringRef text) {
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

/// Ends a Python and whatever it started: each is the leader of a process group of its own.
static void killGroup(pid_t leader) {
  if (leader > 0)
    ::kill(-leader, SIGKILL);
}

/// The ends of a socket and of a pipe, closed with it unless they are taken.
namespace {
struct Ends {
  int here = -1, there = -1;
  ~Ends() {
    for (int fd : {here, there})
      if (fd >= 0)
        close(fd);
  }
  int take() { return std::exchange(here, -1); }
};
} // namespace

/// What a worker talks and prints to.
struct TorchWorker::Process::Channels {
  Ends link, errors;

  Status open() {
    // A socket and not a pipe: only a socket can be written without risking SIGPIPE.
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
      return ioError("cannot make a socket for the Python worker");
    link.here = ends[0], link.there = ends[1];
    if (pipe2(ends, O_CLOEXEC) != 0)
      return ioError("cannot make a pipe for the Python worker");
    errors.here = ends[0], errors.there = ends[1];
    fcntl(errors.here, F_SETFL, O_NONBLOCK);
    return Status::ok();
  }
};

/// Starts the worker script in a process group of its own, to be a worker or to make forks.
static Expected<pid_t> spawnPython(const std::string &interpreter, bool makesForks, int input,
                                   int output) {
  std::string script =
      std::string("forks = ") + (makesForks ? "True" : "False") + "\n" + torch::kWorkerScript;
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, output, STDERR_FILENO);
  const char *argv[] = {interpreter.c_str(), "-c", script.c_str(), nullptr};
  pid_t pid = 0;
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  posix_spawnattr_setpgroup(&attributes, 0);
  int failure = posix_spawnp(&pid, interpreter.c_str(), &actions, &attributes,
                             const_cast<char **>(argv), environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  if (failure != 0)
    return Status(StatusCode::NotFound,
                  "cannot run '" + interpreter + "': " + std::strerror(failure));
  return pid;
}

TorchWorker::Process::Process(std::string interpreter, pid_t pid, bool isFork, Channels &channels)
    : Interpreter(std::move(interpreter)), IsFork(isFork), Pid(pid), Socket(channels.link.take()),
      Errors(channels.errors.take()), Rescue([this](const Status &) {
        killGroup(Pid);
        return "";
      }) {}

Expected<std::unique_ptr<TorchWorker::Process>>
TorchWorker::Process::spawn(const std::string &interpreter) {
  Channels channels;
  if (Status failed = channels.open(); !failed.isOk())
    return failed;
  Expected<pid_t> pid =
      spawnPython(interpreter, /*makesForks=*/false, channels.link.there, channels.errors.there);
  if (!pid)
    return pid.status();
  return std::unique_ptr<Process>(new Process(interpreter, *pid, /*isFork=*/false, channels));
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
    if (IsFork)
      return ::kill(Pid, 0) != 0;
    siginfo_t info = {};
    return waitid(P_PID, Pid, &info, WEXITED | WNOHANG | WNOWAIT) != 0 || info.si_pid != 0;
  };
  for (int attempt = 0; attempt < 200 && !isInterrupted() && !hasEnded(); ++attempt)
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  killGroup(Pid); // before it is waited for: until then nobody else can get its number
  if (!IsFork)
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
static Expected<bool> parseMessage(std::string &data, TorchWorker::Process::Message &message) {
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

Expected<TorchWorker::Process::Message>
TorchWorker::Process::exchange(llvm::ArrayRef<llvm::StringRef> pieces, uint64_t seconds) {
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

Expected<TorchWorker::Process::Message>
TorchWorker::Process::ask(json::Object request, llvm::ArrayRef<llvm::StringRef> memory) {
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

Expected<TorchWorker::Process::Message> TorchWorker::Process::hello() {
  return exchange({}, startSeconds());
}

//===----------------------------------------------------------------------===//
// Forks
//===----------------------------------------------------------------------===//

/// The number of the socket over which forks are asked for, and the interpreter's name: "7
/// python3".
static constexpr const char *forksVariable = "KILN_TORCH_FORKS";

std::unique_ptr<TorchForks> TorchForks::start() {
  Expected<std::unique_ptr<TorchWorker>> found = TorchWorker::start();
  int ends[2];
  if (!found || socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
    return nullptr;
  Ends requests{ends[0], ends[1]}, nowhere{open("/dev/null", O_WRONLY | O_CLOEXEC), -1};
  const std::string &interpreter = (*found)->interpreter();
  Expected<pid_t> pid = spawnPython(interpreter, /*makesForks=*/true, requests.there, nowhere.here);
  if (!pid)
    return nullptr;
  int socket = requests.take();
  setenv(forksVariable, (std::to_string(socket) + " " + interpreter).c_str(), /*overwrite=*/1);
  return std::unique_ptr<TorchForks>(new TorchForks(*pid, socket));
}

TorchForks::~TorchForks() {
  unsetenv(forksVariable);
  close(Socket);
  killGroup(Pid); // forks are in groups of their own
  waitpid(Pid, nullptr, 0);
}

/// Sends two descriptors as one message.
static bool sendPair(int socket, int one, int other) {
  char byte = 0;
  iovec data{&byte, 1};
  alignas(cmsghdr) char control[CMSG_SPACE(2 * sizeof(int))] = {};
  msghdr message = {};
  message.msg_iov = &data;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  cmsghdr *rights = CMSG_FIRSTHDR(&message);
  rights->cmsg_level = SOL_SOCKET;
  rights->cmsg_type = SCM_RIGHTS;
  rights->cmsg_len = CMSG_LEN(2 * sizeof(int));
  int pair[] = {one, other};
  std::memcpy(CMSG_DATA(rights), pair, sizeof pair);
  return sendmsg(socket, &message, MSG_NOSIGNAL | MSG_DONTWAIT) == 1;
}

std::unique_ptr<TorchWorker::Process> TorchWorker::Process::fork() {
  const char *told = std::getenv(forksVariable);
  auto [number, interpreter] = llvm::StringRef(told ? told : "").split(' ');
  int socket = -1, kind = 0;
  socklen_t size = sizeof kind;
  if (number.getAsInteger(10, socket) || socket < 0 ||
      getsockopt(socket, SOL_SOCKET, SO_TYPE, &kind, &size) != 0 || kind != SOCK_SEQPACKET)
    return nullptr;
  fcntl(socket, F_SETFD, FD_CLOEXEC); // who else is started does not keep it open
  Channels channels;
  if (!channels.open().isOk() || !sendPair(socket, channels.link.there, channels.errors.there))
    return nullptr;
  close(std::exchange(channels.link.there, -1)); // so that this side sees the other one's end
  close(std::exchange(channels.errors.there, -1));
  std::unique_ptr<Process> made(new Process(interpreter.str(), 0, /*isFork=*/true, channels));
  Expected<Message> hello = made->hello();
  std::optional<int64_t> pid = hello ? hello->header.getInteger("pid") : std::nullopt;
  if (!pid || !hello->header.getBoolean("torch").value_or(false))
    return nullptr;
  made->Pid = pid_t(*pid);
  return made;
}

} // namespace kiln
