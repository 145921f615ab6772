# SPDX-License-Identifier: BSD-3-Clause
"""`coadd` of light that is there twice, where FIBERMAP does not say so, and of more weight than a file holds."""
import unittest

import tiny_fits as fits
from run_fiberloom import Folders
from small_exposures import exposures, spectra_bytes


class Copies(Folders):
    def setUp(self):
        super().setUp()
        self.coadd, self.targets = self.out / "coadd.fits", exposures()

    def test_a_copy_that_no_number_tells_from_the_first_is_found_by_its_light(self):
        for lost in (b"FIBER ", b"EXPID "):
            data, rest = (spectra_bytes(self.targets, rows=rows).replace(lost, b"LOST  ") for rows in (range(2), range(2, 6)))
            one, copy, other = self.put("one.fits", data), self.put("copy.fits", data), self.put("other.fits", rest)
            self.assert_fails(self.program("coadd", "-q", "-i", one, copy, "-o", self.coadd), 2,
                              f"copy.fits: target {self.targets.ids[0]} has the same flux and ivar as in {one}")
            self.assertFalse(self.coadd.exists())
            self.assertEqual(self.program("coadd", "-q", "-i", one, other, "-o", self.coadd).returncode, 0)
            self.coadd.unlink()
            both = self.put("both.fits", spectra_bytes(self.targets, rows=[0, 1, 0, 1]).replace(lost, b"LOST  "))
            self.assert_fails(self.program("coadd", "-q", "-i", both, "-o", self.coadd), 2, "both.fits: target", "ivar twice")

    def test_the_same_numbers_of_two_exposures_are_no_copy(self):
        """Of a simulation without noise."""
        for name, rows in self.targets.flux.items():
            self.targets.flux[name], self.targets.ivar[name] = rows[:2] * 3, [[25.0] * len(rows[0])] * 6
        same = self.put("same.fits", spectra_bytes(self.targets).replace(b"FIBER ", b"LOST  "))
        self.assertEqual(self.program("coadd", "-q", "-i", same, "-o", self.coadd).returncode, 0)

    def test_two_rows_of_one_exposure_without_a_fibre_are_told_of(self):
        self.targets.ids = [7, 7] * 3
        data = spectra_bytes(self.targets).replace(b"FIBER ", b"LOST  ")
        said = self.program("coadd", "-i", self.put("same.fits", data), "-o", self.coadd).stderr
        self.assertIn("1 of 1 TARGETIDs are there twice in one exposure, as 7, and no FIBER tells", said)

    def test_weights_whose_sum_no_file_holds_are_none(self):
        """Not infinite, as they were."""
        for name, rows in self.targets.ivar.items():
            self.targets.ivar[name] = [[3e38 if r % 2 == 0 else 25.0] * len(row) for r, row in enumerate(rows)]
        result = self.program("coadd", "-q", "-i", self.put("heavy.fits", spectra_bytes(self.targets)), "-o", self.coadd)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("coadd.fits: B_FLUX, IVAR or RESOLUTION of", result.stderr)
        hdus = fits.by_name(self.coadd)
        for name in self.targets.ivar:
            ivar = hdus[name + "_IVAR"].values()
            half = len(ivar) // 2
            self.assertEqual(set(ivar[:half]), {0.0})
            self.assertAlmostEqual(ivar[-1], 75, places=3)
            self.assertNotIn(0, hdus[name + "_MASK"].values()[:half])


if __name__ == "__main__":
    unittest.main()
