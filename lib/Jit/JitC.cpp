#include "JitC.h"

namespace kiln {

namespace {
thread_local std::string lastError;
} // namespace

int32_t rememberError(const Status &status) {
  if (!status.isOk())
    lastError = status.str();
  return static_cast<int32_t>(status.code());
}

} // namespace kiln

using namespace kiln;

struct kiln_adaptor {
  TensorAdaptor adaptor;
};

/// For functions that return the number of a code: that of what `body` returns.
template <typename Body> static int32_t guardedCode(Body body) noexcept {
  return guarded<int32_t>(internalError, [&] { return rememberError(body()); });
}

/// A new adaptor, made by `make`.
template <typename Make> static kiln_adaptor *newAdaptor(Make make) noexcept {
  return guarded<kiln_adaptor *>(nullptr, [&]() -> kiln_adaptor * {
    Expected<TensorAdaptor> made = make();
    if (made) // NOLINTNEXTLINE(bugprone-unhandled-exception-at-new): `guarded` handles it
      return new kiln_adaptor{std::move(*made)};
    rememberError(made.status());
    return nullptr;
  });
}

static Expected<JitOptions> readOptions(const kiln_jit_options &given) {
  if (given.dump < 0 || given.dump > 3)
    return Status(StatusCode::InvalidArgument,
                  "there is no dump level " + std::to_string(given.dump));
  if (given.workers < 0)
    return Status(StatusCode::InvalidArgument,
                  "a call cannot have " + std::to_string(given.workers) + " threads");
  JitOptions options;
  if (given.cache_dir)
    options.cache.directory = given.cache_dir;
  if (given.cache_bytes != 0)
    options.cache.maxBytes = given.cache_bytes;
  options.check = options.check || given.check != 0;
  if (given.dump != 0)
    options.record.dumpLevel = given.dump;
  options.record.timeline = options.record.timeline || given.timeline != 0;
  if (given.out)
    options.record.out = given.out;
  options.workers = unsigned(given.workers);
  if (given.log)
    options.log = [log = given.log, data = given.log_data](const std::string &line) {
      log(data, line.c_str());
    };
  return options;
}

extern "C" {

const char *kiln_jit_error(void) { return lastError.c_str(); }

//===----------------------------------------------------------------------===//
// Adaptors
//===----------------------------------------------------------------------===//

kiln_adaptor *kiln_adaptor_create(void *data, int32_t dtype, uint32_t rank, const int64_t *extents,
                                  const int64_t *strides) {
  return newAdaptor([&]() -> Expected<TensorAdaptor> {
    if (!isValidDType(dtype) || !extents)
      return Status(StatusCode::InvalidArgument,
                    !extents ? "no extents" : "there is no such element type");
    Dims strideList = strides ? Dims(strides, rank) : Dims();
    return TensorAdaptor::raw(data, static_cast<DType>(dtype), Dims(extents, rank), strideList);
  });
}

kiln_adaptor *kiln_adaptor_from_dlpack(DLManagedTensor *tensor) {
  return newAdaptor([&] { return TensorAdaptor::dlpack(tensor); });
}

void kiln_adaptor_destroy(kiln_adaptor *adaptor) { delete adaptor; }

/// What callers in C can get wrong and those in C++ cannot.
static Status missing(const char *what) {
  return Status(StatusCode::InvalidArgument, std::string(what) + " is NULL");
}

int32_t kiln_adaptor_mark_layout_dynamic(kiln_adaptor *adaptor, int32_t leading_dim,
                                         int64_t divisibility) {
  return guardedCode([&] {
    if (!adaptor)
      return missing("the adaptor");
    return adaptor->adaptor.mark_layout_dynamic(leading_dim, divisibility).status();
  });
}

int32_t kiln_adaptor_mark_static(kiln_adaptor *adaptor, uint32_t num_dims, const int32_t *dims) {
  return guardedCode([&] {
    if (!adaptor || (num_dims > 0 && !dims))
      return missing(adaptor ? "the list of axes" : "the adaptor");
    TensorAdaptor &target = adaptor->adaptor;
    return (num_dims == 0 ? target.mark_static()
                          : target.mark_static(std::span<const int>(dims, num_dims)))
        .status();
  });
}

kiln_call_arg kiln_adaptor_arg(const kiln_adaptor *adaptor) {
  if (adaptor)
    return CallArg(adaptor->adaptor);
  kiln_call_arg bad{};
  bad.kind = KILN_ARG_BAD;
  bad.value.problem = "is a null adaptor";
  return bad;
}

//===----------------------------------------------------------------------===//
// Calling
//===----------------------------------------------------------------------===//

kiln_jit *kiln_jit_create(void) {
  return guarded<kiln_jit *>(nullptr, [&]() -> kiln_jit * {
    auto jit = std::make_unique<kiln_jit>();
    if (rememberError(jit->jit.environment()) != 0)
      return nullptr;
    return jit.release();
  });
}

kiln_jit *kiln_jit_create_with(const kiln_jit_options *given) {
  return guarded<kiln_jit *>(nullptr, [&]() -> kiln_jit * {
    Expected<kiln_jit_options> known =
        knownPart(given, offsetof(kiln_jit_options, out), "kiln_jit_options");
    Expected<JitOptions> options = known ? readOptions(*known) : known.status();
    if (!options) {
      rememberError(options.status());
      return nullptr;
    }
    auto jit = std::make_unique<kiln_jit>(Jit(std::move(*options)));
    if (rememberError(jit->jit.environment()) != 0)
      return nullptr;
    return jit.release();
  });
}

const char *kiln_version(void) { return KILN_VERSION; }

uint32_t kiln_compiled_num_parameters(const kiln_compiled *compiled) {
  return compiled ? uint32_t(compiled->function.parameters().size()) : 0;
}

int32_t kiln_compiled_parameter(const kiln_compiled *compiled, uint32_t index,
                                kiln_parameter *parameter) {
  return guardedCode([&] {
    if (!compiled || !parameter)
      return missing(compiled ? "the parameter" : "the program");
    std::span<const ParamRef> all = compiled->function.parameters();
    if (index >= all.size())
      return Status(StatusCode::InvalidArgument, "the program has " + std::to_string(all.size()) +
                                                     " parameters; there is no number " +
                                                     std::to_string(index));
    const Signature &signature = compiled->function.signature();
    *parameter = {};
    if (!all[index].isTensor) {
      const ScalarParam &scalar = signature.scalars[all[index].index];
      *parameter = {scalar.name.c_str(), 1, int32_t(scalar.type), KILN_IN, 0, {}};
      return Status::ok();
    }
    const TensorParam &tensor = signature.tensors[all[index].index];
    *parameter = {tensor.name.c_str(),     0, int32_t(tensor.dtype), int32_t(tensor.direction),
                  uint32_t(tensor.rank()), {}};
    std::copy(tensor.extents.begin(), tensor.extents.end(), parameter->extents);
    return Status::ok();
  });
}

void kiln_jit_destroy(kiln_jit *jit) { delete jit; }
void kiln_compiled_destroy(kiln_compiled *compiled) { delete compiled; }

// A CallArg adds nothing to the C struct but ways to make one.
static_assert(sizeof(CallArg) == sizeof(kiln_call_arg));
static std::span<const CallArg> listOf(const kiln_call_arg *args, uint32_t count) {
  return {static_cast<const CallArg *>(args), count};
}

int32_t kiln_compiled_call(kiln_compiled *compiled, const kiln_call_arg *args, uint32_t num_args) {
  return guardedCode([&] {
    if (!compiled || (num_args > 0 && !args)) [[unlikely]]
      return missing(compiled ? "the list of arguments" : "the program");
    return compiled->function.call(listOf(args, num_args));
  });
}

int32_t kiln_compiled_call_on(kiln_compiled *compiled, const kiln_call_arg *args, uint32_t num_args,
                              void *stream) {
  return guardedCode([&] {
    if (!compiled || (num_args > 0 && !args)) [[unlikely]]
      return missing(compiled ? "the list of arguments" : "the program");
    return compiled->function.callOn(stream, listOf(args, num_args));
  });
}

int32_t kiln_compiled_compile_only(kiln_compiled *compiled, const kiln_call_arg *args,
                                   uint32_t num_args) {
  return guardedCode([&] {
    if (!compiled || (num_args > 0 && !args))
      return missing(compiled ? "the list of arguments" : "the program");
    return compiled->function.compileOnly(listOf(args, num_args));
  });
}

void kiln_jit_get_counters(const kiln_jit *jit, kiln_jit_counters *counters) {
  if (!counters)
    return;
  JitCounters now = jit ? jit->jit.counters() : JitCounters(); // reads numbers, throws nothing
  *counters = {now.memoryHits, now.diskHits, now.misses, now.compiles,     now.callStates,
               now.evictions,  now.bytes,    now.graphs, now.graphLaunches};
}

} // extern "C"
