# SPDX-License-Identifier: BSD-3-Clause
"""Filter and bin: templates of TOAST's observations that are fitted together, and the matrix of that."""
import glob
import os
import re
from typing import Any, Dict, List, Optional

import astropy.units as u
import numpy as np
import scipy.sparse
import toast.ops
from toast.ops.filterbin import SparseTemplates
from toast.ops.filterbin import combine_observation_matrix as _combine
from toast.utils import Logger

from .. import _core
from .._errors import NoGoodDataError
from .._maps import Observation, make_maps
from . import _toast_data as from_toast
from ._toast_maps import _check, _collect, _has_samples


def combine_observation_matrix(rootname: str) -> str:
    """TOAST's function of this name; a matrix that FilterBin left whole is there already."""
    whole = f"{rootname}.npz"
    if os.path.isfile(whole) and not glob.glob(f"{glob.escape(rootname)}.*.*.*.data.npy"):
        return whole
    return str(_combine(rootname))


_AT_ONCE = 16  # detectors whose own templates are in memory


class FilterBin(toast.ops.FilterBin):  # type: ignore[misc]
    """TOAST's operator of this name: flags, maps and headers are TOAST's, the fits and the observation matrix skyloom's. The
    matrix is one file, as `combine_observation_matrix` leaves it. With `split_ground_template` left and right are by how the
    azimuth changes, whatever intervals say; a detector's stretch with fewer good samples than its polynomial asks for is flagged,
    and of bins of azimuth without a good sample those samples alone. Without polynomials all bins have a template,
    beside them the fullest has none (in the matrix that is by all samples of the view). What lies outside of `poly_filter_view` is flagged in the
    detectors' flags, not in the shared ones. A matrix asks for the same flags for fits and binning. The last sample of an
    observation is in the last step of time of the ground. `deproject_map` (which TOAST 3.0.6 itself stops at, with a NameError)
    is what each detector sees of its columns, over the whole observation."""

    _columns: List[Any] = []  # of the map that is deprojected, in the order of the pixels of binning

    def _exec(self, data: Any, detectors: Any = None, **kwargs: Any) -> None:
        self._refuse(data)
        self._data, self._detectors, wanted, deprojected = data, detectors, self.write_obs_matrix, self.deproject_map
        self._columns = self._deprojected()
        self.write_obs_matrix, self.deproject_map = False, None  # its own loops over samples
        try:
            super()._exec(data, detectors=detectors, **kwargs)
        finally:
            self.write_obs_matrix, self.deproject_map = wanted, deprojected
            self._data = None
        if wanted:
            self._write_matrix(data, detectors)

    def _deprojected(self) -> List[Any]:
        """Columns of the map, in the order of the pixels of binning."""
        if self.deproject_map is None:
            return []
        pointing = self.binning.pixel_pointing
        columns = _core.template_columns(str(self.deproject_map), self.deproject_nnz)
        if columns[0].size != 12 * pointing.nside**2:
            raise RuntimeError(f"{self.deproject_map}: {columns[0].size} pixels, and nside of the pixels is {pointing.nside}")
        if not pointing.nest:
            ring = _core.ring_numbers(columns[0].size)
            for column in columns:
                column[ring] = column.copy()
        return columns

    def _matches(self, det: str) -> bool:
        return re.match(self.deproject_pattern, det) is not None

    def _refuse(self, data: Any) -> None:
        from_toast.alone(self, data)
        self._refuse_filters()
        if self.write_obs_matrix:
            self._refuse_matrix(data)

    def _refuse_filters(self) -> None:
        """Also of the traits that a filter_config_file has for an observation."""
        for trait in ("precomputed_templates", "maskfile", "cache_dir", "amplitude_dir"):
            if getattr(self, trait, None) is not None:
                from_toast.refuse(self, f"{trait} is not there")
        if self.nskip != 1:
            from_toast.refuse(self, "nskip that is not 1 is not there")
        if self.ground_filter_order is not None and self.ground_filter_bin_width is not None:
            from_toast.refuse(self, "ground_filter_order with ground_filter_bin_width is not there")
        if self.azimuth is None and (self.ground_filter_order is not None or self.ground_filter_bin_width is not None):
            from_toast.refuse(self, "ground templates without azimuth are not there")
        for trait, most in (("poly_filter_order", _core.most_polynomial), ("ground_filter_order", _core.most_ground_order),
                            ("ground_template_expansion_order", _core.most_ground_order), ("hwp_filter_order", _core.most_harmonics)):
            if (getattr(self, trait) or 0) > most:
                from_toast.refuse(self, f"{trait} above {most} is not there")

    def _refuse_matrix(self, data: Any) -> None:
        _check(self, self.binning)
        if not self.binning.pixel_pointing.nest or self.binning.stokes_weights.IAU:
            from_toast.refuse(self, "write_obs_matrix but of NESTED pixels and weights that are not IAU is not there")
        if self.det_mask != self.binning.det_mask:
            from_toast.refuse(self, "write_obs_matrix with a det_mask that is not binning's is not there")
        if self.filter_config_file is not None:
            from_toast.refuse(self, "write_obs_matrix with a filter_config_file is not there")
        if self.deproject_map is not None and not all(self._matches(det) for ob in data.obs for det in ob.local_detectors):
            from_toast.refuse(self, "write_obs_matrix with a deproject_pattern that leaves detectors out is not there")
        if self.ground_filter_bin_width is not None and (self.ground_template_time_step is not None
                                                         or self.ground_template_expansion_order):
            from_toast.refuse(self, "write_obs_matrix with bins of azimuth that change in time is not there")
        if not self._wishes() and self.deproject_map is None:
            from_toast.refuse(self, "write_obs_matrix without a filter is not there")

    def _wishes(self) -> Dict[str, Any]:
        """Templates as make_maps() is asked for them."""
        out: Dict[str, Any] = {}
        order = -1 if self.poly_filter_order is None else self.poly_filter_order
        if order >= 0:
            out["poly_order"] = order
        if self.ground_filter_order is not None and self.ground_filter_order > order:
            out["ground_order"] = self.ground_filter_order
        if self.ground_filter_bin_width is not None:
            out["ground_bins"] = float(self.ground_filter_bin_width.to_value("deg"))
        if len(out) > (order >= 0):
            if self.split_ground_template:
                out["ground_split"] = True
            if self.ground_template_time_step is not None:
                out["ground_step"] = float(self.ground_template_time_step)
            if self.ground_template_expansion_order and "ground_bins" in out:
                out["ground_drift"] = self.ground_template_expansion_order
        if self.hwp_filter_order:
            out["hwp_harmonics"] = self.hwp_filter_order
        return out

    def _stretches(self, ob: Any) -> Any:
        if self.poly_filter_order is None or self.poly_filter_view is None:
            return [(0, ob.n_local_samples)]
        rate = ob.telescope.focalplane.sample_rate.to_value(u.Hz)
        crop = [int(getattr(self, f"poly_filter_view_crop_{end}", 0) * rate) for end in ("start", "end")]
        view = from_toast.ranges_of(ob, self.poly_filter_view)
        return [(first + crop[0], end - crop[1]) for first, end in view if first + crop[0] < end - crop[1]]

    def _fullest(self, ob: Any, bad: Any) -> Optional[int]:
        """A sample in the bin of azimuth that TOAST leaves out: of those without shared flags most are there."""
        if self.ground_filter_bin_width is None:
            return None
        azimuth = np.unwrap(ob.shared[self.azimuth].data)
        bins = (azimuth // self.ground_filter_bin_width.to_value(u.radian)).astype(int)
        good = np.ones(len(bins), dtype=bool) if bad is None else ~bad
        if not good.any():
            return None
        numbers, counts = np.unique(bins[good], return_counts=True)
        return int(np.argmax(bins == numbers[np.argmax(counts)]))

    def _given(self, ob: Any, dets: List[str]) -> List[Any]:
        """What each detector sees of the map that is deprojected."""
        if not self._columns:
            return []
        pointing, out = self.binning.pixel_pointing, []
        pointing.apply(self._data.select(obs_uid=ob.uid), detectors=dets)
        for det in dets:
            pixels = ob.detdata[pointing.pixels][det]
            seen = [np.where(pixels >= 0, column[pixels], 0).astype(np.float64) for column in self._columns]
            out.append(np.array(seen) if self._matches(det) else np.empty((0, ob.n_local_samples)))
        return out

    def _build_common_templates(self, obs: Any) -> Any:
        """All detectors are filtered here, with flags of what could not be; no template is left to fit."""
        dets = list(obs.select_local_detectors(self._detectors, flagmask=self.det_mask))
        self._refuse_filters()
        wishes = self._wishes()
        if dets and (wishes or self._columns):
            self._filter(obs, dets, wishes)
        return SparseTemplates(rcond_limit=self.template_rcond_limit)

    def _filter(self, ob: Any, dets: List[str], wishes: Dict[str, Any]) -> None:
        if "hwp_harmonics" in wishes and self.hwp_angle not in ob.shared:
            raise RuntimeError(f"Cannot filter {wishes['hwp_harmonics']} harmonics: no HWP angle under key '{self.hwp_angle}'")
        signal = ob.detdata[self.det_data]
        values, rows = signal.data, from_toast.rows_of(ob, self.det_data, dets)
        apart = values.dtype != np.float64 or not values.flags.c_contiguous
        if apart:
            values, rows = np.array([signal[det] for det in dets], dtype=np.float64), list(range(len(dets)))
        stretches = self._stretches(ob)
        outside = np.ones(ob.n_local_samples, dtype=bool)
        for first, end in stretches:
            outside[first:end] = False
        shared = from_toast.flags_of(ob, self.shared_flags, self.shared_flag_mask)
        bad = outside if shared is None else outside | shared
        before = np.array([bad | ((np.asarray(ob.detdata[self.det_flags][det]) & self.det_flag_mask) != 0) for det in dets])
        flags = before.astype(np.uint8)
        empty = np.empty(0)
        azimuth = np.unwrap(ob.shared[self.azimuth].data) if "ground_order" in wishes or "ground_bins" in wishes else empty
        angles = ob.shared[self.hwp_angle].data if "hwp_harmonics" in wishes else empty
        times = ob.shared[self.times].data
        step = wishes.get("ground_step", 0.0) * (len(times) - 1) / (times[-1] - times[0]) if len(times) > 1 else 0.0
        azimuth, angles = (np.ascontiguousarray(of, dtype=np.float64) for of in (azimuth, angles))
        fullest = self._fullest(ob, shared)
        at_once = _AT_ONCE if self._columns else len(dets)
        for k in range(0, len(dets), at_once):
            some = slice(k, k + at_once)
            part = np.ascontiguousarray(flags[some])
            _core.subtract_joint(values, rows[some], part, stretches, azimuth, angles, wishes.get("poly_order"),
                                 wishes.get("ground_order"), wishes.get("ground_bins", 0.0), wishes.get("ground_split", False), step,
                                 wishes.get("ground_drift", 0), fullest, wishes.get("hwp_harmonics", 0),
                                 self._given(ob, dets[some]), self.template_rcond_limit, 0)
            flags[some] = part
        for det, row, was, now in zip(dets, rows, before, flags != 0):
            if apart:
                signal[det][:] = values[row]
            ob.detdata[self.det_flags][det][(now & ~was) | outside] |= np.uint8(self.filter_flag_mask)
            if now.all():
                marks = {det: ob.local_detector_flags[det] | self.filter_detector_mask}
                ob.update_local_detector_flags(marks)

    def _check_samples(self, ob: Any, one: Observation) -> None:
        """The matrix has one set of samples, for its fits and its map."""
        shared = from_toast.flags_of(ob, self.shared_flags, self.shared_flag_mask)
        assert one.shared_flags is not None
        for d, det in enumerate(one.names):
            binned = one.shared_flags != 0
            if one.flags is not None:
                binned = binned | (one.flags[d] != 0)
            fitted = (np.asarray(ob.detdata[self.det_flags][det]) & self.det_flag_mask) != 0
            if shared is not None:
                fitted |= shared
            if not np.array_equal(binned, fitted):
                from_toast.refuse(self, "write_obs_matrix where the flags of fits are not those of binning is not there")

    def _write_matrix(self, data: Any, detectors: Any) -> None:
        """Of the flags that filtering left: the samples themselves do not matter."""
        how = self.binning
        observations, who = _collect(data, how, detectors, None, self.times)
        for one, (ob, _) in zip(observations, who):
            one.intervals = self._stretches(ob)
            one.azimuth = np.unwrap(np.asarray(ob.shared[self.azimuth].data, dtype=np.float64)) if self.azimuth in ob.shared else None
            if one.hwp_angle is None and self.hwp_filter_order:
                from_toast.refuse(self, "write_obs_matrix with a plate that the weights do not see is not there")
            self._check_samples(ob, one)
        kind = "noiseweighted_obs_matrix" if self.noiseweight_obs_matrix else "obs_matrix"
        path = os.path.join(self.output_dir, f"{self.name}_{kind}.npz")
        filled = any(map(_has_samples, observations))
        try:
            if filled:
                make_maps(observations, how.pixel_pointing.nside, step=0, binned_only=True, rcond=min(self.rcond_threshold, 0.5),
                          joint=True, joint_rcond=self.template_rcond_limit, obs_matrix=path, obs_matrix_weighted=self.noiseweight_obs_matrix,
                          deproject=np.array(self._columns) if self._columns else None, **self._wishes())
        except NoGoodDataError:  # all pixels are cut
            filled = False
        if not filled:  # TOAST's is empty as well
            size = 3 * 12 * how.pixel_pointing.nside**2
            os.makedirs(self.output_dir, exist_ok=True)
            scipy.sparse.save_npz(path, scipy.sparse.csr_matrix((size, size)), compressed=False)
        Logger.get().info(f"FilterBin wrote {path}")
