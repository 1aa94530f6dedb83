#include "Captures.h"

#include <algorithm>

using namespace kiln;
using namespace kiln::cuda;

bool kiln::cuda::areApart(const std::vector<ByteRange> &ones,
                          const std::vector<ByteRange> &others) {
  return std::ranges::none_of(ones, [&](const ByteRange &one) {
    return std::ranges::any_of(others, [&](const ByteRange &other) {
      return one.first < other.second && other.first < one.second;
    });
  });
}

Captures &Captures::all() {
  static Captures captures;
  return captures;
}

std::optional<Captures::Place> Captures::lastOf(const Driver &driver, Stream stream) {
  int status = kNotCapturing;
  Place place{};
  const GraphNode *nodes = nullptr;
  const GraphEdge *edges = nullptr;
  size_t count = 0;
  if (driver.captureInfo(stream, &status, &place.capture, nullptr, &nodes, &edges, &count) != 0 ||
      status != kCapturing || count != 1 || (edges && edges[0] != GraphEdge{}))
    return std::nullopt;
  place.node = nodes[0];
  return place;
}

void Captures::note(const Driver &driver, Stream stream, std::vector<ByteRange> written) {
  std::optional<Place> place = lastOf(driver, stream);
  std::lock_guard guard(Lock);
  Last = place;
  Written = std::move(written);
}

bool Captures::isNextBehind(const Driver &driver, Stream stream,
                            const std::vector<ByteRange> &read) {
  std::optional<Place> place = lastOf(driver, stream);
  std::lock_guard guard(Lock);
  return place && place == Last && areApart(read, Written);
}
