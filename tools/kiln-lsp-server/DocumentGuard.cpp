#include "DocumentGuard.h"

#include "kiln/Dialect/ProgramText.h"

#include "llvm/Support/LSP/Protocol.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>

namespace json = llvm::json;
using llvm::StringRef;

namespace kiln {

static std::string textOf(const json::Value &value) {
  std::string text;
  llvm::raw_string_ostream(text) << value;
  return text;
}

static std::string framed(const std::string &body) {
  return "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
}

static std::string notification(const std::string &method, json::Object params) {
  return textOf(json::Object{
      {"jsonrpc", "2.0"}, {"method", "textDocument/" + method}, {"params", std::move(params)}});
}

size_t DocumentGuard::read(char *buffer, size_t size) {
  bool isOpen = true;
  while (Pending.empty() && isOpen) {
    llvm::outs() << Announcements;
    llvm::outs().flush();
    Announcements.clear();
    isOpen = receive();
  }
  size_t count = std::min(size, Pending.size());
  std::copy_n(Pending.begin(), count, buffer);
  Pending.erase(0, count);
  return count;
}

/// One message of the editor: header lines, an empty line, the body. False at the end of the input.
bool DocumentGuard::receive() {
  size_t length = 0;
  char *line = nullptr;
  size_t capacity = 0;
  bool isHeader = false;
  while (getline(&line, &capacity, Input) > 0) {
    StringRef header = StringRef(line).trim();
    if (header.empty() && (isHeader = length > 0))
      break;
    if (header.consume_front_insensitive("Content-Length:") &&
        header.trim().getAsInteger(10, length))
      length = 0;
  }
  std::free(line);
  std::string body;
  char chunk[4096];
  for (size_t count; isHeader && body.size() < length; body.append(chunk, count))
    if ((count = std::fread(chunk, 1, std::min(sizeof chunk, length - body.size()), Input)) == 0)
      break;
  if (body.empty())
    return false;
  if (std::string message = guarded(body); !message.empty())
    Pending = framed(message);
  return true;
}

/// What the server gets instead of a message; empty for nothing.
std::string DocumentGuard::guarded(const std::string &message) {
  llvm::Expected<json::Value> value = json::parse(message);
  if (!value) {
    llvm::consumeError(value.takeError());
    return message; // which the server refuses in its own words
  }
  const json::Object *object = value->getAsObject();
  const json::Object *params = object ? object->getObject("params") : nullptr;
  std::optional<StringRef> method = object ? object->getString("method") : std::nullopt;
  if (!params || !method)
    return message;
  if (*method == "textDocument/didOpen")
    return opened(*params, message);
  if (*method == "textDocument/didChange")
    return changed(*params, message);
  if (*method == "textDocument/didClose")
    return closed(*params, message);
  return message;
}

bool DocumentGuard::holdsBack(StringRef uri, const Document &document, int64_t version) {
  std::optional<TextProblem> problem = findTextProblem(document.text);
  if (!problem)
    return false;
  auto place = [&](unsigned column) {
    return json::Object{{"line", problem->line - 1}, {"character", column}};
  };
  json::Object range{{"start", place(problem->column - 1)}, {"end", place(problem->column)}};
  json::Object diagnostic{{"range", std::move(range)},
                          {"severity", 1},
                          {"source", "kiln"},
                          {"message", problem->message}};
  json::Object params{
      {"uri", uri}, {"version", version}, {"diagnostics", json::Array{std::move(diagnostic)}}};
  Announcements += framed(notification("publishDiagnostics", std::move(params)));
  return true;
}

std::string DocumentGuard::opened(const json::Object &params, const std::string &message) {
  const json::Object *item = params.getObject("textDocument");
  if (!item || !item->getString("uri") || !item->getString("text"))
    return message;
  StringRef uri = *item->getString("uri");
  Document &document = Documents[uri];
  document.text = item->getString("text")->str();
  document.isHeldBack = holdsBack(uri, document, item->getInteger("version").value_or(0));
  return document.isHeldBack ? "" : message;
}

std::string DocumentGuard::changed(const json::Object &params, const std::string &message) {
  llvm::lsp::DidChangeTextDocumentParams change;
  json::Path::Root root;
  const json::Object *item = params.getObject("textDocument");
  auto known = Documents.find(item ? item->getString("uri").value_or("") : "");
  if (known == Documents.end() ||
      !llvm::lsp::fromJSON(json::Value(json::Object(params)), change, root))
    return message;
  Document &document = known->second;
  (void)llvm::lsp::TextDocumentContentChangeEvent::applyTo(change.contentChanges, document.text);
  bool wasHeldBack = document.isHeldBack;
  int64_t version = change.textDocument.version;
  document.isHeldBack = holdsBack(known->first(), document, version);
  if (document.isHeldBack == wasHeldBack)
    return wasHeldBack ? "" : message;
  // To the server the document is closed while it is held back.
  json::Object about{{"uri", known->first()}};
  if (!document.isHeldBack) {
    about["languageId"] = "mlir";
    about["version"] = version;
    about["text"] = document.text;
  }
  return notification(document.isHeldBack ? "didClose" : "didOpen",
                      json::Object{{"textDocument", std::move(about)}});
}

std::string DocumentGuard::closed(const json::Object &params, const std::string &message) {
  const json::Object *item = params.getObject("textDocument");
  auto known = Documents.find(item ? item->getString("uri").value_or("") : "");
  if (known == Documents.end())
    return message;
  bool wasHeldBack = known->second.isHeldBack;
  json::Object nothing{{"uri", known->first()}, {"diagnostics", json::Array{}}};
  Documents.erase(known);
  if (!wasHeldBack)
    return message;
  Announcements += framed(notification("publishDiagnostics", std::move(nothing)));
  return "";
}

} // namespace kiln
