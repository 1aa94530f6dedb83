// Runs what Kiln wrote on PTO-ISA's CPU simulator: the orchestration calls this runtime instead of
// simpler's, and each task runs at once, its blocks one after the other, with a thread for each
// core.
//   direct PLAN ORCHESTRATION.so ENTRY
#include "plan.h"

#include "pto_orchestration_api.h"

#include <intrinsic.h>

#include <cstdarg>
#include <deque>
#include <dlfcn.h>
#include <map>
#include <mutex>
#include <thread>

using KernelEntry = void (*)(int64_t *);

static thread_local uint32_t tTask, tBlock, tLane, tLanes = 1;
static std::mutex pipesMutex;
static std::map<std::tuple<uint32_t, uint32_t, uint64_t>, std::unique_ptr<uint64_t[]>> pipes;

// What the simulator's headers look up: which core this thread is, and what cores of a block share.
extern "C" {
uint32_t pto_sim_get_subblock_id() { return tLane; }
void pto_cpu_sim_get_execution_context(uint32_t *block, uint32_t *lane, uint32_t *lanes) {
  *block = tBlock;
  *lane = tLane;
  *lanes = tLanes;
}
void *pto_sim_get_pipe_shared_state(uint64_t key, size_t size) {
  std::lock_guard<std::mutex> lock(pipesMutex);
  auto &state = pipes[{tTask, tBlock, key}];
  if (!state)
    state.reset(new uint64_t[(size + 7) / 8]());
  return state.get();
}
}

static std::map<int, KernelEntry> kernels;
static std::deque<ChipTensor> allocated;
static std::deque<std::vector<char>> memory;
static uint32_t numTasks = 0;
static bool isFatal = false;

static void runCore(KernelEntry entry, const CoreTaskArgs &task, uint32_t number, int block,
                    int blocks, uint32_t lane, uint32_t lanes) {
  tTask = number;
  tBlock = block;
  tLane = lane;
  tLanes = lanes;
  LocalContext local{};
  local.block_idx = block;
  local.block_num = blocks;
  GlobalContext global{};
  global.sub_block_id = static_cast<int32_t>(lane);
  int64_t args[SPMD_GLOBAL_CONTEXT_INDEX + 1] = {};
  std::vector<ChipTensor> tensors(task.tensor_count());
  int count = 0;
  for (int i = 0; i < task.tensor_count(); ++i) {
    tensors[i] = task.tensor(i).ref();
    args[count++] = reinterpret_cast<int64_t>(&tensors[i]);
  }
  for (int i = 0; i < task.scalar_count(); ++i)
    args[count++] = static_cast<int64_t>(task.scalar(i));
  args[SPMD_LOCAL_CONTEXT_INDEX] = reinterpret_cast<int64_t>(&local);
  args[SPMD_GLOBAL_CONTEXT_INDEX] = reinterpret_cast<int64_t>(&global);
  entry(args);
}

static TaskOutputTensors submit(PTO2Runtime *, const MixedKernels &cores,
                                const CoreTaskArgs &task) {
  TaskOutputTensors result;
  uint32_t number = ++numTasks;
  result.set_task_id(PTO2TaskId::make(0, number));
  int blocks = task.launch_spec.block_num();
  int lanes =
      (cores.aiv0_kernel_id != INVALID_KERNEL_ID) + (cores.aiv1_kernel_id != INVALID_KERNEL_ID);
  for (int block = 0; block < blocks; ++block) {
    std::vector<std::thread> threads;
    auto start = [&](int32_t kernel, uint32_t lane, uint32_t count) {
      if (kernel != INVALID_KERNEL_ID)
        threads.emplace_back([&, kernel, lane, count] {
          runCore(kernels.at(kernel), task, number, block, blocks, lane, count);
        });
    };
    start(cores.aic_kernel_id, 0, 1);
    start(cores.aiv0_kernel_id, 0, lanes);
    start(cores.aiv1_kernel_id, 1, lanes);
    for (std::thread &thread : threads)
      thread.join();
  }
  pipes.clear();
  return result;
}

static TaskOutputTensors allocate(PTO2Runtime *, const CoreTaskArgs &args) {
  TaskOutputTensors result;
  result.set_task_id(PTO2TaskId::make(0, ++numTasks));
  for (int i = 0; i < args.tensor_count(); ++i) {
    const TensorCreateInfo &info = args.tensor(i).create_info();
    // What nobody wrote is found by its poison.
    memory.emplace_back(info.buffer_size_bytes() + 64, '\xff');
    ChipTensor tensor;
    tensor.init_external(memory.back().data(), info.buffer_size_bytes(), info.shapes, info.ndims,
                         info.dtype, 0);
    allocated.push_back(tensor);
    result.materialize_output(allocated.back());
  }
  return result;
}

static void reportFatal(PTO2Runtime *, int32_t, const char *, const char *format, ...) {
  va_list args;
  va_start(args, format);
  vfprintf(stderr, format, args);
  va_end(args);
  fputc('\n', stderr);
  isFatal = true;
}

static uint64_t readElement(PTO2Runtime *, const ChipTensor &tensor, uint32_t rank,
                            const uint32_t indices[]) {
  uint64_t size = get_element_size(tensor.dtype), bits = 0;
  memcpy(&bits,
         reinterpret_cast<const char *>(tensor.buffer.addr) +
             tensor.compute_flat_offset(indices, rank) * size,
         size);
  return bits;
}

template <typename Function> static Function find(void *library, const char *name) {
  void *found = library ? dlsym(library, name) : nullptr;
  if (!found) {
    fprintf(stderr, "%s\n", dlerror());
    exit(2);
  }
  return reinterpret_cast<Function>(found);
}

int main(int argc, char **argv) {
  if (argc != 4)
    return 2;
  Plan plan = readPlan(argv[1]);
  for (const PlannedKernel &kernel : plan.kernels)
    kernels[kernel.number] =
        find<KernelEntry>(dlopen(kernel.file.c_str(), RTLD_NOW | RTLD_LOCAL), "kernel_entry");
  void *library = dlopen(argv[2], RTLD_NOW | RTLD_LOCAL);
  PTO2RuntimeOps operations{};
  operations.submit_task = submit;
  operations.alloc_tensors = allocate;
  operations.submit_dummy_task = [](PTO2Runtime *, const CoreTaskArgs &) {
    TaskOutputTensors result;
    result.set_task_id(PTO2TaskId::make(0, ++numTasks));
    return result;
  };
  operations.scope_begin = operations.scope_end = [](PTO2Runtime *) {};
  operations.is_fatal = [](PTO2Runtime *) { return isFatal; };
  operations.report_fatal = reportFatal;
  operations.get_tensor_data = readElement;
  PTO2Runtime runtime{&operations, PTO2ScopeMode::AUTO};
  find<void (*)(PTO2Runtime *)>(library, "framework_bind_runtime")(&runtime);
  ChipTaskArgs args;
  for (const auto &tensor : plan.tensors)
    args.add_inout(tensor->tensor);
  for (uint64_t scalar : plan.scalars)
    args.add_scalar(scalar);
  find<void (*)(const ChipTaskArgs &)>(library, argv[3])(args);
  if (isFatal)
    return 1;
  writeBack(plan);
}
