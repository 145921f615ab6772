# SPDX-License-Identifier: BSD-3-Clause
"""A night from frames to a catalogue over ranks: the tree shared out, the same bytes as one process."""
import contextlib
import json
import pathlib
import shutil
import sqlite3
import subprocess
import tempfile
import time
import unittest

import mpi_case
from mpi_case import PROGRAM
from launch import CLEAN, launcher

ENVIRONMENT = {k: v for k, v in CLEAN.items() if k != "RR_TEMPLATE_DIR"}


class Chain(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.work = pathlib.Path(tempfile.mkdtemp(prefix="fiberloom-mpi-"))
        cls.raw = cls.work / "raw"
        subprocess.run([PROGRAM, "simulate", "-q", "-o", cls.raw, "--night", "--cameras", "b0,r0", "--nspec", "24", "--exposures", "2"],
                       check=True, env=ENVIRONMENT, timeout=200)

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.work)

    def command(self, name):
        return [PROGRAM, "night", self.raw, "-o", self.work / name, "--until", "catalogue", "--starmodels", self.raw / "starmodels.fits",
                "--filters", self.raw / "filters", "--threads", "1"]

    def files(self, name):
        out = self.work / name
        return {str(p.relative_to(out)): p.read_bytes() for p in out.rglob("*.fits") if ".fiberloom" not in p.parts}

    def run_program(self, before, name, *more, code=0):
        with tempfile.TemporaryDirectory(prefix="ompi-") as session:
            result = subprocess.run([*before, *self.command(name), *more], capture_output=True, text=True, timeout=250, check=False,
                                    env={**ENVIRONMENT, "OMPI_MCA_orte_tmpdir_base": session})
        self.assertEqual(result.returncode, code, result.stdout + result.stderr)
        return self.files(name)

    def alone(self):
        """What one process makes of the night."""
        return self.files("alone") if (self.work / "alone").exists() else self.run_program([], "alone", "--mpi", "off")

    def assert_same(self, found, alone):
        self.assertEqual(sorted(found), sorted(alone))
        self.assertEqual([name for name, data in found.items() if data != alone[name]], [])

    def test_any_number_of_ranks_gives_the_same_bytes(self):
        alone = self.alone()
        self.assertIn("tiles/1000/20200101/redrock-0-1000-thru20200101.fits", alone)
        for ranks in (2, 3):
            name = f"ranks{ranks}"
            self.assert_same(self.run_program(launcher(ranks), name, "--part-overhead", "0", "--json", self.work / "ranks.json"), alone)
            loads = [t for t in json.loads((self.work / "ranks.json").read_text())["tasks"] if t["step"] == "catalogue"]
            self.assertEqual([(t["state"], t["rank"]) for t in loads], [("done", 0)] * 5, "one process writes the file")
            self.assertEqual(self.redshifts(name), self.redshifts("alone"))

    def redshifts(self, name):
        with contextlib.closing(sqlite3.connect(self.work / name / "catalogue.sqlite")) as db:
            rows = sorted(db.execute("SELECT targetid, z, zerr, chi2, zwarn FROM redshift"))
        self.assertEqual(len(rows), 24)
        return rows

    def test_a_watch_over_ranks_ends_with_the_bytes_of_the_whole_night(self):
        alone = self.alone()
        last = self.raw / "20200101/00000004"
        aside = self.work / "aside"
        last.rename(aside)
        redshifts = self.work / "watched/tiles/1000/20200101/redrock-0-1000-thru20200101.fits"
        with tempfile.TemporaryDirectory(prefix="ompi-") as session:
            process = subprocess.Popen([*launcher(2), *self.command("watched"), "--watch", "--poll", "0.1", "--settle", "0.3",
                                        "--watch-idle", "5", "--part-overhead", "0"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                       text=True, env={**ENVIRONMENT, "OMPI_MCA_orte_tmpdir_base": session})
            try:
                end = time.monotonic() + 120
                while not redshifts.exists() and process.poll() is None and time.monotonic() < end:
                    time.sleep(0.05)
            finally:
                aside.rename(last)
            provisional = redshifts.read_bytes()
            said, _ = process.communicate(timeout=200)
        self.assertEqual(process.returncode, 0, said)
        self.assertNotEqual(provisional, redshifts.read_bytes(), "made again with the second exposure")
        self.assert_same(self.files("watched"), alone)

    def test_what_fails_holds_back_what_needs_it_on_any_rank(self):
        image = self.raw / "20200101/00000004/preproc-r0-00000004.fits"
        good = image.read_bytes()
        self.addCleanup(image.write_bytes, good)
        image.write_bytes(good[:len(good) // 2])
        found = self.run_program(launcher(2), "failed", code=3)
        self.assertIn("tiles/1000/20200101/coadd-0-1000-thru20200101.fits", found)
        self.assertIn("20200101/00000003/cframe-r0-00000003.fits", found)
        self.assertNotIn("20200101/00000004/cframe-b0-00000004.fits", found)


if __name__ == "__main__":
    mpi_case.main()
