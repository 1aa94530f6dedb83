"""`@kiln.program`: a function that says what a program does, recorded when it is first needed."""
from __future__ import annotations

import functools
import importlib
import inspect
import os
import re
import threading
from typing import TYPE_CHECKING, Any, Callable, Dict, List, NamedTuple, Optional, Sequence, Tuple

from . import _jit, _library, _ranks, _rewrite
from ._errors import KilnError, Place, endless, entry, error_of, mistake, public
from ._params import Param
from ._record import Recorder, recording, refuse_nesting
from ._signature import FunctionBegin, TensorType, parameters_of
from ._tensors import Arguments, View, last_error, view_of

if TYPE_CHECKING:
    import subprocess

    from . import _inspect, _tune


FOR_COMPILER = "compiler."  # what the names of its own choices begin with: compiler.lanes

_lock = threading.RLock()  # one program is recorded at a time


def _renew_lock() -> None:
    """In a forked process, where the thread that may have held it does not exist."""
    global _lock
    _lock = threading.RLock()


os.register_at_fork(after_in_child=_renew_lock)


class Report(str):
    """What `check` found, as text. It is true if the program is clean."""

    code: int

    def __new__(cls, text: str, code: int) -> Report:
        made = super().__new__(cls, text)
        made.code = code  # 0: CLEAN, 1: FINDINGS, 3: INCOMPLETE
        return made

    def __bool__(self) -> bool:
        return self.code == 0


class _Recorded(NamedTuple):
    """A program for certain values of its keyword parameters."""

    text: str
    text_with_locations: str
    compiled: Dict[Tuple[str, int], _jit.Compiled]  # by platform and process


class Program(_jit.Callable):
    """A program. Calling it compiles it, once for each platform and set of keyword parameters, and runs it.

    It is called with tensors and numbers, in the order of its parameters, and with keyword parameters as in with_.
    """

    def __init__(
        self,
        body: Callable[..., Any],
        platform: Optional[str] = None,
        values: Optional[Dict[str, Any]] = None,
        source: Optional[_rewrite.Source] = None,
        records: Optional[_jit.Records] = None,
    ) -> None:
        functools.update_wrapper(self, body)
        self._source = source or _rewrite.source_of(body)  # now: the file may change before the program is used
        self.place = Place(body.__code__.co_filename, _line_of(body))
        self.platform = platform
        self._body = body
        self._values = values or {}
        self._records = records
        self._recorded: Dict[Tuple[Any, ...], _Recorded] = {}
        self._rewritten: Optional[Callable[..., Any]] = None
        self._parameters: Optional[Dict[str, Any]] = None
        self._keywords = _keyword_parameters(body, self.place)

    @property
    @public
    def parameters(self) -> Dict[str, Any]:
        """The parameters that are given in a call, with their types."""
        if self._parameters is None:
            self._parameters = parameters_of(self._body, self.place)
        return self._parameters

    @property
    def params(self) -> Dict[str, Any]:
        """The keyword parameters and their values."""
        return {name: self._values.get(name, param.default) for name, param in self._keywords.items()}

    @entry
    def with_(self, *, platform: Optional[str] = None, **values: Any) -> Program:
        """The program with other values of its keyword parameters, or for another platform: `matmul.with_(BM=128)`."""
        return Program(self._body, platform or self.platform, {**self._values, **self._checked(values)}, self._source, self._records)

    @entry
    def recorded(self, *, dump: int = 0, timeline: bool = False, out: str = "") -> Program:
        """The program, of which every call leaves a dump or a timeline: `matmul.recorded(dump=2)(a, b, c)`.

        The call itself is recorded, on the caller's tensors; `dump` and `timeline` run on copies.

        dump: 1: what the program marked with kl.dump; 2: everything; 3: everything, but values of what is marked only.
        timeline: whether to write timeline.json, graph.json and graph.dot.
        out: where each call makes a folder NAME-1, NAME-2, ... of its own; kiln-out if KILN_OUT does not say another.
        """
        if dump not in range(4):
            raise mistake(f"dump={dump!r}: expected a level from 0 to 3")
        if not dump and not timeline:
            raise mistake("recorded() needs a level of the dump, dump=2, or timeline=True")
        return Program(self._body, self.platform, self._values, self._source, _jit.Records(dump, bool(timeline), out))

    def _run_in_python(self, *arguments: Any, **values: Any) -> Optional[BaseException]:
        """A call that is the first, or that the extension cannot do. Gives what went wrong."""
        return error_of(self._run, arguments, values)

    def _run(self, arguments: Sequence[Any], values: Dict[str, Any]) -> None:
        refuse_nesting(self.__name__)
        arguments, values = self._in_order(arguments, values)
        given = self._arguments(arguments)
        platform = self._platform_of(given)
        compiled = self._compiled(values or self._tuned_values(arguments, platform), platform)
        if not values:
            self._remember(compiled.handle, given.gpu >= 0)
        compiled.call(given)

    def _platform_of(self, given: Arguments) -> str:
        """The platform that was named, or the one that computes where the tensors are."""
        fitting = _jit.default_platform(given.gpu >= 0)
        if self.platform == _jit.default_platform(given.gpu < 0):
            there, advice = ("on a GPU", "cpu") if given.gpu >= 0 else ("in the host's memory", "cuda")
            raise mistake(
                f"argument '{given.first}' is {there}, but the program is compiled for {self.platform}; pass {given.first}.{advice}(), "
                f"or leave the platform to the tensors"
            )
        return self.platform or fitting

    def _explain(self, *arguments: Any) -> Optional[BaseException]:
        """What went wrong in the call, which the extension has done."""
        return error_of(self._fail, last_error(), arguments)

    def _fail(self, text: str, arguments: Sequence[Any]) -> None:
        self._arguments(arguments)  # has its own words for most mistakes
        raise _jit.call_error(text)

    def _in_order(self, arguments: Sequence[Any], values: Dict[str, Any]) -> Tuple[Sequence[Any], Dict[str, Any]]:
        """The arguments in the order of the parameters, those that are given by name too; and the keyword parameters."""
        named = {name: value for name, value in values.items() if name in self.parameters}
        if not named:
            return arguments, values
        known = dict(zip(self.parameters, arguments))
        for name in named:
            if name in known:
                raise mistake(f"{self.__name__} is given '{name}' twice: in its place, and by name")
        known.update(named)
        missing = [name for name in self.parameters if name not in known]
        if missing:
            raise mistake(f"{self.__name__} takes {len(self.parameters)} arguments, but is given no '{missing[0]}'")
        ordered = (*(known[name] for name in self.parameters), *arguments[len(self.parameters) :])
        return ordered, {name: value for name, value in values.items() if name not in named}

    def _arguments(self, given: Sequence[Any]) -> Arguments:
        return Arguments(self.__name__, self.parameters, given)

    def _tuned_values(self, arguments: Sequence[Any], platform: str) -> Dict[str, Any]:
        """What tuning found for arguments like these of the first call."""
        if not self._keywords:
            return {}
        from . import _tune

        return _tune.kept(self, arguments, platform)

    @entry
    def tune(self, *arguments: Any, seconds: float = 30.0, vary: Sequence[str] = (), progress: bool = True) -> "_tune.Tuning":
        """Finds the fastest values of the keyword parameters for arguments like these, on copies of them, and keeps them.

        Later programs in any process use them, unless a call says other values or KILN_UNTUNED is 1.

        seconds: how long to search, about.
        vary: parameters besides those with a list of integers; all of their values must mean the same result.
        progress: say on standard error what goes on, where that is a terminal.
        """
        from . import _tune

        return _tune.Tuner(self, arguments, seconds, vary, progress).run()

    @entry
    def tuned(self, *arguments: Any) -> Program:
        """The program with the values that tuning found for arguments like these; as it is, if there are none."""
        from . import _tune

        values = _tune.kept(self, arguments, self._platform_of(self._arguments(arguments)))
        return self.with_(**values) if values else self

    @entry
    def compile(self, *arguments: Any, **values: Any) -> None:
        """Fills the cache for such arguments, without running."""
        arguments, values = self._in_order(arguments, values)
        given = self._arguments(arguments)
        self._compiled(values, self._platform_of(given)).compile_only(given)

    @entry
    def text(self, locations: bool = False, **values: Any) -> str:
        """The recorded program as text, with or without the lines of its operations."""
        recorded = self._record(values)
        return recorded.text_with_locations if locations else recorded.text

    @entry
    def emit(self, target: str = "ir", *options: str, **values: Any) -> str:
        """The program in another form: "ir", "torch", "llvm", "cuda", "ascend" or "orchestration"."""
        if target == "ir" and not options:
            return self._record(values).text
        done = self._run_tool("emit", ["--target", target, *options], values)
        if done.returncode != 0:
            raise _error_of(done)
        return done.stdout

    @entry
    def check(self, *arguments: Any, options: Sequence[str] = (), **values: Any) -> Report:
        """Proves the pipes and tries schedules and shapes; those of the arguments, if some are given."""
        arguments, values = self._in_order(arguments, values)
        given = self._flags(arguments) if arguments else []
        done = self._run_tool("check", [*given, *options], values)
        if done.returncode not in (0, 1, 3):
            raise _error_of(done)
        # The verdict is the last line of what the tool prints; remarks and warnings come before.
        return Report(self._replayable(done.stderr + done.stdout), done.returncode)

    def _replayable(self, report: str) -> str:
        """A report that says how to see a finding again in Python: the file that the tool read is gone."""
        return re.sub(
            r"^  replay: kiln check \S+ (.*)$", rf'  replay: {self.__name__}.check(options="\1".split())', report, flags=re.MULTILINE
        )

    @entry
    def run(self, *arguments: Any, platform: str, options: Sequence[str] = (), **values: Any) -> str:
        """Runs the program on a platform that is no machine of this process, and gives what the tool said.

        `matmul.run(a, b, c, platform="a2a3sim")` simulates it; "a5sim" and "torch" are others, and so are "cpu" and "h200".
        The arguments are copied there and back: tensors that the program writes have its values afterwards.

        options: more options of `kiln run`, such as "--seed", "3".
        """
        import tempfile

        from ._inspect import read_values

        arguments, values = self._in_order(arguments, values)
        with tempfile.TemporaryDirectory(prefix="kiln-") as folder:
            given = self._flags(arguments, folder)
            views = self._written(arguments)
            flags = ["--no-reference", "--no-formula", "--save", folder, "-p", platform]
            done = self._run_tool("run", [*flags, *given, *options], values)
            if done.returncode != 0:
                raise _error_of(done)
            for name, view in views.items():
                read_values(view, os.path.join(folder, name + ".npy"))
        return done.stderr + done.stdout

    def _written(self, arguments: Sequence[Any]) -> Dict[str, View]:
        """The tensors that the program writes, which lie in the host's memory."""
        views = {}
        for (name, annotation), value in zip(self.parameters.items(), arguments):
            if isinstance(annotation, TensorType) and annotation.access != "in":
                views[name] = view_of(name, value)
                if views[name].gpu >= 0:
                    raise mistake(f"argument '{name}' is on GPU {views[name].gpu}; run() writes to the host's memory alone")
        return views

    @entry
    def dump(
        self, *arguments: Any, level: int = 2, out: Optional[str] = None, options: Sequence[str] = (), **values: Any
    ) -> "_inspect.Dump":
        """Runs the program on copies of the arguments, and gives the arguments of its tasks as they were.

        level: 1: what the program marked with kl.dump; 2: everything; 3: everything, but values of what is marked only.
        out: a folder for the files, which `kiln dump` reads too; without it they go with the result.
        options: more options of `kiln run`, such as "-p", "a2a3sim".
        """
        from . import _inspect  # needs modules that take longer to import than kiln

        return self._observe(_inspect.Dump(out), arguments, [f"--dump-args={level}", *options], values)

    @entry
    def timeline(
        self, *arguments: Any, out: Optional[str] = None, options: Sequence[str] = (), **values: Any
    ) -> "_inspect.Timeline":
        """Runs the program on copies of the arguments, and says when its tasks ran and what they waited for.

        out: a folder for timeline.json, graph.json and graph.dot; without it they go with the result.
        options: more options of `kiln run`.
        """
        from . import _inspect

        return self._observe(_inspect.Timeline(out), arguments, ["--timeline", *options], values)

    @entry
    def view(
        self, *arguments: Any, out: Optional[str] = None, check: bool = False, options: Sequence[str] = (), **values: Any
    ) -> "_inspect.Page":
        """Runs the program on copies of the arguments, and makes a page of the run: timeline, graph, values, pipes, memory, code.

        out: a folder for the page, view.html, and for what it is made from; without it they go with the result.
        check: also check the program with arguments of these shapes, and show the findings.
        options: more options of `kiln run`, such as "-p", "a2a3sim".
        """
        from . import _inspect

        page = self._observe(_inspect.Page(out), arguments, ["--record", *options], values)
        if check:
            page.report = self.check(*arguments, options=["--record", "--out", str(page.folder)], **values)
        page._make()
        return page

    def _observe(self, run: Any, arguments: Sequence[Any], options: Sequence[str], values: Dict[str, Any]) -> Any:
        """Runs the tool, for what it writes about the run."""
        import tempfile

        arguments, values = self._in_order(arguments, values)
        with tempfile.TemporaryDirectory(prefix="kiln-") as folder:
            given = self._flags(arguments, folder)
            flags = ["--no-reference", "--no-formula", "--out", str(run.folder)]
            if "-p" not in options and "--platform" not in options:
                flags += ["-p", self._platform_of(self._arguments(arguments))]
            done = self._run_tool("run", [*flags, *given, *options], values)
        run.text = done.stdout + done.stderr
        if done.returncode != 0 and not run._takes_failures():
            raise _error_of(done)
        run._read()
        return run

    def _flags(self, arguments: Sequence[Any], folder: Optional[str] = None) -> List[str]:
        """Flags that give a tool arguments like these: of their shapes, and with a folder also of their values."""
        self._arguments(arguments)
        flags = []
        for (name, annotation), value in zip(self.parameters.items(), arguments):
            said = str(value)
            if isinstance(annotation, TensorType):
                view = view_of(name, value)
                if view.gpu >= 0 and folder is not None:
                    if not hasattr(value, "cpu"):
                        raise mistake(f"argument '{name}' is on GPU {view.gpu}, from where it cannot be copied to a file; pass a tensor of torch")
                    view = view_of(name, value.cpu())
                said = "x".join(map(str, view.shape))
                if folder is not None and annotation.access != "out":
                    from ._inspect import write_values

                    said = "file:" + write_values(view, os.path.join(folder, name + ".npy"))
            flags += ["--arg", f"{name}={said}"]
        return flags

    def _run_tool(self, command: str, options: Sequence[str], values: Dict[str, Any]) -> "subprocess.CompletedProcess[str]":
        import subprocess  # these take a third of the time of importing kiln, and are needed here alone
        import tempfile

        text = self._record(values).text_with_locations
        with tempfile.TemporaryDirectory(prefix="kiln-") as folder:
            file = os.path.join(folder, self.__name__ + ".mlir")
            with open(file, "w", encoding="utf-8") as out:
                out.write(text)
            run = [str(_library.tool("kiln")), command, file, *options]
            return subprocess.run(run, capture_output=True, text=True)

    def _checked(self, values: Dict[str, Any]) -> Dict[str, Any]:
        for name in values:
            if name not in self._keywords and not name.startswith(FOR_COMPILER):
                known = ", ".join(self._keywords) or "none"
                raise mistake(f"{self.__name__} has no keyword parameter '{name}'; it has {known}")
        return {name: str(value) if name.startswith(FOR_COMPILER) else self._keywords[name].check(name, value) for name, value in values.items()}

    def _record(self, values: Dict[str, Any]) -> _Recorded:
        chosen = {**self.params, **self._values, **self._checked(values)}
        key = tuple(sorted(chosen.items()))
        with _lock:
            if key not in self._recorded:
                self._recorded[key] = self._record_now(chosen)
            return self._recorded[key]

    def _record_now(self, chosen: Dict[str, Any]) -> _Recorded:
        if self._rewritten is None:
            self._rewritten = _rewrite.rewrite(self._body, self._source)
        recorder = Recorder(self.__name__, self.place)
        with recording(recorder), _jit.without_calls():
            begin = FunctionBegin(recorder, "orchestration", "main", self.parameters, (), self.place)
            recorder.begin_later(begin.begin)
            try:
                returned = self._rewritten(*begin.arguments, **{name: value for name, value in chosen.items() if not name.startswith(FOR_COMPILER)})
            except RecursionError as error:
                raise endless(error) from None
            if returned is not None:
                raise mistake(
                    f"{self.__name__} returns a value, but a program has no results of its own: its caller passes tensors for them, "
                    "kl.Out parameters, which it writes",
                    self.place,
                )
            recorder.record("function.end", (), self.place)
            for name, value in chosen.items():
                if name.startswith(FOR_COMPILER):
                    recorder.choose(name, value)
            recorder.verify()
        return _Recorded(recorder.text(False), recorder.text(True), {})

    def _compiled(self, values: Dict[str, Any], platform: str) -> _jit.Compiled:
        recorded = self._record(values)
        key = (platform, os.getpid())
        compiled = recorded.compiled.get(key)
        if compiled is None:
            _ranks.join_for(recorded.text)
            compiled = recorded.compiled.setdefault(key, _jit.Compiled(recorded.text_with_locations, platform, self._records))
        return compiled

    # Programs do not change. Copies are the program itself, as with functions, and other processes find it by its name.

    def __copy__(self) -> Program:
        return self

    def __deepcopy__(self, memo: Any) -> Program:
        return self

    @entry
    def __reduce__(self) -> Tuple[Any, ...]:
        found = _find(self.__module__, self.__qualname__)
        if not isinstance(found, Program) or found._body is not self._body:
            raise mistake(
                f"{self.__name__} cannot be pickled: it is not what other processes find as {self.__module__}.{self.__qualname__}; "
                "make it at the level of a module, under the name of its function"
            )
        return _found, (self.__module__, self.__qualname__, self.platform, self._values, self._records)

    def __repr__(self) -> str:
        names = [name for name in inspect.signature(self._body).parameters if name not in self._keywords]
        return f"<kiln.program {self.__name__}({', '.join(names)})>"


def _find(module: str, name: str) -> Any:
    """What has this name in a module; None: nothing."""
    found: Any = importlib.import_module(module)
    for each in name.split("."):
        found = getattr(found, each, None)
    return found


def _found(
    module: str, name: str, platform: Optional[str], values: Dict[str, Any], records: Optional[_jit.Records]
) -> Program:
    """A program that was pickled."""
    found = _find(module, name)
    if not isinstance(found, Program):
        raise mistake(f"there is no program {module}.{name} in this process")
    if (platform, values, records) == (found.platform, found._values, found._records):
        return found
    return Program(found._body, platform, values, found._source, records)


def _line_of(body: Callable[..., Any]) -> int:
    return body.__code__.co_firstlineno


def _error_of(done: "subprocess.CompletedProcess[str]") -> KilnError:
    """What a tool says of its failure, at the line that it names."""
    return _jit.call_error((done.stderr or done.stdout).strip())


def _keyword_parameters(body: Callable[..., Any], place: Place) -> Dict[str, Param]:
    found: Dict[str, Param] = {}
    for name, parameter in inspect.signature(body).parameters.items():
        if parameter.kind is not parameter.KEYWORD_ONLY:
            continue
        if not isinstance(parameter.default, Param):
            raise KilnError(
                f"keyword parameter '{name}' of {body.__name__} has to be kl.param(...), kl.choice(...) or kl.split(...)",
                place,
            )
        found[name] = parameter.default
    return found


@public
def program(body: Optional[Callable[..., Any]] = None, *, platform: Optional[str] = None) -> Any:
    """Makes a program of a function. Nothing is recorded before the program is used.

        @kiln.program
        def add(a: kl.In[f32], b: kl.In[f32], c: kl.Out[f32]): ...

        add(a, b, c)

    platform: where it runs; without it, where the tensors of a call are: on the CPU, or on their GPU.
    """

    @public
    def decorate(given: Callable[..., Any]) -> Program:
        if not hasattr(given, "__code__"):
            raise mistake("@kiln.program decorates a function")
        return Program(given, platform)

    return decorate if body is None else decorate(body)
