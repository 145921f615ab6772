# SPDX-License-Identifier: BSD-3-Clause
"""Maps and observations by several ranks under a real launcher: the same as by one process; a rank that fails or dies ends all."""
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import time

sys.path[:0] = [str(pathlib.Path(__file__).parents[1] / "cli"), *(str(pathlib.Path(__file__).parents[2] / name) for name in ("sister", "ranks"))]
import launch  # noqa: E402
from run_skyloom import MAPS, PROGRAM, SMALL, Case, read_map  # noqa: E402

SOON = 15  # seconds
TIGHT = (*MAPS, "--tolerance", 1e-13, "--type", "float64", "--coord", "E")


class RankCase(Case):
    def on_ranks(self, ranks, *arguments):
        return launch.start(self, ranks, [PROGRAM, *arguments], self.out)

    def run_ranks(self, ranks, *arguments, code=0):
        process = self.on_ranks(ranks, *arguments)
        output, errors = process.communicate(timeout=60)
        self.assertEqual(process.returncode, code, output + errors)
        return errors

    def pids(self):
        """Process ids of the ranks of this test's job, in the order of their numbers."""
        return list(launch.pids(PROGRAM, self.out).values())

    def wait_for(self, condition):
        end = time.monotonic() + 30
        while not condition():
            self.assertLess(time.monotonic(), end)
            time.sleep(0.02)


class Same(RankCase):
    def assert_same_on_ranks(self, names, *options):
        self.ok("map", *self.observations, "-o", self.out / "alone", *options, "--quiet")
        for ranks in (2, 3):
            here = self.out / str(ranks)
            self.run_ranks(ranks, "map", *self.observations, "-o", here, *options, "--json", self.out / "s.json", "--threads", 1)
            summary = json.loads((self.out / "s.json").read_text())
            self.assertEqual(summary["ranks"]["size"], ranks)
            self.assertEqual(summary["data"]["samples"], 2 * 14 * 3000)
            self.assertEqual((here / "hits.fits").read_bytes(), (self.out / "alone/hits.fits").read_bytes())
            for name in names:
                one, _ = read_map(self.out / f"alone/{name}.fits", "d")
                many, _ = read_map(here / f"{name}.fits", "d")
                size = max(abs(v) for row in one for v in row if v > -1e30)
                worst = max(abs(a - b) for x, y in zip(one, many) for a, b in zip(x, y))
                self.assertLess(worst / size, 1e-12, name)
        again = self.out / "again"
        self.run_ranks(3, "map", *self.observations, "-o", again, *options, "--threads", 2)
        for path in sorted(again.iterdir()):
            self.assertEqual(path.read_bytes(), (self.out / f"3/{path.name}").read_bytes(), path.name)

    def test_maps_are_those_of_one_process(self):
        self.assert_same_on_ranks(("binned", "map"), *TIGHT)

    def test_maps_of_maximum_likelihood_are_those_of_one_process(self):
        gls = ("--method", "gls", "--correlation", 10, "--iterations", 1000, "--nside", 8, "--split", "detectors")
        self.assert_same_on_ranks(("map", "part1_map", "part2_map"), *TIGHT, *gls)

    def test_the_observation_matrix_is_that_of_one_process(self):
        wishes = (*MAPS, "--binned-only", "--joint", "--poly-order", 2, "--quiet", "--obs-matrix")
        self.ok("map", *self.observations, "-o", self.out / "maps", *wishes, self.out / "alone.npz")
        for ranks in (2, 3):
            self.run_ranks(ranks, "map", *self.observations, "-o", self.out / "maps", *wishes, self.out / f"{ranks}.npz")
            self.assertTrue((self.out / f"{ranks}.npz").read_bytes() == (self.out / "alone.npz").read_bytes(), ranks)

    def test_simulated_observations_are_the_same_files(self):
        self.run_ranks(2, "simulate", "-o", self.out / "data", "--maps", self.out / "maps", *SMALL, *MAPS, "--quiet")
        for path in self.observations:
            self.assertEqual((self.out / "data" / path.name).read_bytes(), path.read_bytes())
        self.assertTrue((self.out / "maps/map.fits").exists())

    def test_one_rank_is_a_process_alone(self):
        self.ok("map", *self.observations, "-o", self.out / "alone", *MAPS, "--quiet")
        self.run_ranks(1, "map", *self.observations, "-o", self.out / "one", *MAPS, "--quiet")
        self.assertEqual((self.out / "one/map.fits").read_bytes(), (self.out / "alone/map.fits").read_bytes())

    def test_the_start_is_quick(self):
        begin = time.monotonic()
        self.run_ranks(2, "map", *self.observations, "-o", self.out / "maps", *MAPS, "--json", self.out / "s.json", "--quiet")
        wall, opened = time.monotonic() - begin, json.loads((self.out / "s.json").read_text())["ranks"]["open_s"]
        print(f"{launch.VENDOR}: MPI open in {opened:.2f} s, all in {wall:.2f} s", file=sys.stderr)
        self.assertLess(opened, 5)


class Faults(RankCase):
    def test_bad_input_is_one_line_and_its_code(self):
        broken = self.out / "broken.h5"
        broken.write_bytes(self.observations[1].read_bytes()[:40000])
        errors = self.run_ranks(2, "map", self.observations[0], broken, "-o", self.out / "maps", *MAPS, code=14)
        self.assertEqual(len(re.findall(r"^skyloom: error: .*broken.h5", errors, re.M)), 1, errors)
        self.assertFalse((self.out / "maps").exists())

    def test_a_fault_of_the_last_rank_is_the_launch_s(self):
        code = subprocess.run([PROGRAM, *map(str, ("simulate", "-o", self.out / "x", *SMALL))], capture_output=True).returncode
        self.assertEqual(code, 0)
        blocked = self.out / "data"
        (blocked / "satellite_000001.h5").mkdir(parents=True)  # rank 1 writes it
        begin = time.monotonic()
        errors = self.run_ranks(2, "simulate", "-o", blocked, *SMALL, "--quiet", code=30)
        self.assertLess(time.monotonic() - begin, SOON)
        self.assertEqual(len(re.findall("^skyloom: error: rank 1: ", errors, re.M)), 1, errors)

    def test_a_job_goes_on_from_its_checkpoint(self):
        # --tolerance 0 does not converge; a rank that is killed ends the job in the middle of its iterations
        long = ("map", *self.observations, *MAPS, "--step", 1, "--tolerance", 0, "--iterations", 200, "--threads", 1, "--quiet")
        keep = ("--checkpoint", self.out / "state", "--checkpoint-seconds", 0)
        self.run_ranks(2, *long, "-o", self.out / "whole")
        process = self.on_ranks(2, *long, "-o", self.out / "maps", *keep)
        self.wait_for(lambda: len(list(self.out.glob("state.rank[01].[01]"))) == 4)
        time.sleep(0.1)
        os.kill(self.pids()[1], signal.SIGKILL)
        process.communicate(timeout=60)
        self.wait_for(lambda: not self.pids())
        self.assertFalse((self.out / "maps").exists())
        self.run_ranks(2, *long, "-o", self.out / "maps", *keep, "--json", self.out / "s.json")
        self.assertGreater(json.loads((self.out / "s.json").read_text())["maps"]["recalled_iterations"], 1)
        for path in sorted((self.out / "whole").iterdir()):
            self.assertEqual((self.out / "maps" / path.name).read_bytes(), path.read_bytes(), path.name)
        self.assertEqual(list(self.out.glob("state*")), [])

    def test_a_killed_rank_ends_the_job(self):
        long = ("--pixels", 19, "--rate", 50, "--minutes", 600, "--observations", 4)
        process = self.on_ranks(3, "simulate", "--maps", self.out / "maps", *long, "--quiet", "--threads", 1)
        self.wait_for(lambda: len(self.pids()) == 3)
        time.sleep(0.5)
        os.kill(self.pids()[1], signal.SIGKILL)
        begin = time.monotonic()
        process.communicate(timeout=60)
        self.assertNotEqual(process.returncode, 0)
        self.assertLess(time.monotonic() - begin, SOON)
        self.wait_for(lambda: not self.pids())
        self.assertFalse((self.out / "maps").exists())


if __name__ == "__main__":
    launch.main(PROGRAM)
