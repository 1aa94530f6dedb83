//===- PassMachine.h - the machine that a pass is told to compile for --------------------===//
#ifndef KILN_LIB_TRANSFORMS_PASSMACHINE_H
#define KILN_LIB_TRANSFORMS_PASSMACHINE_H

#include "kiln/Dialect/Kiln/KilnDialect.h"
#include "kiln/Machine/Hardware.h"

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

/// Does something to each role of a program for a machine whose instructions Kiln writes; nothing
/// where it writes none. `doAt` is given the role and the machine.
template <typename DoAt>
mlir::LogicalResult forRolesWithInstructions(mlir::ModuleOp module, llvm::StringRef name,
                                             DoAt doAt) {
  const Machine *target = machineOf(module, name);
  if (!target)
    return mlir::failure();
  if (!hardwareOf(*target))
    return mlir::success();
  for (auto func : module.getOps<ir::FuncOp>())
    if (func.getKind() == ir::FuncKind::Role && mlir::failed(doAt(func, *target)))
      return mlir::failure();
  return mlir::success();
}

} // namespace kiln

#endif // KILN_LIB_TRANSFORMS_PASSMACHINE_H
