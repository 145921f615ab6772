# SPDX-License-Identifier: BSD-3-Clause
"""Types of arguments and results, for annotations."""
import os
from typing import Any, Callable, Literal, Optional, Tuple, Union

import numpy as np
import numpy.typing as npt


Array = npt.NDArray[Any]
FloatArray = npt.NDArray[np.float64]
PathLike = Union[str, bytes, "os.PathLike[str]", "os.PathLike[bytes]"]
# (first, last, step), "first,last,step", or an increasing grid
Wave = Union[str, Tuple[float, float, float], npt.ArrayLike]
# Called as progress(stage, done, total) for every unit of work: a bundle of fibres, an exposure
Progress = Optional[Callable[[str, int, int], object]]
Method = Literal["exact", "patch"]
Backend = Literal["auto", "cpu", "cuda"]
OnDeviceError = Literal["fail", "cpu"]
