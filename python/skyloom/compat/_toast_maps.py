# SPDX-License-Identifier: BSD-3-Clause
"""Maps of TOAST's observations: one look at the samples, conjugate gradients over their sums."""
import os
import types
import warnings
from typing import Any, Dict, List, Optional, Tuple

import numpy as np
import toast.ops
import toast.templates
from astropy import units
from toast.covariance import covariance_apply
from toast.pixels import PixelData
from toast.utils import Logger, rate_from_times, unit_conversion

from .. import _core
from .._maps import Maps, Observation, make_maps
from . import _toast_data as from_toast
from ._toast_pointing import distribution_of

_U_OF_COV = np.array([1, 1, -1, 1, -1, 1])  # II, IQ, IU, QQ, QU, UU in the convention IAU


def _check(operator: Any, how: Any) -> None:
    """Can skyloom do what the pixels, weights and template of `how` ask for?"""
    for trait in ("pixel_pointing", "stokes_weights"):
        if getattr(how, trait) is None:
            raise RuntimeError(f"You must set the '{trait}' trait before calling exec()")
    pixels, weights = how.pixel_pointing, how.stokes_weights
    if not isinstance(pixels, toast.ops.PixelsHealpix):
        from_toast.refuse(operator, f"pixels of {type(pixels).__name__} are not there, those of PixelsHealpix are")
    if not isinstance(weights, toast.ops.StokesWeights) or weights.mode != "IQU":
        from_toast.refuse(operator, "weights but StokesWeights(mode='IQU') are not there")
    if weights.cal is not None:
        from_toast.refuse(operator, "StokesWeights(cal=...) is not there")
    if not from_toast.is_plain(pixels.detector_pointing):
        from_toast.refuse(operator, "detector pointing but PointingDetectorSimple without deflection is not there")
    for trait in ("boresight", "coord_in", "coord_out"):
        if getattr(pixels.detector_pointing, trait) != getattr(weights.detector_pointing, trait):
            from_toast.refuse(operator, f"pixels and weights whose detector pointing differs ({trait}) are not there")
    if getattr(how, "pre_process", None) is not None:
        from_toast.refuse(operator, "pre_process is not there")


def _flag_rows(ob: Any, name: Any, mask: int, dets: Any) -> Any:
    if name is None or not from_toast.has_flags(ob.detdata, name, from_toast.defaults.det_flags):
        return None
    return [np.asarray(ob.detdata[name][det]) & mask for det in dets]


def _observation(ob: Any, how: Any, dets: Any, det_data: Optional[str], times: str,
                 spectra: Optional[str]) -> Observation:
    """An observation of TOAST, its arrays as they lie."""
    pointing, plate = how.pixel_pointing.detector_pointing, how.stokes_weights.hwp_angle
    samples = ob.n_local_samples
    bad = np.zeros(samples, dtype=bool)
    for name, mask in ((how.shared_flags, how.shared_flag_mask), (pointing.shared_flags, pointing.shared_flag_mask)):
        flags = from_toast.flags_of(ob, name, mask)
        bad |= False if flags is None else flags
    view = how.pixel_pointing.view if how.pixel_pointing.view is not None else pointing.view
    if view is not None:
        outside = np.ones(samples, dtype=bool)
        for first, end in from_toast.ranges_of(ob, view):
            outside[first:end] = False
        bad |= outside
    if det_data is None:
        signal = [np.zeros(samples, dtype=np.float32)] * len(dets)
    else:
        scale = unit_conversion(ob.detdata[det_data].units, how.det_data_units)
        signal = [np.asarray(ob.detdata[det_data][det]) for det in dets]
        signal = signal if scale == 1 else [scale * row for row in signal]
    model, weight_units = ob[how.noise_model], 1.0 / how.det_data_units**2
    noise = None
    if spectra is not None:
        psd_units, known = how.det_data_units**2 * units.second, ob[spectra]
        noise = [(known.freq(det).to_value("Hz"), known.psd(det).to_value(psd_units)) for det in dets]
    turning = plate is not None and plate in ob.shared
    return Observation(
        from_toast.boresight_of(ob, pointing), from_toast.places_of(ob, dets), signal,
        rate=rate_from_times(ob.shared[times].data)[0],
        weights=[model.detector_weight(det).to_value(weight_units) for det in dets], names=dets,
        leakage=from_toast.column_of(ob, "pol_leakage", dets),
        gamma=from_toast.column_of(ob, how.stokes_weights.fp_gamma, dets) if turning else 0.0,
        flags=_flag_rows(ob, how.det_flags, how.det_flag_mask, dets), shared_flags=bad.astype(np.uint8),
        hwp_angle=ob.shared[plate].data if turning else None, noise=noise, name=str(ob.name))


def _collect(data: Any, how: Any, detectors: Any, det_data: Optional[str], times: str = "times",
             spectra: Optional[str] = None) -> Tuple[List[Observation], List[Tuple[Any, List[str]]]]:
    """All observations with detectors that have a weight, and which those are; `spectra`: the noise model of a prior."""
    out, who = [], []
    weight_units = 1.0 / how.det_data_units**2
    for ob in data.obs:
        model = ob[how.noise_model]
        dets = [det for det in ob.select_local_detectors(detectors, flagmask=how.det_mask)
                if model.detector_weight(det).to_value(weight_units) > 0]
        if dets:
            out.append(_observation(ob, how, dets, det_data, times, spectra))
            who.append((ob, dets))
    return out, who


def _has_samples(one: Observation) -> bool:
    """Whether a detector has a sample without flags."""
    shared = np.zeros(len(one.boresight), dtype=bool) if one.shared_flags is None else one.shared_flags != 0
    return not all((shared | (row != 0)).all() for row in ([np.zeros(1)] if one.flags is None else one.flags))


def _binned(observations: List[Observation], how: Any, rcond: float) -> Any:
    """Maps without offsets; of no pixel where no detector or no sample is left, as TOAST's are then."""
    if any(map(_has_samples, observations)):
        return make_maps(observations, how.pixel_pointing.nside, step=0, binned_only=True, rcond=rcond)
    numbers = {name: np.zeros((n, 0)) for name, n in (("cov", 6), ("invcov", 6), ("noise_weighted", 3))}
    return types.SimpleNamespace(pixels=np.zeros(0, dtype=np.int64), hits=np.zeros(0, dtype=np.int64), rcond=np.zeros(0),
                                 nside=how.pixel_pointing.nside, **numbers)


def _put(data: Any, key: str, numbers: Any, values: Any, how: Any, unit: Any, dtype: Any = np.float64) -> None:
    """Values of the pixels of these numbers, [value][pixel], as TOAST's PixelData; 0 elsewhere and where cut."""
    pixels = how.pixel_pointing
    if how.pixel_dist not in data:
        own = 12 * pixels.nside_submap**2
        data[how.pixel_dist] = distribution_of(pixels, np.unique(numbers // own), data)
    at, rows = data[how.pixel_dist], np.atleast_2d(values)
    submap, place = np.divmod(numbers, at.n_pix_submap)
    local = np.asarray(at.global_submap_to_local)[submap]
    made = PixelData(at, dtype, n_value=len(rows), units=unit)
    inside = local >= 0
    for k, row in enumerate(rows):
        made.data[local[inside], place[inside], k] = np.where(np.isnan(row), 0, row)[inside]
    if key in data:
        data[key].clear()
        del data[key]
    data[key] = made


def _numbers(maps: Maps, pixels: Any) -> Any:
    """Of the hit pixels, in the ordering of the pixels' operator."""
    if pixels.nest:
        return maps.pixels
    return _core.ring_numbers(12 * maps.nside**2)[maps.pixels]


def _put_weights(data: Any, maps: Maps, numbers: Any, how: Any, keys: Dict[str, Optional[str]]) -> None:
    """hits, cov, invcov and rcond under the names that are asked for."""
    sign = _U_OF_COV if how.stokes_weights.IAU else np.ones(6)
    square, plain = how.det_data_units**2, units.dimensionless_unscaled
    for product, values, unit, dtype in (
            ("hits", maps.hits, plain, np.int64), ("rcond", maps.rcond, plain, np.float64),
            ("invcov", sign[:, np.newaxis] * maps.invcov, (1.0 / square).decompose(), np.float64),
            ("cov", sign[:, np.newaxis] * maps.cov, square.decompose(), np.float64)):
        key = keys.get(product)
        if key is not None:
            _put(data, key, numbers, values, how, unit, dtype)


def _stokes(how: Any, values: Any) -> Any:
    """I, Q, U in the convention of the weights."""
    return values * np.array([[1.0], [1.0], [-1.0 if how.stokes_weights.IAU else 1.0]])


class CovarianceAndHits(toast.ops.CovarianceAndHits):  # type: ignore[misc]
    """TOAST's operator of this name, of weights I, Q, U on HEALPix pixels."""

    def _exec(self, data: Any, detectors: Any = None, **kwargs: Any) -> None:
        _check(self, self)
        from_toast.alone(self, data)
        observations, _ = _collect(data, self, detectors, None)
        maps = _binned(observations, self, self.rcond_threshold)
        numbers = _numbers(maps, self.pixel_pointing)
        _put_weights(data, maps, numbers, self, {"hits": self.hits, "cov": self.covariance, "rcond": self.rcond,
                                                 "invcov": self.inverse_covariance})


class BinMap(toast.ops.BinMap):  # type: ignore[misc]
    """TOAST's operator of this name, of weights I, Q, U on HEALPix pixels; the covariance is the one in the data."""

    def _exec(self, data: Any, detectors: Any = None, **kwargs: Any) -> None:
        _check(self, self)
        from_toast.alone(self, data)
        if self.covariance not in data:
            raise RuntimeError(f"Data does not contain noise covariance '{self.covariance}'")
        observations, _ = _collect(data, self, detectors, self.det_data)
        maps = _binned(observations, self, 0)
        _put(data, self.binned, _numbers(maps, self.pixel_pointing), _stokes(self, maps.noise_weighted), self, 1.0 / self.det_data_units)
        if self.noiseweighted is not None:
            data[self.noiseweighted] = data[self.binned].duplicate()
        covariance_apply(data[self.covariance], data[self.binned], use_alltoallv=(self.sync_type == "alltoallv"))


class MapMaker(toast.ops.MapMaker):  # type: ignore[misc]
    """TOAST's operator of this name, with an Offset template or none. Files and products have TOAST's names."""

    def _exec(self, data: Any, detectors: Any = None, use_accel: Any = None, **kwargs: Any) -> None:
        offset = self._checked(data)
        how = self.binning
        view = how.pixel_pointing.view or how.pixel_pointing.detector_pointing.view
        options: Dict[str, Any] = {"step": 0, "binned_only": True}
        if offset is not None:
            if view is not None and not offset.use_noise_prior:
                from_toast.refuse(self, "baselines that begin anew in each interval of a view are not there")
            options = {"step": offset.step_time.to_value("s"), "prior": bool(offset.use_noise_prior),
                       "good_fraction": offset.good_fraction, "tolerance": float(np.sqrt(self.convergence)),
                       "iterations": self.iter_max}
        observations, who = _collect(data, how, detectors, self.det_data, self.times,
                                     offset.noise_model if options.get("prior") else None)
        if not observations:
            return
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            maps = make_maps(observations, how.pixel_pointing.nside, rcond=self.map_rcond_threshold, **options)
        for one in told:
            Logger.get().warning(f"MapMaker: {one.message}")
        if self.reset_pix_dist and how.pixel_dist in data:
            del data[how.pixel_dist]
        names = {product: f"{self.name}_{product}" for product in ("hits", "cov", "invcov", "rcond", "binmap", "map",
                                                                   "noiseweighted_map")}
        numbers = _numbers(maps, how.pixel_pointing)
        _put_weights(data, maps, numbers, how, names)
        unit = how.det_data_units
        _put(data, names["binmap"], numbers, _stokes(how, maps.binned), how, unit)
        final = maps.binned if maps.destriped is None else maps.destriped
        _put(data, names["map"], numbers, _stokes(how, final), how, unit)
        _put(data, names["noiseweighted_map"], numbers, self._weighted(maps, final, how), how, 1.0 / unit)
        self._clean(who, maps, how)
        for product, key in names.items():
            self._write(data, product, key)

    def _checked(self, data: Any) -> Any:
        """The Offset template, or None."""
        _check(self, self.binning)
        from_toast.alone(self, data)
        other = self.map_binning is not None and self.map_binning.enabled and self.map_binning is not self.binning
        for trait, bad in (("map_binning", other), ("mask", self.mask is not None), ("pattern", self.pattern is not None),
                           ("focalplane_key", self.focalplane_key is not None), ("mc_mode", self.mc_mode),
                           ("keep_solver_products", self.keep_solver_products),
                           ("write_solver_products", self.write_solver_products),
                           ("solve_rcond_threshold that is not map_rcond_threshold",
                            self.solve_rcond_threshold != self.map_rcond_threshold)):
            if bad:
                from_toast.refuse(self, f"{trait} is not there")
        if self.template_matrix is None or not self.template_matrix.enabled:
            return None
        templates = [one for one in self.template_matrix.templates if one.enabled]
        if not templates:
            return None
        if len(templates) > 1 or not isinstance(templates[0], toast.templates.Offset):
            from_toast.refuse(self, "templates but one Offset are not there")
        return templates[0]

    def _weighted(self, maps: Maps, final: Any, how: Any) -> Any:
        """P^T N^-1 (d - M a), of pixels that are not cut."""
        ii, iq, iu, qq, qu, uu = maps.invcov
        i, q, u = np.where(np.isnan(final), 0, final)
        return _stokes(how, np.array([ii * i + iq * q + iu * u, iq * i + qq * q + qu * u, iu * i + qu * q + uu * u]))

    def _clean(self, who: Any, maps: Maps, how: Any) -> None:
        """The samples without their offsets, where they are asked for."""
        if not self.save_cleaned:
            return
        name = self.det_data if self.overwrite_cleaned else f"{self.name}_cleaned"
        for number, (ob, dets) in enumerate(who):
            signal = ob.detdata[self.det_data]
            if name != self.det_data:
                ob.detdata.ensure(name, detectors=dets, create_units=signal.units)
            scale = unit_conversion(how.det_data_units, signal.units)
            rate = rate_from_times(ob.shared[self.times].data)[0]
            for d, det in enumerate(dets):
                offsets = np.zeros(1) if maps.destriped is None else maps.offsets[number][d]
                length = ob.n_local_samples if len(offsets) == 1 else int(np.rint(self._step_s() * rate))
                ob.detdata[name][det] = signal[det] - scale * np.repeat(offsets, length)[:ob.n_local_samples]

    def _step_s(self) -> float:
        return float(next(one for one in self.template_matrix.templates if one.enabled).step_time.to_value("s"))

    def _write(self, data: Any, product: str, key: str) -> None:
        """To a file where that is asked for; kept in the data where that is."""
        if getattr(self, f"write_{product}"):
            path = os.path.join(self.output_dir, f"{key}.{'h5' if self.write_hdf5 else 'fits'}")
            data[key].write(path, force_serial=self.write_hdf5_serial,
                            single_precision=not getattr(self, "write_float64", False))
            Logger.get().info_rank(f"MapMaker wrote {path}", comm=data.comm.comm_world)
        if not self.keep_final_products:
            data[key].clear()
            del data[key]
