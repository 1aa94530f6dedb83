//===- ExecRecord.h - what a run of a bundle leaves about itself ----------===//
//
// What: run.json and code.json for `kiln view`, beside the dump and the timeline: what was run,
//   with which arguments, how it ended, and what the bundle holds of the program as text. The
//   fields are described in docs/view.md.
//
// Ownership and threads: a value of whoever runs the bundle. Internal to the runtime.
//
//===---------------------------------------------------------------------===//
#ifndef KILN_RUNTIME_BUNDLE_EXECRECORD_H
#define KILN_RUNTIME_BUNDLE_EXECRECORD_H

#include "kiln/runtime/bundle.h"

#include "abi/Json.h"

namespace kiln {

class ExecRecord {
public:
  /// Of a run that leaves its files in `folder`.
  ExecRecord(const Bundle &bundle, std::string folder, const std::string &command,
             uint64_t dataSeed, int dumpLevel);

  void addTensor(const TensorParam &param, const Tensor &tensor, const std::string &given);
  void addScalar(const ScalarParam &param, const ScalarBits &scalar, const std::string &given);

  /// Removes what an earlier run left, and says of this one that it has not finished.
  Status begin();
  /// The program as the bundle has it.
  Status writeCode(const Bundle &bundle) const;
  /// "pass", "fail", "ran" or "error". `report` is what `--json` prints, null if there is none.
  Status finish(const std::string &outcome, const Status &error, const Json &report);

private:
  Status write() const;

  std::string Folder;
  Json Run;
};

} // namespace kiln

#endif // KILN_RUNTIME_BUNDLE_EXECRECORD_H
