//===- KilnBase.td - dialect, types and attributes ---------------*- tablegen -*-===//
#ifndef KILN_BASE
#define KILN_BASE

include "kiln/Dialect/Tile/TileInterfaces.td"
include "mlir/IR/OpBase.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/BuiltinAttributes.td"
include "kiln/Dialect/Kiln/KilnEnums.td"

def Kiln_Dialect : Dialect {
  let name = "kiln";
  let summary = "program structure: functions, tensors, launches, scopes";
  let description = [{
    The `kiln` dialect says what a program is made of: functions of four kinds, tensors in global memory and
    views of them, and the control plane that launches kernels as tasks. What cores compute is the `tile`
    dialect.
  }];
  let cppNamespace = "::kiln::ir";
  let useDefaultTypePrinterParser = 1;
  let extraClassDeclaration = "void registerTypesAndAttributes();";
  let useDefaultAttributePrinterParser = 1;
  let hasRegionArgAttrVerify = 1;
  let hasOperationAttrVerify = 1;
  let hasConstantMaterializer = 1;
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect"];
}

class Kiln_Type<string name, string mnem> : TypeDef<Kiln_Dialect, name> {
  let mnemonic = mnem;
}

def Kiln_Tensor : Kiln_Type<"Tensor", "tensor"> {
  let summary = "a strided view of data in global memory";
  let description = [{
    `!kiln.tensor<?x64xbf16>`: rank 1 to 5, each extent static or `?`. Strides are run-time values unless they
    were specialised: `!kiln.tensor<?x64xbf16, strides [64, 1]>` (`?` for a stride that stayed dynamic).
    Tensors are passed by reference and are never loop-carried, yielded or selected, so the root of any view is
    found by walking up.
  }];
  let parameters = (ins ArrayRefParameter<"int64_t">:$shape, "::mlir::Type":$elementType,
                        OptionalArrayRefParameter<"int64_t">:$strides);
  let builders = [TypeBuilderWithInferredContext<
      (ins "::llvm::ArrayRef<int64_t>":$shape, "::mlir::Type":$elementType), [{
    return $_get(elementType.getContext(), shape, elementType, ::llvm::ArrayRef<int64_t>());
  }]>];
  let extraClassDeclaration = [{
    int64_t getRank() const { return getShape().size(); }
    bool isDynamicDim(int64_t dim) const { return ::mlir::ShapedType::isDynamic(getShape()[dim]); }
    bool hasStaticShape() const { return !::mlir::ShapedType::isDynamicShape(getShape()); }
    /// Whether a tensor of this type may be passed where `to` is expected: static facts may be forgotten,
    /// never invented.
    bool canPassAs(TensorType to) const;
  }];
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

def Kiln_Task : Kiln_Type<"Task", "task"> {
  let summary = "a launched task, for explicit dependencies";
  let builderCall = "$_builder.getType<::kiln::ir::TaskType>()";
}

def Kiln_Scalar : AnyTypeOf<[Index, I1, I8, I16, I32, I64, F16, BF16, F32], "a scalar">;

def Kiln_DirectionAttr : EnumAttr<Kiln_Dialect, Kiln_Direction, "dir"> {
  let assemblyFormat = "`<` $value `>`";
}

def Kiln_LoopAttr : AttrDef<Kiln_Dialect, "Loop"> {
  let mnemonic = "loop";
  let summary = "the kind of an scf.for: parallel, unroll, or pipeline with stages";
  let description = [{
    Carried by `scf.for` as the attribute `kiln.loop`. Without it a loop is sequential. `parallel` promises
    independent iterations (the checker verifies it), `unroll` asks for unrolling, `pipeline` with `stages = n`
    allows n iterations in flight.
  }];
  let parameters = (ins EnumParameter<Kiln_LoopKind>:$kind, DefaultValuedParameter<"int64_t", "0">:$stages);
  let assemblyFormat = "`<` $kind (`,` `stages` `=` $stages^)? `>`";
  let genVerifyDecl = 1;
}

class Kiln_Op<string mnemonic, list<Trait> traits = []> : Op<Kiln_Dialect, mnemonic, traits>;

/// An operation with tensors; `accesses` lists the reads and writes that it makes itself.
class Kiln_TensorOp<string mnemonic, list<Trait> traits = []>
    : Kiln_Op<mnemonic, !listconcat(traits, [Tile_TensorAccessInterface])> {
  string accesses;
  let extraClassDeclaration = Tile_Accesses<accesses>.method;
}
/// One that refers to tensors, or hands them on, and touches none of their elements itself.
class Kiln_ReferenceOp<string mnemonic, list<Trait> traits = []> : Kiln_TensorOp<mnemonic, traits> {
  let accesses = "";
}

#endif // KILN_BASE
