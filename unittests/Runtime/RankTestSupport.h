// What the tests of several ranks share.
#ifndef KILN_UNITTESTS_RUNTIME_RANKTESTSUPPORT_H
#define KILN_UNITTESTS_RUNTIME_RANKTESTSUPPORT_H

#include "TestSupport.h"
#include "kiln/runtime/ranks.h"

namespace kiln::test {

/// first, first + 1, ...
inline Tensor filled(std::vector<int64_t> extents, double first, DType type = DType::F32) {
  Tensor tensor = *Tensor::empty(type, extents);
  for (int64_t i = 0; i < tensor.numElements(); ++i)
    storeElement(type, static_cast<std::byte *>(tensor.data()) + i * sizeOf(type),
                 first + double(i));
  return tensor;
}

inline CollectiveTask taskOf(CollectiveKind kind, Tensor source, Tensor target, int64_t peer = -1) {
  CollectiveTask task;
  task.kind = kind;
  task.source = std::move(source);
  task.target = std::move(target);
  task.peer = peer;
  task.loc = {"ranks.mlir", 10 + static_cast<int>(kind), 1};
  return task;
}

} // namespace kiln::test

#endif // KILN_UNITTESTS_RUNTIME_RANKTESTSUPPORT_H
