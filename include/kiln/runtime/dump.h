//===- kiln/runtime/dump.h - argument dumps: options, reader, `kiln dump` ===//
//
// What: how to ask an engine for a dump of every task's arguments, and how to read one. A dump is
//   <directory>/tensor_dump/tensor_dump.json (the manifest) and tensor_dump.bin (payload, little
//   endian, gathered). The format is described in runtime/dump/README.md.
//
// Ownership: the reader's values own what they hold; the payload stays in the file until asked
//   for.
//
// Threads: callable from any thread; a DumpFile nobody changes may be read from many.
//
// Bad input: a dump is input like any other. Every field is checked before use; what is wrong is
//   an error that names the file and the entry.
//
//===---------------------------------------------------------------------===//
#ifndef KILN_RUNTIME_DUMP_H
#define KILN_RUNTIME_DUMP_H

#include "kiln/runtime/dtype.h"
#include "kiln/runtime/signature.h"
#include "kiln/runtime/status.h"
#include "kiln/runtime/tensor.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace kiln {

struct DumpOptions {
  /// 0 off; 1 only the tensors the program marked; 2 everything; 3 metadata of everything, payload
  /// of what was marked.
  int level = 0;
  /// tensor_dump/ is made inside it (and the directory itself, if missing). Required when level >
  /// 0.
  std::string directory;
};

/// "0" .. "3". InvalidArgument for anything else; `source` names the flag or variable in the
/// message.
Expected<int> parseDumpLevel(std::string_view text, const std::string &source);
/// The level in KILN_DUMP, or `fallback` when it is not set.
Expected<int> dumpLevelFromEnvironment(int fallback);

/// Where a run with this output directory has its dump.
std::string dumpDirectory(const std::string &out);

enum class DumpStage : uint8_t { BeforeDispatch, AfterCompletion };
/// "before_dispatch", "after_completion"
const char *toString(DumpStage stage);

/// One entry of the manifest.
struct DumpEntry {
  uint64_t task = 0;
  std::string kernel;               // what was submitted
  std::vector<std::string> kernels; // what ran: the members of a mixed task, else just `kernel`
  uint32_t argIndex = 0;            // task order: tensors, then scalars
  std::string argName;
  bool isScalar = false;
  Direction role = Direction::In;
  DumpStage stage = DumpStage::BeforeDispatch;
  DType dtype = DType::F32;
  bool hasSignature = true;

  // Tensors.
  std::vector<int64_t> shape, strides;
  uint64_t offset = 0; // elements from the start of the buffer
  bool contiguous = true;
  std::string address; // "0x..."
  uint64_t bufferId = 0;
  std::string box; // what a block touches of it, see BlockBox::str(); empty: not known
  bool internal = false;
  bool marked = false;       // by the program
  bool metadataOnly = false; // internal, or not marked at level 3
  bool truncated = false;
  uint64_t binOffset = 0;
  uint64_t binSize = 0; // 0 without payload

  // Scalars.
  ScalarBits scalar;

  bool hasPayload() const { return !isScalar && !metadataOnly && !truncated; }
};

class DumpFile {
public:
  /// `directory` is the run's output directory, the tensor_dump directory in it, or the manifest
  /// itself.
  static Expected<DumpFile> open(const std::string &directory);

  const std::vector<DumpEntry> &entries() const { return Entries; }
  int level() const { return Level; }
  const std::string &program() const { return Program; }
  const std::string &platform() const { return Platform; }
  /// "ok" or "failed"; the error of the run in the second case.
  const std::string &runStatus() const { return RunStatus; }
  const std::string &runError() const { return RunError; }
  uint64_t unsignedTasks() const { return UnsignedTasks; }
  uint64_t binBytes() const { return BinBytes; }
  const std::string &manifestPath() const { return ManifestPath; }

  /// Reads an entry's elements as a contiguous tensor. FailedPrecondition for entries without
  /// payload.
  Expected<Tensor> load(const DumpEntry &entry) const;

private:
  friend class DumpParser;
  std::vector<DumpEntry> Entries;
  int Level = 0;
  std::string Program, Platform, RunStatus, RunError;
  uint64_t UnsignedTasks = 0;
  uint64_t BinBytes = 0;
  std::string ManifestPath, BinPath;
};

/// `kiln dump DIR`: lists, filters, prints and exports a dump, or compares it with another
/// (`--diff`). argv[0] is the command's name ("kiln dump"). Returns the exit code: 0, 1 when two
/// dumps differ, 2 for bad input or usage.
int dumpCommand(int argc, const char *const *argv);

} // namespace kiln

#endif // KILN_RUNTIME_DUMP_H
