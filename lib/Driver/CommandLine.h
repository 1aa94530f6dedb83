//===- CommandLine.h - what the command line says -----------------------------------------===//
#ifndef KILN_LIB_DRIVER_COMMANDLINE_H
#define KILN_LIB_DRIVER_COMMANDLINE_H

#include "Tune/Tune.h"

namespace kiln {

/// What the command line says, whatever the command.
struct CommandLine {
  std::string command = "run";
  RunSettings run;
  std::string target = "ir";
  std::map<std::string, std::string> config; ///< Options that belong to the program's Config.
  TuneSettings tune;
  bool untuned = false; ///< Do not use what tuning found.
  /// What the examples of --help give: a program's own arguments, if it is one.
  std::string exampleArguments = "--arg a=128x64 --arg b=64x32 --arg c=128x32";
};

/// Parses the options of a command; -1 to go on, else the exit code. `help` tells of the program's
/// own options.
int parseOptions(CommandLine &line, const std::string &program,
                 const std::vector<std::string> &args, const std::function<std::string()> &help);

/// The command line again, for a report to say how to see something again: without the options that
/// the report adds, which are the seeds and, in a check, the arguments of the case.
std::string replayCommand(const std::string &command, std::vector<std::string> words,
                          const std::vector<std::string> &args);

} // namespace kiln

#endif // KILN_LIB_DRIVER_COMMANDLINE_H
