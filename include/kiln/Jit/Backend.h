//===- Backend.h - what the JIT asks of a compiler ---------------------------------------===//
//
// What: `JitSource`, a program together with the backend that compiles it. The JIT knows nothing
//   else of compilers: it hands over facts, and gets an artifact it can store, map and call.
//
// Ownership: the JIT shares the source for as long as it may have to compile again.
//
// Threads: compile() may be called from several threads at once; everything else is constant.
//
//===----------------------------------------------------------------------------===//
#ifndef KILN_JIT_BACKEND_H
#define KILN_JIT_BACKEND_H

#include "kiln/runtime/native_program.h"
#include "kiln/runtime/tensor_facts.h"
#include "kiln/visibility.h"

#include <span>

KILN_EXPORTED_BEGIN
namespace kiln {

/// What a compile gives: a shared object and what is in it.
struct Artifact {
  NativeInfo info;
  std::string object;
};

/// Where the tensors of a call are.
enum class TensorMemory : uint8_t { Host, Gpu };

/// Maps a shared object that an artifact holds. It reports at `places`.
Expected<std::shared_ptr<const LoadedProgram>>
loadSharedObject(const NativeInfo &info, std::string_view object,
                 std::span<const SourceLoc> places = {});

class JitSource {
public:
  virtual ~JitSource() = default;

  /// For people: the program's name, and that of the platform it is compiled for.
  virtual const std::string &program() const = 0;
  virtual const std::string &platform() const = 0;
  /// Of the entry. Tensors before scalars, as tasks carry them.
  virtual const Signature &signature() const = 0;
  /// The parameters in the order in which the program declares them and callers give them.
  virtual std::span<const ParamRef> parameters() const = 0;
  /// Everything besides the facts that the artifact depends on, as lines of text: program hash,
  /// toolchain, platform and exact architecture, options. The same in every process that would
  /// compile the same code.
  virtual const std::string &identity() const = 0;

  /// What its code generator may read of tensors. Nothing else enters keys, or compile().
  virtual FactSet reads() const = 0;

  /// `facts` has one element for each tensor of the signature, and already agrees with its element
  /// types and ranks; it has facts of the kinds in reads() only.
  virtual Expected<Artifact> compile(std::span<const TensorFacts> facts) const = 0;

  /// Where the operations of the program stand. An artifact is shared between programs that are
  /// equal but for this; code that is loaded is not.
  virtual std::span<const SourceLoc> places() const { return {}; }
  /// Where the entry stands.
  virtual SourceLoc location() const { return {}; }

  /// Where its tensors have to be.
  virtual TensorMemory memory() const { return TensorMemory::Host; }
  /// Brings the bytes of an artifact into this process.
  virtual Expected<std::shared_ptr<const LoadedProgram>> load(const NativeInfo &info,
                                                              std::string_view object) const {
    return loadSharedObject(info, object, places());
  }
};

/// The whole key as text: what is equal here may share an artifact, and nothing else may.
std::string jitKey(const std::string &identity, std::span<const TensorFacts> facts);

} // namespace kiln
KILN_EXPORTED_END

#endif // KILN_JIT_BACKEND_H
