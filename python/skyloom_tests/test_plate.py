# SPDX-License-Identifier: BSD-3-Clause
"""Half-wave plates: what they add, filters of that, demodulated maps."""
import numpy as np
import pytest

import skyloom

FAST = dict(observations=2, minutes=10, rate=20, width=20, spin_minutes=1.3, precession_minutes=17, hwp_rpm=60)
MAPS = dict(nside=16, step=10, rcond=1e-3)


def even_sky(*values):
    return np.repeat(np.array(values)[:, np.newaxis], 12 * 16**2, axis=1)


def test_the_plate_adds_its_harmonics_and_the_filter_takes_them():
    clean = skyloom.simulate(even_sky(0, 0, 0), no_noise=True, **FAST)
    seen = skyloom.simulate(even_sky(0, 0, 0), no_noise=True, hwpss=[0, 0.3, 0, 0.04], hwpss_drift=0.1, **FAST)
    for ob, none in zip(seen, clean):
        assert np.abs(none.signal).max() == 0
        for row in ob.signal:
            assert 0.1 < np.abs(np.mean(row * np.exp(2j * ob.hwp_angle))) < 0.2
    free = skyloom.make_maps(seen, hwp_harmonics=4, hwp_drift=True, hwp_trend=2, **MAPS)
    assert np.nanmax(np.abs(free.binned)) < 0.3 * 1e-12
    assert np.nanmax(np.abs(skyloom.make_maps(seen, **MAPS).binned)) > 1e-3


def test_demodulated_maps_are_the_sky():
    data = skyloom.simulate(even_sky(1, 0.3, -0.2), no_noise=True, hwpss=[1, 5, 1], **FAST)
    maps = skyloom.make_maps(data, demodulate=True, demod_skip=2, hwp_harmonics=3, **MAPS)
    assert maps.counts["samples"] == 2 * 14 * 3 * 6000
    assert [len(one) for one in maps.offsets] == [42, 42]
    off = maps.binned - np.array([1, 0.3, -0.2])[:, np.newaxis]
    assert np.sqrt(np.nanmean(off**2, axis=1)).max() < 4e-3
    again = skyloom.make_maps(data, demodulate=True, demod_skip=2, hwp_harmonics=3, threads=1, **MAPS)
    assert np.array_equal(again.destriped, maps.destriped, equal_nan=True)


def test_what_is_missing_is_told():
    still = skyloom.simulate(hwp_rpm=0, **{k: v for k, v in FAST.items() if k != "hwp_rpm"})
    for asked in (dict(hwp_harmonics=4), dict(demodulate=True)):
        with pytest.raises(skyloom.SkyloomError, match="no angles of a half-wave plate") as error:
            skyloom.make_maps(still, **asked, **MAPS)
        assert error.value.exit_code == 11
    with pytest.raises(ValueError, match="--hwpss: expected --hwp-rpm"):
        skyloom.simulate(hwpss=[0.1], rate=5, minutes=1)
    with pytest.raises(ValueError, match="--hwp-drift"):
        skyloom.make_maps(still, hwp_drift=True, **MAPS)
    one = still[0]
    stands = skyloom.Observation(one.boresight, one.quats, one.signal, rate=20, gamma=0.0, hwp_angle=np.full(12000, 0.3))
    for asked in (dict(hwp_harmonics=4), dict(demodulate=True)):
        with pytest.raises(ValueError, match="stands still"):
            skyloom.make_maps(stands, **asked, **MAPS)
