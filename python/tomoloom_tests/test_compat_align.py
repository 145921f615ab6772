# SPDX-License-Identifier: BSD-3-Clause
"""What a detector sees of slices, and TomoPy's functions that move projections, against SciPy where TomoPy calls that."""
import numpy as np
import pytest

import tomoloom
import tomoloom.compat.tomopy as tomopy

STACK = np.random.default_rng(9).normal(3, 1, (3, 14, 19)).astype(np.float32)


def ball(size, at=(0.0, 0.0), radius=0.3):
    """[row][n][n]: soft, off the axis."""
    z, y, x = np.mgrid[:size, :size, :size] / (size - 1) * 2 - 1
    return np.exp(-((x - at[0]) ** 2 + (y - at[1]) ** 2 + z**2) / radius**2).astype(np.float32)


def test_project_is_what_recon_begins_with(theta):
    volume = ball(33, (0.3, -0.2))[10:20]
    seen = tomoloom.project(volume, theta, 20.5, columns=48)
    assert seen.shape == (120, 10, 48)
    assert np.allclose(seen.sum(axis=2), volume.sum(axis=(1, 2)), rtol=1e-4)  # no light is lost
    assert np.allclose(seen[0, :, 4:37] * 0.5 + seen[0, :, 5:38] * 0.5, volume.sum(axis=1), rtol=0.2, atol=0.1)
    turned = tomoloom.project(volume, theta, np.full(10, 20.5), columns=48, sinograms=True)
    assert np.array_equal(turned.swapaxes(0, 1), seen)
    own = tomoloom.project(volume, theta, 14.25)
    back = tomoloom.recon(own, theta, 14.25, method="cgls", iterations=30)
    assert np.linalg.norm(tomoloom.mask_circle(back - volume, 0.8)) < 0.02 * np.linalg.norm(volume)
    spoilt = volume.copy()
    spoilt[3, 16, 16] = np.nan
    assert np.isfinite(tomoloom.project(spoilt, theta)).all()


@pytest.mark.parametrize("arguments", [{"center": 40}, {"center": np.nan}, {"center": np.zeros(3)}, {"columns": 0},
                                       {"theta": []}, {"theta": [np.inf]}, {"volume": np.zeros((2, 8, 9))}])
def test_project_refuses(arguments):
    with pytest.raises(ValueError, match=next(iter(arguments))):
        tomoloom.project(**{"volume": np.ones((2, 9, 9)), "theta": [0.0, 1.0], **arguments})


def test_project_has_the_peers_width_and_axis(theta):
    volume = ball(20)
    seen = tomopy.project(volume, theta)
    assert seen.shape == (120, 20, 32)
    assert np.array_equal(seen, tomoloom.project(volume, theta.astype(np.float32), 16.0, columns=32))
    narrow = tomopy.project(volume, theta, center=9.5, pad=False, sinogram_order=True)
    assert narrow.shape == (20, 120, 20)
    assert np.allclose(tomopy.project(volume, theta, emission=False), np.exp(-seen))
    assert np.array_equal(tomopy.sim.project.project(volume, theta), seen)


def test_shifted_images_are_splines_of_what_is_0_beyond():
    ndimage = pytest.importorskip("scipy.ndimage")
    sx, sy = [0.6, -2.0, 40.25], [-1.3, 3.5, 0.0]
    given = STACK.copy()
    found = tomopy.shift_images(given, sx, sy)
    assert found is given
    for m in range(3):
        want = ndimage.shift(STACK[m].astype(float), (-sx[m], -sy[m]), order=5, mode="grid-constant")
        assert np.allclose(found[m], np.clip(want, 0, STACK[m].max()), atol=2e-4)
    assert np.abs(found[0] - STACK[0]).max() > 0.5
    counts = np.arange(2 * 4 * 5, dtype=np.uint16).reshape(2, 4, 5)
    assert np.allclose(tomopy.shift_images(counts, [0, 1], [2, 0])[0, :, :3], counts[0, :, 2:], atol=1e-4)
    for wrong in (([0, 0], sy), (sx, 0), (sx, [0, np.nan, 0])):
        with pytest.raises(ValueError, match="s[xy]: expected"):
            tomopy.shift_images(STACK.copy(), *wrong)
    with pytest.raises(ValueError, match="remove_nan"):
        tomopy.shift_images(np.full((3, 4, 5), np.nan), sx, sy)


def test_iterations_go_on_from_slices(integrals, theta):
    for algorithm, more in (("sirt", {}), ("art", {}), ("bart", {"num_block": 4})):
        half = tomopy.recon(integrals, theta, 33.25, algorithm=algorithm, num_iter=3, **more)
        whole = tomopy.recon(integrals, theta, 33.25, algorithm=algorithm, num_iter=8, **more)
        on = tomopy.recon(integrals, theta, 33.25, algorithm=algorithm, num_iter=5, init_recon=half, **more)
        assert np.linalg.norm(on - whole) < 1e-5 * np.linalg.norm(whole)
        assert np.linalg.norm(half - whole) > 1e-2 * np.linalg.norm(whole)
    turned = tomopy.recon(integrals.swapaxes(0, 1), theta, 33.25, algorithm="sirt", init_recon=half, sinogram_order=True)
    assert np.allclose(turned, tomopy.recon(integrals, theta, 33.25, algorithm="sirt", init_recon=half))
    with pytest.raises(NotImplementedError, match="accelerated"):
        tomopy.recon(integrals, theta, algorithm="sirt", accelerated=True)
    with pytest.raises(NotImplementedError, match="mlem has a start of its own"):
        tomopy.recon(integrals, theta, algorithm="mlem", init_recon=half)
    with pytest.raises(ValueError, match="init_recon: expected slices"):
        tomopy.recon(integrals, theta, algorithm="sirt", init_recon=half[:1])


@pytest.mark.parametrize("align, rows, columns", [(tomopy.align_joint, 0.1, 0.4), (tomopy.align_seq, 0.9, 1)])
def test_projections_are_moved_to_where_their_slices_are(align, rows, columns, capsys):
    angles = np.linspace(0, np.pi, 40)
    true = tomopy.project(tomopy.shepp3d(32), angles, center=16, pad=False)
    rng = np.random.default_rng(4)
    away = rng.integers(-1, 2, (2, 40)).astype(float)
    spoilt = tomopy.shift_images(true.copy(), *away)
    moved, up, left, errors = align(spoilt.copy(), angles, center=16, iters=8, blur=False, algorithm="sirt", debug=False)
    assert capsys.readouterr().out == "" and moved.shape == spoilt.shape and errors.shape == (8,)
    assert np.std(up + away[0]) < rows * np.std(away[0])
    assert np.std(left + away[1]) < columns * np.std(away[1])
    assert errors[-1] < 0.3 * errors[0]
    if align is tomopy.align_joint:
        assert np.allclose(moved, spoilt, atol=1e-4)
        moved = tomopy.shift_images(moved.copy(), up, left)
    with pytest.raises(NotImplementedError, match="save"):
        align(spoilt, angles, save=True)


def test_a_lens_is_undone_as_the_peer_does(tmp_path):
    ndimage = pytest.importorskip("scipy.ndimage")
    centre, factors = (8.2, 5.7), [1.0, -2e-3, 3e-4]
    y, x = np.mgrid[:14, :19] - np.array([centre[1], centre[0]])[:, np.newaxis, np.newaxis]
    stretch = sum(f * np.hypot(x, y) ** i for i, f in enumerate(factors))
    at = np.clip(centre[1] + stretch * y, 0, 13), np.clip(centre[0] + stretch * x, 0, 18)
    want = np.stack([ndimage.map_coordinates(image, at, order=1) for image in STACK])
    given = STACK.copy()
    assert tomopy.distortion_correction_proj(given, *centre, factors) is given
    assert np.allclose(given, want, atol=1e-5) and np.abs(given - STACK).max() > 0.1
    assert np.allclose(tomopy.distortion_correction_sino(STACK, 4, *centre, factors), want[:, 4], atol=1e-5)
    with pytest.raises(ValueError, match="list_fact: expected finite"):
        tomopy.distortion_correction_proj(given, *centre, [1, np.nan])
    path = tmp_path / "lens.txt"
    path.write_text("xcenter = 8.2\nycenter = 5.7\n" + "".join(f"factor{i} = {f}\n" for i, f in enumerate(factors)))
    assert tomopy.load_distortion_coefs(path) == (*centre, factors)


def test_edges_and_ranges():
    blurred = tomopy.blur_edges(np.ones((1, 8, 6), dtype=np.float32), 0.2, 0.8)
    assert blurred[0, 4, 3] == 1 and blurred[0, 0, 0] == 0 and np.isclose(blurred[0, 4, 0], (4 - 3) / (4 - 1))
    scaled, largest = tomopy.scale(np.array([[[-4.0, 2.0]]], dtype=np.float32))
    assert largest == 4 and np.array_equal(scaled, [[[-1, 0.5]]])
    values = np.arange(5.0)
    assert tomopy.adjust_range(values, dmin=1, dmax=3) is values and np.array_equal(values, [1, 1, 2, 3, 3])
    assert np.array_equal(tomopy.median_filter_cuda(STACK, 3, 1), tomopy.median_filter(STACK, 3, 1))
    assert np.array_equal(tomopy.remove_outlier_cuda(STACK, 0.5, 3, 1), tomopy.remove_outlier(STACK, 0.5, 3, 1))


def test_what_spoils_projections():
    even = np.full((20, 30, 40), 100.0, dtype=np.float32)
    assert np.allclose(tomopy.add_drift(even, amp=0)[:, 0, 0], 100 + 100 * np.arange(20) / 19)
    assert abs(tomopy.add_gaussian(even.copy(), std=2).std() - 2) < 0.1
    assert tomopy.add_poisson(even).dtype.kind == "i" and abs(tomopy.add_poisson(even).std() - 10) < 0.5
    rings = tomopy.add_rings(even, 0.1)
    assert np.array_equal(rings[0], rings[19]) and abs(rings[0].std() - 10) < 1
    assert abs(np.mean(tomopy.add_salt_pepper(even.copy(), 0.1, 7) == 7) - 0.1) < 0.02
    assert abs(np.mean(tomopy.add_zingers(even, 0.1) == 2**16) - 0.1) < 0.02 and even.max() == 100
    assert abs((tomopy.add_noise(even, 0.03) - even).std() - 3) < 0.1
    given = np.zeros((2, 5, 6), dtype=np.float32)
    given[:, 2, 3] = 1
    moved, left, up = tomopy.add_jitter(given, 1, 1)
    assert np.array_equal(np.argwhere(moved), [[0, 1, 2], [1, 1, 2]]) and np.array_equal(left, [1, 1])


def test_the_phantom():
    body = tomopy.shepp3d((16, 24, 32))
    assert body.shape == (16, 24, 32) and body.dtype == np.float32 and body.min() == 0 and body.max() == 1
    assert tomopy.shepp3d(8).shape == (8, 8, 8)
    with pytest.raises(ValueError, match="size"):
        tomopy.shepp3d((4, 5))
