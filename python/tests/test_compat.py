# SPDX-License-Identifier: BSD-3-Clause
import inspect
import pickle

import numpy as np
import pytest

import fiberloom as fl
from fiberloom._psf import _from_series
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


@pytest.fixture(scope="module")
def psf(files):
    return specter.load_psf(files["psf"])


def test_specter_s_psf_has_specter_s_attributes_and_shapes(psf, small):
    assert (psf.npix_y, psf.npix_x) == small.image.shape and psf.nspec == 10 and psf.psferr == small.psf.psferr
    assert psf.wmin <= psf.wmin_all < psf.wmax_all <= psf.wmax
    middle = 0.5 * (psf.wmin_all + psf.wmax_all)
    for method in (psf.x, psf.y, psf.wavelength):  # of wavelength and, of wavelength(), of row
        assert isinstance(method(3, middle), float)
        assert method(None, middle).shape == (10,)
        assert method([1, 2], np.array([middle, middle])).shape == (2, 2)
        with pytest.raises(IndexError):
            method(10, middle)
    assert psf.x().shape == psf.wavelength().shape == (10, psf.npix_y) and psf.x(2).shape == (psf.npix_y,)
    assert np.allclose(psf.x(4, small.wave), small.psf.x(small.wave, 4)[0])
    assert np.abs(psf.y(4, psf.wavelength(4)) - np.arange(psf.npix_y)).max() < 0.05  # specter's inverse is a fit
    assert np.allclose(psf.ysigma(4, small.wave), small.psf.sigma_y(small.wave, 4)[0])
    assert np.allclose(psf.wdisp(4, small.wave) / psf.angstroms_per_pixel(4, small.wave), psf.ysigma(4, small.wave))
    assert psf.coeff["GHSIGX"].eval((2, 5), small.wave).shape == (3, small.wave.size)
    assert "SpecterPsf of <fiberloom.Psf 10 fibres" in repr(psf)


def test_spots_are_cut_at_any_window(psf, small):
    xx, yy, pixels = psf.xypix(4, small.wave[30])
    assert pixels.shape == (yy.stop - yy.start, xx.stop - xx.start) == small.psf.stamp
    assert abs(pixels.sum() - 1) < 1e-12 and (pixels >= 0).all()
    assert abs(0.5 * (yy.start + yy.stop - 1) - psf.y(4, small.wave[30])) <= 0.5
    x2, y2, part = psf.xypix(4, small.wave[30], xmin=xx.start + 2, ymax=yy.stop - 3)
    assert np.array_equal(part, pixels[:-3, 2:]) and (x2.start, y2.start) == (0, yy.start)
    assert psf.xypix(4, small.wave[30], ymin=yy.stop)[2].shape == (0, 0)
    assert psf.xypix(4, psf.wmin - 1)[2].shape == psf.xypix(4, psf.wmax + 1)[2].shape == (0, 0)
    assert psf.xypix(4, psf.wmax + 1)[1] == slice(psf.npix_y, psf.npix_y)


def test_projections_agree_with_each_other_and_with_the_fast_one(psf, small):
    rng = np.random.default_rng(4)
    photons = rng.uniform(1, 100, (2, 4, small.wave.size))
    images = psf.project(small.wave, photons, specmin=3)
    assert images.shape == (2, *small.image.shape)
    assert np.allclose(images[1], small.psf.project(photons[1], small.wave, specmin=3), atol=1e-9)
    assert np.array_equal(psf.project(np.tile(small.wave, (4, 1)), photons[0], specmin=3), images[0])
    assert psf.project(small.wave, photons[0, 0]).shape == small.image.shape
    window = xmin, xmax, ymin, ymax = psf.xyrange((3, 7), small.wave)
    assert images[0][ymin:ymax, xmin:xmax].sum() == images[0].sum()
    assert np.array_equal(psf.project(small.wave, photons[0], specmin=3, xyrange=window),
                          images[0][ymin:ymax, xmin:xmax])
    matrix = psf.projection_matrix((3, 7), small.wave, window)
    assert np.array_equal((matrix @ photons[0].ravel()).reshape(ymax - ymin, xmax - xmin),
                          images[0][ymin:ymax, xmin:xmax])
    with pytest.raises(ValueError, match="specmin"):
        psf.project(small.wave, photons[0, 0], specmin=10)


def test_specter_s_psf_is_taken_by_fiberloom_itself(psf, small, frame, tmp_path):
    assert np.array_equal(fl.extract_frame(small.image, small.ivar, psf, small.wave).flux, frame.flux)
    fl.write_psf(tmp_path / "again.fits", psf)
    assert np.array_equal(specter.load_psf(tmp_path / "again.fits").x(), psf.x())
    assert np.array_equal(pickle.loads(pickle.dumps(psf)).x(), psf.x())


def test_a_cutout_is_the_whole_image_with_nothing_outside(psf, small):
    window = xmin, xmax, ymin, ymax = psf.xyrange((0, 10), small.wave)
    assert (ymax - ymin) < small.image.shape[0]
    cut = np.s_[ymin:ymax, xmin:xmax]
    outside = np.zeros_like(small.ivar)
    outside[cut] = small.ivar[cut]
    whole = specter.ex2d(small.image, outside, psf, 0, 10, small.wave, full_output=True)
    part = specter.ex2d(small.image[cut], small.ivar[cut], psf, 0, 10, small.wave, xyrange=window, full_output=True)
    for name in ("flux", "ivar", "resolution_data", "chi2pix"):
        assert np.array_equal(part[name], whole[name]), name
    assert np.array_equal(part["modelimage"], whole["modelimage"][cut])
    with pytest.raises(ValueError, match="image: expected shape"):
        specter.ex2d(small.image, small.ivar, psf, 0, 10, small.wave, xyrange=window)
    for wrong in ((0, 10, 0), (0, 10, 5, 5), (0, 10, 0, 10**6), 3):
        with pytest.raises(ValueError, match="xyrange: expected"):
            specter.ex2d(small.image, small.ivar, psf, 0, 10, small.wave, xyrange=wrong)


def test_fibres_outside_a_cutout_do_not_exist(small):
    """Seen by their far wings alone they cannot be told from their neighbours: specter leaves them out too."""
    series = dict(small.psf._core.series())
    domain = series["GHSIGX"][:2]
    for name, value in (("TAILAMP", 0.02), ("TAILCORE", 1.0), ("TAILXSCA", 1.0), ("TAILYSCA", 1.0), ("TAILINDE", 2.0)):
        series[name] = (*domain, np.full((10, 1), value))
    tailed = specter.SpecterPsf(_from_series(series, {**small.psf._numbers, "hsize_x": 10, "tails": True}))
    light = np.where(np.arange(10)[:, None] < 3, small.truth, 0)
    image = tailed.project(small.wave, light)
    window = xmin, xmax, ymin, ymax = tailed.xyrange((0, 3), small.wave)
    cut = np.s_[ymin:ymax, xmin:xmax]
    ivar = 1 / (image + 9)
    part = specter.ex2d(image[cut], ivar[cut], tailed, 0, 3, small.wave, xyrange=window)
    whole = specter.ex2d(image, ivar, tailed, 0, 3, small.wave)
    assert np.abs((part[0] - whole[0]) * np.sqrt(whole[1]))[:, 12:-12].max() < 0.02
    seen = specter._within(tailed.fiberloom_psf, 0, 3, small.wave, window).sigma_x(small.wave)[:, 0] > 0
    assert seen[:4].all() and not seen[5:].any()
    assert specter._within(tailed.fiberloom_psf, 7, 3, small.wave, window).sigma_x(small.wave)[9, 0] > 0  # asked for


@pytest.mark.parametrize("step, diagonals", [(0.6, 17), (0.8, 15), (0.9, 13), (1.6, 7)])
def test_diagonals_follow_specter_s_rule(small, step, diagonals):
    numbers = {**small.psf._numbers, "hsize_x": 14, "hsize_y": 8}
    psf = _from_series(small.psf._core.series(), numbers)
    fibers, waves = (0, 5, 9), specter.SpecterPsf(psf)
    widest = max(round(9 * waves.wdisp(f, w) / step) for f in fibers
                 for w in (waves.wmin, 0.5 * (waves.wmin + waves.wmax), waves.wmax))
    assert 2 * min(widest, 8) + 1 == diagonals
    grid = np.arange(6010.0, 6020.0, step)
    assert specter.ex2d(small.image, small.ivar, psf, 0, 10, grid)[2].shape == (10, diagonals, grid.size)


def test_what_is_not_there_says_so(small):
    with pytest.raises(NotImplementedError, match="interactive"):
        specter.ex2d(small.image, small.ivar, small.psf, 0, 10, small.wave, debug=True)


def test_ndecorr_decorrelates_the_noise_between_fibers(small):
    each = specter.ex2d(small.image, small.ivar, small.psf, 0, 10, small.wave)
    together = specter.ex2d(small.image, small.ivar, small.psf, 0, 10, small.wave, ndecorr=True)
    again = specter.ex2d(small.image, small.ivar, small.psf, 0, 10, small.wave, ndecorr=True, method="patch")
    assert not np.array_equal(each[1], together[1])
    np.testing.assert_allclose(together[1], again[1], rtol=1e-3)
    assert (np.abs(together[0] - again[0]) * np.sqrt(again[1])).max() < 0.1


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
