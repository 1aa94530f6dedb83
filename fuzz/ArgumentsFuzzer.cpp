//===- ArgumentsFuzzer.cpp - fuzzes what --arg takes ---------------------------------===//
//
// The input is the text after `name=`, for tensors and numbers of every type.
//
//===----------------------------------------------------------------------------===//
#include "Target.h"
#include "kiln/runtime/arguments.h"

using namespace kiln;
using fuzz::report;

/// Elements that the shape asks for, or so; as many as there can be if they cannot be counted.
static uint64_t elementsOf(std::string_view text) {
  uint64_t product = 1, number = 0;
  bool overflows = false;
  for (char c : text.substr(0, text.find(':'))) {
    if (c >= '0' && c <= '9') {
      overflows |= __builtin_mul_overflow(number, uint64_t{10}, &number) ||
                   __builtin_add_overflow(number, uint64_t(c - '0'), &number);
      continue;
    }
    overflows |= __builtin_mul_overflow(product, number, &product);
    number = 0;
  }
  overflows |= __builtin_mul_overflow(product, number, &product);
  return overflows ? UINT64_MAX : product;
}

static void makeTensor(const TensorParam &param, const std::string &text) {
  Expected<Tensor> tensor = makeTensorArgument(param, text, /*seed=*/1);
  if (!tensor) {
    if (tensor.status().message().find("'x'") == std::string::npos)
      report("an argument was refused without naming it", text);
    return;
  }
  if (!tensor->validate().isOk() || tensor->dtype() != param.dtype ||
      tensor->rank() != param.rank())
    report("an argument was made that does not fit", text);
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  std::string text(reinterpret_cast<const char *>(data), size);
  for (int number = 0; number < KILN_NUM_DTYPES; ++number)
    if (Expected<ScalarBits> scalar = makeScalarArgument({"x", DType(number)}, text);
        !scalar && scalar.status().message().find("'x'") == std::string::npos)
      report("a number was refused without naming it", text);
  // Files have a fuzzer of their own, and what takes long to fill is no news.
  uint64_t elements = elementsOf(text);
  if (text.starts_with("file:") || (elements > 10'000 && elements < uint64_t{1} << 50))
    return 0;
  for (DType dtype : {DType::F32, DType::BF16, DType::I1, DType::I64})
    for (int rank : {1, 2, 5})
      makeTensor(TensorParam::dynamic("x", dtype, rank, Direction::InOut), text);
  TensorParam fixed = TensorParam::dynamic("x", DType::I8, 2, Direction::Out);
  fixed.extents = {4, dynamicExtent};
  makeTensor(fixed, text);
  return 0;
}
