# SPDX-License-Identifier: BSD-3-Clause
"""`compare` and `info` on small files."""
import time
import unittest

import tiny_fits as fits
from run_fiberloom import Case
from small_camera import NFIBER


class Compare(Case):
    def setUp(self):
        super().setUp()
        self.extract_ok()

    def test_a_frame_equals_itself(self):
        result = self.program("compare", self.frame, self.frame)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("100.0000 %", result.stdout)
        self.assertRegex(result.stdout, r"max pull +0 sigma")

    def test_part_of_a_frame_is_matched_by_fibre(self):
        part = self.out / "part.fits"
        self.extract_ok("-s", "3", "-n", "2", output=part)
        result = self.program("compare", self.frame, part)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("2 spectra", result.stdout)
        self.assertIn(f"not compared: {NFIBER - 2} spectra only in A, 0 only in B\n", result.stdout)
        self.assertRegex(result.stdout, r"max pull +0 sigma")
        self.assertNotIn("not compared", self.program("compare", part, part).stdout)

    def test_differences_beyond_the_limits_exit_with_1(self):
        other = self.out / "other.fits"
        self.extract_ok("--mask-bits", "0", output=other)  # the dead block counts: pulls, masks
        result = self.program("compare", self.frame, other, "--list", "3")
        self.assertEqual(result.returncode, 1, result.stderr)
        self.assertIn("EXCEEDED", result.stdout)
        self.assertEqual(result.stdout.count("  only A: fibre"), 3)
        result = self.program("compare", self.frame, other, "--max-pull", "1e9",
                              "--max-mask-diff", "100")
        self.assertEqual(result.returncode, 0, result.stdout)

    def test_other_grids_are_refused(self):
        other = self.out / "other.fits"
        self.extract_ok(output=other, wave="5005,5085,1.0")
        result = self.program("compare", self.frame, other)
        self.assertEqual(result.returncode, 13, result.stderr)
        self.assertEqual(len(result.stderr.splitlines()), 1)

    def test_truth(self):
        nwave = 101
        truth = self.put("truth.fits",
                         fits.image("FLUX", -64, (NFIBER, nwave), [25.0] * NFIBER * nwave, first=True)
                         + fits.image("WAVELENGTH", -64, (nwave,),
                                      [5005.0 + 0.8 * j for j in range(nwave)])
                         + fits.table("FIBERMAP", [("FIBER", "J", "i", None)],
                                      [(f,) for f in range(NFIBER)]))
        result = self.program("compare", self.frame, truth, "--bundlesize", "5")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("fibres 5-9", result.stdout)
        result = self.program("compare", self.frame, "--truth", truth, "--max-width-error", "0.01")
        self.assertEqual(result.returncode, 1, result.stdout)

    def test_a_hint_says_why_pulls_are_wide_where_the_truth_is_fine(self):
        hint = "hint: the truth's light lies off the centres"
        for step, nwave, told in ((0.4, 250, True), (0.8, 125, False)):
            first = 5000.0
            truth = self.put("fine.fits",
                             fits.image("FLUX", -64, (NFIBER, nwave), [25.0] * NFIBER * nwave, first=True)
                             + fits.image("WAVELENGTH", -64, (nwave,), [first + step * j for j in range(nwave)])
                             + fits.table("FIBERMAP", [("FIBER", "J", "i", None)], [(f,) for f in range(NFIBER)]))
            result = self.program("compare", self.frame, truth)
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertEqual(hint in result.stdout, told, result.stdout)
            self.assertEqual(result.stdout.count("hint"), int(told))

    def test_a_hint_says_that_a_frame_was_made_in_patches(self):
        other = self.out / "patch.fits"
        self.extract_ok("--method", "patch", "--nwavestep", "20", "--wavepad", "1", "--wavepad-frac", "0", output=other)
        result = self.program("compare", self.frame, other, "--max-pull", "1e-6")
        self.assertEqual(result.returncode, 1, result.stderr)
        self.assertRegex(result.stdout, r"hint: \d+ of the \d+ bins beyond the limit .*; B was made in patches")
        result = self.program("compare", self.frame, self.frame, "--max-pull", "1e-6")
        self.assertNotIn("hint", result.stdout)

    def truth(self):
        nwave = 101
        return self.put("flat-truth.fits",
                        fits.image("FLUX", -64, (NFIBER, nwave), [25.0] * NFIBER * nwave, first=True)
                        + fits.image("WAVELENGTH", -64, (nwave,), [5005.0 + 0.8 * j for j in range(nwave)])
                        + fits.table("FIBERMAP", [("FIBER", "J", "i", None)], [(f,) for f in range(NFIBER)]))

    def refused(self, code, arguments, *words):
        result = self.program("compare", *arguments)
        self.assertEqual(result.returncode, code, result.stdout)
        self.assertEqual(len(result.stderr.splitlines()), 1, result.stderr)
        for word in words:
            self.assertIn(word, result.stderr)

    def test_a_limit_that_nothing_is_held_to_is_no_pass(self):
        for option in ("--max-pull", "--max-mask-diff", "--max-ivar", "--max-resolution", "--list"):
            self.refused(2, [self.frame, self.truth(), option, "0"], option, "two frames")
        for option in ("--max-mean", "--max-width-error", "--bundlesize"):
            self.refused(2, [self.frame, self.frame, option, "1"], option, "truth")
        self.refused(2, [self.frame, self.frame, "--max-other", "1"], "--max-other", "redshifts")

    def test_what_is_no_number_is_no_limit(self):
        for option in ("--max-pull", "--max-mask-diff", "--max-ivar", "--max-resolution", "--max-mean", "--max-width-error", "--max-other"):
            self.refused(2, [self.frame, self.frame, option, "nan"], option, "expected a number of any size, got nan")

    def test_as_many_other_fibres_are_not_compared_row_by_row(self):
        parts = [self.out / "first.fits", self.out / "second.fits", self.out / "third.fits"]
        for path, first in zip(parts, ("0", "1", "5")):
            self.extract_ok("-s", first, "-n", "4", output=path)
        result = self.program("compare", parts[0], parts[1])
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("3 spectra", result.stdout)
        self.refused(13, [parts[0], parts[2]], "shares no fibre")

    def test_nothing_to_compare_is_not_the_same(self):
        data = fits.by_name(self.frame)["IVAR"]
        whole = bytearray(self.frame.read_bytes())
        size = NFIBER * 101 * 4
        whole[data.start:data.start + size] = bytes(size)
        empty = self.put("empty.fits", whole)
        result = self.program("compare", empty, empty, "--no-verify")
        self.assertEqual(result.returncode, 1, result.stderr)
        self.assertIn("nothing was compared", result.stdout)
        self.assertEqual(self.program("compare", empty, self.truth(), "--no-verify").returncode, 1)

    def test_one_file_is_not_enough(self):
        self.assertEqual(self.program("compare", self.frame).returncode, 2)


class Info(Case):
    def test_kinds(self):
        self.extract_ok()
        for path, kind in ((self.image, "preproc image"), (self.psf, "PSF"), (self.frame, "frame")):
            result = self.program("info", path)
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertIn(f"{path}: {kind}", result.stdout)

    def test_calibrations_are_no_images_and_no_truth(self):
        image = lambda name, first=False: fits.image(name, -32, (2, 3), [1.0, 1.0, 0.0] * 2, [("CAMERA", "r0")], first=first)  # noqa: E731
        wave = fits.image("WAVELENGTH", -64, (3,), [5000.0, 5001.0, 5002.0])
        parts = image("IVAR") + fits.image("MASK", 32, (2, 3), [0] * 6) + wave
        stars = image("FLUX", first=True) + wave
        for name, data, kind, fact in (
                ("flat", image("FIBERFLAT", True) + parts + fits.image("MEANSPEC", -32, (3,), [1.0] * 3), "fibre flat", "2 of 6"),
                ("sky", image("SKY", True) + parts, "sky", "2 of 6"),
                ("fluxcalib", image("FLUXCALIB", True) + parts, "flux calibration", "2 of 6"),
                ("stdstars", stars + fits.image("FIBERS", 32, (2,), [4, 7]), "standard stars", "stars +2"),
                ("models", stars + fits.table("METADATA", [("TEFF", "E", "f", None)], [(5e3,), (6e3,)]), "stellar models", "checksums"),
                ("truth", stars, "truth", "spectra +2"),
                ("night-truth", stars + image("SKY"), "truth", "spectra +2")):
            path = self.put(f"{name}.fits", data)
            result = self.program("info", path)
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertIn(f"{path}: {kind}\n", result.stdout)
            self.assertRegex(result.stdout, fact)
            self.assertNotIn("CCD", result.stdout)

    def test_a_coadd_is_told_camera_by_camera(self):
        def camera(name, nwave, first=False):
            return (fits.image(f"{name}_WAVELENGTH", -64, (nwave,), [3600.0 + 0.8 * j for j in range(nwave)], first=first)
                    + fits.image(f"{name}_FLUX", -32, (2, nwave), [1.5] * 2 * nwave)
                    + fits.image(f"{name}_IVAR", -32, (2, nwave), [1.0] * nwave + [0.0] * nwave)
                    + fits.image(f"{name}_MASK", 32, (2, nwave), [0] * (2 * nwave - 1) + [2]))
        tables = (fits.table("FIBERMAP", [("TARGETID", "K", "q", None)], [(5,), (6,)])
                  + fits.table("EXP_FIBERMAP", [("TARGETID", "K", "q", None)], [(5,), (5,), (6,)]))
        spectra = self.put("spectra.fits", camera("B", 10, first=True) + camera("Z", 12))
        coadd = self.put("coadd.fits", camera("B", 10, first=True) + camera("Z", 12) + tables)
        result = self.program("info", coadd)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn(f"{coadd}: coadd", result.stdout)
        for name, value in (("spectra", "2"), ("wavelengths of B", "3600.000 to 3607.200 Angstrom, step 0.8000, 10 bins"),
                            ("resolution of Z", "none"), ("bins of Z with ivar 0", r"12 of 24 \(50.000 %\)"),
                            ("MASK of B", r"1 of 20 \(5.000 %\)"), ("fibermap", "2 rows"), ("exposures", "3 rows"),
                            ("scores", "none")):
            self.assertRegex(result.stdout, f"{name} +{value}")
        self.assertIn(f"{spectra}: spectra", self.program("info", spectra).stdout)

    def test_half_a_camera_is_an_error_that_names_what_is_missing(self):
        path = self.put("half.fits", fits.image("B_WAVELENGTH", -64, (3,), [1.0, 2.0, 3.0], first=True)
                        + fits.image("B_FLUX", -32, (2, 3), [1.5] * 6))
        result = self.program("info", path)
        self.assertEqual(result.returncode, 11, result.stdout)
        self.assertEqual(result.stderr.strip(),
                         f"fiberloom: error: {path}: no HDU B_IVAR; the file has B_WAVELENGTH, B_FLUX")

    def test_start_up_is_quick(self):
        times = []
        for _ in range(5):
            start = time.monotonic()
            self.assertEqual(self.program("info", self.inputs / "nowhere.fits").returncode, 10)
            times.append(time.monotonic() - start)
        # Not a benchmark: only a guard against start-up work by the second.
        self.assertLess(min(times), 1.0)


if __name__ == "__main__":
    unittest.main()
