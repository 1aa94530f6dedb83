//===- PipePrograms.h - groups in every combination of pipes, splits, slots and control ---===//
//
// Each program copies tiles of `x` through pipes into `y`, doubled or tripled on the way, so its
// right result is known: see expectedFactor and isSent.
//
//===----------------------------------------------------------------------------===//
#ifndef KILN_UNITTESTS_ANALYSIS_PIPEPROGRAMS_H
#define KILN_UNITTESTS_ANALYSIS_PIPEPROGRAMS_H

#include "Simulator/SimulatorTesting.h"
#include "kiln/Transforms/Passes.h"

namespace kiln::test {

enum class Topology { ToMatrix, ToVector, BothWays, DelayLine, TwoPipes, ThreeRoles };
enum class Control { Straight, Loop, Nested, Branch };

inline constexpr Topology kTopologies[] = {Topology::ToMatrix, Topology::ToVector,
                                           Topology::BothWays, Topology::DelayLine,
                                           Topology::TwoPipes, Topology::ThreeRoles};
inline constexpr Control kControls[] = {Control::Straight, Control::Loop, Control::Nested,
                                        Control::Branch};
inline const std::vector<std::string> kSplitNames = {"none", "up_down", "left_right"};

struct PipeProgram {
  Topology topology = Topology::BothWays;
  Control control = Control::Loop;
  std::string split = "none";
  int slots = 2;
  int lanes = 2;

  std::string name() const {
    static const char *const topologies[] = {"ToMatrix",  "ToVector", "BothWays",
                                             "DelayLine", "TwoPipes", "ThreeRoles"};
    static const char *const controls[] = {"Straight", "Loop", "Nested", "Branch"};
    return std::string(topologies[int(topology)]) + ", " + controls[int(control)] + ", " + split +
           ", slots " + std::to_string(slots) + ", lanes " + std::to_string(lanes);
  }
  std::string text() const;
};

/// Tiles of 4x8 under each other; every program has room for four.
inline constexpr int64_t kTileRows = 4, kTileCols = 8, kTileCount = 4;

/// Every legal program: lanes that push need a split, everything else goes with one.
inline std::vector<PipeProgram> legalPipePrograms() {
  std::vector<PipeProgram> programs;
  for (Topology topology : kTopologies)
    for (const std::string &split : kSplitNames)
      for (int slots : {1, 2, 4})
        for (Control control : kControls) {
          bool lanesPush = topology == Topology::ToMatrix || topology == Topology::BothWays;
          int lanes = split == "none" && lanesPush ? 1 : 2;
          programs.push_back({topology, control, split, slots, lanes});
        }
  return programs;
}

/// Whether tile `number` of `x` goes through the pipes.
inline bool isSent(const PipeProgram &program, int64_t number) {
  switch (program.control) {
  case Control::Straight:
    return number < 2;
  case Control::Loop:
    return number < 3;
  case Control::Nested:
    return true;
  case Control::Branch:
    return number % 2 == 0;
  }
  return false;
}

inline double expectedFactor(const PipeProgram &program) {
  return program.topology == Topology::TwoPipes ? 3 : 2;
}

inline std::vector<double> expectedResult(const PipeProgram &program,
                                          const std::vector<double> &x) {
  std::vector<double> y(x.size());
  for (size_t i = 0; i < x.size(); ++i)
    y[i] =
        isSent(program, int64_t(i) / (kTileRows * kTileCols)) ? expectedFactor(program) * x[i] : 0;
  return y;
}

namespace detail {

/// `body` for each tile number %m. Names that end in @ are made unique where it is repeated.
inline std::string controlled(Control control, const std::string &body) {
  switch (control) {
  case Control::Straight:
    return "  %m_0 = arith.constant 0 : index\n" + fill(body, {{"%m", "%m_0"}, {"@", "_0"}}) +
           "  %m_1 = arith.constant 1 : index\n" + fill(body, {{"%m", "%m_1"}, {"@", "_1"}});
  case Control::Loop:
    return "  scf.for %m = %c0 to %c3 step %c1 {\n" + fill(body, {{"@", ""}}) + "  }\n";
  case Control::Nested:
    return "  scf.for %a = %c0 to %c2 step %c1 {\n  scf.for %b = %c0 to %c2 step %c1 {\n"
           "    %twice = arith.muli %a, %c2 : index\n"
           "    %m = arith.addi %twice, %b : index\n" +
           fill(body, {{"@", ""}}) + "  }\n  }\n";
  case Control::Branch:
    return "  scf.for %m = %c0 to %c4 step %c1 {\n"
           "    %odd = arith.remui %m, %c2 : index\n"
           "    %even = arith.cmpi eq, %odd, %c0 : index\n"
           "    scf.if %even {\n" +
           fill(body, {{"@", ""}}) + "    }\n  }\n";
  }
  return "";
}

inline std::string role(const std::string &name, const std::string &roleName, Control control,
                        const std::string &body) {
  return fill(R"mlir(
kiln.func @NAME(%x: !kiln.tensor<16x8xf32>, %y: !kiln.tensor<16x8xf32>PIPES) role(ROLE) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  %rowstep = arith.constant ROWSTEP : index
  %colstep = arith.constant COLSTEP : index
  %lane = tile.lane
  %lanerow = arith.muli %lane, %rowstep : index
  %col = arith.muli %lane, %colstep : index
BODY}
)mlir",
              {{"NAME", name}, {"ROLE", roleName}, {"BODY", controlled(control, body)}});
}

/// Where tile %m starts, whole and this lane's part of it.
inline const char *const kPlace = "    %top@ = arith.muli %m, %c4 : index\n"
                                  "    %row@ = arith.addi %top@, %lanerow : index\n";

} // namespace detail

inline std::string PipeProgram::text() const {
  using detail::role;
  // What a lane without a split pops is whole; it then stores its rows of it.
  bool popsWhole = split == "none" && lanes == 2;
  std::string place = detail::kPlace;
  std::string loadPart = place + "    %t@ = tile.load %x[%row@, %col] : !share\n",
              loadFull = place + "    %t@ = tile.load %x[%top@, 0] : !full\n";
  auto pop = [&](const std::string &to, const std::string &pipe) {
    return popsWhole ? "    %whole_" + to + "@ = tile.pop " + pipe + " : !full\n    %" + to +
                           "@ = tile.extract %whole_" + to + "@[%lanerow, 0] : !share\n"
                     : "    %" + to + "@ = tile.pop " + pipe + " : !share\n";
  };
  std::string storePart = "    tile.store %r@, %y[%row@, %col]\n",
              storeFull = "    tile.store %r@, %y[%top@, 0]\n";
  std::string doublePart = "    %r@ = tile.add %u@, %u@ : !share\n",
              doubleFull = "    %r@ = tile.add %u@, %u@ : !full\n";
  std::string roles, pipeTypes = "!p = !tile.pipe<FROM -> TO, 4x8xf32, SPLIT>\n", second;
  std::string from = "aic", to = "aiv", calls;
  auto add = [&](const std::string &roleName, const std::string &body) {
    roles += role("in_" + roleName, roleName, control, body);
    calls += "  kiln.call @in_" + roleName + "(%x, %yARGS)\n";
  };
  switch (topology) {
  case Topology::ToMatrix:
    std::swap(from, to);
    add("aiv", loadPart + "    tile.push %t@, %p\n");
    add("aic", place + "    %u@ = tile.pop %p : !full\n" + doubleFull + storeFull);
    break;
  case Topology::ToVector:
    add("aic", loadFull + "    tile.push %t@, %p\n");
    add("aiv", place + pop("u", "%p") + doublePart + storePart);
    break;
  case Topology::BothWays:
    second = "!q = !tile.pipe<aiv -> aic, 4x8xf32, SPLIT>\n";
    add("aic", place + "    %u@ = tile.pop %q : !full\n" + doubleFull + "    tile.push %r@, %p\n");
    add("aiv", loadPart + "    tile.push %t@, %q\n" + pop("r", "%p") + storePart);
    break;
  case Topology::DelayLine:
    from = "aiv";
    add("aiv", (popsWhole ? loadFull : loadPart) + "    tile.push %t@, %p\n" + pop("u", "%p") +
                   doublePart + storePart);
    break;
  case Topology::TwoPipes:
    second = "!q = !tile.pipe<aic -> aiv, 4x8xf32, SPLIT>\n";
    add("aic", loadFull + "    tile.push %t@, %p\n    %d@ = tile.add %t@, %t@ : !full\n"
                          "    tile.push %d@, %q\n");
    add("aiv", place + pop("u", "%p") + pop("v", "%q") + "    %r@ = tile.add %u@, %v@ : !share\n" +
                   storePart);
    break;
  case Topology::ThreeRoles:
    second = "!q = !tile.pipe<dma -> aic, 4x8xf32>\n";
    add("dma", loadFull + "    tile.push %t@, %q\n");
    add("aic", place + "    %u@ = tile.pop %q : !full\n" + doubleFull + "    tile.push %r@, %p\n");
    add("aiv", place + pop("r", "%p") + storePart);
    break;
  }
  bool byRows = split == "up_down" || popsWhole, byCols = split == "left_right";
  std::string share = lanes == 1 ? "4x8xf32" : byRows ? "2x8xf32" : "4x4xf32";
  std::string program = pipeTypes + second + "!full = !tile.tile<4x8xf32>\n!share = !tile.tile<" +
                        share + ">\n" + roles + R"mlir(
kiln.func @copy(%x: !kiln.tensor<16x8xf32>, %y: !kiln.tensor<16x8xf32>) group lanes(LANES) {
  %p = tile.pipe slots(SLOTS) : !p
SECOND)mlir" + calls + "}\n";
  bool hasSecond = !second.empty();
  return fill(program, {{"PIPES", hasSecond ? ", %p: !p, %q: !q" : ", %p: !p"},
                        {"ARGS", hasSecond ? ", %p, %q" : ", %p"},
                        {"SECOND", hasSecond ? "  %q = tile.pipe slots(SLOTS) : !q\n" : ""},
                        {"FROM", from},
                        {"TO", to},
                        {"SPLIT", split},
                        {"SLOTS", std::to_string(slots)},
                        {"LANES", std::to_string(lanes)},
                        {"ROWSTEP", lanes == 2 && byRows ? "2" : "0"},
                        {"COLSTEP", lanes == 2 && byCols ? "4" : "0"}});
}

/// Parses, verifies and prepares; null where the verifier objects, with its words in `error`.
inline mlir::OwningOpRef<mlir::ModuleOp> prepared(const std::string &text, std::string &error) {
  mlir::ScopedDiagnosticHandler collect(&context(), [&](mlir::Diagnostic &diagnostic) {
    error += diagnostic.str() + "\n";
    return mlir::success();
  });
  mlir::ParserConfig config(&context());
  auto module = mlir::parseSourceString<mlir::ModuleOp>(text, config, "test.mlir");
  if (!module)
    return {};
  mlir::PassManager passes(&context());
  buildPreparePipeline(passes);
  if (mlir::failed(passes.run(*module)))
    return {};
  return module;
}

/// Inputs and outputs of the programs above. Whole numbers, so that sums are exact.
struct PipeData {
  static std::vector<double> wholeNumbers() {
    std::vector<double> numbers(kTileCount * kTileRows * kTileCols);
    for (size_t i = 0; i < numbers.size(); ++i)
      numbers[i] = double(i * 7919 % 61) - 30;
    return numbers;
  }
  std::vector<double> input = wholeNumbers();
  Tensor x = tensorOf(DType::F32, {kTileCount * kTileRows, kTileCols}, input);
  Tensor y = tensorOf(DType::F32, {kTileCount * kTileRows, kTileCols},
                      std::vector<double>(input.size(), 0.0));
  std::vector<Argument> args() const { return {x, y}; }
};

} // namespace kiln::test

#endif // KILN_UNITTESTS_ANALYSIS_PIPEPROGRAMS_H
