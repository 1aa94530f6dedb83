//===- kiln/runtime/npy.h - numpy files ----------------------------------===//
//
// What: reading and writing `.npy` files. Writes version 1.0, C order. Reads versions 1.0 to 3.0,
//   C order, '<f4' '<f2' '<i1' '<i2' '<i4' '<i8' '|b1'. A zero-dimensional array reads as [1].
//   numpy has no bf16 and no f8: tensors of those types are written as '<f4' (every value is
//   exact) and come back as f32; `Tensor::castTo` returns them to their own type.
//
// Bad input: a wrong magic, a mangled or oversized header, an unsupported type, rank above 5, a
//   size that overflows or does not match the file are errors naming the file; nothing is
//   allocated before the size has been compared with the file's.
//
// Ownership and threads: the tensor read owns its memory. Callable from any thread.
//
//===---------------------------------------------------------------------===//
#ifndef KILN_RUNTIME_NPY_H
#define KILN_RUNTIME_NPY_H

#include "kiln/runtime/status.h"
#include "kiln/runtime/tensor.h"

#include <span>
#include <string>

namespace kiln {

/// Writes a temporary file and renames it, so `path` is never half-written.
Status writeNpy(const std::string &path, const Tensor &tensor);
Expected<Tensor> readNpy(const std::string &path);

/// The same on memory; `what` names the source in messages.
Expected<Tensor> parseNpy(std::span<const std::byte> bytes, const std::string &what);
Expected<std::string> npyHeader(DType dtype, Dims extents);

} // namespace kiln

#endif // KILN_RUNTIME_NPY_H
