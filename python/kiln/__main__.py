"""`python -m kiln` is the tool `kiln` that belongs to this package: `python -m kiln run PROG`. A wheel has it as `kiln`, too."""
from __future__ import annotations

import os
import sys
from typing import NoReturn

from . import _library


def _become(tool: str) -> NoReturn:
    try:
        file = str(_library.tool(tool))
    except (ImportError, FileNotFoundError) as error:
        sys.exit(str(error))
    sys.stdout.flush()
    os.execv(file, [file, *sys.argv[1:]])


def main() -> NoReturn:
    """The tool `kiln`."""
    _become("kiln")


def main_exec() -> NoReturn:
    """The tool `kiln-exec`, which runs bundles."""
    _become("kiln-exec")


if __name__ == "__main__":
    main()
