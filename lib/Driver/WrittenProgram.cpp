#include "WrittenProgram.h"

#include "llvm/ADT/StringExtras.h"

namespace kiln {

std::optional<WrittenProgram::Recorded> WrittenProgram::recordOrPrint(kiln_config &config,
                                                                      int &exitCode) const {
  Expected<Recorded> program = record(config);
  if (std::vector<std::string> wrong = config.errors(); !wrong.empty()) {
    exitCode = badInput(llvm::join(wrong, "\nkiln: error: "));
  } else if (!program) {
    exitCode = badInput(program.status().message());
  } else if (const std::vector<Status> &errors = errorsOf(program->get()); !errors.empty()) {
    printErrors(errors);
    exitCode = kBadInput;
  } else {
    return std::move(*program);
  }
  return std::nullopt;
}

} // namespace kiln
