// `kiln check A B C`: every program in a process of its own, as many at once as there are cores,
// with one Python that imports torch for all of them. What they print comes out program by program.
#include "Driver.h"
#include "Terminal.h"
#include "abi/JsonOutput.h"

#include "kiln/Target/Torch/TorchWorker.h"
#include "kiln/runtime/interrupt.h"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

extern char **environ;

using namespace mlir;

namespace kiln {
namespace {

/// What a process prints, kept until it is its turn.
class Kept {
public:
  Kept() : File(memfd_create("kiln-check", MFD_CLOEXEC)) {}
  Kept(Kept &&other) noexcept : File(std::exchange(other.File, -1)) {}
  ~Kept() {
    if (File >= 0)
      close(File);
  }
  int file() const { return File; }
  std::string text() const {
    std::string all;
    char bytes[65536];
    for (ssize_t got; (got = pread(File, bytes, sizeof bytes, off_t(all.size()))) > 0;)
      all.append(bytes, size_t(got));
    return all;
  }

private:
  int File;
};

/// One program's check.
struct Job {
  std::string program;
  Kept output, errors;
  std::atomic<pid_t> pid = 0; ///< While it runs.
  std::optional<int> state;   ///< Once it has ended.
};

/// Whether standard output and errors go to one place, such as a terminal: then lines of both keep
/// their order.
bool isOnePlace() {
  struct stat one = {}, other = {};
  return fstat(STDOUT_FILENO, &one) == 0 && fstat(STDERR_FILENO, &other) == 0 &&
         one.st_dev == other.st_dev && one.st_ino == other.st_ino;
}

class Checks {
public:
  Checks(ArrayRef<std::string> programs, ArrayRef<std::string> options)
      : Options(options), Forks(TorchForks::start()), IsJson(llvm::is_contained(options, "--json")),
        IsOnePlace(!IsJson && isOnePlace()), Jobs(programs.size()), Rescue([this](const Status &) {
          for (Job &job : Jobs)
            if (pid_t pid = job.pid; pid > 0)
              kill(pid, SIGTERM);
          return "";
        }) {
    for (auto [job, program] : llvm::zip_equal(Jobs, programs))
      job.program = program;
  }

  int run();

private:
  std::vector<Job *> longestFirst();
  Status start(Job &job);
  void awaitOne();
  int finish(const Job &job);
  void summarize() const;

  ArrayRef<std::string> Options;
  std::unique_ptr<TorchForks> Forks;
  bool IsJson, IsOnePlace;
  std::vector<Job> Jobs;
  std::map<std::string, std::vector<std::string>> Verdicts; ///< The programs of each.
  OnInterrupt Rescue;
};

/// The jobs in the order in which they begin: what takes long is not to begin when all else is
/// done. How long a check takes nobody knows before, but the longer a program is, the longer, as a
/// rule.
std::vector<Job *> Checks::longestFirst() {
  std::vector<std::pair<uintmax_t, Job *>> order;
  for (Job &job : Jobs) {
    std::error_code unknown;
    uintmax_t bytes = std::filesystem::file_size(job.program, unknown);
    order.emplace_back(unknown ? 0 : bytes, &job);
  }
  llvm::stable_sort(order, [](const auto &a, const auto &b) { return a.first > b.first; });
  std::vector<Job *> jobs;
  for (const auto &[bytes, job] : order)
    jobs.push_back(job);
  return jobs;
}

Status Checks::start(Job &job) {
  std::vector<std::string> words = {"kiln", "check", job.program};
  words.insert(words.end(), Options.begin(), Options.end());
  std::vector<char *> argv;
  for (std::string &word : words)
    argv.push_back(word.data());
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, job.output.file(), STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, (IsOnePlace ? job.output : job.errors).file(),
                                   STDERR_FILENO);
  if (Forks) // onto itself: it stays open in the other process
    posix_spawn_file_actions_adddup2(&actions, Forks->socket(), Forks->socket());
  pid_t pid = 0;
  int failure = posix_spawn(&pid, "/proc/self/exe", &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (failure != 0)
    return Status(StatusCode::Internal,
                  "cannot check " + job.program + ": " + std::strerror(failure));
  job.pid = pid;
  return Status::ok();
}

void Checks::awaitOne() {
  int state = 0;
  pid_t pid = waitpid(-1, &state, 0);
  for (Job &job : Jobs)
    if (pid > 0 && job.pid == pid) {
      job.pid = 0;
      job.state = state;
    }
}

/// Prints what a check has said; its exit code. The reports of JSON are a list.
int Checks::finish(const Job &job) {
  int state = *job.state;
  std::string said = job.output.text();
  if (IsJson) {
    std::printf(&job == &Jobs.front() ? "[" : ", ");
    noteJsonPrinted();
    if (Json report = parseJson(said); !report.is_object() || !report.contains("verdict")) {
      Json refused{{"program", job.program}, {"verdict", "refused"}, {"ok", false}};
      if (report.is_object()) // why
        refused.update(report);
      said = jsonText(refused) + "\n";
    }
  }
  std::fwrite(said.data(), 1, said.size(), stdout);
  std::fflush(stdout);
  std::string complained = job.errors.text();
  std::fwrite(complained.data(), 1, complained.size(), stderr);
  int code = WIFEXITED(state) ? WEXITSTATUS(state) : -1;
  static const std::map<int, const char *> words = {
      {kGood, "CLEAN"}, {kWrong, "FINDINGS"}, {kBadInput, "refused"}, {kIncomplete, "INCOMPLETE"}};
  auto word = words.find(code);
  Verdicts[word == words.end() ? "ended early" : word->second].push_back(job.program);
  if (word != words.end())
    return code;
  if (WIFSIGNALED(state))
    badInput("the check of " + job.program + " was ended by signal " + strsignal(WTERMSIG(state)));
  return kWrong;
}

void Checks::summarize() const {
  std::string text = std::to_string(Jobs.size()) + " programs:";
  for (const auto &[verdict, programs] : Verdicts) {
    text += " " + std::to_string(programs.size()) + " " + verdict;
    if (verdict != "CLEAN")
      text += " (" + llvm::join(programs, ", ") + ")";
    text += verdict == Verdicts.rbegin()->first ? "" : ",";
  }
  std::printf("\n%s\n", text.c_str());
}

int Checks::run() {
  size_t most = std::max(1u, std::thread::hardware_concurrency());
  std::vector<Job *> order = longestFirst();
  size_t started = 0, ended = 0, running = 0;
  int worst = kGood;
  Progress progress("checking programs", Jobs.size());
  while (ended < Jobs.size() && !isInterrupted()) {
    for (; started < Jobs.size() && running < most; ++started, ++running)
      if (Status failed = start(*order[started]); !failed.isOk())
        return badInput(failed);
    progress.show(started - running, Jobs[ended].program);
    awaitOne();
    for (; ended < Jobs.size() && Jobs[ended].state; ++ended) {
      Progress::hide();
      worst = worseOf(worst, finish(Jobs[ended]));
    }
    running = size_t(llvm::count_if(Jobs, [](const Job &job) { return job.pid > 0; }));
  }
  while (llvm::any_of(Jobs, [](const Job &job) { return job.pid > 0; }))
    awaitOne();
  if (IsJson)
    std::printf(ended > 0 ? "]\n" : "[]\n");
  else if (!isInterrupted())
    summarize();
  return worst;
}

} // namespace

int checkSeveral(ArrayRef<std::string> programs, ArrayRef<std::string> options) {
  for (StringRef option : options)
    for (StringRef one : {"--record", "--out", "--dump-passes"})
      if (option == one || option.starts_with((one + "=").str()))
        return badInput(one.str() +
                        " is for one program: with several, each would overwrite what the one "
                        "before has left");
  for (const std::string &program : programs) {
    std::error_code error;
    if (!std::filesystem::exists(program, error))
      return badInput("there is no program " + program);
  }
  return Checks(programs, options).run();
}

} // namespace kiln
