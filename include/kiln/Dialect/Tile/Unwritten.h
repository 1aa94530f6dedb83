//===- Unwritten.h - loads of what a program only reads ---------------------------------===//
//
// The unit attribute says of a load that no kernel of the program writes what it reads: its tensor
// is an argument of the program that is `in`, whoever launches the kernel. So it may be made before
// the kernels that come first have ended. Arguments may lie in one another; that is for whoever
// launches to see.
//
//===----------------------------------------------------------------------------===//
#ifndef KILN_DIALECT_TILE_UNWRITTEN_H
#define KILN_DIALECT_TILE_UNWRITTEN_H

namespace kiln::tile {

constexpr char kUnwrittenAttr[] = "kiln.unwritten";

} // namespace kiln::tile

#endif // KILN_DIALECT_TILE_UNWRITTEN_H
