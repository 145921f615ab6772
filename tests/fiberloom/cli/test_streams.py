# SPDX-License-Identifier: BSD-3-Clause
"""Standard output that is full, closed or nobody's; signals; what progress shows on a terminal."""
import fcntl
import os
import pty
import re
import signal
import subprocess
import time
import unittest

from run_fiberloom import PROGRAM, Case


def setUpModule():
    """Who runs the tests in the background or under nohup has some of these ignored, and children inherit that."""
    for number in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_DFL)


def start(arguments, **more):
    return subprocess.Popen([PROGRAM, *map(str, arguments)], stderr=subprocess.PIPE, text=True, **more)


class Output(Case):
    """Every command that writes to standard output."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.made = cls.inputs / "made.fits"
        done = cls.program("extract", "-i", cls.image, "-p", cls.psf, "-o", cls.made, "--bundlesize", "5", "--quiet")
        assert done.returncode == 0, done.stderr

    def talkers(self):
        return {"version": ["--version"], "help": ["--help"], "help of a command": ["extract", "--help"],
                "manual": ["manual"], "completion": ["completion", "bash"], "info": ["info", self.made],
                "compare": ["compare", self.made, self.made], "report": ["report", self.made, "-o", "-"],
                "dry run": ["night", self.inputs, "-o", self.out / "run", "--dry-run"],
                "json": self.command("--quiet", "--json", "-"),
                "json of a night": ["night", self.inputs, "-o", self.out / "run", "-q", "--json", "-", "--bundlesize", "5",
                                    "-w", "5005,5085,0.8"]}

    def test_a_full_disk_is_told_of(self):
        for name, arguments in self.talkers().items():
            with self.subTest(name), open("/dev/full", "wb") as full:
                process = start(arguments, stdout=full)
                errors = process.communicate(timeout=60)[1].splitlines()
                self.assertEqual(process.returncode, 31, errors)
                self.assertEqual(errors[-1:], ["fiberloom: error: standard output: cannot be written (No space left on device)"])

    def test_a_closed_one_is_told_of_and_no_file_takes_its_place(self):
        for name, arguments in self.talkers().items():
            with self.subTest(name):
                process = start(arguments, preexec_fn=lambda: os.close(1))
                errors = process.communicate(timeout=60)[1]
                self.assertEqual(process.returncode, 30, errors)
                self.assertIn("standard output: cannot be written", errors)
        self.assertEqual(self.made.read_bytes()[:6], b"SIMPLE")

    def test_what_is_a_file_does_not_go_there(self):
        """Whoever pipes it would find nothing, and a file called - beside it."""
        for arguments in (["extract", "-i", self.image, "-p", self.psf, "-o", "-"], ["coadd", "-i", self.made, "-o", "-"],
                          ["redshift", "-i", self.made, "-o", "-"], ["calibrate", "-i", self.made, "--sky", self.made, "-o", "-"],
                          ["qa", "--frames", self.made, "-o", "-"], ["catalogue", "export", "-o", "-"]):
            with self.subTest(" ".join(arguments[:1])):
                result = subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, text=True, timeout=100, cwd=self.out, check=False)
                self.assertEqual((result.returncode, result.stdout), (2, ""), result.stderr)
                self.assertIn("-: expected the name of a file, which standard output is not", result.stderr)
                self.assertFalse((self.out / "-").exists())

    def test_a_reader_that_leaves_is_no_failure(self):
        for name, arguments in self.talkers().items():
            with self.subTest(name):
                read, write = os.pipe()
                os.close(read)
                process = start(arguments, stdout=write)
                os.close(write)
                errors = process.communicate(timeout=60)[1]
                self.assertEqual((process.returncode, errors), (0, ""))

    def test_the_verdict_counts_though_nobody_reads_it(self):
        read, write = os.pipe()
        os.close(read)
        process = start(["compare", self.made, self.made, "--max-pull", "-1"], stdout=write)
        os.close(write)
        process.communicate(timeout=60)
        self.assertEqual(process.returncode, 1)

    def test_a_pipe_that_is_read_slowly_gets_all(self):
        process = start(["manual"], stdout=subprocess.PIPE)
        os.set_blocking(process.stdout.fileno(), False)  # of the open file: the writer's end has its own
        time.sleep(0.3)
        os.set_blocking(process.stdout.fileno(), True)
        text = process.communicate(timeout=60)[0]
        self.assertEqual(text, self.program("manual").stdout)
        self.assertIn("EXIT STATUS", text)


class Ends(Case):
    def test_messages_that_nobody_reads_stop_nothing(self):
        read, write = os.pipe()
        os.close(read)
        done = subprocess.run([PROGRAM, *map(str, self.command("-v"))], stderr=write, stdout=write, timeout=60)
        os.close(write)
        self.assertEqual(done.returncode, 0)
        self.assertEqual(self.files(), [self.frame.name])

    def test_hangup_is_taken_as_term_is(self):
        begin = time.monotonic()
        self.extract_ok()
        took = time.monotonic() - begin
        self.frame.unlink()
        codes = set()
        for k in range(8):
            process = start(self.command("--quiet"))
            time.sleep(took * (k + 0.5) / 8)
            process.send_signal(signal.SIGHUP)
            errors = process.communicate(timeout=60)[1]
            codes.add(process.returncode)
            self.assertIn(process.returncode, (0, 50, -signal.SIGHUP), errors)  # before main: as the kernel has it
            self.frame.unlink(missing_ok=True)
            self.assertEqual(self.files(), [])
        self.assertIn(50, codes)

    def test_a_command_that_only_looks_ends_at_once(self):
        read, write = os.pipe()  # nobody reads: it cannot end by itself
        process = start(["manual"], stdout=write, preexec_fn=lambda: fcntl.fcntl(1, 1031, 4096))  # F_SETPIPE_SZ
        time.sleep(0.3)
        self.assertIsNone(process.poll())
        process.send_signal(signal.SIGINT)
        self.assertEqual(process.wait(timeout=20), -signal.SIGINT)
        process.stderr.close()
        os.close(read)
        os.close(write)

    def test_under_nohup_a_hangup_is_ignored(self):
        process = start(self.command("--quiet"), preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
        time.sleep(0.02)
        process.send_signal(signal.SIGHUP)
        self.assertEqual((process.communicate(timeout=60)[1], process.returncode), ("", 0))


class Terminal(Case):
    def on_terminal(self, arguments):
        """What a terminal shows: (seconds since the start, text) as it came."""
        leader, follower = pty.openpty()
        begin = time.monotonic()
        process = subprocess.Popen([PROGRAM, *map(str, arguments)], stderr=follower, stdout=subprocess.DEVNULL)
        os.close(follower)
        shown = []
        while True:
            try:
                text = os.read(leader, 65536).decode()
            except OSError:  # the last writer has gone
                break
            if not text:
                break
            shown.append((time.monotonic() - begin, text))
        os.close(leader)
        self.assertEqual(process.wait(), 0)
        return shown, time.monotonic() - begin

    def bars(self, shown):
        """(when, stage, done, of how many)."""
        return [(at, *match) for at, text in shown for match in re.findall(r"([a-z]+) \[[#.]+\] (\d+)/(\d+)", text)]

    def test_simulate_shows_progress_before_an_exposure_is_done(self):
        shown, took = self.on_terminal(["simulate", "-o", self.out / "sim", "--nspec", "100"])
        bars = self.bars(shown)
        self.assertGreater(len(bars), 3)
        self.assertLess(bars[0][0], max(1.0, 0.5 * took))
        self.assertEqual({(stage, of) for _, stage, _, of in bars}, {("fibres", "100")})

    def test_the_patch_method_shows_progress_within_a_bundle(self):
        shown, _ = self.on_terminal(self.command("--method", "patch", "--nsubbundles", "1", "--nwavestep", "5", "--threads", "1"))
        bars = self.bars(shown)
        self.assertGreater(len(bars), 0, shown)  # how many are drawn in so short a time depends on the machine
        self.assertGreater(int(bars[0][3]), 2)  # patches, where the camera has two bundles

    def test_a_night_tells_frames_a_minute(self):
        done = self.program("night", self.inputs, "-o", self.out / "run", "--bundlesize", "5", "-w", "5005,5085,0.8")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stderr, r"[\d.]+ frames a minute, \d+ a node-hour")


if __name__ == "__main__":
    unittest.main()
