//===- Kiln.cpp - the `kiln` tool ------------------------------------------------------===//
#include "kiln/Driver/Main.h"
#include "kiln/tools_c.h"

int kiln_main(int argc, char **argv) { return kiln::toolMain(argc, argv); }
