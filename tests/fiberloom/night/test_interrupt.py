# SPDX-License-Identifier: BSD-3-Clause
"""Killed, asked to stop, or not alone: nothing is lost, nothing is done twice."""
import json
import signal
import time
import unittest

from night_case import Case, finish

INTERRUPTED = 50


class Interrupt(Case):
    EXPOSURES = 6

    def setUp(self):
        super().setUp()
        self.tree.add_exposures(self.EXPOSURES)
        self.total = 3 * self.EXPOSURES

    def some_done(self):
        return len(self.names("receipts")) >= 3

    def undisturbed(self):
        self.out, out = self.work / "undisturbed", self.out
        self.night_ok("-q")
        expected = self.outputs()
        self.out = out
        return expected

    def test_kill_loses_only_what_was_in_flight(self):
        expected = self.undisturbed()
        process = self.start("-q", "--threads", "1")
        self.wait_for(self.some_done)
        process.send_signal(signal.SIGKILL)
        process.communicate()
        receipts = {n: self.state("receipts", n).read_bytes() for n in self.names("receipts")
                    if n.endswith(".json")}
        for path, data in self.outputs().items():
            if path.endswith(".fits"):
                self.assertEqual(data, expected[path])

        counts = self.counts()

        self.assertEqual(counts["up_to_date"], len(receipts))
        self.assertEqual(counts["done"], self.total - len(receipts))
        for name, text in receipts.items():
            self.assertEqual(self.state("receipts", name).read_bytes(), text)
        self.assertEqual(self.outputs(), expected)
        self.assert_tidy()

    def test_term_finishes_what_is_in_flight(self):
        process = self.start("--threads", "1")
        self.wait_for(self.some_done)
        process.send_signal(signal.SIGTERM)
        _, errors = finish(process, 60)
        self.assertEqual(process.returncode, INTERRUPTED, errors)
        self.assertIn("the same command does the rest", errors)
        self.assert_tidy()
        done = len(self.outputs())
        self.assertEqual(len(self.names("receipts")), done)
        self.assertLess(done, self.total)
        self.assertEqual(self.counts(), {"done": self.total - done, "up_to_date": done})

    def test_term_when_all_is_in_flight_is_success_or_a_clean_stop(self):
        process = self.start("-q", "-e", "1")
        self.wait_for(lambda: self.names("receipts"))
        process.send_signal(signal.SIGTERM)
        finish(process, 60)
        self.assertIn(process.returncode, (0, INTERRUPTED))
        self.assert_tidy()

    def test_a_second_term_quits_at_once(self):
        process = self.start("-q", "--threads", "1")
        self.wait_for(self.some_done)
        process.send_signal(signal.SIGSTOP)  # so that both come before it can end by itself
        process.send_signal(signal.SIGTERM)
        time.sleep(0.05)
        process.send_signal(signal.SIGCONT)
        time.sleep(0.01)
        process.send_signal(signal.SIGTERM)
        finish(process, 60)
        self.assertIn(process.returncode, (-signal.SIGTERM, INTERRUPTED))
        counts = self.counts()
        self.assertEqual(counts.get("done", 0) + counts.get("up_to_date", 0), self.total)
        self.assert_tidy()

    def test_two_runs_share_the_work_and_both_know_the_end(self):
        expected = self.undisturbed()
        paths = [self.work / f"summary-{i}.json" for i in range(2)]
        runs = [self.start("-q", "--threads", "1", "--json", path) for path in paths]
        for run in runs:
            _, errors = finish(run, 120)
            self.assertEqual(run.returncode, 0, errors)
        self.assertEqual(self.outputs(), expected)
        states = [{f["name"]: f["state"] for f in json.loads(p.read_text())["frames"]}
                  for p in paths]
        for name in states[0]:  # done by one of them, seen as done by the other
            self.assertEqual(sorted(s[name] for s in states), ["done", "up-to-date"], name)
        self.assert_tidy()

    def test_a_run_takes_over_from_one_that_is_killed_beside_it(self):
        first = self.start("-q", "--threads", "1")
        self.wait_for(lambda: self.names("claims"))
        first.send_signal(signal.SIGSTOP)  # alive, with frames in its hands
        second = self.start("-q")
        self.wait_for(lambda: len(self.names("receipts")) >= self.total - 8)
        self.assertIsNone(second.poll())  # waits for them: it must not say that all is done
        first.send_signal(signal.SIGKILL)
        first.communicate()
        _, errors = finish(second, 60)
        self.assertEqual(second.returncode, 0, errors)
        self.assertEqual(len(self.outputs()), self.total)

    def test_temporary_files_of_the_dead_are_removed_and_of_the_living_kept(self):
        folder = self.frame_path("r0", 1).parent
        folder.mkdir(parents=True)
        living = folder / "frame-r0-00000001.fits.tmp-1-0"
        living.write_bytes(b"somebody writes here")
        self.night_ok("-q")
        self.assertTrue(living.exists())


if __name__ == "__main__":
    unittest.main()
