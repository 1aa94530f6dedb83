//===- View.h - what a run left in a folder, as a page to look at ------------------------===//
//
// `kiln view DIR` makes one HTML page of the files that runs and checks write (docs/view.md). The
// page needs nothing else: its data are embedded as JSON, its code and style are part of this
// library, and it loads nothing from anywhere. `--serve` hands the same page out on 127.0.0.1 and
// answers its questions for parts of large tensors.
//
// Bad input: every file is input like any other. What cannot be read is told in the page, beside
// what can.
//
//===----------------------------------------------------------------------------===//
#ifndef KILN_VIEW_VIEW_H
#define KILN_VIEW_VIEW_H

namespace kiln {

/// argv[0] is the command's name. Returns the exit code: 0, or 2 for bad input or usage.
int viewCommand(int argc, const char *const *argv);

} // namespace kiln

#endif // KILN_VIEW_VIEW_H
