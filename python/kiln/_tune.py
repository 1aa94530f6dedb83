"""Finding the fastest values of a program's keyword parameters: `program.tune(...)`; docs/tuning.md says how."""
from __future__ import annotations

import concurrent.futures
import contextlib
import fcntl
import hashlib
import itertools
import json
import math
import os
import pathlib
import shutil
import stat
import statistics
import sys
import time
import warnings
from typing import TYPE_CHECKING, Any, Callable, Dict, Iterator, List, NamedTuple, Optional, Sequence, Tuple

from ._errors import KilnError, mistake
from ._jit import compiler_choices
from ._signature import TensorType
from ._tensors import view_of

if TYPE_CHECKING:
    from ._program import Program

Values = Dict[str, Any]
_numbers = itertools.count()  # of temporary files
# The relative difference that the rounding of a float type explains.
_UNIT = {"f32": 1e-5, "f16": 2**-10, "bf16": 2**-7, "f8E4M3FN": 2**-3, "f8E5M2": 2**-2}
_GAIN = 0.98  # who takes more than this share of another's time is not faster


class Tried(NamedTuple):
    """One choice of values."""

    values: Values
    seconds: Optional[float]  # of a call; None if it was refused
    refused: str


class Tuning(NamedTuple):
    """What tuning found: `values` are the fastest, `tried` is everything that was tried, the fastest first. As text, a table."""

    values: Values
    default_seconds: float
    seconds: float
    tried: List[Tried]
    file: Optional[str]  # where it is kept; None without a cache

    def __str__(self) -> str:
        lines = [f"{len(self.tried)} choices tried"]
        for each in self.tried:
            words = " ".join(f"{name}={value}" for name, value in each.values.items())
            if each.seconds is None:
                lines.append(f"  {words:<32}  refused: {each.refused}")
            else:
                mark = "  <- winner" if each.values == self.values else ""
                lines.append(f"  {words:<32}  {each.seconds * 1e3:10.3f} ms  {self.default_seconds / each.seconds:5.2f} x the default's speed{mark}")
        return "\n".join(lines)


# What is kept


def _folder() -> Optional[pathlib.Path]:
    """Where winners are kept: beside the cache of code, if there is one."""
    if os.environ.get("KILN_CACHE") == "0":
        return None
    chosen = os.environ.get("KILN_CACHE_DIR")
    base = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return pathlib.Path(chosen or os.path.join(base, "kiln")) / "tuned"


def _machine() -> str:
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            names = [line.split(":", 1)[1].strip() for line in file if line.startswith("model name")]
    except OSError:
        names = []
    return f"{names[0] if names else 'unknown'}, {os.cpu_count()} threads"


def _class_of(extent: int) -> int:
    """Sizes up to the same power of two are alike."""
    return 1 << max(0, extent - 1).bit_length() if extent > 0 else 0


def _key(program: "Program", arguments: Sequence[Any], platform: str) -> str:
    lines = ["kiln-tune-key 1 python", f"program {program.__name__}", f"hash {hashlib.sha256(program.text().encode()).hexdigest()}", f"platform {platform}",
             f"machine {_machine()}"]
    for (name, annotation), value in zip(program.parameters.items(), arguments):
        if isinstance(annotation, TensorType):
            view = view_of(name, value)
            lines.append(f"argument {name} {view.dtype}{[_class_of(extent) for extent in view.shape]}")
    return "\n".join(lines)


def _file_name(key: str) -> str:
    return hashlib.sha256(key.encode()).hexdigest()[:32] + ".json"


class _UnsafeFolder(OSError):
    """A folder, or a file, that others could have written."""


def _require_own(path: object, descriptor: int) -> None:
    info = os.fstat(descriptor)
    why = "it belongs to another user" if info.st_uid != os.geteuid() else "others may write to it" if info.st_mode & 0o022 else ""
    if why:
        raise _UnsafeFolder(f"'{path}' is not used: {why}, so that they could choose what is run; make it yours alone (chown, chmod go-w)")


@contextlib.contextmanager
def _opened(folder: pathlib.Path) -> Iterator[int]:
    """The folder as a descriptor, if it and the cache in which it lies are nobody else's: the rule of the cache of code."""
    for path in (folder.parent, folder):
        descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            _require_own(path, descriptor)
            if path == folder:
                yield descriptor
        finally:
            os.close(descriptor)


def _read(folder: pathlib.Path, name: str) -> str:
    """A regular file that nobody else can write, and no link to one; without waiting for who writes to a FIFO."""
    with _opened(folder) as inside:
        descriptor = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=inside)
        with open(descriptor, "rb") as file:
            _require_own(folder / name, descriptor)
            info = os.fstat(descriptor)
            if not stat.S_ISREG(info.st_mode) or info.st_size > 1 << 24:
                raise OSError("not what was kept")
            return file.read(1 << 24).decode()


def _values_in(text: str, key: str) -> Optional[Dict[str, Any]]:
    """What a file has for this key; None if it is damaged, or another's."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return None
    values = found.get("values") if isinstance(found, dict) and found.get("key") == key else None
    return values if isinstance(values, dict) else None


def kept(program: "Program", arguments: Sequence[Any], platform: str) -> Values:
    """The values that tuning found for such arguments; none if one of them does not fit any more."""
    folder = _folder()
    untuned = os.environ.get("KILN_UNTUNED", "")
    if untuned not in ("", "0", "1"):
        raise KilnError(f"KILN_UNTUNED={untuned!r}: expected 0 or 1")
    if untuned == "1" or not program._keywords or folder is None or not folder.is_dir():
        return {}
    key = _key(program, arguments, platform)
    try:
        found = _values_in(_read(folder, _file_name(key)), key)
    except (OSError, ValueError):
        return {}
    values = {}
    for name, value in (found or {}).items():
        if isinstance(value, str) and value in compiler_choices(platform).get(name, ()):
            values[name] = value
            continue
        try:
            values[name] = program._keywords[name].check(name, value)
        except (KeyError, KilnError):
            return {}
    if any(program._values.get(name, value) != value for name, value in values.items()):
        return {}  # what the user says wins, and nobody has measured the other values beside it
    return {name: value for name, value in values.items() if name not in program._values}


def _keep(key: str, values: Values, about: Dict[str, Any]) -> Optional[str]:
    """The path of the new file; None without a cache. OSError where it cannot be written: then there is no file, or the one that was there."""
    folder = _folder()
    if folder is None:
        return None
    folder.parent.mkdir(parents=True, exist_ok=True)
    folder.mkdir(exist_ok=True, mode=0o700)
    name, temporary = _file_name(key), f"{_file_name(key)}.{next(_numbers)}.tmp{os.getpid()}"  # which whoever sweeps the folder knows
    with _opened(folder) as inside:
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600, dir_fd=inside)
        try:
            with open(descriptor, "w", encoding="utf-8") as out:
                fcntl.flock(out, fcntl.LOCK_EX)
                json.dump({"format": "kiln-tuned", "version": 1, "key": key, "values": values, **about}, out, indent=2)
                out.flush()
                os.rename(temporary, name, src_dir_fd=inside, dst_dir_fd=inside)
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(temporary, dir_fd=inside)
            raise
    return str(folder / name)


# Measuring


def _copy(name: str, value: Any) -> Any:
    for method in ("clone", "copy"):  # of torch, of numpy
        if hasattr(value, method):
            return getattr(value, method)()
    raise mistake(f"argument '{name}' cannot be copied, and tuning runs on copies; pass a tensor of torch or numpy")


def _restore(there: Any, value: Any) -> None:
    """Makes a copy what it is a copy of again."""
    if hasattr(there, "copy_"):
        there.copy_(value)
    else:
        there[...] = value


def _waiter(is_on_gpu: bool) -> Callable[[], None]:
    """What waits until calls have run."""
    if not is_on_gpu:
        return lambda: None
    try:
        import torch
    except ImportError:
        raise mistake("tuning on a GPU needs torch, to wait for it") from None
    return torch.cuda.synchronize


def _difference(have: Any, want: Any, dtype: str) -> str:
    """How two tensors differ by the rules of a run, element by element: what the worst is, or nothing. Those of torch are compared where they are."""
    if hasattr(have, "detach"):
        import torch as library

        have, want = have.detach(), want.detach()
        if dtype in _UNIT:
            have, want = have.double(), want.double()
    else:
        import numpy as library

        have, want = (library.asarray(each, "f8" if dtype in _UNIT else None) for each in (have, want))
    if dtype not in _UNIT:  # integers are equal or they are not
        wrong = have != want
        return f"{int(wrong.sum())} elements differ" if bool(wrong.any()) else ""
    # Sums in another order differ by a little of the size of what is summed, of which the output's own size is the best sign there is.
    finite = want[library.isfinite(want)]
    size = float((finite * finite).mean() ** 0.5) if len(finite) else 0.0
    apart = abs(have - want)
    close = (have == want) | (library.isnan(have) & library.isnan(want)) | (library.isfinite(apart) & (apart <= _UNIT[dtype] * (abs(want) + 2 * size)))
    if bool(close.all()):
        return ""
    return f"{int((~close).sum())} elements differ, such as {float(have[~close][0]):.9g} where {float(want[~close][0]):.9g} is right"


class _Progress:
    """One line on the terminal that says what goes on, as `kiln tune` has it; nothing where nobody watches."""

    patience = 0.5  # seconds before the line appears

    def __init__(self, is_wanted: bool) -> None:
        self.is_watched = is_wanted and sys.stderr is not None and sys.stderr.isatty() and os.environ.get("TERM", "dumb") != "dumb"
        self.begin = self.last = time.monotonic()
        self.done, self.is_shown = 0, False

    def show(self, what: str, values: Values) -> None:
        """Something more is about to be done; the line appears after a while, and changes ten times a second at the most."""
        self.done += 1
        now = time.monotonic()
        if not self.is_watched or now - self.begin < self.patience or now - self.last < 0.1:
            return
        self.last = now
        seconds = round(now - self.begin)
        words = " ".join(f"{name}={value}" for name, value in values.items())
        line = f"{what}: {self.done}, {seconds // 60}:{seconds % 60:02} ({words})"
        width = shutil.get_terminal_size().columns
        sys.stderr.write("\r\x1b[K" + (line if len(line) < width else line[: width - 4] + "..."))
        sys.stderr.flush()
        self.is_shown = True

    def hide(self) -> None:
        if self.is_shown:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()
        self.is_shown = False


class _Candidate:
    def __init__(self, values: Values, counts: Callable[[Sequence[float]], float] = min) -> None:
        self.values = values
        self.times: List[float] = []
        self.refused = ""
        self.made: Any = None
        self.counts = counts

    @property
    def seconds(self) -> float:
        return self.counts(self.times) if self.times else math.inf


def _number_that_goes_on(ranked: List[_Candidate]) -> int:
    """None goes on that was not once as fast as the best usually is; where the machine is not quiet only a quarter goes."""
    usually = statistics.median_high(ranked[0].times)
    is_quiet = usually < 1.05 * min(ranked[0].times)
    most = (len(ranked) + 1) // 2 if is_quiet else (3 * len(ranked) + 3) // 4
    return min(most, sum(min(each.times) <= 1.02 * usually for each in ranked))


class Tuner:
    def __init__(self, program: "Program", arguments: Sequence[Any], seconds: float, vary: Sequence[str], progress: bool = True) -> None:
        self.program, self.arguments = program, arguments
        self.progress = _Progress(progress)
        self.begin, self.budget = time.monotonic(), seconds
        if not seconds > 0:
            raise mistake(f"seconds={seconds!r}: expected a positive number, which says how long to search")
        given = program._arguments(arguments)
        self.runs_elsewhere = given.gpu >= 0  # and leaves the cores of this machine alone
        self.platform, self.wait = program._platform_of(given), _waiter(self.runs_elsewhere)
        self.fastest_of_usual = math.inf
        self.axes: Dict[str, List[Any]] = {}
        for name, param in program._keywords.items():
            is_list = param.choices is not None and not isinstance(param.choices, range) and all(isinstance(each, int) for each in param.choices)
            if name not in program._values and param.choices is not None and (is_list or name in vary):
                self.axes[name] = list(param.choices)
        unknown = set(vary) - set(program._keywords)
        if unknown:
            raise mistake(f"vary: {program.__name__} has no keyword parameter '{sorted(unknown)[0]}'")
        self.tellable = {name: values for name, values in compiler_choices(self.platform).items() if name not in program._values}
        if not self.axes and not self.tellable:
            raise mistake(f"there is nothing to tune: {program.__name__} has no keyword parameter with a list of integers that is not given")
        self.usual = {name: program.params[name] for name in self.axes}
        self.tried: List[_Candidate] = []
        self.right: List[Any] = []
        # All are called with the same copies; what they write is made what it was at first before it is looked at.
        self.copies = [_copy(name, value) if isinstance(annotation, TensorType) else value
                       for (name, annotation), value in zip(program.parameters.items(), arguments)]
        self.given = program._arguments(self.copies)

    def is_late(self, share: float) -> bool:
        return time.monotonic() - self.begin > self.budget * share

    def _names(self) -> List[Tuple[int, str, str]]:
        """The tensors that are written: place, name and type."""
        return [(at, name, view_of(name, self.arguments[at]).dtype.name) for at, (name, annotation) in enumerate(self.program.parameters.items())
                if isinstance(annotation, TensorType) and annotation.access != "in"]

    def stretch(self, candidate: _Candidate, least: float) -> float:
        """The time of a call: of those that fit into so short a stretch of time, or of one."""
        begin, calls = time.perf_counter(), 0
        while calls == 0 or time.perf_counter() - begin < least:
            candidate.made.call(self.given)
            calls += 1
            if calls % 8 == 0:
                self.wait()
        self.wait()
        return (time.perf_counter() - begin) / calls

    def visit(self, candidate: _Candidate) -> None:
        """One more time. On a CPU the fastest of stretches so short that some lie between two disturbances."""
        if self.runs_elsewhere:
            candidate.times.append(self.stretch(candidate, 0.01))
            return
        begin, fastest = time.perf_counter(), math.inf
        while fastest == math.inf or time.perf_counter() - begin < 0.002:
            fastest = min(fastest, self.stretch(candidate, 0.00025))
        candidate.times.append(fastest)

    def look(self, candidate: _Candidate) -> None:
        """A first look: in turns with the usual choice, which tells whether others use the cores just now. Then it looks again, and at last takes the
        look that was disturbed least, less what disturbed it."""
        usual = self.tried[0]
        if self.runs_elsewhere or candidate is usual or usual.seconds > 0.004:
            candidate.times = [min(self.stretch(candidate, 0.002) for _ in range(3))]
            self.fastest_of_usual = usual.seconds
            return
        least = math.inf  # by which the usual choice was slower than it can be
        for _ in range(3):
            begin, own, beside = time.perf_counter(), math.inf, math.inf
            while own == math.inf or time.perf_counter() - begin < 0.004:
                own, beside = min(own, self.stretch(candidate, 0.00025)), min(beside, self.stretch(usual, 0.00025))
            self.fastest_of_usual = min(self.fastest_of_usual, beside)
            slower = beside / self.fastest_of_usual
            if slower < least:
                least, candidate.times = slower, [own / slower]
            if least <= 1.1 or own > 3 * self.fastest_of_usual:
                return

    def find(self, values: Values) -> Optional[_Candidate]:
        return next((known for known in self.tried if known.values == values), None)

    def add(self, choices: Sequence[Values]) -> None:
        """Those that have not been tried, compiled at the same time; each is then checked and measured, or refused."""
        fresh: List[_Candidate] = []
        for values in choices:
            if self.find(values) is None:
                fresh.append(_Candidate(values, statistics.median_high if self.runs_elsewhere else min))
                self.tried.append(fresh[-1])

        def build(candidate: _Candidate) -> None:
            try:
                candidate.made.compile_only(self.given)
            except KilnError as error:
                candidate.refused = str(error)

        for candidate in fresh:
            try:
                candidate.made = self.program._compiled(candidate.values, self.platform)
            except KilnError as error:
                candidate.refused = str(error)
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            list(pool.map(build, (each for each in fresh if not each.refused)))
        for candidate in fresh:
            self.progress.show("tuning", candidate.values)
            candidate.refused = candidate.refused or self.check(candidate)
            if not candidate.refused:
                self.look(candidate)

    def check(self, candidate: _Candidate) -> str:
        """What is wrong with what it computes, or nothing."""
        for at, _, _ in self._names():
            _restore(self.copies[at], self.arguments[at])
        try:
            candidate.made.call(self.given)
            self.wait()
        except KilnError as error:
            return str(error)
        if not self.right:
            self.right = [_copy(name, self.copies[at]) for at, name, _ in self._names()]
        for (at, name, dtype), want in zip(self._names(), self.right):
            if wrong := _difference(self.copies[at], want, dtype):
                return f"{name} is not what the defaults compute: {wrong}"
        return ""

    def add_in_turn(self, choices: Sequence[Values], share: float) -> None:
        """All these, as many at a time as there are cores, until this share of the time is used."""
        at_a_time = os.cpu_count() or 1
        for done in range(0, len(choices), at_a_time):
            if self.is_late(share):
                return
            self.add(choices[done : done + at_a_time])

    def try_compiler(self) -> None:
        """What passes choose by themselves, with the best values: each thing alone, and then together what was faster."""
        best = min((each for each in self.tried if not each.refused), key=lambda each: each.seconds)
        self.add_in_turn([{**best.values, name: value} for name, values in self.tellable.items() for value in values], 0.75)
        together = dict(best.values)
        for name, values in self.tellable.items():
            fastest = 0.99 * best.seconds
            for value in values:
                told = self.find({**best.values, name: value})
                if told and not told.refused and told.seconds < fastest:
                    fastest, together[name] = told.seconds, value
        self.add_in_turn([together], 0.75)

    def run(self) -> Tuning:
        try:
            return self.search()
        finally:
            self.progress.hide()

    def factors(self, usual: _Candidate) -> Dict[Tuple[str, Any], float]:
        """By how much each value makes the program slower, as a logarithm. What was refused beside the defaults, for lack of memory, say, may
        fit beside other values: of that the nearest value that was measured is the best guess."""
        factors: Dict[Tuple[str, Any], float] = {}
        for name, choices in self.axes.items():
            found = [self.find({**self.usual, name: choice}) for choice in choices]
            measured = {at: math.log(one.seconds / usual.seconds) for at, one in enumerate(found) if one and not one.refused}
            for at, choice in enumerate(choices):
                if found[at]:
                    factors[name, choice] = measured[min(measured, key=lambda other: abs(other - at))]
        return factors

    def play_off(self, usual: _Candidate) -> _Candidate:
        """Successive halving in rounds, in which all are measured in turns, so that what disturbs one disturbs all."""
        left = sorted((each for each in self.tried if not each.refused), key=lambda each: each.seconds)
        near = sum(each.seconds < 1.5 * left[0].seconds for each in left)
        left = left[: max(near, 16)]
        left += [usual] if usual not in left else []
        for each in left:
            each.times.clear()
        goal = first = 4 if self.runs_elsewhere else 8
        done = 0
        while True:
            stages = 1 + max(0, math.ceil(math.log2(len(left) / 2)))
            begin = time.monotonic() - self.begin
            end = begin + (self.budget - begin) / stages  # each stage has the same share of the time
            while True:
                for each in left:
                    self.progress.show("measuring in turns", each.values)
                    self.visit(each)
                done += 1
                if done >= goal or time.monotonic() - self.begin > end:
                    break
            left.sort(key=lambda each: each.seconds)
            if (len(left) <= 2 and done >= 8 * first) or done >= 16 * first or self.is_late(1):
                return left[0] if left[0].seconds < _GAIN * usual.seconds else usual
            left = left[: _number_that_goes_on(left)]
            left += [usual] if usual not in left else []
            goal = min(2 * goal, 16 * first)

    def search(self) -> Tuning:
        self.add([self.usual])
        usual = self.tried[0]
        if usual.refused:
            raise mistake(f"the program does not run with its own defaults: {usual.refused}")
        self.add_in_turn([{**self.usual, name: choice} for name, choices in self.axes.items() for choice in choices], 0.4)
        factors = self.factors(usual)
        predicted = sorted((sum(factors.get(each, 0.0) for each in zip(self.axes, choice)), number, choice)
                           for number, choice in enumerate(itertools.islice(itertools.product(*self.axes.values()), 100_000)))
        promising = [dict(zip(self.axes, choice)) for cost, _, choice in predicted if cost <= predicted[0][0] + 0.7]
        self.add_in_turn(promising, 0.6 if self.tellable else 0.7)
        self.try_compiler()
        winner = self.play_off(usual)
        tried = [Tried(each.values, None if each.refused else each.seconds, each.refused) for each in sorted(self.tried, key=lambda each: each.seconds)]
        about = {"default_seconds": usual.seconds, "seconds": winner.seconds, "tried": [each._asdict() for each in tried]}
        file = None
        try:
            file = _keep(_key(self.program, self.arguments, self.platform), winner.values, about)
        except OSError as error:
            warnings.warn(f"the winner could not be kept: {error}", stacklevel=5)
        return Tuning(winner.values, usual.seconds, winner.seconds, tried, file)
