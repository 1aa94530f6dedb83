"""PyTorch's side of kiln_bench_kernels: prints {"version": ..., "<name>": seconds}, medians of the best round.

Outputs are preallocated (`out=`) where PyTorch has such a form.
"""
import itertools
import json
import os
import statistics
import sys
import threading
import time

import torch

torch.set_num_threads(int(sys.argv[1]))
ROUNDS, REPEATS = int(sys.argv[2]), 5

CORES = sorted(os.sched_getaffinity(0))


def give_cores():
    """The first core to this thread, the others to those that PyTorch has made (as bench/Places.h does)."""
    os.sched_setaffinity(0, CORES[:1])
    others = set(map(int, os.listdir("/proc/self/task"))) - {threading.get_native_id()}
    for thread, core in zip(sorted(others), itertools.cycle(CORES[1:])):
        try:
            os.sched_setaffinity(thread, {core})
        except ProcessLookupError:
            pass  # it has ended


def seconds(work):
    work()
    if len(CORES) > 1:
        give_cores()
    best = float("inf")
    for _ in range(ROUNDS):
        times = []
        for _ in range(REPEATS):
            start = time.perf_counter()
            work()
            times.append(time.perf_counter() - start)
        best = min(best, statistics.median(times))
    return best


def attention(q, k, v, scores, out):
    torch.bmm(q, k.transpose(1, 2), out=scores)
    scores.mul_(0.125)
    torch.bmm(torch.softmax(scores, -1), v, out=out)


def rms_norm(x, w, squares, scale, y):
    torch.mul(x, x, out=squares)
    torch.mean(squares, 1, keepdim=True, out=scale)
    scale.add_(1e-6).rsqrt_()
    torch.mul(x, scale, out=y)
    y.mul_(w)


def main():
    n = 4096
    x, y, w, b = torch.randn(n, n), torch.empty(n, n), torch.randn(n), torch.randn(n)
    squares, scale = torch.empty(n, n), torch.empty(n, 1)
    mean, rstd = torch.empty(n, 1), torch.empty(n, 1)
    q, k, v = (torch.randn(8, 1024, 64) for _ in range(3))
    scores, o = torch.empty(8, 1024, 1024), torch.empty(8, 1024, 64)
    with torch.no_grad():
        try:
            torch.softmax(x, 1, out=y)
            softmax = lambda: torch.softmax(x, 1, out=y)  # noqa: E731
        except TypeError:
            softmax = lambda: torch._softmax(x, 1, False, out=y)  # noqa: E731
        layer_norm = lambda: torch.ops.aten.native_layer_norm.out(  # noqa: E731
            x, [n], w, b, 1e-5, out0=y, out1=mean, out2=rstd)
        try:
            layer_norm()
        except Exception:  # no such form in this version
            layer_norm = lambda: torch.nn.functional.layer_norm(x, [n], w, b, 1e-5)  # noqa: E731
        print(json.dumps({
            "version": torch.__version__,
            "softmax": seconds(softmax),
            "layer_norm": seconds(layer_norm),
            "rms_norm": seconds(lambda: rms_norm(x, w, squares, scale, y)),
            "attention": seconds(lambda: attention(q, k, v, scores, o)),
        }))


main()
