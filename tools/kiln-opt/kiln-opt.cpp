//===- kiln-opt.cpp - run passes by name on textual IR -----------------------------===//
#include "kiln/Dialect/Tile/TileDialect.h"
#include "kiln/Transforms/Passes.h"

#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "mlir/Transforms/Passes.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  registry.insert<kiln::ir::KilnDialect, kiln::tile::TileDialect, mlir::arith::ArithDialect,
                  mlir::scf::SCFDialect>();
  mlir::registerTransformsPasses();
  kiln::registerKilnPasses();
  kiln::registerKilnPipelines();
  return mlir::asMainReturnCode(mlir::MlirOptMain(argc, argv, "Kiln optimizer\n", registry));
}
