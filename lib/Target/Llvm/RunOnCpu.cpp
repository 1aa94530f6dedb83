// A run from end to end: the code is described as one program, loaded and run.
#include "kiln/Target/Llvm/Llvm.h"

#include "kiln/Program/Signature.h"

using namespace mlir;

namespace kiln {

Status runOnCpu(const CpuModule &code, ir::FuncOp entry, std::span<const Argument> args,
                const CpuRunOptions &options, CpuRunReport *report) {
  if (Status bad = checkArguments(entry, args); !bad.isOk())
    return bad;
  Expected<NativeInfo> info =
      describeNative(entry->getParentOfType<ModuleOp>(), entry.getSymName().str(), code.contents());
  if (!info)
    return info.status();
  Expected<std::shared_ptr<const NativeProgram>> program =
      NativeProgram::load(code.image(), std::move(*info));
  if (!program)
    return program.status();
  NativeRunOptions run;
  run.run = {options.program, options.platform, options.dump, report && options.recordTimeline};
  if (options.seed != 0)
    run.seed = options.seed;
  run.workers = options.workers;
  run.location = sourceLocOf(entry.getLoc());
  TaskArguments ordered = inTaskOrder(entry, args);
  return (*program)->runRecorded(ordered.tensors, ordered.scalars, run, report);
}

} // namespace kiln
