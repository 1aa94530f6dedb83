// What variables are called: by the tensors, pipes and operations that their values come from. The
// device library has no name with an underscore, and each name here has one.
#include "CudaFunction.h"

#include "kiln/Program/Signature.h"
#include "kiln/Program/ValueHints.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace kiln::cuda {

const text::NameRules &nameRules() {
  static const text::NameRules rules = text::NameRules::cpp("", "v_");
  return rules;
}

/// `a_tile` of `args.a_tile_2`: without what it is a part of, and without the number that made it
/// unique.
static StringRef plainName(StringRef name) {
  name = name.substr(name.rfind('.') + 1); // the whole of it, if there is no dot
  StringRef base = name.rtrim("0123456789");
  return base.ends_with("_") && base.size() < name.size() ? base.drop_back() : name;
}

/// The result of the loop that a value is the start of; null if it is used otherwise.
static Value carriedAs(Value value) {
  if (!value.hasOneUse())
    return {};
  OpOperand &use = *value.use_begin();
  if (auto move = dyn_cast<tile::MoveOp>(use.getOwner()))
    return carriedAs(move);
  if (auto loop = dyn_cast<scf::ForOp>(use.getOwner()))
    return loop.getTiedLoopResult(&use);
  return {};
}

std::string FunctionEmitter::hintFor(Value value, unsigned depth) {
  auto like = [&](Value other, const Twine &suffix) {
    std::string known = Values.lookup(other).text;
    StringRef name = plainName(known);
    bool isName = !name.empty() && llvm::all_of(name, text::isNamePart);
    std::string hint = isName ? name.str() : hintFor(other, depth + 1);
    return hint.empty() ? hint : hint + suffix.str();
  };
  Operation *op = value.getDefiningOp();
  if (depth > 4)
    return "";
  // What a loop carries is called as what the loop makes of it.
  if (Value carried = carriedAs(value))
    return hintFor(carried, depth + 1);
  if (!op)
    return "";
  if (auto named = dyn_cast<NameLoc>(op->getLoc())) {
    std::string name = text::cppIdentifier(named.getName());
    return StringRef(name).contains('_') ? name : name + "_tile";
  }
  if (Value yielded = yieldedAs(value))
    return hintFor(yielded, depth + 1);
  if (!isa<tile::TileType>(value.getType())) {
    StringRef use = value.getType().isIndex() ? useOfIndex(value) : "";
    return use.empty() ? "" : "tile_" + use.str();
  }
  return TypeSwitch<Operation *, std::string>(op)
      .Case<tile::LoadOp, tile::GatherRowsOp>(
          [&](auto load) { return like(load.getTensor(), "_tile"); })
      .Case<tile::PopOp>([&](tile::PopOp pop) {
        const auto &pushed = Kernel.pushed[Values.lookup(pop.getPipe()).text];
        unsigned number = cast<OpResult>(value).getResultNumber();
        return number < pushed.size() && !pushed[number].empty() ? pushed[number] + "_tile"
                                                                 : like(pop.getPipe(), "_tile");
      })
      .Case<tile::ProductInterface>([](auto) { return "product_tile"; })
      .Case<tile::ReduceOp>([](tile::ReduceOp reduce) { return kiln::nameOf(reduce); })
      .Case<tile::MoveOp>([&](tile::MoveOp move) {
        bool isShared = move.getType().getSpace() == tile::Space::Mat;
        return like(move.getOperand(), isShared ? "_shared" : "");
      })
      .Case<tile::CastOp>([&](tile::CastOp cast) {
        return like(cast.getOperand(), "_" + cppType(cast.getType().getElementType()));
      })
      .Case<tile::MaskOp, tile::MaskDiagOp>([&](auto mask) { return like(mask.getOperand(), ""); })
      .Case<tile::ExtractOp>(
          [&](tile::ExtractOp extract) { return like(extract.getTile(), "_part"); })
      .Case<tile::CmpOp>([](auto) { return "mask_tile"; })
      .Default([](Operation *op) {
        std::string name = op->getName().stripDialect().str();
        return name.find('_') == std::string::npos ? name + "_tile" : name;
      });
}

std::string FunctionEmitter::nameFor(Value value, StringRef otherwise) {
  std::string hint = hintFor(value);
  bool isName = hint.find('_') != std::string::npos && !llvm::isDigit(hint.front());
  return isName ? Names.unique(hint) : freshName(otherwise);
}

} // namespace kiln::cuda
