// The ways from a program to a Compiled that need the compiler.
#include "JitC.h"
#include "kiln/Dialect/Kiln/CompilerChoices.h"
#include "kiln/Dialect/ProgramText.h"
#include "kiln/Jit/Compiler/ProgramSource.h"
#include "kiln/Jit/Compiler/TuneStore.h"
#include "kiln/Language/ProgramAccess.h"
#include "kiln/Platform/Platform.h"

using namespace mlir;

namespace kiln {

Expected<Compiled> Jit::compile(kiln_recorder *program, const std::string &platform) {
  if (!Environment.isOk())
    return Environment;
  if (!program)
    return Status(StatusCode::InvalidArgument, "the program is NULL; was it moved?");
  if (const std::vector<Status> &errors = errorsOf(program); !errors.empty())
    return errors.front();
  ProgramSourceOptions options;
  options.platform = platform;
  Expected<std::shared_ptr<const JitSource>> source = makeProgramSource(moduleOf(program), options);
  if (!source)
    return source.status();
  return compile(std::move(*source));
}

Expected<ParameterValues> Jit::tunedValues(kiln_recorder *program, std::span<const CallArg> like,
                                           const std::string &platform) const {
  // What is wrong with the program, compile() says.
  if (!program || !errorsOf(program).empty())
    return ParameterValues();
  TuneSubject subject{moduleOf(program)};
  subject.platform = platform.empty() ? &defaultPlatform(Capability::Jit) : findPlatform(platform);
  for (const CallArg &arg : like) {
    bool isTensor = arg.kind == KILN_ARG_TENSOR;
    subject.extents.emplace_back(arg.extents, arg.extents + (isTensor ? arg.rank : 0));
  }
  Expected<std::optional<ConfigValues>> found = TuneStore(diskCache().options()).valuesFor(subject);
  if (!found)
    return found.status();
  return found->value_or(ParameterValues());
}

Status Jit::choose(kiln_recorder *program, const ParameterValues &values) {
  // What is wrong with the program, compile() says.
  std::string wrong = program ? chooseForCompiler(moduleOf(program), values) : "";
  return wrong.empty() ? Status::ok() : Status(StatusCode::InvalidArgument, wrong);
}

/// A program as text. The first error, with its line.
static Expected<std::shared_ptr<const JitSource>> sourceOf(StringRef text,
                                                           const ProgramSourceOptions &options) {
  DialectRegistry registry;
  registerKilnDialects(registry);
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  context.printOpOnDiagnostic(false);
  std::vector<Status> errors;
  OwningOpRef<ModuleOp> module;
  {
    DiagnosticCollector collector(&context, errors);
    module = parseProgram(text, "program", &context);
  }
  if (!module)
    return errors.empty() ? Status(StatusCode::InvalidArgument, "cannot be read as a program")
                          : errors.front();
  return makeProgramSource(*module, options);
}

} // namespace kiln

using namespace kiln;

extern "C" const char *kiln_jit_platform(int32_t on_gpu) {
  const Platform *platform = jitPlatform(on_gpu ? TensorMemory::Gpu : TensorMemory::Host);
  return platform ? platform->name().c_str() : nullptr;
}

extern "C" const char *kiln_jit_compiler_choices(const char *name) {
  static thread_local std::string text;
  const Platform *platform = name ? findPlatform(name) : nullptr;
  text.clear();
  if (platform && platform->machine())
    for (const ir::CompilerChoice &choice : ir::compilerChoices(*platform->machine()))
      text += choice.name + " " + llvm::join(choice.values, " ") + "\n";
  return text.c_str();
}

extern "C" kiln_compiled *kiln_jit_compile(kiln_jit *jit, const char *text, uint64_t length,
                                           const char *platform, const char *entry) {
  return guarded<kiln_compiled *>(nullptr, [&]() -> kiln_compiled * {
    if (!jit || !text) {
      rememberError(
          Status(StatusCode::InvalidArgument, jit ? "the text is NULL" : "the JIT is NULL"));
      return nullptr;
    }
    ProgramSourceOptions options;
    if (platform)
      options.platform = platform;
    if (entry)
      options.entry = entry;
    Expected<std::shared_ptr<const JitSource>> source = sourceOf(StringRef(text, length), options);
    if (source)
      return new kiln_compiled{jit->jit.compile(std::move(*source))};
    rememberError(source.status());
    return nullptr;
  });
}
