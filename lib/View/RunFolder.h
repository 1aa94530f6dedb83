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

#include <optional>

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

/// A file's JSON. Refused: what is larger than `maxBytes`, and nesting that is deeper than any of
/// these files has.
Expected<Json> readJson(const std::string &path, uint64_t maxBytes);
/// The same of what a file holds.
Expected<Json> readJsonText(const std::string &text);

/// What the page has of a file with one of the names above, whose JSON this is.
Expected<Json> digestFile(std::string_view name, const Json &file);
/// Slices by column, tracks, counters (timeline.json).
Expected<Json> digestTimeline(const Json &file);
/// Tasks and edges (graph.json).
Expected<Json> digestGraph(const Json &file);

} // namespace kiln::view

#endif // KILN_LIB_VIEW_RUNFOLDER_H
