//===- CBackend.h - a backend for tests: facts to C to a shared object -------------------===//
//
// What: stands in for the real compiler. It bakes the facts it is given into C as constants, the
// way
//   a compiler would, and nothing else; so a fact that is missing from a key, or an offset that
//   does not fit, shows as a wrong result. Tests only; needs a C compiler (KILN_TEST_CC).
//
//===----------------------------------------------------------------------------===//
#ifndef KILN_UNITTESTS_JIT_CBACKEND_H
#define KILN_UNITTESTS_JIT_CBACKEND_H

#include "JitTestSupport.h"

#include <atomic>
#include <fcntl.h>
#include <unistd.h>

namespace kiln::test {

/// A kernel in C. `EXTENT(t, d)`, `AT(t, i, j)` and `SCALAR(i)` refer to tensors by number;
/// `Element` is float, and `Offset` the type that byte offsets are computed in.
struct CKernel {
  Signature signature;
  std::string body;
  uint64_t workspaceBytes = 0;
};

/// c = a @ b
inline CKernel matmulKernel() {
  CKernel kernel;
  kernel.signature = {"matmul",
                      "cpu",
                      {TensorParam::dynamic("a", DType::F32, 2, Direction::In),
                       TensorParam::dynamic("b", DType::F32, 2, Direction::In),
                       TensorParam::dynamic("c", DType::F32, 2, Direction::Out)},
                      {}};
  kernel.body = R"(
    for (int64_t i = 0; i < EXTENT(2, 0); ++i)
      for (int64_t j = 0; j < EXTENT(2, 1); ++j) {
        Element sum = 0;
        for (int64_t k = 0; k < EXTENT(0, 1); ++k)
          sum += *AT(0, i, k) * *AT(1, k, j);
        *AT(2, i, j) = sum;
      })";
  return kernel;
}

/// x[i][j] = value
inline CKernel pokeKernel() {
  CKernel kernel;
  kernel.signature = {"poke",
                      "cpu",
                      {TensorParam::dynamic("x", DType::F32, 2, Direction::InOut)},
                      {{"i", DType::Index}, {"j", DType::Index}, {"value", DType::F32}}};
  kernel.body = R"(
    union { uint32_t bits; float number; } value = {(uint32_t)SCALAR(2)};
    *AT(0, (int64_t)SCALAR(0), (int64_t)SCALAR(1)) = value.number;)";
  return kernel;
}

class CBackend : public JitSource {
public:
  explicit CBackend(CKernel kernel, std::string identity = "program test\nplatform c\n")
      : Kernel(std::move(kernel)), Identity(std::move(identity)) {
    for (size_t i = 0; i < Kernel.signature.tensors.size(); ++i)
      Order.push_back({true, static_cast<uint16_t>(i)});
    for (size_t i = 0; i < Kernel.signature.scalars.size(); ++i)
      Order.push_back({false, static_cast<uint16_t>(i)});
  }

  const std::string &program() const override { return Kernel.signature.name; }
  const std::string &platform() const override { return Platform; }
  const Signature &signature() const override { return Kernel.signature; }
  std::span<const ParamRef> parameters() const override { return Order; }
  const std::string &identity() const override { return Identity; }
  FactSet reads() const override { return declared; }

  Expected<Artifact> compile(std::span<const TensorFacts> facts) const override {
    ++compiles;
    if (!journal.empty()) { // counts compiles across processes
      int fd = ::open(journal.c_str(), O_WRONLY | O_APPEND | O_CREAT, 0600);
      (void)!::write(fd, "compiled\n", 9);
      ::close(fd);
    }
    if (fails)
      return Status(StatusCode::Unsupported, "this program cannot be compiled");
    lastFacts.assign(facts.begin(), facts.end());
    TempDir folder;
    writeText(folder / "k.c", render(facts));
    const std::string &name = Kernel.signature.name;
    NativeInfo info{
        NativeInfo::Kind::Kernel, {name, name, Kernel.workspaceBytes, Kernel.signature}, Order, {}};
    LinkedSymbol description = descriptionSymbol(info);
    std::string command =
        std::string(KILN_TEST_CC " -O1 -w -shared -nostdlib -fPIC -I" KILN_SOURCE_DIR
                                 "/include -Wl,--defsym=") +
        description.name + "=" + std::to_string(description.value) + " -o " + (folder / "k.so") +
        " " + (folder / "k.c");
    if (std::system(command.c_str()) != 0)
      return Status(StatusCode::Internal, "the C compiler failed");
    return Artifact{std::move(info), readText(folder / "k.so")};
  }

  std::vector<ParamRef> Order;
  mutable std::atomic<int> compiles{0};
  mutable std::vector<TensorFacts> lastFacts;
  std::string journal;
  bool fails = false;
  FactSet declared = FactSet::all();

private:
  std::string render(std::span<const TensorFacts> facts) const {
    std::string text = "#include \"kiln/abi.h\"\ntypedef float Element;\n"
                       "#define SCALAR(i) args->scalars[i]\n"
                       "#define EXTENT(t, d) EXTENT_##t##_##d\n"
                       "#define AT(t, i, j) ((Element *)((char *)args->tensors[t].data + "
                       "((Offset_##t)(i) * (Offset_##t)(STRIDE_##t##_0) + "
                       "(Offset_##t)(j) * (Offset_##t)(STRIDE_##t##_1)) * "
                       "(Offset_##t)sizeof(Element)))\n";
    for (size_t t = 0; t < facts.size(); ++t) {
      std::string number = std::to_string(t), tensor = "args->tensors[" + number + "]";
      text += std::string("typedef ") + (facts[t].use32bit ? "int32_t" : "int64_t") + " Offset_" +
              number + ";\n";
      for (int axis = 0; axis < 2; ++axis) {
        std::string at = number + "_" + std::to_string(axis), index = std::to_string(axis);
        bool isLeading = facts[t].leadingDim == axis;
        text += "#define EXTENT_" + at + " " +
                (facts[t].extents[axis] ? std::to_string(*facts[t].extents[axis]) + "LL"
                                        : tensor + ".extents[" + index + "]") +
                "\n#define STRIDE_" + at + " " +
                (isLeading                ? std::string("1")
                 : facts[t].strides[axis] ? std::to_string(*facts[t].strides[axis]) + "LL"
                                          : tensor + ".strides[" + index + "]") +
                "\n";
      }
    }
    return text + "int32_t " + Kernel.signature.name +
           "(const kiln_args *args, const kiln_blocks *range, kiln_context *ctx) {" + Kernel.body +
           "\n  return 0;\n}\n";
  }

  CKernel Kernel;
  std::string Identity, Platform = "c";
};

} // namespace kiln::test

#endif // KILN_UNITTESTS_JIT_CBACKEND_H
