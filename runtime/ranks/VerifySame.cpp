// Whether the processes of a run were started with the same arguments.
#include "kiln/runtime/interrupt.h"
#include "kiln/runtime/ranks.h"

#include <cstring>

using namespace kiln;

/// Longer texts are compared as far as this.
static constexpr int64_t textBytes = 1536;

/// The first line in which two texts differ, of each.
static std::pair<std::string, std::string> firstDifference(const std::string &a,
                                                           const std::string &b) {
  size_t line = 0;
  for (size_t i = 0; i < std::min(a.size(), b.size()) && a[i] == b[i]; ++i)
    if (a[i] == '\n')
      line = i + 1;
  auto lineOf = [&](const std::string &text) {
    return text.substr(std::min(line, text.size()), text.find('\n', line) - line);
  };
  return {lineOf(a), lineOf(b)};
}

Status kiln::verifySame(Transport &transport, const std::string &mine, uint64_t timeout) {
  TimeLimit limit(timeout, "waiting for the other ranks");
  std::vector<char> text(textBytes, 0), all(static_cast<size_t>(textBytes * transport.ranks()));
  std::memcpy(text.data(), mine.data(), std::min(mine.size(), text.size() - 1));
  Expected<Tensor> source = Tensor::view(text.data(), DType::I8, {textBytes});
  Expected<Tensor> target = Tensor::view(all.data(), DType::I8, {textBytes * transport.ranks()});
  if (!source || !target)
    return Status(StatusCode::OutOfMemory, "no memory to compare arguments");
  Collective gather;
  gather.kind = CollectiveKind::AllGather;
  gather.line = {0, 1, transport.ranks()};
  gather.source = source->toAbi();
  gather.target = target->toAbi();
  if (Status bad = perform(transport, gather); !bad.isOk())
    return bad;
  for (int32_t rank = 0; rank < transport.ranks(); ++rank) {
    const char *theirs = all.data() + rank * textBytes;
    if (std::strcmp(theirs, text.data()) == 0)
      continue;
    auto [here, there] = firstDifference(text.data(), theirs);
    return Status(StatusCode::InvalidArgument,
                  "ranks " + std::to_string(transport.rank()) + " and " + std::to_string(rank) +
                      " have different arguments: rank " + std::to_string(transport.rank()) +
                      " has " + here + ", rank " + std::to_string(rank) + " has " + there +
                      "; all ranks have the same extents and scalars");
  }
  return Status::ok();
}
