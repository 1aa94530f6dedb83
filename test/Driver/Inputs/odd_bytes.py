"""odd_bytes.py FOLDER: writes programs with odd bytes. odd_bytes.py FOLDER COMMAND KILN...: runs one with --json."""
import json
import os
import subprocess
import sys

folder, rest = os.fsencode(sys.argv[1]), sys.argv[2:]
program = os.path.join(folder, b"odd\xffname.mlir")
COPY = b"""kiln.func @copy(%x: !kiln.tensor<8x8xf32> in, %y: !kiln.tensor<8x8xf32> out) incore {
  %t = tile.load %x[0, 0] : !tile.tile<8x8xf32>
  tile.store %t, %y[0, 0]
}
"""
REQUIRE = b"""kiln.func @f(%n: index) orchestration {
  %c = arith.constant 5 : index
  %ok = arith.cmpi sgt, %n, %c : index
  kiln.require %ok, "bad \\1B[31m \\00 message"
}
"""
if not rest:
    for name, text in ((program, COPY), (os.path.join(folder, b"message.mlir"), REQUIRE)):
        with open(name, "wb") as file:
            file.write(text)
else:
    extra = ["--no-reference"] if rest[0] == "run" else []
    done = subprocess.run([rest[1], rest[0], program, "--json", *extra], stdout=subprocess.PIPE)
    report = json.loads(done.stdout)
    print(f"exit code {done.returncode}, {report['verdict'] if 'verdict' in report else 'ok ' + str(report['ok'])}")
