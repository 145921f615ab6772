# SPDX-License-Identifier: BSD-3-Clause
"""specter.extract.ex2d and specter.psf.load_psf on Fiberloom's engine."""
from typing import Any, Optional, Tuple

import numpy as np

from .. import _arguments as check
from .._extract import extract_frame as _extract_frame
from .._files import read_psf
from .._psf import Psf, _from_series
from .._types import Array, Method
from ._convert import to_psf
from ._specter_psf import SpecterPsf, TraceSet

__all__ = ["SpecterPsf", "TraceSet", "ex2d", "load_psf"]


def load_psf(filename: Any, psftype: Any = None) -> SpecterPsf:
    """A PSF of any kind that `fiberloom.read_psf` reads, with its tails and with the methods of specter's own (wavelength, x, y, xypix,
    xyrange, project, projection_matrix ...). It may be given wherever a fiberloom.Psf is asked for."""
    kinds = ("GAUSS-HERMITE", "GAUSS-HERMITE2", "SPOTGRID", "MONOSPOT", "PCA-PIX")
    kind = None if psftype is None else check.choice("psftype", psftype, kinds)
    path = check.path("filename", filename)
    try:
        psf = read_psf(path, tails=True)
    except RuntimeError as error:
        if "TAIL" not in str(error):
            raise
        psf = read_psf(path)
    if kind is not None and kind != psf._numbers["kind"]:
        raise ValueError(f"psftype: {path} is of kind {psf._numbers['kind']}, got {kind}")
    return SpecterPsf(psf)


def _half_diagonals(psf: SpecterPsf, specmin: int, nspec: int, step: float) -> int:
    """specter's rule: 9 GHSIGY of the widest of nine spots, in bins, at most half a stamp."""
    waves = np.array([psf.wmin, 0.5 * (psf.wmin + psf.wmax), psf.wmax])
    bins = [9.0 * psf.wdisp(fiber, waves) / step for fiber in (specmin, specmin + nspec // 2, specmin + nspec - 1)]
    widest = np.nan_to_num(np.round(bins), nan=0.0, posinf=1e6, neginf=0.0).max()
    ny, nx = psf.fiberloom_psf.stamp
    return int(min(max(widest, 0), ny // 2, nx // 2))


def _window(xyrange: Any, shape: Tuple[int, int]) -> Tuple[int, int, int, int]:
    try:
        values = [int(v) for v in xyrange]
    except (TypeError, ValueError, OverflowError):
        values = []
    if len(values) != 4:
        raise ValueError(f"xyrange: expected (xmin, xmax, ymin, ymax), got {xyrange!r}")
    xmin, xmax, ymin, ymax = values
    if not (0 <= xmin < xmax <= shape[1] and 0 <= ymin < ymax <= shape[0]):
        raise ValueError(f"xyrange: expected a window of the CCD, 0 <= xmin < xmax <= {shape[1]} and "
                         f"0 <= ymin < ymax <= {shape[0]}, got {tuple(values)}")
    return xmin, xmax, ymin, ymax


def _within(psf: Psf, specmin: int, nspec: int, grid: Array, window: Tuple[int, int, int, int]) -> Psf:
    """The PSF without the light of fibres whose traces stay outside the window, those asked for apart: the far
    wings alone, which would be all that is seen of them, say nothing that can be told from their neighbours."""
    xmin, xmax, ymin, ymax = window
    x, y = psf.x(grid), psf.y(grid)
    inside = np.atleast_1d(np.any((xmin - 0.5 <= x) & (x < xmax - 0.5) & (ymin - 0.5 <= y) & (y < ymax - 0.5), axis=1))
    inside[specmin:specmin + nspec] = True
    if inside.all():
        return psf
    series = psf._core.series()
    for name in ("GHSIGX", "GHSIGY"):
        low, high, coeff = series[name]
        series[name] = (low, high, np.where(inside[:, np.newaxis], coeff, 0.0))  # width 0: no spot
    return _from_series(series, psf._numbers)


def ex2d(image: Any, imageivar: Any, psf: Any, specmin: int, nspec: int, wavelengths: Any,
         xyrange: Any = None, regularize: float = 0.0, ndecorr: bool = False, bundlesize: int = 25,
         nsubbundles: int = 1, wavesize: int = 50, full_output: bool = False, verbose: bool = False,
         debug: bool = False, psferr: Optional[float] = None, pixpad_frac: float = 0.8,
         wavepad_frac: float = 0.2, *, method: Method = "exact", threads: Optional[int] = None) -> Any:
    """The spectra of fibres specmin .. specmin + nspec - 1 on `wavelengths` (Angstrom).

    Arguments and results are those of specter.extract.ex2d: (flux, ivar, Rdata), or with full_output
    a dictionary of flux, ivar, resolution_data, modelimage, pixmask_fraction and chi2pix; per
    Angstrom, [nspec][nwave]; Rdata [nspec][2 ndiag + 1][nwave].

    psf: load_psf() of this module, a path, or specter's own GaussHermitePSF. Bundles count from fibre
    0 and are solved as a whole. nsubbundles, wavesize, pixpad_frac and wavepad_frac act with
    method="patch" only. xyrange: (xmin, xmax, ymin, ymax), the window of the CCD that the image is; what
    lies outside is not measured, and fibres outside, unless asked for, do not exist. debug=True raises NotImplementedError.
    """
    if check.truth("debug", debug):
        raise NotImplementedError("debug: there is no interactive session to enter")
    ours = to_psf(psf)
    shape, cut = ours.shape, (slice(0, ours.shape[0]), slice(0, ours.shape[1]))
    if xyrange is not None:
        xmin, xmax, ymin, ymax = _window(xyrange, ours.shape)
        shape, cut = (ymax - ymin, xmax - xmin), (slice(ymin, ymax), slice(xmin, xmax))
    pixels = check.real("image", image, shape, keep_single=True)
    weights = check.real("imageivar", imageivar, shape, keep_single=True)
    if xyrange is not None:
        whole = np.zeros(ours.shape, pixels.dtype), np.zeros(ours.shape, weights.dtype)
        whole[0][cut], whole[1][cut] = pixels, weights
        pixels, weights = whole
    check.integer("wavesize", wavesize, 1)
    grid = check.wave("wavelengths", wavelengths if isinstance(wavelengths, str) else np.asarray(wavelengths))
    if grid.size < 2:
        raise ValueError("wavelengths: expected at least 2 bins, got 1")
    first, count = check.fibers(specmin, check.integer("nspec", nspec, 1), ours.nfiber)
    half = _half_diagonals(SpecterPsf(ours), first, count, float(grid[1] - grid[0]))
    if xyrange is not None:
        ours = _within(ours, first, count, grid, (xmin, xmax, ymin, ymax))
    frame = _extract_frame(
        pixels, weights, ours, grid, specmin=first, nspec=count, bundlesize=bundlesize,
        psferr=psferr, regularize=regularize, ndiag=2 * half + 1,
        model=check.truth("full_output", full_output), decorrelate_fibers=check.truth("ndecorr", ndecorr), method=method,
        nsubbundles=nsubbundles, nwavestep=wavesize, wavepad_frac=wavepad_frac,
        pixpad_frac=pixpad_frac, threads=threads)
    assert frame.resolution is not None
    resolution = frame.resolution.astype(np.float64)
    if not check.truth("full_output", full_output):
        return frame.flux, frame.ivar, resolution
    assert frame.model is not None
    return {
        "flux": frame.flux, "ivar": frame.ivar, "resolution_data": resolution,
        "modelimage": frame.model[cut].astype(np.asarray(image).dtype, copy=False),
        "pixmask_fraction": frame.pixmask_fraction, "chi2pix": frame.chi2pix}
