#include "kiln/Platform/PlacedArguments.h"

#include <cstring>

namespace kiln {
namespace {

/// A tensor that calls write, and what it was at first.
struct Written {
  Tensor now, original;
};

class InHost final : public PlacedArguments {
public:
  InHost(std::vector<Argument> args, std::vector<Written> written)
      : Args(std::move(args)), All(std::move(written)) {}

  std::vector<CallArg> forCalls() const override {
    std::vector<CallArg> call;
    for (const Argument &arg : Args)
      if (auto *tensor = std::get_if<Tensor>(&arg))
        call.emplace_back(*tensor);
      else
        call.push_back(forCall(std::get<ScalarBits>(arg)));
    return call;
  }
  Status restore() override {
    for (const Written &each : All)
      if (each.now.numBytes() > 0)
        std::memcpy(each.now.data(), each.original.data(), each.now.numBytes());
    return Status::ok();
  }
  Expected<std::vector<Argument>> read() override { return Args; }

private:
  std::vector<Argument> Args;
  std::vector<Written> All;
};

} // namespace

CallArg PlacedArguments::forCall(const ScalarBits &scalar) {
  return isFloat(scalar.type) ? CallArg(scalar.asDouble()) : CallArg(scalar.asInt());
}

Expected<std::unique_ptr<PlacedArguments>> placeInHost(std::span<const Argument> args,
                                                       const std::vector<bool> &isWritten) {
  std::vector<Argument> placed(args.begin(), args.end());
  std::vector<Written> written;
  for (size_t index = 0; index < placed.size(); ++index) {
    if (!isWritten[index] || !std::holds_alternative<Tensor>(placed[index]))
      continue;
    const Argument twice[] = {placed[index], placed[index]};
    Expected<std::vector<Argument>> copies = copyArguments(twice);
    if (!copies)
      return copies.status();
    placed[index] = copies->front();
    written.push_back({std::get<Tensor>(copies->front()), std::get<Tensor>(copies->back())});
  }
  return std::unique_ptr<PlacedArguments>(
      std::make_unique<InHost>(std::move(placed), std::move(written)));
}

} // namespace kiln
