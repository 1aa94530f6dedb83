//===- RankWatch.h - processes that wait for each other for ever ---------------------------===//
//
// What: what a rank that does nothing but wait says of itself, and whether the reports of all ranks
//   together say that nobody will ever go on.
//
// Why it is exact: a report says what the rank waits for and what it has started so far. A rank
//   that reported starts something new only after something that it waits for has ended, and that
//   ends only if all others concerned have started their part. If no report shows such a thing,
//   nobody can be the first to go on, however old the reports are.
//
// Ownership and threads: values.
//
//===----------------------------------------------------------------------------===//
#ifndef KILN_RUNTIME_RANKS_RANKWATCH_H
#define KILN_RUNTIME_RANKS_RANKWATCH_H

#include "kiln/runtime/ranks.h"

#include <map>
#include <set>

namespace kiln {

/// Numbers from 0 that come nearly in order.
class NumberSet {
public:
  NumberSet() = default;
  explicit NumberSet(uint64_t below) : Below(below) {}
  void add(uint64_t number);
  bool has(uint64_t number) const { return number < Below || Beyond.count(number) != 0; }
  uint64_t below() const { return Below; }
  const std::set<uint64_t> &beyond() const { return Beyond; }

private:
  uint64_t Below = 0; ///< All of these.
  std::set<uint64_t> Beyond;
};

struct RankReport {
  struct Pending {
    RankLine line;     ///< Of a collective.
    int32_t peer = -1; ///< Of a message; -1: it is a collective.
    bool sends = false;
    uint64_t number = 0;
    std::string text;
  };

  int32_t rank = 0;
  uint64_t run = 0;     ///< Runs are counted; messages are, in each.
  bool hasLeft = false; ///< It has ended, and waits for nothing.
  std::vector<Pending> pending;
  std::map<RankLine, uint64_t> collectives;               ///< How many it has started.
  std::map<std::pair<int32_t, bool>, NumberSet> messages; ///< By the other rank, and who sends.

  /// As text for the others, and back; nothing where the text is none.
  std::string str() const;
  static std::optional<RankReport> parse(const std::string &text);
};

/// What the ranks wait for, where nobody will ever go on; else nothing. Ranks that have not
/// reported go on.
std::optional<std::string> findDeadlock(std::span<const std::optional<RankReport>> reports);

} // namespace kiln

#endif // KILN_RUNTIME_RANKS_RANKWATCH_H
