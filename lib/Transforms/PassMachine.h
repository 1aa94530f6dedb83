//===- PassMachine.h - the machine that a pass is told to compile for --------------------===//
#ifndef KILN_LIB_TRANSFORMS_PASSMACHINE_H
#define KILN_LIB_TRANSFORMS_PASSMACHINE_H

#include "kiln/Machine/Machine.h"

#include "mlir/IR/BuiltinOps.h"

namespace kiln {

/// The machine with a name, which is the option of a pass; null, with an error, if there is none.
inline const Machine *machineOf(mlir::ModuleOp module, llvm::StringRef name) {
  const Machine *machine = findMachine(name);
  if (!machine)
    mlir::emitError(module.getLoc())
        << "there is no machine '" << name << "'; kiln machines lists them";
  return machine;
}

} // namespace kiln

#endif // KILN_LIB_TRANSFORMS_PASSMACHINE_H
