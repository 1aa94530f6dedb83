//===- ProgramAccess.h - what was recorded, for the compiler side -------------------===//
//
// Keeps MLIR out of the headers that users of the front end include.
//
//===----------------------------------------------------------------------------===//
#ifndef KILN_LANGUAGE_PROGRAMACCESS_H
#define KILN_LANGUAGE_PROGRAMACCESS_H

#include "kiln/Dialect/Tile/TileDialect.h"
#include "kiln/record_c.h"
#include "kiln/runtime/status.h"

#include <map>

/// The parameters of a program: the values that are given for them, and what it asks for.
struct kiln_config {
  /// An integer from `low` to `high`.
  int64_t param(const std::string &name, int64_t low, int64_t high, int64_t fallback);
  /// One of these integers.
  int64_t param(const std::string &name, const std::vector<int64_t> &choices, int64_t fallback);
  /// One of these words.
  std::string choice(const std::string &name, const std::vector<std::string> &choices,
                     const std::string &fallback);
  /// Values that do not fit, and values nobody asked for. Complete once the program has been
  /// recorded.
  std::vector<std::string> errors() const;

  struct Declared {
    std::string name, value;
    std::vector<std::string> choices; ///< Words, or one range: 0..8.
  };
  std::map<std::string, std::string> values = {};
  std::vector<Declared> declared = {}; ///< What the program asked for, in order.
  std::vector<std::string> wrong = {}; ///< Values that do not fit.
  std::string told = {};               ///< What a function of C returned last.
};

namespace kiln {

/// The recorded module; owned by the recorder.
mlir::ModuleOp moduleOf(kiln_recorder *recorder);
/// Every mistake that was made while recording, or that the verifier found; empty if the program
/// is right.
const std::vector<Status> &errorsOf(kiln_recorder *recorder);

/// Chooses for the compiler what values of parameters say of it; what is wrong with them, or
/// nothing.
std::string chooseForCompiler(mlir::ModuleOp module,
                              const std::map<std::string, std::string> &values);

/// A registry with everything a Kiln program can contain.
void registerKilnDialects(mlir::DialectRegistry &registry);

/// Collects the errors MLIR reports while it lives, notes appended, as Status values with the
/// user's location.
class DiagnosticCollector {
public:
  DiagnosticCollector(mlir::MLIRContext *context, std::vector<Status> &errors);

private:
  mlir::ScopedDiagnosticHandler handler;
};

} // namespace kiln

#endif // KILN_LANGUAGE_PROGRAMACCESS_H
