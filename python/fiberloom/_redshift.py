# SPDX-License-Identifier: BSD-3-Clause
"""Redshifts: of arrays, and files of spectra and redshifts."""
import dataclasses
import os
from typing import TYPE_CHECKING, Any, Dict, List, Literal, Mapping, Optional, Sequence, Tuple, Union

import numpy as np
import numpy.typing as npt

from . import _arguments as check
from . import _core
from ._errors import about
from ._html import Shown
from ._types import Array, Backend, OnDeviceError, PathLike, Progress

if TYPE_CHECKING:
    from ._core import Header, Table

# One array, or one for each camera by name.
PerCamera = Union[npt.ArrayLike, Mapping[str, npt.ArrayLike]]
_METHODS = ("fast", "exact", "redrock")
# Bits of "quality" in their order.
_CUTS = ("BGS", "LRG", "ELG", "QSO")


@dataclasses.dataclass(eq=False, repr=False)
class Redshifts(Shown):
    """What `fit_redshifts` found, one element a target.

    Attributes
    ----------
    targetid : array of int64
    z, zerr, chi2, deltachi2 : array
        Redshift, its error, chi2 of the best fit, and by how much the next one at another redshift is worse.
    zwarn : array of uint32
        0, or bits of what is doubtful (docs/fiberloom/formats.md).
    spectype, subtype : list of str
    npixels : array
        Good pixels.
    probability, class_probability : array
        Of this type near this redshift, and of this type at any; 0 without evidence.
    good : dict
        {"BGS", "LRG", "ELG", "QSO": array of bool}: who passes each survey's cut (docs/fiberloom/formats.md).
    candidates : list of list of dict
        All minima that were kept, best first: spectype, subtype, method, z, zerr, chi2, deltachi2, zwarn, npixels,
        coeff, legcoeff, probability, class_probability, posterior_zerr, log_evidence, quality; of the best one lines:
        {"OII": {"flux", "ivar", "sigma_kms"} ...}.
    scan : dict
        {"GALAXY": (redshifts [nz], chi2 [ntarget][nz])}, where it was asked for.
    models : dict
        {camera: array [ntarget][nwave]} of the best fits, blurred, where they were asked for; of one camera without
        a name under "".
    device : str or None
        The card that scanned; None: the CPU did.
    """

    targetid: Array
    z: Array
    zerr: Array
    zwarn: Array
    chi2: Array
    deltachi2: Array
    spectype: List[str]
    subtype: List[str]
    npixels: Array
    probability: Array
    class_probability: Array
    good: Dict[str, Array]
    candidates: List[List[Dict[str, Any]]]
    scan: Dict[str, Tuple[Array, Array]]
    models: Dict[str, Array]
    device: Optional[str] = None

    def __len__(self) -> int:
        return len(self.spectype)

    def __repr__(self) -> str:
        kinds = ", ".join(f"{self.spectype.count(kind)} {kind}" for kind in sorted(set(self.spectype)))
        return f"<fiberloom.Redshifts {len(self)} targets: {kinds}>"

    def _facts(self) -> List[Tuple[str, str]]:
        return [("targets", str(len(self))), ("ZWARN 0", str(int(np.count_nonzero(self.zwarn == 0)))),
                ("z", f"{self.z.min():.5f} to {self.z.max():.5f}")]


@dataclasses.dataclass(eq=False, repr=False)
class SpectraOfCamera(Shown):
    """Spectra of one camera: wave [nwave], flux and ivar [nspec][nwave], mask and resolution [nspec][ndiag][nwave]
    or None."""

    wave: Array
    flux: Array
    ivar: Array
    mask: Optional[Array] = None
    resolution: Optional[Array] = None

    def __repr__(self) -> str:
        return (f"<fiberloom.SpectraOfCamera {self.flux.shape[0]} spectra x {self.flux.shape[1]} bins, "
                f"{self.wave[0]:.1f}-{self.wave[-1]:.1f} Angstrom>")

    def _facts(self) -> List[Tuple[str, str]]:
        return [("spectra", str(self.flux.shape[0])), ("bins", str(self.flux.shape[1]))]


@dataclasses.dataclass(eq=False, repr=False)
class Spectra(Shown):
    """A file of spectra or coadds.

    Attributes
    ----------
    cameras : dict
        {"B": SpectraOfCamera}.
    header : Header
        Of the primary HDU.
    fibermap, scores : Table or None
        A row for each spectrum.
    exp_fibermap : Table or None
        Of coadds: a row for each exposure of each target.
    path : str
    """

    cameras: Dict[str, SpectraOfCamera]
    header: "Header"
    fibermap: "Optional[Table]" = None
    exp_fibermap: "Optional[Table]" = None
    scores: "Optional[Table]" = None
    path: Optional[str] = None

    def __len__(self) -> int:
        return int(next(iter(self.cameras.values())).flux.shape[0])

    def __repr__(self) -> str:
        return f"<fiberloom.Spectra {len(self)} spectra of {' '.join(self.cameras)}>"

    def _facts(self) -> List[Tuple[str, str]]:
        return [("file", str(self.path)), ("spectra", str(len(self))), ("cameras", " ".join(self.cameras))]


@dataclasses.dataclass(eq=False, repr=False)
class RedshiftFile(Shown):
    """A file of redshifts: redshifts, fibermap, exp_fibermap, tsnr2, candidates are tables (or None), header that of
    the primary HDU."""

    redshifts: "Table"
    header: "Header"
    fibermap: "Optional[Table]" = None
    exp_fibermap: "Optional[Table]" = None
    tsnr2: "Optional[Table]" = None
    candidates: "Optional[Table]" = None
    path: Optional[str] = None

    def __len__(self) -> int:
        return len(self.redshifts)

    def __repr__(self) -> str:
        return f"<fiberloom.RedshiftFile {len(self)} targets>"

    def _facts(self) -> List[Tuple[str, str]]:
        return [("file", str(self.path)), ("targets", str(len(self)))]


def _cameras(flux: Any, ivar: Any, wave: Any, resolution: Any, mask: Any) -> Dict[str, Dict[str, Any]]:
    given = {"flux": flux, "ivar": ivar, "wave": wave, "resolution": resolution, "mask": mask}
    names = list(flux) if isinstance(flux, Mapping) else [""]
    if not names:
        raise ValueError("flux: expected a camera or more, got none")
    out: Dict[str, Dict[str, Any]] = {}
    count: Any = "ntarget"
    for name in names:
        one: Dict[str, Any] = {}
        for key, value in given.items():
            if value is None:
                one[key] = None
            elif isinstance(value, Mapping) != isinstance(flux, Mapping):
                raise TypeError(f"{key}: expected an array for each camera where flux has one, and one array where not")
            elif isinstance(value, Mapping):
                if name not in value and key in ("ivar", "wave"):
                    raise ValueError(f"{key}: no camera {name!r}")
                one[key] = value.get(name)
            else:
                one[key] = value
        w = check.wave("wave", one["wave"])
        if len(w) < 2 or w[0] <= 0:
            raise ValueError("wave: expected two or more positive numbers that increase")
        f = check.real("flux", one["flux"], (count, len(w)))
        count = f.shape[0]
        camera = {"wave": w, "flux": f, "ivar": check.real("ivar", one["ivar"], f.shape), "mask": None, "resolution": None}
        if one["mask"] is not None:
            camera["mask"] = check.bits("mask", one["mask"], f.shape)
        if one["resolution"] is not None:
            r = check.real("resolution", one["resolution"], (count, "ndiag", len(w)))
            if r.shape[1] % 2 == 0:
                raise ValueError(f"resolution: expected an odd number of diagonals, got {r.shape[1]}")
            with np.errstate(over="ignore"):
                camera["resolution"] = r.astype(np.float32)
        out[name] = camera
    return out


def _paths(name: str, value: Any) -> List[str]:
    if value is None:
        return []
    if isinstance(value, (str, bytes, os.PathLike)):
        return [check.path(name, value)]
    if not isinstance(value, Sequence):
        raise TypeError(f"{name}: expected a path or a list of paths, got {type(value).__name__}")
    return [check.path(name, one) for one in value]


def fit_redshifts(flux: PerCamera, ivar: PerCamera, wave: PerCamera, resolution: Optional[PerCamera] = None,
                  templates: Union[None, PathLike, Sequence[PathLike]] = None, *, mask: Optional[PerCamera] = None,
                  targetid: Optional[npt.ArrayLike] = None, archetypes: Optional[PathLike] = None,
                  method: Literal["fast", "exact", "redrock"] = "fast", nminima: Optional[int] = None,
                  evidence: bool = True, type_shares: Optional[Sequence[float]] = None,
                  subtract_sky_residual: bool = True, sky: Optional[npt.ArrayLike] = None, scan: bool = False,
                  models: bool = False, backend: Backend = "auto", gpu_memory: Optional[float] = None,
                  on_device_error: OnDeviceError = "fail", threads: Optional[int] = None, progress: Progress = None) -> Redshifts:
    """Finds what each target is, and its redshift.

    Parameters
    ----------
    flux, ivar : array [ntarget][nwave], or {camera: array}
        Pixels that are NaN, or whose ivar is not positive and finite, count for nothing.
    wave : array [nwave], or {camera: array}
        Vacuum Angstrom, increasing.
    resolution : array [ntarget][ndiag][nwave], or {camera: array}, optional
        Diagonals of R as DESI stores them; without them spectra are taken as they are.
    templates : path or list of paths, optional
        Files, a list (.txt) or a folder; default $RR_TEMPLATE_DIR, else the small built-in set, which the logger
        "fiberloom" warns of, as of templates that cover the spectra at none of their redshifts.
    mask : array of integers, optional
        Not zero: the pixel is bad.
    targetid : array of integers, optional
        Default: 0, 1, 2 ...
    archetypes : path, optional
        File or folder.
    method : {"fast", "exact", "redrock"}
        As the command's --method.
    nminima : int, optional
        Minima kept of each spectral type.
    evidence : bool
        Probabilities, line fluxes and cuts, and candidates in the order of probability; never of "redrock".
    type_shares : three numbers above 0, optional
        How common galaxies, quasars and stars are among the targets, before a spectrum is seen; default alike.
    subtract_sky_residual : bool
        Fit and subtract what is left of the sky's lines, all too strong or all shifted; never of "redrock".
    sky : array of bool, optional
        Which targets are fibres on the sky (OBJTYPE SKY). Eight or more say how far the sky's continuum is off, and the
        likelihood gives it an amplitude a camera; not with archetypes, never of "redrock". Their zwarn has bit 0.
    scan, models : bool
        Keep chi2 at every redshift, and the best models.
    backend : {"auto", "cpu", "cuda"}
        What scans with method="fast"; "auto": a CUDA card where there is one. Everything else, and a group of three
        targets or fewer, is the CPU's. Redshifts of both agree to rounding.
    gpu_memory : float, optional
        GB of each card that may be used, default most of what is free. It is given back with the call.
    on_device_error : {"fail", "cpu"}
        When a card fails: an error, or the CPU does the work.
    threads : int, optional
    progress : callable, optional
        ``progress("redshift", done, targets)``.

    Returns
    -------
    Redshifts

    Raises
    ------
    NotFoundError
        There are no templates.
    DeviceError
        backend="cuda" without a card that can be used.
    FiberloomError
        Templates that make no sense (exit code 80) or do not cover the spectra (81).

    Examples
    --------
    >>> import fiberloom as fl, numpy as np
    >>> try:
    ...     fl.fit_redshifts(np.ones((1, 50)), np.ones((1, 50)), np.arange(4000.0, 4050.0), templates="nowhere")
    ... except fl.NotFoundError as error:
    ...     print(error.exit_code)
    10
    """
    cameras = _cameras(flux, ivar, wave, resolution, mask)
    count = next(iter(cameras.values()))["flux"].shape[0]
    if targetid is None:
        ids = np.arange(count)
    else:
        ids = np.asarray(targetid)
        if ids.dtype.kind not in "iu" or ids.shape != (count,):
            raise ValueError(f"targetid: expected {count} integers, got {ids.dtype} {ids.shape}")
        if ids.dtype == np.uint64 and (ids >= 2**63).any():
            raise ValueError(f"targetid: expected integers below 2**63, got {ids.max()}")
    skies: List[int] = []
    if sky is not None:
        of_sky = np.asarray(sky)
        if of_sky.dtype != bool or of_sky.shape != (count,):
            raise ValueError(f"sky: expected {count} of bool, got {of_sky.dtype} {of_sky.shape}")
        skies = [int(i) for i in np.flatnonzero(of_sky)]
    options: Dict[str, List[str]] = {"method": [check.choice("method", method, _METHODS)]}
    options["templates"] = _paths("templates", templates)
    if archetypes is not None:
        options["archetypes"] = [check.path("archetypes", archetypes)]
    if nminima is not None:
        options["nminima"] = [str(check.integer("nminima", nminima, 1))]
    if not check.flag("evidence", evidence):
        options["evidence"] = ["false"]
    if not check.flag("subtract_sky_residual", subtract_sky_residual):
        options["subtract_sky"] = ["false"]
    if type_shares is not None:
        shares = check.finite("type_shares", type_shares, (3,))
        if not (shares > 0).all():
            raise ValueError("type_shares: expected three numbers above 0, of galaxies, quasars and stars")
        options["type_shares"] = [",".join(f"{share:.17g}" for share in shares)]
    on_cpu = None if method == "fast" else method
    given = check.device(backend, gpu_memory, on_device_error, on_cpu)
    want_scan, want_models = check.flag("scan", scan), check.flag("models", models)
    if progress is not None and not callable(progress):
        raise TypeError(f"progress: expected a callable, got {type(progress).__name__}")
    got = _core.fit_redshifts(list(cameras.values()), [int(i) for i in ids], skies, options, given, want_scan,
                              want_models, check.threads(threads), progress)
    best = [found[0] for found in got["candidates"]]

    def column(key: str, kind: Any) -> Array:
        return np.array([b[key] for b in best], dtype=kind)
    return Redshifts(
        targetid=ids.astype(np.int64), z=column("z", float), zerr=column("zerr", float),
        zwarn=column("zwarn", np.uint32), chi2=column("chi2", float), deltachi2=column("deltachi2", float),
        spectype=[b["spectype"] for b in best], subtype=[b["subtype"] for b in best],
        npixels=column("npixels", np.int64), probability=column("probability", float),
        class_probability=column("class_probability", float),
        good={name: (column("quality", np.uint32) >> bit & 1).astype(bool) for bit, name in enumerate(_CUTS)},
        candidates=got["candidates"], scan=got["scan"],
        models=dict(zip(cameras, got["models"])), device=got["device"])


def read_spectra(path: PathLike, *, verify: bool = True) -> Spectra:
    """Reads a file of spectra or coadds, whole.

    Parameters
    ----------
    path, verify
        As in `read_image`.

    Returns
    -------
    Spectra

    Examples
    --------
    >>> import fiberloom as fl
    >>> try:
    ...     fl.read_spectra("nowhere.fits")
    ... except FileNotFoundError as error:
    ...     print(error.filename)
    nowhere.fits
    """
    name = check.path("path", path)
    with about(name):
        got = _core.read_spectra(name, check.flag("verify", verify))
    got["cameras"] = {camera: SpectraOfCamera(**arrays) for camera, arrays in got["cameras"].items()}
    return Spectra(**got)


def read_redshifts(path: PathLike, *, verify: bool = True) -> RedshiftFile:
    """Reads a file of redshifts: ours and redrock's (redrock-*.fits).

    Parameters
    ----------
    path, verify
        As in `read_image`.

    Returns
    -------
    RedshiftFile
        ``file.redshifts["Z"]`` is a column.

    Examples
    --------
    >>> import fiberloom as fl
    >>> try:
    ...     fl.read_redshifts("nowhere.fits")
    ... except FileNotFoundError as error:
    ...     print(error.filename)
    nowhere.fits
    """
    name = check.path("path", path)
    with about(name):
        return RedshiftFile(**_core.read_redshifts(name, check.flag("verify", verify)))
