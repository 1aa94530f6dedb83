//===- LayoutTest.cpp - layout algebra: vectors, types, errors ------------===//
#include "LayoutTesting.h"

using namespace kiln::layout;

namespace {

//===- The vector table ---------------------------------------------------===//

// Each row three times: static, as values at compile time, and as values at run time.

constexpr auto Nested = make_layout(tuple(2_c, tuple(1_c, 6_c)), tuple(1_c, tuple(6_c, 2_c)));
constexpr auto SixByTwo = make_layout(tuple(6_c, 2_c), tuple(8_c, 2_c));
constexpr auto FourByThree = make_layout(tuple(4_c, 3_c), tuple(3_c, 1_c));
constexpr auto Corners = make_layout(tuple(2_c, 2_c), tuple(1_c, 6_c));
constexpr auto Block = make_layout(tuple(2_c, 5_c), tuple(5_c, 1_c));
constexpr auto Grid = make_layout(tuple(3_c, 4_c), tuple(1_c, 3_c));

template <typename Shape, typename Stride, typename L>
constexpr bool isLayout(const L &, const Shape &, const Stride &) {
  return std::same_as<L, Layout<Shape, Stride>>;
}

static_assert(isLayout(coalesce(Nested), 12_c, 1_c));
static_assert(isLayout(composition(SixByTwo, FourByThree), tuple(tuple(2_c, 2_c), 3_c),
                       tuple(tuple(24_c, 2_c), 8_c)));
static_assert(isLayout(complement(Corners, 24_c), tuple(3_c, 2_c), tuple(2_c, 12_c)));
static_assert(isLayout(logical_divide(make_layout(10_c), make_layout(4_c)), tuple(4_c, 3_c),
                       tuple(1_c, 4_c)));
static_assert(isLayout(blocked_product(Block, Grid), tuple(tuple(2_c, 3_c), tuple(5_c, 4_c)),
                       tuple(tuple(5_c, 10_c), tuple(1_c, 30_c))));
static_assert(isLayout(raked_product(Block, Grid), tuple(tuple(3_c, 2_c), tuple(4_c, 5_c)),
                       tuple(tuple(10_c, 5_c), tuple(30_c, 1_c))));

static_assert(coalesce(AnyLayout(Nested)) == AnyLayout(make_layout(12_c)));
static_assert(*composition(AnyLayout(SixByTwo), AnyLayout(FourByThree)) ==
              AnyLayout(composition(SixByTwo, FourByThree)));
static_assert(*complement(AnyLayout(Corners), 24) == AnyLayout(complement(Corners, 24_c)));
static_assert(*raked_product(AnyLayout(Block), AnyLayout(Grid)) ==
              AnyLayout(raked_product(Block, Grid)));

TEST(LayoutVectors, run_time_values_give_the_table) {
  AnyLayout block = parse("(2,5):(5,1)"), grid = parse("(3,4):(1,3)");
  EXPECT_EQ(toString(coalesce(parse("(2,(1,6)):(1,(6,2))"))), "12:1");
  EXPECT_EQ(toString(*composition(parse("(6,2):(8,2)"), parse("(4,3):(3,1)"))),
            "((2,2),3):((24,2),8)");
  EXPECT_EQ(toString(*complement(parse("(2,2):(1,6)"), 24)), "(3,2):(2,12)");
  EXPECT_EQ(toString(*logical_divide(parse("10:1"), parse("4:1"))), "(4,3):(1,4)");
  EXPECT_EQ(size(*logical_divide(parse("10:1"), parse("4:1"))), 12);
  EXPECT_EQ(toString(*blocked_product(block, grid)), "((2,3),(5,4)):((5,10),(1,30))");
  EXPECT_EQ(toString(*raked_product(block, grid)), "((3,2),(4,5)):((10,5),(30,1))");
}

//===- Swizzle ------------------------------------------------------------===//

TEST(Swizzle, is_the_formula_of_the_table_and_its_own_inverse) {
  for (int64_t m = 0; m <= 4; ++m)
    for (int64_t b = 0; b <= 4; ++b)
      for (int64_t s = m; s <= 5; ++s) {
        Swizzle swizzled = *swizzle(m, b, s);
        for (int64_t x = 0; x < 4096; ++x) {
          ASSERT_EQ(swizzled(x), x ^ ((x & (((int64_t{1} << m) - 1) << (b + s))) >> s));
          ASSERT_EQ(swizzled(swizzled(x)), x);
        }
      }
  static_assert(swizzle<3, 4, 3>()(0x3f0) == (0x3f0 ^ 0x70));
}

TEST(Swizzle, refuses_numbers_that_do_not_permute_offsets) {
  const int64_t huge = INT64_MAX;
  EXPECT_EQ(swizzle(3, 0, 2).error(), Error::BadSwizzle);
  EXPECT_EQ(swizzle(-1, 0, 2).error(), Error::BadSwizzle);
  EXPECT_EQ(swizzle(1, -1, 2).error(), Error::BadSwizzle);
  EXPECT_EQ(swizzle(huge, 1, huge).error(), Error::BadSwizzle);
  EXPECT_EQ(swizzle(20, huge, 20).error(), Error::BadSwizzle);
  EXPECT_EQ(swizzle(20, 3, 40).error(), Error::BadSwizzle);
  EXPECT_TRUE(swizzle(20, 2, 40));
}

//===- Looking at layouts -------------------------------------------------===//

static_assert(size(Nested) == 12 && cosize(Nested) == 12 && rank(Nested) == 2);
static_assert(depth(Nested) == 2 && depth(Block) == 1 && depth(make_layout(4_c)) == 0);
static_assert(rank(make_layout(4_c)) == 1 && cosize(SixByTwo) == 1 + 5 * 8 + 1 * 2);
static_assert(detail::IsInt<decltype(size(Nested))> && detail::IsInt<decltype(cosize(Nested))>);
static_assert(1'024_c == 1024);

TEST(Layout, coordinates_may_be_indices_tuples_or_anything_between) {
  auto layout = *make_layout(tuple(4, tuple(2_c, 3)), tuple(6_c, tuple(3, 1_c)));
  EXPECT_EQ(size(layout), 24);
  EXPECT_EQ(cosize(layout), 24);
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 2; ++j)
      for (int k = 0; k < 3; ++k) {
        int64_t offset = i * 6 + j * 3 + k;
        EXPECT_EQ(layout(i, tuple(j, k)), offset);
        EXPECT_EQ(layout(tuple(i, tuple(j, k))), offset);
        EXPECT_EQ(layout(i, j + 2 * k), offset);
        EXPECT_EQ(layout(i + 4 * (j + 2 * k)), offset);
        EXPECT_EQ(crd2idx(i + 4 * (j + 2 * k), AnyLayout(layout)), offset);
        auto coord = idx2crd(i + 4 * (j + 2 * k), layout);
        EXPECT_EQ(get<0>(coord), i);
        EXPECT_EQ(get<0>(get<1>(coord)), j);
        EXPECT_EQ(get<1>(get<1>(coord)), k);
        EXPECT_EQ(crd2idx(coord, layout), offset);
      }
}

TEST(Layout, the_last_mode_takes_the_remainder_of_an_index) {
  static_assert(SixByTwo(6 * 7 + 5) == 5 * 8 + 7 * 2);
  static_assert(get<1>(idx2crd(6 * 7 + 5, SixByTwo)) == 7);
  EXPECT_EQ(AnyLayout(SixByTwo)(6 * 7 + 5), 5 * 8 + 7 * 2);
}

TEST(Layout, offsets_that_do_not_fit_wrap) {
  auto layout = make_layout(tuple(2_c, 2_c), tuple(1_c, Int<INT64_MAX / 2>{}));
  EXPECT_EQ(layout(INT64_MAX), AnyLayout(layout)(INT64_MAX));
  EXPECT_EQ(layout(INT64_MIN), AnyLayout(layout)(INT64_MIN));
}

TEST(Layout, without_strides_is_compact) {
  EXPECT_EQ(toString(make_layout(tuple(4_c, tuple(3_c, 2_c), 5_c))), "(4,(3,2),5):(1,(4,12),24)");
  auto dynamic = *make_layout(tuple(4_c, 3, 5_c));
  EXPECT_EQ(toString(dynamic), "(4,3,5):(1,4,12)");
  static_assert(
      std::same_as<decltype(dynamic),
                   Layout<Tuple<Int<4>, int64_t, Int<5>>, Tuple<Int<1>, Int<4>, int64_t>>>);
}

TEST(Layout, slice_keeps_the_modes_marked_keep) {
  auto layout = *make_layout(tuple(4_c, tuple(2_c, 3), 5), tuple(1_c, tuple(4, 8), 24));
  auto sliced = slice(layout, tuple(keep, tuple(1, keep), 4));
  EXPECT_EQ(toString(sliced.layout), "(4,3):(1,8)");
  EXPECT_EQ(sliced.offset, 4 + 4 * 24);
  for (int i = 0; i < 4; ++i)
    for (int k = 0; k < 3; ++k)
      EXPECT_EQ(layout(i, tuple(1, k), 4), sliced.layout(i, k) + sliced.offset);
  EXPECT_EQ(toString(slice(layout, tuple(2, keep, 0)).layout), "(2,3):(4,8)");
  EXPECT_EQ(toString(slice(layout, tuple(2, tuple(0, keep), 0)).layout), "3:8");
  EXPECT_EQ(toString(slice(layout, keep).layout), toString(layout));
  EXPECT_EQ(toString(slice(layout, 7).layout), "1:0");
  EXPECT_EQ(slice(layout, 7).offset, layout(7));
  static_assert(
      std::same_as<decltype(slice(layout, tuple(keep, 0, 0)).layout), Layout<Int<4>, Int<1>>>);
}

//===- Divides and products by mode ---------------------------------------===//

TEST(Tile, divides_mode_by_mode_and_keeps_static_numbers) {
  int64_t rows = 100, columns = 50, pitch = 64;
  auto matrix = *make_layout(tuple(rows, columns, 3), tuple(pitch, 1_c, 6400));
  auto blocks = tile(16_c, 8_c);
  EXPECT_EQ(toString(*logical_divide(matrix, blocks)), "((16,7),(8,7),3):((64,1024),(1,8),6400)");
  EXPECT_EQ(toString(*zipped_divide(matrix, blocks)), "((16,8),(7,7,3)):((64,1),(1024,8,6400))");
  EXPECT_EQ(toString(*tiled_divide(matrix, blocks)), "((16,8),7,7,3):((64,1),1024,8,6400)");
  auto flat = *flat_divide(matrix, blocks);
  EXPECT_EQ(toString(flat), "(16,8,7,7,3):(64,1,1024,8,6400)");
  static_assert(std::same_as<decltype(flat.mode<0>()), Layout<Int<16>, int64_t>>);
  static_assert(std::same_as<decltype(flat.mode<1>()), Layout<Int<8>, Int<1>>>);
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < columns; ++j)
      ASSERT_EQ(flat(i % 16, j % 8, i / 16, j / 8, 2), matrix(i, j, 2));
}

TEST(Tile, composes_mode_by_mode) {
  auto every_other = tile(make_layout(8_c, 2_c));
  EXPECT_EQ(toString(composition(make_layout(tuple(16_c, 4_c)), every_other)), "(8,4):(2,16)");
}

TEST(Tile, multiplies_mode_by_mode) {
  auto block = make_layout(tuple(2_c, 4_c), tuple(1_c, 1_c));
  auto tiler = tile(3_c, make_layout(tuple(5_c, 6_c), tuple(6_c, 1_c)));
  EXPECT_EQ(toString(logical_product(block, tiler)), "((2,3),(4,(5,6))):((1,2),(1,(24,4)))");
  EXPECT_EQ(toString(zipped_product(block, tiler)), "((2,4),(3,(5,6))):((1,1),(2,(24,4)))");
  EXPECT_EQ(toString(tiled_product(block, tiler)), "((2,4),3,(5,6)):((1,1),2,(24,4))");
  EXPECT_EQ(toString(flat_product(block, tiler)), "(2,4,3,(5,6)):(1,1,2,(24,4))");
}

TEST(Divide, arrangements_of_one_tiler_unpack_tile_and_rest) {
  auto layout = make_layout(tuple(4_c, 6_c), tuple(1_c, 8_c));
  auto tiler = make_layout(tuple(2_c, 3_c), tuple(1_c, 4_c));
  EXPECT_EQ(toString(logical_divide(layout, tiler)), "((2,3),(2,2)):((1,8),(2,24))");
  EXPECT_EQ(toString(zipped_divide(layout, tiler)), "((2,3),(2,2)):((1,8),(2,24))");
  EXPECT_EQ(toString(tiled_divide(layout, tiler)), "((2,3),2,2):((1,8),2,24)");
  EXPECT_EQ(toString(flat_divide(layout, tiler)), "(2,3,2,2):(1,8,2,24)");
}

TEST(Product, of_different_ranks_fills_up_with_ones) {
  auto row = make_layout(4_c);
  auto grid = make_layout(tuple(2_c, 3_c));
  EXPECT_EQ(toString(blocked_product(row, grid)), "((4,2),(1,3)):((1,4),(0,8))");
  EXPECT_EQ(toString(raked_product(grid, row)), "((4,2),(1,3)):((6,1),(0,2))");
}

TEST(Product, of_a_block_with_gaps_fills_them_first) {
  auto block = make_layout(2_c, 4_c);
  EXPECT_EQ(toString(logical_product(block, make_layout(8_c))), "(2,(4,2)):(4,(1,8))");
  EXPECT_EQ(toString(blocked_product(block, make_layout(8_c))), "((2,(4,2))):((4,(1,8)))");
}

//===- Recast -------------------------------------------------------------===//

TEST(Recast, changes_the_mode_of_unit_stride_and_scales_the_rest) {
  auto matrix = make_layout(tuple(4_c, 16_c), tuple(32_c, 1_c));
  EXPECT_EQ(toString(recast<16, 8>(matrix)), "(4,32):(64,1)");
  EXPECT_EQ(toString(recast<16, 64>(matrix)), "(4,4):(8,1)");
  EXPECT_EQ(toString(recast<16, 16>(matrix)), "(4,16):(32,1)");
  EXPECT_EQ(toString(recast<32, 8>(make_layout(1_c, 7_c))), "4:1");
  // A wide element made of several modes.
  EXPECT_EQ(toString(recast<8, 64>(make_layout(tuple(4_c, 3_c, 2_c), tuple(1_c, 8_c, 4_c)))),
            "(1,3,1):(1,1,1)");
}

TEST(Recast, checks_dynamic_strides_when_it_runs) {
  auto rowMajor = [](int64_t rows, int64_t columns, int64_t pitch) {
    return *make_layout(tuple(rows, columns), tuple(pitch, 1_c));
  };
  EXPECT_EQ(toString(*recast<16, 128>(rowMajor(3, 64, 72))), "(3,8):(9,1)");
  EXPECT_EQ(toString(*recast<16, 8>(rowMajor(3, 64, 72))), "(3,128):(144,1)");
  EXPECT_EQ((recast<16, 128>(rowMajor(3, 64, 70)).error()), Error::BadRecast);
  EXPECT_EQ((recast<16, 128>(rowMajor(3, 60, 72)).error()), Error::BadRecast);
  EXPECT_TRUE((recast<16, 128>(rowMajor(1, 64, 70))));
}

TEST(Recast, refuses_what_would_split_or_invent_elements) {
  EXPECT_EQ((recast<8, 12>(parse("8:1")).error()), Error::BadRecast);
  EXPECT_EQ((recast<0, 8>(parse("8:1")).error()), Error::BadRecast);
  EXPECT_EQ((recast<8, 32>(parse("(2,2):(1,8)")).error()), Error::BadRecast);
  EXPECT_EQ((recast<8, 32>(parse("(4,4):(1,1)")).error()), Error::BadRecast);
  EXPECT_EQ((recast<8, 32>(parse("4:4")).error()), Error::BadRecast);
  EXPECT_EQ((recast<8, 32>(parse("(4,2):(1,6)")).error()), Error::BadRecast);
  EXPECT_EQ((recast<32, 8>(parse("4:2")).error()), Error::BadRecast);
}

//===- Errors -------------------------------------------------------------===//

TEST(LayoutErrors, bad_numbers_are_refused_at_run_time) {
  EXPECT_EQ(make_layout(tuple(4, 0)).error(), Error::BadExtent);
  EXPECT_EQ(make_layout(tuple(4, -3), tuple(1_c, 4)).error(), Error::BadExtent);
  EXPECT_EQ(make_layout(tuple(4, 3), tuple(-1, 4)).error(), Error::NegativeStride);
  EXPECT_EQ(make_layout(tuple(INT64_MAX, 2)).error(), Error::Overflow);
  EXPECT_EQ(make_layout(tuple(3, 2), tuple(INT64_MAX / 2, 1)).error(), Error::Overflow);
  EXPECT_EQ(make_layout(INT64_MIN, INT64_MIN).error(), Error::BadExtent);
  EXPECT_EQ(make_layout(UINT64_MAX).error(), Error::BadExtent);
  EXPECT_TRUE(make_layout(INT64_MAX - 1, 1));
  EXPECT_EQ(AnyLayout::mode(0, 1).error(), Error::BadExtent);
  EXPECT_EQ(AnyLayout::mode(2, -1).error(), Error::NegativeStride);
  EXPECT_EQ(AnyLayout::mode(INT64_MAX, 2).error(), Error::Overflow);
  EXPECT_EQ(AnyLayout::tuple({}).error(), Error::BadExtent);
}

TEST(LayoutErrors, broken_preconditions_are_refused_at_run_time) {
  auto matrix = *make_layout(tuple(4, 4), tuple(1, 8));
  auto thirds = *make_layout(tuple(4), tuple(3));
  EXPECT_EQ(composition(matrix, thirds).error(), Error::NotDivisible);
  EXPECT_EQ(composition(AnyLayout(matrix), thirds).error(), Error::NotDivisible);
  EXPECT_EQ(logical_divide(matrix, thirds).error(), Error::NotDivisible);
  // 0, 1, ..., 7 and 0, 2 each compose with (4,4):(8,2), but their sums carry.
  EXPECT_EQ(composition(parse("(4,4):(8,2)"), parse("(8,2):(1,2)")).error(), Error::NotDivisible);
  EXPECT_EQ(complement(*make_layout(tuple(4, 2), tuple(1, 2)), 16).error(), Error::NotInjective);
  EXPECT_EQ(complement(*make_layout(tuple(4, 2), tuple(1, 0)), 16).error(), Error::NotInjective);
  EXPECT_EQ(complement(matrix, 0).error(), Error::BadExtent);
  EXPECT_EQ(complement(matrix, INT64_MIN).error(), Error::BadExtent);
  EXPECT_EQ(left_inverse(*make_layout(tuple(4, 2), tuple(1, 2))).error(), Error::NotInjective);
  EXPECT_EQ(logical_product(matrix, *make_layout(INT64_MAX)).error(), Error::Overflow);
  EXPECT_EQ(logical_divide(parse("8:1"), tile(2_c, 2_c)).error(), Error::RankMismatch);
  EXPECT_EQ(zipped_divide(parse("8:1"), tile(2_c, 2_c)).error(), Error::RankMismatch);
}

TEST(LayoutErrors, layouts_of_too_many_modes_are_refused) {
  std::vector<AnyLayout> ones(63);
  AnyLayout largest = *AnyLayout::tuple(ones.data(), 63);
  EXPECT_EQ(rank(largest), 63);
  EXPECT_EQ(AnyLayout::tuple({largest}).error(), Error::TooLarge);
  EXPECT_EQ(logical_product(largest, largest).error(), Error::TooLarge);
  EXPECT_EQ(flat_product(largest, largest).error(), Error::TooLarge);
  EXPECT_EQ(blocked_product(largest, largest).error(), Error::TooLarge);
  EXPECT_EQ(zipped_divide(largest, tile(largest, largest)).error(), Error::TooLarge);
}

TEST(LayoutErrors, have_sentences) {
  EXPECT_STREQ(message(Error::None), "no error");
  EXPECT_STREQ(message(make_layout(tuple(4, 0)).error()),
               "extents and sizes of a layout must be at least 1");
}

TEST(LayoutErrorsDeathTest, taking_the_value_of_a_failed_result_traps) {
  EXPECT_DEATH((void)*AnyLayout::mode(0, 1), "");
}

//===- Static, dynamic and mixed layouts agree ----------------------------===//

/// With the elements of every tuple whose position is in `Mask` made dynamic; `At` is that of
/// `value`.
template <unsigned Mask, int64_t At = 0, typename T> auto opened(const T &value) {
  if constexpr (detail::IsTuple<T>)
    return [&]<typename... Ts>(const Tuple<Ts...> &) {
      return detail::withIndices<sizeof...(Ts)>(
          [&](auto... is) { return tuple(opened<Mask, decltype(is)::Value>(get<is>(value))...); });
    }(value);
  else if constexpr ((Mask >> At) & 1)
    return static_cast<int64_t>(value);
  else
    return value;
}

template <typename T> AnyLayout valueOf(const T &layout) { return layout; }
template <typename T> AnyLayout valueOf(const Result<T> &result) {
  EXPECT_TRUE(result) << message(result.error());
  return *result;
}

/// The same modes up to extents of 1 and how they are split, which dynamic numbers leave open.
template <typename Dynamic, typename Static>
void expectSame(const Dynamic &dynamic, const Static &expected) {
  AnyLayout actual = valueOf(dynamic), wanted = valueOf(expected);
  ASSERT_EQ(rank(actual), rank(wanted)) << toString(actual) << " for " << toString(wanted);
  for (int i = 0; i < rank(wanted); ++i)
    EXPECT_EQ(coalesce(actual.mode(i)), coalesce(wanted.mode(i)))
        << toString(actual) << " for " << toString(wanted);
}
/// Where even the number of modes is open.
template <typename Dynamic, typename Static>
void expectSameFunction(const Dynamic &dynamic, const Static &expected) {
  EXPECT_EQ(coalesce(valueOf(dynamic)), coalesce(valueOf(expected)));
}

template <unsigned ExtentMask, unsigned StrideMask> void agreesWhenOpened() {
  auto open = [](const auto &layout) {
    return *make_layout(opened<ExtentMask>(layout.shape()), opened<StrideMask>(layout.stride()));
  };
  auto column = make_layout(12_c, 2_c);
  auto four = make_layout(4_c);
  expectSameFunction(coalesce(open(Nested)), coalesce(Nested));
  expectSame(composition(open(SixByTwo), open(FourByThree)), composition(SixByTwo, FourByThree));
  expectSame(composition(open(SixByTwo), FourByThree), composition(SixByTwo, FourByThree));
  expectSame(composition(SixByTwo, open(FourByThree)), composition(SixByTwo, FourByThree));
  expectSameFunction(complement(open(Corners), 24), complement(Corners, 24_c));
  expectSameFunction(complement(open(Corners), 24_c), complement(Corners, 24_c));
  expectSameFunction(right_inverse(open(Block)), right_inverse(Block));
  expectSameFunction(left_inverse(open(SixByTwo)), left_inverse(SixByTwo));
  expectSameFunction(left_inverse(open(Corners)), left_inverse(Corners));
  expectSame(logical_divide(open(column), four), logical_divide(column, four));
  expectSame(logical_divide(column, open(four)), logical_divide(column, four));
  expectSame(zipped_divide(open(Grid), tile(3_c, 2_c)), zipped_divide(Grid, tile(3_c, 2_c)));
  expectSame(blocked_product(open(Block), open(Grid)), blocked_product(Block, Grid));
  expectSame(raked_product(Block, open(Grid)), raked_product(Block, Grid));
}

TEST(MixedLayouts, dynamic_first_extents_agree_with_static) { agreesWhenOpened<1, 0>(); }
TEST(MixedLayouts, dynamic_first_strides_agree_with_static) { agreesWhenOpened<0, 1>(); }
TEST(MixedLayouts, dynamic_extents_agree_with_static) { agreesWhenOpened<3, 0>(); }
TEST(MixedLayouts, dynamic_strides_agree_with_static) { agreesWhenOpened<0, 3>(); }
TEST(MixedLayouts, alternating_numbers_agree_with_static) { agreesWhenOpened<1, 3>(); }
TEST(MixedLayouts, all_dynamic_numbers_agree_with_static) { agreesWhenOpened<3, 3>(); }

} // namespace
