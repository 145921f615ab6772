# SPDX-License-Identifier: BSD-3-Clause
"""Redshifts over ranks: files and groups of their targets shared out, the same bytes as one process."""
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

import mpi_case
from mpi_case import PROGRAM
from launch import CLEAN, launcher

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "cli"))
from small_spectra import Targets, template_bytes  # noqa: E402

TRUTH = [("GALAXY", 0.0312), ("STAR", 0.0004), ("GALAXY", 0.0701)]


class Redshifts(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.work = pathlib.Path(tempfile.mkdtemp(prefix="fiberloom-mpi-"))
        (cls.work / "rrtemplate-GALAXY-None-v1.0.fits").write_bytes(template_bytes("GALAXY"))
        (cls.work / "rrtemplate-STAR-A-v1.0.fits").write_bytes(template_bytes("STAR", "A"))
        cls.tree = cls.work / "in"
        cls.tree.mkdir()
        for name, count in (("one", 1), ("many", 50)):  # 150 targets: three groups
            (cls.tree / f"coadd-{name}.fits").write_bytes(Targets(TRUTH * count).coadd())
        cls.alone = cls.run_program([], "alone")

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.work)

    @classmethod
    def run_program(cls, before, name, *more):
        with tempfile.TemporaryDirectory(prefix="ompi-") as session:
            result = subprocess.run([*before, PROGRAM, "redshift", "-i", cls.tree, "-o", f"{cls.work / name}/", "-t", cls.work,
                                     "--threads", "1", *more], capture_output=True, text=True, timeout=200,
                                    env={**CLEAN, "OMPI_MCA_orte_tmpdir_base": session})
        if result.returncode != 0:
            raise AssertionError(result.stdout + result.stderr)
        return {p.name: p.read_bytes() for p in (cls.work / name).glob("*.fits")}

    def test_any_number_of_ranks_gives_the_same_bytes(self):
        self.assertEqual(sorted(self.alone), ["redrock-many.fits", "redrock-one.fits"])
        for ranks in (2, 3):
            found = self.run_program(launcher(ranks), f"ranks{ranks}", "--part-overhead", "0")
            self.assertEqual(found, self.alone)

    def test_cards_of_all_ranks_give_the_same_bytes(self):
        alone = self.run_program([], "card", "--backend", "emulate")
        found = self.run_program(launcher(2), "cards", "--part-overhead", "0", "--backend", "emulate")
        self.assertEqual(found, alone)

    def test_what_concerns_all_ranks_is_said_once(self):
        result = subprocess.run([*launcher(3), PROGRAM, "redshift", "-i", self.tree, "-o", f"{self.work / 'once'}/", "-t", self.work,
                                 "--threads", "1", "--debug", "--quiet"], capture_output=True, text=True, timeout=200, env=CLEAN)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(result.stderr.count("--debug is ignored"), 1, result.stderr)

    def test_one_file_wants_one_rank(self):
        result = subprocess.run([*launcher(2), PROGRAM, "redshift", "-i", self.tree / "coadd-one.fits", "-o",
                                 self.work / "x.fits", "-t", self.work], capture_output=True, text=True, timeout=100, env=CLEAN)
        self.assertNotEqual(result.returncode, 0)
        self.assertIn("ranks share files where -o is a folder", result.stderr)


if __name__ == "__main__":
    mpi_case.main()
