//===- kiln.cuh - what emitted kernels are written with ------------------------------------===//
//
// Instructions, never algorithms: nothing here holds both a loop over K and a product. See
// docs/hopper-backend.md.
//
//===----------------------------------------------------------------------------===//
#pragma once

#include "elementwise.cuh"
#include "pipe.cuh"
#include "wgmma.cuh"
