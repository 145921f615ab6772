# SPDX-License-Identifier: BSD-3-Clause
"""Skyloom: simulates and maps the time-ordered data of CMB telescopes.

    import skyloom
    data = skyloom.simulate(sky, observations=2, minutes=30, rate=20)
    maps = skyloom.make_maps(data, nside=64, step=30)
    healpy.mollview(maps.full_sky("destriped")[0], nest=True)

Signals are kelvin, [detector][sample]; quaternions are (x, y, z, w). `skyloom.compat.toast` has operators of TOAST 3;
`python -m skyloom` is the command line.
"""
from ._core import version as __version__
from ._errors import ArgumentError as ArgumentError
from ._errors import NoGoodDataError as NoGoodDataError
from ._errors import SkyloomError as SkyloomError
from ._maps import UNSEEN as UNSEEN
from ._maps import Maps as Maps
from ._maps import PartMaps as PartMaps
from ._maps import Observation as Observation
from ._maps import make_maps as make_maps
from ._pointing import pixels as pixels
from ._pointing import pointing as pointing
from ._pointing import stokes_weights as stokes_weights
from ._simulate import FocalPlane as FocalPlane
from ._simulate import hexagon as hexagon
from ._simulate import make_schedule as make_schedule
from ._simulate import name_uid as name_uid
from ._simulate import noise_psd as noise_psd
from ._simulate import satellite_scan as satellite_scan
from ._simulate import simulate as simulate
from ._simulate import simulate_noise as simulate_noise

__all__ = ["ArgumentError", "FocalPlane", "Maps", "NoGoodDataError", "Observation", "PartMaps", "SkyloomError", "UNSEEN",
           "__version__", "hexagon", "make_maps", "make_schedule", "name_uid", "noise_psd", "pixels", "pointing",
           "satellite_scan", "simulate", "simulate_noise", "stokes_weights"]
