# SPDX-License-Identifier: BSD-3-Clause
"""`stdstars` on three small cameras whose stars are known."""
import json
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
from small_stars import (CAMERAS, FIBERS, MODEL_WAVE, NODES, STARS, flat_bytes, frame_bytes, grid_bytes, sky_bytes, star_flux, throughput,
                         write_passbands)

BROKEN, BAD_AMP_R = 1 << 2, 1 << 23


class StandardStars(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.inputs = pathlib.Path(tempfile.mkdtemp(prefix="fiberloom-stars-"))
        write_passbands(cls.inputs)
        cls.frames = [cls.put(f"frame-{c}0-11.fits", frame_bytes(c, 11)) for c in CAMERAS]
        cls.flats = [cls.put(f"flat-{c}0.fits", flat_bytes(c)) for c in CAMERAS]
        cls.skies = [cls.put(f"sky-{c}0-11.fits", sky_bytes(c, 11)) for c in CAMERAS]
        cls.grid = cls.put("grid.fits", grid_bytes())

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.inputs)

    @classmethod
    def put(cls, name, data):
        path = cls.inputs / name
        path.write_bytes(data)
        return path

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="fiberloom-out-"))
        self.addCleanup(shutil.rmtree, self.folder)
        self.out = self.folder / "stdstars-0-11.fits"

    def run_program(self, *arguments):
        return subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, text=True, timeout=100,
                              env={**os.environ}, check=False)

    def command(self, *more, frames=None, flats=None, skies=None, grid=None, filters=None):
        return ("stdstars", "--frames", *(frames or self.frames), "--fiberflats", *(flats or self.flats), "--skymodels",
                *(skies or self.skies), "--starmodels", grid or self.grid, "--filters", filters or self.inputs, "-o", self.out,
                *more)

    def done(self, *more, **files):
        result = self.run_program(*self.command(*more, **files))
        self.assertEqual(result.returncode, 0, result.stderr)
        return result

    def assert_refused(self, code, words, *more, warnings=0, **files):
        result = self.run_program(*self.command("-q", *more, **files))
        self.assertEqual(result.returncode, code, result.stderr)
        lines = result.stderr.strip().splitlines()
        self.assertEqual(len(lines), 1 + warnings, result.stderr)
        for word in words:
            self.assertIn(word, lines[-1])
        self.assertFalse(self.out.exists())

    def assert_true_fluxes(self):
        """What 175 K are in the blue: 8 % at 3800 Angstrom where 6500 are right."""
        hdus, stars = fits.by_name(self.out), small_spectra.read_table(self.out, "METADATA")
        flux, n = hdus["FLUX"].values(), len(MODEL_WAVE)
        for row, fiber in enumerate(stars["FIBER"]):
            # Four lines of hydrogen, 2 Angstrom a bin, tell temperatures to 175 K here.
            self.assertAlmostEqual(stars["TEFF"][row], STARS[fiber][0], delta=200)
            self.assertAlmostEqual(stars["REDSHIFT"][row], STARS[fiber][3], delta=1.2e-4)
            for i in range(200, 2400, 40):
                ratio = flux[row * n + i] / star_flux(fiber, MODEL_WAVE[i])
                self.assertAlmostEqual(ratio, 1, delta=0.09, msg=f"fibre {fiber}, {MODEL_WAVE[i]} Angstrom")

    def test_stars_have_their_true_fluxes(self):
        result = self.done("--json", self.folder / "s.json")
        hdus = fits.by_name(self.out)
        self.assertEqual(list(hdus), ["FLUX", "WAVELENGTH", "FIBERS", "METADATA", "COEFF", "FIBERMAP", "INPUT_FRAMES"])
        self.assertEqual(hdus["FIBERS"].values(), [2, 1, 4], "of most light first")
        self.assertEqual(hdus["COEFF"].shape, (3, len(NODES)))
        self.assertEqual(hdus["FLUX"].cards["BUNIT"], "10**-17 erg/(s cm2 Angstrom)")
        self.assertIn("3 of 3 standard stars", result.stderr)
        self.assertNotIn("EBV", result.stderr)
        self.assert_true_fluxes()
        self.assertEqual(hdus["FLUX"].cards["CALMETH"], "fiberloom")
        told = json.loads((self.folder / "s.json").read_text())
        self.assertEqual((told["result"]["stars"], told["result"]["cameras"], told["result"]["exposures"]), (3, 3, 1))
        self.assertEqual(told["settings"]["color"], "auto")
        self.assertEqual(len(told["input"]["frames"]), 3)

    def test_exposures_are_taken_together(self):
        more = [self.put(f"frame-{c}0-12.fits", frame_bytes(c, 12, clear=0.5)) for c in CAMERAS]
        skies = [self.put(f"sky-{c}0-12.fits", sky_bytes(c, 12)) for c in CAMERAS]
        self.done("-q", frames=self.frames + more, skies=self.skies + skies)
        self.assert_true_fluxes()
        self.assertEqual(len(small_spectra.read_table(self.out, "INPUT_FRAMES")["EXPID"]), 6)
        data = frame_bytes("b", 12)
        for fiber in range(FIBERS):  # another tile's stars on the same fibres
            data = data.replace(struct.pack(">q", 200 + fiber), struct.pack(">q", 300 + fiber))
        self.out.unlink()
        self.assert_refused(13, ["tile.fits", "other TARGETIDs", "frame-b0-11.fits"], frames=[*self.frames, self.put("tile.fits", data)])

    def test_the_next_step_takes_them(self):
        self.done("-q")
        flux = self.folder / "fluxcalib.fits"
        result = self.run_program("fluxcalib", "-i", self.frames[1], "--fiberflat", self.flats[1], "--sky", self.skies[1],
                                  "--models", self.out, "-o", flux, "-q")
        self.assertEqual(result.returncode, 0, result.stderr)
        sharp = fits.by_name(flux)["DECONVOLVED_CALIB"].values()
        for i in range(50, 850, 50):
            mean = sum(sharp[i - 8:i + 8]) / 16
            self.assertAlmostEqual(mean / throughput(CAMERAS["r"][i]), 1, delta=0.06)

    def test_a_fiber_that_one_camera_forbids_is_no_star(self):
        bad = self.put("bad.fits", frame_bytes("b", 11, status={2: BROKEN}))
        self.done("-q", frames=[bad, *self.frames[1:]])
        self.assertEqual(fits.by_name(self.out)["FIBERS"].values(), [1, 4])
        amplifier = self.put("amplifier.fits", frame_bytes("r", 11, status={2: BAD_AMP_R}))
        self.done("-q", frames=[self.frames[0], amplifier, self.frames[2]])
        self.assertEqual(fits.by_name(self.out)["FIBERS"].values(), [2, 1, 4], "the blue has its light still")

    def test_the_rules_are_desispecs_where_asked(self):
        self.done("-q")
        ours = small_spectra.read_table(self.out, "METADATA")
        self.done("-q", "--method", "desispec")
        theirs = small_spectra.read_table(self.out, "METADATA")
        self.assertEqual(fits.by_name(self.out)["FLUX"].cards["CALMETH"], "desispec")
        self.assertEqual(list(theirs["FIBER"]), list(ours["FIBER"]))
        off = [[abs(t - STARS[f][0]) for t, f in zip(stars["TEFF"], stars["FIBER"])] for stars in (ours, theirs)]
        self.assertLess(sum(off[0]), sum(off[1]), "spikes held against the noise take light between lines of bright stars")

    def test_some_stars_by_targetid_brightness_and_number(self):
        self.assertEqual(self.done("-q", "--std-targetids", 201, 204).stderr, "")
        self.assertEqual(fits.by_name(self.out)["FIBERS"].values(), [1, 4])
        self.assertIn("frame-b0-11.fits: FIBERMAP: 1 of 2 of --std-targetids are not there", self.done("--std-targetids", 201, 999).stderr)
        self.done("-q", "--maxstdstars", 1)
        self.assertEqual(fits.by_name(self.out)["FIBERS"].values(), [2])
        self.out.unlink()
        self.assert_refused(40, ["frame-b0-11.fits", "none of 3 is left", "3 of a blue S/N below"], "--min-blue-snr", 1e6)

    def test_a_camera_without_sky_or_flat_is_left_out(self):
        result = self.done(skies=self.skies[:2])
        self.assertIn("frame-z0-11.fits: no fibre flat of camera z0, or no sky of exposure 11", result.stderr)
        self.assertEqual(len(fits.by_name(self.out)["FIBERS"].values()), 3)
        self.out.unlink()
        other = [self.put(f"sky-{c}0-99.fits", sky_bytes(c, 99)) for c in CAMERAS]
        self.assert_refused(2, ["--fiberflats and --skymodels"], skies=other, warnings=3)

    def test_stars_without_dust_are_told_of(self):
        clear = [self.put(f"clear-{c}0.fits", frame_bytes(c, 11, ebv=0.0)) for c in CAMERAS]
        self.assertIn("clear-b0.fits: FIBERMAP: EBV is 0 of all stars", self.done(frames=clear).stderr)

    def test_stars_without_photometry_are_told_of(self):
        nan = float("nan")
        one = self.put("one.fits", frame_bytes("b", 11, red={2: nan}))
        said = self.done(frames=[one, *self.frames[1:]]).stderr
        self.assertEqual(fits.by_name(self.out)["FIBERS"].values(), [1, 4])
        self.assertIn("one.fits: FIBERMAP: 1 of 3 standard stars left out, without photometry for G-R (of TARGETID 202 FLUX_R is nan)\n", said)
        self.assertNotIn("left out", self.done().stderr)
        self.out.unlink()
        every = self.put("every.fits", frame_bytes("b", 11, red=dict.fromkeys(STARS, nan)))
        self.assert_refused(40, ["every.fits", "none of 3 has photometry", "of the first one FLUX_R is nan"], frames=[every])
        either = self.put("either.fits", frame_bytes("b", 11, red=dict.fromkeys(STARS, nan), gaia=(16.2, 16.5, 15.7)))
        self.assert_refused(10, ["gaiadr2-BP.ecsv", "passband for GAIA-BP-RP"], frames=[either, *self.frames[1:]], warnings=1)
        said = self.run_program(*self.command(frames=[either, *self.frames[1:]])).stderr
        self.assertIn("either.fits: FIBERMAP: no standard star has FLUX_G, FLUX_R and FLUX_Z (of TARGETID 201 FLUX_R is nan): by GAIA-BP-RP\n", said)

    def test_any_number_of_threads_writes_the_same_bytes(self):
        self.done("-q", "--threads", 1)
        first = self.out.read_bytes()
        self.done("-q", "--threads", 3)
        self.assertEqual(first, self.out.read_bytes())

    def test_a_passband_is_an_input_and_a_new_folder_is_made(self):
        self.out = self.folder / "new" / "stdstars.fits"
        self.done("-q")
        filters = self.folder / "filters"
        filters.mkdir()
        write_passbands(filters)
        self.out, before = filters / "decam2014-g.ecsv", (filters / "decam2014-g.ecsv").read_bytes()
        result = self.run_program(*self.command("-q", filters=filters))
        self.assertEqual((result.returncode, self.out.read_bytes() == before), (2, True), result.stderr)

    def test_what_cannot_be_done_is_one_line_with_a_code(self):
        frame, rest = self.frames[0], self.frames[1:]
        dark = self.put("dark.fits", frame_bytes("b", 11, photometry=False))
        other = self.put("other.fits", frame_bytes("r", 11, spectrograph=1))
        plain = frame.read_bytes()
        nobody = self.put("nobody.fits", plain.replace(b"DESI_TARGET", b"DESI_TARGXX"))
        nameless = self.put("nameless.fits", plain.replace(b"CAMERA  = 'b0", b"CAMERA  = 'x0"))
        short = self.put("short.fits", grid_bytes(first=300))
        for code, words, more, files in (
                (40, ["dark.fits", "none of 3 has photometry for G"], ("--color", "G-R"), {"frames": [dark]}),
                (40, ["photometry for GAIA-BP-RP"], ("--color", "GAIA-BP-RP"), {}),
                (13, ["other.fits", "expected the spectrograph"], (), {"frames": [frame, other]}),
                (2, ["a second frame of camera b0 in exposure 11"], (), {"frames": [frame, *rest, frame]}),
                (12, ["nobody.fits", "DESI_TARGET"], (), {"frames": [nobody]}),
                (12, ["nameless.fits", "CAMERA is 'x0'"], (), {"frames": [nameless]}),
                (13, ["short.fits", "expected to reach"], (), {"grid": short}),
                (10, ["decam2014-g.ecsv"], (), {"filters": self.folder}),
                (10, ["no-grid.fits"], (), {"grid": self.folder / "no-grid.fits"}),
                (13, ["frame-b0-11.fits", "IVAR"], (), {"grid": frame}),
                (40, ["none of 3 is left", "3 without a model"], ("--delta-color", 1e-9), {})):
            with self.subTest(words=words):
                self.assert_refused(code, words, *more, **files)


if __name__ == "__main__":
    unittest.main()
