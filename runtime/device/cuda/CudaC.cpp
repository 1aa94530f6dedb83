#include "kiln/cuda_c.h"

#include "StreamArguments.h"

#include "abi/CBoundary.h"
#include "kiln/runtime/bundle.h"

using namespace kiln;

struct kiln_cuda_program {
  std::shared_ptr<const CudaProgram> program;
  std::string name;
};

static thread_local std::string lastError;

/// Whether a tensor is one of those that are nearly all, about which nothing has to be said.
static bool isPlain(const kiln_tensor &given, const TensorParam &param) {
  constexpr int64_t many = int64_t(1) << 31;
  if (given.dtype != static_cast<int32_t>(param.dtype) || given.rank != param.rank() ||
      !given.data ||
      reinterpret_cast<uintptr_t>(given.data) % static_cast<uintptr_t>(sizeOf(param.dtype)) != 0)
    return false;
  int64_t last = 0;
  for (size_t axis = 0; axis < given.rank; ++axis) {
    int64_t extent = given.extents[axis], stride = given.strides[axis];
    if (extent < 2 || extent >= many || stride < 1 || stride >= many ||
        (param.extents[axis] != dynamicExtent && param.extents[axis] != extent))
      return false;
    last += (extent - 1) * stride;
    if (last >= many << 8)
      return false;
  }
  return true;
}

/// Everything else: in the words of `Tensor` and `Signature`.
static Status launchCarefully(const kiln_cuda_program &handle, const kiln_args &args,
                              void *stream) {
  const Signature &signature = *handle.program->info().entry.signature;
  for (const kiln_tensor &given : std::span(args.tensors, args.num_tensors))
    if (!isValidDType(given.dtype) || given.rank < 1 || given.rank > KILN_MAX_RANK)
      return Status(StatusCode::InvalidArgument, "a tensor of no type or rank was given");
  Expected<std::vector<Tensor>> tensors = cuda::tensorsOf(args);
  if (!tensors)
    return tensors.status();
  std::vector<ScalarBits> scalars;
  for (size_t i = 0; i < args.num_scalars; ++i)
    scalars.push_back({args.scalars[i], signature.scalars[i].type});
  return handle.program->launch(*tensors, scalars, stream, handle.name);
}

static Status launch(const kiln_cuda_program *handle, const kiln_args *args, void *stream) {
  if (!handle || !args || (args->num_tensors && !args->tensors) ||
      (args->num_scalars && !args->scalars))
    return Status(StatusCode::InvalidArgument, "a null pointer was given");
  const Signature &signature = *handle->program->info().entry.signature;
  if (args->num_scalars != signature.scalars.size())
    return Status(StatusCode::InvalidArgument, "'" + signature.name + "' takes " +
                                                   std::to_string(signature.scalars.size()) +
                                                   " numbers");
  bool arePlain = args->num_tensors > 0 && args->num_tensors == signature.tensors.size();
  for (size_t i = 0; i < args->num_tensors && arePlain; ++i)
    arePlain = isPlain(args->tensors[i], signature.tensors[i]);
  if (!arePlain)
    return launchCarefully(*handle, *args, stream);
  if (!signature.requirements.empty())
    if (Status bad = signature.checkRequirements(*args); !bad.isOk())
      return bad;
  return handle->program->launchWhereTheyAre(*args, stream, handle->name);
}

static int32_t note(const Status &status) {
  if (!status.isOk())
    lastError = status.message();
  return static_cast<int32_t>(status.code());
}

static Expected<kiln_cuda_program> open(const char *bundle) {
  Expected<Bundle> opened = Bundle::open(bundle ? bundle : "");
  if (!opened)
    return opened.status();
  Expected<std::shared_ptr<const CudaProgram>> program = opened->loadCuda();
  if (!program)
    return program.status();
  return kiln_cuda_program{std::move(*program), opened->manifest().program};
}

extern "C" kiln_cuda_program *kiln_cuda_open(const char *bundle) {
  auto body = [&]() -> kiln_cuda_program * {
    Expected<kiln_cuda_program> program = open(bundle);
    return note(program.status()) == 0 ? new kiln_cuda_program(std::move(*program)) : nullptr;
  };
  return withoutThrowing<kiln_cuda_program *>(nullptr, body, note);
}

extern "C" void kiln_cuda_close(kiln_cuda_program *program) { delete program; }

extern "C" int32_t kiln_cuda_launch(const kiln_cuda_program *program, const kiln_args *args,
                                    void *stream) {
  return withoutThrowing<int32_t>(
      internalError, [&] { return note(launch(program, args, stream)); }, note);
}

extern "C" const char *kiln_cuda_error(void) { return lastError.c_str(); }
