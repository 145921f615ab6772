# SPDX-License-Identifier: BSD-3-Clause
"""From lamp and sky to flux, on arrays: the steps behind `fiberloom fiberflat`, `sky`, `stdstars` and so on."""
import dataclasses
from typing import Any, Dict, List, Literal, Mapping, Optional, Sequence, Tuple, Union

import numpy as np
import numpy.typing as npt

from . import _arguments as check
from . import _core
from ._calibration_inputs import (
    _OF_FIBERS, _camera, _cameras_of, _corrections, _is_desispec, _mapping, _plain, _rows, _spectra, _star_corrections)
from ._calibration_results import FiberFlat, FluxCalibration, Quality, Sky, StandardStars
from ._redshift import Spectra, SpectraOfCamera
from ._types import Array

Method = Literal["fiberloom", "desispec"]
Color = Literal["auto", "G-R", "R-Z", "GAIA-BP-RP", "GAIA-G-RP"]
_COLORS = ("auto", "G-R", "R-Z", "GAIA-BP-RP", "GAIA-G-RP")
# Spectra of one camera: a `Frame`, a `SpectraOfCamera`, or a mapping of wave, flux, ivar, resolution and mask.
OneCamera = Any
# Rows beside spectra: a Table, a structured array, or a mapping of columns.
Rows = Any


def fiberflat(lamp: OneCamera, *, camera: Optional[str] = None, fibermap: Rows = None, method: Method = "fiberloom",
              threads: Optional[int] = None) -> FiberFlat:
    """How much light each fibre passes, from a lamp's spectra.

    Parameters
    ----------
    lamp : Frame, SpectraOfCamera or mapping
        wave [nwave], flux and ivar [nspec][nwave], resolution [nspec][ndiag][nwave], mask if there is one.
    camera : str, optional
        "b", "r", "z": which bits of FIBERSTATUS count. Default: CAMERA of the frame's header.
    fibermap : Table, structured array or mapping of columns, optional
        Default: the frame's own. FIBERSTATUS is looked at.
    method : {"fiberloom", "desispec"}
        Whose rules where they differ (docs/fiberloom/calibration-design.md).
    threads : int, optional

    Raises
    ------
    NumericalError
        No fibre has light.

    Examples
    --------
    >>> import fiberloom as fl, numpy as np
    >>> lamp = {"wave": np.arange(6000.0, 6050.0), "flux": np.outer([90.0, 100.0, 110.0], np.ones(50)),
    ...         "ivar": np.ones((3, 50)), "resolution": np.ones((3, 1, 50))}
    >>> fl.fiberflat(lamp).flat[:, 0].round(2).tolist()
    [0.9, 1.0, 1.1]
    """
    return FiberFlat(**_core.fiberflat(_spectra("lamp", lamp, fibermap, True), _camera(lamp, camera), _is_desispec(method),
                                       check.threads(threads)))


def sky(frame: OneCamera, fiberflat: Optional[FiberFlat] = None, *, camera: Optional[str] = None, fibermap: Rows = None,
        heliocor: Optional[float] = None, method: Method = "fiberloom", adjust_wavelength: bool = False, adjust_lsf: bool = False,
        extra_variance: bool = True, threads: Optional[int] = None) -> Sky:
    """The sky of a frame, from the fibres that OBJTYPE of the fibermap calls SKY.

    `fiberflat` divides the `frame` first; None: it has been. `heliocor`: what the frame's wavelengths were multiplied by;
    default HELIOCOR of its header. `camera`, `fibermap`, `method` and `threads` as in `fiberflat`. `adjust_wavelength`,
    `adjust_lsf`: lines are moved and widened, fibre by fibre, as the sky fibres show them; `extra_variance`: errors near lines
    are made as wide as the sky fibres' residuals ask.

    Examples
    --------
    >>> import fiberloom as fl, numpy as np
    >>> frame = {"wave": np.arange(6000.0, 6050.0), "flux": np.full((3, 50), 7.0), "ivar": np.ones((3, 50)),
    ...          "resolution": np.ones((3, 1, 50)), "fibermap": {"OBJTYPE": ["SKY", "TGT", "SKY"]}}
    >>> found = fl.sky(frame)
    >>> found.flux[1, 0].round(6).item(), found.rows.tolist()
    (7.0, [0, 2])
    """
    letter = _camera(frame, camera)
    return Sky(**_core.sky(_spectra("frame", frame, fibermap, True), _corrections(frame, letter, fiberflat, heliocor=heliocor),
                           _is_desispec(method), check.flag("adjust_wavelength", adjust_wavelength),
                           check.flag("adjust_lsf", adjust_lsf), check.flag("extra_variance", extra_variance), check.threads(threads)))


def _each(name: str, given: Any, frames: Mapping[str, List[Any]], shared: bool) -> Dict[str, List[Any]]:
    """What belongs to each exposure of each camera; `shared`: one of a camera is that of all exposures."""
    if given is None:
        return {camera: [None] * len(all_) for camera, all_ in frames.items()}
    _mapping(name, given)
    out = {}
    for camera, exposures in frames.items():
        if camera not in given:
            raise ValueError(f"{name}: no camera {camera!r}")
        values = list(given[camera]) if isinstance(given[camera], (list, tuple)) else [given[camera]]
        out[camera] = values * len(exposures) if shared and len(values) == 1 else values
        if len(out[camera]) != len(exposures):
            raise ValueError(f"{name}: expected {len(exposures)} of camera {camera!r}, got {len(values)}")
    return out


def _models(models: Any) -> Dict[str, Any]:
    if not isinstance(models, Mapping):
        raise TypeError(f"models: expected a mapping of wave, flux, teff, logg and feh, got {type(models).__name__}")
    missing = [key for key in ("wave", "flux", "teff", "logg", "feh") if key not in models]
    if missing:
        raise ValueError(f"models: no {' and no '.join(missing)}")
    wave = check.finite("models: wave", models["wave"], ("nwave",))
    flux = check.finite("models: flux", models["flux"], ("nmodel", len(wave))).astype(np.float32)
    return {"wave": wave, "flux": flux, **{key: check.finite(f"models: {key}", models[key], (len(flux),))
                                           for key in ("teff", "logg", "feh")}}


def stdstars(frames: Mapping[str, Union[OneCamera, Sequence[OneCamera]]], models: Mapping[str, npt.ArrayLike],
             passbands: Mapping[str, Tuple[npt.ArrayLike, npt.ArrayLike]], *,
             rows: Optional[npt.ArrayLike] = None, fiberflats: Optional[Mapping[str, FiberFlat]] = None,
             skies: Optional[Mapping[str, Union[Sky, Sequence[Sky]]]] = None, fibermap: Rows = None, color: Color = "auto",
             delta_color: float = 0.2, min_blue_snr: float = 4.0, max_stars: int = 30, z_max: float = 0.008,
             z_res: float = 2e-5, template_error: float = 0.1, method: Method = "fiberloom",
             threads: Optional[int] = None) -> StandardStars:
    """The true spectra of standard stars, from a grid of models.

    Parameters
    ----------
    frames : {"b": frame or list of frames, ...}
        Cameras of one spectrograph, exposures of each.
    models : mapping
        wave [nwave], flux [nmodel][nwave], teff, logg, feh [nmodel].
    passbands : {"decam2014-g": (wave in Angstrom, response), ...}
        Of the colour that is used, by speclite's names.
    rows : array of int, optional
        The stars; default: those that DESI_TARGET and MWS_TARGET of the fibermap name so.
    fiberflats, skies : mapping of cameras, optional
        What frames are divided by, and what is taken away (one an exposure); None: it has been done.
    fibermap : optional
        Default: that of the first frame, with FLUX_G, FLUX_R, FLUX_Z, EBV, PHOTSYS, or magnitudes of Gaia.
    color, delta_color, min_blue_snr, max_stars, z_max, z_res, template_error
        As the command's options.

    Raises
    ------
    NumericalError
        No star with light, photometry and a model.

    `method` and `threads` as in `fiberflat`.

    Examples
    --------
    >>> import fiberloom as fl
    >>> try:
    ...     fl.stdstars({}, {}, {})
    ... except ValueError as error:
    ...     print(error)
    frames: expected a camera at least, got none
    """
    exposures = {camera: list(f) if isinstance(f, (list, tuple)) else [f] for camera, f in _cameras_of("frames", frames).items()}
    flats, all_skies = _each("fiberflats", fiberflats, exposures, True), _each("skies", skies, exposures, False)
    given, stars = [], None
    for camera, all_ in exposures.items():
        for frame, flat, one_sky in zip(all_, flats[camera], all_skies[camera]):
            spectra = _spectra(f"frames: {camera}", frame, fibermap, True)
            count = len(spectra["flux"])
            if stars is None:
                stars = _star_rows(rows, spectra["fibermap"], count)
            elif stars.size and stars.max() >= count:
                raise ValueError(f"frames: {camera}: {count} spectra, expected those of the first frame")
            given.append((_camera(frame, camera), _take(spectra, stars),
                          _star_corrections(frame, _camera(frame, camera), _taken(flat, stars), _taken(one_sky, stars))))
    bands = {}
    for name, pair in _mapping("passbands", passbands).items():
        if not isinstance(pair, (list, tuple)) or len(pair) != 2:
            raise TypeError(f"passbands: {name}: expected wavelengths and responses, got {type(pair).__name__}")
        band_wave = check.finite(f"passbands: {name}", pair[0], ("nwave",))
        bands[str(name)] = band_wave, check.finite(f"passbands: {name}", pair[1], (len(band_wave),))
    options = {"color": check.choice("color", color, _COLORS), "delta_color": check.number("delta_color", delta_color, 0),
               "min_blue_snr": check.number("min_blue_snr", min_blue_snr, 0), "max_stars": check.integer("max_stars", max_stars, 1),
               "z_max": check.number("z_max", z_max, 1e-4, 0.05), "z_res": check.number("z_res", z_res, 1e-6, 1e-3),
               "template_error": check.number("template_error", template_error, 0)}
    got = _core.stdstars(given, _models(models), bands, options, _is_desispec(method), check.threads(threads))
    assert stars is not None
    return StandardStars(**{**got, "rows": stars[got["rows"]]})


def _star_rows(rows: Any, fibermap: Any, count: int) -> Array:
    if rows is not None:
        found = np.asarray(rows)
        if found.ndim != 1 or found.dtype.kind not in "iu" or (found.size and not 0 <= found.min() <= found.max() < count):
            raise ValueError(f"rows: expected numbers of spectra from 0 to {count - 1}, got {rows!r}")
        return found.astype(np.int64)
    if fibermap is None or "DESI_TARGET" not in fibermap:
        raise ValueError("rows: expected numbers of spectra where no fibermap has DESI_TARGET, got None")
    return _core.standard_star_rows(fibermap)


def _take(spectra: Dict[str, Any], rows: Array) -> Dict[str, Any]:
    out = {key: value if value is None or key in ("wave", "fibermap") else np.ascontiguousarray(value[rows])
           for key, value in spectra.items()}
    if spectra["fibermap"] is not None:
        table = spectra["fibermap"]
        columns = {name: np.asarray(table[name]) for name in table.keys()}
        out["fibermap"] = _rows({name: c[rows] for name, c in columns.items()
                                 if c.ndim == 1 and c.dtype.kind in "iubfSU"}, len(rows))
    return out


def _taken(one: Any, rows: Array) -> Any:
    """Rows of a flat or a sky."""
    if one is None or not dataclasses.is_dataclass(one) or isinstance(one, type):
        return one
    two = {f.name: np.ascontiguousarray(getattr(one, f.name)[rows]) for f in dataclasses.fields(one)
           if np.ndim(getattr(one, f.name)) == 2 or f.name in _OF_FIBERS}
    return dataclasses.replace(one, **two)


def fluxcalib(frame: OneCamera, stars: Union[StandardStars, Mapping[str, npt.ArrayLike]], *,
              fiberflat: Optional[FiberFlat] = None, sky: Optional[Sky] = None,
              flat_to_psf: Optional[npt.ArrayLike] = None, average: Optional[FluxCalibration] = None,
              camera: Optional[str] = None, fibermap: Rows = None, heliocor: Optional[float] = None,
              method: Method = "fiberloom", threads: Optional[int] = None) -> FluxCalibration:
    """What flux a frame's electrons are, from standard stars of known spectrum.

    `stars`: what `stdstars` gave, or a mapping of wave [nwave], flux [nstar][nwave] and rows [nstar] of the frame. `fiberflat`
    and `sky` are applied first; None: they have been. `flat_to_psf` [nspec]: what a fibre's point loses against the lamp;
    default 1. `average` is scaled where stars are too faint; without one that is a NumericalError. `frame`, `camera`, `fibermap`,
    `heliocor`, `method` and `threads` as in `sky`.

    Examples
    --------
    >>> import fiberloom as fl, numpy as np
    >>> wave = np.arange(6000.0, 6050.0)
    >>> frame = {"wave": wave, "flux": np.full((3, 50), 20.0), "ivar": np.ones((3, 50)), "resolution": np.ones((3, 1, 50))}
    >>> stars = {"wave": np.arange(5990.0, 6060.0), "flux": np.full((3, 70), 10.0), "rows": [0, 1, 2]}
    >>> fl.fluxcalib(frame, stars).calib[0, 25].round(6).item()
    2.0
    """
    spectra = _spectra("frame", frame, fibermap, True)
    nspec = len(spectra["flux"])
    given = vars(stars) if isinstance(stars, StandardStars) else stars
    if not isinstance(given, Mapping) or not {"wave", "flux", "rows"} <= set(given):
        raise TypeError(f"stars: expected StandardStars or a mapping of wave, flux and rows, got {type(stars).__name__}")
    wave = check.finite("stars: wave", given["wave"], ("nwave",))
    flux = check.finite("stars: flux", given["flux"], ("nstar", len(wave)))
    rows = _star_rows(given["rows"], None, nspec)
    if len(rows) != len(flux):
        raise ValueError(f"stars: rows: expected {len(flux)}, got {len(rows)}")
    if wave[0] > spectra["wave"][0] or wave[-1] < spectra["wave"][-1]:
        raise ValueError("stars: wave: expected to reach over the frame's, "
                         f"{spectra['wave'][0]:.4f} to {spectra['wave'][-1]:.4f}, got {wave[0]:.4f} to {wave[-1]:.4f}")
    _plain("average", average, FluxCalibration)
    empty = np.empty(0)
    more = {"flat_to_psf": empty if flat_to_psf is None else check.finite("flat_to_psf", flat_to_psf, (nspec,)),
            "average_wave": empty if average is None else average.wave,
            "average": empty if average is None else average.deconvolved}
    letter = _camera(frame, camera)
    return FluxCalibration(**_core.fluxcalib(
        spectra, _corrections(frame, letter, fiberflat, sky, heliocor=heliocor), {"wave": wave, "flux": flux, "rows": rows.tolist()},
        more, _is_desispec(method), check.threads(threads)))


def calibrate(frame: OneCamera, fiberflat: Optional[FiberFlat] = None, sky: Optional[Sky] = None,
              fluxcalib: Optional[FluxCalibration] = None, *, camera: Optional[str] = None, fibermap: Rows = None,
              heliocor: Optional[float] = None) -> SpectraOfCamera:
    """A frame divided by its fibre flat, without its sky, in flux; each as far as it is given.

    With `fluxcalib` resolution becomes such that flux = R s of the true spectrum s. The `frame` itself stays as it is.
    `fiberflat`, `sky`, `camera`, `fibermap` and `heliocor` as in `fluxcalib`.

    Examples
    --------
    >>> import fiberloom as fl, numpy as np
    >>> lamp = {"wave": np.arange(6000.0, 6050.0), "flux": np.outer([90.0, 100.0, 110.0], np.ones(50)),
    ...         "ivar": np.ones((3, 50)), "resolution": np.ones((3, 1, 50))}
    >>> fl.calibrate(lamp, fl.fiberflat(lamp)).flux[:, 0].round(2).tolist()
    [100.0, 100.0, 100.0]
    """
    if fiberflat is None and sky is None and fluxcalib is None:
        raise ValueError("fiberflat: expected it, sky or fluxcalib, got nothing to apply")
    letter = _camera(frame, camera)
    got = _core.calibrate(_spectra("frame", frame, fibermap, fluxcalib is not None),
                          _corrections(frame, letter, fiberflat, sky, fluxcalib, heliocor))
    return SpectraOfCamera(**got)


def coadd(spectra: Union[Spectra, Mapping[str, OneCamera]], targetid: Optional[npt.ArrayLike] = None, *,
          cosmics_nsig: float = 4.0, coadd_cameras: bool = False, lin_step: Optional[float] = None,
          log10_step: Optional[float] = None, wave_min: Optional[float] = None, wave_max: Optional[float] = None,
          fibermap: Rows = None, threads: Optional[int] = None) -> Spectra:
    """One spectrum a target from those of many exposures, camera by camera, or of all on another grid.

    Parameters
    ----------
    spectra : Spectra, or {"B": SpectraOfCamera, ...}
        Rows are exposures of targets, the same in each camera.
    targetid : array of int, optional
        Whose each row is; default TARGETID of the fibermap.
    cosmics_nsig : float
        0: no cosmic rays are looked for.
    coadd_cameras : bool
        One spectrum of all cameras.
    lin_step, log10_step : float, optional
        One spectrum of all cameras on a grid of steps of this, in Angstrom or in log10 of it.
    wave_min, wave_max : float, optional
        Where that grid begins, and what it does not go beyond, Angstrom; default: as the data.
    fibermap : optional
        Default: that of `spectra`.
    threads : int, optional

    Returns
    -------
    Spectra
        Targets in the order in which they first appear; fibermap and exp_fibermap where TARGETID is in the fibermap.

    Examples
    --------
    >>> import fiberloom as fl, numpy as np
    >>> one = {"wave": np.arange(6000.0, 6050.0), "flux": np.outer([1.0, 3.0, 5.0], np.ones(50)), "ivar": np.ones((3, 50))}
    >>> fl.coadd({"R": one}, [7, 7, 8]).cameras["R"].flux[:, 0].tolist()
    [2.0, 5.0]
    >>> sharp = {**one, "resolution": np.ones((3, 1, 50))}
    >>> fl.coadd({"R": sharp}, [7, 7, 8], lin_step=2.0, wave_min=6010).cameras["R"].wave[:3].tolist()
    [6010.0, 6012.0, 6014.0]
    """
    cameras = _cameras_of("spectra", spectra.cameras if isinstance(spectra, Spectra) else spectra)
    table: Any = spectra.fibermap if isinstance(spectra, Spectra) and fibermap is None else fibermap
    given = sorted(((str(name), _spectra(f"spectra: {name}", one, table, False)) for name, one in cameras.items()),
                   key=lambda pair: float(pair[1]["wave"][0]))
    counts = {len(one["flux"]) for _, one in given}
    if len(counts) != 1:
        raise ValueError(f"spectra: expected as many rows in each camera, got {sorted(counts)}")
    rows = given[0][1]["fibermap"]
    if targetid is None:
        if rows is None or "TARGETID" not in rows:
            raise ValueError("targetid: expected whole numbers where no fibermap has TARGETID, got None")
        targetid = np.asarray(rows["TARGETID"])
    ids = np.asarray(targetid)
    if ids.dtype.kind not in "iu" or ids.shape != (counts.pop(),):
        raise ValueError(f"targetid: expected an integer a row, got {ids.dtype} {ids.shape}")
    targets: Dict[int, List[int]] = {}
    for row, one in enumerate(ids.tolist()):
        targets.setdefault(one, []).append(row)
    across = check.flag("coadd_cameras", coadd_cameras)
    options = {"nsig": check.number("cosmics_nsig", cosmics_nsig, 0), "coadd_cameras": "true" if across else "false"}
    for name, step in (("lin_step", lin_step), ("log10_step", log10_step), ("wave_min", wave_min), ("wave_max", wave_max)):
        if step is not None:
            number = check.number(name, step, 0)
            if not number > 0:
                raise ValueError(f"{name}: expected a number above 0, got {step!r}")
            options[name] = number
    resampled = lin_step is not None or log10_step is not None
    if lin_step is not None and log10_step is not None:
        raise ValueError(f"log10_step: expected None beside lin_step, one of them, got {log10_step!r}")
    for name, edge in (("wave_min", wave_min), ("wave_max", wave_max)):
        if not resampled and edge is not None:
            raise ValueError(f"{name}: expected None without lin_step or log10_step, got {edge!r}")
    if across and resampled:
        raise ValueError("coadd_cameras: expected False with lin_step and log10_step, which join cameras as well, got True")
    got = _core.coadd(given, list(targets.values()), [(key, str(value)) for key, value in options.items()], check.threads(threads))
    names = [name for name, _ in given]
    names = names if len(got["spectra"]) == len(names) else ["".join(names)]
    header = spectra.header.copy() if isinstance(spectra, Spectra) else _core.Header()
    return Spectra({name: SpectraOfCamera(**one) for name, one in zip(names, got["spectra"])}, header,
                   fibermap=got["fibermap"], exp_fibermap=got["exp_fibermap"])


def qa(frames: Mapping[str, OneCamera], *, skies: Optional[Mapping[str, Sky]] = None,
       fluxcalibs: Optional[Mapping[str, FluxCalibration]] = None, stars: Optional[StandardStars] = None,
       fibermap: Rows = None) -> Quality:
    """How good the calibrated frames of one spectrograph are.

    `frames`: {"b": frame, ...} without sky (`skies`), in flux where `fluxcalibs` has the camera; `stars`: what `stdstars` gave. The
    `fibermap` (default: that of the first frame) says FIBERSTATUS, OBJTYPE, DELTA_X and DELTA_Y.

    Examples
    --------
    >>> import fiberloom as fl, numpy as np
    >>> frame = {"wave": np.arange(6000.0, 6050.0), "flux": np.ones((3, 50)), "ivar": np.ones((3, 50)),
    ...          "fibermap": {"OBJTYPE": ["SKY", "TGT", "SKY"], "FIBERSTATUS": [0, 0, 512]}}
    >>> fl.qa({"r": frame}).good_fibers
    2
    """
    all_skies = {} if skies is None else _mapping("skies", skies)
    all_flux = {} if fluxcalibs is None else _mapping("fluxcalibs", fluxcalibs)
    given = []
    for name, frame in sorted(_cameras_of("frames", frames).items()):
        letter = _camera(None, name)
        given.append((letter, _spectra(f"frames: {name}", frame, fibermap, False),
                      {**_corrections(None, letter), "sky": _plain("skies", all_skies.get(name), Sky),
                       "fluxcalib": _plain("fluxcalibs", all_flux.get(name), FluxCalibration)}))
    models = _plain("stars", stars, StandardStars)
    if models is not None:
        models = {"wave": models["wave"], "flux": models["flux"], "rows": [int(r) for r in models["rows"]]}
    return Quality(**_core.qa(given, models))
