# SPDX-License-Identifier: BSD-3-Clause
"""`report` on small frames: what the page holds, what is left out with a note, one line for each fault."""
import base64
import gzip
import json
import re
import struct
import unittest
import zlib

import tiny_fits as fits
from run_fiberloom import Case
from small_camera import NFIBER, NX, NY, WMAX, WMIN, Camera, psf_bytes, trace_x, trace_y

NWAVE = 101


def element(page, name):
    return re.search(rf'<script type="[a-z/]+" id="{name}">(.*?)</script>', page, re.S)[1]


def data(page, number=0):
    return json.loads(element(page, f"f{number}-data"))


def unpacked(page, name):
    return gzip.decompress(base64.b64decode(element(page, name)))


def halves(page, name):
    planes = unpacked(page, name)
    n = len(planes) // 2
    mixed = bytes(b for pair in zip(planes[:n], planes[n:]) for b in pair)
    return struct.unpack(f"<{n}e", mixed)


def decode_png(png):
    """Width, height, rows of palette indices; every check sum is checked."""
    assert png[:8] == b"\x89PNG\r\n\x1a\n"
    at, idat, size = 8, b"", None
    while at < len(png):
        length, = struct.unpack(">I", png[at:at + 4])
        kind, body = png[at + 4:at + 8], png[at + 8:at + 8 + length]
        assert struct.unpack(">I", png[at + 8 + length:at + 12 + length])[0] == zlib.crc32(kind + body)
        if kind == b"IHDR":
            size = struct.unpack(">II", body[:8])
        if kind == b"IDAT":
            idat += body
        at += 12 + length
    width, height = size
    raw = zlib.decompress(idat)  # checks Adler-32
    assert len(raw) == height * (width + 1)
    rows = [raw[y * (width + 1):(y + 1) * (width + 1)] for y in range(height)]
    assert all(row[0] == 0 for row in rows)
    return width, height, [row[1:] for row in rows]


class Report(Case):
    def setUp(self):
        super().setUp()
        self.model, self.residual = self.out / "model.fits", self.out / "residual.fits"
        self.summary, self.html = self.out / "summary.json", self.out / "report.html"
        self.extract_ok("-m", str(self.model), "--residual", str(self.residual), "--json", str(self.summary))

    def report(self, *arguments):
        return self.program("report", *arguments, "-o", self.html)

    def page(self, *arguments):
        result = self.report(*arguments)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        return self.html.read_text()

    def fails(self, result, code, *words):
        self.assertEqual(result.returncode, code, result.stderr)
        self.assertEqual(len(result.stderr.splitlines()), 1, result.stderr)
        for word in words:
            self.assertIn(str(word), result.stderr)
        self.assertFalse(self.html.exists())

    def test_holds_the_numbers_of_the_frame(self):
        page = self.page(self.frame)
        meta = data(page)
        self.assertEqual((meta["nspec"], meta["nwave"], meta["fibers"]), (NFIBER, NWAVE, list(range(NFIBER))))
        self.assertEqual(meta["wave"], {"first": 5005.0, "step": 0.8})
        hdus = fits.by_name(self.frame)
        flux, ivar = hdus["FLUX"].values(), hdus["IVAR"].values()
        held = [v * meta["flux_scale"] for v in halves(page, "f0-flux")]
        sigma = [v * meta["sigma_scale"] for v in halves(page, "f0-sigma")]
        self.assertEqual(len(held), len(flux))
        for f, w, mine, s in zip(flux, ivar, held, sigma):
            self.assertAlmostEqual(mine, f, delta=abs(f) * 2 ** -11 + 1e-7)
            self.assertAlmostEqual(s, w ** -0.5 if w > 0 else 0, delta=(w ** -0.5 if w > 0 else 0) * 0.009)
        flags = unpacked(page, "f0-flags")
        self.assertEqual([bool(f & 18) for f in flags], [not w > 0 for w in ivar])
        self.assertGreater(sum(bool(f) for f in flags), 0)
        self.assertEqual(sum(last - first + 1 for _, first, last, _ in meta["runs"]), sum(bool(f) for f in flags))

    def test_the_summary_brings_images_and_times(self):
        meta = data(self.page(self.frame, "--summary", self.summary))
        self.assertEqual([p["name"] for p in meta["pictures"]], ["Image", "Model", "Residual"])
        self.assertEqual(meta["summary"]["seconds"].keys(), {"read", "compute", "write", "all"})
        self.assertEqual([p["title"] for p in meta["pulls"]], ["Pulls of pixels", "Pulls of neighbouring bins"])
        self.assertLess(abs(meta["pulls"][0]["core"] - 1), 0.25)
        self.assertEqual(meta["notes"], [])

    def test_pictures_are_sound_png_with_masked_pixels_left_open(self):
        meta = data(self.page(self.frame, "--image", self.image, "--model", self.model))
        image, model, residual = meta["pictures"]
        for picture in (image, model, residual):
            width, height, rows = decode_png(base64.b64decode(picture["src"].partition(",")[2]))
            column, row, columns, tall = picture["region"]  # what is lit and 8 pixels around it
            self.assertEqual((width, height, picture["block"]), (columns, tall, [1, 1]))
            self.assertTrue(0 <= column and column + columns <= NX and 0 <= row and row + tall <= NY)

            def dots(y, x0, x1):
                return set(rows[tall - 1 - (y - row)][x0 - column:x1 - column])  # the highest row is on top
            if picture is not model:  # the dead block, y 100 to 111 and x 62 to 73
                self.assertEqual(dots(105, 62, 74), {255})
            self.assertNotIn(255, dots(75, 62, 66))

    def test_pictures_are_cropped_to_the_fibres(self):
        part = self.out / "part.fits"
        self.extract_ok("-s", "6", "-n", "2", "-m", str(self.out / "part-model.fits"), output=part)
        column, _, columns, _ = data(self.page(part, "--model", self.out / "part-model.fits"))["pictures"][0]["region"]
        lit = [i % NX for i, v in enumerate(fits.read(self.out / "part-model.fits")[0].values()) if v]  # of the whole bundle
        self.assertEqual((column, column + columns), (min(lit) - 8, min(max(lit) + 9, NX)))
        self.assertGreater(column, 30)

    def test_the_psf_gives_traces_and_residuals_along_them(self):
        page = self.page(self.frame, "--image", self.image, "--model", self.model, "--psf", self.psf)
        spec = data(page)["traces"]
        self.assertEqual(spec["wave"], [5005.0, 5085.0])
        for name, of in (("x", lambda s, w: trace_x(s) + 0.2 * (2 * (w - WMIN) / (WMAX - WMIN) - 1)), ("y", lambda s, w: trace_y(w))):
            planes, (low, span) = unpacked(page, f"f0-trace-{name}"), spec[name]
            n = len(planes) // 2
            values = [low + span * (planes[i] | planes[n + i] << 8) / 65535 for i in range(n)]
            for s in (0, 7):
                for k in (0, 9, spec["samples"] - 1):
                    wave = 5005 + 80 * k / (spec["samples"] - 1)
                    self.assertAlmostEqual(values[s * spec["samples"] + k], of(s, wave), delta=0.01)
        pulls = [c for c in unpacked(page, "f0-model") if c != 255]
        self.assertGreater(len(pulls), 0.9 * NFIBER * NWAVE)
        self.assertAlmostEqual(sorted(pulls)[len(pulls) // 2], 127, delta=12)  # half a sigma

    def test_the_verdict_has_a_level_words_and_reasons(self):
        verdict = data(self.page(self.frame, "--summary", self.summary))["verdict"]
        self.assertIn(verdict["level"], ("good", "odd", "bad"))
        found = {f["check"]: f for f in verdict["findings"]}
        self.assertEqual(len(found), 15)
        self.assertEqual(found["truth pulls"]["level"], "unknown")
        self.assertRegex(found["chi2"]["text"], r"chi2 of pixels is [0-9.]+ in the median")
        self.assertEqual(found["numerical error"]["level"], "good")
        self.assertIn("dead fibres", found)

    def test_the_verdict_names_an_unmasked_cosmic_ray_by_its_pixel(self):
        camera = Camera()
        row, column = 60, int(trace_x(4)) + 1
        camera.image[row * NX + column] += 5e4
        camera.ivar[90 * NX + 30] = 1e5
        hit = self.put("hit.fits", camera.preproc_bytes())
        verdict = data(self.page(self.frame, "--image", hit, "--model", self.model, "--psf", self.psf))["verdict"]
        wild = next(f for f in verdict["findings"] if f["check"] == "wild pixels")
        self.assertEqual((verdict["level"], wild["level"]), ("bad", "bad"))
        self.assertIn(f"column {column}, row {row}", wild["text"])
        self.assertIn("over 100 times the usual, the first at column 30, row 90", wild["text"])
        self.assertEqual(wild["place"][0], 2)  # the fibre that the weight falls on

    def test_same_input_same_bytes(self):
        first = self.page(self.frame, "--summary", self.summary)
        self.html.unlink()
        self.assertEqual(self.page(self.frame, "--summary", self.summary), first)

    def test_needs_no_other_file(self):
        page = self.page(self.frame, "--summary", self.summary)
        outside = re.findall(r'(?:src|href)="(?!data:)[^"]*"|url\((?!data:)|@import|https?://(?!www\.w3\.org/2000/svg)', page)
        self.assertEqual(outside, [])

    def test_several_frames_on_one_page(self):
        part = self.out / "part.fits"
        self.extract_ok("-s", "3", "-n", "2", output=part)
        page = self.page(self.frame, part, "--image", "-", "--image", self.image)
        self.assertEqual(data(page, 1)["fibers"], [3, 4])
        self.assertEqual([len(data(page, k)["pictures"]) for k in (0, 1)], [0, 1])

    def test_a_frame_without_everything_else_is_shown_with_notes(self):
        bare = self.out / "bare.fits"
        n = 40
        bare.write_bytes(fits.image("FLUX", -32, (1, n), [5.0] * n, first=True) +
                         fits.image("IVAR", -32, (1, n), [1.0] * (n - 1) + [0.0]) +
                         fits.image("WAVELENGTH", -64, (n,), [5000.0 * 1.0002 ** j for j in range(n)]))
        page = self.page(bare)
        meta = data(page)
        self.assertEqual(len(meta["wave"]), n)  # not linear: every wavelength
        self.assertIsNone(meta["width"])
        self.assertIsNone(meta["chi2"])
        for word in ("RESOLUTION", "CHI2PIX", "MASK", "FIBERMAP"):
            self.assertTrue(any(word in note for note in meta["notes"]), word)
        self.assertEqual(meta["runs"], [[0, n - 1, n - 1, 16]])

    def test_any_unit_of_flux_keeps_its_precision(self):
        for unit in (1e-17, 1.0, 1e9):
            scaled = self.out / "scaled.fits"
            flux = [unit * v for v in (1.0, -2.5, 3e4, 0.01)]
            scaled.write_bytes(fits.image("FLUX", -64, (1, 4), flux, first=True) +
                               fits.image("IVAR", -64, (1, 4), [unit ** -2] * 4) +
                               fits.image("WAVELENGTH", -64, (4,), [1.0, 2.0, 3.0, 4.0]))
            page = self.page(scaled)
            meta = data(page)
            for v, held, s in zip(flux, halves(page, "f0-flux"), halves(page, "f0-sigma")):
                self.assertAlmostEqual(held * meta["flux_scale"] / v, 1, delta=2 ** -11)
                self.assertAlmostEqual(s * meta["sigma_scale"] / unit, 1, delta=2 ** -7)

    def test_a_summary_of_odd_types_is_no_fault(self):
        odd = self.put("odd.json", json.dumps({
            "program": "fiberloom extract", "seconds": "x", "bundles": [None, 1, {"first_fiber": 0}], "options": [1],
            "versions": 5, "threads": {}, "spectra": 7, "input": {"image": 5}, "output": None}).encode())
        self.assertEqual(data(self.page(self.frame, "--summary", odd))["summary"]["versions"], 5)

    def test_hostile_names_stay_text(self):
        evil = self.out / "<img src=x onerror=alert(1)>&{{js}}.fits"
        evil.write_bytes(self.frame.read_bytes())
        page = self.page(evil)
        self.assertNotIn("<img", page)
        self.assertEqual(data(page)["name"], evil.name)

    def test_what_the_summary_names_and_is_gone_is_a_note(self):
        self.model.unlink()
        meta = data(self.page(self.frame, "--summary", self.summary))
        self.assertTrue(any("model.fits" in note for note in meta["notes"]), meta["notes"])

    def test_an_image_of_another_exposure_is_told_of(self):
        other = self.out / "other.fits"
        other.write_bytes(self.image.read_bytes().replace(b"EXPID   =                   11", b"EXPID   =                   12"))
        notes = data(self.page(self.frame, "--image", other))["notes"]
        self.assertIn(f"{other} is of EXPID 12, the frame of 11.", notes)
        self.assertFalse([note for note in data(self.page(self.frame, "--image", self.image))["notes"] if " is of " in note])

    def test_a_model_a_residual_and_a_truth_of_another_exposure_are_told_of(self):
        for option, path in (("--model", self.model), ("--residual", self.residual), ("--truth", self.truth())):
            other = self.out / f"other{option}.fits"
            other.write_bytes(path.read_bytes().replace(b"EXPID   =                   11", b"EXPID   =                   12"))
            notes = data(self.page(self.frame, option, other, "--no-verify"))["notes"]
            self.assertIn(f"{other} is of EXPID 12, the frame of 11.", notes)
            self.assertFalse([note for note in data(self.page(self.frame, option, path))["notes"] if " is of " in note])

    def truth(self):
        """Constant light for all fibres, as `simulate` writes it."""
        wave = [4990 + 0.4 * i for i in range(1000)]
        columns = [("FIBER", "J", "i", None), ("REDSHIFT", "D", "d", None)]
        data_of = (fits.image("FLUX", -64, (NFIBER, len(wave)), [100.0] * NFIBER * len(wave), [("EXPID", 11)], first=True)
                   + fits.image("WAVELENGTH", -64, (len(wave),), wave)
                   + fits.table("FIBERMAP", columns, [(fiber, 0.5) for fiber in range(NFIBER)]))
        path = self.out / "truth.fits"
        path.write_bytes(data_of)
        return path

    def test_faults_are_one_line(self):
        self.fails(self.report(self.out / "nothing.fits"), 10, "nothing.fits")
        self.fails(self.report(self.psf), 11, self.psf.name, "FLUX")
        self.fails(self.report(self.frame, "--summary", self.frame), 14, self.frame, "summary")
        deep = self.put("deep.json", b'{"program":"fiberloom extract","spectra":' + b"[" * 200000)
        self.fails(self.report(self.frame, "--summary", deep), 14, "deep.json")
        self.fails(self.report(self.frame, "--image", self.psf), 11, self.psf.name, "this is a PSF")
        self.fails(self.report(self.frame, "--psf", self.frame), 12, self.frame.name, "PSFTYPE")
        few = self.put("few.fits", psf_bytes(nfiber=6))
        self.fails(self.report(self.frame, "--psf", few), 21, "few.fits", "6 fibres", "0 to 9")
        other = self.put("other.fits", psf_bytes(npix_x=120))
        self.fails(self.report(self.frame, "--image", self.image, "--psf", other), 21, "other.fits", "160 x 120", "160 x 110")
        small = self.put("small.fits", fits.image("MODEL", -32, (5, 4), [0.0] * 20, first=True))
        self.fails(self.report(self.frame, "--image", self.image, "--model", small), 21, "small.fits", "5 x 4")
        part = self.out / "part.fits"
        self.extract_ok("-s", "3", "-n", "2", output=part)
        self.fails(self.report(part, "--summary", self.summary), 21, "summary.json", "10 x 101")
        backward = self.put("backward.fits", fits.image("FLUX", -32, (1, 2), [1, 1], first=True) +
                            fits.image("IVAR", -32, (1, 2), [1, 1]) + fits.image("WAVELENGTH", -64, (2,), [2.0, 1.0]))
        self.fails(self.report(backward), 14, "WAVELENGTH")

    def test_wrong_command_lines(self):
        self.fails(self.report(self.frame, "--image", self.image, "--image", self.image), 2, "--image", "2 times")
        result = self.program("report", self.frame, "-o", self.frame)
        self.assertEqual(result.returncode, 2)
        self.assertEqual(self.frame.read_bytes()[:6], b"SIMPLE")
        result = self.program("report", self.frame, "-o", self.psf / "such" / "report.html")
        self.assertEqual(result.returncode, 30)


if __name__ == "__main__":
    unittest.main()
