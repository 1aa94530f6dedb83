#include "kiln/Jit/Backend.h"

namespace kiln {

std::string jitKey(const std::string &identity, std::span<const TensorFacts> facts) {
  std::string key = "kiln-jit-key 1\nabi " + std::to_string(KILN_ABI_VERSION) + "\n" + identity;
  if (!key.ends_with('\n'))
    key += '\n';
  for (size_t i = 0; i < facts.size(); ++i)
    key += "tensor " + std::to_string(i) + " " + facts[i].str() + "\n";
  return key;
}

} // namespace kiln
