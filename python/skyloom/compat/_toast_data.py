# SPDX-License-Identifier: BSD-3-Clause
"""What the operators of compat share: how TOAST's observations look from here."""
from typing import Any, List, Tuple

import numpy as np
import numpy.typing as npt
import toast.ops
import toast.qarray
from astropy import units
from toast.observation import default_values as defaults

from .. import _core

_ROTATIONS = {("C", "E"): lambda: toast.qarray.equ2ecl(), ("C", "G"): lambda: toast.qarray.equ2gal(),
              ("E", "G"): lambda: toast.qarray.ecl2gal(), ("E", "C"): lambda: toast.qarray.inv(toast.qarray.equ2ecl()),
              ("G", "C"): lambda: toast.qarray.inv(toast.qarray.equ2gal()),
              ("G", "E"): lambda: toast.qarray.inv(toast.qarray.ecl2gal())}


def refuse(operator: Any, what: str) -> None:
    """For what is not there."""
    raise NotImplementedError(f"skyloom's {type(operator).__name__}: {what}")


def is_plain(pointing: Any) -> bool:
    """Whether a detector looks along boresight times its quaternion, but for a rotation of the whole sky."""
    deflection = getattr(pointing, "hwp_deflection_radius", None)
    return isinstance(pointing, toast.ops.PointingDetectorSimple) and (deflection is None or deflection.value == 0)


def boresight_of(observation: Any, pointing: Any) -> "npt.NDArray[np.float64]":
    """Quaternions [sample][4] in the coordinates that are asked for."""
    quats = np.ascontiguousarray(observation.shared[pointing.boresight].data, dtype=np.float64)
    if (pointing.coord_in is None) != (pointing.coord_out is None):
        raise RuntimeError("Input and output coordinate systems should both be None or valid")
    if pointing.coord_in == pointing.coord_out:
        return quats
    rotation = _ROTATIONS[pointing.coord_in, pointing.coord_out]()
    return np.ascontiguousarray(toast.qarray.mult(rotation, quats).reshape(-1, 4))


def ranges_of(observation: Any, view: Any) -> List[Tuple[int, int]]:
    """Samples of a view, [first, end)."""
    return [(int(one.first), int(one.last)) for one in observation.intervals[view]]


def has_flags(there: Any, name: str, usual: str) -> bool:
    """Whether there are flags; those of another name than the usual one must be there."""
    if name not in there and name != usual:
        raise KeyError(f"there are no flags '{name}'")
    return name in there


def flags_of(observation: Any, name: Any, mask: int) -> Any:
    """Samples with bits of the mask, or None."""
    if name is None or not has_flags(observation.shared, name, defaults.shared_flags):
        return None
    return (np.asarray(observation.shared[name].data) & mask) != 0


def places_of(observation: Any, dets: Any) -> "npt.NDArray[np.float64]":
    """Quaternions of detectors [detector][4]."""
    plane = observation.telescope.focalplane
    return np.array([plane[det]["quat"] for det in dets], dtype=np.float64).reshape(-1, 4)


def column_of(observation: Any, name: str, dets: Any) -> "npt.NDArray[np.float64]":
    """A number of each detector from the focal plane's table, rad where it is an angle; 0 where there is no such."""
    plane = observation.telescope.focalplane
    if name not in plane.detector_data.colnames:
        return np.zeros(len(dets))
    return np.array([value.to_value(units.rad) if hasattr(value, "to_value") else value
                     for value in (plane[det][name] for det in dets)], dtype=np.float64)


def looks_of(observation: Any, pointing: Any, dets: Any, view: Any, leakage: Any = None, gamma: Any = None,
             plate: Any = None) -> Any:
    """What the loops over samples take, from the detectors' quaternions where they are there, else from the boresight."""
    zeros, quats = np.zeros(len(dets)), pointing.quats
    numbers = (zeros if leakage is None else leakage, zeros if gamma is None else gamma, [] if plate is None else plate,
               ranges_of(observation, view), 0)
    there = quats in observation.detdata and set(dets) <= set(observation.detdata[quats].detectors)
    if is_plain(pointing) and not there:
        return _core.Look(boresight_of(observation, pointing)[np.newaxis], [0] * len(dets), places_of(observation, dets), *numbers)
    one = np.tile([0.0, 0.0, 0.0, 1.0], (len(dets), 1))
    rows = [int(i) for i in observation.detdata[quats].indices(dets)]
    return _core.Look(observation.detdata[quats].data, rows, one, *numbers)


def rows_of(observation: Any, name: str, dets: Any) -> List[int]:
    """Where detectors stand in an array of detdata."""
    return [int(i) for i in observation.detdata[name].indices(dets)]


def alone(operator: Any, data: Any) -> None:
    """One process has everything."""
    if data.comm.comm_world is not None and data.comm.comm_world.size > 1:
        refuse(operator, "maps of data that several processes share are not there")
