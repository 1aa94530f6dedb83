"""What a run of a program did: `program.dump(...)`, `program.timeline(...)` and `program.view(...)`, from the files that the tool writes."""
from __future__ import annotations

import ctypes
import json
import pathlib
import shutil
import tempfile
import weakref
from typing import Any, Dict, Iterator, List, NamedTuple, Optional, Tuple

from . import _library, dtypes
from ._errors import mistake
from ._tensors import View
from .dtypes import DType


class Run:
    """A run by the tool `kiln`. Its files go with this object, unless they lie in a folder that the user named."""

    def __init__(self, out: Optional[str]) -> None:
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="kiln-") if out is None else out)
        if out is None:
            weakref.finalize(self, shutil.rmtree, self.folder, ignore_errors=True)
        self.text = ""  # what the tool said

    def _json(self, name: str) -> Dict[str, Any]:
        try:
            with open(self.folder / name, encoding="utf-8") as file:
                return json.load(file)
        except OSError:
            raise mistake(f"the run left no {name}: {self.text.strip()}") from None

    def _takes_failures(self) -> bool:
        """Whether a run that failed has left what is wanted."""
        return False

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return f"<kiln {type(self).__name__.lower()}: {getattr(self, 'file', self.folder)}>"


class Record(NamedTuple):
    """An argument of a task, before or after it ran."""

    task: int
    kernel: str
    stage: str  # "before" or "after"
    name: str
    role: str  # "in", "out", "inout" or "scalar"
    dtype: DType
    shape: Tuple[int, ...]
    value: Any  # of tensors a numpy array, f32 for types that numpy does not have; None where no values were recorded


class Dump(Run):
    """The arguments of the tasks of a run, as records in the order of the tasks: `for record in dump`.

    `dump.folder` is where the files are; `kiln dump` reads them too. As text, what the run said.
    """

    def __init__(self, out: Optional[str]) -> None:
        super().__init__(out)
        self.records: List[Record] = []

    def _read(self) -> None:
        """Reads what the run has left."""
        manifest = self._json("tensor_dump/tensor_dump.json")
        payload = (self.folder / "tensor_dump" / "tensor_dump.bin").read_bytes()
        records = [_record(each, payload) for each in manifest["entries"]]
        self.records = sorted(records, key=lambda record: record.task)  # the file has them as they happened

    def find(
        self, task: Optional[int] = None, kernel: Optional[str] = None, stage: Optional[str] = None, name: Optional[str] = None
    ) -> List[Record]:
        """The records of a task, of a kernel, of a stage ("before" or "after"), of a parameter."""
        wanted = {"task": task, "kernel": kernel, "stage": stage, "name": name}
        asked = {field: value for field, value in wanted.items() if value is not None}
        return [each for each in self.records if all(getattr(each, field) == value for field, value in asked.items())]

    def __iter__(self) -> Iterator[Record]:
        return iter(self.records)

    def __len__(self) -> int:
        return len(self.records)


class Timeline(Run):
    """When the tasks of a run ran, and what they waited for. As text, a summary.

    `timeline.tasks` has the kernel, grid, source, begin_us, duration_us and arguments of each task, and whether it is on the
    critical path. `timeline.edges` says which tasks waited for which: from, to, kind (raw, war, waw, explicit), and the tensor
    that caused it.
    """

    def __init__(self, out: Optional[str]) -> None:
        super().__init__(out)
        self.tasks: List[Dict[str, Any]] = []
        self.edges: List[Dict[str, Any]] = []

    @property
    def file(self) -> pathlib.Path:
        """The file for ui.perfetto.dev."""
        return self.folder / "timeline.json"

    def _read(self) -> None:
        """Reads what the run has left."""
        graph = self._json("graph.json")
        self.tasks, self.edges = graph["tasks"], graph["edges"]


class Page(Run):
    """A run as a page for a browser: `page.file`. As text, what the run said.

    A program that fails or hangs has a page too, with its error. With `check=True`, `page.report` is what the check found.
    """

    def __init__(self, out: Optional[str]) -> None:
        super().__init__(out)
        self.report: Any = None

    @property
    def file(self) -> pathlib.Path:
        """The page, which needs no other file."""
        return self.folder / "view.html"

    def _takes_failures(self) -> bool:
        return (self.folder / "run.json").is_file()

    def _read(self) -> None:
        """Nothing: the page is made of the files."""

    def _make(self) -> None:
        import subprocess

        done = subprocess.run([str(_library.tool("kiln")), "view", str(self.folder)], capture_output=True, text=True)
        if done.returncode != 0:
            raise mistake((done.stderr or done.stdout).strip())


def _record(entry: Dict[str, Any], payload: bytes) -> Record:
    dtype, shape = dtypes.BY_NAME[entry["dtype"]], tuple(entry.get("shape", ()))
    if entry["kind"] == "scalar":
        value = entry["value"]
    else:
        begin, size = entry["bin_offset"], entry["bin_size"]
        value = _decoded(_bits(payload[begin : begin + size], dtype).reshape(shape), dtype) if size else None
    role = "scalar" if entry["kind"] == "scalar" else entry["role"]
    stage = entry["stage"].partition("_")[0]
    return Record(entry["task"], entry["kernel"], stage, entry["arg_name"], role, dtype, shape, value)


# Values of numpy


def _numpy() -> Any:
    try:
        import numpy
    except ImportError:
        raise mistake("values of tensors are read and written with numpy, which is not installed") from None
    return numpy


def _bits(memory: Any, dtype: DType) -> Any:
    return _numpy().frombuffer(memory, f"u{dtype.size}")


def _f8_values(exponent_bits: int, mantissa_bits: int, has_infinity: bool) -> Any:
    """The values of all 256 patterns of an eight-bit type."""
    bias, full = (1 << (exponent_bits - 1)) - 1, (1 << exponent_bits) - 1
    values = []
    for pattern in range(128):
        exponent, mantissa = pattern >> mantissa_bits, pattern & ((1 << mantissa_bits) - 1)
        if exponent == full and has_infinity:
            value = float("nan") if mantissa else float("inf")
        elif pattern == 127:
            value = float("nan")
        else:
            fraction = mantissa / (1 << mantissa_bits) + (exponent > 0)
            value = fraction * 2.0 ** (max(exponent, 1) - bias)
        values.append(value)
    return _numpy().array(values + [-value for value in values], "f4")


def _decoded(bits: Any, dtype: DType) -> Any:
    """Patterns as values."""
    if dtype is dtypes.bf16:
        return (bits.astype("u4") << 16).view("f4")
    if dtype is dtypes.f8E4M3FN:
        return _f8_values(4, 3, has_infinity=False)[bits]
    if dtype is dtypes.f8E5M2:
        return _f8_values(5, 2, has_infinity=True)[bits]
    if dtype is dtypes.i1:
        return bits != 0
    return bits.view(f"{dtype.name[0]}{dtype.size}")


def read_values(view: View, file: str) -> None:
    """Writes what a file of numpy has into a tensor of the caller's."""
    numpy = _numpy()
    values = numpy.load(file).reshape(view.shape)
    if values.size:
        _strided(view)[...] = _encoded(values, view.dtype)


def _encoded(values: Any, dtype: DType) -> Any:
    """Values, each of which the type has, as its patterns."""
    numpy = _numpy()
    if dtype in (dtypes.f8E4M3FN, dtypes.f8E5M2):
        known = _decoded(numpy.arange(256, dtype="u1"), dtype).view("u4") & 0xFFFFFFFF
        patterns = {int(bits): pattern for pattern, bits in reversed(list(enumerate(known)))}
        nan = 0x7F
        flat = values.astype("f4").view("u4").ravel()
        return numpy.array([patterns.get(int(each), nan) for each in flat], "u1").reshape(values.shape)
    if dtype is dtypes.bf16:
        return (values.astype("f4").view("u4") >> 16).astype("u2")
    if dtype is dtypes.i1:
        return values.astype("u1")
    return numpy.ascontiguousarray(values).view(f"u{dtype.size}")


def _strided(view: View) -> Any:
    """The patterns of a tensor that has elements, where they are."""
    numpy = _numpy()
    elements = 1 + sum((extent - 1) * stride for extent, stride in zip(view.shape, view.strides))
    memory = _bits((ctypes.c_char * (elements * view.dtype.size)).from_address(view.data), view.dtype)
    strides = [stride * view.dtype.size for stride in view.strides]
    return numpy.lib.stride_tricks.as_strided(memory, view.shape, strides)


def write_values(view: View, file: str) -> str:
    """Writes a tensor of the caller's to a file of numpy, and gives its name."""
    numpy = _numpy()
    if 0 in view.shape:
        bits = numpy.zeros(view.shape, f"u{view.dtype.size}")
    else:
        bits = _strided(view)
    numpy.save(file, _decoded(numpy.ascontiguousarray(bits), view.dtype))
    return file
