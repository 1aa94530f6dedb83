#include "GpuArguments.h"

#include "kiln/runtime/gpu_tensors.h"

namespace kiln {
namespace {

class OnGpu final : public PlacedArguments {
public:
  OnGpu(std::vector<Argument> args, std::unique_ptr<GpuTensors> tensors)
      : Args(std::move(args)), There(std::move(tensors)) {
    for (const Tensor &tensor : There->tensors())
      Adaptors.push_back(TensorAdaptor(tensor).onGpu(There->gpu()));
  }

  std::vector<CallArg> forCalls() const override {
    std::vector<CallArg> call;
    auto next = Adaptors.begin();
    for (const Argument &arg : Args)
      if (std::holds_alternative<Tensor>(arg))
        call.emplace_back(*next++);
      else
        call.push_back(forCall(std::get<ScalarBits>(arg)));
    return call;
  }
  Status wait() const override { return There->wait(); }
  Status restore() override { return There->restore(); }
  Expected<std::vector<Argument>> read() override {
    Expected<std::vector<Tensor>> tensors = There->read();
    if (!tensors)
      return tensors.status();
    std::vector<Argument> args = Args;
    auto next = tensors->begin();
    for (Argument &arg : args)
      if (std::holds_alternative<Tensor>(arg))
        arg = std::move(*next++);
    return args;
  }

private:
  std::vector<Argument> Args; ///< Its tensors only say where there is one.
  std::unique_ptr<GpuTensors> There;
  std::vector<TensorAdaptor> Adaptors;
};

} // namespace

Expected<std::unique_ptr<PlacedArguments>> placeOnGpu(std::span<const Argument> args,
                                                      const std::vector<bool> &isWritten) {
  std::vector<Tensor> tensors;
  std::vector<bool> areWritten;
  for (size_t index = 0; index < args.size(); ++index)
    if (auto *tensor = std::get_if<Tensor>(&args[index])) {
      tensors.push_back(*tensor);
      areWritten.push_back(isWritten[index]);
    }
  Expected<std::unique_ptr<GpuTensors>> there = GpuTensors::copy(tensors, areWritten);
  if (!there)
    return there.status();
  return std::unique_ptr<PlacedArguments>(
      std::make_unique<OnGpu>(std::vector<Argument>(args.begin(), args.end()), std::move(*there)));
}

} // namespace kiln
