# SPDX-License-Identifier: BSD-3-Clause
"""TomoPy's filters and changes of size, against SciPy where TomoPy calls that; rings and images of a centre scan."""
import struct

import numpy as np
import pytest

import tomoloom.compat.tomopy as tomopy

ndimage = pytest.importorskip("scipy.ndimage")
CUBE = np.random.default_rng(5).normal(10, 2, (5, 9, 12)).astype(np.float32)


def by_planes(work, axis):
    planes = [work(plane) for plane in np.moveaxis(CUBE, axis, 0)]
    return np.moveaxis(np.stack(planes), 0, axis)


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_filters_of_planes_are_scipys(axis):
    for size in (3, 4, 5):
        assert np.array_equal(tomopy.median_filter(CUBE, size, axis), by_planes(lambda p: ndimage.median_filter(p, (size, size)), axis))
    for sigma, order in ((0.7, 0), (1.3, 0), ((0.6, 0.9), (1, 0)), (0.8, 2), (0.8, 3)):
        assert np.allclose(tomopy.gaussian_filter(CUBE, sigma, order, axis),
                           by_planes(lambda p: ndimage.gaussian_filter(p, sigma, order), axis), rtol=1e-5, atol=1e-5)
    assert np.allclose(tomopy.sobel_filter(CUBE, axis), by_planes(ndimage.sobel, axis), rtol=1e-4, atol=1e-4)
    size = [5 if a == axis else 1 for a in range(3)]
    median = ndimage.median_filter(CUBE, size=size, mode="mirror")
    want = np.where(CUBE - median >= 1.5, median, CUBE)
    assert np.array_equal(tomopy.remove_outlier1d(CUBE, 1.5, 5, axis), want)
    assert not np.array_equal(want, CUBE)


def test_filters_of_boxes():
    assert np.array_equal(tomopy.median_filter3d(CUBE, 3), ndimage.median_filter(CUBE, 3))
    counts = (100 * CUBE).astype(np.uint16)
    assert tomopy.median_filter3d(counts, 5).dtype == np.uint16
    assert np.array_equal(tomopy.median_filter3d(counts, 5), ndimage.median_filter(counts, 5))
    for change in (500, -500):  # either way
        spoilt = CUBE.copy()
        spoilt[2, 4, 5] += change
        found = tomopy.remove_outlier3d(spoilt, 100, 3)
        assert abs(found[2, 4, 5] - 10) < 3 and (found != spoilt).sum() == 1
    with pytest.raises(ValueError, match="3D"):
        tomopy.median_filter3d(CUBE[0])


def test_what_is_no_number_becomes_the_median_around_it():
    spoilt = CUBE.copy()
    spoilt[1, 0, 0] = np.nan
    spoilt[3, 4, 4] = np.inf
    told = []
    found = tomopy.median_filter_nonfinite(spoilt, 3, lambda *words: told.append(words))
    assert found is spoilt and len(told) == 5
    assert found[1, 0, 0] == np.median([CUBE[1, 0, 1], CUBE[1, 1, 0], CUBE[1, 1, 1]])
    assert found[3, 4, 4] == np.median(np.delete(CUBE[3, 3:6, 3:6].ravel(), 4))
    with pytest.raises(ValueError, match="larger size"):
        tomopy.median_filter_nonfinite(np.full((1, 4, 4), np.nan), 3)


def test_sizes_change():
    assert np.allclose(tomopy.downsample(CUBE, 1, 2), CUBE.reshape(5, 9, 6, 2).mean(axis=3))
    assert np.allclose(tomopy.downsample(CUBE, 2, 0), CUBE[:4].mean(axis=0, keepdims=True))  # the fifth is left out
    assert np.array_equal(tomopy.downsample(tomopy.upsample(CUBE, 2, 1), 2, 1), CUBE)
    with pytest.raises(ValueError, match="level: 16 values"):
        tomopy.downsample(CUBE, 4, 1)
    wide = tomopy.pad(CUBE, 2)
    assert wide.shape == (5, 9, 12 + 2 * 3) and wide[0, 0, 0] == 0 and np.array_equal(wide[:, :, 3:15], CUBE)
    assert tomopy.pad(CUBE, 1, 2, constant_values=7)[0, 0, 0] == 7
    assert np.array_equal(tomopy.pad(CUBE, 1, 2, mode="edge")[:, 0], CUBE[:, 0])
    with pytest.raises(ValueError):
        tomopy.pad(CUBE, 1, mode="edge", constant_values=1)
    with pytest.raises(ValueError):
        tomopy.pad(CUBE, 1, mode="wrap")


def test_rings_go_from_slices():
    n = 96
    y, x = np.mgrid[:n, :n] - (n - 1) / 2
    radius = np.hypot(x, y)
    body = np.where(radius < 40, 1.0, 0).astype(np.float32)
    ringed = body + np.where(np.abs(radius - 22) < 1, 0.1, 0).astype(np.float32)
    stack = np.stack([ringed] * 3)
    found = tomopy.remove_ring(stack, thresh=0.5, rwidth=8)
    assert np.array_equal(stack[0], ringed) and found is not stack
    inside = radius < 35
    assert np.abs(found[1] - body)[inside].max() < 0.6 * np.abs(ringed - body)[inside].max()
    assert np.sqrt(np.mean((found[2] - body)[inside] ** 2)) < 0.5 * np.sqrt(np.mean((ringed - body)[inside] ** 2))
    assert tomopy.remove_ring(stack, thresh=0.5, rwidth=8, out=stack) is stack
    assert np.array_equal(stack, found)
    assert np.array_equal(tomopy.remove_ring(stack, rwidth=8, thresh=0.5, ncore=1), tomopy.remove_ring(stack, rwidth=8, thresh=0.5, ncore=3))


def test_rows_that_see_nothing():
    seen = np.random.default_rng(2).normal(1, 1e-3, (20, 6, 64))
    seen[:, 2:, 20:40] += 3
    assert tomopy.mask_empty_slice(seen).tolist() == [True, True, False, False, False, False]
    assert tomopy.mask_empty_slice(0 * seen).tolist() == 6 * [True]


def image(path):
    data = path.read_bytes()
    order, magic, at = struct.unpack("<2sHI", data[:8])
    assert (order, magic) == (b"II", 42)
    (count,) = struct.unpack("<H", data[at:at + 2])
    tags = {tag: value for tag, _, _, value in struct.iter_unpack("<HHII", data[at + 2:at + 2 + 12 * count])}
    assert tags[258] == 32 and tags[339] == 3 and list(tags) == sorted(tags)
    return np.frombuffer(data[tags[273]:tags[273] + tags[279]], dtype="<f4").reshape(tags[257], tags[256])


def test_a_centre_scan_is_a_folder_of_images(tmp_path):
    theta = tomopy.angles(40)
    path = 2 * np.sqrt(np.maximum(12**2 - (np.arange(32) - 16.0) ** 2, 0)) * np.ones((40, 3, 1))
    tomopy.write_center(path, theta, str(tmp_path / "a" / "b"), [15, 17, 0.5], ind=1, mask=True)
    files = sorted((tmp_path / "a" / "b").iterdir())
    assert [file.name for file in files] == ["15.00.tiff", "15.50.tiff", "16.00.tiff", "16.50.tiff"]
    want = tomopy.circ_mask(tomopy.recon(path[:, 1:2], theta, 15.5, algorithm="gridrec", filter_name="parzen"), axis=0)
    assert np.allclose(image(files[1]), want[0], rtol=1e-5, atol=1e-6)


def test_names_stand_where_scripts_look_for_them():
    assert tomopy.misc.corr.remove_ring is tomopy.remove_ring
    assert tomopy.misc.morph.downsample is tomopy.downsample
    assert tomopy.prep.stripe.remove_stripe_fw is tomopy.remove_stripe_fw
    assert tomopy.prep.stripe.remove_all_stripe is tomopy.remove_all_stripe
    assert tomopy.prep.phase.retrieve_phase is tomopy.retrieve_phase
