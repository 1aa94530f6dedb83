#include "kiln/runtime/compiled_orchestration.h"

#include "kiln/runtime/dump_marks.h"
#include "kiln/runtime/native_program.h"
#include "kiln/runtime/ranks.h"

#include "abi/OrchestrationRun.h"

namespace kiln {
namespace {

class EngineRun final : public OrchestrationRun {
public:
  EngineRun(Engine &engine, std::span<const KernelRecord *const> kernels,
            std::span<const Tensor> given)
      : OrchestrationRun(given), Tasks(engine), Kernels(kernels) {}
  ~EngineRun() override {
    for (; OpenScopes > 0; --OpenScopes) // of an orchestration that failed
      (void)Tasks.endScope();
  }

protected:
  Expected<Tensor> alloc(DType dtype, Dims extents) override { return Tasks.alloc(dtype, extents); }

  Expected<uint64_t> submit(const kiln_launch &launch) override {
    Expected<TaskId> id = Tasks.submit(taskOf(launch));
    if (!id)
      return id.status();
    Number = id->run;
    return id->index;
  }

  Expected<uint64_t> get(kiln_handle handle, const int64_t *indices) override {
    Expected<ScalarBits> value = Tasks.get(tensor(handle), perAxis(handle, indices));
    return value ? Expected<uint64_t>(value->bits) : value.status();
  }

  Expected<uint64_t> collect(const kiln_collective &given) override {
    CollectiveTask task = OrchestrationRun::taskOf(given, Number);
    task.isMarked = (!task.source.isNull() && Marked.contains(task.source)) ||
                    (!task.target.isNull() && Marked.contains(task.target));
    Expected<TaskId> id = Tasks.submit(task);
    if (!id)
      return id.status();
    Number = id->run;
    return id->index;
  }

  Expected<int64_t> rank(const kiln_rank_group &group, bool wantsCount) override {
    Transport &all = Tasks.ranks();
    Expected<RankLine> line = groupOf(group).lineOf(all.rank(), all.ranks());
    if (!line)
      return line.status();
    return int64_t{wantsCount ? line->count : line->placeOf(all.rank())};
  }

  void mark(const Tensor &tensor) override { Marked.add(tensor); }

  void beginScope(bool isManual) override {
    ++OpenScopes;
    Tasks.beginScope(isManual);
  }

  Status endScope() override {
    --OpenScopes;
    return Tasks.endScope();
  }

private:
  Task taskOf(const kiln_launch &launch) const {
    Task task = launch.kernel < 0 ? Task() : Task(*Kernels[launch.kernel]);
    for (const kiln_launch_tensor &arg : std::span(launch.tensors, launch.num_tensors)) {
      const Tensor &given = tensor(arg.tensor);
      bool isMarked = arg.is_marked || Marked.contains(given);
      task.addTensor(given, static_cast<Direction>(arg.direction), isMarked);
    }
    for (const kiln_launch_scalar &arg : std::span(launch.scalars, launch.num_scalars))
      task.addScalar(arg.bits, static_cast<DType>(arg.dtype));
    for (uint64_t dep : std::span(launch.deps, launch.num_deps))
      task.after({dep, Number});
    if (const kiln_launch_predicate *predicate = launch.predicate) {
      Dims indices = perAxis(predicate->tensor, predicate->indices);
      task.when({tensor(predicate->tensor),
                 {indices.begin(), indices.end()},
                 static_cast<Compare>(predicate->compare),
                 ScalarBits::fromInt(DType::I64, predicate->constant)});
    }
    if (launch.grid_rank != 0)
      task.grid(Dims(launch.grid, launch.grid_rank));
    if (launch.source && launch.source->file)
      task.at(launch.source->file, launch.source->line, launch.source->col);
    task.syncStart(launch.sync_start != 0);
    return task;
  }

  Engine &Tasks;
  std::span<const KernelRecord *const> Kernels;
  DumpMarks Marked;
  uint64_t Number = 0; // the engine's, of the tasks submitted
  int OpenScopes = 0;
};

} // namespace

Status runOrchestration(Engine &engine, kiln_orchestration_fn entry,
                        std::span<const KernelRecord *const> kernels,
                        std::span<const Tensor> tensors, std::span<const ScalarBits> scalars) {
  for (size_t i = 0; i < kernels.size(); ++i)
    if (!kernels[i])
      return Status(StatusCode::NotFound, "kernel " + std::to_string(i) + " is not registered");
  Status ended = EngineRun(engine, kernels, tensors).call(entry, scalars);
  if (!ended.isOk()) // nobody is to wait for what this rank will not come to
    engine.ranks().fail(ended);
  return ended;
}

Status finishRun(Engine &engine, Status started, NativeRunReport *report) {
  Status finished = engine.finish();
  if (report) {
    report->trace = engine.trace();
    report->timeline = engine.timeline();
    report->failure = engine.lastFailure();
  }
  return started.isOk() ? finished : started;
}

} // namespace kiln
