# SPDX-License-Identifier: BSD-3-Clause
"""A night as Slurm job arrays: what is submitted, and on a Slurm of one node what comes of it."""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import unittest

from test_chain import CLEAN, FIELDS, NIGHT, PROGRAM, TILE, Chain, fiberloom

SOURCE = pathlib.Path(__file__).resolve().parents[3]
JOB = """#!/bin/bash
set -euo pipefail
"$@" --submit --sbatch "-t 10"
while [ -n "$(squeue -h -o %i --name="$(squeue -h -o %j | grep '^fiberloom-' | sort -u | paste -sd,)")" ]; do sleep 0.5; done
"""


class Arrays(Chain):
    few = ("--cameras", "b0,r0")

    def scripts(self, *more, **keywords):
        text = self.night(*self.few, "--submit", "--dry-run", *more, **keywords).stdout
        return {m[1]: (m[2] or "", m[3]) for m in
                re.finditer(r"^# [^\n]*/jobs/(\S+)\.sbatch(?:  --dependency=(\S+))?\n(.*?)(?=^# [^\n]*/jobs/\S+\.sbatch|\Z)", text, re.M | re.S)}

    def test_a_plan_is_an_array_a_step_each_after_what_it_needs(self):
        scripts = self.scripts("--sbatch", "-p debug", until="catalogue")
        self.assertEqual(list(scripts), ["extract", "fiberflat", "fiberflat-2", "sky", "stdstars", "fluxcalib", "calibrate", "qa",
                                         "coadd", "redshift", "catalogue", "catalogue-2"])
        self.assertEqual(scripts["extract"][0], "")
        self.assertEqual(scripts["fiberflat"][0], "afterany:extract")
        self.assertEqual(scripts["calibrate"][0], "afterany:extract:fiberflat-2,aftercorr:sky:fluxcalib")
        self.assertEqual(scripts["redshift"][0], "aftercorr:coadd")
        self.assertIn("#SBATCH --array=0-3\n", scripts["sky"][1])
        self.assertIn("#SBATCH --array=0-0\n", scripts["catalogue"][1], "one process writes a SQLite file")
        self.assertIn("#SBATCH -p debug\n", scripts["sky"][1])
        self.assertIn(f"sky-b0-{FIELDS[0]:08d}\n", scripts["sky"][1])
        self.assertNotIn("--submit'", scripts["sky"][1], "an element submits nothing")
        self.assertEqual(list(self.out.iterdir()), [], "a plan writes nothing")
        self.assertIn("#SBATCH --array=0-1\n", self.scripts("--array-size", "2", until="sky")["sky"][1])

    def test_named_tasks_are_done_alone(self):
        name = f"b0-{FIELDS[0]:08d}"
        states = self.states("--tasks", f"{name},r0-{FIELDS[0]:08d}", until="sky")
        self.assertEqual(sorted(states.items()), [(name, "done"), (f"r0-{FIELDS[0]:08d}", "done")])
        self.assertFalse((self.out / "status.html").exists(), "a page of two tasks would take the place of that of all")
        lacks = self.night("-q", "--tasks", f"sky-{name}", until="sky", code=3)
        self.assertIn("is not there", lacks.stderr)
        self.assertIn("no task of this night is named moon", self.night("--tasks", "moon", until="sky", code=2).stderr)
        self.assertIn("without --tasks", self.night("--tasks", name, "--submit", until="sky", code=2).stderr)

    def test_without_a_slurm_it_is_one_line(self):
        nowhere = {**CLEAN, "PATH": str(self.work)}
        words = self.command(*self.few, "-q", "--submit", until="sky")
        done = subprocess.run([PROGRAM, *map(str, words)], capture_output=True, text=True, check=False, env=nowhere)
        self.assertEqual(done.returncode, 15, done.stderr)
        self.assertEqual(len(done.stderr.strip().splitlines()), 1)
        self.assertIn("sbatch does not take", done.stderr)


class OneNode(Chain):
    few = ("--cameras", "b0,r0")

    @unittest.skipUnless(shutil.which("sbatch") and shutil.which("munged") and os.getuid() == 0,
                         "needs Slurm's and munge's programs, and root")
    def test_arrays_make_the_bytes_of_one_process(self):
        self.night("-q", *self.few)
        expected = self.outputs()
        self.out = self.work / "arrays"
        job = self.work / "job.sh"
        job.write_text(JOB)
        words = self.command(*self.few, "--threads", "1")
        done = subprocess.run([SOURCE / "scripts/slurm-one-node", "--timeout", "400", job, PROGRAM, *map(str, words)], capture_output=True,
                              text=True, check=False, env=CLEAN, timeout=500)
        logs = "".join(p.read_text() for p in self.out.glob(".fiberloom/jobs/*.log"))
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr + logs)
        self.assertEqual(sorted(self.outputs()), sorted(expected), done.stdout + done.stderr + logs)
        self.assertEqual([name for name, data in self.outputs().items() if data != expected[name]], [])
        again = self.summary(*self.few)
        self.assertEqual(again["counts"]["up_to_date"], again["counts"]["tasks"])
        self.assertIn("done", fiberloom("status", self.out, "--why", f"coadd-0-{TILE}-thru{NIGHT}").stdout)


if __name__ == "__main__":
    sys.exit(unittest.main())
