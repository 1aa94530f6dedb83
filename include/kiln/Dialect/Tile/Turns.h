//===- Turns.h - lanes that alternate at the matrix unit --------------------------------===//
//
// A lane takes its turn before a `tile.matmul_start` with the one attribute, and passes it on
// behind one with the other. Both mean nothing but when: who knows of no turns leaves them out.
//
//===----------------------------------------------------------------------------===//
#ifndef KILN_DIALECT_TILE_TURNS_H
#define KILN_DIALECT_TILE_TURNS_H

namespace kiln::tile {

constexpr char kTakesTurnAttr[] = "kiln.takes_turn";
constexpr char kPassesTurnAttr[] = "kiln.passes_turn";

} // namespace kiln::tile

#endif // KILN_DIALECT_TILE_TURNS_H
