# SPDX-License-Identifier: BSD-3-Clause
"""Random kills, truncations and a full disk, until all is done: every frame has the bytes of the
undisturbed run. FIBERLOOM_SOAK_EXPOSURES (10) times three frames; FIBERLOOM_SOAK_SEED repeats a run."""
import os
import random
import signal
import time
import unittest

from night_case import Case, finish

EXPOSURES = int(os.environ.get("FIBERLOOM_SOAK_EXPOSURES", "10"))
SEED = int(os.environ.get("FIBERLOOM_SOAK_SEED", "0")) or random.randrange(1, 10**6)


class Soak(Case):
    def start(self, *more, **keywords):
        # A claim that was spoiled counts as alive until the time-out.
        return super().start("--claim-timeout", "2", *more, **keywords)

    def undisturbed(self):
        self.out, out = self.work / "undisturbed", self.out
        start = time.monotonic()
        self.night_ok("-q", timeout=3000)
        took = time.monotonic() - start
        expected = self.outputs()
        self.out = out
        return expected, took

    def damage(self):
        """Truncates, removes or spoils some outputs and some of the run's own files."""
        files = [p for p in self.out.rglob("*") if p.is_file()]
        for path in self.random.sample(files, min(len(files), 1 + EXPOSURES // 10)):
            what = self.random.randrange(3)
            if what == 0:
                os.truncate(path, self.random.randrange(path.stat().st_size + 1))
            elif what == 1:
                path.unlink()
            else:
                path.write_bytes(os.urandom(500))

    def disturbed(self, took):
        """One run that is killed, asked to stop, alone or not, with room on the disk or without."""
        limit = 60000 if self.random.random() < 0.15 else None
        runs = [self.start("-q", "--threads", str(self.random.randint(1, 3)), file_limit=limit)
                for _ in range(self.random.choice((1, 1, 2)))]
        time.sleep(self.random.random() * took * 0.5)
        number = self.random.choice((signal.SIGKILL, signal.SIGKILL, signal.SIGTERM))
        for run in runs:
            run.send_signal(number)
        for run in runs:
            _, errors = finish(run, 300)
            self.assertIn(run.returncode, (0, 31, 50, -signal.SIGKILL, -signal.SIGTERM), errors)

    def test_every_frame_survives(self):
        self.random = random.Random(SEED)
        print(f"seed {SEED}, {3 * EXPOSURES} frames", flush=True)
        self.tree.add_exposures(EXPOSURES)
        expected, took = self.undisturbed()
        self.assertEqual(len(expected), 3 * EXPOSURES)
        rounds = 5 + EXPOSURES // 5
        for _ in range(rounds):
            self.disturbed(took)
            # What stands under a final name is whole, at any moment.
            for path, data in self.outputs().items():
                if ".tmp-" not in path:
                    self.assertEqual(data, expected[path], path)
            if self.random.random() < 0.5:
                self.damage()
                time.sleep(2.2)  # a temporary file whose claim was damaged is nobody's only with age
                self.night_ok("-q", "--verify", timeout=3000)
                self.assertEqual(self.outputs(), expected)
                for path in self.random.sample(sorted(self.out.rglob("frame-*.fits")),
                                               max(1, 2 * EXPOSURES)):
                    path.unlink()  # so that there is work again
        self.night_ok("-q", "--verify", timeout=3000)
        self.assertEqual(self.outputs(), expected)
        self.assert_tidy()


if __name__ == "__main__":
    unittest.main()
