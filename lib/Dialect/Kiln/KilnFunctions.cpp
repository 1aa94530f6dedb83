//===- KilnFunctions.cpp - kiln.func: syntax, and rules of a function on its own --===//
#include "kiln/Dialect/Assembly.h"
#include "kiln/Dialect/Kiln/Collective.h"
#include "kiln/Dialect/Kiln/Contracts.h"
#include "kiln/Dialect/Kiln/Members.h"
#include "kiln/Dialect/Kiln/ParameterFacts.h"
#include "kiln/Machine/Machine.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Interfaces/FunctionImplementation.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir;

namespace kiln::ir {

//===----------------------------------------------------------------------===//
// Parameters: names and directions
//===----------------------------------------------------------------------===//

StringRef FuncOp::getArgName(unsigned index) {
  auto name = getArgAttrOfType<StringAttr>(index, kArgNameAttr);
  return name ? name.getValue() : StringRef();
}

void FuncOp::setArgName(unsigned index, StringRef name) {
  setArgAttr(index, kArgNameAttr, StringAttr::get(getContext(), name));
}

Attribute readFact(FuncOp func, unsigned parameter, StringRef attribute) {
  auto module = func->getParentOfType<ModuleOp>();
  auto declared = module ? module->getAttrOfType<ArrayAttr>(kReadsAttr) : ArrayAttr();
  StringRef fact = attribute;
  fact.consume_front("kiln.");
  if (!declared || llvm::is_contained(declared.getAsValueRange<StringAttr>(), fact))
    return func.getArgAttr(parameter, attribute);
  func.emitError("internal error: the compiler reads the fact '")
      << fact << "' of parameter '" << func.getArgName(parameter)
      << "', which the platform does not declare (JitBackend::reads), so that it is in no key";
  return {};
}

std::optional<Direction> FuncOp::getArgDirection(unsigned index) {
  if (auto direction = getArgAttrOfType<DirectionAttr>(index, kArgDirectionAttr))
    return direction.getValue();
  return std::nullopt;
}

void FuncOp::setArgDirection(unsigned index, Direction direction) {
  setArgAttr(index, kArgDirectionAttr, DirectionAttr::get(getContext(), direction));
}

bool FuncOp::isArgDirectionDeclared(unsigned index) {
  return getArgDirection(index) && !getArgAttr(index, kInferredAttr);
}

int64_t FuncOp::getLanesOf(StringRef role) {
  const Role *known = findRole(role);
  return known && known->maxLanes > 1 ? getNumLanes() : 1;
}

bool FuncOp::hasPipeParameter() {
  return llvm::any_of(getArgumentTypes(), llvm::IsaPred<tile::PipeType>);
}

std::vector<std::string> membersOf(FuncOp func) {
  std::vector<std::string> names;
  if (func.getKind() == FuncKind::Group)
    for (CallOp call : func.getBody().getOps<CallOp>())
      names.push_back(call.getCallee().str());
  else if (auto members = func->getAttrOfType<ArrayAttr>(kMembersAttr))
    for (StringAttr name : members.getAsRange<StringAttr>())
      names.push_back(name.str());
  return names;
}

bool isMembersAttr(Operation *op, Attribute value) {
  auto func = dyn_cast<FuncOp>(op);
  auto names = dyn_cast<ArrayAttr>(value);
  return func && func.getKind() == FuncKind::Incore && names &&
         llvm::all_of(names, llvm::IsaPred<StringAttr>);
}

void FuncOp::build(OpBuilder &builder, OperationState &state, StringRef name, FunctionType type,
                   FuncKind kind, StringRef role, ArrayRef<std::string> argNames) {
  state.addAttribute(getSymNameAttrName(state.name), builder.getStringAttr(name));
  state.addAttribute(getFunctionTypeAttrName(state.name), TypeAttr::get(type));
  state.addAttribute(getKindAttrName(state.name), FuncKindAttr::get(builder.getContext(), kind));
  if (!role.empty())
    state.addAttribute(getRoleAttrName(state.name), builder.getStringAttr(role));
  SmallVector<Attribute> argAttrs;
  for (const std::string &argName : argNames)
    argAttrs.push_back(builder.getDictionaryAttr(
        builder.getNamedAttr(kArgNameAttr, builder.getStringAttr(argName))));
  if (!argAttrs.empty())
    state.addAttribute(getArgAttrsAttrName(state.name), builder.getArrayAttr(argAttrs));
  Block *entry = new Block();
  state.addRegion()->push_back(entry);
  for (Type input : type.getInputs())
    entry->addArgument(input, state.location);
  FuncOp::ensureTerminator(*state.regions.front(), builder, state.location);
}

//===----------------------------------------------------------------------===//
// Assembly
//===----------------------------------------------------------------------===//

/// `%x: type in {attributes} loc(...)`. The SSA name is the parameter's name unless it is a number
/// or the attributes give another.
static ParseResult parseParameter(OpAsmParser &parser, OpAsmParser::Argument &argument) {
  if (parser.parseArgument(argument, /*allowType=*/true, /*allowAttrs=*/false))
    return failure();
  NamedAttrList attributes;
  StringRef keyword;
  SMLoc loc = parser.getCurrentLocation();
  if (succeeded(parser.parseOptionalKeyword(&keyword, {"in", "out", "inout"}))) {
    if (!isa<TensorType>(argument.type))
      return parser.emitError(loc, "only a tensor has a direction");
    attributes.set(kArgDirectionAttr,
                   DirectionAttr::get(parser.getContext(), *symbolizeDirection(keyword)));
  }
  if (parser.parseOptionalAttrDict(attributes) ||
      parser.parseOptionalLocationSpecifier(argument.sourceLoc))
    return failure();
  StringRef name = argument.ssaName.name.drop_front();
  if (attributes.get(kArgNameAttr) == parser.getBuilder().getStringAttr(""))
    attributes.erase(kArgNameAttr); // how a parameter without a name is printed
  else if (!attributes.get(kArgNameAttr) && !assembly::isMadeUpName(name))
    attributes.set(kArgNameAttr, parser.getBuilder().getStringAttr(name));
  argument.attrs = attributes.getDictionary(parser.getContext());
  return success();
}

/// An optional `keyword(number)`.
static ParseResult parseNumber(OpAsmParser &parser, OperationState &state, StringRef keyword,
                               StringAttr attribute) {
  if (failed(parser.parseOptionalKeyword(keyword)))
    return success();
  int64_t number = 0;
  if (parser.parseLParen() || parser.parseInteger(number) || parser.parseRParen())
    return failure();
  state.addAttribute(attribute, parser.getBuilder().getI64IntegerAttr(number));
  return success();
}

/// `orchestration`, `incore lanes(n) split(s) slots(n)`, `role(name)` or `group lanes(n)`.
static ParseResult parseKind(OpAsmParser &parser, OperationState &state) {
  SMLoc loc = parser.getCurrentLocation();
  StringRef keyword;
  Builder &builder = parser.getBuilder();
  std::optional<FuncKind> kind;
  if (succeeded(parser.parseOptionalKeyword(&keyword)))
    kind = symbolizeFuncKind(keyword);
  if (!kind)
    return parser.emitError(
        loc, "expected the kind of the function: orchestration, incore, role(name) or group");
  state.addAttribute(FuncOp::getKindAttrName(state.name),
                     FuncKindAttr::get(parser.getContext(), *kind));
  if (*kind == FuncKind::Role) {
    StringRef role;
    if (parser.parseLParen() || parser.parseKeyword(&role) || parser.parseRParen())
      return failure();
    state.addAttribute(FuncOp::getRoleAttrName(state.name), builder.getStringAttr(role));
  }
  if (parseNumber(parser, state, "lanes", FuncOp::getLanesAttrName(state.name)))
    return failure();
  if (succeeded(parser.parseOptionalKeyword("split"))) {
    StringRef text;
    if (parser.parseLParen())
      return failure();
    SMLoc splitLoc = parser.getCurrentLocation();
    if (parser.parseKeyword(&text) || parser.parseRParen())
      return failure();
    std::optional<tile::Split> split = tile::symbolizeSplit(text);
    if (!split)
      return parser.emitError(splitLoc, "expected none, up_down or left_right");
    state.addAttribute(FuncOp::getSplitAttrName(state.name),
                       tile::SplitAttr::get(parser.getContext(), *split));
  }
  return parseNumber(parser, state, "slots", FuncOp::getSlotsAttrName(state.name));
}

ParseResult FuncOp::parse(OpAsmParser &parser, OperationState &state) {
  Builder &builder = parser.getBuilder();
  StringAttr name;
  SmallVector<OpAsmParser::Argument> arguments;
  SmallVector<Type> results;
  if (parser.parseSymbolName(name, getSymNameAttrName(state.name), state.attributes) ||
      parser.parseCommaSeparatedList(
          AsmParser::Delimiter::Paren,
          [&] { return parseParameter(parser, arguments.emplace_back()); }) ||
      parser.parseOptionalArrowTypeList(results) || parseKind(parser, state))
    return failure();
  NamedAttrList attributes;
  SMLoc attributesLoc = parser.getCurrentLocation();
  if (parser.parseOptionalAttrDictWithKeyword(attributes))
    return failure();
  for (StringRef inherent : getAttributeNames())
    if (attributes.get(inherent))
      return parser.emitError(attributesLoc, "'")
             << inherent << "' is part of the signature, not an attribute";
  state.attributes.append(attributes);
  SmallVector<Type> inputs;
  SmallVector<Attribute> argAttrs;
  for (const OpAsmParser::Argument &argument : arguments) {
    inputs.push_back(argument.type);
    argAttrs.push_back(argument.attrs);
  }
  state.addAttribute(getFunctionTypeAttrName(state.name),
                     TypeAttr::get(builder.getFunctionType(inputs, results)));
  if (llvm::any_of(argAttrs, [](Attribute dict) { return !cast<DictionaryAttr>(dict).empty(); }))
    state.addAttribute(getArgAttrsAttrName(state.name), builder.getArrayAttr(argAttrs));
  Region *body = state.addRegion();
  if (parser.parseRegion(*body, arguments))
    return failure();
  FuncOp::ensureTerminator(*body, builder, state.location);
  return success();
}

void FuncOp::getAsmBlockArgumentNames(Region &region, OpAsmSetValueNameFn setName) {
  for (BlockArgument argument : region.getArguments())
    if (StringRef name = getArgName(argument.getArgNumber()); !name.empty())
      setName(argument, name);
}

void FuncOp::print(OpAsmPrinter &printer) {
  printer << " ";
  printer.printSymbolName(getSymName());
  printer << "(";
  llvm::interleaveComma(getBody().getArguments(), printer, [&](BlockArgument argument) {
    unsigned index = argument.getArgNumber();
    std::string ssaName;
    llvm::raw_string_ostream os(ssaName);
    printer.printOperand(argument, os);
    printer << ssaName << ": " << argument.getType();
    if (std::optional<Direction> direction = getArgDirection(index))
      printer << " " << stringifyDirection(*direction);
    NamedAttrList rest(getArgAttrDict(index));
    rest.erase(kArgDirectionAttr);
    bool isMadeUp = assembly::isMadeUpName(StringRef(ssaName).drop_front());
    if (!isMadeUp && ssaName.substr(1) == getArgName(index))
      rest.erase(kArgNameAttr);
    else if (!isMadeUp && getArgName(index).empty())
      rest.set(kArgNameAttr, StringAttr::get(getContext(), ""));
    printer.printOptionalAttrDict(rest);
  });
  printer << ")";
  printer.printOptionalArrowTypeList(getResultTypes());
  printer << " " << stringifyFuncKind(getKind());
  if (getRole())
    printer << "(" << *getRole() << ")";
  if (getLanes())
    printer << " lanes(" << getNumLanes() << ")";
  if (getSplit())
    printer << " split(" << tile::stringifySplit(*getSplit()) << ")";
  if (getSlots())
    printer << " slots(" << int64_t(*getSlots()) << ")";
  printer.printOptionalAttrDictWithKeyword(
      (*this)->getAttrs(), {getSymNameAttrName(), getFunctionTypeAttrName(), getKindAttrName(),
                            getRoleAttrName(), getLanesAttrName(), getSplitAttrName(),
                            getSlotsAttrName(), getArgAttrsAttrName(), getResAttrsAttrName()});
  printer << " ";
  printer.printRegion(getBody(), /*printEntryBlockArgs=*/false,
                      /*printBlockTerminators=*/getNumResults() > 0);
}

//===----------------------------------------------------------------------===//
// Rules of a function on its own
//===----------------------------------------------------------------------===//

/// That no two functions have one name: asked once for the module, by its first function.
static LogicalResult verifyDistinctNames(FuncOp func) {
  Region *around = func->getParentRegion();
  if (!around || *around->getOps<FuncOp>().begin() != func)
    return success();
  llvm::StringMap<FuncOp> known;
  for (auto other : around->getOps<FuncOp>()) {
    auto [entry, isNew] = known.try_emplace(other.getSymName(), other);
    if (isNew)
      continue;
    InFlightDiagnostic diag = other.emitError("there are two functions @")
                              << other.getSymName()
                              << "; give one of them another name, also where it is launched";
    diag.attachNote(entry->second.getLoc()) << "the other one is here";
    return diag;
  }
  return success();
}

LogicalResult verifyWanted(Operation *kernel, std::optional<int64_t> lanes,
                           std::optional<int64_t> slots) {
  if (lanes && *lanes < 1)
    return kernel->emitOpError("has lanes(") << *lanes << "); there is at least one";
  if (slots && (*slots < 1 || *slots > kMaxSlots))
    return kernel->emitOpError("has slots(")
           << *slots << "); a pipe has 1 to " << kMaxSlots << " slots";
  return success();
}

LogicalResult FuncOp::verify() {
  if (Operation *parent = (*this)->getParentOp(); parent && !isa<ModuleOp>(parent))
    return emitOpError("stands in '") << parent->getName() << "'; functions stand in a module";
  if (getSymName().empty())
    return emitOpError("needs a name");
  if (failed(verifyDistinctNames(*this)))
    return failure();
  FuncKind kind = getKind();
  if ((kind == FuncKind::Role) != getRole().has_value())
    return emitOpError("a role function names its role, and only a role function does");
  if (getRole() && !findRole(*getRole()))
    return emitOpError("no machine has a role '") << *getRole() << "'; roles are " << roleNames();
  if (getLanes() && kind != FuncKind::Group && kind != FuncKind::Incore)
    return emitOpError("lanes(n) belongs to a group or an incore function");
  if (getSplit() && kind != FuncKind::Incore)
    return emitOpError(
        "split(...) belongs to an incore function; in a group the pipes have splits");
  if (getSlots() && kind != FuncKind::Incore)
    return emitOpError("slots(n) belongs to an incore function; in a group the pipes have slots");
  if (failed(verifyWanted(*this, getLanes(), getSlots())))
    return failure();
  for (auto [index, type] : llvm::enumerate(getArgumentTypes())) {
    if (isa<tile::PipeType>(type)) {
      if (kind != FuncKind::Role)
        return emitOpError("parameter ")
               << index << " is a pipe; only role functions are given pipes";
    } else if (!isa<TensorType, IndexType>(type) && !(isElementType(type) && type.isIntOrFloat())) {
      return emitOpError("parameter ")
             << index << " has type " << type << "; parameters are tensors, scalars and pipes";
    }
  }
  for (Type type : getResultTypes())
    if (!isa<TensorType>(type))
      return emitOpError("returns ") << type << "; functions return tensors only";
  for (unsigned index = 0; index < getNumResults(); ++index)
    if (DictionaryAttr attributes = getResultAttrDict(index); attributes && !attributes.empty())
      return emitOpError("result ") << index << " has attributes; only parameters have them";
  return success();
}

/// Whether an op may stand in a function of this kind, outside kiln.incore.
static LogicalResult verifyPlacement(Operation *op, FuncKind kind) {
  if (kind != FuncKind::Orchestration && (isa<RankIdOp, RankCountOp>(op) || collectiveOf(op)))
    return op->emitOpError("belongs to an orchestration: ranks are its business, and a kernel is "
                           "given what it needs of them");
  bool isTile = isa_and_nonnull<tile::TileDialect>(op->getDialect());
  switch (kind) {
  case FuncKind::Orchestration:
    if (isTile)
      return op->emitOpError(
          "computes on a core and cannot stand in an orchestration; put it into a kernel or a "
          "kiln.incore region");
    if (isa<ReadOp, WriteOp>(op))
      return op->emitOpError(
          "cannot stand in an orchestration; use kiln.get, which waits for the producers");
    return success();
  case FuncKind::Incore:
    if (auto incore = op->getParentOfType<IncoreOp>();
        incore && isa<tile::BarrierOp>(op) && !incore.getSyncStart())
      return op->emitOpError(
          "needs all blocks of the launch to run at once: give the launch sync_start");
    if (isa<tile::PipeOp, tile::PushOp, tile::PopOp, tile::FreeOp>(op))
      return op->emitOpError(
          "needs a role: write a group with role functions, or let the compiler place the pipes");
    [[fallthrough]];
  case FuncKind::Role:
    if (isa<SubmitOp, IncoreOp, ScopeOp, GetOp>(op) || (isa<AllocOp>(op) && kind == FuncKind::Role))
      return op->emitOpError("belongs to an orchestration, not to a kernel");
    if (isa<tile::PipeOp>(op))
      return op->emitOpError("makes a pipe; pipes are made in the group and passed to the roles");
    return success();
  case FuncKind::Group:
    if (isTile && !isa<tile::PipeOp>(op))
      return op->emitOpError("cannot stand in a group, which only makes pipes and calls its roles");
    if (isa<SubmitOp, IncoreOp, ScopeOp, GetOp, AllocOp, ReadOp, WriteOp, DumpOp>(op) ||
        isa_and_nonnull<scf::SCFDialect>(op->getDialect()))
      return op->emitOpError("cannot stand in a group, which only makes pipes and calls its roles");
    return success();
  }
  return success();
}

/// Tensors, pipes and tasks are names for things, not data: they are never carried, yielded or
/// selected.
static LogicalResult verifyReferences(Operation *op) {
  auto isReference = [](Type type) { return isa<TensorType, tile::PipeType>(type); };
  if (!isa<SliceOp, TransposeOp, ReshapeOp, AllocOp, CallOp, tile::PipeOp>(op))
    for (Type type : op->getResultTypes())
      if (isReference(type))
        return op->emitOpError("makes a ")
               << type << "; tensors and pipes are never carried, yielded or selected";
  for (Region &region : op->getRegions())
    for (Block &block : region)
      for (Type type : block.getArgumentTypes())
        if (isReference(type))
          return op->emitOpError("carries a ")
                 << type << "; tensors and pipes are never carried, yielded or selected";
  return success();
}

/// That every operand is made before it is used. MLIR looks at this later, in words that only
/// compiler writers understand.
static LogicalResult verifyOrder(Operation *op) {
  for (auto [index, operand] : llvm::enumerate(op->getOperands())) {
    Operation *def = operand.getDefiningOp();
    Operation *user = def ? def->getBlock()->findAncestorOpInBlock(*op) : nullptr;
    if (!user || (user != def && def->isBeforeInBlock(user)))
      continue;
    InFlightDiagnostic diag = op->emitOpError("operand ")
                              << index << " is used before it is defined; move its definition up";
    diag.attachNote(def->getLoc()) << "it is defined here";
    return diag;
  }
  return success();
}

/// A step that is computed is looked at when the loop runs.
static LogicalResult verifyStep(Operation *op) {
  auto loop = dyn_cast<scf::ForOp>(op);
  std::optional<int64_t> step = loop ? getConstantIntValue(loop.getStep()) : std::nullopt;
  if (step && *step < 1)
    return op->emitOpError("has the step ") << *step << "; the step of a loop is at least 1";
  return success();
}

/// What one iteration gives the next makes them depend on each other.
static LogicalResult verifyParallel(Operation *op) {
  auto kind = op->getAttrOfType<LoopAttr>(kLoopAttr);
  if (kind && kind.getKind() == LoopKind::Parallel && op->getNumResults() != 0)
    return op->emitOpError("is parallel and carries a value from one iteration to the next; leave "
                           "out parallel, or let each iteration store what it makes");
  return success();
}

LogicalResult FuncOp::verifyRegions() {
  WalkResult result = getBody().walk<WalkOrder::PreOrder>([&](Operation *op) -> WalkResult {
    if (isa<ReturnOp>(op))
      return WalkResult::advance();
    FuncKind kind = getKind();
    if (auto incore = op->getParentOfType<IncoreOp>(); incore && kind == FuncKind::Orchestration)
      kind = FuncKind::Incore;
    if (failed(verifyPlacement(op, kind)) || failed(verifyReferences(op)) ||
        failed(verifyOrder(op)) || failed(verifyStep(op)) || failed(verifyParallel(op)))
      return WalkResult::interrupt();
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

LogicalResult ReturnOp::verify() {
  auto func = cast<FuncOp>((*this)->getParentOp());
  if (TypeRange(getArgs()) != TypeRange(func.getResultTypes()))
    return emitOpError("returns ")
           << getArgs().size() << " tensors of other types than the function declares";
  SmallVector<Value> seen;
  for (auto [index, value] : llvm::enumerate(getArgs())) {
    bool isAlloc = value.getDefiningOp<AllocOp>() && value.getParentBlock() == (*this)->getBlock();
    if (!isa<BlockArgument>(value) && !isAlloc) {
      InFlightDiagnostic diag =
          emitOpError("result ")
          << index << " is neither a parameter nor a kiln.alloc of the function's outermost block";
      Operation *def = value.getDefiningOp();
      if (isa<SliceOp, TransposeOp, ReshapeOp>(def))
        diag << "; it is a view: return the tensor it is a view of";
      else if (auto call = dyn_cast<CallOp>(def))
        diag << "; it is what @" << call.getCallee()
             << " returns: allocate it here and let that function write it";
      return diag;
    }
    if (auto *earlier = llvm::find(seen, value); earlier != seen.end())
      return emitOpError("result ")
             << index << " names a tensor that is returned already, as result "
             << earlier - seen.begin();
    seen.push_back(value);
  }
  return success();
}

} // namespace kiln::ir
