//===- LlvmDisassembly.h - reading machine code in tests ----------------------------------===//
#ifndef KILN_UNITTESTS_TARGET_LLVM_LLVMDISASSEMBLY_H
#define KILN_UNITTESTS_TARGET_LLVM_LLVMDISASSEMBLY_H

#include "LlvmTesting.h"

#include "llvm-c/Disassembler.h"
#include "llvm/Object/ObjectFile.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/TargetSelect.h"

namespace kiln::test {

struct Instruction {
  uint64_t address, end;
  std::string text;
};

/// Adds the instructions of an object, with addresses after those that are there.
inline void disassemble(const std::string &object, std::vector<Instruction> &all) {
  llvm::InitializeNativeTargetDisassembler();
  auto buffer = llvm::MemoryBuffer::getMemBuffer(object, "", false);
  auto file = llvm::cantFail(llvm::object::ObjectFile::createObjectFile(buffer->getMemBufferRef()));
  LLVMDisasmContextRef context =
      LLVMCreateDisasmCPU("x86_64-linux-gnu", "sapphirerapids", nullptr, 0, nullptr, nullptr);
  for (const llvm::object::SectionRef &section : file->sections()) {
    if (!section.isText())
      continue;
    llvm::StringRef bytes = llvm::cantFail(section.getContents());
    uint64_t base = all.empty() ? 0 : all.back().end;
    for (uint64_t at = 0; at < bytes.size();) {
      char text[256];
      auto *code = const_cast<uint8_t *>(bytes.bytes_begin()) + at;
      size_t size = LLVMDisasmInstruction(context, code, bytes.size() - at, at, text, sizeof text);
      if (size == 0)
        break;
      all.push_back({base + at, base + at + size, text});
      at += size;
    }
  }
  LLVMDisasmDispose(context);
}

/// The instructions of each loop that has none inside.
inline std::vector<std::vector<std::string>> innermostLoopsOf(mlir::ModuleOp module,
                                                              const CpuOptions &target) {
  std::vector<std::vector<std::string>> loops;
  Expected<CpuObject> object = emitCpuObject(module, target);
  EXPECT_TRUE(object) << object.status().str();
  if (!object)
    return loops;
  std::vector<Instruction> code;
  for (const std::string &function : objectsIn(*object))
    disassemble(function, code);
  size_t lastEnd = 0; // of the innermost loop before: what jumps back over it is not innermost
  for (size_t end = 0; end < code.size(); ++end) {
    llvm::StringRef text = llvm::StringRef(code[end].text).trim();
    int64_t distance;
    if (!text.consume_front("j") || text.split('\t').second.getAsInteger(0, distance) ||
        distance >= 0)
      continue;
    uint64_t target = code[end].end + uint64_t(distance);
    if (lastEnd != 0 && code[lastEnd].address >= target)
      continue;
    std::vector<std::string> &loop = loops.emplace_back();
    for (size_t i = lastEnd; i < end; ++i)
      if (code[i].address >= target)
        loop.push_back(code[i].text);
    lastEnd = end;
  }
  return loops;
}

} // namespace kiln::test

#endif // KILN_UNITTESTS_TARGET_LLVM_LLVMDISASSEMBLY_H
