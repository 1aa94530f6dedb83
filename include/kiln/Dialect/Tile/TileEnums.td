//===- TileEnums.td - enumerations of the tile dialect -----------*- tablegen -*-===//
#ifndef TILE_ENUMS
#define TILE_ENUMS

include "mlir/IR/EnumAttr.td"

class Tile_Enum<string name, string summary, list<I32EnumAttrCase> cases> : I32EnumAttr<name, summary, cases> {
  let cppNamespace = "::kiln::tile";
}

def Tile_Split : Tile_Enum<"Split", "how a tile is handed to the lanes of a role", [
    I32EnumAttrCase<"None", 0, "none">,
    I32EnumAttrCase<"UpDown", 1, "up_down">,
    I32EnumAttrCase<"LeftRight", 2, "left_right">]>;

def Tile_Space : Tile_Enum<"Space", "a core-local memory", [
    I32EnumAttrCase<"Unassigned", 0, "unassigned">,
    I32EnumAttrCase<"Vec", 1, "vec">,
    I32EnumAttrCase<"Mat", 2, "mat">,
    I32EnumAttrCase<"Left", 3, "left">,
    I32EnumAttrCase<"Right", 4, "right">,
    I32EnumAttrCase<"Acc", 5, "acc">,
    I32EnumAttrCase<"Bias", 6, "bias">]>;

def Tile_PadKind : Tile_Enum<"PadKind", "what an element outside reads as", [
    I32EnumAttrCase<"Zero", 0, "zero">,
    I32EnumAttrCase<"Min", 1, "min">,
    I32EnumAttrCase<"Max", 2, "max">]>;

def Tile_CmpKind : Tile_Enum<"CmpKind", "a comparison; false when an operand is NaN, except ne", [
    I32EnumAttrCase<"Eq", 0, "eq">,
    I32EnumAttrCase<"Ne", 1, "ne">,
    I32EnumAttrCase<"Lt", 2, "lt">,
    I32EnumAttrCase<"Le", 3, "le">,
    I32EnumAttrCase<"Gt", 4, "gt">,
    I32EnumAttrCase<"Ge", 5, "ge">]>;

def Tile_ReduceKind : Tile_Enum<"ReduceKind", "a reduction", [
    I32EnumAttrCase<"Sum", 0, "sum">,
    I32EnumAttrCase<"Max", 1, "max">,
    I32EnumAttrCase<"Min", 2, "min">,
    I32EnumAttrCase<"Prod", 3, "prod">,
    I32EnumAttrCase<"ArgMax", 4, "argmax">,
    I32EnumAttrCase<"ArgMin", 5, "argmin">]>;

def Tile_AtomicKind : Tile_Enum<"AtomicKind", "how an atomic store combines", [
    I32EnumAttrCase<"Add", 0, "add">]>;

#endif // TILE_ENUMS
