#include "CallPath.h"

#include "CallErrors.h"
#include "CallRecorder.h"
#include "ReadTensor.h"
#include "abi/CBoundary.h"
#include "engine/Region.h"

#include "kiln/runtime/interrupt.h"

#include <alloca.h>
#include <cstdlib>

namespace kiln {

//===----------------------------------------------------------------------===//
// States
//===----------------------------------------------------------------------===//

CallStates::~CallStates() {
  for (Bucket &bucket : Buckets)
    for (CallState *state = bucket.load(); state;)
      delete std::exchange(state, state->next);
}

const CallState *CallStates::add(std::unique_ptr<CallState> state, bool &isNew) {
  std::lock_guard lock(Adding);
  const CallState *known = find(state->words);
  isNew = !known;
  if (known)
    return known;
  auto &head = const_cast<Bucket &>(bucket(state->words));
  state->next = head.load(std::memory_order_relaxed);
  head.store(state.get(), std::memory_order_release);
  return state.release();
}

Compiled::Impl::Impl(std::shared_ptr<const JitSource> source, std::shared_ptr<ArtifactCache> cache,
                     std::shared_ptr<CallRecorder> recorder, bool check, Status environment)
    : Source(std::move(source)), Cache(std::move(cache)), Recorder(std::move(recorder)),
      Check(check), OnGpu(Source->memory() == TensorMemory::Gpu),
      Environment(std::move(environment)) {
  const Signature &signature = Source->signature();
  NumTensors = uint32_t(signature.tensors.size());
  NumScalars = uint32_t(signature.scalars.size());
  HasRequirements = !signature.requirements.empty();
  BlockBytes =
      NumTensors * (sizeof(kiln_tensor) + sizeof(ByteRange) + maxFactWords * sizeof(uint64_t)) +
      NumScalars * sizeof(uint64_t);
  Params.assign(Source->parameters().begin(), Source->parameters().end());
  TensorPositions.resize(NumTensors);
  ScalarPositions.resize(NumScalars);
  for (size_t i = 0; i < Params.size(); ++i)
    (Params[i].isTensor ? TensorPositions : ScalarPositions).at(Params[i].index) = uint16_t(i);
  for (uint32_t i = 0; i < NumTensors; ++i) {
    const TensorParam &param = signature.tensors[i];
    for (int axis = 0; axis < param.rank(); ++axis)
      if (int64_t extent = param.extents[size_t(axis)]; extent != dynamicExtent)
        FixedExtents.push_back({uint16_t(i), uint16_t(axis), extent});
    if (writes(param.direction))
      Outputs.push_back(uint16_t(i));
  }
}

//===----------------------------------------------------------------------===//
// Reading arguments
//===----------------------------------------------------------------------===//

/// A call is one function of straight code, but for what is rare.
#define KILN_INLINE [[gnu::always_inline]] inline

/// Allocates nothing: `error` is touched only if there is one.
KILN_INLINE bool Compiled::Impl::readArguments(std::span<const CallArg> args, Block &block,
                                               Status &error) const {
  if (args.size() != Params.size()) [[unlikely]] {
    error = countError(args.size());
    return false;
  }
  uint64_t *words = block.words;
  kiln_tensor *tensor = block.tensors;
  ByteRange *range = block.ranges;
  for (uint16_t position : TensorPositions) {
    TensorProblem problem = readTensor(args[position], *tensor++, *range++, words);
    if (problem != TensorProblem::None) [[unlikely]] {
      error = tensorError(problem, args[position], nameOf(position));
      return false;
    }
  }
  block.wordsEnd = words;
  uint64_t *slot = block.scalars;
  for (uint16_t position : ScalarPositions)
    if (!readScalarArgument(args[position], position, *slot++, error)) [[unlikely]]
      return false;
  return true;
}

Status Compiled::Impl::countError(size_t given) const {
  std::vector<std::string> names;
  for (size_t i = 0; i < Params.size(); ++i)
    names.push_back(nameOf(i));
  return wrongCount(Source->signature(), names, given);
}

/// Integers must fit their type; a real parameter also takes an integer.
static bool readScalar(const CallArg &arg, DType type, uint64_t &slot) {
  if (isFloat(type)) {
    if (arg.kind != KILN_ARG_REAL && arg.kind != KILN_ARG_INTEGER)
      return false;
    double value = arg.kind == KILN_ARG_REAL ? arg.value.real : double(arg.value.integer);
    slot = ScalarBits::fromDouble(type, value).bits;
    return true;
  }
  if (arg.kind != KILN_ARG_INTEGER)
    return false;
  int bits = type == DType::I1 ? 1 : int(sizeOf(type)) * 8;
  int64_t value = arg.value.integer;
  bool fits = type == DType::I1
                  ? (value == 0 || value == 1)
                  : bits == 64 || (value >> (bits - 1) == 0 || value >> (bits - 1) == -1);
  slot = uint64_t(value);
  return fits;
}

bool Compiled::Impl::readScalarArgument(const CallArg &arg, size_t position, uint64_t &slot,
                                        Status &error) const {
  DType type = Source->signature().scalars[Params[position].index].type;
  if (readScalar(arg, type, slot)) [[likely]]
    return true;
  error = scalarError(arg, type, nameOf(position));
  return false;
}

/// Few instructions for what holds in nearly every call. Ranges also meet where elements do not, as
/// those of the columns of one matrix: `checkOutputs` decides.
KILN_INLINE bool Compiled::Impl::outputsMayOverlap(const Block &block) const {
  bool anyMeets = false;
  for (uint16_t output : Outputs) {
    ByteRange range = block.ranges[output];
    for (uint32_t other = 0; other < NumTensors; ++other)
      anyMeets |= (other != output) & range.meets(block.ranges[other]);
  }
  return anyMeets;
}

/// What is no fact of a call but must hold in each.
KILN_INLINE Status Compiled::Impl::checkTensors(const Block &block) const {
  for (const FixedExtent &fixed : FixedExtents)
    if (block.tensors[fixed.tensor].extents[fixed.axis] != fixed.extent) [[unlikely]]
      return wrongExtent(Source->signature(), fixed.tensor, fixed.axis,
                         block.tensors[fixed.tensor]);
  for (uint16_t output : Outputs)
    if (block.tensors[output].flags & KILN_TENSOR_READ_ONLY) [[unlikely]]
      return readOnlyOutput(Source->signature(), output, block.tensors[output]);
  if (HasRequirements)
    return Source->signature().checkRequirements(
        kiln_args{block.tensors, block.scalars, NumTensors, NumScalars});
  return Status::ok();
}

std::string Compiled::Impl::nameOf(size_t position) const {
  ParamRef param = Params[position];
  return Source->signature().argName(param.isTensor ? param.index : NumTensors + param.index);
}

//===----------------------------------------------------------------------===//
// The first call with these facts
//===----------------------------------------------------------------------===//

static Expected<Tensor> viewOf(const kiln_tensor &t) {
  return Tensor::view(t.data, DType(t.dtype), Dims(t.extents, t.rank), Dims(t.strides, t.rank));
}

Status Compiled::Impl::checkOutput(const Block &block, uint16_t output) const {
  const Signature &signature = Source->signature();
  Expected<Tensor> tensor = viewOf(block.tensors[output]);
  if (!tensor)
    return argumentError(signature.argName(output), tensor.status().message());
  if (overlapsItself(*tensor))
    return argumentError(signature.argName(output),
                         "is written, but its elements overlap each other: strides " +
                             toString(tensor->strides()) + " of " + tensor->str());
  Region region = Region::of(*tensor);
  for (uint32_t other = 0; other < NumTensors; ++other) {
    bool isWritten = writes(signature.tensors[other].direction);
    if (other == output || (isWritten && other > output)) // each pair once
      continue;
    Expected<Tensor> argument = viewOf(block.tensors[other]);
    if (argument && mayOverlap(region, Region::of(*argument)))
      return argumentError(signature.argName(output),
                           "overlaps '" + signature.argName(other) +
                               (isWritten ? "'; both are written"
                                          : "', which is read; a program that works in place "
                                            "says so with one inout parameter"));
  }
  return Status::ok();
}

Status Compiled::Impl::checkOutputs(const Block &block) const {
  for (uint16_t output : Outputs)
    if (Status bad = checkOutput(block, output); !bad.isOk())
      return bad;
  return Status::ok();
}

Expected<const CallState *> Compiled::Impl::makeState(const Block &block) {
  if (!Environment.isOk())
    return Environment;
  const Signature &signature = Source->signature();
  std::vector<TensorFacts> facts = unpackFacts({block.words, block.wordsEnd});
  for (uint32_t i = 0; i < NumTensors; ++i)
    if (facts[i].dtype != signature.tensors[i].dtype ||
        facts[i].rank != signature.tensors[i].rank())
      return wrongType(signature, i, facts[i]);
  if (Status bad = checkTensors(block); !bad.isOk())
    return bad;
  if (Status bad = checkOutputs(block); !bad.isOk())
    return bad;
  for (TensorFacts &known : facts)
    known = known.only(Source->reads());
  Expected<ArtifactCache::Code> code = Cache->get(
      jitKey(Source->identity(), facts), Source->places(), [&] { return Source->compile(facts); },
      [&](const NativeInfo &info, std::string_view object) { return Source->load(info, object); });
  if (!code)
    return code.status();
  auto state = std::make_unique<CallState>();
  state->words.assign(block.words, block.wordsEnd);
  state->code = *code;
  state->entry = Recorder ? nullptr : (*code)->kernel(); // only an engine records
  state->workspaceBytes = (*code)->info().entry.workspaceBytes;
  bool isNew = false;
  const CallState *published = States.add(std::move(state), isNew);
  if (isNew)
    Cache->countCallState();
  return published;
}

//===----------------------------------------------------------------------===//
// Running
//===----------------------------------------------------------------------===//

namespace {

/// This thread's scratch; grows to the largest a kernel has asked for.
class Scratch {
public:
  ~Scratch() { std::free(Memory); }
  void *get(uint64_t bytes) {
    if (bytes > Bytes) [[unlikely]] {
      std::free(Memory);
      Bytes = (bytes + 63) / 64 * 64;
      Memory = std::aligned_alloc(64, Bytes);
      if (!Memory)
        Bytes = 0;
    }
    return Memory;
  }

private:
  void *Memory = nullptr;
  uint64_t Bytes = 0;
};

thread_local Scratch threadScratch;

/// Keeps what a kernel first says before it fails.
void takeReport(kiln_context *ctx, const char *message, const kiln_source *where) {
  auto *report = static_cast<Status *>(ctx->runtime);
  if (report->isOk())
    *report = Status(StatusCode::KernelFailed, message ? message : "", placeOf(where));
}

constexpr kiln_context kOneBlock = {.abi_version = KILN_ABI_VERSION,
                                    .lane = 0,
                                    .lanes = 1,
                                    .num_pipes = 0,
                                    .grid = {1, 1, 1},
                                    .scratch = nullptr,
                                    .scratch_bytes = 0,
                                    .pipes = nullptr,
                                    .user = &detail::isInterrupted, // as NativeProgram has it
                                    .report = takeReport,
                                    .runtime = nullptr,
                                    .pipe_functions = nullptr,
                                    .block_functions = nullptr};

} // namespace

/// Tasks outlive the stack, so they get tensors of their own.
Status Compiled::Impl::runTasks(const CallState &state, const Block &block) const {
  const Signature &signature = Source->signature();
  std::vector<Tensor> tensors;
  tensors.reserve(NumTensors);
  for (uint32_t i = 0; i < NumTensors; ++i) {
    Expected<Tensor> tensor = viewOf(block.tensors[i]);
    if (!tensor)
      return argumentError(signature.argName(i), tensor.status().message());
    tensors.push_back(std::move(*tensor));
  }
  std::vector<ScalarBits> scalars;
  scalars.reserve(NumScalars);
  for (uint32_t i = 0; i < NumScalars; ++i)
    scalars.push_back({block.scalars[i], signature.scalars[i].type});
  return Recorder ? Recorder->run(*Source, *state.code, tensors, scalars)
                  : state.code->call(tensors, scalars);
}

KILN_INLINE Status Compiled::Impl::run(const CallState &state, const Block &block) const {
  if (!state.entry) [[unlikely]]
    return runTasks(state, block);
  Status report;
  kiln_args args{block.tensors, block.scalars, NumTensors, NumScalars};
  kiln_blocks range{{0, 0, 0}, {1, 1, 1}};
  kiln_context context = kOneBlock; // a copy of a constant: faster than clearing and setting
  context.runtime = &report;
  if (state.workspaceBytes > 0) {
    context.scratch = threadScratch.get(state.workspaceBytes);
    context.scratch_bytes = state.workspaceBytes;
    if (!context.scratch) [[unlikely]]
      return Status(StatusCode::OutOfMemory,
                    "no memory for the " + std::to_string(state.workspaceBytes) +
                        " bytes of scratch of '" + Source->signature().name + "'");
  }
  int32_t code = state.entry(&args, &range, &context);
  if (code == KILN_OK && report.isOk()) [[likely]]
    return Status::ok();
  if (isInterrupted())
    return interruption();
  return kernelError(Source->signature(), code, report.message(), report.location());
}

//===----------------------------------------------------------------------===//
// A call
//===----------------------------------------------------------------------===//

KILN_INLINE const CallState *Compiled::Impl::prepare(std::span<const CallArg> args, Block &block,
                                                     Status &error) {
  if (!readArguments(args, block, error)) [[unlikely]]
    return nullptr;
  const CallState *state = States.find({block.words, block.wordsEnd});
  if (!state) [[unlikely]] {
    Expected<const CallState *> made = makeState(block);
    error = made.status();
    return made ? *made : nullptr;
  }
  if (Status bad = checkTensors(block); !bad.isOk()) [[unlikely]]
    error = std::move(bad);
  else if (Check || outputsMayOverlap(block)) [[unlikely]]
    error = checkOutputs(block);
  return error.isOk() ? state : nullptr;
}

// At most 255 tensors and scalars: less than 50 KiB of stack.
#define KILN_BLOCK_ON_STACK(impl) (impl).blockAt(alloca((impl).BlockBytes))

Expected<int> Compiled::Impl::readPlaces(std::span<const CallArg> args, CallArg *plain) const {
  int gpu = -1;
  for (size_t i = 0; i < args.size(); ++i) {
    new (plain + i) CallArg(args[i]);
    if (args[i].kind != KILN_ARG_TENSOR)
      continue;
    int number = (args[i].flags >> KILN_ARG_GPU_SHIFT) - 1;
    if (number < 0)
      return argumentError(i < Params.size() ? nameOf(i) : std::to_string(i),
                           "is in the host's memory, but the program runs on a GPU");
    if (gpu >= 0 && number != gpu)
      return argumentError(i < Params.size() ? nameOf(i) : std::to_string(i),
                           "is in the memory of GPU " + std::to_string(number) +
                               ", and those before it in that of GPU " + std::to_string(gpu));
    gpu = number;
    plain[i].flags &= KILN_ARG_READ_ONLY;
  }
  return std::max(gpu, 0);
}

Status Compiled::Impl::launch(const CallState &state, const Block &block,
                              const GpuPlace &place) const {
  if (Recorder)
    return runTasks(state, block);
  return state.code->launchOn({block.tensors, block.scalars, NumTensors, NumScalars}, place);
}

Status Compiled::callOn(void *stream, std::span<const CallArg> args) const {
  if (!P->OnGpu)
    return call(args);
  auto *plain = static_cast<CallArg *>(alloca(args.size() * sizeof(CallArg)));
  Expected<int> gpu = P->readPlaces(args, plain);
  if (!gpu)
    return gpu.status();
  Impl::Block block = KILN_BLOCK_ON_STACK(*P);
  Status error;
  const CallState *state = P->prepare({plain, args.size()}, block, error);
  return state ? P->launch(*state, block, {*gpu, stream, P->Source->program()}) : error;
}

Status Compiled::call(std::span<const CallArg> args) const {
  if (P->OnGpu) [[unlikely]]
    return callOn(nullptr, args);
  Impl::Block block = KILN_BLOCK_ON_STACK(*P);
  Status error;
  const CallState *state = P->prepare(args, block, error);
  return state ? P->run(*state, block) : error;
}

Status Compiled::compileOnly(std::span<const CallArg> args) const {
  Impl::Block block = KILN_BLOCK_ON_STACK(*P);
  Status error;
  if (P->OnGpu) {
    auto *plain = static_cast<CallArg *>(alloca(args.size() * sizeof(CallArg)));
    if (Expected<int> gpu = P->readPlaces(args, plain); !gpu)
      return gpu.status();
    args = {plain, args.size()};
  }
  P->prepare(args, block, error);
  return error;
}

const Signature &Compiled::signature() const { return P->Source->signature(); }
std::span<const ParamRef> Compiled::parameters() const { return P->Source->parameters(); }

} // namespace kiln
