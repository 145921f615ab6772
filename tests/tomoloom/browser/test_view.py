# SPDX-License-Identifier: BSD-3-Clause
"""The page of `tomoloom view` in a real browser: nine planes, grey levels that follow the controls, a value under the pointer;
light and dark, wide and narrow; no complaint, and nothing is asked of anybody."""
import os
import subprocess

from page_case import PageCase, main

PROGRAM = os.environ["SISTER_PROGRAM"]
GREY = "(() => { const c = View.pictures[0].canvas; return c.getContext('2d').getImageData(c.width >> 1, c.height >> 1, 1, 1).data[0]; })()"


def tomoloom(*arguments):
    subprocess.run([PROGRAM, *map(str, arguments), "--quiet"], check=True)


class View(PageCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        scan, truth, volume = (cls.folder / name for name in ("scan.h5", "truth.h5", "volume.h5"))
        tomoloom("simulate", "-o", scan, "--truth", truth, "--columns", 96, "--rows", 20, "--angles", 120, "--phantom", "disc")
        tomoloom("recon", scan, "-o", volume)
        cls.page = cls.folder / "volume.html"
        tomoloom("view", volume, "-o", cls.page, "--with", truth, "--slice", 7, "--scan", scan, "--axes", 7, "--axis-step", 2)

    def setUp(self):
        super().setUp()
        self.browser.open(self.page)

    def test_planes_numbers_and_facts_are_there(self):
        self.assertEqual(self.browser.run("document.querySelectorAll('#planes canvas').length"), 9)
        self.assertIn("20 x 96 x 96", self.text("#size"))
        self.assertIn("slice 7", self.text("#planes"))
        self.assertIn("root of mean square", self.text("#numbers"))
        self.assertIn("exact", self.text("#facts"))
        self.assertGreater(self.browser.run("document.querySelectorAll('#histogram rect').length"), 100)
        self.screenshot("tomoloom-view", whole=True)
        self.assert_no_complaints()
        self.assert_no_sideways_scroll()

    def test_grey_levels_follow_the_controls(self):
        value = self.browser.run("(() => { const p = View.pictures[0], n = p.plane; return n.low + n.step * "
                                 "p.pixels[(n.height >> 1) * n.width + (n.width >> 1)]; })()")
        change = lambda low, high: self.browser.run(
            f"for (const [id, v] of [['low', {low}], ['high', {high}]]) {{ const e = document.getElementById(id); e.value = v; "
            "e.dispatchEvent(new Event('change')); }")
        change(value - 1, value + 1)
        self.assertAlmostEqual(self.browser.run(GREY), 127, delta=2)
        change(value + 1, value + 2)
        self.assertEqual(self.browser.run(GREY), 0)
        self.browser.run("document.getElementById('whole').click()")
        self.assertGreater(self.browser.run(GREY), 100)
        self.assertEqual([c for c in self.browser.complaints if "willReadFrequently" not in c], [])  # this test reads, the page does not

    def test_the_value_under_the_pointer_is_told(self):
        self.browser.run("document.querySelector('#planes canvas').scrollIntoView()")
        left, top, wide, high = self.browser.place("#planes canvas")
        self.browser.mouse("Moved", left + wide / 2, top + high / 2)
        self.browser.wait_for("document.querySelector('.tip') && !document.querySelector('.tip').hidden")
        self.assertRegex(self.text(".tip"), r"row 4[78], column 4[78]")
        self.assert_no_complaints()

    def test_a_slider_moves_the_axis(self):
        self.assertIn("scan.h5, row 7", self.text("#scan"))
        self.assertEqual(self.browser.run("document.getElementById('sinogram').height"), 120)
        self.assertIn("column 47.50, that of the volume", self.text("#axis-text"))
        picture = ("(() => { const c = document.getElementById('axis-slice'); return Array.from(c.getContext('2d')"
                   ".getImageData(0, 0, c.width, c.height).data).reduce((sum, v, i) => (sum * 31 + v * (i % 7)) % 65521, 0); })()")
        before = self.browser.run(picture)
        self.browser.run("(() => { const e = document.getElementById('axis'); e.value = 5; e.dispatchEvent(new Event('input')); })()")
        self.assertIn("column 51.50, +4.00 from that of the volume", self.text("#axis-text"))
        self.assertNotEqual(self.browser.run(picture), before)
        self.browser.run("document.getElementById('scan').scrollIntoView()")
        self.screenshot("tomoloom-view-axis")
        self.assertEqual([c for c in self.browser.complaints if "willReadFrequently" not in c], [])

    def test_it_fits_on_a_telephone_in_the_dark(self):
        self.browser.view(390, 800, dark=True)
        self.browser.open(self.page)
        self.assert_no_sideways_scroll()
        self.screenshot("tomoloom-view-narrow")
        self.browser.run("document.getElementById('scan').scrollIntoView()")
        self.screenshot("tomoloom-view-axis-narrow")
        self.assert_no_complaints()


if __name__ == "__main__":
    main()
