// Kernels that are compiled for a run bound their waits: the same text compiles, and says where the
// host has to put the address of the report.
#include "kiln/Language/ProgramAccess.h"
#include "kiln/Machine/Machine.h"
#include "kiln/Target/Cuda/Cuda.h"
#include "kiln/Transforms/Passes.h"

#include "mlir/Parser/Parser.h"

#include <gtest/gtest.h>

using namespace kiln;

namespace {

constexpr const char *kProduct = R"(module @gemm {
  kiln.func @main(%a: !kiln.tensor<?x?xbf16> in, %b: !kiln.tensor<?x?xbf16> in, %c: !kiln.tensor<?x?xbf16> out) orchestration {
    %c128 = arith.constant 128 : index
    %c256 = arith.constant 256 : index
    %0 = kiln.dim %c, 0
    %1 = arith.ceildivsi %0, %c128 : index
    %2 = kiln.dim %c, 1
    %3 = arith.ceildivsi %2, %c256 : index
    %4 = kiln.incore "gemm" grid(%1, %3) split(up_down) {
      %tm = arith.constant 128 : index
      %tn = arith.constant 256 : index
      %tk = arith.constant 64 : index
      %zero = arith.constant 0.000000e+00 : f32
      %c0 = arith.constant 0 : index
      %bi = tile.block_idx 0
      %bj = tile.block_idx 1
      %i = arith.muli %bi, %tm : index
      %j = arith.muli %bj, %tn : index
      %k = kiln.dim %a, 1
      %start = tile.full %zero : !tile.tile<128x256xf32>
      %sum = scf.for %at = %c0 to %k step %tk iter_args(%acc = %start) -> (!tile.tile<128x256xf32>) {
        %x = tile.load %a[%i, %at] : !tile.tile<128x64xbf16>
        %y = tile.load %b[%at, %j] : !tile.tile<64x256xbf16>
        %next = tile.matmul_acc %acc, %x, %y : !tile.tile<128x256xf32>
        scf.yield %next : !tile.tile<128x256xf32>
      } {kiln.loop = #kiln.loop<pipeline, stages = 4>}
      %rounded = tile.cast %sum : !tile.tile<128x256xbf16>
      tile.store %rounded, %c[%i, %j]
    }
  }
}
)";

TEST(CudaChecked, WaitsAreBoundedWhereAKernelIsCheckedAndNowhereElse) {
  if (!cudaCompiler())
    GTEST_SKIP() << "there is no compiler for CUDA";
  mlir::DialectRegistry registry;
  registerKilnDialects(registry);
  mlir::MLIRContext context(registry, mlir::MLIRContext::Threading::DISABLED);
  auto module = mlir::parseSourceString<mlir::ModuleOp>(kProduct, mlir::ParserConfig(&context));
  ASSERT_TRUE(bool(module));
  const Machine &hopper = *findMachine("hopper");
  mlir::PassManager passes(&context);
  PipelineOptions pipeline;
  pipeline.machine = &hopper;
  buildPipeline(passes, pipeline);
  ASSERT_TRUE(succeeded(passes.run(*module)));
  Expected<std::vector<CudaUnit>> units = emitCuda(*module, hopper);
  ASSERT_TRUE(bool(units)) << units.status().str();
  ASSERT_EQ(units->size(), 1u);
  CudaUnit unit = units->front();
  for (bool isChecked : {false, true}) {
    unit.kernel.isChecked = isChecked;
    Expected<CompiledCuda> compiled = compileCuda(unit);
    ASSERT_TRUE(bool(compiled)) << compiled.status().str();
    EXPECT_EQ(compiled->cubin.find("kilnHang") != std::string::npos, isChecked);
    // Where the host looks whether it ends.
    EXPECT_TRUE(isChecked || compiled->cubin.find("kilnProgress") != std::string::npos);
  }
}

} // namespace
