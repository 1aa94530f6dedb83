// What the simulator reports about a wrong program or wrong arguments: code, message and source
// line.
#include "Simulator/SimulatorTesting.h"

using namespace kiln;
using namespace kiln::test;

namespace {

/// Runs a kernel with tensors x (in, 4x8 f32), y (inout, 4x8 f32), n (in, 4 i32) and an index %i;
/// expects the fault in the line marked `// here` and a message that contains `message`.
void expectFault(const std::string &body, int64_t i, const std::string &message,
                 StatusCode code = StatusCode::KernelFailed) {
  SCOPED_TRACE(body);
  Program program(
      "kiln.func @k(%x: !kiln.tensor<4x8xf32> in, %y: !kiln.tensor<4x8xf32> inout,\n"
      "  %n: !kiln.tensor<?xi32> in, %i: index) incore {\n%c0 = arith.constant 0 : index\n" +
      body + "\n}");
  auto run = [&](int64_t value) {
    return program.run("k", {tensorOf(DType::F32, {4, 8}, {}), poisoned(DType::F32, {4, 8}),
                             tensorOf(DType::I32, {4}, {0, 1, 2, 3}), index(value)});
  };
  Status status = run(i);
  expectError(status, code, {message, "(in k, block [0, 0, 0])"});
  EXPECT_EQ(status.location().str().rfind(program.lineOf("// here") + ":", 0), 0u) << status.str();
}

TEST(SimulatorChecks, ElementsOutsideTheirTensor) {
  for (int64_t i : {-1, 4, 5})
    expectFault("%v = kiln.read %n[%i] : i32 // here", i,
                "kiln.read: element [" + std::to_string(i) + "] is outside 'n' (i32[4])");
  expectFault("%f = arith.constant 1.0 : f32\nkiln.write %f, %y[%c0, %i] // here", 8,
              "kiln.write: element [0, 8] is outside 'y' (f32[4, 8])");
}

TEST(SimulatorChecks, SlicesOutsideTheirTensor) {
  expectFault(
      "%s = kiln.slice %x[%i, 0] [2, 8] : !kiln.tensor<2x8xf32> // here", 3,
      "kiln.slice: slice [3, +2) of axis 0 is outside its extent 4; the tensor is 'x' (f32[4, 8])");
  expectFault("%s = kiln.slice %x[0, 0] [%i, 8] : !kiln.tensor<?x8xf32> // here", -1,
              "slice [0, +-1) of axis 0");
  expectFault("%s = kiln.slice %x[%c0, 0] [4, 4] : !kiln.tensor<4x4xf32>\n"
              "%v = kiln.read %s[0, %i] : f32 // here",
              4, "element [0, 4] is outside a view of 'x' (f32[4, 4])");
  expectFault("%s = kiln.slice %x[%c0, 0] [4, 4] : !kiln.tensor<4x4xf32>\n"
              "%r = kiln.reshape %s[16] : !kiln.tensor<16xf32> // here",
              0, "kiln.reshape: reshape needs a contiguous tensor");
  expectFault("%r = kiln.reshape %n[%i] : !kiln.tensor<?xi32> // here", 5,
              "changes the number of elements");
}

TEST(SimulatorChecks, TilesOutsideTheirTensor) {
  expectFault("%t = tile.load %x[%i, 0] : !tile.tile<2x8xf32> // here", 4,
              "tile.load: a tile of 2x8 at [4, 0] lies wholly outside 'x' (f32[4, 8])");
  expectFault("%t = tile.load %x[0, %i] : !tile.tile<2x8xf32> // here", -8,
              "tile.load: a tile of 2x8 at [0, -8] lies wholly outside 'x' (f32[4, 8])");
  expectFault(
      "%t = tile.load %x[0, 0] : !tile.tile<2x8xf32>\ntile.store %t, %y[%i, 0] // here",
      9223372036854775807,
      "tile.store: a tile of 2x8 at [9223372036854775807, 0] lies wholly outside 'y' (f32[4, 8])");
  expectFault("%t = tile.load %n[%i] : !tile.tile<2x1xi32> // here", 4,
              "wholly outside 'n' (i32[4])");
  expectFault("%t = tile.load %n[%i] : !tile.tile<1x2xi32> // here", 4,
              "wholly outside 'n' (i32[4])");
}

TEST(SimulatorChecks, BoxesOutsideTheirTile) {
  std::string load = "%t = tile.load %x[0, 0] : !tile.tile<4x8xf32>\n";
  expectFault(load + "%e = tile.extract %t[0, %i] : !tile.tile<4x2xf32> // here", 7,
              "tile.extract: a box of 4x2 at [0, 7] lies outside the tile of 4x8");
  expectFault(load + "%e = tile.element %t[%i, 0] : f32 // here", -1,
              "tile.element: a box of 1x1 at [-1, 0] lies outside the tile of 4x8");
  expectFault(load + "%u = tile.load %x[0, 0] : !tile.tile<1x1xf32>\n"
                     "%e = tile.insert %u, %t[%i, 0] : !tile.tile<4x8xf32> // here",
              4, "tile.insert: a box of 1x1 at [4, 0]");
}

TEST(SimulatorChecks, ArithmeticThatHasNoResult) {
  for (const char *op :
       {"divsi", "divui", "remsi", "remui", "floordivsi", "ceildivsi", "ceildivui"})
    expectFault("%d = arith.constant 7 : index\n%q = arith." + std::string(op) +
                    " %d, %i : index // here",
                0, "arith." + std::string(op) + ": integer division of 7 by zero");
  expectFault("%t = tile.load %n[0] : !tile.tile<1x4xi32>\n%q = tile.div %t, %t : "
              "!tile.tile<1x4xi32> // here",
              0, "tile.div: integer division by zero: element [0, 0] of the divisor");
  for (int64_t step : {0, -3})
    expectFault("scf.for %k = %c0 to %i step %i { // here\n}", step,
                "scf.for: the step of the loop is " + std::to_string(step) +
                    "; it must be positive");
}

TEST(SimulatorChecks, AStoreToATensorThatIsOnlyRead) {
  expectFault("%t = tile.load %x[0, 0] : !tile.tile<2x8xf32>\ntile.store %t, %x[0, 0] // here", 0,
              "tile.store: stores to 'x' (f32[4, 8]), which is read-only here");
  expectFault("%v = arith.constant 1 : i32\nkiln.write %v, %n[0] // here", 0,
              "kiln.write: stores to 'n' (i32[4])");
}

TEST(SimulatorChecks, AnOperationNobodyTaughtTheSimulator) {
  expectFault("%a = arith.constant 1 : i32\n%b = arith.bitcast %a : i32 to f32 // here", 0,
              "arith.bitcast: the simulator does not know this operation", StatusCode::Unsupported);
  expectFault("%a = arith.constant 1.0 : f64 // here", 0,
              "arith.constant: scalars of type f64 are not supported", StatusCode::Unsupported);
  expectFault("%a = arith.constant dense<1> : vector<4xi32> // here", 0, "type vector<4xi32>",
              StatusCode::Unsupported);
}

TEST(SimulatorChecks, MemberDirectionsHoldInsideAGroup) {
  // The group may write y, but @v declares that it only reads it.
  Program program(R"mlir(
kiln.func @v(%y: !kiln.tensor<4x8xf32> in) role(aiv) {
  %t = tile.load %y[0, 0] : !tile.tile<4x8xf32>
  tile.store %t, %y[0, 0] // here
}
kiln.func @g(%y: !kiln.tensor<4x8xf32> inout) group lanes(2) {
  kiln.call @v(%y)
})mlir");
  Status status = program.run("g", {tensorOf(DType::F32, {4, 8}, {})});
  expectError(status, StatusCode::KernelFailed,
              {"stores to 'y' (f32[4, 8]), which is read-only here (in v#0, block [0, 0, 0])",
               program.lineOf("// here")});
}

//===----------------------------------------------------------------------===//
// Orchestrations
//===----------------------------------------------------------------------===//

void expectOrchestrationFault(const std::string &body, int64_t i, const std::string &message,
                              StatusCode code = StatusCode::KernelFailed) {
  SCOPED_TRACE(body);
  Program program("kiln.func @k(%x: !kiln.tensor<?xf32> in) incore {}\n"
                  "kiln.func @main(%x: !kiln.tensor<?xf32> in, %f: !kiln.tensor<4xi32> in, %i: "
                  "index) orchestration {\n" +
                  body + "\n}");
  Status status =
      program.run("main", {tensorOf(DType::F32, {4}, {}), tensorOf(DType::I32, {4}, {}), index(i)});
  expectError(status, code, {message});
  EXPECT_EQ(status.location().str().rfind(program.lineOf("// here") + ":", 0), 0u) << status.str();
}

TEST(SimulatorChecks, GridsAndSizes) {
  expectOrchestrationFault("%t = kiln.submit @k(%x) grid(%i) // here", -1,
                           "kiln.submit: kernel 'k': grid [-1] has a negative dimension");
  expectOrchestrationFault("%t = kiln.submit @k(%x) grid(%i, %i) // here", int64_t(1) << 32,
                           "grid [4294967296, 4294967296] has too many blocks");
  expectOrchestrationFault("%t = kiln.alloc(%i) : !kiln.tensor<?x4xf32> // here", -2,
                           "kiln.alloc: alloc: extent -2 of axis 0 is negative");
  expectOrchestrationFault("%t = kiln.alloc(%i, %i) : !kiln.tensor<?x?xf32> // here",
                           int64_t(1) << 40, "overflow 64 bits");
}

TEST(SimulatorChecks, GetsAndPredicatesOutsideTheirTensor) {
  expectOrchestrationFault("%v = kiln.get %f[%i] : i32 // here", 4,
                           "kiln.get: element [4] is outside 'f' (i32[4])");
  expectOrchestrationFault("%t = kiln.submit @k(%x) predicate(%f[%i] > 0) // here", -1,
                           "kiln.submit: predicate: element [-1] is outside 'f' (i32[4])");
}

//===----------------------------------------------------------------------===//
// Arguments and modules
//===----------------------------------------------------------------------===//

TEST(SimulatorChecks, WrongArguments) {
  Program program("kiln.func @k(%x: !kiln.tensor<?x8xf32> in, %s: f32) incore {}\n"
                  "kiln.func @dense(%x: !kiln.tensor<?x8xf32, strides [8, 1]> in) incore {}");
  Argument good = tensorOf(DType::F32, {4, 8}, {}), scalar = ScalarBits::fromDouble(DType::F32, 1);
  EXPECT_OK(program.run("k", {good, scalar}));
  auto expectBad = [&](std::vector<Argument> args, const std::string &message) {
    expectError(program.run("k", std::move(args)), StatusCode::InvalidArgument,
                {message, "test.mlir:1"});
  };
  expectBad({good}, "@k takes 2 arguments, got 1");
  expectBad({scalar, scalar}, "@k, argument 'x': expected a tensor, got a scalar");
  expectBad({good, good}, "argument 's': expected a scalar, got a tensor");
  expectBad({good, index(1)}, "argument 's': expected a scalar of type f32, got index");
  expectBad({tensorOf(DType::F16, {4, 8}, {}), scalar},
            "expected !kiln.tensor<?x8xf32>, got f16[4, 8]");
  expectBad({tensorOf(DType::F32, {4, 7}, {}), scalar},
            "expected !kiln.tensor<?x8xf32>, got f32[4, 7]");
  expectBad({tensorOf(DType::F32, {32}, {}), scalar},
            "expected !kiln.tensor<?x8xf32>, got f32[32]");
  expectBad({Tensor(), scalar}, "argument 'x': null tensor");

  Tensor wide = tensorOf(DType::F32, {4, 16}, {});
  EXPECT_OK(program.run("dense", {good}));
  expectError(program.run("dense", {*wide.slice({0, 0}, {4, 8})}), StatusCode::InvalidArgument,
              {"with strides [16, 1]"});
}

TEST(SimulatorChecks, ModulesThatAreNotPrepared) {
  Tensor x = tensorOf(DType::F32, {4}, {});
  Program noDirection("kiln.func @k(%x: !kiln.tensor<4xf32>) incore {}");
  expectError(noDirection.run("k", {x}), StatusCode::FailedPrecondition,
              {"run kiln-infer-directions first"});
  Program returns("kiln.func @k(%x: !kiln.tensor<4xf32> in) -> !kiln.tensor<4xf32> incore {\n "
                  "kiln.return %x\n}");
  expectError(returns.run("k", {x}), StatusCode::FailedPrecondition,
              {"run kiln-results-to-out-params first"});
  Program incore("kiln.func @main(%x: !kiln.tensor<4xf32> in) orchestration {\n"
                 "%t = kiln.incore \"blk\" { // here\n}\n}");
  expectError(incore.run("main", {x}), StatusCode::FailedPrecondition,
              {"run kiln-outline first", incore.lineOf("// here")});
  Program pipe("!p = !tile.pipe<aiv -> aic, token>\nkiln.func @v(%p: !p) role(aiv) {}");
  expectError(pipe.run("v", {}), StatusCode::InvalidArgument,
              {"@v has a pipe parameter and cannot be run by itself"});
}

} // namespace
