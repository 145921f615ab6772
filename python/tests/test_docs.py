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
    pages = ("README.md", "docs/python.md", "docs/migration.md", "docs/tutorial.md")
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
