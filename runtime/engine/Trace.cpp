#include "kiln/runtime/task.h"

using namespace kiln;

const char *kiln::toString(EdgeKind kind) {
  switch (kind) {
  case EdgeKind::Raw:
    return "raw";
  case EdgeKind::War:
    return "war";
  case EdgeKind::Waw:
    return "waw";
  case EdgeKind::Explicit:
    return "explicit";
  }
  return "unknown";
}

const char *kiln::toString(TaskState state) {
  switch (state) {
  case TaskState::Pending:
    return "pending";
  case TaskState::Done:
    return "done";
  case TaskState::Skipped:
    return "skipped";
  case TaskState::Failed:
    return "failed";
  case TaskState::Cancelled:
    return "cancelled";
  }
  return "unknown";
}

bool Trace::hasEdge(uint64_t from, uint64_t to, EdgeKind kind) const {
  for (const TraceEdge &edge : edges)
    if (edge.from == from && edge.to == to && edge.kind == kind)
      return true;
  return false;
}
