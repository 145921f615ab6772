# SPDX-License-Identifier: BSD-3-Clause
"""`fiberloom bench gpu` on the CPU in place of a card: all that it tells but the times."""
import json
import os
import pathlib
import subprocess
import tempfile
import unittest

PROGRAM = os.environ.get("FIBERLOOM_PROGRAM", "")
SMALL = ["--backend", "emulate", "--fibers", "25", "--bins", "60", "--frames", "3", "--frames-in-flight", "2",
         "--repeats", "2", "--threads", "2", "--targets", "5", "--redshifts", "100"]
STAGES = {"copy in", "spots", "normal equations", "prior", "solve", "diagnostics", "sweeps", "bounds", "roots",
          "copy out"}


def bench(*more):
    return subprocess.run([PROGRAM, "bench", "gpu", *more], capture_output=True, text=True, timeout=300)


class BenchGpu(unittest.TestCase):
    def test_reports_stages_frames_and_what_was_asked_for(self):
        result = bench(*SMALL, "--json", "-")
        self.assertEqual(result.returncode, 0, result.stderr)
        report = json.loads(result.stdout)
        self.assertEqual({s["name"] for s in report["stages"]}, STAGES)
        for stage in report["stages"]:
            self.assertGreater(stage["seconds"], 0, stage)
        for key in ("compute_s", "median_compute_s", "copies_s", "frame_s", "median_frame_s", "overlapped_s",
                    "overlap", "cpu_frame_s", "shared_bytes"):
            self.assertGreater(report[key], 0, key)
        self.assertEqual((report["best_of"], report["frames"], report["failures"]), (2, 3, []))
        compute = [s for s in report["stages"] if not s["name"].startswith("copy")]
        first, last = min(s["begin_s"] for s in compute), max(s["end_s"] for s in compute)
        self.assertAlmostEqual((last - first) / report["compute_s"], 1, places=4)  # some go beside others
        for stage in report["stages"]:
            self.assertLess(stage["seconds"], stage["end_s"] - stage["begin_s"] + 1e-5, stage)  # six digits
        scan = report["scan"]
        self.assertEqual({s["name"] for s in scan["stages"]}, {"copy in", "products", "sums", "solve", "copy out"})
        self.assertEqual((scan["targets"], scan["templates"], scan["pixels"]), (5, 11, 7958))
        for key in ("compute_s", "copies_s", "first_s", "scan_s", "cpu_s", "memory_bytes"):
            self.assertGreater(scan[key], 0, key)
        self.assertLess(scan["difference"], 1e-7)
        asked = report["asked_for"]
        self.assertEqual((asked["compute_ms"]["at_most"], asked["compute_ms"]["moonshot"]), (20, 8))
        self.assertEqual(asked["overlapped_frame_ms"]["at_most"], 40)
        self.assertEqual(asked["overlap_percent"]["at_least"], 80)
        self.assertEqual(asked["baseline_ratio"]["at_least"], 20)
        self.assertAlmostEqual(asked["cpu_core_ratio"]["measured"] * report["compute_s"] / report["cpu_frame_s"], 1,
                               places=4)
        self.assertIsNone(asked["baseline_ratio"]["measured"])  # no card
        for goal in asked.values():
            self.assertIsNone(goal["met"])  # nor a whole frame

    def test_says_what_could_not_be_measured_and_ends_in_1(self):
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "bench.json"
            result = bench(*SMALL, "--gpu-memory", "0.001", "--json", file)
            report = json.loads(file.read_text())
        self.assertEqual(result.returncode, 1, result.stderr)
        self.assertEqual([f.split(":")[0] for f in report["failures"]],
                         ["one frame", "spots made again", "many frames", "scan for redshifts"])
        self.assertGreater(report["cpu_frame_s"], 0)  # what can be measured is
        self.assertEqual((report["compute_s"], report["frame_s"], report["stages"]), (0, 0, []))
        self.assertIsNone(report["asked_for"]["compute_ms"]["measured"])
        self.assertIn("NOT MEASURED: one frame: GPU: a frame needs at least", result.stdout)
        self.assertRegex(result.stdout, r"one frame, end to end +- ms")
        self.assertIn("fiberloom: error: bench gpu: one frame", result.stderr)

    def test_refuses_options_that_make_no_sense(self):
        for option, value in (("--gpu-memory", "0"), ("--gpu-memory", "-1"), ("--fibers", "0"), ("--bins", "1"),
                              ("--repeats", "0"), ("--frames", "-1"), ("--frames-in-flight", "0"),
                              ("--patches", "-1"), ("--targets", "-1"), ("--redshifts", "0"), ("--backend", "cpu")):
            result = bench(option, value)
            self.assertEqual(result.returncode, 2, (option, result.stderr))
            self.assertEqual(len(result.stderr.splitlines()), 1, result.stderr)
            self.assertIn(f"fiberloom: error: {option}", result.stderr)


if __name__ == "__main__":
    unittest.main()
