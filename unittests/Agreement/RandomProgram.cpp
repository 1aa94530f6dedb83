//===- RandomProgram.cpp - kernels, groups and the orchestration around them ------------===//
#include "RandomProgram.h"

#include <algorithm>

namespace kiln::test {
namespace {

std::string tensorType(const std::vector<int64_t> &extents, DType type, bool isDynamic = false) {
  std::string shape;
  for (int64_t extent : extents)
    shape += (isDynamic ? "?" : std::to_string(extent)) + "x";
  return "!kiln.tensor<" + shape + toString(type) + ">";
}

class Generator {
public:
  explicit Generator(uint64_t seed) : Pick(seed), Main(Pick, "%m") {}

  RandomProgram run() {
    addInputs();
    for (int64_t left = 1 + Pick.below(3); left > 0; --left)
      if (Pick.oneIn(4))
        addGroup();
      else
        addKernel(/*isLast=*/left == 1);
    std::string parameters;
    for (const RandomParameter &parameter : Program.parameters)
      parameters += (parameters.empty() ? "" : ", ") + parameter.tensor.name + ": " +
                    tensorType(parameter.tensor.extents, parameter.tensor.type);
    Program.text =
        Functions + "kiln.func @main(" + parameters + ") orchestration {\n" + Main.text() + "}\n";
    return std::move(Program);
  }

private:
  /// The parameters of a function that is being written. A kernel in place has none: it uses what
  /// is around it.
  struct Signature {
    bool isInPlace = false;
    std::string parameters, arguments;
    void add(const std::string &parameter, const std::string &type, const std::string &argument) {
      std::string comma = parameters.empty() ? "" : ", ";
      parameters += comma + parameter + ": " + type;
      arguments += comma + argument;
    }
  };

  /// The blocks of a launch: each makes `rows` x `cols` elements of an output.
  struct Grid {
    int64_t rows, cols, down, across;
    std::vector<int64_t> extents;
  };

  struct Group;

  void addInputs();
  std::string wishes();
  void addKernel(bool isLast);
  void addGroup();

  Grid makeGrid();
  RandomTensor addParameter(DType type, const std::vector<int64_t> &extents, Fill fill,
                            Accuracy accuracy);
  /// Requires an extent of a parameter to be a multiple of what divides it.
  void requireMultiple(const RandomTensor &parameter);
  /// A tensor of the orchestration that may be read, or a view of it.
  RandomTensor readable();
  RandomTensor viewOf(const RandomTensor &tensor);
  /// Passes a tensor to the function: what it is called there.
  RandomTensor pass(Signature &signature, const RandomTensor &tensor);
  void addInput(RandomBody &body, Signature &signature, const Grid &grid);
  void loadSome(RandomBody &body, const RandomTensor &tensor, const Grid &grid);
  /// Stores a tile of `body` in a new tensor, for the output of the program or for later kernels.
  void storeTile(RandomBody &body, Signature &signature, const Grid &grid, bool isOutput);
  void storeScalars(RandomBody &body, Signature &signature, const Grid &grid);
  void scatterTile(RandomBody &body, Signature &signature);
  /// What one block wrote before a barrier, another reads after it.
  void exchange(RandomBody &body, Signature &signature, const Grid &grid);
  std::string cubeRole(const Group &group);
  /// `result` is what it stores.
  std::string vectorRole(const Group &group, RandomTile &result);
  /// Submits, now and then more than once, or in a block of its own.
  void launch(const std::string &call, bool mayRepeat);

  Choice Pick;
  RandomBody Main;
  RandomProgram Program;
  std::string Functions;
  std::vector<RandomTensor> Readable;
  unsigned Count = 0; ///< Of functions and tensors, for their names.
};

//===----------------------------------------------------------------------===//
// Tensors
//===----------------------------------------------------------------------===//

RandomTensor Generator::addParameter(DType type, const std::vector<int64_t> &extents, Fill fill,
                                     Accuracy accuracy) {
  RandomTensor tensor{"%t" + std::to_string(Count++), type, extents, accuracy};
  Program.parameters.push_back({tensor, fill});
  return tensor;
}

void Generator::addInputs() {
  static constexpr DType types[] = {DType::F32, DType::F32,      DType::F16,    DType::BF16,
                                    DType::I8,  DType::F8E4M3FN, DType::F8E5M2, DType::I16,
                                    DType::I32, DType::I64,      DType::I1};
  bool hasSpecial = Pick.oneIn(4);
  for (int64_t left = 2 + Pick.below(2); left > 0; --left) {
    std::vector<int64_t> extents = {1 + Pick.below(24), 1 + Pick.below(24)};
    if (Pick.oneIn(4))
      extents.insert(extents.begin(), 1 + Pick.below(3));
    else if (Pick.oneIn(4))
      extents.pop_back();
    Fill fill = hasSpecial && Pick.oneIn(2) ? Fill::Special : Fill::Uniform;
    Readable.push_back(
        addParameter(Pick.from(types), extents, fill, {fill == Fill::Uniform ? 2 : kInfinity, 0}));
    if (Pick.oneIn(2))
      requireMultiple(Readable.back());
  }
  Main.addScalar(Main.constant(DType::Index, "1"), DType::Index);
}

void Generator::requireMultiple(const RandomTensor &parameter) {
  int64_t axis = Pick.below(int64_t(parameter.extents.size()));
  std::vector<int64_t> divisors;
  for (int64_t divisor = 1; divisor <= parameter.extents[axis]; ++divisor)
    if (parameter.extents[axis] % divisor == 0)
      divisors.push_back(divisor);
  std::string extent = Main.define("kiln.dim " + parameter.name + ", " + std::to_string(axis));
  std::string divisor = Main.constant(DType::Index, std::to_string(Pick.from(divisors)));
  std::string rest = Main.define("arith.remsi " + extent + ", " + divisor + " : index");
  std::string none = Main.constant(DType::Index, "0");
  std::string holds = Main.define("arith.cmpi eq, " + rest + ", " + none + " : index");
  Main.line("kiln.require " + holds + ", \"" + parameter.name + " comes in whole parts\"");
}

RandomTensor Generator::readable() {
  RandomTensor tensor = Pick.from(Readable);
  bool isScalar = tensor.type == DType::F32 || tensor.type == DType::I32;
  if (isScalar && tensor.accuracy.error == 0 && tensor.extents.size() == 2 && Pick.oneIn(2))
    Main.addScalar(Main.define("kiln.get " + tensor.name + "[" +
                               Main.indexBelow(tensor.extents[0]) + ", " +
                               Main.indexBelow(tensor.extents[1]) + "] : " + toString(tensor.type)),
                   tensor.type);
  if (Pick.oneIn(16))
    Main.line("kiln.dump " + tensor.name);
  return Pick.oneIn(3) ? viewOf(tensor) : tensor;
}

RandomTensor Generator::viewOf(const RandomTensor &tensor) {
  RandomTensor view = tensor;
  std::vector<int64_t> &extents = view.extents;
  if (extents.size() == 3) {
    std::string plane = Main.indexBelow(extents[0]);
    extents.erase(extents.begin());
    view.name = Main.define("kiln.slice " + tensor.name + "[" + plane + ", 0, 0] [1, " +
                            std::to_string(extents[0]) + ", " + std::to_string(extents[1]) +
                            "] drop [0] : " + tensorType(extents, view.type));
    return view;
  }
  if (extents.size() == 2 && Pick.oneIn(3)) {
    std::swap(extents[0], extents[1]);
    view.name = Main.define("kiln.transpose " + tensor.name +
                            ", [1, 0] : " + tensorType(extents, view.type));
    return view;
  }
  if (extents.size() == 2 && Pick.oneIn(3)) {
    extents = {extents[0] * extents[1]};
    view.name = Main.define("kiln.reshape " + tensor.name + "[" + std::to_string(extents[0]) +
                            "] : " + tensorType(extents, view.type));
    return view;
  }
  std::string offsets, sizes;
  for (int64_t &extent : extents) {
    int64_t size = 1 + Pick.below(extent);
    std::string comma = offsets.empty() ? "" : ", ";
    offsets += comma + Main.indexBelow(extent - size + 1);
    sizes += comma + std::to_string(extent = size);
  }
  view.name = Main.define("kiln.slice " + tensor.name + "[" + offsets + "] [" + sizes +
                          "] : " + tensorType(extents, view.type));
  return view;
}

RandomTensor Generator::pass(Signature &signature, const RandomTensor &tensor) {
  if (signature.isInPlace)
    return tensor;
  RandomTensor inside = tensor;
  inside.name = "%p" + std::to_string(Count++);
  signature.add(inside.name, tensorType(tensor.extents, tensor.type, Pick.oneIn(3)), tensor.name);
  return inside;
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

Generator::Grid Generator::makeGrid() {
  Grid grid{Pick.from<int64_t>({1, 2, 3, 4, 5, 8}),
            Pick.from<int64_t>({1, 2, 3, 4, 7, 8, 16}),
            1 + Pick.below(3),
            1 + Pick.below(2),
            {}};
  grid.extents = {(grid.down - 1) * grid.rows + 1 + Pick.below(grid.rows),
                  (grid.across - 1) * grid.cols + 1 + Pick.below(grid.cols)};
  return grid;
}

void Generator::addInput(RandomBody &body, Signature &signature, const Grid &grid) {
  RandomTensor tensor = pass(signature, readable());
  loadSome(body, tensor, grid);
  std::string last = std::to_string(tensor.extents.size() - 1);
  body.addScalar(body.define("kiln.dim " + tensor.name + ", " + last), DType::Index);
  if (tensor.extents.size() != 2)
    return;
  std::string place = tensor.name + "[" + body.indexBelow(tensor.extents[0]) + ", " +
                      body.indexBelow(tensor.extents[1]) + "]";
  bool hasScalars = !isFloat(tensor.type) || sizeOf(tensor.type) > 1;
  if (Pick.oneIn(8))
    body.line("tile.prefetch " + place + " shape(2, 3)");
  if (tensor.accuracy.error == 0 && hasScalars && Pick.oneIn(3))
    body.addScalar(body.define("kiln.read " + place + " : " + toString(tensor.type)), tensor.type);
  if (Pick.oneIn(3))
    body.addRows(tensor, pass(signature, addParameter(Pick.from({DType::I32, DType::I64}),
                                                      {1 + Pick.below(8)}, Fill::RowNumbers, {})));
}

/// Loads a tile that lies inside or hangs over an edge, or the block's own tile.
void Generator::loadSome(RandomBody &body, const RandomTensor &tensor, const Grid &grid) {
  const std::vector<int64_t> &extents = tensor.extents;
  int64_t rows = 1 + Pick.below(8), cols = 1 + Pick.below(8);
  if (extents.size() == 1) {
    bool isRow = Pick.oneIn(2);
    body.load(tensor, body.indexBelow(extents[0]), isRow ? 1 : rows, isRow ? cols : 1);
    return;
  }
  std::string lead = extents.size() == 3 ? body.indexBelow(extents[0]) + ", " : "";
  int64_t height = extents[extents.size() - 2], width = extents.back();
  bool coversGrid = height > (grid.down - 1) * grid.rows && width > (grid.across - 1) * grid.cols;
  if (coversGrid && !Pick.oneIn(3))
    body.load(tensor, lead + "%row, %col", grid.rows, grid.cols);
  else if (Pick.oneIn(4))
    body.load(tensor, lead + std::to_string(-Pick.below(rows)) + ", " + body.indexBelow(width),
              rows, cols);
  else
    body.load(tensor, lead + body.indexBelow(height) + ", " + body.indexBelow(width), rows, cols);
}

void Generator::storeTile(RandomBody &body, Signature &signature, const Grid &grid, bool isOutput) {
  RandomTile tile = body.shaped(grid.rows, grid.cols);
  bool isAtomic = isOutput && Pick.oneIn(6);
  Accuracy accuracy = tile.accuracy;
  if (isAtomic)
    accuracy = rounded(tile.type, {accuracy.bound + 2, accuracy.error});
  RandomTensor tensor;
  if (isOutput) {
    tensor = addParameter(tile.type, grid.extents, isAtomic ? Fill::Uniform : Fill::Poison,
                          isFloat(tile.type) ? accuracy : Accuracy());
  } else {
    std::string name = Main.define("kiln.alloc() : " + tensorType(grid.extents, tile.type));
    tensor = {name, tile.type, grid.extents, accuracy};
    Readable.push_back(tensor);
  }
  std::string inside = pass(signature, tensor).name, valid;
  if (isOutput && Pick.oneIn(4)) // the rest stays unwritten, which nobody may read
    valid =
        " valid(" + body.indexBelow(grid.rows + 1) + ", " + body.indexBelow(grid.cols + 1) + ")";
  body.line("tile.store " + tile.name + ", " + inside + "[%row, %col]" + valid +
            (isAtomic ? " atomic(add)" : ""));
}

/// One element for each block.
void Generator::storeScalars(RandomBody &body, Signature &signature, const Grid &grid) {
  DType type = Pick.from({DType::F32, DType::BF16, DType::I32, DType::I64, DType::I8, DType::I1});
  RandomTensor tensor = addParameter(type, {grid.down, grid.across}, Fill::Poison, {kInfinity, 0});
  body.line("kiln.write " + body.scalarOf(type).name + ", " + pass(signature, tensor).name +
            "[%bi, %bj]");
}

/// All rows of a new tensor, in any order.
void Generator::scatterTile(RandomBody &body, Signature &signature) {
  RandomTile tile = body.shaped(1 + Pick.below(6), 1 + Pick.below(6));
  int64_t height = tile.rows + Pick.below(3);
  RandomTensor rows = addParameter(DType::I32, {height}, Fill::RowNumbers, {});
  RandomTensor tensor = addParameter(tile.type, {height, tile.cols}, Fill::Poison, tile.accuracy);
  body.line("tile.scatter_rows " + tile.name + ", " + pass(signature, tensor).name +
            "[0, 0] rows(" + pass(signature, rows).name + "[" +
            body.indexBelow(height - tile.rows + 1) + "])");
}

void Generator::launch(const std::string &call, bool mayRepeat) {
  switch (Pick.below(5)) {
  case 0:
    Main.line("kiln.scope {");
    Main.line("  %in" + std::to_string(Count++) + " = " + call);
    Main.line("}");
    return;
  case 1:
    if (mayRepeat) {
      std::string from = Main.constant(DType::Index, "0"), to = Main.constant(DType::Index, "2"),
                  step = Main.constant(DType::Index, "1");
      Main.line("scf.for %i" + std::to_string(Count++) + " = " + from + " to " + to + " step " +
                step + " {");
      Main.line("  %in" + std::to_string(Count++) + " = " + call);
      Main.line("}");
      return;
    }
    [[fallthrough]];
  default:
    Main.define(call);
  }
}

void Generator::exchange(RandomBody &body, Signature &signature, const Grid &grid) {
  RandomTile tile = body.shaped(grid.rows, grid.cols);
  RandomTensor scratch{Main.define("kiln.alloc() : " + tensorType(grid.extents, tile.type)),
                       tile.type, grid.extents, tile.accuracy};
  RandomTensor inside = pass(signature, scratch);
  body.line("tile.store " + tile.name + ", " + inside.name + "[%row, %col]");
  body.line("tile.barrier");
  loadSome(body, inside, grid);
}

/// What a kernel may ask for where a machine divides it. Most ask for nothing: not every kernel can
/// be split as it wishes.
std::string Generator::wishes() {
  std::string text;
  if (Pick.oneIn(6))
    text += " lanes(" + std::to_string(1 + Pick.below(2)) + ")";
  if (Pick.oneIn(6))
    text += " split(" + std::string(Pick.oneIn(2) ? "up_down" : "left_right") + ")";
  if (Pick.oneIn(6))
    text += " slots(" + std::to_string(1 + Pick.below(3)) + ")";
  return text;
}

void Generator::addKernel(bool isLast) {
  Grid grid = makeGrid();
  Signature signature{Pick.oneIn(5), "", ""};
  RandomBody body(Pick);
  std::string name = "k" + std::to_string(Count++);
  body.line("%bi = tile.block_idx 0");
  body.line("%bj = tile.block_idx 1");
  for (auto [offset, block, extent] :
       {std::tuple("%row", "%bi", grid.rows), std::tuple("%col", "%bj", grid.cols)}) {
    std::string step = body.constant(DType::Index, std::to_string(extent));
    body.line(std::string(offset) + " = arith.muli " + block + ", " + step + " : index");
    body.addScalar(block, DType::Index);
  }
  body.addScalar(body.define("tile.block_count " + std::to_string(Pick.below(3))), DType::Index);
  for (int64_t left = 1 + Pick.below(3); left > 0; --left)
    addInput(body, signature, grid);
  for (DType type : {DType::F32, DType::I32, DType::Index}) {
    if (Pick.oneIn(2))
      continue;
    std::string outside = Main.scalarOf(type).name, inside = outside;
    if (!signature.isInPlace)
      signature.add(inside = "%s" + std::to_string(Count++), toString(type), outside);
    body.addScalar(inside, type);
  }
  bool hasBarrier = Pick.oneIn(6);
  if (hasBarrier)
    exchange(body, signature, grid);
  body.grow(3 + Pick.below(12));
  storeTile(body, signature, grid, isLast || Pick.oneIn(2));
  if (Pick.oneIn(3))
    storeTile(body, signature, grid, true);
  if (Pick.oneIn(3))
    storeScalars(body, signature, grid);
  if (grid.down * grid.across == 1 && Pick.oneIn(2))
    scatterTile(body, signature);
  std::string blocks = " grid(" + std::to_string(grid.down) + ", " + std::to_string(grid.across) +
                       ")" + (hasBarrier ? " sync_start" : "");
  bool mayRepeat = body.text().find("atomic") == std::string::npos;
  if (signature.isInPlace)
    return launch("kiln.incore \"" + name + "\"" + blocks + " {\n" + body.text() + "  }",
                  mayRepeat);
  Functions += "kiln.func @" + name + "(" + signature.parameters + ") incore" + wishes() + " {\n" +
               body.text() + "}\n";
  launch("kiln.submit @" + name + "(" + signature.arguments + ")" + blocks, mayRepeat);
}

//===----------------------------------------------------------------------===//
// Groups
//===----------------------------------------------------------------------===//

/// out = f(g(a) b): the vector role computes g and f on its share of a tile, the cube role
/// multiplies, and pipes join them. A tile of a is m x k, b is k x n.
struct Generator::Group {
  int64_t lanes, down, across; ///< How many shares a tile has in each direction.
  int64_t trips, blocks;       ///< Each block of the launch does so many tiles.
  int64_t m, k, n;
  DType type, sum;
  std::string up, back; ///< The types of the pipes.

  explicit Group(Choice &pick);
};

Generator::Group::Group(Choice &pick) {
  lanes = 1 + pick.below(2);
  bool splitsRows = pick.oneIn(2);
  down = splitsRows ? lanes : 1;
  across = splitsRows ? 1 : lanes;
  trips = 1 + pick.below(3);
  blocks = 1 + pick.below(2);
  m = down * (1 + pick.below(4));
  k = across * (1 + pick.below(4));
  n = across * (1 + pick.below(4));
  type = pick.from({DType::F32, DType::F16, DType::BF16, DType::I8, DType::F8E4M3FN});
  sum = isFloat(type) ? DType::F32 : DType::I32;
  std::string split = lanes == 1 ? "" : splitsRows ? ", up_down" : ", left_right";
  auto pipe = [&](const char *ends, int64_t cols, DType element) {
    return std::string("!tile.pipe<") + ends + ", " + std::to_string(m) + "x" +
           std::to_string(cols) + "x" + toString(element) + split + ">";
  };
  up = pipe("aiv -> aic", k, type);
  back = pipe("aic -> aiv", n, sum);
}

std::string Generator::cubeRole(const Group &group) {
  RandomBody body(Pick);
  std::string from = body.constant(DType::Index, "0"), step = body.constant(DType::Index, "1");
  std::string to = body.constant(DType::Index, std::to_string(group.trips));
  body.line("%right = tile.load %b[0, 0] : " + tileType(group.k, group.n, group.type));
  body.line("scf.for %i = " + from + " to " + to + " step " + step + " {");
  body.line("  %left = tile.pop %up : " + tileType(group.m, group.k, group.type));
  body.line("  %product = tile.matmul %left, %right : " + tileType(group.m, group.n, group.sum));
  if (Pick.oneIn(2)) // else the compiler places it
    body.line("  tile.free %up");
  body.line("  tile.push %product, %back");
  body.line("}");
  return body.text();
}

std::string Generator::vectorRole(const Group &group, RandomTile &result) {
  RandomBody body(Pick);
  auto number = [&](int64_t value) { return body.constant(DType::Index, std::to_string(value)); };
  auto combine = [&](const char *op, const std::string &a, const std::string &b) {
    return body.define(std::string("arith.") + op + " " + a + ", " + b + " : index");
  };
  int64_t rows = group.m / group.down, colsIn = group.k / group.across,
          colsOut = group.n / group.across;
  std::string lane = body.define("tile.lane"), block = body.define("tile.block_idx 0");
  std::string from = number(0), to = number(group.trips), step = number(1);
  std::string atRow = group.down > 1 ? combine("muli", lane, number(rows)) : from;
  std::string atIn = group.across > 1 ? combine("muli", lane, number(colsIn)) : from;
  std::string atOut = group.across > 1 ? combine("muli", lane, number(colsOut)) : from;
  body.line("scf.for %i = " + from + " to " + to + " step " + step + " {");
  std::string tile = combine("addi", combine("muli", block, to), "%i");
  std::string row = combine("addi", combine("muli", tile, number(group.m)), atRow);
  body.addScalar(lane, DType::Index);
  body.addScalar("%i", DType::Index);

  RandomTile loaded =
      body.define("tile.load %a[" + row + ", " + atIn + "]", rows, colsIn, group.type, {2, 0});
  body.grow(Pick.below(4));
  RandomTile pushed = body.like(loaded);
  if (pushed.hasFloats() && pushed.accuracy.bound > 64)
    pushed = loaded;
  body.line("tile.push " + pushed.name + ", %up");
  double total = group.k * pushed.accuracy.bound * 2; // elements of b are 2 at most
  Accuracy product{total, group.k * (2 * pushed.accuracy.error + total * 0x1p-23)};
  body.define("tile.pop %back", rows, colsOut, group.sum, rounded(group.sum, product));
  body.grow(1 + Pick.below(5));
  result = body.shaped(rows, colsOut);
  body.line("tile.store " + result.name + ", %out[" + row + ", " + atOut + "]");
  body.line("}");
  return body.text();
}

void Generator::addGroup() {
  Group group(Pick);
  RandomTile result;
  std::string cubeText = cubeRole(group), vectorText = vectorRole(group, result);
  int64_t height = group.m * group.trips * group.blocks;
  RandomTensor a = addParameter(group.type, {height, group.k}, Fill::Uniform, {2, 0});
  RandomTensor b = addParameter(group.type, {group.k, group.n}, Fill::Uniform, {2, 0});
  RandomTensor out = addParameter(result.type, {height, group.n}, Fill::Poison, result.accuracy);
  std::string typeA = "%a: " + tensorType(a.extents, a.type),
              typeB = "%b: " + tensorType(b.extents, b.type),
              typeOut = "%out: " + tensorType(out.extents, out.type);
  std::string pipes = ", %up: " + group.up + ", %back: " + group.back;
  auto makePipe = [&](const char *name, const std::string &type) {
    return std::string("  ") + name + " = tile.pipe slots(" + std::to_string(1 + Pick.below(3)) +
           ") : " + type + "\n";
  };
  std::string id = std::to_string(Count++);
  Functions += "kiln.func @cube" + id + "(" + typeB + pipes + ") role(aic) {\n" + cubeText + "}\n";
  Functions += "kiln.func @vec" + id + "(" + typeA + ", " + typeOut + pipes + ") role(aiv) {\n" +
               vectorText + "}\n";
  Functions += "kiln.func @group" + id + "(" + typeA + ", " + typeB + ", " + typeOut +
               ") group lanes(" + std::to_string(group.lanes) + ") {\n" +
               makePipe("%up", group.up) + makePipe("%back", group.back) + "  kiln.call @cube" +
               id + "(%b, %up, %back)\n  kiln.call @vec" + id + "(%a, %out, %up, %back)\n}\n";
  launch("kiln.submit @group" + id + "(" + a.name + ", " + b.name + ", " + out.name + ") grid(" +
             std::to_string(group.blocks) + ")",
         true);
}

} // namespace

RandomProgram makeRandomProgram(uint64_t seed) { return Generator(seed).run(); }

} // namespace kiln::test
