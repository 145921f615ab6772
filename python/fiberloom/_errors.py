# SPDX-License-Identifier: BSD-3-Clause
"""The library's errors as Python exceptions."""

_ARGUMENT_CODES = (2, 20, 21, 22)  # usage, not covered, sizes disagree, fibre range


class Error(RuntimeError):
    """What the library refuses or fails at. The message is one line: file, HDU or keyword, what was
    found, what was expected.

    exit_code: int, the code that the program would end with (docs/formats.md).
    status: str, its short name, such as "missing HDU".
    """

    def __init__(self, message: str, exit_code: int = 70, status: str = "internal error") -> None:
        super().__init__(message, exit_code, status)
        self.message = message
        self.exit_code = exit_code
        self.status = status

    def __str__(self) -> str:
        return self.message


class ArgumentError(Error, ValueError):
    """An Error about the arguments of a call: shapes that disagree, fibres that the PSF does not
    have, a grid that it does not cover."""


def make_error(message: str, exit_code: int, status: str) -> Error:
    """The exception of an exit code."""
    kind = ArgumentError if exit_code in _ARGUMENT_CODES else Error
    return kind(message, exit_code, status)
