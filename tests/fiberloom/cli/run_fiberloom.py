# SPDX-License-Identifier: BSD-3-Clause
"""What the end-to-end tests share: the program, a folder of inputs, a fresh folder a test."""
import os
import pathlib
import resource
import shutil
import subprocess
import tempfile
import unittest

from power import give_up_power
from small_camera import GRID, Camera, psf_bytes

PROGRAM = os.environ.get("FIBERLOOM_PROGRAM", "")


class Folders(unittest.TestCase):
    """A folder of inputs, and for each test an empty one for outputs."""

    @classmethod
    def setUpClass(cls):
        cls.inputs = pathlib.Path(tempfile.mkdtemp(prefix="fiberloom-in-"))

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.inputs)

    def setUp(self):
        self.out = pathlib.Path(tempfile.mkdtemp(prefix="fiberloom-out-"))
        self.addCleanup(shutil.rmtree, self.out)

    def put(self, name, data):
        path = self.inputs / name
        path.write_bytes(data)
        return path

    @staticmethod
    def program(*arguments, env=None, file_limit=None, address_space=None, timeout=300, powerless=False):
        """`address_space`: what `ulimit -v` grants, bytes."""
        def limit():
            if file_limit:
                resource.setrlimit(resource.RLIMIT_FSIZE, (file_limit, file_limit))
            if address_space:
                resource.setrlimit(resource.RLIMIT_AS, (int(address_space), int(address_space)))
            if powerless:
                give_up_power()
        return subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, text=True,
                              env={**os.environ, **(env or {})}, preexec_fn=limit, timeout=timeout)

    def files(self):
        return sorted(p.name for p in self.out.iterdir())

    def assert_fails(self, result, code, *words):
        """The exit code, one line, the words in it, and nothing written."""
        self.assertEqual(result.returncode, code, result.stderr)
        lines = result.stderr.splitlines()
        self.assertEqual(len(lines), 1, result.stderr)
        self.assertTrue(lines[0].startswith("fiberloom: error: "), lines[0])
        for word in words:
            self.assertIn(str(word), lines[0])
        self.assertEqual(self.files(), [])


class Case(Folders):
    """Among the inputs, made once, are an image and its PSF."""

    camera = None

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        if Case.camera is None:
            Case.camera = Camera()
        cls.image = cls.inputs / "preproc-r0-00000011.fits"
        cls.psf = cls.inputs / "psf-r0.fits"
        cls.image.write_bytes(Case.camera.preproc_bytes())
        cls.psf.write_bytes(psf_bytes())

    def setUp(self):
        super().setUp()
        self.frame = self.out / "frame-r0-00000011.fits"

    def command(self, *more, image=None, psf=None, output=None, wave=GRID):
        return ["extract", "-i", image or self.image, "-p", psf or self.psf,
                "-o", output or self.frame, "-w", wave, "--bundlesize", "5", *more]

    def extract(self, *more, env=None, file_limit=None, powerless=False, **files):
        return self.program(*self.command(*more, **files), env=env, file_limit=file_limit, powerless=powerless)

    def extract_ok(self, *more, env=None, **files):
        result = self.extract("--quiet", *more, env=env, **files)
        self.assertEqual(result.returncode, 0, result.stderr)
        return result
