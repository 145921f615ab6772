# SPDX-License-Identifier: BSD-3-Clause
"""TomoPy's projections that are moved: by given amounts, until they fit their slices, and where a lens has bent them."""
import pathlib
from typing import Any, Iterable, List, Optional, Sequence, Tuple

import numpy as np

from .. import _arguments as arguments
from .._arguments import Floats
from ._tomopy_recon import recon
from ._tomopy_sim import project

_TAIL = 32  # a quintic spline of what is 0 beyond the ends is below 1e-11 so far out


def _in_place(name: str, value: Any) -> Floats:
    """The caller's own array where it is in single precision, as TomoPy works on it."""
    data = arguments.stack(name, value)
    return data if data.dtype == np.float32 else data.astype(np.float32)


def scale(prj: Any) -> Tuple[Floats, float]:
    """Between -1 and 1, by the largest magnitude, which comes too; in place."""
    data = _in_place("prj", prj)
    largest = float(np.max(np.abs(data)))
    if largest > 0:  # of nothing but 0 TomoPy's are no numbers
        data /= np.float32(largest)
    return data, largest


def _moved_lines(image: Any, by: float) -> Any:
    """Along the last axis `by` to the left, between pixels by a quintic spline of the image with 0 beyond it."""
    n = image.shape[-1]
    if abs(by) > n + _TAIL:
        return np.zeros_like(image)
    whole = int(np.floor(by))
    more = _TAIL + abs(whole) + 1
    spectrum = np.fft.rfft(np.pad(image, [(0, 0)] * (image.ndim - 1) + [(more, more)]), axis=-1)
    frequency = 2 * np.pi * np.fft.rfftfreq(n + 2 * more)
    at_pixels = (66 + 52 * np.cos(frequency) + 2 * np.cos(2 * frequency)) / 120
    between = sum(_quintic(k - (by - whole)) * np.exp(1j * frequency * (whole + k)) for k in range(-2, 4))
    moved = np.fft.irfft(spectrum * between / at_pixels, n + 2 * more, axis=-1)
    return moved[..., more:more + n]


def _quintic(x: float) -> float:
    """The cardinal B-spline of degree 5."""
    return float(sum((-1) ** k * weight * max(3 - k - abs(x), 0.0) ** 5 for k, weight in enumerate((1, 6, 15))) / 120)


def _moved(image: Floats, rows: float, columns: float) -> Floats:
    """`rows` up and `columns` to the left, no value beyond those of the image (and 0, which comes in)."""
    wide = _moved_lines(image.astype(np.float64), columns)
    out = np.moveaxis(_moved_lines(np.moveaxis(wide, 0, -1), rows), -1, 0)
    return np.clip(out, min(image.min(), 0), max(image.max(), 0)).astype(np.float32)


def shift_images(prj: Any, sx: Sequence[float], sy: Sequence[float]) -> Floats:
    """Each projection sx[m] rows up and sy[m] columns to the left, between pixels by a quintic spline; in place."""
    data = _in_place("prj", prj)
    up, left = np.asarray(sx, dtype=np.float64), np.asarray(sy, dtype=np.float64)
    for name, given in (("sx", up), ("sy", left)):
        if given.shape != data.shape[:1]:
            raise ValueError(f"{name}: expected a number for each of {len(data)} projections, got shape {given.shape}")
        if not np.isfinite(given).all():
            raise ValueError(f"{name}: expected finite numbers")
    if not np.isfinite(data).all():  # one would be all of its projection
        raise ValueError("prj: values that are no numbers: remove_nan() goes before")
    for m, projection in enumerate(data):
        projection[...] = _moved(projection, up[m], left[m])
    return data


def add_jitter(prj: Any, low: float = 0, high: float = 1) -> Tuple[Floats, Any, Any]:
    """Each projection moved by random amounts between low and high, to the nearest pixel: columns to the left, rows
    up, which come too; in place."""
    data = _in_place("prj", prj)
    jitter = np.random.uniform(low, high, size=(len(data), 2))
    rows, columns = np.arange(data.shape[1]), np.arange(data.shape[2])
    for (left, up), projection in zip(jitter, data):
        y, x = np.floor(rows + up + 0.5).astype(int), np.floor(columns + left + 0.5).astype(int)
        there = np.ix_((y >= 0) & (y < len(rows)), (x >= 0) & (x < len(columns)))
        moved = np.zeros_like(projection)
        moved[there] = projection[np.ix_(np.clip(y, 0, len(rows) - 1), np.clip(x, 0, len(columns) - 1))][there]
        projection[...] = moved
    return data, jitter[:, 0], jitter[:, 1]


def add_noise(prj: Any, ratio: float = 0.05) -> Floats:
    """With Gaussian noise of `ratio` times the largest value."""
    data = arguments.floats("prj", prj)
    noise = np.random.normal(0, float(data.max()) * ratio, size=data.shape)
    out: Floats = data + noise.astype(np.float32)
    return out


def blur_edges(prj: Any, low: float = 0, high: float = 0.8) -> Floats:
    """Times a weight that falls from 1 to 0 between the circles of `low` and `high` times half the diagonal."""
    data = arguments.own_floats("prj", prj)
    rows, columns = np.ogrid[:data.shape[1], :data.shape[2]]
    away = np.hypot(rows - data.shape[1] / 2, columns - data.shape[2] / 2)
    inner, outer = low * away.max(), high * away.max()
    with np.errstate(divide="ignore", invalid="ignore"):
        weight = np.clip((outer - away) / (outer - inner), 0, 1) if outer != inner else (away <= outer) * 1.0
    data *= weight.astype(np.float32)
    return data


def _displacement(image: Any, other: Any, factor: int, whiten: bool) -> Tuple[float, float]:
    """Rows and columns that `other` is to be moved down and right by to lie on `image`: the largest value of their
    correlation, first at pixels, then 1/factor of them apart within three quarters of one (Guizar-Sicairos et al.
    2008). `whiten`: of phases alone."""
    product = np.fft.fft2(image) * np.conj(np.fft.fft2(other))
    if whiten:
        product = product / np.maximum(np.abs(product), 100 * np.finfo(np.float32).eps)
    peak = np.unravel_index(int(np.argmax(np.abs(np.fft.ifft2(product)))), product.shape)
    found: List[Any] = []
    for at, n in zip(peak, product.shape):
        coarse = int(at) - n if int(at) > n // 2 else int(at)
        steps = int(np.ceil(1.5 * factor))
        found.append(np.array([0.0 if n == 1 else coarse]) if factor <= 1 or n == 1
                     else coarse + (np.arange(steps) - steps // 2) / factor)
    waves = [np.exp(2j * np.pi * np.outer(at, np.fft.fftfreq(n))) for at, n in zip(found, product.shape)]
    finer = np.abs(waves[0] @ product @ waves[1].T)
    best = np.unravel_index(int(np.argmax(finer)), finer.shape)
    return float(found[0][best[0]]), float(found[1][best[1]])


def _align(prj: Any, ang: Any, iters: int, pad: Sequence[int], blur: bool, center: Any, algorithm: str, factor: int,
           rin: float, rout: float, debug: bool, joint: bool) -> Any:
    """Projections are moved until they are what slices of them look like: each round further (of slices that are made
    anew), or, `joint`, from where they were (of slices that go on by one iteration)."""
    data = arguments.own_floats("prj", prj)
    arguments.counting_as(data, 0)
    data = np.pad(data, ((0, 0), (pad[1], pad[1]), (pad[0], pad[0])))
    data, largest = scale(data)
    moved = data.copy()
    up, left, errors = np.zeros(len(data)), np.zeros(len(data)), np.zeros(iters)
    slices: Optional[Floats] = None
    for n in range(iters):
        if joint and algorithm != "gridrec":
            slices = recon(moved, ang, center, algorithm=algorithm, init_recon=slices, num_iter=1)
        else:
            slices = recon(moved, ang, center, algorithm=algorithm)
        seen = project(slices, ang, center, pad=False)
        mine, theirs = (blur_edges(moved, rin, rout), blur_edges(seen, rin, rout)) if blur else (moved, seen)
        error = np.zeros(len(data))
        for m in range(len(data)):
            rows, columns = _displacement(mine[m], theirs[m], factor, whiten=not joint)
            error[m] = np.hypot(rows, columns)
            up[m] += rows
            left[m] += columns
            moved[m] = _moved(data[m], up[m], left[m]) if joint else _moved(moved[m], rows, columns)
        errors[n] = np.linalg.norm(error)
        if debug:
            print(f"iter={n}, err={errors[n] / (len(data) if joint else 1)}")
    return (data if joint else moved) * np.float32(largest), up, left, errors


def _wants_no_files(save: bool) -> None:
    if save:
        raise NotImplementedError("save: images of each round are not written")


def align_seq(prj: Any, ang: Any, fdir: str = ".", iters: int = 10, pad: Sequence[int] = (0, 0), blur: bool = True,
              center: Any = None, algorithm: str = "sirt", upsample_factor: int = 10, rin: float = 0.5,
              rout: float = 0.8, save: bool = False, debug: bool = True) -> Any:
    """Projections moved until they fit their slices, how far (rows up, columns to the left), and the change of each
    round: slices are made anew each time."""
    _wants_no_files(save)
    return _align(prj, ang, iters, pad, blur, center, algorithm, upsample_factor, rin, rout, debug, joint=False)


def align_joint(prj: Any, ang: Any, fdir: str = ".", iters: int = 10, pad: Sequence[int] = (0, 0), blur: bool = True,
                center: Any = None, algorithm: str = "sirt", upsample_factor: int = 10, rin: float = 0.5,
                rout: float = 0.8, save: bool = False, debug: bool = True) -> Any:
    """The same with slices that go on by one iteration a round. The projections come back as they were (padded), as
    TomoPy's: shift_images(prj, sx, sy) moves them."""
    _wants_no_files(save)
    return _align(prj, ang, iters, pad, blur, center, algorithm, upsample_factor, rin, rout, debug, joint=True)


def _bent(shape: Sequence[int], rows: Iterable[int], xcenter: float, ycenter: float, factors: Sequence[float]) -> Any:
    """Where rows of a corrected image find their values: y, x, within the image."""
    if not np.isfinite([xcenter, ycenter, *factors]).all():
        raise ValueError("xcenter, ycenter, list_fact: expected finite numbers")
    x, y = np.arange(shape[1]) - xcenter, (np.array(list(rows)) - ycenter)[:, np.newaxis]
    stretch = np.polynomial.polynomial.polyval(np.hypot(x, y), np.asarray(factors, dtype=np.float64))
    return np.clip(ycenter + stretch * y, 0, shape[0] - 1), np.clip(xcenter + stretch * x, 0, shape[1] - 1)


def _between(images: Any, y: Any, x: Any) -> Any:
    """Values of [image][row][column] between four pixels."""
    top = np.minimum(y.astype(int), max(images.shape[1] - 2, 0))
    left = np.minimum(x.astype(int), max(images.shape[2] - 2, 0))
    below, right = np.minimum(top + 1, images.shape[1] - 1), np.minimum(left + 1, images.shape[2] - 1)
    down, across = y - top, x - left
    return ((1 - down) * ((1 - across) * images[:, top, left] + across * images[:, top, right])
            + down * ((1 - across) * images[:, below, left] + across * images[:, below, right]))


def distortion_correction_proj(tomo: Any, xcenter: float, ycenter: float, list_fact: Sequence[float],
                               ncore: Optional[int] = None, nchunk: Any = None) -> Floats:
    """Projections as without the lens: what is r from (xcenter, ycenter) lies at r sum_i list_fact[i] r^i; in place."""
    data = _in_place("tomo", tomo)
    y, x = _bent(data.shape[1:], range(data.shape[1]), xcenter, ycenter, list_fact)
    for projection in data:
        projection[...] = _between(projection[np.newaxis], y, x)[0]
    return data


def distortion_correction_sino(tomo: Any, ind: int, xcenter: float, ycenter: float, list_fact: Sequence[float]) -> Floats:
    """The same of row `ind` alone: its sinogram."""
    data = arguments.stack("tomo", tomo)
    ind = arguments.integer("ind", ind, 0, data.shape[1] - 1)
    y, x = _bent(data.shape[1:], [ind], xcenter, ycenter, list_fact)
    out: Floats = _between(data, y, x)[:, 0].astype(np.float32)
    return out


def load_distortion_coefs(file_path: Any) -> Tuple[float, float, List[float]]:
    """xcenter, ycenter and list_fact of a text file: the last word of each of its lines, in this order."""
    numbers = [float(line.split()[-1]) for line in pathlib.Path(file_path).read_text().splitlines()]
    if len(numbers) < 3:
        raise ValueError(f"{file_path}: expected a line each for xcenter, ycenter and factors, got {len(numbers)}")
    return numbers[0], numbers[1], numbers[2:]
