//===- PipeRequirements.h - what a group requires, for the proof of its pipes ------------===//
#ifndef KILN_LIB_ANALYSIS_PIPEREQUIREMENTS_H
#define KILN_LIB_ANALYSIS_PIPEREQUIREMENTS_H

#include "PipeEvents.h"

namespace kiln::pipes {

/// What the group requires, as values of parameters: multiples, whose quotients are then numbers
/// like any other, and parameters that are equal.
Env requiredValues(GroupModel &model);

/// Gives a parameter a value, in the values of others too.
void setValue(GroupModel &model, Atom atom, const Expr &value, Env &values);

} // namespace kiln::pipes

#endif // KILN_LIB_ANALYSIS_PIPEREQUIREMENTS_H
