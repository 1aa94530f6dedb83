//===- ViewFuzzer.cpp - fuzzes what pages of runs are made from ----------------------===//
//
// The input stands in for every file of a run at once, so that each reader sees it. Most inputs go
// to the readers as they are; now and then one goes the whole way, through files and a page, which
// takes ten times as long.
//
//===----------------------------------------------------------------------------===//
#include "Page.h"
#include "Target.h"

#include <algorithm>

using namespace kiln;
using fuzz::report;

static void refuseWithoutMessage(const Status &status, std::string_view input) {
  if (status.message().empty())
    report("a file was refused without a message", input);
}

/// Files on the disk become a page whose elements are its own.
static void makePage(std::string_view text) {
  static const fuzz::Folder folder;
  for (const char *name : {view::kRunFile, view::kCheckFile, view::kCodeFile, view::kMemoryFile,
                           view::kTimelineFile, view::kGraphFile})
    folder.write(name, text);
  Expected<view::RunFolder> run = view::RunFolder::open(folder.path());
  if (!run)
    return refuseWithoutMessage(run.status(), text);
  static const auto tagsOf = [](const std::string &page) {
    return std::count(page.begin(), page.end(), '<');
  };
  static const auto tags = tagsOf(view::renderPage(Json::object(), false));
  if (tagsOf(view::renderPage(run->data, false)) != tags)
    report("what a file says is part of the page itself", text);
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  std::string text(reinterpret_cast<const char *>(data), size);
  static uint64_t number = 0;
  if (number++ % 251 == 0) // a prime, so that every seed has its turn
    makePage(text);
  // The others are shown as run.json is.
  for (const char *name : {view::kRunFile, view::kTimelineFile, view::kGraphFile}) {
    Expected<Json> shown = view::digestFile(name, text);
    if (!shown)
      refuseWithoutMessage(shown.status(), text);
    else if (view::embeddedJson(*shown).find_first_of("<>&") != std::string::npos)
      report("what a file says can end the element that it is in", text);
  }
  return 0;
}
