"""Programs right behind, and right before, other work on a GPU that reads and writes the same memory. Run by gpu.py.

A program's first kernel begins while what comes before it ends. It must not read, or write, before that has ended, whatever it
is: other kernels, copies, fills, functions of the host, other streams, graphs. Nothing here rounds: a product is with a matrix
that has one 1 or -1 in each row and column, so results are compared bit by bit.
"""
import ctypes
import functools
import random
import time
import unittest
from typing import Any, Callable, Dict, List, Set, Tuple

import torch

import kiln
import kiln.language as kl
from kiln import bf16, f32, i32

SIZE, TILE = 1024, 64
TILES = SIZE // TILE
LONG = 200_000  # rounds of `turn`: more than a millisecond


@kiln.program
def product(a: kl.In[bf16], b: kl.In[bf16], c: kl.Out[bf16]):
    """Its kernel has a role that copies."""
    @kl.spmd(kl.ceildiv(c.shape[0], 128), kl.ceildiv(c.shape[1], 128))
    def product(bi, bj):
        i, j = bi * 128, bj * 128
        acc = kl.zeros(f32, 128, 128)
        for k in kl.range(0, a.shape[1], 64, stages=3):
            acc = kl.matmul_acc(acc, kl.load(a, (i, k), (128, 64)), kl.load(b, (k, j), (64, 128)))
        kl.store(kl.cast(acc, bf16), c, (i, j))


FEW = 16


@kiln.program
def few(a: kl.In[bf16], b: kl.In[bf16], c: kl.Out[bf16]):
    """c = a b.T for 16 rows. Where a capture has it right behind another call it reads b, of which nobody reads anything again, before
    that has ended, unless that call writes b."""
    @kl.spmd(kl.ceildiv(c.shape[1], 64))
    def few(bj):
        j = bj * 64
        acc = kl.zeros(f32, FEW, 64)
        for k in kl.range(0, a.shape[1], 64, stages=3):
            acc = kl.matmul_acc(acc, kl.load(a, (0, k), (FEW, 64)), kl.load(b, (j, k), (64, 64)), trans_b=True)
        kl.store(kl.cast(acc, bf16), c, (0, j))


@kiln.program
def turn(x: kl.In[bf16], rounds: kl.In[i32, 1], y: kl.Out[bf16]):
    """Tiles of x at other places of the same rows of y. Those of a row of tiles take as many rounds to find as are asked for; only then
    does it read. Nothing copies for this kernel, so it lets the next one begin at once."""
    @kl.spmd(kl.ceildiv(y.shape[0], TILE), kl.ceildiv(y.shape[1], TILE))
    def turn(bi, bj):
        at = bj
        for _ in kl.range(0, kl.to_index(kl.read(rounds, bi)), 1):
            at = (at * 5 + 3) % TILES
        kl.store(kl.load(x, (bi * TILE, at * TILE), (TILE, TILE)), y, (bi * TILE, bj * TILE))


@functools.lru_cache(None)
def turned(rounds: Tuple[int, ...]) -> torch.Tensor:
    """For each element of y which element of its row of x it is."""
    columns = torch.empty(SIZE, SIZE, dtype=torch.long, device="cpu")
    for row, count in enumerate(rounds):
        for tile in range(TILES):
            at = tile
            for _ in range(count % TILES):  # they go in a circle
                at = (at * 5 + 3) % TILES
            columns[row * TILE:(row + 1) * TILE, tile * TILE:(tile + 1) * TILE] = at * TILE + torch.arange(TILE, device="cpu")
    return columns.cuda()


def numbers(*shape: int) -> torch.Tensor:
    return torch.randn(*(shape or (SIZE, SIZE)), device="cuda").to(torch.bfloat16)


def exchange() -> torch.Tensor:
    """x @ this has the columns of x elsewhere, some negated."""
    signs = torch.randint(0, 2, (SIZE,), device="cuda") * 2.0 - 1
    return torch.diag(signs)[torch.randperm(SIZE, device="cuda")].to(torch.bfloat16)


def times(x: torch.Tensor, matrix: torch.Tensor) -> torch.Tensor:
    return (x.double() @ matrix.double()).to(torch.bfloat16)


# Lets the next kernel begin, waits for those before it if it is told to, and after a while negates what it is given.
LATE = b"""
.version 8.0
.target sm_90
.address_size 64
.visible .entry late(.param .u64 x, .param .u32 pairs, .param .u64 cycles, .param .u32 waits)
{
  .reg .pred %p<3>;
  .reg .b32 %r<4>;
  .reg .b64 %d<7>;
  ld.param.u64 %d0, [x];
  ld.param.u32 %r0, [pairs];
  ld.param.u64 %d1, [cycles];
  ld.param.u32 %r1, [waits];
  cvta.to.global.u64 %d0, %d0;
  griddepcontrol.launch_dependents;
  setp.eq.u32 %p0, %r1, 0;
  @%p0 bra BEGIN;
  griddepcontrol.wait;
BEGIN:
  mov.u64 %d2, %clock64;
SPIN:
  mov.u64 %d3, %clock64;
  sub.u64 %d4, %d3, %d2;
  setp.lt.u64 %p1, %d4, %d1;
  @%p1 bra SPIN;
  mov.u32 %r2, %tid.x;
WRITE:
  setp.ge.u32 %p2, %r2, %r0;
  @%p2 bra DONE;
  mul.wide.u32 %d5, %r2, 4;
  add.u64 %d6, %d0, %d5;
  ld.global.u32 %r3, [%d6];
  xor.b32 %r3, %r3, 0x80008000;
  st.global.u32 [%d6], %r3;
  add.u32 %r2, %r2, 1024;
  bra WRITE;
DONE:
  ret;
}
"""


class Driver:
    """What torch has no name for."""

    class Attribute(ctypes.Structure):  # CUlaunchAttribute
        _fields_ = [("id", ctypes.c_int), ("pad", ctypes.c_int), ("value", ctypes.c_int * 16)]

    class Config(ctypes.Structure):  # CUlaunchConfig
        _fields_ = [("sizes", ctypes.c_uint * 7), ("stream", ctypes.c_void_p), ("attributes", ctypes.c_void_p), ("count", ctypes.c_uint)]

    def __init__(self) -> None:
        self.cuda = ctypes.CDLL("libcuda.so.1")
        self.kept: List[Any] = []
        self.late = ctypes.c_void_p()
        module = ctypes.c_void_p()
        torch.cuda.synchronize()  # now there is a context
        self("cuModuleLoadData", ctypes.byref(module), ctypes.c_char_p(LATE))
        self("cuModuleGetFunction", ctypes.byref(self.late), module, b"late")

    def negate_late(self, x: torch.Tensor, cycles: int, begins_early: bool = False, waits: bool = True) -> None:
        """By a kernel of somebody else that lets the next one begin at once. `waits`: for those before it, if it begins early."""
        values = (ctypes.c_uint64(x.data_ptr()), ctypes.c_uint32(x.numel() // 2), ctypes.c_uint64(cycles), ctypes.c_uint32(waits))
        parameters = (ctypes.c_void_p * 4)(*(ctypes.addressof(value) for value in values))
        early = self.Attribute(6, 0, (ctypes.c_int * 16)(1))  # CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION
        config = self.Config((ctypes.c_uint * 7)(1, 1, 1, 1024, 1, 1, 0), torch.cuda.current_stream().cuda_stream,
                             ctypes.addressof(early), int(begins_early))
        self("cuLaunchKernelEx", ctypes.byref(config), self.late, parameters, None)

    def __call__(self, name: str, *arguments: Any) -> None:
        failed = getattr(self.cuda, name)(*arguments)
        assert failed == 0, f"{name}: error {failed}"

    def fill(self, x: torch.Tensor, value: int) -> None:
        stream = torch.cuda.current_stream().cuda_stream
        self("cuMemsetD8Async", ctypes.c_uint64(x.data_ptr()), ctypes.c_ubyte(value), ctypes.c_size_t(x.numel() * x.element_size()),
             ctypes.c_void_p(stream))

    def call(self, function: Callable[[], None]) -> None:
        """By the host, when its turn in the stream comes."""
        made = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(lambda _: function())
        self.kept.append(made)
        self("cuLaunchHostFunc", ctypes.c_void_p(torch.cuda.current_stream().cuda_stream), made, None)

    def stream_beside_default(self) -> torch.cuda.Stream:
        """One that the default stream waits for, and that waits for it; those of torch do not."""
        made = ctypes.c_void_p()
        self("cuStreamCreate", ctypes.byref(made), 0)
        return torch.cuda.ExternalStream(made.value)

    def shares_managed_memory(self) -> bool:
        can = ctypes.c_int()
        self("cuDeviceGetAttribute", ctypes.byref(can), 89, torch.cuda.current_device())  # CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS
        return bool(can.value)

    def managed(self) -> torch.Tensor:
        """Memory that the host writes, too."""
        made = ctypes.c_uint64()
        self("cuMemAllocManaged", ctypes.byref(made), ctypes.c_size_t(2 * SIZE * SIZE), 1)

        class Memory:
            __cuda_array_interface__ = {"shape": (SIZE, SIZE), "typestr": "<i2", "data": (made.value, False), "version": 3}
        return torch.as_tensor(Memory(), device="cuda").view(torch.bfloat16)


class Buffers:
    """Some matrices, what is done with them in some streams, and what should become of them, one thing after the other."""

    def __init__(self, seed: int, streams: int = 1, count: int = 4) -> None:
        self.random = random.Random(seed)
        torch.manual_seed(seed)
        self.driver = Driver()
        self.live = [numbers() for _ in range(count)]
        self.want = [x.clone() for x in self.live]
        self.matrices = [exchange() for _ in range(2)]
        self.given = [numbers().cpu().pin_memory() for _ in range(2)]
        self.rounds = []
        for _ in range(3):
            rounds = [self.random.randrange(3) for _ in range(TILES)]
            rounds[self.random.randrange(TILES)] = self.random.choice((10, 1000, LONG // 4))
            self.rounds.append((torch.tensor(rounds, dtype=torch.int32, device="cuda"), turned(tuple(rounds))))
        self.streams = [torch.cuda.Stream() for _ in range(streams)]
        torch.cuda.synchronize()

    def choose(self, length: int) -> List[Tuple[str, int, int, int, int]]:
        """Mostly programs: what is done, in which stream, from where to where, and with what."""
        names = ["product"] * 8 + ["turn"] * 4 + ["late", "copy", "fill", "negate", "upload", "sleep"]
        work = []
        for _ in range(length):
            source, target = self.random.sample(range(len(self.live)), 2)
            work.append((self.random.choice(names), self.random.randrange(len(self.streams)), source, target, self.random.randrange(1 << 16)))
        return work

    def run(self, work: List[Tuple[str, int, int, int, int]]) -> None:
        """Each stream waits for another where that has read what it writes, or written what it reads or writes."""
        wrote: Dict[int, int] = {}
        read: Dict[int, Set[int]] = {}
        for name, stream, source, target, which in work:
            reads = [source] if name in ("product", "turn", "copy") else []
            before = {wrote[x] for x in (*reads, target) if x in wrote} | read.get(target, set())
            for other in sorted(before - {stream}):
                self.streams[stream].wait_stream(self.streams[other])
            wrote[target] = stream
            read[target] = set()
            for x in reads:
                read.setdefault(x, set()).add(stream)
            with torch.cuda.stream(self.streams[stream]):
                self.do(name, self.live[source], self.live[target], which)

    def do(self, name: str, x: torch.Tensor, y: torch.Tensor, which: int) -> None:
        if name == "product":
            product(x, self.matrices[which % 2], y)
        elif name == "turn":
            turn(x, self.rounds[which % 3][0], y)
        elif name == "copy":
            y.copy_(x)
        elif name == "fill":
            self.driver.fill(y, self.byte(which))
        elif name == "negate":
            torch.neg(y, out=y)
        elif name == "late":
            self.driver.negate_late(y, which, begins_early=which % 2 == 1)
        elif name == "upload":
            y.copy_(self.given[which % 2], non_blocking=True)
        elif name == "sleep":
            torch.cuda._sleep(which * 4)

    @staticmethod
    def byte(which: int) -> int:
        return 0x30 + which % 16  # of numbers that are neither large nor none

    def expect(self, work: List[Tuple[str, int, int, int, int]]) -> None:
        for name, _, source, target, which in work:
            x = self.want[source]
            if name == "product":
                self.want[target] = times(x, self.matrices[which % 2])
            elif name == "turn":
                self.want[target] = x.gather(1, self.rounds[which % 3][1])
            elif name == "copy":
                self.want[target] = x.clone()
            elif name == "fill":
                self.want[target] = torch.full_like(x.view(torch.int16), 0x101 * self.byte(which)).view(torch.bfloat16)
            elif name in ("negate", "late"):
                self.want[target] = -self.want[target]
            elif name == "upload":
                self.want[target] = self.given[which % 2].cuda()

    def are_right(self) -> bool:
        torch.cuda.synchronize()
        return all(torch.equal(a, b) for a, b in zip(self.live, self.want))


class Order(unittest.TestCase):
    """Right behind what takes long, and writes last what the program reads first; or reads last what it writes."""

    @classmethod
    def setUpClass(cls) -> None:
        torch.manual_seed(7)
        cls.driver = Driver()
        cls.matrix = exchange()
        rounds = [LONG] + [1] * (TILES - 1)
        cls.rounds, cls.columns = torch.tensor(rounds, dtype=torch.int32, device="cuda"), turned(tuple(rounds))
        # The last rows of much that is written in order.
        cls.large = numbers(128 * SIZE, SIZE)
        cls.pinned = torch.empty(32 * SIZE, SIZE, dtype=torch.bfloat16, device="cpu").pin_memory()
        # Everything is compiled before anything is timed, or captured.
        product(numbers(), cls.matrix, numbers())
        few(numbers(FEW, SIZE), numbers(), numbers(FEW, SIZE))
        turn(numbers(), cls.rounds, numbers())
        torch.cuda.synchronize()

    def repeat(self, work: Callable[[], Tuple[torch.Tensor, torch.Tensor]], count: int = 12) -> None:
        """Returns what came out and what should have."""
        wrong = 0
        for _ in range(count):
            got, want = work()
            torch.cuda.synchronize()
            wrong += not torch.equal(got, want)
        self.assertEqual(wrong, 0, f"wrong in {wrong} of {count} runs")

    def product_of(self, x: torch.Tensor) -> torch.Tensor:
        y = torch.full((SIZE, SIZE), float("nan"), dtype=torch.bfloat16, device="cuda")
        torch.cuda.synchronize()  # nothing is between the two
        return y

    def test_kernel_that_lets_the_next_begin(self) -> None:
        def work() -> Tuple[torch.Tensor, torch.Tensor]:
            x, y = numbers(), numbers()
            out = self.product_of(y)
            turn(x, self.rounds, y)
            product(y, self.matrix, out)
            return out, times(x.gather(1, self.columns), self.matrix)
        self.repeat(work)

    def test_kernels_of_others_that_let_the_next_begin(self) -> None:
        def work() -> Tuple[torch.Tensor, torch.Tensor]:
            x = numbers()
            want = times(-x, self.matrix)
            out = self.product_of(x)
            self.driver.negate_late(x, 200_000)
            product(x, self.matrix, out)
            return out, want
        self.repeat(work)

        def through_another() -> Tuple[torch.Tensor, torch.Tensor]:
            x, other = numbers(), numbers()
            want = times(-x, self.matrix)
            out = self.product_of(x)
            self.driver.negate_late(x, 1_000_000)
            self.driver.negate_late(other, 0, begins_early=True)
            product(x, self.matrix, out)
            return out, want
        self.repeat(through_another)

    def test_writes_what_the_kernel_before_reads(self) -> None:
        def work() -> Tuple[torch.Tensor, torch.Tensor]:
            x, y, z = numbers(), numbers(), numbers()
            want = x.gather(1, self.columns)
            torch.cuda.synchronize()
            turn(x, self.rounds, y)
            product(z, self.matrix, x)
            return y, want
        self.repeat(work)

    def test_writes_what_the_kernel_before_writes(self) -> None:
        def work() -> Tuple[torch.Tensor, torch.Tensor]:
            x, y, z = numbers(), numbers(), numbers()
            torch.cuda.synchronize()
            turn(x, self.rounds, y)
            product(z, self.matrix, y)
            return y, times(z, self.matrix)
        self.repeat(work)

    def test_reads_what_two_kernels_before_wrote(self) -> None:
        def work() -> Tuple[torch.Tensor, torch.Tensor]:
            x, y, z, other = numbers(), numbers(), numbers(), numbers()
            out = self.product_of(y)
            turn(x, self.rounds, y)
            product(z, self.matrix, other)
            product(y, self.matrix, out)
            return out, times(x.gather(1, self.columns), self.matrix)
        self.repeat(work)

    def test_three_that_write_over_each_other(self) -> None:
        def work() -> Tuple[torch.Tensor, torch.Tensor]:
            x, y = numbers(), numbers()
            want = x.gather(1, self.columns)
            for _ in range(30):
                want = times(want, self.matrix)
            torch.cuda.synchronize()
            turn(x, self.rounds, y)
            for _ in range(15):
                product(y, self.matrix, x)
                product(x, self.matrix, y)
            return y, want
        self.repeat(work)

    def test_copy(self) -> None:
        def work() -> Tuple[torch.Tensor, torch.Tensor]:
            given, there = numbers(128 * SIZE, SIZE), self.large
            x = there[-SIZE:]
            out = self.product_of(x)
            there.copy_(given)
            product(x, self.matrix, out)
            return out, times(given[-SIZE:], self.matrix)
        self.repeat(work)

    def test_copy_from_the_host(self) -> None:
        def work() -> Tuple[torch.Tensor, torch.Tensor]:
            given = numbers().cpu()
            self.pinned[-SIZE:] = given
            there = self.large[:32 * SIZE]
            x = there[-SIZE:]
            out = self.product_of(x)
            there.copy_(self.pinned, non_blocking=True)
            product(x, self.matrix, out)
            return out, times(given.cuda(), self.matrix)
        self.repeat(work)

    def test_copy_to_the_host_behind_it(self) -> None:
        def work() -> Tuple[torch.Tensor, torch.Tensor]:
            x, y, out = numbers(), numbers(), self.pinned[:SIZE]
            want = times(x.gather(1, self.columns), self.matrix)
            out.fill_(float("nan"))
            torch.cuda.synchronize()
            turn(x, self.rounds, y)
            product(y, self.matrix, x)
            out.copy_(x, non_blocking=True)
            torch.cuda.synchronize()
            return out.cuda(), want
        self.repeat(work)

    def test_fill(self) -> None:
        bytes_of = iter(range(0x30, 0x40))

        def work() -> Tuple[torch.Tensor, torch.Tensor]:
            value, x = next(bytes_of), self.large[-SIZE:]
            out = self.product_of(x)
            self.driver.fill(self.large, value)
            product(x, self.matrix, out)
            return out, times(torch.full_like(x.view(torch.int16), 0x101 * value).view(torch.bfloat16), self.matrix)
        self.repeat(work)

    def test_kernel_of_torch(self) -> None:
        def work() -> Tuple[torch.Tensor, torch.Tensor]:
            self.large.normal_()
            x = self.large[-SIZE:]
            want = times(-x, self.matrix)
            out = self.product_of(x)
            torch.cuda._sleep(1_000_000)
            torch.neg(self.large, out=self.large)
            product(x, self.matrix, out)
            return out, want
        self.repeat(work)

    def test_kernel_of_torch_behind_it(self) -> None:
        def work() -> Tuple[torch.Tensor, torch.Tensor]:
            x, y, z = numbers(), numbers(), numbers()
            torch.cuda.synchronize()
            turn(x, self.rounds, y)
            product(y, self.matrix, z)
            torch.neg(z, out=z)
            return z, -times(x.gather(1, self.columns), self.matrix)
        self.repeat(work)

    def test_event_of_another_stream(self) -> None:
        other = torch.cuda.Stream()

        def work() -> Tuple[torch.Tensor, torch.Tensor]:
            x, y, z, unrelated = numbers(), numbers(), numbers(), numbers()
            out = self.product_of(y)
            with torch.cuda.stream(other):
                turn(x, self.rounds, y)
                done = other.record_event()
            product(z, self.matrix, unrelated)  # this one need not wait
            torch.cuda.current_stream().wait_event(done)
            product(y, self.matrix, out)
            return out, times(x.gather(1, self.columns), self.matrix)
        for stream in (torch.cuda.default_stream(), torch.cuda.Stream()):
            with torch.cuda.stream(stream):
                self.repeat(work)

    def test_event_behind_it(self) -> None:
        other = torch.cuda.Stream()

        def work() -> Tuple[torch.Tensor, torch.Tensor]:
            x, y, z, out = numbers(), numbers(), numbers(), numbers()
            torch.cuda.synchronize()
            turn(x, self.rounds, y)
            product(y, self.matrix, z)
            done = torch.cuda.current_stream().record_event()
            with torch.cuda.stream(other):
                other.wait_event(done)
                product(z, self.matrix, out)
            return out, times(times(x.gather(1, self.columns), self.matrix), self.matrix)
        self.repeat(work)

    def test_streams_that_the_default_stream_waits_for(self) -> None:
        beside, default = self.driver.stream_beside_default(), torch.cuda.default_stream()
        for first, second in ((beside, default), (default, beside)):
            def work() -> Tuple[torch.Tensor, torch.Tensor]:
                x, y = numbers(), numbers()
                out = self.product_of(y)
                with torch.cuda.stream(first):
                    turn(x, self.rounds, y)
                with torch.cuda.stream(second):
                    product(y, self.matrix, out)
                return out, times(x.gather(1, self.columns), self.matrix)
            self.repeat(work)

    def test_function_of_the_host(self) -> None:
        if not self.driver.shares_managed_memory():
            self.skipTest("the host cannot write managed memory while the GPU works")
        x = self.driver.managed()

        def work() -> Tuple[torch.Tensor, torch.Tensor]:
            given = numbers().cpu()
            x.fill_(float("nan"))
            out = self.product_of(x)

            def write() -> None:
                time.sleep(0.002)
                ctypes.memmove(x.data_ptr(), given.data_ptr(), 2 * SIZE * SIZE)
            self.driver.call(write)
            product(x, self.matrix, out)
            return out, times(given.cuda(), self.matrix)
        self.repeat(work)

    def test_graph_before_it(self) -> None:
        x, y = numbers(), numbers()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            turn(x, self.rounds, y)

        def work() -> Tuple[torch.Tensor, torch.Tensor]:
            x.copy_(numbers())
            out = self.product_of(y)
            graph.replay()
            product(y, self.matrix, out)
            return out, times(x.gather(1, self.columns), self.matrix)
        self.repeat(work)

    def test_graph_that_begins_with_it(self) -> None:
        x, y, z = numbers(), numbers(), numbers()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            product(y, self.matrix, z)

        def work() -> Tuple[torch.Tensor, torch.Tensor]:
            x.copy_(numbers())
            torch.cuda.synchronize()
            turn(x, self.rounds, y)
            graph.replay()
            return z, times(x.gather(1, self.columns), self.matrix)
        self.repeat(work)

    def captured(self, before: Callable[[torch.Tensor, torch.Tensor], None], want: Callable[[torch.Tensor], torch.Tensor]) -> None:
        """A graph of what writes y from x, and the product of y."""
        x, y, z = numbers(), numbers(), numbers()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            before(x, y)
            product(y, self.matrix, z)

        def work() -> Tuple[torch.Tensor, torch.Tensor]:
            x.copy_(numbers())
            y.fill_(float("nan"))
            torch.cuda.synchronize()
            graph.replay()
            return z, times(want(x), self.matrix)
        self.repeat(work)

    def test_captured_behind_a_kernel(self) -> None:
        self.captured(lambda x, y: turn(x, self.rounds, y), lambda x: x.gather(1, self.columns))

    def test_captured_behind_a_kernel_of_torch(self) -> None:
        def before(x: torch.Tensor, y: torch.Tensor) -> None:
            torch.cuda._sleep(1_000_000)
            torch.neg(x, out=y)
        self.captured(before, lambda x: -x)

    def test_captured_behind_a_copy(self) -> None:
        def before(x: torch.Tensor, y: torch.Tensor) -> None:
            turn(y, self.rounds, self.large[:SIZE])
            y.copy_(x)
        self.captured(before, lambda x: x)

    def test_captured_behind_a_fill(self) -> None:
        def before(x: torch.Tensor, y: torch.Tensor) -> None:
            turn(y, self.rounds, self.large[:SIZE])
            self.driver.fill(y, 0x3b)
        self.captured(before, lambda x: torch.full_like(x.view(torch.int16), 0x3b3b).view(torch.bfloat16))

    def test_captured_behind_a_function_of_the_host(self) -> None:
        given, there = numbers().cpu().pin_memory(), numbers().cpu().pin_memory()

        def before(x: torch.Tensor, y: torch.Tensor) -> None:
            self.driver.call(lambda: ctypes.memmove(there.data_ptr(), given.data_ptr(), 2 * SIZE * SIZE) and None)
            y.copy_(there, non_blocking=True)
        self.captured(before, lambda x: given.cuda())

    def test_captured_behind_a_fork(self) -> None:
        other = torch.cuda.Stream()

        def before(x: torch.Tensor, y: torch.Tensor) -> None:
            stream = torch.cuda.current_stream()
            other.wait_stream(stream)
            turn(x, self.rounds, self.large[:SIZE])  # and beside it
            with torch.cuda.stream(other):
                turn(x, self.rounds, y)
            stream.wait_stream(other)
        self.captured(before, lambda x: x.gather(1, self.columns))

    def test_captured_in_a_fork(self) -> None:
        other, out = torch.cuda.Stream(), numbers()

        def before(x: torch.Tensor, y: torch.Tensor) -> None:
            stream = torch.cuda.current_stream()
            turn(x, self.rounds, y)
            other.wait_stream(stream)
            with torch.cuda.stream(other):
                product(y, self.matrix, out)
            product(x, self.matrix, self.large[:SIZE])
            stream.wait_stream(other)
        self.captured(before, lambda x: x.gather(1, self.columns))

    def test_in_any_order(self) -> None:
        for seed in range(12):
            buffers = Buffers(seed)
            work = buffers.choose(120)
            buffers.run(work)
            buffers.expect(work)
            self.assertTrue(buffers.are_right(), f"seed {seed}")

    def test_in_any_order_on_three_streams(self) -> None:
        for seed in range(12):
            buffers = Buffers(seed, streams=3, count=6)
            work = buffers.choose(120)
            buffers.run(work)
            buffers.expect(work)
            self.assertTrue(buffers.are_right(), f"seed {seed}")

    def captured_weights(self, before: Callable[[torch.Tensor, torch.Tensor], None], want: Callable[[torch.Tensor], torch.Tensor]) -> None:
        """A graph of what writes y from x, and the product of few rows with y."""
        x, y, rows, out = numbers(), numbers(), self.matrix[:FEW].contiguous(), numbers(FEW, SIZE)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            before(x, y)
            few(rows, y, out)

        def work() -> Tuple[torch.Tensor, torch.Tensor]:
            x.copy_(numbers())
            y.fill_(float("nan"))
            torch.cuda.synchronize()
            graph.replay()
            return out, (rows.float() @ want(x).float().T).to(torch.bfloat16)
        self.repeat(work)

    def test_captured_weights_of_the_call_before(self) -> None:
        self.captured_weights(lambda x, y: product(x, self.matrix, y), lambda x: times(x, self.matrix))

    def test_captured_weights_of_a_kernel_before_the_call_before(self) -> None:
        rows, out = numbers(FEW, SIZE), numbers(FEW, SIZE)
        for last in (few, turn):
            def before(x: torch.Tensor, y: torch.Tensor) -> None:
                turn(x, self.rounds, y)
                few(rows, self.matrix, out)
                if last is turn:
                    turn(x, self.rounds, y)
            self.captured_weights(before, lambda x: x.gather(1, self.columns))

    def test_captured_weights_of_a_kernel_of_torch_between_calls(self) -> None:
        rows, out = numbers(FEW, SIZE), numbers(FEW, SIZE)

        def before(x: torch.Tensor, y: torch.Tensor) -> None:
            few(rows, self.matrix, out)
            torch.cuda._sleep(1_000_000)
            torch.neg(x, out=y)
        self.captured_weights(before, lambda x: -x)

    def test_captured_weights_of_another_stream_that_joins(self) -> None:
        rows, out, other = numbers(FEW, SIZE), numbers(FEW, SIZE), torch.cuda.Stream()

        def before(x: torch.Tensor, y: torch.Tensor) -> None:
            stream = torch.cuda.current_stream()
            other.wait_stream(stream)
            with torch.cuda.stream(other):
                turn(x, self.rounds, y)
            few(rows, self.matrix, out)
            stream.wait_stream(other)
        self.captured_weights(before, lambda x: x.gather(1, self.columns))

    def test_captured_calls_one_behind_the_other(self) -> None:
        rows, many = self.matrix[:FEW].contiguous(), [(numbers(), numbers(FEW, SIZE)) for _ in range(8)]
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            for weights, out in many:
                few(rows, weights, out)

        def work() -> Tuple[torch.Tensor, torch.Tensor]:
            for weights, out in many:
                weights.copy_(numbers())
                out.fill_(float("nan"))
            graph.replay()
            return torch.stack([out for _, out in many]), torch.stack(
                [(rows.float() @ weights.float().T).to(torch.bfloat16) for weights, _ in many])
        self.repeat(work)

    def test_captured_in_any_order(self) -> None:
        for seed in range(12):
            buffers = Buffers(seed, streams=1 + seed % 3, count=5)
            work = buffers.choose(60)
            graph = torch.cuda.CUDAGraph()
            first, *others = buffers.streams
            with torch.cuda.graph(graph, stream=first):
                for other in others:
                    other.wait_stream(first)
                buffers.run(work)
                for other in others:
                    first.wait_stream(other)
            for _ in range(3):
                graph.replay()  # one right behind the other
                buffers.expect(work)
            self.assertTrue(buffers.are_right(), f"seed {seed}")
