# SPDX-License-Identifier: BSD-3-Clause
"""The page of `skyloom view` in a real browser: pictures of the whole sky and of a part, colours that follow the slider, a value under
the pointer, convergence, spectra, differences; light and dark, wide and narrow; no complaint, and nothing is asked of anybody."""
import os
import re
import subprocess

from page_case import PageCase, main

PROGRAM = os.environ["SISTER_PROGRAM"]
SMALL = ("--rate", 5, "--width", 20, "--spin-period", 1.3, "--prec-period", 17, "--minutes", 10, "--observations", 2, "--fknee", 1,
         "--fmin", 1e-3, "--step", 5, "--rcond", 1e-3)
SPHERE = ("--nside", 32)
RED = ("(() => { const c = View.pictures[0].canvas; return Array.from(c.getContext('2d').getImageData(0, 0, c.width, c.height).data)"
       ".reduce((sum, v, i) => sum + (i % 4 === 0 ? v : 0), 0); })()")


def skyloom(*arguments):
    subprocess.run([PROGRAM, *map(str, arguments), "--quiet"], check=True)


class View(PageCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        maps, binned = cls.folder / "maps", cls.folder / "binned"
        skyloom("simulate", "--maps", maps, *SMALL, *SPHERE, "--json", cls.folder / "s.json")
        (cls.folder / "s.json").rename(maps / "summary.json")
        skyloom("simulate", "--maps", binned, *SMALL, *SPHERE, "--binned-only")
        cls.page = cls.folder / "maps.html"
        data = cls.folder / "data"
        skyloom("simulate", "-o", data, *SMALL[:12], "--fknee", 1, "--fmin", 1e-3, "--common-net", 60e-6, "--common-spread", 0.3)
        cls.observation = data / "satellite_000001.h5"
        skyloom("view", maps, "-o", cls.page, "--with", binned, "--size", 40, "--noise", cls.observation)
        flat, other = cls.folder / "flat", cls.folder / "flat-binned"
        grid = ("--wcs", "tan:40,20,60,50,2")
        skyloom("simulate", "--maps", flat, *SMALL, *grid, "--json", cls.folder / "s.json")
        (cls.folder / "s.json").rename(flat / "summary.json")
        skyloom("simulate", "--maps", other, *SMALL, *grid, "--binned-only")
        cls.flat = cls.folder / "flat.html"
        skyloom("view", flat, "-o", cls.flat, "--with", other, "--middle", "50,10")
        cls.noise = cls.folder / "noise.html"
        skyloom("view", cls.observation, "-o", cls.noise)

    def setUp(self):
        super().setUp()
        self.browser.open(self.page)

    def test_pictures_curves_and_numbers_are_there(self):
        self.assertEqual(self.browser.run("document.querySelectorAll('#maps canvas').length"), 2 * (3 * 3 + 1))
        self.assertIn("Nside 32", self.text("#facts"))
        self.assertIn("ecliptic", self.text("#facts"))
        self.assertIn("rms", self.text("#numbers"))
        self.assertIn("iterations", self.text("#steps"))
        self.assertEqual(self.browser.run("document.querySelectorAll('#residuals path').length"), 1)
        self.assertEqual(self.browser.run("document.querySelectorAll('#spectra path').length"), 9)
        self.assertIn("fknee", self.text("#options"))
        self.screenshot("skyloom-view", whole=True)
        self.assert_no_complaints()
        self.assert_no_sideways_scroll()

    def test_spectra_of_detectors_lie_on_their_model(self):
        self.assertIn("14 of 14 detectors", self.text("#noise-of"))
        self.assertEqual(self.browser.run("document.querySelectorAll('#densities path').length"), 3)
        ratio = ("(() => { const n = View.data.noise, r = n.median.map((v, i) => v / n.model[i]).filter((_, i) => n.frequencies[i] > 0.2); "
                 "return r.reduce((a, b) => a + b) / r.length; })()")
        self.assertAlmostEqual(self.browser.run(ratio), 1, delta=0.1)
        before = self.browser.run("document.querySelector('#densities path:nth-of-type(2)').getAttribute('d')")
        self.browser.run("(() => { const e = document.getElementById('detector'); e.value = '3'; e.dispatchEvent(new Event('change')); })()")
        self.assertNotEqual(self.browser.run("document.querySelector('#densities path:nth-of-type(2)').getAttribute('d')"), before)
        self.assertEqual(self.browser.run("document.querySelectorAll('#densities path').length"), 3)
        self.assertIn("the detector", self.text("#noise-legend"))
        self.assert_no_complaints()

    def test_an_observation_is_a_page_of_its_noise(self):
        self.browser.open(self.noise)
        self.assertIn("satellite_000001", self.text("#facts"))
        self.assertTrue(self.browser.run("document.getElementById('controls').offsetParent === null && document.getElementById('power').offsetParent === null"))
        self.screenshot("skyloom-noise", whole=True)
        self.assert_no_sideways_scroll()
        self.browser.view(390, 800, dark=True)
        self.browser.open(self.noise)
        self.assert_no_sideways_scroll()
        self.screenshot("skyloom-noise-narrow")
        self.assert_no_complaints()

    def test_colours_follow_the_slider(self):
        before = self.browser.run(RED)
        self.browser.run("(() => { const e = document.getElementById('span'); e.value = 0.05; e.dispatchEvent(new Event('input')); })()")
        self.assertNotEqual(self.browser.run(RED), before)
        self.assertIn("0.05 times", self.text("#span-text"))
        self.assertEqual([c for c in self.browser.complaints if "willReadFrequently" not in c], [])  # this test reads, the page does not

    def test_the_value_under_the_pointer_is_told(self):
        self.browser.run("document.querySelector('#maps canvas').scrollIntoView()")
        left, top, wide, high = self.browser.place("#maps canvas")
        self.browser.mouse("Moved", left + wide / 4, top + high / 2)
        self.browser.wait_for("document.querySelector('.tip') && !document.querySelector('.tip').hidden")
        self.assertRegex(self.text(".tip"), r"longitude (89|90|91)\.\d°, latitude -?\d\.\d°")
        self.assert_no_complaints()

    def test_a_flat_map_is_shown_as_its_cells(self):
        self.browser.open(self.flat)
        self.assertEqual(self.browser.run("document.querySelectorAll('#maps canvas').length"), 2 * (3 * 3 + 1))
        self.assertEqual(self.browser.run("[View.pictures[0].canvas.width, View.pictures[0].canvas.height, View.pictures[1].canvas.width]"), [30, 25, 10])
        self.assertIn("TAN, 30 × 25 cells of 2°", self.text("#facts"))
        self.assertIn("power spectra are of HEALPix maps alone", self.text("#facts"))
        self.assertIn("iterations", self.text("#steps"))
        self.assertIn("rms", self.text("#numbers"))
        self.assertTrue(self.browser.run("document.getElementById('power').offsetParent === null"))
        # the middle of the whole map, and that of the part; the east is to the left
        for canvas, lon, lat in ((".flat", 40, 20), (".part", 50, 10)):
            self.browser.run(f"document.querySelector('#maps canvas{canvas}').scrollIntoView({{block: 'center'}})")
            left, top, wide, high = self.browser.place(f"#maps canvas{canvas}")
            told = []
            for share in (0.5, 0.3):
                self.browser.mouse("Moved", left + wide * share, top + high / 2)
                self.browser.wait_for("document.querySelector('.tip') && !document.querySelector('.tip').hidden")
                told.append([float(v) for v in re.findall(r"tude (-?[\d.]+)°", self.text(".tip"))])
            self.assertAlmostEqual(told[0][0], lon, delta=1.6)
            self.assertAlmostEqual(told[0][1], lat, delta=1.6)
            self.assertGreater(told[1][0], told[0][0] + 2)
        self.screenshot("skyloom-flat", whole=True)
        self.assert_no_sideways_scroll()
        self.browser.view(390, 800, dark=True)
        self.browser.open(self.flat)
        self.assert_no_sideways_scroll()
        self.screenshot("skyloom-flat-narrow", whole=True)
        self.assert_no_complaints()

    def test_it_fits_on_a_telephone_in_the_dark(self):
        self.browser.view(390, 800, dark=True)
        self.browser.open(self.page)
        self.assert_no_sideways_scroll()
        self.screenshot("skyloom-view-narrow")
        self.browser.run("document.getElementById('power').scrollIntoView()")
        self.screenshot("skyloom-view-spectra-narrow")
        self.assert_no_complaints()


if __name__ == "__main__":
    main()
