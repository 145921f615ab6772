# SPDX-License-Identifier: BSD-3-Clause
"""`--barycentric-correction`: the grid that is extracted, what the file says of it, where the numbers come from."""
import json
import unittest

import tiny_fits as fits
from run_fiberloom import Case
from small_camera import GRID, NFIBER

FIELD = [("TARGTRA", 155.5939), ("TARGTDEC", -4.8391)]
# astropy's correction for this field at MJD 61041.25 + 500 s, m/s
ASTROPY = 25477.595
LIGHT = 299792458.0


class Barycentric(Case):
    def image_with(self, name, cards=(), drop=(), fibermap=()):
        """The image with further cards in IMAGE and FIBERMAP."""
        data = self.camera.preproc_bytes(drop=drop)
        if cards:
            data = self.with_cards(data, cards, "IMAGE")
        if fibermap:
            data = self.with_cards(data, fibermap, "FIBERMAP")
        return self.put(name, data)

    @staticmethod
    def with_cards(data, cards, extname):
        at = data.index(fits.card("EXTNAME", extname))
        end = data.index(b"END".ljust(80), at)
        new = b"".join(fits.card(*c) for c in cards)
        spare = -(end + 80) % fits.BLOCK
        assert len(new) <= spare, "no room in the header's last block"
        stop = end + 80 + spare
        return data[:end] + new + b"END".ljust(80) + b" " * (spare - len(new)) + data[stop:]

    def test_is_the_extraction_on_the_divided_grid_under_the_undivided_one(self):
        image = self.image_with("field.fits", FIELD)
        self.extract_ok("--barycentric-correction", image=image)
        corrected = fits.by_name(self.frame)
        f = corrected["FLUX"].cards["HELIOCOR"]
        self.assertLess(abs((f - 1) * LIGHT - ASTROPY), 0.03)
        divided = ",".join(repr(float(v) / f) for v in GRID.split(","))
        other = self.out / "divided.fits"
        self.extract_ok(image=image, wave=divided, output=other)
        expected = fits.by_name(other)
        for name in ("FLUX", "IVAR", "MASK", "RESOLUTION", "CHI2PIX", "FIBERMAP"):
            self.assertEqual(corrected[name].data, expected[name].data, name)
        wave = corrected["WAVELENGTH"].values()
        plain = self.out / "plain.fits"
        self.extract_ok(image=image, output=plain)
        plain = fits.by_name(plain)
        self.assertEqual(wave, plain["WAVELENGTH"].values())
        self.assertNotEqual(corrected["FLUX"].data, plain["FLUX"].data)
        self.assertNotIn("HELIOCOR", plain["FLUX"].cards)
        for key in ("WAVEMIN", "WAVEMAX", "WAVESTEP", "NSPEC", "FIBERMIN"):
            self.assertEqual(corrected["FLUX"].cards[key], plain["FLUX"].cards[key])

    def test_the_factor_is_told_in_log_json_and_info(self):
        image = self.image_with("field.fits", FIELD)
        summary = self.out / "summary.json"
        told = self.extract("--barycentric-correction", "--json", summary, image=image)
        self.assertEqual(told.returncode, 0, told.stderr)
        f = fits.by_name(self.frame)["FLUX"].cards["HELIOCOR"]
        self.assertEqual(json.loads(summary.read_text())["spectra"]["heliocor"], f)
        self.assertIn("barycentric factor 1.00008498", told.stderr)
        self.assertIn("HELIOCOR", self.program("info", self.frame).stdout)

    def test_patches_and_ranges_take_the_same_grid(self):
        image = self.image_with("field.fits", FIELD)
        self.extract_ok("--barycentric-correction", image=image)
        whole = fits.by_name(self.frame)
        part = self.out / "part.fits"
        self.extract_ok("--barycentric-correction", "-s", "3", "-n", "4", image=image, output=part)
        self.assertEqual(fits.by_name(part)["FLUX"].rows(), whole["FLUX"].rows()[3:7])
        patch = self.out / "patch.fits"
        self.extract_ok("--barycentric-correction", "--method", "patch", image=image, output=patch)
        patch = fits.by_name(patch)
        self.assertEqual(patch["WAVELENGTH"].data, whole["WAVELENGTH"].data)
        flux, ivar, other = (h["FLUX"].values() if h is not None else whole["IVAR"].values()
                             for h in (whole, None, patch))
        pulls = [abs(a - b) * w ** 0.5 for a, b, w in zip(flux, other, ivar)]
        self.assertLess(sorted(pulls)[len(pulls) // 2], 0.01)

    def test_the_field_may_stand_in_the_fibermap(self):
        image = self.image_with("map.fits", fibermap=FIELD)
        self.extract_ok("--barycentric-correction", image=image)
        f = fits.by_name(self.frame)["FLUX"].cards["HELIOCOR"]
        self.assertLess(abs((f - 1) * LIGHT - ASTROPY), 0.03)

    def test_a_night_corrects_every_frame(self):
        folder = self.out / "in"
        folder.mkdir()
        (folder / "preproc-r0-00000011.fits").write_bytes(
            self.image_with("field.fits", FIELD).read_bytes())
        (folder / "psf-r0.fits").write_bytes(self.psf.read_bytes())
        common = ["-w", GRID, "--bundlesize", "5", "--quiet", "--threads", "2"]
        for command, place in (("night", folder), ("expose", folder)):
            out = self.out / command
            done = self.program(command, place, "-o", out, "--barycentric-correction", *common)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.extract_ok("--barycentric-correction", image=folder / "preproc-r0-00000011.fits",
                            psf=folder / "psf-r0.fits")
            (frame,) = out.rglob("frame-r0-00000011.fits")
            ours, alone = fits.by_name(frame), fits.by_name(self.frame)
            for name in ("FLUX", "WAVELENGTH"):
                self.assertEqual(ours[name].data, alone[name].data)
            self.assertEqual(ours["FLUX"].cards["HELIOCOR"], alone["FLUX"].cards["HELIOCOR"])
            # without the option there is work again: another result
            refused = self.program(command, place, "-o", out, *common)
            self.assertEqual(refused.returncode, 2, refused.stderr)
            plain = self.program(command, place, "-o", out, "--redo", *common)
            self.assertEqual(plain.returncode, 0, plain.stderr)
            self.assertNotIn("HELIOCOR", fits.by_name(frame)["FLUX"].cards)

    def test_no_direction_no_time_or_nonsense_is_one_line(self):
        run = "--barycentric-correction"
        self.assert_fails(self.extract("--quiet", run), 12, self.image, "IMAGE", "FIBERMAP", "TARGTRA")
        timeless = self.image_with("timeless.fits", FIELD, drop=("MJD-OBS",))
        self.assert_fails(self.extract("--quiet", run, image=timeless), 12, timeless, "MJD-OBS")
        wrong = self.image_with("wrong.fits", [("RA", "10:20:30"), ("DEC", 1.0)])
        self.assert_fails(self.extract("--quiet", run, image=wrong), 12, wrong, "10:20:30", "degrees")


if __name__ == "__main__":
    unittest.main()
