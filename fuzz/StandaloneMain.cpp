//===- StandaloneMain.cpp - a fuzz target without libFuzzer --------------------------===//
//
// Usage: kiln-<target>-mutants COUNT FOLDER
//
// Runs the target on every file of the folder and on COUNT mutants of them, the same in every run.
// It needs no clang, no LLVM and no instrumented build, so every build can afford it; libFuzzer,
// which looks for new paths, is `make fuzz`. An input that crashes is written to `mutant`.
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

extern "C" {
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t maxSize, unsigned seed);

/// libFuzzer's own mutation, in small: one byte.
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t) {
  static std::minstd_rand random;
  if (size > 0)
    data[random() % size] = static_cast<uint8_t>(random());
  return size;
}
}

static std::string running;

static void saveAndDie(int signal) {
  if (std::FILE *file = std::fopen("mutant", "wb")) {
    std::fwrite(running.data(), 1, running.size(), file);
    std::fclose(file);
    std::fprintf(stderr, "the input that crashed is in `mutant`\n");
  }
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

static void run(std::string input) {
  running = std::move(input);
  LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t *>(running.data()), running.size());
}

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
  auto count = static_cast<unsigned>(std::strtoul(argv[1], nullptr, 10));
  for (unsigned i = 1; i <= count; ++i) {
    std::string mutant = seeds[i % seeds.size()];
    size_t size = mutant.size(), room = size + 1024;
    mutant.resize(room);
    mutant.resize(
        LLVMFuzzerCustomMutator(reinterpret_cast<uint8_t *>(mutant.data()), size, room, i));
    run(std::move(mutant));
  }
  std::printf("ran %zu files and %u mutants\n", seeds.size(), count);
}
