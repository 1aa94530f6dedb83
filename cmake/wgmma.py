"""Writes the matrix instructions of Hopper as functions of the device library, one struct for each width.

Usage: wgmma.py OUT

OUT becomes a C++ string literal with the text of wgmma_shapes.cuh.
"""
import sys

from write_if_changed import write

# The widths that an instruction has: every multiple of 8 columns.
WIDTHS = range(8, 257, 8)
# What sums of 8-bit elements are added to is in other registers, so there are no more than these columns at once.
NARROW_WIDTHS = range(8, 129, 8)
# Of the elements: their name, and what chooses them. Those of 8 bits lie along K, and are described in shared memory.
HALVES = [("bf16", "Element::Bf16"), ("f16", "Element::F16")]
EIGHTS = [("e4m3", "Element::E4m3"), ("e5m2", "Element::E5m2")]

HEADER = """\
//===- wgmma_shapes.cuh - the matrix instructions, one struct for each width -----------------===//
//
// Made by cmake/wgmma.py. 64 x N += 64 x K times K x N, for the warpgroup, where K is 32 bytes. Of
// the accumulator a thread has two rows, `low` and `high`: of every 8 columns a pair. A is described
// in shared memory, or four registers of pairs.
//
//===----------------------------------------------------------------------------===//
#pragma once

namespace kiln::ptx {

/// Of both operands.
enum class Element { F16, Bf16, E4m3, E5m2 };
template <int N, Element element> struct Wgmma;

// The registers that an instruction changes: of two columns, of 8, of 32.
#define KILN_ROWS(j) "+f"(low[j]), "+f"(low[j + 1]), "+f"(high[j]), "+f"(high[j + 1])
#define KILN_ROWS4(j) KILN_ROWS(j), KILN_ROWS(j + 2), KILN_ROWS(j + 4), KILN_ROWS(j + 6)
"""

FOOTER = """\

#undef KILN_ROWS4
#undef KILN_ROWS

} // namespace kiln::ptx
"""


def accumulator(width):
    """The operands that an instruction changes."""
    pairs = width // 8  # of each row
    fours = [f"KILN_ROWS4({2 * pair})" for pair in range(0, pairs - 3, 4)]
    return ", ".join(fours + [f"KILN_ROWS({2 * pair})" for pair in range(pairs // 4 * 4, pairs)])


def function(width, name, in_registers):
    """One form of the instruction: with A described in shared memory, or in registers."""
    count = width // 2  # of the accumulator; operands are numbered from there on
    a = [f"%{count + k}" for k in range(4 if in_registers else 1)]
    b, accumulate, *transposed = [f"%{count + len(a) + k}" for k in range(3 if in_registers else 4)]
    registers = ", ".join(f"%{k}" for k in range(count))
    left = "{" + ", ".join(a) + "}" if in_registers else a[0]
    template = "int transposeB" if in_registers else "int transposeA, int transposeB"
    given = "const unsigned (&a)[4]" if in_registers else "unsigned long long a"
    operands = ['"r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3])' if in_registers else '"l"(a)', '"l"(b)', '"r"(accumulate)']
    operands += [f'"n"({name})' for name in (["transposeB"] if in_registers else ["transposeA", "transposeB"])]
    # How many rows of a described left operand count, which only an emulated matrix unit asks.
    rows = "" if in_registers else ", int"
    return f"""\
  template <{template}>
  static __device__ __forceinline__ void run(float *low, float *high, {given}, unsigned long long b, int accumulate{rows}) {{
    asm volatile("{{\\n.reg .pred p;\\nsetp.ne.b32 p, {accumulate}, 0;\\n"
                 "wgmma.mma_async.sync.aligned.m64n{width}k16.f32.{name}.{name} {{{registers}}}, {left}, {b}, p, 1, 1, "
                 "{", ".join(transposed)};\\n}}\\n"
                 : {accumulator(width)}
                 : {", ".join(operands)});
  }}
"""


def narrow(width, name):
    """Of 8 bits, which are never transposed."""
    count = width // 2
    registers = ", ".join(f"%{k}" for k in range(count))
    return f"""\
  template <int, int>
  static __device__ __forceinline__ void run(float *low, float *high, unsigned long long a, unsigned long long b, int accumulate, int) {{
    asm volatile("{{\\n.reg .pred p;\\nsetp.ne.b32 p, %{count + 2}, 0;\\n"
                 "wgmma.mma_async.sync.aligned.m64n{width}k32.f32.{name}.{name} {{{registers}}}, %{count}, %{count + 1}, p, 1, 1;\\n}}\\n"
                 : {accumulator(width)}
                 : "l"(a), "l"(b), "r"(accumulate));
  }}
"""


def struct(width, chosen, functions):
    return f"\ntemplate <> struct Wgmma<{width}, {chosen}> {{\n{''.join(functions)}}};\n"


def main(path):
    structs = "".join(struct(width, chosen, [function(width, name, in_registers) for in_registers in (False, True)])
                      for width in WIDTHS for name, chosen in HALVES)
    structs += "".join(struct(width, chosen, [narrow(width, name)]) for width in NARROW_WIDTHS for name, chosen in EIGHTS)
    write(path, f'R"KILN({HEADER}{structs}{FOOTER})KILN"\n')


if __name__ == "__main__":
    main(*sys.argv[1:])
