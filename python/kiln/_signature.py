"""What the parameters of a program, a kernel or a group are: `x: kl.In[f32]`, `s: kl.Scalar[f32]`, `n: kl.Index`."""
from __future__ import annotations

import inspect
from typing import Any, Callable, Dict, List, Sequence, Tuple, Union

from . import dtypes
from ._errors import Place, here, mistake, public
from ._params import Param
from ._record import Recorder
from ._values import Index, Scalar, Tensor, Value
from .dtypes import DType

dyn = -1
"""An extent that is known at run time only."""

MAX_RANK = 5


class Refused:
    """A type that there is not. Whoever has a parameter of it is told so, as of any mistake in it: when the function is used."""

    def __init__(self, message: str) -> None:
        self.message = message
        self.place = here()


_ACCESS_NAMES = {"in": "In", "out": "Out", "inout": "InOut"}


class TensorType:
    """The type of a tensor parameter, such as `kl.In[f32]`."""

    def __init__(self, access: str, dtype: DType, extents: Tuple[int, ...]) -> None:
        self.access = access
        self.dtype = dtype
        self.extents = extents

    @property
    def rank(self) -> int:
        return len(self.extents)

    def __repr__(self) -> str:
        of = f", {self.rank}" if self.rank != 2 else ""
        if any(each != dyn for each in self.extents):
            of = ", " + repr(self.extents).replace(repr(dyn), "kl.dyn")
        return f"kl.{_ACCESS_NAMES[self.access]}[{self.dtype}{of}]"


class ScalarType:
    """The type of a scalar parameter, such as `kl.Scalar[f32]`."""

    def __init__(self, dtype: DType) -> None:
        self.dtype = dtype

    def __repr__(self) -> str:
        return f"kl.Scalar[{self.dtype}]"


def scalar_type(dtype: Any) -> Union[ScalarType, Refused]:
    """What kl.Scalar[dtype] is."""
    if not isinstance(dtype, DType):
        return Refused(f"kl.Scalar[{_name_of(dtype)}]: a scalar has an element type of Kiln's, such as f32")
    return ScalarType(dtype)


def _name_of(what: Any) -> str:
    return what.__qualname__ if isinstance(what, type) else repr(what)


class _TensorOf(Tensor):
    """What In, Out and InOut have in common."""

    __slots__ = ()
    _access = ""

    def __class_getitem__(cls, of: Any) -> Union[TensorType, Refused]:
        dtype, what = of if isinstance(of, tuple) and len(of) == 2 else (of, 2)
        if not isinstance(dtype, DType):
            return Refused(f"kl.{cls.__name__}[{_name_of(dtype)}]: a tensor has an element type of Kiln's, such as f32")
        if not isinstance(what, int) and not (isinstance(what, (tuple, list)) and all(isinstance(each, int) for each in what)):
            return Refused(f"kl.{cls.__name__}[{dtype}, {_name_of(what)}]: what follows is a rank, or a tuple of extents and kl.dyn")
        extents = (dyn,) * what if isinstance(what, int) else tuple(what)
        if not 1 <= len(extents) <= MAX_RANK:
            return Refused(f"kl.{cls.__name__}[{dtype}, {what}]: ranks go from 1 to {MAX_RANK}")
        if any(each < 0 and each != dyn for each in extents):
            return Refused(f"kl.{cls.__name__}[{dtype}, {what}]: an extent is not negative; kl.dyn is one of any size")
        return TensorType(cls._access, dtype, extents)


class In(_TensorOf):
    """A tensor that is read: `kl.In[f32]` has rank 2, `kl.In[f32, 3]` rank 3, `kl.In[f32, (dyn, 64)]` these extents."""

    __slots__ = ()
    _access = "in"


class Out(_TensorOf):
    """A tensor of which every element is written, and none is read before."""

    __slots__ = ()
    _access = "out"


class InOut(_TensorOf):
    """A tensor whose values count before and after."""

    __slots__ = ()
    _access = "inout"


Annotation = Union[TensorType, ScalarType, type]


def parameters_of(function: Callable[..., Any], place: Place) -> Dict[str, Annotation]:
    """The parameters of a function that are values of the program, with their types."""
    cells = _known_cells(function)
    try:
        annotations = inspect.get_annotations(function, eval_str=True, locals={**cells})
    except Exception as error:
        advice = ""
        if isinstance(error, NameError) and any(isinstance(each, str) for each in function.__annotations__.values()):
            advice = (
                "; with `from __future__ import annotations` they are text, for which Python keeps the names of the module and those "
                "that the body uses: leave the import out, or use the name in the body too"
            )
        raise mistake(f"the types of the parameters of {function.__name__} cannot be read: {error}{advice}", place) from None
    found: Dict[str, Annotation] = {}
    for name, parameter in inspect.signature(function).parameters.items():
        if parameter.kind is parameter.KEYWORD_ONLY:
            continue
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            raise mistake(f"{function.__name__} takes *{name}, but a program has parameters with names", place)
        annotation = annotations.get(name)
        if isinstance(annotation, Refused):
            raise mistake(annotation.message, annotation.place)
        if isinstance(parameter.default, Param):
            raise mistake(
                f"parameter '{name}' of {function.__name__} is chosen when the program is recorded, so it is a keyword parameter: "
                f"write `*, {name}=...` behind the tensors and numbers of a call", place
            )
        if not isinstance(annotation, (TensorType, ScalarType)) and annotation is not Index:
            raise mistake(_untyped(function.__name__, name, annotation), place)
        if parameter.default is not parameter.empty:
            raise mistake(f"parameter '{name}' of {function.__name__} has a default; only keyword parameters do", place)
        found[name] = annotation
    return found


def _known_cells(function: Callable[..., Any]) -> Dict[str, Any]:
    """The variables around a function that have a value yet."""
    known = {}
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or ()):
        try:
            known[name] = cell.cell_contents
        except ValueError:  # it is empty
            pass
    return known


def _untyped(function: str, name: str, annotation: Any) -> str:
    if annotation in (In, Out, InOut):
        return f"parameter '{name}' of {function}: write kl.{annotation.__name__}[f32] with its element type"
    if annotation is Scalar:
        return f"parameter '{name}' of {function}: write kl.Scalar[f32] with its element type"
    has = "has no type" if annotation is None else f"is {annotation!r}"
    return f"parameter '{name}' of {function} {has}; write kl.In[f32], kl.Out[f32], kl.InOut[f32], kl.Scalar[f32] or kl.Index"


class FunctionBegin:
    """A function that is about to be recorded: its arguments exist, and its first lines may state extents."""

    def __init__(
        self,
        recorder: Recorder,
        kind: str,
        name: str,
        parameters: Dict[str, Annotation],
        options: Sequence[Any],
        place: Place,
    ) -> None:
        self.recorder = recorder
        self.header = (kind, name)
        self.parameters = parameters
        self.options = options
        self.place = place
        self.extents: Dict[str, Tuple[int, ...]] = {}
        self.arguments: List[Value] = [self._argument(*each) for each in parameters.items()]
        self.is_begun = False

    def _argument(self, name: str, annotation: Annotation) -> Value:
        if isinstance(annotation, TensorType):
            self.extents[name] = annotation.extents
            tensor = Tensor(None, self.recorder, annotation.dtype, annotation.rank, name)
            tensor._begin = self
            return tensor
        if isinstance(annotation, ScalarType):
            return Scalar(None, self.recorder, annotation.dtype)
        return Index(None, self.recorder)

    def begin(self) -> None:
        """Records the head of the function; the arguments get their values."""
        self.is_begun = True
        specs = [self._spec(*each) for each in self.parameters.items()]
        made = self.recorder.record("function.begin", (*self.header, specs, *self.options), self.place)
        for argument, result in zip(self.arguments, made):
            argument._number = result.number

    def _spec(self, name: str, annotation: Annotation) -> Tuple[Any, ...]:
        if isinstance(annotation, TensorType):
            extents = self.extents[name]
            return (name, annotation.access, annotation.dtype, len(extents), extents)
        if isinstance(annotation, ScalarType):
            return (name, "scalar", annotation.dtype, 0, ())
        return (name, "index", dtypes.index, 0, ())


@public
def extents(tensor: Tensor, *shape: int) -> None:
    """States the extents of a parameter, `dyn` for one that is known at run time only. Stands first in the body."""
    begin = tensor._begin if isinstance(tensor, Tensor) else None
    if begin is None:
        raise mistake("kl.extents states those of a parameter of the function it stands in")
    if begin.is_begun:
        raise mistake("kl.extents stands first in the body, before anything else is recorded")
    if len(shape) != tensor.rank:
        raise mistake(f"{tensor.name} has rank {tensor.rank}, but {len(shape)} extents are stated")
    for extent in shape:
        if isinstance(extent, Value) or not hasattr(type(extent), "__index__"):
            raise mistake(f"an extent of {tensor.name} is an integer that is known now, or kl.dyn, not {extent!r}")
    begin.extents[tensor.name] = tuple(shape)
