//===- StandaloneMain.cpp - the fuzz target without libFuzzer ------------------------===//
//
// Usage: kiln-parse-mutants COUNT FOLDER
//
// Runs the target on every file of the folder and on COUNT mutants of them, the same in every run.
// It needs no clang and no instrumented build, so every build can afford it; libFuzzer, which
// looks for new paths, is `make fuzz`. An input that crashes is written to `mutant.mlir`.
//
//===----------------------------------------------------------------------------===//
#include "llvm/Support/Signals.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>
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

static void saveInput(void *) {
  std::ofstream("mutant.mlir", std::ios::binary) << running;
  llvm::errs() << "the input that crashed is in mutant.mlir\n";
}

static void run(std::string input) {
  running = std::move(input);
  LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t *>(running.data()), running.size());
}

int main(int argc, char **argv) {
  if (argc != 3 || !std::filesystem::is_directory(argv[2])) {
    llvm::errs() << "usage: kiln-parse-mutants COUNT FOLDER\n";
    return 2;
  }
  llvm::sys::PrintStackTraceOnErrorSignal(argv[0]);
  llvm::sys::AddSignalHandler(saveInput, nullptr);
  std::vector<std::string> seeds;
  for (const auto &entry : std::filesystem::directory_iterator(argv[2])) {
    std::ostringstream text;
    text << std::ifstream(entry.path(), std::ios::binary).rdbuf();
    seeds.push_back(text.str());
  }
  std::sort(seeds.begin(), seeds.end()); // a folder has no order of its own
  if (seeds.empty()) {
    llvm::errs() << "kiln-parse-mutants: there is nothing to mutate in " << argv[2] << "\n";
    return 2;
  }
  for (const std::string &seed : seeds)
    run(seed);
  unsigned count = std::strtoul(argv[1], nullptr, 10);
  for (unsigned i = 1; i <= count; ++i) {
    std::string mutant = seeds[i % seeds.size()];
    size_t size = mutant.size(), room = size + 1024;
    mutant.resize(room);
    mutant.resize(
        LLVMFuzzerCustomMutator(reinterpret_cast<uint8_t *>(mutant.data()), size, room, i));
    run(std::move(mutant));
  }
  llvm::outs() << "ran " << seeds.size() << " programs and " << count << " mutants\n";
}
