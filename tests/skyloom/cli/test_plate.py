# SPDX-License-Identifier: BSD-3-Clause
"""Half-wave plates, from command line to files: what they add, filters of that, demodulated maps."""
import json
import unittest

from run_skyloom import MAPS, SMALL, Case, read_map

NAMES = ("hits", "rcond", "invcov", "cov", "binned", "map")
RATE = ("--rate", 20, *SMALL[2:])
PLATE = (*RATE, "--hwp-rpm", 60, "--hwpss", "0.01,0.1,0,0.02", "--hwpss-spread", 0.1, "--hwpss-drift", 0.02)
FILTERED = ("--hwp-harmonics", 4, "--hwp-trend", 3, "--hwp-drift")
DEMODULATED = (*FILTERED, "--demodulate", "--demod-skip", 4, "--poly-order", 0, "--common-mode")


def rms(path, column):
    values = [row[column] for row in read_map(path)[0] if row[0] > -1e30]
    return (sum(value * value for value in values) / len(values)) ** 0.5


class Plates(Case):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.make("simulate", "-o", cls.inputs / "plate", *PLATE)
        cls.turning = sorted((cls.inputs / "plate").glob("*.h5"))

    def same(self, a, b):
        for name in NAMES:
            self.assertEqual((self.out / f"{a}/{name}.fits").read_bytes(), (self.out / f"{b}/{name}.fits").read_bytes(), name)

    def test_maps_with_and_without_files_between_are_the_same_for_any_number_of_threads(self):
        for wishes in (FILTERED, DEMODULATED):
            self.ok("map", *self.turning, "-o", self.out / "stored", *MAPS, *wishes, "--coord", "E", "--quiet",
                    "--threads", 1, "--json", self.out / "s.json")
            self.ok("simulate", "--maps", self.out / "direct", *PLATE, *MAPS, *wishes, "--quiet", "--threads", 3)
            self.same("stored", "direct")
        summary = json.loads((self.out / "s.json").read_text())
        self.assertEqual(summary["options"]["hwp_harmonics"], "4")
        self.assertEqual(summary["options"]["demod_skip"], "4")
        self.assertEqual(summary["data"]["detectors"], 14)
        self.assertEqual(summary["data"]["samples"], 2 * 14 * 3 * 3000)  # three streams of every fourth sample

    def test_what_the_plate_adds_is_not_in_the_maps(self):
        self.ok("map", *self.turning, "-o", self.out / "as_it_is", *MAPS, "--quiet")
        for name, wishes in (("filtered", FILTERED), ("demodulated", DEMODULATED)):
            self.ok("map", *self.turning, "-o", self.out / name, *MAPS, *wishes, "--quiet")
            for column in range(3):
                self.assertLess(20 * rms(self.out / name / "map.fits", column), rms(self.out / "as_it_is/map.fits", column))

    def test_memory_is_planned(self):
        for name, wishes in (("filtered", FILTERED), ("demodulated", DEMODULATED)):
            self.ok("map", *self.turning, "-o", self.out / name, *MAPS, *wishes, "--quiet", "--memory", "2G", "--json", self.out / "s.json")
            self.keeps_to("planned_bytes", json.loads((self.out / "s.json").read_text())["memory"])

    def test_faults_have_their_codes_and_one_line(self):
        out = ("-o", self.out / "maps", *MAPS)
        for wish in ("--hwp-harmonics=4", "--demodulate"):
            self.fails(11, "no angles of a half-wave plate", "map", self.observations[0], *out, wish)
            self.fails(11, "no angles of a half-wave plate", "map", self.turning[0], *out, wish, "--hwp-angle", "none")
            self.fails(2, "stands still", "simulate", "--maps", self.out / "m", *RATE, *MAPS, "--hwp-rpm", 1e-9, wish)
            self.fails(2, "above half the rate", "simulate", "--maps", self.out / "m", *SMALL, *MAPS, "--hwp-rpm", 60, wish)
        self.fails(2, "would be kept at 1 Hz", "map", self.turning[0], *out, "--demodulate", "--demod-skip", 20)
        short = ("simulate", "--maps", self.out / "m", "--rate", 20, "--minutes", 0.4, "--hwp-rpm", 60, *MAPS)
        self.fails(22, "the ends of its filters", *short, "--demodulate")
        self.fails(22, "no filter could be fitted", *short[:5], "--minutes", 0.01, *short[7:], "--hwp-harmonics", 4)
        for other in (("--prior",), ("--method", "gls")):
            self.fails(2, f"--demodulate with {' '.join(other)}", "map", self.turning[0], *out, "--demodulate", *other)
        for option in ("--hwp-trend=3", "--hwp-drift", "--hwp-detrend"):
            self.fails(2, f"{option.split('=')[0]}: expected --hwp-harmonics", "map", self.turning[0], *out, option)
        self.fails(2, "--hwp-detrend", "map", self.turning[0], *out, "--hwp-harmonics", 2, "--hwp-trend", "none", "--hwp-detrend")
        for option in ("--demod-cut=0.5", "--demod-skip=2"):
            self.fails(2, f"{option.split('=')[0]}: expected --demodulate", "map", self.turning[0], *out, option)
        for option in ("--hwp-harmonics=31", "--hwp-harmonics=-1", "--hwp-trend=31", "--demod-cut=3", "--demod-skip=0", "--demod-cut=nan"):
            self.fails(2, option.split("=")[0], "map", self.turning[0], *out, option)
        self.fails(2, "--hwpss: expected --hwp-rpm", "simulate", "-o", self.out / "d", *SMALL, "--hwpss", 0.1)
        self.fails(2, "--hwpss-drift: expected --hwpss", "simulate", "-o", self.out / "d", *SMALL, "--hwp-rpm", 60, "--hwpss-drift", 0.1)
        for wrong in ("x", "-1", "nan", "1,,2"):
            self.fails(2, "--hwpss", "simulate", "-o", self.out / "d", *SMALL, "--hwp-rpm", 60, f"--hwpss={wrong}")
        self.assertFalse((self.out / "maps").exists() or (self.out / "m").exists() or (self.out / "d").exists())


if __name__ == "__main__":
    unittest.main()
