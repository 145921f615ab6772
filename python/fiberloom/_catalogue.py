# SPDX-License-Identifier: BSD-3-Clause
"""A catalogue: what was found, in a database."""
import math
from types import TracebackType
from typing import TYPE_CHECKING, Any, Dict, List, Literal, Optional, Sequence, Tuple, Type, Union, overload

import numpy as np

from . import _arguments as check
from . import _core
from ._types import PathLike, Progress

if TYPE_CHECKING:
    import astropy.table
    import pandas

_KINDS = ("arrays", "astropy", "pandas")
Numbers = Union[int, Sequence[int]]
Names = Union[str, Sequence[str]]
_masked: Any = np.ma  # numpy 1 knows no types of it


def _items(name: str, value: Any, what: str) -> List[Any]:
    try:
        return list(value)
    except TypeError:
        raise TypeError(f"{name}: expected {what}, got {type(value).__name__}") from None


def _names(name: str, value: Any) -> List[str]:
    """One name or several."""
    names = [value] if isinstance(value, str) else _items(name, value, "names")
    for one in names:
        if not isinstance(one, str):
            raise TypeError(f"{name}: expected names, got {type(one).__name__}")
    return names


def _integers(name: str, value: Any) -> List[int]:
    """One whole number or several."""
    values = [value] if isinstance(value, (int, np.integer)) else _items(name, value, "whole numbers")
    return [check.integer(name, one, -2**63, 2**63 - 1) for one in values]


def _is_finite(value: Any) -> bool:
    if isinstance(value, bool) or not isinstance(value, (int, float, np.integer, np.floating)):
        return False
    try:
        return math.isfinite(value)
    except OverflowError:  # an integer beyond all floats
        return False


def _numbers(name: str, value: Any, what: str, count: int) -> List[Optional[float]]:
    """So many finite numbers, or None in the place of one."""
    values = _items(name, value, what)
    if len(values) != count or not all(one is None or _is_finite(one) for one in values):
        raise ValueError(f"{name}: expected {what}, got {value!r}")
    return [None if one is None else float(one) for one in values]


def _array(values: Any, known: Any) -> "np.ma.MaskedArray[Any, Any] | np.ndarray[Any, Any]":
    """Numbers that are NULL are NaN, integers masked, texts empty."""
    known = known.astype(bool)
    if isinstance(values, list):
        return np.array(values, dtype=str) if values else np.empty(0, dtype="U1")
    if known.all():
        return np.asarray(values)
    if values.dtype.kind == "f":
        return np.where(known, values, np.nan)
    masked: "np.ma.MaskedArray[Any, Any]" = _masked.MaskedArray(values, mask=~known)
    return masked


def _of_pandas(values: Any) -> Any:
    """Masked integers as pandas' own that may be missing: as numbers they would lose digits."""
    if not _masked.isMaskedArray(values):
        return values
    from pandas.arrays import IntegerArray
    return IntegerArray(values.data, np.array(values.mask))


class Catalogue:
    """A catalogue that `fiberloom catalogue load` has made, or `load` does.

    Parameters
    ----------
    url : path or str
        A SQLite file, or "postgresql://user@host/name".

    Examples
    --------
    >>> import fiberloom as fl
    >>> try:
    ...     fl.Catalogue("nowhere.sqlite").query()
    ... except fl.NotFoundError as error:
    ...     print(error.exit_code)
    10
    """

    def __init__(self, url: PathLike) -> None:
        self.url = check.path("url", url)

    def __repr__(self) -> str:
        return f"<fiberloom.Catalogue {self.url.rsplit('@', 1)[-1]}>"

    def __enter__(self) -> "Catalogue":
        return self

    def __exit__(self, kind: Optional[Type[BaseException]], error: Optional[BaseException],
                 trace: Optional[TracebackType]) -> None:
        """Nothing stays open between calls."""

    def load(self, files: Union[PathLike, Sequence[PathLike]], *, again: bool = False, verify: bool = True,
             progress: Progress = None) -> Dict[str, Any]:
        """Puts files, or folders of them, into the catalogue, which is made where there is none.

        Parameters
        ----------
        files : path or list of paths
            Redshifts, spectra, frames, quality; folders are looked through.
        again : bool
            Also what has not changed since.
        verify : bool
            Compare checksums.
        progress : callable, optional
            ``progress("load", done, files)``.

        Returns
        -------
        dict
            Counts, and "failed": a line for each file that could not be loaded.
        """
        one = isinstance(files, (str, bytes)) or hasattr(files, "__fspath__")
        paths = [files] if one else _items("files", files, "paths")
        if progress is not None and not callable(progress):
            raise TypeError(f"progress: expected a callable, got {type(progress).__name__}")
        got: Dict[str, Any] = _core.load_catalogue(self.url, [check.path("files", p) for p in paths],
                                                   check.flag("again", again), check.flag("verify", verify), progress)
        return got

    @overload
    def query(self, sql: Optional[str] = ..., *, source: str = ..., columns: Union[str, Sequence[str]] = ...,
              cone: Optional[Tuple[float, float, float]] = ..., classes: Optional[Names] = ...,
              z: Optional[Tuple[Optional[float], Optional[float]]] = ..., targetid: Optional[Numbers] = ...,
              tileid: Optional[Numbers] = ..., good: bool = ..., limit: int = ..., seconds: float = ...,
              to: Literal["arrays"] = ...) -> Dict[str, Any]: ...

    @overload
    def query(self, sql: Optional[str] = ..., *, source: str = ..., columns: Union[str, Sequence[str]] = ...,
              cone: Optional[Tuple[float, float, float]] = ..., classes: Optional[Names] = ...,
              z: Optional[Tuple[Optional[float], Optional[float]]] = ..., targetid: Optional[Numbers] = ...,
              tileid: Optional[Numbers] = ..., good: bool = ..., limit: int = ..., seconds: float = ...,
              to: Literal["astropy"]) -> "astropy.table.Table": ...

    @overload
    def query(self, sql: Optional[str] = ..., *, source: str = ..., columns: Union[str, Sequence[str]] = ...,
              cone: Optional[Tuple[float, float, float]] = ..., classes: Optional[Names] = ...,
              z: Optional[Tuple[Optional[float], Optional[float]]] = ..., targetid: Optional[Numbers] = ...,
              tileid: Optional[Numbers] = ..., good: bool = ..., limit: int = ..., seconds: float = ...,
              to: Literal["pandas"]) -> "pandas.DataFrame": ...

    def query(self, sql: Optional[str] = None, *, source: str = "zbest", columns: Union[str, Sequence[str]] = (),
              cone: Optional[Tuple[float, float, float]] = None, classes: Optional[Names] = None,
              z: Optional[Tuple[Optional[float], Optional[float]]] = None, targetid: Optional[Numbers] = None,
              tileid: Optional[Numbers] = None, good: bool = False, limit: int = 0, seconds: float = 0, to: str = "arrays") -> Any:
        """What the catalogue knows. Nothing can be written by it.

        Parameters
        ----------
        sql : str, optional
            One SELECT, and no other argument that selects; without it what they select.
        source : str
            A table or view: "zbest", "ztile", "zpix", "candidate", "exposure" ...
        columns : str or list of str
            "*": all; none: those that most want.
        cone : (float, float, float), optional
            Right ascension and declination in degrees, radius in arcsec; nearest first.
        classes : str or list of str
            Of SPECTYPE. Of an empty list here, of targets or of tiles there are no rows.
        z : (float or None, float or None), optional
            Least and largest redshift.
        targetid, tileid : int or list of int
        good : bool
            ZWARN 0 alone.
        limit : int
            Rows at most; 0: all.
        seconds : float
            After which the query is given up; 0: never.
        to : {"arrays", "astropy", "pandas"}
            What comes back.

        Returns
        -------
        dict of arrays, astropy.table.Table or pandas.DataFrame
            By column. NULL is NaN among numbers, masked (in pandas <NA>) among integers, "" among texts.

        Raises
        ------
        ArgumentError
            SQL that is wrong or would write (exit code 82).
        NotFoundError
            There is no catalogue.
        """
        kind = check.choice("to", to, _KINDS)
        low, high = (None, None) if z is None else _numbers("z", z, "(least, largest)", 2)
        if low is not None and high is not None and low > high:
            raise ValueError(f"z: expected (least, largest), got {z!r}")
        circle = None if cone is None else _numbers("cone", cone, "(ra, dec, arcsec)", 3)
        if circle is not None:
            ra, dec, radius = circle
            if ra is None or dec is None or radius is None or not (abs(ra) <= 360 and abs(dec) <= 90 and radius > 0):
                raise ValueError(f"cone: expected degrees, degrees and more than 0 arcsec, got {cone!r}")
        most = check.integer("limit", limit, 0)
        kinds = None if classes is None else _names("classes", classes)
        targets, tiles = (None if given is None else _integers(name, given)
                          for name, given in (("targetid", targetid), ("tileid", tileid)))
        selection = {"from": _names("source", [source])[0],
                     "columns": _names("columns", columns), "classes": kinds or [],
                     "targetids": targets or [], "tileids": tiles or [], "none": [] in (kinds, targets, tiles),
                     "good": check.flag("good", good), "limit": most, "z_min": low, "z_max": high,
                     "cone": circle}
        if sql is not None and not isinstance(sql, str):
            raise TypeError(f"sql: expected a SELECT, got {type(sql).__name__}")
        if sql is not None and not sql.strip():
            raise ValueError("sql: expected a SELECT, got nothing")
        unused = {"source": source != "zbest", "columns": bool(selection["columns"]), "classes": kinds is not None,
                  "targetid": targets is not None, "tileid": tiles is not None, "z": z is not None, "cone": cone is not None,
                  "good": selection["good"], "limit": most > 0}
        for name in (name for name, given in unused.items() if given and sql is not None):
            raise ValueError(f"{name}: does not go together with sql")
        patience = _numbers("seconds", [seconds], "a number", 1)[0]
        if patience is None or patience < 0:
            raise ValueError(f"seconds: expected a number of at least 0, got {seconds!r}")
        answer = _core.query_catalogue(self.url, sql or "", selection, patience)
        arrays = {name: _array(values, known) for name, values, known in answer}
        if kind == "astropy":
            from astropy.table import Table
            return Table(arrays)
        if kind == "pandas":
            from pandas import DataFrame
            return DataFrame({name: _of_pandas(values) for name, values in arrays.items()})
        return arrays
