//===- kiln-opt.cpp - run passes by name on textual IR -----------------------------===//
#include "../RegisterKiln.h"

#include "mlir/Tools/mlir-opt/MlirOptMain.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  kiln::registerDialects(registry);
  kiln::registerPasses();
  return mlir::asMainReturnCode(mlir::MlirOptMain(argc, argv, "Kiln optimizer\n", registry));
}
