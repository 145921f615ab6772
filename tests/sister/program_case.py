# SPDX-License-Identifier: BSD-3-Clause
"""What end-to-end tests of the sister programs share: the program that CTest names, and an empty folder a test."""
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

PROGRAM = os.environ.get("SISTER_PROGRAM", "")
NAME = pathlib.Path(PROGRAM).name
# A sanitizer keeps what was freed, and has shadows of its own: what is resident then tells nothing of a plan.
MEMORY_TELLS = "FIBERLOOM_TEST_SLOWER" not in os.environ


class ProgramCase(unittest.TestCase):
    def setUp(self):
        self.out = pathlib.Path(tempfile.mkdtemp(prefix=f"{NAME}-out-"))
        self.addCleanup(shutil.rmtree, self.out)

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
        errors = [line for line in done.stderr.splitlines() if line.startswith(f"{NAME}: error:")]
        self.assertEqual(len(errors), 1, done.stderr)
        self.assertIn(part, errors[0])
        return done

    def keeps_to(self, plan, memory):
        """What was resident at most is below what was foreseen, where that tells something."""
        self.assertGreater(memory[plan], 0)
        if MEMORY_TELLS:
            self.assertLess(memory["peak_bytes"], memory[plan])


class InputCase(ProgramCase):
    """`cls.inputs` is a folder for what is made once a class."""

    @classmethod
    def setUpClass(cls):
        cls.inputs = pathlib.Path(tempfile.mkdtemp(prefix=f"{NAME}-in-"))
        cls.addClassCleanup(shutil.rmtree, cls.inputs)

    @classmethod
    def make(cls, *arguments):
        made = cls.program(*arguments, "--quiet")
        assert made.returncode == 0, made.stderr
