"""Functions of a program that are written in place: kernels, groups, roles and `spmd`.

Each is a decorator that records the function where it stands. Its name then stands for the kernel, or the task.
"""
from __future__ import annotations

import dis
import inspect
import types
from typing import Any, Callable, Dict, Optional, Sequence, Tuple

from ._errors import KilnError, Place, counted, here, mistake, public
from ._record import active
from ._signature import FunctionBegin, parameters_of
from ._values import Task, apply, values_of

Body = Callable[..., Any]


@public
class Kernel:
    """A kernel or a group. Calling it launches it, with tensors, indices, scalars and numbers in the order of its parameters."""

    def __init__(self, name: str, parameters: Tuple[str, ...]) -> None:
        self.name = name
        self.parameters = parameters

    def __call__(
        self,
        *arguments: Any,
        grid: Any = (),
        deps: Sequence[Task] = (),
        sync_start: bool = False,
        predicate: Any = None,
        **named: Any,
    ) -> Task:
        """Launches it; see kl.submit. Arguments may be given by name, too."""
        return submit(self, self._in_order(arguments, named) if named else arguments, grid, deps, sync_start, predicate)

    def _in_order(self, arguments: Sequence[Any], named: Dict[str, Any]) -> Sequence[Any]:
        for name in named:
            if name not in self.parameters:
                raise mistake(f"{self.name} has no parameter '{name}'; it has {', '.join(self.parameters)}")
            if name in self.parameters[: len(arguments)]:
                raise mistake(f"{self.name} is given '{name}' twice: in its place, and by name")
        missing = [name for name in self.parameters[len(arguments) :] if name not in named]
        if missing:
            raise mistake(f"{self.name} is given no '{missing[0]}'")
        return [*arguments, *(named[name] for name in self.parameters[len(arguments) :])]

    def __kiln_item__(self) -> str:
        return self.name

    def __repr__(self) -> str:
        return f"<kernel {self.name}({', '.join(self.parameters)})>"


class Group:
    """Some of the ranks: those that differ from this one along one axis of a mesh."""

    def __init__(self, axis: int, extents: Tuple[int, ...], names: Tuple[str, ...]) -> None:
        self.axis, self.extents, self.names = axis, extents, names

    def __kiln_item__(self) -> Tuple[Any, ...]:
        return self.axis, self.extents, self.names

    def __repr__(self) -> str:
        return f"<the ranks along {self.names[self.axis]} of {dict(zip(self.names, self.extents))}>"


@public
class Mesh:
    """All ranks, counted row-major, as a box of so many axes."""

    def __init__(self, extents: Sequence[int], names: Sequence[str]) -> None:
        if len(extents) != len(names):
            raise mistake(f"a mesh has one name for each axis; there are {len(extents)} extents and {len(names)} names")
        self.extents, self.names = tuple(extents), tuple(names)

    def ranks_along(self, axis: str) -> Group:
        """The ranks that have this one's place along every other axis."""
        if axis not in self.names:
            raise mistake(f"the mesh has no axis {axis!r}; it has {', '.join(self.names)}")
        return Group(self.names.index(axis), self.extents, self.names)


@public
def mesh(extents: Sequence[int], names: Sequence[str]) -> Mesh:
    """All ranks as a box: `kl.mesh((2, 4), ("data", "tensor"))`. One extent may be -1: as many as there are ranks for."""
    return Mesh(extents, names)


@public
def submit(
    kernel: Kernel,
    arguments: Sequence[Any],
    grid: Any = (),
    deps: Sequence[Task] = (),
    sync_start: bool = False,
    predicate: Any = None,
) -> Task:
    """Launches a kernel or group.

    grid: how many blocks, in up to three dimensions; one block if it is left out.
    deps: tasks to wait for, besides what the tensors imply.
    sync_start: all blocks at once.
    predicate: the task runs only if this holds when its turn comes, such as `flags[0] > 0`.
    """
    if not isinstance(kernel, Kernel):
        raise mistake("submit launches a function with @kl.kernel or @kl.group; an spmd function is launched where it stands")
    if len(arguments) != len(kernel.parameters):
        raise mistake(
            f"{kernel.name} has {counted(len(kernel.parameters), 'parameter')} ({', '.join(kernel.parameters)}), but "
            f"{counted(len(arguments), 'argument is', 'arguments are')} given"
        )
    return apply("submit", kernel, tuple(arguments), as_list(grid), as_list(deps), sync_start, predicate)


def as_list(x: Any) -> Tuple[Any, ...]:
    """Several things, or one."""
    from ._values import Shape

    return tuple(x) if isinstance(x, (tuple, list, Shape)) else (x,)


def _place_of(body: Body) -> Place:
    """The line of the `def`, which is that of the name."""
    return Place(body.__code__.co_filename, body.__code__.co_firstlineno)


def _refuse_itself(body: Body) -> None:
    """A function that is recorded where it stands has no name yet for its own body to use."""
    name = body.__name__
    cells = dict(zip(body.__code__.co_freevars, body.__closure__ or ()))
    if name not in cells:
        return
    try:
        cells[name].cell_contents
    except ValueError:  # it is empty
        line = _first_line_with(body.__code__, name)
        raise KilnError(
            f"{name} calls itself: it is recorded once, where it stands, and no kernel launches another; write a loop, or "
            "a function with @kl.function that calls itself on what is known while recording",
            Place(body.__code__.co_filename, line or body.__code__.co_firstlineno),
        ) from None


def _first_line_with(code: types.CodeType, name: str) -> int:
    """The first line of a function that uses a name of the function around it; 0: none."""
    line, found = code.co_firstlineno, []
    for each in dis.get_instructions(code):
        line = getattr(each, "line_number", None) or (each.starts_line if type(each.starts_line) is int else None) or line
        if each.argval == name and each.opname.startswith("LOAD_"):
            found.append(line)
    found += [_first_line_with(each, name) for each in code.co_consts if isinstance(each, types.CodeType)]
    return min(filter(None, found), default=0)


def _run(body: Body, *arguments: Any) -> None:
    """Records what the function does."""
    try:
        returned = body(*arguments)
    except BaseException:
        active(body.__name__).leave(body.__name__)
        raise
    if returned is not None:
        raise KilnError(
            f"{body.__name__} returns a value, but a kernel has no results: it stores tiles into tensors with kl.store", _place_of(body)
        )


def _record_function(kind: str, body: Body, options: Sequence[Any]) -> Kernel:
    place = _place_of(body)
    _refuse_itself(body)
    recorder = active(f"@kl.{'kernel' if kind == 'incore' else kind}")
    parameters = parameters_of(body, place)
    begin = FunctionBegin(recorder, kind, body.__name__, parameters, options, place)
    recorder.begin_later(begin.begin)
    _run(body, *begin.arguments)
    recorder.record("function.end", (), place)
    return Kernel(body.__name__, tuple(parameters))


def _decorator(record: Callable[[Body], Any], body: Optional[Body]) -> Any:
    """For decorators that are written with or without parentheses."""
    return public(record) if body is None else record(body)


@public
def kernel(
    body: Optional[Body] = None,
    *,
    split: Optional[str] = None,
    lanes: int = 0,
    slots: int = 0,
    stages: int = 0,
) -> Any:
    """A kernel whose roles the compiler chooses: `@kl.kernel` or `@kl.kernel(stages=2)`. The name becomes a Kernel to launch.

    split: how the lanes of a role share the work ("none", "up_down", "left_right"); the compiler chooses if it is left out.
    lanes: how many lanes share it; 0: as many as there are.
    slots: of each pipe between the roles; 0: the machine's default.
    stages: of the loops that say nothing of their own.
    """
    return _decorator(lambda given: _record_function("incore", given, (split, lanes, slots, stages)), body)


@public
def group(body: Optional[Body] = None, *, lanes: int = 0) -> Any:
    """The roles that run together on one core group: `@kl.group` or `@kl.group(lanes=2)`. Makes pipes and roles in its body.

    lanes: of the role that can have them; 0: two if a pipe has a split, else one.
    """
    return _decorator(lambda given: _record_function("group", given, (None, lanes)), body)


@public
def role(name: str) -> Callable[[Body], None]:
    """What one role of a group does: `@kl.role(kl.aic)`. Sees the tensors and pipes of the group."""

    @public
    def record(body: Body) -> None:
        place = _place_of(body)
        _refuse_itself(body)
        recorder = active("@kl.role")
        recorder.record("role.begin", (body.__name__, name), place)
        _run(body)
        recorder.record("role.end", (), place)

    if callable(name):
        raise mistake("a role says which one it is: @kl.role(kl.aic)")
    return record


@public
def spmd(
    *grid: Any,
    name: Optional[str] = None,
    split: Optional[str] = None,
    lanes: int = 0,
    slots: int = 0,
    stages: int = 0,
    deps: Sequence[Task] = (),
    sync_start: bool = False,
    predicate: Any = None,
) -> Callable[[Body], Task]:
    """A kernel that is launched where it stands, over a grid of one to three dimensions.

        @kl.spmd(kl.ceildiv(m, 64), kl.ceildiv(n, 64))
        def add(bi, bj): ...

    The function takes one block index for each dimension; its name becomes the task. The options are those of kl.kernel and
    kl.submit; `name` is for a name that is computed.
    """
    if len(grid) == 1:
        grid = as_list(grid[0])
    if any(callable(each) for each in grid) or not grid:
        raise mistake("spmd takes the extents of a grid: @kl.spmd(n) or @kl.spmd(m, n)")
    place = here()

    @public
    def record(body: Body) -> Task:
        _refuse_itself(body)
        signature = inspect.signature(body)
        try:
            signature.bind(*grid)
        except TypeError:
            raise KilnError(
                f"{body.__name__} takes {counted(len(signature.parameters), 'block index', 'block indices')}, but its grid has "
                f"{counted(len(grid), 'dimension')}",
                _place_of(body),
            ) from None
        recorder = active("@kl.spmd")
        options = (split, lanes, slots, stages, as_list(deps), sync_start, predicate)
        made = values_of(recorder, recorder.record("spmd.begin", (name or body.__name__, grid, *options), place))
        _run(body, *made[: len(grid)])
        recorder.record("spmd.end", (), place)
        return made[len(grid)]

    return record


@public
class scope:
    """A block, in a `with` statement: what is allocated in it ends with it.

    manual: no order is inferred among the tasks of the block; `deps` state it.
    """

    def __init__(self, *, manual: bool = False) -> None:
        self.manual = manual

    def __enter__(self) -> None:
        active("kl.scope")
        apply("scope.begin", self.manual)

    def __exit__(self, kind: Any, *_: Any) -> None:
        if kind is None:
            apply("scope.end")
        else:
            active("kl.scope").leave("a scope")
