# SPDX-License-Identifier: BSD-3-Clause
"""Many scans into a folder of volumes, by the program: what is there is not made again, what is bad fails by itself."""
import json
import os
import shutil
import signal
import sqlite3
import subprocess
import time
import unittest

from program_case import PROGRAM, InputCase


class Scans(InputCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.tree = cls.inputs / "in"
        (cls.tree / "b").mkdir(parents=True)
        cls.names = ("one", "two", "b/three")
        for seed, name in enumerate(cls.names):
            cls.make("simulate", "-o", cls.tree / f"{name}.h5", "--columns", 48, "--rows", 40, "--angles", 40, "--seed", seed + 1)
        cls.alone = {}
        for name in cls.names:
            cls.make("recon", cls.tree / f"{name}.h5", "-o", cls.inputs / "alone.h5", "--stripe", "sf")
            cls.alone[f"{name}_rec.h5"] = (cls.inputs / "alone.h5").read_bytes()

    def setUp(self):
        super().setUp()
        self.volumes = self.out / "volumes"

    def recon(self, *inputs, code=0, more=()):
        done = self.program("recon", *inputs, "-o", self.volumes, "--stripe", "sf", "--json", self.out / "s.json", *more)
        self.assertEqual(done.returncode, code, done.stderr)
        self.said = done.stderr
        return json.loads((self.out / "s.json").read_text())["counts"]

    def made(self):
        return {str(p.relative_to(self.volumes)): p.read_bytes() for p in self.volumes.rglob("*_rec.h5")}

    def copy(self):
        tree = self.out / "in"
        shutil.copytree(self.tree, tree)
        return tree

    def test_a_folder_becomes_a_folder_and_is_done_once(self):
        counts = self.recon(self.tree)
        self.assertEqual(counts["done"], 3)
        self.assertEqual(self.made(), self.alone)
        self.assertEqual(self.recon(self.tree, more=("--threads", 1))["up_to_date"], 3)
        status = json.loads((self.volumes / "status.json").read_text())
        self.assertEqual([s["state"] for s in status["scans"]], ["up-to-date"] * 3)
        self.assertIn("three_rec", (self.volumes / "status.html").read_text())
        with sqlite3.connect(self.volumes / ".tomoloom/ledger.sqlite") as ledger:
            rows = ledger.execute("select name, slices, axis from volumes order by name").fetchall()
        self.assertEqual(rows, [("b-three_rec", 40, 23.5), ("one_rec", 40, 23.5), ("two_rec", 40, 23.5)])
        (self.volumes / ".tomoloom/ledger.sqlite").unlink()
        self.assertIn("3 volumes", self.ok("recon", self.tree, "-o", self.volumes, "--rebuild-ledger").stderr)

    def test_what_changed_is_made_again_and_nothing_else(self):
        tree = self.copy()
        self.recon(tree)
        os.utime(tree / "one.h5")
        self.assertEqual(self.recon(tree)["done"], 1)
        (self.volumes / "two_rec.h5").unlink()
        self.assertEqual(self.recon(tree)["done"], 1)
        shutil.copy(tree / "one.h5", tree / "two.h5")
        self.assertEqual(self.recon(tree)["done"], 1)
        self.assertEqual(self.recon(tree, more=("--mask", 0.5))["done"], 3)
        damaged = self.volumes / "one_rec.h5"
        data = bytearray(damaged.read_bytes())
        stamp = damaged.stat()
        data[len(data) // 2] ^= 1
        damaged.write_bytes(data)
        os.utime(damaged, ns=(stamp.st_atime_ns, stamp.st_mtime_ns))
        self.assertEqual(self.recon(tree, more=("--mask", 0.5, "--verify"))["done"], 1)

    def test_by_content_a_time_is_no_change(self):
        tree = self.copy()
        self.recon(tree, more=("--by-content",))
        os.utime(tree / "one.h5")
        self.assertEqual(self.recon(tree, more=("--by-content",))["up_to_date"], 3)

    def test_a_bad_scan_fails_with_a_line_and_the_others_are_made(self):
        tree = self.copy()
        bad = tree / "two.h5"
        good = bad.read_bytes()
        bad.write_bytes(good[:len(good) // 2])
        counts = self.recon(tree, code=3)
        self.assertEqual((counts["done"], counts["failed"]), (2, 1))
        self.assertEqual(len([line for line in self.said.splitlines() if "two.h5" in line]), 1, self.said)
        self.assertEqual(sorted(self.made()), ["b/three_rec.h5", "one_rec.h5"])
        self.assertEqual(self.recon(tree, code=3)["failed"], 1)
        self.assertIn("not tried again until", self.said)
        bad.write_bytes(good)
        counts = self.recon(tree)
        self.assertEqual((counts["done"], counts["up_to_date"]), (1, 2))
        self.assertEqual(self.made(), self.alone)

    def test_a_list_says_which_and_where_their_axes_are(self):
        scans = self.out / "scans.txt"
        scans.write_text(f"# two of them\n\"{self.tree / 'one.h5'}\" 23.5\n\"{self.tree / 'b/three.h5'}\" 22\n")
        self.recon(scans)
        made = self.made()
        self.assertEqual(sorted(made), ["one_rec.h5", "three_rec.h5"])
        self.assertIn("22", self.ok("info", self.volumes / "three_rec.h5").stdout)
        scans.write_text(f"\"{self.tree / 'one.h5'}\" nowhere\n")
        self.fails(2, f"{self.tree / 'one.h5'} of a list: --center nowhere", "recon", scans, "-o", self.volumes)
        scans.write_text("a b c\n")
        self.fails(2, "line 1", "recon", scans, "-o", self.volumes)
        scans.write_text("# none\n")
        self.fails(10, "names no scan", "recon", scans, "-o", self.volumes)

    def test_several_files_and_a_dry_run(self):
        files = [self.tree / f"{name}.h5" for name in self.names]
        done = self.program("recon", *files, self.out / "absent.h5", "-o", self.volumes, "--dry-run")
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertRegex(done.stdout, r"(?m)^waiting +one_rec$")
        self.assertRegex(done.stdout, r"(?m)^missing +absent_rec  .*absent.h5: is not there$")
        self.assertFalse(self.volumes.exists())
        self.assertEqual(self.recon(*files)["done"], 3)
        self.fails(2, "same name", "recon", files[0], files[0], "-o", self.volumes)
        self.fails(2, "for many scans", "recon", files[0], "-o", self.out / "v.h5", "--dry-run")

    def test_volumes_may_be_folders_of_images(self):
        counts = self.recon(self.tree, more=("--format", "tiff", "--rows", "3:8"))
        self.assertEqual(counts["done"], 3)
        self.assertEqual(len(list((self.volumes / "b/three_rec").iterdir())), 5)
        self.assertEqual(self.recon(self.tree, more=("--format", "tiff", "--rows", "3:8"))["up_to_date"], 3)
        (self.volumes / "one_rec/slice_00005.tiff").unlink()
        self.assertEqual(self.recon(self.tree, more=("--format", "tiff", "--rows", "3:8"))["done"], 1)
        self.assertEqual(len(list((self.volumes / "one_rec").iterdir())), 5)

    def test_a_run_that_is_killed_is_gone_on_with_to_the_same_bytes(self):
        tree = self.out / "big"
        tree.mkdir()
        for seed in range(4):
            self.ok("simulate", "-o", tree / f"{seed}.h5", "--columns", 256, "--rows", 96, "--angles", 30, "--photons", 0,
                    "--seed", seed, "--quiet")
        words = ("recon", tree, "-o", self.volumes, "--resume", "--threads", "1", "--quiet")
        for stop, code in ((signal.SIGKILL, -signal.SIGKILL), (signal.SIGTERM, 50)):
            run = subprocess.Popen([PROGRAM, *map(str, words)], stderr=subprocess.PIPE, text=True)
            before = len(list(self.volumes.glob("*_rec.h5"))) if self.volumes.exists() else 0
            while run.poll() is None and len(list(self.volumes.glob("*_rec.h5"))) <= before:
                time.sleep(0.002)
            run.send_signal(stop)
            errors = run.communicate(timeout=60)[1]
            self.assertIn(run.returncode, (0, code), errors)
        self.ok(*words)
        again = self.made()
        self.assertEqual(len(again), 4)
        self.assertEqual([p.name for p in self.volumes.iterdir() if ".part" in p.name or ".tmp" in p.name], [])
        shutil.rmtree(self.volumes)
        self.ok(*words)
        self.assertEqual(self.made(), again)

    def test_two_runs_share_the_scans(self):
        words = [PROGRAM, "recon", str(self.tree), "-o", str(self.volumes), "--stripe", "sf"]
        runs = [subprocess.Popen(words, stderr=subprocess.PIPE, text=True) for _ in range(2)]
        said = [run.communicate(timeout=60)[1] for run in runs]
        self.assertTrue(all(run.returncode == 0 for run in runs), said)
        self.assertEqual(self.made(), self.alone)


if __name__ == "__main__":
    unittest.main()
