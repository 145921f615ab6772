# SPDX-License-Identifier: BSD-3-Clause
"""What the end-to-end tests share: a folder with a small scan."""
from program_case import PROGRAM, InputCase  # noqa: F401: for the tests


class Case(InputCase):
    """The scan is made once a class; each test gets an empty folder."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.scan = cls.inputs / "scan.h5"
        cls.make("simulate", "-o", cls.scan, "--columns", 64, "--rows", 70, "--angles", 90)

    def setUp(self):
        super().setUp()
        self.volume = self.out / "volume.h5"
