#include "LoadedArtifact.h"

#include "abi/FileIo.h"

#include <cerrno>
#include <dlfcn.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace kiln {

LoadedArtifact::~LoadedArtifact() {
  if (Handle)
    dlclose(Handle);
  if (Fd >= 0)
    ::close(Fd);
}

static Status linkerError(const char *action) {
  const char *reason = dlerror();
  return Status(StatusCode::IoError, std::string("cannot ") + action + " compiled code: " +
                                         (reason ? reason : "no reason given"));
}

Status LoadedArtifact::mapAnonymous(const CacheEntry &entry) {
  Fd = memfd_create(("kiln-" + entry.entry.symbol).c_str(), MFD_CLOEXEC);
  if (Fd < 0)
    return errnoStatus("create memory for", entry.entry.symbol);
  std::string_view left = entry.object;
  while (!left.empty()) {
    ssize_t put = ::write(Fd, left.data(), left.size());
    if (put < 0 && errno == EINTR)
      continue;
    if (put <= 0)
      return errnoStatus("write the code of", entry.entry.symbol);
    left.remove_prefix(size_t(put));
  }
  // By process id, not "self": a debugger opens this name too.
  std::string path = "/proc/" + std::to_string(getpid()) + "/fd/" + std::to_string(Fd);
  Handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  return Handle ? Status::ok() : linkerError("map");
}

Status LoadedArtifact::map(const CacheEntry &entry) {
  // Only the very file that was verified; it may have been removed or replaced since.
  struct stat st;
  bool isSame = !entry.path.empty() && ::stat(entry.path.c_str(), &st) == 0 &&
                st.st_dev == entry.device && st.st_ino == entry.inode;
  // Without a slash the linker would search its own path.
  std::string path = entry.path.find('/') == std::string::npos ? "./" + entry.path : entry.path;
  if (isSame)
    Handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  return Handle ? Status::ok() : mapAnonymous(entry);
}

Expected<std::shared_ptr<const LoadedArtifact>> LoadedArtifact::load(const CacheEntry &entry) {
  std::shared_ptr<LoadedArtifact> artifact(new LoadedArtifact);
  if (Status mapped = artifact->map(entry); !mapped.isOk())
    return mapped;
  void *symbol = dlsym(artifact->Handle, entry.entry.symbol.c_str());
  if (!symbol)
    return linkerError("find the entry of");
  artifact->Entry = reinterpret_cast<kiln_kernel_fn>(symbol);
  artifact->Workspace = entry.entry.workspaceBytes;
  return std::shared_ptr<const LoadedArtifact>(std::move(artifact));
}

} // namespace kiln
