# SPDX-License-Identifier: BSD-3-Clause
"""Stripes found in projections of all rows together, and what is behind them, or missing, made up from what is around."""
from typing import Any, Optional

import numpy as np
import numpy.typing as npt

from . import _arguments as arguments
from . import _core

Bools = npt.NDArray[np.bool_]
_LARGEST = np.float32(1e20)  # beyond it, as among integrals, a value is none


def detect_stripes(integrals: Any, size: int = 10, radius: int = 3, *,
                   threads: Optional[int] = None) -> arguments.Floats:
    """Weights from 0 to 1 that are small at the edges of stripes (Kazantsev et al. 2023).

    Parameters
    ----------
    integrals : array [angle][row][column]
        Values that are not numbers count as 0.
    size : int
        Angles to either side that an edge lasts for, at most half of the angles.
    radius : int
        Pixels to either side in which slopes along and across a stripe are compared.
    """
    data = arguments.floats("integrals", integrals)
    size = arguments.integer("size", size, 1, max(1, data.shape[0] // 2))
    if data.shape[0] < 2:
        raise ValueError(f"integrals: expected at least two angles, got shape {data.shape}")
    good = np.abs(data) < _LARGEST
    if not good.all():
        data = np.where(good, data, np.float32(0))
    return _core.stripe_weights(data, size, arguments.integer("radius", radius, 1, 100), arguments.threads(threads))


def mask_stripes(weights: Any, threshold: float = 0.6, min_length: int = 20, min_depth: int = 10, min_width: int = 5,
                 sensitivity: float = 85.0, *, threads: Optional[int] = None) -> Bools:
    """Which values are of stripes, by the weights of detect_stripes(): an array of bool.

    Parameters
    ----------
    weights : array [angle][row][column]
        What is no number is no stripe.
    threshold : float
        Weights up to it are of a stripe's edge.
    min_length, min_depth, min_width : int
        Angles that a stripe is long; rows that it does not go on for (0: it may); columns between edges that are closed.
    sensitivity : float
        Per cent of length and depth that count.
    """
    data = arguments.floats("weights", weights)
    angles, rows, columns = data.shape
    for name, extent in (("angles", angles), ("columns", columns)):
        if extent < 2:
            raise ValueError(f"weights: expected at least two {name}, got shape {data.shape}")
    mask: Bools = _core.stripe_mask(data, arguments.number("threshold", threshold),
                                    arguments.integer("min_length", min_length, 1, angles - 1),
                                    arguments.integer("min_depth", min_depth, 0, rows - 1),
                                    arguments.integer("min_width", min_width, 1, columns - 1),
                                    arguments.number("sensitivity", sensitivity, np.finfo(np.float32).tiny, 100),
                                    arguments.threads(threads))
    return mask


def inpaint(array: Any, mask: Any, size: int = 5, passes: int = 1, method: str = "random", *,
            axis: Optional[int] = None, seed: int = 0, threads: Optional[int] = None) -> arguments.Floats:
    """The array with values under the mask made up from those around it, from its rim inwards.

    Parameters
    ----------
    array : array of two or three axes
        0, and what is no number, count as missing too, but stay where they are not under the mask.
    mask : array of bool
        Of the array's shape: what is replaced.
    size : int
        Pixels to either side of one that its value is made of.
    passes : int
        Over all of the mask again, when it is full; smoother.
    method : str
        "mean" (the nearest count a little more), "median" or "random" (two of them).
    axis : int, optional
        Planes across it, each by itself. Default: the volume as one.
    seed : int
        Of "random"; the same for any number of threads.
    """
    data = arguments.bare("array", array)
    marked = np.asarray(mask)
    if marked.dtype != np.bool_:
        raise ValueError(f"mask: expected an array of bool, got dtype {marked.dtype}")
    if marked.shape != data.shape:
        raise ValueError(f"mask: expected the shape of the array, {data.shape}, got {marked.shape}")
    if data.ndim not in (2, 3) or data.size == 0:
        raise ValueError(f"array: expected two or three axes, none of them empty, got shape {data.shape}")
    flat = data.ndim == 2
    if flat and axis is not None:
        raise ValueError(f"axis: is of arrays with three axes alone, got {axis!r} and shape {data.shape}")
    at = 0 if axis is None else arguments.integer("axis", axis, 0, 2)
    planes = arguments.own_floats("array", data[np.newaxis] if flat else np.moveaxis(data, at, 0))
    _core.inpaint(planes, np.ascontiguousarray(marked[np.newaxis] if flat else np.moveaxis(marked, at, 0)),
                  arguments.choice("method", method, ("mean", "median", "random")),
                  arguments.integer("size", size, 1, 100), arguments.integer("passes", passes, 0, 1000),
                  arguments.integer("seed", seed, 0), axis is not None, arguments.threads(threads))
    return planes[0] if flat else np.ascontiguousarray(np.moveaxis(planes, 0, at))
