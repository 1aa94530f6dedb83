#include "kiln/Transforms/Passes.h"

namespace kiln {

bool buildPreparePipeline(mlir::OpPassManager &pm, llvm::StringRef lastPass,
                          std::vector<std::string> *names) {
  bool found = lastPass.empty(), done = false;
  auto add = [&](std::unique_ptr<mlir::Pass> pass) {
    std::string name = pass->getArgument().str();
    if (names)
      names->push_back(name);
    if (!done)
      pm.addPass(std::move(pass));
    if (name == lastPass)
      found = done = true;
  };
  add(createKilnOutline());
  add(createKilnResultsToOutParams());
  add(createKilnInferDirections());
  add(createTilePlaceFrees());
  return found;
}

void registerKilnPipelines() {
  mlir::PassPipelineRegistration<>("kiln-prepare", "make a program executable as it is written",
                                   [](mlir::OpPassManager &pm) { buildPreparePipeline(pm); });
}

} // namespace kiln
