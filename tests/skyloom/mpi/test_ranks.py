# SPDX-License-Identifier: BSD-3-Clause
"""Maps and observations by several ranks under a real launcher: the same as by one process; a rank that fails or dies ends all."""
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

sys.path[:0] = [str(pathlib.Path(__file__).parents[1] / "cli"), str(pathlib.Path(__file__).parents[2] / "sister")]
from run_skyloom import MAPS, PROGRAM, SMALL, Case, read_map  # noqa: E402

VENDOR = os.environ.get("FIBERLOOM_MPI_VENDOR", "")
SOON = 15  # seconds
# An inherited launcher's variables would make each process a rank of the outer job.
CLEAN = {k: v for k, v in os.environ.items() if not k.startswith(("OMPI_", "PMI_", "PMIX_", "SLURM_"))}
TIGHT = (*MAPS, "--tolerance", 1e-13, "--type", "float64", "--coord", "E")


def launcher(ranks):
    if VENDOR == "openmpi":
        root = ["--allow-run-as-root"] if os.geteuid() == 0 else []
        return ["mpirun.openmpi", *root, "--oversubscribe", "--bind-to", "none", "-n", str(ranks)]
    return ["mpirun.mpich", "-n", str(ranks)]


def missing():
    if not (pathlib.Path(PROGRAM).parent / f"fiberloom_mpi_{VENDOR}.so").exists():
        return f"no module for {VENDOR} was built"
    if shutil.which(launcher(1)[0]) is None:
        return f"no {launcher(1)[0]} here"
    return None


class RankCase(Case):
    def on_ranks(self, ranks, *arguments):
        session = tempfile.TemporaryDirectory(prefix="ompi-")
        self.addCleanup(session.cleanup)
        process = subprocess.Popen([str(a) for a in (*launcher(ranks), PROGRAM, *arguments)], stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True, start_new_session=True,
                                   env={**CLEAN, "SKYLOOM_TEST_JOB": str(self.out), "OMPI_MCA_orte_tmpdir_base": session.name})
        self.addCleanup(self.stop, process)
        return process

    @staticmethod
    def stop(process):
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()

    def run_ranks(self, ranks, *arguments, code=0):
        process = self.on_ranks(ranks, *arguments)
        output, errors = process.communicate(timeout=60)
        self.assertEqual(process.returncode, code, output + errors)
        return errors

    def pids(self):
        """Process ids of the ranks of this test's job, in the order of their numbers."""
        found = {}
        for folder in pathlib.Path("/proc").glob("[0-9]*"):
            try:
                if os.path.realpath(folder / "exe") != os.path.realpath(PROGRAM):
                    continue
                pairs = (folder / "environ").read_bytes().split(b"\0")
            except OSError:
                continue
            table = dict(pair.split(b"=", 1) for pair in pairs if b"=" in pair)
            rank = table.get(b"OMPI_COMM_WORLD_RANK", table.get(b"PMI_RANK"))
            if rank is not None and table.get(b"SKYLOOM_TEST_JOB", b"").decode() == str(self.out):
                found[int(rank)] = int(folder.name)
        return [found[rank] for rank in sorted(found)]

    def wait_for(self, condition):
        end = time.monotonic() + 30
        while not condition():
            self.assertLess(time.monotonic(), end)
            time.sleep(0.02)


class Same(RankCase):
    def test_maps_are_those_of_one_process(self):
        self.ok("map", *self.observations, "-o", self.out / "alone", *TIGHT, "--quiet")
        for ranks in (2, 3):
            here = self.out / str(ranks)
            self.run_ranks(ranks, "map", *self.observations, "-o", here, *TIGHT, "--json", self.out / "s.json", "--threads", 1)
            summary = json.loads((self.out / "s.json").read_text())
            self.assertEqual(summary["ranks"]["size"], ranks)
            self.assertEqual(summary["data"]["samples"], 2 * 14 * 3000)
            self.assertEqual((here / "hits.fits").read_bytes(), (self.out / "alone/hits.fits").read_bytes())
            for name in ("binned", "map"):
                one, _ = read_map(self.out / f"alone/{name}.fits", "d")
                many, _ = read_map(here / f"{name}.fits", "d")
                size = max(abs(v) for row in one for v in row if v > -1e30)
                worst = max(abs(a - b) for x, y in zip(one, many) for a, b in zip(x, y))
                self.assertLess(worst / size, 1e-12, name)
        again = self.out / "again"
        self.run_ranks(3, "map", *self.observations, "-o", again, *TIGHT, "--threads", 2)
        for path in sorted(again.iterdir()):
            self.assertEqual(path.read_bytes(), (self.out / f"3/{path.name}").read_bytes(), path.name)

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
        print(f"{VENDOR}: MPI open in {opened:.2f} s, all in {wall:.2f} s", file=sys.stderr)
        self.assertLess(opened, 5)  # 0.1 to 0.3 on a machine with nothing else to do


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
    reason = missing()
    if reason:
        print(f"skipped: {reason}")
        sys.exit(77)
    unittest.main()
