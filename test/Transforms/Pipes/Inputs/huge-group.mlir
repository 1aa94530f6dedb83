kiln.func @cube(%p: !p) role(aic) {
}
kiln.func @huge(%x: !kiln.tensor<8x8xf32>) group {
  %p = tile.pipe slots(1048576) : !p
  kiln.call @cube(%p)
}
