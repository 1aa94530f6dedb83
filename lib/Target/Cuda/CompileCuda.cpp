// From CUDA C++ to a cubin: NVRTC, opened where it is needed, else nvcc.
#include "kiln/Target/Cuda/Cuda.h"

#include "DeviceLibrary.h"

#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/raw_ostream.h"

#include <dlfcn.h>

#include <cstdlib>
#include <mutex>

namespace kiln {
namespace {

using llvm::StringRef;

//===----------------------------------------------------------------------===//
// NVRTC
//===----------------------------------------------------------------------===//

/// The functions of the library that are used; all of them or none.
struct Nvrtc {
  using Program = struct OpaqueProgram *;
  int (*version)(int *, int *) = nullptr;
  int (*createProgram)(Program *, const char *, const char *, int, const char *const *,
                       const char *const *) = nullptr;
  int (*compileProgram)(Program, int, const char *const *) = nullptr;
  int (*getLogSize)(Program, size_t *) = nullptr;
  int (*getLog)(Program, char *) = nullptr;
  int (*getCubinSize)(Program, size_t *) = nullptr;
  int (*getCubin)(Program, char *) = nullptr;
  int (*destroyProgram)(Program *) = nullptr;
  const char *(*errorText)(int) = nullptr;

  bool open(const char *path) {
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library)
      return false;
    bool found = true;
    auto find = [&](auto &function, const char *name) {
      function =
          reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(library, name));
      found &= function != nullptr;
    };
    find(version, "nvrtcVersion");
    find(createProgram, "nvrtcCreateProgram");
    find(compileProgram, "nvrtcCompileProgram");
    find(getLogSize, "nvrtcGetProgramLogSize");
    find(getLog, "nvrtcGetProgramLog");
    find(getCubinSize, "nvrtcGetCUBINSize");
    find(getCubin, "nvrtcGetCUBIN");
    find(destroyProgram, "nvrtcDestroyProgram");
    find(errorText, "nvrtcGetErrorString");
    // sm_90a came with 12.0.
    int major = 0, minor = 0;
    return found && version(&major, &minor) == 0 && major >= 12;
  }
};

/// Null if there is none. `KILN_NVRTC` names a library, or is empty to have none.
const Nvrtc *nvrtc() {
  static const std::unique_ptr<Nvrtc> opened = []() -> std::unique_ptr<Nvrtc> {
    auto library = std::make_unique<Nvrtc>();
    if (const char *given = std::getenv("KILN_NVRTC"))
      return *given && library->open(given) ? std::move(library) : nullptr;
    for (const char *path :
         {"libnvrtc.so.13", "libnvrtc.so.12", "/usr/local/cuda/lib64/libnvrtc.so.13",
          "/usr/local/cuda/lib/libnvrtc.so.13", "/usr/local/cuda/lib64/libnvrtc.so.12"})
      if (library->open(path))
        return library;
    return nullptr;
  }();
  return opened.get();
}

/// The headers that emitted code includes: the device library, what its elementwise functions come
/// from, and the matrix unit's instructions.
const std::vector<DeviceHeader> &deviceHeaders() {
  static const std::vector<DeviceHeader> headers = [] {
    std::vector<DeviceHeader> all(std::begin(kDeviceLibrary), std::end(kDeviceLibrary));
    all.push_back({
        "elementwise_table.cuh",
#include "kiln/Dialect/Tile/Elementwise/Device.inc"
    });
    all.push_back({
        "wgmma_shapes.cuh",
#include "WgmmaShapes.inc"
    });
    return all;
  }();
  return headers;
}

/// What a kernel is compiled for: how the registers are given out.
struct Choice {
  unsigned blocks = 1;   ///< On a multiprocessor at once.
  unsigned moved = 0;    ///< Steps of registers that the copying role keeps.
  bool isFrugal = false; ///< With the text that needs fewer.

  bool isChecked = false;
  bool mayBeSlow = false; ///< Spills are no error.

  /// A second is longer than any tile takes to come.
  std::string waits() const {
    return isChecked ? "-DKILN_BOUND_WAITS=1000000000ull" : "-DKILN_UNBOUNDED_WAITS";
  }
  std::string atOnce() const { return "-DKILN_BLOCKS_AT_ONCE=" + std::to_string(blocks); }
  std::string registers() const { return "-DKILN_REGISTERS_MOVED=" + std::to_string(moved); }
};

Expected<std::string> compileByNvrtc(const Nvrtc &library, const std::string &source,
                                     const Choice &choice, std::string &log) {
  std::vector<const char *> names, texts;
  for (const DeviceHeader &header : deviceHeaders()) {
    names.push_back(header.name);
    texts.push_back(header.text);
  }
  Nvrtc::Program program = nullptr;
  auto failed = [&](int error) {
    return Status(StatusCode::Internal, std::string("NVRTC: ") + library.errorText(error));
  };
  if (int error = library.createProgram(&program, source.c_str(), "kernel.cu", int(names.size()),
                                        texts.data(), names.data()))
    return failed(error);
  llvm::scope_exit destroy([&] { library.destroyProgram(&program); });
  std::string atOnce = choice.atOnce(), registers = choice.registers(), waits = choice.waits();
  const char *options[] = {"--gpu-architecture=sm_90a",
                           "--std=c++20",
                           "--ptxas-options=-v",
                           "--device-as-default-execution-space",
                           atOnce.c_str(),
                           registers.c_str(),
                           waits.c_str()};
  int error = library.compileProgram(program, std::size(options), options);
  size_t size = 0;
  if (library.getLogSize(program, &size) == 0 && size > 1) {
    log.resize(size - 1);
    library.getLog(program, log.data());
  }
  if (error)
    return failed(error);
  if (int missing = library.getCubinSize(program, &size))
    return failed(missing);
  std::string cubin(size, '\0');
  if (int missing = library.getCubin(program, cubin.data()))
    return failed(missing);
  return cubin;
}

//===----------------------------------------------------------------------===//
// nvcc
//===----------------------------------------------------------------------===//

std::string findNvcc() {
  if (const char *given = std::getenv("KILN_NVCC"))
    return given;
  if (llvm::ErrorOr<std::string> found = llvm::sys::findProgramByName("nvcc"))
    return *found;
  std::string usual = "/usr/local/cuda/bin/nvcc";
  return llvm::sys::fs::can_execute(usual) ? usual : "";
}

bool writeText(const llvm::Twine &path, StringRef text) {
  std::error_code error;
  llvm::raw_fd_ostream file(path.str(), error);
  file << text;
  file.close();
  return !error && !file.has_error();
}

std::string readText(const llvm::Twine &path) {
  auto buffer = llvm::MemoryBuffer::getFile(path);
  return buffer ? (*buffer)->getBuffer().str() : "";
}

Expected<std::string> compileByNvcc(const std::string &nvcc, const std::string &source,
                                    const Choice &choice, std::string &log) {
  llvm::SmallString<128> folder;
  if (llvm::sys::fs::createUniqueDirectory("kiln-cuda", folder))
    return Status(StatusCode::IoError, "cannot make a temporary folder for nvcc");
  llvm::scope_exit remove([&] {
    // What stays behind in a temporary folder harms nobody.
    [[maybe_unused]] std::error_code ignored = llvm::sys::fs::remove_directories(folder);
  });
  bool written = writeText(folder + "/kernel.cu", source);
  for (const DeviceHeader &header : deviceHeaders())
    written &= writeText(folder + "/" + header.name, header.text);
  if (!written)
    return Status(StatusCode::IoError, "cannot write to " + folder.str().str());
  std::string input = (folder + "/kernel.cu").str(), output = (folder + "/kernel.cubin").str(),
              said = (folder + "/log").str(), include = ("-I" + folder).str();
  std::string atOnce = choice.atOnce(), registers = choice.registers(), waits = choice.waits();
  StringRef args[] = {nvcc,     "-std=c++20", "-gencode=arch=compute_90a,code=sm_90a",
                      "-cubin", "-Xptxas",    "-v",
                      include,  atOnce,       registers,
                      waits,    "-o",         output,
                      input};
  std::string why;
  int code =
      llvm::sys::ExecuteAndWait(nvcc, args, std::nullopt, {StringRef(""), said, said}, 0, 0, &why);
  log = readText(said);
  if (code != 0)
    return Status(StatusCode::Internal,
                  why.empty() ? "nvcc ended with " + std::to_string(code) : nvcc + ": " + why);
  return readText(output);
}

//===----------------------------------------------------------------------===//
// What the assembler says of the code
//===----------------------------------------------------------------------===//

/// The number before `what` on a line of the log.
uint64_t countBefore(StringRef line, StringRef what) {
  size_t at = line.find(what);
  if (at == StringRef::npos)
    return 0;
  uint64_t count = 0;
  StringRef number = line.take_front(at).rtrim();
  number = number.substr(number.find_last_not_of("0123456789") + 1);
  return number.getAsInteger(10, count) ? 0 : count;
}

Status checkResources(StringRef log) {
  llvm::SmallVector<StringRef> lines;
  log.split(lines, '\n');
  for (StringRef line : lines) {
    if (line.contains_insensitive("serialized") || line.contains("C7508") ||
        line.contains_insensitive("setmaxnreg ignored"))
      return Status(StatusCode::Unsupported,
                    "the assembler cannot overlap it: " + line.trim().str());
    if (uint64_t bytes = countBefore(line, "bytes spill stores"))
      return Status(StatusCode::Unsupported, "it needs more registers than a thread has (" +
                                                 std::to_string(bytes) +
                                                 " bytes spilled); use smaller tiles");
    if (uint64_t bytes = countBefore(line, "bytes stack frame"))
      return Status(StatusCode::Unsupported,
                    "it keeps " + std::to_string(bytes) +
                        " bytes of each thread in memory; use smaller tiles");
  }
  return Status::ok();
}

} // namespace

Expected<std::string> cudaCompiler() {
  if (const Nvrtc *library = nvrtc()) {
    int major = 0, minor = 0;
    library->version(&major, &minor);
    return "nvrtc " + std::to_string(major) + "." + std::to_string(minor);
  }
  if (const char *given = std::getenv("KILN_NVRTC"); given && *given)
    return Status(StatusCode::InvalidArgument,
                  "KILN_NVRTC='" + std::string(given) +
                      "' is not a library of NVRTC 12 or newer; leave it empty to use nvcc");
  if (std::string nvcc = findNvcc(); !nvcc.empty())
    return nvcc;
  return Status(StatusCode::NotFound,
                "there is no CUDA compiler: neither NVRTC 12 or newer (libnvrtc.so, or KILN_NVRTC) "
                "nor nvcc (PATH, or KILN_NVCC)");
}

/// Compiles, and checks what the assembler says.
static Expected<std::string> compileOnce(const CudaUnit &unit, const Choice &choice,
                                         std::string &log) {
  const Nvrtc *library = nvrtc();
  std::string source = unit.source(choice.isFrugal);
  Expected<std::string> cubin = library ? compileByNvrtc(*library, source, choice, log)
                                        : compileByNvcc(findNvcc(), source, choice, log);
  if (!cubin) // an error in emitted code is a defect of the emitter: show what it is
    return Status(cubin.status().code(), cubin.status().message() + "\n" + log);
  if (Status bad = checkResources(log); !bad.isOk() && !choice.mayBeSlow)
    return bad;
  return cubin;
}

/// What to try, the fastest first: several blocks at once, or all registers for one; few registers
/// for the role that copies, or more of them; each value once, or where it is used.
static std::vector<Choice> plainChoicesFor(const CudaUnit &unit) {
  std::vector<Choice> choices = {{}};
  if (unit.isMemoryBound)
    choices = {{.blocks = 3}, {.blocks = 2}, {.blocks = 1}};
  else if (unit.movesRegisters)
    choices = {{.moved = 0}, {.moved = 1}, {.moved = 2}, {.moved = 4}};
  if (!unit.frugalText.empty()) {
    choices.push_back({.isFrugal = true});
    if (unit.movesRegisters)
      choices.push_back({.moved = 1, .isFrugal = true});
  }
  return choices;
}

static std::vector<Choice> choicesFor(const CudaUnit &unit) {
  std::vector<Choice> choices = plainChoicesFor(unit);
  for (Choice &choice : choices)
    choice.isChecked = unit.isChecked;
  choices.back().mayBeSlow = unit.isChecked;
  return choices;
}

Expected<std::string> compileCuda(const CudaUnit &unit, std::string *log) {
  std::string said;
  if (Expected<std::string> compiler = cudaCompiler(); !compiler)
    return compiler.status();
  Expected<std::string> cubin = Status(StatusCode::Internal, "nothing was tried");
  for (const Choice &choice : choicesFor(unit)) {
    cubin = compileOnce(unit, choice, said);
    if (cubin || cubin.status().code() != StatusCode::Unsupported)
      break;
  }
  if (log)
    *log = said;
  if (!cubin)
    return Status(cubin.status().code(), "@" + unit.kernel.name + ": " + cubin.status().message(),
                  unit.location);
  return cubin;
}

} // namespace kiln
