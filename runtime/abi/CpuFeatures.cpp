#include "abi/CpuFeatures.h"

#if defined(__x86_64__)
#include "abi/TileRegisters.h"

#include <cpuid.h>

#include <array>
#include <cstdint>

using namespace kiln;

namespace {

enum Register { EAX, EBX, ECX, EDX };

/// What CPUID can be asked.
enum Leaf { Basic, Extended, Structured, Structured1, numLeaves };

/// The registers that the system has to save for whoever uses a feature.
enum class State { General, Wide, Wide512, Tiles };

/// Where the CPU says that it has a feature: a bit of what CPUID leaves in a register.
struct Entry {
  std::string_view name;
  Leaf leaf;
  Register where;
  int bit;
  State state = State::General;
};

/// What generated code may depend on.
constexpr Entry features[] = {
    {"sse", Basic, EDX, 25},
    {"sse2", Basic, EDX, 26},
    {"sse3", Basic, ECX, 0},
    {"ssse3", Basic, ECX, 9},
    {"sse4.1", Basic, ECX, 19},
    {"sse4.2", Basic, ECX, 20},
    {"sse4a", Extended, ECX, 6},
    {"movbe", Basic, ECX, 22},
    {"popcnt", Basic, ECX, 23},
    {"lzcnt", Extended, ECX, 5},
    {"bmi", Structured, EBX, 3},
    {"bmi2", Structured, EBX, 8},
    {"gfni", Structured, ECX, 8},
    {"avx", Basic, ECX, 28, State::Wide},
    {"fma", Basic, ECX, 12, State::Wide},
    {"f16c", Basic, ECX, 29, State::Wide},
    {"fma4", Extended, ECX, 16, State::Wide},
    {"xop", Extended, ECX, 11, State::Wide},
    {"avx2", Structured, EBX, 5, State::Wide},
    {"avxvnni", Structured1, EAX, 4, State::Wide},
    {"avxifma", Structured1, EAX, 23, State::Wide},
    {"avxvnniint8", Structured1, EDX, 4, State::Wide},
    {"avxneconvert", Structured1, EDX, 5, State::Wide},
    {"avxvnniint16", Structured1, EDX, 10, State::Wide},
    {"avx512f", Structured, EBX, 16, State::Wide512},
    {"avx512dq", Structured, EBX, 17, State::Wide512},
    {"avx512ifma", Structured, EBX, 21, State::Wide512},
    {"avx512cd", Structured, EBX, 28, State::Wide512},
    {"avx512bw", Structured, EBX, 30, State::Wide512},
    {"avx512vl", Structured, EBX, 31, State::Wide512},
    {"avx512vbmi", Structured, ECX, 1, State::Wide512},
    {"avx512vbmi2", Structured, ECX, 6, State::Wide512},
    {"avx512vnni", Structured, ECX, 11, State::Wide512},
    {"avx512bitalg", Structured, ECX, 12, State::Wide512},
    {"avx512vpopcntdq", Structured, ECX, 14, State::Wide512},
    {"avx512vp2intersect", Structured, EDX, 8, State::Wide512},
    {"avx512fp16", Structured, EDX, 23, State::Wide512},
    {"avx512bf16", Structured1, EAX, 5, State::Wide512},
    {"amx-bf16", Structured, EDX, 22, State::Tiles},
    {"amx-tile", Structured, EDX, 24, State::Tiles},
    {"amx-int8", Structured, EDX, 25, State::Tiles},
    {"amx-fp16", Structured1, EAX, 21, State::Tiles},
    {"amx-complex", Structured1, EDX, 8, State::Tiles},
};

/// How the names of features begin that code depends on, whether they stand above or will come one
/// day.
constexpr std::string_view needed[] = {"avx",  "fma",   "f16c",   "bmi",   "sse",   "ssse", "amx",
                                       "xop",  "gfni",  "popcnt", "lzcnt", "movbe", "egpr", "ndd",
                                       "ccmp", "push2", "ppx",    "nf",    "cf",    "zu"};

/// What this CPU says, asked once: a virtual machine takes its time for the answer.
class Cpu {
public:
  static const Cpu &host() {
    static const Cpu cpu;
    return cpu;
  }
  bool has(const Entry &entry) const {
    return ((Said[entry.leaf][entry.where] >> entry.bit) & 1) != 0;
  }
  /// The registers that the system saves, as bits that the CPU numbers.
  uint64_t saved() const { return Saved; }

private:
  Cpu() {
    ask(Basic, 1, 0);
    ask(Extended, 0x80000001, 0);
    ask(Structured, 7, 0);
    ask(Structured1, 7, 1);
    if (!has({"osxsave", Basic, ECX, 27})) // whether it can be asked what is saved
      return;
    uint32_t low = 0, high = 0;
    __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    Saved = uint64_t(high) << 32 | low;
  }
  void ask(Leaf leaf, uint32_t number, uint32_t part) {
    std::array<uint32_t, 4> &said = Said[leaf];
    if (__get_cpuid_count(number, part, &said[EAX], &said[EBX], &said[ECX], &said[EDX]) == 0)
      said = {};
  }

  std::array<std::array<uint32_t, 4>, numLeaves> Said{};
  uint64_t Saved = 0;
};

bool isSaved(State state) {
  constexpr uint64_t wide = 0b110, wide512 = 0b11100110; // SSE and AVX; and masks and both halves
  switch (state) {
  case State::General:
    return true;
  case State::Wide:
    return (Cpu::host().saved() & wide) == wide;
  case State::Wide512:
    return (Cpu::host().saved() & wide512) == wide512;
  case State::Tiles:
    return mayUseTileRegisters();
  }
  return false;
}

} // namespace

CpuFeature kiln::cpuFeature(std::string_view name) {
  for (const Entry &entry : features)
    if (entry.name == name)
      return Cpu::host().has(entry) && isSaved(entry.state) ? CpuFeature::Present
                                                            : CpuFeature::Missing;
  for (std::string_view prefix : needed)
    if (name.starts_with(prefix))
      return CpuFeature::Unknown;
  return CpuFeature::NeverNeeded;
}
#else
kiln::CpuFeature kiln::cpuFeature(std::string_view) { return CpuFeature::NeverNeeded; }
#endif
