//===- TileOps.td - operations of the tile dialect ---------------*- tablegen -*-===//
#ifndef TILE_OPS
#define TILE_OPS

include "kiln/Dialect/Tile/TileElementwise.td"
include "mlir/IR/OpAsmInterface.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

/// Of an operation that takes elements of all its operands from other places than their own.
def Tile_Elsewhere {
  code method = "bool readsElsewhere(::mlir::OpOperand &) { return true; }\n";
}
/// The same, of the tiles of an operation that also begins with something.
def Tile_CombinesElsewhere {
  code method = [{
    bool readsElsewhere(::mlir::OpOperand &operand) { return operand.getOperandNumber() < getTiles().size(); }
  }];
}

//===----------------------------------------------------------------------===//
// Make
//===----------------------------------------------------------------------===//

def Tile_FullOp : Tile_Plain<"full", [Pure]> {
  let summary = "a tile with every element equal to a scalar";
  let padding = "Constant";
  let arguments = (ins AnyType:$value);
  let results = (outs Tile_Tile:$result);
  let assemblyFormat = "custom<Typed>($value, type($value)) attr-dict `:` qualified(type($result))";
  let hasVerifier = 1;
}

def Tile_IotaOp : Tile_Vector<"iota", [Pure]> {
  let summary = "each element is its index along an axis";
  let padding = "Constant";
  let arguments = (ins I64Attr:$axis);
  let results = (outs Tile_Tile:$result);
  let assemblyFormat = "`axis` `(` $axis `)` attr-dict `:` qualified(type($result))";
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Move
//===----------------------------------------------------------------------===//

def Tile_LoadOp : Tile_Plain<"load", [AttrSizedOperandSegments, MemoryEffects<[MemRead]>, Tile_TensorAccessInterface]> {
  let summary = "reads a tile of a tensor";
  let description = [{
    One index per axis; the tile covers the trailing two axes (a rank-1 tensor loads as 1xN or Nx1). Elements
    outside the tensor, or outside the optional `valid` extents of the tile, read as the pad value. A tile that
    misses its tensor altogether is a fault, unless `outside` says that it may: then all of it is the pad value.

    ```mlir
    %x = tile.load %t[%i, 0] pad(min) valid(%rows, 64) : !tile.tile<128x64xf32>
    %y = tile.load %t[%before, 0] outside : !tile.tile<128x64xf32>
    ```
  }];
  let work = "CopyWork";
  let padding = "Filled";
  let facts = Tile_Accesses<[{
    accessAt(*this, getTensor(), true, false, getStaticIndices(), getIndices(), getResult())
  }]>.method;
  let arguments = (ins Kiln_Tensor:$tensor, Variadic<Index>:$indices, DenseI64ArrayAttr:$static_indices,
                       Variadic<Index>:$valid, OptionalAttr<DenseI64ArrayAttr>:$static_valid,
                       OptionalAttr<AnyAttrOf<[Tile_PadKind, F64Attr]>>:$pad, UnitAttr:$outside);
  let results = (outs Tile_Tile:$result);
  let assemblyFormat = [{
    custom<Typed>($tensor, type($tensor)) `` custom<DynamicIndexList>($indices, $static_indices)
    (`outside` $outside^)? (`pad` `(` custom<Pad>($pad)^ `)`)? (`valid` `` custom<Parens>($valid, $static_valid)^)? attr-dict `:` qualified(type($result))
  }];
  let hasVerifier = 1;
}

def Tile_StoreOp : Tile_Plain<"store", [AttrSizedOperandSegments,
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>, Tile_TensorAccessInterface]> {
  let summary = "writes a tile into a tensor";
  let description = [{
    Only elements inside the tensor and the optional `valid` extents are written. `atomic(add)` adds.
  }];
  let work = "CopyWork";
  let facts = Tile_Accesses<[{
    accessAt(*this, getTensor(), bool(getAtomic()), true, getStaticIndices(), getIndices(), getTile())
  }]>.method;
  let arguments = (ins Tile_Tile:$tile, Kiln_Tensor:$tensor, Variadic<Index>:$indices,
                       DenseI64ArrayAttr:$static_indices, Variadic<Index>:$valid,
                       OptionalAttr<DenseI64ArrayAttr>:$static_valid, OptionalAttr<Tile_AtomicKind>:$atomic);
  let assemblyFormat = [{
    custom<Typed>($tile, type($tile)) `,` custom<Typed>($tensor, type($tensor)) ``
    custom<DynamicIndexList>($indices, $static_indices) (`valid` `` custom<Parens>($valid, $static_valid)^)?
    (`atomic` `(` $atomic^ `)`)? attr-dict
  }];
  let hasVerifier = 1;
}

def Tile_MoveOp : Tile_Unary<"move", "the same tile in another memory"> {
  let work = "NoWork";
  let facts = "View getView() { return View::Moved; }";
  let hasVerifier = 1;
  let hasFolder = 1;
}
def Tile_ReshapeOp : Tile_Unary<"reshape", "the same elements, row by row, in another shape"> {
  // Elements stay in order, row by row: a lane's rows are one run of them before and after.
  let divided = [{
    (lanes.axis == 0 && lanes.spans(getOperand().getType()) && lanes.spans(getType())) ||
            (lanes.isWhole(getOperand()) && lanes.isWhole(getResult()))
        ? ""
        : "moves elements from one lane's part into another's"
  }];
  let facts = Tile_Elsewhere.method # "View getView() { return View::Whole; }";
  let hasVerifier = 1;
  let hasFolder = 1;
}
def Tile_TransposeOp : Tile_Unary<"transpose", "rows become columns"> {
  let divided = [{
    lanes.isWhole(getOperand()) && lanes.isWhole(getResult())
        ? ""
        : "turns the axis that is divided between the lanes into the other"
  }];
  let facts = Tile_Elsewhere.method;
  let hasVerifier = 1;
  let hasFolder = 1;
}
def Tile_CastOp : Tile_Unary<"cast", "converts the elements"> {
  let description = [{
    To a smaller float: rounds to nearest even; an integer becomes an f32 first. Float to integer: rounds toward zero, saturates, NaN becomes 0.
    Integer to integer: wraps. To i1: not equal to zero.
  }];
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Tile_ExtractOp : Tile_Vector<"extract", [Pure]> {
  let summary = "a box of a tile";
  let divided = [{
    !lanes.spans(getTile().getType()) || covers(getType(), getTile().getType(), getStaticIndices(), lanes.axis)
        ? ""
        : "takes a box that does not cover the axis divided between the lanes"
  }];
  let facts = Tile_Elsewhere.method # "View getView() { return View::Part; }";
  let arguments = (ins Tile_Tile:$tile, Variadic<Index>:$indices, DenseI64ArrayAttr:$static_indices);
  let results = (outs Tile_Tile:$result);
  let assemblyFormat = [{
    custom<Typed>($tile, type($tile)) `` custom<DynamicIndexList>($indices, $static_indices) attr-dict
    `:` qualified(type($result))
  }];
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Tile_InsertOp : Tile_Vector<"insert", [Pure]> {
  let summary = "a tile with a box of it replaced";
  let divided = [{
    !lanes.spans(getType()) || covers(getTile().getType(), getType(), getStaticIndices(), lanes.axis)
        ? ""
        : "replaces a box that does not cover the axis divided between the lanes"
  }];
  let facts = "bool readsElsewhere(::mlir::OpOperand &operand) { return &operand == &getTileMutable(); }";
  let arguments = (ins Tile_Tile:$tile, Tile_Tile:$into, Variadic<Index>:$indices,
                       DenseI64ArrayAttr:$static_indices);
  let results = (outs Tile_Tile:$result);
  let assemblyFormat = [{
    custom<Typed>($tile, type($tile)) `,` custom<Typed>($into, type($into)) ``
    custom<DynamicIndexList>($indices, $static_indices) attr-dict `:` qualified(type($result))
  }];
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Tile_ConcatOp : Tile_Vector<"concat", [Pure]> {
  let summary = "tiles one after the other along an axis";
  let divided = [{getAxis() != lanes.axis ? "" : "works along the axis divided between the lanes"}];
  let facts = Tile_Elsewhere.method;
  let arguments = (ins Variadic<Tile_Tile>:$tiles, I64Attr:$axis);
  let results = (outs Tile_Tile:$result);
  let assemblyFormat = [{
    custom<Typed>($tiles, type($tiles)) `axis` `(` $axis `)` attr-dict `:` qualified(type($result))
  }];
  let hasVerifier = 1;
  let hasFolder = 1;
}

//===----------------------------------------------------------------------===//
// Elementwise, beside the table of TileElementwise.td
//===----------------------------------------------------------------------===//

def Tile_CmpOp : Tile_Vector<"cmp", [Pure]> {
  let summary = "compares; the result has element type i1";
  let padding = "Elementwise";
  let arguments = (ins Tile_CmpKind:$kind, Tile_TileOrScalar:$lhs, Tile_TileOrScalar:$rhs);
  let results = (outs Tile_Tile:$result);
  let assemblyFormat = [{
    $kind custom<Typed>($lhs, type($lhs)) `,` custom<Typed>($rhs, type($rhs)) attr-dict `:` qualified(type($result))
  }];
  let hasVerifier = 1;
}

def Tile_SelectOp : Tile_Vector<"select", [Pure]> {
  let summary = "where the condition holds the first, elsewhere the second";
  let padding = "Elementwise";
  let facts = Tile_InPlace.method;
  let arguments = (ins Tile_Tile:$condition, Tile_TileOrScalar:$lhs, Tile_TileOrScalar:$rhs);
  let results = (outs Tile_Tile:$result);
  let assemblyFormat = [{
    custom<Typed>($condition, type($condition)) `,` custom<Typed>($lhs, type($lhs)) `,`
    custom<Typed>($rhs, type($rhs)) attr-dict `:` qualified(type($result))
  }];
  let hasVerifier = 1;
  let hasFolder = 1;
}

//===----------------------------------------------------------------------===//
// Reduce, multiply, mask
//===----------------------------------------------------------------------===//

def Tile_ReduceOp : Tile_Vector<"reduce", [Pure]> {
  let summary = "reduces along an axis, of which extent 1 remains";
  let description = [{
    `sum`, `max`, `min` and `prod` keep the element type. `argmax` and `argmin` make the i32 index of the extreme
    element along the axis; of equal ones the first. NaN is the result of a `max` or `min` that meets one, so the first
    NaN is what `argmax` and `argmin` find.
  }];
  let divided = [{
    getAxis() != lanes.axis || lanes.isWhole(getOperand())
        ? ""
        : "reduces along the axis that is divided between the lanes"
  }];
  // Of a row each thread has a part, and the threads of a row can talk.
  let facts = [{
    bool readsElsewhere(::mlir::OpOperand &) {
      return getAxis() == 0 || getKind() == ReduceKind::ArgMax || getKind() == ReduceKind::ArgMin;
    }
  }];
  let padding = "Combined, unsigned(getAxis()), getKind()";
  let arguments = (ins Tile_ReduceKind:$kind, Tile_Tile:$operand, I64Attr:$axis);
  let results = (outs Tile_Tile:$result);
  let assemblyFormat = [{
    $kind custom<Typed>($operand, type($operand)) `axis` `(` $axis `)` attr-dict `:` qualified(type($result))
  }];
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Tile_ScanOp : Tile_Vector<"scan", [Pure]> {
  let summary = "running sums, products, maxima or minima along an axis";
  let description = [{
    Each element of the result combines the elements up to and including the one at its place, along the axis: by `sum`,
    `prod`, `max` or `min`, as in `tile.reduce`. With `exclusive` the one at its place does not count, and the first element
    is what changes nothing: 0, 1, the least or the greatest value of the type. With `reverse` the scan begins at the end.
    Floats combine in f32 and round to the element type for each element; integers wrap.

    ```mlir
    %s = tile.scan sum %x axis(1) : !tile.tile<8x64xf32>
    %m = tile.scan max %x axis(0) exclusive reverse : !tile.tile<8x64xf32>
    ```
  }];
  let divided = [{
    getAxis() != lanes.axis || lanes.isWhole(getOperand()) ? "" : "runs along the axis divided between the lanes"
  }];
  let facts = Tile_Elsewhere.method;
  let padding = "Running, unsigned(getAxis()), getKind(), getExclusive(), getReverse()";
  let arguments = (ins Tile_ReduceKind:$kind, Tile_Tile:$operand, I64Attr:$axis, UnitAttr:$exclusive, UnitAttr:$reverse);
  let results = (outs Tile_Tile:$result);
  let assemblyFormat = [{
    $kind custom<Typed>($operand, type($operand)) `axis` `(` $axis `)` (`exclusive` $exclusive^)? (`reverse` $reverse^)?
    attr-dict `:` qualified(type($result))
  }];
  let hasVerifier = 1;
  let hasFolder = 1;
}

/// Combines the elements along an axis by a body: see TileCombine.h for what the two have in common.
class Tile_Combining<string mnemonic, string summaryText>
    : Tile_Vector<mnemonic, [Pure, AttrSizedOperandSegments, IsolatedFromAbove, SingleBlock,
                             Tile_CombiningInterface]> {
  let summary = summaryText;
  let divided = [{
    getAxis() != lanes.axis || ::llvm::all_of(getTiles(), lanes.isWhole)
        ? ""
        : "combines along the axis that is divided between the lanes"
  }];
  let regions = (region SizedRegion<1>:$body);
  let results = (outs Variadic<Tile_Tile>:$results);
  let hasVerifier = 1;
}

def Tile_ReduceWithOp : Tile_Combining<"reduce_with", "reduces along an axis by a body"> {
  let description = [{
    One tile or several of one shape. The body gets what has been combined so far, a line of each tile (extent 1 along
    the axis), and the next line of each, and yields the two combined. It begins with `start`, a scalar or a line for each
    tile. The body must be associative, because targets combine in an order of their own; `kiln check` tries that. It
    consists of elementwise operations, casts and constants, and uses nothing from outside.

    ```mlir
    %best, %at = tile.reduce_with %x, %index axis(1) start(%lowest, %none) {
    ^combine(%a: !tile.tile<8x1xf32>, %i: !tile.tile<8x1xi32>, %b: !tile.tile<8x1xf32>, %j: !tile.tile<8x1xi32>):
      %isBetter = tile.cmp gt %b, %a : !tile.tile<8x1xi1>
      %value = tile.select %isBetter, %b, %a : !tile.tile<8x1xf32>
      %where = tile.select %isBetter, %j, %i : !tile.tile<8x1xi32>
      tile.yield %value, %where
    } : !tile.tile<8x1xf32>, !tile.tile<8x1xi32>
    ```
  }];
  let facts = Tile_CombinesElsewhere.method # "bool isExclusive() { return false; } bool isReverse() { return false; }";
  let arguments = (ins Variadic<Tile_Tile>:$tiles, Variadic<Tile_TileOrScalar>:$starts, I64Attr:$axis);
  let assemblyFormat = [{
    custom<Typed>($tiles, type($tiles)) `axis` `(` $axis `)` `start` `(` custom<Typed>($starts, type($starts)) `)` $body
    attr-dict `:` qualified(type($results))
  }];
}

def Tile_ScanWithOp : Tile_Combining<"scan_with", "what a body makes of the elements so far, along an axis"> {
  let description = [{
    `tile.reduce_with` that keeps every step: each line of the results combines `start` and the lines up to and including
    the one at its place; with `exclusive` without it. With `reverse` it begins at the end.

    ```mlir
    %decay, %state = tile.scan_with %a, %b axis(0) start(%one, %zero) {
    ^combine(%a0: !tile.tile<1x8xf32>, %b0: !tile.tile<1x8xf32>, %a1: !tile.tile<1x8xf32>, %b1: !tile.tile<1x8xf32>):
      %decay = tile.mul %a0, %a1 : !tile.tile<1x8xf32>
      %faded = tile.mul %b0, %a1 : !tile.tile<1x8xf32>
      %state = tile.add %faded, %b1 : !tile.tile<1x8xf32>
      tile.yield %decay, %state
    } : !tile.tile<64x8xf32>, !tile.tile<64x8xf32>
    ```
  }];
  let facts = Tile_CombinesElsewhere.method
      # "bool isExclusive() { return getExclusive(); } bool isReverse() { return getReverse(); }";
  let arguments = (ins Variadic<Tile_Tile>:$tiles, Variadic<Tile_TileOrScalar>:$starts, I64Attr:$axis,
                       UnitAttr:$exclusive, UnitAttr:$reverse);
  let assemblyFormat = [{
    custom<Typed>($tiles, type($tiles)) `axis` `(` $axis `)` `start` `(` custom<Typed>($starts, type($starts)) `)`
    (`exclusive` $exclusive^)? (`reverse` $reverse^)? $body attr-dict `:` qualified(type($results))
  }];
}

def Tile_YieldOp : Tile_Plain<"yield", [Pure, Terminator, ParentOneOf<["ReduceWithOp", "ScanWithOp"]>]> {
  let summary = "what a body makes of two lines";
  let arguments = (ins Variadic<Tile_Tile>:$tiles);
  let assemblyFormat = "custom<Typed>($tiles, type($tiles)) attr-dict";
}

def Tile_MatmulOp : Tile_Plain<"matmul", [Pure, Tile_ProductInterface]> {
  let summary = "a matrix product, accumulated in f32 (i32 for i8)";
  let work = "MatrixWork";
  let padding = "Multiplied";
  let facts = [{
    ::mlir::OpOperand *getAccumulator() { return nullptr; }
    ::std::optional<unsigned> getDividedAxis(::mlir::OpOperand &operand, unsigned axis) {
      return dividedAxisOf(*this, operand, axis);
    }
  }];
  let arguments = (ins Tile_Tile:$lhs, Tile_Tile:$rhs, UnitAttr:$trans_a, UnitAttr:$trans_b);
  let results = (outs Tile_Tile:$result);
  let assemblyFormat = [{
    custom<Typed>($lhs, type($lhs)) `,` custom<Typed>($rhs, type($rhs))
    (`trans_a` $trans_a^)? (`trans_b` $trans_b^)? attr-dict `:` qualified(type($result))
  }];
  let hasVerifier = 1;
}

def Tile_MatmulAccOp : Tile_Plain<"matmul_acc", [Pure, Tile_ProductInterface]> {
  let summary = "a matrix product added to an accumulator";
  let work = "MatrixWork";
  let padding = "Multiplied";
  let facts = [{
    ::mlir::OpOperand *getAccumulator() { return &getAccMutable(); }
    bool mayReplace(::mlir::OpOperand &operand) { return &operand == getAccumulator(); }
    ::std::optional<unsigned> getDividedAxis(::mlir::OpOperand &operand, unsigned axis) {
      return dividedAxisOf(*this, operand, axis);
    }
  }];
  let arguments = (ins Tile_Tile:$acc, Tile_Tile:$lhs, Tile_Tile:$rhs, UnitAttr:$trans_a, UnitAttr:$trans_b);
  let results = (outs Tile_Tile:$result);
  let assemblyFormat = [{
    custom<Typed>($acc, type($acc)) `,` custom<Typed>($lhs, type($lhs)) `,` custom<Typed>($rhs, type($rhs))
    (`trans_a` $trans_a^)? (`trans_b` $trans_b^)? attr-dict `:` qualified(type($result))
  }];
  let hasVerifier = 1;
}

def Tile_MatmulStartOp : Tile_Plain<"matmul_start", [Pure, Tile_ProductInterface]> {
  let summary = "begins a matrix product; the tile is there when it has been awaited";
  let description = [{
    On a machine whose matrix unit works beside those who ask it. The only use of the result is a `tile.await` that comes
    later in the same block; up to there the operands are read. Everywhere else it is a product.

    ```mlir
    %begun = tile.matmul_start %weights, %values onto %acc : !tile.tile<64x128xf32>
    %sum = tile.await %begun : !tile.tile<64x128xf32>
    ```
  }];
  let work = "MatrixWork";
  let padding = "Multiplied";
  let facts = [{
    ::mlir::OpOperand *getAccumulator() { return getAcc().empty() ? nullptr : &getOperation()->getOpOperand(2); }
    bool mayReplace(::mlir::OpOperand &operand) { return &operand == getAccumulator(); }
    bool readsUntilUsed() { return true; }
    ::std::optional<unsigned> getDividedAxis(::mlir::OpOperand &operand, unsigned axis) {
      return dividedAxisOf(*this, operand, axis);
    }
  }];
  let arguments = (ins Tile_Tile:$lhs, Tile_Tile:$rhs, Variadic<Tile_Tile>:$acc, UnitAttr:$trans_a, UnitAttr:$trans_b);
  let results = (outs Tile_Tile:$result);
  let assemblyFormat = [{
    custom<Typed>($lhs, type($lhs)) `,` custom<Typed>($rhs, type($rhs)) (`trans_a` $trans_a^)? (`trans_b` $trans_b^)?
    (`onto` custom<Typed>($acc, type($acc))^)? attr-dict `:` qualified(type($result))
  }];
  let hasVerifier = 1;
}

def Tile_AwaitOp : Tile_Unary<"await", "what a product that was begun has made"> {
  let work = "MatrixWork";
  let facts = "View getView() { return View::Whole; }";
  let hasVerifier = 1;
}

def Tile_MaskOp : Tile_Vector<"mask", [Pure]> {
  let summary = "replaces the elements outside the valid extents by the pad value";
  let padding = "Filled";
  let facts = Tile_InPlace.method;
  let arguments = (ins Tile_Tile:$operand, Variadic<Index>:$valid, DenseI64ArrayAttr:$static_valid,
                       OptionalAttr<AnyAttrOf<[Tile_PadKind, F64Attr]>>:$pad);
  let results = (outs Tile_Tile:$result);
  let assemblyFormat = [{
    custom<Typed>($operand, type($operand)) `valid` `` custom<Parens>($valid, $static_valid) (`pad` `(` custom<Pad>($pad)^ `)`)? attr-dict
    `:` qualified(type($result))
  }];
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Tile_MaskDiagOp : Tile_Vector<"mask_diag", [Pure]> {
  let summary = "keeps the elements with column <= row + offset; the others become the pad value";
  let padding = "Filled";
  let facts = Tile_InPlace.method;
  let arguments = (ins Tile_Tile:$operand, Index:$offset,
                       OptionalAttr<AnyAttrOf<[Tile_PadKind, F64Attr]>>:$pad);
  let results = (outs Tile_Tile:$result);
  let assemblyFormat = [{
    custom<Typed>($operand, type($operand)) `offset` `(` $offset `)` (`pad` `(` custom<Pad>($pad)^ `)`)? attr-dict
    `:` qualified(type($result))
  }];
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Gather and sort
//===----------------------------------------------------------------------===//

def Tile_GatherRowsOp : Tile_Plain<"gather_rows", [AttrSizedOperandSegments, MemoryEffects<[MemRead]>,
    Tile_TensorAccessInterface]> {
  let summary = "reads a tile whose rows lie anywhere in a tensor";
  let description = [{
    Row r of the tile is row `%i + rows[%j + r]` of the tensor, from column `%c` on. The row numbers are read from a
    tensor of i32 or i64, along its last axis; a negative one means "no row". Elements of no row, outside the tensor,
    outside the `valid` extents, or whose row number lies outside the tensor of row numbers, read as the pad value.

    ```mlir
    %x = tile.gather_rows %t[%i, %c] rows(%table[%b, %j]) pad(zero) valid(%n, 64) : !tile.tile<32x64xf32>
    ```
  }];
  let work = "CopyWork";
  let padding = "Filled";
  let facts = Tile_Accesses<[{
    TensorAccess{*this, getTensor(), true, false}, TensorAccess{*this, getRows(), true, false}
  }]>.method # "bool isMadeWhole() { return true; }";
  let arguments = (ins Kiln_Tensor:$tensor, Variadic<Index>:$indices, DenseI64ArrayAttr:$static_indices,
                       Kiln_Tensor:$rows, Variadic<Index>:$row_indices, DenseI64ArrayAttr:$static_row_indices,
                       Variadic<Index>:$valid, OptionalAttr<DenseI64ArrayAttr>:$static_valid,
                       OptionalAttr<AnyAttrOf<[Tile_PadKind, F64Attr]>>:$pad);
  let results = (outs Tile_Tile:$result);
  let assemblyFormat = [{
    custom<Typed>($tensor, type($tensor)) `` custom<DynamicIndexList>($indices, $static_indices)
    `rows` `(` custom<Typed>($rows, type($rows)) `` custom<DynamicIndexList>($row_indices, $static_row_indices) `)`
    (`pad` `(` custom<Pad>($pad)^ `)`)? (`valid` `` custom<Parens>($valid, $static_valid)^)? attr-dict `:` qualified(type($result))
  }];
  let hasVerifier = 1;
}

def Tile_ScatterRowsOp : Tile_Plain<"scatter_rows", [AttrSizedOperandSegments,
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>, Tile_TensorAccessInterface]> {
  let summary = "writes the rows of a tile anywhere into a tensor";
  let description = [{
    The counterpart of `tile.gather_rows`: what that would read as padding is not written. Without `atomic(add)` a row
    may be written only once; a row number that occurs twice is an error in checked runs.

    ```mlir
    tile.scatter_rows %x, %t[%i, %c] rows(%table[%b, %j]) valid(%n, 64)
    ```
  }];
  let work = "CopyWork";
  let divided = [{lanes.isWhole(getTile()) ? "" : "writes rows that cannot be divided"}];
  let facts = Tile_Accesses<[{
    TensorAccess{*this, getTensor(), bool(getAtomic()), true}, TensorAccess{*this, getRows(), true, false}
  }]>.method;
  let arguments = (ins Tile_Tile:$tile, Kiln_Tensor:$tensor, Variadic<Index>:$indices,
                       DenseI64ArrayAttr:$static_indices, Kiln_Tensor:$rows, Variadic<Index>:$row_indices,
                       DenseI64ArrayAttr:$static_row_indices, Variadic<Index>:$valid,
                       OptionalAttr<DenseI64ArrayAttr>:$static_valid, OptionalAttr<Tile_AtomicKind>:$atomic);
  let assemblyFormat = [{
    custom<Typed>($tile, type($tile)) `,` custom<Typed>($tensor, type($tensor)) ``
    custom<DynamicIndexList>($indices, $static_indices)
    `rows` `(` custom<Typed>($rows, type($rows)) `` custom<DynamicIndexList>($row_indices, $static_row_indices) `)`
    (`valid` `` custom<Parens>($valid, $static_valid)^)? (`atomic` `(` $atomic^ `)`)? attr-dict
  }];
  let hasVerifier = 1;
}

def Tile_GatherOp : Tile_Vector<"gather", [Pure]> {
  let summary = "takes elements along an axis";
  let description = [{
    Element (r, c) of the result is `x[index[r, c], c]` for axis 0 and `x[r, index[r, c]]` for axis 1. An index outside
    the tile is an error in checked runs.
  }];
  let divided = [{getAxis() != lanes.axis ? "" : "works along the axis divided between the lanes"}];
  let facts = "bool readsElsewhere(::mlir::OpOperand &operand) { return &operand == &getOperandMutable(); }";
  let arguments = (ins Tile_Tile:$operand, Tile_Tile:$index, I64Attr:$axis);
  let results = (outs Tile_Tile:$result);
  let assemblyFormat = [{
    custom<Typed>($operand, type($operand)) `,` custom<Typed>($index, type($index)) `axis` `(` $axis `)` attr-dict
    `:` qualified(type($result))
  }];
  let hasVerifier = 1;
}

class Tile_Ordering<string mnemonic, string summaryText> : Tile_Vector<mnemonic, [Pure]> {
  let summary = summaryText;
  let divided = [{lanes.axis == 0 ? "" : "orders along the axis divided between the lanes"}];
  let facts = Tile_Elsewhere.method # "bool placesElements() { return true; }";
  let results = (outs Tile_Tile:$values, Tile_Tile:$indices);
  let hasVerifier = 1;
}

def Tile_SortRowsOp : Tile_Ordering<"sort_rows", "each row in order, and where its elements came from"> {
  let description = [{
    Ascending unless `descending` is given. Stable: equal elements keep their order. NaN comes last in both directions.
    The second result holds the i32 column that each element had.

    ```mlir
    %values, %columns = tile.sort_rows %x descending : !tile.tile<8x64xf32>, !tile.tile<8x64xi32>
    ```
  }];
  let padding = "Ordered, 1, getDescending() ? ReduceKind::Max : ReduceKind::Min";
  let arguments = (ins Tile_Tile:$operand, UnitAttr:$descending);
  let assemblyFormat = [{
    custom<Typed>($operand, type($operand)) (`descending` $descending^)? attr-dict
    `:` qualified(type($values)) `,` qualified(type($indices))
  }];
}

def Tile_TopkRowsOp : Tile_Ordering<"topk_rows", "the largest elements of each row, and where they came from"> {
  let description = [{
    The first columns of `tile.sort_rows descending`; how many is the number of columns of the results.

    ```mlir
    %values, %columns = tile.topk_rows %x : !tile.tile<8x4xf32>, !tile.tile<8x4xi32>
    ```
  }];
  let padding = "Ordered, 1, ReduceKind::Max";
  let arguments = (ins Tile_Tile:$operand);
  let assemblyFormat = [{
    custom<Typed>($operand, type($operand)) attr-dict `:` qualified(type($values)) `,` qualified(type($indices))
  }];
}

//===----------------------------------------------------------------------===//
// Random numbers
//===----------------------------------------------------------------------===//

def Tile_RandomOp : Tile_Vector<"random", [Pure]> {
  let summary = "random numbers: Philox4x32-10 of a key and a counter";
  let description = [{
    The elements, row by row, are the words of the blocks `counter`, `counter + 1`, ... under the 64-bit `key`, four words
    a block; the upper half of the 128-bit block number is 0. A tile of i32 holds the words; a tile of f32 the upper 24
    bits of each as a fraction, uniform in [0, 1). So a tile of n elements uses up `(n + 3) / 4` counter values.

    ```mlir
    %u = tile.random key(%seed) counter(%n) : !tile.tile<8x64xf32>
    ```
  }];
  let facts = "bool isMadeWhole() { return true; }";
  let arguments = (ins I64:$key, Index:$counter);
  let results = (outs Tile_Tile:$result);
  let assemblyFormat = "`key` `(` $key `)` `counter` `(` $counter `)` attr-dict `:` qualified(type($result))";
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Grid and hints
//===----------------------------------------------------------------------===//

def Tile_BarrierOp : Tile_Plain<"barrier", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "waits until every block of the launch has got here";
  let description = [{
    What any block wrote before it may be read by every block after it. All blocks must run at once, so the launch says
    `sync_start`. In a group every role that contains a barrier takes part, with all its lanes.
  }];
  let assemblyFormat = "attr-dict";
}

def Tile_PrefetchOp : Tile_Plain<"prefetch", [MemoryEffects<[MemRead, MemWrite]>, Tile_TensorAccessInterface]> {
  let summary = "a hint that a tile will be loaded soon; computes nothing";
  let description = [{
    ```mlir
    tile.prefetch %t[%i, 0] shape(64, 64)
    ```
  }];
  let work = "CopyWork";
  let facts = Tile_Accesses<"">.method;
  let arguments = (ins Kiln_Tensor:$tensor, Variadic<Index>:$indices, DenseI64ArrayAttr:$static_indices,
                       I64Attr:$rows, I64Attr:$cols);
  let assemblyFormat = [{
    custom<Typed>($tensor, type($tensor)) `` custom<DynamicIndexList>($indices, $static_indices)
    `shape` `(` $rows `,` $cols `)` attr-dict
  }];
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Identity and scalars
//===----------------------------------------------------------------------===//

def Tile_BlockIdxOp : Tile_Plain<"block_idx", [Pure, DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmResultNames"]>]> {
  let summary = "the index of this block along a grid dimension";
  let arguments = (ins I64Attr:$dim);
  let results = (outs Index:$result);
  let assemblyFormat = "$dim attr-dict";
  let hasVerifier = 1;
}

def Tile_BlockCountOp : Tile_Plain<"block_count", [Pure, DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmResultNames"]>]> {
  let summary = "the number of blocks along a grid dimension";
  let arguments = (ins I64Attr:$dim);
  let results = (outs Index:$result);
  let assemblyFormat = "$dim attr-dict";
  let hasVerifier = 1;
}

def Tile_LaneOp : Tile_Plain<"lane", [Pure, DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmResultNames"]>]> {
  let summary = "the index of this lane in its role; 0 for a role without lanes";
  let results = (outs Index:$result);
  let assemblyFormat = "attr-dict";
}

def Tile_ElementOp : Tile_Plain<"element", [Pure]> {
  let summary = "one element of a tile, as a scalar";
  let divided = [{lanes.isWhole(getTile()) ? "" : "takes an element that only one lane has"}];
  let facts = Tile_Elsewhere.method;
  let arguments = (ins Tile_Tile:$tile, Variadic<Index>:$indices, DenseI64ArrayAttr:$static_indices);
  let results = (outs AnyType:$result);
  let assemblyFormat = [{
    custom<Typed>($tile, type($tile)) `` custom<DynamicIndexList>($indices, $static_indices) attr-dict
    `:` qualified(type($result))
  }];
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Pipes
//===----------------------------------------------------------------------===//

def Tile_PipeOp : Tile_Plain<"pipe", [MemoryEffects<[MemAlloc]>, HasParent<"::kiln::ir::FuncOp">,
    DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmResultNames"]>]> {
  let summary = "makes a pipe in a group";
  let description = [{
    ```mlir
    %p = tile.pipe slots(2) : !tile.pipe<aiv -> aic, 64x64xf32, up_down>
    ```
    Without `slots` the machine's default holds.
  }];
  let arguments = (ins OptionalAttr<I64Attr>:$slots, OptionalAttr<StrAttr>:$name);
  let results = (outs Tile_Pipe:$pipe);
  let assemblyFormat = "(`slots` `(` $slots^ `)`)? `` custom<ResultName>($name) attr-dict `:` qualified(type($pipe))";
  let hasVerifier = 1;
}

def Tile_PushOp : Tile_Plain<"push", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "puts tiles into a pipe; waits for a free slot";
  let arguments = (ins Variadic<Tile_Tile>:$tiles, Tile_Pipe:$pipe);
  let assemblyFormat = "custom<PushOperands>($tiles, type($tiles), $pipe, type($pipe)) attr-dict";
  let hasVerifier = 1;
}

def Tile_PopOp : Tile_Plain<"pop", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "takes the oldest tiles out of a pipe; waits for a full slot";
  let description = [{
    The slot stays occupied until `tile.free` releases it. A role writes all frees of a pipe or none; with none
    they happen after the last use of the popped tiles.

    The tiles lie in their slot and must not be used after its free. With `copy` they are copied out of the slot as they
    are popped, so they may be used for as long as anybody likes.
  }];
  let arguments = (ins Tile_Pipe:$pipe, UnitAttr:$copy);
  let results = (outs Variadic<Tile_Tile>:$tiles);
  let assemblyFormat = "custom<Typed>($pipe, type($pipe)) (`copy` $copy^)? attr-dict (`:` type($tiles)^)?";
  let hasVerifier = 1;
}

def Tile_FreeOp : Tile_Plain<"free", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "releases the oldest popped slot of a pipe";
  let arguments = (ins Tile_Pipe:$pipe);
  let assemblyFormat = "custom<Typed>($pipe, type($pipe)) attr-dict";
  let hasVerifier = 1;
}

#endif // TILE_OPS
