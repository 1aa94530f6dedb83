//===- TorchMemory.cpp - tiles from and to tensors -----------------------------------===//
//
// Tiles of 8-bit floats are float32 on a core and bit patterns in a tensor; they are converted on
// the way.
//
//===----------------------------------------------------------------------------===//
#include "TorchFunction.h"

using namespace mlir;

namespace kiln::torch {

std::string shapeText(tile::TileType type) {
  return "(" + std::to_string(type.getRows()) + ", " + std::to_string(type.getCols()) + ")";
}

/// Where an op accesses its tensor, as two arguments: `x, (i, 0)`.
template <typename Op> std::string FunctionEmitter::placeOf(Op op) {
  return text(op.getTensor()) + ", " + mixedTuple(op.getStaticIndices(), op.getIndices());
}

/// Where an op finds its row numbers, as two arguments.
template <typename Op> std::string FunctionEmitter::rowsOf(Op op) {
  return text(op.getRows()) + ", " + mixedTuple(op.getStaticRowIndices(), op.getRowIndices());
}

/// The argument for the valid extents, if there are any.
template <typename Op> std::string FunctionEmitter::validOf(Op op) {
  return op.getStaticValid() ? ", valid=" + mixedTuple(*op.getStaticValid(), op.getValid()) : "";
}

/// Completes a call that reads a tile, of which padding, valid extents and `last` are missing.
template <typename Op> Expr FunctionEmitter::paddedRead(Op op, std::string call, StringRef last) {
  Type element = op.getResult().getType().getElementType();
  std::string pad = padText(op.getPadAttr(), element, isFloat8(element));
  if (pad != padText({}, element, isFloat8(element)))
    call += ", pad=" + pad;
  call += validOf(op) + last.str() + ")";
  return {isFloat8(element) ? "_from_f8(" + call + ", " + float8Kind(element).str() + ")" : call};
}

Expr FunctionEmitter::loadExpression(tile::LoadOp load) {
  return paddedRead(load, "_load(" + placeOf(load) + ", " + shapeText(load.getResult().getType()),
                    load.getOutside() ? ", outside=True" : "");
}

Expr FunctionEmitter::gatherRowsExpression(tile::GatherRowsOp gather) {
  return paddedRead(gather, "_gather_rows(" + placeOf(gather) + ", " +
                                shapeText(gather.getResult().getType()) + ", " + rowsOf(gather));
}

void FunctionEmitter::emitStore(tile::StoreOp store) {
  tile::TileType type = store.getTile().getType();
  Type element = type.getElementType();
  std::string place = placeOf(store), value = text(store.getTile()),
              kind = float8Kind(element).str();
  if (store.getAtomic()) {
    std::string old = "_load(" + place + ", " + shapeText(type) + validOf(store) + ")";
    if (isFloat8(element))
      old = "_from_f8(" + old + ", " + kind + ")";
    value = old + (element.isInteger(1) ? " ^ " : " + ") + text(store.getTile(), Prec::Product);
  }
  if (isFloat8(element))
    value = "_to_f8(" + value + ", " + kind + ")";
  line("_store(" + Twine(value) + ", " + place + validOf(store) + ")" +
       (store.getAtomic() ? "  # atomic(add)" : ""));
}

void FunctionEmitter::emitScatterRows(tile::ScatterRowsOp scatter) {
  Type element = scatter.getTile().getType().getElementType();
  std::string value = text(scatter.getTile()), kind = float8Kind(element).str(), add;
  if (scatter.getAtomic() && isFloat8(element))
    add = ", add=lambda old, new: _to_f8(_from_f8(old, " + kind + ") + new, " + kind + ")";
  else if (scatter.getAtomic())
    add = element.isInteger(1) ? ", add=torch.logical_xor" : ", add=torch.add";
  else if (isFloat8(element))
    value = "_to_f8(" + value + ", " + kind + ")";
  line("_scatter_rows(" + Twine(value) + ", " + placeOf(scatter) + ", " + rowsOf(scatter) +
       validOf(scatter) + add + ")");
}

} // namespace kiln::torch
