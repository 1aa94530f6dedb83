#include "kiln/runtime/kernel_config.h"

#include "FileIo.h"
#include "Json.h"

#include <set>

using namespace kiln;

static Status invalid(std::string message) {
  return Status(StatusCode::InvalidArgument, std::move(message));
}

/// Strict: no overlong forms, surrogates or values beyond U+10FFFF.
static bool isUtf8(std::string_view text) {
  for (size_t i = 0; i < text.size();) {
    auto lead = static_cast<unsigned char>(text[i]);
    size_t more = lead < 0x80                   ? 0
                  : lead >= 0xc2 && lead < 0xe0 ? 1
                  : (lead & 0xf0) == 0xe0       ? 2
                  : lead >= 0xf0 && lead < 0xf5 ? 3
                                                : 4;
    if (more == 4 || i + more >= text.size())
      return false;
    uint32_t code = more == 0 ? lead : lead & (0x3f >> more);
    for (size_t k = 1; k <= more; ++k) {
      auto next = static_cast<unsigned char>(text[i + k]);
      if ((next & 0xc0) != 0x80)
        return false;
      code = code << 6 | (next & 0x3f);
    }
    if ((more == 2 && (code < 0x800 || (code >= 0xd800 && code < 0xe000))) ||
        (more == 3 && (code < 0x10000 || code > 0x10ffff)))
      return false;
    i += more + 1;
  }
  return true;
}

static Status verifyText(const std::string &what, const std::string &text) {
  return isUtf8(text) ? Status::ok() : invalid("kernel config: " + what + " is not valid UTF-8");
}

static Status verifySignature(const std::string &who, const std::optional<Signature> &signature) {
  if (!signature)
    return Status::ok();
  if (Status bad = signature->verify(); !bad.isOk())
    return bad;
  for (const ScalarParam &scalar : signature->scalars)
    if (Status bad = verifyText(who + ", a scalar's name", scalar.name); !bad.isOk())
      return bad;
  for (const Requirement &requirement : signature->requirements)
    for (const std::string &text : {requirement.str(*signature), requirement.message})
      if (Status bad = verifyText(who + ", a requirement", text); !bad.isOk())
        return bad;
  return Status::ok();
}

Status KernelConfig::verify() const {
  std::set<std::string> keys, names;
  std::set<int32_t> ids;
  for (const auto &[key, value] : runtime) {
    if (key.empty() || !keys.insert(key).second)
      return invalid("kernel config: runtime key '" + key + "' is empty or given twice");
    if (Status bad = verifyText("a runtime key", key); !bad.isOk())
      return bad;
    if (const auto *text = std::get_if<std::string>(&value))
      if (Status bad = verifyText("runtime value '" + key + "'", *text); !bad.isOk())
        return bad;
  }
  for (const std::string *text : {&orchestration.source, &orchestration.functionName})
    if (Status bad = verifyText("the orchestration", *text); !bad.isOk())
      return bad;
  if (Status bad = verifySignature("orchestration", orchestration.signature); !bad.isOk())
    return bad;
  for (const KernelConfigEntry &kernel : kernels) {
    std::string who = "kernel '" + kernel.name + "'";
    if (kernel.name.empty() || !names.insert(kernel.name).second)
      return invalid("kernel config: " + who + " has no name, or one used twice");
    if (kernel.funcId < 0 || !ids.insert(kernel.funcId).second)
      return invalid("kernel config: " + who + ": func_id " + std::to_string(kernel.funcId) +
                     " is negative or used twice");
    if (kernel.signature && kernel.signature->name != kernel.name)
      return invalid("kernel config: " + who + " has the signature of '" + kernel.signature->name +
                     "'");
    for (const std::string *text : {&kernel.name, &kernel.source, &kernel.coreType})
      if (Status bad = verifyText(who, *text); !bad.isOk())
        return bad;
    if (Status bad = verifySignature(who, kernel.signature); !bad.isOk())
      return bad;
  }
  return Status::ok();
}

static bool anyKernelSigned(const KernelConfig &config) {
  for (const KernelConfigEntry &kernel : config.kernels)
    if (kernel.signature)
      return true;
  return false;
}

static const char *directionName(Direction direction) {
  return direction == Direction::In ? "IN" : direction == Direction::Out ? "OUT" : "INOUT";
}

static void addSignature(Json &object, const Signature &signature) {
  object["signature"] = Json::array();
  for (const TensorParam &tensor : signature.tensors)
    object["signature"].push_back(directionName(tensor.direction));
  object["const"] = Json::array();
  object["boxes"] = Json::array();
  for (size_t i = 0; i < signature.tensors.size(); ++i) {
    object["const"].push_back(signature.tensors[i].isConst);
    std::string box = signature.boxOf(i);
    object["boxes"].push_back(box.empty() ? Json(nullptr) : Json(box));
  }
  object["scalars"] = Json::array();
  for (const ScalarParam &scalar : signature.scalars)
    object["scalars"].push_back({{"name", scalar.name}, {"type", toString(scalar.type)}});
  for (const Requirement &requirement : signature.requirements)
    object["requires"].push_back(
        {{"condition", requirement.str(signature)}, {"message", requirement.message}});
}

/// The contents, once, for both renderings: this is what keeps them equal.
static Json contents(const KernelConfig &config) {
  Json root;
  Json &runtime = root["RUNTIME_CONFIG"] = Json::object();
  for (const auto &[key, value] : config.runtime)
    std::visit([&, &key = key](const auto &v) { runtime[key] = v; }, value);
  Json &orchestration = root["ORCHESTRATION"] = Json::object();
  orchestration["source"] = config.orchestration.source;
  orchestration["function_name"] = config.orchestration.functionName;
  if (config.orchestration.signature && anyKernelSigned(config))
    addSignature(orchestration, *config.orchestration.signature);
  Json &kernels = root["KERNELS"] = Json::array();
  for (const KernelConfigEntry &kernel : config.kernels) {
    Json entry = {{"func_id", kernel.funcId},
                  {"name", kernel.name},
                  {"source", kernel.source},
                  {"core_type", kernel.coreType}};
    if (kernel.signature)
      addSignature(entry, *kernel.signature);
    kernels.push_back(std::move(entry));
  }
  return root;
}

Expected<std::string> kiln::renderKernelConfigJson(const KernelConfig &config) {
  if (Status bad = config.verify(); !bad.isOk())
    return bad;
  return jsonText(contents(config)) + "\n";
}

static std::string pythonString(const std::string &text) {
  static const char hex[] = "0123456789abcdef";
  std::string out = "\"";
  for (char c : text) {
    auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\')
      out += {'\\', c};
    else if (c == '\n')
      out += "\\n";
    else if (byte < 0x20 || byte == 0x7f)
      out += {'\\', 'x', hex[byte >> 4], hex[byte & 15]};
    else
      out += c; // UTF-8, which is what Python 3 sources are
  }
  return out + "\"";
}

/// JSON as a Python expression; `directions` turns the strings of a "signature" list into enum
/// members.
static void renderPython(const Json &value, const std::string &indent, bool directions,
                         std::string &out) {
  if (value.is_null()) {
    out += "None";
  } else if (value.is_boolean()) {
    out += value.get<bool>() ? "True" : "False";
  } else if (value.is_string()) {
    const auto &text = value.get_ref<const std::string &>();
    out += directions ? "ArgDirection." + text : pythonString(text);
  } else if (value.is_array()) {
    bool flat = value.empty() || !value[0].is_object();
    std::string inner = indent + "    ";
    out += "[";
    for (size_t i = 0; i < value.size(); ++i) {
      out += flat ? (i ? ", " : "") : "\n" + inner;
      renderPython(value[i], inner, directions, out);
      out += flat ? "" : ",";
    }
    out += flat ? "]" : "\n" + indent + "]";
  } else if (value.is_object()) {
    std::string inner = indent + "    ";
    out += "{";
    for (const auto &[key, item] : value.items()) {
      out += "\n" + inner + pythonString(key) + ": ";
      renderPython(item, inner, key == "signature" && item.is_array(), out);
      out += ",";
    }
    out += value.empty() ? "}" : "\n" + indent + "}";
  } else {
    out += jsonText(value, onOneLine);
  }
}

Expected<std::string> kiln::renderKernelConfigPython(const KernelConfig &config) {
  if (Status bad = config.verify(); !bad.isOk())
    return bad;
  std::string out = "# Written by Kiln. The same contents as kernel_config.json.\n";
  if (anyKernelSigned(config))
    out += "try:\n"
           "    from simpler.task_interface import ArgDirection\n"
           "except ImportError:\n"
           "    import enum\n"
           "\n"
           "    class ArgDirection(enum.Enum):\n"
           "        IN = 0\n"
           "        OUT = 1\n"
           "        INOUT = 2\n"
           "        SCALAR = 3\n";
  Json root = contents(config);
  for (const auto &[key, value] : root.items()) {
    out += "\n" + key + " = ";
    renderPython(value, "", false, out);
    out += "\n";
  }
  return out;
}

Status kiln::writeKernelConfig(const KernelConfig &config, const std::string &directory) {
  Expected<std::string> json = renderKernelConfigJson(config);
  if (!json)
    return json.status();
  Expected<std::string> python = renderKernelConfigPython(config);
  if (!python)
    return python.status();
  if (Status bad = writeFileAtomically(directory + "/kernel_config.json", *json); !bad.isOk())
    return bad;
  return writeFileAtomically(directory + "/kernel_config.py", *python);
}
