# SPDX-License-Identifier: BSD-3-Clause
"""Half-wave plates beside TOAST: filter, demodulation and its maps of the same samples. Skipped where TOAST is not installed."""
import numpy as np
import pytest

toast = pytest.importorskip("toast")

from datetime import datetime  # noqa: E402

import astropy.units as u  # noqa: E402
import toast.instrument_sim  # noqa: E402
import toast.ops  # noqa: E402
import toast.schedule_sim_satellite  # noqa: E402

import skyloom  # noqa: E402
import skyloom.compat.toast as fast  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::UserWarning", "ignore::FutureWarning",
                                        "ignore::ResourceWarning", "ignore::RuntimeWarning")
RATE = 20.0


def observed(plate_signal=True):
    """One observation of 14 detectors behind a plate that turns once a second, with flags, noise and the plate's signal."""
    plane = toast.instrument_sim.fake_hexagon_focalplane(n_pix=7, width=20 * u.deg, sample_rate=RATE * u.Hz,
                                                         psd_net=50e-6 * u.K * np.sqrt(1 * u.second), psd_fmin=1e-5 * u.Hz,
                                                         psd_fknee=0.05 * u.Hz)
    telescope = toast.instrument.Telescope("sat", focalplane=plane, site=toast.instrument.SpaceSite("space"))
    schedule = toast.schedule_sim_satellite.create_satellite_schedule(
        prefix="test_", mission_start=datetime(2026, 2, 23), observation_time=10 * u.minute, num_observations=1,
        prec_period=17 * u.minute, spin_period=1.3 * u.minute)
    data = toast.Data(toast.Comm())
    toast.ops.SimSatellite(telescope=telescope, schedule=schedule, spin_angle=30 * u.deg, prec_angle=65 * u.deg,
                           hwp_angle="hwp_angle", hwp_rpm=61.0).apply(data)
    toast.ops.DefaultNoiseModel().apply(data)
    toast.ops.SimNoise().apply(data)
    ob = data.obs[0]
    ob.shared["flags"].set(np.where(np.arange(ob.n_local_samples) % 97 == 0, 1, 0).astype(np.uint8), fromrank=0)
    ob.detdata.ensure("flags", dtype=np.uint8)
    ob.detdata["flags"][:] = 0
    ob.detdata["flags"][ob.local_detectors[3]][500:900] = 1
    ob.detdata["flags"][ob.local_detectors[5]][:] = 1
    angle = ob.shared["hwp_angle"].data
    if plate_signal:
        for d, det in enumerate(ob.local_detectors):
            ob.detdata["signal"][det] += 0.1 * np.cos(2 * angle + d) + 0.01 * np.cos(4 * angle - d) + 1.0
    return data


@pytest.mark.parametrize("detrend", [False, True])
def test_the_filter_is_the_peers(detrend):
    ours, theirs = observed(), observed()
    options = dict(filter_order=5, trend_order=3, detrend=detrend)
    fast.HWPFilter(**options).apply(ours)
    toast.ops.HWPFilter(**options).apply(theirs)
    a, b = ours.obs[0], theirs.obs[0]
    assert np.abs(a.detdata["signal"].data - b.detdata["signal"].data).max() < 1e-13
    assert np.abs(a.detdata["signal"].data[0]).max() < (0.01 if detrend else 2)
    assert a.local_detector_flags == b.local_detector_flags  # detector 5 has no good sample


def weights_of(ops, **options):
    return ops.StokesWeights(mode="IQU", hwp_angle="hwp_angle", detector_pointing=ops.PointingDetectorSimple(**options))


@pytest.mark.parametrize("flagged", [False, True])
def test_the_streams_are_the_peers(flagged):
    ours, theirs = observed(), observed()
    if not flagged:
        for data in (ours, theirs):
            data.obs[0].shared["flags"].set(np.zeros(data.obs[0].n_local_samples, dtype=np.uint8), fromrank=0)
    # flagged samples look at a pole, where weights of Q and U are anybody's: then they are the peer's for both
    one = fast.Demodulate(stokes_weights=weights_of(toast.ops if flagged else fast), nskip=3).apply(ours)
    two = toast.ops.Demodulate(stokes_weights=weights_of(toast.ops), nskip=3).apply(theirs)
    a, b = one.obs[0], two.obs[0]
    assert a.local_detectors == b.local_detectors
    for det in a.local_detectors:
        assert np.abs(a.detdata["signal"][det] - b.detdata["signal"][det]).max() < 1e-12, det
        assert np.array_equal(a.detdata["flags"][det], b.detdata["flags"][det])


STILL = [0.0, np.sin(0.5), 0.0, np.cos(0.5)]  # no detector looks at a pole


def streams_in_the_detectors_frame(data):
    """TOAST's streams, with carriers that know the plate and how the detector is turned, not where it looks."""
    ob = data.obs[0]
    still = np.tile(STILL, (ob.n_local_samples, 1))
    ob.shared.create_column("still", shape=still.shape, dtype=np.float64)
    ob.shared["still"].set(still, fromrank=0)
    found = toast.ops.Demodulate(stokes_weights=weights_of(toast.ops, boresight="still"), nskip=3, purge=False).apply(data)
    return ob, found


def test_maps_are_those_of_the_peers_streams_in_the_detectors_frame():
    """Of samples without gaps: ours fills them, where the peer filters what lies there."""
    data = observed()
    raw = data.obs[0]
    raw.detdata["flags"][:] = 0
    raw.shared["flags"].set(np.zeros(raw.n_local_samples, dtype=np.uint8), fromrank=0)
    ob, found = streams_in_the_detectors_frame(data)
    demod = found.obs[0]
    plane, dets = ob.telescope.focalplane, ob.local_detectors
    weights = [ob["noise_model"].detector_weight(det).to_value(1 / u.K**2) for det in dets]
    common = dict(rate=RATE, weights=weights, names=dets, leakage=[plane[det]["pol_leakage"] for det in dets])
    quats = np.array([plane[det]["quat"] for det in dets])
    gamma = np.array([plane[det]["gamma"].to_value(u.rad) for det in dets])
    whole = skyloom.Observation(ob.shared["boresight_radec"].data, quats, ob.detdata["signal"].data, gamma=gamma,
                                hwp_angle=ob.shared["hwp_angle"].data, **common)
    maps = skyloom.make_maps(whole, nside=16, binned_only=True, rcond=1e-3, demodulate=True)
    # I, R and S of the peer as detectors that stand at 0, 60 and 120 degrees, behind no plate: its carriers are those of a
    # detector on the plane, whose own angle there is in them
    flags = demod.shared["flags"].data & 1
    rows, places = [], []
    for d, det in enumerate(dets):
        i, r, s = (demod.detdata["signal"][f"{name}_{det}"] for name in ("demod0", "demod4r", "demod4i"))
        turn = 2 * axis_of(times(STILL, quats[d]))
        r, s = np.cos(turn) * r + np.sin(turn) * s, np.cos(turn) * s - np.sin(turn) * r
        for k in range(3):
            at = 2 * np.pi * k / 3
            rows.append(i + np.cos(at) * r + np.sin(at) * s)
            places.append(times(quats[d], [0, 0, np.sin(at / 4), np.cos(at / 4)]))
    three = dict(common, weights=np.repeat(weights, 3), names=None, leakage=np.repeat(common["leakage"], 3), rate=RATE / 3)
    apart = skyloom.Observation(ob.shared["boresight_radec"].data[::3], np.array(places), rows, shared_flags=flags, **three)
    wanted = skyloom.make_maps(apart, nside=16, binned_only=True, rcond=1e-3)
    assert np.array_equal(maps.hits, wanted.hits)
    assert np.nanmax(np.abs(maps.binned - wanted.binned)) < 1e-12


def times(a, b):
    x, y, z, w = a
    p, q, r, s = b
    return np.array([w * p + x * s + y * r - z * q, w * q - x * r + y * s + z * p, w * r + x * q - y * p + z * s,
                     w * s - x * p - y * q - z * r])


def axis_of(q):
    """The angle of polarisation of a detector that looks along its own quaternion, as weights have it."""
    x, y, z, w = q
    return np.arctan2(y * z + w * x, -(x * z - w * y))
