//===- kiln-exec.cpp - runs bundles where there is no compiler -------------------------===//
#include "kiln/runtime/bundle.h"
#include "kiln/runtime/tool_output.h"

int main(int argc, char **argv) {
  kiln::handleSignals();
  kiln::beginOutput(argc, argv);
  return kiln::finishOutput(kiln::execCommand(argc, argv));
}
