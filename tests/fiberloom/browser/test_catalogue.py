# SPDX-License-Identifier: BSD-3-Clause
"""`fiberloom catalogue serve` in a real browser: the table, a question by the form, SQL, a target and its spectrum; light
and dark, wide and narrow; no complaint, and nothing is asked of anybody else."""
import signal
import subprocess

from page_case import main
from report_case import ReportCase, fiberloom, PROGRAM
from small_catalogue import redrock_bytes, targets
from small_spectra import Targets, template_bytes


class CatalogueSite(ReportCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        templates = cls.folder / "templates"
        templates.mkdir()
        (templates / "rrtemplate-GALAXY-None-v1.0.fits").write_bytes(template_bytes("GALAXY"))
        files = cls.folder / "files"
        files.mkdir()
        (files / "coadd-0-80613.fits").write_bytes(Targets([("GALAXY", 0.0312), ("GALAXY", 0.0701)]).coadd())
        fiberloom("redshift", "-i", files / "coadd-0-80613.fits", "-o", files / "redrock-0-80613.fits", "-t", templates, "-q")
        (files / "redrock-0-1.fits").write_bytes(redrock_bytes(1, 20260101, targets(1, 300), candidates=1))
        fiberloom("catalogue", "load", files, "--db", cls.folder / "catalogue.sqlite", "-q")
        cls.server = subprocess.Popen([PROGRAM, "catalogue", "serve", "--db", cls.folder / "catalogue.sqlite", "--port", "0"],
                                      stdout=subprocess.PIPE, text=True, env={"RR_TEMPLATE_DIR": str(templates)})
        cls.address = cls.server.stdout.readline().strip()
        cls.addClassCleanup(cls.server.wait)
        cls.addClassCleanup(cls.server.send_signal, signal.SIGTERM)

    def show(self, path):
        self.browser.open(self.address + path.lstrip("/"))

    def ids(self):
        return self.browser.run("[...document.querySelectorAll('td a[href^=\"/target/\"]')].map(e => e.innerText)")

    def assert_asks_nobody_else(self):
        others = [c for c in self.browser.complaints if not c.startswith("asks for " + self.address)]
        self.assertEqual(others, [])

    def test_the_table_answers_the_form(self):
        self.show("/")
        self.assertEqual(len(self.ids()), 200)
        self.screenshot("catalogue")
        self.browser.follow("document.querySelector('input[name=cone]').value = '150.0,2.1005,80'; document.querySelector('form').submit()")
        self.assertEqual(self.ids(), ["11", "12", "10", "13", "9"])
        self.assertEqual(self.browser.run("document.querySelector('input[name=cone]').value"), "150.0,2.1005,80")
        self.browser.follow("document.querySelector('td a').click()")
        self.assertIn("Target 11", self.text("h1"))
        self.assertIn("redrock-0-1.fits", self.text("main"))
        self.assert_asks_nobody_else()

    def test_sql_answers_and_says_what_is_wrong(self):
        self.show("/sql?sql=SELECT+count(*)+AS+n+FROM+ztile")
        self.assertEqual(self.text("td"), "302")
        self.show("/sql?sql=DROP+TABLE+redshift")
        self.assertIn("not authorized", self.text("[role=alert]"))
        others = [c for c in self.browser.complaints if not c.startswith("asks for " + self.address) and "400" not in c]
        self.assertEqual(others, [])

    def test_a_spectrum_is_drawn(self):
        self.show("/?targetid=" + str(Targets([("GALAXY", 0.0312)]).ids[0]))
        self.browser.follow("document.querySelector('td a').click()")
        self.browser.follow("document.querySelector('nav a').click()")
        self.browser.wait_for("!document.querySelector('#body').hidden")
        self.browser.wait_for("document.querySelectorAll('#rows-body tr[data-row]').length > 0")
        self.screenshot("catalogue-spectrum")
        self.assert_asks_nobody_else()

    def test_it_fits_on_a_telephone_in_the_dark(self):
        self.browser.view(390, 800, dark=True)
        self.show("/")
        self.assertLessEqual(self.browser.run("document.documentElement.scrollWidth"), 390)
        self.screenshot("catalogue-narrow")


if __name__ == "__main__":
    main()
