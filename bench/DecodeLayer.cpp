// The program comes as text, which the build has the model print; the formulas are those beside it.
#include "DecodeLayer.h"

#include "KernelData.h"
#include "Measure.h"

#include "kiln/Dialect/ProgramText.h"
#include "kiln/Jit/Compiler/ProgramSource.h"
#include "kiln/Language/ProgramAccess.h"

#include <bit>
#include <cmath>
#include <fstream>
#include <iterator>

using namespace kiln;
using namespace kiln::bench;

namespace {

constexpr int64_t sequences = 16, tokens = 256;
constexpr int64_t hidden = 5120, heads = 40, kvHeads = 8, depth = 128, inter = 17408;
constexpr int64_t group = heads / kvHeads, all = heads + 2 * kvHeads, half = depth / 2;

using Numbers = std::vector<double>;

Compiled compileLayer(Jit &jit) {
  std::ifstream file(KILN_DECODE_LAYER);
  std::string text{std::istreambuf_iterator<char>(file), {}};
  mlir::DialectRegistry registry;
  registerKilnDialects(registry);
  mlir::MLIRContext context(registry);
  mlir::OwningOpRef<mlir::ModuleOp> module = parseProgram(text, KILN_DECODE_LAYER, &context);
  bench::check(bool(module), KILN_DECODE_LAYER " cannot be read");
  return jit.compile(take(makeProgramSource(*module, {})));
}

/// The last position of each sequence, where the new token goes.
Tensor lastPositions() {
  Tensor positions = take(Tensor::empty(DType::I32, {sequences}));
  std::fill_n(positions.dataAs<int32_t>(), sequences, int32_t(tokens - 1));
  return positions;
}

/// Of the angle by which a pair of columns is turned at each position.
Tensor angles(double (*function)(double)) {
  Tensor table = take(Tensor::empty(DType::F32, {tokens, half}));
  for (int64_t i = 0; i < tokens; ++i)
    for (int64_t j = 0; j < half; ++j)
      table.dataAs<float>()[i * half + j] =
          float(function(double(i) * std::pow(1e6, -double(j) / half)));
  return table;
}

//===----------------------------------------------------------------------===//
// In double
//===----------------------------------------------------------------------===//

Numbers rowOf(const Tensor &tensor, int64_t row, int64_t size) {
  Numbers values;
  for (int64_t i = row * size; i < (row + 1) * size; ++i)
    values.push_back(at(tensor, i));
  return values;
}

/// As it is when it has been stored as bf16.
void narrow(Numbers &values) {
  for (double &value : values) {
    uint16_t stored;
    storeElement(DType::BF16, &stored, value);
    value = loadElement(DType::BF16, &stored);
  }
}

/// w x, of bf16; loadElement() would take seconds.
Numbers product(const Tensor &w, const Numbers &x) {
  Numbers sums(size_t(w.extent(0)));
  const auto *next = w.dataAs<uint16_t>();
  for (double &sum : sums) {
    double parts[4] = {};
    for (size_t i = 0; i < x.size(); ++i)
      parts[i % 4] += x[i] * double(std::bit_cast<float>(uint32_t(*next++) << 16));
    sum = parts[0] + parts[1] + parts[2] + parts[3];
  }
  return sums;
}

void normalize(std::span<double> x, const Tensor &w) {
  double squares = 0;
  for (double value : x)
    squares += value * value;
  double scale = 1 / std::sqrt(squares / double(x.size()) + 1e-6);
  for (size_t i = 0; i < x.size(); ++i)
    x[i] *= scale * at(w, int64_t(i));
}

void turn(std::span<double> head, const Tensor &cosine, const Tensor &sine) {
  for (int64_t i = 0; i < half; ++i) {
    double low = head[size_t(i)], high = head[size_t(i + half)];
    double c = at(cosine, (tokens - 1) * half + i), s = at(sine, (tokens - 1) * half + i);
    head[size_t(i)] = low * c - high * s;
    head[size_t(i + half)] = high * c + low * s;
  }
}

} // namespace

DecodeLayer::DecodeLayer(Jit &jit)
    : Layer(compileLayer(jit)), X(randomTensor(DType::BF16, {sequences, hidden}, 1)),
      Positions(lastPositions()), Cosine(angles(std::cos)), Sine(angles(std::sin)),
      Norm1(randomTensor(DType::BF16, {hidden}, 2)),
      Qkv(randomTensor(DType::BF16, {all * depth, hidden}, 3, 1 / std::sqrt(double(hidden)))),
      QNorm(randomTensor(DType::BF16, {depth}, 4)), KNorm(randomTensor(DType::BF16, {depth}, 5)),
      KCache(randomTensor(DType::BF16, {sequences, kvHeads, tokens, depth}, 6)),
      VCache(randomTensor(DType::BF16, {sequences, kvHeads, tokens, depth}, 7)),
      OutProj(randomTensor(DType::BF16, {hidden, heads * depth}, 8, 1 / std::sqrt(double(hidden)))),
      Norm2(randomTensor(DType::BF16, {hidden}, 9)),
      Gate(randomTensor(DType::BF16, {inter, hidden}, 10, 1 / std::sqrt(double(hidden)))),
      Up(randomTensor(DType::BF16, {inter, hidden}, 11, 1 / std::sqrt(double(hidden)))),
      Down(randomTensor(DType::BF16, {hidden, inter}, 12, 1 / std::sqrt(double(inter)))),
      Y(poisonedTensor({sequences, hidden}, DType::BF16)) {}

void DecodeLayer::run() {
  must(Layer(X, Positions, Cosine, Sine, Norm1, Qkv, QNorm, KNorm, KCache, VCache, OutProj, Norm2,
             Gate, Up, Down, Y));
}

Numbers DecodeLayer::expected(int64_t sequence) const {
  Numbers x = rowOf(X, sequence, hidden), normed = x;
  normalize(normed, Norm1);
  narrow(normed);
  Numbers projected = product(Qkv, normed);
  auto headOf = [&](int64_t number) {
    return std::span(projected).subspan(size_t(number * depth), size_t(depth));
  };
  for (int64_t head = 0; head < heads + kvHeads; ++head) {
    normalize(headOf(head), head < heads ? QNorm : KNorm);
    turn(headOf(head), Cosine, Sine);
  }
  narrow(projected);
  Numbers mixed(size_t(heads * depth));
  for (int64_t head = 0; head < heads; ++head) {
    int64_t shared = head / group, first = (sequence * kvHeads + shared) * tokens;
    // The new token's are not in the cache before the run.
    auto cached = [&](const Tensor &cache, int64_t newHead, int64_t token, int64_t i) {
      return token == tokens - 1 ? headOf(newHead)[size_t(i)]
                                 : at(cache, (first + token) * depth + i);
    };
    Numbers weights(tokens);
    double sum = 0;
    for (int64_t token = 0; token < tokens; ++token) {
      double score = 0;
      for (int64_t i = 0; i < depth; ++i)
        score += headOf(head)[size_t(i)] * cached(KCache, heads + shared, token, i);
      sum += weights[size_t(token)] = std::exp(score / std::sqrt(double(depth)));
    }
    for (int64_t token = 0; token < tokens; ++token)
      for (int64_t i = 0; i < depth; ++i)
        mixed[size_t(head * depth + i)] +=
            weights[size_t(token)] / sum * cached(VCache, heads + kvHeads + shared, token, i);
  }
  narrow(mixed);
  Numbers sum = product(OutProj, mixed);
  for (size_t i = 0; i < x.size(); ++i)
    x[i] += sum[i];
  normed = x;
  normalize(normed, Norm2);
  narrow(normed);
  Numbers gate = product(Gate, normed), up = product(Up, normed);
  for (size_t i = 0; i < gate.size(); ++i)
    gate[i] *= up[i] / (1 + std::exp(-gate[i]));
  narrow(gate);
  sum = product(Down, gate);
  for (size_t i = 0; i < x.size(); ++i)
    x[i] += sum[i];
  return x;
}

void DecodeLayer::check() const {
  for (int64_t sequence : {int64_t(0), sequences - 1}) {
    Numbers want = expected(sequence);
    for (int64_t i = 0; i < hidden; ++i)
      bench::check(isNear(at(Y, sequence * hidden + i), want[size_t(i)], 1e-2), "decode layer");
  }
}
