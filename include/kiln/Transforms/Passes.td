//===- Passes.td - the passes, in the order they run -----------------*- tablegen -*-===//
#ifndef KILN_PASSES
#define KILN_PASSES

include "mlir/Pass/PassBase.td"

def KilnSpecialize : Pass<"kiln-specialize", "::mlir::ModuleOp"> {
  let summary = "refine the tensor types of the entry by the facts of a JIT key, and by nothing else";
  let description = [{
    The only way from a call's tensors into the compiler. One text of facts for each tensor of the entry, in order, as it
    stands in the key: `f32 rank 2 leading 1 align16 offsets32 static 0:128:64 divisible 8`. Static extents and
    strides, and the stride 1 of the leading dimension, go into the types; `kiln.align16`, `kiln.offsets32` and
    `kiln.divisible` become attributes of the parameter, which `kiln-outline` hands on. Facts that contradict the
    program are an error.
  }];
  let options = [
    Option<"entry", "entry", "std::string", "", "The function to specialise; the program's entry if none is given">,
    Option<"facts", "facts", "std::string", "", "The facts of each tensor parameter, in order, separated by semicolons">
  ];
}

def KilnOutline : Pass<"kiln-outline", "::mlir::ModuleOp"> {
  let summary = "make kiln.incore regions kernels of their own, launched by kiln.submit";
  let description = [{
    What a region uses from outside becomes a parameter: tensors and scalars, in order of first use. Constants
    and extents of tensors that are passed anyway are recomputed inside and appear neither in the parameters nor
    in the task. A tensor parameter takes the name of the value it stands for.
  }];
}

def KilnResultsToOutParams : Pass<"kiln-results-to-out-params", "::mlir::ModuleOp"> {
  let summary = "turn returned tensors into parameters";
  let description = [{
    A result that is a parameter disappears: uses at the calls become the argument. A result that is a
    kiln.alloc of the outermost block becomes an appended parameter, in result order; the callers allocate. Its
    direction is inferred like any other: out, or inout if the body also reads it.
  }];
}

def KilnInferDirections : Pass<"kiln-infer-directions", "::mlir::ModuleOp"> {
  let summary = "find out which tensors a function reads and writes";
  let description = [{
    Two facts per tensor parameter, reads and writes, joined by OR through views, calls, launches and atomics;
    callees first. in = reads only, out = writes only, inout = both. A tensor that is neither read nor written
    is in. A declared direction that disagrees is an error. A wrapper's directions are those of everything it
    runs.
  }];
}

def TilePlaceFrees : Pass<"tile-place-frees", "::mlir::ModuleOp"> {
  let summary = "free popped slots after their last use";
  let description = [{
    In a role that writes no free of a pipe, each pop gets one, after the last use of the popped tiles in the
    pop's own block (uses in nested regions count where the region stands, and what aliases a tile, such as
    tile.reshape, extends its life). A popped tile that is carried into a loop, yielded, or alive across a region
    that pops from the same pipe is copied first: tiles are values, so the slot is simply free before that op. A
    free releases the oldest popped slot, so the frees of a pipe come in the order of its pops. A role that writes
    some frees of a pipe must write all of them.
  }];
}

def KilnCheckPipes : Pass<"kiln-check-pipes", "::mlir::ModuleOp"> {
  let summary = "prove that the pipes of every group balance and cannot deadlock";
  let description = [{
    For each group: every tile that is pushed is popped, every popped slot is freed, and nobody waits forever, for
    all values of its parameters. A group that is refuted is an error at the operation that is too many, too few
    or waits, with the other end, the counts or the cycle of waits, values that show it, and the number of slots
    that would help. A group that cannot be decided is a warning that says why; the simulator can then check it
    for one set of arguments. Frees that `tile-place-frees` would place are taken as placed; the IR does not
    change. See docs/pipe-proof.md.
  }];
  let options = [
    Option<"machine", "machine", "std::string", "",
           "Machine or platform whose default slots hold for pipes that do not say; two slots if none is given">,
    Option<"report", "report", "bool", "false", "Also say what was proved, as remarks">
  ];
}

#endif // KILN_PASSES
