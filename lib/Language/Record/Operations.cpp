//===- Operations.cpp - all that can be recorded ------------------------------------------===//
#include "Recorder.h"

namespace kiln::record {

static std::vector<RecordedOp> makeOperations() {
  std::vector<RecordedOp> list;
  addScalarOperations(list);
  addTensorOperations(list);
  addTileOperations(list);
  addLaunchOperations(list);
  addControlOperations(list);
  addRankOperations(list);
  return list;
}

const std::vector<RecordedOp> &operations() {
  static const std::vector<RecordedOp> list = makeOperations();
  return list;
}

} // namespace kiln::record
