# SPDX-License-Identifier: BSD-3-Clause
"""TomoPy's searches for the axis: by entropy as it does it, the others by tomoloom's own."""
from typing import Any, Callable, Optional

import numpy as np

from .. import _arguments as arguments
from .._arrays import find_center as _find
from ._tomopy_recon import circ_mask, recon

_MOST_STEPS = 200


def _downhill(cost: Callable[[float], float], start: float, tolerance: float) -> float:
    """Nelder and Mead's method in one dimension, with the first step, the factors and the end of SciPy's."""
    best, worst = start, start * 1.05 if start != 0 else 0.00025
    low, high = cost(best), cost(worst)
    if high < low:
        best, worst, low, high = worst, best, high, low
    for _ in range(_MOST_STEPS):
        if abs(worst - best) <= tolerance and abs(high - low) <= tolerance:
            break
        step = best - worst
        at, value = best + step, cost(best + step)
        if value < low:
            further = cost(best + 2 * step)
            if further < value:
                at, value = best + 2 * step, further
        else:
            contracted = best + 0.5 * step if value < high else best - 0.5 * step
            inside = cost(contracted)
            if inside < min(value, high):
                at, value = contracted, inside
            else:
                at = best - 0.5 * step
                value = cost(at)
        worst, high = at, value
        if high < low:
            best, worst, low, high = worst, best, high, low
    return best


def find_center(tomo: Any, theta: Any, ind: Optional[int] = None, init: Optional[float] = None, tol: float = 0.5,
                mask: bool = True, ratio: float = 1.0, sinogram_order: bool = False) -> Any:
    """The axis whose slice has the least entropy (64 bins), by Nelder and Mead's method from `init`."""
    data = arguments.stack("tomo", tomo)
    rows, columns = data.shape[0 if sinogram_order else 1], data.shape[2]
    row = rows // 2 if ind is None else arguments.integer("ind", ind, -rows, rows - 1) % rows
    one = data[row:row + 1] if sinogram_order else data[:, row:row + 1]

    def slice_of(center: float) -> Any:
        found = recon(one, theta, center, sinogram_order=sinogram_order, algorithm="gridrec")
        return circ_mask(found, axis=0) if mask else found

    first = slice_of(columns / 2)
    low, high = float(first.min()), float(first.max())
    low, high = (2 * low if low < 0 else 0.5 * low), (0.5 * high if high < 0 else 2 * high)

    def entropy(center: float) -> float:
        inside = np.clip(np.float32(center), 0, columns - 1)  # an axis outside tells nothing
        image = slice_of(float(inside))
        counts = np.histogram(image, bins=64, range=(low, high))[0].astype(np.float32) / image.size + 1e-12
        return float(-np.dot(counts, np.log2(counts)) + abs(center - inside))

    start = columns // 2 if init is None else arguments.number("init", init)
    return np.array([_downhill(entropy, float(start), tol)])


def find_center_vo(tomo: Any, ind: Optional[int] = None, smin: float = -50, smax: float = 50, srad: float = 6,
                   step: float = 0.25, ratio: float = 0.5, drop: int = 20, ncore: Optional[int] = None) -> float:
    """The axis where the transform of the whole turn has the least beyond its double wedge, between `smin` and `smax`
    columns from the middle. Of every axis at once: `srad`, `step`, `ratio` and `drop` are not needed and have no
    effect. Projections over half a turn, evenly spaced."""
    data = np.asarray(tomo)
    data = arguments.stack("tomo", data[:, np.newaxis] if data.ndim == 2 else data)
    count, rows, columns = data.shape
    if ind is not None:
        row = arguments.integer("ind", ind, -rows, rows - 1) % rows
        data = data[:, row:row + 1]
    middle = (columns - 1) / 2
    within = (float(np.clip(middle + smin, 0, columns - 1)), float(np.clip(middle + smax, 0, columns - 1)))
    return _find(data, np.linspace(0, np.pi, count), within=within, threads=ncore)


def find_center_pc(proj1: Any, proj2: Any, tol: float = 0.5, rotc_guess: Optional[float] = None) -> float:
    """The axis from two projections half a turn apart, by phase correlation; finer than `tol` in any case."""
    pair = arguments.stack("proj1, proj2", np.stack([np.asarray(proj1), np.asarray(proj2)]))
    columns = pair.shape[2]
    return _find(pair, [0.0, np.pi], pairs=True, within=(0.0, columns - 1.0) if rotc_guess is None else
                 (max(0.0, rotc_guess - columns / 8), min(columns - 1.0, rotc_guess + columns / 8)))
