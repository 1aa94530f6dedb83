#include "kiln/Machine/Hardware.h"
#include "kiln/Transforms/Passes.h"

#include "mlir/Transforms/Passes.h"

using namespace mlir;

namespace kiln {

bool mergesForeignGroups(const Machine &machine) {
  return llvm::any_of(machine.roles, [](const Role &role) {
    return (role.executes & MatrixWork) && (role.executes & VectorWork);
  });
}

std::vector<std::string> passesToLeaveOut() {
  return {"tile-single-trips",     "tile-fold-exponentials", "tile-peel-masks",
          "kiln-skew-pipeline",    "tile-exchange-sides",    "tile-coarse-sums",
          "tile-overlap-products", "tile-take-turns",        "tile-skip-ones",
          "tile-mark-streams",     "tile-mark-unwritten",    "tile-hand-out-blocks"};
}

bool buildPipeline(OpPassManager &pm, const PipelineOptions &options,
                   std::vector<std::string> *names) {
  bool found = options.lastPass.empty(), done = false;
  auto isLeftOut = [&](StringRef name) { return llvm::is_contained(options.without, name); };
  auto add = [&](std::unique_ptr<Pass> pass) {
    std::string name = pass->getArgument().str();
    if (names && !llvm::is_contained(*names, name))
      names->push_back(name);
    if (!done && !isLeftOut(name))
      pm.addPass(std::move(pass));
    if (name == options.lastPass)
      found = done = true;
  };
  // A pass with the options `machine` and `report`.
  auto addFor = [&](auto passOptions, auto create) {
    passOptions.machine = options.machine->name;
    passOptions.report = options.report;
    add(create(passOptions));
  };
  auto addProof = [&] {
    if (options.prove || options.lastPass == "kiln-check-pipes")
      addFor(KilnCheckPipesOptions(), [](auto given) { return createKilnCheckPipes(given); });
  };
  auto addCleanup = [&] {
    add(createCanonicalizerPass());
    add(createCSEPass());
  };

  bool overlaps =
      options.machine && options.machine->startsProducts && !isLeftOut("tile-overlap-products");
  if (options.machine) {
    add(createKilnInline({options.entry}));
    add(createKilnExactIndices()); // before anything is simplified
    addCleanup();
  }
  add(createKilnOutline());
  add(createKilnResultsToOutParams());
  add(createKilnInferDirections());
  add(createKilnSpreadRequires());
  // One role executes everything: there is nothing to split and nothing to tell each other.
  bool hasRoles = options.machine && options.machine->roles.size() > 1;
  auto addMerge = [&] {
    addFor(KilnMergeGroupsOptions(), [](auto given) { return createKilnMergeGroups(given); });
    addCleanup();
  };
  if (hasRoles && mergesForeignGroups(*options.machine))
    addMerge(); // groups of other machines' roles become kernels, to be split anew
  if (hasRoles && options.machine->spreadsTiles)
    add(createTileSingleTrips({options.report}));
  if (options.machine && options.machine->spreadsTiles) {
    add(createTileFoldExponentials());
    addCleanup();
  }
  if (options.machine) {
    TilePeelMasksOptions peeling;
    peeling.report = options.report;
    peeling.keepsLoops = overlaps;
    add(createTilePeelMasks(peeling)); // before the split: each role gets both loops
  }
  if (hasRoles && options.machine->spreadsTiles) {
    add(createTileExchangeSides());
    add(createTileCoarseSums());
  }
  if (hasRoles)
    addFor(KilnPartitionRolesOptions(), [](auto given) { return createKilnPartitionRoles(given); });
  // Threads that hold parts of a tile combine along lines by themselves.
  if (options.machine && !options.machine->spreadsTiles)
    add(createTileExpandBodies());
  add(createTilePlaceFrees());
  if (options.machine && !hasRoles && options.mergeGroups)
    addMerge();
  if (hasRoles) {
    addProof();
    addFor(KilnSkewPipelineOptions(), [](auto given) { return createKilnSkewPipeline(given); });
    addCleanup();
    addProof();
    TileChooseSpacesOptions spaces;
    spaces.asWritten = !options.prove; // a simulator runs what the machine cannot
    addFor(spaces, [](auto given) { return createTileChooseSpaces(given); });
    if (overlaps)
      addFor(TileOverlapProductsOptions(),
             [](auto given) { return createTileOverlapProducts(given); });
    if (overlaps)
      add(createTileTakeTurns());
    addFor(KilnInjectGmPipeOptions(), [](auto given) { return createKilnInjectGmPipe(given); });
    addCleanup(); // what would be merged later must be merged before it has addresses
    addProof();
    if (overlaps) { // now that pipes are proved
      TilePeelMasksOptions peeling;
      peeling.report = options.report;
      peeling.splitsPipes = true;
      add(createTilePeelMasks(peeling));
      addCleanup();
    }
    if (options.machine->spreadsTiles) {
      add(createTileSkipOnes());
      add(createTileMarkStreams());
      add(createTileMarkUnwritten());
      add(createTileHandOutBlocks());
    }
    bool hasInstructions = hardwareOf(*options.machine);
    if (hasInstructions) // what is equal is no longer merged: accumulators start one by one
      addFor(TileLegalizeOptions(), [](auto given) { return createTileLegalize(given); });
    TilePlanMemoryOptions plan;
    plan.map = options.memoryMap;
    addFor(plan, [](auto given) { return createTilePlanMemory(given); });
    if (hasInstructions) {
      addFor(TileMakeCopiesOptions(), [](auto given) { return createTileMakeCopies(given); });
      addFor(TileInsertSyncOptions(), [](auto given) { return createTileInsertSync(given); });
      if (options.prove || options.lastPass == "tile-verify-sync")
        addFor(TileVerifySyncOptions(), [](auto given) { return createTileVerifySync(given); });
    }
  }
  return found;
}

void buildPreparePipeline(OpPassManager &pm) { buildPipeline(pm, {}); }

namespace {

/// The options of --kiln-pipeline.
struct TextOptions : PassPipelineOptions<TextOptions> {
  Option<std::string> platform{
      *this, "platform", llvm::cl::desc("Machine or platform to compile for (kiln machines)")};
  Option<std::string> last{*this, "last", llvm::cl::desc("Stop after this pass")};
  Option<bool> report{*this, "report", llvm::cl::desc("Remarks of all passes")};
};

LogicalResult buildFromText(OpPassManager &pm, StringRef text,
                            function_ref<LogicalResult(const Twine &)> reportError) {
  TextOptions options;
  if (failed(options.parseFromString(text)))
    return failure();
  const Machine *machine = findMachine(options.platform.getValue());
  if (!machine)
    return reportError("there is no platform '" + options.platform + "'; kiln machines lists them");
  std::vector<std::string> names;
  if (!buildPipeline(pm, {machine, options.last, options.report}, &names))
    return reportError("there is no pass '" + options.last +
                       "'; the passes are, in order: " + llvm::join(names, ", "));
  return success();
}

} // namespace

void registerKilnPipelines() {
  PassPipelineRegistration<>("kiln-prepare", "make a program executable as it is written",
                             buildPreparePipeline);
  registerPassPipeline(
      "kiln-pipeline", "compile a program for a machine", buildFromText,
      [](function_ref<void(const detail::PassOptions &)> show) { show(TextOptions()); });
}

} // namespace kiln
