/* A kernel written in C11 against the public header: y = x * s over its blocks of 4 elements. */
#include "kiln/abi.h"

#include <string.h>

int32_t kiln_test_c_scale(const kiln_args *args, const kiln_blocks *range, kiln_context *ctx) {
  const kiln_tensor *x = &args->tensors[0], *y = &args->tensors[1];
  float s;
  memcpy(&s, &args->scalars[0], sizeof(s));
  if (ctx->abi_version != KILN_ABI_VERSION || x->dtype != KILN_F32)
    return KILN_FAIL;
  for (int64_t b = range->begin[0]; b < range->end[0]; ++b)
    for (int64_t i = b * 4; i < b * 4 + 4 && i < x->extents[0]; ++i)
      ((float *)y->data)[i * y->strides[0]] = ((const float *)x->data)[i * x->strides[0]] * s;
  return KILN_OK;
}

size_t kiln_test_c_sizes(int which) {
  switch (which) {
  case 0:
    return sizeof(kiln_tensor);
  case 1:
    return sizeof(kiln_args);
  case 2:
    return sizeof(kiln_blocks);
  default:
    return sizeof(kiln_context);
  }
}
