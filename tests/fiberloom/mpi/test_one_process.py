# SPDX-License-Identifier: BSD-3-Clause
"""Commands that are one process's work under real launchers: rank 0 alone, or a refusal that names what shares."""
import subprocess

import mpi_case
from mpi_case import PROGRAM
from launch import CLEAN, launcher

GRID = mpi_case.night_case.GRID


class OneProcess(mpi_case.MpiCase):
    def launch(self, ranks, *arguments, environment=None):
        return subprocess.run([str(a) for a in (*launcher(ranks), *arguments)], capture_output=True, text=True, timeout=100,
                              env={**CLEAN, **(environment or {})}, cwd=self.work)

    def extract(self, *more):
        self.tree.add("r0", 1)
        return [PROGRAM, "extract", "-i", self.tree.image_path("r0", 1), "-p", self.tree.psf_path("r0", 1),
                "-w", GRID, "--bundlesize", "5", *more]

    def test_rank_0_does_a_frame_alone_and_the_others_end_well(self):
        alone, ranks = self.work / "alone.fits", self.work / "ranks.fits"
        subprocess.run([str(a) for a in self.extract("-o", alone, "--quiet")], check=True, env=CLEAN)
        result = self.launch(3, *self.extract("-o", ranks, "--mpi"))
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(ranks.read_bytes(), alone.read_bytes())
        self.assertEqual(result.stderr.count("wrote "), 1, result.stderr)
        self.assertIn("rank 0 of 3 works alone on ", result.stderr)

    def test_without_mpi_several_are_refused_with_what_shares_the_work(self):
        frame = self.work / "none.fits"
        result = self.launch(2, *self.extract("-o", frame))
        self.assertNotEqual(result.returncode, 0)
        self.assertIn("fiberloom night and expose share frames among ranks; --mpi lets rank 0 do it alone", result.stderr)
        self.assertFalse(frame.exists())
        result = self.launch(2, PROGRAM, "simulate", "-o", self.work / "sim", "--nspec", "1")
        self.assertIn("each rank would do the same", result.stderr)
        self.assertFalse((self.work / "sim").exists())

    def test_with_mpi_off_each_does_its_own(self):
        rank = "${OMPI_COMM_WORLD_RANK:-$PMI_RANK}"
        words = " ".join(map(str, self.extract("--quiet", "--mpi", "off", "-o", f"{self.work}/own-{rank}.fits")))
        result = self.launch(2, "sh", "-c", words)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(len(list(self.work.glob("own-*.fits"))), 2)

    def test_a_fault_of_rank_0_is_the_launch_s(self):
        result = self.launch(2, *self.extract("-o", self.work / "x.fits", "--mpi", "-s", "5000"))
        self.assertEqual(result.returncode, 22, result.stderr)

    def test_tasks_of_srun_without_a_plugin_are_ranks_too(self):
        frame = self.work / "task.fits"
        for task, made in (("1", False), ("0", True)):
            environment = {**CLEAN, "SLURM_STEP_ID": "0", "SLURM_STEP_NUM_TASKS": "4", "SLURM_PROCID": task}
            done = subprocess.run([str(a) for a in self.extract("-o", frame, "--mpi", "--quiet")], env=environment,
                                  capture_output=True, text=True)
            self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))
            self.assertEqual(frame.exists(), made)
            done = subprocess.run([str(a) for a in self.extract("-o", frame)], env=environment, capture_output=True, text=True)
            self.assertEqual(done.returncode, 2)
            self.assertIn(f"started by srun as rank {task} of 4", done.stderr)

    def test_one_rank_is_nobody_s_company(self):
        result = self.launch(1, *self.extract("-o", self.work / "one.fits", "--quiet"))
        self.assertEqual((result.returncode, result.stderr), (0, ""))


if __name__ == "__main__":
    mpi_case.main()
