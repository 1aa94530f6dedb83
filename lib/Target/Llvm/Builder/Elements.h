//===- Elements.h - element types in memory and in registers -------------------------===//
//
// In memory an element has the layout of kiln/abi.h. In registers floats are f32 values that the
// element type can hold exactly, integers have their own width, and i1 is a bit. Everything works
// on scalars and on vectors of any width.
//
//===----------------------------------------------------------------------------===//
#ifndef KILN_LIB_TARGET_LLVM_BUILDER_ELEMENTS_H
#define KILN_LIB_TARGET_LLVM_BUILDER_ELEMENTS_H

#include "Builder.h"

#include "kiln/runtime/dtype.h"

#include "mlir/IR/Types.h"

namespace kiln::llvmir {

/// The runtime's element type of a tile, a tensor or a scalar.
DType elementTypeOf(mlir::Type type);

llvm::Type *memoryType(Builder &b, DType type);
llvm::Type *registerType(Builder &b, DType type);

/// From the bits in memory, exactly.
llvm::Value *decode(Builder &b, llvm::Value *stored, DType type);
/// To the bits in memory; the value is one the type can hold.
llvm::Value *encode(Builder &b, llvm::Value *value, DType type);
/// The nearest f32 value that the type can hold (nearest even; what overflows becomes infinity or,
/// where there is none, NaN).
llvm::Value *round(Builder &b, llvm::Value *value, DType type);
/// The conversions of tile.cast.
llvm::Value *convert(Builder &b, llvm::Value *value, DType from, DType to);

/// A constant in a register.
llvm::Value *constant(Builder &b, ScalarBits value);
/// A scalar argument's 64-bit slot as a register value.
llvm::Value *fromSlot(Builder &b, llvm::Value *slot, DType type);

/// `width` elements at `address`, one after the other.
llvm::Value *loadElements(Builder &b, llvm::Value *address, DType type, unsigned width);
/// Asks for the memory at an address, which need not be one of the program's, to be in the second
/// cache, or in the nearest, soon.
void emitPrefetch(Builder &b, llvm::Value *address, bool intoNearest = false);
void storeElements(Builder &b, llvm::Value *value, llvm::Value *address, DType type);
/// The same past the caches; the address is a multiple of kWidth elements.
void streamElements(Builder &b, llvm::Value *value, llvm::Value *address, DType type);

} // namespace kiln::llvmir

#endif // KILN_LIB_TARGET_LLVM_BUILDER_ELEMENTS_H
