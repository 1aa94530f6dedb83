//===- Lines.h - indented lines of emitted text -----------------------------------------===//
//
// A value that grows; one thread at a time.
//
//===----------------------------------------------------------------------------===//
#ifndef KILN_TARGET_TEXT_LINES_H
#define KILN_TARGET_TEXT_LINES_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/Twine.h"

#include <string>
#include <utility>

namespace kiln::text {

class Lines {
public:
  /// Each level is `width` spaces; the first line stands at `depth` levels.
  explicit Lines(unsigned width, unsigned depth = 0) : Width(width), Depth(depth) {}

  void line(const llvm::Twine &text) {
    Text.append(size_t(Width) * Depth, ' ');
    Text += text.str();
    Text += '\n';
  }
  void blank(unsigned count = 1) { Text.append(count, '\n'); }
  /// What `body` writes stands a level deeper. Says whether it wrote anything.
  bool indented(llvm::function_ref<void()> body) {
    size_t before = Text.size();
    ++Depth;
    body();
    --Depth;
    return Text.size() != before;
  }

  unsigned depth() const { return Depth; }
  const std::string &text() const { return Text; }
  /// What was written; nothing is, afterwards.
  std::string take() { return std::exchange(Text, ""); }

private:
  unsigned Width, Depth;
  std::string Text;
};

} // namespace kiln::text

#endif // KILN_TARGET_TEXT_LINES_H
