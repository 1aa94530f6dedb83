//===- TileBase.td - dialect and types of tiles and pipes --------*- tablegen -*-===//
#ifndef TILE_BASE
#define TILE_BASE

include "mlir/IR/OpBase.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/BuiltinAttributes.td"
include "kiln/Dialect/Tile/TileEnums.td"
include "kiln/Dialect/Kiln/KilnBase.td"
include "kiln/Dialect/Tile/TileInterfaces.td"

def Tile_Dialect : Dialect {
  let name = "tile";
  let summary = "what cores compute, and the pipes through which they talk";
  let description = [{
    Tiles are values: two-dimensional, of static shape. All operations are pure except loads, stores, scalar
    writes and pipe operations. Elementwise operands broadcast: `[M,N]`, `[M,1]`, `[1,N]`, `[1,1]` or a scalar.
  }];
  let cppNamespace = "::kiln::tile";
  let useDefaultTypePrinterParser = 1;
  let extraClassDeclaration = "void registerTypesAndAttributes();";
  let useDefaultAttributePrinterParser = 0;
  let dependentDialects = ["::kiln::ir::KilnDialect"];
}

class Tile_Type<string name, string mnem> : TypeDef<Tile_Dialect, name> {
  let mnemonic = mnem;
}

def Tile_Tile : Tile_Type<"Tile", "tile"> {
  let summary = "a two-dimensional value of static shape";
  let description = [{
    `!tile.tile<128x64xbf16>`; once a memory is chosen, `!tile.tile<128x64xbf16, vec>`.
  }];
  let parameters = (ins "int64_t":$rows, "int64_t":$cols, "::mlir::Type":$elementType, "Space":$space);
  let builders = [TypeBuilderWithInferredContext<
      (ins "int64_t":$rows, "int64_t":$cols, "::mlir::Type":$elementType), [{
    return $_get(elementType.getContext(), rows, cols, elementType, Space::Unassigned);
  }]>];
  let extraClassDeclaration = [{
    int64_t getNumElements() const { return getRows() * getCols(); }
    int64_t getExtent(unsigned axis) const { return axis == 0 ? getRows() : getCols(); }
    TileType withShape(int64_t rows, int64_t cols) const {
      return get(getContext(), rows, cols, getElementType(), getSpace());
    }
    TileType withElement(::mlir::Type element) const {
      return get(getContext(), getRows(), getCols(), element, getSpace());
    }
  }];
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

def Tile_Pipe : Tile_Type<"Pipe", "pipe"> {
  let summary = "a bounded FIFO of tiles from one role to another";
  let description = [{
    `!tile.pipe<aiv -> aic, 64x64xf32, up_down>` names both ends, the full tile and the split. Several tiles that
    travel together: `(64x64xf32, 64x1xf32)`; none: `token`. The split is left out when it is `none`.
  }];
  let parameters = (ins StringRefParameter<>:$from, StringRefParameter<>:$to,
                        ArrayRefParameter<"::kiln::tile::TileType">:$payload, "Split":$split);
  let extraClassDeclaration = [{
    /// The axis along which lanes share a tile: 0 for rows, 1 for columns. Only with a split.
    unsigned getSplitAxis() const { return getSplit() == Split::UpDown ? 0 : 1; }
  }];
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

def Tile_TileOrScalar : AnyTypeOf<[Tile_Tile, Kiln_Scalar, AnyFloat], "a tile or a scalar">;

/// An operation with the facts that TileOpInterface asks for. `work`, `divided` and `padding` have no
/// default: an operation that does not say them cannot be built.
class Tile_Op<string mnemonic, list<Trait> traits = []>
    : Op<Tile_Dialect, mnemonic, !listconcat(traits, [Tile_TileOpInterface])> {
  string work;    // An OpClass.
  code divided;   // Why it is not divided over `lanes`, a string in C++; empty: it is.
  string padding; // Of struct Padding: its kind and what belongs to that.
  code facts = ""; // C++ for the other methods, where their defaults are wrong.
  let extraClassDeclaration = "::kiln::OpClass getWork() { return ::kiln::" # work # "; }\n"
      # "::llvm::StringRef whyNotDivided([[maybe_unused]] const LaneDivision &lanes) { return " # divided # "; }\n"
      # "Padding getPadding() { return {Padding::" # padding # "}; }\n" # facts;
}

/// An operation without tiles, or one that does nothing to them.
class Tile_Plain<string mnemonic, list<Trait> traits = []> : Tile_Op<mnemonic, traits> {
  let work = "NoWork";
  let divided = [{""}];
  let padding = "Kept";
}
/// One that computes on vectors; each element stays where it is, or moves.
class Tile_Vector<string mnemonic, list<Trait> traits = []> : Tile_Plain<mnemonic, traits> {
  let work = "VectorWork";
}

#endif // TILE_BASE
