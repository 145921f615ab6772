# SPDX-License-Identifier: BSD-3-Clause
"""The library's errors as Python exceptions: FiberloomError, and below it one class for each builtin exception
that a caller would look for."""
import errno
import os
import re
from types import TracebackType
from typing import Any, Dict, Optional, Tuple, Type


class FiberloomError(RuntimeError):
    """What the library refuses or fails at.

    The message is one line: file, HDU or keyword, what was found, what was expected. Subclasses are
    also the builtin exception of their kind, so that ``except FileNotFoundError`` does.

    Attributes
    ----------
    message : str
        The line.
    exit_code : int
        The code that the program would end with (docs/fiberloom/formats.md).
    status : str
        Its short name, such as "missing HDU".
    filename : str or None
        The file that it is about.

    Examples
    --------
    >>> import fiberloom as fl
    >>> try:
    ...     fl.read_image("nowhere.fits")
    ... except fl.FiberloomError as error:
    ...     print(error.exit_code, isinstance(error, FileNotFoundError), error.filename)
    10 True nowhere.fits
    """

    filename: Optional[str] = None

    def __init__(self, message: str, exit_code: int = 70, status: str = "internal error") -> None:
        super().__init__(message, exit_code, status)
        self.message = message
        self.exit_code = exit_code
        self.status = status

    def __str__(self) -> str:
        return self.message

    def __reduce__(self) -> Tuple[Any, ...]:
        # an OSError keeps these outside of its dictionary
        kept = {name: getattr(self, name) for name in ("filename", "strerror") if hasattr(self, name)}
        return type(self), self.args, {**self.__dict__, **kept}


Error = FiberloomError  # its first name


class ArgumentError(FiberloomError, ValueError):
    """About the arguments of a call: shapes that disagree, fibres that the PSF does not have, a grid that it does
    not cover. A ValueError."""


class FormatError(FiberloomError, ValueError):
    """A file that is not what it should be: an HDU or keyword missing, of the wrong shape, corrupted, of a kind
    that is not supported. A ValueError."""


class NotFoundError(FiberloomError, FileNotFoundError):
    """An input file that is missing or cannot be read. A FileNotFoundError."""

    errno = errno.ENOENT


class OutputError(FiberloomError, OSError):
    """An output that cannot be written. An OSError."""

    errno = errno.EIO


class DiskFullError(OutputError):
    """No space left, or a quota. An OSError with errno ENOSPC."""

    errno = errno.ENOSPC


class OutputExistsError(FiberloomError, FileExistsError):
    """The output exists and was not to be replaced. A FileExistsError."""

    errno = errno.EEXIST


class NumericalError(FiberloomError, ArithmeticError):
    """The equations could not be solved. An ArithmeticError."""


class DeviceError(FiberloomError):
    """The card that was asked for is not there, too small, or failed."""


_KINDS: Dict[int, Type[FiberloomError]] = {
    2: ArgumentError, 20: ArgumentError, 21: ArgumentError, 22: ArgumentError,
    10: NotFoundError, 11: FormatError, 12: FormatError, 13: FormatError, 14: FormatError, 15: FormatError,
    80: FormatError, 81: ArgumentError, 82: ArgumentError, 83: FormatError, 30: OutputError, 31: DiskFullError, 32: OutputExistsError, 40: NumericalError, 60: DeviceError}


def make_error(message: str, exit_code: int, status: str, system_error: int = 0) -> FiberloomError:
    """The exception of an exit code; `system_error` is the errno of a call that the system refused, or 0."""
    error = _KINDS.get(exit_code, FiberloomError)(message, exit_code, status)
    if isinstance(error, OSError):
        error.errno = system_error or error.errno
        error.strerror = os.strerror(error.errno or 0)
    return error


_CONTROLS = {code: f"\\x{code:02x}" for code in (*range(32), 127)}
_CONTROLS[10] = "\\n"


class about:
    """``with about(path, ...):`` gives the errors raised inside the `filename` that their message starts with: one
    of the paths, the file really read (X.gz for X), or one in a folder."""

    def __init__(self, *paths: str) -> None:
        self._paths = paths

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: Optional[Type[BaseException]], error: Optional[BaseException],
                 trace: Optional[TracebackType]) -> None:
        if not isinstance(error, FiberloomError) or error.filename is not None:
            return
        for path in sorted(filter(None, self._paths), key=len, reverse=True):
            for beginning in (path, path[:-3] if path.endswith(".gz") else path):
                shown = beginning.translate(_CONTROLS)  # messages are one line
                more = re.match(r"(\.gz|/[^:]*)?:", error.message[len(shown):])
                if error.message.startswith(shown) and more:
                    error.filename = beginning + (more[1] or "")
                    return
