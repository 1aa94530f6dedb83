// The file around the functions: what it needs, what it expects of the kernels, its entry.
#include "kiln/Target/Orchestration/Orchestration.h"

#include "OrchestrationFunction.h"

#include "kiln/Program/Signature.h"
#include "kiln/Target/Text/Literals.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace kiln {
namespace {

using namespace orchestration;

class FileEmitter {
public:
  FileEmitter(ModuleOp module, ir::FuncOp entry, std::string program)
      : Module(module), Start(entry), Program(std::move(program)) {}

  Expected<OrchestrationResult> emit(const std::optional<std::vector<SimplerTask>> &simpler);

private:
  /// Finds what the entry leads to: orchestrations, callees first, and kernels in order of use.
  void visit(ir::FuncOp func);
  Status describeKernels(OrchestrationResult &result);
  std::string header(const OrchestrationResult &result) const;
  std::string signatures(const OrchestrationResult &result);
  std::string file(const OrchestrationResult &result, const std::string &bodies,
                   const std::string &start);
  // The same file for the `simpler` runtime.
  Status checkForSimpler();
  std::string simplerFile(const OrchestrationResult &result, const std::string &bodies,
                          const std::string &start, const std::vector<SimplerTask> &tasks) const;

  ModuleOp Module;
  ir::FuncOp Start;
  std::string Program;
  llvm::SetVector<Operation *> Orchestrations, Kernels, Launched;
};

ir::FuncOp calleeOf(Operation *op) {
  FlatSymbolRefAttr name;
  if (auto call = dyn_cast<ir::CallOp>(op))
    name = call.getCalleeAttr();
  else if (auto submit = dyn_cast<ir::SubmitOp>(op))
    name = submit.getCalleeAttr();
  return name ? SymbolTable::lookupNearestSymbolFrom<ir::FuncOp>(op, name) : ir::FuncOp();
}

void FileEmitter::visit(ir::FuncOp func) {
  bool isOrchestration = func.getKind() == ir::FuncKind::Orchestration;
  if (isOrchestration ? Orchestrations.contains(func) : !Kernels.insert(func))
    return;
  // What a kernel calls is part of it; a group's roles are kernels of their own.
  if (isOrchestration || func.getKind() == ir::FuncKind::Group)
    func.walk([&](Operation *op) {
      if (ir::FuncOp callee = calleeOf(op)) {
        if (isa<ir::SubmitOp>(op))
          Launched.insert(callee);
        visit(callee);
      }
    });
  if (isOrchestration)
    Orchestrations.insert(func);
}

Status FileEmitter::describeKernels(OrchestrationResult &result) {
  for (auto [id, op] : llvm::enumerate(Kernels)) {
    auto kernel = cast<ir::FuncOp>(op);
    Expected<Signature> signature = signatureOf(kernel);
    if (!signature)
      return signature.status();
    std::string name = kernel.getSymName().str();
    result.kernels.push_back(name);
    result.funcNameToId[name] = static_cast<int32_t>(id);
    result.funcNameToCoreType[name] = coreTypeOf(kernel);
    result.funcNameToSignature[name] = std::move(*signature);
  }
  Expected<Signature> own = signatureOf(Start);
  if (!own)
    return own.status();
  result.orchestrationSignature = std::move(*own);
  return Status::ok();
}

std::string FileEmitter::header(const OrchestrationResult &result) const {
  std::string text = "// What launches the tasks of " + text::cppIdentifier(Program) +
                     ", emitted by Kiln. Compile it as C++20, link it with the Kiln\n"
                     "// runtime, register the kernels and call " +
                     result.entrySymbol + ".\n";
  if (!result.kernels.empty())
    text += "//\n//   id  kernel\n";
  for (const std::string &name : result.kernels) {
    std::string id = std::to_string(result.funcNameToId.at(name));
    text += "//   " + id + std::string(id.size() < 4 ? 4 - id.size() : 1, ' ') +
            text::cppIdentifier(name) + " (" + result.funcNameToCoreType.at(name) + ")\n";
  }
  return text + "#include \"kiln/runtime/orchestration.h\"\n\n";
}

/// `{"add", "aiv", {input("x", DType::F32, {any, 64})}, {{"s", DType::F32}}}`
std::string signatureText(const Signature &signature, const std::string &indent) {
  std::string tensors, scalars;
  for (const TensorParam &param : signature.tensors) {
    StringRef kind = param.direction == Direction::In    ? "input"
                     : param.direction == Direction::Out ? "output"
                                                         : "inout";
    SmallVector<std::string> extents;
    for (int64_t extent : param.extents)
      extents.push_back(extent == dynamicExtent ? "any" : std::to_string(extent));
    std::string dtype = StringRef(toString(param.dtype)).upper();
    tensors += (tensors.empty() ? "" : ",\n" + indent + " ") + kind.str() + "(" +
               text::cppString(param.name) + ", DType::" + dtype + ", {" +
               llvm::join(extents, ", ") + "})";
  }
  for (const ScalarParam &param : signature.scalars) {
    std::string dtype =
        param.type == DType::Index ? "Index" : StringRef(toString(param.type)).upper();
    scalars += (scalars.empty() ? "" : ", ") + ("{" + text::cppString(param.name)) +
               ", DType::" + dtype + "}";
  }
  return "{" + text::cppString(signature.name) + ", " + text::cppString(signature.coreType) +
         ",\n" + indent + "{" + tensors + "},\n" + indent + "{" + scalars + "}}";
}

std::string FileEmitter::signatures(const OrchestrationResult &result) {
  std::string text = "const Signature signature =\n    " +
                     signatureText(result.orchestrationSignature, "     ") + ";\n\n";
  text += "// What the launches below pass to each kernel.\n"
          "const std::vector<Signature> kernels = {";
  for (const std::string &name : result.kernels)
    if (Launched.contains(Module.lookupSymbol(name)))
      text += "\n    " + signatureText(result.funcNameToSignature.at(name), "     ") + ",";
  return text + "\n};\n";
}

std::string FileEmitter::file(const OrchestrationResult &result, const std::string &bodies,
                              const std::string &start) {
  std::string space = text::cppIdentifier(Program);
  return header(result) + "namespace {\nnamespace orchestration_of_" + space +
         " {\n\nusing namespace kiln;\nusing namespace kiln::orch;\n\n" + signatures(result) +
         bodies + "\n} // namespace orchestration_of_" + space + "\n} // namespace\n\n" +
         callText(
             "extern \"C\" void " + result.entrySymbol,
             {"kiln::Engine &engine", "const kiln::orch::Arguments &args", "kiln::Status &status"},
             0) +
         " {\n  using namespace orchestration_of_" + space +
         ";\n  status = orchestrate(engine, args, signature, kernels, " + start + ");\n}\n";
}

//===----------------------------------------------------------------------===//
// For the `simpler` runtime
//===----------------------------------------------------------------------===//

Status FileEmitter::checkForSimpler() {
  Status status = Status::ok();
  auto refuse = [&](Operation *op, const char *why) {
    if (status.isOk())
      status = Status(StatusCode::Unsupported,
                      op->getName().getStringRef().str() +
                          " cannot be written for the runtime of this platform: " + why,
                      sourceLocOf(op->getLoc()));
  };
  // What kiln_orchestration.h has: arithmetic on indices and truth values.
  auto isKnown = [](Operation *op) {
    Type type = op->getResult(0).getType();
    bool isIndex = type.isIndex() &&
                   isa<arith::AddIOp, arith::SubIOp, arith::MulIOp, arith::DivSIOp, arith::RemSIOp,
                       arith::FloorDivSIOp, arith::CeilDivSIOp, arith::MinSIOp, arith::MaxSIOp>(op);
    bool isTruth = type.isInteger(1) && isa<arith::AndIOp, arith::OrIOp, arith::CmpIOp>(op);
    return isIndex || isTruth || isa<arith::ConstantOp, arith::SelectOp>(op);
  };
  for (Operation *orchestration : Orchestrations) {
    if (cast<ir::FuncOp>(orchestration).getKind() != ir::FuncKind::Orchestration)
      continue; // a kernel by itself
    orchestration->walk([&](Operation *op) {
      if (isa_and_nonnull<arith::ArithDialect>(op->getDialect()) && !isKnown(op))
        refuse(op, "it computes with indices and truth values only");
      if (isa<ir::RankIdOp, ir::RankCountOp>(op) || ir::collectiveOf(op))
        refuse(op, "it runs on one rank");
      auto submit = dyn_cast<ir::SubmitOp>(op);
      if (submit && submit.getPredicate())
        refuse(submit, "a launch under a predicate is not passed on yet");
      if (submit && submit.getSyncStart())
        refuse(submit, "a launch whose blocks all run at once is not passed on yet");
    });
  }
  return status;
}

std::string FileEmitter::simplerFile(const OrchestrationResult &result, const std::string &bodies,
                                     const std::string &start,
                                     const std::vector<SimplerTask> &tasks) const {
  std::string space = text::cppIdentifier(Program), table;
  for (const SimplerTask &task : tasks)
    table += "    {" + text::cppString(task.name) + ", " + std::to_string(task.aic) + ", " +
             std::to_string(task.aiv) + ", " + std::to_string(task.vectorCores) + "},\n";
  const Signature &own = result.orchestrationSignature;
  std::string count = std::to_string(own.tensors.size() + own.scalars.size());
  // Inside of kiln::orch, because the runtime has names of its own for tensors and tasks.
  std::string inside = "kiln::orch::orchestration_of_" + space;
  return "// What launches the tasks of " + space +
         " on the simpler runtime (tensormap_and_ringbuffer). Written by Kiln.\n"
         "#include \"kiln_orchestration.h\"\n\nnamespace " +
         inside +
         " {\nnamespace {\n\n"
         "// The name of a task, its kernels on the matrix core and on the vector cores, and how "
         "many "
         "of those.\nconst Kernel kernels[] = {\n" +
         table + "};\n" + bodies + "\n} // namespace\n} // namespace " + inside +
         "\n\nextern \"C\" {\n"
         "__attribute__((visibility(\"default\"))) PTO2OrchestrationConfig\n"
         "aicpu_orchestration_config(const ChipTaskArgs &) {\n  return PTO2OrchestrationConfig{" +
         count + "};\n}\n\n__attribute__((visibility(\"default\"))) void " + result.entrySymbol +
         "(const ChipTaskArgs &given) {\n  kiln::orch::Orchestrator rt(" + inside +
         "::kernels);\n  " + inside + "::" + start + "(rt, kiln::orch::Arguments(given));\n}\n}\n";
}

Expected<OrchestrationResult>
FileEmitter::emit(const std::optional<std::vector<SimplerTask>> &simpler) {
  visit(Start);
  if (Start.getKind() != ir::FuncKind::Orchestration) {
    Orchestrations.insert(Start);
    Launched.insert(Start);
  }
  OrchestrationResult result;
  if (Status bad = describeKernels(result); !bad.isOk())
    return bad;
  if (simpler)
    if (Status bad = checkForSimpler(); !bad.isOk())
      return bad;
  std::string space = text::cppIdentifier(Program);
  result.entrySymbol = "orchestrate_" + space + "_" + text::cppIdentifier(Start.getSymName());
  text::NameScope names(nameRules());
  llvm::DenseMap<Operation *, std::string> functions;
  for (Operation *op : Orchestrations)
    functions[op] = names.unique(cast<ir::FuncOp>(op).getSymName());
  std::string bodies;
  for (Operation *op : Orchestrations) {
    FunctionEmitter emitter(cast<ir::FuncOp>(op), names, functions);
    Expected<std::string> text = op == Start ? emitter.emitEntry() : emitter.emitFunction();
    if (!text)
      return text.status();
    bodies += "\n" + *text;
  }
  result.code = simpler ? simplerFile(result, bodies, functions[Start], *simpler)
                        : file(result, bodies, functions[Start]);
  return result;
}

} // namespace

Expected<OrchestrationResult> emitOrchestration(ModuleOp module,
                                                const OrchestrationOptions &options) {
  Expected<ir::FuncOp> entry = findEntry(module, options.entry);
  if (!entry)
    return entry.status();
  if (entry->getNumResults())
    return Status(StatusCode::FailedPrecondition,
                  "@" + entry->getSymName().str() +
                      " returns tensors; run kiln-results-to-out-params first",
                  sourceLocOf(entry->getLoc()));
  std::string program = options.program;
  if (program.empty())
    program = module.getSymName().value_or("program").str();
  return FileEmitter(module, *entry, program).emit(options.simpler);
}

} // namespace kiln
