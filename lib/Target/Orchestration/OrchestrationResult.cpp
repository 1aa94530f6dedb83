#include "kiln/Target/Orchestration/Orchestration.h"

#include "abi/Json.h"

namespace kiln {

static const char *directionName(Direction direction) {
  return direction == Direction::In ? "IN" : direction == Direction::Out ? "OUT" : "INOUT";
}

static Json describe(const Signature &signature) {
  Json tensors = Json::array(), scalars = Json::array();
  for (const TensorParam &param : signature.tensors) {
    Json entry = {{"name", param.name},
                  {"direction", directionName(param.direction)},
                  {"dtype", toString(param.dtype)},
                  {"shape", Json::array()}};
    for (int64_t extent : param.extents)
      entry["shape"].push_back(extent == dynamicExtent ? Json() : Json(extent));
    if (param.internal)
      entry["internal"] = true;
    entry["const"] = param.isConst;
    if (param.box)
      entry["box"] = param.box->str(signature.scalars);
    tensors.push_back(std::move(entry));
  }
  for (const ScalarParam &param : signature.scalars)
    scalars.push_back({{"name", param.name}, {"type", toString(param.type)}});
  Json json = {{"tensors", std::move(tensors)}, {"scalars", std::move(scalars)}};
  for (const Requirement &requirement : signature.requirements)
    json["requires"].push_back(
        {{"condition", requirement.str(signature)}, {"message", requirement.message}});
  return json;
}

std::string OrchestrationResult::json() const {
  Json ids = Json::object(), coreTypes = Json::object(), signatures = Json::object();
  for (const std::string &name : kernels) {
    ids[name] = funcNameToId.at(name);
    coreTypes[name] = funcNameToCoreType.at(name);
    signatures[name] = describe(funcNameToSignature.at(name));
  }
  Json root = {{"code", code},
               {"entry_symbol", entrySymbol},
               {"func_name_to_id", std::move(ids)},
               {"func_name_to_core_type", std::move(coreTypes)},
               {"func_name_to_signature", std::move(signatures)},
               {"orchestration_signature", describe(orchestrationSignature)}};
  return jsonText(root) + "\n";
}

KernelConfig OrchestrationResult::kernelConfig(const std::string &platform,
                                               const std::string &orchestrationSource,
                                               const std::string &kernelSource) const {
  KernelConfig config;
  config.runtime = {{"platform", platform}, {"abi_version", int64_t(KILN_ABI_VERSION)}};
  config.orchestration = {orchestrationSource, entrySymbol, orchestrationSignature};
  for (const std::string &name : kernels)
    config.kernels.push_back({funcNameToId.at(name), name, kernelSource,
                              funcNameToCoreType.at(name), funcNameToSignature.at(name)});
  return config;
}

} // namespace kiln
