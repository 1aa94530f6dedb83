// Of each row, for rows of any length: the largest element and where it is, the mean and the
// variance, and log(sum(exp(x))), each by a reduction with a body of its own. What a chunk of
// columns begins with is what the chunks before it came to.
#include <kiln/kiln.h>

using namespace kiln;

/// Of two elements the larger; of equal ones the first.
static std::tuple<Tile, Tile> better(Tile value, Tile at, Tile next, Tile nextAt) {
  return {maximum(value, next), where(next > value, nextAt, at)};
}

/// Count, mean and sum of squares about the mean, of two parts together. Parts without elements
/// change nothing.
static std::tuple<Tile, Tile, Tile> together(Tile n, Tile mean, Tile squares, Tile m, Tile nextMean,
                                             Tile nextSquares) {
  Tile count = n + m, apart = nextMean - mean;
  Tile step = apart * (m / maximum(count, 1));
  return {count, mean + step, squares + nextSquares + apart * step * n};
}

/// sum(exp(x)) as exp(top) * sum, where nothing overflows.
static std::tuple<Tile, Tile> exponentials(Tile top, Tile sum, Tile nextTop, Tile nextSum) {
  Tile both = maximum(top, nextTop);
  return {both, sum * exp(top - both) + nextSum * exp(nextTop - both)};
}

Program rowStatistics(const Config &cfg) {
  int64_t BM = cfg.param("BM", {8, 16, 32}, 16), BN = cfg.param("BN", {32, 64, 128}, 64);
  Program p("row_statistics");
  p.orchestration("main", {"x", "best", "column", "mean", "variance", "logsumexp"},
                  [&](In<f32> x, Out<f32> best, Out<i32> column, Out<f32> mean, Out<f32> variance,
                      Out<f32> logsumexp) {
                    for (const TensorRef &y : {TensorRef(best), TensorRef(column), TensorRef(mean),
                                               TensorRef(variance), TensorRef(logsumexp)})
                      require(y.dim(0) == x.dim(0) && y.dim(1) == 1,
                              "a result has one column and the rows of x");
                    require(x.dim(1) > 0, "x has columns");
                    spmd("row_statistics", {ceildiv(x.dim(0), BM)}, {}, [&](Index b) {
                      Index i = b * BM;
                      Tile none = zeros<f32>(BM, 1), lowest = full(DType::F32, {BM, 1}, -1e30);
                      auto found = loop(
                          0, x.dim(1), BN,
                          std::tuple(lowest, zeros<i32>(BM, 1), none, none, none, lowest, none), {},
                          [&](Index j, Tile top, Tile at, Tile n, Tile middle, Tile squares,
                              Tile high, Tile sum) {
                            // Far below all data, but not infinite: the difference of two is a
                            // number.
                            Tile t = maximum(load(x, {i, j}, {BM, BN}, {.pad = Pad::Min}), -1e30);
                            Tile col = iota<i32>({BM, BN}, 1) + toI32(j);
                            Tile ones = cast<f32>(col < toI32(x.dim(1)));
                            std::tie(top, at) = reduce(std::tuple(t, col), 1, {top, at}, better);
                            std::tie(n, middle, squares) =
                                reduce(std::tuple(ones, t * ones, zeros<f32>(BM, BN)), 1,
                                       {n, middle, squares}, together);
                            std::tie(high, sum) =
                                reduce(std::tuple(t, ones), 1, {high, sum}, exponentials);
                            return std::tuple(top, at, n, middle, squares, high, sum);
                          });
                      auto [top, at, n, middle, squares, high, sum] = found;
                      store(top, best, {i, 0});
                      store(at, column, {i, 0});
                      store(middle, mean, {i, 0});
                      store(squares / n, variance, {i, 0});
                      store(high + log(sum), logsumexp, {i, 0});
                    });
                  });
  return p;
}

int main(int argc, char **argv) {
  return kiln::main(argc, argv, rowStatistics,
                    {.args = {{"x", "37x300"},
                              {"best", "37x1"},
                              {"column", "37x1"},
                              {"mean", "37x1"},
                              {"variance", "37x1"},
                              {"logsumexp", "37x1"}},
                     .formula = R"(
    best, column = x.max(1, keepdim=True)
    mean, variance = x.mean(1, keepdim=True), x.var(1, correction=0, keepdim=True)
    logsumexp = torch.logsumexp(x, 1, keepdim=True)
    accumulates = x.shape[1]
  )"});
}
