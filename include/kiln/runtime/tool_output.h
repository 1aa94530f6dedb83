//===- kiln/runtime/tool_output.h - the last thing a tool does -----------===//
//
// What: a tool whose output could not be written has not done what it was asked for, however well
//   the rest went: half a program in a file must not look like a whole one. And what is given
//   `--json` prints one document, also where it fails.
//
// Threads: at the end of main, when no other thread prints.
//
//===---------------------------------------------------------------------===//
#ifndef KILN_RUNTIME_TOOL_OUTPUT_H
#define KILN_RUNTIME_TOOL_OUTPUT_H

#include "kiln/runtime/interrupt.h"

#include <cstdio>
#include <iostream>

namespace kiln {

/// What follows is the output of a command with these words.
void beginOutput(int argc, const char *const *argv);
/// Where `--json` is given and a command failed before it printed anything: prints the failure.
void finishJson(int code);

/// The exit code of a tool: `code`, or 1 in place of 0 if standard output did not take everything,
/// or what a signal makes of it.
inline int finishOutput(int code) {
  finishJson(exitCodeAfterSignals(code));
  std::cout.flush();
  bool isWritten = std::fflush(stdout) == 0 && !std::ferror(stdout) && !std::cout.fail();
  if (isWritten)
    return exitCodeAfterSignals(code);
  std::fputs("kiln: error: cannot write all of the output; is the disk full?\n", stderr);
  return code == 0 ? 1 : code;
}

} // namespace kiln

#endif // KILN_RUNTIME_TOOL_OUTPUT_H
