//===- LayoutMisuse.cpp - what must not compile ---------------------------===//
//
// Compiled once for each case, with its macro defined; CMakeLists.txt has the sentence that the
// compiler must say. Without a macro it compiles.
//
//===---------------------------------------------------------------------===//
#include "kiln/layout.h"

using namespace kiln::layout;

[[maybe_unused]] constexpr auto Padded = make_layout(tuple(4_c, 4_c), tuple(1_c, 8_c));

#if defined(MISUSE_ZERO_EXTENT)
auto misuse = make_layout(tuple(4_c, 0_c));
#elif defined(MISUSE_NEGATIVE_STRIDE)
auto misuse = make_layout(4_c, Int<-1>{});
#elif defined(MISUSE_OVERFLOW)
auto misuse = make_layout(tuple(1'000'000'000'000_c, 1'000'000'000'000_c));
#elif defined(MISUSE_COMPOSITION)
auto misuse = composition(Padded, make_layout(3_c, 3_c));
#elif defined(MISUSE_CARRY)
auto misuse = composition(Padded, make_layout(tuple(4_c, 2_c), tuple(1_c, 2_c)));
#elif defined(MISUSE_COMPLEMENT)
auto misuse = complement(make_layout(tuple(4_c, 2_c), tuple(1_c, 2_c)), 16_c);
#elif defined(MISUSE_STATIC_PART)
// One number is dynamic; those that cannot be right are not.
auto misuse = composition(Padded, *make_layout(tuple(3_c, 2), tuple(3_c, 1)));
#elif defined(MISUSE_RECAST)
auto misuse = recast<8, 32>(make_layout(6_c));
#elif defined(MISUSE_SWIZZLE)
auto misuse = swizzle<3, 0, 2>();
#elif defined(MISUSE_TILE_RANK)
auto misuse = logical_divide(make_layout(8_c), tile(2_c, 2_c));
#elif defined(MISUSE_NESTING)
auto misuse = make_layout(tuple(4_c, 4_c), tuple(1_c, tuple(4_c, 8_c)));
#elif defined(MISUSE_COORDINATE)
auto misuse = Padded(1, 2, 3);
#endif
