#include "CheckPlan.h"

#include "kiln/Dialect/Tile/GlobalRing.h"
#include "kiln/Program/Signature.h"
#include "kiln/runtime/arguments.h"

#include "llvm/ADT/EquivalenceClasses.h"

#include <set>

using namespace mlir;

namespace kiln {

std::string CheckCase::flags() const {
  std::string text;
  for (const auto &[name, spec] : specs)
    if (!spec.empty())
      text += (text.empty() ? "--arg " : " --arg ") + name + "=" + spec;
  return text;
}

namespace {

/// What a scalar is if nobody says.
constexpr int64_t kBaseScalar = 2;
/// What the extent of an axis is that only counts things, such as heads.
constexpr int64_t kLeadingExtent = 2;
/// Greater tiles are not followed by greater tensors: a simulation takes long enough.
constexpr int64_t kMostTileExtent = 128;

/// A tensor parameter of the entry, and how its argument is said.
struct TensorSlot {
  std::string name;
  std::vector<int64_t> extents; ///< Those the program leaves open have the first case's value.
  std::string fill;             ///< ":uniform", or empty.
  std::string file;             ///< The whole spec, if the data come from a file.

  std::string spec() const {
    if (!file.empty())
      return file;
    std::string text;
    for (int64_t extent : extents)
      text += (text.empty() ? "" : "x") + std::to_string(extent);
    return text + fill;
  }
};

/// An axis of an argument: which parameter of the entry, and which of its axes.
using Axis = std::pair<unsigned, unsigned>;
/// Axes whose extents vary together.
using ExtentClass = std::vector<Axis>;

/// What the accesses to an axis say of its extent. Where all of them are at constant places, the
/// program works on that part alone.
struct AxisUse {
  bool isFixed = true; ///< Every access is at a constant place.
  int64_t last = 0;    ///< The last of those places.
  int64_t covered = 0; ///< Where the last tile ends.
};

/// The arguments of a case, for what the program requires of them.
class CaseValues final : public ArgumentValues {
public:
  CaseValues(ArrayRef<TensorSlot> tensors, ArrayRef<int64_t> scalars)
      : Tensors(tensors), Scalars(scalars) {}
  int64_t extent(size_t tensor, size_t axis) const override {
    return Tensors[tensor].extents[axis];
  }
  int64_t scalar(size_t index) const override { return Scalars[index]; }

private:
  ArrayRef<TensorSlot> Tensors;
  ArrayRef<int64_t> Scalars;
};

class Planner {
public:
  Planner(const Source &source, ir::FuncOp entry, const RunSettings &options)
      : Program(source), Entry(entry), Options(options) {}

  Expected<CheckPlan> make();

private:
  Status readGiven();
  Status addTensor(const std::string &name, ir::TensorType type, const std::string &spec);
  Status addScalar(const std::string &name, Type type, const std::string &spec);
  void collectConstants();
  /// Learns how the entry's tensors are accessed, in kernels too.
  void collectUses(ir::FuncOp func, ArrayRef<std::optional<unsigned>> parameters);
  void noteAccess(const tile::TensorAccess &access, ArrayRef<std::optional<unsigned>> parameters);
  /// The use of an axis, if all accesses to it are at constant places.
  const AxisUse *fixedUse(Axis axis) const;
  std::vector<ExtentClass> findClasses() const;
  std::vector<ExtentClass> classesByExtent() const;
  /// Extents that the program requires to be equal, each class by itself.
  std::vector<ExtentClass> classesByContract() const;
  bool isAllowed() const;
  /// Other extents and numbers for the first case, if those that were made up are not allowed.
  void searchAllowed();
  bool searchAllowed(ArrayRef<ExtentClass> classes, size_t next, uint64_t &tries);
  std::vector<int64_t> valuesFor(const ExtentClass &extents) const;
  CheckCase firstCase() const;
  /// The first case with other extents for some classes.
  CheckCase withExtents(ArrayRef<std::pair<const ExtentClass *, int64_t>> changes) const;
  void addShapes(CheckPlan &plan) const;
  void addScalars(CheckPlan &plan) const;
  bool dependsOnShape() const;
  /// What an extent is if nobody says: what is accessed of it, or that of the greatest tile, which
  /// all tiles that divide it cover without an edge.
  int64_t baseExtent(Axis axis) const {
    const AxisUse *use = fixedUse(axis);
    return use ? use->covered : isLeading(axis) ? kLeadingExtent : baseExtent();
  }
  bool isDeclaredOut(unsigned parameter) const {
    bool isUndeclared = parameter < Undeclared.size() && Undeclared[parameter];
    return !isUndeclared && ir::FuncOp(Entry).getArgDirection(parameter) == ir::Direction::Out;
  }
  /// Whether tiles do not extend along the axis of a parameter: they cover the last two.
  bool isLeading(Axis axis) const {
    auto type = cast<ir::TensorType>(ir::FuncOp(Entry).getArgumentTypes()[axis.first]);
    return axis.second + 2 < type.getShape().size();
  }
  int64_t baseExtent() const {
    auto tile = TileExtents.upper_bound(kMostTileExtent);
    return tile == TileExtents.begin() ? 16 : *std::prev(tile);
  }

  const Source &Program;
  ir::FuncOp Entry;
  const RunSettings &Options;
  bool Invents = false; ///< Nothing was given: everything is made up.
  std::vector<TensorSlot> Tensors;
  std::vector<Axis> Open;        ///< Extents that the program leaves open; by tensor.
  std::vector<unsigned> Numbers; ///< Of the parameters that are tensors.
  std::map<Axis, AxisUse> Uses;  ///< By parameter.
  std::map<std::string, std::string> Scalars;
  std::vector<std::string> ScalarNames;     ///< In order.
  Signature Contract;                       ///< Of the entry: what it requires.
  std::vector<std::string> InventedScalars; ///< Integers among them.
  llvm::BitVector Undeclared;               ///< Parameters whose direction the program leaves open.
  bool HasInventedData = false, HasInventedIntegers = false;
  std::set<int64_t> TileExtents;       ///< Of loads and stores.
  std::set<int64_t> ComparedConstants; ///< And numbers of slots.
};

Status Planner::readGiven() {
  ArgSpecs specs = Options.args;
  if (Program.example)
    for (const auto &[name, spec] : Program.example->args)
      specs.try_emplace(name, spec);
  Invents = specs.empty();
  for (auto &[name, spec] : specs)
    takeAxis(spec); // the plan is that of one rank, which has all of it
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
    HasInventedIntegers |= tensor && isRead && !isFilled && tensor.getElementType().isInteger();
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
    value = isa<FloatType>(type) ? "1" : std::to_string(type.isInteger(1) ? 1 : kBaseScalar);
    if (type.isIndex() || (type.isInteger() && !type.isInteger(1)))
      InventedScalars.push_back(name);
  }
  Scalars[name] = value;
  ScalarNames.push_back(name);
  return Status::ok();
}

void Planner::collectConstants() {
  auto note = [&](Value value) {
    APInt constant;
    if (matchPattern(value, m_ConstantInt(&constant)) && constant.getSignificantBits() <= 32)
      ComparedConstants.insert(constant.getSExtValue());
  };
  auto noteTile = [&](Value value) {
    if (auto type = dyn_cast<tile::TileType>(value.getType()))
      TileExtents.insert({type.getRows(), type.getCols()});
  };
  ModuleOp(Program.module).walk([&](Operation *op) {
    if (isa<arith::CmpIOp, arith::RemSIOp, arith::RemUIOp>(op))
      llvm::for_each(op->getOperands(), note);
    for (const tile::TensorAccess &access : tile::tensorAccesses(op))
      if (access.tile)
        noteTile(access.tile);
    if (auto pipe = dyn_cast<tile::PipeOp>(op))
      ComparedConstants.insert(
          pipe.getSlots().value_or(defaultSlotsOf(Options.platform->machine())));
  });
}

void Planner::noteAccess(const tile::TensorAccess &access,
                         ArrayRef<std::optional<unsigned>> parameters) {
  auto root = dyn_cast<BlockArgument>(ir::rootOf(access.tensor));
  if (!root || !isa<ir::FuncOp>(root.getOwner()->getParentOp()) || !parameters[root.getArgNumber()])
    return;
  bool isView = root != access.tensor; // whose axes may be others
  auto tile = cast<tile::TileType>(access.tile.getType());
  unsigned rank = cast<ir::TensorType>(root.getType()).getShape().size();
  for (unsigned axis = 0; axis < rank; ++axis) {
    AxisUse &use = Uses[{*parameters[root.getArgNumber()], axis}];
    Attribute place = isView ? Attribute() : dyn_cast<Attribute>(access.indices[axis]);
    auto index = dyn_cast_if_present<IntegerAttr>(place);
    if (!index) {
      use.isFixed = false;
      continue;
    }
    int64_t extent = rank == 1          ? tile.getNumElements()
                     : axis + 2 == rank ? tile.getRows()
                     : axis + 1 == rank ? tile.getCols()
                                        : 1;
    use.last = std::max(use.last, index.getInt());
    use.covered = std::max(use.covered, index.getInt() + extent);
  }
}

void Planner::collectUses(ir::FuncOp func, ArrayRef<std::optional<unsigned>> parameters) {
  func.walk([&](Operation *op) {
    for (const tile::TensorAccess &access : tile::tensorAccesses(op))
      if (access.tile)
        return noteAccess(access, parameters);
    auto submit = dyn_cast<ir::SubmitOp>(op);
    auto call = dyn_cast<ir::CallOp>(op);
    StringAttr callee = submit && submit.getCallee() ? submit.getCalleeAttr().getAttr()
                        : call                       ? call.getCalleeAttr().getAttr()
                                                     : StringAttr();
    OperandRange args = submit ? submit.getArgs() : call ? call.getArgs() : op->getOperands();
    std::vector<std::optional<unsigned>> passed(args.size());
    for (auto [number, arg] : llvm::enumerate(args)) {
      if (!isa<ir::TensorType>(arg.getType()))
        continue;
      auto root = dyn_cast<BlockArgument>(ir::rootOf(arg));
      bool isParameter = root && isa<ir::FuncOp>(root.getOwner()->getParentOp());
      if (isParameter && callee && root == arg)
        passed[number] = parameters[root.getArgNumber()];
      else if (isParameter && parameters[root.getArgNumber()]) // used in a way not known here
        for (unsigned axis = 0; axis < KILN_MAX_RANK; ++axis)
          Uses[{*parameters[root.getArgNumber()], axis}].isFixed &= isa<ir::DimOp>(op);
    }
    if (callee)
      collectUses(SymbolTable::lookupNearestSymbolFrom<ir::FuncOp>(func, callee), passed);
  });
}

const AxisUse *Planner::fixedUse(Axis axis) const {
  auto use = Uses.find(axis);
  bool isFixed = use != Uses.end() && use->second.isFixed && use->second.covered > 0;
  return isFixed ? &use->second : nullptr;
}

std::vector<ExtentClass> Planner::findClasses() const {
  return Invents && !Contract.requirements.empty() ? classesByContract() : classesByExtent();
}

std::vector<ExtentClass> Planner::classesByContract() const {
  llvm::EquivalenceClasses<Axis> equal;
  for (const Axis &axis : Open)
    equal.insert(axis);
  for (const Requirement &requirement : Contract.requirements)
    for (const Requirement::Node &node : requirement.nodes) {
      if (node.op != Requirement::Op::Eq)
        continue;
      const Requirement::Node &a = requirement.nodes[node.a], &b = requirement.nodes[node.b];
      if (a.op == Requirement::Op::Extent && b.op == Requirement::Op::Extent)
        equal.unionSets({a.a, a.b}, {b.a, b.b});
    }
  std::vector<ExtentClass> classes;
  for (const Axis &axis : Open) {
    auto known = llvm::find_if(
        classes, [&](const ExtentClass &one) { return equal.isEquivalent(one.front(), axis); });
    if (known == classes.end())
      classes.push_back({axis});
    else
      known->push_back(axis);
  }
  return classes;
}

bool Planner::isAllowed() const {
  std::vector<int64_t> scalars;
  for (const std::string &name : ScalarNames) {
    int64_t value = 0; // a float, of which nothing can be required
    (void)StringRef(Scalars.at(name)).getAsInteger(10, value);
    scalars.push_back(value);
  }
  return Contract.checkRequirements(CaseValues(Tensors, scalars)).isOk();
}

bool Planner::searchAllowed(ArrayRef<ExtentClass> classes, size_t next, uint64_t &tries) {
  if (next == classes.size() + InventedScalars.size())
    return isAllowed();
  std::set<int64_t> values{1, 2, 4, 8, 16, 32, 64, 128, baseExtent()};
  for (const Requirement &requirement : Contract.requirements)
    for (const Requirement::Node &node : requirement.nodes)
      if (node.op == Requirement::Op::Constant && node.a > 0 && node.a <= 4096)
        values.insert({node.a, node.a + 1, 2 * node.a});
  for (int64_t value : values) {
    if (++tries > 100000)
      return false;
    if (next < classes.size())
      for (auto [tensor, axis] : classes[next])
        Tensors[tensor].extents[axis] = value;
    else
      Scalars[InventedScalars[next - classes.size()]] = std::to_string(value);
    if (searchAllowed(classes, next + 1, tries))
      return true;
  }
  return false;
}

void Planner::searchAllowed() {
  if (!Invents || isAllowed())
    return;
  uint64_t tries = 0;
  searchAllowed(findClasses(), 0, tries);
}

std::vector<ExtentClass> Planner::classesByExtent() const {
  std::map<int64_t, ExtentClass> byExtent;
  for (auto [tensor, axis] : Open)
    if (Tensors[tensor].file.empty())
      byExtent[Tensors[tensor].extents[axis]].emplace_back(tensor, axis);
  std::vector<ExtentClass> classes;
  for (auto &[extent, members] : byExtent)
    classes.push_back(std::move(members));
  return classes;
}

/// Nothing, one, a tile less one, a tile, a tile and one more, something odd and a prime.
std::vector<int64_t> Planner::valuesFor(const ExtentClass &extents) const {
  std::set<int64_t> values{0, 1, 3};
  bool isCount = llvm::all_of(
      extents, [&](Axis axis) { return isLeading({Numbers[axis.first], axis.second}); });
  if (isCount)
    return {values.begin(), values.end()};
  values.insert(13);
  // Of many different tiles the least and the greatest are the ones that edges depend on.
  std::set<int64_t> tiles;
  for (int64_t extent : TileExtents)
    if (extent > 1 && extent <= kMostTileExtent)
      tiles.insert(extent);
  if (tiles.size() > 2)
    tiles = {*tiles.begin(), *tiles.rbegin()};
  for (int64_t tile : tiles)
    values.insert({tile - 1, tile, tile + 1, 2 * tile});
  values.erase(Tensors[extents.front().first].extents[extents.front().second]);
  // Where a program works on a fixed part of a tensor, it needs that much, and does not say what
  // lies beyond; only who declares an output promises to write all of it.
  bool isPromised =
      llvm::any_of(extents, [&](Axis axis) { return isDeclaredOut(Numbers[axis.first]); });
  for (auto [tensor, axis] : extents)
    if (const AxisUse *use = fixedUse({Numbers[tensor], axis})) {
      if (use->last > 0 && Invents)
        values.erase(values.begin(), values.upper_bound(use->last));
      if (!isPromised)
        values.erase(values.upper_bound(use->covered), values.end());
    }
  return {values.begin(), values.end()};
}

CheckCase Planner::firstCase() const {
  CheckCase first;
  for (const TensorSlot &slot : Tensors)
    first.specs[slot.name] = slot.spec();
  for (const auto &[name, value] : Scalars)
    first.specs[name] = value;
  first.isInvented = Invents && (!Open.empty() || !InventedScalars.empty());
  first.hasInventedScalars = !InventedScalars.empty();
  return first;
}

CheckCase Planner::withExtents(ArrayRef<std::pair<const ExtentClass *, int64_t>> changes) const {
  CheckCase changed = firstCase();
  std::vector<TensorSlot> slots = Tensors;
  for (auto [members, extent] : changes) {
    for (auto [tensor, axis] : *members)
      slots[tensor].extents[axis] = extent;
    auto [tensor, axis] = members->front();
    std::string dim = slots[tensor].name + ".dim(" + std::to_string(axis) + ")";
    auto tile = llvm::find_if(
        TileExtents, [&, value = extent](int64_t tile) { return tile > 1 && value % tile != 0; });
    if (!changed.exclusion.empty())
      changed.exclusion += " or ";
    changed.exclusion += extent == 0 ? "require(" + dim + " > 0)"
                         : tile != TileExtents.end()
                             ? "require(" + dim + " % " + std::to_string(*tile) + " == 0)"
                             : "require(" + dim + " != " + std::to_string(extent) + ")";
  }
  for (const TensorSlot &slot : slots)
    changed.specs[slot.name] = slot.spec();
  changed.isInvented = true;
  return changed;
}

/// Whether the numbers in an input say something about extents: a table, positions, a file.
bool Planner::dependsOnShape() const {
  return llvm::any_of(Tensors, [](const TensorSlot &slot) {
    StringRef fill = StringRef(slot.fill).drop_front(std::min<size_t>(slot.fill.size(), 1));
    return !slot.file.empty() || fill == "iota" || fill == "shuffled" ||
           (!fill.empty() && (llvm::isDigit(fill[0]) || fill[0] == '-'));
  });
}

void Planner::addShapes(CheckPlan &plan) const {
  std::vector<ExtentClass> classes = findClasses();
  std::set<std::string> known{plan.cases.front().flags()};
  auto add = [&](CheckCase next) {
    if (known.insert(next.flags()).second)
      plan.cases.push_back(std::move(next));
  };
  for (const ExtentClass &one : classes)
    for (int64_t value : valuesFor(one))
      add(withExtents({{&one, value}}));
  int64_t beyond = baseExtent() + 1;
  auto has = [](const std::vector<int64_t> &values, int64_t value) {
    return llvm::is_contained(values, value);
  };
  for (size_t i = 0; i < classes.size(); ++i)
    for (size_t j = i + 1; j < classes.size(); ++j)
      for (int64_t value : {int64_t(1), beyond})
        if (has(valuesFor(classes[i]), value) && has(valuesFor(classes[j]), value))
          add(withExtents({{&classes[i], value}, {&classes[j], value}}));
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
  for (const std::string &name : InventedScalars)
    for (int64_t value : values) {
      CheckCase changed = firstCase();
      changed.specs[name] = std::to_string(value);
      changed.isInvented = true;
      changed.exclusion = "require(" + name + " != " + std::to_string(value) + ")";
      plan.cases.push_back(std::move(changed));
    }
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
  searchAllowed();
  CheckPlan plan;
  plan.hasInventedData = HasInventedData;
  plan.hasInventedIntegers = HasInventedIntegers;
  plan.cases.push_back(firstCase());
  if (Options.asGiven)
    return plan;
  if (!dependsOnShape())
    addShapes(plan);
  addScalars(plan);
  if (Program.example)
    for (const auto &listed : Program.example->cases) {
      CheckCase more = firstCase();
      for (const auto &[name, spec] : listed)
        more.specs[name] = spec;
      plan.cases.push_back(std::move(more));
    }
  return plan;
}

} // namespace

Expected<CheckPlan> makePlan(const Source &source, ir::FuncOp entry, const RunSettings &options) {
  return Planner(source, entry, options).make();
}

} // namespace kiln
