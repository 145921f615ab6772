# SPDX-License-Identifier: BSD-3-Clause
"""`python -m tomoloom`: the command line, which is the program itself and no copy of it."""
import os
import pathlib
import sys
from typing import NoReturn


def program() -> pathlib.Path:
    """Path of the program that came with the package, or $TOMOLOOM_PROGRAM."""
    given = os.environ.get("TOMOLOOM_PROGRAM")
    return pathlib.Path(given) if given else pathlib.Path(__file__).parent / "bin" / "tomoloom"


def main() -> NoReturn:
    path = program()
    sys.stdout.flush()
    try:
        os.execv(path, [str(path), *sys.argv[1:]])
    except OSError as error:
        sys.exit(f"tomoloom: error: {path}: cannot be run ({error.strerror}); "
                 "TOMOLOOM_PROGRAM names another one")


if __name__ == "__main__":
    main()
