# SPDX-License-Identifier: BSD-3-Clause
"""What the end-to-end tests share: the program, and a folder with a small scan."""
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

PROGRAM = os.environ.get("TOMOLOOM_PROGRAM", "")


class Case(unittest.TestCase):
    """The scan is made once a class; each test gets an empty folder."""

    @classmethod
    def setUpClass(cls):
        cls.inputs = pathlib.Path(tempfile.mkdtemp(prefix="tomoloom-in-"))
        cls.addClassCleanup(shutil.rmtree, cls.inputs)
        cls.scan = cls.inputs / "scan.h5"
        made = cls.program("simulate", "-o", cls.scan, "--columns", 64, "--rows", 70, "--angles", 90, "--quiet")
        assert made.returncode == 0, made.stderr

    def setUp(self):
        self.out = pathlib.Path(tempfile.mkdtemp(prefix="tomoloom-out-"))
        self.addCleanup(shutil.rmtree, self.out)
        self.volume = self.out / "volume.h5"

    @staticmethod
    def program(*arguments, env=None, timeout=120):
        return subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, text=True,
                              env={**os.environ, **(env or {})}, timeout=timeout)

    def ok(self, *arguments, env=None):
        done = self.program(*arguments, env=env)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done

    def fails(self, code, part, *arguments):
        """The command ends with `code` and one line on standard error that says `part`."""
        done = self.program(*arguments)
        self.assertEqual(done.returncode, code, done.stderr)
        errors = [line for line in done.stderr.splitlines() if line.startswith("tomoloom: error:")]
        self.assertEqual(len(errors), 1, done.stderr)
        self.assertIn(part, errors[0])
        return done
