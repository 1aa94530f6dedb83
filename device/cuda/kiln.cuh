//===- kiln.cuh - what emitted kernels are written with ------------------------------------===//
//
// Instructions, never algorithms: nothing here holds both a loop over K and a product. See
// docs/hopper-backend.md.
//
//===----------------------------------------------------------------------------===//
#pragma once

#include "combine.cuh"
#include "elementwise.cuh"
#include "exchange.cuh"
#include "pairs.cuh"
#include "pipe.cuh"
#include "rolepipe.cuh"
#include "staged.cuh"
#include "wgmma.cuh"

/// Of a kernel that waits for memory, on a multiprocessor; whoever compiles it may say.
#ifndef KILN_BLOCKS_AT_ONCE
#define KILN_BLOCKS_AT_ONCE 1
#endif

/// How many steps of registers the copying role keeps beyond the least, of 8 for each lane.
#ifndef KILN_REGISTERS_MOVED
#define KILN_REGISTERS_MOVED 0
#endif
