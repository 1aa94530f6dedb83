// A mixture of experts whose experts are spread over ranks, as are the tokens. Each token goes to
// the rank of its expert and comes back multiplied by that expert's weights. A rank has room for
// all tokens of every other one, so nothing is dropped and no extent depends on the data; rows that
// go elsewhere are zero on the way.
#include <kiln/kiln.h>

using namespace kiln;

Program epMoe(const Config &cfg) {
  int64_t BM = cfg.param("BM", {16, 32, 64}, 16), BN = cfg.param("BN", {32, 64}, 32),
          BK = cfg.param("BK", {32, 64}, 32);
  Program p("ep_moe");
  p.orchestration(
      "main", {"x", "expert", "w", "y"}, [&](In<f32> x, In<i32> expert, In<f32, 3> w, Out<f32> y) {
        Index tokens = x.dim(0), inner = x.dim(1), experts = w.dim(0), columns = w.dim(2);
        require(w.dim(1) == inner, "an expert has a row of weights for each column of x");
        require(expert.dim(0) == tokens && expert.dim(1) == 1, "each token has an expert");
        require(y.dim(0) == tokens && y.dim(1) == columns,
                "y has the rows of x and the columns of the weights");
        Index count = ranks();
        TensorRef outgoing = alloc<f32>("outgoing", {count * tokens, inner}),
                  incoming = alloc<f32>("incoming", {count * tokens, inner}),
                  wanted = alloc<i32>("wanted", {count * tokens, 1}),
                  asked = alloc<i32>("asked", {count * tokens, 1});
        // Part d is what goes to rank d: its tokens, and which of its experts each of them wants.
        spmd("dispatch", {count, ceildiv(tokens, BM)}, {}, [&](Index d, Index bi) {
          Index i = bi * BM;
          Index here = min(tokens - i, BM);
          Tile local = load(expert, {i, 0}, {BM, 1}) - toI32(d * experts);
          Tile none = full(DType::I32, {BM, 1}, -1);
          Tile mine = where(local >= 0, where(local < toI32(experts), local, none), none);
          store(mine, wanted, {d * tokens + i, 0}, {.valid = {here, 1}});
          Tile zero = zeros<f32>(BM, 1), isThere = where(mine >= 0, zero + 1, zero);
          loop(0, inner, BK, [&](Index k) {
            store(load(x, {i, k}, {BM, BK}) * isThere, outgoing, {d * tokens + i, k},
                  {.valid = {here, BK}});
          });
        });
        all_to_all(outgoing, incoming);
        all_to_all(wanted, asked);

        TensorRef results = alloc<f32>("results", {count * tokens, columns}),
                  returned = alloc<f32>("returned", {count * tokens, columns});
        spmd("experts", {ceildiv(count * tokens, BM), ceildiv(columns, BN)}, {},
             [&](Index bi, Index bj) {
               Index i = bi * BM, j = bj * BN;
               Tile which = load(asked, {i, 0}, {BM, 1});
               Tile sum = loop(0, experts, 1, zeros<f32>(BM, BN), [&](Index e, Tile acc) {
                 Tile zero = zeros<f32>(BM, 1);
                 Tile isMine = where(which == toI32(e), zero + 1, zero);
                 return loop(0, inner, BK, acc, [&](Index k, Tile part) {
                   Tile rows = load(incoming, {i, k}, {BM, BK}) * isMine;
                   return matmul_acc(part, rows, load(w, {e, k, j}, {BK, BN}));
                 });
               });
               store(sum, results, {i, j});
             });
        all_to_all(results, returned);

        // Of the parts that came back one has the token's result, and the others have zeros.
        spmd("combine", {ceildiv(tokens, BM), ceildiv(columns, BN)}, {}, [&](Index bi, Index bj) {
          Index i = bi * BM, j = bj * BN;
          Tile sum = loop(0, count, 1, zeros<f32>(BM, BN), [&](Index d, Tile acc) {
            return acc + load(returned, {d * tokens + i, j}, {BM, BN});
          });
          store(sum, y, {i, j});
        });
      });
  return p;
}

int main(int argc, char **argv) {
  return kiln::main(argc, argv, epMoe,
                    {.args = {{"x", "50x40@0"},
                              {"expert", "50x1:0,5,3,3,1,4,2@0"},
                              {"w", "6x40x48@0"},
                              {"y", "50x48@0"}},
                     .formula = R"(
assert expert.min() >= 0 and expert.max() < len(w), "every token names an expert"
y = torch.stack([row @ w[int(e)] for row, e in zip(x, expert)]) if len(x) else x @ w[0]
accumulates = x.shape[1]
)"});
}
