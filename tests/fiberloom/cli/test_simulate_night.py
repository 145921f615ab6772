# SPDX-License-Identifier: BSD-3-Clause
"""`simulate --night`: lamps, an arc and fields, with their truth, without any file from outside."""
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

import tiny_fits as fits
from run_fiberloom import PROGRAM
from small_spectra import read_table

NIGHT = "20200101"


class SimulateNight(unittest.TestCase):
    def setUp(self):
        self.out = pathlib.Path(tempfile.mkdtemp(prefix="fiberloom-out-"))
        self.addCleanup(shutil.rmtree, self.out)

    def simulate(self, folder, *options):
        env = {k: v for k, v in os.environ.items() if k != "RR_TEMPLATE_DIR"}
        return subprocess.run([PROGRAM, "simulate", "-o", str(self.out / folder), "--night", *options], capture_output=True, text=True,
                              env=env, check=False)

    def night(self, folder, *options):
        done = self.simulate(folder, "--cameras", "r0", "--nspec", "8", "--quiet", *options)
        self.assertEqual(done.returncode, 0, done.stderr)
        return {str(p.relative_to(self.out / folder)): p for p in sorted((self.out / folder).rglob("*")) if p.is_file()}

    def test_has_lamps_an_arc_and_the_exposures_of_each_tile(self):
        files = self.night("a", "--lamps", "2", "--arc", "--tiles", "2", "--exposures", "1")
        seen = []
        for expid in range(1, 6):
            cards = fits.by_name(files[f"{NIGHT}/{expid:08d}/preproc-r0-{expid:08d}.fits"])["IMAGE"].cards
            seen.append((cards["OBSTYPE"].strip(), cards["PROGRAM"].strip(), cards.get("TILEID")))
        self.assertEqual(seen, [("FLAT", "CALIB DESI-CALIB-00 LEDs only", None), ("FLAT", "CALIB DESI-CALIB-01 LEDs only", None),
                                ("ARC", "CALIB arc lamps", None), ("SCIENCE", "dark", 1000), ("SCIENCE", "dark", 1001)])
        self.assertTrue({f"{NIGHT}/psf-r0.fits", "starmodels.fits", "filters/decam2014-g.ecsv", "truth/throughput-r0.fits",
                         "truth/targets-0-1000.fits", "truth/targets-0-1001.fits", "truth/truth-r0-00000005.fits"} <= set(files))
        truth = read_table(files["truth/targets-0-1000.fits"], "TRUTH")
        fibermap = read_table(files[f"{NIGHT}/00000004/preproc-r0-00000004.fits"], "FIBERMAP")
        self.assertEqual(fibermap["TARGETID"], truth["TARGETID"])
        self.assertEqual([kind == "SKY" for kind in fibermap["OBJTYPE"]], [kind == "SKY" for kind in truth["SPECTYPE"]])
        self.assertEqual([bits >> 33 & 1 for bits in fibermap["DESI_TARGET"]], [teff > 0 for teff in truth["TEFF"]])
        for target, flux in zip(fibermap["OBJTYPE"], fibermap["FLUX_R"]):
            self.assertEqual(flux > 1, target != "SKY")
        other = read_table(files["truth/targets-0-1001.fits"], "TRUTH")
        self.assertEqual(set(truth["TARGETID"]) & set(other["TARGETID"]), set())

    def test_same_seed_same_bytes_for_any_threads(self):
        small = ("--lamps", "1", "--exposures", "1")
        one, three = self.night("a", *small, "--threads", "1"), self.night("b", *small, "--threads", "3")
        other = self.night("c", *small, "--seed", "2")
        self.assertEqual(list(one), list(three))
        for name, path in one.items():
            self.assertEqual(path.read_bytes(), three[name].read_bytes(), name)
            if "preproc" in name or "targets" in name:
                self.assertNotEqual(path.read_bytes(), other[name].read_bytes(), name)

    def test_defects_break_fibres_that_the_fibermap_names(self):
        files = self.night("a", "--lamps", "1", "--exposures", "1", "--nspec", "20", "--defects")
        fibermap = read_table(files[f"{NIGHT}/00000002/preproc-r0-00000002.fits"], "FIBERMAP")
        self.assertEqual([f for f, status in enumerate(fibermap["FIBERSTATUS"]) if status], [17])
        truth = fits.by_name(files["truth/truth-r0-00000002.fits"])["FLUX"]
        n = truth.cards["NAXIS1"]
        self.assertEqual(sum(truth.values()[17 * n:18 * n]), 0)

    def test_faults_are_one_line_with_a_code(self):
        for options, code, text in ((["--nspec", "501"], 2, "a spectrograph has 1 to 500 fibres"),
                                    (["--lamps", "0", "--tiles", "0"], 2, "a night without any exposure"),
                                    (["--cameras", "r0,r0"], 2, "camera r0 twice"), (["--cameras", "x0"], 2, "camera 'x0'"),
                                    (["--targets", "5"], 2, "without --targets and --psf"),
                                    (["-t", "/nowhere/rrtemplate.fits"], 10, "/nowhere/rrtemplate.fits")):
            with self.subTest(options):
                done = self.simulate("new", "-q", *options)
                self.assertEqual(done.returncode, code, done.stderr)
                self.assertEqual(len(done.stderr.strip().splitlines()), 1, done.stderr)
                self.assertIn(text, done.stderr)
                self.assertFalse((self.out / "new").exists())


if __name__ == "__main__":
    unittest.main()
