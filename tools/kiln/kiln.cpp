//===- kiln.cpp - the command line tool ----------------------------------------===//
#include "kiln/tools_c.h"

int main(int argc, char **argv) { return kiln_main(argc, argv); }
