# SPDX-License-Identifier: BSD-3-Clause
"""`python -m skyloom`: the command line, which is the program itself and no copy of it."""
import os
import pathlib
import sys
from typing import NoReturn


def program() -> pathlib.Path:
    """Path of the program that came with the package, or $SKYLOOM_PROGRAM."""
    given = os.environ.get("SKYLOOM_PROGRAM")
    return pathlib.Path(given) if given else pathlib.Path(__file__).parent / "bin" / "skyloom"


def main() -> NoReturn:
    path = program()
    sys.stdout.flush()
    try:
        os.execv(path, [str(path), *sys.argv[1:]])
    except OSError as error:
        sys.exit(f"skyloom: error: {path}: cannot be run ({error.strerror}); "
                 "SKYLOOM_PROGRAM names another one")


if __name__ == "__main__":
    main()
