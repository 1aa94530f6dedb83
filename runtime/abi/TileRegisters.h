//===- TileRegisters.h - the permission to use tile registers (AMX) ----------------------===//
//
// Linux gives a process the tile registers of an x86 only if it asks. Asked once in a process, from
// any thread; the answer holds for all of them.
//
//===----------------------------------------------------------------------------===//
#ifndef KILN_RUNTIME_ABI_TILEREGISTERS_H
#define KILN_RUNTIME_ABI_TILEREGISTERS_H

namespace kiln {

/// Asks for the tile registers. False: the machine has none, or the system refuses them, and an
/// instruction that uses them ends the process.
bool mayUseTileRegisters();

} // namespace kiln

#endif // KILN_RUNTIME_ABI_TILEREGISTERS_H
