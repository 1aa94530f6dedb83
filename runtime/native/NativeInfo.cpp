// What a compiled program is made of, as JSON. Reading trusts nothing: bundles and cache entries
// come from disk.
#include "kiln/runtime/native_program.h"

#include "abi/Json.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

using namespace kiln;

static Status bad(const std::string &message) {
  return Status(StatusCode::InvalidArgument, "the description of the program: " + message);
}

Status NativeInfo::verify() const {
  if (!entry.signature)
    return bad("the entry has no signature");
  const Signature &signature = *entry.signature;
  if (entry.symbol.empty())
    return bad("the entry has no symbol");
  // Each tensor and each scalar once, each kind in its own order.
  size_t next[2] = {0, 0};
  for (const ParamRef &param : parameters)
    if (param.index != next[param.isTensor]++)
      return bad("its parameters are not in order");
  if (next[true] != signature.tensors.size() || next[false] != signature.scalars.size())
    return bad("it has not as many parameters as its signature");
  if (kind == Kind::Kernel && !kernels.empty())
    return bad("a kernel launches nothing");
  for (size_t i = 0; i < marked.size(); ++i)
    if (marked[i] >= signature.tensors.size() || (i > 0 && marked[i] <= marked[i - 1]))
      return bad("what is marked for dumps are no tensors of the entry, in order");
  std::vector<const NativeKernel *> all{&entry};
  for (const NativeKernel &kernel : kernels)
    all.push_back(&kernel);
  for (const NativeKernel *kernel : all) {
    if (kernel->name.empty() || kernel->symbol.empty())
      return bad("a kernel without a name or symbol");
    if (kernel->workspaceBytes > uint64_t(1) << 40)
      return bad("'" + kernel->name + "' wants more scratch than any machine has");
    for (int64_t blocks : kernel->blocksPerCall)
      if (blocks < 1 || blocks > int64_t(1) << 32)
        return bad("'" + kernel->name + "' wants a number of blocks in a call that there is not");
    if (kernel->signature)
      if (Status wrong = kernel->signature->verify(); !wrong.isOk())
        return wrong;
  }
  return Status::ok();
}

void kiln::setPlaces(NativeInfo &info, std::span<const SourceLoc> places) {
  auto set = [&](NativeKernel &kernel) {
    if (!kernel.signature)
      return;
    for (Requirement &requirement : kernel.signature->requirements)
      if (uint64_t(requirement.place) < places.size())
        requirement.loc = places[size_t(requirement.place)];
  };
  set(info.entry);
  for (NativeKernel &kernel : info.kernels)
    set(kernel);
}

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

static Json boxJson(const BlockBox &box) {
  Json axes = Json::array();
  for (const BlockBox::Axis &axis : box.axes)
    axes.push_back(axis.isWhole() ? Json(nullptr)
                                  : Json{{"constant", axis.constant},
                                         {"block", axis.perBlock},
                                         {"scalars", axis.perScalar},
                                         {"extent", axis.extent}});
  return axes;
}

/// `text` is for people; the parts are what is read back.
static Json requirementJson(const Requirement &requirement, const Signature &signature) {
  Json parts = Json::array();
  for (const Requirement::Node &node : requirement.nodes)
    parts.push_back({toString(node.op), node.bits, node.a, node.b});
  Json json{{"text", requirement.str(signature)}, {"parts", parts},
            {"message", requirement.message},     {"file", requirement.loc.file},
            {"line", requirement.loc.line},       {"col", requirement.loc.col}};
  if (requirement.place >= 0)
    json["place"] = requirement.place;
  return json;
}

static Json signatureJson(const Signature &signature) {
  Json tensors = Json::array(), scalars = Json::array();
  for (const TensorParam &tensor : signature.tensors) {
    Json extents = Json::array();
    for (int64_t extent : tensor.extents)
      extents.push_back(extent == dynamicExtent ? Json(nullptr) : Json(extent));
    tensors.push_back({{"name", tensor.name},
                       {"dtype", toString(tensor.dtype)},
                       {"direction", toString(tensor.direction)},
                       {"extents", extents},
                       {"internal", tensor.internal},
                       {"const", tensor.isConst},
                       {"box", tensor.box ? boxJson(*tensor.box) : Json(nullptr)}});
  }
  for (const ScalarParam &scalar : signature.scalars)
    scalars.push_back({{"name", scalar.name}, {"type", toString(scalar.type)}});
  Json json{{"name", signature.name},
            {"core_type", signature.coreType},
            {"tensors", tensors},
            {"scalars", scalars}};
  for (const Requirement &requirement : signature.requirements)
    json["requires"].push_back(requirementJson(requirement, signature));
  return json;
}

static Json groupJson(const GroupSpec &group) {
  Json roles = Json::array(), pipes = Json::array();
  for (const RoleSpec &role : group.roles)
    roles.push_back({{"name", role.name},
                     {"lanes", role.lanes},
                     {"workspace_bytes", role.workspaceBytes},
                     {"meets", role.meets}});
  for (const PipeSpec &pipe : group.pipes)
    pipes.push_back({{"name", pipe.name},
                     {"from", pipe.from},
                     {"to", pipe.to},
                     {"slots", pipe.slots},
                     {"payload_bytes", pipe.payloadBytes},
                     {"split", toString(pipe.split)}});
  return {{"roles", roles}, {"pipes", pipes}};
}

static Json kernelJson(const NativeKernel &kernel) {
  Json json{
      {"name", kernel.name}, {"symbol", kernel.symbol}, {"workspace_bytes", kernel.workspaceBytes}};
  if (kernel.signature)
    json["signature"] = signatureJson(*kernel.signature);
  if (kernel.group)
    json["group"] = groupJson(*kernel.group);
  if (!kernel.members.empty())
    json["members"] = kernel.members;
  if (kernel.blocksPerCall != NativeKernel().blocksPerCall)
    json["blocks_per_call"] = kernel.blocksPerCall;
  return json;
}

std::string kiln::toJson(const NativeInfo &info) {
  Json kernels = Json::array();
  for (const NativeKernel &kernel : info.kernels)
    kernels.push_back(kernelJson(kernel));
  std::string parameters;
  for (const ParamRef &param : info.parameters)
    parameters += param.isTensor ? 't' : 's';
  Json json{{"kind", info.kind == NativeInfo::Kind::Kernel ? "kernel" : "orchestration"},
            {"entry", kernelJson(info.entry)},
            {"parameters", parameters},
            {"kernels", kernels}};
  if (!info.marked.empty())
    json["marked"] = info.marked;
  return jsonText(json);
}

LinkedSymbol kiln::descriptionSymbol(const NativeInfo &info) {
  std::string text = toJson(info);
  return {"kiln_description", XXH3_64bits(text.data(), text.size()) | 1}; // a symbol of 0 is none
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

namespace {

/// Fields of a JSON object, each of the type that is asked for or noted as missing.
class Fields {
public:
  Fields(const Json &json, bool &good) : Object(json), Good(good) { Good &= json.is_object(); }

  std::string text(const char *name) const {
    const Json *value = get(name);
    return value && check(value->is_string()) ? value->get<std::string>() : "";
  }
  uint64_t number(const char *name) const {
    const Json *value = get(name);
    return value && check(value->is_number_unsigned()) ? value->get<uint64_t>() : 0;
  }
  uint32_t small(const char *name) const {
    uint64_t value = number(name);
    return check(value <= UINT32_MAX) ? static_cast<uint32_t>(value) : 0;
  }
  bool flag(const char *name) const {
    const Json *value = get(name);
    return value && check(value->is_boolean()) && value->get<bool>();
  }
  const Json &list(const char *name) const {
    static const Json none = Json::array();
    const Json *value = get(name);
    return value && check(value->is_array()) ? *value : none;
  }
  const Json *find(const char *name) const {
    auto found = Object.is_object() ? Object.find(name) : Object.end();
    return found == Object.end() ? nullptr : &*found;
  }
  bool check(bool isRight) const { return Good &= isRight, isRight; }

private:
  const Json *get(const char *name) const {
    const Json *value = find(name);
    check(value != nullptr);
    return value;
  }
  const Json &Object;
  bool &Good;
};

/// Signed numbers in a row.
std::vector<int64_t> readNumbers(const Json &json, size_t count, bool &good) {
  std::vector<int64_t> numbers;
  good &= json.is_array() && json.size() == count;
  for (size_t i = 0; good && i < count; ++i) {
    good &= json[i].is_number_integer();
    numbers.push_back(good ? json[i].get<int64_t>() : 0);
  }
  numbers.resize(count);
  return numbers;
}

/// Numbers in range or not: Signature::verify() decides.
std::optional<BlockBox> readBox(const Json &json, bool &good) {
  if (json.is_null())
    return std::nullopt;
  BlockBox box;
  good &= json.is_array();
  for (const Json &item : json.is_array() ? json : Json::array()) {
    BlockBox::Axis &axis = box.axes.emplace_back();
    if (item.is_null())
      continue;
    Fields fields(item, good);
    const Json *constant = fields.find("constant");
    good &= constant && constant->is_number_integer();
    axis.constant = good ? constant->get<int64_t>() : 0;
    axis.extent = static_cast<int64_t>(fields.number("extent"));
    std::vector<int64_t> block = readNumbers(fields.list("block"), axis.perBlock.size(), good);
    std::copy(block.begin(), block.end(), axis.perBlock.begin());
    for (const Json &pair : fields.list("scalars")) {
      std::vector<int64_t> numbers = readNumbers(pair, 2, good);
      good &= numbers[0] >= 0 && numbers[0] <= KILN_MAX_SCALARS;
      axis.perScalar.push_back({static_cast<uint32_t>(numbers[0]), numbers[1]});
    }
  }
  return box;
}

/// Parts that mean something or not: Signature::verify() decides.
Requirement readRequirement(const Json &json, bool &good) {
  Fields fields(json, good);
  Requirement requirement;
  for (const Json &part : fields.list("parts")) {
    bool isPart = part.is_array() && part.size() == 4 && part[0].is_string() &&
                  part[1].is_number_unsigned() && part[1].get<uint64_t>() <= 64 &&
                  part[2].is_number_integer() && part[3].is_number_integer();
    std::optional<Requirement::Op> op;
    if (isPart)
      op = parseRequirementOp(part[0].get_ref<const std::string &>());
    if (!fields.check(op.has_value()))
      break;
    requirement.nodes.push_back(
        {*op, part[1].get<uint8_t>(), part[2].get<int64_t>(), part[3].get<int64_t>()});
  }
  requirement.message = fields.text("message");
  requirement.loc = {fields.text("file"), static_cast<int32_t>(fields.small("line")),
                     static_cast<int32_t>(fields.small("col"))};
  if (fields.find("place"))
    requirement.place = fields.small("place");
  return requirement;
}

Signature readSignature(const Json &json, bool &good) {
  Fields fields(json, good);
  Signature signature{fields.text("name"), fields.text("core_type"), {}, {}};
  if (fields.find("requires"))
    for (const Json &item : fields.list("requires"))
      signature.requirements.push_back(readRequirement(item, good));
  for (const Json &item : fields.list("tensors")) {
    Fields tensor(item, good);
    TensorParam param;
    param.name = tensor.text("name");
    std::optional<DType> dtype = parseDType(tensor.text("dtype"));
    param.dtype = dtype.value_or(DType::F32);
    good &= dtype.has_value();
    std::string direction = tensor.text("direction");
    param.direction = direction == "in"    ? Direction::In
                      : direction == "out" ? Direction::Out
                                           : Direction::InOut;
    good &= direction == toString(param.direction);
    for (const Json &extent : tensor.list("extents")) {
      bool isNumber = extent.is_number_integer() && extent.get<int64_t>() >= 0;
      good &= extent.is_null() || isNumber;
      param.extents.push_back(isNumber ? extent.get<int64_t>() : dynamicExtent);
    }
    param.internal = tensor.flag("internal");
    param.isConst = tensor.flag("const");
    if (const Json *box = tensor.find("box"))
      param.box = readBox(*box, good);
    signature.tensors.push_back(std::move(param));
  }
  for (const Json &item : fields.list("scalars")) {
    Fields scalar(item, good);
    std::optional<DType> type = parseDType(scalar.text("type"));
    good &= type.has_value();
    signature.scalars.push_back({scalar.text("name"), type.value_or(DType::Index)});
  }
  return signature;
}

/// The rest is verified when the group is registered.
GroupSpec readGroup(const Json &json, bool &good) {
  Fields fields(json, good);
  GroupSpec group;
  for (const Json &item : fields.list("roles")) {
    Fields role(item, good);
    group.roles.push_back({role.text("name"), nullptr, role.small("lanes"),
                           role.number("workspace_bytes"), nullptr, role.flag("meets")});
  }
  for (const Json &item : fields.list("pipes")) {
    Fields pipe(item, good);
    PipeSpec spec{pipe.text("name"),   pipe.small("from"),           pipe.small("to"),
                  pipe.small("slots"), pipe.number("payload_bytes"), PipeSplit::None};
    std::string split = pipe.text("split");
    for (PipeSplit known : {PipeSplit::UpDown, PipeSplit::LeftRight})
      if (split == toString(known))
        spec.split = known;
    good &= split == toString(spec.split);
    group.pipes.push_back(std::move(spec));
  }
  return group;
}

NativeKernel readKernel(const Json &json, bool &good) {
  Fields fields(json, good);
  NativeKernel kernel{fields.text("name"), fields.text("symbol"), fields.number("workspace_bytes")};
  if (const Json *signature = fields.find("signature"))
    kernel.signature = readSignature(*signature, good);
  if (const Json *group = fields.find("group"))
    kernel.group = readGroup(*group, good);
  if (fields.find("members"))
    for (const Json &member : fields.list("members")) {
      good &= member.is_string();
      kernel.members.push_back(member.is_string() ? member.get<std::string>() : "");
    }
  if (const Json *blocks = fields.find("blocks_per_call")) {
    std::vector<int64_t> numbers = readNumbers(*blocks, KILN_MAX_GRID_DIMS, good);
    std::copy(numbers.begin(), numbers.end(), kernel.blocksPerCall.begin());
  }
  return kernel;
}

} // namespace

Expected<NativeInfo> kiln::parseNativeInfo(std::string_view text) {
  Json json = parseJson(text);
  bool good = true;
  Fields fields(json, good);
  if (!good)
    return bad("it is no JSON object");
  NativeInfo info;
  std::string kind = fields.text("kind");
  info.kind = kind == "kernel" ? NativeInfo::Kind::Kernel : NativeInfo::Kind::Orchestration;
  good &= kind == "kernel" || kind == "orchestration";
  const Json *entry = fields.find("entry");
  if (fields.check(entry != nullptr))
    info.entry = readKernel(*entry, good);
  uint16_t next[2] = {0, 0};
  for (char c : fields.text("parameters")) {
    good &= c == 't' || c == 's';
    info.parameters.push_back({c == 't', next[c == 't']++});
  }
  for (const Json &kernel : fields.list("kernels"))
    info.kernels.push_back(readKernel(kernel, good));
  if (fields.find("marked"))
    for (const Json &tensor : fields.list("marked")) {
      bool isNumber = tensor.is_number_unsigned() && tensor.get<uint64_t>() <= UINT16_MAX;
      info.marked.push_back(fields.check(isNumber) ? tensor.get<uint16_t>() : uint16_t(0));
    }
  if (!good)
    return bad("a field is missing or of the wrong type");
  if (Status wrong = info.verify(); !wrong.isOk())
    return wrong;
  return info;
}
