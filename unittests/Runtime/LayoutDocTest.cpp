//===- LayoutDocTest.cpp - the examples of docs/layout.md ------------------===//
#include "LayoutTesting.h"

#include <fstream>
#include <set>
#include <string>

using namespace kiln::layout;

namespace {

TEST(LayoutDoc, examples_are_true) {
  constexpr auto matrix = make_layout(tuple(4_c, 8_c), tuple(1_c, 4_c));
  static_assert(matrix(3, 2) == 11 && matrix(3 + 4 * 2) == 11);
  static_assert(size(matrix) == 32 && cosize(matrix) == 32);

  int64_t rows = 100, columns = 200;
  auto tensor = make_layout(tuple(rows, columns), tuple(columns, 1_c));
  EXPECT_TRUE(tensor);
  EXPECT_EQ(make_layout(tuple(rows, 0)).error(), Error::BadExtent);

  auto tiles = *zipped_divide(*tensor, tile(16_c, 32_c));
  EXPECT_EQ(toString(tiles), "((16,32),(7,7)):((200,1),(3200,32))");
  auto block = slice(tiles, tuple(keep, tuple(2, 3)));
  EXPECT_EQ(toString(block.layout), "(16,32):(200,1)");
  EXPECT_EQ(block.offset, 2 * 16 * 200 + 3 * 32);

  auto quad = make_layout(tuple(2_c, 2_c)), grid = make_layout(tuple(2_c, 2_c));
  EXPECT_EQ(toString(blocked_product(quad, grid)), "((2,2),(2,2)):((1,4),(2,8))");
  EXPECT_EQ(toString(raked_product(quad, grid)), "((2,2),(2,2)):((4,1),(8,2))");

  // Every second element of the first column, then of the others.
  EXPECT_EQ(toString(composition(matrix, make_layout(16_c, 2_c))), "16:2");
  // What (2,2):(1,6) leaves out of 24 offsets.
  EXPECT_EQ(toString(complement(make_layout(tuple(2_c, 2_c), tuple(1_c, 6_c)), 24_c)),
            "(3,2):(2,12)");
  // From offset back to index: the transpose.
  EXPECT_EQ(toString(right_inverse(make_layout(tuple(4_c, 8_c), tuple(8_c, 1_c)))), "(8,4):(4,1)");

  auto shared = make_layout(tuple(8_c, 8_c), tuple(8_c, 1_c));
  constexpr Swizzle spread = swizzle<3, 0, 3>();
  std::set<int64_t> banks;
  for (int row = 0; row < 8; ++row)
    banks.insert(spread(shared(row, 0)) % 8);
  EXPECT_EQ(banks.size(), 8u);

  AnyLayout any = *AnyLayout::tuple({*AnyLayout::mode(10, 1), *AnyLayout::mode(4, 16)});
  EXPECT_EQ(toString(*logical_divide(any, tile(4_c))), "((4,3),4):((1,4),16)");
}

/// The text without white space, which the formatter may change.
std::string condensed(const std::string &path) {
  std::ifstream in(path);
  EXPECT_TRUE(in) << path;
  std::string text;
  for (char c; in >> c;)
    text += c;
  return text;
}

TEST(LayoutDoc, every_example_is_compiled_here) {
  std::string page = condensed(KILN_SOURCE_DIR "/docs/layout.md");
  std::string test = condensed(KILN_SOURCE_DIR "/unittests/Runtime/LayoutDocTest.cpp");
  const std::string begin = "```cpp", end = "```";
  int examples = 0;
  for (size_t at = page.find(begin); at != std::string::npos; at = page.find(begin, at)) {
    at += begin.size();
    std::string example = page.substr(at, page.find(end, at) - at);
    EXPECT_NE(test.find(example), std::string::npos) << "not in this file: " << example;
    ++examples;
    at += example.size() + end.size();
  }
  EXPECT_GE(examples, 7);
}

} // namespace
