//===- TorchWorkerScript.h - the Python side of TorchWorker -------------------------===//
#ifndef KILN_LIB_TARGET_TORCH_TORCHWORKERSCRIPT_H
#define KILN_LIB_TARGET_TORCH_TORCHWORKERSCRIPT_H

namespace kiln::torch {

// Messages go both ways over one socket, which is fd 0: eight bytes with the length of a JSON
// header, the header, and as many raw bytes as its "bytes" says. The first message is the worker's:
// whether there is torch.
inline constexpr const char *kWorkerScript = R"py(
import importlib.util, json, linecache, os, socket, sys, traceback

sys.path = [entry for entry in sys.path if entry]  # not the current folder: it may hold a torch
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
            sys.exit(0)  # the other side is gone
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


def serve(request, regions):
    import torch
    name, source = '<kiln reference>', request['source']
    linecache.cache[name] = (len(source), None, source.splitlines(True), name)  # for tracebacks
    module = {'__name__': 'kiln_reference'}
    exec(compile(source, name, 'exec'), module)
    args = []
    for spec in request['args']:
        args.append(make_tensor(torch, spec, regions) if 'region' in spec else make_scalar(spec))
    with torch.no_grad():
        module[request['entry']](*args)


spec = importlib.util.find_spec('torch')
send({'torch': bool(spec and spec.origin)})
while True:
    request = json.loads(receive(int.from_bytes(receive(8), 'little')))
    regions = [receive(size) for size in request['regions']]
    try:
        serve(request, regions)
    except BaseException as error:
        message = ''.join(traceback.format_exception_only(type(error), error)).strip()
        send({'error': message, 'traceback': traceback.format_exc()})
    else:
        send({}, *regions)
)py";

} // namespace kiln::torch

#endif // KILN_LIB_TARGET_TORCH_TORCHWORKERSCRIPT_H
