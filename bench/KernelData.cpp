#include "KernelData.h"

#include "Measure.h"

#include <cmath>
#include <cstring>
#include <random>

using namespace kiln;

/// A table of numbers, begun at another place in each row, is as random as is needed here, and
/// quick.
Tensor kiln::bench::randomTensor(DType type, Dims extents, unsigned seed, double scale) {
  constexpr int64_t tableSize = 65521; // a prime: rows begin everywhere
  Tensor table = take(Tensor::empty(type, {tableSize}));
  std::mt19937 generator(seed);
  std::normal_distribution<float> normal;
  int64_t size = sizeOf(type);
  for (int64_t i = 0; i < tableSize; ++i) {
    double value = isFloat(type) ? scale * normal(generator) : std::round(30 * normal(generator));
    storeElement(type, table.dataAs<std::byte>() + i * size, value);
  }
  Tensor tensor = take(Tensor::empty(type, extents));
  for (int64_t done = 0; done < tensor.numElements();) {
    int64_t from = int64_t(generator() % tableSize);
    int64_t count = std::min(tableSize - from, tensor.numElements() - done);
    std::memcpy(tensor.dataAs<std::byte>() + done * size, table.dataAs<std::byte>() + from * size,
                size_t(count * size));
    done += count;
  }
  return tensor;
}

Tensor kiln::bench::poisonedTensor(Dims extents, DType type) {
  Tensor tensor = take(Tensor::empty(type, extents));
  must(tensor.fillPoison());
  return tensor;
}

double kiln::bench::at(const Tensor &tensor, int64_t i) {
  return loadElement(tensor.dtype(), tensor.dataAs<std::byte>() + i * sizeOf(tensor.dtype()));
}

bool kiln::bench::isNear(double have, double want, double tolerance) {
  return std::abs(have - want) <= tolerance * (1 + std::abs(want));
}
