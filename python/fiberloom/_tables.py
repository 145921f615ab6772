# SPDX-License-Identifier: BSD-3-Clause
"""Columns of FITS tables as numpy arrays, and how headers and tables show themselves."""
from typing import TYPE_CHECKING, Any, List, Tuple

import numpy as np
import numpy.typing as npt

from ._html import html_table

if TYPE_CHECKING:
    from ._core import Header, Table

_masked: Any = np.ma  # numpy 1 knows no types of it
_SHOWN_ROWS, _SHOWN_COLUMNS, _SHOWN_KEYS = 10, 12, 60


def table_keys(table: "Table") -> List[str]:
    """Names of the columns that numpy has a type for."""
    return list(table.rows.dtype.names or ())


def _column(table: "Table", name: str) -> "npt.NDArray[Any]":
    """Integers that are undefined (TNULL) are masked, scaled ones NaN."""
    kinds = {n: (letter, scale, zero) for n, letter, scale, zero in table.columns}
    if name not in table_keys(table):
        near = [n for n in table_keys(table) if n.upper() == name.upper()]
        if not near:
            raise KeyError(name)
        name = near[0]  # FITS minds no case
    null = table.nulls.get(name)
    values = _numbers_of(table.rows[name], *kinds[name])
    undefined = None if null is None else table.rows[name] == null
    if undefined is None or not undefined.any():
        return values
    if values.dtype.kind == "f":
        return np.where(undefined, np.nan, values)
    masked: "np.ma.MaskedArray[Any, Any]" = _masked.MaskedArray(values, mask=undefined)
    return masked


def _numbers_of(values: "npt.NDArray[Any]", letter: str, scale: float, zero: float) -> "npt.NDArray[Any]":
    """What the stored values say, TNULL aside."""
    if letter == "L":
        return np.asarray(values == b"T")
    if values.dtype.kind == "S":
        return np.asarray(np.char.rstrip(np.char.decode(values, "ascii", "replace"), " \0"))
    native = np.array(values, dtype=values.dtype.newbyteorder("="))
    half = 2 ** (8 * native.dtype.itemsize - 1)
    if native.dtype.kind == "i" and scale == 1 and zero == half:  # how FITS keeps unsigned integers
        unsigned = native.view(native.dtype.str.replace("i", "u"))
        return np.asarray(unsigned ^ unsigned.dtype.type(half))
    return native if (scale, zero) == (1, 0) else np.asarray(native * scale + zero)


def table_item(table: "Table", key: Any) -> Any:
    """A column by name, or rows by number, slice or mask (as in the file, a structured array)."""
    return _column(table, key) if isinstance(key, str) else table.rows[key]


def table_repr(table: "Table") -> str:
    names = table_keys(table)
    more = " ..." if len(names) > _SHOWN_COLUMNS else ""
    return (f"<fiberloom.Table {len(table)} rows x {len(names)} columns: "
            f"{' '.join(names[:_SHOWN_COLUMNS])}{more}>")


def table_html(table: "Table") -> str:
    names = table_keys(table)[:_SHOWN_COLUMNS]
    columns = [_column(table, name)[:_SHOWN_ROWS] for name in names]
    rows = [[str(column[i]) for column in columns] for i in range(min(len(table), _SHOWN_ROWS))]
    return html_table(table_repr(table), rows, names)


def header_repr(header: "Header") -> str:
    return f"<fiberloom.Header {len(header)} keywords: {' '.join(header.keys()[:_SHOWN_COLUMNS])} ...>"


def header_html(header: "Header") -> str:
    rows: List[Tuple[str, ...]] = [(key, str(header[key]), header.comment(key)) for key in header.keys()[:_SHOWN_KEYS]]
    return html_table(f"<fiberloom.Header {len(header)} keywords>", rows, ("keyword", "value", "comment"))
