//===- kiln.h - write tile programs in C++ -------------------------------------------===//
//
// The one header of the front end. See docs/writing-a-program.md.
//
//===----------------------------------------------------------------------------===//
#ifndef KILN_KILN_H
#define KILN_KILN_H

#include "kiln/Driver/Main.h"
#include "kiln/Language/Combine.h"
#include "kiln/Language/Config.h"
#include "kiln/Language/Control.h"
#include "kiln/Language/Library.h"
#include "kiln/Language/Ops.h"
#include "kiln/Language/Program.h"
#include "kiln/Language/Ranks.h"

#endif // KILN_KILN_H
