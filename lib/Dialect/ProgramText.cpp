#include "kiln/Dialect/ProgramText.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir;

namespace kiln {
namespace {

class TextScan {
public:
  explicit TextScan(StringRef text) : Text(text) {}
  std::optional<TextProblem> run();

private:
  /// What an alias (`#name = ...`, `!name = ...`) stands for: how deep, and how many aliases.
  struct Alias {
    size_t depth = 0;
    uint64_t size = 1;
  };

  char peek(size_t ahead = 0) const { return At + ahead < Text.size() ? Text[At + ahead] : 0; }
  void refuse(size_t at, const Twine &message);
  void skipString();
  void open(char bracket);
  void close(char bracket);
  bool isComparison() const;
  void scanAlias();
  void scanWord();
  void scanNumber();
  void noteDepth(size_t at, size_t depth);
  void endDefinition();
  bool beginsOperation() const;
  void checkLines();

  StringRef Text;
  size_t At = 0;
  SmallVector<char> Open; ///< The brackets around the current place.
  llvm::StringMap<Alias> Aliases;
  StringRef Defining; ///< The alias being defined, or empty.
  Alias Definition;
  std::optional<TextProblem> Problem;
};

bool isBytecode(StringRef text) { return text.starts_with("ML\xEFR"); }

bool isWordPart(char c) { return llvm::isAlnum(c) || c == '_' || c == '$' || c == '.' || c == '-'; }

void TextScan::refuse(size_t at, const Twine &message) {
  if (Problem)
    return;
  StringRef before = Text.take_front(at);
  size_t lineStart = before.rfind('\n') + 1; // npos + 1 is 0
  Problem =
      TextProblem{unsigned(before.count('\n') + 1), unsigned(at - lineStart + 1), message.str()};
}

void TextScan::skipString() {
  for (++At; At < Text.size() && peek() != '"' && peek() != '\n'; ++At)
    if (peek() == '\\')
      ++At;
}

void TextScan::noteDepth(size_t at, size_t depth) {
  if (depth > kMaxNesting)
    refuse(at, "regions, types, attributes or locations are nested more than " +
                   Twine(kMaxNesting) + " deep here; a program nests them less deeply");
  Definition.depth = std::max(Definition.depth, depth);
}

void TextScan::open(char bracket) {
  Open.push_back(bracket);
  noteDepth(At, Open.size());
}

/// Closes the last bracket of this kind, and the `<` after it that were comparisons after all.
void TextScan::close(char bracket) {
  size_t count = Open.size();
  while (count > 0 && Open[count - 1] == '<' && bracket != '<')
    --count;
  if (count > 0 && Open[count - 1] == bracket)
    Open.truncate(count - 1);
}

/// Whether the `<` here compares with a number: `%flags[0] < 4`. A shape goes on with an `x`.
bool TextScan::isComparison() const {
  StringRef rest = Text.substr(At + 1);
  rest.consume_front("=");
  rest = rest.ltrim(" \t");
  rest.consume_front("-");
  StringRef number = rest.take_while(llvm::isDigit);
  return !number.empty() && !rest.drop_front(number.size()).starts_with("x");
}

void TextScan::endDefinition() {
  if (!Defining.empty())
    Aliases[Defining] = Definition;
  Defining = "";
  Definition = Alias();
}

/// Whether the definition of an alias is over because an operation follows: a word at the start of
/// a line, after something that is complete.
bool TextScan::beginsOperation() const {
  StringRef before = Text.take_front(At).rtrim(" \t");
  if (!Open.empty() || !before.ends_with("\n"))
    return false;
  before = before.rtrim(" \t\r\n");
  return !before.ends_with("=") && !before.ends_with(":") && !before.ends_with("->");
}

/// `#name` or `!name`: the use of an alias, or its definition.
void TextScan::scanAlias() {
  size_t start = At++;
  while (At < Text.size() && isWordPart(peek()))
    ++At;
  StringRef name = Text.slice(start, At);
  bool isDefinition =
      Open.empty() && Text.substr(At).ltrim(" \t\r\n").starts_with("=") && name.size() > 1;
  if (isDefinition) {
    endDefinition();
    Defining = name;
  } else if (auto known = Aliases.find(name); known != Aliases.end()) {
    noteDepth(start, Open.size() + known->second.depth);
    Definition.size += known->second.size;
    if (!Defining.empty() && Definition.size > kMaxAliasSize)
      refuse(start, "the alias '" + Defining + "' stands for more than " + Twine(kMaxAliasSize) +
                        " aliases; write out what is used");
  }
}

void TextScan::scanWord() {
  size_t start = At;
  while (At < Text.size() && isWordPart(peek()))
    ++At;
  StringRef word = Text.slice(start, At), rest = Text.substr(At).ltrim(" \t\r\n");
  if (StringRef bits = word.substr(word.rfind('x') + 1); // behind a shape; npos + 1 is 0
      bits.consume_front("i") || bits.consume_front("si") || bits.consume_front("ui"))
    if (unsigned width = 0; !bits.empty() && llvm::all_of(bits, llvm::isDigit) &&
                            (bits.getAsInteger(10, width) || width > kMaxBits))
      refuse(start, "an integer type has at most " + Twine(kMaxBits) + " bits");
  if (!rest.consume_front("<"))
    return;
  if (word == "affine_map" || word == "affine_set")
    refuse(start, "'" + word + "' is no part of a Kiln program");
  else if (word == "array" && rest.ltrim(" \t\r\n").starts_with("index"))
    refuse(start, "an array attribute has no elements of type index; use i64");
}

void TextScan::scanNumber() {
  size_t start = At;
  if (Text.substr(At).starts_with("0x"))
    At += 2;
  while (At < Text.size() && llvm::isHexDigit(peek()))
    ++At;
  if (At - start > kMaxDigits)
    refuse(start, "this number has " + Twine(At - start) + " digits; a number has at most " +
                      Twine(kMaxDigits));
}

void TextScan::checkLines() {
  for (size_t start = 0; start < Text.size();) {
    size_t end = std::min(Text.find('\n', start), Text.size());
    if (end - start > kMaxLineLength)
      return refuse(start, "this line has " + Twine(end - start) +
                               " characters; a line has at most " + Twine(kMaxLineLength));
    start = end + 1;
  }
}

std::optional<TextProblem> TextScan::run() {
  if (isBytecode(Text))
    return std::nullopt;
  checkLines();
  for (; At < Text.size() && !Problem; ++At) {
    char c = peek();
    if (!Defining.empty() && (llvm::isAlpha(c) || c == '"' || c == '%') && beginsOperation())
      endDefinition();
    if (c == '/' && peek(1) == '/') {
      At = std::min(Text.find('\n', At), Text.size());
    } else if (c == '"') {
      skipString();
    } else if (c == '(' || c == '[' || c == '{' || (c == '<' && !isComparison())) {
      open(c);
    } else if (c == ')' || c == ']' || c == '}') {
      close(c == ')' ? '(' : c == ']' ? '[' : '{');
    } else if (c == '>' && (At == 0 || Text[At - 1] != '-')) {
      close('<');
    } else if (c == '#' || c == '!') {
      scanAlias();
      --At;
    } else if (c == '%' || c == '@' || c == '^') { // names, which may look like words
      while (isWordPart(peek(1)) || (c == '%' && peek(1) == '#'))
        ++At;
    } else if (llvm::isAlpha(c)) {
      scanWord();
      --At;
    } else if (llvm::isDigit(c)) {
      scanNumber();
      --At;
    }
  }
  return std::move(Problem);
}

} // namespace

std::optional<TextProblem> findTextProblem(StringRef text) { return TextScan(text).run(); }

OwningOpRef<ModuleOp> parseProgram(StringRef text, StringRef name, MLIRContext *context) {
  std::optional<TextProblem> problem = findTextProblem(text);
  if (isBytecode(text))
    problem = {1, 1, "this is MLIR's bytecode; Kiln reads programs as text"};
  if (problem) {
    emitError(FileLineColLoc::get(context, name, problem->line, problem->column), problem->message);
    return {};
  }
  return parseSourceString<ModuleOp>(text, ParserConfig(context), name);
}

} // namespace kiln
