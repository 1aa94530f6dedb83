// Options, names, and the rendering of an entry.
#include "abi/Environment.h"
#include "dump/DumpFormat.h"

#include <cmath>

using namespace kiln;

Expected<int> kiln::parseDumpLevel(std::string_view text, const std::string &source) {
  if (text.size() == 1 && text[0] >= '0' && text[0] <= '3')
    return text[0] - '0';
  return Status(StatusCode::InvalidArgument, source + "='" + std::string(text) +
                                                 "' is not a dump level: 0 (off), 1 (marked), 2 "
                                                 "(everything) or 3 (metadata, payload of marked)");
}

Expected<int> kiln::dumpLevelFromEnvironment(int fallback) {
  std::string text = textFromEnvironment("KILN_DUMP");
  return text.empty() ? Expected<int>(fallback) : parseDumpLevel(text, "KILN_DUMP");
}

std::string kiln::dumpDirectory(const std::string &out) {
  return out + "/" + dumpformat::subdirectory;
}

const char *kiln::toString(DumpStage stage) {
  return stage == DumpStage::BeforeDispatch ? "before_dispatch" : "after_completion";
}

Json dumpformat::scalarValue(const ScalarBits &scalar) {
  if (info(scalar.type).cls == DTypeClass::Bool)
    return scalar.asInt() != 0;
  if (!isFloat(scalar.type))
    return scalar.asInt();
  if (!std::isfinite(scalar.asDouble()))
    return scalar.str();
  return scalar.asDouble();
}

Json dumpformat::toJson(const DumpEntry &entry) {
  Json json;
  json["task"] = entry.task;
  json["kernel"] = entry.kernel;
  json["kernels"] = entry.kernels;
  json["arg_index"] = entry.argIndex;
  json["arg_name"] = entry.argName;
  json["kind"] = entry.isScalar ? "scalar" : "tensor";
  json["role"] = toString(entry.role);
  json["stage"] = toString(entry.stage);
  json["dtype"] = toString(entry.dtype);
  json["unsigned"] = !entry.hasSignature;
  if (entry.isScalar) {
    json["value"] = scalarValue(entry.scalar);
    json["scalar_value"] = entry.scalar.bits;
  } else {
    json["shape"] = entry.shape;
    json["strides"] = entry.strides;
    json["offset"] = entry.offset;
    json["contiguous"] = entry.contiguous;
    json["address"] = entry.address;
    json["buffer_id"] = entry.bufferId;
    if (!entry.box.empty())
      json["box"] = entry.box;
    json["internal"] = entry.internal;
    json["marked"] = entry.marked;
  }
  json["bin_offset"] = entry.binOffset;
  json["bin_size"] = entry.binSize;
  json["truncated"] = entry.truncated;
  return json;
}

std::string dumpformat::toText(const Json &json) { return jsonText(json, onOneLine); }
