#include "Terminal.h"

#include "abi/Parallel.h"
#include "kiln/runtime/shown.h"

#include <atomic>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <sys/ioctl.h>
#include <unistd.h>

namespace kiln {
namespace {

constexpr const char *kRed = "\x1b[1;31m", *kGreen = "\x1b[1;32m", *kMagenta = "\x1b[1;35m",
                     *kCyan = "\x1b[1;36m", *kPlain = "\x1b[0m";

bool isTerminal(std::FILE *to) {
  const char *kind = std::getenv("TERM");
  return isatty(fileno(to)) && kind && std::strcmp(kind, "dumb") != 0;
}

bool isShown = false; ///< A line of progress.

size_t widthOf(std::FILE *to) {
  winsize size{};
  return ioctl(fileno(to), TIOCGWINSZ, &size) == 0 && size.ws_col > 20 ? size.ws_col : 80;
}

std::string clockText(double seconds) {
  auto whole = static_cast<uint64_t>(std::llround(seconds));
  char text[48];
  std::snprintf(text, sizeof text, "%llu:%02llu", (unsigned long long)(whole / 60),
                (unsigned long long)(whole % 60));
  return text;
}

} // namespace

bool hasColours(std::FILE *to) {
  const char *no = std::getenv("NO_COLOR");
  return isTerminal(to) && (!no || !*no);
}

std::string verdict(std::FILE *to, const std::string &word, bool isGood) {
  return hasColours(to) ? (isGood ? kGreen : kRed) + word + kPlain : word;
}

std::string highlighted(std::FILE *to, const std::string &text) {
  std::string lines = shown(text);
  if (!hasColours(to))
    return lines;
  constexpr std::pair<const char *, const char *> words[] = {
      {"error: ", kRed}, {"warning: ", kMagenta}, {"remark: ", kCyan}, {"note: ", kCyan}};
  std::string result;
  for (size_t begin = 0; begin < lines.size();) {
    size_t end = std::min(lines.find('\n', begin), lines.size() - 1) + 1;
    std::string line = lines.substr(begin, end - begin);
    begin = end;
    for (const auto &[word, colour] : words)
      if (size_t at = line.find(word);
          at != std::string::npos && (at == 0 || line[at - 1] == ' ')) {
        line = line.substr(0, at) + colour + line.substr(at, std::strlen(word) - 1) + kPlain +
               line.substr(at + std::strlen(word) - 1);
        break;
      }
    result += line;
  }
  return result;
}

//===----------------------------------------------------------------------===//
// Progress
//===----------------------------------------------------------------------===//

std::string progressLine(const std::string &what, uint64_t done, uint64_t total, double seconds,
                         const std::string &detail, size_t width) {
  std::string line = what + ": " + std::to_string(done);
  if (total > 0)
    line += " of " + std::to_string(total);
  line += ", " + clockText(seconds);
  if (total > done && done > 0)
    line += ", about " +
            clockText(seconds / static_cast<double>(done) * static_cast<double>(total - done)) +
            " left";
  if (!detail.empty())
    line += " (" + detail + ")";
  if (line.size() >= width)
    line = line.substr(0, width - 4) + "...";
  return line;
}

/// Of those that live: the outermost says what the work is. Threads that work look at it too.
static std::atomic<unsigned> numProgresses = 0;
static Progress *watched = nullptr; // by whoever began it, who then waits for the other threads

Progress::Progress(std::string what, uint64_t total)
    : What(std::move(what)), Total(total), IsWatched(numProgresses++ == 0 && isTerminal(stderr)) {
  if (IsWatched)
    watched = this;
}

Progress::~Progress() {
  --numProgresses;
  if (!IsWatched)
    return;
  watched = nullptr;
  hide();
}

void Progress::show(uint64_t done, const std::string &detail) {
  Done = done;
  Detail = detail;
  draw(detail);
}

void Progress::showPart(const char *what, size_t done, size_t count) {
  draw(Detail + (Detail.empty() ? "" : ": ") + what + " " +
       std::to_string(done * 100 / std::max<size_t>(count, 1)) + " %");
}

void Progress::draw(const std::string &detail) {
  using namespace std::chrono_literals;
  Clock::time_point now = Clock::now();
  if (!IsWatched || now - Begin < 500ms || now - Last < 100ms)
    return;
  Last = now;
  std::fflush(stdout);
  std::string line =
      progressLine(What, Done, Total, std::chrono::duration<double>(now - Begin).count(), detail,
                   widthOf(stderr));
  std::fprintf(stderr, "\r\x1b[K%s", line.c_str());
  std::fflush(stderr);
  isShown = true;
}

void Progress::hide() {
  if (!isShown)
    return;
  std::fputs("\r\x1b[K", stderr);
  std::fflush(stderr);
  isShown = false;
}

void showParallelWork() {
  watchParallelWork([](const char *what, size_t done, size_t count) {
    static std::optional<Progress> progress;
    if (done == 0 && numProgresses == 0)
      progress.emplace(what, count);
    if (progress)
      progress->show(done);
    else if (watched)
      watched->showPart(what, done, count);
    if (done == count)
      progress.reset();
  });
}

} // namespace kiln
