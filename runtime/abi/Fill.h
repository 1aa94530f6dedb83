// What: fills tensors with made-up numbers, fast enough that the inputs of a whole model do not
// keep anybody waiting.
//
// Every element is a function of the seed, the argument's name and the element's place, so that the
// result depends neither on the number of threads nor on which other arguments there are.
//
// Threads: a call may start threads of its own, which end before it returns.

#ifndef KILN_RUNTIME_ABI_FILL_H
#define KILN_RUNTIME_ABI_FILL_H

#include "kiln/runtime/tensor.h"

#include <string>

namespace kiln {

/// Fills a contiguous tensor as `init` says: normal, uniform (both perhaps scaled and shifted, as
/// in `normal*0.1` and `normal*0.1+1`), zeros, ones, iota, shuffled, poison, or numbers to repeat,
/// as in `0,1,70`. What `init` does not say is an error.
Status fillTensor(const std::string &name, const Tensor &tensor, const std::string &init,
                  uint64_t seed);

} // namespace kiln

#endif // KILN_RUNTIME_ABI_FILL_H
