//===- Captures.h - what captured streams were asked for last --------------------------------===//
//
// While a stream is captured, the driver says behind which nodes of the graph the next launch will
// come. If that is one kernel, and Kiln launched it, it is known what may still run when a kernel
// begins early: that one alone. For it waits, in each of its blocks, for all that comes before it
// and only then lets others begin. Whoever changes the graph later, and puts something between the
// two, puts it there with edges that the next kernel waits for.
//
// Threads: any.
//
//===----------------------------------------------------------------------------===//
#ifndef KILN_RUNTIME_DEVICE_CUDA_CAPTURES_H
#define KILN_RUNTIME_DEVICE_CUDA_CAPTURES_H

#include "Driver.h"

#include <mutex>
#include <optional>
#include <utility>
#include <vector>

namespace kiln::cuda {

/// From the first byte to behind the last one.
using ByteRange = std::pair<uintptr_t, uintptr_t>;
/// Whether none of the one is in any of the others.
bool areApart(const std::vector<ByteRange> &ones, const std::vector<ByteRange> &others);

class Captures {
public:
  /// Of the process.
  static Captures &all();

  /// A kernel was launched, the last of a call that writes to `written`.
  void note(const Driver &driver, Stream stream, std::vector<ByteRange> written);
  /// Whether the next launch comes right behind one that was noted, which writes none of `read`.
  bool isNextBehind(const Driver &driver, Stream stream, const std::vector<ByteRange> &read);

private:
  struct Place {
    uint64_t capture; ///< No two of a process have the same.
    GraphNode node;
    friend bool operator==(const Place &, const Place &) = default;
  };
  /// The only node behind which the next launch will come. Nothing if there are none or several, or
  /// if the launch would not wait for all of it.
  static std::optional<Place> lastOf(const Driver &driver, Stream stream);

  std::mutex Lock;
  std::optional<Place> Last;
  std::vector<ByteRange> Written; ///< By that.
};

} // namespace kiln::cuda

#endif // KILN_RUNTIME_DEVICE_CUDA_CAPTURES_H
