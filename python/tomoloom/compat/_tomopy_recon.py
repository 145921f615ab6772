# SPDX-License-Identifier: BSD-3-Clause
"""TomoPy's recon() and circ_mask()."""
from typing import Any, Dict, Optional, Tuple

import numpy as np

from .. import _core
from .._arguments import Floats, counting_as, floats, own_floats, stack
from .._arrays import project as _project
from .._arrays import recon as _recon

_ALGORITHMS = ("gridrec", "fbp", "sirt", "mlem", "osem", "tv", "tikh", "grad", "pml_quad", "pml_hybrid", "ospml_quad",
               "ospml_hybrid", "art", "bart", "cgls", "exact")
_LINEAR = ("sirt", "cgls", "grad", "art", "bart")  # from x on they are x and what they make from 0 of what is left of x
_FILTERS = ("filter_name", "filter_par")
_BLOCKS = ("num_block", "ind_block")
_TAKES = {"gridrec": _FILTERS, "exact": _FILTERS, "fbp": _FILTERS, "sirt": ("num_iter",), "cgls": ("num_iter",),
          "mlem": ("num_iter",), "osem": ("num_iter", *_BLOCKS), "tv": ("num_iter", "reg_par"),
          "tikh": ("num_iter", "reg_par"), "grad": ("num_iter", "reg_par"), "pml_quad": ("num_iter", "reg_par"),
          "pml_hybrid": ("num_iter", "reg_par"), "ospml_quad": ("num_iter", "reg_par", *_BLOCKS),
          "ospml_hybrid": ("num_iter", "reg_par", *_BLOCKS), "art": ("num_iter",), "bart": ("num_iter", *_BLOCKS)}


def _regularisation(algorithm: str, reg_par: Any, rays: int) -> Tuple[float, float]:
    """TomoPy's reg_par as weight and edge: of tikh its second number, of slices scaled by sqrt(rays / 2) as there; of
    grad the length of a step, found where it is negative or not given."""
    if algorithm == "grad" and reg_par is None:
        return 0.0, 1.0
    given = [float(value) for value in np.ravel(1 if reg_par is None else reg_par)]
    first, second = given[0], given[1] if len(given) > 1 else 1.0
    if algorithm == "tikh":
        return second * rays / 2, 1.0
    return max(first, 0.0), second


def _filter(kwargs: Any, algorithm: str, angles: int, columns: int) -> Any:
    """Name, cutoff, order and weights of TomoPy's filter_name and filter_par."""
    name, given = kwargs.get("filter_name", "shepp"), np.asarray(kwargs.get("filter_par", (0.5, 8)), dtype=np.float32)
    if name not in _core.filters:
        raise ValueError(f"filter_name={name!r}: only {', '.join(_core.filters)} are there")
    if name not in ("custom", "custom2d"):
        cutoff, order = [float(value) for value in given.ravel()[:2]] + [0.5, 8.0][given.size:]
        return name, cutoff, order, None
    if algorithm == "gridrec":  # reads so many from the front, and what else there is not at all
        half = max(16, 1 << (columns - 1).bit_length()) // 2
        wanted = half * (angles if name == "custom2d" else 1)
        if given.size < wanted or (given.ndim > 1 and given.shape != (angles, half)):
            raise ValueError(f"filter_par: expected {wanted} weights of filter {name!r}, got an array of {given.shape}")
        given = given.ravel()[:wanted]
    return name, 0.5, 8.0, given


def recon(tomo: Any, theta: Any, center: Any = None, sinogram_order: bool = False, algorithm: Any = None,
          init_recon: Any = None, ncore: Optional[int] = None, nchunk: Any = None, **kwargs: Any) -> Floats:
    """Slices by algorithm "gridrec" (TomoPy's arrays), any other of TomoPy's, or tomoloom's own "exact" and "cgls".

    The default axis is columns/2. Slices are as wide as the projections (num_gridx, num_gridy).
    """
    if not isinstance(algorithm, str) or algorithm not in _ALGORITHMS:
        raise ValueError(f'Keyword "algorithm" must be one of {list(_ALGORITHMS)}, got {algorithm!r}')
    data = stack("tomo", tomo)
    columns = data.shape[2]
    if kwargs.pop("accelerated", False):
        raise NotImplementedError("accelerated: recon of tomoloom has one way alone, on rays")
    for key in kwargs:
        if key not in (*_TAKES[algorithm], "num_gridx", "num_gridy"):
            raise ValueError(f"{key} keyword not in allowed keywords {list(_TAKES[algorithm])}")
    if any(kwargs.get(key, columns) != columns for key in ("num_gridx", "num_gridy")):
        raise NotImplementedError(f"num_gridx, num_gridy: only {columns}, the columns of tomo, is there")
    start = None
    if init_recon is not None and "num_iter" in _TAKES[algorithm]:
        if algorithm not in _LINEAR:
            raise NotImplementedError(f"init_recon: goes with {', '.join(_LINEAR)}; {algorithm} has a start of its own")
        start = floats("init_recon", init_recon)
    options: Dict[str, Any] = {}
    if "filter_name" in _TAKES[algorithm]:
        name, cutoff, order, weights = _filter(kwargs, algorithm, np.size(theta), columns)
        options.update(filter=name, filter_cutoff=cutoff, filter_order=order, filter_weights=weights)
    if "num_iter" in _TAKES[algorithm]:
        options["iterations"] = int(np.squeeze(kwargs.get("num_iter", 1)))
    if "num_block" in _TAKES[algorithm]:
        options.update(blocks=int(np.squeeze(kwargs.get("num_block", 1))), block_order=kwargs.get("ind_block"))
    if "reg_par" in _TAKES[algorithm]:
        options["reg_par"], edge = _regularisation(algorithm, kwargs.get("reg_par"), columns * np.size(theta))
        options.update({"reg_edge": edge} if algorithm.endswith("hybrid") else {})
    theta, center = np.asarray(theta, dtype=np.float32), columns / 2 if center is None else center
    options.update(method=algorithm, sinograms=bool(sinogram_order), threads=ncore)
    if start is None:
        return _recon(data, theta, center, **options)
    wanted = (data.shape[0 if sinogram_order else 1], columns, columns)
    if start.shape != wanted:
        raise ValueError(f"init_recon: expected slices of {wanted}, got {start.shape}")
    left = own_floats("tomo", data)
    counting_as(left, 0)
    left -= _project(start, theta, center, sinograms=bool(sinogram_order), threads=ncore)
    return start + _recon(left, theta, center, **options)


def circ_mask(arr: Any, axis: int, ratio: float = 1, val: float = 0.0, ncore: Optional[int] = None) -> Floats:
    """A stack whose values outside of a circle are `val`; in place where it is single precision, as TomoPy's."""
    out: Floats = np.asarray(arr, dtype=np.float32)
    planes = out.swapaxes(0, axis)
    half = [n / 2.0 for n in planes.shape[1:]]
    y, x = np.ogrid[0.5 - half[0]:0.5 + half[0], 0.5 - half[1]:0.5 + half[1]]
    planes[:, x * x + y * y >= (ratio * min(half)) ** 2] = np.float32(val)
    return out
