# SPDX-License-Identifier: BSD-3-Clause
"""Redshifts of arrays and files, against the truth that they were made from."""
import os
import subprocess
import sys
import types

import numpy as np
import pytest

import fiberloom as fl
from fiberloom.compat.redrock import rrdesi

fits = pytest.importorskip("astropy.io.fits")
Table = pytest.importorskip("astropy.table").Table

KNOTS = np.arange(2500.0, 6500.0)
TRUTH = [("GALAXY", 0.031), ("STAR", 0.0003), ("GALAXY", 0.072)]
CAMERAS = {"B": np.arange(4000.0, 4240.0), "R": np.arange(4440.0, 4700.0)}
LINES = {"GALAXY": (3727, 4305, 3950), "STAR": (4102, 4341, 4600)}


def basis(kind):
    return np.array([np.ones_like(KNOTS), *(np.exp(-0.5 * ((KNOTS - m) / 4) ** 2) for m in LINES[kind])])


def write_template(path, kind):
    hdus = fits.HDUList([fits.PrimaryHDU(), fits.ImageHDU(basis(kind), name="BASIS_VECTORS")])
    grid = np.arange(0, 0.12, 0.002) if kind == "GALAXY" else np.arange(-0.002, 0.002, 2e-4)
    hdus.append(fits.ImageHDU(grid, name="REDSHIFTS"))
    hdus[1].header.update(CRVAL1=2500.0, CDELT1=1.0, LOGLAM=0, RRTYPE=kind, RRSUBTYP="", VERSION="1", RRIGM="None")
    hdus.writeto(path)


def spectra():
    rng = np.random.default_rng(4)
    flux, ivar, resolution = {}, {}, {}
    kernel = np.exp(-0.5 * (np.arange(-3, 4) / 1.2) ** 2)
    kernel /= kernel.sum()
    for name, wave in CAMERAS.items():
        rows = []
        for kind, z in TRUTH:
            fine = np.array([2, 1, -0.8, 0.7]) @ basis(kind)
            wide = np.arange(wave[0] - 3, wave[-1] + 4)
            sharp = np.mean([np.interp((wide + d) / (1 + z), KNOTS, fine) for d in (np.arange(8) + 0.5) / 8 - 0.5], axis=0)
            rows.append(np.convolve(sharp, kernel, "valid") + rng.normal(0, 0.1, wave.size))
        flux[name] = np.array(rows)
        ivar[name] = np.full_like(flux[name], 100.0)
        resolution[name] = np.broadcast_to(kernel[:, None], (3, 7, wave.size)).copy()
    return flux, ivar, resolution


@pytest.fixture(scope="module")
def templates(tmp_path_factory):
    folder = tmp_path_factory.mktemp("templates")
    for kind in LINES:
        write_template(folder / f"rrtemplate-{kind}-None-v1.fits", kind)
    return folder


def write_coadd(path, flux, ivar, resolution, ids, kinds):
    hdus = fits.HDUList([fits.PrimaryHDU()])
    table = Table({"TARGETID": np.array(ids), "COADD_FIBERSTATUS": np.zeros(len(ids), "i4"), "OBJTYPE": kinds})
    hdus.append(fits.BinTableHDU(table, name="FIBERMAP"))
    hdus.append(fits.BinTableHDU(Table({"TARGETID": np.array(ids)}), name="EXP_FIBERMAP"))
    for name, wave in CAMERAS.items():
        for kind, data in (("WAVELENGTH", wave), ("FLUX", flux[name].astype("f4")), ("IVAR", ivar[name].astype("f4")),
                           ("RESOLUTION", resolution[name].astype("f4"))):
            hdus.append(fits.ImageHDU(data, name=f"{name}_{kind}"))
    hdus.writeto(path, checksum=True)
    return path


@pytest.fixture(scope="module")
def coadd(tmp_path_factory):
    return write_coadd(tmp_path_factory.mktemp("coadd") / "coadd.fits", *spectra(), [5, 7, -9], ["TGT"] * 3)


def check_truth(found):
    assert list(found.spectype) == [kind for kind, _ in TRUTH]
    z = np.array([z for _, z in TRUTH])
    assert (np.abs(found.z - z) < 5 * found.zerr).all() and (found.zerr < 1e-4).all()
    assert (found.zwarn == 0).all()


def test_templates_that_say_little_are_said(templates, tmp_path, caplog):
    flux, ivar, resolution = spectra()
    with caplog.at_level("WARNING", logger="fiberloom"):
        fl.fit_redshifts(flux, ivar, CAMERAS, resolution)
    assert [("physics-1" in r.message, r.levelname) for r in caplog.records] == [(True, "WARNING")]
    caplog.clear()
    far = tmp_path / "far.fits"
    with fits.open(templates / "rrtemplate-GALAXY-None-v1.fits") as hdus:
        hdus["REDSHIFTS"].data = np.arange(5, 6, 0.1)
        hdus.writeto(far)
    with caplog.at_level("WARNING", logger="fiberloom"):
        fl.fit_redshifts(flux, ivar, CAMERAS, resolution, [far, templates / "rrtemplate-STAR-None-v1.fits"])
    assert [r.message.split(":")[0] for r in caplog.records] == ["GALAXY is not tried"]


@pytest.mark.parametrize("method", ["fast", "exact", "redrock"])
def test_arrays_give_the_truth(templates, method):
    flux, ivar, resolution = spectra()
    seen = []
    found = fl.fit_redshifts(flux, ivar, CAMERAS, resolution, templates, method=method, scan=True, models=True,
                             targetid=[5, 7, -9], progress=lambda *what: seen.append(what))
    check_truth(found)
    assert list(found.targetid) == [5, 7, -9] and ("redshift", 3, 3) in seen
    z, chi2 = found.scan["GALAXY"]
    assert chi2.shape == (3, len(z)) and np.isfinite(chi2).all()
    assert chi2.min(axis=1)[0] < np.median(chi2[0])
    best = found.candidates[0][0]
    assert best["z"] == found.z[0] and len(best["coeff"]) == 4
    residual = (found.models["B"] - flux["B"])[:, 8:-8] * 10
    assert abs(np.mean(residual ** 2) - 1) < 0.2
    assert "3 targets" in repr(found) and len(found) == 3


def test_the_emulated_card_scans_as_the_cpu_does(templates):
    flux, ivar, resolution = ({name: np.concatenate([a, a]) for name, a in of.items()} for of in spectra())
    cpu, card = (fl.fit_redshifts(flux, ivar, CAMERAS, resolution, templates, scan=True, backend=backend)
                 for backend in ("cpu", "emulate"))
    assert cpu.device is None and "emulation" in card.device
    assert card.spectype == cpu.spectype and np.abs(card.z - cpu.z).max() < 1e-9
    z, chi2 = card.scan["GALAXY"]
    assert np.allclose(chi2, cpu.scan["GALAXY"][1], rtol=1e-6)
    with pytest.raises(fl.DeviceError, match="a scan needs at least") as caught:
        fl.fit_redshifts(flux, ivar, CAMERAS, resolution, templates, backend="emulate", gpu_memory=1e-5)
    assert caught.value.exit_code == 60
    three = fl.fit_redshifts(*spectra()[:2], CAMERAS, None, templates, backend="emulate")
    assert three.device is None  # for so few the CPU needs less


@pytest.mark.parametrize("change, message", [
    ({"backend": "gpu"}, "backend: expected 'auto' or 'cpu' or 'cuda', got 'gpu'"),
    ({"backend": "cuda", "method": "exact"}, "backend: method='exact' runs on the CPU only"),
    ({"gpu_memory": 0}, "gpu_memory: expected a number from"), ({"on_device_error": "no"}, "on_device_error: expected 'fail' or 'cpu'")])
def test_wrong_words_about_cards_are_named(templates, change, message):
    flux, ivar, _ = spectra()
    with pytest.raises(ValueError, match=message):
        fl.fit_redshifts(flux, ivar, CAMERAS, None, templates, **change)


def test_one_camera_needs_no_names(templates):
    flux, ivar, resolution = spectra()
    one = fl.fit_redshifts(flux["B"], ivar["B"], CAMERAS["B"], resolution["B"], str(templates), threads=1)
    assert one.models == {} and one.scan == {} and len(one.candidates) == 3
    nothing = fl.fit_redshifts(flux["B"], 0 * ivar["B"], CAMERAS["B"], templates=templates)
    assert (nothing.zwarn & 512).all() and (nothing.z == 0).all() and set(nothing.spectype) == {"GALAXY"}


def test_what_cannot_be_told_is_of_the_type_that_is_common(templates):
    _, ivar, resolution = spectra()
    dark = {name: 0 * values for name, values in ivar.items()}
    for shares, kind in (([1e4, 1, 1], "GALAXY"), ((1, 1, 1e4), "STAR")):
        found = fl.fit_redshifts(dark, ivar, CAMERAS, resolution, templates, type_shares=shares)
        assert set(found.spectype) == {kind} and (found.class_probability > 0.99).all()
    for wrong in ([1, 1], [1, 0, 1], [1, np.nan, 1], 3):
        with pytest.raises(ValueError, match="type_shares: expected"):
            fl.fit_redshifts(dark, ivar, CAMERAS, resolution, templates, type_shares=wrong)


def test_fibres_on_the_sky_say_how_much_of_it_is_left(templates, tmp_path):
    rng = np.random.default_rng(5)
    flux, ivar, resolution = ({name: np.concatenate([a, a, a, a]) for name, a in of.items()} for of in spectra())
    sky = np.arange(12) >= 3
    for name in CAMERAS:
        flux[name][sky] = rng.normal(0, 0.1, flux[name][sky].shape)
    flux["B"][sky] += np.linspace(-0.4, 0.4, 9)[:, None]
    flux["B"][0] += 0.4
    how = {"templates": templates, "backend": "cpu"}
    plain = fl.fit_redshifts(flux, ivar, CAMERAS, resolution, **how)
    known = fl.fit_redshifts(flux, ivar, CAMERAS, resolution, sky=sky, **how)
    assert known.chi2[0] < plain.chi2[0] - 100 and np.abs(known.z[:3] - plain.z[:3]).max() < 1e-4
    assert ((known.zwarn & 1) == sky).all() and not (plain.zwarn & 1).any()
    assert np.array_equal(fl.fit_redshifts(flux, ivar, CAMERAS, resolution, sky=~sky & False, **how).chi2, plain.chi2)
    ids, out = list(range(12)), tmp_path / "redrock.fits"
    floats = [{name: of[name].astype("f4") for name in CAMERAS} for of in (flux, ivar)]  # as files have them
    arrays = fl.fit_redshifts(*floats, CAMERAS, resolution, sky=sky, **how)
    path = write_coadd(tmp_path / "coadd.fits", flux, ivar, resolution, ids, np.where(sky, "SKY", "TGT"))
    rrdesi(["-i", str(path), "-o", str(out), "-t", str(templates), "--backend", "cpu"])
    table = fl.read_redshifts(out).redshifts
    assert np.array_equal(table["CHI2"], arrays.chi2.astype(table["CHI2"].dtype)) and np.array_equal(table["ZWARN"], arrays.zwarn)
    for wrong in ([True], np.zeros(12), "yes"):
        with pytest.raises(ValueError, match="sky: expected 12 of bool"):
            fl.fit_redshifts(flux, ivar, CAMERAS, resolution, templates, sky=wrong)


def test_arguments_are_checked(templates):
    flux, ivar, resolution = spectra()
    with pytest.raises(ValueError, match="ivar: no camera 'R'"):
        fl.fit_redshifts(flux, {"B": ivar["B"]}, CAMERAS, resolution, templates)
    with pytest.raises(TypeError, match="wave: expected an array for each camera"):
        fl.fit_redshifts(flux, ivar, CAMERAS["B"], resolution, templates)
    with pytest.raises(ValueError, match="resolution: expected an odd number"):
        fl.fit_redshifts(flux["B"], ivar["B"], CAMERAS["B"], resolution["B"][:, :6], templates)
    with pytest.raises(fl.NotFoundError):
        fl.fit_redshifts(flux["B"], ivar["B"], CAMERAS["B"], templates="nowhere")
    with pytest.raises(ValueError, match="method"):
        fl.fit_redshifts(flux["B"], ivar["B"], CAMERAS["B"], templates=templates, method="guess")
    with pytest.raises(ValueError, match=r"targetid: expected integers below 2\*\*63, got 18446744073709551615"):
        fl.fit_redshifts(flux["B"], ivar["B"], CAMERAS["B"], templates=templates, targetid=np.array([1, 2, 2**64 - 1], np.uint64))
    with pytest.raises(ValueError, match="mask: expected bits 0 to 31, got integers from 1099511627776"):
        fl.fit_redshifts(flux["B"], ivar["B"], CAMERAS["B"], templates=templates, mask=np.full(flux["B"].shape, 2**40))


def test_files_come_back_and_rrdesi_writes_them(templates, coadd, tmp_path, capsys):
    read = fl.read_spectra(coadd)
    assert list(read.cameras) == ["B", "R"] and len(read) == 3
    assert list(read.fibermap["TARGETID"]) == [5, 7, -9]
    assert read.cameras["B"].resolution.shape == (3, 7, 240)
    out, model = tmp_path / "redrock.fits", tmp_path / "model.fits"
    rrdesi(["-i", str(coadd), "-o", str(out), "--model", str(model), "-t", str(templates), "--mp", "2"])
    assert "--mp is ignored" in capsys.readouterr().err
    arrays = fl.fit_redshifts({n: c.flux for n, c in read.cameras.items()}, {n: c.ivar for n, c in read.cameras.items()},
                              {n: c.wave for n, c in read.cameras.items()}, {n: c.resolution for n, c in read.cameras.items()},
                              templates)
    mine = fl.read_redshifts(out)
    assert np.array_equal(mine.redshifts["Z"], arrays.z) and list(mine.redshifts["TARGETID"]) == [5, 7, -9]
    with fits.open(out, checksum=True) as hdus:
        hdus.verify("exception")
        assert [h.name for h in hdus] == ["PRIMARY", "REDSHIFTS", "FIBERMAP", "EXP_FIBERMAP", "CANDIDATES"]
        data = hdus["REDSHIFTS"].data
        assert data.columns.names[:12] == ["TARGETID", "Z", "ZERR", "ZWARN", "CHI2", "COEFF", "FITMETHOD", "NPIXELS", "SPECTYPE",
                                           "SUBTYPE", "NCOEFF", "DELTACHI2"]
        assert data["COEFF"].shape == (3, 4) and data["SPECTYPE"][1] == "STAR"
        check_truth(types.SimpleNamespace(z=data["Z"], zerr=data["ZERR"], zwarn=data["ZWARN"], spectype=list(data["SPECTYPE"])))
    with fits.open(model) as hdus:
        assert hdus["R_MODEL"].data.shape == (3, 260)
    with pytest.raises(fl.NotFoundError) as error:
        rrdesi(["-i", str(tmp_path / "none.fits"), "-o", str(out), "-t", str(templates)])
    assert error.value.exit_code == 10 and "none.fits" in str(error.value)


def test_rrdesi_under_a_communicator_works_on_rank_0(templates, coadd, tmp_path):
    class Comm:
        rank, size = 1, 2

        def bcast(self, value, root):
            return ("stopped", 50) if value is None else value
    with pytest.raises(fl.Error, match="stopped"):
        rrdesi(["-i", str(coadd), "-o", str(tmp_path / "x.fits")], comm=Comm())
    assert not (tmp_path / "x.fits").exists()


def test_ranks_hear_of_a_program_that_is_not_there(monkeypatch):
    class Comm:
        rank, size, told = 0, 2, []

        def bcast(self, value, root):
            self.told.append(value)
            return value
    monkeypatch.setenv("FIBERLOOM_PROGRAM", "/nowhere/fiberloom")
    with pytest.raises(fl.NotFoundError, match="/nowhere/fiberloom: cannot be run"):
        rrdesi(["-i", "x", "-o", "y"], comm=Comm())
    assert [code for _, code in Comm.told] == [10]


def test_the_command_line_of_the_package_has_it(templates, coadd, tmp_path):
    done = subprocess.run([sys.executable, "-m", "fiberloom", "redshift", "-i", coadd, "-o", tmp_path / "a.fits", "-t", templates,
                           "--quiet"], env=dict(os.environ), capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
