#include "CallRecorder.h"

#include "abi/FileIo.h"
#include "kiln/runtime/timeline.h"

#include <cerrno>
#include <filesystem>
#include <sys/stat.h>

namespace kiln {

Expected<std::string> CallRecorder::makeFolder(const std::string &program) {
  std::error_code ignored; // the next step says what is wrong
  std::filesystem::create_directories(Options.out, ignored);
  std::string prefix = Options.out + "/" + FileNames()(program) + "-";
  while (true) {
    std::string folder = prefix + std::to_string(Next.fetch_add(1));
    if (::mkdir(folder.c_str(), 0777) == 0)
      return folder;
    if (errno != EEXIST)
      return errnoStatus("make the folder", folder);
  }
}

Status CallRecorder::run(const JitSource &source, const LoadedProgram &program,
                         std::span<const Tensor> tensors, std::span<const ScalarBits> scalars) {
  Expected<std::string> folder = makeFolder(source.program());
  if (!folder) {
    Tell("the call is not recorded: " + folder.status().message());
    return program.call(tensors, scalars);
  }
  NativeRunOptions options;
  options.run = {
      source.program(), source.platform(), {Options.dumpLevel, *folder}, Options.timeline};
  options.location = source.location();
  NativeRunReport report;
  Status done =
      program.runRecorded(tensors, scalars, options, Options.timeline ? &report : nullptr);
  Status written;
  if (report.timeline.isRecorded())
    written = writeTimeline(*folder, source.program() + " on " + source.platform(), report.timeline,
                            report.trace);
  // A dump that cannot be written stops no run, so this is said by its end.
  if (Options.dumpLevel > 0 && done.code() == StatusCode::IoError)
    written = std::exchange(done, Status::ok());
  if (!written.isOk())
    Tell("the record of a call is not complete: " + written.message());
  return done;
}

} // namespace kiln
