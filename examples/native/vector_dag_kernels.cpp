// Kernels written by hand in C++ under an orchestration that Kiln emitted:
// examples/vector_dag.mlir, whose kernels are `add`, `add_scalar` and `mul`, without the compiler
// at run time.
//
// The build runs `kiln emit vector_dag.mlir --target orchestration` and compiles what it prints
// beside this file; here are the kernels behind the ABI of kiln/abi.h, their signatures, and a main
// that runs the graph on the CPU and checks it.
#include "kiln/runtime/orchestration.h"

#include <cstdio>

using namespace kiln;

extern "C" orch::Entry orchestrate_vector_dag_main;

namespace {

constexpr int64_t kBlock = 64; // rows and columns of a block, as in the orchestration's grid

float &element(const kiln_tensor &tensor, int64_t row, int64_t col) {
  return static_cast<float *>(tensor.data)[row * tensor.strides[0] + col * tensor.strides[1]];
}

/// Calls `visit(row, col)` for the elements of `tensor` in a rectangle of blocks.
template <typename Visit>
void forEach(const kiln_tensor &tensor, const kiln_blocks &range, Visit visit) {
  int64_t rows = std::min(range.end[0] * kBlock, tensor.extents[0]);
  int64_t cols = std::min(range.end[1] * kBlock, tensor.extents[1]);
  for (int64_t row = range.begin[0] * kBlock; row < rows; ++row)
    for (int64_t col = range.begin[1] * kBlock; col < cols; ++col)
      visit(row, col);
}

int32_t add(const kiln_args *args, const kiln_blocks *range, kiln_context *) {
  const kiln_tensor &x = args->tensors[0], &y = args->tensors[1], &z = args->tensors[2];
  forEach(z, *range,
          [&](int64_t r, int64_t c) { element(z, r, c) = element(x, r, c) + element(y, r, c); });
  return KILN_OK;
}

int32_t mul(const kiln_args *args, const kiln_blocks *range, kiln_context *) {
  const kiln_tensor &x = args->tensors[0], &y = args->tensors[1], &z = args->tensors[2];
  forEach(z, *range,
          [&](int64_t r, int64_t c) { element(z, r, c) = element(x, r, c) * element(y, r, c); });
  return KILN_OK;
}

int32_t addScalar(const kiln_args *args, const kiln_blocks *range, kiln_context *) {
  const kiln_tensor &x = args->tensors[0], &z = args->tensors[1];
  auto s = static_cast<float>(ScalarBits{args->scalars[0], DType::F32}.asDouble());
  forEach(z, *range, [&](int64_t r, int64_t c) { element(z, r, c) = element(x, r, c) + s; });
  return KILN_OK;
}

Status addKernels(KernelRegistry &registry) {
  auto in = [](const char *name) {
    return TensorParam::dynamic(name, DType::F32, 2, Direction::In);
  };
  TensorParam z = TensorParam::dynamic("z", DType::F32, 2, Direction::Out);
  Signature binary{"add", "cpu", {in("x"), in("y"), z}, {}};
  KernelRecord records[3];
  records[0].function = add;
  records[0].signature = binary;
  records[1].function = addScalar;
  records[1].signature = Signature{"add_scalar", "cpu", {in("x"), z}, {{"s", DType::F32}}};
  records[2].function = mul;
  records[2].signature = binary;
  records[2].signature->name = "mul";
  for (KernelRecord &record : records) {
    record.name = record.signature->name;
    if (Expected<int32_t> id = registry.add(std::move(record)); !id)
      return id.status();
  }
  return Status::ok();
}

Status run() {
  constexpr int64_t rows = 150, cols = 90;
  KernelRegistry registry;
  if (Status bad = addKernels(registry); !bad.isOk())
    return bad;
  Expected<std::unique_ptr<Engine>> engine = Engine::create(registry);
  if (!engine)
    return engine.status();
  std::vector<Tensor> tensors;
  for (int i = 0; i < 3; ++i) {
    Expected<Tensor> tensor = Tensor::empty(DType::F32, {rows, cols});
    if (!tensor)
      return tensor.status();
    if (Status bad = tensor->fillPoison(); !bad.isOk())
      return bad;
    tensors.push_back(*tensor);
  }
  for (int64_t i = 0; i < rows * cols; ++i) {
    tensors[0].dataAs<float>()[i] = static_cast<float>(i % 17) - 8;
    tensors[1].dataAs<float>()[i] = static_cast<float>(i % 5);
  }
  Status launched;
  orchestrate_vector_dag_main(**engine, {tensors, {}}, launched);
  Status finished = (*engine)->finish();
  if (!launched.isOk() || !finished.isOk())
    return launched.isOk() ? finished : launched;
  for (int64_t i = 0; i < rows * cols; ++i) {
    float sum = tensors[0].dataAs<float>()[i] + tensors[1].dataAs<float>()[i];
    float want = (sum + 1) * (sum + 2) + sum;
    if (float have = tensors[2].dataAs<float>()[i]; !(have == want)) // small integers: exact
      return Status(StatusCode::KernelFailed, "element " + std::to_string(i) + " is " +
                                                  std::to_string(have) + ", expected " +
                                                  std::to_string(want));
  }
  std::printf("%zu tasks by hand-written kernels\nPASS\n", (*engine)->trace().tasks.size());
  return Status::ok();
}

} // namespace

int main() {
  Status status = run();
  if (!status.isOk())
    std::fprintf(stderr, "%s\n", status.str().c_str());
  return status.isOk() ? 0 : 1;
}
