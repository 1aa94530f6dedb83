//===- KilnRanks.td - one program on many ranks ------------------*- tablegen -*-===//
//
// An orchestration may run on several ranks at once, each with arguments of its own. What ranks say to each other are
// tasks like launches: ordered by the tensors that they read and write, and by `deps`. See docs/ranks.md.
//
//===----------------------------------------------------------------------------===//
#ifndef KILN_RANKS
#define KILN_RANKS

include "kiln/Dialect/Kiln/KilnBase.td"
include "kiln/Dialect/Tile/TileEnums.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Kiln_AlongAttr : AttrDef<Kiln_Dialect, "Along"> {
  let mnemonic = "along";
  let summary = "the ranks that differ from this one along one axis of a mesh only";
  let description = [{
    `#kiln.along<tensor of data = 2, tensor = 4>`: of eight ranks, counted row-major, the four that have the same place
    along `data`. One extent may be `?`: as many as there are ranks for.
  }];
  let parameters = (ins "int64_t":$axis, ArrayRefParameter<"int64_t">:$extents,
                        ArrayRefParameter<"::mlir::StringAttr">:$names);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

/// What a rank knows of the others.
class Kiln_RankOp<string mnemonic> : Kiln_Op<mnemonic, [Pure]> {
  let arguments = (ins OptionalAttr<Kiln_AlongAttr>:$along);
  let results = (outs Index:$result);
  let assemblyFormat = "(`along` $along^)? attr-dict";
}

def Kiln_RankIdOp : Kiln_RankOp<"rank"> {
  let summary = "which rank this is, from 0; with a group, its place in that";
}

def Kiln_RankCountOp : Kiln_RankOp<"ranks"> {
  let summary = "how many ranks run the program; with a group, how many are in it";
}

/// What several ranks do together. Every rank of the group comes to the same ones in the same order, with tensors of
/// the same element type and extents. `operands` are its own, before those that all have.
class Kiln_CollectiveOp<string mnemonic, dag operands, string text, string accessList>
    : Kiln_TensorOp<mnemonic, [MemoryEffects<[MemRead, MemWrite]>]> {
  let accesses = accessList;
  let arguments = !con(operands, (ins Variadic<Kiln_Task>:$deps, OptionalAttr<Kiln_AlongAttr>:$along));
  let results = (outs Kiln_Task:$task);
  let assemblyFormat = text # " (`along` $along^)? (`deps` `(` $deps^ `)`)? attr-dict";
  let hasVerifier = 1;
}

def Kiln_AllReduceOp : Kiln_CollectiveOp<"all_reduce",
    (ins Kiln_Tensor:$target, Tile_ReduceKind:$how, UnitAttr:$fixed_order),
    "custom<Typed>($target, type($target)) `,` $how (`fixed_order` $fixed_order^)?",
    "{*this, getTarget(), true, true}"> {
  let summary = "combines the tensors of all ranks, element by element, and gives the result to each";
  let description = [{
    Floats of 16 and 8 bits are summed in f32 and rounded once. With `fixed_order` elements are combined in the order
    of the ranks, so that every run gives the same bits.

    ```mlir
    %t = kiln.all_reduce %x, sum fixed_order along <tensor of data = 2, tensor = 4>
    ```
  }];
}

def Kiln_AllGatherOp : Kiln_CollectiveOp<"all_gather", (ins Kiln_Tensor:$source, Kiln_Tensor:$target),
    "custom<Typed>($source, type($source)) `to` custom<Typed>($target, type($target))",
    "{*this, getSource(), true, false}, {*this, getTarget(), false, true}"> {
  let summary = "gives each rank the tensors of all, one after the other along the first axis";
}

def Kiln_ReduceScatterOp : Kiln_CollectiveOp<"reduce_scatter",
    (ins Kiln_Tensor:$source, Kiln_Tensor:$target, Tile_ReduceKind:$how, UnitAttr:$fixed_order),
    "custom<Typed>($source, type($source)) `to` custom<Typed>($target, type($target)) `,` $how (`fixed_order` $fixed_order^)?",
    "{*this, getSource(), true, false}, {*this, getTarget(), false, true}"> {
  let summary = "combines the tensors of all ranks and gives each its part of the result along the first axis";
}

def Kiln_BroadcastOp : Kiln_CollectiveOp<"broadcast", (ins Kiln_Tensor:$target, Index:$root),
    "custom<Typed>($target, type($target)) `from` $root", "{*this, getTarget(), true, true}"> {
  let summary = "gives each rank the tensor of one";
}

def Kiln_AllToAllOp : Kiln_CollectiveOp<"all_to_all", (ins Kiln_Tensor:$source, Kiln_Tensor:$target),
    "custom<Typed>($source, type($source)) `to` custom<Typed>($target, type($target))",
    "{*this, getSource(), true, false}, {*this, getTarget(), false, true}"> {
  let summary = "gives part i of the source to rank i, which has it as the part of its target that has this rank's number";
}

def Kiln_SendOp : Kiln_CollectiveOp<"send", (ins Kiln_Tensor:$source, Index:$peer),
    "custom<Typed>($source, type($source)) `to` $peer", "{*this, getSource(), true, false}"> {
  let summary = "gives a tensor to another rank; ends when that rank has it";
  let description = [{
    Nothing is buffered: the task ends with the `kiln.recv` that it belongs to. The first send from one rank to another
    belongs to the first recv there from it, and so on.
  }];
}

def Kiln_RecvOp : Kiln_CollectiveOp<"recv", (ins Kiln_Tensor:$target, Index:$peer),
    "custom<Typed>($target, type($target)) `from` $peer", "{*this, getTarget(), false, true}"> {
  let summary = "takes a tensor from another rank";
}

def Kiln_RankBarrierOp : Kiln_CollectiveOp<"rank_barrier", (ins), "", ""> {
  let summary = "waits until every rank has come here, with all that it launched before";
}

#endif // KILN_RANKS
