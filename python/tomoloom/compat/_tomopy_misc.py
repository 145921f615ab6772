# SPDX-License-Identifier: BSD-3-Clause
"""TomoPy's filters of arrays, changes of size and rings of slices: its own formulas, in numpy."""
import pathlib
import struct
from typing import Any, Callable, Optional, Sequence, Tuple

import numpy as np

from .. import _arguments as arguments
from .. import _core
from .._arguments import Floats
from .._repair import inpaint
from ._tomopy_prep import given, remove_outlier
from ._tomopy_recon import circ_mask, recon


def _padded(array: Floats, sizes: Sequence[int], mode: str) -> Floats:
    """With what a window of these sizes reaches beyond the ends."""
    how: Any = mode
    return np.pad(array, [(size // 2, size - 1 - size // 2) for size in sizes], mode=how)


def _medians(array: Floats, sizes: Sequence[int], mode: str = "symmetric") -> Floats:
    """Of each value's surroundings of these sizes; of an even number the upper of the two in the middle."""
    windows = np.lib.stride_tricks.sliding_window_view(_padded(array, sizes, mode), sizes)
    flat = windows.reshape(*array.shape, -1)
    middle = flat.shape[-1] // 2
    found: Floats = np.partition(flat, middle, axis=-1)[..., middle]
    return found


def _by_planes(arr: Any, axis: int, work: Callable[[Floats], Floats]) -> Floats:
    """Planes across `axis`, one after the other: a window's copies are made of one alone."""
    data = arguments.floats("arr", arr)
    out = np.empty_like(data)
    for own, result in zip(np.moveaxis(data, axis, 0), np.moveaxis(out, axis, 0)):
        result[...] = work(own)
    return out


def median_filter(arr: Any, size: int = 3, axis: int = 0, ncore: Optional[int] = None) -> Floats:
    """The median of the `size` x `size` around each value, in planes across `axis`; reflected at the ends."""
    return _by_planes(arr, axis, lambda plane: _medians(plane, (size, size)))


def _medians3d(arr: Any, size: int) -> Tuple[Any, Any]:
    data = np.asarray(arr)
    if data.ndim != 3 or 0 in data.shape:
        raise ValueError("arr: expected a 3D array with something in it")
    if data.dtype != np.uint16:
        data = data.astype(np.float32, copy=False)
    side = 2 * ((max(int(size), 3) - 1) // 2) + 1
    whole = _padded(data, (side, side, side), "symmetric")
    out = np.empty_like(data)
    for z in range(len(data)):
        windows = np.lib.stride_tricks.sliding_window_view(whole[z:z + side], (side, side, side))[0]
        flat = windows.reshape(*data.shape[1:], -1)
        out[z] = np.partition(flat, flat.shape[-1] // 2, axis=-1)[..., flat.shape[-1] // 2]
    return data, out


def median_filter3d(arr: Any, size: int = 3, ncore: Optional[int] = None) -> Any:
    """The median of the `size`^3 around each value (`size` odd, 3 at least), single precision or 16-bit counts."""
    return _medians3d(arr, size)[1]


def remove_outlier3d(arr: Any, dif: float, size: int = 3, ncore: Optional[int] = None) -> Any:
    """Values `dif` or more away from the median of the `size`^3 around them become it."""
    data, median = _medians3d(arr, size)
    away = np.abs(data.astype(np.float32) - median.astype(np.float32))
    return np.where(away >= np.float32(dif), median, data)


def remove_outlier1d(arr: Any, dif: float, size: int = 3, axis: int = 0, ncore: Optional[int] = None,
                     out: Any = None) -> Floats:
    """Values `dif` or more above the median of the `size` around them along `axis` become it."""
    data = arguments.floats("arr", arr)
    sizes = [size if a == axis % data.ndim else 1 for a in range(data.ndim)]
    median = _medians(data, sizes, "reflect")
    return given(out, np.where(data - median >= np.float32(dif), median, data))


def median_filter_nonfinite(arr: Any, size: int = 3, callback: Optional[Callable[[int, str, str], None]] = None) -> Any:
    """Values that are no numbers become the median of the numbers around them in their projection; in place."""
    half = size // 2
    for projection in arr:
        before = projection.copy()
        for y, x in zip(*np.nonzero(~np.isfinite(before))):
            around = before[max(0, y - half):y + half + 1, max(0, x - half):x + half + 1]
            numbers = around[np.isfinite(around)]
            if numbers.size == 0:
                raise ValueError(f"no number within {half} of row {y}, column {x}: expected a larger size")
            projection[y, x] = np.median(numbers)
        if callback is not None:
            callback(len(arr), "Nonfinite median filter", " prjs")
    return arr


def median_filter_cuda(arr: Any, size: int = 3, axis: int = 0) -> Floats:
    """median_filter(), as TomoPy's where there is no tomocuda."""
    return median_filter(arr, size, axis)


def remove_outlier_cuda(arr: Any, dif: float, size: int = 3, axis: int = 0) -> Floats:
    """remove_outlier(), as TomoPy's where there is no tomocuda (which forgets `axis` then)."""
    return remove_outlier(arr, dif, size, axis)


def adjust_range(arr: Any, dmin: Optional[float] = None, dmax: Optional[float] = None) -> Any:
    """Values below `dmin` and above `dmax` become these; in place."""
    data = np.asarray(arr)
    if dmin is not None:
        data[data < dmin] = dmin
    if dmax is not None:
        data[data > dmax] = dmax
    return data


def _convolved(plane: Any, weights: Any, axis: int) -> Any:
    """With weights of an odd number, in double; reflected at the ends."""
    half = len(weights) // 2
    width = [(half, half) if a == axis else (0, 0) for a in range(plane.ndim)]
    whole = np.pad(plane.astype(np.float64), width, mode="symmetric")
    out = np.zeros(plane.shape)
    for i, weight in enumerate(weights[::-1]):
        out += weight * np.take(whole, range(i, i + plane.shape[axis]), axis=axis)
    return out


def _gaussian(sigma: float, order: int) -> Any:
    """A Gaussian of sum 1 over 4 sigma to either side, or a derivative of it."""
    reach = int(4 * sigma + 0.5)
    x = np.arange(-reach, reach + 1, dtype=np.float64)
    weights = np.exp(-0.5 * (x / sigma) ** 2)
    weights /= weights.sum()
    factor = np.polynomial.Polynomial([1.0])
    for _ in range(order):
        factor = factor.deriv() - factor * np.polynomial.Polynomial([0.0, 1 / sigma**2])
    return weights * factor(x)


def gaussian_filter(arr: Any, sigma: Any = 3, order: Any = 0, axis: int = 0, ncore: Optional[int] = None) -> Floats:
    """Planes across `axis` with a Gaussian, or its derivatives, along both directions; reflected at the ends."""
    sigmas, orders = np.broadcast_to(sigma, 2), np.broadcast_to(order, 2)

    def work(plane: Floats) -> Floats:
        for direction in range(2):
            if sigmas[direction] > 0:
                plane = _convolved(plane, _gaussian(float(sigmas[direction]), int(orders[direction])), direction)
        return plane

    return _by_planes(arr, axis, work)


def sobel_filter(arr: Any, axis: int = 0, ncore: Optional[int] = None) -> Floats:
    """The slope along the last direction of planes across `axis`, smoothed along the other."""
    return _by_planes(arr, axis, lambda plane: _convolved(_convolved(plane, [1, 0, -1], 1), [1, 2, 1], 0))


def downsample(arr: Any, level: int = 1, axis: int = 2) -> Floats:
    """Means of 2^`level` values along `axis`; those at the end that are fewer are left out."""
    data = np.moveaxis(arguments.floats("arr", arr), axis, -1)
    size = 2**level
    count = data.shape[-1] // size
    if count == 0:
        raise ValueError(f"level: {size} values are averaged, axis {axis} has {data.shape[-1]}")
    bins = data[..., :count * size].reshape(*data.shape[:-1], count, size)
    return np.ascontiguousarray(np.moveaxis(bins.mean(axis=-1), -1, axis))


def upsample(arr: Any, level: int = 1, axis: int = 2) -> Floats:
    """Each value 2^`level` times along `axis`."""
    return np.repeat(arguments.floats("arr", arr), 2**level, axis=axis)


def pad(arr: Any, axis: int, npad: Optional[int] = None, mode: str = "constant", ncore: Optional[int] = None,
        **kwargs: Any) -> Any:
    """`npad` more values at both ends of `axis`: constant_values (0), or with mode "edge" what is there. By default
    as many as make room for the diagonal."""
    arguments.choice("mode", mode, ("constant", "edge"))
    for key in kwargs:
        if key != "constant_values" or mode != "constant":
            raise ValueError(f"{key} keyword not in allowed keywords of mode {mode!r}")
    data = np.asarray(arr)
    more = int(np.ceil(data.shape[axis] * (np.sqrt(2) - 1) / 2)) if npad is None else npad
    how: Any = mode
    return np.pad(data, [(more, more) if a == axis % data.ndim else (0, 0) for a in range(data.ndim)], mode=how, **kwargs)


def remove_ring(rec: Any, center_x: Optional[float] = None, center_y: Optional[float] = None, thresh: float = 300.0,
                thresh_max: float = 300.0, thresh_min: float = -100.0, theta_min: float = 30, rwidth: int = 30,
                int_mode: str = "WRAP", ncore: Optional[int] = None, nchunk: Any = None, out: Any = None) -> Floats:
    """Slices without rings up to `rwidth` wide and `thresh` high, around (center_x, center_y) or the middle; what is
    shorter than 2 theta_min along its circle stays. `thresh_max`, `thresh_min` and `int_mode` have no effect."""
    slices = arguments.own_floats("rec", rec)
    middle = (slices.shape[2] - 1) / 2.0
    _core.remove_rings(slices, middle if center_y is None else center_y, middle if center_x is None else center_x,
                       rwidth, thresh, theta_min, arguments.threads(ncore))
    return given(out, slices)


def inpainter_morph(arr: Any, mask: Any, size: int = 5, iterations: int = 2, inpainting_type: str = "random",
                    axis: Optional[int] = None, ncore: Optional[int] = None) -> Floats:
    """What `mask` marks, made up from what is around it. `iterations` of one or more are one more pass, as TomoPy's."""
    passes = min(arguments.integer("iterations", iterations, 0), 1)
    return inpaint(arr, mask, size, passes, arguments.choice("inpainting_type", inpainting_type, ("mean", "median", "random")),
                   axis=axis, threads=ncore)


def mask_empty_slice(tomo: Any, threshold: float = 0.25) -> Any:
    """Which rows see nothing: their mean projection varies less than `threshold` times what that of all does."""
    seen = np.sum(np.asarray(tomo), axis=0, dtype=np.float64)
    if not seen.max() > 0:
        return np.ones(seen.shape[0], dtype=bool)
    seen /= seen.max()
    columns = seen.sum(axis=0)
    return seen.std(axis=1) < threshold * (columns / columns.max()).std()


def _write_tiff(path: pathlib.Path, image: Floats) -> None:
    """One grey image, single precision."""
    rows, columns = image.shape
    data = np.ascontiguousarray(image, dtype="<f4").tobytes()
    tags = [(256, 4, columns), (257, 4, rows), (258, 3, 32), (259, 3, 1), (262, 3, 1), (273, 4, 8), (277, 3, 1),
            (278, 4, rows), (279, 4, len(data)), (339, 3, 3)]
    folder = struct.pack("<H", len(tags)) + b"".join(struct.pack("<HHII", tag, kind, 1, value) for tag, kind, value in tags)
    path.write_bytes(struct.pack("<2sHI", b"II", 42, 8 + len(data)) + data + folder + bytes(4))


def write_center(tomo: Any, theta: Any, dpath: str = "tmp/center", cen_range: Optional[Sequence[float]] = None,
                 ind: Optional[int] = None, mask: bool = False, ratio: float = 1.0, sinogram_order: bool = False,
                 algorithm: str = "gridrec", filter_name: str = "parzen") -> None:
    """A slice with each axis of `cen_range` (start, end, step; ten columns around the middle by halves) as an image
    AXIS.tiff in the folder `dpath`."""
    data = arguments.stack("tomo", tomo)
    rows, columns = data.shape[0 if sinogram_order else 1], data.shape[2]
    row = rows // 2 if ind is None else arguments.integer("ind", ind, -rows, rows - 1) % rows
    one = data[row] if sinogram_order else data[:, row]
    centers = np.arange(columns / 2 - 5, columns / 2 + 5, 0.5) if cen_range is None else np.arange(*cen_range)
    slices = recon(np.repeat(one[np.newaxis], len(centers), axis=0), theta, centers, sinogram_order=True,
                   algorithm=algorithm, filter_name=filter_name)
    if mask:
        slices = circ_mask(slices, axis=0, ratio=ratio)
    folder = pathlib.Path(dpath)
    folder.mkdir(parents=True, exist_ok=True)
    for center, image in zip(centers, slices):
        _write_tiff(folder / f"{center:.2f}.tiff", image)
