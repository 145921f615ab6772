# SPDX-License-Identifier: BSD-3-Clause
"""The library's errors as Python exceptions."""
from typing import Any, Dict, Tuple, Type


class TomoloomError(RuntimeError):
    """What the library refuses or fails at. The message is one line.

    Attributes
    ----------
    message : str
        The line.
    exit_code : int
        The code that the program would end with (docs/tomoloom/formats.md).
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


class ArgumentError(TomoloomError, ValueError):
    """About the arguments of a call: angles that are not one a projection, an axis outside, a word that is no
    option or does not go with another. A ValueError."""


_KINDS: Dict[int, Type[TomoloomError]] = {2: ArgumentError, 15: ArgumentError, 20: ArgumentError, 21: ArgumentError, 22: ArgumentError}


def make_error(message: str, exit_code: int, status: str) -> TomoloomError:
    """The exception of an exit code."""
    return _KINDS.get(exit_code, TomoloomError)(message, exit_code, status)
