# SPDX-License-Identifier: BSD-3-Clause
"""Operators of TOAST 3 that work with skyloom's loops: names, traits and results are TOAST's own.

    import skyloom.compat.toast as fast  # TOAST itself has to be installed

    pixels = fast.PixelsHealpix(nside=512, detector_pointing=fast.PointingDetectorSimple())
    mapper = fast.MapMaker(binning=toast.ops.BinMap(pixel_pointing=pixels, ...), ...)

Each is a subclass of the operator of that name and stands where that stood, combine_observation_matrix that function.
What an operator does not have raises NotImplementedError with one line; processes of MPI share no detectors: one
process has all the data.
"""
from ._toast_joint import FilterBin as FilterBin
from ._toast_joint import combine_observation_matrix as combine_observation_matrix
from ._toast_maps import BinMap as BinMap
from ._toast_maps import CovarianceAndHits as CovarianceAndHits
from ._toast_maps import MapMaker as MapMaker
from ._toast_noise import SimNoise as SimNoise
from ._toast_plate import Demodulate as Demodulate
from ._toast_plate import HWPFilter as HWPFilter
from ._toast_pointing import PixelsHealpix as PixelsHealpix
from ._toast_pointing import PointingDetectorSimple as PointingDetectorSimple
from ._toast_pointing import StokesWeights as StokesWeights

__all__ = ["BinMap", "CovarianceAndHits", "Demodulate", "FilterBin", "HWPFilter", "MapMaker", "PixelsHealpix", "PointingDetectorSimple",
           "SimNoise", "StokesWeights", "combine_observation_matrix"]
