//===- RandomControl.cpp - statements on scalars, and control flow ----------------------===//
#include "RandomBody.h"

#include <algorithm>

namespace kiln::test {

//===----------------------------------------------------------------------===//
// Scalars
//===----------------------------------------------------------------------===//

static constexpr DType kScalarTypes[] = {DType::I1,  DType::I8,  DType::I16,  DType::I32,
                                         DType::I64, DType::F16, DType::BF16, DType::F32};

bool RandomBody::addElement() {
  std::optional<RandomTile> found = find([](const RandomTile &tile) {
    return tile.isExact() && !(tile.hasFloats() && sizeOf(tile.type) == 1);
  });
  if (!found)
    return false;
  RandomTile x = *found;
  std::string element = define("tile.element " + x.name + "[" + indexBelow(x.rows) + ", " +
                               indexBelow(x.cols) + "] : " + toString(x.type));
  Scalars.push_back({element, x.type});
  return true;
}

bool RandomBody::addScalarArithmetic() {
  DType type = Pick.from(kScalarTypes);
  std::string a = scalarOf(type).name, b = scalarOf(type).name,
              suffix = std::string(" : ") + toString(type), op;
  if (Pick.oneIn(6)) {
    Scalars.push_back({define("arith.select " + condition() + ", " + a + ", " + b + suffix), type});
    return true;
  }
  if (isFloat(type)) {
    op = Pick.from({"addf", "subf", "mulf", "divf", "remf", "maximumf", "minimumf"});
    if (op == "divf") // -0.0 + 0.0 is 0.0; an element may be a zero whose sign nobody defines
      b = define("arith.addf " + b + ", " + constant(type, "0.0") + suffix);
  } else if (type == DType::I1) {
    op = Pick.from({"addi", "subi", "muli", "andi", "ori", "xori"});
  } else {
    op = Pick.from({"addi",  "subi",  "muli",      "andi",  "ori",   "xori",       "minsi",
                    "maxsi", "minui", "maxui",     "divsi", "remsi", "floordivsi", "ceildivsi",
                    "divui", "remui", "ceildivui", "shli",  "shrsi", "shrui"});
    if (op.find("div") != op.npos || op.starts_with("rem"))
      b = define("arith.ori " + b + ", " + constant(type, "1") + suffix);
    if (op.starts_with("sh")) // arith leaves other counts undefined
      b = constant(type, std::to_string(Pick.below(8 * sizeOf(type))));
  }
  Scalars.push_back({define("arith." + op + " " + a + ", " + b + suffix), type});
  return true;
}

bool RandomBody::addScalarCast() {
  DType from = Pick.from(kScalarTypes), to = Pick.from(kScalarTypes);
  std::string op;
  if (from == to)
    return false;
  if (isFloat(from) && isFloat(to)) {
    if (sizeOf(from) == sizeOf(to))
      return false;
    op = sizeOf(from) < sizeOf(to) ? "extf" : "truncf";
  } else if (isFloat(from)) {
    op = "fptosi";
  } else if (isFloat(to)) {
    op = Pick.from({"sitofp", "uitofp"});
  } else if (from == DType::I1 || (to != DType::I1 && sizeOf(from) < sizeOf(to))) {
    op = Pick.from({"extsi", "extui"});
  } else {
    op = "trunci";
  }
  Scalars.push_back({define("arith." + op + " " + scalarOf(from).name + " : " + toString(from) +
                            " to " + toString(to)),
                     to});
  return true;
}

//===----------------------------------------------------------------------===//
// Control flow: what is carried round a loop is exact, and nothing is known of its size
//===----------------------------------------------------------------------===//

bool RandomBody::addFor() {
  std::optional<RandomTile> found = find([](const RandomTile &tile) { return tile.isExact(); });
  if (!found || Depth > 2)
    return false;
  const RandomTile &first = *found;
  RandomTile second = like(first);
  std::string type = tileType(first.rows, first.cols, first.type);
  std::string from = constant(DType::Index, std::to_string(Pick.below(3)));
  std::string limit = constant(DType::Index, "6");
  std::string to = define("arith.remui " + scalarOf(DType::Index).name + ", " + limit + " : index");
  std::string step = constant(DType::Index, Pick.from({"1", "2", "3"}));
  std::string result = newName(), index = newName();
  RandomTile a = first, b = second;
  a.name = newName();
  b.name = newName();
  a.accuracy = b.accuracy = Accuracy();
  line(result + ":2 = scf.for " + index + " = " + from + " to " + to + " step " + step +
       " iter_args(" + a.name + " = " + first.name + ", " + b.name + " = " + second.name +
       ") -> (" + type + ", " + type + ") {");
  region([&] {
    addScalar(index, DType::Index);
    addTile(a);
    addTile(b);
    grow(1 + Pick.below(4));
    line("scf.yield " + like(a).name + ", " + like(a).name + " : " + type + ", " + type);
  });
  line(Pick.oneIn(3) ? "} {kiln.loop = #kiln.loop<unroll>}" : "}");
  a.name = result + "#0";
  b.name = result + "#1";
  addTile(a);
  addTile(b);
  return true;
}

bool RandomBody::addWhile() {
  std::optional<RandomTile> found = find([](const RandomTile &tile) { return tile.isExact(); });
  if (!found || Depth > 2)
    return false;
  const RandomTile &first = *found;
  RandomTile carried = first;
  std::string type = tileType(first.rows, first.cols, first.type);
  std::string zero = constant(DType::Index, "0"), one = constant(DType::Index, "1");
  std::string limit = constant(DType::Index, std::to_string(Pick.below(4)));
  std::string result = newName(), before = newName(), after = newName();
  line(result + ":2 = scf.while (" + before + "i = " + zero + ", " + before + " = " + first.name +
       ") : (index, " + type + ") -> (index, " + type + ") {");
  region([&] {
    std::string more = define("arith.cmpi slt, " + before + "i, " + limit + " : index");
    line("scf.condition(" + more + ") " + before + "i, " + before + " : index, " + type);
  });
  line("} do {");
  line("^bb0(" + after + "i: index, " + after + ": " + type + "):");
  region([&] {
    carried.name = after;
    carried.accuracy = Accuracy();
    addScalar(after + "i", DType::Index);
    addTile(carried);
    grow(1 + Pick.below(3));
    std::string next = define("arith.addi " + after + "i, " + one + " : index");
    line("scf.yield " + next + ", " + like(carried).name + " : index, " + type);
  });
  line("}");
  addScalar(result + "#0", DType::Index);
  carried.name = result + "#1";
  addTile(carried);
  return true;
}

bool RandomBody::addIf() {
  if (Depth > 2)
    return false;
  RandomTile shape = anyTile();
  std::string type = tileType(shape.rows, shape.cols, shape.type);
  std::string flag = condition(), result = newName();
  Accuracy accuracy{0, 0};
  auto branch = [&] {
    grow(1 + Pick.below(3));
    RandomTile chosen = like(shape);
    accuracy = {std::max(accuracy.bound, chosen.accuracy.bound),
                std::max(accuracy.error, chosen.accuracy.error)};
    line("scf.yield " + chosen.name + " : " + type);
  };
  line(result + " = scf.if " + flag + " -> (" + type + ") {");
  region(branch);
  line("} else {");
  region(branch);
  line("}");
  addTile({result, shape.rows, shape.cols, shape.type, accuracy});
  return true;
}

} // namespace kiln::test
