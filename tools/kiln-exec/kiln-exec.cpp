//===- kiln-exec.cpp - runs bundles where there is no compiler -------------------------===//
#include "kiln/runtime/bundle.h"

int main(int argc, char **argv) { return kiln::execCommand(argc, argv); }
