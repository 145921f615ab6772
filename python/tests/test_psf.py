# SPDX-License-Identifier: BSD-3-Clause
import pickle

import numpy as np
import pytest

import fiberloom as fl


def test_spots_are_normalised_and_centred_on_the_trace(small):
    wave = [6010.0, 6040.0, 6003.0]
    spots = small.psf.spots(wave, [0, 7])
    assert spots.value.shape == (2, 3, 11, 17)
    assert np.allclose(spots.value.sum(axis=(2, 3)), 1, atol=1e-12)
    y, x = small.psf.y(wave, [0, 7]), small.psf.x(wave, [0, 7])
    rows, cols = np.arange(11), np.arange(17)
    assert np.allclose((spots.value.sum(axis=3) @ rows) + spots.y0, y, atol=0.2)
    assert np.allclose((spots.value.sum(axis=2) @ cols) + spots.x0, x, atol=0.2)
    one = small.psf.spots(6010.0, 7)
    assert np.array_equal(one.value[0, 0], spots.value[1, 0])


def test_project_is_the_sum_of_spots(small):
    wave = np.array([6010.0, 6011.0])
    flux = np.zeros((10, 2))
    flux[4] = 3, 5
    image = small.psf.project(flux, wave)
    want = np.zeros(small.psf.shape)
    spots = small.psf.spots(wave, [4])
    for j in range(2):
        y, x = spots.y0[0, j], spots.x0[0, j]
        want[y:y + 11, x:x + 17] += flux[4, j] * spots.value[0, j]
    assert np.allclose(image, want, atol=1e-15)
    assert np.array_equal(small.psf.project(flux[4:6], wave, specmin=4), image)


def test_project_makes_the_simulated_ccd(small):
    image = small.psf.project(small.electrons, small.lit_wave)
    assert abs(image - small.mean).max() < 1e-10 * small.mean.max()


def test_the_model_is_the_projection_of_the_deconvolved_flux(small, frame):
    image = small.psf.project(frame.xflux * frame.bin_width, frame.wave)
    y = small.psf.y(frame.wave[[20, 40]], [0])[0].astype(int)
    rows = slice(y[0] + 12, y[1] - 12)
    assert abs(image - frame.model)[rows].max() < 1e-6 * image.max()


def test_the_operator_and_its_adjoint_are_transposes(small):
    a = small.psf.operator(small.wave, specmin=2, nspec=5)
    assert a.shape == (small.image.size, 5 * 60) and a.dtype == np.float64
    rng = np.random.default_rng(1)
    for _ in range(5):
        f, p = rng.normal(size=a.shape[1]), rng.normal(size=a.shape[0])
        left, right = (a @ f) @ p, f @ a.rmatvec(p)
        assert abs(left - right) <= 1e-12 * np.linalg.norm(a @ f) * np.linalg.norm(p)
    assert np.array_equal(a.T @ p, a.rmatvec(p))


def test_the_operator_serves_scipy_s_least_squares(small):
    from scipy.sparse.linalg import lsqr
    a = small.psf.operator(small.lit_wave, specmin=0, nspec=10)
    x = lsqr(a, small.mean.ravel(), iter_lim=100)[0]
    assert np.linalg.norm(a @ x - small.mean.ravel()) < 1e-3 * np.linalg.norm(small.mean)


def test_the_adjoint_of_ones_is_the_light_that_meets_the_ccd(small):
    light = small.psf.adjoint(np.ones(small.psf.shape), small.wave)
    assert light.shape == (10, 60) and np.allclose(light, 1, atol=1e-12)


def test_a_psf_can_be_pickled(small, frame):
    psf = pickle.loads(pickle.dumps(small.psf))
    got = fl.extract_frame(small.image, small.ivar, psf, small.wave)
    assert np.array_equal(got.flux, frame.flux)
    assert repr(psf) == repr(small.psf) and psf.psferr == small.psf.psferr


def test_a_psf_of_images_is_pickled_by_its_file(tmp_path):
    astropy_fits = pytest.importorskip("astropy.io.fits")
    x, y = np.array([[20.0, 0.1], [32.0, 0.1]]), np.array([[60.0, 55.0], [60.0, 55.0]])
    spot = np.exp(-((np.arange(15) - 7) ** 2 + (np.arange(15)[:, np.newaxis] - 7) ** 2) / 3)
    hdus = [astropy_fits.PrimaryHDU(x), astropy_fits.ImageHDU(y, name="YCOEFF"), astropy_fits.ImageHDU(spot, name="SPOT")]
    hdus[0].header.update(EXTNAME="XCOEFF", PSFTYPE="MONOSPOT", NPIX_X=60, NPIX_Y=120, NSPEC=2)
    for hdu in hdus[:2]:
        hdu.header.update(WAVEMIN=5000.0, WAVEMAX=5100.0)
    hdus[2].header["SCALE"] = 1
    astropy_fits.HDUList(hdus).writeto(tmp_path / "mono.fits")
    psf = fl.read_psf(tmp_path / "mono.fits")
    again = pickle.loads(pickle.dumps(psf))
    assert np.array_equal(again.spots([5050.3]).value, psf.spots([5050.3]).value)


@pytest.mark.parametrize("call, message", [
    (lambda p, w: p.project(np.ones((10, 3)), w), "flux: expected shape"),
    (lambda p, w: p.project(np.full((10, 60), np.nan), w), "flux: expected finite numbers, 600 of 600"),
    (lambda p, w: p.project(np.ones((11, 60)), w), "nspec: expected at most 10"),
    (lambda p, w: p.project(np.ones((10, 60)), w, specmin=1), "nspec: expected at most 9"),
    (lambda p, w: p.adjoint(np.ones((3, 4)), w), "image: expected shape"),
    (lambda p, w: p.adjoint(np.full(p.shape, np.inf), w), "image: expected finite numbers"),
    (lambda p, w: p.spots(w, [10]), "fibers: expected fibres from 0 to 9"),
    (lambda p, w: p.spots(w, []), "fibers: expected"),
    (lambda p, w: p.spots([], [1]), "wave: expected shape"),
    (lambda p, w: p.operator(w) @ np.ones(5), "[Dd]imension mismatch"),
    (lambda p, w: p.operator(w) @ np.full(600, np.nan), "f: expected finite"),
    (lambda p, w: p.operator(w[::-1]), "wave: expected increasing"),
])
def test_wrong_arguments_are_named(small, call, message):
    with pytest.raises((ValueError, TypeError), match=message):
        call(small.psf, small.wave)
