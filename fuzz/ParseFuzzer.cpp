//===- ParseFuzzer.cpp - no text may crash the parser, the verifiers or the passes ---===//
//
// A libFuzzer target. Text that is refused must be refused with a message; text that is accepted
// must print and parse again, and go through the prepare pipeline and the folders. (The pipe proof
// searches for seconds where it cannot decide; it has random groups and mutants of its own.)
//
//===----------------------------------------------------------------------------===//
#include "../lib/Tools/RegisterKiln.h"
#include "TokenMutator.h"

#include "kiln/Dialect/ProgramText.h"

#include "llvm/Support/raw_ostream.h"

#include <cstring>

using namespace mlir;

namespace {

/// A context that counts errors instead of printing them.
struct QuietContext {
  QuietContext() : Context(registry(), MLIRContext::Threading::DISABLED) {
    Context.getDiagEngine().registerHandler([this](Diagnostic &diagnostic) {
      Errors += diagnostic.getSeverity() == DiagnosticSeverity::Error;
      return success();
    });
  }

  static const DialectRegistry &registry() {
    static const DialectRegistry *made = [] {
      auto *registry = new DialectRegistry;
      kiln::registerDialects(*registry);
      return registry;
    }();
    return *made;
  }

  /// MLIR's lexer looks at the zero after the end, which a std::string has.
  OwningOpRef<ModuleOp> parse(const std::string &text) {
    return kiln::parseProgram(text, "input", &Context);
  }

  MLIRContext Context;
  unsigned Errors = 0;
};

[[noreturn]] void report(StringRef what, StringRef text) {
  llvm::errs() << "error: " << what << ":\n" << text << "\n";
  abort();
}

void checkRoundTrip(QuietContext &in, ModuleOp module, OpPrintingFlags flags) {
  std::string printed;
  llvm::raw_string_ostream os(printed);
  module.print(os, flags);
  OwningOpRef<ModuleOp> again = in.parse(printed);
  if (!again)
    report("what was printed does not parse", printed);
}

/// Each on a copy: a program that one refuses must get through the others all the same.
void runPasses(ModuleOp module) {
  auto run = [&](function_ref<void(PassManager &)> add) {
    OwningOpRef<ModuleOp> copy(module.clone());
    PassManager passes(module.getContext());
    add(passes);
    (void)passes.run(*copy);
  };
  run([](PassManager &passes) { kiln::buildPreparePipeline(passes); });
  run([](PassManager &passes) { passes.addPass(createCanonicalizerPass()); });
}

/// What the dialects know: names of ops, types and enumerants.
std::vector<std::string> words() {
  std::vector<std::string> words = {"!kiln.tensor<?x4xf32>",
                                    "!kiln.tensor<4x4xf32, strides [4, 1]>",
                                    "!kiln.task",
                                    "!tile.tile<4x4xf32>",
                                    "!tile.tile<4x4xf32, vec>",
                                    "!tile.pipe<aiv -> aic, 4x4xf32, up_down>",
                                    "!tile.pipe<aic -> aiv, token>",
                                    "index",
                                    "f64",
                                    "f32",
                                    "f16",
                                    "bf16",
                                    "f8E4M3FN",
                                    "f8E5M2",
                                    "i1",
                                    "i8",
                                    "i16",
                                    "i32",
                                    "i64",
                                    "none",
                                    "tensor<4xf32>",
                                    "vector<4xf32>",
                                    "unit",
                                    "orchestration",
                                    "incore",
                                    "role(aic)",
                                    "role(aiv)",
                                    "group",
                                    "lanes(2)",
                                    "split(up_down)",
                                    "left_right",
                                    "in",
                                    "out",
                                    "inout",
                                    "pad(min)",
                                    "pad(1.0)",
                                    "valid(2, 2)",
                                    "atomic(add)",
                                    "grid(2, 2)",
                                    "deps(%t)",
                                    "predicate(%t[0] > 0)",
                                    "sync_start",
                                    "manual",
                                    "axis(0)",
                                    "axis(1)",
                                    "slots(2)",
                                    "drop [0]",
                                    "rows(%t[0])",
                                    "descending",
                                    "trans_a",
                                    "trans_b",
                                    "key(%x)",
                                    "counter(%i)",
                                    "shape(4, 4)",
                                    "sum",
                                    "prod",
                                    "argmax",
                                    "iter_args(%x = %y)",
                                    "-> ()",
                                    "{}",
                                    "[0, 0]",
                                    "loc(\"a\":1:1)",
                                    "attributes {}",
                                    "{kiln.loop = #kiln.loop<unroll>}"};
  QuietContext in;
  in.Context.loadAllAvailableDialects();
  for (RegisteredOperationName name : in.Context.getRegisteredOperations()) {
    words.push_back(name.getStringRef().str());
    words.push_back("\"" + name.getStringRef().str() + "\"");
  }
  return words;
}

kiln::fuzz::TokenMutator &mutator() {
  static auto *made = new kiln::fuzz::TokenMutator(words());
  return *made;
}

size_t copyTo(uint8_t *data, size_t maxSize, const std::string &text) {
  size_t size = std::min(text.size(), maxSize);
  std::copy_n(text.begin(), size, data);
  return size;
}

std::string asText(const uint8_t *data, size_t size) {
  return std::string(reinterpret_cast<const char *>(data), size);
}

/// MLIR's own parser asks for the width of an array's element type before it has looked whether
/// there is one, and crashes on `array<index: 1>`. Not ours to find again and again.
bool crashesTheParser(llvm::StringRef text) {
  for (size_t at = text.find("array<"); at != llvm::StringRef::npos; at = text.find("array<", at)) {
    llvm::StringRef type = text.drop_front(at += 6).ltrim();
    if (!llvm::any_of(llvm::ArrayRef<llvm::StringRef>{"i1:", "i8:", "i16:", "i32:", "i64:", "i1>",
                                                      "i8>", "i16>", "i32>", "i64>",
                                                      "f32:", "f64:"},
                      [&](llvm::StringRef known) { return type.starts_with(known); }))
      return true;
  }
  return false;
}

} // namespace

extern "C" size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t maxSize);

/// The packaged LLVM is not instrumented: what it poisons by hand and frees at exit would be false
/// alarms. An abort is what both drivers notice.
extern "C" const char *__asan_default_options() { // NOLINT(bugprone-reserved-identifier): its name
  return "abort_on_error=1:detect_leaks=0:allow_user_poisoning=0";
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (crashesTheParser(asText(data, size)))
    return 0;
  QuietContext in;
  OwningOpRef<ModuleOp> module = in.parse(asText(data, size));
  if (!module) {
    if (in.Errors == 0)
      report("refused without a message", asText(data, size));
    return 0;
  }
  checkRoundTrip(in, *module, OpPrintingFlags());
  checkRoundTrip(in, *module, OpPrintingFlags().printGenericOpForm());
  runPasses(*module);
  return 0;
}

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t maxSize,
                                          unsigned seed) {
  if (seed % 8 == 0)
    return LLVMFuzzerMutate(data, size, maxSize);
  return copyTo(data, maxSize, mutator().mutate(asText(data, size), seed));
}

extern "C" size_t LLVMFuzzerCustomCrossOver(const uint8_t *data1, size_t size1,
                                            const uint8_t *data2, size_t size2, uint8_t *out,
                                            size_t maxOutSize, unsigned seed) {
  return copyTo(out, maxOutSize, mutator().cross(asText(data1, size1), asText(data2, size2), seed));
}
