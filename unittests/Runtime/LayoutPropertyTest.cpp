//===- LayoutPropertyTest.cpp - laws of the layout algebra ----------------===//
//
// Random layouts against the definitions, offset by offset.
//
//===---------------------------------------------------------------------===//
#include "LayoutTesting.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <random>
#include <span>

using namespace kiln::layout;

namespace {

constexpr int Cases = 2000;

class LayoutLaws : public testing::Test {
protected:
  int64_t random(int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(Engine);
  }
  bool chance() { return random(0, 1) == 0; }

  struct Extent {
    int64_t Extent, Stride;
  };
  /// The modes in this order, nested at random.
  AnyLayout nested(std::span<const Extent> modes) {
    if (modes.size() == 1)
      return *AnyLayout::mode(modes[0].Extent, modes[0].Stride);
    std::vector<AnyLayout> parts;
    while (!modes.empty()) {
      size_t count = parts.empty() && modes.size() > 1
                         ? random(1, static_cast<int64_t>(modes.size()) - 1)
                         : random(1, static_cast<int64_t>(modes.size()));
      parts.push_back(nested(modes.first(count)));
      modes = modes.subspan(count);
    }
    return *AnyLayout::tuple(parts.data(), static_cast<int>(parts.size()));
  }

  /// Anything: gaps, overlaps, extents of 1, strides of 0.
  AnyLayout anyLayout() {
    std::vector<Extent> modes(random(1, 4));
    for (Extent &mode : modes)
      mode = {random(1, 4), random(0, 12)};
    return nested(modes);
  }
  /// One that has a complement: modes that nest, with gaps up to `gap`, in any order.
  AnyLayout nestingLayout(int64_t gap = 3) {
    std::vector<Extent> modes(random(1, 4));
    int64_t filled = 1;
    for (Extent &mode : modes) {
      mode = {random(1, 4), filled * random(1, gap)};
      filled = mode.Extent * mode.Stride;
    }
    std::shuffle(modes.begin(), modes.end(), Engine);
    return nested(modes);
  }
  /// A bijection on [0, size).
  AnyLayout compactLayout() { return nestingLayout(1); }

  /// Of a composition with `a` that is likely to be admissible: strides and extents are products
  /// of extents of `a`, or divisors of those.
  AnyLayout divisorLayout(const AnyLayout &a) {
    std::vector<Extent> modes(random(1, 3));
    for (Extent &mode : modes)
      mode = {divisorOf(size(a)), divisorOf(size(a))};
    return nested(modes);
  }
  int64_t divisorOf(int64_t value) {
    int64_t divisor;
    do
      divisor = random(1, value);
    while (value % divisor != 0);
    return divisor;
  }

  static std::vector<int64_t> sorted(std::vector<int64_t> values) {
    std::sort(values.begin(), values.end());
    return values;
  }
  static std::vector<int64_t> firstNumbers(int64_t count) {
    std::vector<int64_t> numbers(count);
    std::iota(numbers.begin(), numbers.end(), 0);
    return numbers;
  }

  std::mt19937_64 Engine{7};
};

TEST_F(LayoutLaws, coalesce_is_the_same_function_with_fewest_modes) {
  for (int n = 0; n < Cases; ++n) {
    AnyLayout layout = anyLayout(), coalesced = coalesce(layout);
    ASSERT_EQ(offsets(coalesced), offsets(layout)) << toString(layout);
    ASSERT_LE(depth(coalesced), 1);
    for (int i = 0; i + 1 < rank(coalesced); ++i) {
      AnyLayout mode = coalesced.mode(i), next = coalesced.mode(i + 1);
      ASSERT_GT(mode.extent(), 1);
      ASSERT_NE(mode.extent() * mode.stride(), next.stride()) << toString(coalesced);
    }
  }
}

TEST_F(LayoutLaws, size_and_cosize_are_what_the_offsets_say) {
  for (int n = 0; n < Cases; ++n) {
    AnyLayout layout = anyLayout();
    std::vector<int64_t> all = offsets(layout);
    ASSERT_EQ(cosize(layout), 1 + *std::max_element(all.begin(), all.end())) << toString(layout);
  }
}

TEST_F(LayoutLaws, composition_applies_one_layout_after_the_other) {
  int composed = 0;
  for (int n = 0; n < 3 * Cases; ++n) {
    AnyLayout a = chance() ? anyLayout() : nestingLayout();
    AnyLayout b = chance() ? divisorLayout(a) : anyLayout();
    Result<AnyLayout> c = composition(a, b);
    if (!c) {
      ASSERT_EQ(c.error(), Error::NotDivisible);
      continue;
    }
    ++composed;
    ASSERT_EQ(size(*c), size(b));
    ASSERT_EQ(rank(*c), b.isMode() ? rank(*c) : rank(b));
    AnyLayout beyond = coalesce(a);
    for (int64_t i = 0; i < size(b); ++i) {
      ASSERT_EQ((*c)(i), beyond(b(i))) << toString(a) << " o " << toString(b);
      if (b(i) < size(a)) {
        ASSERT_EQ((*c)(i), a(b(i))) << toString(a) << " o " << toString(b);
      }
    }
  }
  EXPECT_GT(composed, Cases);
}

/// The precondition as docs/layout.md states it, for one mode on the right.
bool mayCompose(const AnyLayout &a, int64_t extent, int64_t stride) {
  AnyLayout coalesced = coalesce(a);
  int64_t boundary = 1;
  for (int i = 0; i + 1 < rank(coalesced); ++i) {
    boundary *= coalesced.mode(i).extent();
    if ((extent - 1) * stride < boundary)
      return true;
    bool steps = stride >= boundary ? stride % boundary == 0
                                    : boundary % stride == 0 && extent % (boundary / stride) == 0;
    if (!steps)
      return false;
  }
  return true;
}

TEST_F(LayoutLaws, composition_with_one_mode_fails_only_for_lack_of_divisibility) {
  int failed = 0;
  for (int n = 0; n < Cases; ++n) {
    AnyLayout a = anyLayout(), b = *AnyLayout::mode(random(1, 12), random(0, 12));
    bool possible = mayCompose(a, b.extent(), b.stride());
    failed += !possible;
    ASSERT_EQ(static_cast<bool>(composition(a, b)), possible)
        << toString(a) << " o " << toString(b);
  }
  EXPECT_GT(failed, Cases / 10);
}

/// The sum over the modes of `b` of what each alone gives, or nothing if some mode gives none.
std::optional<int64_t> modeByMode(const AnyLayout &a, const AnyLayout &b, int64_t index) {
  if (b.isMode()) {
    Result<AnyLayout> composed = composition(a, b);
    return composed ? std::optional((*composed)(index)) : std::nullopt;
  }
  int64_t sum = 0;
  for (int i = 0; i < rank(b); ++i) {
    std::optional<int64_t> part = modeByMode(a, b.mode(i), index % size(b.mode(i)));
    if (!part)
      return std::nullopt;
    sum += *part;
    index /= size(b.mode(i));
  }
  return sum;
}

TEST_F(LayoutLaws, composition_with_many_modes_fails_only_for_one_of_them_or_for_a_carry) {
  int carries = 0;
  for (int n = 0; n < 3 * Cases; ++n) {
    AnyLayout a = anyLayout(), b = divisorLayout(a), beyond = coalesce(a);
    if (composition(a, b) || !modeByMode(a, b, 0))
      continue;
    ++carries;
    bool right = true;
    for (int64_t i = 0; i < size(b); ++i)
      right = right && modeByMode(a, b, i) == beyond(b(i));
    ASSERT_FALSE(right) << toString(a) << " o " << toString(b);
  }
  EXPECT_GT(carries, 100);
}

TEST_F(LayoutLaws, complement_is_disjoint_and_covers) {
  for (int n = 0; n < Cases; ++n) {
    AnyLayout layout = nestingLayout();
    int64_t bound = random(1, 300);
    AnyLayout rest = *complement(layout, bound);
    std::vector<int64_t> sums;
    for (int64_t i : offsets(layout))
      for (int64_t j : offsets(rest))
        sums.push_back(i + j);
    ASSERT_EQ(sorted(sums), firstNumbers(static_cast<int64_t>(sums.size())))
        << toString(layout) << " and " << toString(rest);
    ASSERT_GE(static_cast<int64_t>(sums.size()), bound);
    ASSERT_EQ(sorted(offsets(rest)), offsets(rest)) << "strides ascend";
  }
}

TEST_F(LayoutLaws, complement_of_anything_is_right_or_refused) {
  int refused = 0;
  for (int n = 0; n < Cases; ++n) {
    AnyLayout layout = anyLayout();
    Result<AnyLayout> rest = complement(layout);
    if (!rest) {
      ASSERT_EQ(rest.error(), Error::NotInjective);
      ++refused;
      continue;
    }
    std::vector<int64_t> sums;
    for (int64_t i : offsets(layout))
      for (int64_t j : offsets(*rest))
        sums.push_back(i + j);
    ASSERT_EQ(sorted(sums), firstNumbers(static_cast<int64_t>(sums.size()))) << toString(layout);
  }
  EXPECT_GT(refused, Cases / 10);
  EXPECT_LT(refused, Cases);
}

TEST_F(LayoutLaws, right_inverse_is_undone_by_the_layout) {
  for (int n = 0; n < Cases; ++n) {
    AnyLayout layout = chance() ? anyLayout() : nestingLayout();
    AnyLayout inverse = right_inverse(layout);
    for (int64_t i = 0; i < size(inverse); ++i)
      ASSERT_EQ(layout(inverse(i)), i) << toString(layout) << " and " << toString(inverse);
  }
}

TEST_F(LayoutLaws, inverses_of_a_bijection_are_whole_and_equal) {
  for (int n = 0; n < Cases; ++n) {
    AnyLayout layout = compactLayout(), inverse = right_inverse(layout);
    ASSERT_EQ(size(inverse), size(layout)) << toString(layout);
    ASSERT_EQ(inverse, *left_inverse(layout)) << toString(layout);
    ASSERT_EQ(right_inverse(inverse), coalesce(layout));
  }
}

TEST_F(LayoutLaws, left_inverse_undoes_the_layout) {
  for (int n = 0; n < Cases; ++n) {
    AnyLayout layout = nestingLayout(), inverse = *left_inverse(layout);
    for (int64_t i = 0; i < size(layout); ++i)
      ASSERT_EQ(inverse(layout(i)), i) << toString(layout) << " and " << toString(inverse);
    ASSERT_GE(size(inverse), cosize(layout));
  }
}

TEST_F(LayoutLaws, divide_is_tile_and_rest) {
  int divided = 0, permutations = 0;
  for (int n = 0; n < 3 * Cases; ++n) {
    AnyLayout layout = chance() ? anyLayout() : nestingLayout();
    AnyLayout tile = nestingLayout(chance() ? 1 : 2);
    Result<AnyLayout> result = logical_divide(layout, tile);
    if (!result)
      continue;
    ++divided;
    AnyLayout rest = *complement(tile, size(layout)), beyond = coalesce(layout);
    ASSERT_EQ(size(*result), size(tile) * size(rest));
    for (int64_t j = 0; j < size(rest); ++j)
      for (int64_t i = 0; i < size(tile); ++i)
        ASSERT_EQ((*result)(i + size(tile) * j), beyond(tile(i) + rest(j)))
            << toString(layout) << " by " << toString(tile);
    if (size(*result) == size(layout)) {
      ++permutations;
      ASSERT_EQ(sorted(offsets(*result)), sorted(offsets(layout)));
    }
    ASSERT_EQ(offsets(*zipped_divide(layout, tile)), offsets(*result));
    ASSERT_EQ(offsets(*tiled_divide(layout, tile)), offsets(*result));
    ASSERT_EQ(offsets(*flat_divide(layout, tile)), offsets(*result));
  }
  EXPECT_GT(divided, Cases / 2);
  EXPECT_GT(permutations, Cases / 10);
}

TEST_F(LayoutLaws, divide_by_mode_divides_each_mode) {
  for (int n = 0; n < Cases; ++n) {
    AnyLayout rows = *AnyLayout::mode(random(1, 20), random(1, 30));
    AnyLayout columns = *AnyLayout::mode(random(1, 20), random(1, 30));
    AnyLayout depths = *AnyLayout::mode(random(1, 3), random(1, 30));
    AnyLayout tileRows = *AnyLayout::mode(random(1, 6), random(1, 3));
    AnyLayout tileColumns = *AnyLayout::mode(random(1, 6), 1);
    AnyLayout layout = *AnyLayout::tuple({rows, columns, depths});
    AnyLayout byRows = *logical_divide(rows, tileRows);
    AnyLayout byColumns = *logical_divide(columns, tileColumns);
    auto blocks = tile(tileRows, tileColumns);
    ASSERT_EQ(*logical_divide(layout, blocks), *AnyLayout::tuple({byRows, byColumns, depths}));
    AnyLayout tiles = *AnyLayout::tuple({byRows.mode(0), byColumns.mode(0)});
    AnyLayout rests = *AnyLayout::tuple({byRows.mode(1), byColumns.mode(1), depths});
    ASSERT_EQ(*zipped_divide(layout, blocks), *AnyLayout::tuple({tiles, rests}));
    ASSERT_EQ(*tiled_divide(layout, blocks),
              *AnyLayout::tuple({tiles, rests.mode(0), rests.mode(1), depths}));
    ASSERT_EQ(
        *flat_divide(layout, blocks),
        *AnyLayout::tuple({tiles.mode(0), tiles.mode(1), rests.mode(0), rests.mode(1), depths}));
  }
}

TEST_F(LayoutLaws, product_is_block_and_copies) {
  for (int n = 0; n < Cases; ++n) {
    AnyLayout block = nestingLayout(chance() ? 1 : 2), tiler = compactLayout();
    Result<AnyLayout> result = logical_product(block, tiler);
    if (!result) {
      ASSERT_EQ(result.error(), Error::NotDivisible);
      continue;
    }
    ASSERT_EQ(result->mode(0), block);
    AnyLayout rest = *complement(block, size(block) * cosize(tiler));
    for (int64_t j = 0; j < size(tiler); ++j)
      for (int64_t i = 0; i < size(block); ++i)
        ASSERT_EQ((*result)(i + size(block) * j), block(i) + rest(tiler(j)))
            << toString(block) << " by " << toString(tiler);
    ASSERT_EQ(offsets(*zipped_product(block, tiler)), offsets(*result));
    ASSERT_EQ(offsets(*tiled_product(block, tiler)), offsets(*result));
    ASSERT_EQ(offsets(*flat_product(block, tiler)), offsets(*result));
  }
}

TEST_F(LayoutLaws, products_of_bijections_are_bijections) {
  for (int n = 0; n < Cases; ++n) {
    AnyLayout block = compactLayout(), tiler = compactLayout();
    std::vector<int64_t> everything = firstNumbers(size(block) * size(tiler));
    ASSERT_EQ(sorted(offsets(*logical_product(block, tiler))), everything);
    AnyLayout blocked = *blocked_product(block, tiler), raked = *raked_product(block, tiler);
    ASSERT_EQ(sorted(offsets(blocked)), everything);
    ASSERT_EQ(sorted(offsets(raked)), everything);
    ASSERT_EQ(rank(blocked), std::max(rank(block), rank(tiler)));
    for (int i = 0; i < rank(blocked); ++i) {
      ASSERT_EQ(blocked.mode(i).mode(0), raked.mode(i).mode(1));
      ASSERT_EQ(blocked.mode(i).mode(1), raked.mode(i).mode(0));
    }
  }
}

/// The narrow elements that lie in the wide ones.
std::vector<int64_t> parts(const AnyLayout &layout, int64_t ratio) {
  std::vector<int64_t> result;
  for (int64_t offset : offsets(layout))
    for (int64_t i = 0; i < ratio; ++i)
      result.push_back(offset * ratio + i);
  return result;
}

TEST_F(LayoutLaws, recast_covers_the_same_memory) {
  int narrowed = 0, widened = 0;
  for (int n = 0; n < 3 * Cases; ++n) {
    AnyLayout layout = chance() ? anyLayout() : nestingLayout(chance() ? 1 : 2);
    if (Result<AnyLayout> narrow = recast<32, 8>(layout)) {
      ++narrowed;
      ASSERT_EQ(sorted(offsets(*narrow)), sorted(parts(layout, 4))) << toString(layout);
      if (Result<AnyLayout> wide = recast<8, 32>(*narrow)) {
        ASSERT_EQ(offsets(*wide), offsets(layout)) << toString(layout);
      }
    }
    if (Result<AnyLayout> wide = recast<8, 32>(layout)) {
      ++widened;
      ASSERT_EQ(sorted(parts(*wide, 4)), sorted(offsets(layout))) << toString(layout);
    }
  }
  EXPECT_GT(narrowed, Cases / 2);
  EXPECT_GT(widened, Cases / 10);
}

TEST_F(LayoutLaws, dynamic_numbers_give_the_same_function_or_an_error) {
  int composed = 0, complements = 0, inverses = 0;
  for (int n = 0; n < Cases; ++n) {
    auto a = *make_layout(tuple(random(1, 4), 4_c, random(1, 4)),
                          tuple(1_c, random(1, 8), random(0, 20)));
    auto b = *make_layout(tuple(random(1, 8), tuple(2_c, random(1, 4))),
                          tuple(random(0, 8), tuple(random(0, 16), 4_c)));
    AnyLayout valueA = a;
    if (auto c = composition(a, b)) {
      ++composed;
      for (int64_t i = 0; i < size(b); ++i)
        if (b(i) < size(a)) {
          ASSERT_EQ((*c)(i), a(b(i))) << toString(a) << " o " << toString(b);
        }
    } else {
      ASSERT_EQ(c.error(), Error::NotDivisible);
    }
    int64_t bound = random(1, 300);
    if (auto rest = complement(a, bound)) {
      ++complements;
      ASSERT_EQ(coalesce(AnyLayout(*rest)), *complement(valueA, bound)) << toString(a);
    } else {
      ASSERT_FALSE(complement(valueA, bound)) << toString(a);
    }
    auto inverse = right_inverse(b);
    for (int64_t i = 0; i < size(inverse); ++i)
      ASSERT_EQ(b(inverse(i)), i) << toString(b) << " and " << toString(inverse);
    if (auto left = left_inverse(a)) {
      ++inverses;
      for (int64_t i = 0; i < size(a); ++i)
        ASSERT_EQ((*left)(a(i)), i) << toString(a) << " and " << toString(*left);
    }
  }
  EXPECT_GT(composed, Cases / 10);
  EXPECT_GT(complements, Cases / 20);
  EXPECT_GT(inverses, Cases / 20);
}

TEST_F(LayoutLaws, huge_numbers_give_layouts_or_errors_never_wrapped_ones) {
  auto huge = [&] { return random(0, 2) == 0 ? random(1, 8) : INT64_MAX >> random(0, 62); };
  int made = 0;
  for (int n = 0; n < Cases; ++n) {
    auto a = make_layout(tuple(huge(), huge()), tuple(huge() - 1, huge() - 1));
    auto b = make_layout(tuple(huge(), huge()), tuple(huge() - 1, huge() - 1));
    if (!a || !b)
      continue;
    ++made;
    AnyLayout valueA = *a, valueB = *b;
    auto check = [](const auto &result) {
      if (!result)
        return;
      AnyLayout layout = *result;
      ASSERT_GE(size(layout), 1);
      ASSERT_GE(cosize(layout), 1);
      ASSERT_EQ(layout(size(layout) - 1) + 1, cosize(layout));
    };
    check(composition(*a, *b));
    check(composition(valueA, valueB));
    check(complement(valueA, huge()));
    check(left_inverse(*a));
    check(logical_divide(valueA, valueB));
    check(logical_divide(*a, *b));
    check(logical_product(valueA, valueB));
    check(recast<8, 64>(valueA));
    check(recast<64, 8>(valueA));
    AnyLayout inverse = right_inverse(valueA);
    ASSERT_EQ(inverse(size(inverse) - 1) + 1, cosize(inverse));
  }
  EXPECT_GT(made, Cases / 20);
}

} // namespace
