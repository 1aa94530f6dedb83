//===- KilnOps.td - operations of the kiln dialect ---------------*- tablegen -*-===//
#ifndef KILN_OPS
#define KILN_OPS

include "kiln/Dialect/Kiln/KilnBase.td"
include "kiln/Dialect/Kiln/KilnRanks.td"
include "kiln/Dialect/Tile/TileEnums.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/IR/RegionKindInterface.td"
include "mlir/IR/OpAsmInterface.td"
include "mlir/Interfaces/CallInterfaces.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/FunctionInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "mlir/Dialect/Arith/IR/ArithBase.td"

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

def Kiln_FuncOp : Kiln_Op<"func", [
    IsolatedFromAbove, FunctionOpInterface, SingleBlockImplicitTerminator<"ReturnOp">,
    DeclareOpInterfaceMethods<SymbolUserOpInterface>,
    DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmBlockArgumentNames"]>]> {
  let summary = "a function: orchestration, kernel, role of a kernel, or group of roles";
  let description = [{
    | kind | meaning |
    |---|---|
    | `orchestration` | control plane: allocates tensors, launches kernels, loops and branches |
    | `incore` | a kernel whose roles the compiler chooses |
    | `role(name)` | a kernel body for one role of a core group; talks through the pipes it is given |
    | `group` | the roles that run together on one core group: makes the pipes, calls one function per role |

    Parameters are tensors, scalars and, for roles, pipes. A tensor's direction (`in`, `out`, `inout`) may be
    written after its type; it is inferred when it is not, and checked when it is. The name of a parameter is
    its SSA name; a name that cannot be one is kept in the attribute `kiln.name`.

    A declared `out` of an orchestration promises that every element is written and none is read or added to before
    it is; `inout` that the caller's values count, of which the body may keep some and need read none.

    ```mlir
    kiln.func @add(%x: !kiln.tensor<?x64xf32> in, %y: !kiln.tensor<?x64xf32> inout, %s: f32) incore { ... }
    kiln.func @cube(%b: !kiln.tensor<64x64xf32>, %up: !up) role(aic) { ... }
    kiln.func @fused(%a: !kiln.tensor<64x64xf32>, %b: !kiln.tensor<64x64xf32>) group lanes(2) { ... }
    kiln.func @proj(%a: !kiln.tensor<64x64xf32>, %y: !kiln.tensor<64x64xf32>) incore lanes(2) split(up_down) slots(3) { ... }
    ```

    A group has `lanes(n)`. An `incore` function may ask for lanes, for the split by which they share its work and for
    the slots of the pipes between its roles; the compiler chooses what it does not ask for.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, TypeAttrOf<FunctionType>:$function_type,
                       Kiln_FuncKind:$kind, OptionalAttr<StrAttr>:$role, OptionalAttr<I64Attr>:$lanes,
                       OptionalAttr<Tile_Split>:$split, OptionalAttr<I64Attr>:$slots,
                       OptionalAttr<DictArrayAttr>:$arg_attrs, OptionalAttr<DictArrayAttr>:$res_attrs);
  let regions = (region SizedRegion<1>:$body);
  let skipDefaultBuilders = 1;
  let builders = [OpBuilder<(ins "::llvm::StringRef":$name, "::mlir::FunctionType":$type, "FuncKind":$kind,
                                 CArg<"::llvm::StringRef", "{}">:$role,
                                 CArg<"::llvm::ArrayRef<::std::string>", "{}">:$argNames)>];
  let extraClassDeclaration = [{
    ::llvm::ArrayRef<::mlir::Type> getArgumentTypes() { return getFunctionType().getInputs(); }
    ::llvm::ArrayRef<::mlir::Type> getResultTypes() { return getFunctionType().getResults(); }
    ::mlir::Region *getCallableRegion() { return &getBody(); }
    /// The number of lanes of a group; 1 when nothing was said.
    int64_t getNumLanes() { return getLanes().value_or(1); }
    /// The number of lanes that a role has in this group: its lanes if the role can have several, else 1.
    int64_t getLanesOf(::llvm::StringRef role);
    /// The name a parameter was given, or "" if it has none.
    ::llvm::StringRef getArgName(unsigned index);
    void setArgName(unsigned index, ::llvm::StringRef name);
    /// The declared or inferred direction of a tensor parameter.
    ::std::optional<Direction> getArgDirection(unsigned index);
    void setArgDirection(unsigned index, Direction direction);
    /// Whether whoever wrote the program stated the direction; otherwise kiln-infer-directions found it.
    bool isArgDirectionDeclared(unsigned index);
    bool isKernel() { return getKind() == FuncKind::Incore || getKind() == FuncKind::Role; }
    bool hasPipeParameter();
  }];
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
}

def Kiln_ReturnOp : Kiln_ReferenceOp<"return", [Pure, HasParent<"FuncOp">, ReturnLike, Terminator]> {
  let summary = "ends a function; may return tensors";
  let description = [{
    A returned tensor is a parameter of the function or a `kiln.alloc` of its outermost block.
  }];
  let arguments = (ins Variadic<Kiln_Tensor>:$args);
  let builders = [OpBuilder<(ins), [{ build($_builder, $_state, ::mlir::ValueRange()); }]>];
  let assemblyFormat = "custom<Typed>($args, type($args)) attr-dict";
  let hasVerifier = 1;
}

def Kiln_CallOp : Kiln_ReferenceOp<"call", [DeclareOpInterfaceMethods<SymbolUserOpInterface>,
                                   MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "calls a function: a group its roles, an orchestration another, a kernel a helper to inline";
  let arguments = (ins FlatSymbolRefAttr:$callee, Variadic<AnyType>:$args);
  let results = (outs Variadic<Kiln_Tensor>:$results);
  let assemblyFormat = [{
    $callee `(` custom<Typed>($args, type($args)) `)` attr-dict (`->` type($results)^)?
  }];
}

def Kiln_RequireOp : Kiln_Op<"require", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "what must hold of the arguments whenever the function is called or launched";
  let description = [{
    The condition is made of extents of the function's parameters, of its integer scalars and of constants, by signed
    integer arithmetic, comparisons, and, or and not; of nothing that is known only later, such as memory, the block's
    index or a loop's. It stands in the outermost block of an orchestration, a kernel (also one written in place) or a
    group, and is part of the signature: a call or launch whose arguments do not satisfy it does not begin. Code and the
    proof of pipes may rely on it.

    ```mlir
    kiln.require %isMultiple, "rows come in tiles of 64"
    ```
  }];
  let arguments = (ins I1:$condition, StrAttr:$message);
  let assemblyFormat = "$condition `,` $message attr-dict";
  let hasVerifier = 1;
  let hasCanonicalizeMethod = 1;
}

//===----------------------------------------------------------------------===//
// Tensors and views
//===----------------------------------------------------------------------===//

def Kiln_AllocOp : Kiln_ReferenceOp<"alloc", [MemoryEffects<[MemAlloc]>,
    DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmResultNames"]>]> {
  let summary = "makes a tensor in global memory that lives to the end of its block";
  let description = [{
    Its memory returns when the tasks that use it retire; the end of the block does not wait. One operand for
    each `?` of the type. Its SSA name is its name in dumps and kernels.

    ```mlir
    %t = kiln.alloc(%m) : !kiln.tensor<?x64xf32>
    ```
  }];
  let arguments = (ins Variadic<Index>:$sizes, OptionalAttr<StrAttr>:$name);
  let results = (outs Kiln_Tensor:$result);
  let assemblyFormat = "`(` ($sizes^)? `)` `` custom<ResultName>($name) attr-dict `:` qualified(type($result))";
  let hasVerifier = 1;
}

def Kiln_DimOp : Kiln_ReferenceOp<"dim", [Pure]> {
  let summary = "an extent of a tensor; neither a read nor a write";
  let arguments = (ins Kiln_Tensor:$tensor, I64Attr:$dim);
  let results = (outs Index:$result);
  let assemblyFormat = "custom<Typed>($tensor, type($tensor)) `,` $dim attr-dict";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Kiln_SliceOp : Kiln_ReferenceOp<"slice", [Pure, AttrSizedOperandSegments]> {
  let summary = "a box of a tensor, by reference";
  let description = [{
    Offsets and sizes, one per axis, in bounds; `drop [d, ...]` removes axes of size 1 from the result.

    ```mlir
    %row = kiln.slice %t[%i, 0] [1, 64] drop [0] : !kiln.tensor<64xf32>
    ```
  }];
  let arguments = (ins Kiln_Tensor:$tensor, Variadic<Index>:$offsets, Variadic<Index>:$sizes,
                       DenseI64ArrayAttr:$static_offsets, DenseI64ArrayAttr:$static_sizes,
                       DefaultValuedOptionalAttr<DenseI64ArrayAttr, "{}">:$dropped);
  let results = (outs Kiln_Tensor:$result);
  let assemblyFormat = [{
    custom<Typed>($tensor, type($tensor)) `` custom<DynamicIndexList>($offsets, $static_offsets)
    custom<DynamicIndexList>($sizes, $static_sizes) (`drop` $dropped^)? attr-dict `:` qualified(type($result))
  }];
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Kiln_TransposeOp : Kiln_ReferenceOp<"transpose", [Pure]> {
  let summary = "permutes the axes of a tensor, by reference";
  let arguments = (ins Kiln_Tensor:$tensor, DenseI64ArrayAttr:$permutation);
  let results = (outs Kiln_Tensor:$result);
  let assemblyFormat = [{
    custom<Typed>($tensor, type($tensor)) `,` $permutation attr-dict `:` qualified(type($result))
  }];
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Kiln_ReshapeOp : Kiln_ReferenceOp<"reshape", [Pure]> {
  let summary = "gives a contiguous tensor another shape, by reference";
  let arguments = (ins Kiln_Tensor:$tensor, Variadic<Index>:$sizes, DenseI64ArrayAttr:$static_sizes);
  let results = (outs Kiln_Tensor:$result);
  let assemblyFormat = [{
    custom<Typed>($tensor, type($tensor)) `` custom<DynamicIndexList>($sizes, $static_sizes) attr-dict
    `:` qualified(type($result))
  }];
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Kiln_ReadOp : Kiln_TensorOp<"read", [MemoryEffects<[MemRead]>]> {
  let summary = "reads one element of a tensor in a kernel";
  let accesses = "::kiln::tile::accessAt(*this, getTensor(), true, false, getStaticIndices(), getIndices())";
  let arguments = (ins Kiln_Tensor:$tensor, Variadic<Index>:$indices, DenseI64ArrayAttr:$static_indices);
  let results = (outs Kiln_Scalar:$result);
  let assemblyFormat = [{
    custom<Typed>($tensor, type($tensor)) `` custom<DynamicIndexList>($indices, $static_indices) attr-dict
    `:` qualified(type($result))
  }];
  let hasVerifier = 1;
}

def Kiln_WriteOp : Kiln_TensorOp<"write", [MemoryEffects<[MemWrite]>]> {
  let summary = "writes one element of a tensor in a kernel";
  let accesses = "::kiln::tile::accessAt(*this, getTensor(), false, true, getStaticIndices(), getIndices())";
  let arguments = (ins Kiln_Scalar:$value, Kiln_Tensor:$tensor, Variadic<Index>:$indices,
                       DenseI64ArrayAttr:$static_indices);
  let assemblyFormat = [{
    custom<Typed>($value, type($value)) `,` custom<Typed>($tensor, type($tensor)) ``
    custom<DynamicIndexList>($indices, $static_indices) attr-dict
  }];
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Launching
//===----------------------------------------------------------------------===//

def Kiln_SubmitOp : Kiln_ReferenceOp<"submit", [AttrSizedOperandSegments,
    DeclareOpInterfaceMethods<SymbolUserOpInterface>, MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "launches a kernel or group as a task over a grid of blocks";
  let description = [{
    Order between tasks comes from overlapping tensor regions (RAW, WAR, WAW) plus explicit `deps`. Up to three
    grid dimensions; any 0 means nothing runs. `sync_start` starts all blocks at once. `predicate` skips the
    task at run time. Without a callee it is a dummy task that only carries dependencies.

    ```mlir
    %t = kiln.submit @k(%a, %b, %s) grid(%m, 4) deps(%t0)
    %u = kiln.submit @k(%a, %b, %s) predicate(%flag[0] > 0)
    %d = kiln.submit deps(%t, %u)
    ```
  }];
  let arguments = (ins OptionalAttr<FlatSymbolRefAttr>:$callee, Variadic<AnyType>:$args,
                       Variadic<Index>:$grid, DefaultValuedOptionalAttr<DenseI64ArrayAttr, "{}">:$static_grid, Variadic<Kiln_Task>:$deps,
                       UnitAttr:$sync_start, Optional<Kiln_Tensor>:$predicate,
                       Variadic<Index>:$predicate_indices, OptionalAttr<DenseI64ArrayAttr>:$static_predicate_indices,
                       OptionalAttr<Arith_CmpIPredicateAttr>:$predicate_cmp,
                       OptionalAttr<I64Attr>:$predicate_constant);
  let results = (outs Kiln_Task:$task);
  let assemblyFormat = [{
    ($callee^ `(` custom<Typed>($args, type($args)) `)`)?
    (`grid` `` custom<Parens>($grid, $static_grid)^)? (`sync_start` $sync_start^)? (`deps` `(` $deps^ `)`)?
    (`predicate` `(` custom<Predicate>($predicate, type($predicate), $predicate_indices,
        $static_predicate_indices, $predicate_cmp, $predicate_constant)^ `)`)?
    attr-dict
  }];
  let hasVerifier = 1;
}

def Kiln_IncoreOp : Kiln_ReferenceOp<"incore", [AttrSizedOperandSegments, SingleBlock, NoTerminator, NoRegionArguments,
    RecursiveMemoryEffects]> {
  let summary = "a kernel written in place; `kiln-outline` makes it a function and a submit";
  let description = [{
    ```mlir
    %t = kiln.incore "proj" grid(%m, %n) lanes(2) split(up_down) slots(3) { ... }
    ```
    Lanes, split and slots are those of the function it becomes.
  }];
  let arguments = (ins StrAttr:$name, Variadic<Index>:$grid, DefaultValuedOptionalAttr<DenseI64ArrayAttr, "{}">:$static_grid,
                       Variadic<Kiln_Task>:$deps, UnitAttr:$sync_start, Optional<Kiln_Tensor>:$predicate,
                       Variadic<Index>:$predicate_indices, OptionalAttr<DenseI64ArrayAttr>:$static_predicate_indices,
                       OptionalAttr<Arith_CmpIPredicateAttr>:$predicate_cmp,
                       OptionalAttr<I64Attr>:$predicate_constant, OptionalAttr<I64Attr>:$lanes,
                       OptionalAttr<Tile_Split>:$split, OptionalAttr<I64Attr>:$slots);
  let results = (outs Kiln_Task:$task);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    $name (`grid` `` custom<Parens>($grid, $static_grid)^)? (`sync_start` $sync_start^)? (`deps` `(` $deps^ `)`)?
    (`predicate` `(` custom<Predicate>($predicate, type($predicate), $predicate_indices,
        $static_predicate_indices, $predicate_cmp, $predicate_constant)^ `)`)?
    (`lanes` `(` $lanes^ `)`)? (`split` `(` $split^ `)`)? (`slots` `(` $slots^ `)`)? attr-dict-with-keyword $body
  }];
  let hasVerifier = 1;
}

def Kiln_ScopeOp : Kiln_Op<"scope", [SingleBlock, NoTerminator, NoRegionArguments, RecursiveMemoryEffects]> {
  let summary = "a block of an orchestration; ends the life of what it allocated";
  let description = [{
    In `kiln.scope manual` no order is inferred among its own tasks; what they read and write is still recorded
    for the rest.
  }];
  let arguments = (ins UnitAttr:$manual);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "(`manual` $manual^)? attr-dict-with-keyword $body";
}

def Kiln_GetOp : Kiln_TensorOp<"get", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "reads one element in an orchestration; waits for the tasks that produce it";
  let accesses = "::kiln::tile::accessAt(*this, getTensor(), true, false, getStaticIndices(), getIndices())";
  let arguments = (ins Kiln_Tensor:$tensor, Variadic<Index>:$indices, DenseI64ArrayAttr:$static_indices);
  let results = (outs Kiln_Scalar:$result);
  let assemblyFormat = [{
    custom<Typed>($tensor, type($tensor)) `` custom<DynamicIndexList>($indices, $static_indices) attr-dict
    `:` qualified(type($result))
  }];
  let hasVerifier = 1;
}

def Kiln_DumpOp : Kiln_ReferenceOp<"dump", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "marks a tensor for the argument dump";
  let description = [{
    In an orchestration: every task launched after it with a view of this tensor has it dumped. In a kernel: every task
    of the kernel has this parameter dumped. Neither a read nor a write; without a dump it does nothing.
  }];
  let arguments = (ins Kiln_Tensor:$tensor);
  let assemblyFormat = "custom<Typed>($tensor, type($tensor)) attr-dict";
  let hasVerifier = 1;
}

#endif // KILN_OPS
