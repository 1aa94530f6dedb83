#include "abi/FileIo.h"
#include "abi/Forks.h"
#include "kiln/runtime/native_program.h"

#include <cerrno>
#include <dlfcn.h>
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

using namespace kiln;

/// The dynamic linker has locks of its own, which a fork must not cut through.
template <typename Body> static auto linking(Body body) {
  Unforked lock;
  return body();
}

static Status linkerError(const std::string &what) {
  const char *reason = dlerror();
  return Status(StatusCode::IoError,
                "cannot load " + what + ": " + (reason ? reason : "no reason given"));
}

Expected<std::shared_ptr<SharedObject>> SharedObject::fromBytes(std::string_view bytes,
                                                                const std::string &name,
                                                                std::span<const SourceLoc> places) {
  std::shared_ptr<SharedObject> object(new SharedObject);
  object->Fd = memfd_create(("kiln-" + name.substr(0, 200)).c_str(), MFD_CLOEXEC);
  if (object->Fd < 0)
    return errnoStatus("create memory for the code of", name);
  while (!bytes.empty()) {
    ssize_t put = ::write(object->Fd, bytes.data(), bytes.size());
    if (put < 0 && errno == EINTR)
      continue;
    if (put <= 0)
      return errnoStatus("write the code of", name);
    bytes.remove_prefix(static_cast<size_t>(put));
  }
  // By process id, not "self": a debugger opens this name too.
  std::string path = "/proc/" + std::to_string(getpid()) + "/fd/" + std::to_string(object->Fd);
  object->Handle = linking([&] { return dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL); });
  if (!object->Handle)
    return linkerError("the code of " + name);
  if (Status bad = object->fillPlaces(places); !bad.isOk())
    return bad.withPrefix("the code of " + name);
  return object;
}

Status SharedObject::fillPlaces(std::span<const SourceLoc> places) {
  auto *table = places.empty() ? nullptr : static_cast<kiln_source *>(find(placesSymbol));
  if (!table)
    return Status::ok(); // it was not compiled to be shared, or cannot fail
  Dl_info about{};
  ElfW(Sym) *symbol = nullptr;
  auto **found = reinterpret_cast<void **>(&symbol);
  if (!linking([&] { return dladdr1(table, &about, found, RTLD_DL_SYMENT); }) || !symbol ||
      symbol->st_size != places.size_bytes() / sizeof(SourceLoc) * sizeof(kiln_source))
    return Status(StatusCode::InvalidArgument, "it was compiled for a program of another size");
  for (size_t i = 0; i < places.size(); ++i)
    if (const SourceLoc &at = places[i]; at.isKnown())
      table[i] = {Files.insert(at.file).first->c_str(), at.line, at.col};
  return Status::ok();
}

SharedObject::~SharedObject() {
  if (Handle)
    linking([&] { return dlclose(Handle); });
  if (Fd >= 0)
    ::close(Fd);
}

void *SharedObject::find(const std::string &symbol) const {
  return linking([&] { return dlsym(Handle, symbol.c_str()); });
}
