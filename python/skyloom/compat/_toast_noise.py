# SPDX-License-Identifier: BSD-3-Clause
"""Noise into TOAST's observations: the same streams."""
from typing import Any

import numpy as np
import toast.ops
from astropy import units
from toast.utils import rate_from_times

from .. import _core

_AT_ONCE = 16  # streams in memory


class SimNoise(toast.ops.SimNoise):  # type: ignore[misc]
    """TOAST's operator of this name: equal numbers for equal names, to rounding."""

    def _exec(self, data: Any, detectors: Any = None, **kwargs: Any) -> None:
        for ob in data.obs:
            dets = ob.select_local_detectors(detectors)
            if self.noise_model not in ob:
                raise KeyError(f"Observation does not contain noise model key '{self.noise_model}'")
            if not ob.is_distributed_by_detector:
                raise NotImplementedError("Noise simulation for process grids with multiple ranks in the sample "
                                          "direction not implemented")
            ob.detdata.ensure(self.det_data, detectors=dets, create_units=self.det_data_units)
            if not dets:
                continue
            model = ob[self.noise_model]
            psd_units = ob.detdata[self.det_data].units**2 * units.second
            rate = rate_from_times(ob.shared[self.times].data)[0]
            keys = model.all_keys_for_dets(dets)
            for first in range(0, len(keys), _AT_ONCE):
                self._add(ob, dets, keys[first:first + _AT_ONCE], model, psd_units, rate)

    def _add(self, ob: Any, dets: Any, keys: Any, model: Any, psd_units: Any, rate: float) -> None:
        """Some keys' streams to the detectors that have them; keys of different frequencies one by one."""
        freqs = [model.freq(key).to_value(units.Hz) for key in keys]
        if any(not np.array_equal(freqs[0], freq) for freq in freqs[1:]):
            for key in keys:
                self._add(ob, dets, [key], model, psd_units, rate)
            return
        psds = np.array([model.psd(key).to_value(psd_units) for key in keys], dtype=np.float64)
        streams = _core.simulate_noise(freqs[0], psds, rate, ob.local_index_offset, ob.n_local_samples, self.realization,
                                       ob.telescope.uid, self.component, ob.session.uid,
                                       [int(model.index(key)) for key in keys], 0)
        for key, stream in zip(keys, streams):
            for det in dets:
                weight = model.weight(det, key)
                if weight != 0:
                    ob.detdata[self.det_data][det] += weight * stream
