// What variables are called: by the tensors, pipes and operations that their values come from.
#include "AscendFunction.h"

#include "kiln/Program/ValueHints.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace kiln::ascend {

/// `a_tile` of `a_tile_2`: without the number that made it unique.
static StringRef withoutNumber(StringRef name) {
  StringRef base = name.rtrim("0123456789");
  return base.ends_with("_") && base.size() < name.size() ? base.drop_back() : name;
}

/// A tile that a loop carries is called as what the loop makes of it.
static std::string hintFor(Value value, function_ref<std::string(Value)> nameOf,
                           unsigned depth = 0) {
  // What a loop makes of its tiles has no name yet.
  auto like = [&](Value other, const char *suffix) {
    std::string name = nameOf(other);
    return name.empty() ? hintFor(other, nameOf, depth + 1) : withoutNumber(name).str() + suffix;
  };
  Operation *op = value.getDefiningOp();
  if (!op || depth > 4)
    return useOfIndex(value).str();
  if (Value yielded = yieldedAs(value))
    return hintFor(yielded, nameOf, depth + 1);
  return TypeSwitch<Operation *, std::string>(op)
      .Case<tile::LoadOp>([&](auto load) { return like(load.getTensor(), "_tile"); })
      .Case<tile::PopOp>([&](auto pop) { return like(pop.getPipe(), "_tile"); })
      .Case<ir::ReadOp>([&](auto read) { return like(read.getTensor(), "_value"); })
      .Case<tile::ProductInterface>([](auto) { return "acc"; })
      .Case<tile::ReduceOp>([](tile::ReduceOp reduce) { return kiln::nameOf(reduce); })
      .Case<tile::MoveOp>([&](tile::MoveOp move) {
        std::string to = tile::stringifySpace(move.getType().getSpace()).str();
        return like(move.getOperand(), to == "vec" ? "_copy" : ("_" + to).c_str());
      })
      .Case<tile::MaskOp>([&](auto mask) { return like(mask.getOperand(), ""); })
      .Case<tile::CastOp>([&](auto cast) {
        std::string element;
        llvm::raw_string_ostream(element) << cast.getType().getElementType();
        return like(cast.getOperand(), ("_" + element).c_str());
      })
      .Case<tile::CmpOp>([](auto) { return "condition"; })
      .Default([&](Operation *op) {
        StringRef use = value.getType().isIndex() ? useOfIndex(value) : "";
        if (!use.empty() || !isa_and_nonnull<tile::TileDialect>(op->getDialect()))
          return use.str();
        return op->getName().stripDialect().str();
      });
}

std::string FunctionEmitter::nameFor(Value value, StringRef otherwise) {
  std::string hint = hintFor(value, [&](Value other) {
    auto pipe = Pipes.find(other);
    return pipe != Pipes.end() ? pipe->second.name : Values.lookup(other);
  });
  return freshName(hint.empty() || llvm::isDigit(hint.front()) ? otherwise : StringRef(hint));
}

} // namespace kiln::ascend
