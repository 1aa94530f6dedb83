// Arguments that the program allows, and the first case with other ones.
#include "Planner.h"

#include "kiln/Dialect/Tile/GlobalRing.h"

using namespace mlir;

namespace kiln {

bool Planner::isAllowed(ArrayRef<TensorSlot> tensors,
                        const std::map<std::string, std::string> &scalars) const {
  return Contract.checkRequirements(CaseValues(tensors, numbersIn(scalars))).isOk();
}

bool Planner::isAllowed() const { return isAllowed(Tensors, Scalars); }

std::vector<int64_t> Planner::numbersIn(const std::map<std::string, std::string> &scalars) const {
  std::vector<int64_t> numbers;
  for (const std::string &name : ScalarNames) {
    int64_t value = 0; // a float, of which nothing can be required
    (void)StringRef(scalars.at(name)).getAsInteger(10, value);
    numbers.push_back(value);
  }
  return numbers;
}

bool Planner::searchAllowed(ArrayRef<ExtentClass> classes, size_t next, uint64_t &tries) {
  if (next == classes.size() + InventedScalars.size())
    return isAllowed();
  std::set<int64_t> values{1, 2, 4, 8, 16, 32, 64, 128};
  for (const Requirement &requirement : Contract.requirements)
    for (const Requirement::Node &node : requirement.nodes)
      if (node.op == Requirement::Op::Constant && node.a > 0 && node.a <= kMostExtent)
        values.insert({node.a - 1, node.a, node.a + 1, 2 * node.a});
  values.erase(baseExtent());
  std::vector<int64_t> inOrder{baseExtent()}; // what tiles cover without an edge is tried first
  inOrder.insert(inOrder.end(), values.begin(), values.end());
  for (int64_t value : inOrder) {
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

uint64_t Planner::countSatisfied() const {
  std::vector<int64_t> scalars = numbersIn(Scalars);
  return llvm::count_if(Contract.requirements, [&](const Requirement &requirement) {
    return requirement.check(Contract, CaseValues(Tensors, scalars)).isOk();
  });
}

/// Lets one class or number after the other satisfy as many requirements as it can.
bool Planner::improveAllowed(ArrayRef<ExtentClass> classes) {
  std::set<int64_t> values;
  for (int64_t value = 0; value <= kMostScanned; ++value)
    values.insert(value);
  for (const Requirement &requirement : Contract.requirements)
    for (const Requirement::Node &node : requirement.nodes)
      if (node.op == Requirement::Op::Constant && node.a > kMostScanned && node.a <= kMostExtent)
        for (int64_t value = node.a - 256; value <= node.a + 256; ++value)
          values.insert(value);
  auto improve = [&](auto &&set, int64_t now) {
    uint64_t best = countSatisfied();
    for (int64_t value : values) {
      set(value);
      if (uint64_t count = countSatisfied(); count > best) {
        best = count;
        now = value;
      }
      if (best == Contract.requirements.size())
        break;
    }
    set(now);
  };
  for (const ExtentClass &one : classes)
    improve(
        [&](int64_t value) {
          for (auto [tensor, axis] : one)
            Tensors[tensor].extents[axis] = value;
        },
        Tensors[one.front().first].extents[one.front().second]);
  for (const std::string &name : InventedScalars)
    improve([&](int64_t value) { Scalars[name] = std::to_string(value); }, kBaseScalar);
  return isAllowed();
}

bool Planner::searchAllowed() {
  if (!Invents || isAllowed())
    return true;
  Arguments settled{Tensors, Scalars};
  settle(settled, {});
  if (isAllowed(settled.tensors, settled.scalars)) {
    Tensors = std::move(settled.tensors);
    Scalars = std::move(settled.scalars);
    return true;
  }
  std::vector<TensorSlot> tensors = Tensors;
  std::map<std::string, std::string> scalars = Scalars;
  std::vector<ExtentClass> classes = findClasses();
  uint64_t tries = 0;
  if (searchAllowed(classes, 0, tries))
    return true;
  Tensors = std::move(tensors);
  Scalars = std::move(scalars);
  return improveAllowed(classes);
}

void Planner::settle(Arguments &args, Chosen chosen) const {
  constexpr unsigned kMostRounds = 8; // one may depend on the other
  for (unsigned round = 0; round < kMostRounds; ++round) {
    bool hasChanged = false;
    for (const Requirement &requirement : Contract.requirements)
      hasChanged |= settle(requirement, args, chosen);
    if (!hasChanged)
      return;
  }
}

/// How far the left side of a comparison has to be above the right one, so that it just holds.
static std::optional<int64_t> distanceIn(Requirement::Op op) {
  switch (op) {
  case Requirement::Op::Eq:
  case Requirement::Op::Le:
  case Requirement::Op::Ge:
    return 0;
  case Requirement::Op::Lt:
    return -1;
  case Requirement::Op::Gt:
    return 1;
  default:
    return std::nullopt;
  }
}

bool Planner::settle(const Requirement &requirement, Arguments &args, Chosen &chosen) const {
  using Op = Requirement::Op;
  std::vector<int64_t> values =
      requirement.values(CaseValues(args.tensors, numbersIn(args.scalars)));
  if (values.size() < requirement.nodes.size())
    return false;
  auto set = [&](const Requirement::Node &node, int64_t value, bool isBound) {
    if (node.op == Op::Extent) {
      Axis axis{unsigned(node.a), unsigned(node.b)};
      bool isFree = llvm::is_contained(Open, axis) && args.tensors[node.a].file.empty() &&
                    !chosen.axes.count(axis);
      value += isBound ? chosen.room : 0;
      if (!isFree || value < 0 || value > kMostExtent)
        return false;
      args.tensors[node.a].extents[node.b] = value;
      if (isBound) // what must be equal to it follows, and not the other way round
        chosen.axes.insert(axis);
      return true;
    }
    if (node.op != Op::Scalar || chosen.scalars.count(ScalarNames[node.a]))
      return false;
    args.scalars[ScalarNames[node.a]] = std::to_string(value);
    if (isBound)
      chosen.scalars.insert(ScalarNames[node.a]);
    return true;
  };
  std::vector<size_t> parts{requirement.nodes.size() - 1};
  while (!parts.empty()) {
    const Requirement::Node &node = requirement.nodes[parts.back()];
    bool holds = values[parts.back()] != 0;
    parts.pop_back();
    if (node.op == Op::And)
      parts.insert(parts.end(), {size_t(node.a), size_t(node.b)});
    std::optional<int64_t> above = distanceIn(node.op);
    bool isBound = node.op != Op::Eq;
    if (!above || holds || (isBound && !chosen.movesBounds))
      continue;
    if (set(requirement.nodes[node.a], values[node.b] + *above, isBound) ||
        set(requirement.nodes[node.b], values[node.a] - *above, isBound))
      return true; // the other values may be others now
  }
  return false;
}

std::optional<unsigned> Planner::tensorOf(unsigned parameter) const {
  auto at = llvm::find(Numbers, parameter);
  return at == Numbers.end() ? std::nullopt : std::optional<unsigned>(at - Numbers.begin());
}

std::optional<Planner::Arguments> Planner::with(const Choice &choice) const {
  std::optional<Arguments> chosen = with(choice, Classes);
  if (Invents || (chosen && isAllowed(chosen->tensors, chosen->scalars)))
    return chosen;
  std::optional<Arguments> apart = with(choice, Required);
  return apart && isAllowed(apart->tensors, apart->scalars) ? apart : chosen;
}

std::optional<Planner::Arguments> Planner::with(const Choice &choice,
                                                ArrayRef<ExtentClass> classes) const {
  Arguments chosen{Tensors, Scalars};
  Chosen kept;
  kept.movesBounds = true;
  std::set<Axis> &changed = kept.axes;
  for (auto [leaf, value] : choice) {
    if (leaf.axis == Leaf::kNumber) {
      if (!Scalars.count(Names[leaf.parameter]))
        return std::nullopt; // not one of the caller's
      chosen.scalars[Names[leaf.parameter]] = std::to_string(value);
      kept.scalars.insert(Names[leaf.parameter]);
      continue;
    }
    std::optional<unsigned> tensor = tensorOf(leaf.parameter);
    if (!tensor || !Tensors[*tensor].file.empty())
      return std::nullopt;
    unsigned number = *tensor;
    if (leaf.axis == Leaf::kData) {
      auto type = cast<ir::TensorType>(ir::FuncOp(Entry).getArgumentTypes()[leaf.parameter]);
      if (!Tensors[number].fill.empty() || !type.getElementType().isInteger())
        return std::nullopt; // somebody chose these numbers
      chosen.tensors[number].fill = ":" + std::to_string(value);
      continue;
    }
    if (value < 0 || value > kMostExtent || dependsOnShape())
      return std::nullopt;
    Axis axis{number, unsigned(leaf.axis)};
    auto members = llvm::find_if(
        classes, [&](const ExtentClass &one) { return llvm::is_contained(one, axis); });
    if (members == classes.end())
      return std::nullopt;
    for (auto [tensor, at] : *members) {
      const AxisUse *use = fixedUse({Numbers[tensor], at});
      bool needsNoMore =
          use && value > use->covered && !isDeclaredOut(Numbers[tensor]) && !hasFormula();
      if (needsNoMore && Axis{tensor, at} != axis)
        continue;
      int64_t &extent = chosen.tensors[tensor].extents[at];
      if (!changed.insert({tensor, at}).second && extent != value)
        return std::nullopt;
      extent = value;
    }
  }
  if (!dependsOnShape()) { // with room behind what is bounded, if that is allowed
    Arguments exact = chosen;
    kept.room = 3;
    settle(chosen, kept);
    kept.room = 0;
    if (!isAllowed(chosen.tensors, chosen.scalars)) {
      chosen = std::move(exact);
      settle(chosen, kept);
    }
  }
  for (const TensorSlot &slot : chosen.tensors) {
    int64_t elements = 1;
    for (int64_t extent : slot.extents)
      if ((elements *= std::max<int64_t>(extent, 1)) > kMostElements)
        return std::nullopt;
  }
  return chosen;
}

const std::optional<Planner::Arguments> &Planner::cached(const Choice &choice) const {
  if (!LastChoice || *LastChoice != choice) {
    LastChoice = choice;
    LastArguments = with(choice);
  }
  return LastArguments;
}

std::optional<int64_t> Planner::value(Leaf leaf, const Choice &choice) const {
  const std::optional<Arguments> &chosen = cached(choice);
  if (!chosen || leaf.axis == Leaf::kData)
    return std::nullopt;
  if (leaf.axis >= 0) {
    std::optional<unsigned> tensor = tensorOf(leaf.parameter);
    if (!tensor || !chosen->tensors[*tensor].file.empty())
      return std::nullopt;
    return chosen->tensors[*tensor].extents[leaf.axis];
  }
  auto scalar = chosen->scalars.find(Names[leaf.parameter]);
  int64_t number = 0;
  if (scalar == chosen->scalars.end() || StringRef(scalar->second).getAsInteger(10, number))
    return std::nullopt;
  return number;
}

bool Planner::isAllowed(const Choice &choice) const {
  const std::optional<Arguments> &chosen = cached(choice);
  return chosen && isAllowed(chosen->tensors, chosen->scalars);
}

/// What one side of a comparison with a constant says of the other.
static void narrow(NumberRange &range, Requirement::Op op, int64_t constant) {
  switch (op) {
  case Requirement::Op::Eq:
    range.least = range.most = constant;
    break;
  case Requirement::Op::Lt:
    range.most = std::min(range.most, constant - 1);
    break;
  case Requirement::Op::Le:
    range.most = std::min(range.most, constant);
    break;
  case Requirement::Op::Gt:
    range.least = std::max(range.least, constant + 1);
    break;
  case Requirement::Op::Ge:
    range.least = std::max(range.least, constant);
    break;
  default:
    break;
  }
}

static Requirement::Op mirrored(Requirement::Op op) {
  using Op = Requirement::Op;
  return op == Op::Lt   ? Op::Gt
         : op == Op::Le ? Op::Ge
         : op == Op::Gt ? Op::Lt
         : op == Op::Ge ? Op::Le
                        : op;
}

NumberRange Planner::range(Leaf leaf) const {
  using Op = Requirement::Op;
  NumberRange range;
  if (leaf.axis >= 0)
    range.least = 0;
  range.leaf = leaf;
  // Of leaves that must be equal the first stands for all.
  std::set<Leaf> equal{leaf};
  auto leafOf = [&](const Requirement::Node &node) -> std::optional<Leaf> {
    if (node.op == Op::Extent)
      return Leaf{Numbers[node.a], int(node.b)};
    if (node.op == Op::Scalar)
      return Leaf{unsigned(llvm::find(Names, ScalarNames[node.a]) - Names.begin()), Leaf::kNumber};
    return std::nullopt;
  };
  auto visit = [&](const Requirement &requirement, size_t number, auto &&again) -> void {
    const Requirement::Node &node = requirement.nodes[number];
    if (node.op == Op::And) {
      again(requirement, node.a, again);
      again(requirement, node.b, again);
    }
    if (node.op < Op::Eq)
      return;
    const Requirement::Node &a = requirement.nodes[node.a], &b = requirement.nodes[node.b];
    std::optional<Leaf> one = leafOf(a), other = leafOf(b);
    if (node.op == Op::Eq && one && other && (equal.count(*one) || equal.count(*other)))
      equal.insert({*one, *other});
    if (one && equal.count(*one) && b.op == Op::Constant)
      narrow(range, node.op, b.a);
    if (other && equal.count(*other) && a.op == Op::Constant)
      narrow(range, mirrored(node.op), a.a);
    if (node.op == Op::Eq && a.op == Op::Rem && b.op == Op::Constant && b.a == 0) {
      std::optional<Leaf> divided = leafOf(requirement.nodes[a.a]);
      const Requirement::Node &divisor = requirement.nodes[a.b];
      if (divided && equal.count(*divided) && divisor.op == Op::Constant && divisor.a > 0)
        range.divisor = std::max(range.divisor, divisor.a);
    }
  };
  for (size_t size = 0; size != equal.size();) { // equalities may stand after what uses them
    size = equal.size();
    for (const Requirement &requirement : Contract.requirements)
      if (!requirement.nodes.empty())
        visit(requirement, requirement.nodes.size() - 1, visit);
  }
  range.leaf = *equal.begin();
  return range;
}

std::string Planner::name(Leaf leaf) const {
  std::string name = Names[leaf.parameter];
  return leaf.axis == Leaf::kNumber ? name
         : leaf.axis == Leaf::kData ? "the numbers in '" + name + "'"
                                    : name + ".dim(" + std::to_string(leaf.axis) + ")";
}

bool Planner::isTied(unsigned parameter, const std::set<Leaf> &leaves) const {
  for (const ExtentClass &one : Classes)
    if (llvm::any_of(one, [&](Axis axis) { return Numbers[axis.first] == parameter; }) &&
        llvm::any_of(one, [&](Axis axis) {
          return leaves.count({Numbers[axis.first], int(axis.second)}) > 0;
        }))
      return true;
  return llvm::any_of(Contract.requirements, [&](const Requirement &requirement) {
    auto mentions = [&](unsigned number) {
      return llvm::any_of(requirement.nodes, [&](const Requirement::Node &node) {
        return (node.op == Requirement::Op::Extent && Numbers[node.a] == number) ||
               (node.op == Requirement::Op::Scalar && ScalarNames[node.a] == Names[number]);
      });
    };
    return mentions(parameter) &&
           llvm::any_of(leaves, [&](Leaf leaf) { return mentions(leaf.parameter); });
  });
}

std::string Planner::flags(const std::set<Leaf> &leaves) const {
  std::string text;
  for (unsigned number = 0; number < ir::numUserParameters(ir::FuncOp(Entry)); ++number) {
    auto isThis = [&](Leaf leaf) { return leaf.parameter == number; };
    bool hasNumbers = llvm::is_contained(leaves, Leaf{number, Leaf::kData});
    std::optional<unsigned> tensor = tensorOf(number);
    bool isOpen = !tensor || llvm::any_of(Open, [&](Axis axis) { return axis.first == *tensor; });
    bool isOther = hasNumbers || llvm::any_of(leaves, isThis) || (isOpen && isTied(number, leaves));
    if (!isOther && !(Invents && isOpen))
      continue;
    text += (text.empty() ? "--arg " : " --arg ") + Names[number] + "=";
    if (isOther)
      text += tensor ? hasNumbers ? "SHAPE:NUMBERS" : "SHAPE" : "VALUE";
    else
      text += tensor ? Tensors[*tensor].spec() : Scalars.at(Names[number]);
  }
  return text;
}

CheckCase Planner::caseWith(const Choice &choice) const {
  Arguments chosen = *with(choice);
  CheckCase made = firstCase();
  for (const TensorSlot &slot : chosen.tensors)
    made.specs[slot.name] = slot.spec();
  for (const auto &[name, value] : chosen.scalars)
    made.specs[name] = value;
  made.isInvented = true;
  for (auto [leaf, value] : choice) {
    made.hasInventedScalars |= leaf.axis == Leaf::kNumber;
    if (leaf.axis == Leaf::kNumber)
      made.exclusion += (made.exclusion.empty() ? "require(" : " or require(") + name(leaf) +
                        " != " + std::to_string(value) + ")";
  }
  return made;
}

std::vector<Choice> Planner::raggedChoices() const {
  Choice all;
  std::vector<Choice> alone;
  for (const ExtentClass &one : Classes) {
    auto [tensor, axis] = one.front();
    int64_t extent = Tensors[tensor].extents[axis];
    if (llvm::any_of(edgeTiles(), [&](int64_t tile) { return extent % tile != 0; }))
      continue;
    Leaf leaf{Numbers[tensor], int(axis)};
    all[leaf] = extent + 1;
    alone.push_back({{leaf, extent + 1}});
  }
  if (!all.empty() && isAllowed(all))
    return {all};
  llvm::erase_if(alone, [&](const Choice &choice) { return !isAllowed(choice); });
  return alone;
}

Gap Planner::unsatisfied() const {
  std::string conditions;
  for (const Requirement &requirement : Contract.requirements)
    conditions += (conditions.empty() ? "" : " and ") + requirement.str(Contract);
  return {"nothing was tried: no arguments were found that satisfy " + conditions,
          Contract.requirements.back().loc,
          "give some with --arg, or see whether the requirements contradict each other"};
}

} // namespace kiln
