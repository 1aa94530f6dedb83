//===- Passes.td - the passes, in the order they run -----------------*- tablegen -*-===//
#ifndef KILN_PASSES
#define KILN_PASSES

include "mlir/Pass/PassBase.td"

def KilnInline : Pass<"kiln-inline", "::mlir::ModuleOp"> {
  let summary = "replace calls of helpers in kernels by their bodies";
  let description = [{
    A kernel may call another as a helper; roles, pipes and memory are planned for one body. A helper that nobody
    launches or calls any more is removed, unless it is the entry.
  }];
  let options = [
    Option<"entry", "entry", "std::string", "", "The function that a run starts with, which stays">,
  ];
}

def KilnExactIndices : Pass<"kiln-exact-indices", "::mlir::ModuleOp"> {
  let summary = "write index arithmetic so that MLIR's simplifications keep its meaning";
  let description = [{
    MLIR's canonicalizer takes an index that is cast to a narrow integer and back for the index itself, and wraps the
    constants that it computes. The casts are written in two steps, through i64; constants that come to more than 64 bits,
    by themselves or together in a sum or product, are an error. Everything else that leaves 64 bits is a fault where the
    program runs.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

def KilnSpecialize : Pass<"kiln-specialize", "::mlir::ModuleOp"> {
  let summary = "refine the tensor types of the entry by the facts of a JIT key, and by nothing else";
  let description = [{
    The only way from a call's tensors into the compiler. One text of facts for each tensor of the entry, in order, as it
    stands in the key: `f32 rank 2 leading 1 offsets32 static 0:128:64 divisible 8`. Static extents and
    strides, and the stride 1 of the leading dimension, go into the types; `kiln.offsets32` and
    `kiln.divisible` become attributes of the parameter, which `kiln-outline` hands on. Facts that contradict the
    program are an error, as are facts of a kind that the platform does not declare; what it declares is noted as
    `kiln.reads` of the module, and `readFact` refuses to read anything else. Whatever launches or calls the entry is removed: it is not part of what is compiled.
  }];
  let options = [
    Option<"entry", "entry", "std::string", "", "The function to specialise; the program's entry if none is given">,
    Option<"facts", "facts", "std::string", "", "The facts of each tensor parameter, in order, separated by semicolons">,
    Option<"reads", "reads", "std::string", "\"leading offsets32 static divisible\"",
           "The kinds of facts that the platform declares, separated by spaces">
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
    is in. A wrapper's directions are those of everything it runs. What was inferred to be inout is marked
    `kiln.inferred`: nobody says that the caller's values are meant.

    A declared direction stays, and is an error where it falls short of what the body does: a store into `in`,
    nothing that stores into `out` or `inout`, a read of an `out` in anything but an orchestration, which may have
    written it before. `inout` of what is only written is right: the caller keeps the rest.
  }];
}

def KilnSpreadRequires : Pass<"kiln-spread-requires", "::mlir::ModuleOp"> {
  let summary = "let requirements be known to all whom they concern";
  let description = [{
    A requirement of a kernel, group or orchestration that its caller launches or calls in any case becomes one of the
    caller, if it is about what the caller is given: so it is checked before anything runs. Then a requirement of a
    caller becomes one of what it launches or calls, if every launch passes on what it is about: so code and proofs of
    the kernel can rely on it. Requirements move before everything that does something.
  }];
}

def TileSingleTrips : Pass<"tile-single-trips", "::mlir::ModuleOp"> {
  let summary = "give kernels that look at a row several times a version for rows of one tile";
  let description = [{
    A kernel whose loops run over the same indices, and load the same tiles, walks along a row once for each look. Where
    a row is no longer than a tile, each of these loops has one iteration. From the first of them on the kernel becomes
    two: a version for that case, in which the bodies stand one after another, and the kernel as it was. In the first
    a tile that is loaded again, and was not written in between, is the one that was loaded before (`cse`): the row
    stays in registers. Which of the two runs is decided at run time, by the bounds of the loops; the kernel as it was is
    always right, so a backend may ask for more before the other (`kiln.one_tile`).

    Only kernels in which nobody copies: loops that are marked `pipeline`, and kernels with products, stay as they are.
    Run it before masks are peeled.
  }];
  let options = [Option<"report", "report", "bool", "false", "Say which kernels have such a version, as remarks">];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect"];
}

def TileFoldExponentials : Pass<"tile-fold-exponentials", "::mlir::ModuleOp"> {
  let summary = "make powers of e of a difference powers of two of a fused multiply-add";
  let description = [{
    For machines whose threads have an instruction for powers of two. e to a difference becomes a power of two. Of
    a * c - b, where b is the same along an axis, the exponent is a * c' - b', both multiplied by the logarithm: b' is
    computed once for all that share it. That is done where c' is a constant of at most 1, so that nothing becomes
    infinite that was not; elsewhere the difference is multiplied. The result differs in the last bits. What is left
    without a use is removed afterwards.
  }];
  let dependentDialects = ["::kiln::tile::TileDialect"];
}

def TileDeferSums : Pass<"tile-defer-sums", "::mlir::ModuleOp"> {
  let summary = "put sums of rows that a loop adds up together after the loop";
  let description = [{
    For machines whose tiles are spread over threads. A loop that carries `sum + s`, or `sum * f + s`, where s sums the
    columns of a tile in f32 and the first sum is 0, needs no more of s in each iteration than what a thread has of a row:
    `kiln.part_of_sum`. Behind the loop the threads of a row tell each other what they have, once: a sum of one column with
    `kiln.sum_of_parts`. That saves the exchange of each iteration, and with it a place where every thread has to have
    computed its part. Sums are made in another order, so the last bits differ.
  }];
  let dependentDialects = ["::kiln::tile::TileDialect"];
}

def TilePeelMasks : Pass<"tile-peel-masks", "::mlir::ModuleOp"> {
  let summary = "split loops so that masks cost nothing before the edge";
  let description = [{
    A loop with `tile.mask`, `tile.mask_diag`, or loads and stores with `valid` extents becomes two: the iterations in
    which none of them cuts off anything, without them, and the rest as it was. That is known before the loop where
    what is left, or the offset of the diagonal, is something that does not change in the loop less its index, or less
    a multiple of it. Both the ragged end and the causal diagonal are of this form. Where the edge lies is computed at
    run time; either part may be empty. Masks that cut off nothing because the function requires its extents to be
    multiples of a tile disappear, in loops of all kinds.

    Loops with pipe operations stay whole: the other role would have one loop where this one has two, which nobody
    could prove to be the same. So run it before kernels are split over roles. With `keeps-loops` loops of several products
    stay whole until later: where the products of one iteration are made beside those of the next, the end of a
    loop is where the matrix unit waits. Once that is so, and pipes are proved, they are split with `splits-pipes`: what
    has been begun goes on from the first part into the second.
  }];
  let options = [
    Option<"keepsLoops", "keeps-loops", "bool", "false",
           "Leave loops of several products, which are to run into one another, for later">,
    Option<"splitsPipes", "splits-pipes", "bool", "false", "Split loops with pipe operations, too">,
    Option<"report", "report", "bool", "false", "Say which loops were split, and why not, as remarks">
  ];
}

def TileExchangeSides : Pass<"tile-exchange-sides", "::mlir::ModuleOp"> {
  let summary = "let the right side of a product with few rows be the left one of the instructions";
  let description = [{
    Matrix instructions make 64 rows. Of a product with at most 32 rows, such as that of a few tokens with a matrix of weights,
    most of them would be of no use; but its columns are as many as the weights have rows, and c^T = b^T a^T. `kiln.exchanged`
    on a product says that its columns are the rows of the instructions: threads then hold all tiles of the kernel with
    rows and columns exchanged. The weights may have any number of rows: the matrix unit also reads what lies behind the
    last of them, and what it makes of that is in no register that counts. They are loaded once (`kiln.streams`).

    A kernel is changed if all its products are of this kind, their operands are loads of 16-bit floats in pipelined loops, the right one
    transposed, and nothing else in it moves elements between threads.
  }];
  let dependentDialects = ["::kiln::tile::TileDialect"];
}

def TileCoarseSums : Pass<"tile-coarse-sums", "::mlir::ModuleOp"> {
  let summary = "mark products of 8-bit floats of which no more than 16 bits are wanted";
  let description = [{
    A matrix unit that multiplies 8-bit floats as they are keeps fewer bits of their sums than an f32 has. `kiln.coarse`
    on a product says that this is enough: its sums go through loops, branches, other products' accumulators and elementwise operations
    to nothing but casts to floats of at most 16 bits. All other such products are made of wider numbers
    (`tile-choose-spaces`), exactly.
  }];
}

def KilnPartitionRoles : Pass<"kiln-partition-roles", "::mlir::ModuleOp"> {
  let summary = "split kernels over the roles of a machine";
  let description = [{
    A kernel with work for several roles becomes a group of the same name and parameters, so its launches stay as they
    are, and one function `NAME_ROLE` for each role. Matrix products are the matrix role's, everything else that computes
    is the vector role's; loads are made by whoever uses the tile, stores by whoever makes it; scalars and control flow
    are repeated in each role that needs them. A value of one role that another uses goes through a pipe, a scalar as a
    tile of one element; values that cross alike in loops that follow one another share a pipe. Accesses of different roles to one tensor that must stay in order are ordered by tokens. A
    kernel with work for one role becomes a function of that role.

    Where a role of the machine only copies, it makes the loads of pipelined loops and sends them; tiles that are used
    together travel together.

    With `split(up_down)` or `split(left_right)` the lanes share the tiles of their role. A reduction along the
    divided axis, or another operation that cannot be divided, is an error; so is memory that one lane writes and another
    may touch. What a kernel does once (a scalar write, a store of a tile that is not divided) the first lane does. Where
    lanes execute everything and a kernel says nothing, rows are divided if that is possible.

    Hand-written groups and roles stay as they are, and so does a kernel with products and something that cannot be split:
    no role executes it, and a warning says what is in the way. Run `tile-place-frees` afterwards. See docs/partition.md.
  }];
  let options = [
    Option<"machine", "machine", "std::string", "\"ascend910b\"", "Machine or platform whose roles are meant">,
    Option<"lanes", "lanes", "int64_t", "2", "Lanes to divide tiles between, if the machine has as many">,
    Option<"report", "report", "bool", "false", "Say what was split, what crosses and why not, as remarks">
  ];
  let dependentDialects = ["::kiln::tile::TileDialect"];
}

def TileExpandBodies : Pass<"tile-expand-bodies", "::mlir::ModuleOp"> {
  let summary = "combine by bodies in a number of steps that grows with the logarithm of the extent";
  let description = [{
    `tile.reduce_with` becomes a tree: neighbouring lines are combined, all pairs at once, until one is left; then `start`
    is combined with that. `tile.scan_with` combines each line with the one before it, then with the one two before it,
    four before it and so on. Both take lines in their order, so the body need be associative but not commutative. The
    body is recorded once for each step, on as many lines as that step has. Run it after the kernels are split over
    roles, so that what cannot be divided over lanes is refused by its name.
  }];
  let dependentDialects = ["::kiln::tile::TileDialect"];
}

def TilePlaceFrees : Pass<"tile-place-frees", "::mlir::ModuleOp"> {
  let summary = "free popped slots after their last use";
  let description = [{
    In a role that writes no free of a pipe, each pop gets one, after the last use of the popped tiles in the
    pop's own block (uses in nested regions count where the region stands, and what may be a view of a tile, such as
    tile.reshape, extends its life). A free releases the oldest popped slot, so the frees of a pipe come in the order of
    its pops. A popped tile that is carried into a loop, yielded, or used in or after a region that pops from the same
    pipe cannot keep its slot: its pop becomes `tile.pop copy`, and the slot is free at once. A role that writes
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

def KilnMergeGroups : Pass<"kiln-merge-groups", "::mlir::ModuleOp"> {
  let summary = "make one function of a group whose members can take turns in a fixed order";
  let description = [{
    For machines whose one role executes everything. Where an order of all pushes and pops is found that is the same
    for all values of the parameters, the group becomes a kernel: what its members do, in that order. A popped tile is
    the value that was pushed; lanes are copies; messages that wait from one iteration to the next are carried by the
    loop. `kiln.members` keeps the names of the members, for dumps. Every other group stays as it is, and a remark
    says why. See docs/merge-groups.md.
  }];
  let options = [
    Option<"machine", "machine", "std::string", "",
           "Machine or platform whose default slots hold for pipes that do not say; two slots if none is given">,
    Option<"report", "report", "bool", "false", "Say which groups were merged, and why others were not, as remarks">
  ];
}

def KilnSkewPipeline : Pass<"kiln-skew-pipeline", "::mlir::ModuleOp"> {
  let summary = "let the pushes of a pipelined loop run ahead of its pops";
  let description = [{
    A role that pushes and pops in one loop waits for its partner in every iteration. In a loop that is marked
    `pipeline` with more than one stage, what its pushes need, and does not come from a pop, runs ahead: as many
    iterations as the slots of the pipes and the stages of the loop allow, less one. The loop becomes prologue, steady
    state and epilogue; its stages become one, so it is not skewed again.

    A group is changed only if its pipes are proved afterwards. A loop with tokens or barriers stays as it is, and so
    does one whose pushes all wait for a pop; with `report` a remark says why. See docs/partition.md.
  }];
  let options = [
    Option<"machine", "machine", "std::string", "\"ascend910b\"", "Machine or platform whose default slots hold">,
    Option<"report", "report", "bool", "false", "Say what runs ahead and why not, as remarks">
  ];
}

def TileChooseSpaces : Pass<"tile-choose-spaces", "::mlir::ModuleOp"> {
  let summary = "give every tile of a role a memory, and move tiles along the machine's paths";
  let description = [{
    Products are made in `acc`, from `left` and `right`; what the vector unit computes is in `vec`; tiles come into a
    role in `vec` if it has a vector unit that global memory leads to, else in `mat`. What a loop carries lives where
    the loop makes it. Where a tile is needed in another memory, `tile.move` follows the shortest way there. There is no
    way from `vec` to `acc` on an Ascend: an accumulator starts as `tile.full`, which the matrix role makes there, or as
    a product. A tile that cannot get where it is needed, and work a role does not do, are errors.

    Works on role functions; a kernel that was not split over roles keeps its tiles without a memory. See
    docs/memory.md.
  }];
  let options = [
    Option<"machine", "machine", "std::string", "\"ascend910b\"", "Machine or platform whose memories and paths are meant">,
    Option<"asWritten", "as-written", "bool", "false",
           "Leave roles that the machine cannot execute as they are, with a warning: simulators run them all the same">,
    Option<"report", "report", "bool", "false", "Say how many moves a function needs, as remarks">
  ];
}

def TileOverlapProducts : Pass<"tile-overlap-products", "::mlir::ModuleOp"> {
  let summary = "make the last product of an iteration while the next one computes";
  let description = [{
    For machines whose matrix unit works beside the threads that ask it. In a loop with two products of which the second
    adds to what the loop carries, the second product of an iteration is begun in the next one, right behind that one's
    first product (`tile.matmul_start`), and awaited (`tile.await`) where its result is needed: what is between the two
    products of an iteration is computed while the unit works. The first iteration up to its second product comes before
    the loop, the last second product after it. An operand in a slot of a pipe is popped and freed one iteration
    later; one in registers is carried by the loop.

    A loop is left alone where the result of its last product is used for more than the accumulator of the next one, where
    that product reads what is made in shared memory, or shares its pipe with others. Works on roles whose tiles have
    memories.
  }];
  let options = [
    Option<"machine", "machine", "std::string", "\"hopper\"", "Machine or platform whose matrix unit is meant">,
    Option<"report", "report", "bool", "false", "Say which loops have such products, and why not, as remarks">
  ];
  let dependentDialects = ["::kiln::tile::TileDialect"];
}

def TileTakeTurns : Pass<"tile-take-turns", "::mlir::ModuleOp"> {
  let summary = "let the lanes of a role alternate at the matrix unit";
  let description = [{
    Where an iteration begins several products before it awaits one, the lanes begin theirs one after the other: while
    the products of one lane are made, another computes. A lane takes its turn before the first of them and passes it on
    behind the last. All lanes run equally many iterations, so turns come round; a lane that has its turn waits for
    nobody who waits for a turn, because what it pops was pushed for all lanes, and those before it have passed that place.
    Two lanes find their order by themselves: only kernels of three take the turns that are marked.
  }];
}

def KilnInjectGmPipe : Pass<"kiln-inject-gm-pipe", "::mlir::ModuleOp"> {
  let summary = "give pipes their storage in global memory";
  let description = [{
    On a machine that keeps pipes in global memory each group gets one more parameter, `__gm_pipe`: its last tensor,
    inout, marked `kiln.internal`, with one row of bytes for each block of the launch. Each pipe notes where in a row
    its slots lie (`kiln.ring`). Right before each launch the orchestration allocates as many rows as the grid has
    blocks, so a loop of launches gets new memory each time and launches are not ordered by it. Block b uses row b,
    whether or not the kernel asks for its index. Pipes of tokens have no bytes. See docs/memory.md.
  }];
  let options = [
    Option<"machine", "machine", "std::string", "\"ascend910b\"", "Machine or platform; does nothing unless it keeps pipes in global memory">,
    Option<"shard", "shard", "bool", "true", "For tests only: false lets all blocks use one row, which is a race">,
    Option<"report", "report", "bool", "false", "Say how many bytes each pipe takes, as remarks">
  ];
}

def TileSkipOnes : Pass<"tile-skip-ones", "::mlir::ModuleOp"> {
  let summary = "mark products by a factor that is 1 almost everywhere";
  let description = [{
    A factor exp(a - select(c, b, a)) for each row is 1 wherever the select leaves a as it was, as the factors of what
    attention summed before a larger score turned up. `kiln.mostly_ones` on a product of a large tile by such factors
    says so: a warp whose factors are all 1 leaves its elements as they are. That is the same for all values, and a hint
    besides: nothing computes anything else because of it.
  }];
}

def TileStageStores : Pass<"tile-stage-stores", "::mlir::ModuleOp"> {
  let summary = "mark stores that a copy engine can make while the lane goes on";
  let description = [{
    `kiln.staged` on the store of what a matrix unit made says that its tile goes through shared memory, from where the
    copy engine writes it. That is so where a kernel has a role that copies, so that there is a next block; the tile is made of
    panels of 64 rows of 128 bytes; nobody in the kernel does anything else with the tensor; and no block waits for
    another. `tile-plan-memory` gives such a store a scratch of two panels for each lane. At run time only whole tiles of tensors that the engine can
    be told of go that way. It is a hint: nothing computes anything else because of it.
  }];
}

def TileDelayStores : Pass<"tile-delay-stores", "::mlir::ModuleOp"> {
  let summary = "mark staged stores that can wait for the next block's first product";
  let description = [{
    `kiln.delayed` on a staged store says that a lane may keep its tile, packed, and store it when it has begun the first product of
    its next block: the matrix unit works meanwhile. That is so where the tile is what one loop of products has made, the loop is
    equally long in all blocks, and the registers of a lane have room for the packed tile beside the sum. It is a hint:
    nothing computes anything else because of it.
  }];
}

def TileMarkStreams : Pass<"tile-mark-streams", "::mlir::ModuleOp"> {
  let summary = "mark loads and stores of what is not touched again";
  let description = [{
    `kiln.streams` on a load or store says that its box is this block's alone, and that the block does not touch the
    tensor afterwards: it need not stay in a cache. The box is a block's alone if where it begins depends on every index of the block that
    the kernel asks for, and on the index of every loop around. It is a hint: nothing computes anything else because of
    it. Rounds of a loop that were peeled from another one count as that one's. Where a role copies, only what it
    sends is marked: what the others touch is what it could not.
  }];
}

def TileMarkUnwritten : Pass<"tile-mark-unwritten", "::mlir::ModuleOp"> {
  let summary = "mark loads of what no kernel of the program writes";
  let description = [{
    `kiln.unwritten` on a load that a role sends through a pipe says that its tensor is an `in` argument of the program, for
    every launch and call of the function. Such loads may be made while the kernels before this one still run: weights are
    on their way before there is anything to multiply them with. Of a program's first kernel that is said of what streams
    only (`kiln.streams`): where another program comes right before it, the launch knows whether that one writes it.
  }];
}

def TileHandOutBlocks : Pass<"tile-hand-out-blocks", "::mlir::ModuleOp"> {
  let summary = "mark kernels whose blocks take unequally long";
  let description = [{
    `kiln.hands_out_blocks` on a group says that one of its roles sends unequally much in different blocks: a push in a
    loop whose bounds depend on the index of the block, as in causal attention, or on what was read at that index. Who is
    done with a block then takes the next one that nobody has, instead of every so many-th; the grid's order is kept, so
    a program that puts its longest blocks first ends evenly. Groups with a barrier are left alone: all their blocks run
    at once. It means nothing but who executes a block when. Where the module chooses (`kiln.compiler`, `walk`), all groups
    without a barrier are marked, or none.
  }];
}

def TilePairBlocks : Pass<"tile-pair-blocks", "::mlir::ModuleOp"> {
  let summary = "have neighbouring blocks share what both read";
  let description = [{
    `kiln.pairs_blocks` on a group says that two neighbouring blocks are executed side by side, and `kiln.varies_along` on
    loads of its copying role along which axes of the grid they lie elsewhere: what lies at one place for both neighbours
    comes once, for both. That is so where a matrix unit makes products of 16 bits or fewer, at least half of the bytes
    that are sent in loops are the same for neighbours along the first axis of the grid, as one operand is, and all blocks
    send the same tiles in the same order: the bounds and conditions around pushes depend on no index of the block.
    Groups whose blocks are handed out, or wait for one another, are left alone, as are those of one lane, and products
    of few rows, of which there is one row of blocks. It means nothing but who fetches what.
  }];
}

def TilePlanMemory : Pass<"tile-plan-memory", "::mlir::ModuleOp"> {
  let summary = "give every tile an address, or say what does not fit";
  let description = [{
    Tiles that are never alive at once share memory; what a loop carries, and what an operation computes in place, needs
    no second copy. Loads of a pipelined loop get a buffer for each iteration in flight, as far as there is room. The
    rings of pipes that live in the consumer's memory are planned with the rest; where the machine says so, those that do
    not state their slots get as many as there is room for. The result is the attribute `kiln.address` on each operation
    that makes tiles. It is verified by replaying the function. See docs/memory.md.

    Where a memory is too small, tiles are moved there again for each use. If that does not help, it is an error that
    names the largest tiles alive at the worst moment, the rings, and what would fit. Works on functions whose tiles have
    spaces.
  }];
  let options = [
    Option<"machine", "machine", "std::string", "\"ascend910b\"", "Machine or platform whose memories are meant">,
    Option<"map", "map", "std::string", "", "Write the memory map to this file, as JSON">,
    Option<"report", "report", "bool", "false", "Say how much of each memory a function uses, as remarks">
  ];
}

def TileLegalize : Pass<"tile-legalize", "::mlir::ModuleOp"> {
  let summary = "write what a machine has no instruction for as what it has";
  let description = [{
    On a machine whose instructions Kiln writes (kiln/Machine/Hardware.h). A load that may hang over its tensor is
    followed by a `tile.mask`, because the instruction leaves what is outside as it was; an accumulator starts as a product
    of zeros; floats of 16 bits are computed with in f32; sigmoid, tanh, erf and exp2 are written with exp; operands are
    spread to the shapes that instructions take. What cannot be written so is refused by its name. Works on role functions
    whose tiles have memories, before they have addresses. See docs/ascend.md.
  }];
  let options = [
    Option<"machine", "machine", "std::string", "\"dav-c220\"", "Machine or platform whose instructions are meant">,
    Option<"report", "report", "bool", "false", "Has no effect">
  ];
  let dependentDialects = ["::kiln::tile::TileDialect"];
}

def TileMakeCopies : Pass<"tile-make-copies", "::mlir::ModuleOp"> {
  let summary = "bring what loops carry and branches yield to its place";
  let description = [{
    Where the memory plan has what a loop starts with or yields, or what a branch yields, at another address than the
    result, a `tile.move` copies it there. The plan is verified again afterwards. Only within `vec`: a copy within another
    memory is an error, because no instruction makes it.
  }];
  let options = [
    Option<"machine", "machine", "std::string", "\"dav-c220\"", "Machine or platform whose memories are meant">,
    Option<"report", "report", "bool", "false", "Has no effect">
  ];
  let dependentDialects = ["::kiln::tile::TileDialect"];
}

def TileInsertSync : Pass<"tile-insert-sync", "::mlir::ModuleOp"> {
  let summary = "keep the units of a core in order with flags and barriers";
  let description = [{
    For every two operations of a role of which one writes memory that the other touches: a flag from the unit of the
    first to the unit of the second (`sync.set`, `sync.wait`), or a barrier where they are of one unit. From one iteration
    of a loop to the next a flag is set once before the loop and waited for once after it. What others make superfluous is
    left out. At most as many flags between two units are set at once as the machine has events; beyond, there is a barrier
    of all units. The role ends with such a barrier. Works on planned roles. See docs/ascend.md.
  }];
  let options = [
    Option<"machine", "machine", "std::string", "\"dav-c220\"", "Machine or platform whose units are meant">,
    Option<"report", "report", "bool", "false", "Say how many flags and barriers a role has, as remarks">
  ];
  let dependentDialects = ["::kiln::sync::SyncDialect"];
}

def TileVerifySync : Pass<"tile-verify-sync", "::mlir::ModuleOp"> {
  let summary = "prove that flags and barriers keep the units of a core in order";
  let description = [{
    Replays each role with a clock for each unit: loops not at all, once and twice, branches both ways. Accesses of the
    same memory of which one writes must be ordered, flags set and waited for in turn, and all must have finished when the
    role ends. Shares with `tile-insert-sync` only what an operation reads and writes. See docs/ascend.md.
  }];
  let options = [
    Option<"machine", "machine", "std::string", "\"dav-c220\"", "Machine or platform whose units are meant">,
    Option<"mutants", "mutants", "bool", "false",
           "Leave out each flag, each part of one and each barrier in turn, and fail where nobody misses it">,
    Option<"report", "report", "bool", "false", "Has no effect">
  ];
}

#endif // KILN_PASSES
