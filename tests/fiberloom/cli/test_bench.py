# SPDX-License-Identifier: BSD-3-Clause
"""`fiberloom bench night` makes, runs and reckons up an exposure, and leaves nothing behind."""
import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

PROGRAM = os.environ.get("FIBERLOOM_PROGRAM", "")


class BenchNight(unittest.TestCase):
    def test_reports_every_band_and_removes_its_files(self):
        work = pathlib.Path(tempfile.mkdtemp(prefix="fiberloom-bench-test-"))
        self.addCleanup(shutil.rmtree, work)
        result = subprocess.run([PROGRAM, "bench", "night", "--frames", "3", "--nspec", "10", "--threads", "2",
                                 "--folder", work, "--backend", "cpu", "--json", "-", "-q"],
                                capture_output=True, text=True, timeout=200)
        self.assertEqual(result.returncode, 0, result.stderr)
        report = json.loads(result.stdout)
        self.assertEqual(sorted(report["kinds"]), ["b", "r", "z"])
        self.assertIs(report["on_card"], False)
        for kind in report["kinds"].values():
            self.assertEqual(kind["frames"], 1)
            self.assertGreater(kind["compute_core_s"], 0)
            self.assertGreater(kind["bytes_in"], 1e8)
        self.assertGreater(report["frames_per_node_hour"], 0)
        self.assertGreaterEqual(report["overlap"], 0.5)
        self.assertGreater(report["one_processor_wall_s"], 0)
        self.assertGreater(report["compute_speedup"], 0)
        self.assertEqual(list(work.iterdir()), [])

    def test_wants_the_card_that_was_asked_for(self):
        if os.path.exists("/dev/nvidiactl"):
            self.skipTest("there is a card")
        result = subprocess.run([PROGRAM, "bench", "night", "--frames", "3", "--backend", "cuda"],
                                capture_output=True, text=True, timeout=60)
        self.assertEqual((result.returncode, result.stdout), (60, ""))
        self.assertEqual(len(result.stderr.splitlines()), 1)


if __name__ == "__main__":
    unittest.main()
