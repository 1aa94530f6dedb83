#include "kiln/Target/Text/Names.h"

#include "llvm/ADT/SmallVector.h"

using llvm::StringRef;

namespace kiln::text {

// Keywords and alternative tokens up to C++26.
static constexpr const char *kCppWords = R"(
alignas alignof and and_eq asm atomic_cancel atomic_commit atomic_noexcept auto bitand bitor bool
break case catch char char16_t char32_t char8_t class co_await co_return co_yield compl concept
const const_cast consteval constexpr constinit continue contract_assert decltype default delete do
double dynamic_cast else enum explicit export extern false final float for friend goto if import
inline int long module mutable namespace new noexcept not not_eq nullptr operator or or_eq override
private protected public reflexpr register reinterpret_cast requires return short signed sizeof
static static_assert static_cast struct switch synchronized template this thread_local throw true
try typedef typeid typename union unsigned using virtual void volatile wchar_t while xor xor_eq
)";

// Keywords (soft ones too) and builtins. Python 3.6 to 3.13 together: the file must mean the same
// whatever runs it.
static constexpr const char *kPythonWords = R"(
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
)";

std::string cppIdentifier(StringRef text) {
  std::string name;
  for (char c : text) // two underscores in a row are the implementation's
    if (llvm::isAlnum(c) || !StringRef(name).ends_with("_"))
      name += llvm::isAlnum(c) ? c : '_';
  StringRef trimmed = StringRef(name).trim('_');
  if (trimmed.empty())
    return "value";
  return llvm::isDigit(trimmed.front()) ? "v" + trimmed.str() : trimmed.str();
}

static std::string pythonIdentifier(StringRef hint) {
  std::string name;
  for (char c : hint)
    name += llvm::isAlnum(c) ? c : '_';
  StringRef trimmed = StringRef(name).rtrim('_');
  if (trimmed.empty())
    return "value";
  bool isAllowed = trimmed.front() != '_' && !llvm::isDigit(trimmed.front());
  return isAllowed ? trimmed.str() : "v" + trimmed.str();
}

NameRules::NameRules(std::string (*identifier)(StringRef), StringRef keywords, StringRef words,
                     StringRef prefix, StringRef suffix)
    : Identifier(identifier), Prefix(prefix), Suffix(suffix) {
  llvm::SmallVector<StringRef> reserved;
  llvm::SplitString(keywords, reserved);
  llvm::SplitString(words, reserved);
  Reserved.insert_range(reserved);
}

NameRules NameRules::cpp(StringRef words, StringRef prefix) {
  return NameRules(cppIdentifier, kCppWords, words, prefix, "");
}

NameRules NameRules::python(StringRef words) {
  return NameRules(pythonIdentifier, kPythonWords, words, "", "_");
}

std::string NameRules::spell(StringRef hint) const {
  std::string name = Identifier(hint);
  return isReserved(name) ? Prefix + name + Suffix : name;
}

bool NameScope::isTaken(StringRef name) const {
  return Rules.isReserved(name) || Taken.contains(name) || (Outer && Outer->isTaken(name));
}

std::string NameScope::unique(StringRef hint) {
  std::string base = Rules.spell(hint), name = base;
  for (unsigned suffix = 1; isTaken(name); ++suffix)
    name = StringRef(base).rtrim('_').str() + "_" + std::to_string(suffix);
  Taken.insert(name);
  return name;
}

} // namespace kiln::text
