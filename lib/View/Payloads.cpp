#include "Payloads.h"

#include "Strings.h"

#include "abi/FileIo.h"
#include "kiln/runtime/compare.h"

#include "llvm/Support/Base64.h"
#include "llvm/Support/xxhash.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>

namespace kiln::view {

MatrixShape MatrixShape::of(const std::vector<int64_t> &shape) {
  MatrixShape matrix;
  if (!shape.empty())
    matrix.cols = shape.back();
  for (size_t axis = 0; axis + 1 < shape.size(); ++axis)
    matrix.rows *= shape[axis];
  return matrix;
}

Expected<std::vector<double>> readWindow(const DumpFile &dump, const DumpEntry &entry,
                                         const Window &window) {
  MatrixShape matrix = MatrixShape::of(entry.shape);
  constexpr int64_t most = 1 << 18;
  auto fits = [](int64_t at, int64_t count, int64_t of) {
    return at >= 0 && count >= 1 && at < of && count <= of - at;
  };
  if (!entry.hasPayload() || !fits(window.row, window.rows, matrix.rows) ||
      !fits(window.col, window.cols, matrix.cols) || window.rows > most / window.cols)
    return Status(StatusCode::InvalidArgument, "there is no such part");
  Expected<Tensor> tensor = dump.load(entry);
  if (!tensor)
    return tensor.status();
  auto *bytes = static_cast<const std::byte *>(tensor->data());
  std::vector<double> values;
  int64_t size = sizeOf(entry.dtype);
  for (int64_t row = window.row; row < window.row + window.rows; ++row)
    for (int64_t col = window.col; col < window.col + window.cols; ++col)
      values.push_back(loadElement(entry.dtype, bytes + (row * matrix.cols + col) * size));
  return values;
}

namespace {

/// JSON has no NaN and no infinities.
Json finite(double value) {
  return std::isfinite(value) ? Json(value)
         : std::isnan(value)  ? Json("NaN")
                              : Json(value > 0 ? "inf" : "-inf");
}

std::string base64(const std::vector<float> &values) {
  std::vector<char> bytes(values.size() * sizeof(float));
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return llvm::encodeBase64(bytes);
}

/// How many cells a preview has along each axis.
struct Grid {
  int64_t rows, cols;

  static Grid of(const MatrixShape &matrix, int64_t mostCells) {
    auto side = static_cast<int64_t>(std::sqrt(static_cast<double>(mostCells)));
    int64_t cols = std::min(matrix.cols, side);
    int64_t rows = std::min(matrix.rows, mostCells / std::max<int64_t>(cols, 1));
    cols = std::min(matrix.cols, mostCells / std::max<int64_t>(rows, 1));
    return {rows, cols};
  }
};

/// A tensor's elements, converted once.
std::vector<double> elementsOf(const Tensor &tensor) {
  std::vector<double> values(static_cast<size_t>(tensor.numElements()));
  auto *bytes = static_cast<const std::byte *>(tensor.data());
  int64_t size = sizeOf(tensor.dtype());
  if (tensor.dtype() == DType::F32) { // most are
    auto *floats = tensor.dataAs<const float>();
    std::copy_n(floats, values.size(), values.begin());
    return values;
  }
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = loadElement(tensor.dtype(), bytes + static_cast<int64_t>(i) * size);
  return values;
}

Json previewOf(const std::vector<double> &values, const MatrixShape &matrix, int64_t mostCells) {
  Grid grid = Grid::of(matrix, mostCells);
  std::vector<float> cells;
  cells.reserve(static_cast<size_t>(grid.rows * grid.cols));
  bool isExact = grid.rows == matrix.rows && grid.cols == matrix.cols;
  if (isExact)
    cells.assign(values.begin(), values.end());
  for (int64_t r = 0; r < grid.rows && !isExact; ++r)
    for (int64_t c = 0; c < grid.cols; ++c) {
      // A sum with NaN or infinity in it is one, which is the mark.
      double sum = 0;
      int64_t top = r * matrix.rows / grid.rows, bottom = (r + 1) * matrix.rows / grid.rows;
      int64_t left = c * matrix.cols / grid.cols, right = (c + 1) * matrix.cols / grid.cols;
      for (int64_t row = top; row < bottom; ++row)
        for (int64_t col = left; col < right; ++col)
          sum += values[static_cast<size_t>(row * matrix.cols + col)];
      cells.push_back(
          static_cast<float>(sum / static_cast<double>((bottom - top) * (right - left))));
    }
  return {{"rows", grid.rows}, {"cols", grid.cols}, {"exact", isExact}, {"cells", base64(cells)}};
}

/// What one looks at first.
Json statisticsOf(const std::vector<double> &values) {
  double low = INFINITY, high = -INFINITY, sum = 0, squares = 0;
  uint64_t numNan = 0, numInf = 0, numZero = 0;
  for (double value : values) {
    bool isNan = value != value, isInf = value - value != 0 && !isNan;
    double counted = isNan || isInf ? 0 : value;
    numNan += isNan;
    numInf += isInf;
    numZero += value == 0;
    low = isNan || isInf || value > low ? low : value;
    high = isNan || isInf || value < high ? high : value;
    sum += counted;
    squares += counted * counted;
  }
  uint64_t numFinite = values.size() - numNan - numInf;
  Json json{{"count", values.size()}, {"nan", numNan}, {"inf", numInf}, {"zero", numZero}};
  if (numFinite == 0)
    return json;
  double count = static_cast<double>(numFinite), mean = sum / count;
  json["min"] = finite(low);
  json["max"] = finite(high);
  json["mean"] = finite(mean);
  json["deviation"] = finite(std::sqrt(std::max(0.0, squares / count - mean * mean)));
  constexpr size_t bins = 32;
  std::vector<uint64_t> histogram(bins);
  double scale = high > low ? static_cast<double>(bins) / (high - low) : 0;
  for (double value : values)
    if (value - value == 0)
      ++histogram[std::min(bins - 1, static_cast<size_t>((value - low) * scale))];
  json["histogram"] = histogram;
  return json;
}

int64_t cellsFor(size_t tensors) {
  // Two million cells are what a page takes without a wait; one tensor gets 128 x 128 at the most.
  constexpr int64_t all = 2'000'000, most = int64_t(128) * 128, least = 36;
  return std::clamp(all / std::max<int64_t>(static_cast<int64_t>(tensors), 1), least, most);
}

/// Contents by number, each once.
class Contents {
public:
  Contents(const DumpFile &dump, int64_t mostCells) : Dump(dump), MostCells(mostCells) {}

  /// -1 if they cannot be read; `problem` then says why.
  int64_t add(const DumpEntry &entry, std::string &problem) {
    Expected<Tensor> tensor = Dump.load(entry);
    if (!tensor) {
      problem = tensor.status().message();
      return -1;
    }
    MatrixShape matrix = MatrixShape::of(entry.shape);
    uint64_t hash =
        llvm::xxh3_64bits(llvm::ArrayRef(tensor->dataAs<const uint8_t>(), tensor->numBytes()));
    auto [known, isNew] =
        Known.try_emplace({hash, static_cast<int>(entry.dtype), matrix.rows, matrix.cols},
                          static_cast<int64_t>(List.size()));
    if (isNew) {
      std::vector<double> values = elementsOf(*tensor);
      Json json = statisticsOf(values);
      if (!values.empty())
        json["preview"] = previewOf(values, matrix, MostCells);
      List.push_back(std::move(json));
    }
    return known->second;
  }

  Json take() { return std::move(List); }

private:
  const DumpFile &Dump;
  int64_t MostCells;
  std::map<std::tuple<uint64_t, int, int64_t, int64_t>, int64_t> Known;
  Json List = Json::array();
};

} // namespace

Json digestArguments(const DumpFile &dump) {
  Strings names;
  size_t numTensors = 0;
  for (const DumpEntry &entry : dump.entries())
    numTensors += entry.hasPayload();
  Contents contents(dump, cellsFor(numTensors));
  Json entries = Json::array();
  for (const DumpEntry &entry : dump.entries()) {
    Json json{{"task", entry.task},
              {"kernel", names(entry.kernel)},
              {"name", names(entry.argName)},
              {"index", entry.argIndex},
              {"role", names(toString(entry.role))},
              {"after", entry.stage == DumpStage::AfterCompletion},
              {"type", names(toString(entry.dtype))}};
    if (entry.isScalar) {
      json["value"] = entry.scalar.str();
    } else {
      json["shape"] = entry.shape;
      json["buffer"] = entry.bufferId;
      if (!entry.box.empty())
        json["box"] = names(entry.box);
      if (entry.hasPayload()) {
        std::string problem;
        json["contents"] = contents.add(entry, problem);
        if (!problem.empty())
          json["problem"] = problem;
      } else {
        json["contents"] = -1;
        json["problem"] = entry.internal ? "a buffer of the compiler: listed without values"
                                         : "only marked tensors were dumped with values";
      }
    }
    entries.push_back(std::move(json));
  }
  return {{"run",
           {{"program", dump.program()},
            {"platform", dump.platform()},
            {"status", dump.runStatus()},
            {"error", dump.runError()},
            {"level", dump.level()},
            {"bytes", dump.binBytes()}}},
          {"names", names.list()},
          {"entries", std::move(entries)},
          {"contents", contents.take()}};
}

//===----------------------------------------------------------------------===//
// Differences
//===----------------------------------------------------------------------===//

namespace {

/// How two numbers differ, so that NaN against a number is worse than any distance.
double distance(double one, double other) {
  if (std::isnan(one) && std::isnan(other))
    return 0;
  if (one == other)
    return 0;
  double far = std::abs(one - other);
  return std::isnan(far) ? INFINITY : far;
}

std::vector<int64_t> indexOf(int64_t element, const std::vector<int64_t> &shape) {
  std::vector<int64_t> index(shape.size());
  for (size_t axis = shape.size(); axis-- > 0; element /= shape[axis])
    index[axis] = element % shape[axis];
  return index;
}

/// Of one tensor that both runs dumped.
Json compare(const Tensor &one, const Tensor &other, const DumpEntry &entry, int64_t mostCells,
             double &worst) {
  std::vector<double> have = elementsOf(one), want = elementsOf(other), apart(have.size());
  for (size_t i = 0; i < have.size(); ++i)
    apart[i] = distance(have[i], want[i]);
  constexpr size_t listed = 5;
  std::vector<size_t> order(apart.size());
  for (size_t i = 0; i < order.size(); ++i)
    order[i] = i;
  auto last = order.begin() + static_cast<ptrdiff_t>(std::min(listed, order.size()));
  std::partial_sort(order.begin(), last, order.end(), [&](size_t a, size_t b) {
    return apart[a] != apart[b] ? apart[a] > apart[b] : a < b;
  });
  Json elements = Json::array();
  uint64_t numDifferent = 0;
  for (double each : apart)
    numDifferent += each > 0;
  for (auto at = order.begin(); at != last && apart[*at] > 0; ++at)
    elements.push_back({{"index", indexOf(static_cast<int64_t>(*at), entry.shape)},
                        {"here", finite(have[*at])},
                        {"there", finite(want[*at])}});
  worst = order.empty() ? 0 : apart[order.front()];
  Json json{{"worst", finite(worst)},
            {"different", numDifferent},
            {"explained", compareWithReference(one, other).ok},
            {"elements", std::move(elements)}};
  if (numDifferent > 0)
    json["preview"] = previewOf(apart, MatrixShape::of(entry.shape), mostCells);
  return json;
}

} // namespace

Json digestDifference(const DumpFile &dump, const DumpFile &other, const std::string &otherPath) {
  std::map<std::tuple<uint64_t, uint32_t, bool>, const DumpEntry *> there;
  for (const DumpEntry &entry : other.entries())
    there[{entry.task, entry.argIndex, entry.stage == DumpStage::AfterCompletion}] = &entry;
  std::vector<std::pair<double, Json>> found;
  size_t number = 0, numCompared = 0, numMissing = 0;
  for (const DumpEntry &entry : dump.entries()) {
    size_t here = number++;
    if (!entry.hasPayload())
      continue;
    auto match =
        there.find({entry.task, entry.argIndex, entry.stage == DumpStage::AfterCompletion});
    const DumpEntry *twin = match == there.end() ? nullptr : match->second;
    if (!twin || !twin->hasPayload() || twin->shape != entry.shape || twin->dtype != entry.dtype) {
      ++numMissing;
      continue;
    }
    Expected<Tensor> one = dump.load(entry), two = other.load(*twin);
    if (!one || !two) {
      ++numMissing;
      continue;
    }
    double worst = 0;
    Json json = compare(*one, *two, entry, cellsFor(dump.entries().size()), worst);
    ++numCompared;
    if (worst > 0) {
      json["entry"] = here;
      found.emplace_back(worst, std::move(json));
    }
  }
  std::ranges::stable_sort(found, std::ranges::greater(),
                           [](const auto &each) { return each.first; });
  Json list = Json::array();
  for (auto &[worst, json] : found)
    list.push_back(std::move(json));
  return {{"other", otherPath},
          {"compared", numCompared},
          {"not_compared", numMissing},
          {"found", std::move(list)}};
}

} // namespace kiln::view
