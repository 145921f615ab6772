# SPDX-License-Identifier: BSD-3-Clause
"""What the documentation shows runs, in order, on a frame of ten fibres."""
import pathlib
import re

import pytest

import fiberloom as fl

ROOT = pathlib.Path(__file__).parents[2]


def blocks(name):
    return re.findall(r"^```python\n(.*?)^```$", (ROOT / name).read_text(), re.M | re.S)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    s = fl.simulate_frame(nfiber=10, nwave=2326, wave_first=5760.0)
    header = fl._core.Header()
    header["CAMERA"] = "r0"
    header["FLAVOR"] = "science"
    fl.write_image(tmp_path / "preproc-r0-00000011.fits.gz",
                   fl.Image(s.image, s.ivar, mask=s.image < -1e9, header=header, readnoise=3.0))
    fl.write_psf(tmp_path / "psf-r0-00000011.fits", s.psf)
    fl.write_frame(tmp_path / "frame-r0-00000001.fits",  # what the tutorial has by then
                   fl.extract_frame(s.image, s.ivar, s.psf, s.wave))
    monkeypatch.chdir(tmp_path)
    pytest.importorskip("matplotlib").use("Agg")
    return tmp_path


def test_the_blocks_of_the_documentation_run(folder, capsys):
    names = {}
    pages = ("README.md", "docs/fiberloom/python.md", "docs/fiberloom/migration.md", "docs/fiberloom/tutorial.md")
    counts = []
    for page in pages:
        found = blocks(page)
        counts.append(len(found))
        for block in found:
            exec(compile(block, page, "exec"), names)
    assert min(counts) >= 1 and sum(counts) >= 8
    assert names["flux"].shape == (10, 2326)
    assert abs(names["pull"].std() - 1) < 0.3
    assert (folder / "frame.png").stat().st_size > 20000
    assert (folder / "spectrum.png").stat().st_size > 5000
    assert names["R"].shape == (2326, 2326)
    assert "max pull" in capsys.readouterr().out
    import matplotlib.pyplot
    matplotlib.pyplot.close("all")


@pytest.mark.filterwarnings("default")  # Dask's own are not our business
def test_the_page_about_engines_runs_under_dask(tmp_path, monkeypatch, capsys):
    pytest.importorskip("distributed")
    monkeypatch.chdir(tmp_path)
    s = fl.simulate_frame(nfiber=10, nwave=2326, wave_first=5760.0)
    header = fl.Header({"CAMERA": "r0", "FLAVOR": "science"})
    for expid in (11, 12):
        fl.write_psf(f"psf-r0-{expid:08}.fits", s.psf)
    fl.write_image("preproc-r0-00000011.fits.gz", fl.Image(s.image, s.ivar, header=header, readnoise=3.0))
    names = {"__name__": "__main__"}
    for block in blocks("docs/fiberloom/howto-engines.md"):
        exec(compile(block, "docs/fiberloom/howto-engines.md", "exec"), names)
    said = capsys.readouterr().out
    assert "frame-r0-00000011.fits 10 spectra" in said and "stopped after 1 of 1 bundles" in said
    assert names["failed"] == {"frame-r0-00000012.fits": (False, "preproc-r0-00000012.fits.gz")}
    assert "['frame-r0-00000011.fits', 'preproc-r0-00000012.fits.gz: input file missing or unreadable']" in said
    image = fl.read_image("preproc-r0-00000011.fits.gz")  # float32, as a file holds it
    whole = fl.extract_frame(image.image, image.ivar, s.psf, "5760,7620,0.8", mask=image.mask, bundlesize=5)
    whole.header = image.header
    fl.write_frame("whole.fits", whole)
    assert (tmp_path / "joined.fits").read_bytes() == (tmp_path / "whole.fits").read_bytes()
