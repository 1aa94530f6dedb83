//===- Unwritten.h - outputs that a run left as they were ---------------------------------===//
//
// Native code does not tell what it wrote. So an output that a run left as it was in some element
// runs again from other bytes: what keeps both is not written by anybody. Nearly every run writes
// everything, and then there is no second one.
//
//===----------------------------------------------------------------------------===//
#ifndef KILN_LIB_DRIVER_UNWRITTEN_H
#define KILN_LIB_DRIVER_UNWRITTEN_H

#include "Driver.h"

namespace kiln {

/// Elements of an `out` that nobody wrote.
struct UnwrittenElements {
  std::string output;
  int64_t count = 0, of = 0;
  std::string first; ///< "[8, 0]"

  /// "nobody writes 16 of 144 elements, the first at [8, 0]"
  std::string words() const;
};

class UnwrittenSearch {
public:
  /// The outputs that `source` declares and whose elements must all be written, as they are before
  /// the run.
  static Expected<UnwrittenSearch> begin(const Source &source, const RunSettings &options,
                                         ir::FuncOp entry, std::span<const Argument> args);

  /// After the run on `args`. Where it left something as it was, `runAgain` runs on other
  /// arguments.
  Expected<std::vector<UnwrittenElements>>
  find(std::span<const Argument> args,
       const std::function<Status(std::span<const Argument>)> &runAgain) const;

private:
  struct Output {
    size_t number;
    std::string name;
    std::vector<std::byte> before;
  };
  std::vector<Output> Outputs;
  std::vector<Argument> Initial; ///< Copies of all arguments; none if there is no output.
};

} // namespace kiln

#endif // KILN_LIB_DRIVER_UNWRITTEN_H
