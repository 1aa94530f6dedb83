#include "kiln/Platform/PlacedArguments.h"

namespace kiln {
namespace {

class InHost final : public PlacedArguments {
public:
  explicit InHost(std::vector<Argument> args) : Args(std::move(args)) {}

  std::vector<CallArg> forCalls() const override {
    std::vector<CallArg> call;
    for (const Argument &arg : Args)
      if (auto *tensor = std::get_if<Tensor>(&arg))
        call.emplace_back(*tensor);
      else
        call.push_back(forCall(std::get<ScalarBits>(arg)));
    return call;
  }
  Expected<std::vector<Argument>> read() const override { return Args; }

private:
  std::vector<Argument> Args;
};

} // namespace

CallArg PlacedArguments::forCall(const ScalarBits &scalar) {
  return isFloat(scalar.type) ? CallArg(scalar.asDouble()) : CallArg(scalar.asInt());
}

Expected<std::unique_ptr<PlacedArguments>> placeInHost(std::span<const Argument> args) {
  Expected<std::vector<Argument>> copies = copyArguments(args);
  if (!copies)
    return copies.status();
  return std::unique_ptr<PlacedArguments>(std::make_unique<InHost>(std::move(*copies)));
}

} // namespace kiln
