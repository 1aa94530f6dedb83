//===- TorchPython.cpp - Python expressions as text --------------------------------===//
#include "TorchPython.h"

#include "kiln/Target/Text/Literals.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/TypeSwitch.h"

#include <cmath>

using namespace mlir;

namespace kiln::torch {

std::string atLeast(const Expr &expr, Prec prec) {
  return expr.prec < prec ? "(" + expr.text + ")" : expr.text;
}

/// What the operand in the first place of a pattern must bind like. Arithmetic groups to the left;
/// comparisons chain and conditionals nest in Python, so those never stand in their own operand.
static Prec leftPrec(Prec prec) {
  bool groupsLeft = prec >= Prec::BitOr && prec <= Prec::Unary;
  return groupsLeft || prec == Prec::Atom ? prec : Prec(int(prec) + 1);
}

Expr expandPattern(StringRef pattern, Prec prec, ArrayRef<Expr> operands) {
  Expr result{"", prec};
  bool isFirst = true;
  for (size_t i = 0; i < pattern.size(); ++i) {
    if (pattern[i] != '$') {
      result.text += pattern[i];
      continue;
    }
    const Expr &operand = operands[pattern[++i] - '0'];
    char next = i + 1 < pattern.size() ? pattern[i + 1] : ' ';
    Prec needed = Prec::Ternary; // an argument of a call
    if (next == '.' || next == '[')
      needed = Prec::Atom;
    else if (prec != Prec::Atom)
      needed = isFirst ? leftPrec(prec) : prec == Prec::Unary ? Prec::Atom : Prec(int(prec) + 1);
    result.text += atLeast(operand, needed);
    isFirst = false;
  }
  if (pattern == "$0") // an operation that changes nothing
    result.prec = operands[0].prec;
  return result;
}

Expr floatLiteral(double value, bool isShort) {
  if (std::isnan(value))
    return {"float('nan')"};
  if (std::isinf(value))
    return {value < 0 ? "float('-inf')" : "float('inf')"};
  std::string literal = text::shortestFloat(value, isShort);
  return {literal, literal[0] == '-' ? Prec::Unary : Prec::Atom};
}

Expr intLiteral(int64_t value) {
  return {std::to_string(value), value < 0 ? Prec::Unary : Prec::Atom};
}

std::string tuple(ArrayRef<std::string> items) {
  return "(" + llvm::join(items, ", ") + (items.size() == 1 ? ",)" : ")");
}

bool isFloat8(Type element) { return isa<Float8E4M3FNType, Float8E5M2Type>(element); }
StringRef float8Kind(Type element) { return isa<Float8E5M2Type>(element) ? "'e5m2'" : "'e4m3fn'"; }
bool isNarrowFloat(Type element) { return isa<FloatType>(element) && !element.isF32(); }

unsigned bitWidth(Type type) { return type.isIndex() ? 64 : type.getIntOrFloatBitWidth(); }

StringRef tensorDtype(Type element) {
  return TypeSwitch<Type, StringRef>(element)
      .Case<Float32Type>([](auto) { return "torch.float32"; })
      .Case<Float16Type>([](auto) { return "torch.float16"; })
      .Case<BFloat16Type>([](auto) { return "torch.bfloat16"; })
      .Case<Float8E4M3FNType, Float8E5M2Type>([](auto) { return "torch.uint8"; })
      .Default([](Type type) -> StringRef {
        switch (bitWidth(type)) {
        case 1:
          return "torch.bool";
        case 8:
          return "torch.int8";
        case 16:
          return "torch.int16";
        case 32:
          return "torch.int32";
        default:
          return "torch.int64";
        }
      });
}

StringRef tileDtype(Type element) {
  return isa<FloatType>(element) ? "torch.float32" : tensorDtype(element);
}

} // namespace kiln::torch
