# SPDX-License-Identifier: BSD-3-Clause
"""specter.extract.ex2d and specter.psf.load_psf on Fiberloom's engine."""
from typing import Any, Optional

import numpy as np

from .. import _arguments as check
from .._extract import extract_frame as _extract_frame
from .._files import read_psf
from .._psf import Psf
from ._convert import to_psf


def load_psf(filename: Any) -> Psf:
    """A GAUSS-HERMITE PSF with its tails, as specter evaluates it."""
    try:
        return read_psf(check.path("filename", filename), tails=True)
    except RuntimeError as error:
        if "TAIL" not in str(error):
            raise
        return read_psf(filename)


def _half_diagonals(psf: Psf, specmin: int, nspec: int, step: float) -> int:
    """specter's rule: 9 sigma of the widest of nine spots in bins, at most half a stamp."""
    ny, nx = psf.stamp
    low, high = psf.wave_range
    grid = np.linspace(low, high, 201)
    fibers = [specmin, specmin + nspec // 2, specmin + nspec - 1]
    rows = np.arange(ny)
    widest = 0
    for fiber in fibers:
        y = psf.y(grid, [fiber])[0]
        ends = np.interp([-0.5, psf.shape[0] - 0.5], y, grid) if np.all(np.diff(y) > 0) else (low, high)
        wave = np.linspace(ends[0], ends[1], 3)
        profile = psf.spots(wave, [fiber]).value[0].sum(axis=2)  # [3][ny]
        total = np.maximum(profile.sum(axis=1), 1e-30)
        mean = profile @ rows / total
        sigma = np.sqrt(np.maximum(profile @ rows**2 / total - mean**2, 0))
        dispersion = np.interp(wave, grid, np.gradient(grid) / np.gradient(y))
        widest = max(widest, int(np.round(9.0 * sigma * dispersion / step).max()))
    return min(widest, ny // 2, nx // 2)


def ex2d(image: Any, imageivar: Any, psf: Any, specmin: int, nspec: int, wavelengths: Any,
         xyrange: Any = None, regularize: float = 0.0, ndecorr: bool = False, bundlesize: int = 25,
         nsubbundles: int = 1, wavesize: int = 50, full_output: bool = False, verbose: bool = False,
         debug: bool = False, psferr: Optional[float] = None, pixpad_frac: float = 0.8,
         wavepad_frac: float = 0.2, *, method: str = "exact", threads: Optional[int] = None) -> Any:
    """The spectra of fibres specmin .. specmin + nspec - 1 on `wavelengths` (Angstrom).

    Arguments and results are those of specter.extract.ex2d: (flux, ivar, Rdata), or with full_output
    a dictionary of flux, ivar, resolution_data, modelimage, pixmask_fraction and chi2pix; per
    Angstrom, [nspec][nwave]; Rdata [nspec][2 ndiag + 1][nwave].

    psf: load_psf() of this module, a path, or specter's own GaussHermitePSF. Bundles count from fibre
    0 and are solved as a whole. nsubbundles, wavesize, pixpad_frac and wavepad_frac act with
    method="patch" only. xyrange, ndecorr=True and debug=True raise NotImplementedError.
    """
    if xyrange is not None:
        raise NotImplementedError("xyrange: extraction from a cutout is not implemented; give the whole "
                                  "image, with ivar 0 outside the region")
    if check.truth("ndecorr", ndecorr):
        raise NotImplementedError("ndecorr: decorrelating the noise between fibres is not implemented; "
                                  "ndecorr=False decorrelates each fibre")
    if check.truth("debug", debug):
        raise NotImplementedError("debug: there is no interactive session to enter")
    ours = to_psf(psf)
    check.real("image", image, ours.shape)
    check.real("imageivar", imageivar, ours.shape)
    check.integer("wavesize", wavesize, 1)
    grid = check.wave("wavelengths", np.asarray(wavelengths))
    if grid.size < 2:
        raise ValueError("wavelengths: expected at least 2 bins, got 1")
    first, count = check.fibers(specmin, check.integer("nspec", nspec, 1), ours.nfiber)
    half = _half_diagonals(ours, first, count, float(grid[1] - grid[0]))
    frame = _extract_frame(
        image, imageivar, ours, grid, specmin=first, nspec=count, bundlesize=bundlesize,
        psferr=psferr, regularize=regularize, ndiag=2 * half + 1,
        model=check.truth("full_output", full_output), method=method,
        nsubbundles=nsubbundles, nwavestep=wavesize, wavepad_frac=wavepad_frac,
        pixpad_frac=pixpad_frac, threads=threads)
    assert frame.resolution is not None
    resolution = frame.resolution.astype(np.float64)
    if not check.truth("full_output", full_output):
        return frame.flux, frame.ivar, resolution
    assert frame.model is not None
    return {
        "flux": frame.flux, "ivar": frame.ivar, "resolution_data": resolution,
        "modelimage": frame.model.astype(np.asarray(image).dtype, copy=False),
        "pixmask_fraction": frame.pixmask_fraction, "chi2pix": frame.chi2pix}
