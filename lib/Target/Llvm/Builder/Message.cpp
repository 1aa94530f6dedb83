#include "Message.h"

#include "llvm/IR/Module.h"

namespace kiln::llvmir {

/// The digits of a 64-bit integer, and its sign.
static constexpr unsigned kMostDigits = 20;

Message &Message::operator<<(const std::string &text) {
  if (Parts.empty() || Parts.back().number)
    Parts.push_back({"", nullptr});
  Parts.back().text += text;
  return *this;
}

Message &Message::operator<<(llvm::Value *number) {
  if (auto *known = llvm::dyn_cast<llvm::ConstantInt>(number))
    return *this << std::to_string(known->getSExtValue());
  *this << std::string();
  Parts.back().number = number;
  return *this;
}

Message &Message::operator<<(const Message &message) {
  for (const Part &part : message.Parts) {
    *this << part.text;
    if (part.number)
      *this << part.number;
  }
  return *this;
}

Message &Message::operator<<(llvm::ArrayRef<llvm::Value *> numbers) {
  *this << std::string("[");
  for (auto [position, number] : llvm::enumerate(numbers))
    *this << std::string(position == 0 ? "" : ", ") << number;
  return *this << std::string("]");
}

/// `char *append(char *at, int64_t number)`: writes a number, returns where it ends.
static llvm::Function *appendFunction(Builder &around, llvm::Module &module) {
  constexpr const char *name = "kiln_append_number";
  if (llvm::Function *known = module.getFunction(name))
    return known;
  auto *type =
      llvm::FunctionType::get(around.getPtrTy(), {around.getPtrTy(), around.getInt64Ty()}, false);
  auto *function = llvm::Function::Create(type, llvm::Function::InternalLinkage, name, module);
  function->addFnAttr(llvm::Attribute::NoInline);
  function->addFnAttr(llvm::Attribute::Cold);
  Builder b(module.getContext());
  b.SetInsertPoint(llvm::BasicBlock::Create(b.getContext(), "entry", function));
  llvm::Value *at = function->getArg(0), *number = function->getArg(1);
  llvm::Value *digits = b.CreateAlloca(b.getInt8Ty(), b.getInt32(kMostDigits));
  llvm::Value *isNegative = b.CreateICmpSLT(number, b.index(0));
  llvm::Value *magnitude = b.CreateSelect(isNegative, b.CreateNeg(number), number);
  b.CreateStore(b.getInt8('-'), at); // overwritten if there is no sign
  llvm::Value *start = b.CreateGEP(b.getInt8Ty(), at, b.CreateZExt(isNegative, b.getInt64Ty()));
  // The last digit first, from the end of the buffer.
  llvm::BasicBlock *before = b.GetInsertBlock(), *next = b.block("next"), *done = b.block("done");
  b.CreateBr(next);
  b.SetInsertPoint(next);
  llvm::PHINode *rest = b.CreatePHI(b.getInt64Ty(), 2), *place = b.CreatePHI(b.getInt64Ty(), 2);
  llvm::Value *here = b.CreateSub(place, b.index(1));
  llvm::Value *digit = b.CreateTrunc(b.CreateURem(rest, b.index(10)), b.getInt8Ty());
  b.CreateStore(b.CreateAdd(digit, b.getInt8('0')), b.CreateGEP(b.getInt8Ty(), digits, here));
  llvm::Value *quotient = b.CreateUDiv(rest, b.index(10));
  rest->addIncoming(magnitude, before);
  rest->addIncoming(quotient, next);
  place->addIncoming(b.index(kMostDigits), before);
  place->addIncoming(here, next);
  b.CreateCondBr(b.CreateICmpEQ(quotient, b.index(0)), done, next);
  b.SetInsertPoint(done);
  llvm::Value *count = b.CreateSub(b.index(kMostDigits), here);
  b.CreateMemCpy(start, llvm::Align(1), b.CreateGEP(b.getInt8Ty(), digits, here), llvm::Align(1),
                 count);
  b.CreateRet(b.CreateGEP(b.getInt8Ty(), start, count));
  return function;
}

llvm::Value *Message::emit(Builder &b, llvm::Module &module) const {
  if (Parts.size() == 1 && !Parts.front().number)
    return b.CreateGlobalString(Parts.front().text, "text", 0, &module);
  uint64_t most = 1;
  for (const Part &part : Parts)
    most += part.text.size() + kMostDigits;
  llvm::Value *memory = b.CreateAlloca(b.getInt8Ty(), b.getInt32(most)), *at = memory;
  for (const Part &part : Parts) {
    llvm::Value *text = b.CreateGlobalString(part.text, "text", 0, &module);
    b.CreateMemCpy(at, llvm::Align(1), text, llvm::Align(1), part.text.size());
    at = b.CreateConstGEP1_64(b.getInt8Ty(), at, part.text.size());
    if (part.number)
      at = b.CreateCall(appendFunction(b, module),
                        {at, b.CreateIntCast(part.number, b.getInt64Ty(), /*isSigned=*/true)});
  }
  b.CreateStore(b.getInt8(0), at);
  return memory;
}

} // namespace kiln::llvmir
