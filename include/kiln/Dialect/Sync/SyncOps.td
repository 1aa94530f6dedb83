//===- SyncOps.td - flags and barriers between units -------------*- tablegen -*-===//
#ifndef SYNC_OPS
#define SYNC_OPS

include "mlir/IR/EnumAttr.td"
include "mlir/IR/OpBase.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Sync_Dialect : Dialect {
  let name = "sync";
  let summary = "how the units of a core wait for one another";
  let description = [{
    The units of a core (kiln/Machine/Hardware.h) work at the same time. A flag tells one unit that another has finished
    all that it was given before; a barrier tells it of a unit itself. `tile-insert-sync` writes them, once tiles have
    addresses.
  }];
  let cppNamespace = "::kiln::sync";
}

// By the numbers of kiln::Unit; `all` stands for every unit of the core.
def Sync_Unit : I32EnumAttr<"UnitKind", "a unit of a core", [
    I32EnumAttrCase<"S", 0, "s">,
    I32EnumAttrCase<"V", 1, "v">,
    I32EnumAttrCase<"MTE1", 2, "mte1">,
    I32EnumAttrCase<"MTE2", 3, "mte2">,
    I32EnumAttrCase<"MTE3", 4, "mte3">,
    I32EnumAttrCase<"M", 5, "m">,
    I32EnumAttrCase<"FIX", 6, "fix">,
    I32EnumAttrCase<"All", 7, "all">]> {
  let cppNamespace = "::kiln::sync";
}

class Sync_Op<string mnemonic> : Op<Sync_Dialect, mnemonic, [MemoryEffects<[MemRead, MemWrite]>]>;

class Sync_Flag<string mnemonic, string summaryText> : Sync_Op<mnemonic> {
  let summary = summaryText;
  let arguments = (ins Sync_Unit:$from, Sync_Unit:$to, I64Attr:$id);
  let assemblyFormat = "$from `->` $to `id` `(` $id `)` attr-dict";
  let hasVerifier = 1;
}

def Sync_SetOp : Sync_Flag<"set", "`from` sets a flag when it has finished what came before"> {
  let description = [{
    ```mlir
    sync.set mte2 -> v id(0)
    ```
    A flag that is set is waited for before it is set again.
  }];
}
def Sync_WaitOp : Sync_Flag<"wait", "`to` begins nothing that comes later before the flag is set; clears it">;

def Sync_BarrierOp : Sync_Op<"barrier"> {
  let summary = "a unit, or every unit, begins nothing that comes later before it has finished what came before";
  let arguments = (ins Sync_Unit:$unit);
  let assemblyFormat = "$unit attr-dict";
  let hasVerifier = 1;
}

#endif // SYNC_OPS
