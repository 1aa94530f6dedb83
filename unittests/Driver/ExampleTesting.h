//===- ExampleTesting.h - running the main function of an example ----------------------===//
#ifndef KILN_UNITTESTS_DRIVER_EXAMPLETESTING_H
#define KILN_UNITTESTS_DRIVER_EXAMPLETESTING_H

#include "kiln/Platform/Platform.h"
#include "kiln/Target/Torch/TorchWorker.h"
#include "kiln/kiln.h"

#include <gtest/gtest.h>

namespace kiln::testing {

struct Ran {
  int code;
  std::string out, err;
};

/// Runs an example; `options` is its command line.
inline Ran run(const ProgramBuilder &program, const Example &example,
               std::vector<std::string> options = {}) {
  options.insert(options.begin(), "example");
  std::vector<char *> argv;
  for (std::string &option : options)
    argv.push_back(option.data());
  ::testing::internal::CaptureStdout();
  ::testing::internal::CaptureStderr();
  int code = kiln::main(int(argv.size()), argv.data(), program, example);
  std::string out = ::testing::internal::GetCapturedStdout();
  return {code, out, ::testing::internal::GetCapturedStderr()};
}

inline bool has(const std::string &text, const std::string &part) {
  return text.find(part) != std::string::npos;
}

/// Skipped, by name, where no Python has torch.
class ExampleTest : public ::testing::Test {
protected:
  void SetUp() override {
    static const Status started = TorchWorker::start().status();
    if (!started.isOk())
      GTEST_SKIP() << started.message();
  }
};

} // namespace kiln::testing

#endif // KILN_UNITTESTS_DRIVER_EXAMPLETESTING_H
