# SPDX-License-Identifier: BSD-3-Clause
"""A run that is killed in the middle of its iterations goes on from its checkpoint, to the same bytes."""
import json
import os
import signal
import struct
import subprocess
import time
import unittest

from run_skyloom import MAPS, PROGRAM, Case

LONG = (*MAPS, "--step", 1, "--tolerance", 0, "--iterations", 300, "--quiet")  # it does not converge

HEAD = 24 + 65 + 65  # bytes of text before the numbers


class Killed(Case):
    def start(self, *more):
        words = ("map", *self.observations, "-o", self.out / "maps", *LONG, "--checkpoint", self.out / "state",
                 "--checkpoint-seconds", 0, *more)
        run = subprocess.Popen([PROGRAM, *map(str, words)], stderr=subprocess.PIPE, text=True, env=os.environ)
        self.addCleanup(run.wait)
        self.addCleanup(run.kill)
        return run

    def stop(self, number):
        """Lets a run write some checkpoints and ends it; returns its exit code."""
        before = self.written()
        run = self.start()
        end = time.monotonic() + 30
        while self.written() - before < 5:
            self.assertIsNone(run.poll(), "it ended before it was ended")
            self.assertLess(time.monotonic(), end)
            time.sleep(0.002)
        run.send_signal(number)
        errors = run.communicate(timeout=30)[1]
        self.assertFalse((self.out / "maps").exists())
        return run.returncode, errors

    def written(self):
        """Iterations of the latest checkpoint, from its third number."""
        found = 0
        for path in self.out.glob("state.*"):
            try:
                data = path.read_bytes()
            except OSError:
                continue  # it is being replaced
            if len(data) > 180:
                found = max(found, int(struct.unpack_from("<d", data, HEAD + 16)[0]))
        return found

    def test_kills_do_not_show(self):
        self.ok("map", *self.observations, "-o", self.out / "whole", *LONG, "--json", self.out / "w.json")
        self.assertEqual(self.stop(signal.SIGKILL)[0], -signal.SIGKILL)
        first = self.written()
        code, errors = self.stop(signal.SIGTERM)
        self.assertEqual(code, 50, errors)
        self.assertEqual(self.stop(signal.SIGKILL)[0], -signal.SIGKILL)
        self.assertGreater(self.written(), first)
        last = self.written()
        run = self.start("--json", self.out / "s.json", "--threads", 2)
        run.communicate(timeout=60)
        self.assertEqual(run.returncode, 0)
        whole, parts = (json.loads((self.out / name).read_text()) for name in ("w.json", "s.json"))
        self.assertEqual(parts["residuals"], whole["residuals"])
        self.assertEqual(parts["maps"]["recalled_iterations"], last)
        for path in sorted((self.out / "whole").iterdir()):
            self.assertEqual((self.out / "maps" / path.name).read_bytes(), path.read_bytes(), path.name)
        self.assertEqual(list(self.out.glob("state*")), [])

    def test_what_is_no_checkpoint_is_not_written_over(self):
        (self.out / "state.0").write_text("a letter")
        self.fails(14, "state.0: no checkpoint", "map", self.observations[0], "-o", self.out / "maps", *MAPS,
                   "--checkpoint", self.out / "state", "--checkpoint-seconds", 0)
        self.assertEqual((self.out / "state.0").read_text(), "a letter")

    def test_other_data_begin_anew(self):
        self.stop(signal.SIGKILL)
        done = self.ok("map", self.observations[0], "-o", self.out / "one", *MAPS, "--checkpoint", self.out / "state")
        self.assertIn("other data or options", done.stderr)
        self.ok("map", self.observations[0], "-o", self.out / "alone", *MAPS)
        self.assertEqual((self.out / "one/map.fits").read_bytes(), (self.out / "alone/map.fits").read_bytes())


if __name__ == "__main__":
    unittest.main()
