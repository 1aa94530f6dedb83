// What kiln-partition-roles suggests where a kernel cannot be divided as it asks for. Each
// suggestion is followed, as a person would, and must work: advice that leads to other advice may
// lead back.
#include "Analysis/PipePrograms.h"

#include "kiln/Transforms/Passes.h"

#include "mlir/Pass/PassManager.h"

#include <regex>

using namespace kiln;
using namespace kiln::test;

namespace {

/// A kernel: what it does to `%x`, a tile of 16x16 of `%a`; `%t` is another tensor.
struct Body {
  const char *name, *text;
};

const Body bodies[] = {
    {"adds", "%y = tile.add %x, %x : !tile.tile<16x16xf32>\n tile.store %y, %t[0, 0]"},
    {"transposes", "%y = tile.transpose %x : !tile.tile<16x16xf32>\n tile.store %y, %t[0, 0]"},
    {"reduces rows", "%y = tile.reduce sum %x axis(0) : !tile.tile<1x16xf32>\n"
                     "tile.store %y, %t[0, 0]"},
    {"reduces columns", "%y = tile.reduce sum %x axis(1) : !tile.tile<16x1xf32>\n"
                        "tile.store %y, %t[0, 0]"},
    {"reduces both", "%y = tile.reduce sum %x axis(1) : !tile.tile<16x1xf32>\n"
                     "%z = tile.reduce sum %y axis(0) : !tile.tile<1x1xf32>\n"
                     "tile.store %z, %t[0, 0]"},
    {"takes an element", "%e = tile.element %x[3, 3] : f32\n kiln.write %e, %t[0, 0]"},
    {"reshapes", "%y = tile.reshape %x : !tile.tile<32x8xf32>\n tile.store %y, %t[0, 0]"},
    {"takes rows", "%y = tile.extract %x[4, 0] : !tile.tile<8x16xf32>\n tile.store %y, %t[0, 0]"},
    {"takes columns", "%y = tile.extract %x[0, 4] : !tile.tile<16x8xf32>\n"
                      "tile.store %y, %t[0, 0]"},
    {"sorts and turns",
     "%v, %i = tile.sort_rows %x : !tile.tile<16x16xf32>, !tile.tile<16x16xi32>\n"
     "%y = tile.transpose %v : !tile.tile<16x16xf32>\n"
     "tile.store %y, %t[0, 0]"},
    {"is uneven", "%y = tile.load %a[0, 0] : !tile.tile<15x15xf32>\n tile.store %y, %t[0, 0]"},
    {"has uneven rows", "%y = tile.load %a[0, 0] : !tile.tile<15x16xf32>\n"
                        "tile.store %y, %t[0, 0]"},
    {"reads its neighbour", "tile.store %x, %t[0, 0]\n"
                            "%y = tile.load %t[8, 0] : !tile.tile<16x16xf32>\n"
                            "tile.store %y, %t[16, 0]"},
    {"reads it turned", "tile.store %x, %t[0, 0]\n"
                        "%v = kiln.transpose %t, [1, 0] : !kiln.tensor<64x64xf32>\n"
                        "%y = tile.load %v[0, 0] : !tile.tile<16x16xf32>\n"
                        "tile.store %y, %t[32, 32]"},
    {"multiplies and reduces", "%p = tile.matmul %x, %x : !tile.tile<16x16xf32>\n"
                               "%y = tile.reduce max %p axis(0) : !tile.tile<1x16xf32>\n"
                               "tile.store %y, %t[0, 0]"},
    {"multiplies and turns", "%p = tile.matmul %x, %x : !tile.tile<16x16xf32>\n"
                             "%y = tile.transpose %p : !tile.tile<16x16xf32>\n"
                             "tile.store %y, %t[0, 0]"},
};

/// `split(...)` and `lanes(...)` of a kernel, as they are written; empty where it says nothing.
struct Wanted {
  std::string split, lanes;
  std::string text() const { return lanes + (lanes.empty() ? "" : " ") + split; }
};

/// What the pass says of a kernel; empty if it divides it.
std::string complaintsOf(const Body &body, const Wanted &wanted, const std::string &machine) {
  std::string text =
      "kiln.func @k(%a: !kiln.tensor<16x16xf32>, %t: !kiln.tensor<64x64xf32>) incore " +
      wanted.text() + " {\n%x = tile.load %a[0, 0] : !tile.tile<16x16xf32>\n" + body.text + "\n}\n";
  std::string error;
  auto module = prepared(text, error);
  EXPECT_TRUE(module) << error << text;
  if (!module)
    return "";
  std::string messages;
  mlir::ScopedDiagnosticHandler handler(&context(), [&](mlir::Diagnostic &diagnostic) {
    messages += diagnostic.str() + "\n";
    for (mlir::Diagnostic &note : diagnostic.getNotes())
      messages += note.str() + "\n";
    return mlir::success();
  });
  KilnPartitionRolesOptions options;
  options.machine = machine;
  mlir::PassManager passes(&context());
  passes.addPass(createKilnPartitionRoles(options));
  return succeeded(passes.run(*module)) ? "" : messages;
}

/// Everything that a message suggests.
std::vector<Wanted> suggestionsOf(const std::string &message, const Wanted &wanted) {
  std::vector<Wanted> found;
  static const std::regex advice("(try|or|use) (split\\(\\w+\\))( and (lanes\\(1\\)))?");
  for (std::sregex_iterator it(message.begin(), message.end(), advice), end; it != end; ++it)
    found.push_back({(*it)[2].str(), (*it)[4].matched ? (*it)[4].str() : wanted.lanes});
  return found;
}

TEST(PartitionAdvice, EverySuggestionWorks) {
  for (std::string machine : {"ascend910b", "ascend950", "h200"})
    for (const Body &body : bodies)
      for (std::string split : {"", "split(none)", "split(up_down)", "split(left_right)"})
        for (std::string lanes : {"", "lanes(1)", "lanes(2)"}) {
          Wanted wanted{split, lanes};
          SCOPED_TRACE(machine + ": " + body.name + ", " + wanted.text());
          std::string message = complaintsOf(body, wanted, machine);
          if (message.empty())
            continue;
          std::vector<Wanted> suggestions = suggestionsOf(message, wanted);
          EXPECT_FALSE(suggestions.empty()) << message;
          for (const Wanted &next : suggestions)
            EXPECT_EQ(complaintsOf(body, next, machine), "") << "suggested by: " << message;
        }
}

TEST(PartitionAdvice, SaysWhenNoSplitWorks) {
  const Body &transposes = bodies[1];
  for (std::string split : {"split(up_down)", "split(left_right)"}) {
    std::string message = complaintsOf(transposes, {split, ""}, "ascend910b");
    EXPECT_NE(message.find("no split works; use split(none), which uses one lane"),
              std::string::npos)
        << message;
  }
}

} // namespace
