#include "AliasScopes.h"

#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/MDBuilder.h"

using namespace llvm;

namespace kiln::llvmir {

void separateScratch(Function &function, Value *scratch) {
  if (!scratch)
    return;
  MDBuilder metadata(function.getContext());
  MDNode *domain = metadata.createAnonymousAliasScopeDomain("kernel");
  MDNode *scope = metadata.createAnonymousAliasScope(domain, "scratch");
  MDNode *list = MDNode::get(function.getContext(), scope);
  for (Instruction &inst : instructions(function)) {
    const Value *address = getLoadStorePointerOperand(&inst);
    if (!address)
      continue;
    const Value *base = getUnderlyingObject(address, /*MaxLookup=*/0);
    if (base == scratch)
      inst.setMetadata(LLVMContext::MD_alias_scope, list);
    else if (isa<LoadInst>(base))
      inst.setMetadata(LLVMContext::MD_noalias, list);
  }
}

} // namespace kiln::llvmir
