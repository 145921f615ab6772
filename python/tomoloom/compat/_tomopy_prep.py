# SPDX-License-Identifier: BSD-3-Clause
"""TomoPy's steps before reconstruction, but stripes: its own formulas."""
from typing import Any, Optional, Sequence

import numpy as np

from .. import _arguments as arguments
from .. import _arrays
from .._arguments import Floats

_LEAST = np.float32(1e-6)


def angles(nang: int, ang1: float = 0.0, ang2: float = 180.0) -> Any:
    """Angles in radians, both ends included."""
    return np.linspace(ang1 * np.pi / 180.0, ang2 * np.pi / 180.0, nang)


def given(out: Any, result: Floats) -> Floats:
    """The result, in `out` where that is given."""
    if out is None:
        return result
    out[...] = result
    return out  # type: ignore[no-any-return]


def minus_log(arr: Any, ncore: Optional[int] = None, out: Any = None) -> Floats:
    """-log of transmissions of at least 1e-6; of what is no number, 0."""
    data = arguments.stack("arr", arr)
    return given(out, _arrays.normalize(arguments.floats("arr", data), 1, 0, threads=ncore))


def _transmissions(tomo: Floats, flat: Floats, dark: Floats, cutoff: Optional[float]) -> Floats:
    light = np.maximum(flat - dark, _LEAST)
    out: Floats = (tomo - dark) / light
    return out if cutoff is None else np.minimum(out, np.float32(cutoff))


def normalize(arr: Any, flat: Any, dark: Any, cutoff: Optional[float] = None, ncore: Optional[int] = None,
              out: Any = None, averaging: str = "mean") -> Floats:
    """(arr - dark) / max(flat - dark, 1e-6), at most `cutoff`."""
    tomo = arguments.floats("arr", arr)
    shape = tomo.shape[1:]
    return given(out, _transmissions(tomo, arguments.frame("flat", flat, shape, averaging),
                                      arguments.frame("dark", dark, shape, averaging), cutoff))


def normalize_nf(tomo: Any, flats: Any, dark: Any, flat_loc: Sequence[int], cutoff: Optional[float] = None,
                 ncore: Optional[int] = None, out: Any = None, averaging: str = "mean") -> Floats:
    """Each projection by the median of the nearest of several sets of flats, taken before `flat_loc`."""
    data, frames = arguments.floats("tomo", tomo), arguments.floats("flats", flats)
    closed = arguments.frame("dark", dark, data.shape[1:], averaging)
    sets = len(flat_loc)
    each = len(frames) // sets if sets else 0
    if each == 0:
        raise ValueError(f"flats: expected one or more for each of {sets} places of flat_loc, got {len(frames)}")
    result = np.empty_like(data)
    first = 0
    for m, place in enumerate(flat_loc):
        end = len(data) if m == sets - 1 else int(np.round((flat_loc[m + 1] - place) / 2)) + place
        flat = arguments.average(frames[m * each:(m + 1) * each], "median").astype(np.float32)
        result[first:end] = _transmissions(data[first:end], flat, closed, cutoff)
        first = end
    return given(out, result)


def normalize_roi(arr: Any, roi: Sequence[int] = (0, 0, 10, 10), ncore: Optional[int] = None) -> Floats:
    """Each projection by its mean in rows roi[0] to roi[2], columns roi[1] to roi[3]."""
    out = arguments.own_floats("arr", arr)
    for projection in out:
        mean = projection[roi[0]:roi[2], roi[1]:roi[3]].mean()
        if mean != 0:
            projection /= mean
    return out


def normalize_bg(tomo: Any, air: int = 1, ncore: Optional[int] = None, nchunk: Any = None) -> Floats:
    """Each row by the straight line between the means of `air` pixels at either end."""
    out = arguments.own_floats("tomo", tomo)
    columns = out.shape[2]
    air = arguments.integer("air", air, 1, columns)
    left = out[:, :, :air].mean(axis=2, dtype=np.float32, keepdims=True)
    right = out[:, :, columns - air:].mean(axis=2, dtype=np.float32, keepdims=True)
    left[left <= 0] = 1
    right[right <= 0] = 1
    out /= left + (right - left) / np.float32(max(columns - 1, 1)) * np.arange(columns, dtype=np.float32)
    return out


def remove_nan(arr: Any, val: float = 0.0, ncore: Optional[int] = None) -> Floats:
    """What is no number becomes `val`, in place where `arr` is single precision."""
    out: Floats = np.asarray(arr, dtype=np.float32)
    out[np.isnan(out)] = np.float32(val)
    return out


def remove_neg(arr: Any, val: float = 0.0, ncore: Optional[int] = None) -> Floats:
    """What is below 0 becomes `val`, in place where `arr` is single precision."""
    out: Floats = np.asarray(arr, dtype=np.float32)
    out[out < 0] = np.float32(val)
    return out


def remove_outlier(arr: Any, dif: float, size: int = 3, axis: int = 0, ncore: Optional[int] = None,
                   out: Any = None) -> Floats:
    """Values `dif` or more above the median of the `size` x `size` around them, in planes across `axis`."""
    planes = np.moveaxis(arguments.stack("arr", arr), axis, 1)
    result = np.moveaxis(_arrays.remove_outlier(planes, dif, size, threads=ncore), 1, axis)
    return given(out, np.ascontiguousarray(result))


def retrieve_phase(tomo: Any, pixel_size: float = 1e-4, dist: float = 50, energy: float = 20, alpha: float = 1e-3,
                   pad: bool = True, ncore: Optional[int] = None, nchunk: Any = None) -> Floats:
    """Paganin's single-step retrieval: each projection through 1 / (lambda z |k|^2 / (4 pi) + alpha), 1 at most;
    `pixel_size` and `dist` in cm, `energy` in keV."""
    return _arrays.retrieve_phase(tomo, pixel_size, dist, energy, alpha, method="tomopy", pad=bool(pad), threads=ncore)


def sino_360_to_180(data: Any, overlap: float = 0, rotation: str = "left") -> Any:
    """Projections of a whole turn with the axis near one end as ones of half a turn, twice as wide: where both halves
    see the same (`overlap` columns), they fade into each other."""
    array = arguments.stack("data", data)
    arguments.choice("rotation", rotation, ("left", "right"))
    count, width, shared = array.shape[0] // 2, array.shape[2], int(np.round(overlap))
    if not 0 <= shared <= width or count == 0:
        raise ValueError(f"overlap: expected 0 to {width} columns and at least two projections")
    own, opposite = array[:count], array[count:2 * count, :, ::-1]
    if rotation == "left":  # what the opposite sees comes first
        first, second = opposite, own
    else:
        first, second = own, opposite
    out = np.empty((count, array.shape[1], 2 * width - shared), dtype=array.dtype)
    out[:, :, :width - shared] = first[:, :, :width - shared]
    out[:, :, width:] = second[:, :, shared:]
    fade = np.linspace(1.0, 0, shared)
    out[:, :, width - shared:width] = fade * first[:, :, width - shared:] + fade[::-1] * second[:, :, :shared]
    return out


sino_360_t0_180 = sino_360_to_180
