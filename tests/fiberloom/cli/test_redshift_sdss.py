# SPDX-License-Identifier: BSD-3-Clause
"""fiberloom redshift on SDSS's files: spPlate and spec in, redshifts of plate, MJD and fibre out; options of rrboss."""
import math
import random
import unittest

import tiny_fits
from small_spectra import FIRST, STEP, KNOTS, vectors
from small_spectra import read_table
from redshift_case import TRUTH, Case

PLATE, MJD, PIXEL, COUNT = 3586, 55181, 36032, 640  # from 4010 to 4647 Angstrom
IVAR, NOPLUG, BRIGHTSKY = 25.0, 1, 1 << 23
PRIMARY = [("SIMPLE", True), ("BITPIX", 8), ("NAXIS", 0), ("EXTEND", True)]


def id_of(fiber):
    return PLATE * 10 ** 9 + MJD * 10 ** 4 + fiber


def spectrum(kind, z, wdisp):
    """Means over pixels of SDSS's grid, blurred by `wdisp` pixels."""
    total = [sum(c * v for c, v in zip([2, 0.5, 1, 0.7], column)) for column in zip(*vectors(kind))]

    def at(w):
        x = (w / (1 + z) - FIRST) / STEP
        i = min(max(int(x), 0), KNOTS - 2)
        return total[i] + (x - i) * (total[i + 1] - total[i])
    half = math.ceil(4 * wdisp)
    sharp = [sum(at(10 ** ((k + (s + 0.5) / 6 - 0.5) * 1e-4)) for s in range(6)) / 6
             for k in range(PIXEL - half, PIXEL + COUNT + half)]
    kernel = [math.exp(-0.5 * (d / wdisp) ** 2) for d in range(-half, half + 1)]
    return [sum(w * sharp[j + k] for k, w in enumerate(kernel)) / sum(kernel) for j in range(COUNT)]


class Sdss(Case):
    WDISP = 1.3

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        noise = random.Random(3)
        cls.flux = [[v + noise.gauss(0, IVAR ** -0.5) for v in spectrum(kind, z, cls.WDISP)] for kind, z in TRUTH]
        cls.ids = [id_of(k + 1) for k in range(len(TRUTH))]
        cls.plate = cls.inputs / "spPlate-3586-55181.fits"
        cls.plate.write_bytes(cls.plate_bytes())
        cls.specs = []
        for k in range(len(TRUTH)):
            cls.specs.append(cls.inputs / f"spec-3586-55181-{k + 1:04d}.fits")
            cls.specs[-1].write_bytes(cls.spec_bytes(k))

    @classmethod
    def plate_bytes(cls, kinds=None, mask=(), cards=(("PLATEID", PLATE), ("MJD", MJD)), ivar=IVAR, planes=6):
        n, flat = len(TRUTH), [v for row in cls.flux for v in row]
        bits = [BRIGHTSKY if j in mask else 0 for _ in range(n) for j in range(COUNT)]
        kinds = kinds or ["GALAXY"] * n
        return b"".join([
            tiny_fits.image("", -32, (n, COUNT), flat, [("COEFF0", PIXEL * 1e-4), ("COEFF1", 1e-4), *cards], first=True),
            tiny_fits.image("IVAR", -32, (n, COUNT), [ivar] * (n * COUNT)),
            tiny_fits.image("ANDMASK", 32, (n, COUNT), bits), tiny_fits.image("ORMASK", 32, (n, COUNT), bits),
            tiny_fits.image("WAVEDISP", -32, (n, COUNT), [cls.WDISP] * (n * COUNT)),
            tiny_fits.table("PLUGMAP", [("OBJTYPE", "16A", "16s", None), ("RA", "D", "d", None), ("DEC", "D", "d", None),
                                        ("FIBERID", "J", "i", None)],
                            [(kind.encode().ljust(16), 150.0 + k, 1.5, k + 1) for k, kind in enumerate(kinds)])][:planes])

    @classmethod
    def spec_bytes(cls, k, cards=None):
        cards = [("PLATEID", PLATE), ("MJD", MJD), ("FIBERID", k + 1), ("PLUG_RA", 150.0 + k), ("PLUG_DEC", 1.5)] \
            if cards is None else cards
        columns = [("flux", "E", "f", None), ("loglam", "E", "f", None), ("ivar", "E", "f", None),
                   ("and_mask", "J", "i", None), ("or_mask", "J", "i", None), ("wdisp", "E", "f", None)]
        rows = [(v, (PIXEL + j) * 1e-4, IVAR, 0, 0, cls.WDISP) for j, v in enumerate(cls.flux[k])]
        return tiny_fits.header(PRIMARY + cards) + tiny_fits.table("COADD", columns, rows)

    def test_every_method_finds_the_truth_in_a_plate(self):
        for method in ("fast", "exact", "redrock"):
            table = self.redshifts("--method", method, inputs=self.plate)
            self.assertEqual(table["TARGETID"], self.ids)
            self.check_truth(table)
        fibermap = read_table(self.result, "FIBERMAP")
        self.assertEqual(fibermap["TARGET_RA"], [150.0 + k for k in range(len(TRUTH))])
        self.assertEqual(set(fibermap["PLATE"]), {PLATE})
        self.assertEqual(set(read_table(self.result, "EXP_FIBERMAP")["MJD"]), {MJD})
        self.assertEqual(self.warnings, "")

    def test_files_of_single_targets_say_the_same(self):
        plate, many = self.redshifts("--model", self.out / "m.fits", inputs=self.plate), None
        many = self.redshifts("--model", self.out / "m.fits", inputs=self.specs)
        self.assertEqual(many["TARGETID"], self.ids)
        for name in ("SPECTYPE", "ZWARN", "NPIXELS"):
            self.assertEqual(many[name], plate[name], name)
        for name, limit in (("Z", 2e-7), ("CHI2", 2.0)):  # wavelengths are float32 there, pixels at the ends have light
            for a, b in zip(many[name], plate[name]):
                self.assertAlmostEqual(a, b, delta=limit, msg=name)
        model = {h.name: h for h in tiny_fits.read(self.out / "m.fits")}
        self.assertEqual(model["BR_MODEL"].shape, (len(TRUTH), COUNT))

    def test_what_rrboss_is_called_with_is_taken(self):
        result = self.program("redshift", "--spplate", self.plate, "--zbest", self.result, "-t", self.templates, "--quiet",
                              "--targetids", f"{self.ids[1]},{self.ids[3]}", "--nminima", "2", "--mp", "2")
        self.assertEqual(result.returncode, 0, result.stderr)
        table = read_table(self.result, "REDSHIFTS")
        self.assertEqual(table["TARGETID"], [self.ids[1], self.ids[3]])
        self.check_truth(table, [TRUTH[1], TRUTH[3]])
        self.result.unlink()
        self.assert_fails(self.redshift("--use-frames", inputs=self.plate), 2, "spCFrame")
        self.assert_fails(self.program("redshift", "-i", self.plate, "-o", self.out / "rr.h5", "-t", self.templates), 2,
                          "--details")

    def test_bits_of_andmask_count_where_asked_for(self):
        masked = self.out / "spPlate-masked.fits"
        masked.write_bytes(self.plate_bytes(mask=range(100, 140)))
        plain = self.redshifts(inputs=masked)
        used = self.redshifts("--use-andmask", inputs=masked)
        lost = [a - b for a, b in zip(plain["NPIXELS"], used["NPIXELS"])]
        self.assertTrue(all(38 <= n <= 40 for n in lost), lost)  # a spike or two are lost anyway
        self.check_truth(used)

    def test_sky_fibres_are_said_to_be_and_dead_ones_have_no_data(self):
        kinds = ["GALAXY", "SKY", "QSO", "NA", "SPECTROPHOTO_STD"]
        sky = self.out / "spPlate-sky.fits"
        sky.write_bytes(self.plate_bytes(kinds=kinds))
        table = self.redshifts(inputs=sky)
        self.assertEqual(table["ZWARN"], [0, 1, 0, 0, 0])
        self.assertEqual(read_table(self.result, "FIBERMAP")["SDSS_OBJTYPE"], kinds)
        sky.write_bytes(self.plate_bytes(ivar=0.0))
        table = self.redshifts(inputs=sky)
        self.assertEqual(set(table["ZWARN"]), {2 | 512})

    def test_many_plates_below_a_folder_are_a_batch(self):
        folder = self.out / "reduced"
        (folder / "3586").mkdir(parents=True)
        (folder / "3586" / self.plate.name).write_bytes(self.plate.read_bytes())
        result = self.program("redshift", "-i", folder, "-o", str(self.out / "z") + "/", "-t", self.templates, "--quiet")
        self.assertEqual(result.returncode, 0, result.stderr)
        table = read_table(self.out / "z" / "3586" / "redrock-spPlate-3586-55181.fits", "REDSHIFTS")
        self.assertEqual(table["TARGETID"], self.ids)

    def test_faults_are_one_line(self):
        def fails(data, code, *words):
            path = self.inputs / "bad.fits"
            path.write_bytes(data)
            self.assert_fails(self.redshift(inputs=path), code, "bad.fits", *words)
        fails(self.plate_bytes(cards=[("MJD", MJD)]), 12, "PLATEID")
        fails(self.plate_bytes(cards=[("PLATEID", -4), ("MJD", MJD)]), 14, "PLATEID is -4")
        fails(self.plate_bytes(planes=5), 11, "PLUGMAP")
        fails(self.plate_bytes(planes=3), 11, "no HDU 4")
        fails(self.spec_bytes(0, cards=[("PLATEID", PLATE), ("MJD", MJD)]), 12, "FIBERID")


if __name__ == "__main__":
    unittest.main()
