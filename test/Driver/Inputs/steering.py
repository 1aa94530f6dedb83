"""steering.py MANIFEST: gives the first record of a dump a stage that would steer a terminal."""
import json
import pathlib
import sys

manifest = pathlib.Path(sys.argv[1])
content = json.loads(manifest.read_text())
content["entries"][0]["stage"] = "\x1b[2J\x9b2J\u202e" + content["entries"][0]["stage"]
manifest.write_text(json.dumps(content))
