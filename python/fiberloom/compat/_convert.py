# SPDX-License-Identifier: BSD-3-Clause
"""PSF objects of the two programs -> fiberloom.Psf. Neither program is imported."""
import os
from typing import Any, Callable, Dict, Mapping, Tuple

import numpy as np

from .. import _arguments as check
from .._files import read_psf
from .._psf import Psf, _from_series, unwrap

_TAILS = ("TAILAMP", "TAILCORE", "TAILXSCA", "TAILYSCA", "TAILINDE")
_INTEGERS = {"npix_x": "NPIX_X", "npix_y": "NPIX_Y", "hsize_x": "HSIZEX", "hsize_y": "HSIZEY",
             "gh_deg_x": "GHDEGX", "gh_deg_y": "GHDEGY"}


def _name(value: Any) -> str:
    text = value.decode("ascii", "replace") if isinstance(value, bytes) else str(value)
    return text.strip("\0 ")


def _numbers(header: Mapping[str, Any], psferr: Any, tails: bool,
             rows: Callable[[str], Any]) -> Dict[str, Any]:
    missing = [key for key in _INTEGERS.values() if key not in header]
    if missing:
        raise ValueError(f"psf: no keyword {missing[0]} in its header")
    numbers: Dict[str, Any] = {ours: int(header[key]) for ours, key in _INTEGERS.items()}
    numbers.update(psferr=float(psferr), tails=tails, fiber_min=0)
    for ours, row in (("bundle", "BUNDLE"), ("status", "STATUS")):
        values = rows(row)
        numbers[ours] = [] if values is None else [int(round(v)) for v in np.asarray(values)[:, 0]]
    return numbers


def _from_tables(psf: Mapping[str, Any]) -> Psf:
    """gpu_specter's dictionary of tables XTRACE, YTRACE and PSF. Its method knows no tails."""
    table = psf["PSF"]
    header = table.meta
    domain = float(header["WAVEMIN"]), float(header["WAVEMAX"])
    coeff = {_name(p): np.asarray(c, dtype=float) for p, c in zip(table["PARAM"], table["COEFF"])}
    series: Dict[str, Tuple[float, float, Any]] = {
        name: (*domain, c) for name, c in coeff.items() if name.startswith("GH")}
    for axis in "XY":
        trace = psf[axis + "TRACE"]
        series[axis] = (float(trace.meta["WAVEMIN"]), float(trace.meta["WAVEMAX"]),
                        np.asarray(trace[axis], dtype=float))
    return _from_series(series, _numbers(header, header.get("PSFERR", 0.01), False, coeff.get))


def _from_specter(psf: Any) -> Psf:
    """specter's GaussHermitePSF: trace sets by parameter. Its method adds the tails."""
    def of(trace: Any) -> Tuple[float, float, Any]:
        return float(trace._xmin), float(trace._xmax), np.asarray(trace._coeff, dtype=float)

    header = psf._polyparams
    series = {name: of(trace) for name, trace in psf.coeff.items()
              if name.startswith("GH") or name in _TAILS}
    series["X"], series["Y"] = of(psf._x), of(psf._y)
    tails = all(name in series for name in _TAILS)
    rows = {name: trace._coeff for name, trace in psf.coeff.items()}
    return _from_series(series, _numbers(header, psf.psferr, tails, rows.get))


def to_psf(psf: Any) -> Psf:
    """A Psf of whatever a pipeline has in hand."""
    psf = unwrap(psf)
    if isinstance(psf, Psf):
        return psf
    if isinstance(psf, (str, bytes, os.PathLike)):
        return read_psf(check.path("psf", psf))
    if isinstance(psf, Mapping) and all(key in psf for key in ("PSF", "XTRACE", "YTRACE")):
        return _from_tables(psf)
    if all(hasattr(psf, name) for name in ("coeff", "_x", "_y", "_polyparams", "psferr")):
        return _from_specter(psf)
    raise TypeError(f"psf: expected fiberloom.Psf, a path, gpu_specter's dictionary (XTRACE, YTRACE, "
                    f"PSF) or specter's GaussHermitePSF, got {type(psf).__name__}")
