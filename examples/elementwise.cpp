// y = an elementwise function of x, chosen by --op: each is a function of the front end, built from
// the language's ops.
#include <kiln/kiln.h>

#include <cmath>

using namespace kiln;

static std::string chosen; // the formula must compute what was traced

Program elementwise(const Config &cfg) {
  chosen = cfg.choice("op", {"gelu", "silu", "relu", "tanh", "clamp"}, "gelu");
  Program p("elementwise");
  p.orchestration("main", {"x", "y"}, [&](In<f32> x, Out<f32> y) {
    spmd(chosen, {ceildiv(x.dim(0), 32), ceildiv(x.dim(1), 64)}, {}, [&](Index bi, Index bj) {
      Index i = bi * 32, j = bj * 64;
      Tile t = load(x, {i, j}, {32, 64});
      Tile result = chosen == "gelu"   ? gelu(t)
                    : chosen == "silu" ? silu(t)
                    : chosen == "relu" ? where(t > 0, t, 0)
                    : chosen == "tanh" ? tanh(t)
                                       : minimum(maximum(t, -1), 1);
      store(result, y, {i, j});
    });
  });
  return p;
}

static double reference(double x) {
  if (chosen == "gelu")
    return x / 2 * (1 + std::erf(x / std::sqrt(2.0)));
  if (chosen == "silu")
    return x / (1 + std::exp(-x));
  if (chosen == "relu")
    return x > 0 ? x : 0;
  if (chosen == "tanh")
    return std::tanh(x);
  return std::fmin(std::fmax(x, -1), 1);
}

static void formula(Formula &f) {
  HostArray y = f.in("x");
  if (!f.require(y.extents() == f.in("y").extents(), "x and y have one shape"))
    return;
  for (double &value : y.data())
    value = reference(value);
  f.expect("y", y);
}

int main(int argc, char **argv) {
  return kiln::main(argc, argv, elementwise,
                    {.args = {{"x", "50x130"}, {"y", "50x130"}}, .formula = formula});
}
