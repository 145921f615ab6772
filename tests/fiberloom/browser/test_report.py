# SPDX-License-Identifier: BSD-3-Clause
"""The report page in a real browser: shown, stepped through, zoomed, in light and dark, wide and narrow, no complaint.
With the argument --full: a frame of 500 fibres x 2326 bins, its size and the time it takes to open."""
import json
import re
import sys
import unittest

from page_case import main
from report_case import ReportCase, extract_small, fiberloom, fits
from small_camera import GRID, NX, NY, trace_x

FULL_SIZE, FULL_SECONDS = 10e6, 2.0  # bytes; a guard with a wide margin, no benchmark


class SmallReport(ReportCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        folder = cls.folder
        extract_small(folder, "--residual", folder / "residual.fits")
        fiberloom("extract", "-i", folder / "preproc.fits", "-p", folder / "psf.fits", "-o", folder / "part.fits",
                  "-w", GRID, "--bundlesize", "5", "-s", "6", "-n", "3", "--quiet")
        n = 40
        (folder / "bare.fits").write_bytes(
            fits.image("FLUX", -32, (1, n), [5.0] * n, first=True) + fits.image("IVAR", -32, (1, n), [1.0] * (n - 1) + [0.0])
            + fits.image("WAVELENGTH", -64, (n,), [5000.0 * 1.0002 ** j for j in range(n)]))
        cls.page = folder / "report.html"
        fiberloom("report", folder / "frame.fits", folder / "part.fits", folder / "bare.fits", "--summary",
                  folder / "summary.json", "-o", cls.page)

    def test_shows_every_part_without_complaint(self):
        self.show(self.page)
        self.assertEqual(self.browser.run("document.querySelectorAll('.map canvas').length"), 2)
        self.assertEqual(self.browser.run("document.querySelectorAll('.ccd canvas').length"), 3)
        self.assertEqual(self.browser.run("document.querySelectorAll('.histogram svg').length"), 3)
        self.assertEqual(self.browser.run("document.querySelectorAll('#bundles tbody tr').length"), 2)
        self.assertGreater(self.browser.run("document.querySelectorAll('#runs tbody tr').length"), 2)
        self.assertIn("compute", self.text("#timing"))
        self.assertIn("--bundlesize 5", self.text("#facts"))
        self.screenshot("report-small", whole=True)
        self.assert_no_sideways_scroll()
        self.assert_no_complaints()

    def test_keys_and_buttons_step_the_fibre(self):
        self.show(self.page)
        first = self.pixels("#plot canvas")
        self.browser.key("ArrowRight")
        self.assertEqual(self.browser.run("document.querySelector('#fiber').value"), "1")
        second = self.pixels("#plot canvas")
        self.assertNotEqual(first, second)
        self.browser.run("document.querySelector('#next').click()")
        self.browser.key("ArrowLeft")
        self.browser.key("ArrowLeft")
        self.assertEqual(self.pixels("#plot canvas"), first)
        self.browser.key("ArrowLeft")  # there is none before the first
        self.assertEqual(self.browser.run("document.querySelector('#fiber').value"), "0")
        self.set("#fiber", 7)
        self.assertIn("bundle 1", self.text("#fiber-note"))
        self.assert_no_complaints()

    def test_drag_wheel_and_keys_zoom_and_double_click_resets(self):
        self.show(self.page)
        whole = self.x_range()
        self.assertAlmostEqual(whole[0], 5005.0, delta=0.9)
        self.assertAlmostEqual(whole[1], 5085.0, delta=0.9)
        left, top, width, _ = self.browser.place("#plot")
        self.browser.drag(left + 0.4 * width, top + 90, left + 0.6 * width, top + 120)
        dragged = self.x_range()
        self.assertLess(dragged[1] - dragged[0], 25)
        self.browser.mouse("Wheel", left + 0.5 * width, top + 90, deltaX=0, deltaY=-200)
        self.browser.wait_for("true")
        wheeled = self.x_range()
        self.assertLess(wheeled[1] - wheeled[0], dragged[1] - dragged[0])
        self.screenshot("report-zoom")
        self.browser.click(left + 0.5 * width, top + 90, times=2)
        self.assertEqual(self.x_range(), whole)
        self.browser.key("+")
        self.assertLess(self.x_range()[1], whole[1])
        self.browser.key("0")
        self.assertEqual(self.x_range(), whole)
        self.assert_no_complaints()

    def test_a_bad_run_of_the_table_is_shown_in_the_spectrum(self):
        self.show(self.page)
        fiber, low, high = self.browser.run(
            "(r => { r.click(); return [0, 1, 2].map(k => Number(r.cells[k].innerText)); })([...document.querySelectorAll("
            "'#runs tbody tr')].find(r => r.innerText.includes('no information')))")
        self.assertEqual(self.browser.run("document.querySelector('#fiber').value"), str(int(fiber)))
        first, last = self.x_range()
        self.assertTrue(first < low <= high < last)
        left, top, width, _ = self.browser.place("#plot")
        part = ((low + high) / 2 - first) / (last - first)
        self.browser.mouse("Moved", left + 59 + part * (width - 70), top + 60)
        self.assertIn("rejected", self.text("#readout"))
        self.assert_no_complaints()

    def test_every_kind_of_map_and_axis_draws(self):
        self.show(self.page)
        seen = set()
        for k in range(self.browser.run("document.querySelector('.map').parentNode.querySelector('select').options.length")):
            self.browser.run("(e => { e.value = '%d'; e.dispatchEvent(new Event('change')); })"
                             "(document.querySelector('.map').parentNode.querySelector('select'))" % k)
            seen.add(self.pixels(".map canvas"))
        self.assertEqual(len(seen), 6)
        axes = set()
        for name in ("linear", "clipped", "asinh"):
            self.browser.run("(e => { e.value = '%s'; e.dispatchEvent(new Event('change')); })(document.querySelector('#axis'))" % name)
            axes.add(self.pixels("#plot canvas"))
        self.assertEqual(len(axes), 3)
        self.browser.run("document.querySelector('.map').scrollIntoView({block: 'center'})")
        left, top, width, height = self.browser.place(".map")
        self.browser.mouse("Moved", left + width / 2, top + height / 2)
        self.assertIn("fibre", self.text(".tip"))
        self.browser.click(left + width / 2, top + 20)
        self.assertEqual(self.browser.run("document.querySelector('#fiber').value"), "9")
        self.assert_no_complaints()

    def test_a_picture_has_ccd_coordinates_and_tells_fibre_and_wavelength(self):
        self.show(self.page)
        self.browser.run("document.querySelector('.ccd').scrollIntoView({block: 'center'})")
        left, top, width, height = self.browser.place(".ccd")
        area = (left + 46, top + 4, width - 52, height - 36)  # as report_ccd.js lays it out
        x0, x1, y0, y1 = map(int, re.search(r"columns (\d+) to (\d+), rows (\d+) to (\d+)", self.text(".picture")).groups())
        self.assertLess(x1 - x0, NX)  # the part that is lit, 94 of 110 columns
        self.assertLessEqual(y1, NY - 1)

        def point(column, row):
            return (area[0] + area[2] * (column - x0 + 0.5) / (x1 - x0 + 1), area[1] + area[3] * (1 - (row - y0 + 0.5) / (y1 - y0 + 1)))
        self.browser.mouse("Moved", *point(int(trace_x(6)) + 1, 80))
        tip = self.text(".tip")
        self.assertIn(f"column {int(trace_x(6)) + 1}, row 80", tip)
        self.assertIn("fibre 6, 5050.", tip)  # trace_y(5050) is 80
        self.browser.click(*point(trace_x(3), 80))
        self.assertEqual(self.value("#fiber"), "3")
        low, high = self.x_range()
        self.assertTrue(low < 5050 < high, (low, high))
        before = self.pixels(".ccd canvas")
        self.browser.run("document.querySelector('#traces').click()")
        self.assertNotEqual(self.pixels(".ccd canvas"), before)
        self.assert_no_complaints()

    def test_a_spectrum_without_information_is_not_the_first_to_be_seen(self):
        n = 40
        dead, lit = [0.0] * n, [1.0] * n
        (self.folder / "dead.fits").write_bytes(
            fits.image("FLUX", -32, (3, n), [5.0] * (3 * n), first=True)
            + fits.image("IVAR", -32, (3, n), dead + dead[:n // 2 + 1] + lit[n // 2 + 1:] + lit)
            + fits.image("WAVELENGTH", -64, (n,), [5000.0 + j for j in range(n)]))
        fiberloom("report", self.folder / "dead.fits", "-o", self.folder / "dead.html")
        self.show(self.folder / "dead.html")
        self.assertEqual(self.browser.run("document.querySelector('#fiber').value"), "2")
        self.assert_no_complaints()

    def test_frames_are_chosen_from_a_list_and_the_barest_is_shown(self):
        self.show(self.page)
        for k, fibre in ((1, "6"), (2, "0")):
            self.browser.run("(e => { e.value = '%d'; e.dispatchEvent(new Event('change')); })(document.querySelector('#frame'))" % k)
            self.browser.wait_for("document.body.dataset.ready === 'yes'")
            self.assertEqual(self.browser.run("document.querySelector('#fiber').value"), fibre)
        self.assertIn("no RESOLUTION", self.text("#notes"))
        self.screenshot("report-bare", whole=True)
        self.assert_no_complaints()

    def test_a_summary_of_odd_types_is_shown_as_far_as_it_goes(self):
        odd = self.folder / "odd.json"
        odd.write_text(json.dumps({"program": "fiberloom extract", "seconds": {"read": 3, "compute": {"wall_s": "a"}},
                                   "bundles": [None, 1, {"first_fiber": 0}], "options": [1], "versions": 5}))
        fiberloom("report", self.folder / "frame.fits", "--summary", odd, "-o", self.folder / "odd.html")
        self.show(self.folder / "odd.html")
        self.assert_no_complaints()

    def test_fits_a_phone_and_the_dark(self):
        for name, width, dark in (("phone", 360, False), ("phone-dark", 420, True), ("dark", 1400, True)):
            self.browser.view(width, 800, dark, touch=width < 500)
            self.show(self.page)
            self.screenshot("report-" + name, whole=True)
            self.assert_no_sideways_scroll()
        colour = self.browser.run("getComputedStyle(document.body).backgroundColor")
        self.assertLess(max(int(v) for v in colour[4:-1].split(",")), 60, colour)
        self.assert_no_complaints()


class FullReport(ReportCase):
    def test_a_full_frame_is_small_enough_and_opens_quickly(self):
        folder = self.folder
        fiberloom("simulate", "-o", folder, "--cameras", "r0", "--quiet")
        fiberloom("extract", "-i", folder / "preproc-r0-00000001.fits", "-p", folder / "psf-r0.fits", "-o",
                  folder / "frame.fits", "-w", "5760.0,7620.0,0.8", "-m", folder / "model.fits", "--residual",
                  folder / "residual.fits", "--json", folder / "summary.json", "--quiet")
        page = folder / "report.html"
        fiberloom("report", folder / "frame.fits", "--summary", folder / "summary.json", "--truth",
                  folder / "truth-r0-00000001.fits", "-o", page)
        seconds = min(self.show(page) for _ in range(3))
        print(f"{page.stat().st_size / 1e6:.2f} MB, {seconds:.2f} s until drawn")
        self.assertLess(page.stat().st_size, FULL_SIZE)
        self.assertLess(seconds, FULL_SECONDS)
        self.assertEqual(self.text("#verdict .words").split("\n")[-1], "Good: nothing odd in 15 checks")
        self.screenshot("report-full", whole=True)
        self.assert_no_complaints()


def load_tests(loader, _tests, _pattern):
    return loader.loadTestsFromTestCase(FullReport if FULL else SmallReport)


if __name__ == "__main__":
    FULL = "--full" in sys.argv
    sys.argv = [a for a in sys.argv if a != "--full"]
    main()
