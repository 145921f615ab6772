# SPDX-License-Identifier: BSD-3-Clause
"""The page of redshifts in a real browser, from file://: table, filters, keyboard, fits, redshifts typed by hand, visual
inspection and its CSV, links; light and dark, wide and narrow; 30,000 targets; no complaint."""
import csv
import io
import json
import time

from page_case import main
from report_case import ReportCase, fiberloom, fits
from redshift_page import absurd_redshifts
from small_spectra import Targets, template_bytes

TRUTH = [("GALAXY", 0.0312), ("STAR", 0.0004), ("GALAXY", 0.0701), ("GALAXY", 0.0955), ("STAR", -0.0005), ("GALAXY", 0.0523)]
MANY, OPEN_SECONDS, FILTER_SECONDS = 30000, 6.0, 2.5  # a healpix file's; wide guards, no benchmark


def redshift_table(path, n):
    """Redshifts of n targets, alone."""
    rows = [(10 ** 16 + i, 0.001 * i, 1e-5, 4 if i % 10 == 0 else 0, float(i % 97), (b"GALAXY", b"QSO", b"STAR")[i % 3]) for i in range(n)]
    path.write_bytes(fits.header([("SIMPLE", True), ("BITPIX", 8), ("NAXIS", 0), ("EXTEND", True)]) + fits.table("REDSHIFTS", [
        ("TARGETID", "K", "q", None), ("Z", "D", "d", None), ("ZERR", "E", "f", None), ("ZWARN", "J", "i", None), ("DELTACHI2", "E", "f", None),
        ("SPECTYPE", "6A", "6s", None)], rows))


class RedshiftPage(ReportCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        templates = cls.folder / "templates"
        templates.mkdir()
        (templates / "rrtemplate-GALAXY-None-v1.0.fits").write_bytes(template_bytes("GALAXY"))
        (templates / "rrtemplate-STAR-A-v1.0.fits").write_bytes(template_bytes("STAR", "A"))
        cls.targets = Targets(TRUTH)
        for camera in cls.targets.ivar.values():
            camera[0][60:90] = [0.0] * 30
        coadd, redrock = cls.folder / "coadd-0-1.fits", cls.folder / "redrock-0-1.fits"
        coadd.write_bytes(cls.targets.coadd(kinds={5: "SKY"}))
        fiberloom("redshift", "-i", coadd, "-o", redrock, "-t", templates, "--quiet")
        cls.page = cls.folder / "page.html"
        fiberloom("report", redrock, "-t", templates, "-o", cls.page)
        redshift_table(cls.folder / "many.fits", MANY)
        cls.many = cls.folder / "many.html"
        fiberloom("report", cls.folder / "many.fits", "-o", cls.many)

    def setUp(self):
        super().setUp()
        self.browser.open(self.page)
        self.browser.run("localStorage.clear()")
        self.browser.complaints.clear()
        self.show(self.page)

    def rows(self):
        """TARGETIDs of the lines that are drawn."""
        return self.browser.run("[...document.querySelectorAll('#rows-body tr[data-row] td:first-child')].map(e => e.innerText)")

    def ids(self, *places):
        return [str(self.targets.ids[k]) for k in places]

    def name(self):
        return self.text("#target-name")

    def press(self, selector):
        self.browser.run(f"document.querySelector({json.dumps(selector)}).click()")

    def wait_name(self, place):
        self.browser.wait_for(f"document.querySelector('#target-name').innerText === '{self.targets.ids[place]}'")

    def tick(self, selector):
        self.browser.run(f"document.querySelector({json.dumps(selector)}).click()")

    def test_shows_every_part_without_complaint(self):
        self.assertEqual(self.rows(), self.ids(*range(6)))
        self.assertEqual(self.name(), self.ids(0)[0])
        self.assertIn("GALAXY", self.text("#target-note"))
        self.assertGreater(self.browser.run("document.querySelectorAll('#fits button').length"), 1)
        self.assertEqual(self.browser.run("document.querySelectorAll('#nz svg').length"), 2)
        self.assertIn("none (ZWARN 0)", self.text("#zwarn-list"))
        self.assertIn("OBJTYPE", self.text("#facts"))
        self.assertEqual(self.browser.run("document.querySelector('#help').open"), False)
        self.screenshot("redshift-light", whole=True)
        self.assert_no_sideways_scroll()
        self.assert_no_complaints()

    def test_sorts_by_any_column_both_ways(self):
        self.browser.run("[...document.querySelectorAll('#rows-head button')].find(e => e.innerText.startsWith('Z')).click()")
        order = sorted(range(6), key=lambda k: TRUTH[k][1])
        found = self.rows()
        self.assertEqual(found[1:], [i for i in self.ids(*order) if i in found[1:]])
        z = [float(v) for v in self.browser.run("[...document.querySelectorAll('#rows-body tr[data-row]')].map(e => e.children[3].innerText)")]
        self.assertEqual(z, sorted(z))
        self.browser.run("[...document.querySelectorAll('#rows-head button')].find(e => e.innerText.startsWith('Z ')).click()")
        z = [float(v) for v in self.browser.run("[...document.querySelectorAll('#rows-body tr[data-row]')].map(e => e.children[3].innerText)")]
        self.assertEqual(z, sorted(z, reverse=True))
        self.assertEqual(self.browser.run("document.querySelectorAll('#rows-head [aria-sort=descending]').length"), 1)

    def test_filters_by_class_redshift_words_and_conditions(self):
        self.set("#class", "STAR")
        self.assertEqual(self.rows()[:2], self.ids(1, 4))
        self.assertEqual(self.text("#shown"), "2 of 6")
        self.press("#clear")
        self.set("#z-low", "0.05")
        self.set("#z-high", "0.08")
        self.assertEqual(self.rows()[0], self.ids(2)[0])
        self.press("#clear")
        self.set("#find", "sky")
        self.assertEqual(self.rows(), self.ids(5))
        self.press("#clear")
        self.set("#only", "SPECTYPE == star and ZWARN == 0")
        self.assertEqual(self.rows(), self.ids(1, 4))
        self.set("#only", f"TARGETID == {self.targets.ids[3]}")
        self.assertEqual(self.rows(), self.ids(3))
        self.set("#only", "NOTHING > 1")
        self.assertIn("no column NOTHING", self.text("#only-told"))
        self.press("#clear")
        self.assertEqual(len(self.rows()), 6)
        self.press("#zwarn-list tr:nth-child(1) button")
        self.assertEqual(self.value("#only"), "ZWARN==0")
        self.assertNotIn(self.ids(5)[0], self.rows())  # a sky fibre
        self.assert_no_complaints()

    def test_keys_step_targets_and_fits_and_switch(self):
        first = self.pixels("#plot canvas")
        self.browser.key("ArrowRight")
        self.wait_name(1)
        self.assertNotEqual(self.pixels("#plot canvas"), first)
        self.browser.key("ArrowLeft")
        self.wait_name(0)
        self.assertEqual(self.pixels("#plot canvas"), first)
        z, curve = self.value("#z"), self.pixels("#curve canvas")
        self.browser.key("c")
        self.assertNotEqual(self.value("#z"), z)
        self.assertNotEqual(self.pixels("#plot canvas"), first)
        self.assertNotEqual(self.pixels("#curve canvas"), curve)
        self.assertEqual(self.browser.run("[...document.querySelectorAll('#fits button')].map(e => e.getAttribute('aria-pressed')).indexOf('true')"), 1)
        self.browser.key("b")
        self.assertEqual(self.pixels("#plot canvas"), first)
        for key in "lmsa":
            before = self.pixels("#plot canvas")
            self.browser.key(key)
            self.assertNotEqual(self.pixels("#plot canvas"), before, key)
        self.assertEqual(self.value("#smooth"), "3")
        self.browser.key("+")
        self.assertIn("w=", self.hash())
        self.browser.key("0")
        self.assertNotIn("w=", self.hash())
        self.browser.key("z")
        self.assertEqual(self.browser.run("document.activeElement.id"), "z")
        self.assert_no_complaints()

    def test_a_redshift_typed_moves_the_lines(self):
        before = self.pixels("#plot canvas")
        self.set("#z", "0.08")
        self.assertNotEqual(self.pixels("#plot canvas"), before)
        self.assertIn("z=0.08", self.hash())
        self.set("#z", "nonsense")
        self.assertIn("z=0.08", self.hash())
        self.press("#z-keep")
        self.assertEqual(self.value("#vi-z"), "0.08000")
        self.press("#z-back")
        self.assertEqual(self.pixels("#plot canvas"), before)

    def test_a_click_on_chi2_takes_a_redshift(self):
        self.browser.run("document.querySelector('#curve').scrollIntoView({block: 'center'})")
        left, top, width, height = self.browser.place("#curve")
        before = self.value("#z")
        self.browser.mouse("Moved", left + 0.6 * width, top + 0.1 * height)
        self.browser.click(left + 0.6 * width, top + 0.1 * height)
        self.assertNotEqual(self.value("#z"), before)
        self.assertIn("GALAXY", self.text(".tip"))

    def test_inspections_are_kept_and_saved(self):
        self.tick("input[name=vi-quality][value='4']")
        self.set("#vi-type", "QSO")
        self.set("#vi-comment", 'broad, "odd"\u2028 lines')
        self.set("#vi-scanner", "AB")
        self.browser.key("ArrowRight")
        self.wait_name(1)
        self.assertEqual(self.browser.run("document.querySelectorAll('input[name=vi-quality]:checked').length"), 0)
        self.tick("input[name=vi-quality][value='1']")
        self.tick("input[name=vi-issue][value='S']")
        self.set("#vi-comment", "=SUM(A1)")
        self.show(self.page)  # loaded anew
        self.assertIn("2 targets inspected", self.text("#vi-count"))
        self.assertEqual(self.value("#vi-type"), "QSO")
        self.assertIn("4 QSO", self.text("#rows-body tr:first-child td:last-child"))
        self.browser.run("window.saved = null; URL.createObjectURL = (blob) => { blob.text().then((t) => { window.saved = t; }); return 'blob:none'; }; "
                         "HTMLAnchorElement.prototype.click = function () { window.savedAs = this.download; }")
        self.press("#vi-save")
        self.browser.wait_for("window.saved !== null")
        table = list(csv.DictReader(io.StringIO(self.browser.run("window.saved"))))
        self.assertEqual([row["TARGETID"] for row in table], self.ids(0, 1))
        self.assertEqual((table[0]["VI_quality"], table[0]["VI_spectype"], table[0]["VI_scanner"]), ("4", "QSO", "AB"))
        self.assertIn('broad, "odd"', table[0]["VI_comment"])
        self.assertEqual((table[1]["VI_quality"], table[1]["VI_issue"], table[1]["VI_comment"]), ("1", "S", "'=SUM(A1)"))
        self.assertEqual(list(table[0])[:4] + list(table[0])[-5:], ["TARGETID", "EXPID", "NIGHT", "TILEID", "VI_quality", "VI_issue", "VI_z",
                                                                 "VI_spectype", "VI_comment"])
        self.assertEqual(table[0]["TILEID"], "80613")
        self.assertTrue(self.browser.run("window.savedAs").endswith(".csv"))
        self.assert_no_complaints()

    def test_links_lead_to_a_target(self):
        self.browser.key("ArrowRight")
        self.wait_name(1)
        self.assertEqual(self.hash(), f"#target={self.targets.ids[1]}")
        self.browser.open(self.many)
        self.browser.open(f"file://{self.page}#target={self.targets.ids[3]}&fit=2&w=4300-4400&smooth=5")
        self.browser.wait_for("document.body.dataset.ready === 'yes'")
        self.assertEqual(self.name(), self.ids(3)[0])
        self.assertEqual(self.value("#smooth"), "5")
        for part in ("fit=2", "w=4300-4400", "smooth=5"):
            self.assertIn(part, self.hash())
        self.browser.run(f"location.hash = '#target={self.targets.ids[4]}'")
        self.wait_name(4)
        self.browser.run("location.hash = '#target=<img src=x>&z=x'")
        time.sleep(0.2)
        self.assert_no_complaints()

    def test_masked_pixels_are_shown_as_such(self):
        self.browser.run("document.querySelector('#plot').scrollIntoView({block: 'center'})")
        left, top, width, height = self.browser.place("#plot")
        # B: 4000 to 4240, pixels 60 to 89 are masked; the view is 4000 to 4700
        at = left + 58 + (width - 68) * 75 / 700
        self.browser.mouse("Moved", at, top + height / 3)
        self.assertIn("not fitted", self.text("#readout"))
        self.browser.mouse("Moved", left + 58 + (width - 68) * 20 / 700, top + height / 3)
        self.assertIn("residual", self.text("#readout"))

    def test_narrow_and_dark(self):
        self.browser.view(420, 900, touch=True)
        self.show(self.page)
        self.assert_no_sideways_scroll()
        self.screenshot("redshift-narrow", whole=True)
        self.browser.view(1400, 900, dark=True)
        self.show(self.page)
        self.screenshot("redshift-dark", whole=True)
        self.assert_no_complaints()

    def test_numbers_that_no_fit_gives_are_shown(self):
        page = self.folder / "absurd.html"
        absurd_redshifts(self.folder / "absurd.fits", self.targets.ids)
        fiberloom("report", self.folder / "absurd.fits", "--spectra", self.folder / "coadd-0-1.fits", "-t", self.folder / "templates", "-o", page)
        self.show(page)
        for place in range(4):
            self.wait_name(place)
            for _ in range(5):
                self.browser.key("c")
            self.browser.key("ArrowRight")
        for head in range(self.browser.run("document.querySelectorAll('#rows-head button').length")):
            self.browser.run(f"document.querySelectorAll('#rows-head button')[{head}].click()")
        self.assertEqual(self.browser.run("document.querySelectorAll('#rows b').length"), 0)
        self.assert_no_complaints()

    def test_every_field_has_a_name(self):
        nameless = self.browser.run("[...document.querySelectorAll('input, select, button')].filter(e => !(e.labels && e.labels.length) && "
                                    "!e.getAttribute('aria-label') && !e.innerText.trim()).map(e => e.outerHTML)")
        self.assertEqual(nameless, [])

    def test_thousands_of_targets(self):
        seconds = self.show(self.many)
        self.assertLess(seconds, OPEN_SECONDS)
        self.assertLess(len(self.rows()), 60)
        self.assertEqual(self.text("#shown").replace("\u202f", ""), f"{MANY} of {MANY}")
        start = time.monotonic()
        self.set("#only", "Z>29.9 and SPECTYPE==QSO")
        self.browser.run("[...document.querySelectorAll('#rows-head button')].find(e => e.innerText === 'DELTACHI2').click()")
        self.assertLess(time.monotonic() - start, FILTER_SECONDS)
        self.assertEqual(self.text("#shown").split()[0], "33")
        self.press("#clear")
        self.browser.run("document.querySelector('#rows').scrollTop = 1e9")
        self.browser.wait_for("document.querySelector('#rows-body tr:last-child').dataset.row !== undefined")
        self.assertIn("no spectra", self.text("#notes"))
        self.assertIn("no spectrum on this page", self.text("#target-note"))
        self.screenshot("redshift-many", whole=True)
        self.assert_no_complaints()


if __name__ == "__main__":
    main()
