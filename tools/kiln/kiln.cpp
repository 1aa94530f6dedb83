//===- kiln.cpp - the command line tool ------------------------------------------------===//
#include "kiln/Driver/Main.h"

int main(int argc, char **argv) { return kiln::toolMain(argc, argv); }
