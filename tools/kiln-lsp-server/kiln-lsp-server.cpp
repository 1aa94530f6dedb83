//===- kiln-lsp-server.cpp - diagnostics and navigation for .mlir files in editors ===//
#include "kiln/tools_c.h"

int main(int argc, char **argv) { return kiln_lsp_server_main(argc, argv); }
