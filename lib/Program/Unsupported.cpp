#include "kiln/Program/Unsupported.h"

#include "kiln/Program/Signature.h"

using namespace mlir;

namespace kiln {

Status cannotBeCompiled(Operation *op, StringRef platform, const Twine &why) {
  return Status(
      StatusCode::Unsupported,
      ("'" + op->getName().getStringRef() + "' cannot be compiled for " + platform + ": " + why)
          .str(),
      sourceLocOf(op->getLoc()));
}

} // namespace kiln
