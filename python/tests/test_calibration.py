# SPDX-License-Identifier: BSD-3-Clause
"""The steps of the calibration on arrays, against the truth that they were made from and against the command."""
import pickle
import subprocess
import sys

import numpy as np
import pytest

import fiberloom as fl

NSPEC, WAVE = 24, 6000 + 0.8 * np.arange(160)
BINS = len(WAVE)
FLAT = 0.9 + 0.2 * np.arange(NSPEC) / (NSPEC - 1)
STARS = [1, 5, 9, 13, 17]
FIBERMAP = {"TARGETID": np.arange(NSPEC), "FIBER": np.arange(NSPEC), "OBJTYPE": ["SKY" if f % 2 == 0 else "TGT" for f in range(NSPEC)],
            "DESI_TARGET": np.array([1 << 33 if f in STARS else 0 for f in range(NSPEC)]), "FIBERSTATUS": np.zeros(NSPEC, int)}
MODEL = 6000 + 0.8 * np.arange(-20, 200)


def resolution():
    half, out = 3, np.zeros((NSPEC, 7, BINS), "f4")
    for s in range(NSPEC):
        kernel = np.exp(-0.5 * (np.arange(-half, half + 1) / (0.9 + 0.004 * s)) ** 2)
        out[s] = (kernel / kernel.sum())[:, None]
    return out


R = resolution()


def blur(sharp, r=R):
    """R s of each fibre."""
    out, half = np.zeros((NSPEC, BINS)), r.shape[1] // 2
    for k in range(r.shape[1]):
        j = np.arange(max(0, half - k), min(BINS, BINS + half - k))
        out[:, j + k - half] += r[:, k, j] * sharp[:, j]
    return out


def noisy(light, seed, snr=100.0):
    sigma = light.mean() / snr
    rng = np.random.default_rng(seed)
    return fl.SpectraOfCamera(WAVE, light + rng.normal(0, sigma, light.shape), np.full(light.shape, sigma**-2),
                              np.zeros(light.shape, "u4"), R)


def star_flux(wave, row):
    return (4 + 0.1 * row) * (1 - 0.3 * np.exp(-0.5 * ((wave - 6060) / 3) ** 2))


THROUGHPUT = 20 + 2 * np.sin(WAVE / 40)
SKY_LIGHT = 30 + 200 * np.exp(-0.5 * ((WAVE - 6040) / 0.8) ** 2)


@pytest.fixture(scope="module")
def steps():
    """Every step of one camera, frame to flux."""
    lamp = noisy(FLAT[:, None] * blur(np.tile(500 + 50 * np.sin(WAVE / 15), (NSPEC, 1))), 1, 300)
    sky_fibers = np.arange(NSPEC) % 2 == 0
    sharp = np.array([0 * WAVE if sky_fibers[s] else THROUGHPUT * star_flux(WAVE, s) for s in range(NSPEC)]) + SKY_LIGHT
    frame = noisy(FLAT[:, None] * blur(sharp), 2)
    flat = fl.fiberflat(lamp, camera="r", fibermap=FIBERMAP)
    sky = fl.sky(frame, flat, camera="r", fibermap=FIBERMAP)
    models = {"wave": MODEL, "flux": np.array([star_flux(MODEL, s) for s in STARS]), "rows": STARS}
    flux = fl.fluxcalib(frame, models, fiberflat=flat, sky=sky, camera="r", fibermap=FIBERMAP)
    done = fl.calibrate(frame, flat, sky, flux, camera="r", fibermap=FIBERMAP)
    return {"lamp": lamp, "frame": frame, "flat": flat, "sky": sky, "flux": flux, "done": done}


def test_a_flat_is_the_truth(steps):
    flat = steps["flat"]
    pull = (flat.flat - (FLAT / np.median(FLAT))[:, None]) * np.sqrt(flat.ivar)
    assert abs(np.median(flat.flat / FLAT[:, None])) == pytest.approx(1, abs=2e-3)
    assert pull.std() < 1.2 and (flat.mask == 0).all()


def test_a_sky_is_the_truth_and_names_its_fibres(steps):
    sky = steps["sky"]
    assert sky.rows.tolist() == list(range(0, NSPEC, 2)) and len(sky.discarded) == 0
    want = blur(np.tile(SKY_LIGHT, (NSPEC, 1)))
    assert np.abs(sky.flux / want - 1)[:, 10:-10].max() < 0.1


def test_lines_of_a_sky_are_adjusted(steps):
    flat, plain = steps["flat"], steps["sky"]
    frame = steps["frame"]
    adjusted = fl.sky(frame, flat, camera="r", fibermap=FIBERMAP, adjust_wavelength=True, adjust_lsf=True)
    assert plain.shift is None and plain.widening is None
    assert adjusted.shift.shape == adjusted.widening.shape == adjusted.flux.shape
    assert adjusted.shift.any() and adjusted.widening.any() and (adjusted.flux != plain.flux).any()
    bare = fl.sky(frame, flat, camera="r", fibermap=FIBERMAP, extra_variance=False)
    np.testing.assert_array_equal(bare.ivar, bare.stat_ivar)
    with pytest.raises(TypeError, match="adjust_lsf"):
        fl.sky(frame, flat, camera="r", fibermap=FIBERMAP, adjust_lsf=3)


def test_flux_is_that_of_the_stars_through_the_new_resolution(steps):
    done, truth = steps["done"], np.array([star_flux(WAVE, s) for s in range(NSPEC)])
    seen = blur(truth, done.resolution)
    rows = [s for s in range(1, NSPEC, 2) if s not in STARS]  # those made the calibration
    pull = ((done.flux - seen) * np.sqrt(done.ivar))[rows][:, 10:-10]
    assert 0.8 < pull.std() < 1.2 and abs(pull.mean()) < 0.3
    assert np.median(np.abs(steps["flux"].calib[:, 10:-10] / THROUGHPUT[10:-10] - 1)) < 0.05


def test_steps_can_be_taken_one_by_one(steps):
    flat = fl.calibrate(steps["frame"], steps["flat"], camera="r", fibermap=FIBERMAP)
    np.testing.assert_array_equal(fl.sky(flat, camera="r", fibermap=FIBERMAP).flux, steps["sky"].flux)
    apart = fl.calibrate(flat, sky=steps["sky"], camera="r", fibermap=FIBERMAP)
    again = fl.calibrate(apart, fluxcalib=steps["flux"], camera="r", fibermap=FIBERMAP)
    np.testing.assert_array_equal(again.flux, steps["done"].flux)
    np.testing.assert_array_equal(again.resolution, steps["done"].resolution)


def test_a_frame_with_its_own_fibermap_gives_what_the_command_writes(tmp_path, steps):
    fits = pytest.importorskip("astropy.io.fits")
    header = fl.Header({"CAMERA": "r0", "FLAVOR": "flat"})
    lamp, path = steps["lamp"], tmp_path / "frame.fits"
    fl.write_frame(path, fl.Frame(WAVE, lamp.flux, lamp.ivar, lamp.mask, R, header=header))
    subprocess.run([sys.executable, "-m", "fiberloom", "fiberflat", "-i", path, "-o", tmp_path / "flat.fits", "-q"], check=True)
    found = fl.fiberflat(fl.read_frame(path))
    with fits.open(tmp_path / "flat.fits") as hdus:
        np.testing.assert_array_equal(hdus["FIBERFLAT"].data, found.flat.astype("f4"))
        np.testing.assert_array_equal(hdus["IVAR"].data, found.ivar.astype("f4"))


def test_any_number_of_threads_and_both_methods(steps):
    one = fl.fiberflat(steps["lamp"], fibermap=FIBERMAP, threads=1)
    two = fl.fiberflat(steps["lamp"], fibermap=FIBERMAP, threads=2)
    np.testing.assert_array_equal(one.flat, two.flat)
    other = fl.fiberflat(steps["lamp"], fibermap=FIBERMAP, method="desispec")
    assert 0 < np.abs(other.flat - one.flat).max() < 0.01


def test_what_is_given_stays_as_it_is_and_what_comes_can_be_pickled(steps):
    before = steps["frame"].flux.copy()
    fl.calibrate(steps["frame"], steps["flat"])
    np.testing.assert_array_equal(steps["frame"].flux, before)
    for name in ("flat", "sky", "flux", "done"):
        again = pickle.loads(pickle.dumps(steps[name]))
        np.testing.assert_array_equal(again.ivar, steps[name].ivar)
        assert "fiberloom" in repr(again)


def test_coadds_are_weighted_means_target_by_target():
    flux, ivar = np.array([[1.0], [3.0], [5.0], [9.0]]) * np.ones((4, 50)), np.array([[1.0], [3.0], [2.0], [0.0]]) * np.ones((4, 50))
    wave = 6000 + 0.8 * np.arange(50)
    spectra = {"R": {"wave": wave, "flux": flux, "ivar": ivar}, "B": {"wave": wave - 500, "flux": flux, "ivar": ivar}}
    done = fl.coadd(spectra, fibermap={"TARGETID": [7, 7, 8, 9]})
    assert list(done.cameras) == ["B", "R"] and done.fibermap["TARGETID"].tolist() == [7, 8, 9]
    np.testing.assert_allclose(done.cameras["R"].flux[:, 0], [2.5, 5, 0])  # nothing is known of the last
    np.testing.assert_allclose(done.cameras["R"].ivar[:, 0], [4, 2, 0])
    assert len(done.exp_fibermap) == 4 and len(pickle.loads(pickle.dumps(done))) == 3
    joint = fl.coadd(spectra, [7, 7, 8, 9], coadd_cameras=True)
    assert list(joint.cameras) == ["BR"] and joint.cameras["BR"].flux.shape == (3, 100)


def test_coadds_may_be_on_another_grid():
    rng, nspec, n = np.random.default_rng(5), 4, 60
    cameras = {}
    for name, first in (("B", 6000.0), ("R", 6030.0)):
        kernel = np.array([0.05, 0.2, 0.5, 0.2, 0.05])
        resolution = np.repeat(np.tile(kernel[:, None], (1, n))[None], nspec, axis=0)
        cameras[name] = {"wave": first + 0.8 * np.arange(n), "flux": rng.normal(5, 1, (nspec, n)), "ivar": np.full((nspec, n), 2.0),
                         "resolution": resolution}
    ids = [7, 7, 8, 9]
    done = fl.coadd(cameras, ids, lin_step=1.5, wave_min=6003, wave_max=6060)
    one = done.cameras["BR"]
    assert one.wave[0] == 6003 and np.all(np.diff(one.wave) == 1.5) and one.wave[-1] <= 6060 and one.flux.shape == (3, len(one.wave))
    np.testing.assert_allclose(np.median(one.flux, axis=1), 5, atol=1)
    logged = fl.coadd(cameras, ids, log10_step=1e-4).cameras["BR"].wave
    np.testing.assert_allclose(np.diff(np.log10(logged)), 1e-4, rtol=1e-6)
    for options, text in (({"lin_step": 1, "log10_step": 1e-4}, "one of them"), ({"wave_min": 6000}, "None without lin_step"),
                          ({"lin_step": 0}, "lin_step"), ({"lin_step": 1, "coadd_cameras": True}, "join cameras")):
        with pytest.raises(ValueError, match=text):
            fl.coadd(cameras, ids, **options)


def test_quality_counts_fibres_and_looks_at_the_sky(steps):
    found = fl.qa({"r": steps["done"]}, skies={"r": steps["sky"]}, fluxcalibs={"r": steps["flux"]}, fibermap=FIBERMAP)
    assert found.good_fibers == NSPEC and found.cameras["r"]["sky_fibers"] == NSPEC / 2
    assert found.cameras["r"]["sky_width"] == pytest.approx(1, abs=0.15)
    bad = fl.qa({"r": steps["done"]}, fibermap={**FIBERMAP, "FIBERSTATUS": np.array([1 << 9] + [0] * (NSPEC - 1))})
    assert bad.good_fibers == NSPEC - 1


def star_models():
    wave = np.arange(3500.0, 10000.0, 2.0)
    nodes = [(teff, 4.0, -1.5) for teff in (5600.0, 6000.0, 6400.0)]
    flux = [shape(wave, teff) for teff, _, _ in nodes]
    teff, logg, feh = np.array(nodes).T
    return {"wave": wave, "flux": np.array(flux), "teff": teff, "logg": logg, "feh": feh}


def shape(wave, teff):
    body = (wave / 6500) ** -5 * np.expm1(1.4388e8 / (6500 * teff)) / np.expm1(1.4388e8 / (wave * teff))
    for line in (6564.6, 4862.7, 4341.7, 4102.9):
        body = body * (1 - (0.25 + 0.1 * (teff - 5500) / 1500) * np.exp(-0.5 * ((wave - line) / 9) ** 2))
    return body


def test_standard_stars_are_found_in_a_grid():
    trapezoid = getattr(np, "trapezoid", None) or np.trapz
    models, teffs = star_models(), (5700.0, 6300.0)
    fine = models["wave"]
    bands, columns = {}, {"DESI_TARGET": [0, 1 << 33, 1 << 33], "PHOTSYS": ["S"] * 3, "EBV": [0.0] * 3}
    for name, middle in (("g", 4800), ("r", 6400), ("z", 9100)):
        x = middle + 20.0 * np.arange(-25, 26)
        bands["decam2014-" + name] = x, 1 - (np.arange(-25, 26) / 25) ** 2
        y, zero = bands["decam2014-" + name][1], 3631e-23 * 2.99792458e18 * 1e17
        light = [trapezoid(60 * np.interp(x, fine, shape(fine, t)) * x * y, x) for t in teffs]
        norm = trapezoid(zero / x * y, x)
        columns["FLUX_" + name.upper()] = [0.0, *(1e9 * one / norm for one in light)]
    frames, rng = {}, np.random.default_rng(3)
    for camera, first in (("b", 3600.0), ("r", 5700.0), ("z", 7500.0)):
        wave = first + 2.0 * np.arange(900)
        flux = 20 * np.array([0 * wave, *(60 * shape(wave, t) for t in teffs)])
        frames[camera] = {"wave": wave, "flux": flux + rng.normal(0, 8, flux.shape), "ivar": np.full(flux.shape, 1 / 64.0),
                          "resolution": np.ones((3, 1, 900)), "fibermap": columns}
    found = fl.stdstars(frames, models, bands, delta_color=0.5)
    assert sorted(found.rows.tolist()) == [1, 2] and len(found) == 2
    for row, teff, flux in zip(found.rows, found.teff, found.flux):
        assert abs(teff - teffs[row - 1]) < 150
        near = np.abs(flux / (60 * shape(fine, teffs[row - 1])) - 1)[(fine > 4000) & (fine < 9000)]
        assert near.max() < 0.05
    assert len(pickle.loads(pickle.dumps(found))) == 2
    with pytest.raises(fl.FiberloomError, match="decam2014-g"):
        fl.stdstars(frames, models, {}, delta_color=0.5)


@pytest.mark.parametrize("call, words", [
    (lambda f: fl.fiberflat(3), "lamp: expected spectra"), (lambda f: fl.sky(f), "OBJTYPE"),
    (lambda f: fl.fiberflat({**vars(f), "resolution": None}), "lamp: resolution"),
    (lambda f: fl.sky(f, fibermap={"OBJTYPE": ["SKY"]}), "fibermap: OBJTYPE: expected 24 rows"),
    (lambda f: fl.calibrate(f, sky=f), "sky: expected a fiberloom.Sky"),
    (lambda f: fl.fluxcalib(f, {"wave": WAVE, "flux": np.ones((1, BINS)), "rows": [99]}), "rows: expected numbers"),
    (lambda f: fl.fluxcalib(f, {"wave": WAVE[3:], "flux": np.ones((1, BINS - 3)), "rows": [1]}), "stars: wave: expected to reach"),
    (lambda f: fl.coadd({"R": f}), "targetid"), (lambda f: fl.qa({}), "frames: expected a camera"),
    (lambda f: fl.fiberflat(f, method="best"), "method")])
def test_what_does_not_fit_is_named(steps, call, words):
    with pytest.raises((TypeError, ValueError, fl.FiberloomError), match=words):
        call(steps["frame"])


def test_a_dark_lamp_is_a_numerical_error():
    dark = {"wave": WAVE, "flux": np.zeros((2, BINS)), "ivar": np.zeros((2, BINS)), "resolution": R[:2]}
    with pytest.raises(fl.NumericalError):
        fl.fiberflat(dark)


def test_what_is_no_number_has_no_weight(steps):
    """And hides nothing beside it, as in the commands."""
    del steps
    frame = noisy(blur(np.full((NSPEC, BINS), 50.0)), 5)
    ids = np.tile(np.arange(NSPEC), 2)
    for name in ("flux", "ivar", "resolution"):
        odd = {n: np.array(getattr(frame, n)) for n in ("wave", "flux", "ivar", "resolution")}
        odd[name][2] = np.nan
        both = {n: odd[n] if n == "wave" else np.concatenate([odd[n], getattr(frame, n)]) for n in odd}
        one = fl.coadd({"R": both}, ids, cosmics_nsig=0).cameras["R"]
        np.testing.assert_allclose(one.flux[2], frame.flux[2], rtol=1e-6)
        np.testing.assert_allclose(one.ivar[2], frame.ivar[2], rtol=1e-6)
        np.testing.assert_allclose(one.resolution[2][3, 10:-10], R[2][3, 10:-10], rtol=1e-5)
        assert np.isfinite(one.resolution[2][3]).all()
        flat = fl.fiberflat(odd, camera="r")  # one such fibre was an error
        assert not flat.ivar[2].any() and flat.ivar[3].any()
        done = fl.calibrate(odd, flat, camera="r")
        assert np.isfinite(done.resolution[:, 3]).all() and not done.ivar[2].any()


def test_nothing_to_apply_is_an_error():
    with pytest.raises(ValueError, match="nothing to apply"):
        fl.calibrate(noisy(blur(np.full((NSPEC, BINS), 50.0)), 5))
