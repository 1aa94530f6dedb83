//===- Llvm.h - kernels as native code of this machine -------------------------------===//
//
// Compiles the kernels and orchestrations of a prepared program (see buildPreparePipeline) to the
// ABIs of kiln/abi.h and kiln/orchestration_abi.h: in this process, as relocatable objects, or as
// LLVM IR to read. What is in the code is described as a NativeInfo, and runs as a NativeProgram,
// whichever way it takes. See docs/cpu-backend.md.
//
// Ownership: a CpuModule owns the code it points at; kernels must not run after it is gone. It
// keeps nothing of the MLIR module.
//
// Threads: compiling reads the MLIR module from one thread, then generates code on several that are
// gone when it returns; different modules may be compiled at once. What is compiled may be called
// from anywhere.
//
//===----------------------------------------------------------------------------===//
#ifndef KILN_TARGET_LLVM_LLVM_H
#define KILN_TARGET_LLVM_LLVM_H

#include "kiln/Dialect/Tile/TileDialect.h"
#include "kiln/Program/Arguments.h"
#include "kiln/orchestration_abi.h"
#include "kiln/runtime/native_program.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace kiln {

struct Machine;

struct CpuOptions {
  /// CPU and features in LLVM's spelling; empty: the ones of this machine.
  std::string cpu, features;
  /// Names of kernels and the user's lines for debuggers and profilers.
  bool debugInfo = true;
  /// Gives what the program leaves to the machine, such as the slots of a pipe. None: two slots.
  const Machine *machine = nullptr;
  /// Kernels that are compiled by somebody else: if it is given, only orchestrations are compiled,
  /// and launches refer to kernels by their place in this list.
  std::optional<std::vector<std::string>> kernelsElsewhere = {};
  /// Code that equal programs share, wherever they stand, reports by the numbers of places: how
  /// many the program has. 0: it holds the user's lines.
  size_t places = 0;
  /// That generate code at once; 0: one for each core. The code does not depend on it.
  unsigned threads = 0;
};

/// What the runtime needs to know to call a kernel. Functions are null in what was only emitted.
struct CpuKernel {
  std::string name;   ///< As in the program.
  std::string symbol; ///< As in the object; of a role of a group: this, a dot, and its name.
  uint64_t workspaceBytes = 0;
  kiln_kernel_fn function = nullptr;
  std::optional<GroupSpec> group; ///< Of a group, which has neither function nor workspace.
  /// The same as in KernelRecord.
  std::array<int64_t, KILN_MAX_GRID_DIMS> blocksPerCall{1, 1, 1};
};

/// An orchestration; launches refer to kernels by their place in the list of kernels.
struct CpuOrchestration {
  std::string name, symbol;
  kiln_orchestration_fn function = nullptr;
};

/// What is in code.
struct CpuContents {
  std::vector<CpuKernel> kernels;
  std::vector<CpuOrchestration> orchestrations;
};

struct CpuObject;

class CpuModule {
public:
  CpuModule();
  ~CpuModule();
  CpuModule(CpuModule &&) noexcept;
  CpuModule &operator=(CpuModule &&) noexcept;

  /// Null if the program has no such kernel.
  const CpuKernel *lookup(llvm::StringRef name) const;
  const std::vector<CpuKernel> &kernels() const { return Contents.kernels; }
  const CpuContents &contents() const { return Contents; }
  /// The code itself, which may outlive the module.
  std::shared_ptr<const CodeImage> image() const;

  struct Code; // the in-process linker's

private:
  friend Expected<CpuModule> loadCpuObject(CpuObject);
  CpuContents Contents;
  std::shared_ptr<const Code> Linked;
};

/// Object files, position independent; what they call outside themselves is named by symbol.
struct CpuObject : CpuContents {
  std::string bytes; ///< An archive, of one object for each function.
};

/// What is in code that was made of a prepared program, for who starts it with `entry`.
Expected<NativeInfo> describeNative(mlir::ModuleOp prepared, const std::string &entry,
                                    const CpuContents &contents);

/// Unsupported, with the operation and the user's line, for what this backend cannot lower.
Expected<CpuModule> compileForCpu(mlir::ModuleOp prepared, const CpuOptions &options = {});
Expected<CpuObject> emitCpuObject(mlir::ModuleOp prepared, const CpuOptions &options = {});
/// LLVM IR as it goes to the optimiser, or as it leaves it.
Expected<std::string> emitLlvmIr(mlir::ModuleOp prepared, const CpuOptions &options = {},
                                 bool optimized = true);
/// Links what emitCpuObject made into this process; no compiling.
Expected<CpuModule> loadCpuObject(CpuObject object);

/// A shared object made of an archive of objects, by LLVM's linker. `symbols` become symbols of it
/// besides.
Expected<std::string> linkSharedObject(const std::string &archive,
                                       llvm::ArrayRef<LinkedSymbol> symbols = {});

struct CpuRunOptions {
  /// 0: tasks run on all cores. Anything else: on this thread, in an order picked by the seed.
  uint64_t seed = 0;
  unsigned workers = 0; ///< As in EngineOptions.
  DumpOptions dump;
  std::string program, platform = "cpu"; ///< For people reading the dump.
  bool recordTimeline = false;
};

using CpuRunReport = NativeRunReport;

/// Runs an entry of the program that `code` was compiled from, and waits. A kernel or group is
/// launched as one task of one block. Errors as those of simulate().
Status runOnCpu(const CpuModule &code, ir::FuncOp entry, std::span<const Argument> args,
                const CpuRunOptions &options = {}, CpuRunReport *report = nullptr);

/// This machine in LLVM's spelling.
std::string hostCpu();
std::string hostCpuFeatures();

/// Whether functions with this operation can be compiled; a test holds it against both dialects.
bool isLoweredForCpu(mlir::OperationName name);

} // namespace kiln

#endif // KILN_TARGET_LLVM_LLVM_H
