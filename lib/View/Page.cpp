#include "Page.h"

#include "PageParts.h"

#include "llvm/Support/Base64.h"
#include "llvm/Support/SHA256.h"

namespace kiln::view {
namespace {

std::string scriptText() {
  std::string text = "'use strict';\n(() => {\n";
  for (const char *part : kScripts)
    text += part;
  return text + "})();\n";
}

std::string hashOf(const std::string &text) {
  auto digest = llvm::SHA256::hash(
      llvm::ArrayRef(reinterpret_cast<const uint8_t *>(text.data()), text.size()));
  return "'sha256-" + llvm::encodeBase64(digest) + "'";
}

void replace(std::string &text, const std::string &mark, const std::string &with) {
  if (size_t at = text.find(mark); at != std::string::npos)
    text.replace(at, mark.size(), with);
}

} // namespace

std::string embeddedJson(const Json &data) {
  std::string text = jsonText(data, onOneLine), safe;
  safe.reserve(text.size());
  for (char c : text)
    if (c == '<')
      safe += "\\u003c";
    else if (c == '>')
      safe += "\\u003e";
    else if (c == '&')
      safe += "\\u0026";
    else
      safe += c;
  return safe;
}

std::string contentPolicy(bool isServed) {
  static const std::string script = hashOf(scriptText()), style = hashOf(kStyle);
  return "default-src 'none'; script-src " + script + "; style-src " + style + "; connect-src " +
         (isServed ? "'self'" : "'none'") + "; base-uri 'none'; form-action 'none'";
}

std::string renderPage(const Json &data, bool isServed) {
  std::string page = kDocument;
  replace(page, "@POLICY@", contentPolicy(isServed));
  replace(page, "@STYLE@", kStyle);
  replace(page, "@SCRIPT@", scriptText());
  // Last: nothing is looked for in what the data hold.
  replace(page, "@DATA@", embeddedJson(data));
  return page;
}

} // namespace kiln::view
