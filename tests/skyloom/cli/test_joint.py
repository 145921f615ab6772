# SPDX-License-Identifier: BSD-3-Clause
"""Templates fitted together and the observation matrix, from command line to files."""
import json
import struct
import unittest
import zipfile

from program_case import InputCase
from run_skyloom import read_map

PLAN = ("--patch", "deep,1,170,-40,20", "--start", "2026-03-18 00:00:00", "--stop", "2026-03-18 01:10:00")
DATA = ("--pixels", 1, "--width", 3, "--rate", 10, "--hwp-rpm", 60, "--hwpss", "0.01,0.05", "--ground-signal", 0.01)
MAPS = ("--nside", 32, "--rcond", 1e-3, "--binned-only", "--type", "float64", "--quiet")
JOINT = ("--joint", "--intervals", "scanning", "--poly-order", 1, "--ground-bins", 2, "--hwp-harmonics", 2)
NAMES = ("hits", "invcov", "rcond", "cov", "binned")
PIXELS = 12 * 32**2


def numbers(archive, name):
    """An array of a .npz and its shape."""
    raw = archive.read(name + ".npy")
    assert raw[:8] == b"\x93NUMPY\x01\x00"
    end = 10 + struct.unpack("<H", raw[8:10])[0]
    header = eval(raw[10:end])  # noqa: S307: of a file that this test made
    body = raw[end:]
    if header["descr"] == "|S3":
        return (body,), header["shape"]
    letter = {"<f8": "d", "<i4": "i", "<i8": "q"}[header["descr"]]
    return struct.unpack(f"<{len(body) // struct.calcsize(letter)}{letter}", body), header["shape"]


class Joint(InputCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.schedule = cls.inputs / "schedule.txt"
        cls.make("schedule", "-o", cls.schedule, *PLAN)
        cls.make("simulate", "--schedule", cls.schedule, "-o", cls.inputs / "data", *DATA)
        cls.data = sorted((cls.inputs / "data").glob("*.h5"))

    def rms(self, path):
        values = [row[0] for row in read_map(path, "d")[0] if row[0] > -1e30]
        return (sum(value * value for value in values) / len(values)) ** 0.5

    def test_maps_and_matrix_are_the_same_for_any_number_of_threads(self):
        wishes = (*MAPS, *JOINT, "--obs-matrix", self.out / "m.npz")
        made = []
        for name, threads in (("one", 1), ("three", 3)):
            self.ok("map", *self.data, "-o", self.out / name, *wishes, "--threads", threads, "--json", self.out / "s.json")
            made.append((self.out / "m.npz").read_bytes())
        self.assertTrue(made[0] == made[1])
        for name in NAMES:
            self.assertEqual((self.out / f"three/{name}.fits").read_bytes(), (self.out / f"one/{name}.fits").read_bytes(), name)
        summary = json.loads((self.out / "s.json").read_text())
        self.assertEqual((summary["options"]["joint"], summary["options"]["joint_rcond"]), ("true", "9.9999999999999995e-07"))
        self.assertEqual(summary["data"]["unfitted_stretches"], 0)

    def test_maps_with_and_without_files_between_are_the_same(self):
        wishes = (*MAPS, *JOINT)
        self.ok("map", *self.data, "-o", self.out / "stored", *wishes)
        self.ok("simulate", "--schedule", self.schedule, "--maps", self.out / "direct", *DATA, *wishes)
        self.ok("compare", self.out / "stored/binned.fits", self.out / "direct/binned.fits", "--max-relative", 1e-12)

    def test_what_plate_and_ground_add_is_not_in_the_map(self):
        self.ok("map", *self.data, "-o", self.out / "as_it_is", *MAPS)
        self.ok("map", *self.data, "-o", self.out / "joint", *MAPS, *JOINT)
        self.assertLess(10 * self.rms(self.out / "joint/binned.fits"), self.rms(self.out / "as_it_is/binned.fits"))

    def test_the_matrix_is_an_archive_that_scipy_knows_and_does_what_the_filter_does(self):
        for ordering in ("nested", "ring"):
            sky, matrix = self.out / f"{ordering}.fits", self.out / f"{ordering}.npz"
            clean = (*DATA[:8], "--no-noise")  # the last map of data is a sky
            self.ok("simulate", "--schedule", self.schedule, "--maps", self.out / "sky", *DATA[:6], *MAPS)
            (self.out / "sky/binned.fits").rename(sky)
            wishes = (*MAPS, *JOINT, "--ordering", ordering, "--obs-matrix", matrix)
            self.ok("simulate", "--schedule", self.schedule, "--maps", self.out / "maps", "--sky", sky, *clean, *wishes)
            with zipfile.ZipFile(matrix) as archive:
                self.assertIsNone(archive.testzip())
                self.assertEqual(archive.namelist(), ["indices.npy", "indptr.npy", "format.npy", "shape.npy", "data.npy"])
                (kind,), shape = numbers(archive, "format")
                self.assertEqual((kind, shape), (b"csr", ()))
                self.assertEqual(numbers(archive, "shape")[0], (3 * PIXELS, 3 * PIXELS))
                columns, _ = numbers(archive, "indices")
                starts, _ = numbers(archive, "indptr")
                values, _ = numbers(archive, "data")
            self.assertEqual((starts[0], starts[-1], len(starts)), (0, len(values), 3 * PIXELS + 1))
            filtered, cards = read_map(self.out / "maps/binned.fits", "d")
            self.assertEqual(cards["ORDERING"], ordering.upper())
            # rows of a pixel know the same columns, and a constant I is taken out by the polynomials
            worst = 0
            for pixel in range(PIXELS):
                low, high = starts[pixel], starts[pixel + 1]
                self.assertEqual(list(columns[low:high]), sorted(columns[low:high]))
                self.assertEqual(low == high, filtered[pixel][0] < -1e30, pixel)
                worst = max(worst, abs(sum(v for c, v in zip(columns[low:high], values[low:high]) if c < PIXELS)))
            self.assertLess(worst, 1e-9)

    def test_the_weighted_matrix_is_symmetric(self):
        self.ok("map", self.data[0], "-o", self.out / "maps", *MAPS, *JOINT, "--obs-matrix", self.out / "m.npz", "--obs-matrix-weighted")
        with zipfile.ZipFile(self.out / "m.npz") as archive:
            columns, starts, values = (numbers(archive, name)[0] for name in ("indices", "indptr", "data"))
        entries = {}
        for row in range(3 * PIXELS):
            for k in range(starts[row], starts[row + 1]):
                entries[row, columns[k]] = values[k]
        most = max(map(abs, entries.values()))
        self.assertLess(max(abs(v - entries[c, r]) for (r, c), v in entries.items()), 1e-12 * most)

    def test_what_detectors_see_of_a_map_is_taken_out(self):
        self.ok("simulate", "--schedule", self.schedule, "--maps", self.out / "sky", *DATA[:6], *MAPS)
        sky, wishes = self.out / "sky/binned.fits", ("--joint", "--intervals", "scanning", "--poly-order", 1)
        clean = ("simulate", "--schedule", self.schedule, "--sky", sky, *DATA[:6], "--no-noise")
        self.ok(*clean, "--maps", self.out / "as_it_is", *MAPS, *wishes[:1], *wishes[3:])
        said = self.ok(*clean, "--maps", self.out / "without", *MAPS[:-1], *wishes[:1], *wishes[3:], "--deproject", sky,
                       "--json", self.out / "s.json").stderr
        self.assertIn("pixels without a value are 0", said)
        self.assertLess(self.rms(self.out / "without/binned.fits"), 0.95 * self.rms(self.out / "as_it_is/binned.fits"))
        self.assertEqual(json.loads((self.out / "s.json").read_text())["options"]["deproject"], str(sky))
        before = sky.read_bytes()
        self.fails(2, "is an input", "map", *self.data, "-o", self.out / "sky", *MAPS, *wishes, "--deproject", sky)
        self.assertEqual(sky.read_bytes(), before)
        self.fails(13, "expected 9 or more", "map", *self.data, "-o", self.out / "m", *MAPS, *wishes, "--deproject", sky,
                   "--deproject-columns", 9)
        self.fails(10, "none.fits", "map", *self.data, "-o", self.out / "m", *MAPS, *wishes, "--deproject", self.out / "none.fits")

    def test_a_ground_that_changes_is_taken_out_in_steps_or_with_its_drift(self):
        steps = ("--joint", "--intervals", "scanning", "--poly-order", 1, "--ground-bins", 2)
        self.ok("map", *self.data, "-o", self.out / "once", *MAPS, *steps)
        for more in (("--ground-step", 300), ("--ground-drift", 1), ("--ground-step", 600, "--ground-drift", 1, "--ground-split")):
            self.ok("map", *self.data, "-o", self.out / "more", *MAPS, *steps, *more)
            self.assertFalse((self.out / "once/binned.fits").read_bytes() == (self.out / "more/binned.fits").read_bytes(), more)
            self.assertLess(self.rms(self.out / "more/binned.fits"), self.rms(self.out / "once/binned.fits"), more)
        self.ok("map", *self.data, "-o", self.out / "more", *MAPS, *steps, "--ground-step", 1e6)
        self.ok("compare", self.out / "once/binned.fits", self.out / "more/binned.fits", "--max-largest", 0)

    def test_memory_is_planned(self):
        wishes = (*MAPS, *JOINT, "--obs-matrix", self.out / "m.npz", "--json", self.out / "s.json")
        self.ok("map", *self.data, "-o", self.out / "maps", *wishes, "--memory", "4G")
        memory = json.loads((self.out / "s.json").read_text())["memory"]
        self.keeps_to("planned_bytes", memory)
        (self.out / "m.npz").unlink()
        self.fails(61, "--memory", "map", *self.data, "-o", self.out / "none", *wishes, "--memory", "20M")
        self.assertFalse((self.out / "none").exists() or (self.out / "m.npz").exists())

    def test_what_is_badly_determined_is_cut_or_left_out(self):
        # bins of azimuth that a sweep crosses within some samples have too little to tell them from a polynomial of order 30
        wishes = ("--joint", "--intervals", "scanning", "--poly-order", 30, "--ground-bins", 0.5)
        self.ok("map", self.data[0], "-o", self.out / "cut", *MAPS, *wishes, "--joint-rcond", 0.9)
        self.fails(22, "no filter could be fitted", "map", self.data[0], "-o", self.out / "left_out", *MAPS, *wishes, "--joint-rcond=-0.9")
        self.assertFalse((self.out / "left_out").exists())

    def test_faults_have_their_codes_and_one_line(self):
        out = ("-o", self.out / "maps", *MAPS)
        for wishes, part in ((("--joint",), "--joint: expected --poly-order"),
                             (("--joint", "--demodulate", "--hwp-harmonics", 2), "--joint: expected --poly-order"),
                             (("--joint-rcond", 1e-3), "--joint-rcond: expected --joint"),
                             ((*JOINT, "--ground-trend", 2), "--joint with --ground-trend"),
                             ((*JOINT, "--hwp-trend", 2), "--joint with --hwp-trend"),
                             ((*JOINT, "--hwp-detrend"), "--joint with --hwp-detrend"),
                             (("--joint", "--poly-order", 3, "--ground-order", 3), "--joint: --ground-order 3"),
                             ((*JOINT, "--ground-bins", 0.001), "--joint:"),
                             ((*JOINT, "--joint-rcond", 2), "--joint-rcond"),
                             (("--ground-bins", 2, "--ground-step", 60), "--ground-step: expected --joint"),
                             (("--ground-bins", 2, "--ground-drift", 1), "--ground-drift: expected --joint"),
                             (("--deproject", self.data[0]), "--deproject: expected --joint"),
                             (("--joint", "--poly-order", 1, "--ground-step", 60), "--ground-step: expected --ground-order or"),
                             (("--joint", "--ground-order", 3, "--ground-drift", 1), "--ground-drift: expected --ground-bins"),
                             ((*JOINT, "--deproject-columns", 2), "--deproject-columns: expected --deproject"),
                             ((*JOINT, "--deproject", self.data[0], "--demodulate"), "--deproject with --demodulate"),
                             ((*JOINT, "--ground-step", 0.001), "--ground-step"),
                             (("--obs-matrix", self.out / "m"), "--obs-matrix: expected --joint"),
                             ((*JOINT, "--obs-matrix-weighted"), "--obs-matrix-weighted: expected --obs-matrix"),
                             ((*JOINT, "--obs-matrix", self.out / "m", "--common-mode"), "--obs-matrix with --common-mode"),
                             ((*JOINT, "--obs-matrix", self.out / "m", "--demodulate"), "--obs-matrix with --demodulate"),
                             ((*JOINT, "--obs-matrix", self.out / "m", "--nside", 8192), "--obs-matrix with --nside 8192"),
                             ((*JOINT, "--obs-matrix", self.out / "s.1", "--checkpoint", self.out / "s"), "a name of --checkpoint"),
                             ((*JOINT, "--obs-matrix", self.data[0]), "--obs-matrix"),
                             ((*JOINT, "--obs-matrix", self.out / "maps/hits.fits"), "--obs-matrix")):
            self.fails(2, part, "map", *self.data, *out, *wishes)
        self.fails(11, "no angles of a half-wave plate", "map", *self.data, *out, *JOINT, "--hwp-angle", "none")
        (self.out / "m").write_bytes(b"before")
        self.fails(32, "m", "map", *self.data, *out, *JOINT, "--obs-matrix", self.out / "m", "--no-clobber")
        self.assertEqual((self.out / "m").read_bytes(), b"before")
        self.assertFalse((self.out / "maps").exists())


if __name__ == "__main__":
    unittest.main()
