//===- ViewFuzzer.cpp - fuzzes what pages of runs are made from ----------------------===//
//
// The input stands in for every file of a run at once, so that each reader sees it.
//
//===----------------------------------------------------------------------------===//
#include "Page.h"
#include "Target.h"

#include <algorithm>

using namespace kiln;
using fuzz::report;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static const fuzz::Folder folder;
  std::string_view text(reinterpret_cast<const char *>(data), size);
  for (const char *name : {view::kRunFile, view::kCheckFile, view::kCodeFile, view::kMemoryFile,
                           view::kTimelineFile, view::kGraphFile})
    folder.write(name, text);
  Expected<view::RunFolder> run = view::RunFolder::open(folder.path());
  if (!run) {
    if (run.status().message().empty())
      report("a run was refused without a message", text);
    return 0;
  }
  // What files say is text: it neither ends the element it stands in nor begins another.
  static const size_t tags = [] {
    std::string empty = view::renderPage(Json::object(), false);
    return size_t(std::count(empty.begin(), empty.end(), '<'));
  }();
  std::string page = view::renderPage(run->data, false);
  if (size_t(std::count(page.begin(), page.end(), '<')) != tags)
    report("what a file says is part of the page itself", text);
  return 0;
}
