# SPDX-License-Identifier: BSD-3-Clause
"""Arrays in, arrays out: against plain numpy, which shares no code, and what is refused."""
import inspect
import pickle
import signal
import subprocess
import sys

import numpy as np
import pytest

import skyloom
from conftest import multiply, ring_pixel, turned

# Made with TOAST 3.0.6: every 50th of 1000 samples (realization 3, telescope 7, component 2, observation 11, detector 13,
# first sample 5; 100 Hz, fmin 1e-5 Hz, fknee 0.05 Hz, slope 1, NET 50e-6).
GOLDEN_NOISE = [-0.00014499456842158434, -0.00026704832018827155, 0.00025874110466752735, -0.0003832858381375293]


def test_the_boresight_is_a_product_of_turns(boresight):
    t = np.arange(1500) / 5 / 60

    def about(axis, angle):
        q = np.zeros((*np.shape(angle), 4))
        q[..., axis], q[..., 3] = np.sin(np.asarray(angle) / 2), np.cos(np.asarray(angle) / 2)
        return q

    want = about(1, np.full(1500, np.pi / 2))
    for axis, angle in ((2, 2 * np.pi * t / 17), (0, np.full(1500, np.radians(65))), (2, 2 * np.pi * t / 1.3),
                        (0, np.full(1500, np.radians(30))), (2, np.full(1500, np.pi / 2))):
        want = multiply(want, about(axis, angle))
    assert np.abs(np.abs((boresight * want).sum(axis=1)) - 1).max() < 1e-14  # q and -q are one turn


def test_pixels_are_those_of_the_directions(boresight, plane):
    to = turned(multiply(boresight[np.newaxis], plane.quats[:, np.newaxis]), 2)
    for nside in (1, 16, 512):
        assert np.array_equal(skyloom.pixels(boresight, plane.quats, nside, nest=False), ring_pixel(nside, to))
    nested = skyloom.pixels(boresight, plane.quats, 16)
    assert nested.dtype == np.int32 and not np.array_equal(nested, ring_pixel(16, to))


def test_weights_are_cosines_and_sines_of_twice_the_angle(boresight, plane):
    q = multiply(boresight[np.newaxis], plane.quats[:, np.newaxis])
    to, along = turned(q, 2), turned(q, 0)
    south = np.stack([to[..., 0] * to[..., 2], to[..., 1] * to[..., 2], to[..., 2]**2 - 1], axis=-1)
    east = np.stack([-to[..., 1], to[..., 0], np.zeros(to.shape[:-1])], axis=-1)
    angle = np.arctan2((along * east).sum(-1), (along * south).sum(-1))
    leakage = np.linspace(0, 0.2, 14)
    eta = ((1 - leakage) / (1 + leakage))[:, np.newaxis]
    got = skyloom.stokes_weights(boresight, plane.quats, leakage=leakage)
    assert np.abs(got - np.stack([np.ones(angle.shape), eta * np.cos(2 * angle), eta * np.sin(2 * angle)], -1)).max() < 1e-12
    iau = skyloom.stokes_weights(boresight, plane.quats, leakage=leakage, iau=True)
    assert np.array_equal(iau, got * [1, 1, -1])
    plate = 0.3 * np.arange(1500)
    turning = 2 * (2 * (plane.gamma[:, np.newaxis] - plate) - angle)
    got = skyloom.stokes_weights(boresight, plane.quats, gamma=plane.gamma, hwp_angle=plate)
    assert np.abs(got[..., 1] - np.cos(turning)).max() < 1e-9 and np.abs(got[..., 2] + np.sin(turning)).max() < 1e-9


def test_noise_has_the_peers_numbers_and_the_spectrum():
    freq, psd = skyloom.noise_psd(100, 50e-6, fknee=0.05, fmin=1e-5)
    names = {"observation": 11, "realization": 3, "telescope": 7, "component": 2, "first": 5}
    noise = skyloom.simulate_noise(1000, 100, freq, psd, [13, 14], **names)
    assert np.allclose(noise[0, ::50][:4], GOLDEN_NOISE, rtol=1e-11)
    assert np.array_equal(noise, skyloom.simulate_noise(1000, 100, freq, np.stack([psd, psd]), [13, 14], **names, threads=3))
    white = skyloom.simulate_noise(2**16, 10, [1e-9, 5], [4.0, 4.0], range(4))
    assert np.allclose(white.var(axis=1), 4 * 10, rtol=0.03)
    assert np.abs(white.mean(axis=1)).max() < 1e-12
    assert skyloom.name_uid("satellite") == skyloom.name_uid("satellite") < 2**31


def solved_densely(pix, weights, signal, w, step, nside):
    """Binned and destriped maps by numpy's least squares: every sample an equation."""
    n, samples = signal.shape
    seen, at = np.unique(pix, return_inverse=True)
    at = at.reshape(pix.shape)
    p = np.zeros((n * samples, 3 * len(seen)))
    row = np.arange(n * samples)
    for k in range(3):
        p[row, 3 * at.ravel() + k] = weights[..., k].ravel()
    bases = samples // step
    m = np.zeros((n * samples, n * bases))
    m[row, np.repeat(np.arange(n * bases), step)] = 1
    root = np.sqrt(np.repeat(w, samples))[:, np.newaxis]
    d = root[:, 0] * signal.ravel()
    binned = np.linalg.lstsq(root * p, d, rcond=None)[0]
    both = np.linalg.lstsq(root * np.hstack([p, m]), d, rcond=None)[0]
    return seen, binned.reshape(-1, 3).T, both[:3 * len(seen)].reshape(-1, 3).T


@pytest.mark.parametrize("single", [False, True])
def test_maps_are_the_least_squares_solution(boresight, plane, single):
    bore, quats = boresight[:900], plane.quats[:6]
    rng = np.random.default_rng(1)
    kind = np.float32 if single else np.float64
    signal = (rng.normal(size=(6, 900)) + np.repeat(rng.normal(size=(6, 9)), 100, axis=1)).astype(kind)
    w = np.linspace(1, 2, 6)
    observation = skyloom.Observation(bore, quats, signal, rate=5.0, weights=w)
    maps = skyloom.make_maps(observation, 2, step=20, tolerance=1e-12, rcond=1e-6)
    pix, weights = skyloom.pointing(bore, quats, 2)
    seen, binned, destriped = solved_densely(pix, weights, signal.astype(float), w, 100, 2)
    assert maps.converged and np.array_equal(maps.pixels, seen)
    assert np.array_equal(maps.hits, np.bincount(pix.ravel(), minlength=48)[seen])
    assert np.abs(maps.binned - binned).max() < 1e-10
    shift = (maps.destriped - destriped)[0].mean()
    assert np.abs(maps.destriped - destriped - [[shift], [0], [0]]).max() < 1e-9
    assert maps.offsets[0].shape == (6, 9)
    full = maps.full_sky("hits", nest=False)
    assert full.sum() == 6 * 900 and np.array_equal(full, np.bincount(skyloom.pixels(bore, quats, 2, nest=False).ravel(),
                                                                       minlength=48))
    matrix = np.einsum("dsi,dsj,d,ds->ij", weights, weights, w, pix == seen[5])
    assert np.allclose(maps.invcov[:, 5], matrix[np.triu_indices(3)]) and np.allclose(
        maps.cov[:, 5], np.linalg.inv(matrix)[np.triu_indices(3)])
    assert np.allclose(maps.noise_weighted[0, 5], (w[:, np.newaxis] * signal * (pix == seen[5])).sum())


def test_what_is_flagged_is_left_out(boresight, plane):
    rng = np.random.default_rng(2)
    signal = rng.normal(size=(14, 1500))
    flags, shared = np.zeros((14, 1500), dtype=np.uint8), np.zeros(1500, dtype=int)
    flags[3, 100:200], shared[700:720], signal[5, 33] = 2, 1, np.nan
    given = dict(flags=flags, shared_flags=shared, rate=5.0)
    good = (flags == 0) & (shared == 0) & np.isfinite(signal)
    maps = skyloom.make_maps(skyloom.Observation(boresight, plane.quats, signal, **given), 4, binned_only=True)
    assert maps.counts["good"] == good.sum() == maps.hits.sum() and maps.destriped is None
    assert maps.counts["not_finite"] == 1 and maps.offsets == []
    masked = skyloom.make_maps(skyloom.Observation(boresight, plane.quats, signal, flag_mask=1, shared_mask=2, **given), 4,
                               binned_only=True)
    assert masked.hits.sum() == 14 * 1500 - 1
    part = skyloom.make_maps(skyloom.Observation(boresight, plane.quats, signal, rate=5.0, intervals=[(0, 100), (200, 300)]),
                             4, binned_only=True, poly_order=1)
    assert part.hits.sum() == 14 * 200 - 1


class Quantity(np.ndarray):
    """As astropy's: an array that numpy takes without its unit."""

    unit = "uK"

    def to_value(self, unit):
        raise NotImplementedError


def test_numbers_in_units_are_not_taken_without_them(boresight, plane):
    signal = np.zeros((len(plane.quats), len(boresight)))
    given = {"boresight": boresight, "quats": plane.quats, "signal": signal, "rate": 5.0, "weights": np.ones(len(signal)),
             "flags": np.zeros(signal.shape, dtype=np.uint8), "gamma": plane.gamma, "hwp_angle": np.zeros(len(boresight))}
    skyloom.Observation(**given)
    for name in ("boresight", "quats", "signal", "weights", "flags", "gamma", "hwp_angle"):
        with pytest.raises(TypeError, match=f"{name}: expected plain numbers, got ones in uK"):
            skyloom.Observation(**{**given, name: given[name].view(Quantity)})


def test_what_is_masked_is_left_out(boresight, plane):
    signal = np.random.default_rng(3).normal(size=(14, 1500))
    mask = np.zeros(signal.shape, dtype=bool)
    mask[:, 100:200], mask[4] = True, True
    for kind in (np.float64, np.float32):
        masked = np.ma.array(np.where(mask, 1e3, signal).astype(kind), mask=mask)
        got, want = (skyloom.make_maps(skyloom.Observation(boresight, plane.quats, one, rate=5.0), 16, step=10, rcond=1e-3)
                     for one in (masked, np.where(mask, np.nan, signal).astype(kind)))
        assert got.hits.sum() == 13 * 1400 and np.array_equal(got.destriped, want.destriped, equal_nan=True)


def test_quaternions_of_any_length_are_turns(boresight, plane):
    want = skyloom.pointing(boresight, plane.quats, 64)
    for longer, places in ((3 * boresight, plane.quats), (boresight, 0.5 * plane.quats)):
        got = skyloom.pointing(longer, places, 64)
        assert (got[0] != want[0]).mean() < 1e-3 and np.abs(got[1] - want[1]).max() < 1e-9
    signal = np.random.default_rng(4).normal(size=(14, 1500))
    maps = [skyloom.make_maps(skyloom.Observation(boresight, quats, signal, rate=5.0), 8, step=10, rcond=1e-3)
            for quats in (plane.quats, 2 * plane.quats)]
    assert np.array_equal(maps[0].hits, maps[1].hits)


def test_a_sky_that_is_scanned_comes_back():
    sky = np.random.default_rng(3).normal(size=(3, 12 * 16**2))
    options = dict(observations=2, minutes=10, rate=5, width=20, spin_minutes=1.3, precession_minutes=17, year=0)
    data = skyloom.simulate(sky, no_noise=True, **options)
    assert len(data) == 2 and data[0].signal[0].shape == (3000,)
    maps = skyloom.make_maps(data, 16, step=10, rcond=1e-3)
    good = ~np.isnan(maps.binned[0])
    assert good.sum() > 1000 and np.abs(maps.binned - sky[:, maps.pixels])[:, good].max() < 1e-6
    ring = skyloom.simulate(maps.full_sky("hits", nest=False).astype(float), nest=False, no_noise=True, **options)
    same = skyloom.simulate(maps.full_sky("hits").astype(float), no_noise=True, **options)
    assert np.array_equal(ring[1].signal[3], same[1].signal[3])
    noisy = skyloom.simulate(None, realization=1, **options)
    freq, psd = skyloom.noise_psd(5, 50e-6, fknee=0.05, fmin=1e-5)
    uid = skyloom.name_uid("satellite_000000")
    want = skyloom.simulate_noise(3000, 5, freq, psd, skyloom.hexagon(7, 20).uids, observation=uid, realization=1,
                                  telescope=skyloom.name_uid("satellite"))
    assert np.array_equal(np.array(noisy[0].signal), want)


def test_the_prior_takes_the_spectra_that_are_given():
    data = skyloom.simulate(None, minutes=10, rate=5, width=20, spin_minutes=1.3, precession_minutes=17, year=0, net=1.0)[0]
    given = [skyloom.noise_psd(5, 1.0, fknee=fknee, fmin=1e-5) for fknee in np.linspace(0.02, 0.2, 14)]
    one = skyloom.Observation(data.boresight, data.quats, data.signal, rate=5.0, weights=0.2, noise=given)
    same = skyloom.Observation(data.boresight, data.quats, data.signal, rate=5.0, weights=0.2, noise=given[0])
    maps = [skyloom.make_maps(data, 16, step=2, prior=prior, rcond=1e-3, iterations=3000)
            for data, prior in ((one, True), (same, True), (one, False))]
    assert all(m.converged for m in maps)
    assert not np.allclose(maps[0].offsets[0], maps[1].offsets[0]) and not np.allclose(maps[0].offsets[0], maps[2].offsets[0])


def test_maximum_likelihood_flat_grids_and_deglitching_are_the_program_s():
    simulated = skyloom.simulate(None, minutes=10, rate=5, width=20, spin_minutes=1.3, precession_minutes=17, year=0, fknee=0.5)[0]
    signal = np.array(simulated.signal)
    signal[2, 100], signal[5, 2000] = 1.0, -1.0
    data = skyloom.Observation(simulated.boresight, simulated.quats, signal, rate=5.0, weights=1 / (50e-6**2 * 5),
                               noise=skyloom.noise_psd(5, 50e-6, fknee=0.5, fmin=1e-5))
    given = dict(wcs="car:0,0,360,120,6", step=10, rcond=1e-3, iterations=1000, deglitch=8, deglitch_radius=1)
    offsets = skyloom.make_maps(data, preconditioner="diagonal", **given)
    likely = skyloom.make_maps(data, method="gls", correlation=20, **given)
    assert likely.converged and likely.nside == 0 and likely.shape == (20, 60) and likely.offsets == []
    assert offsets.counts["glitch_samples"] == likely.counts["glitch_samples"] == 6 and likely.counts["gaps"] >= 6
    hits = likely.image("hits")
    assert hits.shape == (20, 60) and hits.sum() == likely.counts["good"]
    one = skyloom.Observation(simulated.boresight, [[0, 0, 0, 1]], [signal[0]], rate=5.0)  # looks along the boresight's z
    x, y, z, w = simulated.boresight.T
    lon = np.degrees(np.arctan2(2 * (y * z - w * x), 2 * (x * z + w * y)))
    lat = np.degrees(np.arcsin(1 - 2 * (x * x + y * y)))
    column, row = np.floor((180 - lon) / 6).astype(int) % 60, np.floor((lat + 60) / 6).astype(int)
    want = np.zeros((20, 60), dtype=int)
    inside = (row >= 0) & (row < 20)
    np.add.at(want, (row[inside], column[inside]), 1)
    assert np.array_equal(skyloom.make_maps(one, wcs="car:0,0,360,120,6", binned_only=True, rcond=0).image("hits"), want)
    seen = ~np.isnan(likely.image("destriped")[1])
    assert seen.sum() > 500 and np.array_equal(seen, ~np.isnan(likely.image("binned")[2]))
    for k in (1, 2):
        assert np.nanstd(likely.destriped[k]) < 0.95 * np.nanstd(likely.binned[k])
    with pytest.raises(ValueError, match="flat grid"):
        likely.full_sky("hits")
    with pytest.raises(skyloom.ArgumentError, match="--prior"):
        skyloom.make_maps(data, 8, method="gls", prior=True)
    for wrong in (dict(method="best"), dict(preconditioner="none"), dict(wcs="sin:0,0,1,1,1"), dict(correlation=-1), dict(deglitch=-1)):
        with pytest.raises(skyloom.ArgumentError):
            skyloom.make_maps(data, 8, **wrong)


def test_noise_in_common_is_in_the_spectra_and_the_weights():
    options = dict(pixels=7, width=20, minutes=5, rate=5, common_net=70e-6, common_coupling=0.5, common_by="pixel")
    found, = skyloom.simulate(**options)
    own, = skyloom.simulate(**{**options, "common_net": 0})
    shared = np.array(found.signal) - np.array(own.signal)
    np.testing.assert_allclose(shared[2], shared[3], atol=1e-16)
    assert np.std(shared[2] - shared[4]) > 1e-5
    np.testing.assert_allclose(found.weights, 1 / ((50e-6**2 + 0.25 * 70e-6**2) * 5), rtol=1e-14)
    frequencies, psd = found.noise[3]
    assert psd[-1] > own.noise[3][1][-1] + 0.25 * 70e-6**2
    with pytest.raises(skyloom.ArgumentError, match="common-by"):
        skyloom.simulate(**{**options, "common_by": "wafer"})


def test_several_modes_are_a_mixing_matrix():
    rate, net, modes = 5.0, 1e-12, ["net=30e-6,fknee=0,by=pixel,coupling=-1.5", "net=90e-6,fknee=0,in=pixel:D1"]
    found = skyloom.simulate(pixels=7, width=20, minutes=10, rate=rate, observations=8, net=net, fknee=0.0,
                             common_net=50e-6, common_fknee=0.0, common_coupling=0.6, common_also=modes)
    mixing = np.zeros((14, 1 + 7 + 1))  # the streams of all, of pixels, of D1
    mixing[:, 0] = 0.6
    mixing[np.arange(14), 1 + np.arange(14) // 2] = -1.5
    mixing[2:4, 8] = 1
    nets = np.array([50e-6] + 7 * [30e-6] + [90e-6])
    expected = (mixing * nets**2) @ mixing.T * rate
    signal = np.concatenate([np.array(one.signal) for one in found], axis=1)
    assert np.abs(signal @ signal.T / signal.shape[1] - expected).max() < 0.04 * expected.max()
    np.testing.assert_allclose(found[0].weights, 1 / (net**2 * rate + np.diag(expected)), rtol=1e-12)
    for d in (0, 2, 13):
        np.testing.assert_allclose(found[1].noise[d][1], (net**2 * rate + expected[d, d]) / rate, rtol=1e-12)
    for wrong in (["net=1,by=wafer"], ["by=pixel"], ["net=1", "net=1,component=1"]):
        with pytest.raises(skyloom.ArgumentError):
            skyloom.simulate(pixels=7, width=20, minutes=1, rate=5, common_also=wrong)


def test_threads_change_nothing_and_too_few_iterations_warn():
    data = skyloom.simulate(None, minutes=10, rate=5, width=20, spin_minutes=1.3, precession_minutes=17, year=0)
    one, three = (skyloom.make_maps(data, 16, step=10, rcond=1e-3, threads=n) for n in (1, 3))
    assert np.array_equal(one.destriped, three.destriped, equal_nan=True)
    with pytest.warns(RuntimeWarning, match="not converged"):
        assert not skyloom.make_maps(data, 16, step=10, rcond=1e-3, iterations=2).converged


Q = [[0, 0, 0, 1.0]]


@pytest.mark.parametrize("kind, call", [
    (ValueError, lambda b: skyloom.pixels(b, Q, 3)), (ValueError, lambda b: skyloom.pixels(b[:, :3], Q, 4)),
    (ValueError, lambda b: skyloom.pixels(b, Q, 16384)), (TypeError, lambda b: skyloom.pixels(b, Q, "16")),
    (ValueError, lambda b: skyloom.pixels(np.full_like(b, np.nan), Q, 4)), (ValueError, lambda b: skyloom.hexagon(8)),
    (ValueError, lambda b: skyloom.noise_psd(10, -1)), (ValueError, lambda b: skyloom.noise_psd(10, 1, fknee=1, fmin=2)),
    (ValueError, lambda b: skyloom.simulate_noise(100, 10, [1, 5], [1, 1], [0])),
    (ValueError, lambda b: skyloom.simulate_noise(100, 10, [1e-6, 5], [0, 0], [0])),
    (ValueError, lambda b: skyloom.simulate_noise(100, 10, [1e-6, 5], [[1, 1]] * 3, [0, 1])),
    (ValueError, lambda b: skyloom.simulate_noise(100, 10, [1e-6, 5], [1, 1], [-1])),
    (ValueError, lambda b: skyloom.Observation(b, Q, [np.zeros(7)], rate=1)),
    (ValueError, lambda b: skyloom.Observation(b, Q, [np.zeros(len(b))] * 2, rate=1)),
    (ValueError, lambda b: skyloom.Observation(b, Q, [np.zeros(len(b))], rate=1, weights=0)),
    (TypeError, lambda b: skyloom.Observation(b, Q, [np.zeros(len(b), dtype=complex)], rate=1)),
    (ValueError, lambda b: skyloom.Observation(b, Q, [np.zeros(len(b))], rate=1, flags=[np.full(len(b), 256)])),
    (ValueError, lambda b: skyloom.make_maps(skyloom.Observation(b, Q, [np.zeros(len(b))], rate=1, intervals=[(5, 9**9)]))),
    (ValueError, lambda b: skyloom.stokes_weights(b, Q, leakage=1.1)), (ValueError, lambda b: skyloom.stokes_weights(b, Q, leakage=-0.1)),
    (ValueError, lambda b: skyloom.stokes_weights(b, Q, hwp_angle=np.zeros(len(b)))),
    (ValueError, lambda b: skyloom.Observation(b, Q, [np.zeros(len(b))], rate=1, hwp_angle=np.zeros(len(b)))),
    (ValueError, lambda b: skyloom.Observation(b, Q, [np.zeros(len(b))], rate=1, leakage=2)),
    *((ValueError, lambda b, spans=spans: skyloom.Observation(b, Q, [np.zeros(len(b))], rate=1, intervals=spans))
      for spans in ([(0, 1000), (500, 1500)], [(800, 1500), (0, 800)], [(-5, 800)], [(7, 7)])),
    (ValueError, lambda b: skyloom.make_maps(skyloom.Observation(0 * b, Q, [np.zeros(len(b))], rate=1))),
    (ValueError, lambda b: skyloom.Observation(b, [[0, 0, 0, 0]], [np.zeros(len(b))], rate=1)),
    (ValueError, lambda b: skyloom.pixels(b, [[0, 0, 0, 0]], 4)),
    (ValueError, lambda b: skyloom.pixels(np.ma.masked_less(b, 0), Q, 4)),
    (ValueError, lambda b: skyloom.make_maps([skyloom.Observation(b, Q, [np.zeros(len(b))], rate=1)] * 2)),
    (ValueError, lambda b: skyloom.Observation(b, Q, [np.zeros(len(b))], rate=1, noise=([0.1, 1], [[1, 1]]))),
    (ValueError, lambda b: skyloom.Observation(b, Q, [np.zeros(len(b))], rate=1, noise=7)),
    *((skyloom.ArgumentError, lambda b, how=how: skyloom.make_maps(skyloom.Observation(b, Q, [np.zeros(len(b))], rate=1), **how))
      for how in ({"prior": True}, {"method": "gls"}, {"ground_order": 1, "ground_bins": 2.0}, {"deglitch_window": 11})),
    (TypeError, lambda b: skyloom.make_maps([b])), (TypeError, lambda b: skyloom.make_maps([])),
    (skyloom.NoGoodDataError, lambda b: skyloom.make_maps(skyloom.Observation(b, Q, [np.full(len(b), np.nan)], rate=1))),
    (skyloom.ArgumentError, lambda b: skyloom.make_maps(skyloom.Observation(b, Q, [np.zeros(len(b))], rate=1), step=-1)),
    (skyloom.ArgumentError, lambda b: skyloom.simulate(pixels=8)), (skyloom.ArgumentError, lambda b: skyloom.simulate(colour="red")),
    (ValueError, lambda b: skyloom.simulate(np.zeros((3, 13)))), (ValueError, lambda b: skyloom.simulate(np.zeros((2, 12)))),
])
def test_what_does_not_fit_says_so(boresight, kind, call):
    with pytest.raises(kind) as caught:
        call(boresight)
    assert "\n" not in str(caught.value) and len(str(caught.value)) > 10


def test_errors_pickle_and_know_their_codes(boresight):
    with pytest.raises(skyloom.SkyloomError) as caught:
        skyloom.simulate(pixels=8)
    again = pickle.loads(pickle.dumps(caught.value))
    assert again.exit_code == caught.value.exit_code == 2 and str(again) == str(caught.value)


def test_the_command_line_comes_with_the_package():
    done = subprocess.run([sys.executable, "-m", "skyloom", "--version"], capture_output=True, text=True)
    assert done.returncode == 0 and done.stdout == f"skyloom {skyloom.__version__}\n"


def test_calls_that_end_early_go_on_from_their_checkpoint(tmp_path):
    data = skyloom.simulate(None, minutes=10, rate=5, width=20, spin_minutes=1.3, precession_minutes=17, year=0)
    kept, options = tmp_path / "kept", dict(step=2, rcond=1e-3, tolerance=0)

    def stop(*_):
        if (tmp_path / "kept.0").exists():  # kept.1 and it are written in turn
            raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, 0.02, 0.02)
    try:
        with pytest.raises(KeyboardInterrupt):
            skyloom.make_maps(data, 16, iterations=10**6, checkpoint=kept, checkpoint_seconds=0, **options)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    with pytest.warns(RuntimeWarning, match="not converged"):
        maps = skyloom.make_maps(data, 16, iterations=5, checkpoint=kept, **options)
    assert maps.counts["recalled_iterations"] > 0 and list(tmp_path.iterdir()) == []
    (tmp_path / "file").touch()
    with pytest.raises(skyloom.SkyloomError) as caught:
        skyloom.make_maps(data, 16, checkpoint=tmp_path / "file/kept", **options)
    assert caught.value.exit_code == 30


def test_memory_is_planned_and_devices_are_asked_for(tmp_path):
    data = skyloom.simulate(None, minutes=10, rate=5, width=20, spin_minutes=1.3, precession_minutes=17, year=0)
    free = skyloom.make_maps(data, 16, step=10, rcond=1e-3)
    planned = skyloom.make_maps(data, 16, step=10, rcond=1e-3, memory=10**11)
    assert free.counts["planned_bytes"] == 0 < planned.counts["planned_bytes"] < 10**11
    assert np.array_equal(free.destriped, planned.destriped, equal_nan=True)
    with pytest.raises(skyloom.SkyloomError, match="--memory") as caught:
        skyloom.make_maps(data, 16, memory=10**6)
    assert caught.value.exit_code == 61
    with pytest.raises(skyloom.ArgumentError):
        skyloom.make_maps(data, 16, backend="opencl")
    try:
        emulated = skyloom.make_maps(data, 16, step=10, rcond=1e-3, backend="emulate")
    except skyloom.SkyloomError as error:  # is not in every build
        assert error.exit_code == 15
    else:
        assert np.array_equal(emulated.hits, free.hits)
        np.testing.assert_allclose(emulated.destriped, free.destriped, atol=1e-9 * np.nanmax(np.abs(free.destriped)))


def test_every_option_of_maps_is_an_argument():
    files = {"ordering", "type", "format", "partial"}  # what files are like
    assert set(skyloom._core.map_options) - files <= set(inspect.signature(skyloom.make_maps).parameters)
