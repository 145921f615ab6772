# SPDX-License-Identifier: BSD-3-Clause
"""Frames, flats, skies and flux calibrations with something in them that is no number, or not theirs: what is made of
them has numbers alone, and says what was left out."""
import math
import pathlib
import shutil
import struct
import subprocess
import tempfile
import unittest

import small_calibration
import small_spectra
import tiny_fits as fits
from run_fiberloom import PROGRAM
from small_calibration import BINS, FIBERS, FLAT, HALF, WAVE, frame_bytes, lamp_light, sky_light

DIAGONALS = 2 * HALF + 1


def flat_bytes(head=(), wave=None, values=None, wave_type=-64):
    values = values or [v for v in FLAT for _ in range(BINS)]
    return (fits.image("FIBERFLAT", -32, (FIBERS, BINS), values, list(head), first=True)
            + fits.image("IVAR", -32, (FIBERS, BINS), [1e6] * (FIBERS * BINS))
            + fits.image("MASK", 32, (FIBERS, BINS), [0] * (FIBERS * BINS)) + fits.image("MEANSPEC", -32, (BINS,), [1.0] * BINS)
            + fits.image("WAVELENGTH", wave_type, (BINS,), wave or WAVE))


def flux_bytes(calib=None, ivar=None, to_psf=None, sharp=None):
    """A flux calibration of 20 electrons; `calib` ...: place -> another value."""
    def put(values, odd):
        for at, value in (odd or {}).items():
            values[at] = value
        return values
    points = put([1.0] * FIBERS, to_psf)
    return (fits.image("FLUXCALIB", -64, (FIBERS, BINS), put([20.0] * (FIBERS * BINS), calib), first=True)
            + fits.image("IVAR", -32, (FIBERS, BINS), put([1e4] * (FIBERS * BINS), ivar))
            + fits.image("MASK", 32, (FIBERS, BINS), [0] * (FIBERS * BINS)) + fits.image("WAVELENGTH", -64, (BINS,), WAVE)
            + fits.table("FIBERCORR", [("FLAT_TO_PSF_FLUX", "D", "d", None)], [(p,) for p in points])
            + fits.image("DECONVOLVED_CALIB", -64, (BINS,), put([20.0] * BINS, sharp)))


def with_broken_r(data, fibers):
    """The frame `data` with NaN throughout R of these fibres."""
    at = data.index(b"EXTNAME = 'RESOLUTION'")
    at = (data.index(b"END" + b" " * 77, at) // 2880 + 1) * 2880
    size = 4 * DIAGONALS * BINS
    for f in fibers:
        data = data[:at + f * size] + struct.pack(">f", math.nan) * (size // 4) + data[at + (f + 1) * size:]
    return data


class Odd(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="fiberloom-odd-"))
        self.addCleanup(shutil.rmtree, self.folder)
        self.out = self.folder / "out.fits"

    def put(self, name, data):
        path = self.folder / name
        path.write_bytes(data)
        return path

    def run_program(self, *arguments, code=0):
        result = subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, text=True, timeout=100, check=False)
        self.assertEqual(result.returncode, code, result.stderr)
        return result.stderr.replace(f"{self.folder}/", "")

    def science(self, name="frame.fits", **more):
        return self.put(name, frame_bytes(sky_light(), "science", 2, **more))

    def assert_numbers(self, path):
        for name, hdu in fits.by_name(path).items():
            if name in ("FLUX", "IVAR", "RESOLUTION") or name.startswith("R_"):
                self.assertTrue(all(map(math.isfinite, hdu.values())), name)

    def test_a_flux_calibration_that_is_no_number_leaves_no_weight(self):
        frame = self.science()
        for name, odd, fiber in (("calib.fits", {"calib": {5 * BINS + 40: math.inf}}, 5), ("error.fits", {"ivar": {5 * BINS + 40: math.inf}}, 5),
                                 ("huge.fits", {"calib": {5 * BINS + 40: 1e30}}, 5), ("sharp.fits", {"sharp": {40: math.nan}}, 5)):
            self.run_program("calibrate", "-i", frame, "--fluxcalib", self.put(name, flux_bytes(**odd)), "-o", self.out)
            self.assert_numbers(self.out)
            ivar = fits.by_name(self.out)["IVAR"].values()
            self.assertEqual((ivar[fiber * BINS + 40], ivar[fiber * BINS + 60] > 0), (0, True), name)

    def test_a_fibre_whose_share_of_a_points_light_is_unknown_has_no_weight(self):
        """Its R would be 0 where the flux is not."""
        for value in (math.nan, 0.0, -1.0):
            self.run_program("calibrate", "-i", self.science(), "--fluxcalib", self.put("c.fits", flux_bytes(to_psf={3: value})), "-o", self.out)
            ivar = fits.by_name(self.out)["IVAR"].values()
            self.assertEqual([any(ivar[f * BINS:(f + 1) * BINS]) for f in (2, 3, 4)], [True, False, True])
            self.assert_numbers(self.out)

    def test_a_resolution_that_is_no_number_leaves_no_weight(self):
        lamp = self.put("lamp.fits", with_broken_r(frame_bytes(lamp_light(), "flat", 1), [3]))
        said = self.run_program("fiberflat", "-i", lamp, "-o", self.out)
        self.assertIn(f"lamp.fits: FLUX, IVAR or RESOLUTION of {BINS} of {FIBERS * BINS} bins is no number", said)
        ivar = fits.by_name(self.out)["IVAR"].values()
        self.assertEqual([any(ivar[f * BINS:(f + 1) * BINS]) for f in (2, 3, 4)], [True, False, True])

    def test_a_coadd_takes_what_has_numbers(self):
        """An exposure whose R is none, with weight and without, hides no other."""
        good = self.put("good.fits", frame_bytes(sky_light(), "science", 2))
        dark = [0.0 if k // BINS == 3 else v for k, v in enumerate(fits.by_name(good)["IVAR"].values())]
        for name, more in (("seen.fits", None), ("dark.fits", dark)):
            data = with_broken_r(frame_bytes(sky_light(), "science", 5, cards=[("EXPID", 12)]), [3])
            if more:
                old = fits.image("IVAR", -32, (FIBERS, BINS), fits.by_name(self.put("x.fits", data))["IVAR"].values())
                data = data.replace(old, fits.image("IVAR", -32, (FIBERS, BINS), more))
            said = self.run_program("coadd", "-i", good, self.put(name, data), "-o", self.out)
            self.assertEqual(f"{name}: FLUX, IVAR or RESOLUTION of {BINS} of" in said, name == "seen.fits", said)
            self.assert_numbers(self.out)
            coadd, one = fits.by_name(self.out), fits.by_name(good)
            row = slice(3 * BINS, 4 * BINS)
            for its in ("FLUX", "IVAR"):
                for a, b in zip(coadd["R_" + its].values()[row], one[its].values()[row]):
                    self.assertAlmostEqual(a, b, delta=1e-5 * abs(b))
            middle = (3 * DIAGONALS + HALF) * BINS + 50
            self.assertAlmostEqual(coadd["R_RESOLUTION"].values()[middle], one["RESOLUTION"].values()[middle], places=6)

    def test_a_coadd_has_a_name_for_each_camera(self):
        frame = self.put("nameless.fits", frame_bytes(sky_light(), "science", 2).replace(b"CAMERA  =", b"XAMERA  ="))
        self.assertIn("nameless.fits: FLUX: no CAMERA", self.run_program("coadd", "-i", frame, "-o", self.out, code=12))
        self.assertFalse(self.out.exists())

    def test_a_coadd_of_frames_has_the_tsnr2_of_their_cameras(self):
        paths = []
        for camera, first in (("r0", 6000), ("z0", 7000)):
            for expid in (11, 12):
                kind = camera[0].upper()
                columns = [(f"TSNR2_LRG_{kind}", "E", "f", None), ("TSNR2_LRG", "E", "f", None), (f"SUM_RAW_COUNT_{kind}", "E", "f", None)]
                scores = fits.table("SCORES", columns, [(first / 1000 + f, 1e9, 1.0) for f in range(FIBERS)])
                data = frame_bytes(sky_light(), "science", expid, cards=[("CAMERA", camera), ("EXPID", expid)],
                                   wave=[first + 0.8 * i for i in range(BINS)])
                paths.append(self.put(f"cframe-{camera}-{expid}.fits", data + scores))
        self.run_program("coadd", "-i", *paths, "-o", self.out)
        scores = small_spectra.read_table(self.out, "SCORES")
        self.assertEqual([list(scores[n])[2] for n in ("TSNR2_LRG_R", "TSNR2_LRG_Z", "TSNR2_LRG")], [16, 18, 34])

    def test_wavelengths_are_the_frames_to_single_precision(self):
        frame = self.science()
        single = [struct.unpack(">f", struct.pack(">f", w))[0] for w in WAVE]
        self.run_program("calibrate", "-i", frame, "--fiberflat", self.put("single.fits", flat_bytes(wave=single, wave_type=-32)), "-o", self.out)
        shifted = self.put("shifted.fits", flat_bytes(wave=[w + 0.04 for w in WAVE]))
        said = self.run_program("calibrate", "-i", frame, "--fiberflat", shifted, "-o", self.folder / "x.fits", code=13)
        self.assertIn("bin 0 lies at 6000.0400 Angstrom, expected that of the frame, 6000.0000", said)

    def test_a_flat_below_nothing_is_a_bad_one(self):
        values = [-1.0 if f == 3 else FLAT[f] for f in range(FIBERS) for _ in range(BINS)]
        self.run_program("calibrate", "-i", self.science(), "--fiberflat", self.put("flat.fits", flat_bytes(values=values)), "-o", self.out)
        hdus = fits.by_name(self.out)
        self.assertEqual([(hdus["IVAR"].values()[f * BINS + 9] > 0, hdus["MASK"].values()[f * BINS + 9]) for f in (3, 4)], [(False, 16), (True, 0)])

    def test_knots_are_not_closer_than_bins(self):
        lamp = self.put("lamp.fits", frame_bytes(lamp_light(), "flat", 1))
        for spacing in ("1e-9", "0.5"):
            said = self.run_program("fiberflat", "-i", lamp, "-o", self.out, "--smoothing-resolution", spacing, code=2)
            self.assertIn("expected at least a bin of lamp.fits, 0.8000 Angstrom", said)
        self.run_program("fiberflat", "-i", lamp, "-o", self.out, "--smoothing-resolution", "0.8", "-q")

    def test_options_of_a_lamp_are_none_of_an_average(self):
        flat = self.put("flat.fits", flat_bytes([("CAMERA", "r0"), ("FLAVOR", "flat"), ("EXPID", 11)])
                        + fits.table("FIBERMAP", [("FIBERSTATUS", "J", "i", None)], [(0,)] * FIBERS))
        said = self.run_program("fiberflat", "--flats", flat, "-o", self.out, "--nsig", "3", "--acc", "1")
        for name in ("--nsig", "--acc"):
            self.assertIn(f"{name} is ignored: --flats are made already", said)


if __name__ == "__main__":
    unittest.main()
