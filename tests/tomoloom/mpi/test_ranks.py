# SPDX-License-Identifier: BSD-3-Clause
"""Scans under a real launcher: blocks of one scan over ranks, many scans over ranks, the same bytes as one process; a rank
that fails, or is killed, ends the job with its line."""
import json
import os
import pathlib
import signal
import sys
import time

from program_case import PROGRAM, InputCase

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "ranks"))
import launch  # noqa: E402


class Ranks(InputCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.scan = cls.inputs / "in/scan.h5"
        cls.scan.parent.mkdir()
        cls.make("simulate", "-o", cls.scan, "--columns", 64, "--rows", 150, "--angles", 40, "--rings", 0.01)
        cls.make("simulate", "-o", cls.scan.parent / "b.h5", "--columns", 48, "--rows", 8, "--angles", 30)

    def on_ranks(self, ranks, *arguments):
        return launch.start(self, ranks, [PROGRAM, *arguments], self.out)

    def run_ranks(self, ranks, *arguments, code=0):
        process = self.on_ranks(ranks, *arguments)
        output, errors = process.communicate(timeout=60)
        self.assertEqual(process.returncode, code, output + errors)
        return errors

    def pid_of(self, rank):
        return launch.pids(PROGRAM, self.out).get(rank)

    def test_any_number_of_ranks_writes_the_bytes_of_one_process(self):
        volume, words = self.out / "v.h5", ("--stripe", "sf", "--center", "auto", "--threads", 1)
        self.ok("recon", self.scan, "-o", volume, *words)
        alone = volume.read_bytes()
        for ranks in (1, 2, 3, 7):
            volume.unlink()
            said = self.run_ranks(ranks, "recon", self.scan, "-o", volume, "--json", self.out / "s.json", *words)
            self.assertEqual(volume.read_bytes(), alone, ranks)
            summary = json.loads((self.out / "s.json").read_text())
            self.assertEqual((summary["ranks"], summary["threads"]), (ranks, ranks))
            self.keeps_to("estimate_bytes", summary["memory"])  # of rank 0, MPI included
            self.assertEqual("made by up to 2 ranks together" in said, ranks == 7, said)
        folder = self.out / "slices"
        self.run_ranks(2, "recon", self.scan, "-o", folder, "--format", "tiff", "--rows", "3:80", "--threads", 1)
        self.assertEqual(len(list(folder.iterdir())), 77)

    def test_more_ranks_than_slices_share_them(self):
        volume = self.out / "v.h5"
        for rows, method, counts in ((1, "exact", (2, 6)), (3, "gridrec", (4,)), (3, "exact", (5,))):
            words = ("--rows", f"40:{40 + rows}", "--method", method, "--stripe", "sf", "--threads", 1)
            self.ok("recon", self.scan, "-o", volume, *words)
            alone = volume.read_bytes()
            for ranks in counts:
                volume.unlink()
                said = self.run_ranks(ranks, "recon", self.scan, "-o", volume, "--json", self.out / "s.json", *words)
                self.assertEqual(volume.read_bytes(), alone, (rows, method, ranks))
                self.assertIn(f"made by up to {ranks} ranks together", said)
                summary = json.loads((self.out / "s.json").read_text())
                self.keeps_to("estimate_bytes", summary["memory"])
        said = self.run_ranks(3, "recon", self.scan, "-o", volume, "--rows", "40:41", "--method", "cgls", "--iterations", 2)
        self.assertIn("2 of 3 ranks have nothing to do", said)

    def test_a_tilted_axis_has_its_rows_on_every_rank(self):
        scan, volume = self.out / "tilted.h5", self.out / "v.h5"
        self.ok("simulate", "-o", scan, "--columns", 64, "--rows", 100, "--angles", 60, "--arc", 360, "--tilt", 6)
        for words in (("exact",), ("cgls", "--iterations", 4), ("tv", "--iterations", 4, "--reg-par", 0.001)):
            command = ("recon", scan, "-o", volume, "--tilt", 6, "--threads", 1, "--center", 31, "--method", *words)
            self.ok(*command)
            alone = volume.read_bytes()
            for ranks in (2, 3, 5):
                volume.unlink()
                self.run_ranks(ranks, *command)
                self.assertEqual(volume.read_bytes(), alone, (words, ranks))

    def test_scans_are_shared_out_among_ranks(self):
        alone, volumes = self.out / "alone", self.out / "volumes"
        self.ok("recon", self.scan.parent, "-o", alone)
        said = self.run_ranks(2, "recon", self.scan.parent, "-o", volumes, "--threads", 1)
        self.assertIn("2 scans: 2 done", said)
        for name in ("scan_rec.h5", "b_rec.h5"):
            self.assertEqual((volumes / name).read_bytes(), (alone / name).read_bytes())
        said = self.run_ranks(2, "recon", self.scan.parent, "-o", volumes)
        self.assertIn("2 up to date", said)

    def test_what_is_wrong_is_one_line_and_its_code(self):
        for words, code, part in (((self.out / "absent.h5",), 10, "absent.h5"), ((self.scan, "--rows", "3:900"), 22, "rows 0 to 150"),
                                  ((self.scan, "--memory", "100K"), 61, "--memory")):
            errors = self.run_ranks(2, "recon", *words, "-o", self.out / "v.h5", code=code)
            self.assertEqual(len([line for line in errors.splitlines() if "tomoloom: error:" in line]), 1, errors)
            self.assertIn(part, errors)
        self.assertEqual(list(self.out.iterdir()), [])

    def busy(self, silence=20):
        big = self.inputs / "big.h5"
        if not big.exists():
            self.make("simulate", "-o", big, "--columns", 128, "--rows", 128, "--angles", 60, "--photons", 0)
        process = self.on_ranks(2, "recon", big, "-o", self.out / "v.h5", "--method", "cgls", "--iterations", 100000, "--threads", 1,
                                "--rank-silence", silence)
        deadline = time.monotonic() + 30
        while self.pid_of(1) is None or not list(self.out.iterdir()):  # rank 0 has begun the volume
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.01)
        return process

    def test_a_rank_that_is_killed_ends_the_job(self):
        process = self.busy()
        os.kill(self.pid_of(1), signal.SIGKILL)
        process.communicate(timeout=30)
        self.assertNotEqual(process.returncode, 0)
        self.assertFalse((self.out / "v.h5").exists())

    def test_a_rank_that_hangs_is_taken_for_dead(self):
        process = self.busy(silence=2)
        victim = self.pid_of(1)
        os.kill(victim, signal.SIGSTOP)
        try:
            errors = process.communicate(timeout=40)[1]
        finally:
            try:
                os.kill(victim, signal.SIGKILL)
            except ProcessLookupError:
                pass
        self.assertNotEqual(process.returncode, 0)
        self.assertIn("nothing heard of rank 1", errors)
        self.assertEqual(list(self.out.iterdir()), [])

    def test_sigterm_ends_it_with_nothing_left(self):
        process = self.busy()
        os.kill(self.pid_of(1), signal.SIGTERM)
        errors = process.communicate(timeout=30)[1]
        self.assertEqual(process.returncode, 50, errors)
        self.assertIn("rank 1: interrupted", errors)
        self.assertEqual(list(self.out.iterdir()), [])


if __name__ == "__main__":
    launch.main(PROGRAM)
