# SPDX-License-Identifier: BSD-3-Clause
"""Extraction: arrays to a Frame, and file to file."""
from typing import Any, Dict, Optional, Union

import numpy as np
import numpy.typing as npt

from . import _arguments as check
from . import _core
from ._errors import about
from ._frame import Frame
from ._psf import Psf, PsfLike, unwrap
from ._types import Backend, Method, OnDeviceError, PathLike, Progress, Wave


def _options(given: Dict[str, Any], *, backend: Any, gpu_memory: Any, on_device_error: Any) -> Dict[str, Any]:
    """Options by their keys in the table, checked by it; and those of a card."""
    options = {key: check.option(key, value, key) for key, value in given.items()}
    on_cpu = "patch" if options["method"] == "patch" else None
    options.update(check.device(backend, gpu_memory, on_device_error, on_cpu))
    return options


def _progress(progress: Progress) -> Progress:
    if progress is not None and not callable(progress):
        raise TypeError(f"progress: expected a function (stage, done, total), "
                        f"got {type(progress).__name__}")
    return progress


def _readnoise(value: Any, shape: Any) -> Any:
    if value is None or np.ndim(value) > 0:
        return None if value is None else check.real("readnoise", value, shape)
    return check.number("readnoise", value, 0, 1e6)


def _mask_bits(value: Any) -> int:
    return _core.default_mask_bits if value is None else check.option("mask_bits", value, "mask_bits")


def extract_frame(image: npt.ArrayLike, ivar: npt.ArrayLike, psf: PsfLike, wave: Optional[Wave] = None, *,
                  mask: Optional[npt.ArrayLike] = None, mask_bits: Optional[int] = None, specmin: int = 0,
                  nspec: Optional[int] = None, bundlesize: int = 25, psferr: Optional[float] = None,
                  regularize: float = 0.0, ndiag: int = 11, tolerance: float = 1e-4, max_iterations: int = 500,
                  model_variance: bool = False, reject: Optional[float] = None, decorrelate_fibers: bool = False,
                  fiber_correlation: bool = False, oversample: int = 1, max_leak: Optional[float] = None,
                  readnoise: Optional[Union[float, npt.ArrayLike]] = None, model: bool = False,
                  method: Method = "exact", nsubbundles: int = 5, nwavestep: int = 50,
                  wavepad: int = 10, wavepad_frac: float = 0.2, pixpad_frac: float = 0.8,
                  backend: Backend = "auto", gpu_memory: Optional[float] = None,
                  on_device_error: OnDeviceError = "fail",
                  threads: Optional[int] = None, progress: Progress = None) -> Frame:
    """The spectra of one CCD.

    Parameters
    ----------
    image : array [npix_y][npix_x]
        Electrons. Arrays of any layout and byte order are taken and none is changed; float32 stays
        float32. NaN and infinite pixels count as masked.
    ivar : array [npix_y][npix_x]
        1/electron^2, 0 where a pixel must not count. NaN, infinite and negative values count as masked.
    psf : Psf
        Of `read_psf` or of `fiberloom.compat.specter.load_psf`.
    wave : (first, last, step), "first,last,step", array [nwave] or [nfiber][nwave], optional
        Vacuum Angstrom, increasing, both ends included; of two axes a grid for each fibre of the PSF, of whose
        mean `Frame.wave` then is, beside `Frame.fiber_wave`. Default: the PSF's range by 0.8.
    mask : array of integers [npix_y][npix_x], optional
        Pixels with any of `mask_bits` are dropped.
    mask_bits : int, optional
        Default 767, all but BADREADNOISE.
    specmin, nspec : int, optional
        First fibre and number of fibres, default all. The answer for a fibre does not depend on them:
        its bundle is solved as a whole.
    bundlesize : int
        Fibres of a bundle, counted from fibre 0; 0: the PSF's BUNDLE row.
    psferr : float, optional
        Fractional error of the PSF in chi2pix, default the PSF's own.
    regularize : float
        Ridge on the flux, 1/electron.
    ndiag : int
        Stored diagonals of the resolution matrix, odd.
    tolerance : float
        Bound on a bin's numerical error in units of its sigma.
    max_iterations : int
        Bound on the iterations of a bundle's solve; a handful is usual. What it leaves undone is a warning.
    model_variance : bool
        Weights from the model image and `readnoise` instead of `ivar`, whose zeros stay: no bias where `ivar` was
        made of the noisy pixels.
    reject : float, optional
        Drop pixels so many sigma (3 or more) from the model and solve again; `Frame.rejected` lists them. Needs
        `readnoise`.
    decorrelate_fibers : bool
        Errors uncorrelated between the fibres of a bundle, too, not only within each fibre.
    fiber_correlation : bool
        Also say how far the error of a bin goes together with those of the next fibre: `Frame.fiber_correlation`.
    oversample : int
        Solve on bins so many times narrower: light between the centres of bins; `Frame.fine_resolution`.
    max_leak : float, optional
        As many diagonals, instead of `ndiag`, as leave no more than this of a row out.
    readnoise : float or array [npix_y][npix_x], optional
        Electrons; only `model_variance` and `reject` read it.
    model : bool
        Also make the model image.
    method : {"exact", "patch"}
        "patch" is the peers' divide and conquer, which alone reads `nsubbundles`, `nwavestep`,
        `wavepad`, `wavepad_frac` and `pixpad_frac`, and runs on the CPU only.
    backend : {"auto", "cpu", "cuda"}
        What computes; "auto": a CUDA card where there is one. Card and CPU agree to 1e-9 sigma.
    gpu_memory : float, optional
        GB of each card that may be used, default most of what is free. It is given back with the call.
    on_device_error : {"fail", "cpu"}
        When a card fails: an error, or the CPU takes the frame.
    threads : int, optional
        Default what the machine and the batch system grant. The result is the same for any.
    progress : function, optional
        Called as ``progress(stage, done, total)`` once for every bundle of fibres, in this thread. What it
        raises stops the work.

    Returns
    -------
    Frame
        Its arrays look into the engine's memory.

    Raises
    ------
    TypeError, ValueError
        An argument, by its name, with what was given and what was expected.
    ArgumentError
        Arguments that do not go together; a ValueError too.
    DeviceError
        backend="cuda" without a card that can be used.
    FiberloomError
        Everything else. Ctrl-C stops the work; other threads run meanwhile.

    Examples
    --------
    >>> import fiberloom as fl
    >>> small = fl.simulate_frame(nfiber=5, nwave=20)
    >>> frame = fl.extract_frame(small.image, small.ivar, small.psf, "6000,6015.2,0.8")
    >>> frame
    <fiberloom.Frame 5 spectra x 20 bins, 6000.0-6015.2 Angstrom>
    >>> two = fl.extract_frame(small.image, small.ivar, small.psf, small.wave, specmin=3, nspec=2)
    >>> bool((two.flux == frame.flux[3:]).all())
    True
    """
    psf = unwrap(psf)
    if not isinstance(psf, Psf):
        raise TypeError(f"psf: expected fiberloom.Psf (see fiberloom.read_psf), got {type(psf).__name__}")
    shape = psf.shape
    first, count = check.fibers(specmin, nspec, psf.nfiber)
    options = _options(
        {"specmin": first, "nspec": count, "bundlesize": bundlesize, "psferr": psferr, "regularize": regularize,
         "ndiag": ndiag, "tolerance": tolerance, "max_iterations": max_iterations,
         "model_variance": model_variance, "reject": reject, "decorrelate_fibers": decorrelate_fibers,
         "fiber_correlation": fiber_correlation, "oversample": oversample, "max_leak": max_leak, "method": method,
         "nsubbundles": nsubbundles, "nwavestep": nwavestep, "wavepad": wavepad, "wavepad_frac": wavepad_frac,
         "pixpad_frac": pixpad_frac, "mask_bits": _mask_bits(mask_bits)},
        backend=backend, gpu_memory=gpu_memory, on_device_error=on_device_error)
    options["model"] = check.flag("model", model)
    options["readnoise"] = _readnoise(readnoise, shape)
    own = None
    if not isinstance(wave, (str, tuple)) and np.ndim(wave) == 2:  # type: ignore[arg-type]
        own = check.wave_of_fibers("wave", wave, psf.nfiber)
        wave = own.mean(axis=0)
    options["fiber_wave"] = own
    grid = check.wave("wave", (*psf.wave_range, 0.8) if wave is None else wave)
    result = _core.extract(
        check.real("image", image, shape, keep_single=True),
        check.real("ivar", ivar, shape, keep_single=True), psf._core,
        None if mask is None else check.bits("mask", mask, shape), grid, options,
        check.threads(threads), _progress(progress))
    if own is not None:
        result["fiber_wave"] = own[first:first + count]
    return Frame(**result)


def extract_file(input: PathLike, psf: PathLike, output: PathLike, *,
                 wavelength: Optional[Union[str, npt.ArrayLike]] = None, wave_log10: bool = False,
                 wave_file: Optional[PathLike] = None, model: Optional[PathLike] = None,
                 residual: Optional[PathLike] = None, pixmask: Optional[PathLike] = None,
                 fibermap: Optional[PathLike] = None, trace_shifts: Optional[int] = None, trace_widths: bool = False,
                 wings: Optional[int] = None, shifted_psf: Optional[PathLike] = None,
                 barycentric_correction: bool = False, barycentric_fibers: bool = False, specmin: int = 0,
                 nspec: Optional[int] = None, bundlesize: int = 25, psferr: Optional[float] = None,
                 regularize: float = 0.0, ndiag: int = 11, tolerance: float = 1e-4, max_iterations: int = 500,
                 model_variance: bool = False, reject: Optional[float] = None, decorrelate_fibers: bool = False,
                 fiber_correlation: bool = False, oversample: int = 1, max_leak: Optional[float] = None, realisations: int = 0,
                 method: Method = "exact", gh00: str = "file", tails: bool = False, psf_status: bool = False,
                 mask_bits: Optional[int] = None, verify: bool = True, scores: bool = True, overwrite: bool = True,
                 nsubbundles: int = 5, nwavestep: int = 50, wavepad: int = 10,
                 wavepad_frac: float = 0.2, pixpad_frac: float = 0.8,
                 backend: Backend = "auto", gpu_memory: Optional[float] = None,
                 on_device_error: OnDeviceError = "fail",
                 threads: Optional[int] = None, progress: Progress = None) -> Dict[str, Any]:
    """``fiberloom extract`` as a function: the same recipe, the same bytes in the files.

    Parameters
    ----------
    input, psf, output : path
        The preprocessed image, the PSF, and the frame to write.
    wavelength : (first, last, step) or "first,last,step", optional
        Angstrom, both ends included. Default: the PSF's range by 0.8.
    wave_log10 : bool
        The step of `wavelength` is one of log10 of the wavelength.
    wave_file : path, optional
        A grid instead: text, or FITS with one or one for each fibre of the PSF.
    model, residual : path, optional
        Images to write.
    pixmask : path, optional
        Pixel mask to write: MASK of the image, and COSMIC where `reject` dropped a pixel.
    fibermap : path, optional
        Default: that of the image.
    trace_shifts : int, optional
        Move the PSF's traces first, by polynomials of this degree (0 to 4) over the CCD; "trace_shifts" of what comes
        back says by how much.
    trace_widths : bool
        With it: change the widths of spots, too.
    wings : int, optional
        With `tails`: follow the PSF's tails so many pixels beyond the spots, take that light off the pixels and count it
        where it came from; "wings" of what comes back says how much it was.
    shifted_psf : path, optional
        The PSF so changed, to write.
    barycentric_correction : bool
        `wavelength` is at the barycentre of the solar system; needs direction and time in the headers.
    barycentric_fibers : bool
        With it: the factor of each fibre's own direction.
    realisations : int
        Draws of noise that are extracted, too; "realisations" of what comes back says how large errors are.
    gh00 : {"file", "one"}
        "one" replaces the PSF's row GH-0-0 by 1.
    tails : bool
        Add the PSF's tails.
    psf_status : bool
        Leave out fibres whose STATUS in the PSF is not 0.
    verify : bool
        Compare CHECKSUM and DATASUM of the inputs, where they have them.
    scores : bool
        Write the HDU SCORES.
    overwrite : bool
        Replace an output that exists; else `OutputExistsError`.
    specmin, nspec, bundlesize, psferr, regularize, ndiag, tolerance, max_iterations, model_variance, reject, \
decorrelate_fibers, fiber_correlation, oversample, max_leak, method, \
mask_bits, nsubbundles, nwavestep, wavepad, wavepad_frac, pixpad_frac, backend, gpu_memory, on_device_error, threads, \
progress
        As in `extract_frame`.

    Returns
    -------
    dict
        What was done: paths, seconds of read, compute and write, counts of bad bins, bundles, and
        "device", the card that computed or None.

    Examples
    --------
    >>> import fiberloom as fl
    >>> small = fl.simulate_frame(nfiber=5, nwave=20)
    >>> fl.write_psf("psf.fits", small.psf)
    >>> header = fl.Header({"CAMERA": "r0", "FLAVOR": "science"})
    >>> fl.write_image("image.fits", fl.Image(small.image, small.ivar, header=header, readnoise=3.0))
    >>> done = fl.extract_file("image.fits", "psf.fits", "frame.fits", wavelength="6000,6015.2,0.8")
    >>> done["nspec"], done["nwave"], done["all_bad"]
    (5, 20, 0)
    """
    options = _options(
        {"wavelength": wavelength, "wave_log10": wave_log10, "barycentric_correction": barycentric_correction,
         "barycentric_fibers": barycentric_fibers, "oversample": oversample, "max_leak": max_leak,
         "trace_shifts": trace_shifts, "trace_widths": trace_widths, "wings": wings,
         "specmin": check.integer("specmin", specmin, 0), "nspec": nspec, "bundlesize": bundlesize, "psferr": psferr,
         "regularize": regularize, "ndiag": ndiag, "tolerance": tolerance, "max_iterations": max_iterations,
         "model_variance": model_variance, "reject": reject, "decorrelate_fibers": decorrelate_fibers,
         "fiber_correlation": fiber_correlation, "method": method,
         "gh00": gh00, "psf_tails": check.flag("tails", tails), "psf_status": psf_status, "mask_bits": _mask_bits(mask_bits),
         "verify": verify, "scores": scores, "nsubbundles": nsubbundles, "nwavestep": nwavestep, "wavepad": wavepad,
         "wavepad_frac": wavepad_frac, "pixpad_frac": pixpad_frac},
        backend=backend, gpu_memory=gpu_memory, on_device_error=on_device_error)
    files = {name: "" if value is None else check.path(name, value) for name, value in (
        ("fibermap", fibermap), ("wave_file", wave_file), ("model", model), ("residual", residual), ("pixmask", pixmask),
        ("shifted_psf", shifted_psf))}
    files.update(image=check.path("input", input), psf=check.path("psf", psf),
                 output=check.path("output", output))
    options["realisations"] = check.integer("realisations", realisations, 0)
    with about(*files.values()):
        return _core.extract_file(files, check.flag("overwrite", overwrite), options, check.threads(threads),
                                  _progress(progress))


def barycentric_factor(ra: float, dec: float, mjd: float) -> float:
    """Observed wavelengths times this are those at the barycentre of the solar system.

    Parameters
    ----------
    ra, dec : float
        Direction, ICRS, degrees.
    mjd : float
        UTC of the middle of the exposure, 1960 to 2100.

    Returns
    -------
    float
        1 + v/c as seen from Kitt Peak. For a grid at the barycentre give `extract_frame` the grid divided by it.

    Examples
    --------
    >>> import fiberloom as fl
    >>> round((fl.barycentric_factor(155.5939, -4.8391, 61009.6253) - 1) * 299792.458, 2)  # km/s
    29.11
    """
    return _core.barycentric_factor(check.number("ra", ra, -360, 720), check.number("dec", dec, -90, 90),
                                    check.number("mjd", mjd, 36934, 88069))
