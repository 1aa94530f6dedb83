#include "Plan.h"

#include "StreamArguments.h"

#include <algorithm>

using namespace kiln;
using namespace kiln::cuda;

/// What cuMemAllocAsync aligns to.
static constexpr uint64_t alignment = 256;
/// Stands for the beginning of the workspace while there is none.
static constexpr uintptr_t imagined = uintptr_t(1) << 40;

uint64_t WorkspaceLayout::take(uint64_t bytes) {
  uint64_t size = (std::max<uint64_t>(bytes, 1) + alignment - 1) / alignment * alignment, from = 0;
  for (auto [begin, end] : Taken) {
    if (begin - from >= size)
      break;
    from = end;
  }
  Taken.emplace(from, from + size);
  Bytes = std::max(Bytes, from + size);
  return from;
}

void WorkspaceLayout::give(uint64_t offset) { Taken.erase(offset); }

namespace {

/// Writes down what is launched. Fails, and says so, where the program asks for more.
class PlanningRun final : public OrchestrationRun {
public:
  PlanningRun(const PlannedProgram &program, std::span<const Tensor> given, Plan &plan)
      : OrchestrationRun(given), Program(program), Result(plan), Arguments(given) {}

  bool isUnknown() const { return IsUnknown; }
  uint64_t workspaceBytes() const { return Workspace->bytes(); }

protected:
  Expected<Tensor> alloc(DType dtype, Dims extents) override {
    Expected<RowMajor> layout = RowMajor::of(dtype, extents);
    if (!layout)
      return layout.status();
    if (layout->bytes >= imagined)
      return Status(StatusCode::OutOfMemory,
                    "a tensor " + toString(extents) + " is larger than any memory");
    uint64_t offset = Workspace->take(layout->bytes);
    // Its last tensor may outlive this run.
    std::shared_ptr<Buffer> memory =
        Buffer::wrap(reinterpret_cast<void *>(imagined + offset), layout->bytes,
                     [workspace = Workspace, offset] { workspace->give(offset); });
    return Tensor::view(memory, 0, dtype, extents, Dims(layout->strides.data(), extents.size()));
  }

  Expected<uint64_t> submit(const kiln_launch &launch) override {
    uint64_t number = Submitted++;
    if (launch.predicate)
      return unknown();
    if (launch.kernel < 0)
      return number;
    Status planned = plan(launch);
    return planned.isOk() ? Expected<uint64_t>(number) : planned;
  }

  Expected<uint64_t> get(kiln_handle, const int64_t *) override { return unknown(); }
  Expected<uint64_t> collect(const kiln_collective &) override { return unknown(); }
  Expected<int64_t> rank(const kiln_rank_group &, bool) override { return unknown(); }

private:
  Status unknown() {
    IsUnknown = true;
    return Status(StatusCode::Unsupported, "what is launched is not known in advance");
  }

  Plan::Place placeOf(const Tensor &given) const {
    for (uint32_t i = 0; i < Arguments.size(); ++i)
      if (given.buffer() == Arguments[i].buffer())
        return {i, given.byteOffset()};
    auto base = reinterpret_cast<uintptr_t>(given.buffer()->data());
    return {static_cast<uint32_t>(Arguments.size()), base - imagined + given.byteOffset()};
  }

  Status plan(const kiln_launch &launch) {
    auto number = static_cast<size_t>(launch.kernel);
    const LoadedKernel &kernel = Program.loaded[number];
    StreamArguments given(launch);
    std::vector<Plan::Place> places;
    for (const kiln_launch_tensor &arg : std::span(launch.tensors, launch.num_tensors)) {
      given.tensors.push_back(tensor(arg.tensor).toAbi());
      places.push_back(placeOf(tensor(arg.tensor)));
    }
    if (Status bad = given.verify(Program.kernels[number]); !bad.isOk())
      return bad;
    if (Status bad = verifyCounts(kernel.description, given.tensors.size(), given.scalars.size());
        !bad.isOk())
      return bad;
    Expected<unsigned> started = blocksToStart(Program.gpu, kernel, given.blocks);
    if (!started || *started == 0)
      return started.status();
    Plan::Launch &added =
        Result.launches.emplace_back(kernel, given.tensors, given.scalars, given.blocks, *started);
    for (size_t i = 0; i < places.size(); ++i)
      if (places[i].base < Arguments.size() && launch.tensors[i].direction != KILN_IN)
        Result.isWritten[places[i].base] = true;
    for (const CudaTensorMap &map : kernel.description.maps)
      if (map.isAhead && places[map.tensor].base < Arguments.size())
        Result.isReadAhead[places[map.tensor].base] = true;
    added.places = std::move(places);
    for (const kiln_launch_tensor &arg : std::span(launch.tensors, launch.num_tensors))
      added.writes.push_back(arg.direction != KILN_IN);
    return Status::ok();
  }

  const PlannedProgram &Program;
  Plan &Result;
  const std::span<const Tensor> Arguments;
  std::shared_ptr<WorkspaceLayout> Workspace = std::make_shared<WorkspaceLayout>();
  uint64_t Submitted = 0;
  bool IsUnknown = false;
};

/// A kernel that is called by itself gets the arguments as they are.
Status planKernel(const PlannedProgram &program, const kiln_args &args, Plan &plan) {
  const LoadedKernel &kernel = program.loaded.front();
  if (Status bad = verifyCounts(kernel.description, args.num_tensors, args.num_scalars);
      !bad.isOk())
    return bad;
  const int64_t one[3] = {1, 1, 1};
  Plan::Launch &added =
      plan.launches.emplace_back(kernel, std::span(args.tensors, args.num_tensors),
                                 std::span(args.scalars, args.num_scalars), one, 1);
  for (uint32_t i = 0; i < args.num_tensors; ++i)
    added.places.push_back({i, 0});
  plan.isWritten.assign(args.num_tensors, true); // as far as is known here
  return Status::ok();
}

/// Gives each kernel whose blocks count a word at the beginning of the workspace, and each task of
/// a persistent kernel a counter.
void placeArrivals(Plan &plan, size_t arguments) {
  for (Plan::Launch &launch : plan.launches)
    if (launch.counts) {
      launch.arrivals = plan.arrivalBytes;
      plan.arrivalBytes += sizeof(uint64_t);
    }
  if (plan.isPersistent() && plan.launches.size() > 1) {
    plan.counters = plan.arrivalBytes;
    plan.arrivalBytes += plan.launches.size() * sizeof(uint64_t);
  }
  uint64_t behind = (plan.arrivalBytes + alignment - 1) / alignment * alignment;
  plan.workspaceBytes += behind;
  for (Plan::Launch &launch : plan.launches)
    for (Plan::Place &place : launch.places)
      if (place.base == arguments)
        place.offset += behind;
}

} // namespace

Expected<std::unique_ptr<Plan>> Plan::make(const PlannedProgram &program, const kiln_args &args) {
  auto plan = std::make_unique<Plan>();
  plan->isWritten.resize(args.num_tensors);
  plan->isReadAhead.resize(args.num_tensors);
  if (!program.entry) {
    if (Status bad = planKernel(program, args, *plan); !bad.isOk())
      return bad;
  } else {
    Expected<std::vector<Tensor>> tensors = tensorsOf(args);
    if (!tensors)
      return tensors.status();
    PlanningRun run(program, *tensors, *plan);
    Status done = run.call(program.entry, std::span(args.scalars, args.num_scalars));
    if (run.isUnknown())
      return std::unique_ptr<Plan>();
    if (!done.isOk())
      return done;
    plan->workspaceBytes = run.workspaceBytes();
  }
  placeArrivals(*plan, args.num_tensors);
  return plan;
}
