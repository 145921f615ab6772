# SPDX-License-Identifier: BSD-3-Clause
"""TomoPy's recon() and circ_mask()."""
from typing import Any, Optional

import numpy as np

from .. import _core
from .._arguments import Floats, stack
from .._arrays import recon as _recon

_ALGORITHMS = ("gridrec", "fbp", "sirt", "mlem", "osem", "tv", "cgls", "exact")
_TAKES = {"gridrec": ("filter_name", "filter_par"), "exact": ("filter_name", "filter_par"),
          "fbp": ("filter_name", "filter_par"), "sirt": ("num_iter",), "cgls": ("num_iter",), "mlem": ("num_iter",),
          "osem": ("num_iter", "num_block"), "tv": ("num_iter", "reg_par")}
_PEERS = ("art", "bart", "ospml_hybrid", "ospml_quad", "pml_hybrid", "pml_quad", "grad", "tikh")


def recon(tomo: Any, theta: Any, center: Any = None, sinogram_order: bool = False, algorithm: Any = None,
          init_recon: Any = None, ncore: Optional[int] = None, nchunk: Any = None, **kwargs: Any) -> Floats:
    """Slices by algorithm "gridrec" (TomoPy's arrays), "fbp", "sirt", "mlem", "osem", "tv", or tomoloom's own "exact" and "cgls".

    The default axis is columns/2. Slices are as wide as the projections (num_gridx, num_gridy).
    """
    if not isinstance(algorithm, str) or algorithm not in _ALGORITHMS:
        if algorithm in _PEERS:
            raise NotImplementedError(f"algorithm={algorithm!r}: only {', '.join(_ALGORITHMS)} are there")
        raise ValueError(f'Keyword "algorithm" must be one of {list(_ALGORITHMS)}, got {algorithm!r}')
    data = stack("tomo", tomo)
    columns = data.shape[2]
    for key in kwargs:
        if key not in (*_TAKES[algorithm], "num_gridx", "num_gridy"):
            raise ValueError(f"{key} keyword not in allowed keywords {list(_TAKES[algorithm])}")
    if any(kwargs.get(key, columns) != columns for key in ("num_gridx", "num_gridy")):
        raise NotImplementedError(f"num_gridx, num_gridy: only {columns}, the columns of tomo, is there")
    if init_recon is not None and "num_iter" in _TAKES[algorithm]:
        raise NotImplementedError("init_recon: iterations begin at 0, of mlem and osem at 1")
    name = kwargs.get("filter_name", "shepp")
    if name not in _core.filters:
        raise NotImplementedError(f"filter_name={name!r}: only {', '.join(_core.filters)} are there")
    given = [float(value) for value in np.ravel(kwargs.get("filter_par", (0.5, 8)))[:2]]
    cutoff, order = given + [0.5, 8.0][len(given):]
    return _recon(data, np.asarray(theta, dtype=np.float32), columns / 2 if center is None else center,
                  method=algorithm, filter=name, filter_cutoff=cutoff, filter_order=order,
                  iterations=int(np.squeeze(kwargs.get("num_iter", 1))),
                  blocks=int(np.squeeze(kwargs.get("num_block", 1))), reg_par=float(np.ravel(kwargs.get("reg_par", 1))[0]),
                  sinograms=bool(sinogram_order), threads=ncore)


def circ_mask(arr: Any, axis: int, ratio: float = 1, val: float = 0.0, ncore: Optional[int] = None) -> Floats:
    """A stack whose values outside of a circle are `val`; in place where it is single precision, as TomoPy's."""
    out: Floats = np.asarray(arr, dtype=np.float32)
    planes = out.swapaxes(0, axis)
    half = [n / 2.0 for n in planes.shape[1:]]
    y, x = np.ogrid[0.5 - half[0]:0.5 + half[0], 0.5 - half[1]:0.5 + half[1]]
    planes[:, x * x + y * y >= (ratio * min(half)) ** 2] = np.float32(val)
    return out
