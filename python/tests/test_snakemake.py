# SPDX-License-Identifier: BSD-3-Clause
"""The Snakefiles of docs/fiberloom/snakemake run under a real Snakemake."""
import importlib.util
import os
import pathlib
import subprocess
import sys

import pytest

import fiberloom as fl
from fiberloom.__main__ import program

ROOT = pathlib.Path(__file__).parents[2]
pytestmark = pytest.mark.skipif(importlib.util.find_spec("snakemake") is None, reason="Snakemake is not installed")


@pytest.fixture
def folder(tmp_path):
    """Two exposures of a small camera."""
    (tmp_path / "preproc").mkdir()
    s = fl.simulate_frame(nfiber=5, nwave=40)
    fl.write_psf(tmp_path / "preproc/psf-r0.fits", s.psf)
    header = fl.Header({"CAMERA": "r0", "FLAVOR": "science"})
    for expid in (1, 2):
        fl.write_image(tmp_path / f"preproc/preproc-r0-{expid:08}.fits", fl.Image(s.image, s.ivar, header=header, readnoise=3.0))
    return tmp_path


def snakemake(name, folder, *config):
    path = f"{program().parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        [sys.executable, "-m", "snakemake", "-s", ROOT / "docs/fiberloom/snakemake" / name, "--cores", "2", "--nolock",
         "--config", "preproc=preproc", "out=out", *config],
        cwd=folder, env={**os.environ, "PATH": path, "HOME": str(folder)}, capture_output=True, text=True, timeout=120)
    return done.returncode, done.stdout + done.stderr


def times(folder):
    return {path.name: path.stat().st_mtime_ns for path in sorted((folder / "out").glob("frame*.fits"))}


def test_a_rule_makes_frames_and_makes_again_those_whose_input_has_changed(folder, monkeypatch):
    monkeypatch.chdir(folder)  # a frame names its inputs as they were given
    code, text = snakemake("frames.smk", folder, "wave=6000,6016,0.8")
    assert code == 0, text
    fl.extract_file("preproc/preproc-r0-00000001.fits", "preproc/psf-r0.fits", "own.fits", wavelength="6000,6016,0.8")
    assert pathlib.Path("out/frame-r0-00000001.fits").read_bytes() == pathlib.Path("own.fits").read_bytes()
    before = times(folder)
    image = fl.read_image("preproc/preproc-r0-00000002.fits")
    image.image[5, 5] += 1  # of small files Snakemake looks at the content, too
    fl.write_image("preproc/preproc-r0-00000002.fits", image)
    code, text = snakemake("frames.smk", folder, "wave=6000,6016,0.8")
    after = times(folder)
    assert code == 0 and [before[name] == after[name] for name in sorted(before)] == [True, False], text


def test_a_night_is_a_step_whose_receipts_say_what_is_done(folder):
    options = "options=-w 6000,6016,0.8"
    code, text = snakemake("night.smk", folder, options)
    assert code == 0, text
    pages = sorted(path.name for path in (folder / "out").glob("frame*.html"))
    assert pages == ["frame-r0-00000001.html", "frame-r0-00000002.html"]
    before = times(folder)
    data = (folder / "preproc/preproc-r0-00000001.fits").read_bytes()
    (folder / "preproc/preproc-r0-00000003.fits").write_bytes(data)
    (folder / "preproc/preproc-r0-00000004.fits").write_bytes(data[:5000])  # truncated: it fails, the others go on
    code, text = snakemake("night.smk", folder, options)
    after = times(folder)
    assert code == 0 and sorted(after) == [f"frame-r0-{expid:08}.fits" for expid in (1, 2, 3)], text
    assert all(after[name] == before[name] for name in before)  # what was done was left alone
    assert (folder / "out/frame-r0-00000003.html").exists() and not (folder / "out/frame-r0-00000004.html").exists()
