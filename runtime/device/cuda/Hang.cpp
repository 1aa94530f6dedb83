#include "Hang.h"

#include <atomic>
#include <mutex>
#include <string>

using namespace kiln;
using namespace kiln::cuda;

namespace {

/// As the kernels have it, too.
struct Hang {
  unsigned isTaken;
  int waits, slot, lane;
  int64_t block[3];
  char pipe[64], role[16];
};

/// For each GPU, made when a checked program is first loaded there.
std::atomic<Hang *> records[kMaxGpus];
std::mutex making;

} // namespace

Status kiln::cuda::watchModule(const Gpu &gpu, Module module) {
  const Driver &cuda = *gpu.driver;
  DevicePointer variable = 0;
  size_t bytes = 0;
  if (Status missing = cuda.check(cuda.moduleGetGlobal(&variable, &bytes, module, "kilnHang"),
                                  "cuModuleGetGlobal");
      !missing.isOk())
    return missing;
  if (bytes != sizeof(void *))
    return Status(StatusCode::InvalidArgument, "it is not code of a checked build");
  std::lock_guard lock(making);
  Hang *record = records[gpu.number].load();
  if (!record) {
    void *memory = nullptr;
    if (Status failed =
            cuda.check(cuda.hostAllocate(&memory, sizeof(Hang), kHostMapped), "cuMemHostAlloc");
        !failed.isOk())
      return failed;
    record = new (memory) Hang{};
    records[gpu.number].store(record);
  }
  DevicePointer seen = 0;
  if (Status failed =
          cuda.check(cuda.hostDevicePointer(&seen, record, 0), "cuMemHostGetDevicePointer");
      !failed.isOk())
    return failed;
  return cuda.check(cuda.copy(variable, reinterpret_cast<DevicePointer>(&seen), sizeof seen),
                    "cuMemcpy");
}

Status kiln::cuda::takeHang(const Gpu &gpu) {
  Hang *record = records[gpu.number].load();
  if (!record || *static_cast<volatile unsigned *>(&record->isTaken) != 2)
    return Status::ok();
  Hang found = *record;
  *record = Hang{};
  found.pipe[sizeof found.pipe - 1] = found.role[sizeof found.role - 1] = 0;
  std::string block;
  for (int64_t index : found.block)
    block += (block.empty() ? "" : ", ") + std::to_string(index);
  std::string place = " at block [" + block + "]";
  std::string pipe = std::string("pipe '") + found.pipe + "', slot " + std::to_string(found.slot);
  std::string lane = "lane " + std::to_string(found.lane);
  std::string who = *found.role        ? lane + " of role " + found.role
                    : found.waits == 1 ? "the role that copies"
                    : found.waits == 0 ? lane
                                       : "a role";
  std::string what = found.waits == 0   ? " waits for tiles in " + pipe
                     : found.waits == 1 ? " waits for space in " + pipe
                     : found.waits == 3 ? " waits for its last tiles to be popped from " + pipe
                     : found.waits == 4 ? " waits for task " + std::to_string(found.slot)
                                        : " waits for other blocks to come to a barrier";
  return Status(StatusCode::KernelFailed,
                "the kernel hangs: " + who + what + "," + place +
                    ", for more than a second; kiln check shows how it comes to that");
}
