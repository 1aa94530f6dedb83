//===- TorchRanks.cpp - several ranks, in turns in one process -----------------------===//
//
// An orchestration that other ranks have part in is a generator: it yields where it waits for them,
// and the scheduler that runs roles runs ranks. docs/ranks.md explains what waits for what.
//
//===----------------------------------------------------------------------------===//
#include "TorchFunction.h"
#include "TorchHelpers.h"
#include "TorchPython.h"

#include "kiln/Dialect/Kiln/Collective.h"
#include "kiln/Program/Signature.h"

#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace kiln::torch {

static constexpr Helper kRankHelpers[] = {
    {"_line_of", R"py(
def _line_of(along=None):
    """The ranks of a group, and this rank's place among them; along: an axis, and a mesh's extents."""
    rank, ranks = _rank
    if along is None:
        return range(ranks), rank
    axis, extents = along
    known = 1
    for extent in extents:
        known *= extent or 1
    extents = [ranks // known if extent is None else extent for extent in extents]
    stride, total = 1, 1
    for number, extent in enumerate(extents):
        total *= extent
        stride *= extent if number > axis else 1
    if total != ranks:
        raise ValueError(f'a mesh of {extents} needs another number of ranks; there are {ranks}')
    place = rank // stride % extents[axis]
    first = rank - place * stride
    return range(first, first + stride * extents[axis], stride), place
)py"},
    {"_combine", R"py(
def _combine(parts, how, f8):
    """Combines tensors in the order of the ranks; narrow floats in float32, rounded once."""
    dtype = parts[0].dtype
    if f8:
        parts = [_from_f8(part, f8) for part in parts]
    elif dtype in (torch.float16, torch.bfloat16):
        parts = [part.float() for part in parts]
    total = parts[0].clone()
    for part in parts[1:]:
        if how in ('sum', 'prod'):
            total = total + part if how == 'sum' else total * part
        else:
            total = torch.maximum(total, part) if how == 'max' else torch.minimum(total, part)
    return _to_f8(total, f8) if f8 else total.to(dtype)
)py"},
    {"_perform", R"py(
def _perform(line, calls):
    """What a collective does, once every rank has come to it."""
    for rank, call in zip(line, calls):
        for what in ('kind', 'how', 'peer', 'shape'):
            if call[what] != calls[0][what]:
                raise RuntimeError(f"ranks {line[0]} and {rank} disagree: {what} is {calls[0][what]} "
                                   f"on one and {call[what]} on the other")
    kind, how, f8 = calls[0]['kind'], calls[0]['how'], calls[0]['f8']
    sources = [call['source'] for call in calls]
    targets = [call['target'] for call in calls]
    count = len(calls)
    if kind == 'all_reduce':
        total = _combine(targets, how, f8)
        for target in targets:
            target.copy_(total)
    elif kind == 'reduce_scatter':
        for target, part in zip(targets, _combine(sources, how, f8).chunk(count)):
            target.copy_(part)
    elif kind == 'all_gather':
        for target in targets:
            target.copy_(torch.cat(sources))
    elif kind == 'all_to_all':
        parts = [source.clone().chunk(count) for source in sources]
        for place, target in enumerate(targets):
            target.copy_(torch.cat([part[place] for part in parts]))
    elif kind == 'broadcast':
        root = calls[0]['peer']
        if not 0 <= root < count:
            raise RuntimeError(f'the root is rank {root}, but there are ranks 0 to {count - 1}')
        for target in targets:
            target.copy_(targets[root].clone())
)py"},
    {"_WaitRanks", R"py(
class _WaitRanks:
    """Yielded at a collective: the rank goes on when all others have come to it."""

    def __init__(self, kind, line, calls):
        self.kind, self.line, self.calls = kind, line, calls

    def ready(self):
        return len(self.calls) == len(self.line)

    def __str__(self):
        missing = [str(rank) for place, rank in enumerate(self.line) if place not in self.calls]
        return f'in {self.kind} for rank ' + ', '.join(missing)
)py"},
    {"_collect", R"py(
def _collect(kind, source=None, target=None, how=None, peer=None, f8=None, along=None):
    """What all ranks of a group do together: the last to come does it for all."""
    line, place = _line_of(along)
    key = (_rank[0], line)
    visit = _visits[key] = _visits.get(key, 0) + 1
    calls = _meetings.setdefault((line, visit), {})
    shape = [tuple(x.shape) for x in (source, target) if x is not None]
    calls[place] = dict(kind=kind, source=source, target=target, how=how, peer=peer, f8=f8, shape=shape)
    yield _WaitRanks(kind, line, calls)
    if _meetings.pop((line, visit), None):
        _perform(line, [calls[place] for place in range(len(line))])
)py"},
    {"_peer_of", R"py(
def _peer_of(peer, along):
    """Another rank of a group, by its place in it."""
    line, place = _line_of(along)
    if not 0 <= peer < len(line) or peer == place:
        raise RuntimeError(f'rank {place} talks to rank {peer}, of ranks 0 to {len(line) - 1}')
    return line[peer]
)py"},
    {"_send", R"py(
def _send(x, peer, along=None):
    """Gives a tensor to another rank, which takes it when it comes to its recv."""
    _mail.setdefault((_rank[0], _peer_of(peer, along)), []).append(x.clone())
)py"},
    {"_recv", R"py(
def _recv(x, peer, along=None):
    """Takes a tensor from another rank: later, when somebody wants to know what is in it."""
    key = (_peer_of(peer, along), _rank[0])
    number = _visits[key] = _visits.get(key, 0) + 1
    _awaited.setdefault(_rank[0], []).append((x, key, number - 1))
)py"},
    {"_WaitMail", R"py(
class _WaitMail:
    """Yielded where a tensor is used that another rank has not sent yet."""

    def __init__(self, key, number):
        self.key, self.number = key, number

    def ready(self):
        return len(_mail.get(self.key, ())) > self.number

    def __str__(self):
        return f'in recv for rank {self.key[0]}'
)py"},
    {"_memory_of", R"py(
def _memory_of(x):
    """Where the memory of a tensor begins, whatever part of it the tensor is."""
    return (x.untyped_storage if hasattr(x, 'untyped_storage') else x.storage)().data_ptr()
)py"},
    {"_settle", R"py(
def _settle(*tensors):
    """Waits for what was to be received into the memory of these tensors; of all, without any."""
    wanted = {_memory_of(x) for x in tensors}
    waiting = _awaited.get(_rank[0], [])
    for entry in list(waiting):
        x, key, number = entry
        if wanted and _memory_of(x) not in wanted:
            continue
        yield _WaitMail(key, number)
        message = _mail[key][number]
        if message.shape != x.shape or message.dtype != x.dtype:
            raise RuntimeError(f'rank {key[0]} sends {tuple(message.shape)}, rank {key[1]} receives '
                               f'{tuple(x.shape)}')
        x.copy_(message)
        waiting[:] = [other for other in waiting if other is not entry]
)py"},
    {"_as_rank", R"py(
def _as_rank(rank, ranks, task):
    """A task that is one of several ranks: wherever it runs, it is that rank."""
    while True:
        _rank[:] = rank, ranks
        try:
            request = next(task)
        except StopIteration:
            return
        yield request
)py"},
    {"_run_ranks", R"py(
def _run_ranks(function, arguments):
    """Runs a function on as many ranks as there are lists of arguments, as tasks of one scheduler."""

    def whole(args):
        yield from function(*args)
        yield from _settle()

    for state in (_visits, _meetings, _mail, _awaited):
        state.clear()
    try:
        _run_scheduler([(f'rank {rank}', _as_rank(rank, len(arguments), whole(args)), 0)
                        for rank, args in enumerate(arguments)])
        left = [f'from rank {key[0]} to rank {key[1]}' for key, messages in _mail.items()
                if len(messages) > _visits.get(key, 0)]
        if left:
            raise RuntimeError('Cross-core simulation deadlock; sent and never received: ' + ', '.join(left))
    finally:
        _rank[:] = 0, 1
)py"},
};

ArrayRef<Helper> rankHelpers() { return kRankHelpers; }

//===----------------------------------------------------------------------===//
// Which functions are generators
//===----------------------------------------------------------------------===//

/// Whether an orchestration waits for other ranks, itself or in what it calls.
static bool waitsForRanks(const Program &program, ir::FuncOp func) {
  return func
      .walk([&](Operation *op) {
        auto call = dyn_cast<ir::CallOp>(op);
        bool waits =
            ir::collectiveOf(op).has_value() ||
            (call && func.getKind() == ir::FuncKind::Orchestration &&
             program.lookup(call.getCalleeAttr()).getKind() == ir::FuncKind::Orchestration &&
             waitsForRanks(program, program.lookup(call.getCalleeAttr())));
        return waits ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

void planRanks(Program &program) {
  program.module.walk([&](ir::RecvOp) { program.receives = true; });
  for (auto func : program.module.getOps<ir::FuncOp>())
    if (func.getKind() == ir::FuncKind::Orchestration && waitsForRanks(program, func))
      program.generators.insert({func, program.names.unique(program.nameOf(func) + "_g")});
}

//===----------------------------------------------------------------------===//
// Statements
//===----------------------------------------------------------------------===//

/// A group as `_line_of` takes it.
static std::string alongText(ir::AlongAttr along) {
  SmallVector<std::string> extents;
  for (int64_t extent : along.getExtents())
    extents.push_back(ShapedType::isDynamic(extent) ? "None" : std::to_string(extent));
  return "(" + std::to_string(along.getAxis()) + ", " + tuple(extents) + ")";
}

Expr FunctionEmitter::rankExpression(ir::AlongAttr along, bool wantsCount) {
  if (!along)
    return {wantsCount ? "_rank[1]" : "_rank[0]"};
  std::string line = "_line_of(" + alongText(along) + ")";
  return {wantsCount ? "len(" + line + "[0])" : line + "[1]"};
}

/// What is received late has to be there before it is used.
void FunctionEmitter::emitSettle(Operation *op) {
  if (!Prog.receives || Func.getKind() != ir::FuncKind::Orchestration || !isGenerator())
    return;
  bool uses = isa<ir::SubmitOp, ir::IncoreOp, ir::GetOp>(op) || ir::collectiveOf(op);
  if (!uses)
    return;
  llvm::SetVector<Value> roots;
  op->walk([&](Operation *inner) {
    for (Value operand : inner->getOperands())
      if (isa<ir::TensorType>(operand.getType()) && Values.contains(ir::rootOf(operand)))
        roots.insert(ir::rootOf(operand));
  });
  if (roots.empty())
    return;
  Yields = true;
  line("yield from _settle(" + arguments(roots.getArrayRef()) + ")");
}

void FunctionEmitter::emitCollective(const ir::Collective &of) {
  Values[of.task] = {"None"};
  Yields = true;
  std::string along = of.along ? ", along=" + alongText(of.along) : "";
  if (of.isBetweenTwo()) {
    bool sends = of.kind == ir::CollectiveKind::Send;
    line(Twine(sends ? "_send(" : "_recv(") + text(sends ? of.source : of.target) + ", " +
         text(of.peer) + along + ")");
    return;
  }
  std::string args = "'" + of.op->getName().stripDialect().str() + "'";
  if (of.source)
    args += ", source=" + text(of.source);
  if (of.target)
    args += ", target=" + text(of.target);
  if (of.reduces()) {
    args += ", how='" + tile::stringifyReduceKind(of.how).str() + "'";
    Type element = cast<ir::TensorType>(of.target.getType()).getElementType();
    if (isFloat8(element))
      args += ", f8=" + float8Kind(element).str();
  }
  if (of.peer)
    args += ", peer=" + text(of.peer);
  line("yield from _collect(" + Twine(args) + along + ")");
}

} // namespace kiln::torch
