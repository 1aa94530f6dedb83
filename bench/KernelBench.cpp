// What native kernels reach beside libraries made for one job each, on two cores: products,
// attention, norms. Random data; every result is checked before anything is timed; sides take
// turns.
//
//   kiln_bench_kernels [--json FILE] [--only gemm|bf16|i8|decode|attention|norms|workers]
//   [--workers N] [rounds]
//
// The best of `rounds` medians counts (default 3). Attention is measured by the rate of the GEMMs.
// Rates should not fall as products and sequences grow: rows "at the rate of" compare with the size
// before.
#include "DecodeLayer.h"
#include "KernelData.h"
#include "KernelPeers.h"
#include "KernelPrograms.h"
#include "MachineLimits.h"
#include "Measure.h"

#include "kiln/Jit/Jit.h"
#include "kiln/runtime/engine.h"
#include "kiln/runtime/workers.h"

#include <nlohmann/json.hpp>

#include <cmath>
#include <cstring>
#include <random>
#include <string_view>
#include <unistd.h>

using namespace kiln;
using namespace kiln::bench;

namespace {

constexpr int repeats = 5;

//===----------------------------------------------------------------------===//
// Checking
//===----------------------------------------------------------------------===//

/// `isTurned`: b is n x k.
void checkGemm(const Tensor &a, const Tensor &b, const Tensor &c, const char *what,
               bool isTurned = false) {
  int64_t m = c.extent(0), n = c.extent(1), k = a.extent(1);
  std::mt19937 generator(5);
  for (int sample = 0; sample < 500; ++sample) {
    int64_t i = generator() % m, j = generator() % n;
    double sum = 0;
    for (int64_t l = 0; l < k; ++l)
      sum += at(a, i * k + l) * at(b, isTurned ? j * k + l : l * n + j);
    check(isNear(at(c, i * n + j), sum, 1e-4), what);
  }
}

/// Rows of y against `row`, which makes one in double from one of x.
void checkRows(const Tensor &x, const Tensor &y, const char *what,
               const std::function<void(std::vector<double> &)> &row) {
  int64_t n = x.extent(1);
  for (int64_t i : {int64_t(0), x.extent(0) / 3, x.extent(0) - 1}) {
    std::vector<double> values(n);
    for (int64_t j = 0; j < n; ++j)
      values[j] = at(x, i * n + j);
    row(values);
    for (int64_t j = 0; j < n; ++j)
      check(isNear(at(y, i * n + j), values[j], 1e-5), what);
  }
}

//===----------------------------------------------------------------------===//
// Measuring
//===----------------------------------------------------------------------===//

template <typename Work> double milliseconds(Work work) {
  double start = now();
  work();
  return (now() - start) * 1e3;
}

/// Work of so many operations, repeated until it is long enough to be measured, in a unit in which
/// it has digits.
struct Repeated {
  int times;
  const char *unit;
  double perMillisecond;

  explicit Repeated(double operations)
      : times(int(std::max(1.0, 2e8 / operations))), unit(times > 1 ? "us" : "ms"),
        perMillisecond(times > 1 ? 1e3 : 1) {}
  template <typename Work> double measure(Work work) const {
    return perMillisecond / times * milliseconds([&] {
             for (int i = 0; i < times; ++i)
               work();
           });
  }
};

/// PyTorch runs in a process of its own, in the same minutes; empty where there is none.
nlohmann::json runTorch(unsigned threads, int rounds) {
  std::string command = "\"$('" KILN_SOURCE_DIR "/scripts/find-python')\" '" KILN_SOURCE_DIR
                        "/bench/torch_peers.py' " +
                        std::to_string(threads) + " " + std::to_string(rounds);
  std::string text;
  if (std::FILE *pipe = popen(command.c_str(), "r")) {
    char buffer[4096];
    while (size_t count = std::fread(buffer, 1, sizeof buffer, pipe))
      text.append(buffer, count);
    pclose(pipe);
  }
  return nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
}

class KernelBench {
public:
  KernelBench(unsigned threads, int rounds) : Threads(threads), Rounds(rounds) {
    setPeerThreads(int(threads));
  }

  /// `only` names one family; empty: all.
  Report run(std::string_view only) {
    auto isWanted = [&](std::string_view name) { return only.empty() || only == name; };
    bool needsTorch = isWanted("attention") || isWanted("norms");
    if (needsTorch && !(Torch = runTorch(Threads, Rounds)).is_object())
      std::fprintf(stderr, "no Python with torch: its rows are left out\n");
    if (isWanted("gemm"))
      benchGemms();
    else if (isWanted("attention"))
      benchGemm(2048, {}, {});
    if (isWanted("bf16"))
      benchSmallGemms(DType::BF16, 0.95, 1.03);
    if (isWanted("i8"))
      benchSmallGemms(DType::I8, 0.9, 1.0);
    if (isWanted("decode")) {
      for (DType type : {DType::F32, DType::BF16, DType::I8}) {
        benchFewRows(type);
        benchFewRowsAsTheyLie(type);
      }
      benchDecodeLayer();
    }
    if (isWanted("attention"))
      for (DType type : {DType::F32, DType::BF16})
        benchAttentions(type);
    if (isWanted("norms"))
      benchNorms();
    if (isWanted("workers") && Threads == 2)
      benchWorkers();
    return std::move(Rows);
  }

private:
  static Jit makeJit() {
    JitOptions options;
    options.cache = {}; // nothing on disk
    options.check = false;
    return Jit(options);
  }
  Compiled compile(Program program) { return take(makeJit().compile(program)); }

  void addFaster(const std::string &name, const Sample &kiln,
                 const std::vector<std::pair<std::string, double>> &peers, Target bar, Target goal,
                 const char *unit = "ms") {
    std::pair<std::string, double> best;
    for (const auto &peer : peers)
      if (!peer.first.empty() && (best.first.empty() || peer.second < best.second))
        best = peer;
    Rows.add({name, kiln, unit, best.first, best.second, bar, goal});
  }

  /// Whether a rate keeps up with that of the size before, whose work takes `share` of the time at
  /// the same rate.
  void addRate(const std::string &name, const Sample &kiln, const char *unit, double before,
               double share) {
    Rows.add(
        {name, kiln, unit, "size before", before / share, Target::ratio(0.9), Target::ratio(1.0)});
  }

  /// A peer's threads take long to wake, so that small work is done sooner by one of them; large
  /// work is not tried.
  template <typename Work> double onOneThread(const Repeated &repeated, Work work) {
    if (repeated.times == 1)
      return HUGE_VAL;
    setPeerThreads(1);
    double time = repeated.measure(work);
    setPeerThreads(int(Threads));
    return time;
  }

  void benchGemms() {
    benchGemm(64, {}, {});
    benchGemm(128, {}, {});
    double before = benchGemm(256, {}, {}).median / 1e3;
    for (int64_t n : {512, 1024, 2048, 4096}) {
      Target bar = n > 512 ? Target::ratio(0.85) : Target{},
             goal = n > 512 ? Target::ratio(1.0) : Target{};
      Sample made = benchGemm(n, bar, goal);
      addRate("f32 GEMM " + std::to_string(n) + ", at the rate of " + std::to_string(n / 2), made,
              "ms", before, 1.0 / 8);
      before = made.median;
    }
  }

  Sample benchGemm(int64_t n, Target bar, Target goal) {
    Compiled f = compile(gemmProgram(DType::F32));
    Tensor a = randomTensor(DType::F32, {n, n}, 1), b = randomTensor(DType::F32, {n, n}, 2),
           c = poisonedTensor({n, n}), d = poisonedTensor({n, n});
    auto *pa = a.dataAs<float>(), *pb = b.dataAs<float>(), *pd = d.dataAs<float>();
    must(f(a, b, c));
    checkGemm(a, b, c, "f32 GEMM");
    if (!openBlasName().empty()) {
      openBlasGemm(pa, pb, pd, n, n, n);
      checkGemm(a, b, d, "f32 GEMM of OpenBLAS");
    }
    double flops = 2.0 * double(n) * double(n) * double(n);
    Repeated repeated(flops);
    std::vector<Sample> best = measureInTurns(
        Rounds, repeats, [&] { return repeated.measure([&] { must(f(a, b, c)); }); },
        [&] { return repeated.measure([&] { openBlasGemm(pa, pb, pd, n, n, n); }); },
        [&] { return repeated.measure([&] { oneDnnGemm(pa, pb, pd, n, n, n); }); },
        [&] { return onOneThread(repeated, [&] { openBlasGemm(pa, pb, pd, n, n, n); }); },
        [&] { return onOneThread(repeated, [&] { oneDnnGemm(pa, pb, pd, n, n, n); }); });
    addFaster("f32 GEMM " + std::to_string(n) + " cubed", best[0],
              {{openBlasName(), std::min(best[1].median, best[3].median)},
               {oneDnnName(), std::min(best[2].median, best[4].median)}},
              bar, goal, repeated.unit);
    for (size_t peer : {1, 2})
      if (n >= 1024 && best[peer].median > 0)
        SgemmRate = std::max(SgemmRate, flops / best[peer].median);
    return best[0];
  }

  using Element = OneDnnProduct::Element;
  static Element elementOf(DType type) {
    return type == DType::F32 ? Element::F32 : type == DType::BF16 ? Element::Bf16 : Element::I8;
  }

  void benchSmallGemms(DType type, double bar, double goal) {
    for (int64_t n : {64, 128, 256})
      benchSmallGemm(type, n, {}, {});
    for (int64_t n : {1024, 2048})
      benchSmallGemm(type, n, Target::ratio(bar), Target::ratio(goal));
  }

  void benchSmallGemm(DType type, int64_t n, Target bar, Target goal) {
    std::string name = std::string(toString(type)) + " GEMM";
    Compiled f = compile(gemmProgram(type));
    DType sum = type == DType::I8 ? DType::I32 : DType::F32;
    Tensor a = randomTensor(type, {n, n}, 1), b = randomTensor(type, {n, n}, 2),
           c = poisonedTensor({n, n}, sum), d = poisonedTensor({n, n}, sum);
    must(f(a, b, c));
    checkGemm(a, b, c, name.c_str());
    OneDnnProduct peer(elementOf(type), a.data(), b.data(), d.data(), n, n, n, false);
    Repeated repeated(2.0 * double(n) * double(n) * double(n));
    std::vector<Sample> best = measureInTurns(
        Rounds, repeats, [&] { return repeated.measure([&] { must(f(a, b, c)); }); },
        [&] { return repeated.measure([&] { peer.run(); }); },
        [&] { return onOneThread(repeated, [&] { peer.run(); }); });
    if (!oneDnnName().empty())
      checkGemm(a, b, d, (name + " of oneDNN").c_str());
    addFaster(name + " " + std::to_string(n) + " cubed", best[0],
              {{oneDnnName(), std::min(best[1].median, best[2].median)}}, bar, goal, repeated.unit);
  }

  static double reading(Read way, std::span<const Tensor *const> tensors) {
    return milliseconds([&] {
      for (const Tensor *tensor : tensors)
        readBytes(way, tensor->data(), tensor->numElements() * int64_t(sizeOf(tensor->dtype())));
    });
  }
  static double fastest(std::span<const Sample> samples) {
    double best = HUGE_VAL;
    for (const Sample &sample : samples)
      best = std::min(best, sample.median);
    return best;
  }

  /// A whole layer beside reading its weights once, which a step of decoding has to do.
  void benchDecodeLayer() {
    Jit jit = makeJit();
    DecodeLayer layer(jit);
    layer.run();
    layer.check();
    auto weights = layer.weights();
    std::vector<Sample> best = measureInTurns(
        Rounds, repeats, [&] { return milliseconds([&] { layer.run(); }); },
        [&] { return reading(Read::Plain, weights); },
        [&] { return reading(Read::FetchingAhead, weights); },
        [&] { return reading(Read::FourPlaces, weights); },
        [&] { return reading(Read::SixteenPlaces, weights); });
    Rows.add({"decode layer 14b, 16 sequences, 256 tokens",
              best[0],
              "ms",
              "reading weights",
              fastest(std::span(best).subspan(1)),
              Target::ratio(1 / 1.5),
              {}});
  }

  /// Beside reading the weights, and beside multiplying as fast as registers can: what takes longer
  /// is the limit.
  void benchFewRows(DType type) {
    constexpr int64_t m = 16, n = 17408, k = 5120;
    std::string name = std::string(toString(type)) + " 16 x 5120 x 17408";
    DType sum = type == DType::I8 ? DType::I32 : DType::F32;
    Compiled f = compile(fewRowsProgram(type, true));
    Tensor a = randomTensor(type, {m, k}, 1), w = randomTensor(type, {n, k}, 2),
           c = poisonedTensor({m, n}, sum), d = poisonedTensor({m, n}, sum);
    must(f(a, w, c));
    checkGemm(a, w, c, name.c_str(), true);
    OneDnnProduct peer(elementOf(type), a.data(), w.data(), d.data(), m, n, k, true);
    const Tensor *weights[] = {&w};
    Multiply how = type == DType::F32    ? Multiply::F32
                   : type == DType::BF16 ? Multiply::Bf16
                                         : Multiply::I8;
    auto multiplying = [&] {
      double operations = 0;
      double time = milliseconds([&] { operations = multiplyInRegisters(how); });
      return operations > 0 ? time * 2.0 * m * n * k / operations : 0;
    };
    std::vector<Sample> best = measureInTurns(
        Rounds, repeats, [&] { return milliseconds([&] { must(f(a, w, c)); }); },
        [&] { return reading(Read::Plain, weights); },
        [&] { return reading(Read::FetchingAhead, weights); },
        [&] { return reading(Read::FourPlaces, weights); },
        [&] { return reading(Read::SixteenPlaces, weights); }, multiplying,
        [&] { return milliseconds([&] { peer.run(); }); });
    double read = fastest(std::span(best).subspan(1, 4)), multiply = best[5].median;
    bool isBoundByReading = read >= multiply;
    Rows.add({name,
              best[0],
              "ms",
              "reading weights",
              read,
              isBoundByReading ? Target::ratio(0.85) : Target{},
              {}});
    if (multiply > 0)
      Rows.add({name,
                best[0],
                "ms",
                "peak of registers",
                multiply,
                isBoundByReading ? Target{} : Target::ratio(0.85),
                {}});
    if (!oneDnnName().empty()) {
      checkGemm(a, w, d, (name + " of oneDNN").c_str(), true);
      addFaster(name, best[0], {{oneDnnName(), best[6].median}}, Target::ratio(1.0), {});
    }
  }

  /// Weights as k x n, which have to be packed.
  void benchFewRowsAsTheyLie(DType type) {
    constexpr int64_t m = 16, n = 17408, k = 5120;
    if (oneDnnName().empty())
      return;
    std::string name = std::string(toString(type)) + " 16 x 5120 x 17408, weights k x n";
    DType sum = type == DType::I8 ? DType::I32 : DType::F32;
    Compiled f = compile(fewRowsProgram(type, false));
    Tensor a = randomTensor(type, {m, k}, 1), w = randomTensor(type, {k, n}, 2),
           c = poisonedTensor({m, n}, sum), d = poisonedTensor({m, n}, sum);
    must(f(a, w, c));
    checkGemm(a, w, c, name.c_str());
    OneDnnProduct peer(elementOf(type), a.data(), w.data(), d.data(), m, n, k, false);
    std::vector<Sample> best = measureInTurns(
        Rounds, repeats, [&] { return milliseconds([&] { must(f(a, w, c)); }); },
        [&] { return milliseconds([&] { peer.run(); }); });
    checkGemm(a, w, d, (name + " of oneDNN").c_str());
    addFaster(name, best[0], {{oneDnnName(), best[1].median}}, Target::ratio(1.0), {});
  }

  void checkAttention(const Tensor &q, const Tensor &k, const Tensor &v, const Tensor &o) {
    int64_t length = q.extent(1), depth = q.extent(2);
    double tolerance = q.dtype() == DType::F32 ? 1e-4 : 1e-2; // weights are rounded to bf16
    for (int64_t head : {0, 7})
      for (int64_t row : {int64_t(0), length / 2, length - 1}) {
        std::vector<double> weights(length);
        double sum = 0;
        for (int64_t j = 0; j < length; ++j) {
          double score = 0;
          for (int64_t l = 0; l < depth; ++l)
            score +=
                at(q, (head * length + row) * depth + l) * at(k, (head * length + j) * depth + l);
          sum += weights[j] = std::exp(score * 0.125);
        }
        for (int64_t l = 0; l < depth; ++l) {
          double want = 0;
          for (int64_t j = 0; j < length; ++j)
            want += weights[j] / sum * at(v, (head * length + j) * depth + l);
          check(isNear(at(o, (head * length + row) * depth + l), want, tolerance), "attention");
        }
      }
  }

  void benchAttentions(DType type) {
    double before = 0;
    for (int64_t length : {256, 512, 1024, 2048, 4096, 8192}) {
      Sample made = benchAttention(type, length);
      if (before > 0)
        addRate("attention " + std::string(toString(type)) + " " + std::to_string(length) +
                    ", at the rate of " + std::to_string(length / 2),
                made, "ms", before, 1.0 / 4);
      before = made.median;
    }
  }

  Sample benchAttention(DType type, int64_t length) {
    constexpr int64_t heads = 8, depth = 64;
    Compiled f = compile(attentionProgram(type));
    Tensor q = randomTensor(type, {heads, length, depth}, 1),
           k = randomTensor(type, {heads, length, depth}, 2),
           v = randomTensor(type, {heads, length, depth}, 3),
           o = poisonedTensor({heads, length, depth});
    must(f(q, k, v, o));
    checkAttention(q, k, v, o);
    Sample best = measureInTurns(Rounds, length > 2048 ? 1 : repeats,
                                 [&] { return milliseconds([&] { must(f(q, k, v, o)); }); })[0];
    if (length != 1024)
      return best;
    std::string name = "attention 8 x 1024 x 64" + std::string(type == DType::F32 ? "" : ", bf16");
    if (SgemmRate > 0)
      Rows.add({name + ", at the rate of sgemm", best, "ms", "sgemm's rate",
                4.0 * heads * length * length * depth / SgemmRate, Target::ratio(0.4),
                Target::ratio(0.7)});
    if (type == DType::F32)
      addTorch(name, "attention", best, {}, {});
    return best;
  }

  /// Two workers beside one.
  void benchWorkers() {
    auto compare = [&](const std::string &name, const std::function<void()> &work, Target bar) {
      auto with = [&](unsigned workers) {
        must(setWorkerLimit(workers));
        return milliseconds(work);
      };
      std::vector<Sample> best =
          measureInTurns(Rounds, repeats, [&] { return with(2); }, [&] { return with(1); });
      Rows.add({name + ", two workers", best[0], "ms", "one worker", best[1].median, bar, {}});
    };
    for (DType type : {DType::F32, DType::BF16, DType::I8}) {
      constexpr int64_t n = 2048;
      Compiled f = compile(gemmProgram(type));
      Tensor a = randomTensor(type, {n, n}, 1), b = randomTensor(type, {n, n}, 2),
             c = poisonedTensor({n, n}, type == DType::I8 ? DType::I32 : DType::F32);
      compare(
          std::string(toString(type)) + " GEMM 2048 cubed", [&] { must(f(a, b, c)); },
          Target::ratio(1.9));
    }
    constexpr int64_t heads = 8, length = 2048, depth = 64;
    Compiled f = compile(attentionProgram(DType::F32));
    Tensor q = randomTensor(DType::F32, {heads, length, depth}, 1),
           o = poisonedTensor({heads, length, depth});
    compare("attention 8 x 2048 x 64", [&] { must(f(q, q, q, o)); }, Target::ratio(1.9));
  }

  void addTorch(const std::string &name, const char *entry, const Sample &kiln, Target bar,
                Target goal) {
    if (Torch.is_object())
      Rows.add({name, kiln, "ms", "PyTorch " + Torch["version"].get<std::string>(),
                Torch[entry].get<double>() * 1e3, bar, goal});
  }

  /// The fastest copy of as many floats, which nothing that reads and writes them can beat.
  std::pair<std::string, double> bestCopy(const Tensor &from, Tensor &to) {
    std::pair<std::string, double> best{"", HUGE_VAL};
    const std::pair<const char *, Copy> ways[] = {
        {"memcpy", Copy::Memcpy},
        {"non-temporal copy", Copy::NonTemporal},
        {"copy fetching ahead", Copy::NonTemporalFetchingAhead}};
    for (const auto &[name, way] : ways) {
      Sample sample = measureInTurns(Rounds, repeats, [&] {
        return milliseconds(
            [&] { copyFloats(way, from.dataAs<float>(), to.dataAs<float>(), from.numElements()); });
      })[0];
      if (sample.median < best.second)
        best = {name, sample.median};
    }
    return best;
  }

  void benchNorms() {
    constexpr int64_t n = 4096;
    Tensor x = randomTensor(DType::F32, {n, n}, 1), y = poisonedTensor({n, n}),
           w = randomTensor(DType::F32, {n}, 2), b = randomTensor(DType::F32, {n}, 3);
    auto addRows = [&](const std::string &what, const char *entry, const Sample &sample) {
      addTorch(what + " 4096 x 4096", entry, sample, Target::ratio(1.2), Target::ratio(1.2));
      auto [name, time] = bestCopy(x, y);
      // Where memory is fast, the cores are what takes time.
      bool isFast = time < 2.4;
      Rows.add({what + " 4096 x 4096", sample, "ms", name, time, Target::ratio(isFast ? 0.6 : 0.85),
                Target::ratio(isFast ? 0.75 : 0.95)});
    };
    Compiled softmax = compile(softmaxProgram());
    must(softmax(x, y));
    checkRows(x, y, "softmax", [](std::vector<double> &row) {
      double sum = 0;
      for (double &value : row)
        sum += value = std::exp(value);
      for (double &value : row)
        value /= sum;
    });
    addRows("softmax", "softmax", measureInTurns(Rounds, repeats, [&] {
              return milliseconds([&] { must(softmax(x, y)); });
            })[0]);

    Compiled rmsNorm = compile(rmsNormProgram());
    must(y.fillPoison());
    must(rmsNorm(x, w, y));
    checkRows(x, y, "rms norm", [&](std::vector<double> &row) {
      double squares = 0;
      for (double value : row)
        squares += value * value;
      double scale = 1 / std::sqrt(squares / double(n) + 1e-6);
      for (int64_t j = 0; j < n; ++j)
        row[j] *= scale * at(w, j);
    });
    addRows("rms norm", "rms_norm", measureInTurns(Rounds, repeats, [&] {
              return milliseconds([&] { must(rmsNorm(x, w, y)); });
            })[0]);

    Compiled layerNorm = compile(layerNormProgram());
    must(y.fillPoison());
    must(layerNorm(x, w, b, y));
    checkRows(x, y, "layer norm", [&](std::vector<double> &row) {
      double mean = 0, squares = 0;
      for (double value : row)
        mean += value / double(n);
      for (double value : row)
        squares += (value - mean) * (value - mean);
      double scale = 1 / std::sqrt(squares / double(n) + 1e-5);
      for (int64_t j = 0; j < n; ++j)
        row[j] = (row[j] - mean) * scale * at(w, j) + at(b, j);
    });
    addRows("layer norm", "layer_norm", measureInTurns(Rounds, repeats, [&] {
              return milliseconds([&] { must(layerNorm(x, w, b, y)); });
            })[0]);
  }

  unsigned Threads;
  int Rounds;
  double SgemmRate = 0; // of the faster peer: operations a millisecond
  nlohmann::json Torch;
  Report Rows;
};

} // namespace

int main(int argc, char **argv) {
  // Threads of a peer that spin after their work would take a core from whoever is next. Read when
  // the library is loaded, so this process starts again with it.
  if (!std::getenv("OMP_WAIT_POLICY")) {
    setenv("OMP_WAIT_POLICY", "passive", 1);
    execv("/proc/self/exe", argv);
  }
  std::string json, only;
  unsigned threads = 2; // of the peers, and of Kiln where it is stated
  int rounds = 3;
  for (int i = 1; i < argc; ++i) {
    std::string_view arg = argv[i];
    if (arg == "--json" && i + 1 < argc)
      json = argv[++i];
    else if (arg == "--only" && i + 1 < argc)
      only = argv[++i];
    else if (arg == "--workers" && i + 1 < argc) {
      Expected<unsigned> number = parseWorkers(argv[++i], "--workers");
      if (!number) {
        std::fprintf(stderr, "%s\n", number.status().message().c_str());
        return 2;
      }
      threads = *number;
      setenv("KILN_WORKERS", argv[i], 1);
    } else if (rounds = int(std::strtol(argv[i], nullptr, 10)); rounds <= 0) {
      std::fprintf(stderr,
                   "usage: kiln_bench_kernels [--json FILE] "
                   "[--only gemm|bf16|i8|decode|attention|norms|workers] [--workers N] [rounds]\n");
      return 2;
    }
  }
  Report rows = KernelBench(threads, rounds).run(only);
  rows.print();
  if (!json.empty())
    rows.write(json);
  return 0;
}
