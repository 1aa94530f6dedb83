#include "Planner.h"

#include "kiln/Dialect/Tile/GlobalRing.h"
#include "kiln/runtime/arguments.h"

using namespace mlir;

namespace kiln {

std::string CheckCase::flags() const {
  std::string text = entry.empty() ? "" : "--entry " + entry;
  for (const auto &[name, spec] : specs)
    if (!spec.empty())
      text += (text.empty() ? "--arg " : " --arg ") + name + "=" + spec;
  return text;
}

Status Planner::readGiven() {
  ArgSpecs specs = Options.args;
  if (Program.example)
    for (const auto &[name, spec] : Program.example->args)
      specs.try_emplace(name, spec);
  Invents = specs.empty();
  for (auto &[name, spec] : specs)
    takeAxis(spec); // the plan is that of one rank, which has all of it
  Names = parameterNames(Entry);
  std::vector<std::string> names = parameterNames(Entry);
  names.resize(ir::numUserParameters(Entry));
  for (const auto &[name, spec] : specs)
    if (!llvm::is_contained(names, name))
      return Status(StatusCode::InvalidArgument,
                    "@" + Entry.getSymName().str() + " has no argument '" + name + "'; it has " +
                        (names.empty() ? "none" : llvm::join(names, ", ")));
  for (auto [number, name] : llvm::enumerate(names)) {
    Type type = Entry.getArgumentTypes()[number];
    auto given = specs.find(name);
    std::string spec = given == specs.end() ? "" : given->second;
    auto tensor = dyn_cast<ir::TensorType>(type);
    bool isRead = Entry.getArgDirection(number) != ir::Direction::Out;
    bool isFilled = spec.find(':') != std::string::npos;
    HasInventedData |= tensor && isRead && !isFilled;
    if (tensor && isRead && !isFilled && tensor.getElementType().isInteger())
      InventedIntegers.push_back(name);
    if (tensor)
      Numbers.push_back(number);
    Status bad = tensor ? addTensor(name, tensor, spec) : addScalar(name, type, spec);
    if (!bad.isOk())
      return bad;
  }
  return Status::ok();
}

Status Planner::addTensor(const std::string &name, ir::TensorType type, const std::string &spec) {
  TensorSlot slot{name, {}, "", ""};
  auto fail = [&](const std::string &message) {
    return Status(StatusCode::InvalidArgument, "argument '" + name + "': " + message);
  };
  if (StringRef(spec).starts_with("file:")) {
    slot.file = spec;
    Tensors.push_back(slot);
    return Status::ok();
  }
  auto [shape, fill] = StringRef(spec).split(':');
  slot.fill = StringRef(spec).contains(':') ? ":" + fill.str() : "";
  SmallVector<StringRef> parts;
  if (!shape.empty())
    shape.split(parts, 'x');
  for (auto [axis, extent] : llvm::enumerate(type.getShape())) {
    if (!ShapedType::isDynamic(extent)) {
      slot.extents.push_back(extent);
      continue;
    }
    int64_t value = baseExtent({Numbers.back(), axis});
    if (shape.empty() && !Invents)
      return fail("its extents are known at run time only; give them with --arg " + name +
                  (type.getShape().size() == 2 ? "=ROWSxCOLS" : "=NxNx..."));
    // What is wrong with a shape is said where the tensor is made.
    if (!shape.empty() && (axis >= parts.size() || parts[axis].getAsInteger(10, value)))
      value = 0;
    Open.emplace_back(Tensors.size(), axis);
    slot.extents.push_back(value);
  }
  if (!shape.empty() && !Invents) { // keep what was written, right or wrong
    SmallVector<int64_t> given;
    bool isShape = llvm::all_of(parts, [&](StringRef part) {
      return !part.getAsInteger(10, given.emplace_back()) && given.back() >= 0;
    });
    if (!isShape || given.size() != slot.extents.size())
      slot.file = spec;
    else
      slot.extents.assign(given.begin(), given.end());
  }
  Tensors.push_back(slot);
  return Status::ok();
}

Status Planner::addScalar(const std::string &name, Type type, const std::string &spec) {
  std::string value = spec;
  if (spec.empty() && !Invents)
    return Status(StatusCode::InvalidArgument,
                  "argument '" + name + "': is a scalar; give it with --arg " + name + "=VALUE");
  if (spec.empty()) {
    value = isa<FloatType>(type) ? kBaseFloat : std::to_string(type.isInteger(1) ? 1 : kBaseScalar);
    if (type.isInteger(1))
      InventedFlags.push_back(name);
    else if (type.isIndex() || type.isInteger())
      InventedScalars.push_back(name);
    if (type.isInteger() && !type.isInteger(1))
      SignedScalars.insert(name);
  }
  int64_t number = 0;
  if (isa<FloatType>(type))
    Floats.push_back(name);
  else if (!spec.empty() && !type.isInteger(1) && !StringRef(spec).getAsInteger(10, number))
    GivenNumbers[name] = number;
  Scalars[name] = value;
  ScalarNames.push_back(name);
  return Status::ok();
}

bool Planner::isCount(const ExtentClass &extents) const {
  return llvm::all_of(extents,
                      [&](Axis axis) { return isLeading({Numbers[axis.first], axis.second}); });
}

/// Of many different tiles the least and the greatest are the ones that edges depend on.
std::set<int64_t> Planner::edgeTiles() const {
  std::set<int64_t> tiles;
  for (int64_t extent : TileExtents)
    if (extent > 1 && extent <= kMostTileExtent)
      tiles.insert(extent);
  if (tiles.size() > 2)
    tiles = {*tiles.begin(), *tiles.rbegin()};
  return tiles;
}

/// Nothing, one, a tile less one, a tile, a tile and one more, several of them, something odd and a
/// prime. Where the program requires a least extent or a divisor, what is next to allow.
std::vector<int64_t> Planner::valuesFor(const ExtentClass &extents) const {
  std::set<int64_t> values{0, 1, 3};
  auto [tensor, axis] = extents.front();
  int64_t first = Tensors[tensor].extents[axis];
  if (isCount(extents)) {
    values.insert(kManyLeading);
    values.erase(first);
    return {values.begin(), values.end()};
  }
  values.insert(13);
  for (int64_t tile : edgeTiles()) {
    values.insert({tile - 1, tile, tile + 1, 2 * tile, 2 * tile + 1});
  }
  NumberRange allowed = range(Leaf{Numbers[tensor], int(axis)});
  if (allowed.least > 1 || allowed.divisor > 1)
    for (int64_t tile : edgeTiles())
      for (int64_t more : {allowed.divisor, tile, 2 * tile})
        values.insert(first + llvm::divideCeil(more, allowed.divisor) * allowed.divisor);
  values.erase(first);
  dropUnused(extents, values);
  return {values.begin(), values.end()};
}

/// Where a program works on a fixed part of a tensor, it needs that much, and does not say what
/// lies beyond; only a formula does, and who declares an output promises to write all of it.
void Planner::dropUnused(const ExtentClass &extents, std::set<int64_t> &values) const {
  bool isPromised = hasFormula() || llvm::any_of(extents, [&](Axis axis) {
                      return isDeclaredOut(Numbers[axis.first]);
                    });
  for (auto [tensor, axis] : extents)
    if (const AxisUse *use = fixedUse({Numbers[tensor], axis})) {
      if (use->last > 0 && Invents)
        values.erase(values.begin(), values.upper_bound(use->last));
      if (!isPromised)
        values.erase(values.upper_bound(use->covered), values.end());
    }
}

/// One more than one or two tiles that are too large to be tried like the others, and many of
/// those.
std::vector<int64_t> Planner::largeValuesFor(const ExtentClass &extents) const {
  std::set<int64_t> values;
  if (isCount(extents))
    return {};
  for (int64_t extent : TileExtents)
    if (extent > kMostTileExtent)
      values.insert({extent + 1, 2 * extent + 1});
  for (int64_t tile : edgeTiles())
    values.insert(5 * tile);
  values.insert(BeyondCounting.begin(), BeyondCounting.end());
  dropUnused(extents, values);
  return {values.begin(), values.end()};
}

CheckCase Planner::firstCase() const {
  CheckCase first;
  first.entry = Options.isOneOfSeveral ? Options.entry : "";
  for (const TensorSlot &slot : Tensors)
    first.specs[slot.name] = slot.spec();
  for (const auto &[name, value] : Scalars)
    first.specs[name] = value;
  bool hasNumbers = !InventedScalars.empty() || !InventedFlags.empty();
  first.isInvented = Invents && (!Open.empty() || hasNumbers);
  first.hasInventedScalars = hasNumbers;
  return first;
}

CheckCase Planner::withExtents(ArrayRef<std::pair<const ExtentClass *, int64_t>> changes) const {
  CheckCase changed = firstCase();
  Arguments args{Tensors, Scalars};
  std::vector<TensorSlot> &slots = args.tensors;
  Chosen chosen;
  for (auto [members, extent] : changes) {
    for (auto [tensor, axis] : *members) {
      slots[tensor].extents[axis] = extent;
      chosen.axes.emplace(tensor, axis);
    }
    auto [tensor, axis] = members->front();
    std::string dim = slots[tensor].name + ".dim(" + std::to_string(axis) + ")";
    auto tile = llvm::find_if(
        TileExtents, [&, value = extent](int64_t tile) { return tile > 1 && value % tile != 0; });
    if (extent > 0 && tile == TileExtents.end())
      continue; // nothing about the number itself
    if (!changed.exclusion.empty())
      changed.exclusion += " or ";
    changed.exclusion += extent == 0 ? "require(" + dim + " > 0)"
                                     : "require(" + dim + " % " + std::to_string(*tile) + " == 0)";
  }
  settle(args, chosen);
  for (const TensorSlot &slot : slots)
    changed.specs[slot.name] = slot.spec();
  for (const auto &[name, value] : args.scalars)
    changed.specs[name] = value;
  changed.isInvented = true;
  changed.tie = tieOf(slots);
  return changed;
}

bool Planner::areRelated(size_t one, size_t other) const {
  return llvm::any_of(Contract.requirements, [&](const Requirement &requirement) {
    auto mentions = [&](size_t tensor) {
      return llvm::any_of(requirement.nodes, [&](const Requirement::Node &node) {
        return node.op == Requirement::Op::Extent && size_t(node.a) == tensor;
      });
    };
    return mentions(one) && mentions(other);
  });
}

/// Once a program requires something, only what it ties varies together.
std::string Planner::tieOf(ArrayRef<TensorSlot> slots) const {
  if (!Invents || Contract.requirements.empty())
    return "";
  for (size_t i = 0; i < slots.size(); ++i)
    for (size_t j = i + 1; j < slots.size(); ++j)
      if (Tensors[i].extents == Tensors[j].extents && slots[i].extents != slots[j].extents &&
          !areRelated(i, j))
        return "'" + slots[i].name + "' and '" + slots[j].name +
               "' have different shapes here, and nothing in the program forbids it; if they must "
               "be equal, say require_same_shape(" +
               slots[i].name + ", " + slots[j].name + ", \"...\"), in text kiln.require";
  return "";
}

/// Whether the numbers in an input say something about extents: a table, positions, a file. A float
/// that is repeated does not.
bool Planner::dependsOnShape() const {
  return llvm::any_of(llvm::zip(Tensors, Numbers), [&](auto both) {
    const auto &[slot, number] = both;
    auto type = cast<ir::TensorType>(ir::FuncOp(Entry).getArgumentTypes()[number]);
    StringRef fill = StringRef(slot.fill).drop_front(std::min<size_t>(slot.fill.size(), 1));
    bool isRepeated = isa<FloatType>(type.getElementType()) && !fill.contains(',');
    return !slot.file.empty() || fill == "iota" || fill == "shuffled" ||
           (!fill.empty() && !isRepeated && (llvm::isDigit(fill[0]) || fill[0] == '-'));
  });
}

/// Where blocks run along an axis, their number has to change, or nothing else does.
std::optional<CheckCase> Planner::withPart(const ExtentClass &part) const {
  auto [tensor, axis] = part.front();
  int64_t first = Tensors[tensor].extents[axis];
  std::vector<int64_t> values = valuesFor(part);
  std::set<int64_t> tiles = edgeTiles();
  auto rank = [&](int64_t value) {
    bool isShort = value < 2 || (!tiles.empty() && value <= *tiles.begin());
    bool hasAsMany = llvm::any_of(tiles, [&](int64_t tile) {
      return llvm::divideCeil(value, tile) == llvm::divideCeil(first, tile);
    });
    return std::tuple(value == 0, hasAsMany, isShort, value);
  };
  llvm::sort(values, [&](int64_t one, int64_t other) { return rank(one) < rank(other); });
  for (int64_t value : values) {
    Arguments args{Tensors, Scalars};
    Chosen chosen;
    for (auto [member, at] : part) {
      args.tensors[member].extents[at] = value;
      chosen.axes.emplace(member, at);
    }
    settle(args, chosen);
    if (isAllowed(args.tensors, args.scalars))
      return withExtents({{&part, value}});
  }
  return std::nullopt;
}

void Planner::addShapes(CheckPlan &plan) const {
  const std::vector<ExtentClass> &classes = Classes;
  std::set<std::string> known{plan.cases.front().flags()};
  auto add = [&](CheckCase next) {
    if (known.insert(next.flags()).second)
      plan.cases.push_back(std::move(next));
  };
  for (const ExtentClass &one : classes)
    for (int64_t value : valuesFor(one))
      add(withExtents({{&one, value}}));
  for (const ExtentClass &one : classes)
    for (int64_t value : largeValuesFor(one))
      plan.large.push_back(withExtents({{&one, value}}));
  int64_t beyond = baseExtent() + 1;
  auto has = [](const std::vector<int64_t> &values, int64_t value) {
    return llvm::is_contained(values, value);
  };
  for (size_t i = 0; i < classes.size(); ++i)
    for (size_t j = i + 1; j < classes.size(); ++j)
      for (int64_t value : {int64_t(1), beyond})
        for (int64_t other : {value, 1 + beyond - value})
          if (has(valuesFor(classes[i]), value) && has(valuesFor(classes[j]), other))
            add(withExtents({{&classes[i], value}, {&classes[j], other}}));
  addBroadcasts(add);
  if (!Invents)
    for (const ExtentClass &part : partsByChance())
      if (std::optional<CheckCase> next = withPart(part))
        add(std::move(*next));
  // Of two things that are counted one may be many times the other: heads, and heads of keys.
  for (const ExtentClass &one : classes)
    for (const ExtentClass &other : classes)
      if (&one != &other && isCount(one) && isCount(other))
        add(withExtents({{&one, kManyLeading}, {&other, 1}}));
  // Blocks that start at once must fit the machine: some extent gives more than there are cores.
  const Machine *machine = Options.platform->machine();
  bool startsAtOnce = false;
  ModuleOp(Program.module).walk([&](Operation *op) {
    auto submit = dyn_cast<ir::SubmitOp>(op);
    auto incore = dyn_cast<ir::IncoreOp>(op);
    startsAtOnce |= (submit && submit.getSyncStart()) || (incore && incore.getSyncStart());
  });
  if (startsAtOnce && machine && machine->coreGroups > 0)
    for (const ExtentClass &one : classes)
      for (int64_t extent : TileExtents)
        add(withExtents({{&one, (machine->coreGroups + 1) * extent}}));
}

/// A formula may repeat the only row or column of an input, and the program not.
void Planner::addBroadcasts(llvm::function_ref<void(CheckCase)> add) const {
  if (!hasFormula())
    return;
  for (Axis axis : Open)
    if (ir::FuncOp(Entry).getArgDirection(Numbers[axis.first]) == ir::Direction::In &&
        !isLeading({Numbers[axis.first], axis.second})) {
      ExtentClass alone{axis};
      add(withExtents({{&alone, 1}}));
    }
}

/// Data that an input may hold besides random ones, and by how much differences may be greater
/// then: sums of squares of numbers a hundred times as large are ten thousand times as large.
struct Planner::Fill {
  const char *text;
  int64_t slack;
};

/// What else data may be that Kiln makes up, for a formula to compare: equal numbers, zeros, and,
/// unless products of them cancel each other, large ones, random or all far below zero.
void Planner::addData(CheckPlan &plan) const {
  if (!hasFormula())
    return;
  bool hasProducts = false;
  ModuleOp(Program.module).walk([&](Operation *op) {
    hasProducts |= isa<tile::ProductInterface>(op);
  });
  auto isFloat = [](Type type) { return isa<FloatType>(type); };
  addFill(plan, {":ones", 1}, isFloat);
  addFill(plan, {":zeros", 1}, isFloat);
  if (!hasProducts) {
    addFill(plan, {":normal*100", 10000}, isFloat);
    addFill(plan, {":-1000", 1000000}, isFloat);
  }
  // Sums and products of these leave their type. A result of such a type may be meant to wrap.
  auto isNarrow = [](Type type) { return type.isInteger(8) || type.isInteger(16); };
  bool givesNarrow = llvm::any_of(Numbers, [&](unsigned number) {
    auto type = cast<ir::TensorType>(ir::FuncOp(Entry).getArgumentTypes()[number]);
    return ir::FuncOp(Entry).getArgDirection(number) != ir::Direction::In &&
           isNarrow(type.getElementType());
  });
  if (!givesNarrow)
    for (unsigned width : {8u, 16u})
      addFill(plan,
              width == 8 ? Fill{":127,-128,100", 1 << 14} : Fill{":32767,-32768,300", 1 << 30},
              [&](Type type) { return type.isInteger(width); });
}

/// The first case with other data in all inputs of a type that nobody has filled.
void Planner::addFill(CheckPlan &plan, const Fill &fill,
                      llvm::function_ref<bool(Type)> isOfType) const {
  CheckCase changed = firstCase();
  changed.slack = fill.slack;
  bool isOther = false;
  for (auto [slot, number] : llvm::zip(Tensors, Numbers)) {
    auto type = cast<ir::TensorType>(ir::FuncOp(Entry).getArgumentTypes()[number]);
    bool isFree = slot.fill.empty() && slot.file.empty() && isOfType(type.getElementType()) &&
                  ir::FuncOp(Entry).getArgDirection(number) == ir::Direction::In;
    if (isFree)
      changed.specs[slot.name] = slot.spec() + fill.text;
    isOther |= isFree;
  }
  if (isOther)
    plan.cases.push_back(std::move(changed));
}

/// Other numbers than those that were given or made up, where a formula says what they do.
void Planner::addNumbers(CheckPlan &plan) const {
  auto add = [&](const std::string &name, const std::string &value) {
    CheckCase changed = firstCase();
    changed.isInvented = true;
    changed.specs[name] = value;
    plan.cases.push_back(std::move(changed));
  };
  if (!hasFormula())
    return;
  for (const std::string &name : Floats)
    for (const char *value : {"0", "-2.5"})
      if (Scalars.at(name) == kBaseFloat)
        add(name, value);
  if (!dependsOnShape())
    for (const auto &[name, number] : GivenNumbers)
      for (int64_t value : {number - 1, number + 1})
        if (value >= 0)
          add(name, std::to_string(value));
}

void Planner::addScalars(CheckPlan &plan) const {
  std::set<int64_t> values{0, 1, 3};
  auto addAround = [&](int64_t constant) {
    for (int64_t value : {constant - 1, constant, constant + 1})
      if (value >= 0 && value <= 4096)
        values.insert(value);
  };
  for (int64_t constant : ComparedConstants)
    addAround(constant);
  for (const TensorSlot &slot : Tensors) // a number may be an index
    for (int64_t extent : slot.extents)
      if (extent <= kMostTileExtent)
        addAround(extent);
  values.erase(kBaseScalar);
  auto add = [&](std::vector<std::pair<std::string, int64_t>> changes) {
    CheckCase changed = firstCase();
    changed.isInvented = true;
    for (const auto &[name, value] : changes) {
      changed.specs[name] = std::to_string(value);
      changed.exclusion += (changed.exclusion.empty() ? "require(" : " or require(") + name +
                           " != " + std::to_string(value) + ")";
    }
    plan.cases.push_back(std::move(changed));
  };
  for (const std::string &name : InventedScalars) {
    for (int64_t value : values)
      add({{name, value}});
    if (SignedScalars.count(name))
      add({{name, -1}});
  }
  for (const std::string &name : InventedFlags)
    add({{name, 0}});
  for (size_t i = 0; i < InventedScalars.size(); ++i)
    for (size_t j = i + 1; j < InventedScalars.size(); ++j)
      for (auto [one, other] : {std::pair(1, 3), std::pair(3, 1)})
        add({{InventedScalars[i], one}, {InventedScalars[j], other}});
}

Expected<CheckPlan> Planner::make() {
  collectConstants();
  std::vector<std::optional<unsigned>> parameters(Entry.getNumArguments());
  for (unsigned number = 0; number < Entry.getNumArguments(); ++number)
    parameters[number] = number;
  collectUses(Entry, parameters);
  Undeclared = undeclaredParameters(Program, Options);
  if (Status bad = readGiven(); !bad.isOk())
    return bad;
  Expected<Signature> signature = signatureOf(Entry);
  if (!signature)
    return signature.status();
  Contract = std::move(*signature);
  CheckPlan plan;
  if (!searchAllowed()) {
    plan.gaps.push_back(unsatisfied());
    return plan;
  }
  Classes = findClasses();
  Required = classesByContract();
  plan.hasInventedData = HasInventedData;
  plan.inventedIntegers = InventedIntegers;
  plan.cases.push_back(firstCase());
  if (Options.asGiven)
    return plan;
  if (!dependsOnShape())
    addShapes(plan);
  addScalars(plan);
  addNumbers(plan);
  addData(plan);
  if (Program.example)
    for (const auto &listed : Program.example->cases) {
      CheckCase more = firstCase();
      for (const auto &[name, spec] : listed)
        more.specs[name] = spec;
      plan.cases.push_back(std::move(more));
    }
  return plan;
}

Expected<CheckPlan> makePlan(const Source &source, ir::FuncOp entry, const RunSettings &options) {
  auto planner = std::make_shared<Planner>(source, entry, options);
  Expected<CheckPlan> plan = planner->make();
  if (plan && !plan->cases.empty() && !options.asGiven)
    plan->arguments = planner;
  return plan;
}

} // namespace kiln
