"""Rewrites what tuning has kept in a folder, where it chose BM: keep_values.py FOLDER NAME=VALUE..."""
import json
import pathlib
import sys

for file in pathlib.Path(sys.argv[1]).glob('*.json'):
    kept = json.loads(file.read_text())
    if 'BM' in kept['values']:
        kept['values'] = dict(pair.split('=') for pair in sys.argv[2:])
        file.write_text(json.dumps(kept))
