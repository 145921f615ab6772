# SPDX-License-Identifier: BSD-3-Clause
"""The documentation in a real browser: nothing runs off the side, equations are set, the search finds."""
import os
import pathlib
import subprocess
import sys

import page_case
from page_case import SKIPPED, PageCase

SOURCE = pathlib.Path(os.environ["FIBERLOOM_SOURCE"])
PAGES = ("index", "algorithm", "reference-python", "reference-cpp", "cpp-extract", "troubleshooting", "gallery",
         "commands", "install")


class Pages(PageCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.site = cls.folder / "site"
        made = subprocess.run([sys.executable, "-B", SOURCE / "scripts/docs-site", "--out", cls.site, "--program",
                               os.environ["FIBERLOOM_PROGRAM"]], capture_output=True, text=True, check=False)
        if made.returncode == 2 and "python3-markdown" in made.stderr:
            print("skipped: no Markdown (Debian: apt-get install python3-markdown)")
            os._exit(SKIPPED)
        assert made.returncode == 0, made.stdout + made.stderr

    def open(self, page):
        self.browser.open(self.site / f"{page}.html")

    def test_no_page_is_wider_than_its_window(self):
        for width, touch in ((1400, False), (420, True)):
            self.browser.view(width, 900, touch=touch)
            for page in PAGES:
                with self.subTest(page=page, width=width):
                    self.open(page)
                    self.assert_no_sideways_scroll()
                    self.screenshot(f"docs-{page}-{width}")
        self.assert_no_complaints()

    def test_equations_are_set_in_two_dimensions(self):
        self.open("algorithm")
        heights = self.browser.run("[...document.querySelectorAll('mfrac')].map(e => e.getBoundingClientRect().height)")
        self.assertGreater(len(heights), 5)
        self.assertGreater(min(heights), 8)  # one in an exponent
        self.assertGreater(max(heights), 30)

    def test_search_finds_and_leads_there(self):
        self.open("index")
        self.browser.run("document.getElementById('words').focus(); document.getElementById('words').value = "
                         "'no space left'; document.getElementById('words').dispatchEvent(new Event('input'))")
        links = self.browser.run("[...document.querySelectorAll('#found a')].map(e => e.getAttribute('href'))")
        self.assertIn("troubleshooting.html#31-no-space-left-for-the-output", links)
        self.browser.run("document.getElementById('words').value = 'zzzqqq'; "
                         "document.getElementById('words').dispatchEvent(new Event('input'))")
        self.assertEqual(self.text("#found p"), "0 places")

    def test_contents_and_neighbours(self):
        self.open("formats")
        headings = self.browser.run("document.querySelectorAll('main h2, main h3').length")
        self.assertEqual(self.browser.run("document.querySelectorAll('.contents a').length"), headings)
        before = self.browser.run("document.querySelector('.neighbours [rel=prev]').getAttribute('href')")
        after = self.browser.run("document.querySelector('.neighbours [rel=next]').getAttribute('href')")
        self.assertEqual((before, after), ("reference-cpp.html", "simulate.html"))


if __name__ == "__main__":
    page_case.main()
