//===- EmitTorch.cpp - a program as one Python file --------------------------------===//
#include "kiln/Target/Torch/Torch.h"

#include "TorchFunction.h"
#include "TorchHelpers.h"

#include "kiln/Dialect/Tile/GlobalRing.h"
#include "kiln/Program/Signature.h"
#include "kiln/Target/Text/Literals.h"

#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace kiln {
namespace {

using namespace torch;

/// The order of the file: roles, other kernels, groups, orchestrations.
constexpr ir::FuncKind kOrder[] = {ir::FuncKind::Role, ir::FuncKind::Incore, ir::FuncKind::Group,
                                   ir::FuncKind::Orchestration};

class ProgramEmitter {
public:
  ProgramEmitter(ModuleOp module, const TorchOptions &options, PlaceMarks *marks = nullptr)
      : Prog(module, options) {
    Prog.marks = marks;
  }

  Status plan();
  Expected<std::string> emit(std::vector<SourceLoc> *places);
  const std::string &entryName() const { return EntryName; }
  const std::string &ranksName() const { return RanksName; }

private:
  bool needsRun() const { return Entry && Functions.size() > 1 && Prog.nameOf(Entry) != "run"; }
  std::string groupComment(ir::FuncOp group);
  std::string header() const;
  std::string runFunction();
  std::string taskTable();
  std::string ranksFunction();

  Program Prog;
  SmallVector<ir::FuncOp> Functions; ///< In the order of the file.
  mutable ir::FuncOp Entry;
  std::string EntryName;
  std::string RanksName; ///< Of the function that runs several ranks; empty without any.
};

Status ProgramEmitter::plan() {
  for (ir::FuncKind kind : kOrder)
    for (auto func : Prog.module.getOps<ir::FuncOp>())
      if (func.getKind() == kind)
        Functions.push_back(func);
  // Roles without a group are there to be called one by one, on pipes that were filled by hand.
  bool hasOnlyRoles =
      llvm::all_of(Functions, [](ir::FuncOp func) { return func.hasPipeParameter(); });
  if (Functions.empty() || !hasOnlyRoles || !Prog.options.entry.empty()) {
    Expected<ir::FuncOp> entry = findEntry(Prog.module, Prog.options.entry);
    if (!entry)
      return entry.status();
    Entry = *entry;
  }
  // `run` is the entry's own name or that of the wrapper, never that of another function.
  bool isEntryRun = Entry && Entry.getSymName() == "run";
  if (Entry && !isEntryRun && Functions.size() > 1)
    Prog.names.reserve("run");
  if (isEntryRun)
    Prog.functionNames[Entry] = Prog.names.unique("run");
  for (ir::FuncOp func : Functions)
    if (!Prog.functionNames.contains(func))
      Prog.functionNames[func] = Prog.names.unique(func.getSymName());
  planTasks(Prog);
  planRanks(Prog);
  if (Entry && Prog.generators.contains(Entry))
    RanksName = Prog.names.unique("run_ranks");
  if (Entry)
    EntryName = needsRun() ? "run" : Prog.nameOf(Entry);
  return Status::ok();
}

std::string ProgramEmitter::groupComment(ir::FuncOp group) {
  SmallVector<std::string> members;
  for (auto call : group.getBody().getOps<ir::CallOp>()) {
    ir::FuncOp member = Prog.lookup(call.getCalleeAttr());
    int64_t lanes = group.getLanesOf(*member.getRole());
    members.push_back(Prog.nameOf(member) + " (" + member.getRole()->str() +
                      (lanes > 1 ? ", " + std::to_string(lanes) + " lanes)" : ")"));
  }
  return "# Group: " + Prog.nameOf(group) + "\n# Members: " + llvm::join(members, ", ") + "\n";
}

std::string ProgramEmitter::header() const {
  ir::FuncOp first = Functions.front();
  std::string name =
      ModuleOp(Prog.module).getSymName().value_or((Entry ? Entry : first).getSymName()).str();
  std::string text = R"py("""The Kiln program $N as plain PyTorch: its reference.

Emitted by Kiln; needs only torch. Importing it runs nothing: call $E(...). Tensors are modified in
place.

Tiles of 16- and 8-bit floats are kept as float32 and rounded after each operation; products of
floats accumulate in float32. Blocks of a launch and tasks run one after the other.
)py";
  if (!Prog.taskMakers.empty())
    text += "Blocks that meet at a barrier are tasks of one scheduler, which runs them in turns.\n";
  auto has = [&](ir::FuncKind kind) {
    return llvm::any_of(Functions, [&](ir::FuncOp func) { return func.getKind() == kind; });
  };
  if (has(ir::FuncKind::Group))
    text += R"py(
What is modelled of a core group:
- Slots. $S
- Lanes. Each lane of a role is a task of its own, with its own queue for its part of every tile.
- Determinism. Roles that wait for one another are generators; one scheduler runs them in turns,
  always in the same order, without threads and without a clock. The moment nobody can go on it
  raises, and says who waits for what.
)py";
  text += "\"\"\"\n";
  auto replace = [&](StringRef what, StringRef with) {
    for (size_t at; (at = text.find(what)) != std::string::npos;)
      text.replace(at, what.size(), with);
  };
  std::string printable;
  for (char c : name)
    printable += llvm::isAlnum(c) || c == '_' || c == '.' ? c : '_';
  replace("$N", printable);
  replace("$E", Entry ? EntryName : Prog.nameOf(first));
  replace("$S", Prog.options.unboundedSlots
                    ? "Not modelled here: pipes never fill up, and a push never waits."
                    : "A push waits for a free slot, a pop for a full one; a popped slot is free "
                      "after its free.");
  return text;
}

std::string ProgramEmitter::runFunction() {
  SmallVector<ir::FuncOp> candidates;
  SmallVector<std::string> others;
  if (findEntry(Prog.module, "", &candidates))
    for (ir::FuncOp func : candidates)
      if (func != Entry)
        others.push_back(Prog.nameOf(func));
  std::string text = "\n\n# Entry: " + Prog.nameOf(Entry);
  if (!others.empty())
    text += "; other candidates: " + llvm::join(others, ", ");
  text::NameScope names(nameRules(), &Prog.names);
  SmallVector<std::string> parameters;
  std::vector<std::string> all = parameterNames(Entry);
  for (const std::string &name : ArrayRef(all).take_front(ir::numUserParameters(Entry)))
    parameters.push_back(names.unique(name));
  std::string list = "(" + llvm::join(parameters, ", ") + ")";
  std::string call = (Entry.getNumResults() ? "return " : "") + Prog.nameOf(Entry) + list;
  return text + "\ndef run" + list + ":\n    " + call + "\n";
}

/// All ranks in this process: the arguments of rank 0, then those of rank 1, and so on.
std::string ProgramEmitter::ranksFunction() {
  return "\n\ndef " + RanksName + "(ranks, *args):\n" +
         R"py(    """Runs all ranks: args are those of rank 0, then those of rank 1, and so on."""
    each = len(args) // ranks
    _run_ranks()py" +
         Prog.generators.lookup(Entry) +
         ", [args[each * rank:each * (rank + 1)] for rank in range(ranks)])\n";
}

/// How each kernel that is launched somewhere is launched.
std::string ProgramEmitter::taskTable() {
  std::string text = "\n\n_tasks = {\n";
  for (ir::FuncOp func : Functions)
    if (Prog.launched.contains(func))
      text += "    " + text::pythonString(func.getSymName()) +
              ": lambda grid, *args: " + launch(Prog, func, "grid", "*args") + ",\n";
  return text + "}\n";
}

Expected<std::string> ProgramEmitter::emit(std::vector<SourceLoc> *places) {
  std::string body;
  for (ir::FuncOp func : Functions) {
    Expected<std::string> text = FunctionEmitter(func, Prog).emit();
    if (!text)
      return text.status();
    body += "\n\n" + (func.getKind() == ir::FuncKind::Group ? groupComment(func) : "") + *text;
  }
  if (needsRun())
    body += runFunction();
  if (!RanksName.empty())
    body += ranksFunction();
  if (Prog.options.namedTasks)
    body += taskTable();
  std::vector<SourceLoc> ofBody;
  if (places)
    ofBody = Prog.marks->take(body);
  std::string before = header() + "\n" + preludeFor(body);
  if (places) {
    places->assign(llvm::count(before, '\n'), {});
    llvm::append_range(*places, ofBody);
  }
  return before + body;
}

} // namespace

Expected<std::string> emitTorch(ModuleOp module, const TorchOptions &options,
                                std::vector<SourceLoc> *places) {
  PlaceMarks marks;
  ProgramEmitter emitter(module, options, places ? &marks : nullptr);
  if (Status status = emitter.plan(); !status.isOk())
    return status;
  return emitter.emit(places);
}

Expected<std::string> torchEntryName(ModuleOp module, const TorchOptions &options) {
  ProgramEmitter emitter(module, options);
  if (Status status = emitter.plan(); !status.isOk())
    return status;
  if (options.ranks && emitter.ranksName().empty())
    return Status(StatusCode::NotFound, "the program has no ranks");
  if (options.ranks)
    return emitter.ranksName();
  if (emitter.entryName().empty())
    return Status(StatusCode::NotFound,
                  "the program has roles only, and no function to start with");
  return emitter.entryName();
}

} // namespace kiln
