# SPDX-License-Identifier: BSD-3-Clause
"""What the end-to-end tests share: the program, and a folder with two small observations."""
import os
import pathlib
import shutil
import struct
import subprocess
import tempfile
import unittest

PROGRAM = os.environ.get("SKYLOOM_PROGRAM", "")
SMALL = ("--rate", 5, "--width", 20, "--spin-period", 1.3, "--prec-period", 17, "--minutes", 10, "--observations", 2)
MAPS = ("--nside", 16, "--step", 10, "--rcond", 1e-3)


class Case(unittest.TestCase):
    """The observations are made once a class; each test gets an empty folder."""

    @classmethod
    def setUpClass(cls):
        cls.inputs = pathlib.Path(tempfile.mkdtemp(prefix="skyloom-in-"))
        cls.addClassCleanup(shutil.rmtree, cls.inputs)
        made = cls.program("simulate", "-o", cls.inputs, *SMALL, "--quiet")
        assert made.returncode == 0, made.stderr
        cls.observations = sorted(cls.inputs.glob("*.h5"))

    def setUp(self):
        self.out = pathlib.Path(tempfile.mkdtemp(prefix="skyloom-out-"))
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
        errors = [line for line in done.stderr.splitlines() if line.startswith("skyloom: error:")]
        self.assertEqual(len(errors), 1, done.stderr)
        self.assertIn(part, errors[0])
        return done


def read_map(path, letter="f", columns=3):
    """Rows of a HEALPix table as tuples: two header blocks or so, then big-endian numbers."""
    data = path.read_bytes()
    at, header = 0, ""
    while "XTENSION" not in header:
        start = at
        while b"END" + b" " * 77 not in data[at:at + 2880]:
            at += 2880
        at += 2880
        header = data[start:at].decode("ascii")
    cards = {header[i:i + 8].strip(): header[i + 10:i + 40].split("/")[0].strip(" '") for i in range(0, len(header), 80)}
    rows = int(cards["NAXIS2"])
    values = struct.unpack(f">{rows * columns}{letter}", data[at:at + rows * columns * struct.calcsize(letter)])
    return [values[i:i + columns] for i in range(0, len(values), columns)], cards
