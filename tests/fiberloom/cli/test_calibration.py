# SPDX-License-Identifier: BSD-3-Clause
"""`fiberflat`, `sky`, `fluxcalib` and `calibrate` on a small camera whose flat and sky are known."""
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
from small_calibration import (BINS, FIBERS, FLAT, SKY, STARS, WAVE, frame_bytes, lamp_light, models_bytes, sky_light, star_flux,
                               star_light, throughput)

BAD_FLAT, BAD_SKY, BROKEN = 1 << 4, 1 << 6, 1 << 2


def night_flat(camera, lamp, again, places=True):
    """A fibre flat against its own median fibre; fibres of a spectrograph lie in half of the focal plane."""
    half, towards = {"r0": 1, "r1": -1}[camera], {1: 0.1, 2: -0.1}[lamp]
    x = [half * 400 * (f + 0.5) / FIBERS for f in range(FIBERS)]
    y = [100 * math.cos(3.0 * f) for f in range(FIBERS)]
    flat = [FLAT[f] * (1 + towards * x[f] / 407.5) for f in range(FIBERS)]
    rows = [(100 + f, 0, x[f], y[f]) for f in range(FIBERS)]
    columns = [("TARGETID", "K", "q", None), ("FIBERSTATUS", "J", "i", None), ("FIBERASSIGN_X", "D", "d", None),
               ("FIBERASSIGN_Y", "D", "d", None)]
    head = [("CAMERA", camera), ("FLAVOR", "flat"), ("EXPID", 10 * lamp + again), ("PROGRAM", f"CALIB DESI-CALIB-0{lamp} LEDs only")]
    mean = [1000.0 * (1 if camera == "r0" else 0.8)] * BINS
    return (fits.image("FIBERFLAT", -32, (FIBERS, BINS), [v for v in flat for _ in range(BINS)], head, first=True)
            + fits.image("IVAR", -32, (FIBERS, BINS), [1e6] * (FIBERS * BINS))
            + fits.image("MASK", 32, (FIBERS, BINS), [0] * (FIBERS * BINS)) + fits.image("MEANSPEC", -32, (BINS,), mean)
            + fits.image("WAVELENGTH", -64, (BINS,), WAVE)
            + fits.table("FIBERMAP", columns if places else columns[:2], rows if places else [r[:2] for r in rows]))


class Calibration(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.inputs = pathlib.Path(tempfile.mkdtemp(prefix="fiberloom-in-"))
        cls.lamp, cls.science = cls.put("lamp.fits", frame_bytes(lamp_light(), "flat", 1)), cls.put(
            "frame.fits", frame_bytes(sky_light(), "science", 2))

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.inputs)

    @classmethod
    def put(cls, name, data):
        path = cls.inputs / name
        path.write_bytes(data)
        return path

    def setUp(self):
        self.out = pathlib.Path(tempfile.mkdtemp(prefix="fiberloom-out-"))
        self.addCleanup(shutil.rmtree, self.out)
        self.flat, self.sky, self.result = (self.out / name for name in ("flat.fits", "sky.fits", "sframe.fits"))

    def run_program(self, *arguments):
        return subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, text=True, timeout=100,
                              env={**os.environ}, check=False)

    def done(self, *arguments):
        result = self.run_program(*arguments)
        self.assertEqual(result.returncode, 0, result.stderr)
        return result

    def chain(self, science=None, lamp=None, *more):
        self.done("fiberflat", "-i", lamp or self.lamp, "-o", self.flat, "-q", *more)
        self.done("sky", "-i", science or self.science, "--fiberflat", self.flat, "-o", self.sky, "-q", *more)
        self.done("calibrate", "-i", science or self.science, "--fiberflat", self.flat, "--sky", self.sky, "-o", self.result,
                  "-q", *more)

    def assert_refused(self, code, words, *arguments):
        result = self.run_program(*arguments)
        self.assertEqual(result.returncode, code, result.stderr)
        self.assertEqual(len(result.stderr.strip().splitlines()), 1, result.stderr)
        for word in words:
            self.assertIn(word, result.stderr)

    def test_lines_of_a_sky_are_adjusted_and_what_by_is_kept(self):
        self.done("fiberflat", "-i", self.lamp, "-o", self.flat, "-q")
        sky, moved = ["sky", "-i", self.science, "--fiberflat", self.flat, "-o", self.sky], self.out / "skycorr.fits"
        self.done(*sky, "-q")
        plain = fits.by_name(self.sky)["SKY"].values()
        said = self.done(*sky, "--adjust-wavelength", "--adjust-lsf", "--save-adjustments", moved).stderr
        self.assertRegex(said, r"lines adjusted by \d+ peaks of sky fibres: moved by 0\.\d+, widened by 0\.\d+ Angstrom")
        hdus = fits.by_name(moved)
        self.assertEqual(list(hdus), ["WAVELENGTH", "DWAVE", "DLSF"])
        self.assertEqual(len(hdus["DWAVE"].values()), FIBERS * BINS)
        self.assertTrue(any(hdus["DWAVE"].values()) and any(hdus["DLSF"].values()))
        self.assertNotEqual(fits.by_name(self.sky)["SKY"].values(), plain)
        before = self.sky.read_bytes()
        self.assert_refused(2, ["--save-adjustments", "--adjust-lsf"], *sky, "--adjust-wavelength", "--save-adjustments", moved)
        self.assert_refused(2, ["adjustments"], *sky, "--adjust-wavelength", "--adjust-lsf", "--save-adjustments", self.science)
        self.assertEqual(self.sky.read_bytes(), before)

    def test_a_frame_becomes_flat_and_free_of_sky(self):
        for method in ("fiberloom", "desispec"):
            with self.subTest(method):
                self.chain(None, None, "--method", method)
                flat = fits.by_name(self.flat)
                self.assertEqual(list(flat), ["FIBERFLAT", "IVAR", "MASK", "MEANSPEC", "WAVELENGTH", "FIBERMAP"])
                self.assertEqual(flat["FIBERFLAT"].cards["CALMETH"], method)
                for f, value in ((0, FLAT[0]), (14, FLAT[14])):
                    mean = sum(flat["FIBERFLAT"].values()[f * BINS + 10:f * BINS + 150]) / 140
                    self.assertAlmostEqual(mean, value / FLAT[7], delta=0.004)
                sky = fits.by_name(self.sky)
                self.assertEqual(list(sky)[:5], ["SKY", "IVAR", "MASK", "WAVELENGTH", "STATIVAR"])
                hdus = fits.by_name(self.result)
                pulls = []
                for f in range(1, FIBERS, 2):
                    for i in [*range(10, 35), *range(50, 90), *range(110, 150)]:
                        pulls.append(hdus["FLUX"].values()[f * BINS + i] * math.sqrt(hdus["IVAR"].values()[f * BINS + i]))
                self.assertLess(abs(sum(pulls) / len(pulls)), 0.15)
                self.assertLess(abs(math.sqrt(sum(p * p for p in pulls) / len(pulls)) - 1), 0.15)

    def flux_chain(self, *more, models=None):
        """Frame, flat and sky -> flux calibration -> frame in flux."""
        stars = self.put("stars.fits", frame_bytes(sky_light(), "science", 8, more=star_light()))
        self.chain(stars)
        self.flux = self.out / "fluxcalib.fits"
        taken = ("-i", stars, "--fiberflat", self.flat, "--sky", self.sky)
        result = self.done("fluxcalib", *taken, "--models", models or self.put("stdstars.fits", models_bytes()), "-o", self.flux,
                           *more)
        self.done("calibrate", *taken, "--fluxcalib", self.flux, "-o", self.result, "-q")
        return result

    def test_electrons_become_flux(self):
        for method in ("fiberloom", "desispec"):
            with self.subTest(method):
                self.flux_chain("--method", method)
                flux = fits.by_name(self.flux)
                self.assertEqual(list(flux), ["FLUXCALIB", "IVAR", "MASK", "WAVELENGTH", "FIBERCORR", "STDSTAR_FIBERMAP",
                                              "DECONVOLVED_CALIB"])
                sharp, truth = flux["DECONVOLVED_CALIB"].values(), [c * FLAT[7] for c in throughput()]  # of the median fibre
                for bins in (range(20, 36), range(110, 126)):  # one bin rings: what R blurs is not known
                    self.assertAlmostEqual(sum(sharp[i] for i in bins) / sum(truth[i] for i in bins), 1, delta=0.03)
                hdus = fits.by_name(self.result)
                self.assertEqual(hdus["FLUX"].cards["BUNIT"], "10**-17 erg/(s cm2 Angstrom)")
                pulls = []
                r = hdus["RESOLUTION"].values()
                for f in STARS:
                    star = star_flux(f)
                    for i in [*range(10, 35), *range(50, 90), *range(110, 150)]:  # R' of the true spectrum
                        there = sum(r[(f * 11 + 5 - d) * BINS + i + d] * star[i + d] for d in range(-5, 6))
                        pulls.append((hdus["FLUX"].values()[f * BINS + i] - there)
                                     * math.sqrt(hdus["IVAR"].values()[f * BINS + i]))
                width = math.sqrt(sum(p * p for p in pulls) / len(pulls))  # below 1: they made the calibration
                self.assertTrue(0.6 < width < 1.1, width)

    def test_models_of_no_standard_star_are_left_out(self):
        fibers = list(STARS)
        result = self.flux_chain(models=self.put("other.fits", models_bytes([2, *fibers[1:]])))
        self.assertIn("1 of 4 models are of no standard star", result.stderr)
        self.assertEqual(len(fibers), 4)
        stars = self.inputs / "stars.fits"
        self.assert_refused(40, ["none.fits", "no model of a standard star"], "fluxcalib", "-i", stars, "--models",
                            self.put("none.fits", models_bytes([0, 2, 4, 6])), "-o", self.out / "x.fits", "-q")
        self.assert_refused(12, ["nomap.fits", "DESI_TARGET"], "fluxcalib", "-i",
                            self.put("nomap.fits", frame_bytes(sky_light(), "science", 6, tables=False)), "--models",
                            self.put("stdstars.fits", models_bytes()), "-o", self.out / "x.fits", "-q")

    def test_models_that_are_no_light_are_left_out_and_short_ones_refused(self):
        good = self.flux_chain(models=self.put("three.fits", models_bytes(scale={1: math.nan})))
        self.assertIn("three.fits: FLUX: 1 of 4 models are no light", good.stderr)
        self.assertEqual(len(small_spectra.read_table(self.flux, "STDSTAR_FIBERMAP")["FIBER"]), 3)
        stars = self.inputs / "stars.fits"
        for code, words, models in ((13, ["short.fits", "WAVELENGTH: 6060.0"], models_bytes(first=WAVE[0] + 60)),
                                    (40, ["dark.fits", "FLUX above 0"], models_bytes(scale=dict.fromkeys(range(4), -1)))):
            self.assert_refused(code, words, "fluxcalib", "-i", stars, "--models", self.put(words[0], models), "-o",
                                self.out / "x.fits", "-q")

    def test_a_flux_calibration_without_a_sharp_one_or_without_any_is_told_of(self):
        self.flux_chain("-q")
        data = self.flux.read_bytes()
        stars = self.inputs / "stars.fits"
        old = self.put("old.fits", data.replace(b"DECONVOLVED_CALIB", b"SOMETHING_ELSE_XX"))
        result = self.done("calibrate", "-i", stars, "--fluxcalib", old, "-o", self.result, "--no-verify")
        self.assertIn("no HDU DECONVOLVED_CALIB", result.stderr)
        first = fits.read(self.flux)[0]
        at = data.index(first.data)
        none = self.put("none.fits", data[:at] + b"\0" * len(first.data) + data[at + len(first.data):])
        result = self.done("calibrate", "-i", stars, "--fluxcalib", none, "-o", self.result, "--no-verify")
        self.assertIn("IVAR is 0 everywhere", result.stderr)

    def test_stars_too_faint_take_the_average_or_are_an_error(self):
        self.flux_chain("-q")
        faint = {f: [0.001 * x for x in light] for f, light in star_light().items()}
        path = self.put("faint.fits", frame_bytes(sky_light(), "science", 9, more=faint))
        command = ["fluxcalib", "-i", path, "--fiberflat", self.flat, "--sky", self.sky, "--models",
                   self.put("stdstars.fits", models_bytes()), "-o", self.out / "average.fits"]
        self.assert_refused(40, ["faint.fits", "median S/N", "average"], *command, "-q")
        self.assertIn("error 100 %", self.done(*command, "--average", self.flux).stderr)
        hdus = fits.by_name(self.out / "average.fits")
        self.assertEqual(set(hdus["MASK"].values()), {1})
        self.assertAlmostEqual(hdus["IVAR"].values()[50] * hdus["FLUXCALIB"].values()[50] ** 2, 1, delta=1e-5)

    def test_scores_tell_how_far_a_frame_has_come(self):
        self.flux_chain("-q")
        scores = small_spectra.read_table(self.result, "SCORES")
        self.assertEqual([name for name in scores if name.startswith("MEDIAN") and "COUNT" in name],
                         ["MEDIAN_FFLAT_COUNT_R", "MEDIAN_SKYSUB_COUNT_R", "MEDIAN_CALIB_COUNT_R"])
        flux = fits.by_name(self.result)["FLUX"].values()[5 * BINS:6 * BINS]
        self.assertAlmostEqual(scores["SUM_CALIB_COUNT_R"][5] / sum(flux), 1, delta=1e-5)
        self.assertGreater(scores["MEDIAN_FFLAT_COUNT_R"][2], scores["MEDIAN_SKYSUB_COUNT_R"][2] + 20)

    def test_any_number_of_threads_writes_the_same_bytes(self):
        self.chain(None, None, "--threads", "1")
        first = [p.read_bytes() for p in (self.flat, self.sky, self.result)]
        self.chain(None, None, "--threads", "3")
        self.assertEqual(first, [p.read_bytes() for p in (self.flat, self.sky, self.result)])

    def test_the_summary_says_what_was_done(self):
        summary = self.out / "s.json"
        self.chain()
        self.done("sky", "-i", self.science, "--fiberflat", self.flat, "-o", self.sky, "-q", "--json", summary)
        told = json.loads(summary.read_text())
        self.assertEqual(told["program"], "fiberloom sky")
        self.assertEqual(told["result"]["sky_fibers"], sum(SKY))
        self.assertEqual(told["settings"], {"adjust_lsf": "false", "adjust_wavelength": "false",
                                            "extra_variance": "true", "method": "fiberloom"})
        self.assertEqual(told["input"]["fiberflat"], str(self.flat))
        self.done("fiberflat", "-i", self.lamp, "-o", self.flat, "-q", "--json", summary)
        self.assertEqual(json.loads(summary.read_text())["result"]["lost_fibers"], 0)

    def test_a_broken_fiber_leaves_masked_and_nothing_else_does(self):
        status = {3: BROKEN}
        self.chain(self.put("broken.fits", frame_bytes(sky_light(), "science", 3, status=status)),
                   self.put("broken-lamp.fits", frame_bytes(lamp_light(), "flat", 4, status=status)))
        ivar, mask = (fits.by_name(self.result)[name].values() for name in ("IVAR", "MASK"))
        self.assertEqual(sum(ivar[3 * BINS:4 * BINS]), 0)
        self.assertTrue(all(m & BAD_FLAT for m in mask[3 * BINS:4 * BINS]))
        self.assertGreater(min(ivar[4 * BINS + 10:4 * BINS + 150]), 0)

    def test_one_fiber_far_off_does_not_make_the_sky(self):
        every = ["SKY"] * FIBERS  # with few, 7 times the median residual is never passed, and all its pixels are clipped
        path = self.put("bright.fits", frame_bytes(sky_light(), "science", 5, objtype=every))
        values = fits.by_name(path)["FLUX"].values()
        flux = [v + (400 if i // BINS == 4 else 0) for i, v in enumerate(values)]
        self.done("fiberflat", "-i", self.lamp, "-o", self.flat, "-q")
        self.put("bright.fits", frame_bytes(sky_light(), "science", 5, objtype=every, flux=flux))
        result = self.done("sky", "-i", path, "--fiberflat", self.flat, "-o", self.sky)
        self.assertIn("spectrum 4: light where only sky should be", result.stderr)
        sky = fits.by_name(self.sky)
        self.assertTrue(all(m & BAD_SKY for m in sky["MASK"].values()[4 * BINS:5 * BINS]))
        continuum = sky["SKY"].values()[7 * BINS + 60:7 * BINS + 90]
        self.assertAlmostEqual(sum(continuum) / 30, 50 * FLAT[7], delta=2)

    def test_what_cannot_be_done_is_one_line_with_a_code(self):
        self.chain()
        no_sky = self.put("nosky.fits", frame_bytes(sky_light(), "science", 6, objtype=["TGT"] * FIBERS))
        no_map = self.put("nomap.fits", frame_bytes(sky_light(), "science", 6, tables=False))
        dead = self.put("dead.fits", frame_bytes(lamp_light(), "flat", 6, status={f: BROKEN for f in range(FIBERS)}))
        other = self.put("other.fits", frame_bytes(sky_light(), "science", 6, wave=[w + 10 for w in WAVE]))
        wild = self.put("wild.fits", frame_bytes(sky_light(), "science", 6, cards=[("HELIOCOR", 2.5)]))
        out = ["-o", self.out / "x.fits"]
        flat = ["--fiberflat", self.flat]
        for code, words, command in (
                (40, ["nosky.fits", "OBJTYPE"], ["sky", "-i", no_sky, *flat, *out]),
                (12, ["nomap.fits", "OBJTYPE"], ["sky", "-i", no_map, *flat, *out]),
                (40, ["dead.fits", "no fibre with light"], ["fiberflat", "-i", dead, *out]),
                (13, ["flat.fits", "bin 0 lies at 6000"], ["sky", "-i", other, *flat, *out]),
                (12, ["wild.fits", "HELIOCOR"], ["sky", "-i", wild, *flat, *out]),
                (11, ["lamp.fits", "SKY"], ["calibrate", "-i", self.science, "--sky", self.lamp, *out]),
                (10, ["nothing.fits"], ["calibrate", "-i", self.science, "--sky", self.out / "nothing.fits", *out]),
                (2, ["--fiberflat, --sky or --fluxcalib"], ["calibrate", "-i", self.science, *out]),
                (2, ["--acc"], ["fiberflat", "-i", self.lamp, *out, "--acc", "0"]),
                (2, [], ["fiberflat", "-i", self.lamp, "-o", self.lamp]),
                (32, ["--no-clobber"], ["fiberflat", "-i", self.lamp, "-o", self.flat, "--no-clobber"])):
            with self.subTest(" ".join(map(str, command))):
                self.assert_refused(code, words, *command, "-q")
        self.assertFalse((self.out / "x.fits").exists())

    def test_what_is_of_another_camera_or_exposure_is_refused(self):
        self.chain()
        other = [self.put(f"{name}.fits", frame_bytes(sky_light(), "science", 7, cards=[(key, value)])) for name, key, value in
                 (("r1", "CAMERA", "r1"), ("later", "EXPID", 12))]
        for frame, words in zip(other, (["flat.fits", "CAMERA is r0, expected that of the frame, r1"],
                                        ["sky.fits", "EXPID is 11, expected that of the frame, 12"])):
            self.assert_refused(13, words, "calibrate", "-i", frame, "--fiberflat", self.flat, "--sky", self.sky, "-o", self.out / "x.fits", "-q")
        self.done("calibrate", "-i", other[1], "--fiberflat", self.flat, "-o", self.out / "x.fits", "-q")

    def test_a_sky_that_is_taken_off_twice_is_told_of(self):
        self.chain()
        again = self.done("calibrate", "-i", self.result, "--sky", self.sky, "-o", self.out / "twice.fits")
        self.assertIn("IN_SKY is 'sky.fits': the frame has been freed of its sky already", again.stderr.replace(f"{self.out}/", ""))
        self.assertNotIn("FIBERFLT", again.stderr)

    def test_what_is_of_other_fibers_is_refused(self):
        """As many fibres on the same bins: nothing else would tell."""
        self.done("fiberflat", "-i", self.lamp, "-o", self.flat, "-q")

        def frame(name, first, cards=()):
            rows = [(100 + f, first + f, b"SKY" if SKY[f] else b"TGT", 0) for f in range(FIBERS)]
            table = fits.table("FIBERMAP", [("TARGETID", "K", "q", None), ("FIBER", "J", "i", None), ("OBJTYPE", "3A", "3s", None),
                                            ("FIBERSTATUS", "J", "i", None)], rows)
            return self.put(name, frame_bytes(sky_light(), "science", 3, cards=cards, tables=False) + table)
        petal, others = frame("petal.fits", 500), frame("others.fits", FIBERS)
        self.done("sky", "-i", petal, "--fiberflat", self.flat, "-o", self.sky, "-q")
        self.assert_refused(13, ["flat.fits: FIBERMAP: row 0 is of fibre 0", "15"], "sky", "-i", others, "--fiberflat", self.flat,
                            "-o", self.sky)
        first = frame("first.fits", 0, [("FIBERMIN", 0)])
        self.done("sky", "-i", first, "--fiberflat", self.flat, "-o", self.sky, "-q")
        second = frame("second.fits", 0, [("FIBERMIN", 515)])
        self.assert_refused(13, ["sky.fits: FIBERMIN is 0, expected that of the frame, 515"], "calibrate", "-i", second,
                            "--fiberflat", self.flat, "--sky", self.sky, "-o", self.result)

    def test_a_fibermap_of_other_spectra_is_refused(self):
        self.done("fiberflat", "-i", self.lamp, "-o", self.flat, "-q")
        columns = [("TARGETID", "K", "q", None), ("OBJTYPE", "3A", "3s", None), ("FIBERSTATUS", "J", "i", None)]
        for n in (0, FIBERS - 1, 10 * FIBERS):
            table = fits.table("FIBERMAP", columns, [(f, b"SKY", 0) for f in range(n)])
            frame = self.put(f"rows{n}.fits", frame_bytes(sky_light(), "science", 3, tables=False) + table)
            words = [f"rows{n}.fits", f"{n} rows, expected one for each of {FIBERS} spectra"]
            self.assert_refused(13, words, "sky", "-i", frame, "--fiberflat", self.flat, "-o", self.sky)
            self.assert_refused(13, words, "calibrate", "-i", frame, "--fiberflat", self.flat, "-o", self.result)
            self.assert_refused(13, words, "fiberflat", "-i", frame, "-o", self.result)

    def test_bins_that_are_no_numbers_are_without_weight_and_told_of(self):
        """And in no file that follows."""
        self.chain()
        frame = fits.by_name(self.science)["FLUX"].values()
        wild = list(frame)
        for at, value in ((5 * BINS + 40, math.nan), (5 * BINS + 41, math.inf), (6 * BINS, -math.inf)):
            wild[at] = value
        path = self.put("wild.fits", frame_bytes(sky_light(), "science", 2, flux=wild))
        said = self.done("calibrate", "-i", path, "--fiberflat", self.flat, "--sky", self.sky, "-o", self.result).stderr
        self.assertIn(f"wild.fits: FLUX, IVAR or RESOLUTION of 3 of {FIBERS * BINS} bins is no number", said)
        result = fits.by_name(self.result)
        self.assertTrue(all(map(math.isfinite, result["FLUX"].values())))
        lost = [i for i, m in enumerate(result["MASK"].values()) if m & 1 << 8]
        self.assertEqual(lost, [5 * BINS + 40, 5 * BINS + 41, 6 * BINS])
        self.assertEqual([result["IVAR"].values()[i] for i in lost], [0, 0, 0])
        self.assertIn("without weight", self.done("sky", "-i", path, "--fiberflat", self.flat, "-o", self.out / "s.fits").stderr)

    def test_flats_of_a_night_become_one_a_camera_over_the_focal_plane(self):
        """Lamps that are brighter towards x or -x; the second spectrograph passes 0.8 of the light."""
        flats = [self.put(f"flat-{c}-{lamp}-{again}.fits", night_flat(c, lamp, again)) for c in ("r0", "r1") for lamp in (1, 2)
                 for again in range(2)]
        pattern = self.out / "night-{camera}.fits"
        report = json.loads(self.done("fiberflat", "--flats", *flats, "-o", pattern, "-q", "--json", "-").stdout)
        self.assertEqual((report["result"]["flats"], report["result"]["lamps"], report["result"]["cameras"]), (8, 2, ["r0", "r1"]))
        night = {c: fits.by_name(self.out / f"night-{c}.fits") for c in ("r0", "r1")}
        values = {c: [hdus["FIBERFLAT"].values()[f * BINS + 5] for f in range(FIBERS)] for c, hdus in night.items()}
        scale = values["r0"][0] / FLAT[0]
        for c, passes in (("r0", 1), ("r1", 0.8)):
            self.assertEqual((night[c]["FIBERFLAT"].cards["NLAMPS"], night[c]["FIBERFLAT"].cards["NFLATS"]), (2, 4))
            self.assertNotIn("EXPID", night[c]["FIBERFLAT"].cards)
            for f in range(FIBERS):
                self.assertAlmostEqual(values[c][f] / FLAT[f] / scale, passes, delta=0.002)
        self.assertAlmostEqual(night["r1"]["IVAR"].values()[5] / (4e6 / (0.8 / 0.9) ** 2), 1, delta=0.2, msg="errors as the flat")
        alone = self.out / "alone.fits"
        moved = lambda off: flats[0].read_bytes().replace(  # noqa: E731
            struct.pack(f">{BINS}d", *WAVE), struct.pack(f">{BINS}d", *(w + off for w in WAVE)))
        near = self.put("near.fits", moved(0.0005))  # as single precision has it
        self.done("fiberflat", "--flats", near, *flats[1:4], "-o", alone, "-q")
        far = self.put("far.fits", moved(0.01))
        self.assert_refused(13, ["fibre flats to be averaged: bin 0 lies at"], "fiberflat", "--flats", far, *flats[1:4], "-o", alone, "-q")
        self.done("fiberflat", "--flats", *flats[:4], "-o", alone, "-q")
        one = fits.by_name(alone)["FIBERFLAT"].values()
        for f in range(FIBERS):
            self.assertAlmostEqual(one[f * BINS + 5] / one[5], FLAT[f] / FLAT[0], delta=0.002)
        nowhere = self.put("nowhere.fits", night_flat("r0", 1, 0, places=False))
        result = self.done("fiberflat", "--flats", nowhere, "-o", alone)
        self.assertIn("no FIBERASSIGN_X", result.stderr)
        self.assert_refused(2, ["{camera} in the name"], "fiberflat", "--flats", *flats, "-o", alone, "-q")
        self.assert_refused(2, ["found {camra}, expected {camera}"], "fiberflat", "--flats", flats[0], "-o", self.out / "night-{camra}.fits", "-q")
        self.assert_refused(2, ["one of the two"], "fiberflat", "-i", self.lamp, "--flats", *flats, "-o", alone)
        self.assert_refused(2, ["exposure", "of camera r0 is in", "each once"], "fiberflat", "--flats", *flats, flats[0], "-o", pattern)
        self.assert_refused(2, ["one of the two"], "fiberflat", "-o", alone)
        self.assert_refused(13, ["camera r1 has flats of 1 lamps, r0 of 2"], "fiberflat", "--flats", *flats[:5], "-o", pattern)
        self.assert_refused(11, ["no HDU FIBERFLAT"], "fiberflat", "--flats", self.lamp, "-o", pattern)
        self.assert_refused(2, [], "fiberflat", "--flats", flats[0], "-o", flats[0])

    def test_a_lamp_that_was_off_makes_no_flat(self):
        dark = self.put("dark.fits", frame_bytes([0.0] * BINS, "flat", 9))
        self.assert_refused(40, ["dark.fits: FLUX: the brightest of 15 fibres has a median S/N of ", "expected 3 at least of a lamp"],
                            "fiberflat", "-i", dark, "-o", self.flat, "-q")
        self.assertFalse(self.flat.exists())

    def test_an_exposure_of_the_sky_is_no_lamp_and_says_so(self):
        result = self.done("fiberflat", "-i", self.science, "-o", self.flat)
        self.assertIn("FLAVOR is 'science'", result.stderr)


if __name__ == "__main__":
    unittest.main()
