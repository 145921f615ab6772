# SPDX-License-Identifier: BSD-3-Clause
"""The library's errors as Python exceptions."""
from typing import Any, Dict, Tuple, Type


class SkyloomError(RuntimeError):
    """What the library refuses or fails at. The message is one line.

    Attributes
    ----------
    message : str
        The line.
    exit_code : int
        The code that the program would end with (docs/skyloom/formats.md).
    status : str
        Its short name.
    """

    def __init__(self, message: str, exit_code: int = 70, status: str = "internal error") -> None:
        super().__init__(message, exit_code, status)
        self.message = message
        self.exit_code = exit_code
        self.status = status

    def __str__(self) -> str:
        return self.message

    def __reduce__(self) -> Tuple[Any, ...]:
        return type(self), self.args


class ArgumentError(SkyloomError, ValueError):
    """About the arguments of a call: a resolution that is none, a spectrum that is not positive, a word that is no
    option. A ValueError."""


class NoGoodDataError(SkyloomError, ValueError):
    """Every sample is flagged, or every pixel is seen at too few angles."""


_KINDS: Dict[int, Type[SkyloomError]] = {2: ArgumentError, 11: ArgumentError, 14: ArgumentError, 20: ArgumentError, 21: ArgumentError,
                                         22: NoGoodDataError}


def make_error(message: str, exit_code: int, status: str) -> SkyloomError:
    """The exception of an exit code."""
    return _KINDS.get(exit_code, SkyloomError)(message, exit_code, status)
