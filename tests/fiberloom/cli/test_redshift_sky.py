# SPDX-License-Identifier: BSD-3-Clause
"""fiberloom redshift --sky-continuum: fibres on the sky, from files to tables."""
import unittest

from redshift_case import TRUTH, Case
from small_spectra import CAMERAS, Targets


class SkyContinuum(Case):
    def test_fibres_on_the_sky_tell_how_much_of_its_continuum_is_left(self):
        targets = Targets([*TRUTH, *[("STAR", 0)] * 8])
        level = [0.3, -0.25, 0.2, -0.35, 0.28, -0.22, 0.31, -0.27]
        own = {3: 0.3}  # too much light of one camera in a target
        for k in range(13):
            for name in CAMERAS:
                star = targets.flux[name][k]
                if k >= 5:  # nothing but noise, and what is left of the sky
                    noise = [a - b for a, b in zip(star, Targets([("STAR", 0)], ivar=1e12).flux[name][0])]
                    targets.flux[name][k] = [v + level[k - 5] * (name == "B") for v in noise]
                elif name == "B":
                    targets.flux[name][k] = [v + own.get(k, 0) for v in star]
        kinds = {k: "SKY" for k in range(5, 13)}
        coadd = self.put("skies.fits", targets.coadd(kinds=kinds))
        plain, known = self.redshifts(inputs=coadd), self.redshifts("--sky-continuum", inputs=coadd)
        self.assertLess(known["CHI2"][3], plain["CHI2"][3] - 3)
        for k in range(5):
            self.assertLess(known["CHI2"][k], plain["CHI2"][k] + 1e-6)
            self.assertAlmostEqual(known["Z"][k], TRUTH[k][1], delta=1e-3)
        exact = self.redshifts("--sky-continuum", "--method", "exact", inputs=coadd)
        for name in ("Z", "CHI2", "ZWARN", "SPECTYPE"):
            self.assertEqual(exact[name], known[name], name)
        few = self.put("few.fits", targets.coadd(kinds={5: "SKY"}))  # one fibre tells nothing
        self.assertEqual(self.redshifts("--sky-continuum", inputs=few), self.redshifts(inputs=few))
        self.result.unlink()
        self.assert_fails(self.redshift("--sky-continuum", "--least-coverage", "0.5"), 2, "--sky-continuum")


if __name__ == "__main__":
    unittest.main()
