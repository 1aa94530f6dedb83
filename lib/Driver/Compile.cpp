//===- Compile.cpp - the passes of a platform, run for every command --------------------===//
#include "Driver.h"
#include "Terminal.h"

#include "kiln/Dialect/Kiln/Collective.h"
#include "kiln/Program/Signature.h"
#include "kiln/Transforms/Passes.h"
#include "llvm/ADT/StringSet.h"

#include <filesystem>
#include <fstream>

using namespace mlir;

namespace kiln {
namespace {

/// Gives the text of the program after each pass to somebody.
class PassDump final : public PassInstrumentation {
public:
  /// Given "00-kiln-inline.mlir" and the text.
  using Taker = std::function<void(std::string name, std::string text)>;
  explicit PassDump(Taker take) : Take(std::move(take)) {}

  void runAfterPass(Pass *pass, Operation *op) override {
    if (!isa<ModuleOp>(op) || pass->getArgument().empty())
      return;
    char number[8];
    std::snprintf(number, sizeof number, "%02u-", Number++);
    std::string text;
    llvm::raw_string_ostream(text) << *op << "\n";
    Take(number + pass->getArgument().str() + ".mlir", std::move(text));
  }

private:
  Taker Take;
  unsigned Number = 0;
};

/// Prints warnings, which are counted, and remarks if they are wanted, the way compilers do. A pass
/// that runs again says again what it found: each warning is printed once.
ScopedDiagnosticHandler printRemarks(MLIRContext *context, bool wanted, unsigned &warnings) {
  return {context, [wanted, &warnings, said = llvm::StringSet<>()](Diagnostic &diagnostic) mutable {
            bool isRemark = diagnostic.getSeverity() == DiagnosticSeverity::Remark;
            if (diagnostic.getSeverity() == DiagnosticSeverity::Error || (isRemark && !wanted))
              return failure();
            auto spell = [](Diagnostic &message, const char *severity) {
              SourceLoc loc = sourceLocOf(message.getLocation());
              return loc.str() + (loc.isKnown() ? ": " : "") + severity + ": " + message.str() +
                     "\n";
            };
            std::string lines = spell(diagnostic, isRemark ? "remark" : "warning");
            for (Diagnostic &note : diagnostic.getNotes())
              lines += spell(note, "note");
            if (!isRemark && !said.insert(lines).second)
              return success();
            warnings += !isRemark;
            Progress::hide();
            std::fflush(stdout);
            std::fputs(highlighted(stderr, lines).c_str(), stderr);
            return success();
          }};
}

/// The first role of the program that the machine does not have. One role that executes everything
/// stands for any.
std::optional<Status> findForeignRole(ModuleOp module, const Machine &machine) {
  std::optional<Status> found;
  if (machine.roles.size() > 1)
    module.walk([&](ir::FuncOp func) {
      if (func.getRole() && !machine.findRole(*func.getRole()) && !found)
        found = Status(StatusCode::InvalidArgument,
                       "role " + func.getRole()->str() + " of @" + func.getSymName().str() +
                           " does not exist on " + std::string(machine.platform),
                       sourceLocOf(func.getLoc()));
    });
  return found;
}

Status makeFolder(const std::string &dir) {
  std::error_code error;
  std::filesystem::create_directories(dir, error);
  return error
             ? Status(StatusCode::IoError, "cannot make the folder " + dir + ": " + error.message())
             : Status::ok();
}

Status writeFile(const std::string &path, const std::string &text) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file << text;
  file.close();
  return file.fail() ? Status(StatusCode::IoError, "cannot write " + path) : Status::ok();
}

/// What a program uses that a platform does not have.
std::optional<Status> findObstacle(ModuleOp module, const Platform &platform) {
  const Machine *machine = platform.machine();
  if (machine && !mergesForeignGroups(*machine)) // else a pass makes kernels of them
    if (std::optional<Status> foreign = findForeignRole(module, *machine))
      return foreign;
  Operation *op = platform.can(Capability::Ranks) ? nullptr : ir::findRanks(module);
  if (!op)
    return std::nullopt;
  return Status(StatusCode::Unsupported,
                op->getName().getStringRef().str() + ": the " + platform.name() +
                    " platform does not run programs of several ranks; use " +
                    platformNames(Capability::Ranks),
                sourceLocOf(op->getLoc()));
}

/// Has the program written down after each pass, where the settings say so. `failed` becomes what
/// is wrong with the folder.
void addDumps(PassManager &passes, const CompileSettings &options, CompiledProgram &compiled,
              Status &failed) {
  if (!options.dumpPasses.empty()) {
    failed = makeFolder(options.dumpPasses);
    passes.addInstrumentation(
        std::make_unique<PassDump>([&](const std::string &name, const std::string &text) {
          if (failed.isOk())
            failed = writeFile(options.dumpPasses + "/" + name, text);
        }));
  }
  if (options.keepPasses)
    passes.addInstrumentation(std::make_unique<PassDump>([&](std::string name, std::string text) {
      compiled.passes.emplace_back(std::move(name), std::move(text));
    }));
}

} // namespace

std::optional<CompiledProgram> compile(const Source &source, const CompileSettings &options,
                                       int &status,
                                       std::unique_ptr<PassInstrumentation> instrumentation) {
  status = kBadInput;
  auto tell = [&](const std::vector<Status> &errors) {
    printErrors(errors);
    if (options.errors)
      options.errors->insert(options.errors->end(), errors.begin(), errors.end());
    return std::nullopt;
  };
  auto refuse = [&](const std::string &message) {
    return tell({Status(StatusCode::InvalidArgument, message)});
  };
  const Machine *machine = options.platform ? options.platform->machine() : nullptr;
  // Passes make groups of kernels, so what a run starts with is decided before.
  Expected<ir::FuncOp> entry = findEntry(source.module, options.entry);
  if (!entry && (options.needsEntry || !options.entry.empty()))
    return refuse(entry.status().message());
  std::string entryName = entry ? entry->getSymName().str() : "";
  if (options.platform)
    if (std::optional<Status> obstacle = findObstacle(source.module, *options.platform))
      return tell({*obstacle});

  CompiledProgram compiled{ModuleOp(source.module).clone(), nullptr, machine};
  MLIRContext *context = compiled.module->getContext();
  PassManager passes(context);
  std::vector<std::string> names;
  PipelineOptions pipeline{machine,           options.lastPass,    options.remarks,
                           options.prove,     options.mergeGroups, entryName,
                           options.memoryMap, options.without};
  if (!buildPipeline(passes, pipeline, &names))
    return refuse("there is no pass '" + options.lastPass + "'" +
                  (options.platform ? " for " + options.platform->name() : "") +
                  "; its passes are, in order: " + llvm::join(names, ", "));
  Status dumpFailed = Status::ok();
  addDumps(passes, options, compiled, dumpFailed);
  if (instrumentation)
    passes.addInstrumentation(std::move(instrumentation));

  std::vector<Status> errors;
  ScopedDiagnosticHandler remarks = printRemarks(context, options.remarks, compiled.warnings);
  DiagnosticCollector collector(context, errors);
  if (failed(passes.run(*compiled.module)) && errors.empty())
    errors.emplace_back(StatusCode::Internal, "a pass failed without saying why");
  if (!errors.empty())
    return tell(errors);
  if (!dumpFailed.isOk())
    return refuse(dumpFailed.message());
  if (entry) {
    Expected<ir::FuncOp> left = findEntry(*compiled.module, entryName);
    if (!left)
      return refuse(left.status().message());
    compiled.entry = *left;
  }
  status = kGood;
  return compiled;
}

} // namespace kiln
