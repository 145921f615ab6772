# SPDX-License-Identifier: BSD-3-Clause
"""`qa` on a small camera that the steps before it have calibrated."""
import json
import math
import os
import pathlib
import shutil
import struct
import subprocess
import tempfile
import unittest

import small_spectra
import tiny_fits as fits
from run_fiberloom import PROGRAM
from small_stars import CAMERAS, FIBERS, STARS, flat_bytes, frame_bytes, grid_bytes, sky_bytes, write_passbands

BROKEN = 1 << 2


class Quality(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.inputs = pathlib.Path(tempfile.mkdtemp(prefix="fiberloom-quality-"))
        cls.addClassCleanup(shutil.rmtree, cls.inputs)
        write_passbands(cls.inputs)
        for camera in CAMERAS:
            cls.put(f"frame-{camera}0.fits", frame_bytes(camera, 11))
            cls.put(f"flat-{camera}0.fits", flat_bytes(camera))
            cls.put(f"sky-{camera}0.fits", sky_bytes(camera, 11))
        cls.put("grid.fits", grid_bytes())

        def all_of(kind):
            return [cls.inputs / f"{kind}-{camera}0.fits" for camera in CAMERAS]
        cls.stars = cls.inputs / "stdstars.fits"
        cls.must("stdstars", "--frames", *all_of("frame"), "--fiberflats", *all_of("flat"), "--skymodels", *all_of("sky"),
                 "--starmodels", cls.inputs / "grid.fits", "--filters", cls.inputs, "-o", cls.stars, "-q")
        cls.flux, cls.frame = cls.inputs / "fluxcalib-r0.fits", cls.inputs / "cframe-r0.fits"
        taken = ("-i", cls.inputs / "frame-r0.fits", "--fiberflat", cls.inputs / "flat-r0.fits", "--sky", cls.inputs / "sky-r0.fits")
        cls.must("fluxcalib", *taken, "--models", cls.stars, "-o", cls.flux, "-q")
        cls.must("calibrate", *taken, "--fluxcalib", cls.flux, "-o", cls.frame, "-q")

    @classmethod
    def put(cls, name, data):
        path = cls.inputs / name
        path.write_bytes(data)
        return path

    @staticmethod
    def run_program(*arguments):
        return subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, text=True, timeout=100,
                              env={**os.environ}, check=False)

    @classmethod
    def must(cls, *arguments):
        result = cls.run_program(*arguments)
        if result.returncode != 0:
            raise AssertionError(result.stderr)
        return result

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="fiberloom-out-"))
        self.addCleanup(shutil.rmtree, self.folder)
        self.out = self.folder / "exposure-qa.fits"

    def tables(self):
        return small_spectra.read_table(self.out, "FIBERQA"), small_spectra.read_table(self.out, "PETALQA")

    def test_a_good_exposure_is_found_good(self):
        summary = self.folder / "qa.json"
        result = self.must("qa", "--frames", self.frame, "--fluxcalibs", self.flux, "--skymodels", self.inputs / "sky-r0.fits",
                           "--stdstars", self.stars, "-o", self.out, "--json", summary)
        self.assertIn("5 of 5 fibres are good", result.stderr)
        fibers, petals = self.tables()
        self.assertEqual(fibers["FIBER"], list(range(FIBERS)))
        self.assertEqual(fibers["QAFIBERSTATUS"], [0] * FIBERS)
        snr = dict(zip(fibers["FIBER"], fibers["MEDIAN_SNR_R"]))
        self.assertEqual(max(snr, key=snr.get), 2, "the brightest star")
        self.assertLess(max(abs(v) for f, v in snr.items() if f not in STARS), 0.5)
        self.assertEqual((petals["PETAL_LOC"], petals["NGOODFIB"], petals["NSTDSTAR"]), ([0], [5], [3]))
        self.assertLess(petals["STARRMS"][0], 0.05)
        self.assertAlmostEqual(petals["RSKYWIDTH"][0], 1, delta=0.1)
        self.assertEqual((petals["RTHRUFRAC"], petals["BTHRUFRAC"]), ([1.0], [0.0]))
        head = next(h for h in fits.read(self.out) if h.name == "FIBERQA").cards
        self.assertEqual((head["NGOODFIB"], head["EXPID"]), (5, 11))
        told = json.loads(summary.read_text())["result"]
        self.assertEqual(told["petals"]["0"]["stars"], 3)
        self.assertAlmostEqual(told["petals"]["0"]["cameras"]["r"]["sky_width"], petals["RSKYWIDTH"][0], places=5)
        self.assertAlmostEqual(told["petals"]["0"]["cameras"]["r"]["throughput"], 20, delta=9)

    def test_a_broken_fiber_and_few_stars_are_told(self):
        broken = self.put("broken.fits", frame_bytes("r", 11, status={0: BROKEN}))
        self.must("qa", "--frames", broken, "-o", self.out, "-q")
        fibers, petals = self.tables()
        self.assertEqual(fibers["QAFIBERSTATUS"], [BROKEN, 0, 0, 0, 0])
        self.assertEqual(petals["NGOODFIB"], [4])
        one = self.folder / "one.fits"
        self.must("stdstars", "--frames", *(self.inputs / f"frame-{c}0.fits" for c in CAMERAS), "--fiberflats",
                  *(self.inputs / f"flat-{c}0.fits" for c in CAMERAS), "--skymodels", *(self.inputs / f"sky-{c}0.fits" for c in CAMERAS),
                  "--starmodels", self.inputs / "grid.fits", "--filters", self.inputs, "--maxstdstars", 1, "-o", one, "-q")
        self.must("qa", "--frames", self.frame, "--stdstars", one, "-o", self.out, "-q")
        self.assertEqual(self.tables()[1]["NGOODFIB"], [0], "one star is no calibration")

    def test_what_it_cannot_see_is_told(self):
        """Of a frame that is all NaN all fibres were called good in silence, and of one that does not say which are bad."""
        data = self.frame.read_bytes()
        flux = next(h for h in fits.read(self.frame) if h.name == "FLUX")
        dead = self.put("dead.fits", data[:flux.start] + struct.pack(">f", math.nan) * (len(flux.data) // 4)
                        + data[flux.start + len(flux.data):])
        pixels = flux.shape[0] * flux.shape[1]
        bare = self.put("bare.fits", data.replace(b"EXTNAME = 'FIBERMAP'", b"EXTNAME = 'FIBERMAX'"))
        for path, words in ((dead, f"dead.fits: FLUX, IVAR or RESOLUTION of {pixels} of {pixels} bins is no number"),
                            (bare, "bare.fits: no FIBERMAP: none of its fibres is known to be bad")):
            said = self.must("qa", "--frames", path, "-o", self.out, "-q", "--no-verify").stderr
            self.assertIn(words, said)
            self.assertEqual(len(said.splitlines()), 1, said)

    def test_what_cannot_be_done_is_one_line_with_a_code(self):
        other = self.put("other.fits", frame_bytes("b", 12))
        nameless = self.put("nameless.fits", self.frame.read_bytes().replace(b"CAMERA  = 'r0", b"CAMERA  = 'x0"))
        blue = frame_bytes("b", 11)
        self.assertIn(struct.pack(">qi", 201, 1), blue)
        turned = self.put("turned.fits", blue.replace(struct.pack(">qi", 201, 1), struct.pack(">qi", 202, 2)))
        for code, words, frames in ((13, ["other.fits", "EXPID is 12"], [self.frame, other]),
                                    (13, ["FIBERMAP: row 1 is of fibre 1, expected", "2"], [self.frame, turned]),
                                    (2, ["a second frame of camera r0"], [self.frame, self.frame]),
                                    (2, ["second standard stars of spectrograph 0"], [self.frame, "--stdstars", self.stars, self.stars]),
                                    (12, ["nameless.fits", "CAMERA is 'x0'"], [nameless]),
                                    (10, ["nothere.fits"], [self.folder / "nothere.fits"])):
            with self.subTest(words=words):
                result = self.run_program("qa", "--frames", *frames, "-o", self.out, "-q", "--no-verify")
                self.assertEqual(result.returncode, code, result.stderr)
                self.assertEqual(len(result.stderr.strip().splitlines()), 1, result.stderr)
                for word in words:
                    self.assertIn(word, result.stderr)
                self.assertFalse(self.out.exists())
        late = self.put("late.fits", sky_bytes("r", 99))
        self.assertIn("late.fits: of no frame", self.must("qa", "--frames", self.frame, "--skymodels", late, "-o", self.out).stderr)


if __name__ == "__main__":
    unittest.main()
