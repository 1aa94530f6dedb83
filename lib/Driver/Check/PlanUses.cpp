// What a program does with its arguments, and which extents vary together.
#include "Planner.h"

#include "kiln/Dialect/Tile/GlobalRing.h"
#include "kiln/Program/IndexForm.h"

#include "llvm/ADT/EquivalenceClasses.h"

using namespace mlir;

namespace kiln {

/// Up to which number the result of a cast can count, where it is a small type that integers
/// become.
static std::optional<int64_t> countingLimit(tile::CastOp cast) {
  auto elementOf = [](Value tile) {
    return llvm::cast<tile::TileType>(tile.getType()).getElementType();
  };
  Type from = elementOf(cast.getOperand()), to = elementOf(cast.getResult());
  if (!from.isInteger())
    return std::nullopt;
  if (to.isInteger(8))
    return INT8_MAX;
  auto type = dyn_cast<FloatType>(to);
  if (!type || type.getWidth() > 16)
    return std::nullopt;
  return int64_t(1) << llvm::APFloat::semanticsPrecision(type.getFloatSemantics());
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
    // A good part of so many is beyond the limit, and one is left over.
    if (auto cast = dyn_cast<tile::CastOp>(op))
      if (std::optional<int64_t> limit = countingLimit(cast))
        BeyondCounting.insert(3 * *limit + 1);
    if (auto pipe = dyn_cast<tile::PipeOp>(op))
      ComparedConstants.insert(
          pipe.getSlots().value_or(defaultSlotsOf(Options.platform->machine())));
  });
}

void Planner::noteTie(Operation *func, Axis axis, OpFoldResult index, int64_t extent) {
  const void *common = nullptr;
  int64_t number = extent;
  if (auto value = dyn_cast<Value>(index)) {
    auto isSymbol = [](Value part) { return isa<BlockArgument>(part); };
    IndexForm form = formOf(value, isSymbol);
    if (form.sum.terms().empty())
      return;
    Value symbol = form.sum.terms().front().first;
    common = symbol.getAsOpaquePointer();
    number = 0;
    if (auto block = symbol.getDefiningOp<tile::BlockIdxOp>()) { // each use is an op of its own
      common = &Ties;
      number = int64_t(block.getDim());
    }
  }
  Ties[{func, common, number}].push_back(axis);
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
    int64_t extent = rank == 1          ? tile.getNumElements()
                     : axis + 2 == rank ? tile.getRows()
                     : axis + 1 == rank ? tile.getCols()
                                        : 1;
    if (!isView)
      noteTie(root.getOwner()->getParentOp(), {*parameters[root.getArgNumber()], axis},
              access.indices[axis], extent);
    Attribute place = isView ? Attribute() : dyn_cast<Attribute>(access.indices[axis]);
    auto index = dyn_cast_if_present<IntegerAttr>(place);
    if (!index) {
      use.isFixed = false;
      continue;
    }
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
  return Invents && !Contract.requirements.empty() ? classesByContract()
         : Invents                                 ? classesByIndex()
                                                   : classesByExtent();
}

/// Extents that were made up are equal because nobody said otherwise. Rows and columns of a tensor
/// may well differ, where no block or iteration runs along both. What cannot be told apart in this
/// way stays together.
std::vector<ExtentClass> Planner::classesByIndex() const {
  llvm::EquivalenceClasses<Axis> tied; // by parameter
  for (const auto &[common, axes] : Ties)
    for (const Axis &axis : axes)
      tied.unionSets(axes.front(), axis);
  for (const ExtentClass &required : classesByContract())
    for (auto [tensor, axis] : required)
      tied.unionSets({Numbers[required.front().first], required.front().second},
                     {Numbers[tensor], axis});
  std::vector<ExtentClass> classes;
  for (const ExtentClass &equal : classesByExtent()) {
    std::vector<ExtentClass> parts;
    for (auto [tensor, at] : equal) {
      Axis axis{Numbers[tensor], at};
      tied.insert(axis);
      auto known = llvm::find_if(parts, [&](const ExtentClass &part) {
        return tied.isEquivalent({Numbers[part.front().first], part.front().second}, axis);
      });
      if (known == parts.end())
        known = parts.insert(parts.end(), ExtentClass());
      known->emplace_back(tensor, at);
    }
    auto shareTensor = [](const ExtentClass &one, const ExtentClass &other) {
      return llvm::any_of(one, [&](Axis a) {
        return llvm::any_of(other, [&](Axis b) { return a.first == b.first; });
      });
    };
    bool areApart = true;
    for (size_t i = 0; i < parts.size(); ++i)
      for (size_t j = i + 1; j < parts.size(); ++j)
        areApart &= shareTensor(parts[i], parts[j]);
    if (areApart)
      classes.insert(classes.end(), parts.begin(), parts.end());
    else
      classes.push_back(equal);
  }
  return classes;
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

/// Extents may be equal in the arguments by chance. Where rows and columns of a tensor are, nothing
/// that varies both together tells one from the other. What blocks and iterations keep apart is one
/// guess of what belongs together. A formula tells right guesses from wrong ones, so with it axes
/// of one number are another guess, counted from the first as in x and a sum of each of its rows,
/// and from the last as in x and a bias.
std::vector<ExtentClass> Planner::partsByChance() const {
  std::vector<ExtentClass> parts = classesByIndex();
  if (Program.example && !Program.example->formula.empty() && !Options.noFormula) {
    std::vector<ExtentClass> required = classesByContract();
    auto first = [&](Axis axis) {
      return llvm::find_if(required,
                           [&](const ExtentClass &one) { return llvm::is_contained(one, axis); })
          ->front();
    };
    for (const ExtentClass &equal : Classes)
      for (bool isFromLast : {false, true}) {
        std::map<size_t, ExtentClass> byNumber;
        for (Axis axis : equal) {
          auto [tensor, number] = first(axis);
          byNumber[isFromLast ? Tensors[tensor].extents.size() - number : number].push_back(axis);
        }
        for (auto &[number, part] : byNumber)
          parts.push_back(std::move(part));
      }
  }
  llvm::erase_if(parts, [&](const ExtentClass &part) { return llvm::is_contained(Classes, part); });
  return parts;
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

} // namespace kiln
