//===- KernelEmitter.h - a kernel or group as CUDA -----------------------------------------===//
#ifndef KILN_LIB_TARGET_CUDA_KERNELEMITTER_H
#define KILN_LIB_TARGET_CUDA_KERNELEMITTER_H

#include "CudaFunction.h"
#include "KernelPart.h"

#include "kiln/Program/Signature.h"
#include "kiln/Target/Cuda/Cuda.h"

namespace kiln::cuda {

inline constexpr int64_t kWarpgroup = 128;

/// Shared memory for the barriers of pipes: half of what the machine model leaves. The other half
/// is for what warps tell each other: those of a row, and the copying one which block comes next.
inline constexpr int64_t kBarrierBytes = 512, kHandoutBytes = 48;

/// A role of it, and what its text needs.
struct RoleCall {
  ir::FuncOp func;
  ir::CallOp call; ///< Null: the kernel itself.
  std::string name;
  bool copies;
  int64_t lanes;
  int64_t first = 0;       ///< Of its warpgroups.
  int64_t laneBytes = 0;   ///< Of tiles in shared memory outside rings, for each lane.
  int64_t memory = 0;      ///< Where these begin, if that is not planned (guests).
  bool runsAhead = false;  ///< It begins before the kernels that come first have ended.
  bool usesMemory = false; ///< Whether there are any.
  bool delaysStores = false;
};

/// A pipe of it, and how its text is called.
struct PipeText {
  tile::PipeOp op;
  std::string name, type, spelled;
  int64_t bytes; ///< Of its ring.
  bool isPaired; ///< Its slots are in two blocks.
};

/// One kernel or group. What it is made of is found first (KernelPlan.cpp), then its roles are
/// written (EmitCuda.cpp), then the functions that run these over the blocks (KernelFunctions.cpp).
class KernelEmitter {
public:
  /// `name` is that of the kernel in symbols and files.
  KernelEmitter(ir::FuncOp func, std::string name, const Machine &target, bool computesLater,
                bool isPart)
      : Func(func), Name(std::move(name)), Target(target), IsPart(isPart) {
    Kernel.computesLater = computesLater;
  }

  Expected<CudaUnit> emit();
  Expected<KernelPart> emitPart();

private:
  Status refuse(mlir::Operation *op, const llvm::Twine &why) {
    return Status(StatusCode::Unsupported,
                  "@" + Func.getSymName().str() + " cannot be compiled for h200: " + why.str(),
                  sourceLocOf(op->getLoc()));
  }

  // What it is made of: roles, pipes, names, and memory.
  Status addRole(ir::FuncOp func, ir::CallOp call);
  Status findRoles();
  void nameParameters();
  /// One family for all tiles of a kernel, so that rows and columns lie where whole tiles do.
  void chooseLayout();
  Status findPipes();
  /// Whatever role loads what it pushes, who pops it calls it by the tensor.
  void namePushed();
  /// Whether some of what is pushed into a pipe is what two blocks share.
  bool carriesShared(tile::PipeOp pipe);
  /// How much each lane needs for the tiles that were given addresses: behind the rings, or, of
  /// guests, from 0 on.
  void measureTiles();
  /// How many registers of a computing thread hold tiles at once, at most. Elementwise operations
  /// work in place; what the compiler needs beside tiles, or saves by another order, is not known.
  int64_t registersForTiles();
  /// What a role is given for one operand of its call, and which parameter of the kernel that is.
  std::pair<std::string, int> given(mlir::Value value);
  /// Rings, and the tiles behind them.
  int64_t tileBytes() const { return Kernel.ringBytes + LaneBytes; }
  const RoleCall *copyingRole() const;
  /// The walk. Where a role copies, each role walks all blocks of this multiprocessor by itself:
  /// the copying one runs ahead, into the next. So it is where blocks wait for one another, and all
  /// run at once. In all other kernels the launch has as many blocks as the grid, each of which is
  /// done after one: nothing is left from one to the next, and while some wait for memory others
  /// compute.
  bool isPersistent() const { return IsPart || Kernel.hasBarrier || copyingRole(); }
  /// Whether the copying role takes a number when it has asked for all of the block before. Where
  /// blocks wait for one another each is started.
  bool handsOutBlocks() const;
  /// Who waits for other blocks in each block: every lane of a role with a barrier.
  int64_t waiters();
  /// How many rows of the grid are walked together. Where what is copied differs along both axes of
  /// the grid, blocks that run at once share most of it if they are near each other along both.
  std::string rowsTogether() const { return copiesAlongBothAxes() ? "16" : "1"; }
  bool copiesAlongBothAxes() const;
  /// Whether somebody waits in it, or loops for as long as data says.
  bool mayHang() const;

  // Its roles.
  Status emitRoles();
  Status emitRole(RoleCall &role);
  std::string functionText(const std::string &name, const std::string &parameters,
                           const std::string &body) const;
  std::string argumentBlock() const;

  // The functions that run them.
  /// The head of the loop over the blocks of a multiprocessor.
  std::string walkText(const RoleCall &role) const;
  /// What lanes read of the argument block at their end, they read when they have nothing to do
  /// yet.
  std::string looks(const RoleCall &role, llvm::StringRef indent);
  /// What is to be asked before anything is read ahead.
  std::string mayRunAhead() const;
  /// The end of a role: the other block may still copy to this one, and free its slots. Behind both
  /// roles it would take registers that the copying one does not have; warps that have ended are
  /// not waited for.
  std::string leavePair(llvm::StringRef indent) const;
  std::string roleLoop(const RoleCall &role, llvm::StringRef lane, llvm::StringRef indent);
  std::string entryFunction(llvm::StringRef symbol, int64_t threads);
  /// Each role with its warpgroups.
  std::string guestsText();
  /// What a role does in a task: a function, and in it the walk.
  std::string partFunction(const RoleCall &role);
  std::string partFunctions();

  /// All of it.
  Expected<CudaUnit> assemble();

  ir::FuncOp Func;
  std::string Name;
  const Machine &Target;
  bool IsPart; ///< Of a kernel that does all tasks of a program.
  /// Of all roles that compute; and the bytes of their tiles outside rings.
  int64_t Lanes = 0, LaneBytes = 0;
  int64_t BarrierBytes = 0, BytesBehind = 0;
  llvm::SmallVector<RoleCall> Roles;
  llvm::SmallVector<PipeText> Pipes;
  ParameterOrder Order;
  llvm::SmallVector<std::string> TensorFields, ScalarFields;
  KernelText Kernel;
  std::string Layout, Functions;
};

} // namespace kiln::cuda

#endif // KILN_LIB_TARGET_CUDA_KERNELEMITTER_H
