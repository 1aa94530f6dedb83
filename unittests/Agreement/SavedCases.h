//===- SavedCases.h - programs with what goes in and comes out, for other machines ---------===//
//
// KILN_SAVE_CASES=FILE has these tests append a line of JSON for each program that they have run:
// its text, its tensors before and, as the reference computes them, after, and by how much another
// result may differ. scripts/gpu-cases runs them where there are a GPU and an installed Kiln.
//
//===----------------------------------------------------------------------------===//
#ifndef KILN_UNITTESTS_AGREEMENT_SAVEDCASES_H
#define KILN_UNITTESTS_AGREEMENT_SAVEDCASES_H

#include "kiln/runtime/tensor.h"

#include "llvm/Support/Base64.h"
#include "llvm/Support/JSON.h"

#include <cstdlib>
#include <fstream>

namespace kiln::test {

struct SavedTensor {
  Tensor before, after;
  double absolute = 0, relative = 0;
};

inline void saveCase(const std::string &name, const std::string &text, const std::string &entry,
                     const std::vector<SavedTensor> &tensors) {
  const char *file = std::getenv("KILN_SAVE_CASES");
  if (!file || !*file)
    return;
  auto bytesOf = [](const Tensor &tensor) {
    std::vector<std::byte> bytes = *tensor.gatherBytes();
    return llvm::encodeBase64(
        llvm::StringRef(reinterpret_cast<const char *>(bytes.data()), bytes.size()));
  };
  llvm::json::Array args;
  for (const SavedTensor &tensor : tensors)
    args.push_back(llvm::json::Object{{"type", toString(tensor.before.dtype())},
                                      {"extents", llvm::json::Array(tensor.before.extents())},
                                      {"before", bytesOf(tensor.before)},
                                      {"after", bytesOf(tensor.after)},
                                      {"absolute", tensor.absolute},
                                      {"relative", tensor.relative}});
  std::string line;
  llvm::raw_string_ostream(line) << llvm::json::Value(llvm::json::Object{
      {"name", name}, {"text", text}, {"entry", entry}, {"args", std::move(args)}});
  std::ofstream(file, std::ios::app) << line << "\n";
}

} // namespace kiln::test

#endif // KILN_UNITTESTS_AGREEMENT_SAVEDCASES_H
