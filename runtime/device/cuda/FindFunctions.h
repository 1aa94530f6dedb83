//===- FindFunctions.h - tables of functions that are found at run time ---------------------===//
#ifndef KILN_RUNTIME_DEVICE_CUDA_FINDFUNCTIONS_H
#define KILN_RUNTIME_DEVICE_CUDA_FINDFUNCTIONS_H

#include <dlfcn.h>

#include <string>

namespace kiln::cuda {

/// Fills in the functions of a table by their names in a library, and remembers which it does not
/// have.
class FindFunctions {
public:
  explicit FindFunctions(void *library) : Library(library) {}

  /// Null if the library does not have it.
  template <typename Function> void operator()(Function *&function, const char *name) {
    ifThere(function, name);
    if (!function)
      Missing += (Missing.empty() ? "" : ", ") + std::string(name);
  }
  /// The same of one that need not be there.
  template <typename Function> void ifThere(Function *&function, const char *name) const {
    function = reinterpret_cast<Function *>(dlsym(Library, name));
  }

  /// The names, as a list in words; empty: nothing is missing.
  const std::string &missing() const { return Missing; }

private:
  void *Library;
  std::string Missing;
};

} // namespace kiln::cuda

#endif // KILN_RUNTIME_DEVICE_CUDA_FINDFUNCTIONS_H
