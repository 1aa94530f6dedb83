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
  return {"tile-single-trips",    "tile-fold-exponentials", "tile-defer-sums",
          "tile-peel-masks",      "kiln-skew-pipeline",     "tile-exchange-sides",
          "tile-coarse-sums",     "tile-overlap-products",  "tile-take-turns",
          "tile-skip-ones",       "tile-mark-streams",      "tile-mark-unwritten",
          "tile-hand-out-blocks", "tile-stage-stores",      "tile-delay-stores"};
}

namespace {

/// The one list of passes, stage by stage.
class PipelineBuilder {
public:
  PipelineBuilder(OpPassManager &pm, const PipelineOptions &options,
                  std::vector<std::string> *names)
      : Manager(pm), Options(options), Names(names), Target(options.machine),
        IsFound(options.lastPass.empty()) {}

  /// False if there is no pass `lastPass`.
  bool build() {
    addPreparation();
    if (Target)
      addSpecialization();
    if (hasRoles())
      addFor(KilnPartitionRolesOptions(), createKilnPartitionRoles);
    // Threads that hold parts of a tile combine along lines by themselves.
    if (Target && !Target->spreadsTiles)
      add(createTileExpandBodies());
    add(createTilePlaceFrees());
    if (Target && !hasRoles() && Options.mergeGroups)
      addMerge();
    if (hasRoles()) {
      addPipes();
      addMarks();
      addMemory();
    }
    return IsFound;
  }

private:
  bool isLeftOut(StringRef name) const { return llvm::is_contained(Options.without, name); }
  /// One role executes everything: there is nothing to split and nothing to tell each other.
  bool hasRoles() const { return Target && Target->roles.size() > 1; }
  bool overlaps() const {
    return Target && Target->startsProducts && !isLeftOut("tile-overlap-products");
  }

  void add(std::unique_ptr<Pass> pass) {
    std::string name = pass->getArgument().str();
    if (Names && !llvm::is_contained(*Names, name))
      Names->push_back(name);
    if (!IsDone && !isLeftOut(name))
      Manager.addPass(std::move(pass));
    if (name == Options.lastPass)
      IsFound = IsDone = true;
  }
  /// A pass with the options `machine` and `report`.
  template <typename PassOptions>
  void addFor(PassOptions options, std::unique_ptr<Pass> (*create)(PassOptions)) {
    options.machine = Target->name;
    options.report = Options.report;
    add(create(std::move(options)));
  }
  void addCleanup() {
    add(createCanonicalizerPass());
    add(createCSEPass());
  }
  void addProof() {
    if (Options.prove || Options.lastPass == "kiln-check-pipes")
      addFor(KilnCheckPipesOptions(), createKilnCheckPipes);
  }
  void addMerge() {
    addFor(KilnMergeGroupsOptions(), createKilnMergeGroups);
    addCleanup();
  }

  void addPreparation() {
    if (Target) {
      add(createKilnInline({Options.entry}));
      add(createKilnExactIndices()); // before anything is simplified
      addCleanup();
    }
    add(createKilnOutline());
    add(createKilnResultsToOutParams());
    add(createKilnInferDirections());
    add(createKilnSpreadRequires());
  }

  /// Versions of kernels, and of their loops, for what is known of them.
  void addSpecialization() {
    if (hasRoles() && mergesForeignGroups(*Target))
      addMerge(); // groups of other machines' roles become kernels, to be split anew
    if (hasRoles() && Target->spreadsTiles)
      add(createTileSingleTrips({Options.report}));
    if (Target->spreadsTiles) {
      add(createTileFoldExponentials());
      add(createTileDeferSums());
      addCleanup();
    }
    TilePeelMasksOptions peeling;
    peeling.report = Options.report;
    peeling.keepsLoops = overlaps();
    add(createTilePeelMasks(peeling)); // before the split: each role gets both loops
    if (hasRoles() && Target->spreadsTiles) {
      add(createTileExchangeSides());
      add(createTileCoarseSums());
    }
  }

  /// What roles send each other, in which memory, and when.
  void addPipes() {
    addProof();
    addFor(KilnSkewPipelineOptions(), createKilnSkewPipeline);
    addCleanup();
    addProof();
    TileChooseSpacesOptions spaces;
    spaces.asWritten = !Options.prove; // a simulator runs what the machine cannot
    addFor(spaces, createTileChooseSpaces);
    if (overlaps()) {
      addFor(TileOverlapProductsOptions(), createTileOverlapProducts);
      add(createTileTakeTurns());
    }
    addFor(KilnInjectGmPipeOptions(), createKilnInjectGmPipe);
    addCleanup(); // what would be merged later must be merged before it has addresses
    addProof();
    if (overlaps()) { // now that pipes are proved
      TilePeelMasksOptions peeling;
      peeling.report = Options.report;
      peeling.splitsPipes = true;
      add(createTilePeelMasks(peeling));
      addCleanup();
    }
  }

  /// What code generators may make use of.
  void addMarks() {
    if (!Target->spreadsTiles)
      return;
    add(createTileSkipOnes());
    add(createTileMarkStreams());
    add(createTileStageStores());
    add(createTileDelayStores());
    add(createTileMarkUnwritten());
    add(createTileHandOutBlocks());
  }

  /// Addresses and, where Kiln writes the instructions, these and their order.
  void addMemory() {
    bool hasInstructions = hardwareOf(*Target);
    if (hasInstructions) // what is equal is no longer merged: accumulators start one by one
      addFor(TileLegalizeOptions(), createTileLegalize);
    TilePlanMemoryOptions plan;
    plan.map = Options.memoryMap;
    addFor(plan, createTilePlanMemory);
    if (!hasInstructions)
      return;
    addFor(TileMakeCopiesOptions(), createTileMakeCopies);
    addFor(TileInsertSyncOptions(), createTileInsertSync);
    if (Options.prove || Options.lastPass == "tile-verify-sync")
      addFor(TileVerifySyncOptions(), createTileVerifySync);
  }

  OpPassManager &Manager;
  const PipelineOptions &Options;
  std::vector<std::string> *Names; ///< Null: nobody asks.
  const Machine *Target;           ///< Null: programs are only prepared.
  bool IsFound, IsDone = false;    ///< The last pass that was asked for.
};

} // namespace

bool buildPipeline(OpPassManager &pm, const PipelineOptions &options,
                   std::vector<std::string> *names) {
  return PipelineBuilder(pm, options, names).build();
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
