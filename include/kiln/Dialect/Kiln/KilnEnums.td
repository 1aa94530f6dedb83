//===- KilnEnums.td - enumerations of the kiln dialect -----------*- tablegen -*-===//
#ifndef KILN_ENUMS
#define KILN_ENUMS

include "mlir/IR/EnumAttr.td"

def Kiln_FuncKind : I32EnumAttr<"FuncKind", "what a function is", [
    I32EnumAttrCase<"Orchestration", 0, "orchestration">,
    I32EnumAttrCase<"Incore", 1, "incore">,
    I32EnumAttrCase<"Role", 2, "role">,
    I32EnumAttrCase<"Group", 3, "group">]> {
  let cppNamespace = "::kiln::ir";
}

def Kiln_Direction : I32EnumAttr<"Direction", "what a kernel does with a tensor", [
    I32EnumAttrCase<"In", 0, "in">,
    I32EnumAttrCase<"Out", 1, "out">,
    I32EnumAttrCase<"InOut", 2, "inout">]> {
  let cppNamespace = "::kiln::ir";
  let genSpecializedAttr = 0;
}

def Kiln_LoopKind : I32EnumAttr<"LoopKind", "how the iterations of a loop may run", [
    I32EnumAttrCase<"Parallel", 1, "parallel">,
    I32EnumAttrCase<"Unroll", 2, "unroll">,
    I32EnumAttrCase<"Pipeline", 3, "pipeline">]> {
  let cppNamespace = "::kiln::ir";
  let genSpecializedAttr = 0;
}

#endif // KILN_ENUMS
