# SPDX-License-Identifier: BSD-3-Clause
"""The border to MPI alone: messages of all sizes between all ranks, and a rank that dies at once."""
import subprocess
import time
import unittest

import mpi_case
from mpi_case import BIN
from launch import CLEAN, launcher


class Ranks(unittest.TestCase):
    def run_exercise(self, ranks, *more):
        return subprocess.run([*launcher(ranks), BIN / "exercise_ranks", *more], env=CLEAN, timeout=100,
                              capture_output=True, text=True)

    def test_every_message_arrives_whole_and_in_order(self):
        for ranks in (1, 2, 3):
            result = self.run_exercise(ranks)
            self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
            self.assertEqual(result.stdout.count(": good"), ranks)

    def test_a_rank_that_kills_itself_ends_the_job(self):
        start = time.monotonic()
        self.assertNotEqual(self.run_exercise(3, "die").returncode, 0)
        self.assertLess(time.monotonic() - start, 15)


if __name__ == "__main__":
    mpi_case.main()
