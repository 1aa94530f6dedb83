#include "kiln/Target/Text/Literals.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"

#include <cmath>
#include <cstdio>
#include <cstdlib>

namespace kiln::text {

std::string cppString(llvm::StringRef text) {
  std::string out = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\')
      out += {'\\', c};
    else if (llvm::isPrint(c) || static_cast<unsigned char>(c) >= 0x80)
      out += c;
    else // three octal digits end by themselves, whatever follows
      out += {'\\', char('0' + (static_cast<unsigned char>(c) >> 6)),
              char('0' + (static_cast<unsigned char>(c) >> 3 & 7)), char('0' + (c & 7))};
  }
  return out + "\"";
}

std::string pythonString(llvm::StringRef text) {
  // Python reads every string of JSON.
  return llvm::formatv("{0}", llvm::json::Value(llvm::json::fixUTF8(text))).str();
}

/// Digits as a float, where they look like an integer.
static std::string withPoint(std::string digits) {
  return digits.find_first_of(".e") == std::string::npos ? digits + ".0" : digits;
}

std::string cppFloat(float value) {
  char digits[32];
  std::snprintf(digits, sizeof digits, "%.9g", static_cast<double>(value));
  return withPoint(digits) + "f";
}

std::string cppNumber(mlir::Attribute constant, const CppNumbers &numbers) {
  if (auto integer = llvm::dyn_cast<mlir::IntegerAttr>(constant)) {
    if (integer.getType().isInteger(1))
      return integer.getValue().isZero() ? "false" : "true";
    int64_t value = integer.getValue().getSExtValue();
    return value == INT64_MIN ? numbers.leastInteger : std::to_string(value);
  }
  auto value = static_cast<float>(llvm::cast<mlir::FloatAttr>(constant).getValueAsDouble());
  if (std::isnan(value))
    return numbers.notANumber;
  if (std::isinf(value))
    return value < 0 ? "-" + numbers.infinity : numbers.infinity;
  return cppFloat(value);
}

std::string cppShape(llvm::StringRef element, int64_t rows, int64_t cols) {
  return "<" + element.str() + ", " + std::to_string(rows) + ", " + std::to_string(cols) + ">";
}

std::string shortestFloat(double value, bool isShort) {
  char text[40];
  for (int digits = 1; digits <= 17; ++digits) {
    std::snprintf(text, sizeof text, "%.*g", digits, value);
    if (isShort ? std::strtof(text, nullptr) == float(value) : std::strtod(text, nullptr) == value)
      break;
  }
  return withPoint(text);
}

llvm::SmallVector<std::string> mixedList(llvm::ArrayRef<int64_t> constants, mlir::ValueRange values,
                                         llvm::function_ref<std::string(mlir::Value)> textOf) {
  llvm::SmallVector<std::string> items;
  size_t next = 0;
  for (int64_t constant : constants)
    items.push_back(mlir::ShapedType::isDynamic(constant) ? textOf(values[next++])
                                                          : std::to_string(constant));
  return items;
}

} // namespace kiln::text
