// Calls of programs for a GPU: where their tensors have to be, and on which stream they are
// launched. What is launched only writes that down, so no GPU is needed.
#include "JitTestSupport.h"

using namespace kiln;
using namespace kiln::test;

namespace {

struct Launch {
  int gpu = -1;
  void *stream = nullptr;
  void *data = nullptr;
};
std::vector<Launch> launches;

class RecordingProgram final : public LoadedProgram {
public:
  explicit RecordingProgram(NativeInfo info) : LoadedProgram(std::move(info)) {}
  Status call(std::span<const Tensor>, std::span<const ScalarBits>) const override {
    return Status(StatusCode::Internal, "called as if it ran on the CPU");
  }
  Status runRecorded(std::span<const Tensor>, std::span<const ScalarBits>, const NativeRunOptions &,
                     NativeRunReport *) const override {
    return Status(StatusCode::Internal, "recorded");
  }
  Status launchOn(const kiln_args &args, const GpuPlace &place) const override {
    launches.push_back({place.number, place.stream, args.tensors[0].data});
    return Status::ok();
  }
};

/// y = x, of two matrices.
class GpuSource final : public JitSource {
public:
  GpuSource() {
    About.name = "copy";
    About.tensors = {TensorParam::dynamic("x", DType::F32, 2, Direction::In),
                     TensorParam::dynamic("y", DType::F32, 2, Direction::Out)};
  }
  const std::string &program() const override { return Name; }
  const std::string &platform() const override { return Name; }
  const Signature &signature() const override { return About; }
  std::span<const ParamRef> parameters() const override { return Parameters; }
  const std::string &identity() const override { return Name; }
  FactSet reads() const override { return {Fact::Static}; }
  TensorMemory memory() const override { return TensorMemory::Gpu; }
  Expected<Artifact> compile(std::span<const TensorFacts>) const override {
    NativeInfo info;
    info.entry = {"copy", "copy", 0, About};
    info.parameters = Parameters;
    return Artifact{std::move(info), "code"};
  }
  Expected<std::shared_ptr<const LoadedProgram>> load(const NativeInfo &info,
                                                      std::string_view object) const override {
    EXPECT_EQ(object, "code");
    return std::shared_ptr<const LoadedProgram>(std::make_shared<RecordingProgram>(info));
  }

private:
  std::string Name = "copy";
  Signature About;
  std::vector<ParamRef> Parameters = {{true, 0}, {true, 1}};
};

void *at(uintptr_t address) { return reinterpret_cast<void *>(address); }
RawTensor matrix(uintptr_t address, int64_t rows, int64_t cols) {
  return RawTensor(at(address), DType::F32, {rows, cols});
}

TEST(GpuCall, IsLaunchedOnTheGpuOfItsTensorsAndTheCallersStream) {
  TestJit test;
  Compiled copy = test.jit.compile(std::make_shared<GpuSource>());
  launches.clear();
  EXPECT_OK(copy(matrix(0x1000, 4, 4).onGpu(1), matrix(0x2000, 4, 4).onGpu(1)));
  EXPECT_OK(copy.on(at(0x77), matrix(0x3000, 9, 5).onGpu(0), matrix(0x4000, 9, 5).onGpu(0)));
  ASSERT_EQ(launches.size(), 2u);
  EXPECT_EQ(launches[0].gpu, 1);
  EXPECT_EQ(launches[0].stream, nullptr);
  EXPECT_EQ(launches[1].gpu, 0);
  EXPECT_EQ(launches[1].stream, at(0x77));
  EXPECT_EQ(launches[1].data, at(0x3000));
  test.expectCounts(1, 1); // one artifact for all shapes and all GPUs
}

TEST(GpuCall, TensorsAreInTheMemoryOfOneGpu) {
  TestJit test;
  Compiled copy = test.jit.compile(std::make_shared<GpuSource>());
  launches.clear();
  expectError(copy(matrix(0x1000, 4, 4), matrix(0x2000, 4, 4).onGpu(0)),
              StatusCode::InvalidArgument, {"'x'", "host's memory", "runs on a GPU"});
  expectError(copy(matrix(0x1000, 4, 4).onGpu(0), matrix(0x2000, 4, 4).onGpu(2)),
              StatusCode::InvalidArgument, {"'y'", "GPU 2", "GPU 0"});
  expectError(copy.compile_only(matrix(0x1000, 4, 4), matrix(0x2000, 4, 4)),
              StatusCode::InvalidArgument, {"'x'", "host's memory"});
  EXPECT_TRUE(launches.empty());
}

TEST(GpuCall, OutputsAreCheckedAsOnTheCpu) {
  TestJit test;
  Compiled copy = test.jit.compile(std::make_shared<GpuSource>());
  expectError(copy(matrix(0x1000, 4, 4).onGpu(0), matrix(0x1010, 4, 4).onGpu(0)),
              StatusCode::InvalidArgument, {"'y'", "overlaps 'x'"});
}

TEST(GpuCall, DLPackSaysWhereATensorIs) {
  TestJit test;
  Compiled copy = test.jit.compile(std::make_shared<GpuSource>());
  launches.clear();
  int64_t shape[] = {4, 4};
  DLTensor x{at(0x1000), {kDLCUDA, 3}, 2, {kDLFloat, 32, 1}, shape, nullptr, 0};
  DLTensor y{at(0x2000), {kDLCUDA, 3}, 2, {kDLFloat, 32, 1}, shape, nullptr, 0};
  EXPECT_OK(copy(&x, &y));
  TensorAdaptor marked = take(TensorAdaptor::dlpack(x));
  EXPECT_EQ(marked.gpu(), 3);
  EXPECT_OK(copy(marked.mark_static(), &y));
  ASSERT_EQ(launches.size(), 2u);
  EXPECT_EQ(launches[0].gpu, 3);
  EXPECT_EQ(launches[1].gpu, 3);
}

} // namespace
