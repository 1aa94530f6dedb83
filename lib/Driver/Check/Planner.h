//===- Planner.h - how a plan is made -------------------------------------------------------===//
//
// Reads the arguments that were given, learns from the program which extents and numbers matter,
// and changes the first case by them. CheckPlan.cpp makes the cases, PlanUses.cpp learns what the
// program does with its arguments and which extents belong together, PlanChoices.cpp finds
// arguments that the program allows.
//
// Ownership: borrows the program. One thread at a time.
//
//===----------------------------------------------------------------------------===//
#ifndef KILN_LIB_DRIVER_CHECK_PLANNER_H
#define KILN_LIB_DRIVER_CHECK_PLANNER_H

#include "CheckPlan.h"

#include "kiln/Program/Signature.h"

namespace kiln {

/// What a scalar is if nobody says.
inline constexpr int64_t kBaseScalar = 2;
/// And a float: multiplying by it, dividing by it and leaving it out are different things.
inline constexpr const char *kBaseFloat = "1.375";
/// What the extent of an axis is that only counts things, such as heads.
inline constexpr int64_t kLeadingExtent = 2, kManyLeading = 8;
/// Greater tiles are not followed by greater tensors: a simulation takes long enough.
inline constexpr int64_t kMostTileExtent = 128;
/// Greater extents are not made up, nor tensors with more elements.
inline constexpr int64_t kMostExtent = int64_t(1) << 20, kMostElements = int64_t(1) << 22;
/// Up to here every number is tried where requirements are hard to satisfy.
inline constexpr int64_t kMostScanned = 4096;

/// A tensor parameter of the entry, and how its argument is said.
struct TensorSlot {
  std::string name;
  std::vector<int64_t> extents; ///< Those the program leaves open have the first case's value.
  std::string fill;             ///< ":uniform", or empty.
  std::string file;             ///< The whole spec, if the data come from a file.

  std::string spec() const {
    if (!file.empty())
      return file;
    std::string text;
    for (int64_t extent : extents)
      text += (text.empty() ? "" : "x") + std::to_string(extent);
    return text + fill;
  }
};

/// An axis of an argument: which parameter of the entry, and which of its axes.
using Axis = std::pair<unsigned, unsigned>;
/// Axes whose extents vary together.
using ExtentClass = std::vector<Axis>;

/// What the accesses to an axis say of its extent. Where all of them are at constant places, the
/// program works on that part alone.
struct AxisUse {
  bool isFixed = true; ///< Every access is at a constant place.
  int64_t last = 0;    ///< The last of those places.
  int64_t covered = 0; ///< Where the last tile ends.
};

/// The arguments of a case, for what the program requires of them.
class CaseValues final : public ArgumentValues {
public:
  CaseValues(llvm::ArrayRef<TensorSlot> tensors, llvm::ArrayRef<int64_t> scalars)
      : Tensors(tensors), Scalars(scalars) {}
  int64_t extent(size_t tensor, size_t axis) const override {
    return Tensors[tensor].extents[axis];
  }
  int64_t scalar(size_t index) const override { return Scalars[index]; }

private:
  llvm::ArrayRef<TensorSlot> Tensors;
  llvm::ArrayRef<int64_t> Scalars;
};

class Planner final : public PlanArguments {
public:
  Planner(const Source &source, ir::FuncOp entry, const RunSettings &options)
      : Program(source), Entry(entry), Options(options) {}

  Expected<CheckPlan> make();

  std::optional<int64_t> value(Leaf leaf, const Choice &choice) const override;
  bool isAllowed(const Choice &choice) const override;
  NumberRange range(Leaf leaf) const override;
  CheckCase caseWith(const Choice &choice) const override;
  std::vector<Choice> raggedChoices() const override;
  std::string name(Leaf leaf) const override;
  std::string flags(const std::set<Leaf> &leaves) const override;

private:
  /// The arguments of a case.
  struct Arguments {
    std::vector<TensorSlot> tensors;
    std::map<std::string, std::string> scalars;
  };
  /// What was chosen in a case, and has to stay.
  struct Chosen {
    std::set<Axis> axes; ///< By tensor.
    std::set<std::string> scalars;
    bool movesBounds = false; ///< Whether what is to be at least or at most something follows, too.
    int64_t room = 0;         ///< What extents are more than they must be at least.
  };
  /// Makes equal what the program requires to be equal to something else that has changed, such as
  /// `y.dim(0) == x.dim(0) - 2`.
  void settle(Arguments &args, Chosen chosen) const;
  bool settle(const Requirement &requirement, Arguments &args, Chosen &chosen) const;
  /// Whether a parameter varies together with one of the leaves, or some requirement is about both.
  bool isTied(unsigned parameter, const std::set<Leaf> &leaves) const;
  /// The first case with a choice; none if that cannot be chosen. What is equal by chance need not
  /// vary together where the program does not allow that.
  std::optional<Arguments> with(const Choice &choice) const;
  std::optional<Arguments> with(const Choice &choice, llvm::ArrayRef<ExtentClass> classes) const;
  /// The same, of which the last is kept: it is asked for again and again.
  const std::optional<Arguments> &cached(const Choice &choice) const;
  /// Which of the tensors a parameter is.
  std::optional<unsigned> tensorOf(unsigned parameter) const;
  std::vector<int64_t> numbersIn(const std::map<std::string, std::string> &scalars) const;
  uint64_t countSatisfied() const;
  bool improveAllowed(llvm::ArrayRef<ExtentClass> classes);
  Status readGiven();
  Status addTensor(const std::string &name, ir::TensorType type, const std::string &spec);
  Status addScalar(const std::string &name, mlir::Type type, const std::string &spec);
  void collectConstants();
  /// Learns how the entry's tensors are accessed, in kernels too.
  void collectUses(ir::FuncOp func, llvm::ArrayRef<std::optional<unsigned>> parameters);
  void noteAccess(const tile::TensorAccess &access,
                  llvm::ArrayRef<std::optional<unsigned>> parameters);
  void noteTie(mlir::Operation *func, Axis axis, mlir::OpFoldResult index, int64_t extent);
  /// The use of an axis, if all accesses to it are at constant places.
  const AxisUse *fixedUse(Axis axis) const;
  std::vector<ExtentClass> findClasses() const;
  std::vector<ExtentClass> classesByExtent() const;
  /// Extents that the program requires to be equal, each class by itself.
  std::vector<ExtentClass> classesByContract() const;
  /// Classes of equal extents taken apart where blocks and iterations keep rows and columns apart.
  std::vector<ExtentClass> classesByIndex() const;
  /// Parts of the classes that may be equal only by chance, where arguments are given.
  std::vector<ExtentClass> partsByChance() const;
  bool isAllowed() const;
  bool isAllowed(llvm::ArrayRef<TensorSlot> tensors,
                 const std::map<std::string, std::string> &scalars) const;
  /// Other extents and numbers for the first case, if those that were made up are not allowed.
  bool searchAllowed();
  bool searchAllowed(llvm::ArrayRef<ExtentClass> classes, size_t next, uint64_t &tries);
  std::vector<int64_t> valuesFor(const ExtentClass &extents) const;
  std::vector<int64_t> largeValuesFor(const ExtentClass &extents) const;
  bool isCount(const ExtentClass &extents) const;
  /// The least and the greatest tile of those that are tried like the others.
  std::set<int64_t> edgeTiles() const;
  void dropUnused(const ExtentClass &extents, std::set<int64_t> &values) const;
  /// Whether some requirement is about both of two tensors.
  bool areRelated(size_t one, size_t other) const;
  CheckCase firstCase() const;
  /// The first case with other extents for some classes.
  CheckCase withExtents(llvm::ArrayRef<std::pair<const ExtentClass *, int64_t>> changes) const;
  /// A require that would keep shapes equal which are in the first case.
  std::string tieOf(llvm::ArrayRef<TensorSlot> slots) const;
  void addShapes(CheckPlan &plan) const;
  /// The first case with another extent for a part of a class; none if nothing else is allowed.
  std::optional<CheckCase> withPart(const ExtentClass &part) const;
  void addBroadcasts(llvm::function_ref<void(CheckCase)> add) const;
  void addScalars(CheckPlan &plan) const;
  void addNumbers(CheckPlan &plan) const;
  void addData(CheckPlan &plan) const;
  struct Fill;
  void addFill(CheckPlan &plan, const Fill &fill,
               llvm::function_ref<bool(mlir::Type)> isOfType) const;
  bool hasFormula() const {
    return Program.example && !Program.example->formula.empty() && !Options.noFormula;
  }
  bool dependsOnShape() const;
  Gap unsatisfied() const;
  /// What an extent is if nobody says: what is accessed of it, or that of the greatest tile, which
  /// all tiles that divide it cover without an edge.
  int64_t baseExtent(Axis axis) const {
    const AxisUse *use = fixedUse(axis);
    return use ? use->covered : isLeading(axis) ? kLeadingExtent : baseExtent();
  }
  bool isDeclaredOut(unsigned parameter) const {
    bool isUndeclared = parameter < Undeclared.size() && Undeclared[parameter];
    return !isUndeclared && ir::FuncOp(Entry).getArgDirection(parameter) == ir::Direction::Out;
  }
  /// Whether tiles do not extend along the axis of a parameter: they cover the last two.
  bool isLeading(Axis axis) const {
    auto type = llvm::cast<ir::TensorType>(ir::FuncOp(Entry).getArgumentTypes()[axis.first]);
    return axis.second + 2 < type.getShape().size();
  }
  int64_t baseExtent() const {
    auto tile = TileExtents.upper_bound(kMostTileExtent);
    return tile == TileExtents.begin() ? 16 : *std::prev(tile);
  }

  const Source &Program;
  ir::FuncOp Entry;
  const RunSettings &Options;
  bool Invents = false; ///< Nothing was given: everything is made up.
  std::vector<TensorSlot> Tensors;
  std::vector<Axis> Open;            ///< Extents that the program leaves open; by tensor.
  std::vector<unsigned> Numbers;     ///< Of the parameters that are tensors.
  std::vector<ExtentClass> Classes;  ///< Extents that vary together, when the first case is made.
  std::vector<ExtentClass> Required; ///< Those that the program requires to be equal.
  std::map<Axis, AxisUse> Uses;      ///< By parameter.
  /// Axes that are accessed at the same block or iteration, or with tiles of one extent at constant
  /// places; by function, and by what they have in common.
  std::map<std::tuple<void *, const void *, int64_t>, std::vector<Axis>> Ties;
  std::map<std::string, std::string> Scalars;
  std::vector<std::string> Names;           ///< Of all parameters.
  std::vector<std::string> ScalarNames;     ///< In order.
  Signature Contract;                       ///< Of the entry: what it requires.
  std::vector<std::string> InventedScalars; ///< Integers among them.
  std::set<std::string> SignedScalars;      ///< Those of them that may well be negative.
  std::vector<std::string> InventedFlags;   ///< Truth values.
  std::vector<std::string> Floats;
  std::map<std::string, int64_t> GivenNumbers; ///< Integers.
  llvm::BitVector Undeclared; ///< Parameters whose direction the program leaves open.
  bool HasInventedData = false;
  std::vector<std::string> InventedIntegers; ///< Tensors of them, filled with what nobody chose.
  std::set<int64_t> TileExtents;             ///< Of loads and stores.
  std::set<int64_t> BeyondCounting;    ///< What small types that integers are cast to cannot count.
  std::set<int64_t> ComparedConstants; ///< And numbers of slots.
  mutable std::optional<Choice> LastChoice;
  mutable std::optional<Arguments> LastArguments;
};

} // namespace kiln

#endif // KILN_LIB_DRIVER_CHECK_PLANNER_H
