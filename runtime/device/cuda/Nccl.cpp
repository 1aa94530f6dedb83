#include "Nccl.h"

#include "FindFunctions.h"
#include "abi/Environment.h"

using namespace kiln;
using namespace kiln::cuda;

static constexpr const char *howToInstall =
    "; install NCCL 2.10 or newer (libnccl2 of NVIDIA's repository, or pip install "
    "nvidia-nccl-cu12), or name the library in KILN_NCCL_LIBRARY";

static std::string textOfVersion(int version) {
  // Up to 2.8 there were three digits less for the major number.
  int major = version < 10000 ? version / 1000 : version / 10000;
  int rest = version < 10000 ? version % 1000 : version % 10000;
  return std::to_string(major) + "." + std::to_string(rest / 100) + "." +
         std::to_string(rest % 100);
}

Status Nccl::load(const std::string &path, Nccl &nccl) {
  void *library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    const char *why = dlerror();
    return Status(StatusCode::NotFound,
                  "ranks on GPUs that are processes need NCCL, which cannot be opened (" +
                      std::string(why ? why : path.c_str()) + ")" + howToInstall);
  }
  FindFunctions find(library);
  find(nccl.getVersion, "ncclGetVersion");
  find(nccl.getUniqueId, "ncclGetUniqueId");
  find(nccl.commInitRank, "ncclCommInitRank");
  find(nccl.commDestroy, "ncclCommDestroy");
  find(nccl.commAbort, "ncclCommAbort");
  find(nccl.commGetAsyncError, "ncclCommGetAsyncError");
  find(nccl.getErrorString, "ncclGetErrorString");
  find(nccl.allReduce, "ncclAllReduce");
  find(nccl.broadcast, "ncclBroadcast");
  find(nccl.reduceScatter, "ncclReduceScatter");
  find(nccl.allGather, "ncclAllGather");
  find(nccl.send, "ncclSend");
  find(nccl.recv, "ncclRecv");
  find(nccl.groupStart, "ncclGroupStart");
  find(nccl.groupEnd, "ncclGroupEnd");
  find.ifThere(nccl.getLastError, "ncclGetLastError");
  int version = 0;
  if (nccl.getVersion && nccl.getVersion(&version) == 0 && version < kNcclOldest)
    return Status(StatusCode::Unsupported, path + " is NCCL " + textOfVersion(version) +
                                               ", which is too old" + howToInstall);
  if (!find.missing().empty() || version == 0)
    return Status(StatusCode::Unsupported,
                  path + " is no NCCL that Kiln can use: it has no " +
                      (find.missing().empty() ? "version" : find.missing()) + howToInstall);
  return Status::ok();
}

Expected<const Nccl *> Nccl::open() {
  static Nccl nccl{};
  static const Status opened = [] {
    std::string given = textFromEnvironment("KILN_NCCL_LIBRARY");
    return load(given.empty() ? "libnccl.so.2" : given, nccl);
  }();
  if (!opened.isOk())
    return opened;
  return &nccl;
}

Status Nccl::check(NcclResult result, const char *what, NcclComm comm) const {
  if (result == 0)
    return Status::ok();
  const char *text = getErrorString(result), *more = getLastError ? getLastError(comm) : nullptr;
  return Status(StatusCode::KernelFailed,
                std::string(what) + ": " + (text ? text : std::to_string(result).c_str()) +
                    (more && *more ? std::string(" (") + more + ")" : ""));
}

int kiln::cuda::ncclType(DType type) {
  switch (type) {
  case DType::I32:
    return 2;
  case DType::I64:
  case DType::Index:
    return 4;
  case DType::F32:
    return 7;
  default:
    return kNcclBytes;
  }
}

int kiln::cuda::ncclOperation(Reduction how) {
  switch (how) {
  case Reduction::Sum:
    return 0;
  case Reduction::Prod:
    return 1;
  case Reduction::Max:
    return 2;
  case Reduction::Min:
    return 3;
  }
  return 0;
}
