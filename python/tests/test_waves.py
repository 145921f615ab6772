# SPDX-License-Identifier: BSD-3-Clause
"""One way to say a grid, everywhere."""
import numpy as np
import pytest

import fiberloom as fl
from fiberloom.compat import gpu_specter, specter

GRID = np.arange(6000, 6040.4, 0.8)
TEXT, RANGE = "6000,6040,0.8", (6000, 6040, 0.8)


def calls(small, frame, files):
    """Name -> a function of the grid, whose result depends on it."""
    flux = np.ones((10, GRID.size))
    img = {"image": small.image, "ivar": small.ivar}
    return {
        "extract_frame": lambda w: fl.extract_frame(small.image, small.ivar, small.psf, w).flux,
        "project": lambda w: small.psf.project(flux, w), "adjoint": lambda w: small.psf.adjoint(small.image, w),
        "operator": lambda w: np.array(small.psf.operator(w).shape),
        "gpu_specter": lambda w: gpu_specter.extract_frame(img, small.psf, 25, 0, 10, w)["specflux"]}


@pytest.mark.parametrize("name", ["extract_frame", "project", "adjoint", "operator", "gpu_specter"])
def test_a_text_a_tuple_and_a_grid_say_the_same(small, frame, files, name):
    call = calls(small, frame, files)[name]
    expected = call(GRID)
    for same in (TEXT, RANGE, list(GRID), " 6000, 6040 ,0.8 "):
        got = call(same)
        assert got.shape == expected.shape and np.allclose(got, expected, rtol=1e-6, atol=1e-9), same


def test_spectra_say_their_grid_in_the_same_ways():
    flux, ivar = np.outer([9.0, 10.0, 11.0], np.ones(GRID.size)), np.ones((3, GRID.size))
    for same in (TEXT, RANGE, GRID):
        lamp = {"wave": same, "flux": flux, "ivar": ivar, "resolution": np.ones((3, 1, GRID.size))}
        assert np.allclose(fl.fiberflat(lamp, camera="r").wave, GRID)
        assert len(fl.fit_redshifts(flux, ivar, same, threads=1).z) == 3
    with pytest.raises(ValueError, match="wave: .*two numbers .6000, 6060., a range without a step"):
        fl.fit_redshifts(flux, ivar, (6000, 6060))


def test_texts_are_taken_where_wavelengths_are_points(small):
    for method in (small.psf.x, small.psf.y, small.psf.sigma_x, small.psf.sigma_y):
        assert np.allclose(method(TEXT), method(GRID))
    assert small.psf.spots(TEXT, 3).value.shape[1] == GRID.size
    assert small.psf.x((6010.0, 6000.0, 6005.0)).shape == (10, 3)  # three points, in any order
    assert specter.ex2d(small.image, small.ivar, small.psf, 0, 2, TEXT)[0].shape == (2, GRID.size)


@pytest.mark.parametrize("wave, message", [
    ((6000, 6060), "got two numbers .6000, 6060., a range without a step"),
    ("6000,6060", "expected .first, last, step. or 'first,last,step', got '6000,6060'"),
    ("a,b,c", "expected .first, last, step. or"), ("6000,6060,0", "step > 0"), ((6060, 6000, 0.8), "first <= last"),
    ([6000, 6060, 0.8], "bin 2 is 0.8 after 6060.0; .first, last, step. is a tuple"), ("", "expected")])
def test_what_is_no_grid_is_refused_in_clear_words(small, wave, message):
    with pytest.raises(ValueError, match="wave: .*" + message):
        fl.extract_frame(small.image, small.ivar, small.psf, wave)


def test_extract_file_refuses_in_the_same_words(files, tmp_path):
    for wavelength in ((6000, 6060), "6000,6060", "6000,6060,-1", 5):
        with pytest.raises(ValueError, match="wavelength: expected .first, last, step."):
            fl.extract_file(files["image"], files["psf"], tmp_path / "f.fits", wavelength=wavelength)
