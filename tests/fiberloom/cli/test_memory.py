# SPDX-License-Identifier: BSD-3-Clause
"""Memory: known before it is taken, refused with one line and one code, fewer threads where that helps."""
import json
import pathlib
import re
import shutil
import tempfile
import unittest

from run_fiberloom import Case
from small_camera import GRID

NOT_ENOUGH, TOO_FINE = 61, 15
RESERVED = 72 << 20  # address space of a thread


class Camera(Case):
    """A camera as large as DESI's, with the fibres of two bundles lit."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="fiberloom-camera-"))
        made = cls.program("simulate", "-o", cls.folder, "--nspec", 50, "-q")
        assert made.returncode == 0, made.stderr
        cls.ccd = next(cls.folder.rglob("preproc-*"))
        cls.model = next(cls.folder.rglob("psf-*"))

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.folder)
        super().tearDownClass()

    def arguments(self, wave, *more):
        return ["extract", "-i", self.ccd, "-p", self.model, "-o", self.frame, "-w", wave, *more]

    def summary(self, wave, *more, **limits):
        result = self.program(*self.arguments(wave, "--json", "-", "-q", *more), **limits)
        self.assertEqual(result.returncode, 0, result.stderr)
        return json.loads(result.stdout), result.stderr


class Estimate(Camera):
    def test_is_what_a_run_takes(self):
        for wave, *more in [("5760,7620,0.8", "-n", 25, "--threads", 1),
                            ("5760,7620,0.8", "-n", 50, "--threads", 2),
                            ("5760,7620,0.6", "-n", 25, "--threads", 1),
                            ("5760,7620,0.5", "-n", 25, "--threads", 1),
                            ("6000,6020,0.4", "-n", 25, "--threads", 1),
                            ("5760,7620,0.8", "-n", 25, "--threads", 1, "-m", self.out / "m.fits"),
                            ("6000,6080,0.8", "-n", 25, "--threads", 2, "--method", "patch")]:
            with self.subTest(wave=wave, more=more):
                s, _ = self.summary(wave, *more)
                ratio = s["memory"]["estimated_bytes"] / s["peak_memory_bytes"]
                self.assertGreater(ratio, 0.9)
                self.assertLess(ratio, 1.4)


class Granted(Camera):
    def test_too_little_is_one_line_with_file_step_and_gigabytes(self):
        used = self.own_address_space()
        self.frame.unlink()
        result = self.program(*self.arguments("5760,7620,0.5", "-n", 25, "--threads", 1, "-q"),
                              address_space=used + 300e6)
        self.assert_fails(result, NOT_ENOUGH, self.ccd, "0.5 Angstrom", "left by ulimit", "coarser")
        needed, granted = (float(g) for g in re.findall(r"([0-9.]+) GB", result.stderr))
        self.assertAlmostEqual(granted, 0.3, delta=0.03)
        self.assertGreater(needed, granted)

    def test_an_image_that_is_too_large_is_refused_before_it_is_read(self):
        result = self.program(*self.arguments("6000,6010,0.8", "-q"), address_space=150e6)
        self.assert_fails(result, NOT_ENOUGH, self.ccd, "reading it needs")

    def test_fewer_threads_are_taken_where_they_fit(self):
        wave, fibers = "5760,7620,0.8", ("-n", 100)
        four, _ = self.summary(wave, *fibers, "--threads", 4)
        two, _ = self.summary(wave, *fibers, "--threads", 2)
        reference = self.frame.read_bytes()
        between = 0.5 * (four["memory"]["estimated_bytes"] + two["memory"]["estimated_bytes"])
        between += 3 * RESERVED
        capped, said = self.summary(wave, *fibers, "--threads", 4,
                                    address_space=between + self.own_address_space(4))
        self.assertIn(capped["memory"]["threads"], (2, 3))
        self.assertEqual(len(said.splitlines()), 1, said)
        self.assertIn("of 4 threads", said)
        self.summary(wave, *fibers, "--threads", 4)
        self.assertEqual(self.frame.read_bytes(), reference)

    def own_address_space(self, threads=1):
        """What the program has mapped when it looks: the limit less what it says is left."""
        limit = 3e9
        s, _ = self.summary("6000,6010,0.8", "-n", 5, "--threads", threads, address_space=limit)
        return limit - s["memory"]["granted_bytes"]


class OutOfMemory(Case):
    def test_every_command_ends_with_the_same_code(self):
        huge = self.out / "sim"
        huge.mkdir()
        result = self.program("simulate", "-o", huge, "--threads", 1, "-q", address_space=120e6)
        self.assertEqual(result.returncode, NOT_ENOUGH, result.stderr)
        self.assertEqual(len(result.stderr.splitlines()), 1, result.stderr)


    def test_no_limit_ends_a_night_by_a_signal(self):
        """Where the address space ends decides which thread, or which allocation, is the one that is refused."""
        night = pathlib.Path(tempfile.mkdtemp(prefix="fiberloom-night-"))
        self.addCleanup(shutil.rmtree, night)
        shutil.copyfile(self.image, night / "preproc-r0-00000011.fits")
        shutil.copyfile(self.psf, night / "psf-r0-00000011.fits")
        codes = set()
        for limit in (*range(int(60e6), int(620e6), int(24e6)), *range(int(240e6), int(256e6), int(8e5))):
            out = self.out / f"run-{limit}"
            result = self.program("night", night, "-q", "-o", out, "-w", GRID, "--bundlesize", "5", "--threads", 3,
                                  address_space=limit)
            with self.subTest(limit=limit):
                self.assertIn(result.returncode, (0, 3, NOT_ENOUGH, 127), result.stderr)
            codes.add(result.returncode)
            shutil.rmtree(out, ignore_errors=True)
        self.assertIn(0, codes)
        self.assertIn(NOT_ENOUGH, codes)


class FineSteps(Case):
    def test_a_step_too_fine_names_the_finest_that_is_possible(self):
        result = self.extract("-q", wave="5005,5085,0.05")
        self.assert_fails(result, TOO_FINE, self.image, "0.05 Angstrom", "finest possible")
        finest = re.search(r"about ([0-9.]+) Angstrom is the finest", result.stderr)[1]
        self.assertEqual(self.extract("-q", wave=f"5005,5085,{finest}").returncode, 0)

    def test_a_step_finer_than_the_pixels_is_regularised_with_one_warning(self):
        for step in (0.35, 0.3):
            result = self.extract("-q", wave=f"5005,5085,{step}")
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertEqual(len(result.stderr.splitlines()), 1, result.stderr)
            self.assertIn("finer than the pixels can carry", result.stderr)

    def test_an_absurd_step_is_refused_at_once(self):
        result = self.extract("-q", wave="5005,5085,0.0001")
        self.assert_fails(result, TOO_FINE, "0.0001 Angstrom")


class Night(Case):
    def test_a_frame_larger_than_the_whole_budget_is_refused(self):
        folder = self.out / "in"
        folder.mkdir()
        for name in (self.image.name, "psf-r0.fits"):
            shutil.copy(self.inputs / name, folder / name)
        result = self.program("night", folder, "-o", self.out / "out", "-w", GRID,
                              "--bundlesize", 5, "--threads", 2, "--memory", "10M", "-q")
        self.assertEqual(result.returncode, 3, result.stderr)
        failure = next((self.out / "out").rglob("failed/*.json"), None)
        self.assertIn("of memory with one thread", result.stderr + (failure.read_text() if failure else ""))
        fits = self.program("night", folder, "-o", self.out / "out2", "-w", GRID,
                            "--bundlesize", 5, "--threads", 2, "--memory", "200M", "-q")
        self.assertEqual(fits.returncode, 0, fits.stderr)


if __name__ == "__main__":
    unittest.main()
