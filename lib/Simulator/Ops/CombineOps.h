//===- CombineOps.h - bodies that combine lines of tiles ---------------------------------===//
#ifndef KILN_LIB_SIMULATOR_OPS_COMBINEOPS_H
#define KILN_LIB_SIMULATOR_OPS_COMBINEOPS_H

#include "Simulator/Interpreter.h"

namespace kiln::simulator {

/// A line of each tile that an operation combines.
using Lines = std::vector<TilePtr>;

/// What the operation begins with.
Lines startOf(Interpreter &in, tile::CombiningInterface op);
/// The line that comes after `number` others in its order.
Lines lineOf(Interpreter &in, tile::CombiningInterface op, int64_t number);
int64_t countLines(tile::CombiningInterface op);
/// Runs the body.
Expected<Lines> combine(Interpreter &in, tile::CombiningInterface op, const Lines &soFar,
                        const Lines &next);

} // namespace kiln::simulator

#endif // KILN_LIB_SIMULATOR_OPS_COMBINEOPS_H
