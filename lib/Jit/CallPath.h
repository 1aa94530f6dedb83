//===- CallPath.h - what a compiled program remembers between calls ----------------------===//
//
// What: `CallState`, what is known once the facts of a call have been seen: the code, and under
//   which words it is found again; and the body of `Compiled`. States are only ever added, so a
//   call finds its state without a lock.
//
//===----------------------------------------------------------------------------===//
#ifndef KILN_LIB_JIT_CALLPATH_H
#define KILN_LIB_JIT_CALLPATH_H

#include "ArtifactCache.h"
#include "ReadTensor.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <mutex>

namespace kiln {

struct CallState {
  std::vector<uint64_t> words; ///< The facts of all tensors; compared in full.
  std::shared_ptr<const LoadedProgram> code;
  kiln_kernel_fn entry = nullptr; ///< Null: not called directly, but as tasks of an engine.
  uint64_t workspaceBytes = 0;
  CallState *next = nullptr; ///< In its bucket; constant once published.

  bool hasWords(std::span<const uint64_t> other) const {
    return std::equal(words.begin(), words.end(), other.begin(), other.end());
  }
};

/// Finds states by their words. Readers take no lock; states live as long as the table.
class CallStates {
public:
  CallStates() = default;
  CallStates(const CallStates &) = delete;
  CallStates &operator=(const CallStates &) = delete;
  ~CallStates();

  const CallState *find(std::span<const uint64_t> words) const {
    for (CallState *state = bucket(words).load(std::memory_order_acquire); state;
         state = state->next)
      if (state->hasWords(words))
        return state;
    return nullptr;
  }
  /// Adds a state, or returns the one that another thread has added; `isNew` says which.
  const CallState *add(std::unique_ptr<CallState> state, bool &isNew);

private:
  static constexpr size_t numBuckets = 64;
  using Bucket = std::atomic<CallState *>;

  /// Spreads states over buckets; equality is decided by the words themselves.
  const Bucket &bucket(std::span<const uint64_t> words) const {
    uint64_t mix = 0;
    for (uint64_t word : words)
      mix = std::rotl(mix, 11) ^ word;
    return Buckets[mix * 0x9e3779b97f4a7c15 >> 58];
  }

  std::array<Bucket, numBuckets> Buckets{};
  std::mutex Adding;
};

struct Compiled::Impl {
  Impl(std::shared_ptr<const JitSource> source, std::shared_ptr<ArtifactCache> cache,
       std::shared_ptr<CallRecorder> recorder, bool check, Status environment);

  /// An extent that the program itself fixes; not a fact of the call, so each call is checked.
  struct FixedExtent {
    uint16_t tensor;
    uint16_t axis;
    int64_t extent;
  };
  /// The arguments of a call in the form of the ABI, on the caller's stack.
  struct Block {
    kiln_tensor *tensors;
    ByteRange *ranges; ///< Of the tensors.
    uint64_t *scalars;
    uint64_t *words, *wordsEnd;
  };

  Block blockAt(void *memory) const {
    auto *tensors = static_cast<kiln_tensor *>(memory);
    auto *ranges = reinterpret_cast<ByteRange *>(tensors + NumTensors);
    auto *scalars = reinterpret_cast<uint64_t *>(ranges + NumTensors);
    return {tensors, ranges, scalars, scalars + NumScalars, nullptr};
  }
  bool readArguments(std::span<const CallArg> args, Block &block, Status &error) const;
  Status countError(size_t given) const;
  bool readScalarArgument(const CallArg &arg, size_t position, uint64_t &slot, Status &error) const;
  Status checkTensors(const Block &block) const;
  /// Reads, finds or makes the state, and validates.
  /// Null with an error.
  const CallState *prepare(std::span<const CallArg> args, Block &block, Status &error);
  Expected<const CallState *> makeState(const Block &block);
  /// Whether the byte ranges of an output and another tensor meet.
  bool outputsMayOverlap(const Block &block) const;
  /// Outputs overlap no other argument, and not themselves.
  Status checkOutputs(const Block &block) const;
  Status checkOutput(const Block &block, uint16_t output) const;
  Status run(const CallState &state, const Block &block) const;
  /// Checks that all tensors are in the memory of one GPU, whose number it gives, and copies the
  /// arguments without that: the rest of a call is the same wherever they are.
  Expected<int> readPlaces(std::span<const CallArg> args, CallArg *plain) const;
  Status launch(const CallState &state, const Block &block, const GpuPlace &place) const;
  Status runTasks(const CallState &state, const Block &block) const;
  std::string nameOf(size_t position) const;

  std::shared_ptr<const JitSource> Source;
  std::shared_ptr<ArtifactCache> Cache;
  std::shared_ptr<CallRecorder> Recorder; ///< Null: nothing is recorded.
  bool Check;
  bool OnGpu;
  Status Environment; ///< What fails every call.
  uint32_t NumTensors, NumScalars;
  bool HasRequirements;
  size_t BlockBytes;
  std::vector<ParamRef> Params;
  std::vector<uint16_t> TensorPositions, ScalarPositions; ///< Among the parameters.
  std::vector<FixedExtent> FixedExtents;
  std::vector<uint16_t> Outputs; ///< Tensors that are written.
  CallStates States;
};

} // namespace kiln

#endif // KILN_LIB_JIT_CALLPATH_H
