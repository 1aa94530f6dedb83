#include "Builder.h"

using namespace llvm;

namespace kiln::llvmir {

Value *Builder::allOf(ArrayRef<Value *> conditions) {
  Value *all = getTrue();
  for (Value *condition : conditions)
    all = CreateAnd(all, condition);
  return all;
}

Value *Builder::lanesOf(Value *vector, unsigned first, unsigned count) {
  if (first == 0 && count == widthOf(vector))
    return vector;
  SmallVector<int> lanes;
  for (unsigned lane = first; lane < first + count; ++lane)
    lanes.push_back(int(lane));
  return CreateShuffleVector(vector, lanes);
}

Value *Builder::lanes(unsigned width) {
  SmallVector<Constant *> numbers;
  for (unsigned lane = 0; lane < width; ++lane)
    numbers.push_back(getInt64(lane));
  return ConstantVector::get(numbers);
}

Values Builder::choose(Value *condition, function_ref<Values()> then,
                       function_ref<Values()> otherwise) {
  if (auto *known = dyn_cast<ConstantInt>(condition))
    return known->isOne() ? then() : otherwise();
  BasicBlock *yes = block("then"), *no = block("else"), *join = block("join");
  CreateCondBr(condition, yes, no);
  SetInsertPoint(yes);
  Values left = then();
  BasicBlock *leftEnd = GetInsertBlock();
  CreateBr(join);
  SetInsertPoint(no);
  Values right = otherwise();
  BasicBlock *rightEnd = GetInsertBlock();
  CreateBr(join);
  SetInsertPoint(join);
  Values joined;
  for (auto [a, b] : zip_equal(left, right)) {
    PHINode *phi = CreatePHI(a->getType(), 2);
    phi->addIncoming(a, leftEnd);
    phi->addIncoming(b, rightEnd);
    joined.push_back(phi);
  }
  return joined;
}

void Builder::branch(Value *condition, Body then, Body otherwise) {
  choose(condition, [&] { return then(), Values(); }, [&] { return otherwise(), Values(); });
}

Values Builder::loop(Value *from, Value *to, int64_t step, ArrayRef<Value *> initial,
                     CarryingBody body) {
  auto *first = dyn_cast<ConstantInt>(from), *last = dyn_cast<ConstantInt>(to);
  if (first && last) {
    int64_t span = last->getSExtValue() - first->getSExtValue();
    if (span <= 0)
      return Values(initial);
    if (span <= step)
      return body(from, initial);
  }
  // Tested before the first iteration and at the end of each: the form that loop passes like.
  BasicBlock *before = GetInsertBlock(), *inside = block("loop"), *after = block("after");
  CreateCondBr(CreateICmpSLT(from, to), inside, after);
  SetInsertPoint(inside);
  PHINode *at = CreatePHI(from->getType(), 2, "at");
  at->addIncoming(from, before);
  SmallVector<PHINode *> phis;
  Values carried;
  for (Value *value : initial) {
    phis.push_back(CreatePHI(value->getType(), 2));
    phis.back()->addIncoming(value, before);
    carried.push_back(phis.back());
  }
  Values made = body(at, carried);
  BasicBlock *end = GetInsertBlock();
  Value *next = CreateAdd(at, ConstantInt::get(at->getType(), step), "", false, true);
  at->addIncoming(next, end);
  for (auto [phi, value] : zip_equal(phis, made))
    phi->addIncoming(value, end);
  CreateCondBr(CreateICmpSLT(next, to), inside, after);
  SetInsertPoint(after);
  Values results;
  for (auto [start, value] : zip_equal(initial, made)) {
    PHINode *phi = CreatePHI(start->getType(), 2);
    phi->addIncoming(start, before);
    phi->addIncoming(value, end);
    results.push_back(phi);
  }
  return results;
}

void Builder::loop(Value *from, Value *to, int64_t step, function_ref<void(Value *)> body) {
  loop(from, to, step, {}, [&](Value *at, ArrayRef<Value *>) { return body(at), Values(); });
}

void Builder::chunks(int64_t extent, unsigned width, function_ref<void(Value *, unsigned)> body) {
  int64_t whole = extent / width * width;
  loop(0, whole, width, [&](Value *at) { body(at, width); });
  if (extent > whole)
    body(index(whole), extent - whole);
}

} // namespace kiln::llvmir
