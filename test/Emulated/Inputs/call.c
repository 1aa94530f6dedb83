/* Calls a program on a GPU from C: `call hello_add.mlir [BUNDLE]`, by the JIT and, if there is one,
 * from a bundle. */
#include "kiln/Jit/jit_c.h"
#include "kiln/cuda_c.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#define ROWS 70
#define COLS 90
#define COUNT (ROWS * COLS)

static int (*synchronize)(void *);
static int (*copy)(uint64_t, uint64_t, size_t);

static void need(int isGood, const char *what) {
  if (isGood)
    return;
  fprintf(stderr, "call: %s (%s; %s)\n", what, kiln_jit_error(), kiln_cuda_error());
  exit(1);
}

static char *textOf(const char *path, uint64_t *length) {
  FILE *file = fopen(path, "rb");
  need(file != NULL, path);
  char *text = malloc(1 << 20);
  *length = fread(text, 1, 1 << 20, file);
  fclose(file);
  return text;
}

/* Whether c is a + b, which are i and 2 i; c is cleared. */
static int isSum(uint64_t c) {
  static float values[COUNT], zeros[COUNT];
  need(synchronize(NULL) == 0, "the stream cannot be waited for");
  need(copy((uint64_t)(uintptr_t)values, c, sizeof values) == 0, "the result cannot be copied");
  need(copy(c, (uint64_t)(uintptr_t)zeros, sizeof zeros) == 0, "the result cannot be cleared");
  for (int i = 0; i < COUNT; ++i)
    if (values[i] != 3.0F * (float)i)
      return 0;
  return 1;
}

int main(int argc, char **argv) {
  need(argc >= 2, "which program?");
  void *cuda = dlopen("libcuda.so.1", RTLD_NOW);
  need(cuda != NULL, "there is no driver");
  int (*init)(unsigned) = (int (*)(unsigned))dlsym(cuda, "cuInit");
  int (*retain)(void **, int) = (int (*)(void **, int))dlsym(cuda, "cuDevicePrimaryCtxRetain");
  int (*push)(void *) = (int (*)(void *))dlsym(cuda, "cuCtxPushCurrent_v2");
  int (*allocate)(uint64_t *, size_t, unsigned) =
      (int (*)(uint64_t *, size_t, unsigned))dlsym(cuda, "cuMemAllocManaged");
  synchronize = (int (*)(void *))dlsym(cuda, "cuStreamSynchronize");
  copy = (int (*)(uint64_t, uint64_t, size_t))dlsym(cuda, "cuMemcpy");
  void *context;
  need(init(0) == 0 && retain(&context, 0) == 0 && push(context) == 0, "there is no GPU");

  static float values[3][COUNT];
  uint64_t memory[3];
  int64_t extents[2] = {ROWS, COLS};
  kiln_call_arg args[3] = {{0}};
  kiln_tensor tensors[3] = {{0}};
  for (int k = 0; k < 3; ++k) {
    for (int i = 0; i < COUNT; ++i)
      values[k][i] = k == 2 ? 0 : (float)((k + 1) * i);
    need(allocate(&memory[k], sizeof values[k], 1) == 0, "there is no memory");
    need(copy(memory[k], (uint64_t)(uintptr_t)values[k], sizeof values[k]) == 0, "cannot copy");
    void *data = (void *)(uintptr_t)memory[k];
    args[k].data = data, args[k].extents = extents, args[k].rank = 2;
    args[k].dtype = KILN_F32, args[k].flags = KILN_ARG_ON_GPU(0);
    tensors[k].data = data, tensors[k].dtype = KILN_F32, tensors[k].rank = 2;
    tensors[k].extents[0] = ROWS, tensors[k].extents[1] = COLS;
    tensors[k].strides[0] = COLS, tensors[k].strides[1] = 1;
  }

  uint64_t length;
  char *text = textOf(argv[1], &length);
  kiln_jit *jit = kiln_jit_create();
  kiln_compiled *add = kiln_jit_compile(jit, text, length, kiln_jit_platform(1), NULL);
  need(add != NULL, "the program is not compiled");
  for (int round = 0; round < 3; ++round) {
    need(kiln_compiled_call_on(add, args, 3, NULL) == 0, "the call fails");
    need(isSum(memory[2]), "the JIT computes something else");
  }
  if (argc > 2) {
    kiln_cuda_program *program = kiln_cuda_open(argv[2]);
    need(program != NULL, "the bundle cannot be opened");
    kiln_args given = {tensors, NULL, 3, 0};
    need(kiln_cuda_launch(program, &given, NULL) == 0, "the launch fails");
    need(isSum(memory[2]), "the bundle computes something else");
    tensors[0].dtype = KILN_F16;
    need(kiln_cuda_launch(program, &given, NULL) != 0, "a wrong element type is taken");
    tensors[0].dtype = KILN_F32, tensors[1].extents[0] = 1; /* which the program does not allow */
    need(kiln_cuda_launch(program, &given, NULL) != 0, "wrong extents are taken");
    kiln_cuda_close(program);
  }
  kiln_compiled_destroy(add);
  kiln_jit_destroy(jit);
  free(text);
  printf("called from C: right\n");
  return 0;
}
