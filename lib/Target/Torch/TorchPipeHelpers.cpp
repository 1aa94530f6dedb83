//===- TorchPipeHelpers.cpp - pipes and the scheduler, in Python -------------------===//
//
// docs/reference.md explains how these work together.
//
//===----------------------------------------------------------------------------===//
#include "TorchHelpers.h"

#include "llvm/ADT/StringExtras.h"

using llvm::StringRef;

namespace kiln::torch {

static constexpr Helper kPipeHelpers[] = {
    {"_reset_pipes", R"py(
def _reset_pipes():
    """A group starts with empty pipes, however the last one ended."""
    _pipes.clear()
    _current_sb[0] = 0
)py"},
    {"_Pipe", R"py(
class _Pipe:
    """A FIFO of tiles with a number of slots; None: as many as it takes.

    Where an end has lanes there is one queue a lane, for its part of every slot: queues[k] is what
    lane k pushed or will pop, held[k] how many of those were popped and not freed. An end without
    lanes uses all queues.
    """

    def __init__(self, slots=None, producers=1, consumers=1, declared=True):
        self.slots, self.declared = slots, declared
        self.producers, self.consumers = producers, consumers
        self.queues = [collections.deque() for _ in range(max(producers, consumers))]
        self.held = [0] * len(self.queues)

    def __str__(self):
        queued, slots = [len(queue) for queue in self.queues], self.slots or 'unbounded'
        return f'queued {queued}, popped and not freed {self.held}, slots {slots}'

    def reach(self, lanes, lane):
        """The queues that one end, which has so many lanes, uses in this lane."""
        return [lane] if lanes > 1 else range(len(self.queues))

    def can_push(self, lane):
        used = (len(self.queues[k]) + self.held[k] for k in self.reach(self.producers, lane))
        return self.slots is None or max(used) < self.slots

    def can_pop(self, lane):
        return all(self.queues[k] for k in self.reach(self.consumers, lane))

    def push(self, tiles, split, lane):
        reach = self.reach(self.producers, lane)
        for part, k in enumerate(reach):
            copy = [tile.clone() for tile in tiles]
            if split and len(reach) > 1:  # one role to lanes: each gets its part
                copy = [tile.chunk(len(reach), dim=split - 1)[part] for tile in copy]
            self.queues[k].append(copy)

    def pop(self, split, lane, extent):
        reach = self.reach(self.consumers, lane)
        parts = [self.queues[k].popleft() for k in reach]
        for k in reach:
            self.held[k] += 1
        if split and not self.declared:  # nobody said how many lanes: as many as make up the tile
            while extent and sum(part[0].shape[split - 1] for part in parts) < extent:
                if not self.queues[0]:
                    raise RuntimeError(f'only {len(parts)} parts of a tile of extent {extent} are queued')
                parts.append(self.queues[0].popleft())
        if len(parts) == 1:
            return tuple(parts[0])
        return tuple(torch.cat(tiles, dim=split - 1) for tiles in zip(*parts))

    def free(self, lane):
        for k in self.reach(self.consumers, lane):
            if self.held[k] == 0:
                raise RuntimeError('a slot is freed that was not popped')
            self.held[k] -= 1
)py"},
    {"_find_pipe", R"py(
def _find_pipe(name):
    """The pipe with this name. One that no group made, for a role by itself, has no limits."""
    if name not in _pipes:
        _pipes[name] = _Pipe(declared=False)
    return _pipes[name]
)py"},
    {"_push", R"py(
def _push(pipe, x, split):
    """Pushes a tile, a tuple of tiles that travel together, or a token: ()."""
    fifo, lane = _find_pipe(pipe), _current_sb[0]
    if not fifo.can_push(lane):
        raise RuntimeError(f"push to pipe '{pipe}' would wait for ever: {fifo}")
    fifo.push(x if isinstance(x, tuple) else (x,), split, lane)
)py"},
    {"_pop", R"py(
def _pop(pipe, split, extent):
    """Pops what was pushed together; with a split, what several lanes pushed is joined."""
    fifo, lane = _find_pipe(pipe), _current_sb[0]
    if not fifo.can_pop(lane):
        raise RuntimeError(f"pop from pipe '{pipe}' would wait for ever: {fifo}")
    tiles = fifo.pop(split, lane, extent)
    return tiles[0] if len(tiles) == 1 else tiles
)py"},
    {"_free", R"py(
def _free(pipe):
    """Releases the oldest popped slot; a slot is free again when every lane has done so."""
    _find_pipe(pipe).free(_current_sb[0])
)py"},
    {"_WaitPush", R"py(
class _WaitPush:
    """Yielded before a push: the task goes on when its part of a slot is free."""

    def __init__(self, pipe):
        self.pipe, self.fifo, self.lane = pipe, _find_pipe(pipe), _current_sb[0]

    def ready(self):
        return self.fifo.can_push(self.lane)

    def __str__(self):
        return f"to push to pipe '{self.pipe}' ({self.fifo})"
)py"},
    {"_WaitPop", R"py(
class _WaitPop:
    """Yielded before a pop: the task goes on when every part it needs is there."""

    def __init__(self, pipe):
        self.pipe, self.fifo, self.lane = pipe, _find_pipe(pipe), _current_sb[0]

    def ready(self):
        return self.fifo.can_pop(self.lane)

    def __str__(self):
        return f"to pop from pipe '{self.pipe}' ({self.fifo})"
)py"},
    {"_WaitBarrier", R"py(
class _WaitBarrier:
    """Yielded at a barrier: the task goes on when all others have come as often as it has."""

    def __init__(self):
        task = _current_task[0]
        _arrivals[task] = self.visit = _arrivals.get(task, 0) + 1

    def ready(self):
        return min(_arrivals.values()) >= self.visit

    def __str__(self):
        missing = [task for task, visits in _arrivals.items() if visits < self.visit]
        return 'at a barrier for ' + ', '.join(missing)
)py"},
    {"_call_g", R"py(
def _call_g(function, *args):
    """A function that never waits, as a task."""
    function(*args)
    yield from ()
)py"},
    {"_run_alone", R"py(
def _run_alone(task):
    """Runs a task by itself. Nothing it lacks can still come, so what cannot happen now raises."""
    for _ in task:
        pass
)py"},
    {"_run_scheduler", R"py(
def _run_scheduler(tasks):
    """Runs tasks (name, generator, lane) in turns, in the order given, until all have ended.

    A turn takes a task from one place where it may wait to the next; a task that cannot go on yet misses its
    turn. A round in which nobody can go on is a deadlock. No threads, no clock: every run is alike.
    """
    requests = [None] * len(tasks)  # what each task waits for; None before its first turn
    alive = list(range(len(tasks)))
    try:
        while alive:
            progress = False
            for t in list(alive):
                name, generator, lane = tasks[t]
                if requests[t] is not None and not requests[t].ready():
                    continue
                progress, _current_sb[0] = True, lane
                try:
                    requests[t] = next(generator)
                except StopIteration:
                    alive.remove(t)
                except Exception as error:
                    what = f'{type(error).__name__}: {error}'
                    raise RuntimeError(f'{name} (lane {lane}): {what}') from error
            if not progress:
                blocked = ', '.join(
                    f'{tasks[t][0]} (lane {tasks[t][2]}) waits {requests[t]}' for t in alive)
                raise RuntimeError(f'Cross-core simulation deadlock; tasks blocked: [{blocked}]')
    finally:
        _current_sb[0] = 0
        for _, generator, _ in tasks:
            generator.close()
)py"},
    {"_check_drained", R"py(
def _check_drained(group):
    """What was pushed in a group must have been popped when it ends."""
    for name, fifo in _pipes.items():
        if any(fifo.queues):
            raise RuntimeError(f"group {group} ended with tiles left in pipe '{name}': {fifo}")
)py"},
    {"_use_pipes", R"py(
def _use_pipes(pipes):
    """Goes on with the pipes of another block."""
    _pipes.clear()
    _pipes.update(pipes)
)py"},
    {"_in_block", R"py(
def _in_block(name, block, pipes, task):
    """A task of one block among several: where it runs, its block and pipes are in place."""
    while True:
        _current_task[0], _block[:] = name, block
        _use_pipes(pipes)
        try:
            request = next(task)
        except StopIteration:
            return
        yield request
)py"},
    {"_launch_together", R"py(
def _launch_together(tasks_of, meeting, grid, *args):
    """Runs all blocks of a grid as tasks of one scheduler; those named in meeting use barriers."""
    tasks, pipes_of = [], {}
    _arrivals.clear()
    try:
        for block in _blocks(grid):
            members = tasks_of(*args)
            pipes_of[block] = dict(_pipes)
            for member, task, lane in members:
                name = f'{member} of block {block}'
                if member in meeting:
                    _arrivals[name] = 0
                tasks.append((name, _in_block(name, block, pipes_of[block], task), lane))
        _run_scheduler(tasks)
        for block, pipes in pipes_of.items():
            _use_pipes(pipes)
            _check_drained(f'of block {block}')
    finally:
        _block[:], _grid[:] = [0, 0, 0], [1, 1, 1]
)py"},
};

llvm::ArrayRef<Helper> pipeHelpers() { return kPipeHelpers; }

namespace {
/// A pipe operation as a role sees it. `$R` stands for the role at the other end.
struct RoleHelper {
  llvm::StringLiteral prefix, plain, generator;
};
} // namespace

static constexpr RoleHelper kRoleHelpers[] = {
    {"_tpush_to_", R"py(

def _tpush_to_$R(pipe, x, split):
    """Sends x to $R, and returns it."""
    _push(pipe, x, split)
    return x
)py",
     R"py(

def _tpush_to_$R_g(pipe, x, split):
    yield _WaitPush(pipe)
    return _tpush_to_$R(pipe, x, split)
)py"},
    {"_tpop_from_", R"py(

def _tpop_from_$R(pipe, split, extent=None):
    """Takes what $R sent: a tile, or so much of its split axis as extent says."""
    return _pop(pipe, split, extent)
)py",
     R"py(

def _tpop_from_$R_g(pipe, split, extent=None):
    yield _WaitPop(pipe)
    return _tpop_from_$R(pipe, split, extent)
)py"},
    {"_tfree_to_", R"py(

def _tfree_to_$R(pipe):
    """Gives a slot back to $R."""
    _free(pipe)
)py",
     ""},
};

std::string rolePipeHelper(StringRef name) {
  for (const RoleHelper &helper : kRoleHelpers) {
    StringRef role = name;
    if (!role.consume_front(helper.prefix))
      continue;
    bool isGenerator = role.consume_back("_g");
    std::string text = helper.plain.str() + (isGenerator ? helper.generator.str() : "");
    for (size_t at; (at = text.find("$R")) != std::string::npos;)
      text.replace(at, 2, role);
    return text;
  }
  return "";
}

} // namespace kiln::torch
