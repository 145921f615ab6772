# SPDX-License-Identifier: BSD-3-Clause
"""`simulate --targets`: spectra of known redshift without any file from outside."""
import math
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

import tiny_fits as fits
from run_fiberloom import PROGRAM
from small_spectra import archetype_bytes


class Simulates(unittest.TestCase):
    def setUp(self):
        self.out = pathlib.Path(tempfile.mkdtemp(prefix="fiberloom-out-"))
        self.addCleanup(shutil.rmtree, self.out)

    def simulate(self, folder, *options, **environment):
        env = {k: v for k, v in os.environ.items() if k != "RR_TEMPLATE_DIR"} | environment
        return subprocess.run([PROGRAM, "simulate", "-o", str(self.out / folder), "--targets", "6", *options],
                              capture_output=True, text=True, env=env, check=False)


class SimulateTargets(Simulates):
    def test_writes_a_coadd_and_its_truth_and_says_what_it_drew_from(self):
        done = self.simulate("a", "--mpi", "off")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("using the small built-in set physics-1", done.stderr)
        coadd = fits.by_name(self.out / "a/coadd-0000.fits")
        bands = [f"{band}_{kind}" for band in "BRZ"
                 for kind in ("WAVELENGTH", "FLUX", "IVAR", "MASK", "RESOLUTION")]
        self.assertEqual([n for n in coadd if n], ["FIBERMAP", "EXP_FIBERMAP", *bands, "SCORES"])
        self.assertEqual((coadd["R_RESOLUTION"].cards["NAXIS2"], coadd["R_RESOLUTION"].cards["NAXIS3"]), (11, 6))
        truth = fits.by_name(self.out / "a/truth-0000.fits")
        self.assertEqual(truth["TRUTH"].cards["NAXIS2"], 6)
        self.assertEqual(truth["TRUTH"].cards["TTYPE4"].strip(), "Z")

    def test_same_seed_same_bytes_for_any_threads(self):
        for folder, options in (("a", ["--threads", "1"]), ("b", ["--threads", "3"]), ("c", ["--seed", "2"])):
            self.assertEqual(self.simulate(folder, *options).returncode, 0)
        for name in ("coadd-0000.fits", "truth-0000.fits"):
            first = (self.out / "a" / name).read_bytes()
            self.assertEqual(first, (self.out / "b" / name).read_bytes())
            self.assertNotEqual(first, (self.out / "c" / name).read_bytes())

    def test_faults_are_one_line_with_a_code(self):
        for options, code, text in (
                (["--snr", "2"], 2, "--snr: found '2', expected 2 numbers"),
                (["--snr", "5,2"], 2, "lowest S/N"),
                (["--mix", "1,2,x,4"], 2, "--mix: found '1,2,x,4'"),
                (["-t", "/nowhere/rrtemplate.fits"], 10, "/nowhere/rrtemplate.fits"),
                (["--cameras", "b0"], 2, "--cameras is of cameras"),
                (["--exposures", "2"], 2, "--exposures is of cameras"),
                (["--targets", "0", "--mix", "1,0,0,0"], 2, "--mix is of --targets"),
                (["--targets", "0", "-t", "x"], 2, "--templates is of --targets and --night"),
                (["--targets", "0", "--gh00", "one"], 2, "--gh00 is how --psf is read"),
                (["--targets", "2000000000000"], 2, "--targets: expected a number from 0 to 1e+08"),
                (["--targets", "0", "--exposures", "2000000000"], 2, "--exposures: expected a number from 1 to 10000"),
                (["--targets", "0", "--night", "--exposures", "10000", "--tiles", "100"], 2, "more than 100000 exposures"),
                (["--lamps", "2"], 2, "--lamps is of --night"),
        ):
            done = self.simulate("a", "-q", *options)
            self.assertEqual(done.returncode, code, done.stderr)
            self.assertEqual(len(done.stderr.strip().splitlines()), 1, done.stderr)
            self.assertIn(text, done.stderr)


    def test_no_clobber_looks_for_all_files_before_it_begins(self):
        truth = self.out / "a" / "truth-0000.fits"
        truth.parent.mkdir()
        truth.write_bytes(b"mine")
        done = self.simulate("a", "-q", "--no-clobber")
        self.assertEqual(done.returncode, 32, done.stderr)
        self.assertEqual([p.name for p in truth.parent.iterdir()], [truth.name])
        self.assertEqual(truth.read_bytes(), b"mine")


class SimulateCamera(Simulates):
    def test_a_psf_of_another_kind_is_taken_and_copied(self):
        fibers, side, keys = 3, 15, [("WAVEMIN", 5500.0), ("WAVEMAX", 7900.0)]
        kind = [("PSFTYPE", "MONOSPOT"), ("NPIX_X", 60), ("NPIX_Y", 4200), ("NSPEC", fibers)]
        xs = [c for f in range(fibers) for c in (15.0 + 8 * f, 0.1)]
        spot = [math.exp(-((i - 7) ** 2 + (j - 7) ** 2) / 3.4) for j in range(side) for i in range(side)]
        psf = self.out / "mono.fits"
        psf.write_bytes(fits.image("XCOEFF", -64, (fibers, 2), xs, kind + keys, first=True)
                        + fits.image("YCOEFF", -64, (fibers, 2), [2100.0, 2050.0] * fibers, keys)
                        + fits.image("SPOT", -64, (side, side), spot, [("SCALE", 1)]))

        def run(*arguments):
            done = subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, text=True, check=False)
            self.assertEqual(done.returncode, 0, done.stderr)
            return done.stdout

        made = self.out / "made"
        run("simulate", "-q", "-o", made, "--psf", psf, "--truth-grid", "extraction")
        before, after = fits.by_name(psf), fits.by_name(made / "psf-r0.fits")
        for name in ("XCOEFF", "YCOEFF", "SPOT"):
            self.assertEqual(before[name].values(), after[name].values())
        run("extract", "-q", "-i", made / "preproc-r0-00000001.fits", "-p", made / "psf-r0.fits",
            "-w", "6000,6080,0.8", "-o", made / "frame.fits")
        run("compare", made / "frame.fits", made / "truth-r0-00000001.fits", "--max-mean", "0.3", "--max-width-error", "0.2")


class Templates(Simulates):
    """`templates info` and `make`."""

    def templates(self, *arguments):
        env = {k: v for k, v in os.environ.items() if k != "RR_TEMPLATE_DIR"}
        return subprocess.run([PROGRAM, "templates", *map(str, arguments)], capture_output=True, text=True, env=env,
                              check=False)

    def test_info_describes_the_built_in_set(self):
        done = self.templates("info")
        self.assertEqual(done.returncode, 0, done.stderr)
        lines = done.stdout.splitlines()
        self.assertEqual(len(lines), 6)
        self.assertIn("built-in set physics-1", lines[0])
        self.assertIn("GALAXY, 6 vectors, PCA, IGM Inoue14", lines[1])
        self.assertIn("80 training spectra", lines[1])

    def test_make_writes_a_template_that_info_reads(self):
        self.assertEqual(self.simulate("a", "-q", "--targets", "20", "--mix", "0,0,1,0", "--snr", "5,20").returncode, 0)
        made = self.out / "rrtemplate-star.fits"
        for method, vectors in (("PCA", 3), ("NMF", 2)):
            done = self.templates("make", self.out / "a/coadd-0000.fits", "--redshifts",
                                  self.out / "a/truth-0000.fits", "--type", "STAR", "--method", method,
                                  "--nbasis", vectors, "-o", made)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn(f"{vectors} vectors of 20 spectra", done.stdout)
            self.assertIn(f"STAR, {vectors} vectors, {method}", self.templates("info", made).stdout)
        for own in ("coadd", "truth"):
            inputs = [self.out / f"a/{name}-0000.fits" for name in ("coadd", "truth")]
            before = [path.read_bytes() for path in inputs]
            done = self.templates("make", inputs[0], "--redshifts", inputs[1], "--type", "STAR", "-o", self.out / f"a/{own}-0000.fits")
            self.assertEqual((done.returncode, len(done.stderr.splitlines())), (2, 1), done.stderr)
            self.assertEqual([path.read_bytes() for path in inputs], before)
        lines = self.templates("info", made, shutil.copy(made, self.out / "other.fits")).stdout.splitlines()
        self.assertEqual([line.split(":")[0] for line in lines], [made.name, "other.fits"])  # two that are no set

    def test_info_knows_archetypes(self):
        archetypes = self.out / "rrarchetype-galaxy.fits"
        archetypes.write_bytes(archetype_bytes())
        done = self.templates("info", archetypes)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("rrarchetype-galaxy.fits: archetypes of GALAXY, 2 spectra", done.stdout)

    def test_make_says_what_it_lacks(self):
        done = self.templates("make", "coadd.fits", "-o", self.out / "x.fits")
        self.assertEqual((done.returncode, len(done.stderr.splitlines())), (2, 1))
        self.assertIn("--redshifts", done.stderr)


if __name__ == "__main__":
    unittest.main()
