#include "kiln/Program/Requirements.h"

#include "kiln/Program/Places.h"

#include "kiln/Dialect/Kiln/Contracts.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace kiln {

namespace {

using Op = Requirement::Op;

uint8_t widthOf(Type type) { return isa<IndexType>(type) ? 64 : type.getIntOrFloatBitWidth(); }

std::optional<Op> comparison(arith::CmpIPredicate predicate) {
  using P = arith::CmpIPredicate;
  switch (predicate) {
  case P::eq:
    return Op::Eq;
  case P::ne:
    return Op::Ne;
  case P::slt:
    return Op::Lt;
  case P::sle:
    return Op::Le;
  case P::sgt:
    return Op::Gt;
  case P::sge:
    return Op::Ge;
  default:
    return std::nullopt;
  }
}

/// The operation on two operands; none for casts, which keep the value, and for what the verifier
/// refuses.
std::optional<Op> binaryOp(Operation *op) {
  return llvm::TypeSwitch<Operation *, std::optional<Op>>(op)
      .Case([](arith::AddIOp) { return Op::Add; })
      .Case([](arith::SubIOp) { return Op::Sub; })
      .Case([](arith::MulIOp) { return Op::Mul; })
      .Case([](arith::DivSIOp) { return Op::Div; })
      .Case([](arith::FloorDivSIOp) { return Op::FloorDiv; })
      .Case([](arith::CeilDivSIOp) { return Op::CeilDiv; })
      .Case([](arith::RemSIOp) { return Op::Rem; })
      .Case([](arith::MinSIOp) { return Op::Min; })
      .Case([](arith::MaxSIOp) { return Op::Max; })
      .Case([](arith::AndIOp) { return Op::And; })
      .Case([](arith::OrIOp) { return Op::Or; })
      .Case([](arith::XOrIOp) { return Op::Xor; })
      .Case([](arith::CmpIOp cmp) { return comparison(cmp.getPredicate()); })
      .Default([](Operation *) { return std::nullopt; });
}

/// Writes one condition down, node by node.
class Writer {
public:
  explicit Writer(const ParameterOrder &order) : Order(order) {}

  std::vector<Requirement::Node> write(ir::RequireOp require) {
    for (Operation *op : ir::conditionOps(require))
      Places[op->getResult(0)] = writeOp(op);
    if (int64_t last = placeOf(require.getCondition()); last + 1 != int64_t(Nodes.size()))
      Nodes.push_back(Nodes[last]); // the last node is the whole
    return std::move(Nodes);
  }

private:
  int64_t add(Op op, Type type, int64_t a, int64_t b = 0) {
    Nodes.push_back({op, widthOf(type), a, b});
    return int64_t(Nodes.size()) - 1;
  }

  /// Where a value stands; a parameter is written down when it is first used.
  int64_t placeOf(Value value) {
    auto known = Places.find(value);
    if (known != Places.end())
      return known->second;
    unsigned number = cast<BlockArgument>(value).getArgNumber();
    int64_t place = add(Op::Scalar, value.getType(), numberIn(Order.scalars, number));
    Places[value] = place;
    return place;
  }

  int64_t writeOp(Operation *op) {
    Type type = op->getResult(0).getType();
    if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
      const APInt &value = cast<IntegerAttr>(constant.getValue()).getValue();
      return add(Op::Constant, type,
                 type.isInteger(1) ? int64_t(value.getZExtValue()) : value.getSExtValue());
    }
    if (auto dim = dyn_cast<ir::DimOp>(op)) {
      unsigned number = cast<BlockArgument>(dim.getTensor()).getArgNumber();
      return add(Op::Extent, type, numberIn(Order.tensors, number), dim.getDim());
    }
    std::optional<Op> binary = binaryOp(op);
    if (!binary) // a cast
      return placeOf(op->getOperand(0));
    int64_t a = placeOf(op->getOperand(0)), b = placeOf(op->getOperand(1));
    return add(*binary, type, a, b);
  }

  static int64_t numberIn(ArrayRef<unsigned> parameters, unsigned number) {
    return llvm::find(parameters, number) - parameters.begin();
  }

  const ParameterOrder &Order;
  std::vector<Requirement::Node> Nodes;
  DenseMap<Value, int64_t> Places;
};

} // namespace

Expected<std::vector<Requirement>> requirementsOf(ir::FuncOp func, const ParameterOrder &order) {
  std::vector<Requirement> requirements;
  for (ir::RequireOp require : ir::requirementsIn(func)) {
    if (matchPattern(require.getCondition(), m_One()))
      continue;
    SourceLoc loc = sourceLocOf(require.getLoc());
    std::vector<Requirement::Node> nodes = Writer(order).write(require);
    if (nodes.size() > Requirement::maxNodes)
      return Status(StatusCode::Unsupported,
                    "a requirement of @" + func.getSymName().str() + " has more than " +
                        std::to_string(Requirement::maxNodes) + " parts; write several",
                    loc);
    std::optional<uint32_t> place = placeNumberOf(require.getLoc());
    requirements.push_back(
        {std::move(nodes), require.getMessage().str(), loc, place ? int64_t(*place) : -1});
  }
  return requirements;
}

std::string describe(ir::RequireOp require) {
  auto func = dyn_cast<ir::FuncOp>(require->getParentOp());
  if (!func) // a kernel written in place has no parameters of its own to speak of
    return cast<ir::IncoreOp>(require->getParentOp()).getName().str() + ": " +
           require.getMessage().str();
  Signature named;
  std::vector<std::string> names = parameterNames(func);
  ParameterOrder order = parameterOrder(func);
  for (unsigned index : order.tensors)
    named.tensors.emplace_back().name = names[index];
  for (unsigned index : order.scalars)
    named.scalars.emplace_back().name = names[index];
  return func.getSymName().str() + " requires " +
         Requirement{Writer(order).write(require), "", {}}.str(named) + ": " +
         require.getMessage().str();
}

} // namespace kiln
