# SPDX-License-Identifier: BSD-3-Clause
"""fiberloom redshift and the sky's continuum: fibres on the sky, from files to tables."""
import unittest

from redshift_case import TRUTH, Case
from small_spectra import CAMERAS, Targets

NAMES = ("Z", "CHI2", "ZWARN", "SPECTYPE")


class SkyContinuum(Case):
    def setUp(self):
        super().setUp()
        self.targets = Targets([*TRUTH, *[("STAR", 0)] * 8])
        level = [0.3, -0.25, 0.2, -0.35, 0.28, -0.22, 0.31, -0.27]
        own = {3: 0.3}  # too much light of one camera in a target
        for k in range(13):
            for name in CAMERAS:
                star = self.targets.flux[name][k]
                if k >= 5:  # nothing but noise, and what is left of the sky
                    noise = [a - b for a, b in zip(star, Targets([("STAR", 0)], ivar=1e12).flux[name][0])]
                    self.targets.flux[name][k] = [v + level[k - 5] * (name == "B") for v in noise]
                elif name == "B":
                    self.targets.flux[name][k] = [v + own.get(k, 0) for v in star]
        self.coadd = self.put("skies.fits", self.targets.coadd(kinds={k: "SKY" for k in range(5, 13)}))

    def without(self, *options, **how):
        return self.redshifts("--no-sky-continuum", *options, **how)

    def test_fibres_on_the_sky_tell_how_much_of_its_continuum_is_left(self):
        plain, known = self.without(inputs=self.coadd), self.redshifts(inputs=self.coadd)
        self.assertLess(known["CHI2"][3], plain["CHI2"][3] - 3)
        for k in range(5):
            self.assertLess(known["CHI2"][k], plain["CHI2"][k] + 1e-6)
            self.assertAlmostEqual(known["Z"][k], TRUTH[k][1], delta=1e-3)
        exact = self.redshifts("--method", "exact", inputs=self.coadd)
        for name in NAMES:
            self.assertEqual(exact[name], known[name], name)
        few = self.put("few.fits", self.targets.coadd(kinds={5: "SKY"}))  # one fibre tells nothing
        self.assertEqual(self.redshifts(inputs=few), self.without(inputs=few))

    def test_they_tell_it_to_targets_that_are_asked_for_alone(self):
        known = self.redshifts("--method", "exact", inputs=self.coadd)
        one = self.redshifts("--method", "exact", "--mintarget", "3", "-n", "1", inputs=self.coadd)
        for name in NAMES:
            self.assertEqual(one[name], known[name][3:4], name)

    def test_a_card_does_what_the_cpu_does(self):
        known = self.redshifts("--backend", "cpu", inputs=self.coadd)
        card = self.redshifts("--backend", "emulate", inputs=self.coadd)
        for k in range(13):
            self.assertAlmostEqual(card["CHI2"][k], known["CHI2"][k], delta=1e-6 * known["CHI2"][k])

    def test_what_goes_without(self):
        for options in (("--least-coverage", "0.5"), ("--method", "redrock")):
            self.assertEqual(self.redshifts(*options, inputs=self.coadd),
                             self.without(*options, inputs=self.coadd))


if __name__ == "__main__":
    unittest.main()
