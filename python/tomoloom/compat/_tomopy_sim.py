# SPDX-License-Identifier: BSD-3-Clause
"""TomoPy's scans that are made up: a phantom, what a detector sees of it, and what spoils that."""
from typing import Any, Optional

import numpy as np

from .. import _arguments as arguments
from .. import _arrays
from .._arguments import Floats

# Ellipsoids of the modified Shepp-Logan phantom: value, half axes, middle, and Euler's angles in degrees
_SHEPP_LOGAN = ((1.0, (0.69, 0.92, 0.81), (0, 0, 0), (90, 90, 90)),
                (-0.8, (0.6624, 0.874, 0.78), (0, -0.0184, 0), (90, 90, 90)),
                (-0.2, (0.11, 0.31, 0.22), (0.22, 0, 0), (-108, 90, 100)),
                (-0.2, (0.16, 0.41, 0.28), (-0.22, 0, 0), (108, 90, 100)),
                (0.1, (0.21, 0.25, 0.41), (0, 0.35, -0.15), (90, 90, 90)),
                (0.1, (0.046, 0.046, 0.05), (0, 0.1, 0.25), (90, 90, 90)),
                (0.1, (0.046, 0.046, 0.05), (0, -0.1, 0.25), (90, 90, 90)),
                (0.1, (0.046, 0.023, 0.05), (-0.08, -0.605, 0), (90, 90, 90)),
                (0.1, (0.023, 0.023, 0.02), (0, -0.606, 0), (90, 90, 90)),
                (0.1, (0.023, 0.046, 0.02), (0.06, -0.605, 0), (90, 90, 90)))


def _turned(angle: float, first: int, second: int) -> Any:
    """The frame that is turned from one axis towards another."""
    turn = np.eye(3)
    c, s = np.cos(np.radians(angle)), np.sin(np.radians(angle))
    turn[[first, first, second, second], [first, second, first, second]] = c, s, -s, c
    return turn


def shepp3d(size: Any = 128, dtype: Any = "float32") -> Any:
    """The modified Shepp-Logan phantom of ten ellipsoids in a box of `size`: values from 0 to 1."""
    shape = (size,) * 3 if np.isscalar(size) else tuple(size)
    if len(shape) != 3:
        raise ValueError(f"size: expected one or three numbers, got {size!r}")
    z, y, x = (np.linspace(-1, 1, n) for n in shape)
    out = np.zeros(shape, dtype=dtype)
    for plane, height in zip(out, z):
        places = np.stack(np.broadcast_arrays(height, y[:, np.newaxis], x)).reshape(3, -1)
        for value, half, middle, (phi, theta, psi) in _SHEPP_LOGAN:
            frame = _turned(psi, 0, 1) @ _turned(theta, 1, 2) @ _turned(phi, 0, 1)
            away = (frame @ places - np.reshape(middle, (3, 1))) / np.reshape(half, (3, 1))
            plane[(away**2).sum(axis=0).reshape(plane.shape) <= 1] += value
    return out.clip(0)


def project(obj: Any, theta: Any, center: Any = None, emission: bool = True, pad: bool = True,
            sinogram_order: bool = False, ncore: Optional[int] = None, nchunk: Any = None) -> Floats:
    """Line integrals of slices, or with emission=False what comes through them; with `pad` of a detector that is wider
    than their diagonal. The axis is at `center`, by default half the width, as recon() has it."""
    data = arguments.floats("obj", obj)
    width = int(np.ceil((np.sqrt(data.shape[1] ** 2 + data.shape[2] ** 2) + 2) / 2)) * 2 if pad else data.shape[1]
    out = _arrays.project(data, np.asarray(theta, dtype=np.float32), min(width / 2, width - 1) if center is None else center,
                          columns=width, sinograms=bool(sinogram_order), threads=ncore)
    return out if emission else np.exp(-out)


def add_drift(tomo: Any, amp: float = 0.2, period: float = 50, mean: float = 1) -> Any:
    """Times light that comes and goes by `amp` every `period` projections about `mean`, and grows by 1 in all."""
    data = np.asarray(tomo)
    at = np.arange(len(data))
    light = mean + amp * np.sin(2 * np.pi / period * at) + np.linspace(0, 1, len(data))
    return light[:, np.newaxis, np.newaxis] * data


def add_gaussian(tomo: Any, mean: float = 0, std: Optional[float] = None) -> Any:
    """With noise of `std`, by default a twentieth of the largest value, about `mean`; in place where it is floats."""
    data = np.asarray(tomo)
    noise = np.random.normal(mean, data.max() * 0.05 if std is None else std, data.shape)
    if data.dtype.kind != "f":
        return data + noise
    data += noise.astype(data.dtype)
    return data


def add_poisson(tomo: Any) -> Any:
    """Counts that are expected become counts."""
    return np.random.poisson(tomo)


def add_rings(tomo: Any, std: float = 0.05) -> Any:
    """Times what each pixel of the detector gives, 1 with a deviation of `std`."""
    data = np.asarray(tomo)
    return data * np.random.normal(1, std, (1, *data.shape[1:]))


def add_salt_pepper(tomo: Any, prob: float = 0.01, val: Optional[float] = None) -> Any:
    """A part `prob` of all values becomes `val`, by default the largest; in place."""
    data = np.asarray(tomo)
    data[np.random.random(data.shape) < prob] = data.max() if val is None else val
    return data


def add_zingers(tomo: Any, f: float = 0.01, sat: float = 2**16) -> Any:
    """A part `f` of all values becomes `sat`."""
    out = np.array(tomo)
    out[np.random.random(out.shape) <= f] = sat
    return out
