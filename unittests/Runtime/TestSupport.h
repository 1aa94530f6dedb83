//===- TestSupport.h - helpers shared by the runtime's tests -------------===//
//
// What: unwrapping Expecteds, temporary directories, tensors from values, and a few kernels.
//   Tests only.
//
//===---------------------------------------------------------------------===//
#ifndef KILN_UNITTESTS_RUNTIME_TESTSUPPORT_H
#define KILN_UNITTESTS_RUNTIME_TESTSUPPORT_H

#include "kiln/runtime/engine.h"

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <sstream>
#include <sys/wait.h>
#include <unistd.h>

namespace kiln::test {

/// The value, or a fatal message: tests never go on with half a result.
template <typename T>
T take(Expected<T> value, const char *file = __builtin_FILE(), int line = __builtin_LINE()) {
  if (!value) {
    std::fprintf(stderr, "%s:%d: %s\n", file, line, value.status().str().c_str());
    std::abort();
  }
  return std::move(*value);
}

#define EXPECT_OK(expr)                                                                            \
  do {                                                                                             \
    ::kiln::Status status_ = (expr);                                                               \
    EXPECT_TRUE(status_.isOk()) << status_.str();                                                  \
  } while (false)

inline bool contains(const std::string &text, const std::string &part) {
  return text.find(part) != std::string::npos;
}

/// Fails with this code, and says all of these words.
inline void expectError(const Status &status, StatusCode code,
                        std::initializer_list<const char *> words, int line = __builtin_LINE()) {
  EXPECT_EQ(toString(status.code()), std::string(toString(code)))
      << "line " << line << ": " << status.str();
  for (const char *word : words)
    EXPECT_TRUE(contains(status.message(), word))
        << "line " << line << ": '" << word << "' not in: " << status.str();
}

class TempDir {
public:
  TempDir() {
    std::string pattern = (std::filesystem::temp_directory_path() / "kilntestXXXXXX").string();
    Path = mkdtemp(pattern.data());
  }
  ~TempDir() {
    std::error_code ignored;
    std::filesystem::remove_all(Path, ignored);
  }
  std::string operator/(const std::string &name) const { return Path + "/" + name; }
  const std::string &str() const { return Path; }

private:
  std::string Path;
};

inline void writeText(const std::string &path, const std::string &text) {
  std::ofstream(path, std::ios::binary) << text;
}
inline std::string readText(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

/// A process that there was.
inline pid_t deadProcess() {
  pid_t child = fork();
  if (child == 0)
    _exit(0);
  waitpid(child, nullptr, 0);
  return child;
}

inline Tensor tensorOf(DType dtype, Dims extents, const std::vector<double> &values) {
  Tensor tensor = take(Tensor::empty(dtype, extents));
  auto *data = tensor.dataAs<std::byte>();
  for (int64_t i = 0; i < tensor.numElements(); ++i)
    storeElement(dtype, data + i * sizeOf(dtype), values[static_cast<size_t>(i) % values.size()]);
  return tensor;
}
inline Tensor zeros(DType dtype, Dims extents) { return tensorOf(dtype, extents, {0.0}); }

inline std::vector<double> valuesOf(const Tensor &tensor) {
  std::vector<std::byte> bytes = take(tensor.gatherBytes());
  std::vector<double> values;
  for (int64_t i = 0; i < tensor.numElements(); ++i)
    values.push_back(loadElement(tensor.dtype(), bytes.data() + i * sizeOf(tensor.dtype())));
  return values;
}

/// Calls `body(double &element, indices)` for each element of an f32 kernel tensor of rank 1 or 2.
template <typename Body> void forEach(const kiln_tensor &t, Body body) {
  for (int64_t i = 0; i < t.extents[0]; ++i)
    for (int64_t j = 0; j < t.extents[1]; ++j)
      body(static_cast<float *>(t.data)[i * t.strides[0] + j * t.strides[1]], i, j);
}

inline float &elementAt(const kiln_tensor &t, int64_t i, int64_t j = 0) {
  return static_cast<float *>(t.data)[i * t.strides[0] + j * t.strides[1]];
}

inline float f32Scalar(const kiln_args *args, size_t index) {
  float value;
  std::memcpy(&value, &args->scalars[index], sizeof(value));
  return value;
}

/// out = scalar
inline int32_t fillKernel(const kiln_args *args, const kiln_blocks *, kiln_context *) {
  forEach(args->tensors[0], [&](float &x, int64_t, int64_t) { x = f32Scalar(args, 0); });
  return 0;
}
/// out = in
inline int32_t copyKernel(const kiln_args *args, const kiln_blocks *, kiln_context *) {
  forEach(args->tensors[1],
          [&](float &x, int64_t i, int64_t j) { x = elementAt(args->tensors[0], i, j); });
  return 0;
}
/// inout = inout * 2 + scalar: does not commute, so order shows
inline int32_t mixKernel(const kiln_args *args, const kiln_blocks *, kiln_context *) {
  forEach(args->tensors[0], [&](float &x, int64_t, int64_t) { x = x * 2 + f32Scalar(args, 0); });
  return 0;
}

inline void addKernel(KernelRegistry &registry, const char *name, kiln_kernel_fn function,
                      std::vector<TensorParam> tensors, std::vector<ScalarParam> scalars = {}) {
  KernelRecord record;
  record.name = name;
  record.function = function;
  record.signature = Signature{name, "cpu", std::move(tensors), std::move(scalars)};
  take(registry.add(std::move(record)));
}

inline TensorParam param(const char *name, Direction direction, int rank = 2,
                         DType dtype = DType::F32) {
  return TensorParam::dynamic(name, dtype, rank, direction);
}

/// fill2/copy2/mix2 on matrices, fill1/copy1/mix1 on vectors.
inline void addBasicKernels(KernelRegistry &registry) {
  for (int rank : {1, 2}) {
    std::string suffix = std::to_string(rank);
    addKernel(registry, ("fill" + suffix).c_str(), fillKernel, {param("out", Direction::Out, rank)},
              {{"value", DType::F32}});
    addKernel(registry, ("copy" + suffix).c_str(), copyKernel,
              {param("x", Direction::In, rank), param("y", Direction::Out, rank)});
    addKernel(registry, ("mix" + suffix).c_str(), mixKernel, {param("acc", Direction::InOut, rank)},
              {{"value", DType::F32}});
  }
}

inline std::unique_ptr<Engine> makeEngine(const KernelRegistry &registry, uint64_t seed = 0,
                                          EngineOptions options = {}) {
  options.seed = seed;
  return take(Engine::create(registry, options));
}

inline Task fill(const Tensor &out, float value) {
  return Task("fill" + std::to_string(out.rank())).addOutput(out).addF32(value);
}
inline Task copy(const Tensor &x, const Tensor &y) {
  return Task("copy" + std::to_string(x.rank())).addInput(x).addOutput(y);
}
inline Task mix(const Tensor &acc, float value) {
  return Task("mix" + std::to_string(acc.rank())).addInout(acc).addF32(value);
}

/// KILN_PYTHON, else python3.
inline std::string python() {
  const char *named = std::getenv("KILN_PYTHON");
  return named && *named ? named : "python3";
}

} // namespace kiln::test

#endif // KILN_UNITTESTS_RUNTIME_TESTSUPPORT_H
