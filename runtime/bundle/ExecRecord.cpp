#include "bundle/ExecRecord.h"

#include "abi/FileIo.h"
#include "abi/RunFiles.h"

#include <filesystem>
#include <set>

using namespace kiln;

/// The files of a folder that people read.
static std::set<std::string> textsIn(const std::string &folder) {
  std::set<std::string> names;
  std::error_code error;
  for (const auto &entry : std::filesystem::directory_iterator(folder, error))
    for (const char *extension : {".cpp", ".cu", ".ll", ".ptx"})
      if (entry.path().extension() == extension)
        names.insert(entry.path().filename().string());
  return names;
}

ExecRecord::ExecRecord(const Bundle &bundle, std::string folder, const std::string &command,
                       uint64_t dataSeed, int dumpLevel)
    : Folder(std::move(folder)) {
  const BundleManifest &manifest = bundle.manifest();
  Run = {{"format", "kiln-run"},        {"version", 1},
         {"program", manifest.program}, {"platform", manifest.platform},
         {"outcome", "unfinished"},     {"command", command},
         {"started", startTime()},      {"bundle", bundle.directory()},
         {"built_for", manifest.arch},  {"built_by", manifest.toolchain},
         {"data_seed", dataSeed},       {"dump_level", dumpLevel},
         {"arguments", Json::array()}};
}

void ExecRecord::addTensor(const TensorParam &param, const Tensor &tensor,
                           const std::string &given) {
  Run["arguments"].push_back({{"name", param.name},
                              {"type", tensor.str()},
                              {"direction", toString(param.direction)},
                              {"given", given}});
}

void ExecRecord::addScalar(const ScalarParam &param, const ScalarBits &scalar,
                           const std::string &given) {
  Run["arguments"].push_back({{"name", param.name},
                              {"type", toString(scalar.type)},
                              {"value", scalar.str()},
                              {"given", given}});
}

Status ExecRecord::begin() {
  Status begun = beginRunFolder(Folder);
  return begun.isOk() ? write() : begun;
}

Status ExecRecord::writeCode(const Bundle &bundle) const {
  Json stages = Json::array(), emitted = Json::array();
  auto add = [](Json &list, const std::string &name, const std::string &path) {
    if (Expected<std::string> text = readFile(path, maxShownTextBytes))
      list.push_back({{"name", name}, {"text", *text}, {"lines", Json::array()}});
  };
  add(stages, "as built", bundle.directory() + "/program.mlir");
  for (const char *folder : {"orchestration", "kernels"})
    for (const std::string &name : textsIn(bundle.directory() + "/" + folder))
      add(emitted, name, bundle.directory() + "/" + folder + "/" + name);
  Json code{{"format", "kiln-code"},
            {"version", 1},
            {"files", Json::array()},
            {"stages", std::move(stages)},
            {"emitted", std::move(emitted)}};
  return writeRunFile(Folder, "code.json", code, onOneLine);
}

Status ExecRecord::finish(const std::string &outcome, const Status &error, const Json &report) {
  Run["outcome"] = outcome;
  Run["errors"] = Json::array();
  if (!error.isOk()) {
    const SourceLoc &at = error.location();
    Json place;
    if (at.isKnown())
      place = {{"file", at.file}, {"line", at.line}, {"column", at.col}};
    Run["errors"].push_back({{"message", error.message()}, {"location", std::move(place)}});
  }
  if (!report.is_null())
    Run["report"] = report;
  return write();
}

Status ExecRecord::write() const { return writeRunFile(Folder, "run.json", Run); }
