// What a bundle says of its CUDA kernels, as JSON. Reading trusts nothing.
#include "kiln/runtime/cuda_program.h"

#include "abi/Json.h"
#include "kiln/runtime/cuda_ranks.h"

#include <cstring>
#include <optional>

using namespace kiln;

static Status bad(const std::string &message) {
  return Status(StatusCode::InvalidArgument, "the description of the CUDA kernels: " + message);
}

/// All kernels of a program are parts of one, or none is.
static Status verifyPart(const CudaKernel &kernel, const std::vector<CudaKernel> &all) {
  const CudaKernel &first = all.front();
  if (kernel.tableBytes != first.tableBytes || kernel.tableBytes > mostTaskTableBytes ||
      kernel.tableBytes % taskTableLine != 0)
    return bad("'" + kernel.name + "' has a table of tasks that others do not have");
  if (kernel.isPart() && (kernel.part >= all.size() || kernel.file != first.file ||
                          kernel.symbol != first.symbol || kernel.threads != first.threads ||
                          kernel.sharedBytes != first.sharedBytes || !kernel.isPersistent ||
                          taskTableHead + taskTableLine + taskBytes(kernel) > kernel.tableBytes))
    return bad("'" + kernel.name + "' is no part of the persistent kernel");
  return Status::ok();
}

Status kiln::verifyCudaKernels(const std::vector<CudaKernel> &kernels, const NativeInfo &info) {
  bool launches = info.kind == NativeInfo::Kind::Orchestration;
  std::vector<const NativeKernel *> wanted;
  for (const NativeKernel &kernel : info.kernels)
    wanted.push_back(&kernel);
  if (!launches)
    wanted.push_back(&info.entry);
  if (kernels.size() < wanted.size())
    return bad("there are not as many as the program launches");
  for (size_t i = wanted.size(); i < kernels.size(); ++i)
    if (!isRankKernel(kernels[i].name) || kernels[i].numTensors != 2 ||
        kernels[i].numScalars != 0 || !kernels[i].maps.empty() || kernels[i].counts() ||
        kernels[i].threads == 0 || kernels[i].threads > 1024 || kernels[i].sharedBytes != 0)
      return bad("'" + kernels[i].name + "' is launched by nobody");
  for (size_t i = 0; i < wanted.size(); ++i) {
    const CudaKernel &kernel = kernels[i];
    const std::optional<Signature> &signature = wanted[i]->signature;
    if (kernel.name != wanted[i]->name || kernel.symbol.empty() || kernel.file.empty())
      return bad("'" + kernel.name + "' is not what the program launches as number " +
                 std::to_string(i));
    if (!signature || kernel.numTensors != signature->tensors.size() ||
        kernel.numScalars != signature->scalars.size())
      return bad("'" + kernel.name + "' has not as many parameters as its signature");
    if (kernel.handsOutBlocks && (kernel.hasBarrier || !kernel.isPersistent))
      return bad("'" + kernel.name + "' hands out blocks that it starts");
    if (kernel.pairsBlocks && (kernel.counts() || !kernel.isPersistent))
      return bad("'" + kernel.name + "' runs in pairs of blocks that do not walk the grid");
    if (kernel.threads == 0 || kernel.threads > 1024 || kernel.sharedBytes > 227 * 1024)
      return bad("'" + kernel.name + "' asks for what no multiprocessor has");
    if (Status wrong = verifyPart(kernel, kernels); !wrong.isOk())
      return wrong;
    for (const CudaTensorMap &map : kernel.maps)
      if (map.tensor >= kernel.numTensors || map.rows == 0 || map.rows > 256 || map.cols == 0 ||
          map.cols > 256)
        return bad("'" + kernel.name + "' has a tensor map of no tensor");
  }
  return Status::ok();
}

std::string kiln::toJson(const std::vector<CudaKernel> &kernels) {
  Json list = Json::array();
  for (const CudaKernel &kernel : kernels) {
    Json maps = Json::array();
    for (const CudaTensorMap &map : kernel.maps)
      maps.push_back({{"tensor", map.tensor},
                      {"rows", map.rows},
                      {"cols", map.cols},
                      {"streams", map.streams},
                      {"ahead", map.isAhead}});
    list.push_back({{"name", kernel.name},
                    {"symbol", kernel.symbol},
                    {"file", kernel.file},
                    {"threads", kernel.threads},
                    {"shared_bytes", kernel.sharedBytes},
                    {"tensors", kernel.numTensors},
                    {"scalars", kernel.numScalars},
                    {"maps", maps},
                    {"persistent", kernel.isPersistent},
                    {"barrier", kernel.hasBarrier},
                    {"hands_out", kernel.handsOutBlocks},
                    {"pairs", kernel.pairsBlocks},
                    {"checked", kernel.isChecked}});
    if (kernel.isPart()) {
      list.back()["table_bytes"] = kernel.tableBytes;
      list.back()["part"] = kernel.part;
    }
  }
  return jsonText(list);
}

Expected<std::vector<CudaKernel>> kiln::parseCudaKernels(std::string_view text) {
  Json json = parseJson(text);
  bool good = json.is_array();
  auto number = [&](const Json &object, const char *name) -> uint32_t {
    bool isThere = object.is_object() && object.contains(name) &&
                   object[name].is_number_unsigned() && object[name].get<uint64_t>() <= UINT32_MAX;
    good &= isThere;
    return isThere ? object[name].get<uint32_t>() : 0;
  };
  auto flag = [&](const Json &object, const char *name) {
    bool isThere = object.is_object() && object.contains(name) && object[name].is_boolean();
    good &= isThere;
    return isThere && object[name].get<bool>();
  };
  auto word = [&](const Json &object, const char *name) -> std::string {
    bool isThere = object.is_object() && object.contains(name) && object[name].is_string();
    good &= isThere;
    return isThere ? object[name].get<std::string>() : "";
  };
  std::vector<CudaKernel> kernels;
  for (const Json &item : good ? json : Json::array()) {
    CudaKernel kernel;
    kernel.name = word(item, "name");
    kernel.symbol = word(item, "symbol");
    kernel.file = word(item, "file");
    kernel.threads = number(item, "threads");
    kernel.sharedBytes = number(item, "shared_bytes");
    kernel.numTensors = number(item, "tensors");
    kernel.numScalars = number(item, "scalars");
    good &= item.is_object() && item.contains("maps") && item["maps"].is_array();
    kernel.isPersistent = flag(item, "persistent");
    kernel.hasBarrier = flag(item, "barrier");
    kernel.handsOutBlocks = flag(item, "hands_out");
    kernel.pairsBlocks = flag(item, "pairs");
    kernel.isChecked = flag(item, "checked");
    if (item.is_object() && item.contains("table_bytes")) {
      kernel.tableBytes = number(item, "table_bytes");
      kernel.part = number(item, "part");
    }
    for (const Json &map : good ? item["maps"] : Json::array())
      kernel.maps.push_back({number(map, "tensor"), number(map, "rows"), number(map, "cols"),
                             flag(map, "streams"), flag(map, "ahead")});
    kernels.push_back(std::move(kernel));
  }
  if (!good)
    return bad("a field is missing or of the wrong type");
  return kernels;
}

//===----------------------------------------------------------------------===//
// Everything in one string
//===----------------------------------------------------------------------===//

// For each file its name and its contents, each after its length; the description of the kernels
// first, under a name that no file has.

static void append(std::string &packed, std::string_view part) {
  uint64_t length = part.size();
  packed.append(reinterpret_cast<const char *>(&length), sizeof length);
  packed += part;
}

/// The next part, or nothing where there is none.
static std::optional<std::string_view> nextPart(std::string_view &packed) {
  uint64_t length = 0;
  if (packed.size() < sizeof length)
    return std::nullopt;
  std::memcpy(&length, packed.data(), sizeof length);
  packed.remove_prefix(sizeof length);
  if (length > packed.size())
    return std::nullopt;
  std::string_view part = packed.substr(0, length);
  packed.remove_prefix(length);
  return part;
}

std::string kiln::packCuda(const std::vector<CudaKernel> &kernels,
                           const std::map<std::string, std::string> &files) {
  std::string packed;
  append(packed, toJson(kernels));
  for (const auto &[name, contents] : files) {
    append(packed, name);
    append(packed, contents);
  }
  return packed;
}

Expected<std::vector<CudaKernel>> kiln::unpackCuda(std::string_view packed,
                                                   std::map<std::string, std::string> &files) {
  std::optional<std::string_view> description = nextPart(packed);
  if (!description)
    return bad("there is none");
  while (!packed.empty()) {
    std::optional<std::string_view> name = nextPart(packed), contents;
    if (name)
      contents = nextPart(packed);
    if (!contents)
      return bad("a file is cut off");
    files[std::string(*name)] = *contents;
  }
  return parseCudaKernels(*description);
}
