//===- Builder.h - LLVM IR with loops and branches as nested code --------------------===//
//
// An IRBuilder that knows what the lowering needs: index arithmetic, loops and branches written as
// lambdas, vectors of any width. Constants fold as they are built, so a branch on a constant makes
// no code. One function at a time, one thread.
//
//===----------------------------------------------------------------------------===//
#ifndef KILN_LIB_TARGET_LLVM_BUILDER_BUILDER_H
#define KILN_LIB_TARGET_LLVM_BUILDER_BUILDER_H

#include "Traits.h"

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/IR/IRBuilder.h"

namespace kiln::llvmir {

using Values = llvm::SmallVector<llvm::Value *, 4>;

class Builder : public llvm::IRBuilder<> {
public:
  using llvm::IRBuilder<>::IRBuilder;

  MachineTraits machine; ///< Whom the code is for.

  llvm::Value *index(int64_t value) { return getInt64(value); }
  llvm::Value *add(llvm::Value *a, llvm::Value *b) { return CreateAdd(a, b); }
  llvm::Value *add(llvm::Value *a, int64_t b) { return b ? CreateAdd(a, index(b)) : a; }
  llvm::Value *mul(llvm::Value *a, llvm::Value *b) { return CreateMul(a, b); }
  llvm::Value *mul(llvm::Value *a, int64_t b) { return b == 1 ? a : CreateMul(a, index(b)); }
  llvm::Value *min(llvm::Value *a, llvm::Value *b) {
    return CreateSelect(CreateICmpSLT(a, b), a, b);
  }
  llvm::Value *max(llvm::Value *a, llvm::Value *b) {
    return CreateSelect(CreateICmpSGT(a, b), a, b);
  }
  llvm::Value *allOf(llvm::ArrayRef<llvm::Value *> conditions);

  /// The address `elements` elements of `type` behind `base`.
  llvm::Value *offset(llvm::Type *type, llvm::Value *base, llvm::Value *elements) {
    return CreateGEP(type, base, elements);
  }

  static unsigned widthOf(llvm::Value *vector) {
    return llvm::cast<llvm::FixedVectorType>(vector->getType())->getNumElements();
  }
  static llvm::Type *vectorOf(llvm::Type *type, unsigned width) {
    return llvm::FixedVectorType::get(type, width);
  }
  /// `type` with the shape of `like`: a vector as wide, or a scalar.
  static llvm::Type *shapedAs(llvm::Value *like, llvm::Type *type) {
    return like->getType()->isVectorTy() ? vectorOf(type, widthOf(like)) : type;
  }
  llvm::Value *splat(unsigned width, llvm::Value *scalar) {
    return CreateVectorSplat(width, scalar);
  }
  /// A float constant shaped as another value.
  llvm::Value *real(llvm::Value *like, double value) {
    return llvm::ConstantFP::get(like->getType(), value);
  }
  llvm::Value *bits(llvm::Value *like, uint64_t value) {
    return llvm::ConstantInt::get(like->getType(), value);
  }
  /// Some of a vector's lanes.
  llvm::Value *lanesOf(llvm::Value *vector, unsigned first, unsigned count);
  /// 0, 1, 2, ... as i64.
  llvm::Value *lanes(unsigned width);

  /// Code for one side of a branch; emitted only if the condition is not a constant against it.
  using Body = llvm::function_ref<void()>;
  void branch(llvm::Value *condition, Body then, Body otherwise = [] {});
  /// A branch that makes values.
  Values choose(llvm::Value *condition, llvm::function_ref<Values()> then,
                llvm::function_ref<Values()> otherwise);

  /// Runs `body` for from, from + step, ... below `to` (signed), carrying values; `body` makes the
  /// next ones.
  using CarryingBody = llvm::function_ref<Values(llvm::Value *at, llvm::ArrayRef<llvm::Value *>)>;
  Values loop(llvm::Value *from, llvm::Value *to, int64_t step,
              llvm::ArrayRef<llvm::Value *> initial, CarryingBody body);
  void loop(llvm::Value *from, llvm::Value *to, int64_t step,
            llvm::function_ref<void(llvm::Value *)> body);
  void loop(int64_t from, int64_t to, int64_t step, llvm::function_ref<void(llvm::Value *)> body) {
    loop(index(from), index(to), step, body);
  }
  /// Covers 0 .. extent in chunks of `width`, the last one narrower if need be.
  void chunks(int64_t extent, unsigned width,
              llvm::function_ref<void(llvm::Value *at, unsigned width)> body);

  /// A new block behind the current function's others.
  llvm::BasicBlock *block(const llvm::Twine &name = "") {
    return llvm::BasicBlock::Create(getContext(), name, GetInsertBlock()->getParent());
  }
};

} // namespace kiln::llvmir

#endif // KILN_LIB_TARGET_LLVM_BUILDER_BUILDER_H
