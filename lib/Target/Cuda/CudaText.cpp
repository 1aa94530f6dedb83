// Text that knows which of the program's lines its own come from.
#include "kiln/Target/Cuda/Cuda.h"
#include "kiln/Target/Text/Literals.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Path.h"

using namespace mlir;

namespace kiln {

template <typename F> static void forEachLine(const CudaText &text, F f) {
  SmallVector<StringRef> lines;
  StringRef(text.text).split(lines, '\n');
  if (lines.back().empty())
    lines.pop_back();
  for (auto [number, line] : llvm::enumerate(lines))
    f(number, line, number < text.lines.size() ? text.lines[number] : SourceLoc());
}

std::string CudaText::commented() const {
  std::string result;
  SourceLoc last;
  forEachLine(*this, [&](size_t, StringRef line, const SourceLoc &of) {
    result += line;
    StringRef statement = line.ltrim();
    if (of.isKnown() && (of.file != last.file || of.line != last.line) &&
        !statement.starts_with("#") && !statement.starts_with("}")) {
      result += " // " + llvm::sys::path::filename(of.file).str() + ":" + std::to_string(of.line);
      last = of;
    }
    result += "\n";
  });
  return result;
}

std::string CudaText::directed(const std::string &file) const {
  std::string result;
  SourceLoc next; // as the compiler counts
  int32_t before = StringRef(kCudaHeader).count('\n');
  forEachLine(*this, [&](size_t number, StringRef line, SourceLoc of) {
    if (!of.isKnown())
      of = {file, before + int32_t(number) + 1};
    if (of.file != next.file || of.line != next.line)
      result += "#line " + std::to_string(of.line) + " " + text::cppString(of.file) + "\n";
    result += line.str() + "\n";
    next = {of.file, of.line + 1};
  });
  return result;
}

std::string cudaSource(const std::vector<CudaUnit> &units) {
  std::string text = kCudaHeader;
  for (const CudaUnit &unit : units)
    text += (&unit == &units.front() ? "" : "\n") + unit.text.commented();
  return text;
}

} // namespace kiln
