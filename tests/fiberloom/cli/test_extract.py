# SPDX-License-Identifier: BSD-3-Clause
"""Good runs: what is written, that it is the same whoever writes it, and what the user is told."""
import gzip
import json
import os
import struct
import unittest

import tiny_fits as fits
from run_fiberloom import Case
from small_camera import NFIBER, NX, NY, psf_bytes

HDUS = ["FLUX", "IVAR", "MASK", "WAVELENGTH", "RESOLUTION", "FIBERMAP", "CHI2PIX", "SCORES"]
NWAVE = 101
ROW_HDUS = ["FLUX", "IVAR", "RESOLUTION", "FIBERMAP", "CHI2PIX"]


class Frame(Case):
    def test_has_the_hdus_of_desispec_in_order(self):
        self.extract_ok()
        hdus = fits.read(self.frame)
        self.assertEqual([h.name for h in hdus], HDUS)
        named = {h.name: h for h in hdus}
        self.assertEqual(named["FLUX"].shape, (NFIBER, NWAVE))
        self.assertEqual(named["RESOLUTION"].shape, (NFIBER, 11, NWAVE))
        self.assertEqual([named[n].cards["BITPIX"] for n in HDUS[:5]], [-32, -32, 32, -64, -32])
        self.assertEqual(named["MASK"].cards["BZERO"], 2147483648)
        for hdu in hdus:
            self.assertIn("CHECKSUM", hdu.cards)

    def test_header_follows_desispec(self):
        self.extract_ok("-s", "2", "-n", "3")
        cards = fits.by_name(self.frame)["FLUX"].cards
        expected = {"NSPEC": 3, "WAVEMIN": 5005.0, "WAVEMAX": 5085.0, "WAVESTEP": 0.8, "FIBERMIN": 2,
                    "CAMERA": "r0", "FLAVOR": "science", "EXPID": 11, "BUNIT": "electron/Angstrom",
                    "DEPNAM00": "python", "DEPNAM01": "fiberloom", "EXMETHOD": "exact"}
        self.assertEqual({k: cards.get(k) for k in expected}, expected)
        self.assertTrue(cards["SPECTER"].startswith("fiberloom "))

    def test_paths_in_the_header_are_shortened(self):
        env = {"DESI_SPECTRO_CALIB": str(self.inputs), "DESI_SPECTRO_REDUX": "", "SPECPROD": ""}
        self.extract_ok(env=env)
        cards = fits.by_name(self.frame)["FLUX"].cards
        self.assertEqual(cards["IN_PSF"], "SPCALIB/psf-r0.fits")

    def test_default_grid_is_that_of_the_psf(self):
        result = self.program("extract", "-i", self.image, "-p", self.psf, "-o", self.frame,
                              "--bundlesize", "5", "--quiet")
        self.assertEqual(result.returncode, 0, result.stderr)
        cards = fits.by_name(self.frame)["FLUX"].cards
        self.assertEqual((cards["WAVEMIN"], cards["WAVEMAX"], cards["WAVESTEP"]),
                         (5000.0, 5100.0, 0.8))

    def test_bins_without_information_are_zero_and_marked(self):
        self.extract_ok()
        hdus = fits.by_name(self.frame)
        flux, ivar, mask = (hdus[n].values() for n in ("FLUX", "IVAR", "MASK"))
        dead = [i for i, m in enumerate(mask) if m & 2]
        self.assertTrue(dead, "the dead block left all bins alive")
        self.assertTrue(all(flux[i] == 0 and ivar[i] == 0 for i in dead))
        self.assertEqual([i for i, w in enumerate(ivar) if w == 0], dead)
        self.assertTrue(all(v == v for v in flux + ivar))

    def test_nan_pixels_are_masked_counted_and_said(self):
        image, ivar = list(self.camera.image), list(self.camera.ivar)
        image[80 * NX + 12] = float("nan")
        ivar[81 * NX + 12], ivar[82 * NX + 12] = float("nan"), -1.0
        path = self.put("nan.fits", self.camera.preproc_bytes(image=image, ivar=ivar))
        result = self.extract("--loglevel", "warn", image=path)
        self.assertEqual(result.returncode, 0, result.stderr)
        for what in ("1 pixels with NaN or infinite IVAR", "1 pixels with negative IVAR",
                     "1 pixels with NaN or infinite IMAGE"):
            self.assertIn(what, result.stderr)
        hdus = fits.by_name(self.frame)
        self.assertTrue(all(v == v for n in ("FLUX", "IVAR", "CHI2PIX") for v in hdus[n].values()))

    def test_a_grid_past_the_ccd_is_warned_of_with_what_is_covered(self):
        steep = self.put("steep.fits", psf_bytes(stretch=1.2))  # y from -10 to 170 on 160 rows
        summary = self.out / "summary.json"
        result = self.extract("--loglevel", "warn", "--json", summary, psf=steep,
                              wave="5000,5100,0.8")
        self.assertEqual(result.returncode, 0, result.stderr)
        for words in ("runs past the CCD", "from 5003.20 to 5096.80", "80 of 1260 bins (6.35 %)"):
            self.assertIn(words, result.stderr)
        self.assertEqual(json.loads(summary.read_text())["bins"]["without_ccd"], 80)
        mask = fits.by_name(self.frame)["MASK"].values()
        self.assertTrue(all(m & 2 for row in range(NFIBER) for m in mask[126 * row:126 * row + 4]))
        # whoever leaves the grid to the program has nothing to mend
        result = self.program("extract", "-i", self.image, "-p", steep, "-o", self.frame,
                              "--bundlesize", "5", "--loglevel", "warn")
        self.assertEqual((result.returncode, result.stderr), (0, ""))

    def test_a_grid_a_little_outside_the_psf_is_warned_of(self):
        result = self.extract("--loglevel", "warn", wave="4996,5085,0.8")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("leaves the PSF's range 5000.00-5100.00", result.stderr)

    def test_no_scores(self):
        self.extract_ok("--no-scores")
        self.assertEqual([h.name for h in fits.read(self.frame)], HDUS[:-1])

    def test_number_of_diagonals(self):
        self.extract_ok("--ndiag", "5")
        self.assertEqual(fits.by_name(self.frame)["RESOLUTION"].shape, (NFIBER, 5, NWAVE))

    def test_a_bound_on_iterations_is_a_warning_where_it_is_met(self):
        self.assert_fails(self.extract("--max-iterations", "0"), 2, "--max-iterations: expected a number from 1 to")
        result = self.extract("--tolerance", "1e-10", "--max-iterations", "1")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("after 1 iterations (--tolerance 1e-10)", result.stderr)

    def test_no_fibermap(self):
        path = self.put("nomap.fits", self.camera.preproc_bytes(drop=("FIBERMAP",)))
        self.extract_ok("-s", "3", image=path)
        hdus = fits.by_name(self.frame)
        self.assertNotIn("FIBERMAP", hdus)
        self.assertEqual(hdus["FLUX"].cards["FIBERMIN"], 3)

    def test_fibermap_of_another_file(self):
        path = self.put("nomap2.fits", self.camera.preproc_bytes(drop=("FIBERMAP",)))
        self.extract_ok("-f", self.image, image=path)
        self.assertEqual(fits.by_name(self.frame)["FIBERMAP"].shape[0], NFIBER)

    def test_of_a_whole_exposures_fibermap_the_cameras_own_rows_are_taken(self):
        def table(fibers):
            columns = [("TARGETID", "K", "q", None), ("FIBER", "J", "i", None)]
            return (fits.image("NONE", 8, (1,), [0], first=True)
                    + fits.table("FIBERMAP", columns, [(1000 + k, f) for k, f in enumerate(fibers)]))

        data = self.camera.preproc_bytes(drop=("FIBERMAP", "SPECGRPH"))
        image = self.put("camera-r1.fits", data.replace(b"CAMERA  = 'r0", b"CAMERA  = 'r1"))
        whole = self.put("whole.fits", table([*range(NFIBER), *range(500, 500 + NFIBER)]))
        result = self.extract("--loglevel", "warn", "-f", whole, "-s", "2", "-n", "3", image=image)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        hdus = fits.by_name(self.frame)
        rows = [struct.pack(">qi", 1000 + NFIBER + k, 500 + k) for k in (2, 3, 4)]
        self.assertEqual([row[:12] for row in hdus["FIBERMAP"].rows()], rows)
        self.assertEqual(hdus["FLUX"].cards["FIBERMIN"], 502)
        odd = self.put("odd.fits", table([*range(NFIBER), *range(700, 700 + NFIBER)]))
        said = self.extract("--loglevel", "warn", "-f", odd, image=image).stderr
        self.assertIn("FIBERMAP has 20 rows, the PSF 10 fibres", said)
        self.assertEqual(len(said.splitlines()), 1, said)

    def test_a_fibermap_in_another_order_than_the_fibres_is_told_of(self):
        def said(fibers, *more):
            columns = [("TARGETID", "K", "q", None), ("FIBER", "J", "i", None)]
            path = self.put("order.fits", fits.image("NONE", 8, (1,), [0], first=True)
                            + fits.table("FIBERMAP", columns, [(1000 + k, f) for k, f in enumerate(fibers)]))
            result = self.extract("--loglevel", "warn", "-f", path, *more)
            self.assertEqual(result.returncode, 0, result.stderr)
            return result.stderr
        own = list(range(NFIBER))
        self.assertEqual(said(own), "")
        self.assertEqual(said([own[0], -1, *own[2:]]), "")  # of a fibre that is not known
        for fibers, row, fiber, expected in ((own[::-1], 0, NFIBER - 1, 0), ([0, 1, 3, 2, *own[4:]], 2, 3, 2),
                                             ([f + 3 for f in own], 0, 3, 0)):
            lines = said(fibers).splitlines()
            self.assertEqual(len(lines), 1, lines)
            self.assertIn(f"order.fits: FIBERMAP: FIBER of row {row} is {fiber}, that of the PSF's fibre there {expected}", lines[0])
        self.assertIn("row 0", said([f + 3 for f in own][:5], "-s", "1", "-n", "2"))

    def test_model_and_residual_add_up_to_the_image(self):
        model, residual = self.out / "model.fits", self.out / "residual.fits"
        self.extract_ok("-m", model, "--residual", residual)
        m, r = fits.read(model)[0], fits.read(residual)[0]
        self.assertEqual((m.shape, r.shape), ((NY, NX), (NY, NX)))
        self.assertEqual(m.cards["BUNIT"], "electron")
        for a, b, p, bad in zip(m.values(), r.values(), self.camera.image, self.camera.mask):
            if bad:
                self.assertEqual(b, 0)
            else:
                self.assertAlmostEqual(a + b, p, delta=1e-3)

    def test_gz_holds_the_same_bytes(self):
        zipped = self.out / "frame.fits.gz"
        self.extract_ok()
        self.extract_ok(output=zipped)
        self.assertEqual(gzip.decompress(zipped.read_bytes()), self.frame.read_bytes())

    def test_gz_input_and_the_fall_back_both_ways(self):
        self.extract_ok()
        reference = fits.by_name(self.frame)
        zipped = self.put("z.fits.gz", gzip.compress(self.image.read_bytes(), mtime=0))
        for path in (zipped, self.inputs / "z.fits"):
            self.extract_ok(image=path)
            hdus = fits.by_name(self.frame)
            for name in ROW_HDUS:
                self.assertEqual(hdus[name].data, reference[name].data, name)


class SameBytes(Case):
    def bytes_of(self, *more, env=None, **files):
        self.extract_ok(*more, env=env, **files)
        return self.frame.read_bytes()

    def test_run_after_run(self):
        self.assertEqual(self.bytes_of(), self.bytes_of())

    def test_any_number_of_threads(self):
        one = self.bytes_of("--threads", "1")
        for threads in ("2", "3", "7"):
            self.assertEqual(self.bytes_of("--threads", threads), one, threads)

    def test_any_range_of_fibres(self):
        for method in ("exact", "patch"):
            self.extract_ok("--method", method, "--nsubbundles", "1")
            whole = fits.by_name(self.frame)
            for first, count in ((0, 1), (3, 4), (5, 5), (9, 1)):
                with self.subTest(method=method, first=first, count=count):
                    self.extract_ok("--method", method, "--nsubbundles", "1", "-s", str(first), "-n",
                                    str(count))
                    part = fits.by_name(self.frame)
                    for name in ROW_HDUS:
                        self.assertEqual(part[name].rows(),
                                         whole[name].rows()[first:first + count], name)
                    self.assertEqual(part["WAVELENGTH"].data, whole["WAVELENGTH"].data)

    def test_float64_input(self):
        self.extract_ok()
        single = fits.by_name(self.frame)["FLUX"].values()
        path = self.put("double.fits", self.camera.preproc_bytes(bitpix=-64))
        self.extract_ok(image=path)
        for a, b in zip(fits.by_name(self.frame)["FLUX"].values(), single):
            self.assertAlmostEqual(a, b, delta=1e-3 * max(1.0, abs(b)))

    def test_instruction_sets_agree(self):
        reference = None
        for isa in ("generic", "v2", "v3", "v4"):
            result = self.extract("--quiet", env={"FIBERLOOM_ISA": isa})
            if result.returncode == 2:
                continue  # this processor does not have it
            self.assertEqual(result.returncode, 0, result.stderr)
            flux = fits.by_name(self.frame)["FLUX"].values()
            reference = reference or flux
            for a, b in zip(flux, reference):
                self.assertAlmostEqual(a, b, delta=1e-6 * max(1.0, abs(b)), msg=isa)

    def test_nothing_in_the_file_tells_where_it_was_made(self):
        data = self.bytes_of()
        for word in (os.uname().nodename, str(self.out)):
            if len(word) > 3:
                self.assertNotIn(word.encode(), data)


def image_rows(camera):
    return range(len(camera.image) // NX)


class Refinement(Case):
    """--model-variance, --reject, --pixmask."""
    HIT = (90, 20)  # row, column: the trace of the second fibre

    def hit_image(self, **more):
        image = list(self.camera.image)
        image[self.HIT[0] * NX + self.HIT[1]] += 5000.0
        return self.put("hit.fits", self.camera.preproc_bytes(image=image, **more))

    def test_a_hit_is_dropped_marked_and_written(self):
        path, mask = self.hit_image(), self.out / "mask.fits"
        self.extract_ok("--reject", "8", "--pixmask", mask, "--json", self.out / "s.json", image=path)
        summary = json.loads((self.out / "s.json").read_text())
        self.assertGreaterEqual(summary["pixels"]["rejected"], 1)
        self.assertLess(summary["pixels"]["rejected"], 8)
        hdus = fits.by_name(self.frame)
        self.assertEqual(hdus["FLUX"].cards["EXREJECT"], 8.0)
        cosmic = [i for i, m in enumerate(hdus["MASK"].values()) if m & 4]
        self.assertTrue(cosmic)
        self.assertEqual({i // NWAVE for i in cosmic}, {1}, "another fibre")
        self.assertEqual(len(cosmic), summary["bins"]["cosmic"])
        written = fits.by_name(mask)["MASK"].cards
        self.assertEqual((written["ZNAXIS1"], written["ZNAXIS2"]), (NX, len(image_rows(self.camera))))

    def test_without_a_hit_nothing_is_dropped_and_no_byte_changes_but_the_card(self):
        self.extract_ok()
        before = {h.name: h.data for h in fits.read(self.frame)}
        self.extract_ok("--reject", "20")
        after = {h.name: h.data for h in fits.read(self.frame)}
        self.assertEqual(before, after)

    def test_the_same_bytes_for_any_number_of_threads(self):
        path, seen = self.hit_image(), set()
        for threads in ("1", "3"):
            self.extract_ok("--reject", "8", "--model-variance", "--threads", threads, image=path)
            seen.add(self.frame.read_bytes())
        self.assertEqual(len(seen), 1)
        self.assertIs(fits.by_name(self.frame)["FLUX"].cards["EXMODVAR"], True)

    def test_without_read_noise_or_with_the_other_method_it_is_refused(self):
        path = self.put("silent.fits", self.camera.preproc_bytes(drop=("RDNOISE",)))
        self.assert_fails(self.extract("--quiet", "--model-variance", image=path), 12, "read noise", "RDNOISE", path)
        self.assert_fails(self.extract("--quiet", "--reject", "5", "--method", "patch"), 15, "--reject")
        self.assert_fails(self.extract("--reject", "2"), 2, "--reject")
        self.assert_fails(self.extract("--trace-shifts", "1", "--method", "patch"), 2, "trace_shifts", "exact method")
        self.assert_fails(self.extract("--barycentric-fibers"), 2, "--barycentric-correction")
        self.assert_fails(self.extract("--pixmask", self.frame), 2)


class Messages(Case):
    def test_quiet_says_nothing(self):
        result = self.extract("--quiet")
        self.assertEqual((result.returncode, result.stdout, result.stderr), (0, "", ""))

    def test_every_option_of_the_peers_is_accepted(self):
        result = self.extract(
            "-r", "0.0", "--nsubbundles", "5", "--nwavestep", "50", "--wavepad", "10",
            "--wavepad-frac", "0.2", "--pixpad-frac", "0.8", "--psferr", "0.01", "--mpi", "--use-gpu",
            "--no-gpu", "--async-io", "--ranks-per-bundle", "4", "--use-specter", "--no-scores",
            "--loglevel", "warn")
        self.assertEqual(result.returncode, 0, result.stderr)
        for option in ("--use-gpu", "--no-gpu", "--async-io", "--ranks-per-bundle",
                       "--use-specter", "--nsubbundles"):
            self.assertEqual(sum(f" {option}" in line for line in result.stderr.splitlines()), 1,
                             f"{option}: {result.stderr}")

    def test_the_patch_engine_takes_its_options_silently(self):
        result = self.extract("--method", "patch", "--nsubbundles", "1", "--nwavestep", "20",
                              "--loglevel", "warn")
        self.assertEqual((result.returncode, result.stderr), (0, ""))

    def test_no_padding_takes_all_memory(self):
        for option in ("--wavepad-frac", "--pixpad-frac"):
            for value in ("inf", "1e300", "nan"):
                self.assert_fails(self.extract("--method", "patch", option, value), 2, option, "expected a number from 0 to 1")

    def test_what_the_patch_engine_does_not_have_is_said(self):
        result = self.extract("--method", "patch", "--tolerance", "1e-6", "--max-iterations", "9", "--loglevel", "warn")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(len(result.stderr.splitlines()), 1, result.stderr)
        self.assertIn("--tolerance, --max-iterations: ignored", result.stderr)

    def test_very_fine_steps_are_warned_of(self):
        result = self.extract("--loglevel", "warn", wave="5020,5030,0.3")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(result.stderr.count("the wavelength step is finer than"), 1)

    def test_json_summary(self):
        path = self.out / "summary.json"
        self.extract_ok("--json", path, "--threads", "2")
        summary = json.loads(path.read_text())
        self.assertEqual(summary["threads"], 2)
        self.assertEqual(summary["spectra"]["nwave"], NWAVE)
        self.assertEqual(summary["pixels"]["masked"], sum(m != 0 for m in self.camera.mask))
        self.assertEqual(len(summary["bundles"]), 2)
        self.assertIsNone(summary["device"])
        self.assertGreater(summary["peak_memory_bytes"], 1e6)
        for stage in ("read", "compute", "write", "all"):
            self.assertGreaterEqual(summary["seconds"][stage]["cpu_s"], 0)

    def test_json_summary_names_the_device(self):
        path = self.out / "summary.json"
        self.extract_ok("--json", path, "--backend", "Emulate", "--on-device-error", "cpu")
        summary = json.loads(path.read_text())
        device = summary["device"]
        self.assertEqual(summary["taken_over_by_cpu"], {"bundles": 0, "device_failure": ""})
        self.assertEqual(summary["options"]["--backend"], "emulate")  # as a word
        self.assertEqual(summary["options"]["--on-device-error"], "cpu")
        self.assertRegex(device["name"], "^CPU emulation")
        self.assertEqual(device["count"], 1)
        self.assertGreater(device["memory_bytes"], 1e9)

    def test_trace_is_json_with_spans(self):
        path = self.out / "trace.json"
        self.extract_ok("--trace", path)
        names = {e["name"] for e in json.loads(path.read_text())["traceEvents"]}
        self.assertLessEqual({"read", "compute", "write"}, names)

    def test_help_and_version(self):
        for arguments in (["extract", "--help"], ["compare", "--help"],
                          ["simulate", "--help"], ["info", "--help"]):
            result = self.program(*arguments)
            self.assertEqual((result.returncode, result.stderr), (0, ""))
            self.assertIn("Exit codes:", result.stdout)
        self.assertRegex(self.program("--version").stdout, r"^fiberloom \d+\.\d+\.\d+\n$")


if __name__ == "__main__":
    unittest.main()
