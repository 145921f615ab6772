# SPDX-License-Identifier: BSD-3-Clause
"""What notebooks show of an object: a small table, every text escaped."""
import html
from typing import Iterable, Sequence


def html_table(title: str, rows: Iterable[Sequence[str]], names: Sequence[str] = ()) -> str:
    """A caption and rows; the first cell of a row is its heading where there are no names."""
    def cells(row: Sequence[str], tag: str) -> str:
        return "".join(f"<{tag}>{html.escape(text)}</{tag}>" for text in row)
    head = f"<thead><tr>{cells(names, 'th')}</tr></thead>" if names else ""
    body = "".join(f"<tr>{cells(row, 'td')}</tr>" if names else
                   f"<tr>{cells(row[:1], 'th')}{cells(row[1:], 'td')}</tr>" for row in rows)
    return f"<table><caption>{html.escape(title)}</caption>{head}<tbody>{body}</tbody></table>"


class Shown:
    """Gives a class `_repr_html_` from its repr and the facts that it names."""

    def _facts(self) -> "list[tuple[str, str]]":
        return []

    def _repr_html_(self) -> str:
        return html_table(repr(self), self._facts())
