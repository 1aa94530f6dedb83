#include "OrchestrationNames.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"

using llvm::StringRef;

namespace kiln::orchestration {

// Keywords and alternative tokens up to C++26, what the standard or common headers define as
// macros, and the names that emitted files use themselves.
static constexpr const char *kReserved = R"(
alignas alignof and and_eq asm atomic_cancel atomic_commit atomic_noexcept auto bitand bitor bool
break case catch char char16_t char32_t char8_t class co_await co_return co_yield compl concept
const const_cast consteval constexpr constinit continue contract_assert decltype default delete do
double dynamic_cast else enum explicit export extern false final float for friend goto if import
inline int long module mutable namespace new noexcept not not_eq nullptr operator or or_eq override
private protected public reflexpr register reinterpret_cast requires return short signed sizeof
static static_assert static_cast struct switch synchronized template this thread_local throw true
try typedef typeid typename union unsigned using virtual void volatile wchar_t while xor xor_eq

assert errno stdin stdout stderr linux unix main std NULL EOF INFINITY NAN INT64_MIN

Arguments Compare DType Dims Direction Engine Entry Failure Index Indices Mark Orchestrator Range
Scope ScalarBits ScalarParam Signature Status Task TaskArgs TaskId Tensor TensorParam kiln orch
any args as_signed as_unsigned bit_and bit_or bit_xor cast cast_unsigned ceil_div ceil_div_unsigned
check dim div_unsigned dtypeOf engine fail floor_div inout input is_unordered kernels max
max_unsigned maximum min min_unsigned minimum orchestrate output range range_of range_unsigned
rem_unsigned reshape round_to rt scope shift_left shift_right shift_right_unsigned signature slice
status task to_float to_float_unsigned to_integer transpose trunc_div trunc_rem wrap wrapping_add wrapping_mul
wrapping_sub int8_t int16_t int32_t int64_t uint64_t
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

std::string asIdentifier(StringRef text) {
  std::string name;
  for (char c : text) // two underscores in a row are the implementation's
    if (llvm::isAlnum(c) || !StringRef(name).ends_with("_"))
      name += llvm::isAlnum(c) ? c : '_';
  StringRef trimmed = StringRef(name).trim('_');
  if (trimmed.empty())
    return "value";
  return llvm::isDigit(trimmed.front()) ? "v" + trimmed.str() : trimmed.str();
}

bool CppNames::isTaken(StringRef name) const {
  return isReserved(name) || Taken.contains(name) || (Outer && Outer->isTaken(name));
}

std::string CppNames::unique(StringRef hint) {
  std::string base = asIdentifier(hint), name = base;
  for (unsigned suffix = 1; isTaken(name); ++suffix)
    name = base + "_" + std::to_string(suffix);
  Taken.insert(name);
  return name;
}

std::string quoted(StringRef text) {
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

} // namespace kiln::orchestration
