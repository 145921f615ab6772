# SPDX-License-Identifier: BSD-3-Clause
"""gpu_specter.core.extract_frame on Fiberloom's engine."""
import logging
import time
from typing import Any, Dict, Mapping, Optional

import numpy as np

from .. import _arguments as check
from .._extract import extract_frame as _extract_frame
from .._psf import Psf
from .._types import Backend, Method
from ._convert import to_psf

_log = logging.getLogger("fiberloom")


def _wavelength(wavelength: Any, psf: Psf) -> Any:
    if wavelength is None:
        wavelength = (*psf.wave_range, 0.8)
    if isinstance(wavelength, (str, tuple)):
        wmin, wmax, dw = check.wave_range("wavelength", wavelength)
        return np.arange(wmin, wmax + 0.5 * dw, dw)  # to the last bit what gpu_specter has
    return check.wave("wavelength", wavelength)


def extract_frame(img: Mapping[str, Any], psf: Any, bundlesize: int, specmin: int, nspec: int,
                  wavelength: Any = None, nwavestep: int = 50, nsubbundles: int = 1,
                  model: Any = None, regularize: float = 0, psferr: Optional[float] = None,
                  comm: Any = None, gpu: Any = None, loglevel: Any = None,
                  timing: Optional[Dict[str, float]] = None, wavepad: int = 10,
                  pixpad_frac: float = 0.8, wavepad_frac: float = 0.2, batch_subbundle: bool = True,
                  ranks_per_bundle: Optional[int] = None, *, method: Method = "exact",
                  threads: Optional[int] = None) -> Dict[str, Any]:
    """The spectra of img["image"] and img["ivar"] (0 where masked), [npix_y][npix_x].

    Arguments and the dictionary that comes back are those of gpu_specter.core.extract_frame:
    specflux, specivar [nspec][nwave] per Angstrom, specmask (1 where specivar is 0), wave [nwave],
    Rdiags [nspec][2 HSIZEY + 1][nwave], pixmask_fraction, chi2pix, modelimage (None unless `model`).

    psf: fiberloom.Psf, a path, or the dictionary of gpu_specter.io.read_psf. Bundles count from fibre
    0. The patch options (nwavestep, nsubbundles, wavepad, ...) act with method="patch" only, which
    follows gpu_specter's numbers; method="exact" needs none. gpu: a card computes where there is one, else
    the CPU, with a warning.
    comm: more than one rank raises NotImplementedError. loglevel, batch_subbundle, ranks_per_bundle:
    accepted, nothing to do. threads: as in fiberloom.extract_frame.
    """
    if comm is not None and not isinstance(getattr(comm, "size", None), int):
        raise TypeError(f"comm: expected None or a communicator of mpi4py, got {type(comm).__name__}")
    if comm is not None and comm.size > 1:
        raise NotImplementedError(
            "comm: spreading one frame over MPI ranks is not implemented in Python; one process does a "
            "frame with its threads, so give each rank a frame of its own and comm=None")
    if not isinstance(img, Mapping) or "image" not in img or "ivar" not in img:
        raise TypeError(f"img: expected a dictionary with image and ivar, got {type(img).__name__}")
    backend: Backend = "auto" if check.truth("gpu", gpu) else "cpu"
    start = time.time()
    ours = to_psf(psf)
    frame = _extract_frame(
        img["image"], img["ivar"], ours, _wavelength(wavelength, ours), bundlesize=bundlesize,
        specmin=specmin, nspec=check.integer("nspec", nspec, 1), psferr=psferr,
        regularize=regularize, ndiag=ours.stamp[0], model=check.truth("model", model), method=method,
        nsubbundles=nsubbundles, nwavestep=nwavestep, wavepad=wavepad, wavepad_frac=wavepad_frac,
        pixpad_frac=pixpad_frac, threads=threads, backend=backend)
    if check.truth("gpu", gpu) and frame.device is None:
        _log.warning("gpu: no card can be used; the CPU computes")
    if isinstance(timing, dict):
        end = time.time()
        for name in ("init-mpi-comm", "init-mpi-bcast", "host-to-device"):
            timing[name] = start
        for name in ("extracted-bundles", "staged-bundles", "merged-bundles", "assembled-frame"):
            timing[name] = end
    resolution = frame.resolution
    assert resolution is not None
    return {
        "specflux": frame.flux,
        "specivar": frame.ivar,
        "specmask": (frame.ivar == 0).astype(int),
        "wave": frame.wave,
        "Rdiags": resolution.astype(np.float64),
        "pixmask_fraction": frame.pixmask_fraction,
        "chi2pix": frame.chi2pix,
        "modelimage": None if frame.model is None else frame.model.astype(np.float64),
    }
