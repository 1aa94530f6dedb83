//===- Literals.h - numbers, strings and lists in emitted text ----------------------------===//
//
// Pure functions; any thread.
//
//===----------------------------------------------------------------------------===//
#ifndef KILN_TARGET_TEXT_LITERALS_H
#define KILN_TARGET_TEXT_LITERALS_H

#include "mlir/IR/Attributes.h"
#include "mlir/IR/ValueRange.h"

#include <string>

namespace kiln::text {

/// `text` as a string literal of C++.
std::string cppString(llvm::StringRef text);
/// `text` as a string literal of Python.
std::string pythonString(llvm::StringRef text);

/// A finite number as a C++ literal that is exactly it: `0.5f`.
std::string cppFloat(float value);
/// How a library spells what C++ has no literals for.
struct CppNumbers {
  std::string leastInteger, notANumber, infinity;
};
/// A constant as a number of C++, of whatever type that has there; floats are `float`.
std::string cppNumber(mlir::Attribute constant, const CppNumbers &numbers);
/// `<float, 64, 128>`
std::string cppShape(llvm::StringRef element, int64_t rows, int64_t cols);

/// A finite number in as few digits as identify it among the doubles or, if `isShort`, among the
/// floats: `0.5`.
std::string shortestFloat(double value, bool isShort);

/// The texts of a list of constants and values, as in `[%i, 0]`.
llvm::SmallVector<std::string> mixedList(llvm::ArrayRef<int64_t> constants, mlir::ValueRange values,
                                         llvm::function_ref<std::string(mlir::Value)> textOf);

} // namespace kiln::text

#endif // KILN_TARGET_TEXT_LITERALS_H
