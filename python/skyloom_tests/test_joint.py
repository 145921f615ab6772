# SPDX-License-Identifier: BSD-3-Clause
"""Templates that are fitted together, and the observation matrix, of arrays."""
import os
import zipfile

import numpy as np
import pytest

import skyloom

N = 1500
SWEEPS = [(0, 300), (300, 600), (620, 900), (900, 1200), (1200, 1500)]


@pytest.fixture()
def azimuth():
    t = np.arange(N) % 600 / 300
    return 1 + 0.4 * np.where(t < 1, t, 2 - t)


def observed(plane, boresight, azimuth, signal, flags=None):
    angle = 0.7 * np.arange(N)
    return skyloom.Observation(boresight, plane.quats, signal, rate=5.0, weights=2.0, gamma=plane.gamma, hwp_angle=angle,
                               azimuth=azimuth, intervals=SWEEPS, flags=flags)


def filtered(values, good, azimuth, orders, harmonics, bins):
    """By numpy, all templates in one matrix."""
    columns = []
    for first, end in SWEEPS:
        x = (2 * np.arange(end - first) + 1) / (end - first) - 1
        for k in range(orders + 1):
            column = np.zeros(N)
            column[first:end] = x**k
            columns.append(column)
    for m in range(1, harmonics + 1):
        columns += [np.cos(m * 0.7 * np.arange(N)), np.sin(m * 0.7 * np.arange(N))]
    place = np.floor(np.degrees(azimuth) / bins).astype(int)
    columns += [(place == b).astype(float) for b in np.unique(place)]
    a = np.array(columns).T
    fit = np.linalg.lstsq(a[good], values[good], rcond=1e-10)[0]
    return values - a @ fit


def test_maps_are_those_of_samples_that_numpy_fitted(plane, boresight, azimuth):
    rng = np.random.default_rng(1)
    n = len(plane.quats)
    signal = rng.normal(size=(n, N))
    flags = (rng.random((n, N)) < 0.05).astype(np.uint8)
    outside = np.ones(N, dtype=bool)
    for first, end in SWEEPS:
        outside[first:end] = False
    wishes = dict(nside=16, binned_only=True, rcond=1e-3, step=0)
    maps = skyloom.make_maps(observed(plane, boresight, azimuth, signal, flags), joint=True, poly_order=2, hwp_harmonics=3, ground_bins=4,
                             **wishes)
    by_numpy = [filtered(row, (bad == 0) & ~outside, azimuth, 2, 3, 4) for row, bad in zip(signal, flags)]
    wanted = skyloom.make_maps(observed(plane, boresight, azimuth, by_numpy, flags), **wishes)
    assert np.array_equal(maps.hits, wanted.hits)
    assert np.nanmax(np.abs(maps.binned - wanted.binned)) < 1e-11
    apart = skyloom.make_maps(observed(plane, boresight, azimuth, signal, flags), poly_order=2, hwp_harmonics=3, ground_bins=4, **wishes)
    assert np.nanmax(np.abs(maps.binned - apart.binned)) > 1e-3


def test_what_detectors_see_of_maps_is_taken_out(plane, boresight, azimuth):
    rng = np.random.default_rng(5)
    columns = rng.normal(size=(2, 12 * 16**2)).astype(np.float32)
    pixels = skyloom.pixels(boresight, plane.quats, 16)
    signal = [3 + (1 + 0.1 * d) * columns[0].astype(float)[pixels[d]] - columns[1].astype(float)[pixels[d]] for d in range(len(plane.quats))]
    one, wishes = observed(plane, boresight, azimuth, signal), dict(nside=16, binned_only=True, rcond=1e-3, joint=True, poly_order=0)
    assert np.nanmax(np.abs(skyloom.make_maps(one, **wishes).binned)) > 0.3
    assert np.nanmax(np.abs(skyloom.make_maps(one, deproject=columns, **wishes).binned)) < 1e-10
    half = [skyloom.make_maps(one, deproject=columns, deproject_columns=1, **wishes), skyloom.make_maps(one, deproject=columns[0], **wishes)]
    assert np.nanmax(np.abs(half[0].binned)) > 0.3 and np.array_equal(half[0].binned, half[1].binned, equal_nan=True)
    for wrong in (np.zeros(5), np.zeros((2, 3, 48)), "", [[1.0]]):
        with pytest.raises(ValueError, match="deproject|pixels"):
            skyloom.make_maps(one, deproject=wrong, **wishes)


def test_a_ground_that_grows_is_taken_out_by_its_drift(plane, boresight, azimuth):
    bins = np.floor(np.degrees(azimuth) / 4)
    signal = np.sin(bins) * np.linspace(0, 1, N) * np.ones((len(plane.quats), 1))
    one, wishes = observed(plane, boresight, azimuth, signal), dict(nside=16, binned_only=True, rcond=1e-3, joint=True, ground_bins=4)
    found = {key: np.nanmax(np.abs(skyloom.make_maps(one, **more, **wishes).binned))
             for key, more in (("never", {}), ("steps", dict(ground_step=60.0)), ("drift", dict(ground_drift=1)))}
    assert found["drift"] < 1e-10 and found["steps"] < 0.5 * found["never"]


@pytest.mark.parametrize("weighted", [False, True])
def test_the_matrix_makes_the_map_of_a_sky(plane, boresight, azimuth, weighted, tmp_path):
    sparse = pytest.importorskip("scipy.sparse")
    rng = np.random.default_rng(2)
    nside, n = 8, len(plane.quats)
    sky = rng.normal(size=(3, 12 * nside**2))
    pixels = skyloom.pixels(boresight, plane.quats, nside)
    weights = skyloom.stokes_weights(boresight, plane.quats, gamma=plane.gamma, hwp_angle=0.7 * np.arange(N))
    signal = [(sky[:, pixels[d]].T * weights[d]).sum(axis=1) for d in range(n)]
    path = tmp_path / "matrix.npz"
    maps = skyloom.make_maps(observed(plane, boresight, azimuth, signal), nside=nside, binned_only=True, rcond=1e-3, joint=True, poly_order=1,
                             hwp_harmonics=2, ground_order=4, ground_split=True, obs_matrix=path, obs_matrix_weighted=weighted)
    matrix = sparse.load_npz(path)
    assert matrix.shape == (3 * sky.shape[1],) * 2
    made = (matrix @ sky.ravel()).reshape(3, -1)[:, maps.pixels]
    found = maps.noise_weighted if weighted else np.nan_to_num(maps.binned)
    assert np.abs(made - found).max() < 1e-10 * np.abs(found).max()
    with zipfile.ZipFile(path) as archive:
        assert archive.testzip() is None
    if weighted:
        assert abs(matrix - matrix.T).max() < 1e-12 * abs(matrix).max()


def test_a_path_of_bytes_is_a_path(plane, boresight, azimuth, tmp_path):
    one = observed(plane, boresight, azimuth, np.zeros((len(plane.quats), N)))
    skyloom.make_maps(one, nside=8, binned_only=True, joint=True, poly_order=1, obs_matrix=os.fsencode(tmp_path / "m.npz"))
    assert (tmp_path / "m.npz").exists()


def test_faults_are_told(plane, boresight, azimuth, tmp_path):
    one = observed(plane, boresight, azimuth, np.zeros((len(plane.quats), N)))
    for wishes, part in ((dict(joint=True), "--joint"), (dict(joint_rcond=0.1), "--joint-rcond"), (dict(obs_matrix="m.npz"), "--obs-matrix"),
                         (dict(joint=True, poly_order=1, ground_order=1), "--ground-order"),
                         (dict(joint=True, poly_order=1, obs_matrix=""), "obs_matrix: expected a value"),
                         (dict(checkpoint=""), "checkpoint: expected a value")):
        with pytest.raises(ValueError, match=part):
            skyloom.make_maps(one, nside=8, **wishes)
    path = tmp_path / "m.npz"
    with pytest.raises(skyloom.SkyloomError, match="--memory"):
        skyloom.make_maps(one, nside=8, binned_only=True, joint=True, poly_order=1, obs_matrix=path, memory=1000)
    assert not path.exists()
