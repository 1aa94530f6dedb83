// h[t] = a[t] * h[t - 1] + b[t], column by column, for sequences of any length: the state of a
// recurrent network or of a state space model. Two steps together are a step of the same form,
// (a0, b0) and then (a1, b1) is (a0 * a1, b0 * a1 + b1), so a scan of pairs does many at once. Each
// chunk of rows starts with the state that the one before it ended with.
#include <kiln/kiln.h>

using namespace kiln;

Program recurrence(const Config &cfg) {
  int64_t BT = cfg.param("BT", {16, 32, 64}, 32), BC = cfg.param("BC", {16, 32, 64}, 32);
  Program p("recurrence");
  p.orchestration("main", {"a", "b", "h"}, [&](In<f32> a, In<f32> b, Out<f32> h) {
    require_same_shape(a, b, "b has the shape of a");
    require_same_shape(a, h, "h has the shape of a");
    spmd("recurrence", {ceildiv(a.dim(1), BC)}, {}, [&](Index block) {
      Index j = block * BC;
      loop(0, a.dim(0), BT, zeros<f32>(1, BC), {}, [&](Index t, Tile last) {
        Tile decay = load(a, {t, j}, {BT, BC}), input = load(b, {t, j}, {BT, BC});
        auto [faded, state] =
            scan(std::tuple(decay, input), 0, {1, last}, [](Tile a0, Tile b0, Tile a1, Tile b1) {
              return std::tuple(a0 * a1, b0 * a1 + b1);
            });
        store(state, h, {t, j});
        return extract(state, BT - 1, 0, {1, BC});
      });
    });
  });
  return p;
}

int main(int argc, char **argv) {
  return kiln::main(
      argc, argv, recurrence,
      {.args = {{"a", "100x40:uniform"}, {"b", "100x40"}, {"h", "100x40"}}, .formula = R"(
    h, state = torch.zeros_like(b), torch.zeros_like(b[:1])
    for t in range(b.shape[0]):
        state = a[t] * state + b[t]
        h[t] = state
    accumulates = b.shape[0]
  )"});
}
