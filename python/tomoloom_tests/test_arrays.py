# SPDX-License-Identifier: BSD-3-Clause
"""Arrays in, arrays out: right in value, the same for any number of threads, one clear line where they do not fit."""
import pickle
import subprocess
import sys

import numpy as np
import pytest

import tomoloom
import tomoloom.compat.tomopy


def test_slices_have_the_value_of_what_was_projected(integrals, theta):
    volume = tomoloom.recon(integrals, theta, 33.25)
    assert volume.shape == (3, 64, 64) and volume.dtype == np.float32
    assert abs(volume[1, 36:44, 26:34].mean() - 1) < 0.01
    assert abs(volume[1, 24:27, 40:43].mean() - 1.5) < 0.03  # u grows with columns, v falls with rows
    assert abs(volume[1, 2:6, 2:6].mean()) < 0.02


def test_sinograms_and_threads_change_no_byte(integrals, theta):
    want = tomoloom.recon(integrals, theta, 33.25, threads=1)
    turned = np.ascontiguousarray(integrals.swapaxes(0, 1))
    assert np.array_equal(tomoloom.recon(turned, theta, 33.25, sinograms=True, threads=2), want)
    assert np.array_equal(tomoloom.recon(integrals[::1].astype(np.float64), theta, np.full(3, 33.25)), want)


@pytest.mark.filterwarnings("ignore:.* changes nothing with method")  # what others of the methods take
@pytest.mark.parametrize("method", ["gridrec", "fbp", "sirt", "cgls", "mlem", "osem", "tv", "tikh", "grad", "pml_quad",
                                    "pml_hybrid", "ospml_quad", "ospml_hybrid", "bart", "art"])
def test_every_method_sees_the_discs(integrals, theta, method):
    volume = tomoloom.recon(integrals[:, :1], theta, 33.25, method=method, iterations=60, blocks=6 if method[0] in "ob" else 1,
                            reg_par=0.1)
    image, exact = (v[0, 18:46, 18:46].ravel() for v in (volume, tomoloom.recon(integrals[:, :1], theta, 33.25)))
    assert np.corrcoef(image, exact)[0, 1] > (0.8 if method == "gridrec" else 0.95)  # whose axis is elsewhere


@pytest.mark.filterwarnings("ignore:.* changes nothing with method")  # what others of the methods take
@pytest.mark.parametrize("method", ["sirt", "cgls", "tikh", "grad", "tv"])
def test_a_convolution_in_place_of_rays_sees_them_too(integrals, theta, method):
    reg_par = 0 if method == "grad" else 0.1
    both = [tomoloom.recon(integrals[:, :1], theta, 33.25, method=method, iterations=60, reg_par=reg_par, gram=gram)
            for gram in ("rays", "fft")]
    image, other = (v[0, 18:46, 18:46].ravel() for v in both)
    assert not np.array_equal(image, other) and np.corrcoef(image, other)[0, 1] > 0.95
    with pytest.raises(ValueError):
        tomoloom.recon(integrals[:, :1], theta, 33.25, method="mlem", gram="fft")


def test_the_axis_is_found(integrals, theta):
    assert abs(tomoloom.find_center(integrals, theta) - 33.25) < 0.1
    both = np.concatenate([integrals, integrals[:1, :, :]])  # of 180 degrees: the mirror of 0
    both[-1] = np.array([[np.interp(66.5 - x, np.arange(64), row) for x in range(64)] for row in integrals[0]])
    assert abs(tomoloom.find_center(both, [*theta, np.pi], pairs=True) - 33.25) < 0.3


def test_fringes_go_with_the_phase():
    """A soft body t = 1 - b on the way to the detector: t minus z delta / mu times its Laplacian."""
    y, x = np.indices((64, 80)) - np.array([31, 40])[:, np.newaxis, np.newaxis]
    squared, delta_beta = (x * x + y * y) / 16, 300
    body = 1 - 0.4 * np.exp(-squared / 2)
    area = 12.398420e-8 / 20 * 20 * delta_beta / (4 * np.pi) / 1e-8
    seen = np.stack([body + area * (1 - body) * (squared - 2) / 16, body, body])
    got = tomoloom.retrieve_phase(seen, 1e-4, 20, 20, delta_beta=delta_beta)
    assert np.abs(got[0] - body).max() < 1e-5 < 0.3 < np.abs(seen[0] - body).max()
    alpha = 1 / (4 * np.pi ** 2 * delta_beta)
    assert np.array_equal(tomoloom.retrieve_phase(seen, 1e-4, 20, 20, alpha, threads=1), got)
    assert np.abs(tomoloom.retrieve_phase(seen, 1e-4, 20, 20, alpha, method="tomopy")[0] - body).max() < 0.2
    for wrong in ({"method": "none"}, {"energy": 0}, {"distance": -1}, {"pixel_size": np.nan}, {"alpha": 0}):
        with pytest.raises(ValueError):
            tomoloom.retrieve_phase(seen, **wrong)


def test_counts_become_integrals():
    counts = np.array([[[100, 50, 10, 0]]], dtype=np.uint16)
    flat, dark = np.full((2, 1, 4), 100.0), np.zeros((1, 4))
    assert np.allclose(tomoloom.normalize(counts, flat, dark), -np.log([1, 0.5, 0.1, 1e-6]), atol=1e-5)
    assert np.allclose(tomoloom.normalize(counts.astype(float), flat, dark, log=False), [1, 0.5, 0.1, 1e-6])
    broken = np.array([[[np.nan, np.inf, -5, 100]]])
    assert np.isfinite(tomoloom.normalize(broken, flat, dark)).all()


def test_stripes_become_less_and_the_input_stays(integrals):
    striped = integrals.copy()
    striped[:, :, 20] += 2
    before = striped.copy()
    for method in ("sf", "sorting", "filtering", "interpolation", "large", "dead"):
        cleaned = tomoloom.remove_stripe(striped, method)
        assert np.array_equal(striped, before)
        assert abs((cleaned - integrals)[:, :, 20].mean()) < 1.8, method
    assert np.array_equal(tomoloom.remove_stripe(striped, "sorting", threads=2, size=5),
                          tomoloom.remove_stripe(striped, "sorting", threads=1, size=5))


def test_zingers_go():
    data = np.full((5, 2, 9), 0.5, dtype=np.float32)
    data[2, 1, 4] = 9
    assert np.array_equal(tomoloom.remove_outlier(data, 1.0), np.full_like(data, 0.5))


@pytest.mark.filterwarnings("ignore:.* changes nothing with method")  # what others of the methods take
@pytest.mark.parametrize("method, iterations", [("exact", 1), ("fbp", 1), ("cgls", 12)])
def test_an_axis_that_is_tilted_along_the_beam(method, iterations):
    columns, rows, tilt, radius, u, v = 48, 41, 8.0, 6.0, 13.0, -5.0
    theta = np.arange(120) * 2 * np.pi / 120
    slope = np.sin(np.radians(tilt))
    across = np.arange(columns) - 23.5 - (u * np.cos(theta) + v * np.sin(theta))[:, np.newaxis]
    down = np.arange(rows) - 20 - slope * (v * np.cos(theta) - u * np.sin(theta))[:, np.newaxis]
    ball = 2 * np.sqrt(np.maximum(radius**2 - across[:, np.newaxis] ** 2 - down[:, :, np.newaxis] ** 2, 0))
    line, row, column = np.ogrid[:rows, :columns, :columns]
    height = (line - 20) / np.cos(np.radians(tilt))
    truth = (height**2 + (column - 23.5 - u) ** 2 + (23.5 - row - v) ** 2 < radius**2).astype(float)

    def error(told):
        volume = tomoloom.recon(ball, theta, 23.5, method=method, iterations=iterations, tilt=told)
        return np.sqrt(((volume - truth)[12:29] ** 2).mean() / truth[12:29].mean())

    assert error(tilt) < 0.3 and error(0) > 1.5 * error(tilt) and error(-tilt) > error(0)


def test_angles_may_come_in_any_order(integrals, theta):
    order = np.random.default_rng(1).permutation(len(theta))
    mixed = integrals[order], theta[order]
    for words in ({"method": "exact"}, {"method": "gridrec"}, {"method": "sirt", "iterations": 3}):
        got, want = [tomoloom.mask_circle(tomoloom.recon(*scan, 33.25, **words), 0.9, 0) for scan in (mixed, (integrals, theta))]
        assert np.allclose(got, want, atol=1e-4), words  # gridrec's corners magnify rounding
    assert abs(tomoloom.find_center(*mixed) - 33.25) < 0.1


def test_a_tilt_has_one_axis_and_its_methods(integrals, theta):
    for words in ({"center": [31, 31, 32]}, {"method": "gridrec"}, {"method": "mlem"}, {"method": "cgls", "gram": "fft"}):
        with pytest.raises(ValueError, match="tilt"):
            tomoloom.recon(integrals, theta, **{"center": 31, "tilt": 5, **words})


def test_what_is_no_number_does_not_spread(integrals):
    good = np.exp(-0.02 * integrals)
    for instead, work in ((1, lambda t: tomoloom.retrieve_phase(t, method="tomopy")), (1, tomoloom.retrieve_phase),
                          (0, lambda t: tomoloom.remove_stripe(t, "fw")), (0, lambda t: tomoloom.remove_stripe(t, "sorting"))):
        spoilt, mended = good.copy(), good.copy()
        spoilt[3, 1, 5], spoilt[8, 2, 9], mended[3, 1, 5], mended[8, 2, 9] = np.nan, np.inf, instead, instead
        assert (work(spoilt) == work(mended)).all()
    spoilt = np.where(np.arange(64) % 7 == 0, np.nan, good).astype(np.float32)
    spoilt[20, 1, 31] += 3
    cleaned = tomoloom.remove_outlier(spoilt, 0.5)
    assert (np.isnan(cleaned) == np.isnan(spoilt)).all() and cleaned[20, 1, 31] < 1


def test_what_is_masked_is_no_number(integrals, theta):
    mask = np.zeros(integrals.shape, dtype=bool)
    mask[3, 0, 5:9], mask[40] = True, True
    masked = np.ma.array(np.where(mask, np.float32(1e6), integrals), mask=mask)
    want = np.where(mask, np.float32(0), integrals)
    assert np.array_equal(tomoloom.recon(masked, theta), tomoloom.recon(want, theta))
    assert np.array_equal(tomoloom.remove_stripe(masked, "sf"), tomoloom.remove_stripe(want, "sf"))
    counts, flats = (20000 * np.exp(-integrals)).astype(np.uint16), np.full((2, *integrals.shape[1:]), 20000.0)
    got = tomoloom.normalize(np.ma.array(np.where(mask, np.uint16(65535), counts), mask=mask), flats, 0 * flats)
    assert np.array_equal(got, tomoloom.normalize(np.where(mask, np.nan, counts), flats, 0 * flats))
    with pytest.raises(ValueError, match="finite angles"):
        tomoloom.recon(integrals, np.ma.masked_less(theta, 1))


def test_what_is_no_number_in_some_flats_and_darks_is_what_the_others_say(integrals):
    counts = (100 + 20000 * np.exp(-integrals)).astype(np.uint16)
    frames = np.random.default_rng(3).normal(20000, 30, (5, *integrals.shape[1:])).astype(np.float32)
    spoilt = frames.copy()
    spoilt[1, 0, 7], spoilt[2, 1, 9], spoilt[:, 2, 11] = np.nan, np.inf, np.nan
    masked = np.ma.masked_invalid(spoilt)
    for averaging, take in (("mean", np.mean), ("median", np.median)):
        want = take(frames.astype(np.float64), axis=0)
        want[0, 7] = take(np.delete(frames[:, 0, 7], 1).astype(np.float64))
        want[1, 9] = take(np.delete(frames[:, 1, 9], 2).astype(np.float64))
        want[2, 11] = np.nan  # none has it: the pixel is blind
        for given in (spoilt, masked):
            got = tomoloom.normalize(counts, given, 100, averaging=averaging)
            assert np.array_equal(got, tomoloom.normalize(counts, want, 100))
            assert (got[:, 2, 11] == 0).all() and (got[:, 0, 7] != 0).any()
            assert np.array_equal(got, tomoloom.normalize(counts, given, np.where(np.isfinite(spoilt), 100, np.nan), averaging=averaging))
    one_set = tomoloom.compat.tomopy.normalize_nf(counts, spoilt, np.full(integrals.shape[1:], 100.0), [0])
    assert np.isnan(one_set[:, 2, 11]).all() and np.isfinite(np.delete(one_set[:, 2], 11, axis=1)).all()
    assert np.isfinite(one_set[:, :2]).all()


class Quantity(np.ndarray):
    """As astropy's: an array that numpy takes without its unit."""

    unit = "deg"

    def to_value(self, unit):
        raise NotImplementedError


def test_numbers_in_units_are_not_taken_without_them(integrals, theta):
    with pytest.raises(TypeError, match="theta: expected plain numbers, got ones in deg"):
        tomoloom.recon(integrals, np.rad2deg(theta).view(Quantity))
    with pytest.raises(TypeError, match="integrals: expected plain numbers"):
        tomoloom.find_center(integrals.view(Quantity), theta)


def test_numbers_of_numpy_are_numbers(integrals):
    got = tomoloom.remove_stripe(integrals, "fw", sigma=np.float64(1.5), level=np.int64(3))
    assert (got == tomoloom.remove_stripe(integrals, "fw", sigma=1.5, level=3)).all()


def test_the_circle():
    masked = tomoloom.mask_circle(np.ones((1, 8, 8)), 0.5, -1)
    assert masked[0, 4, 4] == 1 and masked[0, 0, 0] == -1 and (masked == 1).sum() == 12


@pytest.mark.parametrize("call, words", [
    (lambda d, t: tomoloom.recon(d, t[:-1]), "theta: expected one angle for each of 120"),
    (lambda d, t: tomoloom.recon(d[0], t), "three axes"),
    (lambda d, t: tomoloom.recon(d, t, 64), "center: 64"),
    (lambda d, t: tomoloom.recon(d, t, [1, 2]), "center: found 2"),
    (lambda d, t: tomoloom.recon(d, t, method="magic"), "--method"),
    (lambda d, t: tomoloom.recon(d, np.where(t > 1, np.nan, t)), "finite"),
    (lambda d, t: tomoloom.recon(d, t, iterations=0), "iterations"),
    (lambda d, t: tomoloom.remove_stripe(d, "sorting", width=3), "stripe_width"),
    (lambda d, t: tomoloom.remove_stripe(d, "ti", alpha=-1.0), "--stripe-alpha"),
    (lambda d, t: tomoloom.normalize(d, np.ones((4, 4))), "flats: expected frames of 3 x 64"),
    (lambda d, t: tomoloom.find_center(d, t / 2), "180 degrees"),
    (lambda d, t: tomoloom.find_center(d, t, within=(40, 20)), "within"),
    (lambda d, t: tomoloom.recon(d, t, threads=0), "threads"),
    (lambda d, t: tomoloom.recon(d, t, backend="abacus"), "--backend"),
    (lambda d, t: tomoloom.recon(d, t, method="sirt", backend="cuda"), "--backend"),
])
def test_what_does_not_fit_is_one_line(integrals, theta, call, words):
    with pytest.raises(ValueError) as caught:
        call(integrals, theta)
    assert words in str(caught.value) and "\n" not in str(caught.value)


def test_a_card_that_is_not_there_is_an_error(integrals, theta):
    with pytest.raises(tomoloom.TomoloomError) as caught:  # the tests' package is built without CUDA
        tomoloom.recon(integrals, theta, 33.25, backend="cuda")
    assert caught.value.exit_code == 60
    assert (tomoloom.recon(integrals, theta, 33.25) == tomoloom.recon(integrals, theta, 33.25, backend="cpu")).all()


def test_errors_travel():
    error = tomoloom.ArgumentError("a line", 21, "rotation axis outside the projections")
    copy = pickle.loads(pickle.dumps(error))
    assert type(copy) is tomoloom.ArgumentError and str(copy) == "a line" and copy.exit_code == 21


def test_the_program_came_along():
    done = subprocess.run([sys.executable, "-m", "tomoloom", "--version"], capture_output=True, text=True, check=True)
    assert tomoloom.__version__ in done.stdout


@pytest.mark.parametrize("call, told", [
    (lambda s, t: tomoloom.recon(s, t, iterations=3), "iterations changes nothing with method=exact"),
    (lambda s, t: tomoloom.recon(s, t, method="sirt", iterations=1, filter="hann"), "filter changes nothing with method=sirt"),
    (lambda s, t: tomoloom.recon(s, t, blocks=2), "blocks changes nothing with method=exact"),
    (lambda s, t: tomoloom.recon(s, t, method="sirt", iterations=1, reg_par=1), "reg_par changes nothing with method=sirt"),
    (lambda s, t: tomoloom.remove_stripe(s, "sf", sigma=4.0), "^sigma changes nothing with method=sf"),
    (lambda s, t: tomoloom.retrieve_phase(s, alpha=0.1, delta_beta=20), "^alpha changes nothing with delta_beta=20"),
    (lambda s, t: tomoloom.retrieve_phase(s, pad=False), "^pad=False changes nothing with method=paganin"),
])
def test_what_a_method_does_not_know_is_told(integrals, theta, call, told):
    with pytest.warns(UserWarning, match=told) as warned:
        call(integrals[:, :1], theta)
    assert len(warned) == 1 and warned[0].filename == __file__


def test_blocks_of_a_method_without_are_refused(integrals, theta):
    with pytest.raises(ValueError, match="block_order: goes with method 'osem'.*got method 'sirt'"):
        tomoloom.recon(integrals, theta, method="sirt", iterations=1, block_order=np.arange(len(theta)))


def test_degrees_and_an_axis_that_is_not_there_are_told(integrals, theta, recwarn):
    tomoloom.recon(integrals, theta, 33.25)
    tomoloom.recon(integrals, 2 * theta, 33.25)
    tomoloom.find_center(integrals, theta)
    assert not recwarn.list
    for degrees in (np.degrees(theta), np.linspace(0, 180, 120), np.linspace(0, -360, 120)):
        with pytest.warns(UserWarning, match="are they degrees"):
            tomoloom.recon(integrals, degrees, 33.25)
    for call in (tomoloom.recon, tomoloom.find_center):
        with pytest.raises(ValueError, match="all of 120 projections have the angle 1"):
            call(integrals, np.ones(120))
    with pytest.warns(UserWarning, match="at the end of where it is looked for .16 to 48."):
        tomoloom.find_center(np.concatenate([integrals[:, :, 24:], np.zeros((120, 3, 24))], axis=2), theta)
    with pytest.warns(UserWarning, match="at the end"):
        tomoloom.find_center(np.zeros_like(integrals), theta)
