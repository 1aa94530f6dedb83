//===- TileInterfaces.td - what operations say of themselves -----*- tablegen -*-===//
//
// The facts of an operation that passes, analyses and backends ask for. Each operation declares them
// in its own definition, so that nobody keeps lists of operations. What has tiles or tensors and does
// not answer is refused by name: see requireFacts in TileInterfaces.h.
//
//===----------------------------------------------------------------------------===//
#ifndef TILE_INTERFACES
#define TILE_INTERFACES

include "mlir/IR/OpBase.td"

def Tile_TileOpInterface : OpInterface<"TileOpInterface"> {
  let cppNamespace = "::kiln::tile";
  let description = "What every operation of the tile dialect says of itself.";
  let methods = [
    InterfaceMethod<"The class of work that a role must execute to run it; NoWork: every role can.",
      "::kiln::OpClass", "getWork">,
    InterfaceMethod<[{
        Why it cannot be divided over lanes, as the rest of a sentence about it; empty if it can: then each lane
        computes its part of the results from its parts of the operands.
      }], "::llvm::StringRef", "whyNotDivided", (ins "const ::kiln::tile::LaneDivision &":$lanes)>,
    InterfaceMethod<[{
        The axis along which an operand is divided where the results are divided along `axis`; nothing if each lane
        needs all of the operand.
      }], "::std::optional<unsigned>", "getDividedAxis", (ins "::mlir::OpOperand &":$operand, "unsigned":$axis),
      "", "return axis;">,
    InterfaceMethod<[{
        Whether each lane makes the whole result and takes its part of that, because the elements come in an order
        of their own.
      }], "bool", "isMadeWhole", (ins), "", "return false;">,
    InterfaceMethod<"What becomes of padding.", "::kiln::tile::Padding", "getPadding">,
    InterfaceMethod<[{
        Whether the result may take the memory of an operand: each element of the operand is read for the last time
        when the one at the same place is written.
      }], "bool", "mayReplace", (ins "::mlir::OpOperand &":$operand), "", "return false;">,
    InterfaceMethod<"What its result is of its first operand, if it is a view of it.",
      "::kiln::tile::View", "getView", (ins), "", "return ::kiln::tile::View::None;">,
    InterfaceMethod<[{
        Whether the results take elements of an operand from other places than their own. Where the threads of a lane
        hold tiles in registers, such an operand is first brought to memory that they share.
      }], "bool", "readsElsewhere", (ins "::mlir::OpOperand &":$operand), "", "return false;">,
    InterfaceMethod<[{
        Whether it computes the places of the elements of its results. Such results are made in memory that the threads
        of a lane share, where tiles are in registers otherwise.
      }], "bool", "placesElements", (ins), "", "return false;">,
    InterfaceMethod<"Whether it goes on reading its operands until its result is used.",
      "bool", "readsUntilUsed", (ins), "", "return false;">,
  ];
}

def Tile_TensorAccessInterface : OpInterface<"TensorAccessInterface"> {
  let cppNamespace = "::kiln::tile";
  let description = "What every operation that has tensors, of either dialect, says of them.";
  let methods = [
    InterfaceMethod<[{
        The reads and writes that it makes itself, not through a function that it calls or launches.
      }], "::llvm::SmallVector<::kiln::tile::TensorAccess, 2>", "getTensorAccesses">,
  ];
}

/// The C++ of an answer of TensorAccessInterface: the list of the accesses.
class Tile_Accesses<string accesses> {
  code method = "::llvm::SmallVector<::kiln::tile::TensorAccess, 2> getTensorAccesses() { return {" # accesses # "}; }\n";
}

def Tile_ProductInterface : OpInterface<"ProductInterface"> {
  let cppNamespace = "::kiln::tile";
  let description = "A matrix product, with or without an accumulator.";
  let methods = [
    InterfaceMethod<"", "::mlir::OpOperand &", "getLhsMutable">,
    InterfaceMethod<"", "::mlir::OpOperand &", "getRhsMutable">,
    InterfaceMethod<"The accumulator; null if there is none.", "::mlir::OpOperand *", "getAccumulator">,
    InterfaceMethod<"", "bool", "getTransA">,
    InterfaceMethod<"", "bool", "getTransB">,
  ];
  let extraClassDeclaration = [{
    ::mlir::Value getLhs() { return getLhsMutable().get(); }
    ::mlir::Value getRhs() { return getRhsMutable().get(); }
    /// The axis that is summed over in the left (0) and in the right (1) operand.
    int64_t getSummedAxis(unsigned side) { return side == 0 ? (getTransA() ? 0 : 1) : (getTransB() ? 1 : 0); }
  }];
}

def Tile_CombiningInterface : OpInterface<"CombiningInterface"> {
  let cppNamespace = "::kiln::tile";
  let description = "Combines the lines of tiles along an axis, one after the other, by a body.";
  let methods = [
    InterfaceMethod<"", "::mlir::OperandRange", "getTiles">,
    InterfaceMethod<"What the body begins with: a scalar or a line for each tile.", "::mlir::OperandRange", "getStarts">,
    InterfaceMethod<"", "uint64_t", "getAxis">,
    InterfaceMethod<"", "::mlir::Region &", "getBody">,
    InterfaceMethod<"Whether the result at a place combines the lines before it only.", "bool", "isExclusive">,
    InterfaceMethod<"Whether the last line comes first.", "bool", "isReverse">,
  ];
}

#endif // TILE_INTERFACES
