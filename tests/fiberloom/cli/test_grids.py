# SPDX-License-Identifier: BSD-3-Clause
"""Any wavelength grid, traces that are moved, fibres on grids of their own, decorrelated fibres, finer solutions, leakage, drawn errors."""
import json
import math
import unittest

import test_barycentric as barycentric
import tiny_fits as fits
from run_fiberloom import Case
from small_camera import NFIBER


def numbers(hdu):
    return list(hdu.values())


class Grids(Case):
    def grid_file(self, name, rows):
        flat = [w for row in rows for w in row]
        shape = (len(rows), len(rows[0])) if len(rows) > 1 else (len(rows[0]),)
        return self.put(name, fits.image("WAVELENGTH", -64, shape, flat, first=True))

    def extract_on(self, *more, wave=None, image=None):
        """Without the grid that extract() gives."""
        files = ["-i", image or self.image, "-p", self.psf, "-o", self.frame, "--bundlesize", "5", "--quiet"]
        grid = ["-w", wave] if wave else []
        return self.program("extract", *files, *grid, *more)

    def ok(self, *more, **how):
        result = self.extract_on(*more, **how)
        self.assertEqual(result.returncode, 0, result.stderr)
        return fits.by_name(self.frame)

    def test_a_file_of_the_linear_grid_gives_the_linear_frame(self):
        linear = self.ok(wave="5005.0,5085.0,0.8")
        text = self.put("grid.txt", "".join(f"{5005.0 + 0.8 * j!r}  # bin {j}\n" for j in range(101)).encode())
        for path in (text, self.grid_file("grid.fits", [[5005.0 + 0.8 * j for j in range(101)]])):
            other = self.ok("--wave-file", path)
            for name in ("FLUX", "IVAR", "MASK", "RESOLUTION", "CHI2PIX", "WAVELENGTH"):
                self.assertEqual(linear[name].data, other[name].data, name)
            self.assertEqual(other["FLUX"].cards["EXGRID"], "file")
        self.assertNotIn("EXGRID", linear["FLUX"].cards)

    def test_a_logarithmic_grid(self):
        hdus = self.ok("--wave-log10", wave="5005.0,5085.0,8e-5")
        wave = numbers(hdus["WAVELENGTH"])
        steps = [math.log10(b / a) for a, b in zip(wave, wave[1:])]
        self.assertEqual(wave[0], 5005.0)
        self.assertLess(max(abs(s - 8e-5) for s in steps), 1e-12)
        self.assertLess(abs(wave[-1] - 5085.0), 0.5)
        self.assertEqual(hdus["FLUX"].cards["EXGRID"], "log10")

    def test_a_grid_for_each_fiber_is_that_fiber_extracted_on_it(self):
        shift = [0.05 * f for f in range(NFIBER)]
        rows = [[5010.0 + s + 0.8 * j for j in range(61)] for s in shift]
        own = self.ok("--wave-file", self.grid_file("own.fits", rows))
        self.assertEqual(own["FIBER_WAVELENGTH"].shape, (NFIBER, 61))
        self.assertEqual(numbers(own["FIBER_WAVELENGTH"])[61:122], rows[1])
        for command in ("redshift", "coadd"):
            result = self.program(command, "-i", self.frame, "-o", self.out / "no.fits", "-q")
            self.assertEqual(result.returncode, 15, result.stderr)
            self.assertIn("wavelengths of its own", result.stderr)
        for fiber in (0, 3):  # alone, with the whole camera on that grid
            alone = self.ok("--wave-file", self.grid_file("one.fits", [rows[fiber]]))
            a, b = (numbers(h["FLUX"])[61 * fiber:61 * fiber + 61] for h in (own, alone))
            ivar = numbers(alone["IVAR"])[61 * fiber:61 * fiber + 61]
            pulls = [abs(x - y) * math.sqrt(w) for x, y, w in zip(a, b, ivar)]
            self.assertLess(max(pulls), 0.02, "neighbours lie elsewhere, which they hardly feel")
            self.assertTrue(any(ivar))
        seen = set()
        for threads in ("1", "3"):
            self.ok("--threads", threads, "--wave-file", self.inputs / "own.fits")
            seen.add(self.frame.read_bytes())
        self.assertEqual(len(seen), 1)

    def test_grids_that_are_none(self):
        bad = self.put("down.txt", b"5010\n5011\n5010.5\n")
        self.assert_fails(self.extract_on("--wave-file", bad), 14, bad, "line 3", "5010.5")
        far = self.put("far.txt", b"6010\n6011\n6012\n")
        self.assert_fails(self.extract_on("--wave-file", far), 20, "5000.00 to 5100.00")
        few = self.grid_file("few.fits", [[5010.0, 5011.0], [5010.0, 5011.0]])
        self.assert_fails(self.extract_on("--wave-file", few), 21, few, "2 fibres", "10")
        apart = self.grid_file("apart.fits", [[5010.0 + 9 * f + j for j in range(3)] for f in range(NFIBER)])
        self.assert_fails(self.extract_on("--wave-file", apart), 2, "bins apart", "at most 8")
        self.assert_fails(self.extract_on("--wave-file", apart, wave="5005,5085,0.8"), 2, "--wave-file")
        self.assert_fails(self.extract_on("--wave-log10"), 2, "--wave-log10")
        self.assert_fails(self.extract_on("--wave-log10", wave="5005,5085,0.8"), 2, "step is wider")
        self.assert_fails(self.extract_on("--wave-file", self.out / "none.txt"), 10)
        self.assert_fails(self.extract_on("--barycentric-fibers"), 2, "--barycentric-correction")
        rows = self.grid_file("r.fits", [[5010.0 + j for j in range(30)] for _ in range(NFIBER)])
        self.assert_fails(self.extract_on("--method", "patch", "--wave-file", rows), 15, "--method patch")


class BarycentricFibers(Case):
    def image_in_the_field(self):
        data = barycentric.Barycentric.with_cards(self.camera.preproc_bytes(), barycentric.FIELD, "IMAGE")
        return self.put("field.fits", data)

    def test_each_fiber_has_its_own_factor(self):
        ra = [155.0 + 0.2 * f for f in range(NFIBER)]
        ra[4] = float("nan")
        columns = [("FIBER", "J", "i", None), ("TARGET_RA", "D", "d", None), ("TARGET_DEC", "D", "d", None)]
        rows = [(f, r, -4.8391) for f, r in enumerate(ra)]
        fibermap = self.put("fibermap.fits", fits.image("A", 8, (2,), [0, 0], first=True)
                            + fits.table("FIBERMAP", columns, rows))
        result = self.extract("--loglevel", "warn", "--barycentric-correction", "--barycentric-fibers", "-f", fibermap,
                              image=self.image_in_the_field())
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("1 fibres without a direction", result.stderr)
        hdus = fits.by_name(self.frame)
        factors, of_field = numbers(hdus["FIBER_HELIOCOR"]), hdus["FLUX"].cards["HELIOCOR"]
        self.assertEqual(factors[4], of_field)
        self.assertEqual(len(set(factors)), NFIBER)
        self.assertLess(max(abs(f / of_field - 1) for f in factors), 3e-6)  # 0.8 km/s
        self.assertIs(hdus["FLUX"].cards["EXFHELIO"], True)
        self.assertNotIn("FIBER_WAVELENGTH", hdus)

    def test_without_directions_it_is_refused(self):
        self.assert_fails(self.extract("--quiet", "--barycentric-correction", "--barycentric-fibers",
                                       image=self.image_in_the_field()), 12, "TARGET_RA")


class Quality(Case):
    def test_decorrelated_fibers_by_both_methods(self):
        self.extract_ok()
        each = fits.by_name(self.frame)
        self.extract_ok("--decorrelate-fibers")
        exact = fits.by_name(self.frame)
        self.assertIs(exact["FLUX"].cards["EXDECORR"], True)
        self.assertNotEqual(each["IVAR"].data, exact["IVAR"].data)
        def seam(ours, *more):
            self.extract_ok("--method", "patch", *more)
            patch = fits.by_name(self.frame)
            return max(abs(a - b) * math.sqrt(w) for a, b, w, m in zip(
                *(numbers(h) for h in (ours["FLUX"], patch["FLUX"], patch["IVAR"], ours["MASK"]))) if not m & 3)

        self.assertLess(seam(exact, "--decorrelate-fibers"), 1.5 * seam(each))

    def test_correlation_of_neighbouring_fibers(self):
        self.extract_ok()
        plain = fits.by_name(self.frame)
        self.extract_ok("--fiber-correlation")
        frame = fits.by_name(self.frame)
        shape = plain["RESOLUTION"].shape
        self.assertEqual(frame["CROSSCORR"].shape, shape)
        for name, hdu in plain.items():
            self.assertEqual(hdu.data, frame[name].data, name)
        self.assertNotIn("CROSSCORR", plain)
        values = numbers(frame["CROSSCORR"])
        last = values[-shape[1] * shape[2]:]
        self.assertEqual(set(last), {0})
        self.assertGreater(max(map(abs, values)), 1e-5)
        self.assertLess(max(map(abs, values)), 1e-2)

    def test_correlation_of_fibers_is_refused_where_it_means_nothing(self):
        self.assert_fails(self.extract("--quiet", "--fiber-correlation", "--decorrelate-fibers"), 2, "decorrelate_fibers")
        self.assert_fails(self.extract("--quiet", "--fiber-correlation", "--oversample", "2"), 2, "oversample")
        self.assert_fails(self.extract("--quiet", "--fiber-correlation", "--method", "patch"), 15, "--fiber-correlation")

    def test_a_finer_solution_on_the_same_bins(self):
        self.extract_ok()
        plain = fits.by_name(self.frame)
        self.extract_ok("--oversample", "2", "--tolerance", "1e-2")
        fine = fits.by_name(self.frame)
        shape = plain["RESOLUTION"].shape
        self.assertEqual(fine["RESOLUTION"].shape, shape)
        self.assertEqual(fine["RESOLUTION_FINE"].shape, (shape[0], shape[1], 2 * shape[2]))
        self.assertEqual(fine["FLUX"].cards["EXOVERS"], 2)
        ratio = sorted(a / b for a, b in zip(numbers(fine["IVAR"]), numbers(plain["IVAR"])) if b > 0)
        self.assertLess(abs(ratio[len(ratio) // 2] - 1), 0.01)

    def test_the_number_of_diagonals_follows_the_leak(self):
        summary = self.out / "s.json"
        self.extract_ok("--max-leak", "1e-2", "--json", summary)
        wide = fits.by_name(self.frame)["RESOLUTION"].shape[1]
        told = json.loads(summary.read_text())["resolution"]
        self.assertEqual(told["ndiag"], wide)
        self.extract_ok("--max-leak", "1e-5", "--json", summary)
        self.assertGreater(fits.by_name(self.frame)["RESOLUTION"].shape[1], wide)

    def test_drawn_errors_are_those_of_ivar(self):
        summary = self.out / "s.json"
        self.extract_ok()
        before = self.frame.read_bytes()
        self.extract_ok("--realisations", "12", "--json", summary)
        self.assertEqual(before, self.frame.read_bytes())
        told = json.loads(summary.read_text())
        drawn = told["realisations"]
        self.assertEqual(drawn["draws"], 12)
        self.assertLess(abs(drawn["mean_pull"]), 5 * drawn["mean_pull_error"])
        self.assertLess(abs(drawn["width"] - 1), 0.05)
        self.assertLess(abs(drawn["correlation_with_bins"][0]), 5 * drawn["correlation_error"])
        fit = told["bundles"][0]["fit"]
        self.assertGreater(fit["pixels"], fit["parameters"])

    def test_draws_with_weights_of_the_model_are_held_against_the_resolution_that_they_have(self):
        summary = self.out / "summary.json"
        self.extract_ok("--realisations", "12", "--model-variance", "--json", summary)
        drawn = json.loads(summary.read_text())["realisations"]
        self.assertLess(abs(drawn["width"] - 1), 0.03)
        self.assertLess(abs(drawn["correlation_with_bins"][0]), 4 * drawn["correlation_error"])  # 7 without

    def test_traces_are_moved_where_the_frame_shows_it_and_the_psf_is_written(self):
        summary, moved = self.out / "summary.json", self.out / "psf-moved.fits"
        before = self.extract_ok() and fits.by_name(self.frame)
        self.extract_ok("--trace-shifts", "0", "--shifted-psf", moved, "--json", summary, "--threads", "1")
        after = fits.by_name(self.frame)
        self.assertEqual(after["FLUX"].cards["EXSHIFTS"], 0)
        self.assertNotIn("EXSHIFTS", before["FLUX"].cards)
        bytes_of_one = self.frame.read_bytes(), moved.read_bytes()
        told = json.loads(summary.read_text())["trace_shifts"]
        self.assertEqual(told["degree"], 0)
        self.assertIsNone(told["sigma_x"])
        x = told["x"]["terms"][0]
        self.assertLess(abs(x["pixels"]), 0.1)
        self.assertGreater(x["error"], 0)
        old, new = fits.by_name(self.psf), fits.by_name(moved)
        self.assertEqual(list(old), list(new))
        self.assertAlmostEqual(new["XTRACE"].values()[0] - old["XTRACE"].values()[0], x["pixels"], 9)
        self.assertEqual(old["PSF"].data, new["PSF"].data)
        self.assertAlmostEqual(new["PSF"].cards["MEANDX"], x["pixels"], 9)
        self.extract_ok("--trace-shifts", "0", "--shifted-psf", moved, "--threads", "2")
        self.assertEqual(bytes_of_one, (self.frame.read_bytes(), moved.read_bytes()))
        self.extract_ok(psf=moved)
        self.assertEqual(fits.by_name(self.frame)["FLUX"].data, after["FLUX"].data)

    def test_what_moves_nothing_is_refused(self):
        for more in (("--shifted-psf", self.out / "psf.fits"), ("--trace-widths",)):
            self.assert_fails(self.extract(*more), 2, "without trace_shifts")

    def test_wings_are_taken_off_and_counted_where_they_came_from(self):
        summary = self.out / "summary.json"
        self.extract_ok("--psf-tails")
        before = fits.by_name(self.frame)
        self.extract_ok("--psf-tails", "--wings", "30", "--json", summary, "--threads", "1")
        bytes_of_one, after = self.frame.read_bytes(), fits.by_name(self.frame)
        self.assertEqual(after["FLUX"].cards["EXWINGS"], 30)
        self.assertNotIn("EXWINGS", before["FLUX"].cards)
        told = json.loads(summary.read_text())["wings"]
        self.assertEqual(told["reach"], 30)
        self.assertGreater(told["share_of_light"], 0.005)
        self.assertNotEqual(before["FLUX"].data, after["FLUX"].data)
        self.extract_ok("--psf-tails", "--wings", "30", "--threads", "2")
        self.assertEqual(bytes_of_one, self.frame.read_bytes())

    def test_wings_that_cannot_be_had_are_refused(self):
        for more, said in ((["--wings", "30"], "psf_tails"), (["--psf-tails", "--wings", "30", "--oversample", "2"], "oversample"),
                           (["--psf-tails", "--wings", "30", "--method", "patch"], "wings"),
                           (["--psf-tails", "--wings", "5"], "--wings")):
            self.assert_fails(self.extract(*more), 2, said)

    def test_numbers_outside_their_range(self):
        for option, value in (("--oversample", "9"), ("--max-leak", "2"), ("--trace-shifts", "5"), ("--realisations", "-1")):
            self.assert_fails(self.extract(option, value), 2, option)


if __name__ == "__main__":
    unittest.main()
