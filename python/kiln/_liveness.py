"""Which names a piece of Python binds, and which values it reads: what a rewritten loop has to carry."""
from __future__ import annotations

import ast
from typing import Dict, Iterable, Iterator, List, Optional, Sequence, Set, Tuple, Union

Function = Union[ast.FunctionDef, ast.AsyncFunctionDef]
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_SCOPES = (*FUNCTIONS, ast.Lambda, ast.ClassDef)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


def bound(nodes: Iterable[ast.AST]) -> Dict[str, ast.AST]:
    """The names that these nodes bind in their own scope, in the order of the source, each with the first node that does."""
    found: List[Tuple[str, ast.AST]] = []
    pending = list(nodes)
    while pending:
        node = pending.pop()
        if isinstance(node, ast.Name):
            if not isinstance(node.ctx, ast.Load):
                found.append((node.id, node))
        elif isinstance(node, (*FUNCTIONS, ast.ClassDef)):
            found.append((node.name, node))  # its body is another scope
        elif isinstance(node, _COMPREHENSIONS):  # only := reaches out of a comprehension
            named = [inner for inner in walk(node) if isinstance(inner, ast.NamedExpr)]
            found += [(inner.target.id, inner) for inner in named if isinstance(inner.target, ast.Name)]
        elif not isinstance(node, ast.Lambda):
            if isinstance(node, (ast.ExceptHandler, ast.MatchAs, ast.MatchStar)) and node.name:
                found.append((node.name, node))
            elif isinstance(node, ast.alias):
                found.append(((node.asname or node.name).partition(".")[0], node))
            pending += children(node)
    names: Dict[str, ast.AST] = {}
    for name, node in sorted(found, key=lambda each: (getattr(each[1], "lineno", 0), getattr(each[1], "col_offset", 0))):
        names.setdefault(name, node)
    return names


def children(node: ast.AST) -> List[ast.AST]:
    """The nodes right below this one, but for those that say nothing of names: operators, and what a name is used for."""
    found: List[ast.AST] = []
    for field in node._fields:
        value = getattr(node, field, None)
        if isinstance(value, list):
            found += [each for each in value if isinstance(each, ast.AST)]
        elif isinstance(value, ast.AST) and value._fields:
            found.append(value)
    return found


def walk(node: ast.AST) -> Iterator[ast.AST]:
    """This node and everything below it, in no order."""
    pending = [node]
    while pending:
        node = pending.pop()
        yield node
        pending += children(node)


def parameters(arguments: ast.arguments) -> List[str]:
    """The names of a function's parameters."""
    several = [arguments.vararg, arguments.kwarg]
    every = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, *(each for each in several if each)]
    return [each.arg for each in every]


def read(node: Optional[ast.AST]) -> Set[str]:
    """The names that a node reads; of functions in it, those that come from outside of them."""
    if node is None:
        return set()
    if isinstance(node, ast.Name):
        return {node.id} if isinstance(node.ctx, ast.Load) else set()
    if isinstance(node, FUNCTIONS):
        heads = [*node.decorator_list, *node.args.defaults, *node.args.kw_defaults, *_annotations(node)]
        return _read_all(heads) | read_from_outside(node)
    if isinstance(node, ast.Lambda):
        inside = read(node.body) - set(parameters(node.args))
        return inside | _read_all([*node.args.defaults, *node.args.kw_defaults])
    names: Set[str] = set()
    for child in children(node):
        names |= read(child)
    return names


def _annotations(node: Function) -> List[Optional[ast.AST]]:
    every = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
    return [*(each.annotation for each in every), node.returns]


def _read_all(nodes: Iterable[Optional[ast.AST]]) -> Set[str]:
    return set().union(*(read(each) for each in nodes))


def read_from_outside(function: Function) -> Set[str]:
    """The names that the body of a function takes from around it."""
    own = set(bound(function.body)) | set(parameters(function.args))
    for node in walk(function):
        if isinstance(node, (ast.Nonlocal, ast.Global)):
            own -= set(node.names)
    return _read_all(function.body) - own


def is_kernel(function: Function) -> bool:
    """Whether an inner function is decorated so that it is recorded where it stands."""
    return any(_last_name(each) != "function" for each in function.decorator_list)


def _last_name(decorator: ast.expr) -> str:
    if isinstance(decorator, ast.Call):
        decorator = decorator.func
    return decorator.attr if isinstance(decorator, ast.Attribute) else getattr(decorator, "id", "")


def captured_later(function: Function) -> Set[str]:
    """The names that inner functions may read at any time. Kernels are recorded where they stand, and do not count."""
    names: Set[str] = set()
    pending: List[ast.AST] = list(function.body)
    while pending:
        node = pending.pop()
        if isinstance(node, ast.Lambda) or (isinstance(node, FUNCTIONS) and not is_kernel(node)):
            names |= read(node)
        elif not isinstance(node, _SCOPES):
            pending += children(node)
    return names


def changed_by_inner(function: Function) -> Set[str]:
    """The names of a function that functions inside it declare `nonlocal`: calling those may change them."""
    inner = [node for node in walk(function) if node is not function and isinstance(node, FUNCTIONS)]
    names = {name for each in inner for node in walk(each) if isinstance(node, ast.Nonlocal) for name in node.names}
    return names & (set(bound(function.body)) | set(parameters(function.args)))


def declared_global(function: Function) -> Set[str]:
    """The names that a function declares `global`."""
    return {name for node in walk(function) if isinstance(node, ast.Global) for name in node.names}


def targets_of(statement: ast.stmt) -> List[ast.expr]:
    """What a statement assigns to: `x`, `x[i]`, `x.name`, also several of them."""
    if isinstance(statement, (ast.Assign, ast.Delete)):
        targets = list(statement.targets)
    elif isinstance(statement, (ast.AugAssign, ast.AnnAssign, ast.For, ast.AsyncFor)):
        targets = [statement.target]
    else:
        targets = []
    inside = [each for target in targets for each in walk(target)]
    kinds = (ast.Name, ast.Attribute, ast.Subscript)
    return [each for each in inside if isinstance(each, kinds) and not isinstance(each.ctx, ast.Load)]


def owner_of(target: ast.expr) -> Optional[str]:
    """The name at the root of `x.a[i]`."""
    while isinstance(target, (ast.Attribute, ast.Subscript)):
        target = target.value
    return target.id if isinstance(target, ast.Name) else None


def live_before(statements: Sequence[ast.stmt], after: Set[str]) -> Set[str]:
    """The names whose values are read by these statements, or after them."""
    live = set(after)
    for statement in reversed(statements):
        live = _before(statement, live)
    return live


def live_after_each(statements: Sequence[ast.stmt], after: Set[str]) -> List[Set[str]]:
    """For each of these statements the names whose values are read after it."""
    lives: List[Set[str]] = []
    live = set(after)
    for statement in reversed(statements):
        lives.append(live)
        live = _before(statement, live)
    return lives[::-1]


def live_in_loop(loop: Union[ast.For, ast.AsyncFor, ast.While], after: Set[str]) -> Set[str]:
    """The names whose values are read at the beginning of an iteration or after the loop."""
    head = live_before(loop.orelse, after) | after
    if isinstance(loop, ast.While):
        head |= read(loop.test)
    targets = set() if isinstance(loop, ast.While) else set(bound([loop.target]))
    while True:
        # `continue` and `break` lead to the head and out of the loop, both of which count as read here.
        once = head | (live_before(loop.body, head) - targets)
        if once == head:
            return head
        head = once


def _before(node: ast.stmt, after: Set[str]) -> Set[str]:
    if isinstance(node, (ast.Return, ast.Raise)):
        return _read_all(ast.iter_child_nodes(node))
    if isinstance(node, ast.If):
        return read(node.test) | live_before(node.body, after) | live_before(node.orelse, after)
    if isinstance(node, ast.While):
        return live_in_loop(node, after)
    if isinstance(node, (ast.For, ast.AsyncFor)):
        return read(node.iter) | read(node.target) | live_in_loop(node, after)
    if isinstance(node, (ast.With, ast.AsyncWith)):
        inside = live_before(node.body, after)
        return _read_all(node.items) | (inside - set(bound(node.items)))
    if isinstance(node, (ast.Try, ast.Match)) or type(node).__name__ == "TryStar":
        return after | read(node)
    if isinstance(node, (*FUNCTIONS, ast.ClassDef)):
        return (after - {node.name}) | read(node)
    if isinstance(node, ast.AugAssign):
        return after | read(node.value) | _augmented(node.target)
    return (after - set(bound([node]))) | read(node)


def _augmented(target: ast.AST) -> Set[str]:
    return {target.id} if isinstance(target, ast.Name) else read(target)
