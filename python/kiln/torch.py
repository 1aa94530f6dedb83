"""Programs as operators of torch, so that models call them like any other and torch.compile keeps its graph whole.

    import kiln.torch

    matmul_op = kiln.torch.register("mylib::matmul", matmul, lambda a, b: (a.shape[0], b.shape[1]))
    c = torch.ops.mylib.matmul(a, b)  # or matmul_op(a, b)

It needs torch 1.13 or newer; torch.compile came with torch 2.0.
"""
from __future__ import annotations

import inspect
import os
import re
from typing import Any, Callable, Dict, List, Optional, Sequence

from ._errors import add_caller, entry_at, here, mistake, public
from ._program import Program
from ._signature import Annotation, ScalarType, TensorType
from .dtypes import DType

try:
    import torch
    import torch.library
except ImportError:
    raise ImportError("kiln.torch needs torch, 1.13 or newer, which is not installed") from None

add_caller(os.path.dirname(os.path.abspath(torch.__file__)) + os.sep)

Shape = Callable[..., Sequence[Any]]

# What torch calls the element types.
_TORCH_NAMES = {
    "f32": "float32", "f16": "float16", "bf16": "bfloat16", "f8E4M3FN": "float8_e4m3fn", "f8E5M2": "float8_e5m2",
    "i8": "int8", "i16": "int16", "i32": "int32", "i64": "int64", "i1": "bool",
}  # fmt: skip

_IS_OLD = int(torch.__version__.split(".")[0]) < 2
_libraries: Dict[str, Any] = {}  # by namespace; an operator lives as long as its library


class _Operator:
    """How a program appears in torch: its schema, what runs it, and what says the shapes of its results."""

    def __init__(self, program: Program, shape: Optional[Shape]) -> None:
        self.program = program
        self.shape = shape
        self.parameters: Dict[str, Annotation] = program.parameters
        self.results = [name for name, each in self.parameters.items() if shape and _access(each) == "out"]
        self.arguments = [name for name in self.parameters if name not in self.results]
        if shape and not self.results:
            raise mistake(f"{program.__name__} has no parameter that is kl.Out, so it has no results whose shape could be said")
        if shape:
            self._check_parameters(shape)

    def _check_parameters(self, shape: Shape) -> None:
        """The shape function takes what the operator takes."""
        try:
            inspect.signature(shape).bind(*self.arguments)
        except TypeError as error:
            raise mistake(
                f"the shape function of {self.program.__name__} is called with the operator's {len(self.arguments)} arguments "
                f"({', '.join(self.arguments)}), which it does not take: {error}"
            ) from None
        except ValueError:
            pass  # a function of C, which does not say what it takes

    def schema(self, name: str) -> str:
        """The operator's type in torch's words: `matmul(Tensor a, Tensor b) -> Tensor`."""
        written = iter("abcdefghijklmnopqrstuvwxyz")
        arguments = ", ".join(f"{_schema_type(self.parameters[each], written)} {each}" for each in self.arguments)
        results = "Tensor" if len(self.results) == 1 else f"({', '.join(['Tensor'] * len(self.results))})"
        return f"{name}({arguments}) -> {results}"

    def run(self, *given: Any) -> Any:
        """Makes the results and calls the program."""
        made = self.make_results(*given)
        values = {**dict(zip(self.arguments, given)), **dict(zip(self.results, made))}
        self.program(*(values[name] for name in self.parameters))
        return _as_result(made)

    def shapes_only(self, *given: Any) -> Any:
        """What torch.compile and tensors without memory see."""
        return _as_result(self.make_results(*given))

    def make_results(self, *given: Any) -> List[Any]:
        if self.shape is None:
            return []
        said = self.shape(*given)
        try:
            shapes = [tuple(each) for each in ([said] if len(self.results) == 1 else said)]
        except TypeError:
            wanted = "a shape" if len(self.results) == 1 else f"{len(self.results)} shapes"
            raise mistake(f"the shape function of {self.program.__name__} gives {said!r}, but has to give {wanted}") from None
        if len(shapes) != len(self.results):
            raise mistake(
                f"the shape function of {self.program.__name__} says {len(shapes)} shapes, but there are {len(self.results)} "
                f"results ({', '.join(self.results)})"
            )
        device = next((each.device for each in given if isinstance(each, torch.Tensor)), None)
        return [
            torch.empty(each, dtype=_torch_dtype(self.parameters[name].dtype), device=device)  # type: ignore[union-attr]
            for name, each in zip(self.results, shapes)
        ]


def _access(annotation: Annotation) -> str:
    return annotation.access if isinstance(annotation, TensorType) else ""


def _schema_type(annotation: Annotation, written: Any) -> str:
    if isinstance(annotation, TensorType):
        return "Tensor" if annotation.access == "in" else f"Tensor({next(written)}!)"
    return "float" if isinstance(annotation, ScalarType) and annotation.dtype.name[0] in "fb" else "int"


def _torch_dtype(dtype: DType) -> Any:
    found = getattr(torch, _TORCH_NAMES[dtype.name], None)
    if found is None:
        raise mistake(f"torch {torch.__version__} has no element type {dtype}")
    return found


def _as_result(made: List[Any]) -> Any:
    return None if not made else made[0] if len(made) == 1 else tuple(made)


def _library_of(namespace: str) -> Any:
    if namespace not in _libraries:
        # Once a namespace belonged to one library.
        _libraries[namespace] = torch.library.Library(namespace, "DEF" if _IS_OLD else "FRAGMENT")
    return _libraries[namespace]


@public
def register(name: str, program: Program, shape: Optional[Shape] = None) -> Any:
    """Makes an operator of torch that runs a program, and gives it: `torch.ops.lib.name`.

    name: "lib::name".
    shape: a function of the operator's arguments that says the shape of its result, or a tuple of several. The operator makes
        the tensors of the parameters that are kl.Out and gives them back. Without it, the operator is called like the program,
        with all its tensors, writes into them and gives nothing.

    It has no gradient: a tensor with requires_grad is refused.
    """
    if not isinstance(program, Program):
        raise mistake(f"kiln.torch.register takes a program, not {type(program).__name__}; decorate it with @kiln.program")
    if not re.fullmatch(r"[A-Za-z_]\w*::[A-Za-z_]\w*", name):
        raise mistake(f'the name of an operator is "library::name", not {name!r}')
    namespace, _, short = name.partition("::")
    operator = _Operator(program, shape)
    library = _library_of(namespace)
    try:
        library.define(operator.schema(short))
    except RuntimeError as error:
        raise mistake(f"torch does not take the operator {name}: {str(error).splitlines()[0]}") from None
    # Functions at the line of the user's that registers them, so that torch's calls show no frames of Kiln's.
    run, shapes_only = (entry_at(here(), short, each) for each in (operator.run, operator.shapes_only))
    library.impl(short, run, "CompositeExplicitAutograd")
    if hasattr(torch.library, "register_fake"):
        torch.library.register_fake(name, shapes_only, lib=library)
    else:
        for key in ("Meta", "AutogradMeta") if _IS_OLD else ("Meta",):
            library.impl(short, shapes_only, key)
    return getattr(getattr(torch.ops, namespace), short)
