// Runs what Kiln wrote on simpler's a2a3sim.
//   on-simpler RUNTIME_FOLDER CONTEXT.so PLAN ORCHESTRATION.so ENTRY
#include "plan.h"

#include "call_config.h"
#include "callable.h"
#include "host_log.h"
#include "task_args.h"
#include "worker/chip_run_lane.h"
#include "worker/chip_worker.h"

#include <iterator>

static std::vector<uint8_t> read(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    fprintf(stderr, "cannot read %s\n", path.c_str());
    exit(2);
  }
  return {std::istreambuf_iterator<char>(file), {}};
}

static ArgDirection directionOf(char letter) {
  return letter == 'i' ? ArgDirection::IN : letter == 'o' ? ArgDirection::OUT : ArgDirection::INOUT;
}

int main(int argc, char **argv) {
  if (argc != 6)
    return 2;
  std::string folder = argv[1];
  Plan plan = readPlan(argv[3]);
  std::vector<int32_t> numbers;
  std::vector<std::vector<uint8_t>> kernels;
  for (const PlannedKernel &kernel : plan.kernels) {
    std::vector<ArgDirection> signature;
    for (char letter : kernel.directions)
      signature.push_back(directionOf(letter));
    std::vector<uint8_t> bytes = read(kernel.file);
    numbers.push_back(kernel.number);
    kernels.push_back(make_callable<CORE_MAX_TENSOR_ARGS>(signature.data(), signature.size(),
                                                          bytes.data(), bytes.size()));
  }
  auto args = std::make_unique<ChipStorageTaskArgs>();
  std::vector<ArgDirection> signature;
  for (const auto &tensor : plan.tensors) {
    args->add_tensor(tensor->tensor);
    signature.push_back(directionOf(tensor->direction == "in"    ? 'i'
                                    : tensor->direction == "out" ? 'o'
                                                                 : 'b'));
  }
  for (uint64_t scalar : plan.scalars)
    args->add_scalar(scalar);
  std::vector<uint8_t> orchestration = read(argv[4]);
  auto chip = make_callable<CoreCallable, CHIP_MAX_TENSOR_ARGS, 1024>(
      signature.data(), signature.size(), argv[5], orchestration.data(), orchestration.size(),
      numbers.data(), kernels.data(), numbers.size(), "aicpu_orchestration_config");
  HostLogger::get_instance().set_level(static_cast<simpler::log::LogLevel>(40));
  ChipWorker worker;
  worker.init(folder + "/libhost_runtime.so", folder + "/libaicpu_kernel.so",
              folder + "/libaicore_kernel.so", "", 0, nullptr, 0, argv[2], "");
  worker.register_callable(0, chip.data());
  CallConfig config{};
  worker.run(0, args.get(), config);
  worker.unregister_callable(0);
  worker.finalize();
  writeBack(plan);
}
