# SPDX-License-Identifier: BSD-3-Clause
import dataclasses
import filecmp
import subprocess
import sys

import numpy as np
import pytest

import fiberloom as fl


def run(*arguments, **more):
    return subprocess.run([sys.executable, "-m", "fiberloom", *map(str, arguments)],
                          capture_output=True, text=True, **more)


def test_an_image_survives_the_way_through_a_file(small, files):
    image = fl.read_image(files["image"])
    assert image.image.dtype == np.float32 and image.image.shape == small.image.shape
    assert np.array_equal(image.image, small.image.astype(np.float32))
    assert image.readnoise == 3.0 and image.header["CAMERA"] == "r0"
    assert image.mask.dtype == np.uint32 and not image.mask.any()
    image.image[0, 0] = 1  # it is the caller's


def test_a_psf_survives_the_way_through_a_file(small, files):
    psf = fl.read_psf(files["psf"])
    assert np.array_equal(psf.x(small.wave), small.psf.x(small.wave))
    assert psf.header["PSFTYPE"] == "GAUSS-HERMITE" and psf.path == str(files["psf"])


def test_a_frame_survives_the_way_through_a_file(frame, tmp_path):
    path = tmp_path / "frame.fits.gz"
    fl.write_frame(path, frame)
    back = fl.read_frame(path)
    assert np.array_equal(back.flux, frame.flux.astype(np.float32))
    assert np.array_equal(back.mask, frame.mask) and np.array_equal(back.wave, frame.wave)
    assert np.array_equal(back.R(2).toarray(), frame.R(2).toarray())
    assert fl.compare(frame, path).max_pull < 1e-3
    with pytest.raises(fl.Error, match="exists") as caught:
        fl.write_frame(path, frame, overwrite=False)
    assert caught.value.exit_code == 32
    fl.write_frame(path, frame, scores=False)
    fl.write_frame(tmp_path / "again.fits.gz", fl.read_frame(path), scores=False)
    assert filecmp.cmp(path, tmp_path / "again.fits.gz", shallow=False)


def test_what_few_frames_have_survives_the_way_through_a_file(small, tmp_path):
    own = small.wave + 0.05 * np.arange(small.psf.nfiber)[:, np.newaxis]
    path = tmp_path / "frame.fits"
    fl.write_frame(path, fl.extract_frame(small.image, small.ivar, small.psf, own, fiber_correlation=True))
    back = fl.read_frame(path)
    assert np.array_equal(back.fiber_wave, own)
    assert back.fiber_correlation.shape == back.resolution.shape and back.fiber_correlation.any()
    assert fl.compare(back, path).max_pull == 0
    back.fiber_wave = own + 0.5
    with pytest.raises(fl.Error, match="FIBER_WAVELENGTH"):
        fl.compare(back, path)
    with pytest.raises(ValueError, match="frame: fiber_wave: each fibre has wavelengths of its own"):
        fl.sky(back)
    parts = [fl.extract_frame(small.image, small.ivar, small.psf, own, specmin=first, nspec=count, oversample=2)
             for first, count in ((0, 2), (2, small.psf.nfiber - 2))]
    joined, whole = fl.join_frames(parts), fl.extract_frame(small.image, small.ivar, small.psf, own, oversample=2)
    assert np.array_equal(joined.fiber_wave, own) and np.array_equal(joined.fine_resolution, whole.fine_resolution)
    parts[0].fiber_wave = None
    with pytest.raises(ValueError, match="fiber_wave of all frames or of none, got it of 1 of 2"):
        fl.join_frames(parts)
    fine = fl.extract_frame(small.image, small.ivar, small.psf, small.wave, oversample=2)
    fine.fiber_heliocor = np.linspace(0.9999, 1.0001, fine.nspec)
    fl.write_frame(path, fine)
    assert np.array_equal(fl.read_frame(path).fine_resolution, fine.fine_resolution)
    assert np.array_equal(fl.read_frame(path).fiber_heliocor, fine.fiber_heliocor)


def test_astropy_reads_a_written_frame(frame, tmp_path):
    fits = pytest.importorskip("astropy.io.fits")
    fl.write_frame(tmp_path / "f.fits", frame)
    with fits.open(tmp_path / "f.fits", checksum=True) as hdus:
        assert [h.name for h in hdus[:5]] == ["FLUX", "IVAR", "MASK", "WAVELENGTH", "RESOLUTION"]
        assert np.array_equal(hdus["FLUX"].data, frame.flux.astype(np.float32))


def test_big_endian_arrays_of_astropy_are_taken(small, files):
    fits = pytest.importorskip("astropy.io.fits")
    with fits.open(files["image"]) as hdus:
        image, ivar = hdus["IMAGE"].data, hdus["IVAR"].data
        got = fl.extract_frame(image, ivar, small.psf, small.wave)
    ours = fl.read_image(files["image"])
    assert np.array_equal(got.flux,
                          fl.extract_frame(ours.image, ours.ivar, small.psf, small.wave).flux)


def test_extract_file_writes_the_bytes_of_the_command_line(files, tmp_path):
    a, b = tmp_path / "a.fits.gz", tmp_path / "b.fits.gz"
    summary = fl.extract_file(files["image"], files["psf"], a, wavelength="6000,6040,0.8",
                              model=tmp_path / "ma.fits", threads=1)
    assert summary["nspec"] == 10 and summary["nwave"] == 51 and summary["output"] == str(a)
    done = run("extract", "-i", files["image"], "-p", files["psf"], "-o", b, "-w", "6000,6040,0.8",
               "-m", tmp_path / "mb.fits", "--quiet")
    assert done.returncode == 0, done.stderr
    assert filecmp.cmp(a, b, shallow=False)
    assert filecmp.cmp(tmp_path / "ma.fits", tmp_path / "mb.fits", shallow=False)


def test_the_barycentric_factor_is_that_of_the_command_line(files, tmp_path):
    image = fl.read_image(files["image"])
    path = tmp_path / "image.fits"
    for key, value in (("TARGTRA", 155.5939), ("TARGTDEC", -4.8391), ("MJD-OBS", 61009.6253), ("EXPTIME", 0.0)):
        image.header[key] = value
    fl.write_image(path, image)
    summary = fl.extract_file(path, files["psf"], tmp_path / "a.fits", wavelength="6000,6040,0.8",
                              barycentric_correction=True)
    assert summary["heliocor"] == fl.barycentric_factor(155.5939, -4.8391, 61009.6253)
    assert abs((summary["heliocor"] - 1) * 299792458 - 29112.39) < 1  # astropy
    with pytest.raises(ValueError):
        fl.barycentric_factor(0, 91, 61000)


def test_the_command_line_s_exit_codes_come_through():
    assert run("--version").stdout.strip() == f"fiberloom {fl.__version__}"
    assert run("info", "/nowhere.fits").returncode == 10
    assert run("extract").returncode == 2


def test_simulate_writes_what_the_command_line_writes(files, tmp_path):
    a, b = tmp_path / "a", tmp_path / "b"
    paths = fl.simulate(a, psf=_camera_psf(tmp_path), nspec=2, cameras="r0",
                        truth_grid="extraction")
    assert [p.split("/")[-1] for p in paths] == ["psf-r0.fits", "preproc-r0-00000001.fits",
                                                 "truth-r0-00000001.fits"]
    done = run("simulate", "-o", b, "--psf", tmp_path / "psf.fits", "--nspec", 2, "--quiet",
               "--truth-grid", "extraction")
    assert done.returncode == 0, done.stderr
    for name in ("preproc-r0-00000001.fits", "truth-r0-00000001.fits"):
        assert filecmp.cmp(a / name, b / name, shallow=False)
    fl.extract_file(a / "preproc-r0-00000001.fits", tmp_path / "psf.fits", a / "frame.fits",
                    wavelength=(5760, 7620, 0.8), nspec=2)
    pulls = fl.compare_truth(a / "frame.fits", paths[2])["all"]
    assert pulls["bins"] > 4000 and abs(pulls["width"] - 1) < 0.1
    table = fl.read_image(paths[1]).fibermap
    assert table.rows["TARGETID"].dtype == ">i8" and table.rows["FIBER"][1] == 1
    assert len(table) == 2 and not table.rows.flags.writeable


def _camera_psf(folder):
    """Two fibres that cover the whole r camera's grid on a narrow CCD."""
    s = fl.simulate_frame(nfiber=2, nwave=2326, wave_first=5760.0)
    fl.write_psf(folder / "psf.fits", s.psf)
    return folder / "psf.fits"


def test_a_header_is_a_mapping(files):
    header = fl.read_image(files["image"]).header
    header["A"], header["B"], header["C"], header["D"] = 1, 2.5, True, "text"
    assert [header[k] for k in "ABCD"] == [1, 2.5, True, "text"]
    assert isinstance(header["A"], int) and isinstance(header["C"], bool)
    assert "A" in header and header.get("NONE", 7) == 7 and "A" in header.keys()
    del header["A"]
    with pytest.raises(KeyError):
        header["A"]
    with pytest.raises(TypeError, match="header value of X"):
        header["X"] = object()


def test_headers_and_fibermaps_that_are_others_are_named(frame, small, tmp_path):
    path = tmp_path / "x.fits"
    image = fl.Image(small.image, small.ivar, header={"CAMERA": "b7", "EXPID": 7})
    fl.write_image(path, image)
    header = fl.read_image(path).header
    assert header["CAMERA"] == "b7" and header["EXPID"] == 7
    for value in ([1], "text", 3):
        with pytest.raises(TypeError, match="header: expected a Header or a mapping, got"):
            fl.write_frame(path, dataclasses.replace(frame, header=value))
        with pytest.raises(TypeError, match="fibermap: expected a Table, as read_image and read_frame give it, got"):
            fl.write_image(path, dataclasses.replace(image, fibermap=value))
    made = fl.simulate(tmp_path, nspec=2, psf=_camera_psf(tmp_path))
    rows = fl.read_image(made[1]).fibermap
    with pytest.raises(ValueError, match="fibermap: expected 10 rows, one a spectrum, got 2"):
        fl.write_frame(path, dataclasses.replace(frame, fibermap=rows))


@pytest.mark.parametrize("content, code", [(b"", 14), (b"not a FITS file" * 300, 14)])
def test_files_that_are_none_are_errors_that_name_them(tmp_path, content, code):
    path = tmp_path / "junk.fits"
    path.write_bytes(content)
    for reader in (fl.read_image, fl.read_psf, fl.read_frame):
        with pytest.raises(fl.Error, match="junk.fits") as caught:
            reader(path)
        assert caught.value.exit_code == code


@pytest.mark.parametrize("path", [None, 3, "", "a\0b", object()])
def test_paths_that_are_none_are_named(path):
    for reader in (fl.read_image, fl.read_psf, fl.read_frame):
        with pytest.raises((TypeError, ValueError), match="path: expected a path"):
            reader(path)
