# SPDX-License-Identifier: BSD-3-Clause
"""Ranks that die, are stopped or meet a bad frame: the job ends soon, nothing is lost, and the same command
does what is left."""
import os
import re
import signal
import time

import mpi_case
import night_case
from mpi_case import CUT, MpiCase

SOON = 15  # seconds; the time-out of a silent rank is 20, so this is the launcher's doing


class BusyCase(MpiCase):
    def finished(self):
        """Outputs under their final names; what was being written has another."""
        return {name: data for name, data in self.outputs().items() if name.endswith(".fits")}

    def busy_ranks(self, ranks):
        """Process ids, looked up before there is work, so that the job is not over when they are known."""
        self.wait_for(lambda: len(self.rank_pids()) == ranks)
        pids = self.rank_pids()
        self.wait_for(lambda: any(self.out.rglob("frame-*.fits")))
        return pids


class Killed(BusyCase):
    def kill_when_busy(self, ranks, victim, *more):
        """Kills a rank once the first frame is there; the seconds until the launcher gave up."""
        process = self.on_ranks(ranks, "--quiet", "--threads", "1", *more)
        pids = self.busy_ranks(ranks)
        os.kill(pids[victim], signal.SIGKILL)
        start = time.monotonic()
        night_case.finish(process, 60)
        self.assertNotEqual(process.returncode, 0)
        return time.monotonic() - start

    def test_a_killed_rank_ends_the_job_and_the_rerun_does_the_rest(self):
        self.tree.add_exposures(25)
        self.night_ok("--quiet", "--threads", "2")
        alone, self.out = self.outputs(), self.work / "killed"
        for victim in (2, 0):
            took = self.kill_when_busy(3, victim)
            self.assertLess(took, SOON)
            self.wait_for(lambda: not self.rank_pids())
            for name, data in self.finished().items():
                self.assertEqual(data, alone[name])
                if victim == 2:
                    (self.out / name).unlink()  # something to do for the second victim
        self.run_ranks(3, "--quiet")
        self.assertEqual(self.outputs(), alone)
        self.assert_tidy()

    def test_a_stopped_rank_is_taken_for_dead(self):
        """SIGSTOP: a rank that neither works nor exits, as on a node that hangs."""
        self.tree.add_exposures(30)
        process = self.on_ranks(3, "--quiet", "--threads", "1", "--rank-silence", "2")
        victim = self.busy_ranks(3)[1]
        os.kill(victim, signal.SIGSTOP)
        try:
            _, errors = process.communicate(timeout=60)
        finally:
            try:
                os.kill(victim, signal.SIGKILL)
            except ProcessLookupError:
                pass
        self.assertNotEqual(process.returncode, 0)
        self.assertIn("taken for dead", errors)


class Stopped(BusyCase):
    def test_sigterm_to_all_ranks_finishes_what_is_in_flight(self):
        self.tree.add_exposures(30)
        process = self.on_ranks(3, "--threads", "1")
        for pid in self.busy_ranks(3):
            os.kill(pid, signal.SIGTERM)
        _, errors = night_case.finish(process, 60)
        self.assertIn("the same command does the rest", errors)
        self.assertLess(len(self.outputs()), 90)
        self.assert_tidy()
        self.run_ranks(2, "--quiet")
        self.assertEqual(len(self.outputs()), 90)


class TwoRuns(MpiCase):
    def test_two_jobs_on_one_folder_share_the_work(self):
        self.tree.add_exposures(12)
        first, second = self.on_ranks(2), self.on_ranks(2, *CUT)
        told = [night_case.finish(process, 100)[1] for process in (first, second)]
        self.assertEqual([first.returncode, second.returncode], [0, 0], told)
        self.assertEqual(len(self.outputs()), 36)
        done = [int(d) for errors in told for d in re.findall(r"36 frames: (\d+) done", errors)]
        self.assertEqual(sum(done), 36, told)
        self.assert_tidy()


class BadFrames(MpiCase):
    def test_a_bad_frame_is_skipped_whole_or_in_parts(self):
        self.tree.add_exposures(1)
        self.tree.add("r0", 1, image=self.tree.image_bytes(1)[:-30000])
        for number, options in enumerate(([], CUT)):
            out = self.work / f"out{number}"
            errors = self.run_ranks(3, "--retry", "1", *options, out=out, code=None)
            self.assertEqual(len(self.outputs(out)), 2, errors)
            self.assertIn("1 failed", errors)

    def test_a_missing_input_is_told_and_the_others_done(self):
        self.tree.add_exposures(1)
        self.tree.psf_path("b0", 1).unlink()
        errors = self.run_ranks(2, code=None)
        self.assertEqual(len(self.outputs()), 2)
        self.assertIn("1 missing", errors)

    def test_one_output_that_cannot_be_written_is_one_failure_whole_or_in_parts(self):
        self.tree.add_exposures(1)
        for number, options in enumerate(([], CUT)):
            self.out = self.work / f"out{number}"
            self.frame_path("r0", 1).mkdir(parents=True)
            errors = self.run_ranks(3, *options, code=3)
            self.assertIn("1 failed", errors)
            self.frame_path("r0", 1).rmdir()
            self.run_ranks(2, "--quiet", *options)  # the machine's fault: tried again by itself
            self.assertEqual(len(self.outputs()), 3)

    def test_a_watch_takes_a_truncated_file_once_it_is_whole(self):
        data = self.tree.image_bytes(1)
        path = self.tree.add("r0", 1, image=data[:len(data) // 2])
        process = self.on_ranks(2, "--quiet", *CUT, "--watch", "--poll", "0.05", "--settle", "0.2", "--watch-idle", "3")
        self.wait_for(lambda: self.names("failed") == ["r0-00000001.json"])
        path.write_bytes(data)
        _, errors = night_case.finish(process, 60)
        self.assertEqual(process.returncode, 0, errors)
        self.assertEqual(self.frame_path("r0", 1).read_bytes(), self.extracted("r0", 1))

    def test_other_options_are_refused(self):
        self.tree.add_exposures(1)
        self.run_ranks(2, "--quiet")
        errors = self.run_ranks(2, "--quiet", "--psferr", "0.02", code=None)
        self.assertIn("--psferr 0.04 there, 0.02 here", errors)
        self.assertEqual(self.counts(), {"up_to_date": 3})

    def test_no_frames_at_all_is_one_clear_error(self):
        self.tree.root.mkdir()
        errors = self.run_ranks(2, code=None)
        self.assertIn("no frames", errors)

    def test_what_is_wrong_for_all_ranks_is_told_once(self):
        self.tree.add_exposures(1)
        (self.work / "file").touch()
        for options, out in ((["--nonsense"], self.out), (["--threads", "none"], self.out), ([], self.work / "file" / "out")):
            errors = self.run_ranks(4, *options, out=out, code=None)
            self.assertEqual(errors.count("fiberloom: error:"), 1, errors)
        errors = self.run_ranks(4, "--nonsense", "--mpi", "off", code=None)
        self.assertIn("fiberloom: error: rank ", errors)


if __name__ == "__main__":
    mpi_case.main()
