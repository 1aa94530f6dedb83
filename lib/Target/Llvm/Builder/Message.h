//===- Message.h - what compiled code says when it fails ------------------------------===//
//
// Text with values of the run in between. The code that puts it together stands where the failure
// is reported, so it costs nothing as long as all goes well.
//
//===----------------------------------------------------------------------------===//
#ifndef KILN_LIB_TARGET_LLVM_BUILDER_MESSAGE_H
#define KILN_LIB_TARGET_LLVM_BUILDER_MESSAGE_H

#include "Builder.h"

#include <string>
#include <vector>

namespace kiln::llvmir {

class Message {
public:
  Message(std::string text) { *this << text; }
  Message(const char *text) : Message(std::string(text)) {}

  Message &operator<<(const std::string &text);
  /// A signed integer of at most 64 bits.
  Message &operator<<(llvm::Value *number);
  Message &operator<<(const Message &message);
  /// "[3, 4]".
  Message &operator<<(llvm::ArrayRef<llvm::Value *> numbers);

  /// Writes the code that makes the text; the address of its bytes, which end with a zero. They
  /// live until the function returns.
  llvm::Value *emit(Builder &b, llvm::Module &module) const;

private:
  struct Part {
    std::string text;
    llvm::Value *number; ///< Follows the text; may be null.
  };
  std::vector<Part> Parts;
};

} // namespace kiln::llvmir

#endif // KILN_LIB_TARGET_LLVM_BUILDER_MESSAGE_H
