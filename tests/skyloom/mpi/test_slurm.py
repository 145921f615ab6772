# SPDX-License-Identifier: BSD-3-Clause
"""A map by two ranks that a Slurm of one node starts: the bytes of two ranks of mpirun."""
import os
import pathlib
import shutil
import subprocess
import sys
import unittest

HERE = pathlib.Path(__file__).resolve()
sys.path[:0] = [str(HERE.parents[1] / "cli"), *(str(HERE.parents[2] / name) for name in ("sister", "ranks"))]
import launch  # noqa: E402
from run_skyloom import MAPS, PROGRAM, Case  # noqa: E402

SLURM = HERE.parents[3] / "scripts/slurm-one-node"
JOB = """#!/bin/bash
#SBATCH --ntasks=2
exec srun --mpi=pmi2 --kill-on-bad-exit=1 --ntasks=2 --cpus-per-task=1 "$@"
"""


class OneNode(Case):
    def test_srun_makes_the_bytes_of_mpirun(self):
        command = [PROGRAM, "map", *self.observations, *MAPS, "--threads", 1]
        process = launch.start(self, 2, [*command, "-o", self.out / "mpirun"], self.out)
        self.assertEqual(process.wait(timeout=60), 0, process.communicate())
        job = self.out / "job.sh"
        job.write_text(JOB)
        words = [*command, "-o", self.out / "srun", "--json", self.out / "srun.json"]
        done = subprocess.run([SLURM, "--timeout", "60", job, *map(str, words)], capture_output=True, text=True, check=False, env=launch.CLEAN,
                              timeout=120)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn('"size": 2', (self.out / "srun.json").read_text())
        files = sorted(path.name for path in (self.out / "mpirun").iterdir())
        self.assertEqual(sorted(path.name for path in (self.out / "srun").iterdir()), files)
        self.assertIn("map.fits", files)
        for name in files:
            self.assertEqual((self.out / "srun" / name).read_bytes(), (self.out / "mpirun" / name).read_bytes(), name)


if __name__ == "__main__":
    if not (shutil.which("sbatch") and shutil.which("munged") and os.getuid() == 0):
        print("skipped: needs Slurm's and munge's programs, and root")
        sys.exit(77)
    reason = launch.missing(PROGRAM)
    if reason:
        print(f"skipped: {reason}")
        sys.exit(77)
    unittest.main()
