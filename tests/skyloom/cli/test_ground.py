# SPDX-License-Identifier: BSD-3-Clause
"""From a patch of the sky to a schedule, observations from the ground and maps of them."""
import json
import unittest

from program_case import InputCase
from run_skyloom import read_map

PLAN = ("--patch", "deep,1,170,-40,20", "--start", "2026-03-18 00:00:00", "--stop", "2026-03-18 02:02:00")
DATA = ("--pixels", 7, "--width", 3, "--rate", 5)
FLAT = ("--step", 10, "--rcond", 1e-3, "--quiet")
MAPS = ("--nside", 32, *FLAT)
NAMES = ("hits", "invcov", "binned", "map")


class Ground(InputCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.schedule = cls.inputs / "schedule.txt"
        cls.make("schedule", "-o", cls.schedule, *PLAN)
        cls.make("simulate", "--schedule", cls.schedule, "-o", cls.inputs / "data", *DATA)
        cls.data = sorted((cls.inputs / "data").glob("*.h5"))

    def test_a_schedule_has_a_line_a_scan(self):
        lines = [line for line in self.schedule.read_text().splitlines() if not line.startswith("#")]
        self.assertEqual(len(lines), 1 + len(self.data))
        self.assertEqual(len(lines[1].split("|")), 9)
        self.assertEqual([path.name for path in self.data], [f"deep-{i}-0.h5" for i in range(len(self.data))])
        said = self.ok("info", self.data[0]).stdout
        self.assertIn("deep-0-0", said)

    def test_maps_with_and_without_files_between_are_the_same(self):
        for number, filters in enumerate(((), ("--ground-order", 4), ("--ground-bins", 1, "--ground-split", "--ground-trend", 2),
                                          ("--poly-order", 2, "--intervals", "scanning", "--ground-order", 3, "--common-mode"))):
            stored, direct = self.out / f"stored{number}", self.out / f"direct{number}"
            self.ok("map", *self.data, "-o", stored, *MAPS, *filters)
            self.ok("simulate", "--schedule", self.schedule, "--maps", direct, *DATA, *MAPS, *filters)
            for name in NAMES:
                self.assertEqual((stored / f"{name}.fits").read_bytes(), (direct / f"{name}.fits").read_bytes(), name)
        self.assertNotEqual((self.out / "stored0/map.fits").read_bytes(), (self.out / "stored1/map.fits").read_bytes())

    def test_flat_maps_are_the_same_with_and_without_files_between(self):
        grid = ("--wcs", "tan:170,-40,30,30,0.5")
        self.ok("map", *self.data, "-o", self.out / "stored", *FLAT, *grid)
        self.ok("simulate", "--schedule", self.schedule, "--maps", self.out / "direct", *DATA, *FLAT, *grid)
        for name in NAMES:
            self.assertEqual((self.out / f"stored/{name}.fits").read_bytes(), (self.out / f"direct/{name}.fits").read_bytes(), name)
        self.assertIn(b"RA---TAN", (self.out / "stored/map.fits").read_bytes()[:5760])
        map_file = self.out / "stored/map.fits"
        self.assertIn("60 x 60 of 0.5 degrees", self.ok("info", map_file).stdout)
        said = self.ok("compare", map_file, self.out / "stored/binned.fits", "--json", "-")
        found = json.loads(said.stdout)["columns"]
        self.assertEqual([column["name"] for column in found], ["I_STOKES", "Q_STOKES", "U_STOKES"])
        self.assertTrue(all(0 <= place < 60 for column in found for place in column["largest_at"]))
        self.ok("compare", map_file, self.out / "direct/map.fits", "--max-largest", 0)
        self.ok("map", *self.data, "-o", self.out / "aside", *FLAT, "--wcs", "tan:170.5,-40,30,30,0.5")
        self.fails(20, "elsewhere", "compare", map_file, self.out / "aside/map.fits")
        self.fails(20, "expected HEALPix", "simulate", "--sky", map_file, "--maps", self.out / "m", *MAPS)
        self.ok("view", self.out / "stored", "-o", self.out / "page.html", "--with", self.out / "direct")
        self.fails(2, "beyond the map's edges", "view", map_file, "-o", self.out / "page.html", "--middle", "0,40")
        self.fails(2, "--wcs sin:0,0,1,1,0.1: expected car:LON", "map", *self.data, "-o", self.out / "m", "--wcs", "sin:0,0,1,1,0.1")
        self.fails(22, "outside of --wcs", "map", *self.data, "-o", self.out / "m", "--wcs", "tan:0,80,3,3,0.1", "--quiet")

    def test_a_patch_is_scanned_row_by_row_at_a_pole(self):
        plan, site = self.out / "pole.txt", ("--latitude", -89.991, "--longitude", -44.65)
        patch = ("--patch", "p,1,0,-52,30,-56", "--start", "2026-06-01 00:00:00", "--stop", "2026-06-01 06:00:00", "--moon-angle", 0)
        self.ok("schedule", "-o", plan, "--pole", "--pole-step", 1, "--pole-minutes", 20, *site, *patch)
        lines = [line.split("|") for line in plan.read_text().splitlines() if not line.startswith("#")][1:]
        rows = [(int(line[7]), int(line[8]), float(line[6])) for line in lines]
        self.assertEqual([sub for _, sub, _ in rows[:6]], [0, 1, 2, 3, 4, 0])
        self.assertTrue(all(52 < el < 56.2 for _, _, el in rows))
        self.ok("simulate", "--schedule", plan, "--maps", self.out / "maps", *DATA, *MAPS)
        self.fails(2, "--pole-step", "schedule", "-o", self.out / "s", "--pole", "--pole-step", 0, *site, *patch)

    def test_help_has_all_options_of_a_schedule(self):
        said = self.ok("schedule", "--help").stdout
        for name in ("--patch", "--latitude", "--sun-angle", "--scan-minutes", "--pole-step"):
            self.assertIn(name, said)

    def test_turnarounds_are_not_in_the_maps(self):
        hits = {}
        for mask in (15, 0):
            self.ok("map", *self.data, "-o", self.out / str(mask), *MAPS, "--shared-mask", mask)
            hits[mask] = sum(row[0] for row in read_map(self.out / f"{mask}/hits.fits", "i", 1)[0])
        self.assertEqual(hits[0], 14 * 5 * 3600 * 2)
        self.assertLess(hits[15], 0.95 * hits[0])
        self.assertGreater(hits[15], 0.5 * hits[0])

    def test_nods_are_flagged_and_not_in_the_maps(self):
        nods = ("--elnod", "1.5,-1.5,0", "--elnod-at", "both", "--atmosphere-load", 3)
        scan = ("--schedule", self.schedule, "-o", self.out / "nods", *DATA, "--maps", self.out / "direct", *MAPS[:-1])
        self.ok("simulate", *scan, *nods)
        data = sorted((self.out / "nods").glob("*.h5"))
        for mask in (15, 7):
            self.ok("map", *data, "-o", self.out / str(mask), *MAPS, "--shared-mask", mask)
        self.ok("map", *self.data, "-o", self.out / "none", *MAPS)
        hits = {name: sum(row[0] for row in read_map(self.out / name / "hits.fits", "i", 1)[0]) for name in ("15", "7", "none")}
        self.assertEqual(hits["15"], hits["none"])
        self.assertGreater(hits["7"], hits["15"] + 14 * len(data) * 2 * 40)
        for name in NAMES:
            self.assertEqual((self.out / f"15/{name}.fits").read_bytes(), (self.out / f"direct/{name}.fits").read_bytes(), name)
        only = self.ok("map", *data, "-o", self.out / "only", *MAPS, "--binned-only", "--shared-mask", 0, "--intervals", "elnod").stderr
        self.assertNotIn("error", only)
        maps = ("--maps", self.out / "m")
        for bad, what in (("1,-1", "0 at last"), ("1,x,0", "--elnod 1,x,0: expected degrees below 90"), ("100,0", "degrees below 90"), ("60,0", "a nod by 60")):
            self.fails(2, what, "simulate", "--schedule", self.schedule, *maps, "--elnod", bad)
        self.fails(2, "--elnod: expected --schedule", "simulate", *maps, "--elnod", "1,0")
        self.fails(2, "--atmosphere-load", "simulate", *maps, "--atmosphere-load", 1)

    def test_elevations_go_up_and_down_where_that_is_asked_for(self):
        scan = ("--schedule", self.schedule, *DATA, "--no-noise", "--atmosphere-load", 3, "--elevation-modulation", 0.1)
        heights = []
        for more in ((), ("--modulation-sine", "--modulation-amplitude", 0.5)):
            name = self.out / f"data{len(heights)}"
            self.ok("simulate", *scan, *more, "-o", name, "--maps", self.out / f"maps{len(heights)}", *MAPS)
            self.ok("map", *sorted(name.glob("*.h5")), "-o", self.out / f"again{len(heights)}", *MAPS)
            heights.append([row[0] for row in read_map(self.out / f"maps{len(heights)}/binned.fits")[0] if row[0] > -1e30])
            for file in NAMES:
                self.assertEqual((self.out / f"again{len(heights) - 1}/{file}.fits").read_bytes(),
                                 (self.out / f"maps{len(heights) - 1}/{file}.fits").read_bytes(), file)
        self.assertNotEqual(*heights)
        maps = ("--maps", self.out / "m")
        self.fails(2, "the mount has 1 (--elevation-rate)", "simulate", *scan[:-1], 0.04, *maps, "--modulation-amplitude", 8)
        self.fails(2, "--elevation-acceleration", "simulate", *scan[:-1], 2, *maps)
        self.fails(2, "below 90", "simulate", *scan[:-1], 0.001, *maps, "--modulation-amplitude", 45)
        self.fails(2, "--elevation-modulation: expected --schedule", "simulate", *maps, "--elevation-modulation", 0.1)
        self.fails(2, "expected --elevation-modulation with --modulation-sine", "simulate", *scan, *maps, "--modulation-phase", 9)

    def test_elevations_step_up_after_each_pair_of_sweeps(self):
        scan = ("--schedule", self.schedule, *DATA, "--no-noise", "--atmosphere-load", 3)
        self.ok("simulate", *scan, "--elevation-step", 0.3, "-o", self.out / "data", "--maps", self.out / "maps", *MAPS)
        self.ok("map", *sorted((self.out / "data").glob("*.h5")), "-o", self.out / "again", *MAPS)
        self.ok("simulate", *scan, "--maps", self.out / "still", *MAPS)
        for file in NAMES:
            self.assertEqual((self.out / f"again/{file}.fits").read_bytes(), (self.out / f"maps/{file}.fits").read_bytes(), file)
        least = [min(row[0] for row in read_map(self.out / f"{name}/binned.fits")[0] if row[0] > -1e30) for name in ("maps", "still")]
        self.assertLess(least[0], least[1] - 0.01)  # less air above
        self.fails(2, "below 90", "simulate", *scan, "--maps", self.out / "m", "--elevation-step", 45)
        self.fails(2, "--elevation-step: expected --schedule", "simulate", "--maps", self.out / "m", "--elevation-step", 1)

    def test_faults_have_their_codes_and_one_line(self):
        out = ("--maps", self.out / "m")
        self.fails(10, "none.txt", "simulate", "--schedule", self.out / "none.txt", *out)
        bad = self.out / "bad.txt"
        bad.write_text("a | t | -22 | -67 | 5200\n2026-03-18 00:00:00 | 2026-03-18 01:00:00 | 0 | p | 1 | 2 | 95 | 0 | 0\n")
        self.fails(14, "line 2: elevation 95", "simulate", "--schedule", bad, *out)
        bad.write_text(self.schedule.read_text().replace("2026-03-18 01:00:00", "2026-03-17 01:00:00"))
        empty = self.out / "empty.txt"
        empty.touch()
        self.fails(14, "empty.txt: no scan", "simulate", "--schedule", empty, *out)
        self.fails(14, "stop before start", "simulate", "--schedule", bad, *out)
        bad.write_bytes(b"\x00\xff" * 1000)
        self.fails(14, "bad.txt", "simulate", "--schedule", bad, *out)
        twice = self.schedule.read_text().splitlines()
        bad.write_text("\n".join([*twice, twice[-1]]) + "\n")
        self.fails(2, "two scans called", "simulate", "--schedule", bad, *out)
        self.fails(2, "--intervals", "simulate", *out, "--intervals", "scanning")
        self.fails(2, "--atmosphere", "simulate", *out, "--atmosphere", 0.1)
        self.fails(2, "cells of 0.01 m", "simulate", "--schedule", self.schedule, *out, *DATA, "--atmosphere", 0.1, "--atmosphere-cell", 0.01)
        self.fails(2, "--intervals nothing", "simulate", "--schedule", self.schedule, *out, "--intervals", "nothing")
        self.fails(2, "no scan is possible", "schedule", "-o", self.out / "s", "--patch", "north,1,0,89,60,85")
        self.fails(2, "--patch", "schedule", "-o", self.out / "s", "--patch", "north")
        self.fails(2, "--start 'yesterday'", "schedule", "-o", self.out / "s", *PLAN[:2], "--start", "yesterday")
        self.fails(2, "", "schedule", "-o", self.out / "s")
        self.fails(11, "no azimuths", "map", self.data[0], "-o", self.out / "m", *MAPS, "--ground-order", 3, "--azimuth", "none")
        self.fails(2, "bins of azimuth", "map", self.data[0], "-o", self.out / "m", *MAPS, "--ground-bins", 1e-7)
        self.assertEqual(sorted(path.name for path in self.out.iterdir()), ["bad.txt", "empty.txt"])


if __name__ == "__main__":
    unittest.main()
