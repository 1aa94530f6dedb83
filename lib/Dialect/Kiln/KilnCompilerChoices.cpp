#include "kiln/Dialect/Kiln/CompilerChoices.h"

#include "mlir/IR/Builders.h"

using namespace mlir;

namespace kiln::ir {

namespace {
constexpr llvm::StringLiteral kLanes = "lanes", kSlots = "slots", kWalk = "walk";
constexpr llvm::StringLiteral kInTurn = "in_turn", kHandedOut = "handed_out";
} // namespace

/// The value as the attribute has it; null if it is none of this name's.
static Attribute choiceOf(MLIRContext *context, StringRef name, StringRef value) {
  int64_t number = 0;
  if (name == kLanes || name == kSlots)
    return !value.getAsInteger(10, number) && number >= 1 && number <= 1024
               ? Attribute(Builder(context).getI64IntegerAttr(number))
               : Attribute();
  if (name == kWalk && (value == kInTurn || value == kHandedOut))
    return StringAttr::get(context, value);
  return {};
}

/// The value as somebody writes it; empty if the attribute is none.
static std::string textOf(Attribute value) {
  if (auto number = dyn_cast<IntegerAttr>(value); number && number.getType().isSignlessInteger(64))
    return std::to_string(number.getInt());
  auto word = dyn_cast<StringAttr>(value);
  return word ? word.str() : "";
}

bool areCompilerChoices(Attribute attribute) {
  auto choices = dyn_cast<DictionaryAttr>(attribute);
  return choices && llvm::all_of(choices, [](NamedAttribute each) {
           Attribute value = each.getValue();
           return choiceOf(value.getContext(), each.getName(), textOf(value)) == value;
         });
}

CompilerChoices CompilerChoices::of(Operation *op) {
  CompilerChoices choices;
  auto module = isa<ModuleOp>(op) ? cast<ModuleOp>(op) : op->getParentOfType<ModuleOp>();
  auto given = module ? module->getAttrOfType<DictionaryAttr>(kCompilerAttr) : DictionaryAttr();
  if (!given)
    return choices;
  if (auto lanes = given.getAs<IntegerAttr>(kLanes))
    choices.lanes = lanes.getInt();
  if (auto slots = given.getAs<IntegerAttr>(kSlots))
    choices.slots = slots.getInt();
  if (auto walk = given.getAs<StringAttr>(kWalk))
    choices.handsOutBlocks = walk == kHandedOut;
  return choices;
}

std::vector<CompilerChoice> compilerChoices(const Machine &machine) {
  std::vector<CompilerChoice> choices;
  auto add = [&](StringRef name, std::vector<std::string> values) {
    choices.push_back({(kCompilerPrefix + name).str(), std::move(values)});
  };
  for (const Role &role : machine.roles)
    if (role.maxLanes > 1 && (role.executes & MatrixWork) && (role.executes & VectorWork)) {
      std::vector<std::string> numbers;
      for (int64_t lanes = 1; lanes <= role.maxLanes; ++lanes)
        numbers.push_back(std::to_string(lanes));
      add(kLanes, std::move(numbers));
    }
  if (machine.slotsFillMemory)
    add(kSlots, {"2", "3", "4", "6"});
  if (llvm::any_of(machine.roles, [](const Role &role) { return role.executes == CopyWork; }))
    add(kWalk, {kInTurn.str(), kHandedOut.str()});
  return choices;
}

std::string chooseForCompiler(ModuleOp module, StringRef name, StringRef value) {
  std::string given = "--" + name.str() + " " + value.str();
  name.consume_front(kCompilerPrefix);
  if (name != kLanes && name != kSlots && name != kWalk)
    return given + ": the compiler can be told its lanes, slots and walk";
  Attribute choice = choiceOf(module.getContext(), name, value);
  if (!choice)
    return given + " does not fit; it is " +
           (name == kWalk ? kInTurn.str() + " or " + kHandedOut.str()
                          : "an integer from 1 to 1024");
  NamedAttrList choices(module->getAttrOfType<DictionaryAttr>(kCompilerAttr));
  choices.set(name, choice);
  module->setAttr(kCompilerAttr, choices.getDictionary(module.getContext()));
  return "";
}

} // namespace kiln::ir
