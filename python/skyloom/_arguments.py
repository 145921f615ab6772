# SPDX-License-Identifier: BSD-3-Clause
"""Arguments of calls become arrays and numbers that the library takes, or an error that names them."""
import math
import operator
from typing import Any, Dict, List, Optional, Tuple

import numpy as np
import numpy.typing as npt

Doubles = npt.NDArray[np.float64]


def without_units(name: str, value: Any) -> None:
    """Raises for numbers in some unit (astropy's Quantity), which numpy would drop without a word."""
    unit = getattr(value, "unit", None)
    if hasattr(value, "to_value") and str(unit):
        raise TypeError(f"{name}: expected plain numbers, got ones in {unit} (to_value)")


def bare(name: str, value: Any) -> "npt.NDArray[Any]":
    """An array without a mask: numpy would take what lies below it for numbers."""
    without_units(name, value)
    if np.ma.is_masked(value):
        raise ValueError(f"{name}: has masked values")
    return np.asarray(value)


def real(name: str, value: Any) -> "npt.NDArray[Any]":
    """Any array of real numbers."""
    array = bare(name, value)
    if array.dtype.kind not in "buif":
        raise TypeError(f"{name}: expected real numbers, got dtype {array.dtype}")
    return array


def doubles(name: str, value: Any, shape: Any) -> Doubles:
    """Finite numbers of this shape, in which None is any length; a number stands for all of them."""
    array = real(name, value).astype(np.float64, copy=False)
    if array.ndim == 0 and None not in shape:
        array = np.full(shape, array)
    if array.ndim != len(shape) or any(n is not None and n != m for n, m in zip(shape, array.shape)):
        expected = " x ".join("n" if n is None else str(n) for n in shape)
        raise ValueError(f"{name}: expected an array of {expected}, got shape {array.shape}")
    if not np.isfinite(array).all():
        raise ValueError(f"{name}: expected finite numbers")
    return np.ascontiguousarray(array)


def quaternions(name: str, value: Any) -> Doubles:
    """Rotations [row][x, y, z, w] of length 1, as those of files become; the caller's own array where it has that."""
    rows = doubles(name, value, (None, 4))
    with np.errstate(over="ignore"):
        length = np.sqrt((rows**2).sum(axis=1))
    bad = ~((length > 1e-100) & (length < 1e100))
    if bad.any():
        raise ValueError(f"{name}: row {int(bad.argmax())} is no quaternion")
    far = np.abs(length - 1) >= 1e-9
    return np.where(far[:, np.newaxis], rows / length[:, np.newaxis], rows) if far.any() else rows


def signal_row(name: str, value: Any, samples: int) -> "npt.NDArray[Any]":
    """Samples of a detector: single precision stays single, all else is double; not finite ones, and what is masked,
    are left out later."""
    if np.ma.is_masked(value) and value.dtype.kind in "buif":
        value = value.astype(np.float32 if value.dtype == np.float32 else np.float64).filled(math.nan)
    array = real(name, value)
    if array.shape != (samples,):
        raise ValueError(f"{name}: expected {samples} samples, got shape {array.shape}")
    return np.ascontiguousarray(array, dtype=np.float32 if array.dtype == np.float32 else np.float64)


def flag_row(name: str, value: Any, samples: int) -> "npt.NDArray[np.uint8]":
    """Flags of a detector: what is not 0 is left out (a mask says which bits)."""
    array = bare(name, value)
    if array.dtype.kind not in "bui":
        raise TypeError(f"{name}: expected integers, got dtype {array.dtype}")
    if array.shape != (samples,):
        raise ValueError(f"{name}: expected {samples} samples, got shape {array.shape}")
    if array.dtype.itemsize > 1:
        if array.size and (array.min() < 0 or array.max() > 255):
            raise ValueError(f"{name}: expected numbers from 0 to 255")
    return np.ascontiguousarray(array, dtype=np.uint8)


def number(name: str, value: Any, low: float = -math.inf, high: float = math.inf) -> float:
    """A finite number in [low, high]."""
    try:
        result = float(value)
    except (TypeError, ValueError):
        raise TypeError(f"{name}: expected a number, got {type(value).__name__}") from None
    if not math.isfinite(result) or not low <= result <= high:
        raise ValueError(f"{name}: expected a finite number from {low:g} to {high:g}, got {result:g}")
    return result


def integer(name: str, value: Any, low: int = 0, high: int = 2**62) -> int:
    """An integer in [low, high]."""
    try:
        result = operator.index(value)
    except TypeError:
        raise TypeError(f"{name}: expected an integer, got {type(value).__name__}") from None
    if not low <= result <= high:
        raise ValueError(f"{name}: expected an integer from {low} to {high}, got {result}")
    return result


def leakages(value: Any, n: int) -> Doubles:
    """Cross-polar leakages of detectors."""
    out = doubles("leakage", value, (n,))
    if not ((out >= 0) & (out <= 1)).all():
        raise ValueError("leakage: expected numbers from 0 to 1")
    return out


def gammas(value: Any, n: int, plate: Any) -> Doubles:
    """Angles of detectors on the focal plane, which matter behind a half-wave plate alone."""
    if value is None and plate is not None:
        raise ValueError("gamma: expected each detector's angle on the focal plane, which hwp_angle asks for")
    return doubles("gamma", 0.0 if value is None else value, (n,))


def spectrum(name: str, value: Any) -> Tuple[Doubles, Doubles]:
    """Frequencies and the spectrum at them, one of each."""
    if not isinstance(value, (tuple, list, np.ndarray)) or len(value) != 2:
        raise ValueError(f"{name}: expected (frequencies, psd), or a list of one for each detector")
    frequencies = doubles(name, value[0], (None,))
    return frequencies, doubles(name, value[1], (len(frequencies),))


def spans(name: str, value: Any, samples: int) -> List[Tuple[int, int]]:
    """Samples [first, end), growing and apart."""
    out: List[Tuple[int, int]] = []
    for one in value:
        first, end = (integer(name, i, 0, samples) for i in one)
        if not (out[-1][1] if out else 0) <= first < end:
            raise ValueError(f"{name}: expected samples [first, end), growing and apart, got [{first}, {end})")
        out.append((first, end))
    return out


def threads(value: Optional[int]) -> int:
    """0 where the machine and the batch system decide."""
    return 0 if value is None else integer("threads", value, 1, 4096)


def texts(options: Dict[str, Any]) -> Dict[str, List[str]]:
    """Options as on the command line, each as often as a list of texts has it; numbers of a list are one text. None: its default."""
    def text(value: Any) -> str:
        if isinstance(value, (bool, np.bool_)):
            return "true" if value else "false"
        return repr(float(value)) if isinstance(value, (float, np.floating)) else str(value)

    def times(value: Any) -> List[str]:
        if not isinstance(value, (list, tuple, np.ndarray)):
            return [text(value)]
        return [text(v) for v in value] if all(isinstance(v, str) for v in value) else [",".join(text(v) for v in value)]

    out = {key: times(value) for key, value in options.items() if value is not None}
    for key, given in out.items():
        if "" in given:
            raise ValueError(f"{key}: expected a value, got an empty text")
    return out
