# SPDX-License-Identifier: BSD-3-Clause
import inspect

import numpy as np
import pytest

import fiberloom as fl
from fiberloom.compat import gpu_specter, specter


def pulls(flux_a, ivar_a, flux_b, ivar_b):
    return np.abs((flux_a - flux_b) / np.sqrt(1 / ivar_a + 1 / ivar_b))


def test_gpu_specter_s_dictionary_comes_back(small, frame):
    timing = {}
    got = gpu_specter.extract_frame({"image": small.image, "ivar": small.ivar}, small.psf, 25, 0, 10,
                                    small.wave, model=True, timing=timing)
    assert list(got) == ["specflux", "specivar", "specmask", "wave", "Rdiags", "pixmask_fraction",
                         "chi2pix", "modelimage"]
    assert np.array_equal(got["specflux"], frame.flux) and got["Rdiags"].shape == (10, 11, 60)
    assert got["Rdiags"].dtype == np.float64 and got["modelimage"].dtype == np.float64
    assert (got["specmask"] == 0).all() and "assembled-frame" in timing
    text = gpu_specter.extract_frame({"image": small.image, "ivar": small.ivar}, small.psf, 25, 0, 10,
                                     "6000,6047.2,0.8")
    assert text["modelimage"] is None
    assert np.array_equal(text["wave"], np.arange(6000, 6047.2 + 0.4, 0.8))


def test_gpu_specter_s_psf_tables_are_taken(small, frame, files):
    table = pytest.importorskip("astropy.table")
    fits = pytest.importorskip("astropy.io.fits")
    psf = {"PSF": table.Table.read(files["psf"], "PSF")}
    with fits.open(files["psf"]) as hdus:
        for name in ("XTRACE", "YTRACE"):
            psf[name] = table.Table({name[0]: hdus[name].data.astype("f8")})
            for key in ("WAVEMIN", "WAVEMAX"):
                psf[name].meta[key] = hdus[name].header[key]
    got = gpu_specter.extract_frame({"image": small.image, "ivar": small.ivar}, psf, 25, 0, 10, small.wave)
    assert np.array_equal(got["specflux"], frame.flux)
    del psf["PSF"].meta["HSIZEX"]
    with pytest.raises(ValueError, match="psf: no keyword HSIZEX"):
        gpu_specter.extract_frame({"image": small.image, "ivar": small.ivar}, psf, 25, 0, 10)


def test_ex2d_s_results_come_back(small, frame, files):
    flux, ivar, rdata = specter.ex2d(small.image, small.ivar, str(files["psf"]), 0, 10, small.wave)
    assert np.array_equal(flux, frame.flux) and np.array_equal(ivar, frame.ivar)
    assert rdata.shape == (10, 11, 60) and rdata.dtype == np.float64
    full = specter.ex2d(small.image, small.ivar, specter.load_psf(files["psf"]), 2, 3, small.wave,
                        full_output=True)
    assert sorted(full) == ["chi2pix", "flux", "ivar", "modelimage", "pixmask_fraction",
                            "resolution_data"]
    assert np.array_equal(full["flux"], frame.flux[2:5])
    assert full["modelimage"].shape == small.image.shape


def test_wide_bins_store_fewer_diagonals(small):
    wave = np.arange(6000, 6040, 2.0)
    rdata = specter.ex2d(small.image, small.ivar, small.psf, 0, 3, wave)[2]
    assert rdata.shape[1] in (5, 7)  # 9 sigma of 0.6 Angstrom in bins of 2


class SpecterLike:
    """The attributes of specter's GaussHermitePSF that are read."""

    class Trace:
        def __init__(self, series):
            self._xmin, self._xmax, self._coeff = series

    def __init__(self, psf):
        series, numbers = psf._core.series(), psf._numbers
        self.coeff = {k: self.Trace(v) for k, v in series.items() if k not in "XY"}
        self._x, self._y = self.Trace(series["X"]), self.Trace(series["Y"])
        self.psferr = numbers["psferr"]
        self._polyparams = {
            "NPIX_X": numbers["npix_x"], "NPIX_Y": numbers["npix_y"], "HSIZEX": numbers["hsize_x"],
            "HSIZEY": numbers["hsize_y"], "GHDEGX": numbers["gh_deg_x"], "GHDEGY": numbers["gh_deg_y"]}


def test_specter_s_psf_object_is_taken(small, frame):
    flux, _, _ = specter.ex2d(small.image, small.ivar, SpecterLike(small.psf), 0, 10, small.wave)
    assert pulls(flux, frame.ivar, frame.flux, frame.ivar).max() < 1e-9


@pytest.mark.parametrize("option, message", [
    ({"xyrange": (0, 10, 0, 10)}, "cutout"), ({"ndecorr": True}, "between fibres"),
    ({"debug": True}, "interactive")])
def test_what_is_not_there_says_so(small, option, message):
    with pytest.raises(NotImplementedError, match=message):
        specter.ex2d(small.image, small.ivar, small.psf, 0, 10, small.wave, **option)


def test_several_ranks_and_a_gpu_are_answered(small, caplog):
    class Ranks:
        rank, size = 0, 2
    image = {"image": small.image, "ivar": small.ivar}
    with pytest.raises(NotImplementedError, match="MPI"):
        gpu_specter.extract_frame(image, small.psf, 25, 0, 10, comm=Ranks())
    gpu_specter.extract_frame(image, small.psf, 25, 0, 1, small.wave[:5], gpu=True)
    assert "the CPU computes" in caplog.text


def test_signatures_are_those_of_the_peers():
    def names(function):
        return [p.name for p in inspect.signature(function).parameters.values()
                if p.kind is p.POSITIONAL_OR_KEYWORD]
    assert names(gpu_specter.extract_frame) == (
        "img psf bundlesize specmin nspec wavelength nwavestep nsubbundles model regularize psferr comm "
        "gpu loglevel timing wavepad pixpad_frac wavepad_frac batch_subbundle ranks_per_bundle").split()
    assert names(specter.ex2d) == (
        "image imageivar psf specmin nspec wavelengths xyrange regularize ndecorr bundlesize nsubbundles "
        "wavesize full_output verbose debug psferr pixpad_frac wavepad_frac").split()


def parity_image(parity):
    image = fl.read_image(parity / "preproc-r0-00000011.fits.gz")
    return image.image, image.ivar * (image.mask == 0)


def test_parity_with_gpu_specter_s_stored_frame(parity):
    image, ivar = parity_image(parity)
    theirs = fl.read_frame(parity / "gpu_specter.fits.gz")
    for method, largest, ivar_limit in (("exact", 0.0105, 2.5e-6), ("patch", 1e-5, 1e-6)):
        got = gpu_specter.extract_frame(
            {"image": image, "ivar": ivar}, parity / "psf-r0-00067784.fits", 25, 0, 25,
            "5760.0,7620.0,0.8", nsubbundles=5, method=method)
        assert pulls(got["specflux"], got["specivar"], theirs.flux, theirs.ivar).max() < largest
        assert np.abs(got["specivar"] / theirs.ivar - 1).max() < ivar_limit
        inside = np.s_[:, :, 8:-8]
        assert np.abs(got["Rdiags"] - theirs.resolution)[inside].max() < 1e-6


def test_parity_with_specter_s_stored_frame(parity):
    fits = pytest.importorskip("astropy.io.fits")
    image, ivar = parity_image(parity)
    wave = np.arange(5760.0, 7620.4, 0.8)
    got = specter.ex2d(image, ivar, specter.load_psf(parity / "psf-r0-00067784.fits"), 0, 25, wave,
                       full_output=True, psferr=0.01)
    with fits.open(parity / "specter.fits.gz") as hdus:
        theirs = {name: hdus[name].data.astype("f8") for name in ("FLUX", "IVAR", "RESOLUTION")}
    assert pulls(got["flux"], got["ivar"], theirs["FLUX"], theirs["IVAR"]).max() < 0.038
    assert np.abs(got["ivar"] / theirs["IVAR"] - 1).max() < 1.8e-4
    assert got["resolution_data"].shape == theirs["RESOLUTION"].shape
