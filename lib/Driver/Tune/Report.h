//===- Report.h - what tuning tried and found, for people and for machines -----------------===//
#ifndef KILN_LIB_DRIVER_TUNE_REPORT_H
#define KILN_LIB_DRIVER_TUNE_REPORT_H

#include "Tune/Search.h"

namespace kiln {

struct Found {
  std::string program, platform;
  const Choices &choices;
  const Budget &budget;
  Search &search;
  const Candidate *winner;
};

/// Prints it, keeps the winner in the store, and returns the exit code.
int reportAndKeep(const Found &found, const TuneStore &store, const std::string &key, bool asJson);

} // namespace kiln

#endif // KILN_LIB_DRIVER_TUNE_REPORT_H
