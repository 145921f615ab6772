# SPDX-License-Identifier: BSD-3-Clause
"""The chain under kills at every step, a full disk, spoiled files, clocks that jump and a locked ledger: what stands
under a final name is whole at any moment, and at the end every file has the bytes of an undisturbed run.
FIBERLOOM_SOAK_ROUNDS (12) disturbances by chance; FIBERLOOM_SOAK_SEED repeats a run."""
import os
import pathlib
import random
import resource
import shutil
import signal
import sqlite3
import subprocess
import time
import unittest

from test_chain import CLEAN, PROGRAM, Chain

ROUNDS = int(os.environ.get("FIBERLOOM_SOAK_ROUNDS", "12"))
SEED = int(os.environ.get("FIBERLOOM_SOAK_SEED", "0")) or random.randrange(1, 10**6)
STEPS = ("frame", "fiberflat", "fiberflatnight", "sky", "stdstars", "fluxcalib", "cframe", "exposure-qa", "coadd", "redrock")
FAKETIME = next(iter(pathlib.Path("/usr/lib").glob("*/faketime/libfaketime.so.1")), None)
ENDED = (0, 3, 31, 50, -signal.SIGKILL, -signal.SIGTERM)  # 3: tasks failed, told of; 31: not written; 50: asked to stop


def can_mount():
    return os.geteuid() == 0 and shutil.which("mount") is not None


class Soak(Chain):
    few = ("--cameras", "b0,r0", "--claim-timeout", "2")

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.random = random.Random(SEED)
        print(f"seed {SEED}, {ROUNDS} rounds", flush=True)

    def setUp(self):
        super().setUp()
        start = time.monotonic()
        self.night("-q", *self.few)
        self.took = time.monotonic() - start
        self.expected = self.outputs()
        self.out = self.work / "disturbed"
        self.addCleanup(shutil.rmtree, self.out, True)

    def start(self, *more, file_limit=None, env=None):
        def limit():
            if file_limit:
                resource.setrlimit(resource.RLIMIT_FSIZE, (file_limit, file_limit))
        threads = str(self.random.randint(1, 3))
        command = [PROGRAM, *map(str, self.command(*self.few, "-q", "--threads", threads, *more))]
        return subprocess.Popen(command, env={**CLEAN, **(env or {})}, preexec_fn=limit, stderr=subprocess.PIPE, text=True)

    def finish(self, run, codes=ENDED):
        _, errors = run.communicate(timeout=300)
        self.assertIn(run.returncode, codes, errors)
        return errors

    def assert_whole(self):
        for name, data in self.outputs().items():
            if ".tmp-" not in name:
                self.assertEqual(data == self.expected[name], True, name)

    def assert_mended(self, *more):
        time.sleep(2.2)  # a temporary file whose claim was damaged is nobody's only with age
        self.finish(self.start(*more), (0,))
        self.assertEqual(sorted(self.outputs()), sorted(self.expected))
        self.assert_whole()

    def begun(self, step):
        """Has the step's first file been begun, or made? A step's name may begin another's."""
        for path in self.out.rglob("*"):
            if path.name.split("-0")[0].split("-b0")[0].split("-r0")[0].lstrip(".") == step:
                return True
        return False

    def test_a_kill_at_every_step(self):
        for step in STEPS:
            run = self.start()
            while run.poll() is None and not self.begun(step):
                time.sleep(0.002)
            run.send_signal(signal.SIGKILL)
            self.finish(run, (0, -signal.SIGKILL))
            self.assertTrue(self.begun(step), step)
            self.assert_whole()
        self.assert_mended()
        self.assert_tidy()

    @unittest.skipUnless(can_mount(), "a small disk of one's own needs root")
    def test_a_disk_that_is_full_and_then_larger(self):
        self.out.mkdir()
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=2m", "none", self.out], check=True)
        self.addCleanup(subprocess.run, ["umount", self.out], check=True)
        for size in ("2m", "4m", "9m"):
            subprocess.run(["mount", "-o", f"remount,size={size}", self.out], check=True)
            errors = self.finish(self.start(), (3, 31))
            self.assertIn("No space left on device", errors)
            self.assert_whole()
        subprocess.run(["mount", "-o", "remount,size=200m", self.out], check=True)
        self.assert_mended()
        self.assert_tidy()

    def test_a_ledger_that_somebody_locks_holds_nothing_up(self):
        self.night("-q", *self.few, until="sky")
        with sqlite3.connect(self.out / ".fiberloom/ledger.sqlite", isolation_level=None) as other:
            other.execute("BEGIN EXCLUSIVE")
            start = time.monotonic()
            self.finish(self.start(), (0,))
            self.assertLess(time.monotonic() - start, 60 + 4 * self.took)
            other.execute("ROLLBACK")
        self.assert_mended()

    @unittest.skipUnless(FAKETIME, "needs libfaketime")
    def test_a_clock_that_jumps(self):
        for jump in ("+400d", "-400d", "+3h", "-1h"):
            env = {"LD_PRELOAD": str(FAKETIME), "FAKETIME": jump, "FAKETIME_DONT_FAKE_MONOTONIC": "1", "NO_FAKE_STAT": "1"}
            run = self.start(env=env)
            time.sleep(self.random.random() * self.took)
            run.send_signal(signal.SIGKILL)
            self.finish(run)
            self.assert_whole()
        self.assert_mended()
        self.assertEqual(self.summary(*self.few)["counts"]["done"], 0)

    def damage(self):
        """Truncates, removes or spoils some files of every step and some of the run's own."""
        files = sorted(p for p in self.out.rglob("*") if p.is_file())
        for path in self.random.sample(files, min(len(files), 4)):
            what = self.random.randrange(3)
            if what == 0:
                os.truncate(path, self.random.randrange(path.stat().st_size + 1))
            elif what == 1:
                path.unlink()
            else:
                path.write_bytes(self.random.randbytes(500))

    def test_chance(self):
        for _ in range(ROUNDS):
            limit = 60000 if self.random.random() < 0.2 else None
            runs = [self.start(file_limit=limit) for _ in range(self.random.choice((1, 1, 2)))]
            time.sleep(self.random.random() * self.took)
            number = self.random.choice((signal.SIGKILL, signal.SIGKILL, signal.SIGTERM))
            for run in runs:
                run.send_signal(number)
            for run in runs:
                self.finish(run)
            self.assert_whole()
            if self.random.random() < 0.6:
                self.damage()
                self.assert_mended("--verify")
                for path in self.random.sample(sorted(self.out.rglob("*.fits")), 8):
                    path.unlink()  # so that there is work again
        self.assert_mended("--verify")
        self.assert_tidy()


del Chain  # its own tests are none

if __name__ == "__main__":
    unittest.main()
