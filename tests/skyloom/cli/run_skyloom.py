# SPDX-License-Identifier: BSD-3-Clause
"""What the end-to-end tests share: a folder with two small observations, and maps as numbers."""
import struct

from program_case import PROGRAM, InputCase  # noqa: F401: for the tests

SMALL = ("--rate", 5, "--width", 20, "--spin-period", 1.3, "--prec-period", 17, "--minutes", 10, "--observations", 2)
MAPS = ("--nside", 16, "--step", 10, "--rcond", 1e-3)


class Case(InputCase):
    """The observations are made once a class; each test gets an empty folder."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.make("simulate", "-o", cls.inputs, *SMALL)
        cls.observations = sorted(cls.inputs.glob("*.h5"))


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
