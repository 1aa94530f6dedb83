// Where lines of emitted code come from, as the code itself says.
#include "EmittedLines.h"

#include <gtest/gtest.h>

using namespace kiln;

namespace {

/// "file:line" of each line, "-" where it is not known.
std::string placesIn(llvm::StringRef text) {
  std::string shown;
  for (const auto &place :
       placesOfEmitted(text, {"/src/attention.cpp", "/src/a/same.h", "/src/b/same.h"}))
    shown += (shown.empty() ? "" : " ") +
             (place ? std::to_string(place->file) + ":" + std::to_string(place->line) : "-");
  return shown;
}

TEST(EmittedLines, CommentHoldsUntilTheNextOneOrTheEndOfTheFunction) {
  EXPECT_EQ(placesIn("void f() {\n"
                     "  auto a = load(); // attention.cpp:30\n"
                     "  auto b = a + 1;\n"
                     "  // attention.cpp:35\n"
                     "  push(b);\n"
                     "}\n"
                     "void g() {"),
            "- 0:30 0:30 0:35 0:35 - -");
}

TEST(EmittedLines, NameThatSeveralFilesHaveSaysNothing) {
  EXPECT_EQ(placesIn("a(); // same.h:3"), "-");
  EXPECT_EQ(placesIn("a(); // other.cpp:3"), "-");
  EXPECT_EQ(placesIn("a(); // attention.cpp:0"), "-");
}

TEST(EmittedLines, LiteralNamesTheWholePath) {
  EXPECT_EQ(placesIn(R"(rt.require(x, "a, \"b\"", {"/src/b/same.h", 21, 9});)"), "2:21");
  EXPECT_EQ(placesIn(R"(task.at("/src/attention.cpp", 26, 9);)"), "0:26");
  EXPECT_EQ(placesIn(R"(puts("attention.cpp", 26);)"), "-");
}

TEST(EmittedLines, DebugInformationGoesThroughScopes) {
  EXPECT_EQ(placesIn("  %1 = load ptr, !dbg !9\n"
                     "  %2 = load ptr, !dbg !10, !noalias !3\n"
                     "  %3 = load ptr, !dbg !11\n"
                     "define @f() !dbg !5 {\n"
                     "!5 = distinct !DISubprogram(name: \"f\", file: !6, line: 26)\n"
                     "!6 = !DIFile(filename: \"attention.cpp\", directory: \"/src\")\n"
                     "!7 = !DILexicalBlockFile(scope: !5, file: !8, discriminator: 0)\n"
                     "!8 = !DIFile(filename: \"/src/a/same.h\", directory: \"\")\n"
                     "!9 = !DILocation(line: 26, column: 9, scope: !5)\n"
                     "!10 = !DILocation(line: 7, scope: !7)\n"
                     "!11 = !DILocation(line: 0, scope: !5)"),
            "0:26 1:7 - - - - - - - - -");
}

TEST(EmittedLines, CircleOfScopesEnds) {
  EXPECT_EQ(placesIn("%1 = x, !dbg !9\n!9 = !DILocation(line: 1, scope: !9)"), "- -");
}

} // namespace
