//===- TorchNames.cpp - names for the emitted Python --------------------------------===//
#include "TorchNames.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"

using llvm::StringRef;

namespace kiln::torch {

// Keywords (soft ones too), builtins, and the modules the file imports. Python 3.6 to 3.13
// together: the file must mean the same whatever runs it.
static constexpr const char *kReserved = R"(
False None True and as assert async await break case class continue def del elif else except
finally for from global if import in is lambda match nonlocal not or pass raise return try type
while with yield

ArithmeticError AssertionError AttributeError BaseException BaseExceptionGroup BlockingIOError
BrokenPipeError BufferError BytesWarning ChildProcessError ConnectionAbortedError ConnectionError
ConnectionRefusedError ConnectionResetError DeprecationWarning EOFError Ellipsis EncodingWarning
EnvironmentError Exception ExceptionGroup FileExistsError FileNotFoundError FloatingPointError
FutureWarning GeneratorExit IOError ImportError ImportWarning IndentationError IndexError
InterruptedError IsADirectoryError KeyError KeyboardInterrupt LookupError MemoryError
ModuleNotFoundError NameError NotADirectoryError NotImplemented NotImplementedError OSError
OverflowError PendingDeprecationWarning PermissionError ProcessLookupError PythonFinalizationError
RecursionError ReferenceError ResourceWarning RuntimeError RuntimeWarning StopAsyncIteration
StopIteration SyntaxError SyntaxWarning SystemError SystemExit TabError TimeoutError TypeError
UnboundLocalError UnicodeDecodeError UnicodeEncodeError UnicodeError UnicodeTranslateError
UnicodeWarning UserWarning ValueError Warning ZeroDivisionError

abs aiter all anext any ascii bin bool breakpoint bytearray bytes callable chr classmethod compile
complex copyright credits delattr dict dir divmod enumerate eval exec exit filter float format
frozenset getattr globals hasattr hash help hex id input int isinstance issubclass iter len
license list locals map max memoryview min next object oct open ord pow print property quit range
repr reversed round set setattr slice sorted staticmethod str sum super tuple vars zip

collections itertools torch
)";

static bool isReserved(StringRef name) {
  static const llvm::StringSet<> reserved = [] {
    llvm::SmallVector<StringRef> words;
    llvm::SplitString(kReserved, words);
    llvm::StringSet<> set;
    set.insert_range(words);
    return set;
  }();
  return reserved.contains(name);
}

/// `hint` with everything Python does not allow in a name replaced.
static std::string asIdentifier(StringRef hint) {
  std::string name;
  for (char c : hint)
    name += llvm::isAlnum(c) ? c : '_';
  StringRef trimmed = StringRef(name).rtrim('_');
  if (trimmed.empty())
    return "value";
  if (trimmed.front() == '_' || llvm::isDigit(trimmed.front()))
    return "v" + trimmed.str();
  return isReserved(trimmed) ? trimmed.str() + "_" : trimmed.str();
}

bool NameScope::isTaken(StringRef name) const {
  return Taken.contains(name) || (Outer && Outer->isTaken(name));
}

std::string NameScope::unique(StringRef hint) {
  std::string base = asIdentifier(hint), name = base;
  for (unsigned suffix = 1; isTaken(name); ++suffix)
    name = StringRef(base).rtrim('_').str() + "_" + std::to_string(suffix);
  Taken.insert(name);
  return name;
}

} // namespace kiln::torch
