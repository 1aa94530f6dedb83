// Operations whose results take elements of a tile from other places: the tile is in shared memory.
#include "CudaFunction.h"

#include "kiln/Dialect/Tile/PartialSums.h"
#include "kiln/Target/Text/Literals.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace kiln::cuda {

using tile::Space;
using tile::TileType;

std::string FunctionEmitter::registerText(TileType type) {
  return registerType(IsInBody ? type.withShape(1, 1) : type);
}

static std::string flag(bool value) { return value ? "true" : "false"; }

bool FunctionEmitter::emitExchange(Operation *op) {
  auto to = [&] { return registerType(cast<TileType>(op->getResult(0).getType())); };
  return TypeSwitch<Operation *, bool>(op)
      .Case<tile::ExtractOp>([&](auto extract) { return emitExtract(extract), true; })
      .Case<tile::ReduceOp>([&](auto reduce) { return emitReduce(reduce), true; })
      .Case<tile::ScanOp>([&](auto scan) { return emitScan(scan), true; })
      .Case<tile::CombiningInterface>(
          [&](auto combining) { return emitCombining(combining), true; })
      .Case<tile::SortRowsOp>([&](tile::SortRowsOp sort) {
        emitOrder(sort.getOperand(), sort.getValues(), sort.getIndices(), sort.getDescending());
        return true;
      })
      .Case<tile::TopkRowsOp>([&](tile::TopkRowsOp top) {
        emitOrder(top.getOperand(), top.getValues(), top.getIndices(), true);
        return true;
      })
      .Case<tile::TransposeOp>([&](tile::TransposeOp transpose) {
        define(transpose, "transposed<" + to() + ">(" + text(transpose.getOperand()) + ")");
        return true;
      })
      .Case<tile::ReshapeOp>([&](tile::ReshapeOp reshape) {
        return define(reshape, "reshapedTo<" + to() + ">(" + text(reshape.getOperand()) + ")"),
               true;
      })
      .Case<tile::InsertOp>([&](tile::InsertOp insert) {
        define(insert, "inserted(" + text(insert.getTile()) + ", " + text(insert.getInto()) + ", " +
                           commas(insert.getStaticIndices(), insert.getIndices()) + ")");
        return true;
      })
      .Case<tile::ConcatOp>([&](tile::ConcatOp concat) {
        SmallVector<std::string> tiles;
        for (Value tile : concat.getTiles())
          tiles.push_back(text(tile));
        define(concat, "joined<" + to() + ", " + std::to_string(concat.getAxis()) + ">(" +
                           llvm::join(tiles, ", ") + ")");
        return true;
      })
      .Case<tile::GatherOp>([&](tile::GatherOp gather) {
        define(gather, "taken<" + to() + ", " + std::to_string(gather.getAxis()) + ">(" +
                           text(gather.getOperand()) + ", " + text(gather.getIndex()) + ")");
        return true;
      })
      .Case<tile::ElementOp>([&](tile::ElementOp element) {
        define(element, text(element.getTile()) + ".get(" +
                            commas(element.getStaticIndices(), element.getIndices()) + ")");
        return true;
      })
      .Case<tile::RandomOp>([&](tile::RandomOp random) {
        define(random, "kiln::random<" + to() + ">(" + argument(random.getKey()) + ", " +
                           argument(random.getCounter()) + ")");
        return true;
      })
      .Default(false);
}

/// A view of rows in shared memory, or a box that threads take out of it.
void FunctionEmitter::emitExtract(tile::ExtractOp op) {
  auto at = text::mixedList(op.getStaticIndices(), op.getIndices(),
                            [&](Value value) { return argument(value); });
  if (op.getType().getSpace() == Space::Mat)
    return define(op, "rowsFrom<" + std::to_string(op.getType().getRows()) + ">(" +
                          text(op.getTile()) + ", " + at.front() + ")");
  define(op, "boxFrom<" + registerType(op.getType()) + ">(" + text(op.getTile()) + ", " +
                 llvm::join(at, ", ") + ")");
}

//===----------------------------------------------------------------------===//
// Along lines
//===----------------------------------------------------------------------===//

/// Along columns in registers, where the threads of a row tell each other what they have.
void FunctionEmitter::emitReduce(tile::ReduceOp op) {
  std::string to = registerType(op.getType()), axis = std::to_string(op.getAxis());
  std::string from = "(" + text(op.getOperand()) + ")";
  bool isLeast = op.getKind() == tile::ReduceKind::ArgMin;
  if (isLeast || op.getKind() == tile::ReduceKind::ArgMax)
    return define(op, "findExtreme<" + to + ", " + axis + ", " + flag(!isLeast) + ">" + from);
  std::string name = "tile::" + tile::stringifyReduceKind(op.getKind()).str();
  if (op->hasAttr(tile::kPartOfSumAttr))
    name = "tile::part_of_sum";
  else if (op->hasAttr(tile::kSumOfPartsAttr))
    name = "tile::sum_of_parts";
  define(op, op.getAxis() == 1 ? name + "_columns<" + to + ">" + from
                               : name + "_lines<" + to + ", " + axis + ">" + from);
}

void FunctionEmitter::emitScan(tile::ScanOp op) {
  define(op, "tile::running_" + tile::stringifyReduceKind(op.getKind()).str() + "<" +
                 registerType(op.getType()) + ", " + std::to_string(op.getAxis()) + ", " +
                 flag(op.getExclusive()) + ", " + flag(op.getReverse()) + ">(" +
                 text(op.getOperand()) + ")");
}

/// What is made is in shared memory, where each element goes to its place.
void FunctionEmitter::emitOrder(Value from, Value values, Value columns, bool isDescending) {
  for (Value result : {values, columns}) {
    std::string name = nameFor(result, "t");
    line(sharedType(cast<TileType>(result.getType())) + " " + name + "{" + placeText(result) +
         "};");
    set(result, name);
  }
  line("orderRows<" + flag(isDescending) + ">(" + text(from) + ", " + text(values) + ", " +
       text(columns) + ", " + Kernel.warpgroup() + ");");
}

/// Walks along each line with what has been combined so far, as tiles of one element; the body
/// combines that with the next.
void FunctionEmitter::emitCombining(tile::CombiningInterface op) {
  bool isScan = isa<tile::ScanWithOp>(op);
  Block &body = op.getBody().front();
  size_t count = op.getTiles().size();
  SmallVector<std::string> results, soFar, ones;
  for (Value result : op->getResults()) {
    auto type = cast<TileType>(result.getType());
    results.push_back(freshName("t"));
    line(registerType(type) + " " + results.back() + "{};");
    set(result, results.back());
    soFar.push_back(freshName("c"));
    ones.push_back(registerType(type.withShape(1, 1)));
    line(ones.back() + " " + soFar.back() + ";");
  }
  for (size_t k = 0; k < count; ++k) {
    set(body.getArgument(k), soFar[k]);
    set(body.getArgument(count + k), freshName("t"));
  }
  auto each = [&](auto write) {
    std::string all;
    for (size_t k = 0; k < count; ++k)
      all += (k ? " " : "") + write(k);
    return all;
  };
  std::string axis = std::to_string(op.getAxis());
  line((isScan ? "walkLines" : "reduceLinesInto") + std::string("<decltype(") + results.front() +
       ")::Layout, " + axis +
       (isScan ? ", " + flag(op.isExclusive()) + ", " + flag(op.isReverse())
               : ", decltype(" + text(op.getTiles().front()) + ")") +
       ">(");
  line("    [&](int i, int j) { " + each([&](size_t k) {
         return soFar[k] + " = startOf<" + ones[k] + ">(" + text(op.getStarts()[k]) + ", i, j);";
       }) +
       " },");
  line("    [&](int row, int col) {");
  Out.indented([&] {
    Out.indented([&] {
      Out.indented([&] {
        for (size_t k = 0; k < count; ++k)
          line("auto " + text(body.getArgument(count + k)) + " = single<" + ones[k] + ">(" +
               text(op.getTiles()[k]) + ".get(row, col));");
        IsInBody = true;
        emitBlock(body);
        IsInBody = false;
        assign(soFar, body.getTerminator()->getOperands());
      });
    });
  });
  line("    },");
  line("    [&](int i, int j) { " +
       each([&](size_t k) { return results[k] + ".at[i][j] = " + soFar[k] + ".at[0][0];"; }) +
       " });");
}

} // namespace kiln::cuda
