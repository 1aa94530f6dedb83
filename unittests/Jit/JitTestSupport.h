//===- JitTestSupport.h - what all tests of the JIT share --------------------------------===//
#ifndef KILN_UNITTESTS_JIT_JITTESTSUPPORT_H
#define KILN_UNITTESTS_JIT_JITTESTSUPPORT_H

#include "TestSupport.h"
#include "kiln/Jit/Jit.h"

namespace kiln::test {

/// A Jit whose cache is in this directory, and who writes its log down.
struct TestJit {
  explicit TestJit(const std::string &directory = "", bool check = false,
                   const RecordOptions &record = {})
      : jit([&] {
          JitOptions options;
          options.cache = {};
          options.cache.directory = directory;
          options.check = check;
          options.record = record;
          options.log = [this](const std::string &line) { log.push_back(line); };
          return options;
        }()) {}

  void expectCounts(uint64_t compiles, uint64_t callStates, int line = __builtin_LINE()) const {
    EXPECT_EQ(jit.counters().compiles, compiles) << "line " << line;
    EXPECT_EQ(jit.counters().callStates, callStates) << "line " << line;
  }

  std::vector<std::string> log;
  Jit jit;
};

/// Small integers: sums of products are exact in any order.
inline Tensor randomTensor(Dims extents, unsigned seed) {
  Tensor tensor = take(Tensor::empty(DType::F32, extents));
  uint64_t state = seed * 2654435761u + 1;
  for (int64_t i = 0; i < tensor.numElements(); ++i) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    tensor.dataAs<float>()[i] = float(int64_t(state >> 60) - 8);
  }
  return tensor;
}

/// Whether c = a @ b, however the three lie in memory.
inline bool isProduct(const Tensor &a, const Tensor &b, const Tensor &c) {
  auto at = [](const Tensor &t, int64_t i, int64_t j) {
    return t.dataAs<float>()[i * t.stride(0) + j * t.stride(1)];
  };
  for (int64_t i = 0; i < c.extent(0); ++i)
    for (int64_t j = 0; j < c.extent(1); ++j) {
      float sum = 0;
      for (int64_t k = 0; k < a.extent(1); ++k)
        sum += at(a, i, k) * at(b, k, j);
      if (!(at(c, i, j) == sum))
        return false;
    }
  return true;
}

/// Of a matmul, with a result that is wrong until it is computed.
struct Operands {
  Tensor a, b, c;
  explicit Operands(int64_t m, int64_t k = 64, int64_t n = 32)
      : a(randomTensor({m, k}, unsigned(m))), b(randomTensor({k, n}, 7)),
        c(take(Tensor::empty(DType::F32, {m, n}))) {
    EXPECT_OK(c.fillPoison());
  }
  bool isRight() const { return isProduct(a, b, c); }
};

/// A tensor as DLPack has it; the two lists are to outlive it.
inline DLTensor dlOf(const Tensor &t, int64_t *shape, int64_t *strides) {
  std::copy(t.extents().begin(), t.extents().end(), shape);
  std::copy(t.strides().begin(), t.strides().end(), strides);
  return {t.data(), {kDLCPU, 0}, t.rank(), {kDLFloat, 32, 1}, shape, strides, 0};
}

} // namespace kiln::test

#endif // KILN_UNITTESTS_JIT_JITTESTSUPPORT_H
