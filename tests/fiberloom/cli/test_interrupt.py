# SPDX-License-Identifier: BSD-3-Clause
"""Killed at any moment: the final name holds a complete frame or nothing."""
import signal
import subprocess
import time
import unittest

from run_fiberloom import PROGRAM, Case


class Interrupt(Case):
    def kill_after(self, seconds, number):
        process = subprocess.Popen([PROGRAM, *map(str, self.command("--quiet"))],
                                   stderr=subprocess.PIPE, text=True)
        time.sleep(seconds)
        process.send_signal(number)
        _, errors = process.communicate(timeout=60)
        return process.returncode, errors

    def moments(self):
        """A spread of delays over the time that a whole run takes, and that run's bytes."""
        start = time.monotonic()
        self.extract_ok()
        took = time.monotonic() - start
        whole = self.frame.read_bytes()
        self.frame.unlink()
        return [took * k / 12 for k in range(13)], whole

    def check(self, whole):
        if self.frame.exists():
            self.assertEqual(self.frame.read_bytes(), whole)
            self.frame.unlink()

    def test_kill_leaves_no_partial_frame(self):
        delays, whole = self.moments()
        for delay in delays:
            self.kill_after(delay, signal.SIGKILL)
            self.check(whole)

    def test_term_leaves_nothing_behind(self):
        delays, whole = self.moments()
        for delay in delays:
            code, errors = self.kill_after(delay, signal.SIGTERM)
            self.assertIn(code, (0, 50, -signal.SIGTERM), errors)
            if code == 50:
                self.assertEqual(len(errors.splitlines()), 1, errors)
                self.assertFalse(self.frame.exists())
            self.check(whole)
            self.assertEqual(self.files(), [])


if __name__ == "__main__":
    unittest.main()
