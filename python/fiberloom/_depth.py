# SPDX-License-Identifier: BSD-3-Clause
"""How deep an exposure went (TSNR2), on arrays: what `fiberloom calibrate --desimodel` leaves in SCORES."""
import os
from typing import Any, Optional, Union

import numpy as np
import numpy.typing as npt

from . import _arguments as check
from . import _core
from ._calibration import OneCamera, Rows
from ._calibration_inputs import _camera, _corrections, _spectra
from ._calibration_results import Depth, FiberFlat, FluxCalibration, Sky
from ._psf import Psf, unwrap


def _read_noise(given: Any, psf: Any, header: Any, nspec: int, nwave: int) -> Any:
    """[nspec][nwave]; None: the header and the PSF say it."""
    if given is None:
        if psf is None or header is None:
            raise ValueError("read_noise: expected it, or psf= and a frame with a header that has it, got None")
        return None
    if np.ndim(given) == 0:
        given = np.full((nspec, nwave), check.number("read_noise", given, 0))
    noise = check.finite("read_noise", given, (nspec, nwave))
    if not (noise > 0).all():
        raise ValueError("read_noise: expected numbers above 0")
    return noise


def depth(frame: OneCamera, fiberflat: FiberFlat, sky: Sky, fluxcalib: FluxCalibration, desimodel: Union[str, "os.PathLike[str]"], *,
          camera: Optional[str] = None, psf: Optional[Psf] = None, read_noise: Optional[npt.ArrayLike] = None, fibermap: Rows = None,
          heliocor: Optional[float] = None) -> Depth:
    """How deep a camera of an exposure went: in each fibre the squared signal to noise that typical targets would have had.

    Parameters
    ----------
    frame : Frame, SpectraOfCamera or mapping
        As it was extracted: nothing of what follows has been applied.
    fiberflat, sky, fluxcalib
        What `fiberflat`, `sky` and `fluxcalib` gave for it.
    desimodel : path
        A folder as $DESIMODEL, with data/tsnr, data/specpsf/nea, data/throughput and data/focalplane.
    camera : str, optional
        Band and number, "r0". Default: CAMERA of the frame's header.
    psf : Psf, optional
        What the frame was extracted with: by it and the header's OBSRDN and CCDSEC (or RDNOISE) the read noise is known.
    read_noise : float or array [nspec][nwave], optional
        Electrons, of a pixel: instead of that.
    fibermap : Table, structured array or mapping of columns, optional
        Default: the frame's own. OBJTYPE, FIBER, EBV, FIBER_X, FIBER_Y, DELTA_X and DELTA_Y are looked at.
    heliocor : float, optional
        As in `sky`.

    Raises
    ------
    NotFoundError, FormatError
        The folder lacks a file, or one is not what it should be.

    Examples
    --------
    >>> import fiberloom as fl
    >>> try:
    ...     fl.depth({}, None, None, None, "desimodel")
    ... except TypeError as error:
    ...     print(error)
    fiberflat: expected a fiberloom.FiberFlat, got NoneType
    """
    for name, given, kind in (("fiberflat", fiberflat, FiberFlat), ("sky", sky, Sky), ("fluxcalib", fluxcalib, FluxCalibration)):
        if not isinstance(given, kind):
            raise TypeError(f"{name}: expected a fiberloom.{kind.__name__}, got {type(given).__name__}")
    spectra = _spectra("frame", frame, fibermap, True)
    name = _camera(frame, camera)
    if len(name) != 2 or name[0] not in "brz" or not name[1].isdigit():
        raise ValueError(f"camera: expected a band and a number such as 'r0', got {name!r}")
    psf = unwrap(psf)
    if psf is not None and not isinstance(psf, Psf):
        raise TypeError(f"psf: expected fiberloom.Psf (see fiberloom.read_psf), got {type(psf).__name__}")
    header = check.header(getattr(frame, "header", None))
    noise = _read_noise(read_noise, psf, header, *spectra["flux"].shape)
    got = _core.depth(spectra, _corrections(frame, name, fiberflat, sky, fluxcalib, heliocor), check.path("desimodel", desimodel),
                      {"camera": name, "header": _core.Header() if header is None else header, "noise": noise,
                       "psf": None if psf is None else psf._core, "specmin": getattr(frame, "specmin", 0)})
    return Depth({kind.upper(): values for kind, values in got["tsnr2"].items()}, got["read_noise_scale"])
