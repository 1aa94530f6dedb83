"""Rewrites a function so that its loops, branches and truth values can be the program's.

The statements stay where they are, so that lines, local names, closures and the debugger survive. `for x in xs: ...` becomes

    loop = kiln.For(xs, locals(), ("acc",))
    for x in loop:
        if loop.recording: acc, = loop.carried
        ...
        if loop.recording: loop.end(locals())
    if loop.recording: acc, = loop.results

with the names that are bound in the body and read in the next iteration or after the loop. `while` and `if` are alike; `and`,
`or`, `not`, conditional expressions and chains of comparisons become calls. What these do is in _control.py.
"""
from __future__ import annotations

import ast
import builtins
import inspect
import sys
import types
from typing import Any, Callable, Dict, List, NamedTuple, Optional, Sequence, Set, Union

from . import _control, _liveness
from ._errors import KilnError, Place, mistake
from ._liveness import FUNCTIONS, Function, bound, children, live_before, live_in_loop, read, walk

# Names of the rewritten code that cannot be the user's.
_RUNTIME, _LOCALS, _FACTORY = "__kiln__", "__kiln_locals__", "__kiln_factory__"
# What is known of a value while recording, so that a test of it is Python's.
_KNOWN_ATTRIBUTES = {"rows", "cols", "dtype", "rank", "name"}
_DEFERRED = (ast.NamedExpr, ast.Yield, ast.YieldFrom, ast.Await)


def _load(name: str) -> ast.Name:
    return ast.Name(name, ast.Load())


def _attribute(owner: str, name: str) -> ast.Attribute:
    return ast.Attribute(_load(owner), name, ast.Load())


def _call(owner: str, name: str, *arguments: ast.expr) -> ast.Call:
    return ast.Call(_attribute(owner, name), list(arguments), [])


def _names(names: Sequence[str]) -> ast.expr:
    return ast.Tuple([ast.Constant(name) for name in names], ast.Load())


def _locals() -> ast.expr:
    return ast.Call(_load(_LOCALS), [], [])


def _store(names: Sequence[str], value: ast.expr) -> ast.stmt:
    return ast.Assign([ast.Tuple([ast.Name(name, ast.Store()) for name in names], ast.Store())], value)


def _when(owner: str, what: str, *body: ast.stmt) -> ast.stmt:
    return ast.If(_attribute(owner, what), list(body), [])


def _later(value: ast.expr) -> ast.expr:
    nothing = ast.arguments(posonlyargs=[], args=[], kwonlyargs=[], kw_defaults=[], defaults=[])
    return ast.Lambda(nothing, value)


def _cannot_wait(nodes: Sequence[ast.AST]) -> bool:
    """Whether something in these nodes would mean something else inside a lambda."""
    return any(isinstance(inner, _DEFERRED) for node in nodes for inner in walk(node))


class _Expressions(ast.NodeTransformer):
    """Rewrites the truth values of an expression, down to the lambdas in it."""

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.expr:
        self.generic_visit(node)
        if _cannot_wait(node.values[1:]):
            return node
        name = "and_" if isinstance(node.op, ast.And) else "or_"
        return _at(node, _call(_RUNTIME, name, node.values[0], *map(_later, node.values[1:])))

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.expr:
        self.generic_visit(node)
        return _at(node, _call(_RUNTIME, "not_", node.operand)) if isinstance(node.op, ast.Not) else node

    def visit_IfExp(self, node: ast.IfExp) -> ast.expr:
        self.generic_visit(node)
        if _cannot_wait([node.body, node.orelse]):
            return node
        return _at(node, _call(_RUNTIME, "choose", node.test, _later(node.body), _later(node.orelse)))

    def visit_Compare(self, node: ast.Compare) -> ast.expr:
        self.generic_visit(node)
        if len(node.ops) < 2 or _cannot_wait(node.comparators):
            return node
        rest = [
            ast.Tuple([ast.Constant(type(sign).__name__), _later(value)], ast.Load())
            for sign, value in zip(node.ops, node.comparators)
        ]
        return _at(node, _call(_RUNTIME, "chain", node.left, *rest))


def _at(place: ast.AST, made: Any) -> Any:
    """Gives a made node, and what was made inside it, the place of another."""
    pending = [made]
    while pending:
        node = pending.pop()
        if hasattr(node, "lineno"):
            continue  # the user's, or it has been here before; so has what is in it
        if "lineno" in node._attributes:
            ast.copy_location(node, place)
            if node.end_lineno != node.lineno:  # of a statement with a body, its beginning
                node.end_lineno, node.end_col_offset = node.lineno, node.col_offset + 1
        pending += children(node)
    return made


class _Scope:
    """Rewrites the statements of one function."""

    def __init__(self, function: Function, outer: Set[str], file: str) -> None:
        self.function = function
        self.file = file
        self.globals = _liveness.declared_global(function)
        # Carried values are in the order in which the function first names them.
        names = [*_liveness.parameters(function.args), *bound(function.body)]
        self.order = {name: None for name in names if name not in self.globals}
        self.outer = outer | set(self.order)
        self.captured = _liveness.captured_later(function)
        self.shared = _liveness.changed_by_inner(function)
        self.constructs: List[str] = []  # the loops and branches around the statement at hand
        self.branches: List[str] = []  # the branches among them
        self.inner: List[Set[str]] = []  # the names that each of them binds
        self.loops: List[int] = []  # which of them are Python's loops
        self.count = 0

    def rewrite(self) -> None:
        self.function.body = self.block(self.function.body, set())

    def block(self, statements: Sequence[ast.stmt], after: Set[str]) -> List[ast.stmt]:
        made: List[ast.stmt] = []
        for statement, live in zip(statements, _liveness.live_after_each(statements, after)):
            made += [_at(statement, each) for each in self.statement(statement, live | self.captured)]
        return made

    def statement(self, node: ast.stmt, after: Set[str]) -> List[ast.stmt]:
        rewrite = getattr(self, "rewrite_" + type(node).__name__, None)
        if rewrite is not None:
            return [*self.changes(node), *rewrite(node, after)]
        if isinstance(node, (ast.Return, ast.Break, ast.Continue)):
            return self.leave(node)
        failing = [ast.Expr(_call(self.branches[-1], "fail"))] if isinstance(node, ast.Raise) and self.branches else []
        for field, value in ast.iter_fields(node):
            if isinstance(value, list) and value and isinstance(value[0], ast.stmt):
                # What an exception leads to is not followed: everything counts as read.
                inside = after if isinstance(node, (ast.With, ast.AsyncWith)) else after | read(node)
                setattr(node, field, self.block(value, inside))
            elif isinstance(value, list):
                setattr(node, field, [self.part(each, after, node) for each in value])
            elif isinstance(value, ast.AST):
                setattr(node, field, self.part(value, after, node))
        return [*self.changes(node), *failing, node]

    def changes(self, node: ast.stmt) -> List[ast.stmt]:
        """Before changes of objects and global variables: refused where a recorded loop or branch changes what is outside."""
        checks: List[ast.stmt] = []
        for target in _liveness.targets_of(node):
            owner = _liveness.owner_of(target)
            is_global = owner in self.globals
            if isinstance(target, ast.Name) and not is_global:
                continue
            for name, own in zip(self.constructs, self.inner):
                if owner is not None and (is_global or owner not in own):
                    what = ast.Constant(f"`{ast.unparse(target)}`")
                    checks.append(_at(target, ast.Expr(_call(name, "change", what))))
        return checks

    def changed(self, *statements: ast.stmt) -> Set[str]:
        """The names that statements bind, themselves or through functions of this one that they may call."""
        return set(bound(statements)) | self.shared

    def part(self, node: Any, after: Set[str], parent: ast.stmt) -> Any:
        """An expression of a statement, or a part with statements of its own, such as an `except`."""
        if isinstance(node, (ast.ExceptHandler, ast.match_case)):
            node.body = self.block(node.body, after | read(parent))
            return node
        return _Expressions().visit(node) if isinstance(node, ast.AST) else node

    def in_order(self, names: Set[str]) -> List[str]:
        return [name for name in self.order if name in names]

    def temporary(self) -> str:
        self.count += 1
        return f"__kiln_{self.count}"

    def inside(self, name: str, statements: Sequence[ast.stmt], after: Set[str], is_loop: bool) -> List[ast.stmt]:
        """The body of a loop or branch."""
        self.constructs.append(name)
        self.inner.append(set(bound(statements)))
        if is_loop:
            self.loops.append(len(self.constructs) - 1)
        else:
            self.branches.append(name)
        made = self.block(statements, after)
        if is_loop:
            self.loops.pop()
        else:
            self.branches.pop()
        self.inner.pop()
        self.constructs.pop()
        return made

    def leave(self, node: Union[ast.Return, ast.Break, ast.Continue]) -> List[ast.stmt]:
        """`return`, `break` and `continue`: refused where they would leave a recorded loop or branch."""
        _Expressions().generic_visit(node)
        first = 0 if isinstance(node, ast.Return) or not self.loops else self.loops[-1]
        how = ast.Constant(type(node).__name__.lower())
        return [*(ast.Expr(_call(name, "leave", how)) for name in reversed(self.constructs[first:])), node]

    # Loops

    def rewrite_For(self, node: ast.For, after: Set[str]) -> List[ast.stmt]:
        loop = self.temporary()
        targets = set(bound([node.target]))
        head = live_in_loop(node, after) | self.captured
        names = self.in_order((self.changed(*node.body) & head) - targets)
        lost = self.in_order(targets & live_before(node.orelse, after))
        begin = _call(_RUNTIME, "For", _Expressions().visit(node.iter), _locals(), _names(names), _names(lost))
        node.iter = _at(node.iter, _load(loop))
        node.body = self.inside(loop, node.body, head, is_loop=True)
        if names:
            node.body.insert(0, _at(node, _when(loop, "recording", _store(names, _attribute(loop, "carried")))))
        node.body.append(_at(node, _when(loop, "recording", ast.Expr(_call(loop, "end", _locals())))))
        node.orelse = self.block(node.orelse, after)
        made = [_at(node.iter, ast.Assign([ast.Name(loop, ast.Store())], begin)), node]
        if names or lost:
            results = _when(loop, "recording", _store([*names, *lost], _attribute(loop, "results")))
            # No `break` leaves a loop of the program, so its `else` is what comes next.
            (node.orelse.insert(0, _at(node, results)) if node.orelse else made.append(results))
        return made

    def rewrite_While(self, node: ast.While, after: Set[str]) -> List[ast.stmt]:
        if node.orelse:  # rare, and Python's alone: a condition of the program refuses to be true or false
            node.test = _at(node.test, _call(_RUNTIME, "before_else", _Expressions().visit(node.test)))
            self.loops.append(len(self.constructs))
            node.body = self.block(node.body, live_in_loop(node, after))
            self.loops.pop()
            node.orelse = self.block(node.orelse, after)
            return [node]
        loop = self.temporary()
        head = live_in_loop(node, after) | self.captured
        names = self.in_order(self.changed(*node.body) & head)
        in_test = _names(list(bound([node.test])))
        begin = _call(_RUNTIME, "While", _locals(), _names(sorted(_decisive(node.test))), _names(names), in_test)
        # The condition and the body have values of their own for what is carried.
        carried, again = ([_when(loop, "recording", _store(names, _attribute(loop, "carried")))] for _ in range(2))
        test = ast.UnaryOp(ast.Not(), _at(node.test, _call(loop, "test", _Expressions().visit(node.test))))
        body = self.inside(loop, node.body, head, is_loop=True)
        end = _when(loop, "recording", ast.Expr(_call(loop, "end", _locals())), ast.Break())
        whole = ast.While(ast.Constant(True), [*carried, ast.If(test, [ast.Break()], []), *again, *body, end], [])
        made: List[ast.stmt] = [_at(node.test, ast.Assign([ast.Name(loop, ast.Store())], begin)), whole]
        made.append(_when(loop, "recording", _store(names, _attribute(loop, "results"))))
        return made

    # Branches

    def rewrite_Assert(self, node: ast.Assert, after: Set[str]) -> List[ast.stmt]:
        _Expressions().generic_visit(node)
        node.test = _at(node.test, _call(_RUNTIME, "asserted", node.test))
        return [node]

    def rewrite_If(self, node: ast.If, after: Set[str]) -> List[ast.stmt]:
        branch = self.temporary()
        first, second = self.changed(*node.body), self.changed(*node.orelse)
        names = self.in_order((first | second) & (after | live_before(node.orelse, after)))
        results = [name for name in names if name in after]
        one_sided = [name for name in names if (name in first) != (name in second)]
        begin = _call(
            _RUNTIME, "If", _Expressions().visit(node.test), _locals(), *map(_names, (names, results, one_sided))
        )
        body = self.inside(branch, node.body, after, is_loop=False)
        made = [_at(node.test, ast.Assign([ast.Name(branch, ast.Store())], begin)), _when(branch, "then", *body)]
        if node.orelse:
            turn = _call(branch, "turn", _locals())
            made.append(_when(branch, "recording", _store(names, turn)))
            made.append(_when(branch, "otherwise", *self.inside(branch, node.orelse, after, is_loop=False)))
        made.append(_when(branch, "recording", _store(names, _call(branch, "end", _locals()))))
        return made

    # Functions in the function

    def rewrite_FunctionDef(self, node: Function, after: Set[str]) -> List[ast.stmt]:
        if _liveness.is_kernel(node):
            self.refuse_captured(node)
        node.decorator_list = [_Expressions().visit(each) for each in node.decorator_list]
        _Scope(node, self.outer, self.file).rewrite()
        return [node]

    def refuse_captured(self, node: Function) -> None:
        """A kernel that changes a variable of the function around it: the change would be lost, or come at the wrong time."""
        for inner in walk(node):
            if isinstance(inner, (ast.Nonlocal, ast.Global)):
                raise self.mistake(inner, _CAPTURED.format(inner.names[0]))
        own = set(_liveness.parameters(node.args))
        changed = set(bound(node.body)) & live_before(node.body, set()) & self.outer
        for name in changed - own:
            raise self.mistake(_first_use(node, name), _CAPTURED.format(name))

    def mistake(self, node: ast.AST, message: str) -> KilnError:
        line, column = getattr(node, "lineno", 0), getattr(node, "col_offset", -1) + 1
        end = getattr(node, "end_col_offset", None)
        return KilnError(message, Place(self.file, line, column, (end or column) + 1))


_CAPTURED = (
    "'{}' is a variable of the function around this one, which cannot be changed from here: a kernel runs later, and many "
    "times. Give the new value another name, or store it into a tensor"
)


def _first_use(function: Function, name: str) -> ast.AST:
    uses = [node for node in ast.walk(function) if isinstance(node, ast.Name) and node.id == name]
    return min(uses, key=lambda node: (node.lineno, node.col_offset))


def _decisive(test: ast.expr) -> Set[str]:
    """The names in a condition whose values, if they are the program's, make the condition the program's."""
    if isinstance(test, ast.Attribute) and test.attr in _KNOWN_ATTRIBUTES:
        return set()
    if isinstance(test, ast.Name):
        return {test.id}
    return set().union(*(_decisive(each) for each in ast.iter_child_nodes(test) if isinstance(each, ast.expr)))


# From a function to its rewritten one


class Source(NamedTuple):
    """The source of a function as it stands in its file, and the line where it begins; or why there is none."""

    text: str
    line: int
    problem: str = ""


def source_of(function: types.FunctionType) -> Source:
    """Reads the source of a function. Best done when the function is made: the file may change later."""
    if hasattr(function, "__wrapped__"):
        return Source("", 0, f"another decorator has wrapped {function.__name__}, and Kiln rewrites what stands in the `def`; put "
                      "Kiln's decorator right above the `def`, below the others")
    try:
        lines, first = inspect.getsourcelines(function)
    except (OSError, TypeError):
        problem = (
            f"the source of {function.__name__} cannot be found ({function.__code__.co_filename}), and Kiln rewrites it "
            "to record its loops: write it in a file or a notebook"
        )
        return Source("", 0, problem + ("; from Python 3.13 on also in the plain prompt" if sys.version_info < (3, 13) else ""))
    return Source("".join(lines), max(1, first))


def _parse(function: types.FunctionType, source: Source) -> Function:
    """The tree of a function, with the lines and columns of its file."""
    if source.problem:
        raise mistake(source.problem)
    is_indented = source.text[:1].isspace()
    try:
        tree = ast.parse("if True:\n" + source.text if is_indented else source.text)
    except SyntaxError:
        tree = ast.Module([], [])
    body: List[ast.stmt] = tree.body[0].body if is_indented and tree.body else tree.body  # type: ignore[attr-defined]
    if not body or not isinstance(body[0], FUNCTIONS) or body[0].name != function.__name__:
        raise KilnError(
            f"{function.__name__} is no function of `def`, which Kiln could rewrite",
            Place(function.__code__.co_filename, source.line),
        )
    ast.increment_lineno(tree, source.line - (2 if is_indented else 1))
    _name_private(body[0], function.__qualname__.split("."))
    return body[0]


def _name_private(tree: Function, path: List[str]) -> None:
    """Names `__x` in a class C mean `_C__x`, but what is rewritten is compiled outside of the class."""
    classes = [each for each, following in zip(path, path[1:]) if "<locals>" not in (each, following)]
    owner = classes[-1].lstrip("_") if classes else ""
    pending: List[ast.AST] = [tree] if owner else []
    while pending:
        node = pending.pop()
        for field in ("id", "attr", "arg"):
            name = getattr(node, field, None)
            if isinstance(name, str) and name.startswith("__") and not name.endswith("__"):
                setattr(node, field, f"_{owner}{name}")
        pending += [each for each in children(node) if not isinstance(each, ast.ClassDef)]


def _strip(tree: Function) -> None:
    """Takes off what has been evaluated already."""
    tree.decorator_list = []
    tree.returns = None
    tree.args.defaults = []
    tree.args.kw_defaults = [None] * len(tree.args.kwonlyargs)
    every = [*tree.args.posonlyargs, *tree.args.args, *tree.args.kwonlyargs, tree.args.vararg, tree.args.kwarg]
    for argument in every:
        if argument is not None:
            argument.annotation = None


def _compile(tree: Function, function: types.FunctionType) -> types.CodeType:
    """The code of the rewritten function. What it takes from around it are variables of a factory, as they were before."""
    code = function.__code__
    outside = [*code.co_freevars, _RUNTIME, _LOCALS]
    # A function that names itself means its name outside of it, never the one that is compiled here.
    is_global = tree.name not in outside
    factory = ast.FunctionDef(
        name=_FACTORY,
        args=ast.arguments(
            posonlyargs=[], args=[ast.arg(name) for name in outside], kwonlyargs=[], kw_defaults=[], defaults=[]
        ),
        body=[ast.Global([tree.name]), tree] if is_global else [tree],
        decorator_list=[],
    )
    if sys.version_info >= (3, 12):
        factory.type_params = []  # type: ignore[attr-defined]
    module = ast.fix_missing_locations(_at(tree, ast.Module([factory], [])))
    flags = code.co_flags & _FUTURE_FLAGS
    compiled = compile(module, code.co_filename, "exec", flags=flags, dont_inherit=True)
    return _code_in(_code_in(compiled, _FACTORY), tree.name)


def _future_flags() -> int:
    import __future__

    return __future__.annotations.compiler_flag


_FUTURE_FLAGS = _future_flags()


def _code_in(code: types.CodeType, name: str) -> types.CodeType:
    return next(each for each in code.co_consts if isinstance(each, types.CodeType) and each.co_name == name)


def is_rewritten(function: Callable[..., Any]) -> bool:
    """Whether this has been done, perhaps with the function around it."""
    code = getattr(function, "__code__", None)
    return code is not None and _RUNTIME in (*code.co_freevars, *code.co_cellvars)


def rewrite(function: Callable[..., Any], source: Optional[Source] = None) -> Callable[..., Any]:
    """The function with the loops and branches of a program."""
    if not isinstance(function, types.FunctionType):
        raise mistake(f"{function!r} is no function of `def`, which Kiln could rewrite")
    tree = _parse(function, source or source_of(function))
    if isinstance(tree, ast.AsyncFunctionDef) or inspect.isgeneratorfunction(function):
        raise KilnError(
            f"{function.__name__} is a coroutine or generator; a program is recorded by a plain function",
            Place(function.__code__.co_filename, tree.lineno),
        )
    _strip(tree)
    _Scope(tree, set(function.__code__.co_freevars), function.__code__.co_filename).rewrite()
    code = _compile(tree, function)
    cells: Dict[str, Any] = dict(zip(function.__code__.co_freevars, function.__closure__ or ()))
    cells[_RUNTIME] = types.CellType(_control)
    cells[_LOCALS] = types.CellType(builtins.locals)
    made = types.FunctionType(
        code, function.__globals__, function.__name__, function.__defaults__, tuple(cells[name] for name in code.co_freevars)
    )
    made.__kwdefaults__ = function.__kwdefaults__
    made.__annotations__ = function.__annotations__
    made.__doc__ = function.__doc__
    made.__qualname__ = function.__qualname__
    made.__module__ = function.__module__
    return made
