# SPDX-License-Identifier: BSD-3-Clause
"""TomoPy's stripe removals and its search for them: arguments and defaults are its own."""
import math
from typing import Any, Optional

import numpy as np

from .. import _core
from .._arguments import Floats
from .._arrays import remove_stripe
from .._repair import Bools, detect_stripes, mask_stripes


def _only(name: str, value: Any, known: Any) -> None:
    if value != known:
        raise NotImplementedError(f"{name}={value!r}: only {known!r} is there")


def remove_stripe_fw(tomo: Any, level: Optional[int] = None, wname: str = "db5", sigma: float = 2, pad: bool = True,
                     ncore: Optional[int] = None, nchunk: Any = None) -> Floats:
    """Muench et al. 2009: wavelets damped in Fourier space."""
    _only("wname", wname, "db5")
    _only("pad", bool(pad), True)
    if level is None:
        level = math.ceil(math.log2(max(np.shape(tomo))))
    return remove_stripe(tomo, "fw", level=level, sigma=float(sigma), threads=ncore)


def remove_stripe_ti(tomo: Any, nblock: int = 0, alpha: float = 1.5, ncore: Optional[int] = None,
                     nchunk: Any = None) -> Floats:
    """Titarenko's (Miqueles et al. 2014)."""
    return remove_stripe(tomo, "ti", blocks=nblock, alpha=float(alpha), threads=ncore)


def remove_stripe_sf(tomo: Any, size: int = 5, ncore: Optional[int] = None, nchunk: Any = None) -> Floats:
    """The mean over angles less its running mean."""
    return remove_stripe(tomo, "sf", size=size, threads=ncore)


def remove_stripe_based_sorting(tomo: Any, size: Optional[int] = None, dim: int = 1, ncore: Optional[int] = None,
                                nchunk: Any = None) -> Floats:
    """Vo et al. 2018, algorithm 3."""
    _only("dim", dim, 1)
    return remove_stripe(tomo, "sorting", size=size, threads=ncore)


def remove_stripe_based_filtering(tomo: Any, sigma: float = 3, size: Optional[int] = None, dim: int = 1,
                                  ncore: Optional[int] = None, nchunk: Any = None) -> Floats:
    """Vo et al. 2018, algorithm 2."""
    _only("dim", dim, 1)
    return remove_stripe(tomo, "filtering", sigma=float(sigma), size=size, threads=ncore)


def remove_stripe_based_fitting(tomo: Any, order: int = 3, sigma: Any = (5, 20), ncore: Optional[int] = None,
                                nchunk: Any = None) -> Floats:
    """Vo et al. 2018, algorithm 1."""
    across, along = sigma
    return remove_stripe(tomo, "fitting", order=order, sigma_x=float(across), sigma_y=float(along), threads=ncore)


def remove_large_stripe(tomo: Any, snr: float = 3, size: int = 51, drop_ratio: float = 0.1, norm: bool = True,
                        ncore: Optional[int] = None, nchunk: Any = None) -> Floats:
    """Vo et al. 2018, algorithm 5."""
    _only("norm", bool(norm), True)
    return remove_stripe(tomo, "large", snr=float(snr), size=size, drop=float(np.clip(drop_ratio, 0, 0.8)),
                         threads=ncore)


def remove_dead_stripe(tomo: Any, snr: float = 3, size: int = 51, norm: bool = True, ncore: Optional[int] = None,
                       nchunk: Any = None) -> Floats:
    """Vo et al. 2018, algorithm 6."""
    _only("norm", bool(norm), True)
    return remove_stripe(tomo, "dead", snr=float(snr), size=size, threads=ncore)


def remove_all_stripe(tomo: Any, snr: float = 3, la_size: int = 61, sm_size: int = 21, dim: int = 1,
                      ncore: Optional[int] = None, nchunk: Any = None) -> Floats:
    """Vo et al. 2018, algorithms 6, 5, 4 and 3."""
    _only("dim", dim, 1)
    return remove_stripe(tomo, "all", snr=float(snr), large_size=la_size, size=sm_size, threads=ncore)


def remove_stripe_based_interpolation(tomo: Any, snr: float = 3, size: int = 31, drop_ratio: float = 0.1,
                                      norm: bool = True, ncore: Optional[int] = None, nchunk: Any = None) -> Floats:
    """Vo et al. 2018, from algorithms 4, 5 and 6."""
    _only("norm", bool(norm), True)
    return remove_stripe(tomo, "interpolation", snr=float(snr), size=size,
                         drop=float(np.clip(drop_ratio, 0, 0.8)), threads=ncore)


def stripes_detect3d(tomo: Any, size: int = 10, radius: int = 3, ncore: Optional[int] = None) -> Floats:
    """Kazantsev et al. 2023: weights that are small at the edges of stripes."""
    return detect_stripes(tomo, size, radius, threads=ncore)


def stripes_mask3d(weights: Any, threshold: float = 0.6, min_stripe_length: int = 20, min_stripe_depth: int = 10,
                   min_stripe_width: int = 5, sensitivity_perc: float = 85.0, ncore: Optional[int] = None) -> Bools:
    """Kazantsev et al. 2023: weights to a mask of stripes."""
    return mask_stripes(weights, threshold, min_stripe_length, min_stripe_depth, min_stripe_width, sensitivity_perc,
                        threads=ncore)


def _detect_stripe(listdata: Any, snr: float) -> Any:
    """Vo et al. 2018, algorithm 4: 1 where a column's factor is that of a stripe, else 0."""
    factors = np.asarray(listdata)
    return np.array(_core.striped_columns(np.nan_to_num(factors.astype(np.float64)).ravel(), float(snr)), dtype=factors.dtype)
