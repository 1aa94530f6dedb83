//===- kiln-opt.cpp - run passes by name on textual IR -------------------------===//
#include "kiln/tools_c.h"

int main(int argc, char **argv) { return kiln_opt_main(argc, argv); }
