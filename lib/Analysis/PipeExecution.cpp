#include "PipeExecution.h"

using namespace mlir;

namespace kiln::pipes {

Execution::Execution(GroupModel &model, std::vector<int64_t> slots, int64_t unrolled,
                     int64_t maxSteps)
    : Model(&model), Slots(std::move(slots)), Unrolled(unrolled), StepsLeft(maxSteps),
      Stacks(model.members.size()), Pipes(model.pipes.size()) {
  for (auto [stack, member] : llvm::zip_equal(Stacks, model.members))
    stack.push_back({.sequence = &member.body});
}

bool Execution::canMake(const Event &event) const {
  const Counts &pipe = Pipes[event.pipe];
  switch (event.kind) {
  case Event::Kind::Push:
    return !IsWaiting || pipe.pushed - pipe.freed < Slots[event.pipe];
  case Event::Kind::Pop:
    return !IsWaiting || pipe.full() > 0;
  case Event::Kind::Free:
    return !IsWaiting || pipe.taken() > 0;
  }
  return false;
}

void Execution::make(const Event &event) {
  Counts &pipe = Pipes[event.pipe];
  ++EventsMade;
  switch (event.kind) {
  case Event::Kind::Push:
    ++pipe.pushed;
    pipe.lastPush = event.op;
    break;
  case Event::Kind::Pop:
    ++pipe.popped;
    break;
  case Event::Kind::Free:
    ++pipe.freed;
    break;
  }
}

void Execution::beginIteration(Frame &frame) {
  Values[frame.loop->index] = frame.index;
  frame.next = 0;
  frame.atHead = false;
}

void Execution::endIteration(Frame &frame) {
  frame.index = frame.index + frame.loop->step;
  if (frame.stride == 0) {
    frame.remaining = frame.remaining - 1;
    frame.atHead = true;
  } else if (++frame.made < frame.stride) {
    beginIteration(frame);
  } else {
    frame.atHead = true;
  }
}

bool Execution::passHead(std::vector<Frame> &stack, Stop &stop) {
  Frame &frame = stack.back();
  if (frame.stride != 0) {
    stop = Stop::Arrived;
    return false;
  }
  if (!frame.remaining.isConstant() || frame.remaining.constant() > Unrolled) {
    stop = Stop::AtLoop;
    return false;
  }
  if (frame.remaining.constant() > 0) {
    beginIteration(frame);
  } else {
    Values.erase(frame.loop->index);
    stack.pop_back();
  }
  return true;
}

Stop Execution::run(unsigned member) {
  std::vector<Frame> &stack = Stacks[member];
  while (!stack.empty()) {
    Model->scalars.spend(1);
    if (StepsLeft-- <= 0)
      return Stop::Exhausted;
    Frame &frame = stack.back();
    if (Stop stop; frame.atHead) {
      if (!passHead(stack, stop))
        return stop;
    } else if (frame.next == frame.sequence->size()) {
      if (frame.loop)
        endIteration(frame);
      else
        stack.pop_back();
    } else if (auto *event = std::get_if<Event>(&(*frame.sequence)[frame.next])) {
      if (!canMake(*event))
        return event->kind == Event::Kind::Free ? Stop::BadFree : Stop::Blocked;
      make(*event);
      ++frame.next;
    } else if (auto *loop = std::get_if<Loop>(&(*frame.sequence)[frame.next])) {
      ++frame.next;
      stack.push_back({.sequence = &loop->body,
                       .loop = loop,
                       .atHead = true,
                       .remaining = evaluate(loop->trips),
                       .index = evaluate(loop->lower)});
    } else {
      Expr condition = evaluate(pendingBranch(member).condition);
      if (!condition.isConstant())
        return Stop::AtBranch;
      choose(member, condition.constant() != 0);
    }
  }
  return Stop::Done;
}

void Execution::choose(unsigned member, bool condition) {
  const Branch &branch = pendingBranch(member);
  ++top(member).next;
  Stacks[member].push_back({.sequence = condition ? &branch.then : &branch.otherwise});
}

const Event &Execution::pending(unsigned member) const {
  const Frame &frame = Stacks[member].back();
  return std::get<Event>((*frame.sequence)[frame.next]);
}

const Branch &Execution::pendingBranch(unsigned member) const {
  const Frame &frame = Stacks[member].back();
  return std::get<Branch>((*frame.sequence)[frame.next]);
}

bool Execution::isBalanced() const {
  return llvm::all_of(Pipes,
                      [](const Counts &pipe) { return pipe.full() == 0 && pipe.taken() == 0; });
}

void Execution::replace(Atom atom, const Expr &by) {
  Env change{{atom, by}};
  for (std::vector<Frame> &stack : Stacks)
    for (Frame &frame : stack) {
      frame.remaining = Model->scalars.substitute(frame.remaining, change);
      frame.index = Model->scalars.substitute(frame.index, change);
    }
  for (auto &[index, value] : Values)
    value = Model->scalars.substitute(value, change);
}

} // namespace kiln::pipes
