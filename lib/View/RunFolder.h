//===- RunFolder.h - the files of a run, as data for the page ----------------------------===//
//
// Reads what is there and brings it into the form that the page draws: tables by column instead of
// one object an event, names once in a list. The fields are described in docs/view.md.
//
// Invariants: every value that the page computes with has been checked here. What does not fit is
// left out and told as a problem of its file; nothing that a file says makes this fail as a whole.
//
//===----------------------------------------------------------------------------===//
#ifndef KILN_LIB_VIEW_RUNFOLDER_H
#define KILN_LIB_VIEW_RUNFOLDER_H

#include "abi/Json.h"
#include "kiln/runtime/dump.h"

#include <functional>
#include <optional>
#include <span>

namespace kiln::view {

/// The files besides the dump that the page is made from.
inline constexpr const char *kRunFile = "run.json", *kCheckFile = "check.json",
                            *kCodeFile = "code.json", *kMemoryFile = "memory.json",
                            *kTimelineFile = "timeline.json", *kGraphFile = "graph.json";

struct RunFolder {
  std::string path;
  Json data;                    ///< For the page, without the arguments.
  std::optional<DumpFile> dump; ///< If there is one that can be read.

  /// NotFound if the folder holds none of the files.
  static Expected<RunFolder> open(const std::string &path);
};

/// Reads JSON whose outermost object has long lists: hands each of their members to `take` and
/// forgets it, so that a million tasks need no more memory than what is kept of them. The rest of
/// the object is returned. Refused: what is no JSON, is nested too deep, or lacks a list.
Expected<Json>
readLists(const std::string &text, std::span<const std::string_view> lists,
          const std::function<void(std::string_view list, const Json &member)> &take);

/// What the page has of a file with one of the names above that holds this text.
Expected<Json> digestFile(std::string_view name, const std::string &text);
/// Slices by column, tracks, counters (timeline.json).
Expected<Json> digestTimeline(const std::string &text);
/// Tasks and edges (graph.json).
Expected<Json> digestGraph(const std::string &text);

} // namespace kiln::view

#endif // KILN_LIB_VIEW_RUNFOLDER_H
