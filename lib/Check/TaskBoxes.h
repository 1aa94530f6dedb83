//===- TaskBoxes.h - what a signature promises of a task's blocks -------------------------===//
//
// A kernel's signature says of a tensor which box one block touches at most (BlockBox); dumps, the
// task graph and schedulers believe it. In a checked simulation nobody does: every access of a task
// is compared with the boxes of its arguments.
//
// Ownership: borrows the signature. A value of one task; one thread at a time.
//
//===----------------------------------------------------------------------------===//
#ifndef KILN_LIB_CHECK_TASKBOXES_H
#define KILN_LIB_CHECK_TASKBOXES_H

#include "ShadowMemory.h"

#include "kiln/runtime/signature.h"

namespace kiln::simulator {

class TaskBoxes {
public:
  TaskBoxes() = default;
  /// Of a task that carries these arguments.
  TaskBoxes(const Signature &signature, const kiln_args &args);

  /// "'x', of which a block touches only [64*b0 : 64*b0 + 64, :]" if this block touches other
  /// elements of it; nothing if all is as promised.
  std::optional<std::string> findBroken(const Footprint &at, std::array<int64_t, 3> block) const;

private:
  /// An argument that lies in one piece of memory. Several may share it.
  struct Argument {
    size_t number; ///< Among the tensors of the task.
    const kiln_tensor *tensor;
    int64_t reach; ///< Bytes from the first element to behind the last.
    /// Axes of more than one element, by descending stride; none if an address may be several
    /// elements, so that nothing can be said.
    llvm::SmallVector<int, 4> axes;
  };
  enum class Answer { Elsewhere, Inside, Outside };
  Answer locate(const Argument &argument, const std::byte *element,
                std::array<int64_t, 3> block) const;

  const Signature *Promised = nullptr;
  const uint64_t *Scalars = nullptr;
  std::vector<Argument> Arguments;
};

} // namespace kiln::simulator

#endif // KILN_LIB_CHECK_TASKBOXES_H
