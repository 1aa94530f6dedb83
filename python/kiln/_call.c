// The call of a compiled program from Python: reads tensors of any library into arguments of
// kiln/Jit/jit_c.h and calls, without the GIL. Reading a tensor costs more than the call itself, so
// each way to read one is known by the object's type: DLPack's C exchange interface, torch's
// attributes, numpy's array interface, `__dlpack__`.
//
// This is the fast path only. What it cannot read, and whatever goes wrong, it leaves to the Python
// code (kiln/_program.py), which reads everything and has the words for mistakes.
//
// Written against the limited API of Python 3.10, so that one file serves every newer version. It
// is not linked with libkiln.so: `bind` is given the addresses of the functions that it calls.
#define PY_SSIZE_T_CLEAN
#define Py_LIMITED_API 0x030A0000
#include <Python.h>

#include "kiln/Jit/jit_c.h"

#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <time.h>

//===----------------------------------------------------------------------===//
// DLPack, as far as it is used here. The C exchange interface is younger than the header of most
// systems.
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
enum { ARRAY_NOT_SWAPPED = 0x200, ARRAY_WRITEABLE = 0x400 };

//===----------------------------------------------------------------------===//
// State of the module
//===----------------------------------------------------------------------===//

static int32_t (*call_compiled)(kiln_compiled *, const kiln_call_arg *, uint32_t, void *stream);
static void (*set_interrupted)(int32_t);

enum reader { READ_NOTHING, READ_EXCHANGE, READ_TORCH, READ_ARRAY, READ_DLPACK, READ_STATED };

/// How objects of a type are read.
typedef struct {
  PyObject *type;
  enum reader how;
  const dl_exchange *exchange;
  int may_need_gradient;
} type_reader;
static type_reader readers[32];
static int num_readers;

static PyObject *name_exchange, *name_struct, *name_dlpack, *name_shape, *name_stride,
    *name_data_ptr, *name_dtype, *name_is_cpu, *name_is_neg, *name_requires_grad,
    *name_kiln_argument, *name_run_in_python, *name_explain, *name_mask;

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
  int gpu;                       // that the tensors are on; less than 0: none
  const dl_exchange *exchange;   // of a tensor on it; knows the stream
} call_state;

//===----------------------------------------------------------------------===//
// Reading tensors. A reader returns 1 if it could read the object, and else 0, with or without an
// exception.
//===----------------------------------------------------------------------===//

static int32_t dtype_of_dlpack(int code, int bits) {
  switch (code) {
  case 0:
    return bits == 8    ? KILN_I8
           : bits == 16 ? KILN_I16
           : bits == 32 ? KILN_I32
           : bits == 64 ? KILN_I64
                        : -1;
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

/// Whether elements are what they seem. torch can have a tensor negated "later", without a trace in
/// its memory: the imaginary part of a conjugate. Such a view of complex numbers goes from element
/// to element by even strides; where no stride is odd, the tensor itself is asked. The stride of an
/// axis with one element says nothing.
static int is_as_it_seems(PyObject *object, const int64_t *extents, const int64_t *strides,
                          int rank) {
  for (int at = rank - 1; at >= 0; --at)
    if (extents[at] > 1 && strides[at] % 2 != 0)
      return 1;
  PyObject *negated = PyObject_CallMethodObjArgs(object, name_is_neg, NULL);
  int is = negated ? PyObject_IsTrue(negated) == 0 : PyErr_ExceptionMatches(PyExc_AttributeError);
  Py_XDECREF(negated);
  PyErr_Clear();
  return is;
}

static int is_rank(int64_t rank) { return rank >= 1 && rank <= KILN_MAX_RANK; }

static int read_dl_tensor(kiln_call_arg *arg, const dl_tensor *tensor) {
  int on_gpu = tensor->device.type == DL_CUDA && tensor->device.id >= 0 && tensor->device.id <= 62;
  if ((tensor->device.type != DL_CPU && !on_gpu) || tensor->dtype.lanes != 1 ||
      !is_rank(tensor->ndim))
    return 0;
  arg->flags = on_gpu ? KILN_ARG_ON_GPU(tensor->device.id) : 0;
  arg->kind = KILN_ARG_TENSOR;
  arg->dtype = dtype_of_dlpack(tensor->dtype.code, tensor->dtype.bits);
  arg->data = (char *)tensor->data + tensor->byte_offset;
  arg->extents = tensor->shape;
  arg->strides = tensor->strides;
  arg->rank = (uint16_t)tensor->ndim;
  return arg->dtype >= 0;
}

static int read_exchange(kiln_call_arg *arg, PyObject *object, const dl_exchange *exchange) {
  dl_tensor tensor;
  return exchange->tensor_from_object(object, &tensor) == 0 && read_dl_tensor(arg, &tensor) &&
         (!arg->strides || is_as_it_seems(object, arg->extents, arg->strides, arg->rank));
}

/// Reads a tuple of integers.
static int read_extents(PyObject *tuple, int64_t *values, uint16_t *rank) {
  Py_ssize_t count = tuple && PyTuple_Check(tuple) ? PyTuple_Size(tuple) : -1;
  if (!is_rank(count))
    return 0;
  *rank = (uint16_t)count;
  for (Py_ssize_t at = 0; at < count; ++at)
    values[at] = PyLong_AsLongLong(PyTuple_GetItem(tuple, at));
  return !PyErr_Occurred();
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
  if (is >= 0 && num_torch_dtypes < 16) {
    torch_dtypes[num_torch_dtypes].dtype = Py_NewRef(dtype);
    torch_dtypes[num_torch_dtypes++].is = is;
  }
  return is;
}

/// Whether an attribute is there and says yes.
static int is_true(PyObject *object, PyObject *name) {
  PyObject *flag = PyObject_GetAttr(object, name);
  int is = flag && PyObject_IsTrue(flag) == 1;
  Py_XDECREF(flag);
  return is;
}

static int read_torch(kiln_call_arg *arg, PyObject *object, int64_t *extents, int64_t *strides) {
  if (!is_true(object, name_is_cpu))
    return 0;
  PyObject *dtype = PyObject_GetAttr(object, name_dtype);
  PyObject *shape = PyObject_GetAttr(object, name_shape);
  PyObject *stride = PyObject_CallMethodObjArgs(object, name_stride, NULL);
  PyObject *data = PyObject_CallMethodObjArgs(object, name_data_ptr, NULL);
  int is_read = dtype && data && read_extents(shape, extents, &arg->rank) &&
                read_extents(stride, strides, &arg->rank);
  if (is_read) {
    arg->kind = KILN_ARG_TENSOR;
    arg->data = PyLong_AsVoidPtr(data);
    arg->extents = extents;
    arg->strides = strides;
    arg->dtype = dtype_of_torch(dtype);
    is_read = arg->dtype >= 0 && is_as_it_seems(object, extents, strides, arg->rank);
  }
  Py_XDECREF(dtype);
  Py_XDECREF(shape);
  Py_XDECREF(stride);
  Py_XDECREF(data);
  return is_read;
}

static int32_t dtype_of_array(char kind, int itemsize) {
  if (kind == 'f')
    return itemsize == 4 ? KILN_F32 : itemsize == 2 ? KILN_F16 : -1;
  if (kind == 'i')
    return dtype_of_dlpack(0, itemsize * 8);
  return kind == 'b' ? KILN_I1 : -1;
}

static int read_array(kiln_call_arg *arg, PyObject *object, int64_t *extents, int64_t *strides,
                      PyObject **held) {
  PyObject *capsule = *held = PyObject_GetAttr(object, name_struct);
  const array_struct *array = capsule ? PyCapsule_GetPointer(capsule, NULL) : NULL;
  if (!array || array->two != 2 || !is_rank(array->nd) || !(array->flags & ARRAY_NOT_SWAPPED))
    return 0;
  arg->kind = KILN_ARG_TENSOR;
  arg->data = array->data;
  arg->dtype = dtype_of_array(array->kind, array->itemsize);
  arg->rank = (uint16_t)array->nd;
  arg->flags = array->flags & ARRAY_WRITEABLE ? 0 : KILN_ARG_READ_ONLY;
  arg->extents = extents;
  arg->strides = strides;
  if (arg->dtype < 0)
    return 0;
  for (int at = 0; at < array->nd; ++at) {
    if (array->strides[at] % array->itemsize != 0)
      return 0;
    extents[at] = array->shape[at];
    strides[at] = array->strides[at] / array->itemsize;
  }
  return 1;
}

static int read_dlpack(kiln_call_arg *arg, PyObject *object, PyObject **held) {
  // The capsule deletes the tensor when it goes, because nobody takes it over.
  PyObject *capsule = *held = PyObject_CallMethodObjArgs(object, name_dlpack, NULL);
  dl_managed *managed = capsule ? PyCapsule_GetPointer(capsule, "dltensor") : NULL;
  return managed && read_dl_tensor(arg, &managed->tensor);
}

/// Objects of kiln's own say what they are: the bytes of a kiln_call_arg. They keep alive what it
/// points at.
static int read_stated(kiln_call_arg *arg, PyObject *object, PyObject **held) {
  PyObject *bytes = *held = PyObject_GetAttr(object, name_kiln_argument);
  if (!bytes || !PyBytes_Check(bytes) || PyBytes_Size(bytes) != (Py_ssize_t)sizeof *arg)
    return 0;
  memcpy(arg, PyBytes_AsString(bytes), sizeof *arg);
  return 1;
}

//===----------------------------------------------------------------------===//
// Reading arguments
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
  const dl_exchange *table = capsule && PyCapsule_CheckExact(capsule)
                                 ? PyCapsule_GetPointer(capsule, "dlpack_exchange_api")
                                 : NULL;
  Py_XDECREF(capsule);
  PyErr_Clear();
  while (table && table->version.major != 1)
    table = table->previous;
  return table && table->tensor_from_object ? table : NULL;
}

static type_reader reader_of(PyObject *object) {
  PyObject *type = (PyObject *)Py_TYPE(object);
  for (int at = 0; at < num_readers; ++at)
    if (readers[at].type == type)
      return readers[at];
  type_reader made = {.type = type, .may_need_gradient = has(object, name_requires_grad)};
  if (has(object, name_kiln_argument))
    made.how = READ_STATED;
  else if ((made.exchange = exchange_of(type)))
    made.how = READ_EXCHANGE;
  else if (has(object, name_data_ptr))
    made.how = READ_TORCH;
  else if (has(object, name_mask))
    made.how = READ_NOTHING; // a masked array, which is refused
  else if (has(object, name_struct))
    made.how = READ_ARRAY;
  else if (has(object, name_dlpack))
    made.how = READ_DLPACK;
  if (made.how != READ_NOTHING && num_readers < (int)(sizeof readers / sizeof *readers)) {
    Py_INCREF(type);
    readers[num_readers++] = made;
  }
  return made;
}

static int read_tensor(call_state *state, Py_ssize_t at, PyObject *object, type_reader reader) {
  kiln_call_arg *arg = &state->args[at];
  switch (reader.how) {
  case READ_EXCHANGE:
    return read_exchange(arg, object, reader.exchange);
  case READ_TORCH:
    return read_torch(arg, object, state->extents[at], state->strides[at]);
  case READ_ARRAY:
    return read_array(arg, object, state->extents[at], state->strides[at], &state->held[at]);
  case READ_DLPACK:
    return read_dlpack(arg, object, &state->held[at]);
  case READ_STATED:
    return read_stated(arg, object, &state->held[at]);
  case READ_NOTHING:
    break;
  }
  return 0;
}

static int read_argument(call_state *state, Py_ssize_t at, PyObject *object) {
  kiln_call_arg *arg = &state->args[at];
  memset(arg, 0, sizeof *arg);
  if (PyLong_Check(object)) { // bool, too
    arg->kind = KILN_ARG_INTEGER;
    arg->value.integer = PyLong_AsLongLong(object);
    return !PyErr_Occurred();
  }
  if (PyFloat_Check(object)) {
    arg->kind = KILN_ARG_REAL;
    arg->value.real = PyFloat_AsDouble(object);
    return 1;
  }
  type_reader reader = reader_of(object);
  if (reader.may_need_gradient && is_true(object, name_requires_grad))
    return 0;
  if (!read_tensor(state, at, object, reader))
    return 0;
  if (arg->flags >> KILN_ARG_GPU_SHIFT) {
    state->gpu = (arg->flags >> KILN_ARG_GPU_SHIFT) - 1;
    if (reader.exchange)
      state->exchange = reader.exchange;
  }
  return 1;
}

/// The stream on which torch, or whoever made the tensors, works at the moment.
static int current_stream(const call_state *state, void **stream) {
  *stream = NULL;
  if (state->gpu < 0)
    return 1;
  return state->exchange && state->exchange->current_stream &&
         state->exchange->current_stream(DL_CUDA, state->gpu, stream) == 0;
}

//===----------------------------------------------------------------------===//
// Interrupting. Python's handler only notes that Ctrl-C was pressed; a call that runs has to be
// told. Where the handler is Python's own, which raises KeyboardInterrupt, the call ends at once. Any
// other may return, after which a call goes on (PEP 475), and can only run when the call has ended:
// so such a call goes on, and ends if Ctrl-C is pressed again.
//===----------------------------------------------------------------------===//

static volatile sig_atomic_t calls_running, was_interrupted, handler_raises, num_left_to_handler;
static struct sigaction python_handler;

static void on_interrupt(int signal_number) {
  if (calls_running > 0 && (handler_raises || num_left_to_handler++ > 0)) {
    set_interrupted(1);
    was_interrupted = 1;
  }
  python_handler.sa_handler(signal_number);
}

/// Whether the handler in Python is the one that raises KeyboardInterrupt.
static int has_default_handler(void) {
  PyObject *signals = PyImport_ImportModule("_signal");
  PyObject *now = signals ? PyObject_CallMethod(signals, "getsignal", "i", SIGINT) : NULL;
  PyObject *usual = now ? PyObject_GetAttrString(signals, "default_int_handler") : NULL;
  int is = usual && now == usual;
  Py_XDECREF(usual);
  Py_XDECREF(now);
  Py_XDECREF(signals);
  PyErr_Clear();
  return is;
}

/// Hears of Ctrl-C from now on, where Python does. Looked at again every few milliseconds, because
/// `signal.signal` takes the signal back: notebooks do so before each cell.
static void watch_interrupts(void) {
  static int64_t last;
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC_COARSE, &time);
  int64_t tick = time.tv_sec * 1000000000 + time.tv_nsec;
  if (tick == last)
    return;
  last = tick;
  struct sigaction now;
  if (sigaction(SIGINT, NULL, &now) != 0 || now.sa_handler == on_interrupt ||
      now.sa_handler == SIG_IGN || now.sa_handler == SIG_DFL || (now.sa_flags & SA_SIGINFO))
    return;
  handler_raises = has_default_handler();
  python_handler = now;
  now.sa_handler = on_interrupt;
  sigaction(SIGINT, &now, NULL);
}

static void end_interruption(void) {
  if (was_interrupted && calls_running == 0) {
    was_interrupted = 0;
    set_interrupted(0);
  }
}

//===----------------------------------------------------------------------===//
// Calling
//===----------------------------------------------------------------------===//

/// Counts the forks that led to this process: what was compiled before the last one is not used
/// after it.
static unsigned generation;

/// Whether this thread records a program, of which calls are no part.
static _Thread_local int is_recording;

static void after_fork_in_child(void) {
  ++generation;
  calls_running = 0;
  end_interruption();
}

static int32_t run(kiln_compiled *compiled, const kiln_call_arg *args, Py_ssize_t count,
                   void *stream) {
  watch_interrupts();
  end_interruption();
  if (calls_running == 0)
    num_left_to_handler = 0;
  ++calls_running;
  int32_t code;
  Py_BEGIN_ALLOW_THREADS code = call_compiled(compiled, args, (uint32_t)count, stream);
  Py_END_ALLOW_THREADS-- calls_running;
  end_interruption();
  return code;
}

/// A program that can be called. What Python knows of it is in kiln.Program, which derives from
/// this.
typedef struct {
  PyObject_HEAD kiln_compiled *compiled[2]; // for the host and for a GPU; NULL: not yet
  unsigned generation;
} callable;

enum outcome { SUCCEEDED, FAILED, NOT_RUN };

static enum outcome call_fast(callable *self, PyObject *arguments) {
  Py_ssize_t count = PyTuple_Size(arguments);
  if ((!self->compiled[0] && !self->compiled[1]) || self->generation != generation ||
      count > MAX_ARGUMENTS || is_recording)
    return NOT_RUN;
  call_state state;
  state.gpu = -1;
  state.exchange = NULL;
  memset((void *)state.held, 0, (size_t)count * sizeof *state.held);
  enum outcome outcome = SUCCEEDED;
  for (Py_ssize_t at = 0; at < count && outcome == SUCCEEDED; ++at)
    if (!read_argument(&state, at, PyTuple_GetItem(arguments, at)))
      outcome = NOT_RUN;
  kiln_compiled *compiled = self->compiled[state.gpu >= 0];
  void *stream;
  if (outcome == SUCCEEDED && (!compiled || !current_stream(&state, &stream)))
    outcome = NOT_RUN;
  if (outcome == SUCCEEDED && run(compiled, state.args, count, stream) != 0)
    outcome = FAILED;
  for (Py_ssize_t at = 0; at < count; ++at)
    Py_XDECREF(state.held[at]);
  return outcome;
}

/// Calls a method of the Python class, which gives an exception or None: raised here, it has no
/// frames of kiln's.
static PyObject *call_method(callable *self, PyObject *name, PyObject *arguments,
                             PyObject *options) {
  PyObject *method = PyObject_GetAttr((PyObject *)self, name);
  PyObject *error = method ? PyObject_Call(method, arguments, options) : NULL;
  Py_XDECREF(method);
  if (!error || error == Py_None)
    return error;
  PyErr_Restore(Py_NewRef((PyObject *)Py_TYPE(error)), error, PyException_GetTraceback(error));
  return NULL;
}

static PyObject *call_program(PyObject *object, PyObject *arguments, PyObject *options) {
  callable *self = (callable *)object;
  enum outcome outcome = options && PyDict_Size(options) > 0 ? NOT_RUN : call_fast(self, arguments);
  if (outcome == SUCCEEDED)
    Py_RETURN_NONE;
  if (PyErr_Occurred()) {
    if (!PyErr_ExceptionMatches(PyExc_Exception)) // Ctrl-C while a tensor was read
      return NULL;
    PyErr_Clear();
  }
  if (outcome == NOT_RUN)
    return call_method(self, name_run_in_python, arguments, options);
  if (PyErr_CheckSignals() != 0)
    return NULL;
  return call_method(self, name_explain, arguments, options);
}

/// _remember(compiled, on_gpu): what calls without options run from now on, on tensors there.
static PyObject *remember(PyObject *object, PyObject *args) {
  callable *self = (callable *)object;
  unsigned long long address;
  int on_gpu;
  if (!PyArg_ParseTuple(args, "Kp", &address, &on_gpu))
    return NULL;
  if (self->generation != generation)
    self->compiled[!on_gpu] = NULL; // of another process
  self->compiled[on_gpu] = (kiln_compiled *)(uintptr_t)address;
  self->generation = generation;
  Py_RETURN_NONE;
}

static PyMethodDef callable_methods[] = {
    {"_remember", remember, METH_VARARGS, "Says what calls without options run."},
    {NULL, NULL, 0, NULL}};
static PyType_Slot callable_slots[] = {{Py_tp_call, (void *)call_program},
                                       {Py_tp_methods, callable_methods},
                                       {Py_tp_doc, "A program that can be called."},
                                       {0, NULL}};
static PyType_Spec callable_spec = {.name = "kiln._call.Callable",
                                    .basicsize = sizeof(callable),
                                    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
                                    .slots = callable_slots};

//===----------------------------------------------------------------------===//
// The module
//===----------------------------------------------------------------------===//

static PyObject *run_from_python(PyObject *self, PyObject *args) {
  (void)self;
  unsigned long long compiled, arguments, stream;
  Py_ssize_t count;
  if (!PyArg_ParseTuple(args, "KKnK", &compiled, &arguments, &count, &stream))
    return NULL;
  int32_t code = run((kiln_compiled *)(uintptr_t)compiled,
                     (const kiln_call_arg *)(uintptr_t)arguments, count, (void *)(uintptr_t)stream);
  if (code != 0 && PyErr_CheckSignals() != 0)
    return NULL;
  return PyLong_FromLong(code);
}

static PyObject *bind(PyObject *self, PyObject *args) {
  (void)self;
  unsigned long long call_address, interrupt_address;
  if (!PyArg_ParseTuple(args, "KK", &call_address, &interrupt_address))
    return NULL;
  if (!call_compiled)
    pthread_atfork(NULL, NULL, after_fork_in_child);
  *(void **)&call_compiled = (void *)(uintptr_t)call_address;
  *(void **)&set_interrupted = (void *)(uintptr_t)interrupt_address;
  Py_RETURN_NONE;
}

static PyObject *set_recording(PyObject *self, PyObject *args) {
  (void)self;
  if (!PyArg_ParseTuple(args, "p", &is_recording))
    return NULL;
  Py_RETURN_NONE;
}

static PyMethodDef methods[] = {
    {"bind", bind, METH_VARARGS,
     "bind(call, interrupt): the addresses of kiln_compiled_call_on and kiln_set_interrupted."},
    {"run", run_from_python, METH_VARARGS,
     "run(compiled, arguments, count, stream): kiln_compiled_call_on, which Ctrl-C ends."},
    {"set_recording", set_recording, METH_VARARGS,
     "set_recording(is): whether this thread records a program; calls are left to Python then."},
    {NULL, NULL, 0, NULL}};

static struct PyModuleDef module = {
    PyModuleDef_HEAD_INIT, "kiln._call", "The call path.", -1, methods, NULL, NULL, NULL, NULL};

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
               {&name_is_neg, "is_neg"},
               {&name_dtype, "dtype"},
               {&name_is_cpu, "is_cpu"},
               {&name_requires_grad, "requires_grad"},
               {&name_kiln_argument, "__kiln_argument__"},
               {&name_run_in_python, "_run_in_python"},
               {&name_explain, "_explain"},
               {&name_mask, "mask"}};
  for (size_t at = 0; at < sizeof names / sizeof *names; ++at)
    if (!(*names[at].to = PyUnicode_InternFromString(names[at].name)))
      return NULL;
  PyObject *made = PyModule_Create(&module);
  PyObject *type = made ? PyType_FromSpec(&callable_spec) : NULL;
  if (!type || PyModule_AddObjectRef(made, "Callable", type) != 0)
    Py_CLEAR(made);
  Py_XDECREF(type);
  return made;
}
