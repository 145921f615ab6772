# SPDX-License-Identifier: BSD-3-Clause
"""Maps of arrays: the same text that `skyloom map` runs on files."""
import math
import os
import warnings
from typing import Any, Dict, List, Optional, Sequence, Tuple, Union

import numpy as np
import numpy.typing as npt

from . import _arguments as arguments
from . import _core

UNSEEN = -1.6375e30


class Observation:
    """Detectors that look along one boresight. Arrays are kept as they are where their type fits, and not written to.

    Parameters
    ----------
    boresight : array [sample][x, y, z, w]
        Rotations from the boresight's frame to the sky's.
    quats : array [detector][x, y, z, w]
        From each detector's frame (x: polarisation, z: line of sight) to the boresight's.
    signal : array [detector][sample], or a list of arrays
        K; what is not finite, or masked, is left out. Single precision stays single.
    rate : float
        Samples a second.
    weights : float or array
        1/K^2 of a sample of each detector, above 0.
    names : list of str, optional
    leakage, gamma : float or array
        As of `stokes_weights`: with `hwp_angle` there must be a `gamma`.
    flags : array [detector][sample], or a list, optional
        What has bits of `flag_mask` is left out.
    shared_flags : array [sample], optional
        The same of all detectors, with `shared_mask`.
    hwp_angle : array [sample], optional
        Of a half-wave plate, rad.
    azimuth : array [sample], optional
        Of the mount, rad: what filters of the ground ask for.
    intervals : list of (first, end), optional
        Samples that are mapped, apart and growing; polynomials are fitted over each.
    noise : (frequencies, psd), or a list of them, optional
        Of all detectors, or of each: what `prior` and `method="gls"` ask for.
    """

    def __init__(self, boresight: Any, quats: Any, signal: Any, *, rate: float, weights: Any = 1.0,
                 names: Optional[Sequence[str]] = None, leakage: Any = 0.0, gamma: Any = None, flags: Any = None,
                 flag_mask: int = 255, shared_flags: Any = None, shared_mask: int = 255, hwp_angle: Any = None,
                 intervals: Any = None, noise: Any = None, azimuth: Any = None, name: str = "observation") -> None:
        self.boresight = arguments.quaternions("boresight", boresight)
        self.quats = arguments.quaternions("quats", quats)
        samples, n = len(self.boresight), len(self.quats)
        self.signal = [arguments.signal_row("signal", row, samples) for row in signal]
        self.rate = arguments.number("rate", rate, 1e-9, 1e12)
        self.weights = arguments.doubles("weights", weights, (n,))
        self.names = [f"detector {i}" for i in range(n)] if names is None else [str(one) for one in names]
        self.leakage = arguments.leakages(leakage, n)
        self.gamma = arguments.gammas(gamma, n, hwp_angle)
        self.flags = None if flags is None else [arguments.flag_row("flags", row, samples) for row in flags]
        self.flag_mask = arguments.integer("flag_mask", flag_mask, 0, 255)
        self.shared_flags = None if shared_flags is None else arguments.flag_row("shared_flags", shared_flags, samples)
        self.shared_mask = arguments.integer("shared_mask", shared_mask, 0, 255)
        self.hwp_angle = None if hwp_angle is None else arguments.doubles("hwp_angle", hwp_angle, (samples,))
        self.azimuth = None if azimuth is None else arguments.doubles("azimuth", azimuth, (samples,))
        self.intervals = None if intervals is None else arguments.spans("intervals", intervals, samples)
        if noise is not None and not isinstance(noise, (tuple, list, np.ndarray)):
            raise ValueError(f"noise: expected (frequencies, psd), or a list of them, got {type(noise).__name__}")
        pairs = noise is None or (len(noise) == 2 and np.ndim(noise[0]) == 1 and np.ndim(noise[0][0]) == 0)
        spectra = noise if noise is None else [noise] * n if pairs else list(noise)
        self.noise = None if spectra is None else [arguments.spectrum("noise", one) for one in spectra]
        self.name = str(name)
        for what, rows in (("signal", self.signal), ("names", self.names), ("flags", self.flags), ("noise", self.noise)):
            if rows is not None and len(rows) != n:
                raise ValueError(f"{what}: expected one for each of {n} detectors, got {len(rows)}")
        if not (self.weights > 0).all():
            raise ValueError("weights: expected numbers above 0")

    def _core(self) -> Any:
        """As the library takes it."""
        out = _core.Observed(self.name, self.boresight, self.rate)
        out.set_masks(self.flag_mask, self.shared_mask)
        if self.hwp_angle is not None:
            out.set_plate(self.hwp_angle)
        if self.azimuth is not None:
            out.set_azimuth(self.azimuth)
        shared = self.shared_flags
        if self.intervals is not None:
            out.set_stretches(self.intervals)
            outside = np.ones(len(self.boresight), dtype=np.uint8)
            for first, end in self.intervals:
                outside[first:end] = 0
            if shared is not None:
                outside |= (shared & self.shared_mask) != 0
            shared = outside
            out.set_masks(self.flag_mask, 255)
        if shared is not None:
            out.set_shared_flags(shared)
        for d, row in enumerate(self.signal):
            add = out.add_floats if row.dtype == np.float32 else out.add_doubles
            add(self.names[d], self.quats[d].tolist(), float(self.gamma[d]), float(self.leakage[d]), float(self.weights[d]),
                row)
            if self.flags is not None:
                out.set_flags(self.flags[d])
            if self.noise is not None:
                out.set_noise(*self.noise[d])
        return out


class PartMaps:
    """What was hit, pixel by pixel, of a part of the data or of all.

    Attributes
    ----------
    nside : int
        0: a flat grid.
    shape : tuple of int
        Of a whole map: pixels of the sky, or rows and columns of a flat grid.
    pixels : array
        NESTED numbers of the pixels that were hit, growing; of a flat grid row by row.
    hits, rcond : array [hit pixel]
    invcov, cov : array [II, IQ, IU, QQ, QU, UU][hit pixel]
        1/K^2 and K^2; cov is 0 where a pixel is cut.
    binned, destriped : array [I, Q, U][hit pixel]
        K; NaN where a pixel is cut. `destriped` is None with `binned_only`, and the map of maximum likelihood with
        `method="gls"`.
    noise_weighted : array [I, Q, U][hit pixel]
        P^T N^-1 d, 1/K, of cut pixels too.
    """

    def __init__(self, nside: int, shape: Tuple[int, ...], found: Dict[str, Any]) -> None:
        self.shape = shape
        self.nside = nside if len(self.shape) == 1 else 0
        self.pixels: "npt.NDArray[np.int64]" = found["pixels"]
        self.hits: "npt.NDArray[np.int64]" = found["hits"]
        self.rcond: arguments.Doubles = found["rcond"]
        self.invcov: arguments.Doubles = found["invcov"]
        self.cov: arguments.Doubles = found["cov"]
        self.binned: arguments.Doubles = found["binned"]
        self.noise_weighted: arguments.Doubles = found["noise_weighted"]
        self.destriped: Optional[arguments.Doubles] = found.get("destriped")

    def full_sky(self, name: str, *, nest: bool = True, unseen: float = UNSEEN) -> "npt.NDArray[Any]":
        """"hits", "rcond", "invcov", "cov", "binned" or "destriped" for every pixel of the sky, as healpy wants it.

        What was not seen is `unseen` (of hits and rcond 0), also what is cut.
        """
        if not self.nside:
            raise ValueError("full_sky: these maps are on a flat grid: see image()")
        return self._whole(name, self.pixels if nest else _core.ring_numbers(12 * self.nside**2)[self.pixels], unseen)

    def image(self, name: str, *, unseen: float = math.nan) -> "npt.NDArray[Any]":
        """The same of a flat grid, [row][column] or [value][row][column]: row 0 lies in the south, column 0 in the east."""
        if self.nside:
            raise ValueError("image: these maps are not on a flat grid: see full_sky()")
        flat = self._whole(name, self.pixels, unseen)
        return flat.reshape(*flat.shape[:-1], *self.shape)

    def _whole(self, name: str, at: "npt.NDArray[np.int64]", unseen: float) -> "npt.NDArray[Any]":
        if name not in ("hits", "rcond", "invcov", "cov", "binned", "destriped") or getattr(self, name) is None:
            raise ValueError(f"name: there is no map {name!r}")
        values = np.atleast_2d(getattr(self, name))
        out = np.full((len(values), math.prod(self.shape)), 0 if name in ("hits", "rcond") else unseen, dtype=values.dtype)
        good = ~np.isnan(values) if name != "cov" else np.broadcast_to(self.cov[0] > 0, values.shape)
        for row, value, keep in zip(out, values, good):
            row[at[keep]] = value[keep]
        return out[0] if getattr(self, name).ndim == 1 else out


class Maps(PartMaps):
    """Of all data.

    Attributes
    ----------
    parts : list of PartMaps
        With `split`: `destriped` has the offsets of all data taken out, or is the part's own of maximum likelihood.
    offsets : list of arrays [detector][baseline]
        One for each observation; none with `method="gls"`. With `demodulate` three of each detector, as it would see
        without a plate and turned by 0, 60 and 120 degrees.
    residuals : array
        After each iteration, relative.
    converged : bool
    counts : dict
        Samples, runs, pixels and baselines, as in --json, and the `planned_bytes` of `memory`.
    """

    def __init__(self, nside: int, found: Dict[str, Any], detectors: List[int]) -> None:
        super().__init__(nside, tuple(found.get("shape", (12 * nside**2,))), found)
        self.parts = [PartMaps(nside, self.shape, part) for part in found["parts"]]
        self.residuals = np.asarray(found["residuals"], dtype=np.float64)
        self.converged: bool = found["converged"]
        self.counts: Dict[str, int] = found["counts"]
        self.offsets: List[arguments.Doubles] = []
        firsts = [*found["first_offsets"], len(found["offsets"])]
        if len(found["offsets"]):
            stream = 0
            for n in detectors:
                low, stream = firsts[stream], stream + n
                self.offsets.append(found["offsets"][low:firsts[stream]].reshape(n, -1))


def _columns(maps: Any) -> List["npt.NDArray[np.float32]"]:
    """HEALPix maps as single numbers, 0 where there is none."""
    rows = np.atleast_2d(arguments.real("deproject", maps))
    if rows.ndim != 2 or not rows.size:
        raise ValueError(f"deproject: expected maps [column][pixel], got shape {np.shape(maps)}")
    return [np.ascontiguousarray(np.where(np.abs(row) < 1e30, row, 0), dtype=np.float32) for row in rows]


def make_maps(observations: Any, nside: int = 256, *, step: Optional[float] = None, binned_only: bool = False,
              prior: bool = False, poly_order: Optional[int] = None, common_mode: bool = False,
              rcond: Optional[float] = None, good_fraction: Optional[float] = None, tolerance: Optional[float] = None,
              iterations: Optional[int] = None, wcs: Optional[str] = None, method: Optional[str] = None,
              correlation: Optional[float] = None, preconditioner: Optional[str] = None, deglitch: Optional[float] = None,
              deglitch_window: Optional[int] = None, deglitch_radius: Optional[int] = None,
              ground_order: Optional[int] = None, ground_bins: Optional[float] = None,
              ground_trend: "Union[int, str, None]" = None, ground_split: bool = False,
              hwp_harmonics: Optional[int] = None, hwp_trend: "Union[int, str, None]" = None, hwp_drift: bool = False,
              hwp_detrend: bool = False, demodulate: bool = False, demod_cut: Optional[float] = None,
              demod_skip: Optional[int] = None, joint: bool = False, joint_rcond: Optional[float] = None,
              ground_step: Optional[float] = None, ground_drift: Optional[int] = None, deproject: Any = None,
              deproject_columns: Optional[int] = None,
              obs_matrix: "Union[str, os.PathLike[str], None]" = None, obs_matrix_weighted: bool = False, split: Optional[str] = None,
              backend: Optional[str] = None, checkpoint: "Union[str, os.PathLike[str], None]" = None,
              checkpoint_seconds: Optional[float] = None, memory: Optional[int] = None,
              threads: Optional[int] = None) -> Maps:
    """Hits, covariance, a binned map and a destriped one (or that of maximum likelihood) of observations.

    Parameters
    ----------
    observations : Observation, or a list of them
    nside : int
        A power of two to 8192.
    wcs : str, optional
        A flat grid instead: "car:LON,LAT,WIDTH,HEIGHT,CELL" or "tan:...", degrees.
    method : "destripe" or "gls", optional
        "gls": maximum likelihood with the observations' `noise`, over `correlation` seconds.
    step : float
        Seconds of a baseline; 0: an observation. Default: 1.
    ground_order, ground_bins, ground_trend, ground_split
        Filters of the observations' `azimuth`, as `skyloom map` has them; `ground_trend="none"`: no trend is fitted.
    hwp_harmonics, hwp_trend, hwp_drift, hwp_detrend
        Filters of the observations' `hwp_angle`, likewise.
    demodulate, demod_cut, demod_skip
        I, Q and U of each detector by what is slow of it, and what goes with four times the `hwp_angle`.
    joint, joint_rcond
        `hwp_harmonics`, ground filters and `poly_order` are fitted together, without trends.
    ground_step, ground_drift : float, int, optional
        Of `joint`: seconds after which templates of azimuth are anew; the order of the polynomial of time by which what a bin
        has may change.
    deproject : array [column][pixel] or [pixel], or path, optional
        Of `joint`: HEALPix maps, NESTED; what each detector sees of them is fitted and taken out as well. What is no number, or
        UNSEEN, counts as 0. Of a file the first `deproject_columns` (1).
    obs_matrix, obs_matrix_weighted : path, bool, optional
        A file for the matrix that makes the binned map of `joint` (or that map weighted with `invcov`) from a map without
        noise, as `scipy.sparse.load_npz` reads it. Rows and columns are I, then Q, then U of every pixel of the sky, NESTED,
        or of the grid row by row.
    split : "detectors", "observations" or "time=N", optional
        Maps of parts beside the whole: `Maps.parts`.
    backend : "cpu", "auto", "cuda" or "emulate", optional
    checkpoint, checkpoint_seconds : path, float, optional
        A file that the iterations are kept in meanwhile: a call that was ended goes on from there.
    memory : int, optional
        Bytes that the process may take, known before the maps are begun.
    binned_only, prior, poly_order, common_mode, rcond, good_fraction, tolerance, iterations, preconditioner, deglitch,
    deglitch_window, deglitch_radius
        As `skyloom map` has them.
    threads : int, optional
        Default: what the machine and the batch system grant. The maps are the same.

    A solution that has not converged is a RuntimeWarning and `converged` False. Raises NoGoodDataError where every
    sample is flagged or every pixel is seen at too few angles.
    """
    listed = [observations] if isinstance(observations, Observation) else list(observations)
    if not listed or not all(isinstance(one, Observation) for one in listed):
        raise TypeError("observations: expected skyloom.Observation, one or more")
    if len({id(one) for one in listed}) < len(listed):
        raise ValueError("observations: one is there twice: its samples would count twice")
    columns: List["npt.NDArray[np.float32]"] = []
    if deproject is not None and not isinstance(deproject, (str, bytes, os.PathLike)):
        columns = _columns(deproject)[:deproject_columns]
        deproject = deproject_columns = None
    options = arguments.texts({
        "nside": arguments.integer("nside", nside, 1, 8192), "step": step, "binned_only": bool(binned_only),
        "prior": bool(prior), "poly_order": poly_order, "common_mode": bool(common_mode), "rcond": rcond,
        "good_fraction": good_fraction, "tolerance": tolerance, "iterations": iterations,
        "wcs": wcs, "method": method, "correlation": correlation, "preconditioner": preconditioner,
        "deglitch": deglitch, "deglitch_window": deglitch_window, "deglitch_radius": deglitch_radius,
        "ground_order": ground_order, "ground_bins": ground_bins, "ground_trend": ground_trend,
        "ground_split": bool(ground_split), "hwp_harmonics": hwp_harmonics, "hwp_trend": hwp_trend,
        "hwp_drift": bool(hwp_drift), "hwp_detrend": bool(hwp_detrend), "demodulate": bool(demodulate),
        "demod_cut": demod_cut, "demod_skip": demod_skip, "joint": bool(joint), "joint_rcond": joint_rcond,
        "ground_step": ground_step, "ground_drift": ground_drift,
        "deproject": None if deproject is None else os.fsdecode(deproject), "deproject_columns": deproject_columns,
        "obs_matrix": None if obs_matrix is None else os.fsdecode(obs_matrix), "obs_matrix_weighted": bool(obs_matrix_weighted),
        "split": split, "backend": backend,
        "checkpoint": None if checkpoint is None else os.fsdecode(checkpoint), "checkpoint_seconds": checkpoint_seconds})
    budget = 0 if memory is None else arguments.integer("memory", memory, 1)
    found = _core.make_maps([one._core() for one in listed], options, columns, budget, arguments.threads(threads))
    for text in found["warnings"]:
        warnings.warn(text, RuntimeWarning, stacklevel=2)
    streams = 3 if demodulate else 1  # of a detector
    return Maps(nside, found, [streams * len(one.quats) for one in listed])
