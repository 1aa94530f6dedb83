// y = an elementwise function of x, op by --op: each is a function of the front end, built from
// the language's ops.
#include <kiln/kiln.h>

using namespace kiln;

Program elementwise(const Config &cfg) {
  std::string op = cfg.choice("op", {"gelu", "silu", "relu", "tanh", "clamp"}, "gelu");
  Program p("elementwise");
  p.orchestration("main", {"x", "y"}, [&](In<f32> x, Out<f32> y) {
    require_same_shape(x, y, "y has the shape of x");
    spmd(op, {ceildiv(x.dim(0), 32), ceildiv(x.dim(1), 64)}, [&](Index bi, Index bj) {
      Index i = bi * 32, j = bj * 64;
      Tile t = load(x, {i, j}, {32, 64});
      Tile result = op == "gelu"   ? gelu(t)
                    : op == "silu" ? silu(t)
                    : op == "relu" ? where(t > 0, t, 0)
                    : op == "tanh" ? tanh(t)
                                   : minimum(maximum(t, -1), 1);
      store(result, y, {i, j});
    });
  });
  return p;
}

int main(int argc, char **argv) {
  return kiln::main(argc, argv, elementwise,
                    {.args = {{"x", "50x130"}, {"y", "50x130"}}, .formula = R"(
    F = torch.nn.functional
    ops = {"gelu": F.gelu, "silu": F.silu, "relu": F.relu, "tanh": torch.tanh, "clamp": F.hardtanh}
    y = ops[op](x)
  )"});
}
