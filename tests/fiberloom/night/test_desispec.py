# SPDX-License-Identifier: BSD-3-Clause
"""desispec's readers open each file of a night, its next step runs on ours, and ours on its.

FIBERLOOM_DESISPEC: sources of desispec, and behind colons those of desimodel and desitarget (PYTHONPATH);
FIBERLOOM_DESISPEC_PYTHON: an interpreter with what they import (default: this one). Without the first it is skipped, exit code 77.
"""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "cli"))
import small_desimodel  # noqa: E402
import tiny_fits as fits  # noqa: E402

FIBERLOOM = os.environ["FIBERLOOM_PROGRAM"]
DESISPEC = os.environ.get("FIBERLOOM_DESISPEC")
PEER = pathlib.Path(__file__).resolve().parents[3] / "bench/fiberloom/desispec/peer.py"
CAMERAS, NSPEC = ("b0", "r0", "z0"), 60


class Desispec(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="fiberloom-desispec-"))
        cls.addClassCleanup(shutil.rmtree, cls.folder, ignore_errors=True)
        raw, out = cls.folder / "raw", cls.folder / "out"
        cls.ours("simulate", "--night", "-o", raw, "--lamps", 1, "--tiles", 1, "--exposures", 2, "--cameras", ",".join(CAMERAS),
                 "--nspec", NSPEC)
        model = small_desimodel.write(cls.folder / "desimodel", CAMERAS)
        cls.ours("night", raw, "-o", out, "--until", "coadd", "--starmodels", raw / "starmodels.fits", "--filters", raw / "filters",
                 "--desimodel", model)
        cls.lamp, cls.first, cls.second = sorted(path for path in (out / "20200101").iterdir() if path.is_dir())
        cls.models = raw / "starmodels.fits"
        cls.coadd = next(out.rglob("coadd-*.fits"))

    @classmethod
    def ours(cls, *words):
        done = subprocess.run([FIBERLOOM, *map(str, words), "-q"], capture_output=True, text=True)
        if done.returncode != 0:
            raise AssertionError(f"{words}: exit code {done.returncode}: {done.stderr}")

    @classmethod
    def theirs(cls, *words):
        python = os.environ.get("FIBERLOOM_DESISPEC_PYTHON", sys.executable)
        done = subprocess.run([python, str(PEER), *map(str, words)], capture_output=True, text=True, cwd=cls.folder,
                              env={**os.environ, "PYTHONPATH": DESISPEC, "OMP_NUM_THREADS": "1",
                                   "SIMULATED_FILTERS": str(cls.folder / "raw/filters")})
        if done.returncode != 0:
            raise AssertionError(f"desispec's {words[0]}: exit code {done.returncode}: {(done.stdout + done.stderr)[-3000:]}")
        return json.loads(done.stdout.splitlines()[-1])

    @classmethod
    def file(cls, kind, camera="r0", exposure=None):
        folder = exposure or (cls.lamp if kind == "fiberflat" else cls.first)
        return folder / f"{kind}-{camera}-{folder.name}.fits"

    def inputs(self, camera="r0"):
        return ["-i", self.file("frame", camera), "--fiberflat", self.file("fiberflat", camera)]

    def near(self, kind, ours, theirs, most):
        """The two files' first HDU, in units of the error that theirs has."""
        a, b = fits.by_name(ours), fits.by_name(theirs)
        x, y, v, w = a[kind].values(), b[kind].values(), b["IVAR"].values(), a["IVAR"].values()
        known = [i for i in range(len(x)) if v[i] > 0 and w[i] > 0]
        self.assertGreater(len(known), 0.9 * len(x), kind)
        off = max(abs(x[i] - y[i]) * v[i] ** 0.5 for i in known)
        self.assertLess(off, most, kind)

    def test_its_readers_open_every_file(self):
        stars = self.first / f"stdstars-0-{self.first.name}.fits"
        found = self.theirs("read", f"stdstars={stars}", f"coadd={self.coadd}",
                            *(f"{kind}={self.file(kind)}" for kind in ("frame", "fiberflat", "sky", "fluxcalib", "cframe")))
        bins = found["frame"][1]
        self.assertEqual(found["fiberflat"], [NSPEC, bins, bins, 1])
        self.assertEqual(found["sky"], [NSPEC, bins, NSPEC, bins])
        self.assertEqual(found["fluxcalib"], [NSPEC, bins, NSPEC])
        self.assertEqual(found["cframe"], [NSPEC, bins, NSPEC, NSPEC, NSPEC])
        self.assertGreater(found["stdstars"][0], 0)
        self.assertEqual(found["stdstars"][0], found["stdstars"][4])
        self.assertEqual(found["coadd"][0], NSPEC)
        self.assertEqual(found["coadd"][4:6], [NSPEC, 2 * NSPEC])
        self.assertEqual(found["coadd"][-2:], [NSPEC, 7781])  # its cameras put together by desispec: 3600 to 9824 Angstrom

    def test_its_sky_of_our_flat_is_ours(self):
        theirs, ours = self.folder / "sky-theirs.fits", self.folder / "sky-ours.fits"
        self.theirs("sky", *self.inputs(), "-o", theirs)
        self.ours("sky", *self.inputs(), "-o", ours, "--method", "desispec")
        self.near("SKY", ours, theirs, 1e-2)

    def test_its_standard_stars_of_our_flats_and_skies_are_as_many(self):
        theirs = self.folder / "stdstars-theirs.fits"
        self.theirs("stdstars", "--frames", *(self.file("frame", c) for c in CAMERAS), "--fiberflats",
                    *(self.file("fiberflat", c) for c in CAMERAS), "--skymodels", *(self.file("sky", c) for c in CAMERAS),
                    "--starmodels", self.models, "-o", theirs, "--ncpu", 1)
        ours = fits.by_name(self.first / f"stdstars-0-{self.first.name}.fits")
        self.assertEqual(sorted(fits.by_name(theirs)["FIBERS"].values()), sorted(ours["FIBERS"].values()))
        self.ours("fluxcalib", *self.inputs(), "--sky", self.file("sky"), "--models", theirs, "-o", self.folder / "flux-of-theirs.fits")

    def test_its_calibration_of_our_sky_and_stars_is_ours(self):
        theirs, ours = self.folder / "flux-theirs.fits", self.folder / "flux-ours.fits"
        stars = self.first / f"stdstars-0-{self.first.name}.fits"
        given = [*self.inputs(), "--sky", self.file("sky"), "--models", stars]
        self.theirs("fluxcalibration", *given, "-o", theirs, "--delta-color-cut", 0)
        self.ours("fluxcalib", *given, "-o", ours, "--method", "desispec")
        self.near("FLUXCALIB", ours, theirs, 1e-2)

    def test_its_frames_and_coadds_of_our_calibration(self):
        frames = []
        for camera in CAMERAS:
            frames.append(self.folder / f"cframe-{camera}-theirs.fits")
            self.theirs("procexp", *self.inputs(camera), "--sky", self.file("sky", camera), "--calib", self.file("fluxcalib", camera), "-o",
                        frames[-1], "--no-tsnr", "--no-xtalk")
        ours = self.folder / "cframe-ours.fits"
        self.ours("calibrate", *self.inputs(), "--sky", self.file("sky"), "--fluxcalib", self.file("fluxcalib"), "-o", ours)
        self.near("FLUX", ours, frames[1], 1e-2)
        self.ours("coadd", "-i", *frames, "-o", self.folder / "coadd-of-theirs.fits")
        self.theirs("coadd_spectra", "-i", *(self.file("cframe", c, e) for c in CAMERAS for e in (self.first, self.second)), "-o",
                    self.folder / "coadd-theirs.fits")


if __name__ == "__main__":
    if not DESISPEC:
        print("skipped: FIBERLOOM_DESISPEC is not set")
        sys.exit(77)
    unittest.main()
