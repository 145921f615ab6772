# SPDX-License-Identifier: BSD-3-Clause
"""Checks of arguments: a TypeError or ValueError that names the argument, what was given and what
was expected. Arrays come back in C order with native bytes; nothing of the caller's is changed."""
import math
import operator
import os
from typing import Any, Dict, Mapping, Optional, Sequence, Tuple

import numpy as np
import numpy.typing as npt

Shape = Sequence[Any]
_BACKENDS = ("auto", "cpu", "cuda")


def _shape_text(shape: Shape) -> str:
    return "(" + ", ".join(str(n) for n in shape) + ("," if len(shape) == 1 else "") + ")"


def _is_masked(value: Any) -> bool:
    """An array with a mask of its own, numpy's or astropy's (Masked), or rows of which one is such: numpy drops it."""
    if isinstance(value, (list, tuple)):
        return any(isinstance(row, np.ndarray) and _is_masked(row) for row in value)
    return isinstance(value, np.ma.MaskedArray) or (hasattr(value, "unmasked") and hasattr(value, "mask"))


def _unit_of(value: Any) -> str:
    """Of an array in some unit (astropy's Quantity), which numpy would drop without a word; empty: none."""
    return str(getattr(value, "unit", "")) if hasattr(value, "to_value") else ""


def _array(name: str, value: Any, expected: str) -> "npt.NDArray[Any]":
    if _unit_of(value):
        raise TypeError(f"{name}: expected {expected}, got ones in {_unit_of(value)} (to_value)")
    if _is_masked(value):
        raise TypeError(f"{name}: expected {expected}, got a masked array, whose mask would be lost "
                        "(set ivar to 0 instead)")
    if isinstance(value, (str, bytes)) or value is None:
        raise TypeError(f"{name}: expected {expected}, got {type(value).__name__}")
    try:
        array = np.asarray(value)
    except (TypeError, ValueError) as error:
        raise TypeError(f"{name}: expected {expected}, got {type(value).__name__} ({error})") from None
    return array


def _check_shape(name: str, array: "npt.NDArray[Any]", shape: Shape) -> None:
    fits = array.ndim == len(shape) and all(
        isinstance(want, str) or have == want for have, want in zip(array.shape, shape))
    if not fits:
        raise ValueError(f"{name}: expected shape {_shape_text(shape)}, "
                         f"got {_shape_text(array.shape)}")
    if array.size == 0:
        raise ValueError(f"{name}: expected shape {_shape_text(shape)}, got an empty array "
                         f"{_shape_text(array.shape)}")


def real(name: str, value: Any, shape: Shape, keep_single: bool = False) -> "npt.NDArray[Any]":
    """Numbers as float64 of this shape (a string in `shape` stands for any length); keep_single
    leaves float32 as it is."""
    expected = f"an array of real numbers {_shape_text(shape)}"
    array = _array(name, value, expected)
    if array.dtype.kind not in "fiub":
        raise TypeError(f"{name}: expected {expected}, got dtype {array.dtype}")
    _check_shape(name, array, shape)
    single = keep_single and array.dtype.kind == "f" and array.dtype.itemsize <= 4
    return np.ascontiguousarray(array, dtype=np.float32 if single else np.float64)


def finite(name: str, value: Any, shape: Shape) -> "npt.NDArray[np.float64]":
    """Like real(), and no NaN or infinity."""
    array = real(name, value, shape)
    bad = array.size - int(np.count_nonzero(np.isfinite(array)))
    if bad:
        raise ValueError(f"{name}: expected finite numbers, {bad} of {array.size} are NaN or infinite")
    return array


def bits(name: str, value: Any, shape: Shape) -> "npt.NDArray[np.uint32]":
    """Mask bits as uint32; booleans count as bit 0."""
    expected = f"an array of integers {_shape_text(shape)}"
    array = _array(name, value, expected)
    if array.dtype.kind not in "iub":
        raise TypeError(f"{name}: expected {expected}, got dtype {array.dtype}")
    _check_shape(name, array, shape)
    if array.dtype.itemsize > 4 and array.size and not (array.min() >= -2**31 and array.max() < 2**32):
        raise ValueError(f"{name}: expected bits 0 to 31, got integers from {array.min()} to {array.max()}")
    return np.ascontiguousarray(array).astype(np.uint32, casting="unsafe")


def integer(name: str, value: Any, low: int, high: int = 2**31 - 1) -> int:
    """An integer in [low, high]."""
    try:
        number = int(operator.index(value))  # before Python 3.10 the index of False is False
    except TypeError:
        raise TypeError(f"{name}: expected an integer, got {type(value).__name__}") from None
    if not low <= number <= high:
        raise ValueError(f"{name}: expected an integer from {low} to {high}, got {number}")
    return number


def number(name: str, value: Any, low: float, high: float = math.inf) -> float:
    """A finite number in [low, high]."""
    if isinstance(value, (str, bytes)):
        raise TypeError(f"{name}: expected a number, got {type(value).__name__}")
    try:
        result = float(value)
    except (TypeError, ValueError):
        raise TypeError(f"{name}: expected a number, got {type(value).__name__}") from None
    if not math.isfinite(result) or not low <= result <= high:
        bound = f"of at least {low:g}" if high == math.inf else f"from {low:g} to {high:g}"
        raise ValueError(f"{name}: expected a number {bound}, got {result}")
    return result


def flag(name: str, value: Any) -> bool:
    """True or False, numpy's too, or 0 or 1."""
    if isinstance(value, (bool, np.bool_)) or (isinstance(value, (int, np.integer)) and value in (0, 1)):
        return bool(value)
    raise TypeError(f"{name}: expected True or False, got {type(value).__name__}")


def truth(name: str, value: Any) -> bool:
    """What Python takes for true, as the peers do; an array is neither."""
    try:
        return bool(value)
    except (TypeError, ValueError):
        raise TypeError(f"{name}: expected True or False, got {type(value).__name__}") from None


def choice(name: str, value: Any, words: Sequence[str]) -> str:
    """One of a few words."""
    if not isinstance(value, str):
        raise TypeError(f"{name}: expected {' or '.join(map(repr, words))}, got {type(value).__name__}")
    if value not in words:
        raise ValueError(f"{name}: expected {' or '.join(map(repr, words))}, got {value!r}")
    return value


def device(backend: Any, gpu_memory: Any, on_device_error: Any, on_cpu: Optional[str]) -> Dict[str, Any]:
    """Which processor computes; `on_cpu`: the method that was asked for, where it has no other."""
    # "emulate" is for tests: a card's algorithm on the CPU
    where = "emulate" if isinstance(backend, str) and backend == "emulate" else choice("backend", backend, _BACKENDS)
    if on_cpu is not None and where not in ("auto", "cpu"):
        raise ValueError(f"backend: method={on_cpu!r} runs on the CPU only, got {where!r}")
    return {"backend": where,
            "gpu_memory": 0.0 if gpu_memory is None else number("gpu_memory", gpu_memory, 1e-6, 1e9),
            "on_device_error": choice("on_device_error", on_device_error, ("fail", "cpu"))}


def path(name: str, value: Any) -> str:
    """A file name as text."""
    try:
        text = os.fsdecode(value)
    except TypeError:
        raise TypeError(f"{name}: expected a path, got {type(value).__name__}") from None
    if not text or "\0" in text:
        raise ValueError(f"{name}: expected a path, got {text!r}")
    return text


def header(value: Any) -> Any:
    """A Header, or what makes one; None as it is."""
    from . import _core
    if value is None or isinstance(value, _core.Header):
        return value
    if isinstance(value, Mapping):
        return _core.Header(dict(value))
    raise TypeError(f"header: expected a Header or a mapping, got {type(value).__name__}")


def fibermap(value: Any, count: Optional[int] = None) -> Any:
    """A Table with a row for each of `count` spectra; None as it is."""
    from . import _core
    if value is None:
        return value
    if not isinstance(value, _core.Table):
        raise TypeError(f"fibermap: expected a Table, as read_image and read_frame give it, got {type(value).__name__}")
    if count is not None and len(value) != count:
        raise ValueError(f"fibermap: expected {count} rows, one a spectrum, got {len(value)}")
    return value


def option(name: str, value: Any, key: str) -> Any:
    """A value of the option of this key, by the rules that the command line has too."""
    from . import _core
    row = _core.extract_options[key]
    kind = row["kind"]
    if value is None and row["none"]:
        return -1
    if kind == "flag":
        return flag(name, value)
    if kind == "word":
        return choice(name, value, row["words"])
    if kind == "number":
        return number(name, value, row["low"], row["high"])
    if kind == "wave":
        return None if value is None else list(wave_range(name, value))
    result = integer(name, value, max(row["low"], 1) if row["odd"] else row["low"], row["high"])
    if row["odd"] and result % 2 == 0:
        raise ValueError(f"{name}: expected an odd number, got {result}")
    return result


def threads(value: Optional[int]) -> int:
    """0 where the machine and the batch system decide."""
    return 0 if value is None else integer("threads", value, 1, 4096)


def fibers(specmin: Any, nspec: Any, nfiber: int) -> Tuple[int, int]:
    """First fibre and number of fibres within the PSF's."""
    first = integer("specmin", specmin, 0)
    if first >= nfiber:
        raise ValueError(f"specmin: expected a fibre from 0 to {nfiber - 1}, got {first}")
    count = nfiber - first if nspec is None else integer("nspec", nspec, 1)
    if first + count > nfiber:
        raise ValueError(f"nspec: expected at most {nfiber - first} fibres from specmin {first} on "
                         f"(the PSF has {nfiber}), got {count}")
    return first, count


_WAVE = "(first, last, step), 'first,last,step' or an increasing grid"


def wave_range(name: str, value: Any) -> Tuple[float, float, float]:
    """(first, last, step) of three numbers or of the command line's text."""
    parts = value.split(",") if isinstance(value, str) else value
    try:
        numbers = [float(v) for v in parts]
    except (TypeError, ValueError):
        numbers = []
    if len(numbers) != 3:
        raise ValueError(f"{name}: expected (first, last, step) or 'first,last,step', got {value!r}")
    low, high, step = numbers
    if not (math.isfinite(low) and math.isfinite(high) and step > 0 and low <= high and (high - low) / step <= 1e6):
        raise ValueError(f"{name}: expected (first, last, step) with first <= last and step > 0, got {value!r}")
    return low, high, step


def wave(name: str, value: Any) -> "npt.NDArray[np.float64]":
    """An increasing wavelength grid; a tuple of three or a text is (first, last, step), both ends included."""
    from . import _core
    if isinstance(value, str) or (isinstance(value, tuple) and len(value) == 3):
        return _core.linear_wave_grid(*wave_range(name, value))
    if isinstance(value, tuple) and len(value) == 2:
        raise ValueError(f"{name}: expected {_WAVE}, got two numbers {value!r}, a range without a step")
    grid = finite(name, value, ("nwave",))
    _increasing(name, grid)
    return grid


def _increasing(name: str, grid: "npt.NDArray[np.float64]") -> None:
    steps = np.flatnonzero(grid[1:] <= grid[:-1])
    if steps.size:
        raise ValueError(f"{name}: expected increasing wavelengths, "
                         f"bin {int(steps[0]) + 1} is {grid[steps[0] + 1]} after {grid[steps[0]]}"
                         + ("; (first, last, step) is a tuple" if grid.size == 3 else ""))


def wave_of_fibers(name: str, value: Any, nfiber: int) -> "npt.NDArray[np.float64]":
    """A grid for each fibre, [nfiber][nwave]."""
    grids = finite(name, value, (nfiber, "nwave"))
    for fiber in range(nfiber):
        _increasing(f"{name}[{fiber}]", grids[fiber])
    return grids


def points(name: str, value: Any) -> "npt.NDArray[np.float64]":
    """Wavelengths in any order, one or many; a text is 'first,last,step'."""
    return wave(name, value) if isinstance(value, str) else finite(name, np.atleast_1d(value), ("nwave",))
