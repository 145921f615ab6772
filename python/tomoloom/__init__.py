# SPDX-License-Identifier: BSD-3-Clause
"""Tomoloom: parallel-beam X-ray tomography, right in value.

    import tomoloom
    integrals = tomoloom.normalize(projections, flats, darks)
    integrals = tomoloom.remove_stripe(integrals, "sorting")
    volume = tomoloom.recon(integrals, theta, center=tomoloom.find_center(integrals, theta))

Projections are [angle][row][column], angles are in radians, lengths are pixels of the detector, a volume is
[row][row of the slice][column] in attenuation a pixel, single precision. `tomoloom.compat.tomopy` has TomoPy's call
signatures; `python -m tomoloom` is the command line.
"""
from ._arrays import find_center as find_center
from ._arrays import mask_circle as mask_circle
from ._arrays import normalize as normalize
from ._arrays import project as project
from ._arrays import recon as recon
from ._arrays import remove_outlier as remove_outlier
from ._arrays import remove_stripe as remove_stripe
from ._arrays import retrieve_phase as retrieve_phase
from ._core import version as __version__
from ._errors import ArgumentError as ArgumentError
from ._errors import TomoloomError as TomoloomError
from ._repair import detect_stripes as detect_stripes
from ._repair import inpaint as inpaint
from ._repair import mask_stripes as mask_stripes

__all__ = ["ArgumentError", "TomoloomError", "__version__", "detect_stripes", "find_center", "inpaint", "mask_circle",
           "mask_stripes", "normalize", "project", "recon", "remove_outlier", "remove_stripe", "retrieve_phase"]
