# SPDX-License-Identifier: BSD-3-Clause
"""Stripes found and what is missing made up: by both names, for any kind of array, one clear line where it does not fit."""
import numpy as np
import pytest

import tomoloom
import tomoloom.compat.tomopy as tomopy


@pytest.fixture(scope="module")
def striped():
    """Projections that vary by a hundredth, with a stripe of half in row 6, columns 20 to 23."""
    data = 1 + 0.01 * np.random.default_rng(1).random((60, 15, 64), dtype=np.float32)
    data[:, 6, 20:24] += 0.5
    return data


def test_a_stripe_is_found_masked_and_made_up(striped):
    weights = tomoloom.detect_stripes(striped, radius=1)
    assert weights.shape == striped.shape and weights.dtype == np.float32
    assert 0 <= weights.min() and weights.max() <= 1
    mask = tomoloom.mask_stripes(weights, 0.15)
    assert mask.dtype == np.bool_ and mask[:, 6, 20:24].all()
    there = np.argwhere(mask)
    assert (abs(there[:, 1] - 6) <= 1).all() and (abs(there[:, 2] - 21.5) < 6).all()  # and nowhere else
    for method in ("mean", "median", "random"):
        found = tomoloom.inpaint(striped, mask, method=method)
        assert np.abs(found[mask] - 1.005).max() < 0.01
        assert np.array_equal(found[~mask], striped[~mask])


def test_threads_layout_and_type_change_no_byte(striped):
    weights = tomoloom.detect_stripes(striped, threads=1)
    mask = tomoloom.mask_stripes(weights, threads=1)
    want = tomoloom.inpaint(striped, mask, threads=1)
    apart = np.empty((60, 15, 128), dtype=np.float64)[:, :, ::2]
    apart[...] = striped
    turned = np.asfortranarray(mask)
    assert np.array_equal(tomoloom.detect_stripes(apart, threads=3), weights)
    assert np.array_equal(tomoloom.mask_stripes(np.asfortranarray(weights), threads=3), mask)
    assert np.array_equal(tomoloom.inpaint(apart, turned, threads=3), want)


def test_planes_are_each_by_itself(striped):
    mask = np.random.default_rng(2).random(striped.shape) < 0.1
    before = striped.copy()
    for axis in range(3):
        found = tomoloom.inpaint(striped, mask, 2, method="median", axis=axis)
        for plane, values, marked in zip(*(np.moveaxis(a, axis, 0) for a in (found, striped, mask))):
            assert np.array_equal(plane, tomoloom.inpaint(values, marked, 2, method="median"))
    assert np.array_equal(before, striped)


def test_what_is_no_number_is_missing_too(striped):
    spoilt = striped.copy()
    spoilt[10, 3, 40] = np.nan
    spoilt[20, 3, 40] = np.inf
    spoilt[30, 3, 40] = 3e38
    assert np.isfinite(tomoloom.detect_stripes(spoilt)).all()
    assert not tomoloom.mask_stripes(np.full((30, 11, 8), np.nan)).any()
    mask = np.zeros(striped.shape, dtype=bool)
    mask[10, 3, 41] = mask[20, 3, 41] = True
    found = tomoloom.inpaint(spoilt, mask)
    assert np.isfinite(found[mask]).all() and np.abs(found[mask] - 1.005).max() < 0.01
    assert np.array_equal(found[~mask], spoilt[~mask], equal_nan=True)
    hidden = np.ma.masked_array(striped, np.zeros(striped.shape, dtype=bool))
    hidden[0, 0, 0] = np.ma.masked
    assert np.isfinite(tomoloom.detect_stripes(hidden)).all()
    assert np.isnan(tomoloom.inpaint(hidden, mask)[0, 0, 0])


def test_a_seed_is_one_series_of_draws(striped):
    mask = np.zeros(striped.shape, dtype=bool)
    mask[:, :, 30:36] = True
    assert np.array_equal(tomoloom.inpaint(striped, mask, seed=1), tomoloom.inpaint(striped, mask, seed=1))
    assert not np.array_equal(tomoloom.inpaint(striped, mask, seed=1), tomoloom.inpaint(striped, mask, seed=2))


ONES, NONE = np.ones((8, 4, 6), dtype=np.float32), np.zeros((8, 4, 6), dtype=bool)


@pytest.mark.parametrize("kind, call", [
    (ValueError, lambda: tomoloom.detect_stripes(ONES[0])),
    (ValueError, lambda: tomoloom.detect_stripes(ONES[:, :0])),
    (ValueError, lambda: tomoloom.detect_stripes(ONES[:1], 1)),
    (ValueError, lambda: tomoloom.detect_stripes(ONES, 5)),
    (ValueError, lambda: tomoloom.detect_stripes(ONES, 0)),
    (ValueError, lambda: tomoloom.detect_stripes(ONES, 2, 0)),
    (TypeError, lambda: tomoloom.detect_stripes(ONES, 2.5)),
    (TypeError, lambda: tomoloom.detect_stripes(ONES.astype(complex), 2)),
    (ValueError, lambda: tomoloom.mask_stripes(ONES)),  # min_length of 20 angles
    (ValueError, lambda: tomoloom.mask_stripes(ONES, 0.6, 8, 0, 2)),
    (ValueError, lambda: tomoloom.mask_stripes(ONES, 0.6, 4, 4, 2)),
    (ValueError, lambda: tomoloom.mask_stripes(ONES, 0.6, 4, 0, 6)),
    (ValueError, lambda: tomoloom.mask_stripes(ONES, np.nan, 4, 0, 2)),
    (ValueError, lambda: tomoloom.mask_stripes(ONES, 0.6, 4, 0, 2, 0)),
    (ValueError, lambda: tomoloom.mask_stripes(ONES, 0.6, 4, 0, 2, 101)),
    (ValueError, lambda: tomoloom.mask_stripes(ONES[:, :, :1], 0.6, 4, 0, 1)),
    (ValueError, lambda: tomoloom.inpaint(ONES, NONE.astype(int))),
    (ValueError, lambda: tomoloom.inpaint(ONES, NONE[:4])),
    (ValueError, lambda: tomoloom.inpaint(ONES[0, 0], NONE[0, 0])),
    (ValueError, lambda: tomoloom.inpaint(ONES[:, :0], NONE[:, :0])),
    (ValueError, lambda: tomoloom.inpaint(ONES[0], NONE[0], axis=0)),
    (ValueError, lambda: tomoloom.inpaint(ONES, NONE, axis=3)),
    (ValueError, lambda: tomoloom.inpaint(ONES, NONE, 0)),
    (ValueError, lambda: tomoloom.inpaint(ONES, NONE, method="nearest")),
    (ValueError, lambda: tomoloom.inpaint(ONES, NONE, passes=-1)),
    (TypeError, lambda: tomoloom.inpaint(ONES.astype(str), NONE)),
    (ValueError, lambda: tomopy.inpainter_morph(ONES, NONE, inpainting_type="nearest")),
    (ValueError, lambda: tomopy.stripes_detect3d(ONES)),
])
def test_what_does_not_fit_is_one_line(kind, call):
    with pytest.raises(kind) as found:
        call()
    assert "\n" not in str(found.value) and str(found.value)


@pytest.mark.parametrize("shape", [(6,), (1, 2, 3, 4), (0, 5, 6), (5, 6, 0), (0, 6)])
def test_an_array_to_inpaint_is_told_of_in_its_own_shape(shape):
    with pytest.raises(ValueError) as found:
        tomoloom.inpaint(np.zeros(shape), np.zeros(shape, bool), axis=1 if len(shape) == 3 else None)
    assert str(found.value) == f"array: expected two or three axes, none of them empty, got shape {shape}"


def test_by_tomopys_names(striped):
    weights = tomopy.stripes_detect3d(striped, size=12, radius=2, ncore=1)
    assert np.array_equal(weights, tomoloom.detect_stripes(striped, 12, 2))
    mask = tomopy.stripes_mask3d(weights, 0.5, min_stripe_length=15, min_stripe_depth=8, min_stripe_width=3, sensitivity_perc=70.0)
    assert np.array_equal(mask, tomoloom.mask_stripes(weights, 0.5, 15, 8, 3, 70))
    assert tomopy.prep.stripe.stripes_mask3d is tomopy.stripes_mask3d and tomopy.misc.corr.inpainter_morph is tomopy.inpainter_morph
    for iterations, passes in ((0, 0), (1, 1), (2, 1), (5, 1)):
        assert np.array_equal(tomopy.inpainter_morph(striped, mask, 3, iterations, "mean", axis=1),
                              tomoloom.inpaint(striped, mask, 3, passes, "mean", axis=1))
    factors = 1 + 0.01 * np.random.default_rng(3).random(200)
    factors[50] = 2
    found = tomopy.prep.stripe._detect_stripe(factors, 3)
    assert found.dtype == factors.dtype and np.flatnonzero(found).tolist() == [50]


@pytest.mark.filterwarnings("ignore:.* changes nothing with method")  # what others of the methods take
@pytest.mark.parametrize("method", ["osem", "ospml_quad", "ospml_hybrid", "bart"])
def test_blocks_are_of_the_projections_that_are_named(integrals, theta, method):
    one = integrals[:, :1]

    def slices(data, angles, order, blocks=7):
        return tomoloom.recon(data, angles, 33.25, method=method, iterations=3, blocks=blocks, block_order=order, reg_par=0.1)

    usual = slices(one, theta, None)
    by_hand = np.concatenate([np.arange(k, 120, 7) for k in range(7)])
    assert np.array_equal(slices(one, theta, by_hand), usual)
    drawn = np.random.default_rng(4).permutation(120)
    shuffled = slices(one, theta, drawn)
    assert not np.array_equal(shuffled, usual)
    assert np.array_equal(slices(one[drawn], theta[drawn], np.arange(120)), shuffled)
    assert np.array_equal(slices(one, theta, drawn, 1), slices(one, theta, None, 1))
    inside = np.s_[0, 18:46, 18:46]
    assert np.corrcoef(shuffled[inside].ravel(), tomoloom.recon(one, theta, 33.25)[inside].ravel())[0, 1] > 0.95
    compat = tomopy.recon(one, theta, 33.25, algorithm=method, num_iter=3, num_block=7, ind_block=drawn,
                          **({"reg_par": [0.1, 1]} if "pml" in method else {}))
    assert np.allclose(compat, shuffled, rtol=1e-4, atol=1e-5)  # its angles are single precision


@pytest.mark.parametrize("order", [np.arange(119), np.zeros(120, dtype=int), np.arange(120) + 1, np.arange(120) - 1,
                                   np.arange(0), np.arange(120.0), "shuffled"])
def test_an_order_that_is_none_is_refused(integrals, theta, order):
    with pytest.raises((TypeError, ValueError), match="block_order"):
        tomoloom.recon(integrals, theta, 33.25, method="osem", iterations=1, blocks=2, block_order=order)
