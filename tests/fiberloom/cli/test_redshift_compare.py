# SPDX-License-Identifier: BSD-3-Clause
"""Redshifts beside others: files that compare, and files whose wavelengths are nearly the same."""
import struct
import unittest

import tiny_fits
from redshift_case import TRUTH, Case
from small_exposures import exposures, spectra_bytes
from small_spectra import Targets


class Compare(Case):
    def test_two_files_of_redshifts_are_compared(self):
        self.redshifts()
        other = self.out / "other.fits"
        other.write_bytes(self.result.read_bytes())
        same = self.program("compare", self.result, other)
        self.assertEqual(same.returncode, 0, same.stderr)
        self.assertIn("in A 5, in B 5, in both 5, of which the same 5", same.stdout)
        self.redshifts("--targetids", str(self.targets.ids[4]), "--zscan-star", "-0.002,0.0021,1e-4")
        part = self.program("compare", self.result, other)
        self.assertEqual(part.returncode, 0, part.stderr)
        self.assertIn("1 targets in both, only in A 0, only in B 4", part.stdout)
        wrong = Targets([("STAR", 0.0), *TRUTH[1:]], seed=3)
        self.redshifts(inputs=self.put("wrong.fits", wrong.coadd()))
        different = self.program("compare", self.result, other)
        self.assertEqual(different.returncode, 1, different.stderr)
        self.assertIn(f"{self.targets.ids[0]}: STAR", different.stdout)
        self.assertEqual(self.program("compare", self.result, "--truth", other).stdout.splitlines()[2:], different.stdout.splitlines()[2:])
        others = Targets(TRUTH[:2], seed=4)
        others.ids = [5, 6]
        self.redshifts(inputs=self.put("others.fits", others.coadd()))
        strangers = self.program("compare", self.result, other)
        self.assertEqual((strangers.returncode, strangers.stdout), (13, ""))
        self.assertIn("none of its 5 targets is one of the 2", strangers.stderr)

    def test_rows_that_are_not_compared_are_told_of_and_lost_digits_refused(self):
        def answers(name, ids, letter="K", code="q"):
            columns = [("TARGETID", letter, code, None), ("SPECTYPE", "6A", "6s", None), ("Z", "D", "d", None), ("ZWARN", "K", "q", None)]
            return self.put(name, tiny_fits.image("NONE", 8, (1,), [0], first=True)
                            + tiny_fits.table("REDSHIFTS", columns, [(t, b"GALAXY", 0.1 * k, 0) for k, t in enumerate(ids)]))
        first = 39627788403084375
        once, twice = answers("once.fits", [first, first + 1]), answers("twice.fits", [first, first + 1, first, first])
        result = self.program("compare", once, twice)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("2 targets in both, only in A 0, only in B 0\nnot compared: 0 rows of A, 2 of B with a TARGETID", result.stdout)
        self.assertNotIn("not compared", self.program("compare", once, once).stdout)
        floats = answers("floats.fits", [float(first), float(first + 1)], "D", "d")  # one number
        for pair in ((floats, once), (once, floats)):
            result = self.program("compare", *pair)
            self.assertEqual((result.returncode, result.stdout), (14, ""), result.stderr)
            self.assertIn("floats.fits: HDU 1 'REDSHIFTS': TARGETID has floating-point numbers, which lost digits of", result.stderr)
        small = answers("small.fits", [1.0, 2.0], "D", "d")
        self.assertEqual(self.program("compare", small, small).returncode, 0)


class Grids(Case):
    def test_grids_that_differ_by_less_than_single_precision_are_one(self):
        """Exposures on them are coadded, and there is one model of them; `--method redrock` compares bits, as redrock does."""
        parts = [spectra_bytes(exposures(), rows=range(2 * e, 2 * e + 2), cameras="B") for e in range(3)]
        grid = struct.pack(">240d", *(4000.0 + i for i in range(240)))
        found = {}
        for off, method in ((0.0, "fast"), (0.0005, "fast"), (0.01, "fast"), (0.0005, "redrock")):
            moved = parts[1].replace(grid, struct.pack(">240d", *(4000.0 + i + off for i in range(240))))
            files = [self.put(f"part{e}.fits", data) for e, data in enumerate((parts[0], moved, parts[2]))]
            models = self.out / "models.fits"
            table = self.redshifts("--model", models, "--method", method, inputs=files)
            found[off, method] = table["Z"], [name for name in tiny_fits.by_name(models) if name.endswith("_MODEL")]
        self.assertEqual(found[0.0, "fast"][1], ["B_MODEL"])
        self.assertEqual(found[0.0005, "fast"], found[0.0, "fast"])
        self.assertEqual(found[0.01, "fast"][1], ["B_MODEL", "B2_MODEL"])
        self.assertEqual(found[0.0005, "redrock"][1], ["B_MODEL", "B2_MODEL"])


if __name__ == "__main__":
    unittest.main()
