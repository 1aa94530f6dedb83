/* The JIT's C API, used from C. Returns 0, or the line that went wrong. */
#include "kiln/Jit/jit_c.h"

#include <dlpack/dlpack.h>
#include <string.h>

#define MUST(condition)                                                                            \
  if (!(condition))                                                                                \
  return __LINE__

static int deleted = 0;
static void countDelete(DLManagedTensor *self) {
  (void)self;
  ++deleted;
}

int jitFromC(void) {
  static float memory[128];
  int64_t extents[2] = {8, 16}, strides[2] = {16, 1};
  kiln_adaptor *x = kiln_adaptor_create(memory, KILN_F32, 2, extents, strides);
  MUST(x);
  int32_t axis = 0;
  MUST(kiln_adaptor_mark_static(x, 1, &axis) == 0);
  kiln_call_arg arg = kiln_adaptor_arg(x);
  MUST(arg.kind == KILN_ARG_TENSOR && arg.data == memory && arg.rank == 2 && arg.marks != 0);
  MUST(arg.extents[0] == 8 && arg.strides[0] == 16);
  MUST(kiln_adaptor_mark_layout_dynamic(x, -1, 1) == 0);
  MUST(kiln_adaptor_arg(x).marks == 0);
  MUST(kiln_adaptor_mark_layout_dynamic(x, 0, 1) != 0);
  MUST(strstr(kiln_jit_error(), "stride 16"));
  MUST(kiln_adaptor_arg(x).kind == KILN_ARG_BAD); /* and a call would fail with that message */
  MUST(kiln_adaptor_mark_layout_dynamic(x, -1, 1) == 0); /* which replaces all marks */
  MUST(kiln_adaptor_arg(x).kind == KILN_ARG_TENSOR);
  kiln_adaptor_destroy(x);

  MUST(!kiln_adaptor_create(memory, 77, 2, extents, strides));
  MUST(strstr(kiln_jit_error(), "element type"));
  MUST(!kiln_adaptor_create(NULL, KILN_F32, 2, extents, NULL));
  MUST(strstr(kiln_jit_error(), "null"));

  /* What only C can get wrong. */
  MUST(!kiln_adaptor_create(memory, KILN_F32, 2, NULL, NULL) &&
       strstr(kiln_jit_error(), "extents"));
  MUST(!kiln_adaptor_create(memory, KILN_F32, 1000000000, extents, NULL));
  MUST(strstr(kiln_jit_error(), "rank"));
  MUST(!kiln_adaptor_from_dlpack(NULL) && strstr(kiln_jit_error(), "null"));
  MUST(kiln_adaptor_mark_static(NULL, 0, NULL) != 0 && strstr(kiln_jit_error(), "adaptor is NULL"));
  MUST(kiln_adaptor_mark_layout_dynamic(NULL, -1, 1) != 0);
  MUST(kiln_adaptor_arg(NULL).kind == KILN_ARG_BAD);
  MUST(kiln_compiled_call(NULL, NULL, 0) != 0 && strstr(kiln_jit_error(), "program is NULL"));
  MUST(kiln_compiled_compile_only(NULL, NULL, 0) != 0);
  kiln_adaptor_destroy(NULL);
  kiln_compiled_destroy(NULL);
  kiln_jit_destroy(NULL);
  x = kiln_adaptor_create(memory, KILN_F32, 2, extents, strides);
  MUST(x && kiln_adaptor_mark_static(x, 2, NULL) != 0 && strstr(kiln_jit_error(), "axes is NULL"));
  MUST(kiln_adaptor_arg(x).marks == 0);
  kiln_adaptor_destroy(x);

  DLManagedTensor managed;
  memset(&managed, 0, sizeof managed);
  managed.dl_tensor.data = memory;
  managed.dl_tensor.device.device_type = kDLCPU;
  managed.dl_tensor.ndim = 2;
  managed.dl_tensor.dtype.code = kDLFloat;
  managed.dl_tensor.dtype.bits = 32;
  managed.dl_tensor.dtype.lanes = 1;
  managed.dl_tensor.shape = extents;
  managed.deleter = countDelete;
  kiln_adaptor *y = kiln_adaptor_from_dlpack(&managed);
  MUST(y && deleted == 0);
  kiln_adaptor_destroy(y);
  MUST(deleted == 1);
  managed.dl_tensor.ndim = 0;
  MUST(!kiln_adaptor_from_dlpack(&managed) && deleted == 1);

  kiln_jit *jit = kiln_jit_create();
  kiln_jit_counters counters;
  kiln_jit_get_counters(jit, &counters);
  MUST(counters.compiles == 0 && counters.call_states == 0);
  memset(&counters, 7, sizeof counters);
  kiln_jit_get_counters(NULL, &counters);
  MUST(counters.compiles == 0);
  kiln_jit_get_counters(jit, NULL);
  kiln_jit_destroy(jit);
  return 0;
}
