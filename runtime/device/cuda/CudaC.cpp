#include "kiln/cuda_c.h"

#include "abi/CBoundary.h"
#include "kiln/runtime/bundle.h"

using namespace kiln;

struct kiln_cuda_program {
  std::shared_ptr<const CudaProgram> program;
  std::string name;
};

static thread_local std::string lastError;

static Status launch(const kiln_cuda_program *handle, const kiln_args *args, void *stream) {
  if (!handle || !args || (args->num_tensors && !args->tensors) ||
      (args->num_scalars && !args->scalars))
    return Status(StatusCode::InvalidArgument, "a null pointer was given");
  const Signature &signature = *handle->program->info().entry.signature;
  if (args->num_scalars != signature.scalars.size())
    return Status(StatusCode::InvalidArgument, "'" + signature.name + "' takes " +
                                                   std::to_string(signature.scalars.size()) +
                                                   " numbers");
  std::vector<Tensor> tensors;
  for (const kiln_tensor &given : std::span(args->tensors, args->num_tensors)) {
    if (!isValidDType(given.dtype) || given.rank < 1 || given.rank > KILN_MAX_RANK)
      return Status(StatusCode::InvalidArgument, "a tensor of no type or rank was given");
    Expected<Tensor> tensor =
        Tensor::view(given.data, static_cast<DType>(given.dtype), Dims(given.extents, given.rank),
                     Dims(given.strides, given.rank));
    if (!tensor)
      return tensor.status();
    tensors.push_back(std::move(*tensor));
  }
  std::vector<ScalarBits> scalars;
  for (size_t i = 0; i < args->num_scalars; ++i)
    scalars.push_back({args->scalars[i], signature.scalars[i].type});
  return handle->program->launch(tensors, scalars, stream, handle->name);
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
