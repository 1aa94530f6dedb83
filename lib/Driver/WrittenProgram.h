//===- WrittenProgram.h - a program that someone wrote in C++ ----------------------------===//
#ifndef KILN_LIB_DRIVER_WRITTENPROGRAM_H
#define KILN_LIB_DRIVER_WRITTENPROGRAM_H

#include "Driver.h"

namespace kiln {

/// What records a program, and what it should result in. It can be recorded as often as one likes,
/// each time with other values of its parameters.
struct WrittenProgram {
  std::string path; ///< Of its file.
  kiln_program_maker maker;
  void *context;
  Intent intent;

  using Recorded = std::unique_ptr<kiln_recorder, decltype(&kiln_recorder_destroy)>;
  Expected<Recorded> record(kiln_config &config) const {
    const char *problem = nullptr;
    Recorded program(maker(context, &config, &problem), kiln_recorder_destroy);
    if (!program)
      return Status(StatusCode::InvalidArgument,
                    problem ? std::string("the program threw an exception while it was built: ") +
                                  problem
                            : "the program threw what is no std::exception while it was built");
    if (std::string bad = chooseForCompiler(moduleOf(program.get()), config.values); !bad.empty())
      config.wrong.push_back(bad);
    return program;
  }
  /// The same, where mistakes are printed: then there is no program, and `exitCode` is set.
  std::optional<Recorded> recordOrPrint(kiln_config &config, int &exitCode) const;
};

} // namespace kiln

#endif // KILN_LIB_DRIVER_WRITTENPROGRAM_H
