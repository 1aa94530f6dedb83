//===- Affine.h - constants plus multiples of symbols ---------------------------------===//
//
// The one class for sums that passes reason about: offsets of boxes, bounds of masks, trip counts
// of pipes. What a symbol is, its user says: a value of the program, or a number for something that
// is not looked into.
//
// Arithmetic wraps around 64 bits and so never fails. Whoever draws conclusions about integers asks
// isSmall() after each step: sums of two small ones, and products of a small one with a factor
// below kMostFactor, have not wrapped.
//
// Threads: values.
//
//===----------------------------------------------------------------------------===//
#ifndef KILN_PROGRAM_AFFINE_H
#define KILN_PROGRAM_AFFINE_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLExtras.h"

#include <compare>
#include <concepts>
#include <cstdint>
#include <optional>
#include <tuple>
#include <vector>

namespace kiln {

/// constant + sum of factor * symbol. No symbol occurs twice and no factor is 0. Terms are sorted
/// where symbols have an order; else they are in the order in which they were added.
template <typename Symbol> class Affine {
public:
  using Term = std::pair<Symbol, int64_t>;

  Affine(int64_t constant = 0) : Constant(constant) {}
  static Affine of(Symbol symbol) {
    Affine sum;
    sum.Terms.emplace_back(symbol, 1);
    return sum;
  }

  bool isConstant() const { return Terms.empty(); }
  int64_t constant() const { return Constant; }
  llvm::ArrayRef<Term> terms() const { return Terms; }
  /// 0 of a symbol that does not occur.
  int64_t coefficient(Symbol symbol) const {
    for (auto [other, factor] : Terms)
      if (other == symbol)
        return factor;
    return 0;
  }
  /// The symbol this is, alone and once.
  std::optional<Symbol> asSymbol() const {
    if (Constant == 0 && Terms.size() == 1 && Terms.front().second == 1)
      return Terms.front().first;
    return std::nullopt;
  }

  Affine operator+(const Affine &other) const;
  Affine operator*(int64_t factor) const;
  Affine operator-(const Affine &other) const { return *this + other * -1; }
  Affine operator-() const { return *this * -1; }
  bool operator==(const Affine &other) const;
  auto operator<=>(const Affine &other) const
    requires std::totally_ordered<Symbol>
  {
    return std::tie(Constant, Terms) <=> std::tie(other.Constant, other.Terms);
  }

  static constexpr int64_t kMostFactor = int64_t{1} << 20;
  /// Whether all numbers are below 2^40, as those of indices are.
  bool isSmall() const {
    auto isLittle = [](int64_t number) {
      constexpr int64_t most = int64_t{1} << 40;
      return number > -most && number < most;
    };
    return isLittle(Constant) &&
           llvm::all_of(Terms, [&](const Term &term) { return isLittle(term.second); });
  }

private:
  static int64_t wrappingAdd(int64_t a, int64_t b) {
    return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
  }
  static int64_t wrappingMul(int64_t a, int64_t b) {
    return static_cast<int64_t>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
  }
  /// Where a symbol stands, or would stand.
  auto placeOf(Symbol symbol) {
    if constexpr (std::totally_ordered<Symbol>)
      return llvm::lower_bound(Terms, symbol,
                               [](const Term &term, Symbol other) { return term.first < other; });
    else
      return llvm::find_if(Terms, [&](const Term &term) { return term.first == symbol; });
  }
  void add(const Term &term) {
    auto at = placeOf(term.first);
    if (at == Terms.end() || at->first != term.first)
      Terms.insert(at, term);
    else if (at->second = wrappingAdd(at->second, term.second); at->second == 0)
      Terms.erase(at);
  }

  int64_t Constant;
  std::vector<Term> Terms;
};

template <typename Symbol> Affine<Symbol> Affine<Symbol>::operator+(const Affine &other) const {
  Affine sum = *this;
  sum.Constant = wrappingAdd(Constant, other.Constant);
  for (const Term &term : other.Terms)
    sum.add(term);
  return sum;
}

template <typename Symbol> Affine<Symbol> Affine<Symbol>::operator*(int64_t factor) const {
  Affine product(wrappingMul(Constant, factor));
  for (auto [symbol, coefficient] : Terms)
    if (int64_t scaled = wrappingMul(coefficient, factor))
      product.Terms.emplace_back(symbol, scaled);
  return product;
}

template <typename Symbol> bool Affine<Symbol>::operator==(const Affine &other) const {
  if (Constant != other.Constant || Terms.size() != other.Terms.size())
    return false;
  if constexpr (std::totally_ordered<Symbol>)
    return Terms == other.Terms;
  return llvm::all_of(
      Terms, [&](const Term &term) { return other.coefficient(term.first) == term.second; });
}

} // namespace kiln

#endif // KILN_PROGRAM_AFFINE_H
