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
BLUER = 400  # pixels that exposures have beside these: from 3657 Angstrom
IVAR, NOPLUG, BRIGHTSKY = 25.0, 1, 1 << 23
PRIMARY = [("SIMPLE", True), ("BITPIX", 8), ("NAXIS", 0), ("EXTEND", True)]


def id_of(fiber):
    return PLATE * 10 ** 9 + MJD * 10 ** 4 + fiber


def spectrum(kind, z, wdisp, off=0.0, bluer=0):
    """Means over pixels of SDSS's grid, or `off` of a pixel beside it, blurred by `wdisp` pixels."""
    total = [sum(c * v for c, v in zip([2, 0.5, 1, 0.7], column)) for column in zip(*vectors(kind))]

    def at(w):
        x = (w / (1 + z) - FIRST) / STEP
        i = min(max(int(x), 0), KNOTS - 2)
        return total[i] + (x - i) * (total[i + 1] - total[i])
    half = math.ceil(4 * wdisp)
    sharp = [sum(at(10 ** ((k + off + (s + 0.5) / 6 - 0.5) * 1e-4)) for s in range(6)) / 6
             for k in range(PIXEL - bluer - half, PIXEL + COUNT + half)]
    kernel = [math.exp(-0.5 * (d / wdisp) ** 2) for d in range(-half, half + 1)]
    return [sum(w * sharp[j + k] for k, w in enumerate(kernel)) / sum(kernel)
            for j in range(COUNT + bluer)]


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
        self.assert_fails(self.program("redshift", "-i", self.plate, "-o", self.out / "rr.h5", "-t", self.templates), 2,
                          "--details")

    @classmethod
    def frame_bytes(cls, camera, exposure, first_fiber=1, seed=1):
        n, count, noise = len(TRUTH), COUNT + BLUER, random.Random(seed)
        offs = [0.13 * k + 0.01 * (exposure % 10) for k in range(n)]
        flux = [v + noise.gauss(0, IVAR ** -0.5) for (kind, z), off in zip(TRUTH, offs)
                for v in spectrum(kind, z, cls.WDISP, off, BLUER)]
        loglam = [(PIXEL - BLUER + j + off) * 1e-4 for off in offs for j in range(count)]
        cards = [("PLATEID", PLATE), ("MJD", MJD + 1), ("CAMERAS", camera), ("EXPOSURE", exposure)]
        return b"".join([
            tiny_fits.image("", -32, (n, count), flux, cards, first=True),
            tiny_fits.image("IVAR", -32, (n, count), [IVAR] * (n * count)),
            tiny_fits.image("MASK", 32, (n, count), [0] * (n * count)),
            tiny_fits.image("LOGLAM", -64, (n, count), loglam),
            tiny_fits.image("WAVEDISP", -32, (n, count), [cls.WDISP] * (n * count)),
            tiny_fits.table("PLUGMAP", [("OBJTYPE", "16A", "16s", None), ("RA", "D", "d", None), ("DEC", "D", "d", None),
                                        ("FIBERID", "J", "i", None)],
                            [(b"GALAXY".ljust(16), 150.0 + k, 1.5, first_fiber + k) for k in range(n)])])

    @classmethod
    def plate_files(cls):
        """A spPlate, its two exposures of spectrograph 1 and one of spectrograph 2: {name: bytes}."""
        names = ["b1-00116539", "b1-00116540", "b2-00116539"]
        cards = [("PLATEID", PLATE), ("MJD", MJD), ("NEXP_B1", 2), ("NEXP_R1", 0), ("NEXP_B2", 1)]
        cards += [(f"EXPID{k + 1:02d}", f"{name}-00116543-00116544") for k, name in enumerate(names)]
        out = {"spPlate-3586-55181.fits": cls.plate_bytes(cards=tuple(cards))}
        for seed, name in enumerate(names):
            first = len(TRUTH) + 1 if name[1] == "2" else 1
            out[f"spCFrame-{name}.fits"] = cls.frame_bytes(name[:2], int(name[3:]), first, seed)
        return out

    @staticmethod
    def photo_bytes(things):
        return tiny_fits.header(PRIMARY) + tiny_fits.table("PHOTO", [("THING_ID", "J", "i", None)], [(v,) for v in things])

    def plate_with_frames(self):
        for name, data in self.plate_files().items():
            (self.out / name).write_bytes(data)
        return self.out / "spPlate-3586-55181.fits"

    def test_exposures_of_a_plate_are_fitted_together(self):
        plate, n = self.plate_with_frames(), len(TRUTH)
        table = self.redshifts("--use-frames", inputs=plate)
        self.assertEqual(table["TARGETID"], [id_of(k + 1) for k in range(2 * n)])  # of the plate's MJD
        self.check_truth({name: values[:n] for name, values in table.items()})
        self.check_truth({name: values[n:] for name, values in table.items()})
        for one, two in zip(table["NPIXELS"][n:], table["NPIXELS"][:n]):
            self.assertAlmostEqual(two, 2 * one, delta=10)
        for one, two in zip(table["ZERR"][n:], table["ZERR"][:n]):
            self.assertLess(two, 0.9 * one)
        exposures = read_table(self.result, "EXP_FIBERMAP")
        self.assertEqual(sorted(set(exposures["EXPID"])), [116539, 116540])
        self.assertEqual(len(exposures["TARGETID"]), 3 * n)
        again = self.redshifts("--use-frames", "--method", "redrock", inputs=plate)
        self.assertEqual(again["SPECTYPE"], table["SPECTYPE"])

    def test_a_frame_alone_is_spectra_too(self):
        frame = self.out / "spCFrame-b1-00000001.fits"
        frame.write_bytes(self.frame_bytes("b1", 1))
        table = self.redshifts(inputs=frame)
        self.assertEqual(table["TARGETID"], [PLATE * 10 ** 9 + (MJD + 1) * 10 ** 4 + k + 1 for k in range(len(TRUTH))])
        self.check_truth(table)
        model = self.redshift("--model", self.out / "m.fits", inputs=frame)
        self.assertEqual(model.returncode, 2)
        self.assertIn("wavelengths of its own", model.stderr)

    def test_folders_take_the_exposures_of_their_plates(self):
        self.plate_with_frames()
        done = self.program("redshift", "-i", self.out, "-o", str(self.out / "z") + "/", "-t", self.templates, "--quiet", "--use-frames")
        self.assertEqual(done.returncode, 0, done.stderr)
        table = read_table(self.out / "z" / "redrock-spPlate-3586-55181.fits", "REDSHIFTS")
        self.assertEqual(len(table["Z"]), 2 * len(TRUTH))

    def test_what_use_frames_cannot_do_is_said(self):
        self.assert_fails(self.redshift("--use-frames", inputs=self.plate), 12, "NEXP_B1")
        self.assert_fails(self.redshift("--use-frames", inputs=self.specs[0]), 2, "no spPlate")
        plate = self.plate_with_frames()
        (self.out / "spCFrame-b2-00116539.fits").unlink()
        lacks = self.redshift("--use-frames", inputs=plate)
        self.assertEqual(lacks.returncode, 10)
        self.assertIn("spCFrame-b2-00116539.fits", lacks.stderr)
        self.assertFalse(self.result.exists())

    def test_several_plates_know_targets_by_their_thing_id(self):
        things, plates = [[11, 12, 13, -1, 15], [15, 12, 21, -1, 11]], []
        for k, row in enumerate(things):
            plates.append(self.out / f"spPlate-{PLATE + k}-55181.fits")
            plates[-1].write_bytes(self.plate_bytes(cards=(("PLATEID", PLATE + k), ("MJD", MJD))))
            (self.out / f"photoPosPlate-{PLATE + k}-55181.fits").write_bytes(self.photo_bytes(row))
        far = id_of(4) + 10 ** 9
        again = self.redshift(inputs=[plates[0], self.put("copy.fits", plates[0].read_bytes())])
        self.assertEqual((again.returncode, "expected all light once" in again.stderr), (2, True), again.stderr)
        table = self.redshifts(inputs=plates)
        self.assertEqual(table["TARGETID"], [11, 12, 13, id_of(4), 15, 21, far])
        self.assertAlmostEqual(table["NPIXELS"][1], table["NPIXELS"][3], delta=10)  # both plates' pixels in one coadd
        self.assertLess(table["ZERR"][1], 0.8 * self.redshifts(inputs=plates[0])["ZERR"][1])
        self.assertEqual(len(self.redshifts("--no-thing-id", inputs=plates)["Z"]), 10)
        (self.out / f"photoPosPlate-{PLATE}-55181.fits").unlink()
        self.assertEqual(len(self.redshifts(inputs=plates)["Z"]), 10)

    def test_bits_of_andmask_count_where_asked_for(self):
        masked = self.out / "spPlate-masked.fits"
        masked.write_bytes(self.plate_bytes(mask=range(100, 140)))
        plain = self.redshifts(inputs=masked)
        used = self.redshifts("--use-andmask", inputs=masked)
        self.assertNotIn("--use-andmask is ignored", self.warnings)
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
