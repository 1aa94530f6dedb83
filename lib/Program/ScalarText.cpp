#include "kiln/Program/ScalarText.h"

using namespace mlir;

namespace kiln {

static constexpr ScalarFunctions kFunctions[] = {
    {"arith.addi", "wrapping_add", "add"},
    {"arith.subi", "wrapping_sub", "subtract"},
    {"arith.muli", "wrapping_mul", "times"},
    {"arith.divsi", "trunc_div", "divide"},
    {"arith.remsi", "trunc_rem", "remainder"},
    {"arith.floordivsi", "floor_div", ""},
    {"arith.ceildivsi", "ceil_div", ""},
    {"arith.divui", "div_unsigned", "divideUnsigned"},
    {"arith.remui", "rem_unsigned", "remainderUnsigned"},
    {"arith.ceildivui", "ceil_div_unsigned", "ceilDivUnsigned"},
    {"arith.shli", "shift_left", "shiftLeft"},
    {"arith.shrsi", "shift_right", "shiftRight"},
    {"arith.shrui", "shift_right_unsigned", "shiftRightUnsigned"},
    {"arith.minsi", "min", "smaller"},
    {"arith.maxsi", "max", "larger"},
    {"arith.minui", "min_unsigned", "smallerUnsigned"},
    {"arith.maxui", "max_unsigned", "largerUnsigned"},
    {"arith.andi", "bit_and", ""},
    {"arith.ori", "bit_or", ""},
    {"arith.xori", "bit_xor", ""},
    {"arith.addf", "", "add"},
    {"arith.subf", "", "subtract"},
    {"arith.mulf", "", "times"},
    {"arith.divf", "", "divide"},
    {"arith.remf", "std::fmod", "remainder"},
    {"arith.maximumf", "maximum", "larger"},
    {"arith.minimumf", "minimum", "smaller"},
};

const ScalarFunctions *scalarFunctions(Operation *op) {
  const auto *row = llvm::find_if(
      kFunctions, [&](const auto &known) { return known.op == op->getName().getStringRef(); });
  return row == std::end(kFunctions) ? nullptr : row;
}

StringRef signOf(arith::CmpIPredicate how) {
  static constexpr StringLiteral signs[] = {"==", "!=", "<",  "<=", ">",
                                            ">=", "<",  "<=", ">",  ">="}; // by the enum
  return signs[unsigned(how)];
}

bool isUnsigned(arith::CmpIPredicate how) { return how >= arith::CmpIPredicate::ult; }

} // namespace kiln
