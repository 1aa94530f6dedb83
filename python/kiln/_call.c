// The call of a compiled program from Python: reads tensors of any library into arguments of kiln/Jit/jit_c.h and calls,
// without the GIL. Reading a tensor costs more than the call itself, so each way to read one is known by the object's
// type: DLPack's C exchange interface, torch's attributes, numpy's array interface, `__dlpack__`.
//
// Written against the limited API of Python 3.10, so that one file serves every newer version. It is not linked with
// libkiln.so: `bind` is given the addresses of the functions that it calls.
#define PY_SSIZE_T_CLEAN
#define Py_LIMITED_API 0x030A0000
#include <Python.h>

#include "kiln/Jit/jit_c.h"

#include <signal.h>
#include <string.h>

//===----------------------------------------------------------------------===//
// DLPack, as far as it is used here. The C exchange interface is younger than the header of most systems.
//===----------------------------------------------------------------------===//

typedef struct {
  void *data;
  struct {
    int32_t type, id;
  } device;
  int32_t ndim;
  struct {
    uint8_t code, bits;
    uint16_t lanes;
  } dtype;
  int64_t *shape, *strides;
  uint64_t byte_offset;
} dl_tensor;

typedef struct dl_managed {
  dl_tensor tensor;
  void *context;
  void (*deleter)(struct dl_managed *);
} dl_managed;

typedef struct dl_exchange {
  struct {
    uint32_t major, minor;
  } version;
  struct dl_exchange *previous;
  void *allocate, *managed_from_object, *managed_to_object;
  int (*tensor_from_object)(void *object, dl_tensor *tensor);
  int (*current_stream)(int32_t device_type, int32_t device_id, void **stream);
} dl_exchange;

enum { DL_CPU = 1, DL_CUDA = 2 };

/// The array interface of numpy, version 3.
typedef struct {
  int two, nd;
  char kind;
  int itemsize, flags;
  Py_ssize_t *shape, *strides;
  void *data;
  PyObject *descr;
} array_struct;
enum { ARRAY_ALIGNED = 0x100, ARRAY_NOT_SWAPPED = 0x200, ARRAY_WRITEABLE = 0x400 };

//===----------------------------------------------------------------------===//
// State of the module
//===----------------------------------------------------------------------===//

static int32_t (*call_compiled)(kiln_compiled *, const kiln_call_arg *, uint32_t);
static const char *(*last_error)(void);
static void (*set_interrupted)(int32_t);
static PyObject *error_class; // kiln.KilnError

enum reader { READ_NOTHING, READ_EXCHANGE, READ_TORCH, READ_ARRAY, READ_DLPACK, READ_ADAPTOR };

/// How objects of a type are read.
typedef struct {
  PyObject *type;
  enum reader how;
  const dl_exchange *exchange;
  int may_need_gradient;
} type_reader;
static type_reader readers[32];
static int num_readers;

static PyObject *name_exchange, *name_struct, *name_dlpack, *name_shape, *name_stride, *name_data_ptr, *name_dtype,
    *name_device, *name_type, *name_requires_grad, *name_kiln_argument;

static struct {
  PyObject *dtype;
  int32_t is;
} torch_dtypes[16];
static int num_torch_dtypes;

/// Room for what the arguments of one call point at.
enum { MAX_ARGUMENTS = 64 };
typedef struct {
  kiln_call_arg args[MAX_ARGUMENTS];
  int64_t extents[MAX_ARGUMENTS][KILN_MAX_RANK], strides[MAX_ARGUMENTS][KILN_MAX_RANK];
  PyObject *held[MAX_ARGUMENTS]; // until the call is over
} call_state;

//===----------------------------------------------------------------------===//
// Reading arguments. A mistake that the call can name (KILN_ARG_BAD) is reported with the parameter's name by the JIT.
//===----------------------------------------------------------------------===//

static void set_problem(kiln_call_arg *arg, const char *problem) {
  arg->kind = KILN_ARG_BAD;
  arg->value.problem = problem;
}

static int32_t dtype_of_dlpack(int code, int bits) {
  switch (code) {
  case 0:
    return bits == 8 ? KILN_I8 : bits == 16 ? KILN_I16 : bits == 32 ? KILN_I32 : bits == 64 ? KILN_I64 : -1;
  case 2:
    return bits == 32 ? KILN_F32 : bits == 16 ? KILN_F16 : -1;
  case 4:
    return bits == 16 ? KILN_BF16 : -1;
  case 6:
    return bits == 8 ? KILN_I1 : -1;
  case 10:
    return KILN_F8E4M3FN;
  case 12:
    return KILN_F8E5M2;
  default:
    return -1;
  }
}

static void read_dl_tensor(kiln_call_arg *arg, const dl_tensor *tensor) {
  if (tensor->device.type != DL_CPU)
    return set_problem(arg, "is not in the memory of the CPU, and this program runs there; use tensor.cpu(), or "
                            "compile the program for the platform where the tensor is");
  arg->dtype = tensor->dtype.lanes == 1 ? dtype_of_dlpack(tensor->dtype.code, tensor->dtype.bits) : -1;
  if (arg->dtype < 0)
    return set_problem(arg, "has an element type that kiln does not have");
  arg->kind = KILN_ARG_TENSOR;
  arg->data = (char *)tensor->data + tensor->byte_offset;
  arg->extents = tensor->shape;
  arg->strides = tensor->strides;
  arg->rank = (uint16_t)tensor->ndim;
}

static int read_exchange(kiln_call_arg *arg, PyObject *object, const dl_exchange *exchange) {
  dl_tensor tensor;
  if (exchange->tensor_from_object(object, &tensor) != 0)
    return -1;
  read_dl_tensor(arg, &tensor);
  return 0;
}

/// Reads a tuple of integers.
static int read_extents(PyObject *tuple, int64_t *values, uint16_t *rank) {
  Py_ssize_t count = tuple ? PySequence_Size(tuple) : -1;
  if (count < 0)
    return -1;
  *rank = (uint16_t)count;
  for (Py_ssize_t at = 0; at < count && at < KILN_MAX_RANK; ++at) {
    PyObject *item = PySequence_GetItem(tuple, at);
    values[at] = item ? PyLong_AsLongLong(item) : -1;
    Py_XDECREF(item);
  }
  return PyErr_Occurred() ? -1 : 0;
}

static int32_t dtype_of_torch(PyObject *dtype) {
  for (int at = 0; at < num_torch_dtypes; ++at)
    if (torch_dtypes[at].dtype == dtype)
      return torch_dtypes[at].is;
  PyObject *text = PyObject_Str(dtype);
  const char *name = text ? PyUnicode_AsUTF8AndSize(text, NULL) : NULL;
  static const struct {
    const char *name;
    int32_t is;
  } known[] = {{"torch.float32", KILN_F32},        {"torch.float16", KILN_F16},
               {"torch.bfloat16", KILN_BF16},      {"torch.float8_e4m3fn", KILN_F8E4M3FN},
               {"torch.float8_e5m2", KILN_F8E5M2}, {"torch.int8", KILN_I8},
               {"torch.int16", KILN_I16},          {"torch.int32", KILN_I32},
               {"torch.int64", KILN_I64},          {"torch.bool", KILN_I1}};
  int32_t is = -1;
  for (size_t at = 0; name && at < sizeof known / sizeof *known; ++at)
    if (strcmp(known[at].name, name) == 0)
      is = known[at].is;
  Py_XDECREF(text);
  if (num_torch_dtypes < 16) {
    Py_INCREF(dtype);
    torch_dtypes[num_torch_dtypes].dtype = dtype;
    torch_dtypes[num_torch_dtypes++].is = is;
  }
  return is;
}

static int is_on_cpu(PyObject *object) {
  PyObject *device = PyObject_GetAttr(object, name_device);
  PyObject *type = device ? PyObject_GetAttr(device, name_type) : NULL;
  int is = type ? PyUnicode_CompareWithASCIIString(type, "cpu") == 0 : -1;
  Py_XDECREF(device);
  Py_XDECREF(type);
  return is;
}

static int read_torch(kiln_call_arg *arg, PyObject *object, int64_t *extents, int64_t *strides) {
  int on_cpu = is_on_cpu(object);
  if (on_cpu < 0)
    return -1;
  if (!on_cpu) {
    dl_tensor elsewhere = {.device = {.type = DL_CUDA}};
    read_dl_tensor(arg, &elsewhere);
    return 0;
  }
  PyObject *dtype = PyObject_GetAttr(object, name_dtype);
  PyObject *shape = PyObject_GetAttr(object, name_shape);
  PyObject *stride = PyObject_CallMethodObjArgs(object, name_stride, NULL);
  PyObject *data = PyObject_CallMethodObjArgs(object, name_data_ptr, NULL);
  int failed = !dtype || !data || read_extents(shape, extents, &arg->rank) || read_extents(stride, strides, &arg->rank);
  if (!failed) {
    arg->kind = KILN_ARG_TENSOR;
    arg->data = PyLong_AsVoidPtr(data);
    arg->extents = extents;
    arg->strides = strides;
    arg->dtype = dtype_of_torch(dtype);
    if (arg->dtype < 0)
      set_problem(arg, "has an element type that kiln does not have");
  }
  Py_XDECREF(dtype);
  Py_XDECREF(shape);
  Py_XDECREF(stride);
  Py_XDECREF(data);
  return failed || PyErr_Occurred() ? -1 : 0;
}

static int32_t dtype_of_array(char kind, int itemsize) {
  if (kind == 'f')
    return itemsize == 4 ? KILN_F32 : itemsize == 2 ? KILN_F16 : -1;
  if (kind == 'i')
    return dtype_of_dlpack(0, itemsize * 8);
  return kind == 'b' ? KILN_I1 : -1;
}

static int read_array(kiln_call_arg *arg, PyObject *object, int64_t *extents, int64_t *strides, PyObject **held) {
  PyObject *capsule = PyObject_GetAttr(object, name_struct);
  if (!capsule)
    return -1;
  const array_struct *array = PyCapsule_GetPointer(capsule, NULL);
  if (!array || array->two != 2) {
    Py_DECREF(capsule);
    return -1;
  }
  *held = capsule;
  arg->dtype = dtype_of_array(array->kind, array->itemsize);
  if (arg->dtype < 0) {
    set_problem(arg, "has an element type that kiln does not have; convert it, say with .astype(numpy.float32)");
    return 0;
  }
  if (!(array->flags & ARRAY_NOT_SWAPPED) || !(array->flags & ARRAY_ALIGNED)) {
    set_problem(arg, "is not aligned, or has its bytes in another order; pass a copy");
    return 0;
  }
  arg->kind = KILN_ARG_TENSOR;
  arg->data = array->data;
  arg->rank = (uint16_t)array->nd;
  arg->flags = array->flags & ARRAY_WRITEABLE ? 0 : KILN_ARG_READ_ONLY;
  arg->extents = extents;
  arg->strides = strides;
  for (int at = 0; at < array->nd && at < KILN_MAX_RANK; ++at) {
    extents[at] = array->shape[at];
    strides[at] = array->strides[at] / array->itemsize;
    if (array->strides[at] % array->itemsize != 0) {
      set_problem(arg, "has strides that are no multiples of its elements; pass a copy");
      return 0;
    }
    if (array->strides[at] < 0) {
      set_problem(arg, "has a negative stride; pass a copy, say with numpy.ascontiguousarray");
      return 0;
    }
  }
  return 0;
}

static int read_dlpack(kiln_call_arg *arg, PyObject *object, PyObject **held) {
  PyObject *capsule = PyObject_CallMethodObjArgs(object, name_dlpack, NULL);
  if (!capsule)
    return -1;
  *held = capsule; // which deletes the tensor when it goes, because it was not consumed
  dl_managed *managed = PyCapsule_GetPointer(capsule, "dltensor");
  if (!managed)
    return -1;
  read_dl_tensor(arg, &managed->tensor);
  return 0;
}

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

static int has(PyObject *object, PyObject *name) {
  PyObject *value = PyObject_GetAttr(object, name);
  if (!value)
    PyErr_Clear();
  Py_XDECREF(value);
  return value != NULL;
}

static const dl_exchange *exchange_of(PyObject *type) {
  PyObject *capsule = PyObject_GetAttr(type, name_exchange);
  const dl_exchange *table =
      capsule && PyCapsule_CheckExact(capsule) ? PyCapsule_GetPointer(capsule, "dlpack_exchange_api") : NULL;
  Py_XDECREF(capsule);
  PyErr_Clear();
  while (table && table->version.major != 1)
    table = table->previous;
  return table && table->tensor_from_object ? table : NULL;
}

static const type_reader *reader_of(PyObject *object) {
  PyObject *type = (PyObject *)Py_TYPE(object);
  for (int at = 0; at < num_readers; ++at)
    if (readers[at].type == type)
      return &readers[at];
  static type_reader other;
  type_reader *made = num_readers < 32 ? &readers[num_readers] : &other;
  *made = (type_reader){.type = type, .may_need_gradient = has(object, name_requires_grad)};
  if (has(object, name_kiln_argument))
    made->how = READ_ADAPTOR;
  else if ((made->exchange = exchange_of(type)))
    made->how = READ_EXCHANGE;
  else if (has(object, name_data_ptr) && has(object, name_stride))
    made->how = READ_TORCH;
  else if (has(object, name_struct))
    made->how = READ_ARRAY;
  else if (has(object, name_dlpack))
    made->how = READ_DLPACK;
  if (made != &other) {
    Py_INCREF(type);
    ++num_readers;
  }
  return made;
}

/// What an adaptor says: the bytes of a kiln_call_arg, which it keeps alive.
static int read_adaptor(kiln_call_arg *arg, PyObject *object, PyObject **held) {
  PyObject *bytes = PyObject_GetAttr(object, name_kiln_argument);
  if (!bytes)
    return -1;
  char *data;
  Py_ssize_t size;
  if (PyBytes_AsStringAndSize(bytes, &data, &size) || size != sizeof *arg) {
    Py_DECREF(bytes);
    return -1;
  }
  memcpy(arg, data, sizeof *arg);
  *held = bytes;
  return 0;
}

/// Whether a tensor needs a gradient, which kiln would lose. -1: an exception.
static int needs_gradient(PyObject *object) {
  PyObject *flag = PyObject_GetAttr(object, name_requires_grad);
  int is = flag ? PyObject_IsTrue(flag) : -1;
  Py_XDECREF(flag);
  return is;
}

static int read_argument(call_state *state, Py_ssize_t at, PyObject *object) {
  kiln_call_arg *arg = &state->args[at];
  memset(arg, 0, sizeof *arg);
  if (PyLong_Check(object)) { // bool, too
    arg->kind = KILN_ARG_INTEGER;
    arg->value.integer = PyLong_AsLongLong(object);
    return PyErr_Occurred() ? -1 : 0;
  }
  if (PyFloat_Check(object)) {
    arg->kind = KILN_ARG_REAL;
    arg->value.real = PyFloat_AsDouble(object);
    return 0;
  }
  const type_reader *reader = reader_of(object);
  if (reader->may_need_gradient) {
    int needs = needs_gradient(object);
    if (needs < 0)
      return -1;
    if (needs) {
      set_problem(arg, "requires a gradient, and kiln computes none; pass tensor.detach()");
      return 0;
    }
  }
  switch (reader->how) {
  case READ_EXCHANGE:
    return read_exchange(arg, object, reader->exchange);
  case READ_TORCH:
    return read_torch(arg, object, state->extents[at], state->strides[at]);
  case READ_ARRAY:
    return read_array(arg, object, state->extents[at], state->strides[at], &state->held[at]);
  case READ_DLPACK:
    return read_dlpack(arg, object, &state->held[at]);
  case READ_ADAPTOR:
    return read_adaptor(arg, object, &state->held[at]);
  case READ_NOTHING:
    break;
  }
  set_problem(arg, "is neither a tensor nor a number; tensors of torch, numpy and whatever has __dlpack__ are read");
  return 0;
}

//===----------------------------------------------------------------------===//
// Interrupting. Python's handler only notes that Ctrl-C was pressed; a call that runs has to be told.
//===----------------------------------------------------------------------===//

static volatile sig_atomic_t calls_running, was_interrupted;
static struct sigaction python_handler;

static void on_interrupt(int signal_number) {
  if (calls_running > 0) {
    was_interrupted = 1;
    set_interrupted(1);
  }
  if (python_handler.sa_handler != SIG_DFL && python_handler.sa_handler != SIG_IGN)
    python_handler.sa_handler(signal_number);
}

/// Hears of Ctrl-C from now on, where Python does.
static void watch_interrupts(void) {
  struct sigaction now;
  if (sigaction(SIGINT, NULL, &now) != 0 || now.sa_handler == on_interrupt || now.sa_handler == SIG_IGN ||
      now.sa_handler == SIG_DFL || (now.sa_flags & SA_SIGINFO))
    return;
  python_handler = now;
  struct sigaction ours = now;
  ours.sa_handler = on_interrupt;
  sigaction(SIGINT, &ours, NULL);
}

//===----------------------------------------------------------------------===//
// The module
//===----------------------------------------------------------------------===//

static PyObject *call(PyObject *self, PyObject *const *objects, Py_ssize_t count) {
  (void)self;
  kiln_compiled *compiled = count > 0 ? PyLong_AsVoidPtr(objects[0]) : NULL;
  if (!compiled) {
    if (!PyErr_Occurred())
      PyErr_SetString(PyExc_TypeError, "call takes a compiled program and its arguments");
    return NULL;
  }
  if (--count > MAX_ARGUMENTS) {
    PyErr_Format(PyExc_TypeError, "a program takes at most %d arguments", MAX_ARGUMENTS);
    return NULL;
  }
  call_state state;
  memset(state.held, 0, (size_t)count * sizeof *state.held);
  int failed = 0;
  for (Py_ssize_t at = 0; at < count && !failed; ++at)
    failed = read_argument(&state, at, objects[at + 1]);
  int32_t code = 0;
  if (!failed) {
    ++calls_running;
    Py_BEGIN_ALLOW_THREADS code = call_compiled(compiled, state.args, (uint32_t)count);
    Py_END_ALLOW_THREADS --calls_running;
  }
  for (Py_ssize_t at = 0; at < count; ++at)
    Py_XDECREF(state.held[at]);
  if (was_interrupted && calls_running == 0) {
    was_interrupted = 0;
    set_interrupted(0);
    if (PyErr_CheckSignals() != 0)
      return NULL;
  }
  if (failed)
    return NULL;
  if (code != 0) {
    PyErr_SetString(error_class, last_error());
    return NULL;
  }
  Py_RETURN_NONE;
}

/// A tensor as it would be passed: the bytes of its kiln_call_arg, and what they point at is only valid as long as the
/// tensor is.
static PyObject *describe(PyObject *self, PyObject *object) {
  (void)self;
  call_state state;
  memset(&state, 0, sizeof state);
  if (read_argument(&state, 0, object))
    return NULL;
  const kiln_call_arg *arg = &state.args[0];
  PyObject *result = NULL;
  if (arg->kind == KILN_ARG_BAD) {
    PyErr_Format(error_class, "the tensor %s", arg->value.problem);
  } else if (arg->kind != KILN_ARG_TENSOR || arg->rank > KILN_MAX_RANK) {
    PyErr_SetString(error_class, "this is not a tensor of at most 5 axes");
  } else {
    PyObject *extents = PyTuple_New(arg->rank), *strides = PyTuple_New(arg->rank);
    int64_t stride = 1;
    for (int at = arg->rank - 1; extents && strides && at >= 0; --at) {
      PyTuple_SetItem(extents, at, PyLong_FromLongLong(arg->extents[at]));
      PyTuple_SetItem(strides, at, PyLong_FromLongLong(arg->strides ? arg->strides[at] : stride));
      stride *= arg->extents[at];
    }
    result = Py_BuildValue("(KiNNi)", (unsigned long long)(uintptr_t)arg->data, (int)arg->dtype, extents, strides,
                           (int)arg->flags);
  }
  Py_XDECREF(state.held[0]);
  return result;
}

static PyObject *bind(PyObject *self, PyObject *args) {
  (void)self;
  unsigned long long call_address, error_address, interrupt_address;
  PyObject *error;
  if (!PyArg_ParseTuple(args, "KKKO", &call_address, &error_address, &interrupt_address, &error))
    return NULL;
  *(void **)&call_compiled = (void *)(uintptr_t)call_address;
  *(void **)&last_error = (void *)(uintptr_t)error_address;
  *(void **)&set_interrupted = (void *)(uintptr_t)interrupt_address;
  Py_XDECREF(error_class);
  Py_INCREF(error);
  error_class = error;
  watch_interrupts();
  Py_RETURN_NONE;
}

static PyMethodDef methods[] = {
    {"call", (PyCFunction)(void (*)(void))call, METH_FASTCALL, "call(compiled, *arguments): runs a compiled program."},
    {"describe", describe, METH_O, "describe(tensor): address, element type, extents, strides, flags."},
    {"bind", bind, METH_VARARGS, "bind(call, error, interrupt, exception): says what to call, and what to raise."},
    {NULL, NULL, 0, NULL}};

static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "kiln._call", "The call path.", -1, methods,
                                    NULL,                  NULL,         NULL,             NULL};

PyMODINIT_FUNC PyInit__call(void) {
  struct {
    PyObject **to;
    const char *name;
  } names[] = {{&name_exchange, "__dlpack_c_exchange_api__"},
               {&name_struct, "__array_struct__"},
               {&name_dlpack, "__dlpack__"},
               {&name_shape, "shape"},
               {&name_stride, "stride"},
               {&name_data_ptr, "data_ptr"},
               {&name_dtype, "dtype"},
               {&name_device, "device"},
               {&name_type, "type"},
               {&name_requires_grad, "requires_grad"},
               {&name_kiln_argument, "__kiln_argument__"}};
  for (size_t at = 0; at < sizeof names / sizeof *names; ++at)
    if (!(*names[at].to = PyUnicode_InternFromString(names[at].name)))
      return NULL;
  return PyModule_Create(&module);
}
