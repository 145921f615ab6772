# SPDX-License-Identifier: BSD-3-Clause
"""Pointing: quaternions, pixels and weights of TOAST's observations."""
from typing import Any

import numpy as np
import toast.ops
from toast.pixels import PixelDistribution

from .. import _core
from . import _toast_data as from_toast


class PointingDetectorSimple(toast.ops.PointingDetectorSimple):  # type: ignore[misc]
    """TOAST's operator of this name; a half-wave plate that deflects is left to TOAST's loop."""

    def _exec(self, data: Any, detectors: Any = None, use_accel: Any = None, **kwargs: Any) -> None:
        if not from_toast.is_plain(self):
            super()._exec(data, detectors=detectors, use_accel=use_accel, **kwargs)
            return
        for ob in data.obs:
            dets = ob.select_local_detectors(detectors, flagmask=self.det_mask)
            exists = ob.detdata.ensure(self.quats, sample_shape=(4,), dtype=np.float64, detectors=dets)
            if not dets or exists:
                continue
            bore = from_toast.boresight_of(ob, self)
            bad = from_toast.flags_of(ob, self.shared_flags, self.shared_flag_mask)
            if bad is not None and bad.any():
                bore = bore.copy()
                bore[bad] = (0, 0, 0, 1)
            look = _core.Look(bore[np.newaxis], [0] * len(dets), from_toast.places_of(ob, dets), np.zeros(len(dets)),
                              np.zeros(len(dets)), [], from_toast.ranges_of(ob, self.view), 0)
            _core.fill_quaternions(look, ob.detdata[self.quats].data, from_toast.rows_of(ob, self.quats, dets))

    def _supports_accel(self) -> bool:
        return False


def _checked_view(operator: Any, ob: Any) -> Any:
    """The samples that are worked on: the operator's own, else those of its detector pointing."""
    pointing = operator.detector_pointing
    if operator.view is None or pointing.view is None or operator.view == pointing.view:
        return operator.view if operator.view is not None else pointing.view
    own, given = ob.intervals[operator.view], ob.intervals[pointing.view]
    if (given & own) != own:
        raise RuntimeError(f"view {operator.view} is not fully covered by valid detector pointing")
    return operator.view


def _pointed(operator: Any, data: Any, detectors: Any) -> Any:
    """The detector pointing, made where it cannot be had from the boresight on the way."""
    if operator.detector_pointing is None:
        raise RuntimeError("The detector_pointing trait must be set")
    if not from_toast.is_plain(operator.detector_pointing):
        operator.detector_pointing.apply(data, detectors=detectors)
    return operator.detector_pointing


class PixelsHealpix(toast.ops.PixelsHealpix):  # type: ignore[misc]
    """TOAST's operator of this name. The detectors' quaternions are used where they are there; from a
    PointingDetectorSimple they are not made, pixels come from the boresight's at once."""

    def _exec(self, data: Any, detectors: Any = None, use_accel: Any = None, **kwargs: Any) -> None:
        pointing = _pointed(self, data, detectors)
        if self._local_submaps is None and self.create_dist is not None:
            self._local_submaps = np.zeros(self._n_submap, dtype=np.uint8)
        for ob in data.obs:
            dets = ob.select_local_detectors(detectors, flagmask=pointing.det_mask)
            view = _checked_view(self, ob)
            exists = ob.detdata.ensure(self.pixels, sample_shape=(), detectors=dets,
                                       dtype=np.int32 if self.single_precision else np.int64)
            if not dets:
                continue
            rows, out = from_toast.rows_of(ob, self.pixels, dets), ob.detdata[self.pixels].data
            if not exists:
                look = from_toast.looks_of(ob, pointing, dets, view)
                _core.fill_pixels(look, self.nside, bool(self.nest), out, rows)
                bad = from_toast.flags_of(ob, pointing.shared_flags, pointing.shared_flag_mask)
                for row in rows if bad is not None else ():
                    for first, end in from_toast.ranges_of(ob, view):
                        out[row, first:end][bad[first:end]] = -1
            if self._local_submaps is not None:
                for row in rows:
                    for first, end in from_toast.ranges_of(ob, view):
                        hit = out[row, first:end]
                        self._local_submaps[hit[hit >= 0] // self._n_pix_submap] = 1

    def _supports_accel(self) -> bool:
        return False


class StokesWeights(toast.ops.StokesWeights):  # type: ignore[misc]
    """TOAST's operator of this name, without angles and their sines."""

    def _exec(self, data: Any, detectors: Any = None, use_accel: Any = None, **kwargs: Any) -> None:
        pointing = _pointed(self, data, detectors)
        if "QU" in self.mode and self.hwp_angle is not None and self.fp_gamma is None:
            raise RuntimeError("If using HWP, you must specify the fp_gamma key")
        for ob in data.obs:
            dets = ob.select_local_detectors(detectors, flagmask=pointing.det_mask)
            view = _checked_view(self, ob)
            exists = ob.detdata.ensure(self.weights, sample_shape=(len(self.mode),), detectors=dets,
                                       dtype=np.float32 if self.single_precision else np.float64)
            if not dets or exists:
                continue
            cal = [1.0 if self.cal is None else float(ob[self.cal][det]) for det in dets]
            rows, out = from_toast.rows_of(ob, self.weights, dets), ob.detdata[self.weights].data
            if self.mode == "I":
                for row, value in zip(rows, cal):
                    for first, end in from_toast.ranges_of(ob, view):
                        out[row, first:end] = value
                continue
            plate = gamma = None
            if self.hwp_angle is not None and self.hwp_angle in ob.shared:
                plate = np.ascontiguousarray(ob.shared[self.hwp_angle].data, dtype=np.float64)
                gamma = from_toast.column_of(ob, self.fp_gamma, dets)
            look = from_toast.looks_of(ob, pointing, dets, view, from_toast.column_of(ob, "pol_leakage", dets), gamma, plate)
            _core.fill_weights(look, cal, -1.0 if self.IAU else 1.0, out, rows)

    def _supports_accel(self) -> bool:
        return False


def distribution_of(pixels: Any, submaps: Any, data: Any) -> Any:
    """TOAST's note of which parts of the sky are there."""
    made = PixelDistribution(n_pix=12 * pixels.nside**2, n_submap=(pixels.nside // pixels.nside_submap)**2,
                             local_submaps=np.asarray(submaps, dtype=np.int64), comm=data.comm.comm_world)
    made.nest = bool(pixels.nest)
    return made
