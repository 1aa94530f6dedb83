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
  bool hasLines = false;

  /// As the compiler is told. A second is longer than any tile takes to come.
  std::vector<std::string> definitions() const {
    return {"-DKILN_BLOCKS_AT_ONCE=" + std::to_string(blocks),
            "-DKILN_REGISTERS_MOVED=" + std::to_string(moved),
            isChecked ? "-DKILN_BOUND_WAITS=1000000000ull" : "-DKILN_UNBOUNDED_WAITS"};
  }
  std::string inWords() const {
    return llvm::join(definitions(), " ") + (isFrugal ? ", elements computed where used" : "");
  }
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
  std::vector<const char *> options = {"--gpu-architecture=sm_90a", "--std=c++20",
                                       "--ptxas-options=-v", "--device-as-default-execution-space"};
  std::vector<std::string> definitions = choice.definitions();
  for (const std::string &definition : definitions)
    options.push_back(definition.c_str());
  if (choice.hasLines)
    options.push_back("-lineinfo");
  int error = library.compileProgram(program, int(options.size()), options.data());
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
  llvm::SmallVector<StringRef> args = {
      nvcc,     "-std=c++20", "-gencode=arch=compute_90a,code=sm_90a",
      "-cubin", "-Xptxas",    "-v",
      include,  "-o",         output,
      input};
  std::vector<std::string> definitions = choice.definitions();
  args.append(definitions.begin(), definitions.end());
  if (choice.hasLines)
    args.push_back("-lineinfo");
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

struct Resources {
  uint64_t registers = 0, spilled = 0, stack = 0; ///< Of a thread; the last two in bytes.
  std::string serialized; ///< What the assembler says of instructions that it cannot overlap.

  explicit Resources(StringRef log) {
    llvm::SmallVector<StringRef> lines;
    log.split(lines, '\n');
    for (StringRef line : lines) {
      registers = std::max(registers, countBefore(line, "registers"));
      spilled = std::max(spilled, countBefore(line, "bytes spill stores"));
      stack = std::max(stack, countBefore(line, "bytes stack frame"));
      if (line.contains_insensitive("serialized") || line.contains("C7508") ||
          line.contains_insensitive("setmaxnreg ignored"))
        serialized = line.trim();
    }
  }

  std::string problem() const {
    if (!serialized.empty())
      return "the assembler cannot overlap it: " + serialized;
    if (spilled)
      return "it needs more registers than a thread has (" + std::to_string(spilled) +
             " bytes spilled); use smaller tiles";
    if (stack)
      return "it keeps " + std::to_string(stack) +
             " bytes of each thread in memory; use smaller tiles";
    return "";
  }
  std::string inWords() const {
    return std::to_string(registers) + " registers, " + std::to_string(spilled) +
           " bytes spilled, " + std::to_string(stack) + " bytes of stack" +
           (serialized.empty() ? "" : ", " + serialized);
  }
};

//===----------------------------------------------------------------------===//
// How the registers are given out
//===----------------------------------------------------------------------===//

/// The most that a thread can have.
constexpr uint64_t kMostRegisters = 255;
/// Steps of registers that a copying role gets beyond the least, at most.
constexpr unsigned kMostMoved = 4;
/// What a computing thread needs beside its tiles, about.
constexpr int64_t kBesideTiles = 32;

uint64_t registersOf(const CudaUnit &unit, unsigned blocks) {
  return std::min<uint64_t>(kMostRegisters,
                            65536 / (uint64_t(unit.kernel.threads) * blocks) / 8 * 8);
}

/// Blocks at once of a kernel that waits for memory: of several lanes, and of one. More of the
/// latter are tried first, and as many as the former at least.
constexpr unsigned kManyBlocks = 3, kManySmallBlocks = 6;

/// The fastest: a kernel that waits for memory has several blocks at once, unless its tiles are far
/// too many for that, and a role that copies as few registers as it can.
Choice firstChoice(const CudaUnit &unit) {
  Choice choice;
  choice.isChecked = unit.kernel.isChecked;
  choice.hasLines = unit.hasLines;
  if (unit.isMemoryBound && unit.registersForTiles <= 2 * int64_t(registersOf(unit, kManyBlocks)))
    choice.blocks = unit.kernel.threads <= 128 ? kManySmallBlocks : kManyBlocks;
  return choice;
}

/// What to try when `last` did not do, by how many bytes had no register: as many fewer blocks as
/// give that many registers; if the tiles of the computing lanes leave room, that many more for the
/// role that copies; else the frugal text with all registers. Nothing: that was all.
std::optional<Choice> nextChoice(const CudaUnit &unit, const Choice &last, const Resources &found) {
  Choice next = last;
  uint64_t missing = (found.spilled + found.stack + 3) / 4;
  if (last.blocks > 1) {
    // Of many blocks one fewer is tried: with fewer registers more is spilled than is missing.
    uint64_t needed = last.blocks > kManyBlocks ? 0 : registersOf(unit, last.blocks) + missing;
    do
      --next.blocks;
    while (next.blocks > 1 && registersOf(unit, next.blocks) < needed);
    return next;
  }
  bool hasRoom = unit.registersForTiles + kBesideTiles <= 240 - 8 * int64_t(kMostMoved);
  if (unit.movesRegisters && last.moved == 0 && (hasRoom || last.isFrugal)) {
    uint64_t step = 8 * (uint64_t(unit.kernel.threads) / 128 - 1); // of each lane
    next.moved = hasRoom ? std::clamp<uint64_t>((missing + step - 1) / step, 1, kMostMoved) : 1;
    return next;
  }
  if (last.isFrugal || unit.frugalText.text.empty())
    return std::nullopt;
  next.isFrugal = true;
  return next;
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

Expected<CompiledCuda> compileCuda(const CudaUnit &unit) {
  Expected<std::string> compiler = cudaCompiler();
  if (!compiler)
    return compiler.status();
  const Nvrtc *library = nvrtc();
  auto failed = [&](StatusCode code, const std::string &why) {
    return Status(code, "@" + unit.kernel.name + ": " + why, unit.location);
  };
  std::string before; // what was tried, and did not do
  std::optional<Choice> choice = firstChoice(unit);
  while (true) {
    std::string log;
    const CudaText &text = choice->isFrugal ? unit.frugalText : unit.text;
    std::string file = unit.kernel.file.substr(0, unit.kernel.file.rfind('.')) + ".cu";
    std::string source = kCudaHeader + text.directed(file);
    Expected<std::string> cubin = library ? compileByNvrtc(*library, source, *choice, log)
                                          : compileByNvcc(findNvcc(), source, *choice, log);
    if (!cubin) // an error in emitted code is a defect of the emitter: show what it is
      return failed(cubin.status().code(), cubin.status().message() + "\n" + log);
    Resources found(log);
    std::string problem = found.problem(), tried = choice->inWords() + ": " + found.inWords();
    std::optional<Choice> next = problem.empty() ? std::nullopt : nextChoice(unit, *choice, found);
    if (next) {
      before += "// Tried before: " + tried + "\n";
      choice = next;
      continue;
    }
    // A run is there to find out whether the program is right: then code may be slow.
    if (!problem.empty() && !unit.kernel.isChecked)
      return failed(StatusCode::Unsupported, problem);
    return CompiledCuda{std::move(*cubin), "// " + *compiler + " " + tried + "\n" + before +
                                               kCudaHeader + text.commented()};
  }
}

} // namespace kiln
