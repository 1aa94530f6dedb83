// Tile and row sums travel in two pipes; the consumer takes one for the other.
// RUN: not %kiln check %s 2>&1 | FileCheck %s

!t = !tile.tile<8x8xf32>
!r = !tile.tile<8x1xf32>
!p = !tile.pipe<aic -> aiv, 8x8xf32>
!q = !tile.pipe<aic -> aiv, 8x1xf32>
kiln.func @vec(%p: !p, %q: !q) role(aiv) {
  // CHECK-DAG: messages-of-another-type.mlir:[[#@LINE+1]]:{{[0-9]+}}: error: 'tile.pop' op handles '!tile.tile<8x1xf32>', but '!tile.pipe<aic -> aiv, 8x8xf32>' carries '!tile.tile<8x8xf32>'
  %u = tile.pop %p : !r
  %v = tile.pop %q : !t
}
