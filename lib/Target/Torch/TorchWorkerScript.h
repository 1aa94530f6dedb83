//===- TorchWorkerScript.h - the Python side of TorchWorker -------------------------===//
#ifndef KILN_LIB_TARGET_TORCH_TORCHWORKERSCRIPT_H
#define KILN_LIB_TARGET_TORCH_TORCHWORKERSCRIPT_H

namespace kiln::torch {

// Messages go both ways over one socket, which is fd 0: eight bytes with the length of a JSON
// header, the header, and as many raw bytes as its "bytes" says. The first message is the worker's:
// whether there is torch, and its number.
//
// Where `forks` is true, which a line before it says, it is another process: what comes over fd 0
// are pairs of a socket and a pipe, and for each pair a fork, which has torch already, is the
// worker on that socket with that pipe for what it prints.
inline constexpr const char *kWorkerScript = R"py(
import ctypes, importlib.util, json, linecache, os, signal, socket, sys, traceback

sys.path = [entry for entry in sys.path if entry]  # not the current folder: it may hold a torch
# Threads of OpenBLAS that have nothing to do sleep at once, instead of taking a core from others.
os.environ.setdefault('OPENBLAS_THREAD_TIMEOUT', '4')
link = socket.socket(fileno=os.dup(0))
os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
os.dup2(2, 1)  # what a program prints is not part of the protocol


def send(header, *payload):
    header['bytes'] = sum(map(len, payload))
    text = json.dumps(header).encode()
    link.sendall(len(text).to_bytes(8, 'little') + text)
    for data in payload:
        link.sendall(data)


def receive(count):
    data = bytearray(count)
    view = memoryview(data)
    while view:
        got = link.recv_into(view)
        if got == 0:
            os._exit(0)  # the other side is gone, and with it whoever would read what is left
        view = view[got:]
    return data


def make_tensor(torch, spec, regions):
    dtype = getattr(torch, spec['dtype'])
    if 0 in spec['extents']:
        return torch.empty(spec['extents'], dtype=dtype)
    region, offset, count = regions[spec['region']], spec['offset'], spec['span']
    flat = torch.frombuffer(region, dtype=dtype, offset=offset, count=count)
    return torch.as_strided(flat, spec['extents'], spec['strides'])


def make_scalar(spec):
    if 'float' in spec:
        return float.fromhex(spec['float'])
    return bool(spec['bool']) if 'bool' in spec else int(spec['int'])


def load(source):
    name, module = '<kiln reference>', {'__name__': 'kiln_reference'}
    linecache.cache[name] = (len(source), None, source.splitlines(True), name)  # for tracebacks
    exec(compile(source, name, 'exec'), module)
    return module


def run(request, regions):
    global record
    import torch
    module = load(request['source'])
    watcher = None
    if 'record' in request:
        record = None  # its memory, before there is more of it
        watcher = Record(torch, module.get('_run_task'), request['record'])
        module['_run_task'] = watcher.run_task
    args = []
    for spec in request['args']:
        args.append(make_tensor(torch, spec, regions) if 'region' in spec else make_scalar(spec))
    with torch.no_grad():
        module[request['entry']](*args)
    if watcher is None or watcher.tasks is None:
        return {}
    record = watcher
    return {'tasks': len(record.tasks)}


# What was recorded last: a Record, or None.
record = None


def bytes_at(begin, end):
    return bytes((ctypes.c_char * (end - begin)).from_address(begin))


def bytes_of(tensor):
    whole = tensor.contiguous()
    return bytes_at(whole.data_ptr(), whole.data_ptr() + whole.numel() * whole.element_size())


class Record:
    """Each task of a run with its arguments, and what their memory held before and after.

    Memory that did not change in between is kept once. tasks is None once limit bytes do not do."""

    def __init__(self, torch, perform, limit):
        self.torch, self.perform, self.left = torch, perform, limit
        self.tasks, self.latest = [], {}

    def run_task(self, kernel, grid, *args):
        if self.tasks is None:
            return self.perform(kernel, grid, *args)
        regions = self.regions_of(args)
        before = [self.keep(region) for region in regions]
        self.perform(kernel, grid, *args)
        after = [self.keep(region) for region in regions]
        if self.left < 0:
            self.tasks = self.latest = None
        else:
            specs = [self.describe(arg, regions) for arg in args]
            self.tasks.append((kernel, grid, specs, before, after))

    def span(self, tensor):
        return 1 + sum((n - 1) * step for n, step in zip(tensor.shape, tensor.stride()))

    def regions_of(self, args):
        """Where the tensors lie; what overlaps is one region."""
        regions = []
        tensors = [arg for arg in args if isinstance(arg, self.torch.Tensor) and arg.numel() > 0]
        for tensor in sorted(tensors, key=lambda tensor: tensor.data_ptr()):
            begin = tensor.data_ptr()
            end = begin + self.span(tensor) * tensor.element_size()
            if regions and begin < regions[-1][1]:
                begin, end = regions[-1][0], max(end, regions.pop()[1])
            regions.append((begin, end))
        return regions

    def keep(self, region):
        if self.left < 0:
            return None
        now = bytes_at(*region)
        if self.latest.get(region) != now:
            self.left -= len(now)
            self.latest[region] = now
        return self.latest[region]

    def describe(self, arg, regions):
        if not isinstance(arg, self.torch.Tensor):
            return arg
        spec = {'dtype': str(arg.dtype).split('.')[-1], 'extents': list(arg.shape),
                'strides': list(arg.stride())}
        for number, (begin, end) in enumerate(regions):
            if arg.numel() > 0 and begin <= arg.data_ptr() < end:
                spec.update(region=number, offset=arg.data_ptr() - begin, span=self.span(arg))
        return spec

    def arguments(self, specs, memory):
        regions = [bytearray(data) for data in memory]
        return regions, [make_tensor(self.torch, spec, regions) if isinstance(spec, dict) else spec
                         for spec in specs]


def rerun(request):
    """Runs recorded tasks again, up to the first that computes something else or fails."""
    module, kernels, count = load(request['source']), set(request['kernels']), 0
    for number, (kernel, grid, specs, before, after) in enumerate(record.tasks):
        if number < request['first'] or kernel not in kernels:
            continue
        count += 1
        regions, args = record.arguments(specs, before)
        try:
            with record.torch.no_grad():
                module['_tasks'][kernel](grid, *args)
        except BaseException as error:
            return {'rerun': count, 'task': number, 'kernel': kernel, **failure(error)}, []
        if regions == after:
            continue
        changed, payload = [], []
        wanted = record.arguments(specs, after)[1]
        for position, (have, want) in enumerate(zip(args, wanted)):
            if isinstance(specs[position], dict) and bytes_of(have) != bytes_of(want):
                was = bytes_of(want)
                changed.append({'argument': position, 'extents': list(want.shape), 'bytes': len(was)})
                payload += [was, bytes_of(have)]
        return {'rerun': count, 'task': number, 'kernel': kernel, 'changed': changed}, payload
    return {'rerun': count}, []


def failure(error):
    message = ''.join(traceback.format_exception_only(type(error), error)).strip()
    frames = traceback.extract_tb(error.__traceback__)
    lines = [frame.lineno for frame in reversed(frames) if frame.filename == '<kiln reference>']
    return {'error': message, 'traceback': traceback.format_exc(), 'lines': lines}


def await_pair(requests):
    """Returns in a fork, with its pair."""
    import gc, torch
    gc.freeze()  # collecting would touch, so copy, every object that forks share
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for forks
    while True:
        data, pair, _, _ = socket.recv_fds(requests, 1, 2)
        if not data:
            os._exit(0)
        if os.fork() == 0:
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            os.setpgid(0, 0)
            requests.close()
            return pair
        for fd in pair:
            os.close(fd)


if forks:
    fd, output = await_pair(link)
    link = socket.socket(fileno=fd)
    os.dup2(output, 1)
    os.dup2(output, 2)
    os.close(output)
spec = importlib.util.find_spec('torch')
send({'torch': bool(spec and spec.origin), 'pid': os.getpid()})
while True:
    request = json.loads(receive(int.from_bytes(receive(8), 'little')))
    regions = [receive(size) for size in request['regions']]
    try:
        if 'kernels' in request:
            header, payload = rerun(request)
        else:
            header, payload = run(request, regions), regions
    except BaseException as error:
        header, payload = failure(error), []
    send(header, *payload)
)py";

} // namespace kiln::torch

#endif // KILN_LIB_TARGET_TORCH_TORCHWORKERSCRIPT_H
