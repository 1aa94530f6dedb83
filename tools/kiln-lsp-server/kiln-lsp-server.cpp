//===- kiln-lsp-server.cpp - diagnostics and navigation for .mlir files in editors --===//
#include "../RegisterKiln.h"
#include "DocumentGuard.h"

#include "mlir/Tools/mlir-lsp-server/MlirLspServerMain.h"

/// Lets the server read what the guard passes on.
static std::FILE *guarded(kiln::DocumentGuard &guard) {
  cookie_io_functions_t functions = {};
  functions.read = [](void *cookie, char *buffer, size_t size) {
    return ssize_t(static_cast<kiln::DocumentGuard *>(cookie)->read(buffer, size));
  };
  return fopencookie(&guard, "r", functions);
}

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  kiln::registerDialects(registry);
  kiln::DocumentGuard guard(stdin);
  // Options choose another form of input, for tests of the server itself.
  if (argc == 1)
    stdin = guarded(guard);
  return mlir::failed(mlir::MlirLspServerMain(argc, argv, registry)) ? 1 : 0;
}
