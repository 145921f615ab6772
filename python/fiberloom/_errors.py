# SPDX-License-Identifier: BSD-3-Clause
"""The library's errors as Python exceptions: FiberloomError, and below it one class for each builtin exception
that a caller would look for."""
import errno
from typing import Dict, Type


class FiberloomError(RuntimeError):
    """What the library refuses or fails at.

    The message is one line: file, HDU or keyword, what was found, what was expected. Subclasses are
    also the builtin exception of their kind, so that ``except FileNotFoundError`` does.

    Attributes
    ----------
    message : str
        The line.
    exit_code : int
        The code that the program would end with (docs/formats.md).
    status : str
        Its short name, such as "missing HDU".

    Examples
    --------
    >>> import fiberloom as fl
    >>> try:
    ...     fl.read_image("nowhere.fits")
    ... except fl.FiberloomError as error:
    ...     print(error.exit_code, isinstance(error, FileNotFoundError))
    10 True
    """

    def __init__(self, message: str, exit_code: int = 70, status: str = "internal error") -> None:
        super().__init__(message, exit_code, status)
        self.message = message
        self.exit_code = exit_code
        self.status = status

    def __str__(self) -> str:
        return self.message


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
    30: OutputError, 31: DiskFullError, 32: OutputExistsError, 40: NumericalError, 60: DeviceError}


def make_error(message: str, exit_code: int, status: str) -> FiberloomError:
    """The exception of an exit code."""
    return _KINDS.get(exit_code, FiberloomError)(message, exit_code, status)
