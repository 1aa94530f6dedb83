"""A language client in a few lines: opens a file in a server, prints what the server answers.

Usage: lsp_client.py SERVER FILE [METHOD LINE:COLUMN | change FILE]...

LINE and COLUMN count from 1, as in the messages of the other tools. `change` puts the text of another file in the
place of the first one's. Exits with the server's code.
"""
import json
import subprocess
import sys


class Server:
    def __init__(self, program):
        self.process = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.requests = 0
        self.diagnosed = None

    def send(self, method, params, **fields):
        body = json.dumps({"jsonrpc": "2.0", "method": method, "params": params, **fields}).encode()
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
        self.process.stdin.flush()

    def receive(self):
        length = None
        while (header := self.process.stdout.readline().strip()) or length is None:
            if not header:
                sys.exit("the server closed the connection")
            name, value = header.split(b": ")
            if name == b"Content-Length":
                length = int(value)
        return json.loads(self.process.stdout.read(length))

    def request(self, method, params=None):
        self.requests += 1
        self.send(method, params, id=self.requests)
        while (answer := self.receive()).get("id") != self.requests:
            pass  # a notification that nobody waits for
        if "error" in answer:
            sys.exit(f"{method}: {answer['error']}")
        return answer["result"]

    def notification(self, method):
        while (message := self.receive()).get("method") != method:
            pass
        return message["params"]


def place(position):
    return f"{position['line'] + 1}:{position['character'] + 1}"


def print_diagnostics(server):
    published = server.notification("textDocument/publishDiagnostics")
    server.diagnosed = published.get("version")
    for found in published["diagnostics"]:
        print(f"diagnostic {place(found['range']['start'])}: {found['message']}")


def main(program, path, *queries):
    server = Server(program)
    capabilities = server.request("initialize", {"processId": None, "rootUri": None, "capabilities": {}})
    print("serves", capabilities["serverInfo"]["name"])
    server.send("initialized", {})

    uri = "file://" + path
    with open(path, encoding="utf-8") as file:
        document = {"uri": uri, "languageId": "mlir", "version": 1, "text": file.read()}
    server.send("textDocument/didOpen", {"textDocument": document})
    print_diagnostics(server)

    for version, (method, where) in enumerate(zip(queries[::2], queries[1::2]), 2):
        if method == "change":
            print("change")
            with open(where, encoding="utf-8") as file:
                changes = [{"text": file.read()}]
            server.send("textDocument/didChange",
                        {"textDocument": {"uri": uri, "version": version}, "contentChanges": changes})
            while server.diagnosed != version:  # a document that is closed loses its diagnostics first
                print_diagnostics(server)
            continue
        line, column = (int(number) - 1 for number in where.split(":"))
        at = {"textDocument": {"uri": uri}, "position": {"line": line, "character": column}}
        answer = server.request("textDocument/" + method, at)
        if method == "definition":
            print("definition", *(place(found["range"]["start"]) for found in answer))
        else:
            print(method, json.dumps(answer))

    server.request("shutdown")
    server.send("exit", None)
    return server.process.wait(timeout=60)


sys.exit(main(*sys.argv[1:]))
