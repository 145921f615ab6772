# SPDX-License-Identifier: BSD-3-Clause
"""TomoPy's names and arguments: its formulas where they are simple, its defaults, and what is refused."""
import numpy as np
import pytest

import tomoloom
import tomoloom.compat.tomopy as tomopy


def test_normalising_is_the_peers_formula():
    rng = np.random.default_rng(1)
    tomo, flat, dark = rng.uniform(10, 60, (4, 3, 5)), rng.uniform(50, 90, (2, 3, 5)), rng.uniform(0, 9, (3, 5))
    flat[:, 0, 0] = 0
    want = (tomo - dark) / np.maximum(flat.mean(axis=0) - dark, 1e-6)
    assert np.allclose(tomopy.normalize(tomo, flat, dark), want, rtol=1e-5)
    assert tomopy.normalize(tomo, flat, dark, cutoff=0.3).max() == np.float32(0.3)
    out = np.empty((4, 3, 5), dtype=np.float32)
    assert tomopy.normalize(tomo, flat, dark, out=out, averaging="median") is out
    sets = np.concatenate([np.full((3, 3, 5), 2.0), np.full((3, 3, 5), 4.0)])
    nearest = tomopy.normalize_nf(np.ones((6, 3, 5)), sets, np.zeros((3, 5)), (0, 4))
    assert np.allclose(nearest[:2], 0.5) and np.allclose(nearest[2:], 0.25)
    for places in ((0, 1, 2, 3, 4, 5, 6), ()):
        with pytest.raises(ValueError, match="flats: expected one or more for each"):
            tomopy.normalize_nf(np.ones((6, 3, 5)), sets[:1], np.zeros((3, 5)), places)


def test_backgrounds():
    ramp = np.linspace(1, 3, 9) * np.ones((2, 2, 1))
    assert np.allclose(tomopy.normalize_bg(ramp), 1, rtol=1e-6)
    assert np.allclose(tomopy.normalize_roi(ramp * 5, (0, 0, 2, 9)).mean(axis=(1, 2)), 1)


def test_minus_log_is_always_finite():
    got = tomopy.minus_log(np.array([[[1, np.e, -3, np.nan]]]))
    assert np.allclose(got, [[[0, -1, -np.log(1e-6), 0]]], atol=1e-5)


def test_recon_takes_the_peers_arguments(integrals, theta):
    volume = tomopy.recon(integrals, theta, center=33.25, algorithm="gridrec", filter_name="parzen",
                          filter_par=[0.5, 8], ncore=1, nchunk=2)
    same = tomoloom.recon(integrals, theta.astype(np.float32), 33.25, method="gridrec", filter="parzen")
    assert np.array_equal(volume, same)
    turned = tomopy.recon(integrals.swapaxes(0, 1), theta, 33.25, sinogram_order=True, algorithm="gridrec",
                          filter_name="parzen")
    assert np.array_equal(turned, volume)
    middle = tomopy.recon(integrals, theta, algorithm="gridrec")
    assert np.array_equal(middle, tomopy.recon(integrals, theta, np.full(3, 32.0), algorithm="gridrec"))


def test_filters_of_ones_own(integrals, theta):
    ones, rng = np.ones(64, dtype=np.float32), np.random.default_rng(3)
    none = tomopy.recon(integrals, theta, 33.25, algorithm="gridrec", filter_name="none")
    own = tomopy.recon(integrals, theta, 33.25, algorithm="gridrec", filter_name="custom", filter_par=ones)
    assert np.array_equal(own, none)  # TomoPy's next power of two needs 32, and it does not look at more
    sets = rng.uniform(0, 1, (120, 32)).astype(np.float32)
    each = tomopy.recon(integrals, theta, 33.25, algorithm="gridrec", filter_name="custom2d", filter_par=sets)
    same = tomopy.recon(integrals, theta, 33.25, algorithm="gridrec", filter_name="custom2d", filter_par=sets.ravel())
    assert np.array_equal(each, same) and not np.array_equal(each, none)
    line = tomoloom.recon(integrals, theta, 33.25, filter="custom", filter_weights=np.ones(64))
    assert np.array_equal(line, tomoloom.recon(integrals, theta, 33.25, filter="none"))
    for arguments in ({"filter": "custom"}, {"filter_weights": ones}, {"filter": "custom", "filter_weights": ones[:9]},
                      {"filter": "custom", "filter_weights": sets}, {"filter": "custom2d", "filter_weights": sets[:9]},
                      {"filter": "custom", "filter_weights": ones * np.nan}):
        with pytest.raises(ValueError):
            tomoloom.recon(integrals, theta, 33.25, **arguments)


@pytest.mark.parametrize("kind, arguments", [
    (ValueError, {"algorithm": "gridcrec"}), (ValueError, {"algorithm": None}),
    (ValueError, {"algorithm": "gridrec", "num_iter": 3}), (ValueError, {"algorithm": "arts"}),
    (ValueError, {"algorithm": "gridrec", "filter_name": "custom"}),
    (ValueError, {"algorithm": "gridrec", "filter_name": "customs"}),
    (ValueError, {"algorithm": "gridrec", "filter_name": "custom", "filter_par": np.full(32, np.nan)}),
    (ValueError, {"algorithm": "gridrec", "filter_name": "custom2d", "filter_par": np.ones((32, 33))}),
    (NotImplementedError, {"algorithm": "gridrec", "num_gridx": 20}),
])
def test_what_is_not_there_says_so(integrals, theta, kind, arguments):
    with pytest.raises(kind):
        tomopy.recon(integrals, theta, **arguments)


def test_the_axis_by_each_name(integrals, theta):
    assert abs(tomopy.find_center(integrals, theta, tol=0.05)[0] - 33.25) < 0.3
    assert abs(tomopy.find_center_vo(integrals, smin=-10, smax=10) - 33.25) < 0.3
    assert abs(tomopy.find_center_vo(integrals[:, 1]) - 33.25) < 0.3
    mirror = np.array([[np.interp(66.5 - x, np.arange(64), row) for x in range(64)] for row in integrals[0]])
    assert abs(tomopy.find_center_pc(integrals[0], mirror) - 33.25) < 0.3


def test_stripes_by_each_name(integrals):
    striped = integrals + np.where(np.arange(64) == 20, np.float32(2), np.float32(0))
    pairs = [(tomopy.remove_stripe_fw, {}), (tomopy.remove_stripe_ti, {}), (tomopy.remove_stripe_sf, {"size": 7}),
             (tomopy.remove_stripe_based_sorting, {"size": 5}), (tomopy.remove_stripe_based_filtering, {"sigma": 4}),
             (tomopy.remove_stripe_based_fitting, {"order": 1, "sigma": (5, 20)}),
             (tomopy.remove_stripe_based_interpolation, {"snr": 2}), (tomopy.remove_large_stripe, {"size": 21}),
             (tomopy.remove_dead_stripe, {"snr": 2}), (tomopy.remove_all_stripe, {"la_size": 31, "sm_size": 7})]
    for remove, arguments in pairs:
        cleaned = remove(striped, ncore=1, **arguments)
        assert cleaned.shape == striped.shape and np.isfinite(cleaned).all()
        assert not np.array_equal(cleaned, striped), remove.__name__
    with pytest.raises(NotImplementedError):
        tomopy.remove_stripe_fw(striped, wname="haar")


def test_phase_of_a_flat_field_is_flat_and_edges_get_soft():
    flat = np.full((2, 20, 30), 3.0)
    once = tomopy.retrieve_phase(flat)
    assert np.allclose(once, once.mean(), rtol=1e-4)
    edge = np.where(np.arange(30) < 15, 1.0, 2.0) * np.ones((1, 20, 1))
    soft = tomopy.retrieve_phase(edge, alpha=1e-4)[0, 10]
    assert np.allclose(tomopy.retrieve_phase(flat, pad=False), flat, rtol=1e-4)
    assert (np.diff(soft) > -1e-4).all() and np.diff(soft).max() < 0.2


def test_half_turns_are_joined(theta):
    wide = np.arange(12.0)
    own, opposite = np.tile(wide[4:], (2, 1, 1)), np.tile(wide[:8][::-1], (2, 1, 1))  # the axis near the left end
    assert np.allclose(tomopy.sino_360_to_180(np.concatenate([own, opposite]), overlap=4), wide)
    own, opposite = np.tile(wide[:8], (2, 1, 1)), np.tile(wide[4:][::-1], (2, 1, 1))
    assert np.allclose(tomopy.sino_360_to_180(np.concatenate([own, opposite]), 4, "right"), wide)


def test_small_things():
    assert np.allclose(tomopy.angles(5), np.linspace(0, np.pi, 5))
    assert tomopy.remove_neg(np.array([-1.0, 2]))[0] == 0 and tomopy.remove_nan(np.array([np.nan]), 7)[0] == 7
    masked = tomopy.circ_mask(np.ones((2, 8, 8), dtype=np.float32), axis=0, ratio=0.5, val=-1)
    assert masked[1, 4, 4] == 1 and masked[1, 0, 0] == -1
    data = np.full((5, 2, 9), 0.5)
    data[2, 1, 4] = 9
    for axis in range(3):
        assert tomopy.remove_outlier(data, 1, axis=axis).max() == 0.5
