//===- DecodeLayer.h - a layer of a large model, one token a sequence ----------===//
//
// What: the program of models/qwen3_decode_layer.cpp for the sizes of Qwen3-14B, as an application
//   would compile it, with random weights: 16 sequences of 256 tokens. Benchmarks only.
//
//===---------------------------------------------------------------------------===//
#ifndef KILN_BENCH_DECODELAYER_H
#define KILN_BENCH_DECODELAYER_H

#include "kiln/Jit/Jit.h"

namespace kiln::bench {

class DecodeLayer {
public:
  explicit DecodeLayer(Jit &jit);

  void run();
  /// Ends the program unless what run() made is what the formulas give in double for some of the
  /// sequences.
  void check() const;
  /// The large weights, of which a step needs every byte.
  std::array<const Tensor *, 5> weights() const { return {&Qkv, &OutProj, &Gate, &Up, &Down}; }

private:
  std::vector<double> expected(int64_t sequence) const;

  Compiled Layer;
  Tensor X, Positions, Cosine, Sine, Norm1, Qkv, QNorm, KNorm, KCache, VCache, OutProj, Norm2, Gate,
      Up, Down, Y;
};

} // namespace kiln::bench

#endif // KILN_BENCH_DECODELAYER_H
