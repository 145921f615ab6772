# SPDX-License-Identifier: BSD-3-Clause
"""Checks of what the steps of the calibration are given: spectra, rows beside them, what a step before gave."""
from typing import Any, Dict, Mapping, Optional

import numpy as np

from . import _arguments as check
from . import _core
from ._calibration_results import FiberFlat, FluxCalibration, Sky

_METHODS = ("fiberloom", "desispec")


def _column(name: str, values: Any) -> Any:
    """Whole numbers as int64, numbers as float64, texts as a list."""
    array = np.asarray(values)
    if array.ndim != 1:
        raise ValueError(f"fibermap: {name}: expected one value a row, got shape {array.shape}")
    if array.dtype.kind in "iub":
        return np.ascontiguousarray(array, dtype=np.int64)
    if array.dtype.kind == "f":
        return np.ascontiguousarray(array, dtype=np.float64)
    if array.dtype.kind in "SU":
        return [t.decode("ascii", "replace").rstrip() if isinstance(t, bytes) else str(t).rstrip() for t in array.tolist()]
    raise TypeError(f"fibermap: {name}: expected numbers or texts, got dtype {array.dtype}")


def _rows(fibermap: Any, count: int) -> Any:
    if fibermap is None:
        return None
    if isinstance(fibermap, _core.Table):
        if len(fibermap) != count:
            raise ValueError(f"fibermap: expected {count} rows, got {len(fibermap)}")
        return fibermap
    names = getattr(getattr(fibermap, "dtype", None), "names", None)
    if names is None and not isinstance(fibermap, Mapping):
        raise TypeError(f"fibermap: expected a Table, a structured array or a mapping of columns, got {type(fibermap).__name__}")
    columns = {str(name): _column(str(name), fibermap[name]) for name in (names or fibermap) if np.ndim(fibermap[name]) == 1}
    for name, values in columns.items():
        if len(values) != count:
            raise ValueError(f"fibermap: {name}: expected {count} rows, got {len(values)}")
    return columns


def _spectra(name: str, given: Any, fibermap: Any, resolution: bool) -> Dict[str, Any]:
    def part(key: str) -> Any:
        return given.get(key) if isinstance(given, Mapping) else getattr(given, key, None)
    if part("flux") is None or part("wave") is None:
        raise TypeError(f"{name}: expected spectra with wave, flux and ivar, got {type(given).__name__}")
    if part("fiber_wave") is not None:
        raise ValueError(f"{name}: fiber_wave: each fibre has wavelengths of its own; expected spectra on one grid")
    wave = check.wave(f"{name}: wave", part("wave"))
    if len(wave) < 2 or wave[0] <= 0:
        raise ValueError(f"{name}: wave: expected two or more positive numbers that increase")
    flux = check.real(f"{name}: flux", part("flux"), ("nspec", len(wave)))
    out = {"wave": wave, "flux": flux, "ivar": check.real(f"{name}: ivar", part("ivar"), flux.shape), "mask": None,
           "resolution": None, "fibermap": _rows(part("fibermap") if fibermap is None else fibermap, flux.shape[0])}
    if part("mask") is not None:
        out["mask"] = check.bits(f"{name}: mask", part("mask"), flux.shape)
    if part("resolution") is not None:
        r = check.real(f"{name}: resolution", part("resolution"), (flux.shape[0], "ndiag", len(wave)), True)
        if r.shape[1] % 2 == 0:
            raise ValueError(f"{name}: resolution: expected an odd number of diagonals, got {r.shape[1]}")
        out["resolution"] = r.astype(np.float32)
    elif resolution:
        raise ValueError(f"{name}: resolution: expected an array (nspec, ndiag, nwave), got None")
    return out


def _camera(frame: Any, camera: Optional[str]) -> str:
    """The camera's letter; '?' where nobody says: every bit of FIBERSTATUS counts then."""
    if camera is None:
        header = getattr(frame, "header", None)
        camera = header.get("CAMERA", "?") if header is not None else "?"
    if not isinstance(camera, str) or not camera:
        raise TypeError(f"camera: expected a name such as 'b', got {camera!r}")
    return camera.strip().lower() or "?"


def _mapping(name: str, given: Any) -> Mapping[str, Any]:
    if not isinstance(given, Mapping) or not all(isinstance(key, str) and key for key in given):
        raise TypeError(f"{name}: expected a mapping of names, got {type(given).__name__}")
    return given


def _cameras_of(name: str, given: Any) -> Mapping[str, Any]:
    if not _mapping(name, given):
        raise ValueError(f"{name}: expected a camera at least, got none")
    return dict(given)


_LISTS, _OF_FIBERS = ("wave", "mean", "deconvolved"), ("throughput", "flat_to_psf")  # [nwave], [nspec]


def _plain(name: str, given: Any, kind: type) -> Optional[Dict[str, Any]]:
    """What a step gave, its arrays checked as if they came from elsewhere."""
    if given is None:
        return None
    if not isinstance(given, kind):
        raise TypeError(f"{name}: expected a fiberloom.{kind.__name__}, got {type(given).__name__}")
    out: Dict[str, Any] = dict(vars(given))
    nwave = len(check.finite(f"{name}: wave", out["wave"], ("nwave",)))
    rows: Any = "nspec"
    for key, value in out.items():
        if key in _LISTS:
            out[key] = check.real(f"{name}: {key}", value, (nwave,))
        elif key in _OF_FIBERS:
            out[key] = check.real(f"{name}: {key}", value, (rows,))
        elif np.ndim(value) == 2:
            out[key] = (check.bits if key == "mask" else check.real)(f"{name}: {key}", value, (rows, nwave))
            rows = len(out[key])
    return out


def _corrections(frame: Any, camera: str, flat: Any = None, sky: Any = None, flux: Any = None,
                 heliocor: Optional[float] = None) -> Dict[str, Any]:
    if heliocor is None:
        header = getattr(frame, "header", None)
        heliocor = header.get("HELIOCOR", 1.0) if header is not None else 1.0
    return {"camera": camera, "fiberflat": _plain("fiberflat", flat, FiberFlat), "sky": _plain("sky", sky, Sky),
            "fluxcalib": _plain("fluxcalib", flux, FluxCalibration), "heliocor": check.number("heliocor", heliocor, 0.9, 1.1)}


def _star_corrections(frame: Any, camera: str, flat: Any, one_sky: Any) -> Dict[str, Any]:
    return {**_corrections(frame, camera), "fiberflat": _plain("fiberflats", flat, FiberFlat), "sky": _plain("skies", one_sky, Sky)}


def _is_desispec(method: Any) -> bool:
    return check.choice("method", method, _METHODS) == "desispec"
