"""Tensors of torch and numpy, and anything with DLPack, as arguments of the JIT: whatever they are, and with words for mistakes.

The extension `_call` reads the common ones faster, and leaves the rest to this.
"""
from __future__ import annotations

import ctypes
import re
import weakref
from typing import Any, Dict, List, NamedTuple, NoReturn, Optional, Sequence, Tuple

from . import _library, dtypes
from ._errors import KilnError, counted, mistake, public
from ._library import CallArg
from ._signature import Annotation, ScalarType, TensorType
from .dtypes import DType

# enum kiln_arg_kind, enum kiln_arg_flags
_TENSOR, _INTEGER, _REAL = range(3)
_READ_ONLY, _GPU_SHIFT, _MAX_GPU = 1, 2, 62

# What numpy and torch call the element types.
_ELEMENT_TYPES: Dict[str, DType] = {
    "float32": dtypes.f32, "float16": dtypes.f16, "bfloat16": dtypes.bf16, "float8_e4m3fn": dtypes.f8E4M3FN,
    "float8_e5m2": dtypes.f8E5M2, "int8": dtypes.i8, "int16": dtypes.i16, "int32": dtypes.i32, "int64": dtypes.i64,
    "bool": dtypes.i1,
}  # fmt: skip


def destroy_with(owner: Any, destroy: Any, handle: int) -> None:
    """Destroys a handle with its owner, but not at the end of the process: a forked one does not have the threads it needs."""
    weakref.finalize(owner, destroy, handle).atexit = False


class View(NamedTuple):
    """A tensor of the caller's, as the JIT takes it."""

    data: int
    shape: Tuple[int, ...]
    strides: Tuple[int, ...]  # in elements
    dtype: DType
    read_only: bool
    owner: Any
    marks: int = 0
    gpu: int = -1  # the number of the GPU whose memory it is; less than 0: the host's


class Argument:
    """A tensor as a kiln_call_arg, with what it points at."""

    def __init__(self, view: View) -> None:
        numbers = ctypes.c_int64 * max(1, len(view.shape))
        self._keep = numbers(*view.shape), numbers(*view.strides), view.owner
        self.value = made = CallArg(data=view.data, marks=view.marks, dtype=view.dtype.code, rank=len(view.shape))
        made.extents, made.strides = self._keep[:2]
        made.kind, made.flags = _TENSOR, (_READ_ONLY if view.read_only else 0) | (view.gpu + 1) << _GPU_SHIFT


class Reinterpreted:
    """A tensor whose elements are taken for another type of the same size; see kiln.reinterpret."""

    def __init__(self, tensor: Any, dtype: DType) -> None:
        self.view = view_of("tensor", tensor, dtype)
        self._argument = Argument(self.view)
        self.__kiln_argument__ = bytes(self._argument.value)  # for the extension


@public
def reinterpret(tensor: Any, dtype: DType) -> Reinterpreted:
    """The same memory as elements of another type, for types that numpy or torch do not have: bytes as f8E4M3FN."""
    return Reinterpreted(tensor, dtype)


@public
class Adaptor:
    """A tensor with marks that say what the compiler may rely on; made by kiln.from_dlpack."""

    def __init__(self, handle: int, owner: Any = None, read_only: bool = False) -> None:
        self._handle = handle
        self._owner = owner
        self._flags = _READ_ONLY if read_only else 0
        self._marks: List[Tuple[Any, Tuple[Any, ...]]] = []
        destroy_with(self, _library.load().kiln_adaptor_destroy, handle)

    def mark_layout_dynamic(self, leading_dim: int = -1, divisibility: int = 1) -> Adaptor:
        """Strides are known per call only, but that of the leading dimension, which is 1, and multiples of `divisibility`."""
        return self._mark(True, _library.load().kiln_adaptor_mark_layout_dynamic, leading_dim, divisibility)

    def mark_static(self, *axes: int) -> Adaptor:
        """The extents of these axes, or of all, may be relied on."""
        numbers = (ctypes.c_int32 * max(1, len(axes)))(*axes)
        return self._mark(False, _library.load().kiln_adaptor_mark_static, len(axes), numbers)

    def _mark(self, replaces: bool, mark: Any, *how: Any) -> Adaptor:
        """Marks it. A mark that is refused changes nothing, where the library would remember the refusal until a call."""
        if mark(self._handle, *how) == 0:
            self._marks = [*(() if replaces else self._marks), (mark, how)]
            return self
        refusal = last_error()
        _library.load().kiln_adaptor_mark_layout_dynamic(self._handle, -1, 1)  # forgets everything
        for known, of in self._marks:
            known(self._handle, *of)
        raise mistake_of(refusal)

    def __repr__(self) -> str:
        view = self.view
        return f"<kiln adaptor: {view.dtype} of shape {view.shape}, strides {view.strides}{', marked' if view.marks else ''}>"

    def __reduce__(self) -> NoReturn:
        raise mistake("a tensor with marks cannot be copied or pickled; copy the tensor, and call kiln.from_dlpack again")

    @property
    def view(self) -> View:
        """What is passed to a program."""
        arg = self._argument()
        shape = tuple(arg.extents[: arg.rank])
        strides = tuple(arg.strides[: arg.rank]) if arg.strides else _row_major(shape)
        return View(arg.data, shape, strides, dtypes.BY_CODE[arg.dtype], bool(arg.flags & _READ_ONLY), self, arg.marks,
                    (arg.flags >> _GPU_SHIFT) - 1)

    @property
    def __kiln_argument__(self) -> bytes:
        """The same for the extension; lives as long as the adaptor."""
        return bytes(self._argument())

    def _argument(self) -> CallArg:
        arg = _library.load().kiln_adaptor_arg(self._handle)
        arg.flags |= self._flags
        return arg


@public
def from_dlpack(tensor: Any) -> Adaptor:
    """Any tensor with DLPack, to be marked: `kiln.from_dlpack(t).mark_layout_dynamic(1, 16)`.

    An array of numpy may be read-only, for parameters that are kl.In.
    """
    library = _library.load()
    _refuse_class("tensor", tensor)
    if getattr(tensor, "requires_grad", False):
        raise _needs_gradient("tensor")
    if _is_array(tensor):  # not by DLPack, in which numpy cannot say that an array is read-only
        return _adaptor_of_array(tensor)
    try:
        capsule = tensor.__dlpack__() if hasattr(tensor, "__dlpack__") else tensor
    except Exception as error:
        raise mistake(f"{type(tensor).__name__} offers no tensor through DLPack: {error}") from None
    python = ctypes.pythonapi
    python.PyCapsule_GetPointer.restype = ctypes.c_void_p
    python.PyCapsule_GetPointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
    python.PyCapsule_SetName.argtypes = [ctypes.py_object, ctypes.c_char_p]
    try:
        managed = python.PyCapsule_GetPointer(capsule, b"dltensor")
    except (ValueError, TypeError):
        raise mistake(f"{type(tensor).__name__} offers no tensor through DLPack") from None
    handle = library.kiln_adaptor_from_dlpack(managed)
    if not handle:
        raise mistake_of(last_error())
    python.PyCapsule_SetName(capsule, _USED)
    return Adaptor(handle)


def _adaptor_of_array(tensor: Any) -> Adaptor:
    view = view_of("tensor", tensor)
    rank = len(view.shape)
    numbers = ctypes.c_int64 * max(1, rank)
    handle = _library.load().kiln_adaptor_create(view.data, view.dtype.code, rank, numbers(*view.shape), numbers(*view.strides))
    if not handle:
        raise mistake_of(last_error())
    return Adaptor(handle, tensor, view.read_only)


_USED = b"used_dltensor"  # lives as long as the capsules it names


def last_error() -> str:
    return _library.load().kiln_jit_error().decode()


_ERROR = re.compile(r"(?:kiln: )?error: ")


def mistake_of(text: str) -> KilnError:
    """What the library says of a failure, at the user's line, without the word that begins it."""
    return mistake(_ERROR.sub("", text, count=1) if _ERROR.match(text) else text)


_WANTED = "it has to be a tensor of torch, of numpy or with __dlpack__"


def _refuse_class(name: str, tensor: Any) -> None:
    """A class has all the attributes of its objects."""
    if isinstance(tensor, type):
        raise mistake(f"argument '{name}' is the class {tensor.__qualname__}; {_WANTED}")


def _is_array(tensor: Any) -> bool:
    """Whether it is read as an array of numpy: it says where its elements are, and what."""
    return hasattr(tensor, "__array_interface__") and hasattr(getattr(tensor, "dtype", None), "itemsize")


def view_of(name: str, tensor: Any, dtype: Optional[DType] = None) -> View:
    """Reads a tensor of torch, of numpy, of kiln's own or with DLPack, whose elements may be taken for another type."""
    _refuse_class(name, tensor)
    if hasattr(tensor, "data_ptr"):
        view = _torch_view(name, tensor, dtype)
    elif _is_array(tensor):
        view = _numpy_view(name, tensor, dtype)
    elif isinstance(tensor, (Adaptor, Reinterpreted)):
        view = tensor.view
    elif hasattr(tensor, "__dlpack__"):
        view = from_dlpack(tensor).view
    else:
        raise mistake(f"argument '{name}' is {type(tensor).__name__}; {_WANTED}")
    if any(stride < 0 for stride in view.strides):
        raise mistake(f"argument '{name}' has a negative stride {view.strides}; pass a copy of it")
    if dtype is not None and view.dtype is not dtype:
        view = view._replace(dtype=_element_type(name, str(view.dtype), view.dtype.size, dtype))
    return view


def _element_type(name: str, called: str, size: int, wanted: Optional[DType]) -> DType:
    if wanted is not None:
        if wanted.size != size:
            raise mistake(f"argument '{name}' of {called} cannot be taken for {wanted}, which has {wanted.size} bytes")
        return wanted
    found = _ELEMENT_TYPES.get(called)
    if found is None:
        raise mistake(f"argument '{name}' has elements of {called}, which Kiln does not have")
    return found


def _needs_gradient(name: str) -> Exception:
    return mistake(f"argument '{name}' has requires_grad, but a program has no gradient; pass {name}.detach()")


def _torch_view(name: str, tensor: Any, dtype: Optional[DType]) -> View:
    if tensor.requires_grad:
        raise _needs_gradient(name)
    if tensor.device.type not in ("cpu", "cuda") or (tensor.device.index or 0) > _MAX_GPU:
        advice = "it has a shape, but no elements" if tensor.device.type == "meta" else f"pass {name}.cpu()"
        raise mistake(f"argument '{name}' lies on {tensor.device}; a program runs on the cpu or on a CUDA GPU; {advice}")
    gpu = -1 if tensor.device.type == "cpu" else tensor.device.index or 0
    if str(tensor.layout) != "torch.strided":
        raise mistake(f"argument '{name}' has the layout {tensor.layout}; pass {name}.to_dense()")
    if tensor.is_neg():
        raise mistake(f"argument '{name}' is to be negated, which torch has not done yet; pass {name}.resolve_neg()")
    called = str(tensor.dtype).partition(".")[2]
    element = _element_type(name, called, tensor.element_size(), dtype)
    return View(tensor.data_ptr(), tuple(tensor.shape), tuple(tensor.stride()), element, False, tensor, gpu=gpu)


def _numpy_view(name: str, tensor: Any, dtype: Optional[DType]) -> View:
    if hasattr(tensor, "mask"):
        raise mistake(f"argument '{name}' is a masked array, but a program reads every element; pass {name}.filled(0) or {name}.data")
    interface = tensor.__array_interface__
    address, read_only = interface["data"]
    shape = tuple(interface["shape"])
    size = tensor.dtype.itemsize
    if not tensor.dtype.isnative:
        raise mistake(f"argument '{name}' has elements in the byte order of another machine ({tensor.dtype.str})")
    element = _element_type(name, tensor.dtype.name, size, dtype)
    strides = interface["strides"]
    steps = _row_major(shape) if strides is None else tuple(each // size for each in strides)
    if strides is not None and any(each % size for each in strides):
        raise mistake(f"argument '{name}' has strides {tuple(strides)} that are no multiples of its elements of {size} bytes")
    return View(address, shape, steps, element, bool(read_only), tensor)


def _where(gpu: int) -> str:
    return "in the host's memory" if gpu < 0 else f"on GPU {gpu}"


def _row_major(shape: Sequence[int]) -> Tuple[int, ...]:
    strides, step = [], 1
    for extent in reversed(shape):
        strides.append(step)
        step *= extent
    return tuple(reversed(strides))


class Arguments:
    """The arguments of a call, in the order of the parameters. Keeps what they point at."""

    def __init__(self, program: str, parameters: Dict[str, Annotation], given: Sequence[Any]) -> None:
        if len(given) != len(parameters):
            raise mistake(
                f"{program} takes {counted(len(parameters), 'argument')} ({', '.join(parameters)}), "
                f"but {counted(len(given), 'is', 'are')} given"
            )
        self.count = len(given)
        self.gpu = -1  # the number of the GPU that the tensors are on; less than 0: none
        self.first = ""  # the name of the first tensor
        self._is_torch = False
        self.array = (CallArg * max(1, self.count))()
        self._keep: List[Any] = []
        for index, ((name, annotation), value) in enumerate(zip(parameters.items(), given)):
            if isinstance(annotation, TensorType):
                argument = self._tensor(name, annotation, value)
                self._place(name, argument, value)
                self.array[index] = argument.value
                self._keep.append(argument)
            else:
                self._scalar(self.array[index], name, annotation, value)

    def _place(self, name: str, argument: Argument, tensor: Any) -> None:
        """Notes where a tensor is: all are in one memory."""
        gpu = (argument.value.flags >> _GPU_SHIFT) - 1
        if self._keep and gpu != self.gpu:
            raise mistake(f"argument '{name}' is {_where(gpu)}, and those before it are {_where(self.gpu)}; all have to be in one memory")
        self.gpu, self.first = gpu, self.first or name
        self._is_torch = self._is_torch or hasattr(tensor, "data_ptr")

    @property
    def stream(self) -> int:
        """On which stream the program is launched: where torch works at the moment. Others work on the default one."""
        if self.gpu < 0 or not self._is_torch:
            return 0
        import torch

        return torch.cuda.current_stream(self.gpu).cuda_stream

    @staticmethod
    def _tensor(name: str, annotation: TensorType, value: Any) -> Argument:
        view = view_of(name, value)
        if view.read_only and annotation.access != "in":
            raise mistake(f"argument '{name}' is read-only, but the program writes it")
        return Argument(view)

    @staticmethod
    def _scalar(made: CallArg, name: str, annotation: Annotation, value: Any) -> None:
        dtype = annotation.dtype if isinstance(annotation, ScalarType) else dtypes.index
        wants_float = dtype.name[0] in "fb"
        try:
            number = value.__float__() if wants_float else value.__index__()
        except (TypeError, ValueError, AttributeError):
            wanted = "a number" if wants_float else "an integer"
            raise mistake(f"argument '{name}' is {type(value).__name__}; it has to be {wanted}") from None
        except OverflowError:
            raise mistake(f"argument '{name}' is {_shown(value)}, which is too large for {dtype}") from None
        if wants_float:
            made.kind, made.value.real = _REAL, number
            return
        first, last = _range_of(dtype)
        if not first <= number <= last:
            raise mistake(f"argument '{name}' is {_shown(number)}, but {dtype} goes from {first} to {last}")
        made.kind, made.value.integer = _INTEGER, number


def _range_of(dtype: DType) -> Tuple[int, int]:
    """The smallest and the largest number of a type of integers."""
    if dtype is dtypes.i1:
        return 0, 1
    half = 1 << (8 * dtype.size - 1)
    return -half, half - 1


def _shown(number: Any) -> str:
    """An integer for a message; Python refuses to print what is very long."""
    size = getattr(number, "bit_length", lambda: 0)()
    return f"an integer of {size} bits" if size > 256 else str(number)
