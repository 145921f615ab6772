# SPDX-License-Identifier: BSD-3-Clause
"""Half-wave plates: harmonics of their angle, and demodulation, of TOAST's observations."""
from typing import Any, List

import numpy as np
import toast.ops

from .. import _core
from . import _toast_data as from_toast


class HWPFilter(toast.ops.HWPFilter):  # type: ignore[misc]
    """TOAST's operator of this name. Amplitudes that are kept, and their way back, are left to TOAST; so are detectors whose
    good samples do not determine them, for which it takes a pseudo-inverse."""

    def _exec(self, data: Any, detectors: Any = None, **kwargs: Any) -> None:
        many = self.filter_order > _core.most_harmonics or self.trend_order > _core.most_plate_trend
        if self.reverse or self.save_amplitudes is not None or many or self.filter_order == 0:
            super()._exec(data, detectors=detectors, **kwargs)
            return
        for ob in data.obs:
            if not ob.is_distributed_by_detector:
                raise RuntimeError("HWPFilter assumes data is split by detector")
            if self.hwp_angle not in ob.shared:
                continue
            dets = ob.select_local_detectors(detectors, flagmask=self.det_mask)
            left = self._subtract(ob, dets) if dets else []
            if left:
                super()._exec(data.select(obs_name=ob.name), detectors=left, **kwargs)

    def _subtract(self, ob: Any, dets: Any) -> List[str]:
        """Detectors that are left to TOAST."""
        values = ob.detdata[self.det_data].data
        if values.dtype != np.float64 or not values.flags.c_contiguous:
            return list(dets)
        shared = from_toast.flags_of(ob, self.shared_flags, self.shared_flag_mask)
        flags = np.zeros((len(dets), ob.n_local_samples), dtype=np.uint8)
        for row, det in zip(flags, dets):
            if shared is not None:
                row |= shared
            if self.det_flags is not None:
                row |= (np.asarray(ob.detdata[self.det_flags][det]) & self.det_flag_mask) != 0
        rows = from_toast.rows_of(ob, self.det_data, dets)
        angles = np.ascontiguousarray(ob.shared[self.hwp_angle].data, dtype=np.float64)
        failed = _core.subtract_harmonics(values, rows, flags, angles, self.filter_order, self.trend_order,
                                          bool(self.detrend), 0)
        return [dets[i] for i in failed]


class Demodulate(toast.ops.Demodulate):  # type: ignore[misc]
    """TOAST's operator of this name: all is TOAST's but the filters, which are run by loops of skyloom's. With `do_2f`,
    without Q and U, or where processes share samples, TOAST's own run."""

    def _demodulate_signal(self, data: Any, obs: Any, demod_obs: Any, dets: Any, lowpass: Any, bandpass2f: Any,
                           bandpass4f: Any) -> None:
        even = len(lowpass.lpf) % 2 == 0 or len(bandpass4f.bpf) % 2 == 0
        if self.do_2f or even or "QU" not in self.mode or obs.local_index_offset % self.nskip != 0:
            super()._demodulate_signal(data, obs, demod_obs, dets, lowpass, bandpass2f, bandpass4f)
            return
        taps = [kernel[len(kernel) // 2:] for kernel in (lowpass.lpf, bandpass4f.bpf)]
        at_once = 2 * _core.default_threads()
        for first in range(0, len(dets), at_once):
            some = dets[first:first + at_once]
            carriers = self._carriers(data, obs, some)
            for flavor in self.det_data.split(";"):
                signals = np.array([obs.detdata[flavor][det] for det in some], dtype=np.float64)
                streams = _core.demodulate(signals, *carriers, *taps, self.nskip, 0)
                to = demod_obs.detdata[flavor]
                for det, (slow, cosine, sine) in zip(some, streams):
                    if "I" in self.mode:
                        to[f"demod0_{det}"] = slow
                    to[f"demod4r_{det}"] = cosine
                    to[f"demod4i_{det}"] = sine

    def _carriers(self, data: Any, obs: Any, dets: Any) -> Any:
        """Weights of Q and of U, [detector][sample], of length 1."""
        one = data.select(obs_uid=obs.uid)
        self.stokes_weights.apply(one, detectors=list(dets))
        weights = obs.detdata[self.stokes_weights.weights]
        q, u = (np.array([weights[det][:, k] for det in dets], dtype=np.float64) for k in (-2, -1))
        length = np.hypot(q, u)
        return q / length, u / length
