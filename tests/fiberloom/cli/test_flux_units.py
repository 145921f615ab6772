# SPDX-License-Identifier: BSD-3-Clause
"""`coadd` and `redshift` of light whose units differ by powers of ten."""
import unittest

import small_spectra
import tiny_fits as fits
from run_fiberloom import Folders
from small_calibration import frame_bytes, sky_light


class FluxUnits(Folders):
    def frame(self, exposure, unit):
        return self.put(f"frame{exposure}.fits", frame_bytes(sky_light(), "science", exposure, [("BUNIT", unit), ("EXPID", exposure)]))

    def test_one_unit_is_written_in_many_ways(self):
        frames = [self.frame(1, "10**-17 erg/(s cm2 Angstrom)"), self.frame(2, "1E-17 erg/cm^2/s/Ang")]
        result = self.program("coadd", "-q", "-i", *frames, "-o", self.out / "coadd.fits")
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        unit = fits.by_name(self.out / "coadd.fits")["R_FLUX"].cards["BUNIT"]
        self.assertEqual(unit, "10**-17 erg/(s cm2 Angstrom)")

    def test_light_in_other_powers_of_ten_does_not_go_together(self):
        first = self.frame(1, "10**-17 erg/(s cm2 Angstrom)")
        templates = small_spectra.write_templates(self.inputs / "templates")
        for exposure, unit in enumerate(("10**-16 erg/(s cm2 Angstrom)", "erg/s/cm2/Angstrom"), 2):
            other = self.frame(exposure, unit)
            for command in (["coadd"], ["redshift", "-t", templates]):
                self.assert_fails(self.program(*command, "-q", "-i", first, other, "-o", self.out / "x.fits"), 13,
                                  f"{other.name}: FLUX: BUNIT is '{unit}'", "expected spectra in the same units")


if __name__ == "__main__":
    unittest.main()
