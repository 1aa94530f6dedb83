// Which call of a kernel is being timed on this thread. The roles of a mixed kernel run inside that
// call, so they need not be handed anything.
#include "timeline/TimelineRecorder.h"

using namespace kiln;

static thread_local RoleTimeline *CurrentCall = nullptr;

RoleTimeline *RoleTimeline::current() { return CurrentCall; }

void TimelineSpan::enter(RoleTimeline *timeline) { CurrentCall = timeline; }

void TimelineSpan::end() {
  if (Kind == TimelineEvent::Kind::Call)
    enter(nullptr);
  Recorder->record(Worker, {Kind, Task, Begin, Recorder->now(), Blocks ? *Blocks : kiln_blocks{}});
}
