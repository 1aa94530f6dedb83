#include "Record.h"

#include "EmittedLines.h"

#include "abi/FileIo.h"
#include "abi/RunFiles.h"

#include "kiln/Program/Signature.h"
#include "kiln/Target/Orchestration/Orchestration.h"
#include "kiln/Target/Torch/Torch.h"

#include "mlir/IR/AsmState.h"

#include "llvm/ADT/StringSet.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/Support/Path.h"
#include "llvm/TargetParser/Host.h"

#include <sstream>

using namespace mlir;

namespace kiln {

/// The text of a source; empty if it cannot be read, or is too long. A program may name any file
/// as the place where it was written, and a record is sent to others: only sources are shown.
static std::string readSource(const std::string &path) {
  static const llvm::StringSet<> sources{".c",  ".cc",  ".cpp", ".cu",  ".cuh",  ".cxx", ".h",
                                         ".hh", ".hpp", ".inc", ".ipp", ".mlir", ".py",  ".tpp"};
  if (!sources.contains(llvm::sys::path::extension(path)))
    return "";
  Expected<std::string> text = readFile(path, maxShownTextBytes);
  return text ? *text : "";
}

Json placeJson(const SourceLoc &location) {
  if (!location.isKnown())
    return nullptr;
  Json json{{"file", location.file}, {"line", location.line}, {"column", location.col}};
  constexpr int32_t around = 3;
  Json lines = Json::array();
  std::istringstream text(readSource(location.file));
  std::string line;
  int32_t first = std::max(1, location.line - around);
  for (int32_t number = 1; number <= location.line + around && std::getline(text, line); ++number)
    if (number >= first)
      lines.push_back(line.substr(0, 400));
  if (!lines.empty())
    json["excerpt"] = {{"first", first}, {"lines", std::move(lines)}};
  return json;
}

void addDetails(Json &entry, const Finding &finding) {
  entry["location"] = placeJson(finding.location);
  for (size_t i = 0; i < finding.notes.size(); ++i)
    entry["notes"][i]["location"] = placeJson(finding.notes[i].location);
  entry["schedule"] = parseJson(scheduleJson(finding));
}

//===----------------------------------------------------------------------===//
// Code
//===----------------------------------------------------------------------===//

size_t CodeRecord::fileNumber(const std::string &path) {
  auto [known, isNew] = FileNumbers.try_emplace(path, Files.size());
  if (isNew)
    Files.push_back({{"name", path}, {"text", readSource(path)}});
  return known->second;
}

void CodeRecord::addStage(const std::string &name, ModuleOp module) {
  std::string text;
  AsmState::LocationMap printed;
  {
    llvm::raw_string_ostream os(text);
    AsmState state(module, OpPrintingFlags(), &printed);
    module->print(os, state);
  }
  Json stage{{"name", name}};
  if (text == LastText && !Stages.empty()) {
    stage["same"] = true; // as the stage before
    Stages.push_back(std::move(stage));
    return;
  }
  std::map<unsigned, SourceLoc> lines; // several operations of a line: the first
  module->walk<WalkOrder::PreOrder>([&](Operation *op) {
    auto at = printed.find(op);
    if (SourceLoc loc = sourceLocOf(op->getLoc()); at != printed.end() && loc.isKnown())
      lines.try_emplace(at->second.first, loc);
  });
  Json list = Json::array();
  for (const auto &[line, loc] : lines)
    list.push_back({line, fileNumber(loc.file), loc.line});
  stage["text"] = text;
  stage["lines"] = std::move(list);
  Stages.push_back(std::move(stage));
  LastText = std::move(text);
}

std::unique_ptr<PassInstrumentation> CodeRecord::instrumentation() {
  class AfterPass final : public PassInstrumentation {
  public:
    explicit AfterPass(CodeRecord &code) : Code(code) {}
    void runAfterPass(Pass *pass, Operation *op) override {
      if (auto module = dyn_cast<ModuleOp>(op); module && !pass->getArgument().empty())
        Code.addStage(pass->getArgument().str(), module);
    }

  private:
    CodeRecord &Code;
  };
  return std::make_unique<AfterPass>(*this);
}

void CodeRecord::addEmitted(const CompiledProgram &compiled, const Source &source,
                            const RunSettings &options) {
  std::vector<std::string> files(Files.size());
  for (const auto &[file, number] : FileNumbers)
    files[number] = file;
  auto add = [&](const std::string &name, const std::string &text, Json lines) {
    Emitted.push_back({{"name", name}, {"text", text}, {"lines", std::move(lines)}});
  };
  auto linesIn = [&](const std::string &text) {
    Json lines = Json::array();
    for (auto [at, place] : llvm::enumerate(placesOfEmitted(text, files)))
      if (place)
        lines.push_back({at + 1, place->file, place->line});
    return lines;
  };
  ir::FuncOp entry = compiled.entry;
  const EmitOptions how = options.textOptions();
  for (const Platform::Text &text : options.platform->texts())
    if (Expected<std::string> emitted = options.platform->emit(text.name, *compiled.module, how)) {
      // A reference says nothing of places in its text, and keeps them beside it.
      std::vector<SourceLoc> places;
      if (text.name == "torch")
        (void)emitTorch(*compiled.module, {how.entry, how.unboundedSlots, how.checkShapes},
                        &places);
      Json lines = linesIn(*emitted);
      for (auto [at, place] : llvm::enumerate(places))
        if (place.isKnown())
          lines.push_back({at + 1, fileNumber(place.file), place.line});
      add(text.name, *emitted, std::move(lines));
    }
  if (Expected<OrchestrationResult> emitted =
          emitOrchestration(*compiled.module, {source.name, entry.getSymName().str()}))
    add(kOrchestrationTarget, emitted->code, linesIn(emitted->code));
}

Status CodeRecord::write(const std::string &folder) const {
  return writeRunFile(folder, "code.json",
                      {{"format", "kiln-code"},
                       {"version", 1},
                       {"files", Files},
                       {"stages", Stages},
                       {"emitted", Emitted}},
                      onOneLine);
}

//===----------------------------------------------------------------------===//
// Runs
//===----------------------------------------------------------------------===//

RunRecord::RunRecord(const Source &source, const RunSettings &options) : Options(options) {
  Document = {{"format", "kiln-run"},        {"version", 1},
              {"program", source.name},      {"platform", options.platform->name()},
              {"outcome", "unfinished"},     {"command", options.command},
              {"started", startTime()},      {"kiln", KILN_VERSION},
              {"llvm", LLVM_VERSION_STRING}, {"host", llvm::sys::getHostCPUName().str()}};
  if (const Machine *machine = options.platform->machine())
    Document["machine"] = machine->name;
  Document["seed"] = options.seed;
  Document["data_seed"] = options.dataSeed;
  Document["dump_level"] = options.dumpLevel;
  Document["config"] = Json::object();
  if (source.config)
    for (const kiln_config::Declared &param : source.config->declared)
      Document["config"][param.name] = param.value;
}

Status RunRecord::begin() {
  Status begun = beginRunFolder(Options.out);
  return begun.isOk() ? write() : begun;
}

void RunRecord::setArguments(ir::FuncOp entry, std::span<const Argument> args,
                             const ArgSpecs &specs) {
  Json list = Json::array();
  std::vector<std::string> names = parameterNames(entry);
  for (auto [number, arg] : llvm::enumerate(args)) {
    auto spec = specs.find(names[number]);
    auto *tensor = std::get_if<Tensor>(&arg);
    Json json{{"name", names[number]}};
    if (tensor) {
      json["type"] = tensor->str();
      json["direction"] = toString(
          static_cast<Direction>(entry.getArgDirection(number).value_or(ir::Direction::In)));
    } else {
      ScalarBits scalar = std::get<ScalarBits>(arg);
      json["type"] = toString(scalar.type);
      json["value"] = scalar.str();
    }
    if (spec != specs.end())
      json["given"] = spec->second;
    list.push_back(std::move(json));
  }
  Document["arguments"] = std::move(list);
}

void RunRecord::setReport(const Json &report) { Document["report"] = report; }

void RunRecord::setFindings(const CheckReport &report) {
  Json findings = parseJson(toJson(report, Options.command))["findings"];
  for (size_t i = 0; i < report.findings.size(); ++i)
    addDetails(findings[i], report.findings[i]);
  Document["findings"] = std::move(findings);
}

Status RunRecord::finish(const std::string &outcome, const std::vector<Status> &errors) {
  Document["outcome"] = outcome;
  Document["errors"] = Json::array();
  for (const Status &error : errors)
    Document["errors"].push_back(
        {{"message", error.message()}, {"location", placeJson(error.location())}});
  return write();
}

Status RunRecord::write() const { return writeRunFile(Options.out, "run.json", Document); }

} // namespace kiln
