# SPDX-License-Identifier: BSD-3-Clause
"""Arguments of calls become arrays and numbers that the library takes, or an error that names them."""
import math
import operator
import warnings
from typing import Any, Dict, Optional

import numpy as np
import numpy.typing as npt

from . import _core

Floats = npt.NDArray[np.float32]


def without_units(name: str, value: Any) -> None:
    """Raises for numbers in some unit (astropy's Quantity), which numpy would drop without a word."""
    unit = getattr(value, "unit", None)
    if hasattr(value, "to_value") and str(unit):
        raise TypeError(f"{name}: expected plain numbers, got ones in {unit} (to_value)")


def bare(name: str, value: Any) -> "npt.NDArray[Any]":
    """An array without a mask. What is masked is no number: numpy would take what lies below it for one."""
    without_units(name, value)
    if np.ma.is_masked(value):
        return np.asarray(value.astype(np.result_type(value.dtype, np.float32)).filled(math.nan))
    return np.asarray(value)


def stack(name: str, value: Any) -> "npt.NDArray[Any]":
    """Three axes of numbers, none of length 0."""
    array = bare(name, value)
    if array.dtype.kind not in "buif":
        raise TypeError(f"{name}: expected an array of real numbers, got dtype {array.dtype}")
    if array.ndim != 3 or 0 in array.shape:
        raise ValueError(f"{name}: expected an array of three axes, got shape {array.shape}")
    return array


def floats(name: str, value: Any) -> Floats:
    """A stack in single precision, contiguous; the caller's own array where it is that already."""
    return np.ascontiguousarray(stack(name, value), dtype=np.float32)


def own_floats(name: str, value: Any) -> Floats:
    """A stack in single precision that is nobody else's."""
    return np.array(stack(name, value), dtype=np.float32, order="C")


def counting_as(array: Floats, instead: float) -> "npt.NDArray[np.bool_]":
    """Values that are no numbers become `instead`, in place; where they were."""
    none: "npt.NDArray[np.bool_]" = ~np.isfinite(array)
    array[none] = instead
    return none


def average(frames: "npt.NDArray[Any]", averaging: str) -> "npt.NDArray[np.float64]":
    """The mean or median of frames: of each pixel that of the frames in which it is a number; NaN where it is in none."""
    mean = choice("averaging", averaging, ("mean", "median")) == "mean"
    spoilt = np.zeros(frames.shape[1:], dtype=bool) if frames.dtype.kind in "biu" else ~np.isfinite(frames).all(axis=0)
    with np.errstate(invalid="ignore"):
        out = np.mean(frames, axis=0, dtype=np.float64) if mean else np.median(frames, axis=0).astype(np.float64)
    if spoilt.any():
        known = np.ma.masked_invalid(frames[:, spoilt].astype(np.float64), copy=False)
        out[spoilt] = (np.ma.mean if mean else np.ma.median)(known, axis=0).filled(math.nan)
    return out


def frame(name: str, value: Any, shape: Any, averaging: str) -> Floats:
    """Frames, or one frame, or a number, as the mean or median of them."""
    array = bare(name, value)
    if array.ndim == 0:
        array = np.full(shape, value)
    if array.ndim == 3 and 0 not in array.shape:
        array = average(array, averaging)
    if array.shape != tuple(shape):
        raise ValueError(f"{name}: expected frames of {shape[0]} x {shape[1]}, got shape {np.shape(value)}")
    return np.ascontiguousarray(array, dtype=np.float32)


def angles(name: str, value: Any, count: int) -> "npt.NDArray[np.float64]":
    """Radians, one for every projection."""
    array = bare(name, value).astype(np.float64).ravel()
    if array.size != count:
        raise ValueError(f"{name}: expected one angle for each of {count} projections, got {array.size}")
    if not np.isfinite(array).all():
        raise ValueError(f"{name}: expected finite angles")
    if count > 2:  # with or without the step to the first one again
        arc = float(np.ptp(array))
        if any(abs(one - turn) < turn / 100 for one in (arc, arc * count / (count - 1)) for turn in (180, 360)):
            warnings.warn(f"{name}: {count} projections within {arc:g} radians: are they degrees? (numpy.radians)", UserWarning,
                          stacklevel=4)
    return array


def turning(name: str, value: Any, count: int) -> "npt.NDArray[np.float64]":
    """The same of a scan: not all of several projections have one angle, as where nobody has written them."""
    array = angles(name, value, count)
    if count > 1 and (array == array[0]).all():
        raise ValueError(f"{name}: all of {count} projections have the angle {array[0]:g}: expected a scan that turns")
    return array


def filter_weights(name: str, filter: str, value: Any, count: int) -> "npt.NDArray[np.float64]":
    """What the frequencies of a filter of one's own are multiplied by: of "custom2d" those of each of `count` angles."""
    if (value is None) == (filter in ("custom", "custom2d")):
        raise ValueError(f"{name}: goes with filter 'custom' and 'custom2d', which want it, got filter {filter!r}")
    array = np.asarray(() if value is None else value, dtype=np.float64)
    if array.ndim > (2 if filter == "custom2d" else 1) or array.ndim == 2 and array.shape[0] != count:
        expected = f"[{count} angles][frequencies]" if filter == "custom2d" else "[frequencies]"
        raise ValueError(f"{name}: expected an array {expected}, got shape {array.shape}")
    return array.ravel()


def order(name: str, value: Any, count: int) -> "npt.NDArray[np.int64]":
    """Each of `count` numbers once, as the caller has them; nothing of None."""
    array = bare(name, () if value is None else value)
    if value is not None:
        if array.dtype.kind not in "ui":
            raise TypeError(f"{name}: expected integers, got dtype {array.dtype}")
        if array.size != count or not np.array_equal(np.sort(array, axis=None), np.arange(count)):
            raise ValueError(f"{name}: expected each number from 0 to {count - 1} once, got an array of {array.shape}")
    return array.astype(np.int64).ravel()


def number(name: str, value: Any, low: float = -math.inf, high: float = math.inf) -> float:
    """A finite number in [low, high]."""
    try:
        result = float(np.squeeze(value))
    except (TypeError, ValueError):
        raise TypeError(f"{name}: expected a number, got {type(value).__name__}") from None
    if not math.isfinite(result) or not low <= result <= high:
        raise ValueError(f"{name}: expected a finite number from {low:g} to {high:g}, got {result:g}")
    return result


def integer(name: str, value: Any, low: int, high: int = 2**31 - 1) -> int:
    """An integer in [low, high]."""
    try:
        result = operator.index(value)
    except TypeError:
        raise TypeError(f"{name}: expected an integer, got {type(value).__name__}") from None
    if not low <= result <= high:
        raise ValueError(f"{name}: expected an integer from {low} to {high}, got {result}")
    return result


def choice(name: str, value: Any, words: Any) -> str:
    """One of a few words."""
    if not isinstance(value, str) or value not in words:
        raise ValueError(f"{name}: expected {' or '.join(map(repr, words))}, got {value!r}")
    return value


def threads(value: Optional[int]) -> int:
    """0 where the machine and the batch system decide."""
    return 0 if value is None else integer("threads", value, 1, 4096)


def texts(options: Dict[str, Any]) -> Dict[str, str]:
    """Options as on the command line."""
    return {key: repr(float(value)) if isinstance(value, float) else str(value) for key, value in options.items()
            if value is not None}


def tell_idle(options: Dict[str, str], names: Dict[str, str]) -> None:
    """A warning, at the call of the caller's caller, for each option that changes nothing beside the others. `names`:
    what arguments are called whose options are called otherwise."""
    for key, owner, state in _core.idle_options(options):
        text = f"{names.get(key, key)} changes nothing with {names.get(owner, owner)}={state}"
        warnings.warn(text, UserWarning, stacklevel=3)
