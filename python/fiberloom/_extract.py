# SPDX-License-Identifier: BSD-3-Clause
"""Extraction: arrays to a Frame, and file to file."""
from typing import Any, Callable, Dict, Optional, Union

from . import _arguments as check
from . import _core
from ._frame import Frame
from ._psf import Psf

Progress = Optional[Callable[[str, int, int], None]]
_METHODS = ("exact", "patch")


def _options(*, specmin: int, nspec: int, bundlesize: Any, psferr: Any, regularize: Any, ndiag: Any,
             tolerance: Any, model: Any, method: Any, nsubbundles: Any, nwavestep: Any, wavepad: Any,
             wavepad_frac: Any, pixpad_frac: Any) -> Dict[str, Any]:
    diagonals = check.integer("ndiag", ndiag, 1, 999)
    if diagonals % 2 == 0:
        raise ValueError(f"ndiag: expected an odd number, got {diagonals}")
    return {
        "specmin": specmin, "nspec": nspec, "ndiag": diagonals, "model": check.flag("model", model),
        "bundlesize": check.integer("bundlesize", bundlesize, 0, 100000),
        "psferr": -1.0 if psferr is None else check.number("psferr", psferr, 0),
        "regularize": check.number("regularize", regularize, 0),
        "tolerance": check.number("tolerance", tolerance, 1e-15, 1),
        "method": check.choice("method", method, _METHODS),
        "nsubbundles": check.integer("nsubbundles", nsubbundles, 1, 100000),
        "nwavestep": check.integer("nwavestep", nwavestep, 1, 1000000),
        "wavepad": check.integer("wavepad", wavepad, 0, 1000000),
        "wavepad_frac": check.number("wavepad_frac", wavepad_frac, 0, 1000),
        "pixpad_frac": check.number("pixpad_frac", pixpad_frac, 0, 1000),
    }


def _progress(progress: Progress) -> Progress:
    if progress is not None and not callable(progress):
        raise TypeError(f"progress: expected a function (stage, done, total), "
                        f"got {type(progress).__name__}")
    return progress


def extract_frame(image: Any, ivar: Any, psf: Psf, wave: Any = None, *, mask: Any = None,
                  mask_bits: Optional[int] = None, specmin: int = 0, nspec: Optional[int] = None,
                  bundlesize: int = 25, psferr: Optional[float] = None, regularize: float = 0.0,
                  ndiag: int = 11, tolerance: float = 1e-4, model: bool = False,
                  method: str = "exact", nsubbundles: int = 5, nwavestep: int = 50,
                  wavepad: int = 10, wavepad_frac: float = 0.2, pixpad_frac: float = 0.8,
                  threads: Optional[int] = None, progress: Progress = None) -> Frame:
    """The spectra of one CCD.

    image: [npix_y][npix_x] electrons; ivar: the same shape, 1/electron^2, 0 where a pixel must not
    count. NaN, infinite and negative values count as masked. float32 stays float32; nothing of yours
    is changed, read-only, strided and big-endian arrays are fine.
    psf: of read_psf().
    wave: [nwave] increasing Angstrom, or (first, last, step); default the PSF's range by 0.8.
    mask: integers of the same shape; pixels with any of mask_bits are dropped (default 767, all but
    BADREADNOISE).
    specmin, nspec: first fibre and number of fibres, default all. The answer for a fibre does not
    depend on them: its bundle is solved as a whole.
    bundlesize: fibres of a bundle, counted from fibre 0; 0: the PSF's BUNDLE row.
    psferr: fractional error of the PSF in chi2pix, default the PSF's own.
    regularize: ridge on the flux, 1/electron.
    ndiag: stored diagonals of the resolution matrix, odd.
    tolerance: bound on a bin's numerical error in units of its sigma.
    model: also make the model image.
    method: "exact", or "patch" for the peers' divide and conquer, which alone reads nsubbundles,
    nwavestep, wavepad, wavepad_frac and pixpad_frac.
    threads: default what the machine and the batch system grant. The result is the same for any.
    progress: called as progress(stage, done, total) now and then.

    Returns a Frame. Raises TypeError or ValueError for arguments, ArgumentError (a ValueError) where
    they do not go together, Error for the rest; ctrl-C stops the work. Other threads run meanwhile.
    """
    if not isinstance(psf, Psf):
        raise TypeError(f"psf: expected fiberloom.Psf (see fiberloom.read_psf), got {type(psf).__name__}")
    shape = psf.shape
    first, count = check.fibers(specmin, nspec, psf.nfiber)
    options = _options(
        specmin=first, nspec=count, bundlesize=bundlesize, psferr=psferr, regularize=regularize,
        ndiag=ndiag, tolerance=tolerance, model=model, method=method, nsubbundles=nsubbundles,
        nwavestep=nwavestep, wavepad=wavepad, wavepad_frac=wavepad_frac, pixpad_frac=pixpad_frac)
    grid = check.wave("wave", (*psf.wave_range, 0.8) if wave is None else wave)
    bits = _core.default_mask_bits if mask_bits is None else check.integer(
        "mask_bits", mask_bits, 0, 2**32 - 1)
    result = _core.extract(
        check.real("image", image, shape, keep_single=True),
        check.real("ivar", ivar, shape, keep_single=True), psf._core,
        None if mask is None else check.bits("mask", mask, shape), bits, grid, options,
        check.threads(threads), _progress(progress))
    return Frame(**result)


def extract_file(input: Any, psf: Any, output: Any, *, wavelength: Any = None, model: Any = None,
                 residual: Any = None, fibermap: Any = None,
                 barycentric_correction: bool = False, specmin: int = 0,
                 nspec: Optional[int] = None, bundlesize: int = 25, psferr: Optional[float] = None,
                 regularize: float = 0.0, ndiag: int = 11, tolerance: float = 1e-4,
                 method: str = "exact", gh00: str = "file", tails: bool = False,
                 mask_bits: Optional[int] = None, verify: bool = True, scores: bool = True, overwrite: bool = True,
                 nsubbundles: int = 5, nwavestep: int = 50, wavepad: int = 10,
                 wavepad_frac: float = 0.2, pixpad_frac: float = 0.8,
                 threads: Optional[int] = None, progress: Progress = None) -> Dict[str, Any]:
    """`fiberloom extract` as a function: the same recipe, the same bytes in the files.

    input, psf, output: paths of the preprocessed image, the PSF and the frame to write; model,
    residual: images to write; fibermap: default that of the image. wavelength: (first, last, step)
    or "first,last,step" in Angstrom. barycentric_correction: these are wavelengths at the barycentre of
    the solar system; needs direction and time in the headers. verify: compare the checksums of the
    inputs, where they have them. The rest as in extract_frame() and `fiberloom extract --help`.

    Returns what was done: paths, seconds of read, compute and write, counts of bad bins, bundles.
    """
    wave: Optional[Any] = None
    if wavelength is not None:
        parts: Union[Any, "list[str]"] = wavelength.split(",") if isinstance(wavelength, str) else wavelength
        try:
            wave = [float(v) for v in parts]
        except (TypeError, ValueError):
            wave = []
        if len(wave) != 3:
            raise ValueError(f"wavelength: expected (first, last, step), got {wavelength!r}")
    options = _options(
        specmin=check.integer("specmin", specmin, 0),
        nspec=-1 if nspec is None else check.integer("nspec", nspec, 1), bundlesize=bundlesize,
        psferr=psferr, regularize=regularize, ndiag=ndiag, tolerance=tolerance, model=False,
        method=method, nsubbundles=nsubbundles, nwavestep=nwavestep, wavepad=wavepad,
        wavepad_frac=wavepad_frac, pixpad_frac=pixpad_frac)
    files = {name: "" if value is None else check.path(name, value) for name, value in (
        ("fibermap", fibermap), ("model", model), ("residual", residual))}
    files.update(image=check.path("input", input), psf=check.path("psf", psf),
                 output=check.path("output", output))
    bits = _core.default_mask_bits if mask_bits is None else check.integer(
        "mask_bits", mask_bits, 0, 2**32 - 1)
    return _core.extract_file(files, wave,
                              check.flag("barycentric_correction", barycentric_correction), bits,
                              check.choice("gh00", gh00, ("file", "one")),
                              check.flag("tails", tails), check.flag("verify", verify),
                              check.flag("scores", scores),
                              check.flag("overwrite", overwrite), options,
                              check.threads(threads), _progress(progress))


def barycentric_factor(ra: float, dec: float, mjd: float) -> float:
    """1 + v/c of a direction (ICRS, degrees) as seen from Kitt Peak, mjd the UTC of the middle of the
    exposure, 1960 to 2100: observed wavelengths times this are those at the barycentre of the solar
    system. For such a grid give extract_frame() the grid divided by it."""
    return _core.barycentric_factor(check.number("ra", ra, -360, 720), check.number("dec", dec, -90, 90),
                                    check.number("mjd", mjd, 36934, 88069))
