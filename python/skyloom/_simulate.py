# SPDX-License-Identifier: BSD-3-Clause
"""Simulated data as arrays: focal planes, scans, schedules, noise, and all observations of a satellite or from the ground."""
import os
from typing import Any, List, NamedTuple, Optional, Sequence, Tuple, Union

import numpy as np
import numpy.typing as npt

from . import _arguments as arguments
from . import _core
from ._maps import Observation


class FocalPlane(NamedTuple):
    """Detectors: names, quaternions (x, y, z, w) to the boresight [detector][4], angles of polarisation on the plane
    (rad), and the uids that name their noise."""

    names: List[str]
    quats: arguments.Doubles
    gamma: arguments.Doubles
    uids: List[int]


def hexagon(pixels: int = 7, width: float = 5.0) -> FocalPlane:
    """A hexagon of pairs of detectors, `width` degrees from vertex to vertex: 1, 7, 19, 37 ... pixels."""
    width = arguments.number("width", width, 0, 180)
    found = _core.hexagon(arguments.integer("pixels", pixels, 1, 10**6), width, 0.0, 1.0)
    return FocalPlane(found["names"], found["quats"], found["gamma"], found["uids"])


def satellite_scan(samples: int, rate: float, *, spin_period: float = 10.0, spin_angle: float = 30.0,
                   prec_period: float = 50.0, prec_angle: float = 65.0, year: float = 365.25,
                   first: int = 0) -> arguments.Doubles:
    """Quaternions [sample][x, y, z, w] of the boresight of a satellite that spins and precesses.

    Periods are minutes, angles degrees, `year` days in which the axis goes around (0: it stands); `first` is the number
    of the first sample in the mission.
    """
    return _core.satellite(arguments.number("spin_period", spin_period, 1e-9), arguments.number("spin_angle", spin_angle),
                           arguments.number("prec_period", prec_period, 1e-9),
                           arguments.number("prec_angle", prec_angle), arguments.number("year", year, 0),
                           arguments.number("rate", rate, 1e-9), arguments.integer("first", first),
                           arguments.integer("samples", samples, 1, 10**9))


def noise_psd(rate: float, net: float, fknee: float = 0.0, fmin: float = 0.0,
              slope: float = 1.0) -> Tuple[arguments.Doubles, arguments.Doubles]:
    """Frequencies (Hz, to half of `rate`) and NET^2 (f^slope + fknee^slope) / (f^slope + fmin^slope)."""
    return _core.noise_psd(*(arguments.number(name, value) for name, value in (
        ("net", net), ("fmin", fmin), ("fknee", fknee), ("slope", slope), ("rate", rate))))


def simulate_noise(samples: int, rate: float, frequencies: Any, psd: Any, uids: Any, *, observation: int = 0,
                   realization: int = 0, telescope: int = 0, component: int = 0, first: int = 0,
                   threads: Optional[int] = None) -> arguments.Doubles:
    """Noise [detector][samples] of a power spectrum, the streams that TOAST 3 has for the same numbers.

    Parameters
    ----------
    samples, rate : int, float
        Of a stream; a second.
    frequencies, psd : array
        Hz, growing, to half the rate; the spectrum there, one for all detectors or [detector][frequency].
    uids : array of int
        One for each detector: together with `observation`, `realization`, `telescope` and `component` they name a
        stream (docs/skyloom/algorithm.md).
    first : int
        Number of the first sample in its session.
    """
    freq = arguments.doubles("frequencies", frequencies, (None,))
    spectra = np.atleast_2d(arguments.real("psd", psd))
    spectra = arguments.doubles("psd", spectra, (None, freq.size))
    detectors = [arguments.integer("uids", uid) for uid in np.atleast_1d(uids).tolist()]
    if len(spectra) not in (1, len(detectors)):
        raise ValueError(f"psd: expected one for all, or one for each of {len(detectors)} detectors, got {len(spectra)}")
    return _core.simulate_noise(
        freq, spectra, arguments.number("rate", rate, 1e-9), arguments.integer("first", first),
        arguments.integer("samples", samples, 2, 10**9), arguments.integer("realization", realization),
        arguments.integer("telescope", telescope), arguments.integer("component", component),
        arguments.integer("observation", observation), detectors, arguments.threads(threads))


def name_uid(name: str) -> int:
    """The number that stands for a name in the streams of noise, TOAST's too."""
    return _core.name_uid(str(name))


def make_schedule(patch: Union[str, Sequence[str]], **options: Any) -> str:
    """A schedule of scans from the ground: the text that `skyloom schedule` writes, for `simulate(schedule=...)`.

    Parameters
    ----------
    patch : str, or list of str
        "NAME,WEIGHT,LON,LAT,WIDTH" or "NAME,WEIGHT,LON1,LAT1,LON2,LAT2", degrees (ICRS).
    start, stop, site_name, telescope, latitude, longitude, height, elevation_min, elevation_max, pole, pole_step,
    pole_minutes, sun_angle, moon_angle, sun_elevation, scan_minutes, gap : optional
        What the command line calls --start and so on.
    """
    return _core.schedule(arguments.texts({"patch": [patch] if isinstance(patch, str) else list(patch), **options}))


def _sky(name: str, sky: Any, nest: bool) -> "npt.NDArray[np.float32]":
    """[pixel, NESTED][I, Q, U] of a map of I, or of I, Q, U; of None no pixels."""
    if sky is None:
        return np.zeros((0, 3), dtype=np.float32)
    rows = np.atleast_2d(arguments.real(name, sky))
    if rows.ndim != 2 or rows.shape[0] not in (1, 3):
        raise ValueError(f"{name}: expected a map of I, or of I, Q, U, got shape {np.shape(sky)}")
    values = np.zeros((rows.shape[1], 3), dtype=np.float32)
    order = slice(None) if nest else _core.ring_numbers(rows.shape[1])
    for k, row in enumerate(rows):
        values[:, k] = np.where(np.abs(row) < 1e30, row, 0)[order]
    return values


def simulate(sky: Any = None, *, schedule: Union[str, "os.PathLike[str]", None] = None,
             focal_plane: Union[str, "os.PathLike[str]", None] = None, ground_map: Any = None, nest: bool = True,
             threads: Optional[int] = None, **options: Any) -> List[Observation]:
    """Observations of a satellite, or from the ground: what `skyloom simulate` writes, as arrays.

    Parameters
    ----------
    sky : array [I, Q, U][pixel] or [pixel], optional
        HEALPix map of what is seen, K; values that are not numbers, or UNSEEN, count as 0.
    schedule : str or path, optional
        Scans from the ground instead of a satellite's, one observation each: a file, or the text of one
        (`make_schedule`). Their turnarounds are in `shared_flags`, left out by `shared_mask`.
    focal_plane : path, optional
        Detectors of an HDF5 file of TOAST's instead of the hexagon's.
    ground_map : array [pixel], optional
        HEALPix map of the horizon, seen from the ground as well: longitude is -azimuth, latitude elevation.
    nest : bool
        False: the maps are RING.
    pixels, width, rate, leakage, observations, minutes, spin_minutes, spin_angle, precession_minutes, precession_angle,
    year, follow_earth, hwp_rpm, frame, start, net, fknee, fmin, slope, dipole, no_noise, realization : optional
    common_net, common_fknee, common_fmin, common_slope, common_by, common_coupling, common_spread, common_fixed : optional
    hwpss, hwpss_spread, hwpss_drift : optional
        What a half-wave plate (`hwp_rpm`) adds with its angle: `hwpss` is a list of amplitudes of harmonics, K.
    gain_drift, gain_walk, glitch_rate, glitch_height, glitch_decay : optional
    scan_rate, mount_rate, scan_acceleration, elnod, elnod_at, elevation_rate, elevation_acceleration, elevation_modulation,
    modulation_amplitude, modulation_sine, modulation_phase, modulation_seed, elevation_step, sun_close, intervals, ut1,
    atmosphere, atmosphere_load, atmosphere_height, atmosphere_outer, atmosphere_cell, wind, wind_from, ground_signal,
    ground_harmonics : optional
        What the command line calls --pixels and so on; the last ones ask for a schedule.
    common_also : list of str, optional
    """
    files = {}
    if schedule is not None:
        text = os.fsdecode(schedule)
        files["schedule_text" if "\n" in text else "schedule"] = text
    if focal_plane is not None:
        files["focal_plane"] = os.fsdecode(focal_plane)
    found = _core.simulate(_sky("sky", sky, nest), arguments.texts(options), files, _sky("ground_map", ground_map, nest),
                           arguments.threads(threads))
    plane = found["detectors"]
    return [Observation(one["boresight"], plane["quats"], one["signal"], rate=found["rate"], weights=one["weights"],
                        names=plane["names"], leakage=plane["leakage"], gamma=plane["gamma"],
                        shared_flags=one.get("shared_flags"), shared_mask=one.get("shared_mask", 255),
                        intervals=one.get("intervals"), hwp_angle=one.get("hwp_angle"), azimuth=one.get("azimuth"), noise=one["noise"], name=one["name"])
            for one in found["observations"]]
