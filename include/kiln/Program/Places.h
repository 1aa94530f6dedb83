//===- Places.h - where each operation of a program stands -------------------------------===//
//
// Code that is shared between equal programs cannot hold the lines of one of them. It names places
// by their numbers: the operations of the program as it was recorded, in the order of a walk. Equal
// programs have equal numbers, and each its own list of what they stand for.
//
// Threads: as for the module.
//
//===----------------------------------------------------------------------------===//
#ifndef KILN_PROGRAM_PLACES_H
#define KILN_PROGRAM_PLACES_H

#include "kiln/Program/Signature.h"

namespace kiln {

/// Where the operations of a program stand, by their numbers.
std::vector<SourceLoc> placesOf(mlir::ModuleOp program);

/// Gives every operation its number, beside the place it has. What passes make of it keeps both.
void numberPlaces(mlir::ModuleOp program);

/// The number of the operation that a location belongs to, the innermost as in sourceLocOf(); none
/// where nobody gave numbers.
std::optional<uint32_t> placeNumberOf(mlir::Location loc);

} // namespace kiln

#endif // KILN_PROGRAM_PLACES_H
