# SPDX-License-Identifier: BSD-3-Clause
"""Numbers that no CCD gives: what they spoil is masked and told, all else is as without them, nothing that
leaves is infinite, and nothing takes long."""
import json
import math
import os
import pathlib
import resource
import signal
import struct
import subprocess
import time
import unittest

import redshift_case
import tiny_fits as fits
from run_fiberloom import PROGRAM, Case
from small_camera import NFIBER, NX, NY, psf_bytes, trace_x
from small_spectra import Targets, template_bytes

ALLBADPIX = 2
SLOWER = int(os.environ.get("FIBERLOOM_TEST_SLOWER", 1))  # how much, under a sanitizer
SECONDS = 20 * SLOWER  # of processor time
ENGINES = {"cpu": [], "emulate": ["--backend", "emulate"], "patch": ["--method", "patch"]}


def edited(psf, name, edit):
    """The PSF with the coefficients [fibre][2] of one parameter changed by edit(list)."""
    data = bytearray(psf)
    start = data.index(name.encode().ljust(8, b"\0")) + 8  # a row of the table: its name, then the numbers
    values = list(struct.unpack_from(f">{2 * NFIBER}d", data, start))
    edit(values)
    struct.pack_into(f">{2 * NFIBER}d", data, start, *values)
    return bytes(data)


class AbsurdCase(Case):
    def extract_frame(self, *more, image=None, psf=None, codes=(0,)):
        """Standard error and the HDUs of the frame, if one is there; checks what must hold of every frame.
        The limit is one of processor time, since other tests run beside this one."""
        before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
        result = self.extract("--quiet", *more, image=image, psf=psf)
        self.assertLess(resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before, SECONDS)
        self.assertIn(result.returncode, codes, result.stderr)
        if result.returncode != 0:
            self.assertEqual(self.files(), [], result.stderr)
            return result.stderr, None
        hdus = fits.by_name(self.frame)
        self.frame.unlink()
        ivar, flux, mask = (hdus[n].values() for n in ("IVAR", "FLUX", "MASK"))
        for name in ("FLUX", "IVAR", "RESOLUTION", "CHI2PIX"):
            self.assertTrue(all(map(math.isfinite, hdus[name].values())), name)
        for f, w, m in zip(flux, ivar, mask):
            self.assertEqual(w == 0, m & ALLBADPIX != 0)
            if w == 0:
                self.assertEqual(f, 0)
        return result.stderr, hdus

    def preproc(self, name, change, bitpix=-32, drop=()):
        """The camera's frame after change(image, ivar)."""
        image, ivar = list(self.camera.image), list(self.camera.ivar)
        change(image, ivar)
        return self.put(name, self.camera.preproc_bytes(image=image, ivar=ivar, bitpix=bitpix,
                                                         drop=drop))

    def good_bins(self, hdus):
        return sum(w > 0 for w in hdus["IVAR"].values())


def at(row, column):
    return row * NX + column


class WildPixels(AbsurdCase):
    def wild(self, weight, bitpix):
        def change(_, ivar):
            ivar[at(75, 29)] = weight
        return self.preproc(f"wild-{weight:g}.fits", change, bitpix)

    def masked(self, bitpix):
        def change(_, ivar):
            ivar[at(75, 29)] = 0.0
        return self.preproc("masked.fits", change, bitpix)

    def test_one_wild_weight_is_as_one_masked_pixel_and_is_named(self):
        for weight, bitpix in ((1e14, -32), (3e38, -32), (1e300, -64), (1e-30, -64), (1e-300, -64)):
            for engine, options in ENGINES.items():
                with self.subTest(weight=weight, engine=engine):
                    _, expected = self.extract_frame(*options, image=self.masked(bitpix))
                    said, found = self.extract_frame(*options, image=self.wild(weight, bitpix))
                    self.assertEqual(len(said.splitlines()), 1, said)
                    for word in ("1 pixel with a wild value", f"IVAR[75,29] is {weight:.3g}", "median ivar"):
                        self.assertIn(word, said)
                    for name in ("FLUX", "IVAR", "MASK", "RESOLUTION"):
                        self.assertEqual(expected[name].data, found[name].data, name)

    def test_a_weight_that_a_ccd_may_have_is_used(self):
        said, _ = self.extract_frame(image=self.wild(1e5, -32))
        self.assertEqual(said, "")

    def test_a_row_and_a_block_of_them_take_their_own_bins_alone(self):
        def row(_, ivar):
            for x in range(NX):
                ivar[at(75, x)] = 1e14

        def block(_, ivar):
            for y in range(60, 90):
                for x in range(10, 30):
                    ivar[at(y, x)] = 1e30
        whole = self.good_bins(self.extract_frame()[1])
        for name, change, count in (("row", row, NX), ("block", block, 600)):
            said, found = self.extract_frame(image=self.preproc(name + ".fits", change))
            self.assertEqual(len(said.splitlines()), 1, said)
            self.assertIn("pixels with a wild value are taken as masked", said)
            self.assertIn(" more", said)
            self.assertGreater(self.good_bins(found), 0.8 * whole)
            self.assertLessEqual(self.good_bins(found), whole)

    def test_values_that_no_ccd_holds(self):
        for value in (3e38, -1e30):
            for engine, options in ENGINES.items():
                def change(image, _, value=value):
                    image[at(75, 29)] = value
                with self.subTest(value=value, engine=engine):
                    said, found = self.extract_frame(*options, image=self.preproc("value.fits", change))
                    self.assertIn(f"IMAGE[75,29] is {value:.3g} with ivar", said)
                    self.assertGreater(self.good_bins(found), 900)

    def test_a_bright_value_that_is_solved_is_no_wild_one(self):
        def change(image, _):
            image[at(75, 29)] = 1e9
        said, _ = self.extract_frame(image=self.preproc("bright.fits", change))
        self.assertEqual(said, "")

    def test_a_frame_in_other_units_is_extracted(self):
        for scale, bitpix in ((1e14, -32), (1e-14, -32), (1e33, -64)):
            def change(image, ivar, scale=scale):
                image[:] = [v / math.sqrt(scale) for v in image]
                ivar[:] = [w * scale for w in ivar]
            said, found = self.extract_frame(image=self.preproc("units.fits", change, bitpix))
            self.assertEqual(said, "")
            self.assertGreater(self.good_bins(found), 900)

    def test_the_summary_counts_them(self):
        summary = self.out / "s.json"
        self.extract_frame("--json", summary, image=self.wild(1e14, -32))
        found = json.loads(summary.read_text())
        self.assertEqual(found["pixels"]["wild_ivar"], 1)
        self.assertEqual(found["bins"]["not_computed"], 0)


class NothingLeft(AbsurdCase):
    """The failure that nights take it for, with the reason; never an empty frame."""

    def refused(self, code, *words, more=(), image=None, psf=None):
        for engine, options in ENGINES.items():
            with self.subTest(engine=engine):
                said, _ = self.extract_frame(*options, *more, image=image, psf=psf, codes=(code,))
                error = said.splitlines()[-1]
                self.assertTrue(error.startswith("fiberloom: error: "), said)
                for word in words:
                    self.assertIn(str(word), error)

    def test_all_pixels_masked(self):
        masked = self.camera.preproc_bytes(drop=("MASK",)) + fits.image("MASK", 16, (NY, NX), [1] * (NX * NY))
        path = self.put("allmasked.fits", masked)
        self.refused(14, path, f"no good pixel: of {NX * NY}, {NX * NY} masked", image=path)

    def test_no_weight_at_all(self):
        def change(_, ivar):
            ivar[:] = [0.0] * len(ivar)
        path = self.preproc("noweight.fits", change, drop=("MASK",))
        self.refused(14, path, "no good pixel", f"{NX * NY} without weight", image=path)

    def test_every_value_wild(self):
        for value, weight, bitpix in ((3e38, None, -32), (None, 1e300, -64), (None, 1e-300, -64)):
            def change(image, ivar, value=value, weight=weight):
                image[:] = [value] * len(image) if value else image
                ivar[:] = [w * weight for w in ivar] if weight else ivar
            path = self.preproc("allwild.fits", change, bitpix, drop=("MASK",))
            self.refused(14, path, "no good pixel", f"{NX * NY} with a wild value", image=path)

    def test_a_psf_without_width(self):
        def flat(values):
            values[:] = [0.0] * len(values)
        path = self.put("psf-flat.fits", edited(psf_bytes(), "GHSIGX", flat))
        self.refused(14, self.image, path, "no good bin: fibres 0-9: PSF width not above 0.05 pixels", psf=path)

    def test_traces_off_the_ccd(self):
        data = bytearray(self.psf.read_bytes())
        start = 2880  # XTRACE is the first HDU, its header one block
        for fiber in range(NFIBER):
            struct.pack_into(">2d", data, start + 16 * fiber, trace_x(fiber) + 5000, 0.2)
        path = self.put("psf-off.fits", bytes(data))
        self.refused(14, path, "no good bin: fibres 0-9: traces leave the CCD", psf=path)


class EmptyFibres(AbsurdCase):
    def told(self, text, name, edit):
        path = self.put("psf-edited.fits", edited(psf_bytes(), name, edit))
        for engine, options in ENGINES.items():
            with self.subTest(engine=engine):
                said, found = self.extract_frame(*options, psf=path)
                self.assertEqual(len(said.splitlines()), 1, said)
                self.assertIn(text, said)
                self.assertGreater(self.good_bins(found), 500)

    def test_a_fibre_whose_psf_is_not_finite(self):
        def edit(values):
            values[2 * 3] = math.nan
        self.told("without a single good bin: fibre 3: PSF not finite", "GH-2-0", edit)

    def test_fibres_whose_psf_has_no_width(self):
        def edit(values):
            for fiber in (3, 6, 7):
                values[2 * fiber:2 * fiber + 2] = [-1.0, 0.0]
        self.told("without a single good bin: fibres 3, 6-7: PSF width not above 0.05 pixels", "GHSIGY", edit)

    def test_a_part_of_a_fibre_whose_psf_has_no_width(self):
        def edit(values):
            values[2 * 3:2 * 3 + 2] = [1.0, 2.0]
        self.told("bins of fibre 3 have no light: PSF width not above 0.05 pixels", "GHSIGX", edit)

    def test_good_frames_say_nothing(self):
        for options in ENGINES.values():
            said, _ = self.extract_frame(*options)
            self.assertEqual(said, "")


class Bounded(AbsurdCase):
    """Options and inputs at their limits: an end within 20 s, and nothing that is no number."""

    def test_options(self):
        for more in (["--regularize", "1e30"], ["--regularize", "1e-30"], ["--psferr", "1e30"],
                     ["--tolerance", "1e-12"], ["--tolerance", "1"], ["--ndiag", "101"]):
            for engine, options in ENGINES.items():
                with self.subTest(more=more, engine=engine):
                    self.extract_frame(*options, *more, codes=(0, 2, 15, 40))

    def test_an_infinite_option_is_none(self):
        for more in (["--psferr", "inf"], ["--psferr", "1e400"], ["--regularize", "inf"], ["--reject", "inf"]):
            said, _ = self.extract_frame(*more, codes=(2,))
            self.assertIn(f"{more[0][2:]} inf: expected a finite number", said)

    def test_psfs(self):
        def scaled(factor):
            def edit(values):
                values[:] = [v * factor for v in values]
            return edit
        for name, factor in (("GHSIGX", 1e6), ("GHSIGY", 0.05), ("GH-2-0", 1e99), ("GH-0-0", -1.0),
                             ("TAILAMP", 1e99)):
            path = self.put("psf-huge.fits", edited(psf_bytes(), name, scaled(factor)))
            everywhere = factor == -1.0  # each engine of its own on these, to save time
            for engine, options in ENGINES.items() if everywhere else [("cpu", [])]:
                with self.subTest(name=name, factor=factor, engine=engine):
                    self.extract_frame(*options, psf=path, codes=(0, 14, 15, 40))

    def test_images(self):
        def alternating(image, _):
            image[:] = [1e9 if i % 2 else -1e9 for i in range(len(image))]

        def steep(_, ivar):
            ivar[:] = [w * 10.0 ** (i % NX / 6 - 11) for i, w in enumerate(ivar)]

        def weak_block(_, ivar):
            for y in range(60, 100):
                for x in range(NX):
                    ivar[at(y, x)] *= 1e-11
        for change in (alternating, steep, weak_block):
            for engine, options in ENGINES.items():
                with self.subTest(change=change.__name__, engine=engine):
                    self.extract_frame(*options, image=self.preproc("odd.fits", change))


@unittest.skipIf(SLOWER > 1, "a sanitizer's time says nothing")
class Stopped(AbsurdCase):
    def cpu_of(self, command, stop_after=None):
        """Processor seconds of a run, ended by SIGTERM once it has worked for so many of them."""
        before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
        process = subprocess.Popen([PROGRAM, *map(str, command)], stderr=subprocess.PIPE, text=True)
        while stop_after is not None and process.poll() is None and self.cpu_now(process.pid) < stop_after:
            time.sleep(0.01)
        if stop_after is not None:
            process.send_signal(signal.SIGTERM)
        _, errors = process.communicate(timeout=300)
        self.assertEqual(process.returncode, 0 if stop_after is None else 50, errors)
        return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before

    @staticmethod
    def cpu_now(pid):
        user = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[11]
        return int(user) / os.sysconf("SC_CLK_TCK")

    def test_a_stop_is_heard_inside_a_bundle(self):
        """One bundle on one thread at a fine step: seconds, of which a stop leaves what was done by then."""
        command = [c if c != "5" else "10" for c in self.command("--quiet", "--threads", "1", "--tolerance",
                                                                 "1e-12", wave="5005,5085,0.3")]
        for options in ([], ["--method", "patch", "--nwavestep", "400"]):
            with self.subTest(options):
                whole = self.cpu_of(command + options)
                self.frame.unlink()
                self.assertLess(self.cpu_of(command + options, 0.3 * whole), 0.7 * whole)
                self.assertEqual(self.files(), [])


class Spectra(redshift_case.Case):
    """The same of spectra: a table of numbers, whatever one target holds, and the others do not know."""

    ABSURD = (math.nan, math.inf, -math.inf, 3e38, -3e38, 1e-45, 0.0, -1.0, 1e30)

    def check(self, change, method="fast"):
        targets = Targets(redshift_case.TRUTH)
        change(targets)
        before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
        table = self.redshifts("--method", method, "--model", self.out / "model.fits",
                               inputs=self.put("absurd.fits", targets.coadd()))
        self.assertLess(resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before, SECONDS)
        for name, hdu in fits.by_name(self.out / "model.fits").items():
            if name.endswith("_MODEL"):
                self.assertTrue(all(map(math.isfinite, hdu.values())), name)
        rest = {k: [v for i, v in enumerate(values) if i != 1] for k, values in table.items()}
        self.check_truth(rest, redshift_case.TRUTH[:1] + redshift_case.TRUTH[2:])

    def test_any_number_in_any_pixel(self):
        for what in ("flux", "ivar"):
            def each(t, what=what):
                getattr(t, what)["B"][1][100:100 + len(self.ABSURD)] = self.ABSURD
            self.check(each)
            for value in self.ABSURD[:5]:
                def all_of_it(t, what=what, value=value):
                    for name in getattr(t, what):
                        getattr(t, what)[name][1] = [value] * len(getattr(t, what)[name][1])
                with self.subTest(value=value, what=what):
                    self.check(all_of_it, "redrock")

    def test_any_number_in_a_template_is_a_line_or_a_table(self):
        for value in self.ABSURD:
            data = bytearray(template_bytes("GALAXY"))
            hdu = fits.by_name(self.templates / "rrtemplate-GALAXY-None-v1.0.fits")["BASIS_VECTORS"]
            struct.pack_into(">d", data, hdu.start + 8 * 1500, value)
            path = self.put("rrtemplate-GALAXY-odd.fits", bytes(data))
            result = self.program("redshift", "-i", self.coadd, "-o", self.result, "-t", path, "--quiet")
            self.assertEqual(result.returncode, 0 if math.isfinite(value) else 80, result.stderr)


if __name__ == "__main__":
    unittest.main()
