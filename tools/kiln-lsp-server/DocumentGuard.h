//===- DocumentGuard.h - documents that the server's parser must not see -------------===//
//
// MLIR's server gives every document to MLIR's parser, which some texts crash. The guard stands
// between the editor and the server: it follows the text of every document, holds one back while
// there is a reason not to parse it, and tells the editor that reason itself.
//
//===----------------------------------------------------------------------------===//
#ifndef KILN_TOOLS_LSP_DOCUMENTGUARD_H
#define KILN_TOOLS_LSP_DOCUMENTGUARD_H

#include "llvm/ADT/StringMap.h"
#include "llvm/Support/JSON.h"

#include <cstdio>
#include <string>

namespace kiln {

class DocumentGuard {
public:
  explicit DocumentGuard(std::FILE *input) : Input(input) {}

  /// What the server reads next, of at most `size` bytes; 0 at the end. Before it is asked for
  /// more, the server has answered all it was given.
  size_t read(char *buffer, size_t size);

private:
  struct Document {
    std::string text;
    bool isHeldBack = false;
  };

  bool receive();
  std::string guarded(const std::string &message);
  std::string opened(const llvm::json::Object &params, const std::string &message);
  std::string changed(const llvm::json::Object &params, const std::string &message);
  std::string closed(const llvm::json::Object &params, const std::string &message);
  /// Whether a document may not be parsed; tells the editor why.
  bool holdsBack(llvm::StringRef uri, const Document &document, int64_t version);

  std::FILE *Input;
  std::string Pending;       ///< For the server.
  std::string Announcements; ///< For the editor, once the server has dealt with what it got.
  llvm::StringMap<Document> Documents;
};

} // namespace kiln

#endif // KILN_TOOLS_LSP_DOCUMENTGUARD_H
