# SPDX-License-Identifier: BSD-3-Clause
"""`coadd` on two targets that three exposures show in two cameras."""
import json
import math
import os
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
from small_exposures import N, exposures, spectra_bytes

BAD_AMP_R = 1 << 23


class Coadd(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="fiberloom-coadd-"))
        self.addCleanup(shutil.rmtree, self.folder)
        self.out = self.folder / "coadd.fits"

    def put(self, name, data):
        path = self.folder / name
        path.write_bytes(data)
        return path

    def run_program(self, *arguments):
        return subprocess.run([PROGRAM, "coadd", *map(str, arguments)], capture_output=True, text=True, timeout=100,
                              env={**os.environ}, check=False)

    def coadd(self, data, *more):
        result = self.run_program("-i", self.put("spectra.fits", data), "-o", self.out, *more)
        self.assertEqual(result.returncode, 0, result.stderr)
        return fits.by_name(self.out)

    def assert_mean(self, hdus, targets, camera, target, bins, rows=None):
        rows = rows or [target + 2 * e for e in range(3)]
        flux, ivar = hdus[camera + "_FLUX"].values(), hdus[camera + "_IVAR"].values()
        for i in bins:
            w = sum(targets.ivar[camera][r][i] for r in rows)
            mean = sum(targets.ivar[camera][r][i] * targets.flux[camera][r][i] for r in rows) / w
            self.assertAlmostEqual(flux[target * N[camera] + i], mean, places=5)
            self.assertAlmostEqual(ivar[target * N[camera] + i] / w, 1, places=6)

    def test_exposures_become_their_weighted_mean(self):
        targets = exposures()
        hdus = self.coadd(spectra_bytes(targets, status={3: BAD_AMP_R}), "--nsig", 0, "--json", self.folder / "s.json")
        self.assertEqual([n for n in hdus if n.endswith("FLUX")], ["B_FLUX", "R_FLUX"])
        bins = (0, 17, 100, 239)
        self.assert_mean(hdus, targets, "B", 0, bins)
        self.assert_mean(hdus, targets, "B", 1, bins)
        self.assert_mean(hdus, targets, "R", 0, bins)
        self.assert_mean(hdus, targets, "R", 1, bins, rows=[1, 5])  # row 3's amplifier of R failed
        r = hdus["B_RESOLUTION"].values()  # all alike: the mean is as each
        self.assertAlmostEqual(r[3 * N["B"] + 50], small_spectra.weights()[3], places=6)
        table = small_spectra.read_table(self.out, "FIBERMAP")
        self.assertEqual(table["TARGETID"], targets.ids[:2])
        self.assertEqual(table["COADD_NUMEXP"], [3, 3])
        self.assertEqual(len(small_spectra.read_table(self.out, "EXP_FIBERMAP")["EXPID"]), 6)
        scores = small_spectra.read_table(self.out, "SCORES")
        self.assertEqual(list(scores), ["TARGETID", "INTEG_COADD_FLUX_B", "MEDIAN_COADD_FLUX_B", "MEDIAN_COADD_SNR_B"])
        self.assertEqual(scores["TARGETID"], targets.ids[:2])
        inside = hdus["B_FLUX"].values()[:N["B"]]  # all of it lies from 4000 to 5800; of R nothing from 5800 on
        middle = sorted(inside)[(len(inside) - 1) // 2:len(inside) // 2 + 1]
        self.assertAlmostEqual(scores["MEDIAN_COADD_FLUX_B"][0] / (sum(middle) / len(middle)), 1, delta=1e-5)
        told = json.loads((self.folder / "s.json").read_text())
        self.assertEqual(told["result"], {"spectra": 6, "targets": 2, "targets_without": 0, "cosmic_pixels": 0,
                                          "cameras": ["B", "R"]})

    def test_a_cosmic_ray_is_left_out(self):
        targets = exposures(spikes=[(2, 60, 40)])
        clean = exposures()
        hdus = self.coadd(spectra_bytes(targets))
        self.assertLess(abs(hdus["B_FLUX"].values()[60] - clean.flux["B"][0][60]), 2)
        hdus = self.coadd(spectra_bytes(targets), "--nsig", 0)
        self.assert_mean(hdus, targets, "B", 0, [60])

    def test_cameras_become_one_spectrum(self):
        targets = exposures()
        apart = self.coadd(spectra_bytes(targets))
        flux = apart["B_FLUX"].values()[:N["B"]] + apart["R_FLUX"].values()[:N["R"]]
        hdus = self.coadd(spectra_bytes(targets), "--coadd-cameras")
        self.assertEqual([n for n in hdus if n.endswith("FLUX")], ["BR_FLUX"])
        self.assertEqual(list(hdus["BR_FLUX"].values()[:N["B"] + N["R"]]), list(flux))

    def test_cameras_and_exposures_become_one_spectrum_on_another_grid(self):
        """And `redshift` finds what is in it."""
        targets, templates = exposures(), small_spectra.write_templates(self.folder / "templates")
        for step, grid in ((("--lin-step", 1.5, "--wave-min", 3998, "--wave-max", 4690), [3998 + 1.5 * i for i in range(462)]),
                           (("--log10-step", 1e-4), [10 ** (math.log10(4000) + 1e-4 * i) for i in range(700)])):
            hdus = self.coadd(spectra_bytes(targets), *step, "--threads", 1)
            self.assertEqual([n for n in hdus if n.startswith("BR_")], [f"BR_{n}" for n in ("WAVELENGTH", "FLUX", "IVAR", "MASK", "RESOLUTION")])
            self.assertEqual([n for n in hdus if n.endswith("FLUX")], ["BR_FLUX"])
            wave = hdus["BR_WAVELENGTH"].values()
            self.assertEqual(len(wave), len(grid))
            self.assertLess(max(abs(a - b) for a, b in zip(wave, grid)), 1e-6)
            flux, ivar, mask = (hdus[f"BR_{n}"].values() for n in ("FLUX", "IVAR", "MASK"))
            self.assertTrue(all(math.isfinite(v) for v in (*flux, *ivar)))
            self.assertEqual([v > 0 for v in ivar], [m == 0 for m in mask])
            between = [m for w, m in zip(wave, mask) if w < 3998.5 or 4244 < w < 4436]  # B ends at 4239, R begins at 4440
            self.assertEqual(set(between), {2})
            inside = [v for w, v in zip(wave, ivar) if 4000 < w < 4238 or 4441 < w < 4688]
            self.assertTrue(all(v > 0 for v in inside))
            middle = [k for k, w in enumerate(wave) if 4100 < w < 4200]  # 3 exposures of 25, 26, 27 a bin of 1 Angstrom
            mean = sum(ivar[k] for k in middle) / len(middle) / (wave[middle[1]] - wave[middle[0]])
            self.assertLess(abs(mean / 78 - 1), 0.1)
            table = small_spectra.read_table(self.out, "FIBERMAP")
            self.assertEqual((table["TARGETID"], table["COADD_NUMEXP"]), (targets.ids[:2], [3, 3]))
            self.assertEqual(len(small_spectra.read_table(self.out, "EXP_FIBERMAP")["EXPID"]), 6)
            scores = small_spectra.read_table(self.out, "SCORES")
            self.assertEqual(list(scores), ["TARGETID", "INTEG_COADD_FLUX_B", "MEDIAN_COADD_FLUX_B", "MEDIAN_COADD_SNR_B"])
            whole = self.out.read_bytes()
            self.coadd(spectra_bytes(targets), *step, "--threads", 3)
            self.assertEqual(self.out.read_bytes(), whole)
            redshifts = self.folder / "redrock.fits"
            result = subprocess.run([PROGRAM, "redshift", "-q", "-i", self.out, "-o", redshifts, "-t", templates],
                                    capture_output=True, text=True, timeout=100, check=False)
            self.assertEqual(result.returncode, 0, result.stderr)
            found = small_spectra.read_table(redshifts, "REDSHIFTS")
            self.assertEqual((found["SPECTYPE"], found["ZWARN"]), (["GALAXY", "STAR"], [0, 0]))
            for z, error, (_, true) in zip(found["Z"], found["ZERR"], targets.truth):
                self.assertLess(abs(z - true), 5 * error + 1e-6)

    def test_files_stand_for_one(self):
        targets = exposures()
        whole = self.coadd(spectra_bytes(targets), "--threads", 1)["B_FLUX"].values()
        parts = [self.put(f"part{e}.fits", spectra_bytes(targets, rows=range(2 * e, 2 * e + 2))) for e in range(3)]
        result = self.run_program("-i", *parts, "-o", self.out, "--threads", 3)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(fits.by_name(self.out)["B_FLUX"].values(), whole)

    def test_wavelengths_in_single_precision_are_the_same_and_others_are_told_bin_by_bin(self):
        targets = exposures()
        parts = [spectra_bytes(targets, rows=range(2 * e, 2 * e + 2)) for e in range(3)]
        grid = struct.pack(">240d", *(4000.0 + i for i in range(240)))
        for off, code in ((0.0005, 0), (0.01, 13)):
            other = parts[1].replace(grid, struct.pack(">240d", *(4000.0 + i + off for i in range(240))))
            self.assertNotEqual(other, parts[1])
            files = [self.put(f"part{e}.fits", data) for e, data in enumerate((parts[0], other, parts[2]))]
            result = self.run_program("-i", *files, "-o", self.out, "-q")
            self.assertEqual(result.returncode, code, result.stderr)
        self.assertIn("part1.fits: B_WAVELENGTH: bin 0 lies at 4000.0100 Angstrom, expected that of the first file, 4000.0000",
                      result.stderr)

    def test_coadds_are_coadded_as_what_they_are_made_of(self):
        targets = exposures()
        bad = 1 << 16
        first = self.put("first.fits", spectra_bytes(targets, rows=[0, 1, 2, 3]))
        last = self.put("last.fits", spectra_bytes(targets, rows=[4, 5], status={5: bad}))
        whole = self.coadd(spectra_bytes(targets, status={5: bad}), "--nsig", 0)
        expected = [small_spectra.read_table(self.out, name) for name in ("FIBERMAP", "EXP_FIBERMAP")]
        coadds = [self.folder / name for name in ("c1.fits", "c2.fits")]
        for spectra, coadd in zip((first, last), coadds):
            self.assertEqual(self.run_program("-q", "-i", spectra, "-o", coadd, "--nsig", 0).returncode, 0)
        for inputs in (coadds, [coadds[0], last]):
            result = self.run_program("-q", "-i", *inputs, "-o", self.out, "--nsig", 0)
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertEqual([small_spectra.read_table(self.out, name) for name in ("FIBERMAP", "EXP_FIBERMAP")], expected)
            self.assert_close(fits.by_name(self.out)["B_FLUX"].values(), whole["B_FLUX"].values())
            names = [fits.by_name(self.out)["FIBERMAP"].cards[f"TTYPE{i}"] for i in range(1, 9)]
            self.assertEqual(len(set(names)), 8, names)
        result = self.run_program("-q", "-i", coadds[0], "-o", self.out, "--coadd-cameras")
        self.assertEqual(result.returncode, 0, result.stderr)
        for name in ("FIBERMAP", "EXP_FIBERMAP"):
            self.assertEqual(small_spectra.read_table(self.out, name), small_spectra.read_table(coadds[0], name))
        result = self.run_program("-q", "-i", coadds[0], first, "-o", self.out)
        self.assertEqual(result.returncode, 2, result.stderr)
        self.assertIn("fibre 40 of exposure 11 is there twice", result.stderr)

    def test_fibermaps_of_other_types_lose_no_status(self):
        """A FIBERSTATUS of 64 bits beside one of 32, or beside none: what is bad stays bad."""
        targets = exposures()

        def part(name, rows, form=None, code=None, status=0):
            columns = [("TARGETID", "K", "q", None), ("EXPID", "J", "i", None), ("FIBER", "J", "i", None)]
            values = [(targets.ids[r], 11 + r // 2, 40 + r % 2) for r in rows]
            if form:
                columns, values = columns + [("FIBERSTATUS", form, code, None)], [v + (status,) for v in values]
            data = fits.header([("SIMPLE", True), ("BITPIX", 8), ("NAXIS", 0), ("EXTEND", True)]) + fits.table("FIBERMAP", columns, values)
            return self.put(name, data + targets.camera_hdus("B", rows=rows) + targets.camera_hdus("R", rows=rows))
        good, none = part("good.fits", range(2), "J", "i"), part("none.fits", range(2))
        bad = [part(f"bad{form}.fits", range(2, 4), form, code, BAD_AMP_R) for form, code in (("J", "i"), ("K", "q"))]
        for first, second in ((good, bad[0]), (good, bad[1]), (none, bad[0]), (bad[1], none)):
            result = self.run_program("-q", "-i", first, second, "-o", self.out, "--nsig", 0)
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assert_mean(fits.by_name(self.out), targets, "R", 0, [30], rows=[0])
            self.assert_mean(fits.by_name(self.out), targets, "B", 0, [30], rows=[0, 2])
            self.assertIn("COADD_FIBERSTATUS", small_spectra.read_table(self.out, "FIBERMAP"))

    def test_a_column_that_one_input_lacks_is_told_of(self):
        """OBJTYPE, say, without which nothing is a sky fibre."""
        targets = exposures()
        parts = [self.put(f"part{e}.fits", spectra_bytes(targets, rows=range(2 * e, 2 * e + 2))) for e in range(3)]
        parts[1].write_bytes(parts[1].read_bytes().replace(b"OBJTYPE", b"OBJKIND"))
        templates = small_spectra.write_templates(self.folder / "templates")
        for command, more in (("coadd", ()), ("redshift", ("-t", templates))):
            result = subprocess.run([PROGRAM, command, "-i", *parts, "-o", self.out, *more], capture_output=True, text=True, timeout=100, check=False)
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertIn(f"FIBERMAP: OBJTYPE, OBJKIND are left out: {parts[1]} has no OBJTYPE", result.stderr)
            self.assertNotIn("OBJTYPE", small_spectra.read_table(self.out, "FIBERMAP"))
            result = subprocess.run([PROGRAM, command, "-i", parts[0], parts[2], "-o", self.out, *more], capture_output=True, text=True, timeout=100, check=False)
            self.assertEqual((result.returncode, "FIBERMAP" in result.stderr), (0, False), result.stderr)

    def test_a_column_of_exposures_that_one_coadd_lacks_is_told_of(self):
        templates, coadds = small_spectra.write_templates(self.folder / "templates"), []
        for e in range(3):
            targets = exposures()
            targets.flux = {name: [[v + 1e-3 * e for v in row] for row in rows] for name, rows in targets.flux.items()}  # other light
            data = targets.coadd()
            coadds.append(self.put(f"coadd{e}.fits", data.replace(b"'EXPID", b"'EXPND") if e == 1 else data))
        for command, more in (("coadd", ()), ("redshift", ("-t", templates))):
            def run(*inputs):
                return subprocess.run([PROGRAM, command, "-i", *inputs, "-o", self.out, *more], capture_output=True, text=True, timeout=100, check=False)
            result = run(*coadds)
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertIn(f"EXP_FIBERMAP: EXPID, EXPND are left out: {coadds[1]} has no EXPID", result.stderr)
            self.assertNotIn("EXPID", small_spectra.read_table(self.out, "EXP_FIBERMAP"))
            result = run(coadds[0], coadds[2])
            self.assertEqual((result.returncode, "FIBERMAP" in result.stderr), (0, False), result.stderr)

    def test_what_is_made_of_two_groups_is_of_neither(self):
        """It would take the place of one of them in a catalogue."""
        targets, paths = exposures(), []
        for petal in (0, 1):
            data = spectra_bytes(targets, rows=range(2 * petal, 2 * petal + 2))
            head = fits.header([("SIMPLE", True), ("BITPIX", 8), ("NAXIS", 0), ("EXTEND", True), ("SURVEY", "main"),
                                ("SPGRP", "cumulative"), ("SPGRPVAL", 20260101), ("TILEID", 5), ("PETAL", petal)])
            paths.append(self.put(f"petal{petal}.fits", head + data[fits.BLOCK:]))
        result = self.run_program("-q", "-i", *paths, "-o", self.out)
        self.assertEqual(result.returncode, 0, result.stderr)
        redshifts, templates = self.folder / "rr.fits", small_spectra.write_templates(self.folder / "templates")
        result = subprocess.run([PROGRAM, "redshift", "-q", "-i", *paths, "-o", redshifts, "-t", templates], capture_output=True,
                                text=True, timeout=100, check=False)
        self.assertEqual(result.returncode, 0, result.stderr)
        for path in (self.out, redshifts):
            cards = fits.read(path)[0].cards
            self.assertEqual([cards.get(k) for k in ("SPGRP", "SPGRPVAL", "TILEID", "PETAL", "SURVEY")],
                             ["cumulative", 20260101, 5, None, "main"])

    def test_electrons_and_flux_do_not_go_together(self):
        units = {"e": "electron/Angstrom", "f": "10**-17 erg/(s cm2 Angstrom)"}
        frames = {}
        for name, camera, exposure, unit in (("e1", "r0", 11, "e"), ("f1", "r0", 12, "f"), ("f2", "z0", 11, "f"), ("e2", "z0", 11, "e")):
            path = self.frame(name + ".fits", camera, exposure, len(frames))
            path.write_bytes(path.read_bytes().replace(b"FLAVOR  = 'science '".ljust(80), fits.card("BUNIT", units[unit]), 1))
            frames[name] = path
        for a, b in (("e1", "f1"), ("e1", "f2")):
            result = self.run_program("-q", "-i", frames[a], frames[b], "-o", self.out)
            self.assertEqual(result.returncode, 13, result.stderr)
            self.assertIn(f"{b}.fits: FLUX: BUNIT is '10**-17", result.stderr)
            result = subprocess.run([PROGRAM, "redshift", "-q", "-i", frames[a], frames[b], "-o", self.out], capture_output=True,
                                    text=True, timeout=100, check=False)
            self.assertEqual(result.returncode, 13, result.stderr)
            self.assertIn(f"{b}.fits: FLUX: BUNIT is '10**-17", result.stderr)
        result = self.run_program("-i", frames["e1"], frames["e2"], "-o", self.out)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("e1.fits: FLUX: BUNIT is 'electron/Angstrom', expected a flux", result.stderr)

    def test_each_frame_says_what_is_wrong_with_its_camera(self):
        bad_amp_z, broken = 1 << 24, 1 << 2
        frames = [self.frame("r.fits", "r0", 11, 1), self.frame("z.fits", "z0", 11, 2, status={1: bad_amp_z, 3: broken})]
        for order in (frames, frames[::-1]):
            result = self.run_program("-q", "-i", *order, "-o", self.out)
            self.assertEqual(result.returncode, 0, result.stderr)
            hdus, bins = fits.by_name(self.out), small_calibration.BINS
            known = {c: [hdus[c + "_IVAR"].values()[f * bins + 50] > 0 for f in range(4)] for c in "RZ"}
            self.assertEqual(known, {"R": [True, True, True, False], "Z": [True, False, True, False]})
            self.assertEqual(small_spectra.read_table(self.out, "FIBERMAP")["COADD_FIBERSTATUS"][:4], [0, bad_amp_z, 0, broken])

    def frame(self, name, camera, expid, seed, status=None):
        first = {"r": 6000, "z": 7000}[camera[0]]
        data = small_calibration.frame_bytes(small_calibration.sky_light(), "science", seed, status=status,
                                             wave=[first + 0.8 * i for i in range(small_calibration.BINS)])
        return self.put(name, data.replace(b"= 'r0 ", b"= '" + camera.encode() + b" ").replace(
            b"EXPID   =                   11", b"EXPID   = %20d" % expid))

    def assert_close(self, found, expected):
        self.assertEqual(len(found), len(expected))
        self.assertLess(max(abs(x - y) / (1 + abs(y)) for x, y in zip(found, expected)), 1e-6)

    def test_frames_of_an_exposure_are_its_cameras_and_one_that_is_missing_adds_nothing(self):
        frames = [self.frame("a.fits", "r0", 11, 1), self.frame("b.fits", "z0", 11, 2), self.frame("c.fits", "r0", 12, 3)]
        result = self.run_program("-i", *frames, "-o", self.out, "--nsig", "0")
        self.assertEqual(result.returncode, 0, result.stderr)
        hdus, one = fits.by_name(self.out), fits.by_name(frames[1])
        self.assertEqual([n for n in hdus if n.endswith("FLUX")], ["R_FLUX", "Z_FLUX"])
        self.assert_close(hdus["Z_FLUX"].values(), one["FLUX"].values())
        self.assert_close(hdus["Z_IVAR"].values(), one["IVAR"].values())
        bins = small_calibration.BINS  # at the ends rows lie outside of the grid
        inside = [[v for k, v in enumerate(h.values()) if 5 <= k % bins < bins - 5] for h in (hdus["Z_RESOLUTION"], one["RESOLUTION"])]
        self.assert_close(*inside)
        a, c = fits.by_name(frames[0]), fits.by_name(frames[2])
        mean = [(w * f + v * g) / (w + v) for w, f, v, g in zip(*(h[name].values() for h in (a, c) for name in ("IVAR", "FLUX")))]
        self.assert_close(hdus["R_FLUX"].values(), mean)
        exposures = small_spectra.read_table(self.out, "EXP_FIBERMAP")
        self.assertEqual(sorted(set(exposures["EXPID"])), [11, 12])
        self.assertEqual(len(exposures["TARGETID"]), 2 * small_calibration.FIBERS)
        self.out.unlink()
        result = self.run_program("-q", "-i", *frames, self.frame("d.fits", "z0", 11, 4), "-o", self.out)
        self.assertEqual(result.returncode, 2, result.stderr)
        self.assertIn("d.fits: a second frame of camera Z of one exposure", result.stderr)
        self.assertFalse(self.out.exists())

    def test_a_number_that_several_fibres_of_an_exposure_have_is_told_of(self):
        targets = exposures()
        targets.ids = [-1, -1] * 3
        result = self.run_program("-i", self.put("same.fits", spectra_bytes(targets)), "-o", self.out)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("1 of 1 TARGETIDs are of several fibres of one exposure, as -1", result.stderr)

    def test_targets_in_a_pixel_of_the_sky_alone_become_a_group_of_it(self):
        """Six targets around (ra, dec) = (150, 2.2), each in a pixel of nside 64 that healpy names."""
        places = [(150.0, 2.2, 27258), (150.1, 2.25, 27258), (151.0, 2.2, 27257), (150.0, 2.2, 27258), (150.1, float("nan"), -1), (152.0, 3.0, 27260)]
        kinds = [b"TGT", b"TGT", b"TGT", b"SKY", b"TGT", b"TGT"]
        columns = [("TARGETID", "K", "q", None), ("TARGET_RA", "D", "d", None), ("TARGET_DEC", "D", "d", None), ("OBJTYPE", "3A", "3s", None)]
        paths = []
        for tile in (1, 2):
            rows = [(100 + k, ra, dec, kind) for k, ((ra, dec, _), kind) in enumerate(zip(places, kinds))]
            data = (fits.image("", 8, (), [], [("TILEID", tile), ("SPGRP", "cumulative")], first=True) + fits.table("FIBERMAP", columns, rows)
                    + fits.image("R_WAVELENGTH", -64, (4,), [6000.0, 6001, 6002, 6003])
                    + fits.image("R_FLUX", -32, (6, 4), [tile * (k + 1.0) for k in range(6) for _ in range(4)])
                    + fits.image("R_IVAR", -32, (6, 4), [1.0] * 24))
            paths.append(self.put(f"spectra-{tile}.fits", data))
        result = self.run_program("-i", *paths, "-o", self.out, "--healpix", "27258", "--nsig", "0", "-q")
        self.assertEqual(result.returncode, 0, result.stderr)
        hdus = fits.by_name(self.out)
        found = small_spectra.read_table(self.out, "FIBERMAP")
        self.assertEqual(list(found["TARGETID"]), [100, 101])
        self.assertEqual(list(hdus["R_FLUX"].values()[::4]), [1.5, 3.0])
        cards = fits.read(self.out)[0].cards
        self.assertEqual((cards["SPGRP"], cards["SPGRPVAL"], cards["HPXPIXEL"], cards["HPXNSIDE"], cards["HPXNEST"]), ("healpix", 27258, 27258, 64, True))
        self.assertNotIn("TILEID", cards)
        self.out.unlink()
        for words, text in ((["--healpix", "5"], "no target of the 2 files lies in these pixels"), (["--healpix", "49152"], "expected pixels from 0 to 49151"),
                            (["--healpix", "5", "--nside", "60"], "power of two")):
            result = self.run_program("-i", *paths, "-o", self.out, "-q", *words)
            self.assertEqual((result.returncode, len(result.stderr.strip().splitlines())), (2, 1), result.stderr)
            self.assertIn(text, result.stderr)
        self.assertFalse(self.out.exists())

    def test_the_folder_of_the_coadd_is_made(self):
        path = self.folder / "new" / "coadd.fits"
        result = self.run_program("-i", self.put("in.fits", spectra_bytes(exposures())), "-o", path, "-q")
        self.assertEqual((result.returncode, path.exists()), (0, True), result.stderr)

    def test_what_cannot_be_done_is_one_line_with_a_code(self):
        targets = exposures()
        good = self.put("good.fits", spectra_bytes(targets))
        nameless = self.put("nameless.fits", spectra_bytes(targets, ids=False))
        words = self.put("words.fits", spectra_bytes(targets).replace(b"TFORM1  = 'K ", b"TFORM1  = '8A"))
        blue = self.put("blue.fits", spectra_bytes(targets, cameras="B"))
        red = self.put("red.fits", spectra_bytes(targets, cameras="R"))
        copy, twin = self.put("copy.fits", spectra_bytes(targets)), self.folder / "twin.fits"
        twin.symlink_to(good)
        self.coadd(spectra_bytes(targets))
        new = ["-o", self.folder / "x.fits"]
        for code, words, command in ((12, ["nameless.fits", "TARGETID"], ["-i", nameless, *new]),
                                     (12, ["words.fits", "TARGETID"], ["-i", words, *new]),
                                     (13, ["blue.fits", "1 cameras"], ["-i", good, blue, *new]),
                                     (11, ["red.fits", "B_FLUX"], ["-i", blue, red, *new]),
                                     (2, ["good.fits", "same file"], ["-i", good, good, *new]),
                                     (2, ["twin.fits", "same file"], ["-i", good, twin, *new]),
                                     (2, ["same file"], ["-i", good, f"{good}.gz", *new]),  # which is read as good.fits
                                     (2, ["fibre 40 of exposure 11 is there twice"], ["-i", good, copy, *new]),
                                     (2, ["--nside", "--healpix"], ["-i", good, *new, "--nside", 32]),
                                     (10, ["none.fits"], ["-i", self.folder / "none.fits", *new]),
                                     (2, [], ["-i", good, "-o", good]),
                                     (2, ["--nsig"], ["-i", good, *new, "--nsig", -1]),
                                     (2, ["--lin-step"], ["-i", good, *new, "--lin-step", 0]),
                                     (2, ["--log10-step"], ["-i", good, *new, "--log10-step", "nan"]),
                                     (2, ["one of them"], ["-i", good, *new, "--lin-step", 1, "--log10-step", 1e-4]),
                                     (2, ["--coadd-cameras"], ["-i", good, *new, "--lin-step", 1, "--coadd-cameras"]),
                                     (2, ["--wave-min"], ["-i", good, *new, "--wave-min", 4100]),
                                     (2, ["range"], ["-i", good, *new, "--lin-step", 1, "--wave-min", 4200, "--wave-max", 4200]),
                                     (2, ["4000", "4699"], ["-i", good, *new, "--lin-step", 1, "--wave-min", 5000]),
                                     (2, ["4000", "4699"], ["-i", good, *new, "--log10-step", 1e-4, "--wave-max", 3000]),
                                     (2, ["bins"], ["-i", good, *new, "--lin-step", 5000]),
                                     (2, ["bins"], ["-i", good, *new, "--lin-step", 1e-9]),
                                     (2, ["wider"], ["-i", good, *new, "--lin-step", 0.01]),
                                     (32, ["--no-clobber"], ["-i", good, "-o", self.out, "--no-clobber"])):
            with self.subTest(" ".join(map(str, command))):
                result = self.run_program(*command, "-q")
                self.assertEqual(result.returncode, code, result.stderr)
                self.assertEqual(len(result.stderr.strip().splitlines()), 1, result.stderr)
                for word in words:
                    self.assertIn(word, result.stderr)
        self.assertFalse((self.folder / "x.fits").exists())


if __name__ == "__main__":
    unittest.main()
