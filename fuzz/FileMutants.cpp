//===- FileMutants.cpp - a fuzz target for files without libFuzzer -------------------===//
//
// Usage: kiln-<target>-mutants COUNT FOLDER
//
// Runs the target on every file of the folder and on COUNT mutants of them, the same in every run.
// Needs neither clang nor LLVM. An input that crashes is written to `mutant`.
//
//===----------------------------------------------------------------------------===//
#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>
#include <string>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

namespace {

std::string running;

void saveAndDie(int signal) {
  if (std::FILE *file = std::fopen("mutant", "wb")) {
    std::fwrite(running.data(), 1, running.size(), file);
    std::fclose(file);
    std::fprintf(stderr, "the input that crashed is in `mutant`\n");
  }
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

void run(std::string input) {
  running = std::move(input);
  LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t *>(running.data()), running.size());
}

class Mutator {
public:
  std::string mutate(std::string text, const std::string &other, unsigned seed) {
    Random.seed(seed);
    for (size_t count = 1 + pick(3); count > 0; --count)
      mutateOnce(text, other);
    return text;
  }

private:
  size_t pick(size_t count) {
    return std::uniform_int_distribution<size_t>(0, count ? count - 1 : 0)(Random);
  }

  /// A number or a word: what stands between punctuation.
  std::pair<size_t, size_t> token(const std::string &text) {
    static constexpr const char *kBetween = " \n\t,:[]{}\"";
    size_t begin = text.find_first_not_of(kBetween, pick(text.size()));
    if (begin == std::string::npos)
      return {0, std::min<size_t>(text.size(), 1)};
    return {begin, std::min(text.find_first_of(kBetween, begin), text.size()) - begin};
  }

  void mutateOnce(std::string &text, const std::string &other) {
    static constexpr const char *kWords[] = {"0",
                                             "-1",
                                             "1",
                                             "2",
                                             "5",
                                             "6",
                                             "255",
                                             "256",
                                             "65536",
                                             "4294967296",
                                             "9223372036854775807",
                                             "18446744073709551615",
                                             "18446744073709551616",
                                             "-9223372036854775808",
                                             "1e400",
                                             "0.5",
                                             "null",
                                             "true",
                                             "[]",
                                             "{}",
                                             "\"\"",
                                             "f32",
                                             "i1",
                                             "index",
                                             "..",
                                             "/",
                                             "[[[[[[[[",
                                             "\\u0000"};
    if (text.empty())
      text = other;
    auto [at, length] = token(text);
    switch (pick(7)) {
    case 0:
      text[pick(text.size())] = char(pick(256));
      break;
    case 1:
      text.resize(pick(text.size()));
      break;
    case 2:
      text.erase(at, 1 + pick(40));
      break;
    case 3:
      text.insert(at, other, pick(other.size()), pick(60));
      break;
    case 4: { // one token for another
      auto [from, size] = token(other);
      text.replace(at, length, other, from, size);
      break;
    }
    default:
      text.replace(at, length, kWords[pick(std::size(kWords))]);
    }
  }

  std::minstd_rand Random;
};

} // namespace

int main(int argc, char **argv) {
  if (argc != 3 || !std::filesystem::is_directory(argv[2])) {
    std::fprintf(stderr, "usage: %s COUNT FOLDER\n", argv[0]);
    return 2;
  }
  for (int signal : {SIGSEGV, SIGABRT, SIGBUS, SIGFPE, SIGILL})
    std::signal(signal, saveAndDie);
  std::vector<std::string> seeds;
  for (const auto &entry : std::filesystem::directory_iterator(argv[2])) {
    std::ostringstream text;
    text << std::ifstream(entry.path(), std::ios::binary).rdbuf();
    seeds.push_back(text.str());
  }
  std::sort(seeds.begin(), seeds.end()); // a folder has no order of its own
  if (seeds.empty()) {
    std::fprintf(stderr, "%s: there is nothing to mutate in %s\n", argv[0], argv[2]);
    return 2;
  }
  for (const std::string &seed : seeds)
    run(seed);
  auto count = unsigned(std::strtoul(argv[1], nullptr, 10));
  Mutator mutator;
  for (unsigned i = 1; i <= count; ++i)
    run(mutator.mutate(seeds[i % seeds.size()], seeds[i / seeds.size() % seeds.size()], i));
  std::printf("ran %zu files and %u mutants\n", seeds.size(), count);
  std::fflush(stdout);
}
