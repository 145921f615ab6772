# SPDX-License-Identifier: BSD-3-Clause
"""Where detectors look: pixels of the sky and the weights of I, Q, U."""
from typing import Any, Optional, Tuple

import numpy as np
import numpy.typing as npt

from . import _arguments as arguments
from . import _core


def look(boresight: Any, quats: Any, leakage: Any = 0.0, gamma: Any = None, hwp_angle: Any = None,
         threads: Optional[int] = None) -> Any:
    """What the loops over samples take: all detectors on one boresight."""
    bore = arguments.quaternions("boresight", boresight)
    places = arguments.quaternions("quats", quats)
    n, samples = len(places), len(bore)
    plate = [] if hwp_angle is None else arguments.doubles("hwp_angle", hwp_angle, (samples,))
    return _core.Look(bore[np.newaxis], [0] * n, places, arguments.leakages(leakage, n),
                      arguments.gammas(gamma, n, hwp_angle), plate, [(0, samples)], arguments.threads(threads))


def pixels(boresight: Any, quats: Any, nside: int, *, nest: bool = True,
           threads: Optional[int] = None) -> "npt.NDArray[np.int32]":
    """HEALPix pixels [detector][sample].

    Parameters
    ----------
    boresight : array [sample][x, y, z, w]
        Rotations from the boresight's frame (z: line of sight) to the sky's.
    quats : array [detector][x, y, z, w]
        From each detector's frame (x: polarisation) to the boresight's.
    nside : int
        A power of two to 8192.
    nest : bool
        False: RING.
    """
    looks = look(boresight, quats, threads=threads)
    out = np.empty((len(np.asarray(quats)), len(np.asarray(boresight))), dtype=np.int32)
    _core.fill_pixels(looks, arguments.integer("nside", nside, 1, 8192), bool(nest), out, list(range(len(out))))
    return out


def stokes_weights(boresight: Any, quats: Any, *, leakage: Any = 0.0, gamma: Any = None, hwp_angle: Any = None,
                   iau: bool = False, threads: Optional[int] = None) -> arguments.Doubles:
    """Weights [detector][sample][I, Q, U]: a sample is their sum with the sky's I, Q, U.

    Parameters
    ----------
    boresight, quats
        As of `pixels`.
    leakage : float or array
        Cross-polar leakage eps of each detector: polarisation efficiency (1 - eps) / (1 + eps).
    gamma, hwp_angle : float or array; array [sample], optional
        With a half-wave plate: each detector's angle on the focal plane, and the plate's, rad.
    iau : bool
        U of the convention IAU instead of HEALPix's.
    """
    looks = look(boresight, quats, leakage, gamma, hwp_angle, threads)
    out = np.empty((len(np.asarray(quats)), len(np.asarray(boresight)), 3))
    _core.fill_weights(looks, [1.0] * len(out), -1.0 if iau else 1.0, out, list(range(len(out))))
    return out


def pointing(boresight: Any, quats: Any, nside: int, *, nest: bool = True, leakage: Any = 0.0, gamma: Any = None,
             hwp_angle: Any = None, iau: bool = False,
             threads: Optional[int] = None) -> "Tuple[npt.NDArray[np.int32], arguments.Doubles]":
    """`pixels` and `stokes_weights`."""
    return (pixels(boresight, quats, nside, nest=nest, threads=threads),
            stokes_weights(boresight, quats, leakage=leakage, gamma=gamma, hwp_angle=hwp_angle, iau=iau,
                           threads=threads))
