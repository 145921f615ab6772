# SPDX-License-Identifier: BSD-3-Clause
"""What the browser tests share: a browser, a folder, screenshots on request, the exit status of a skipped run."""
import os
import pathlib
import shutil
import sys
import tempfile
import unittest

import chromium

SKIPPED = 77  # what CTest takes for "skipped"
KEEP = os.environ.get("FIBERLOOM_SCREENSHOTS")  # a folder: screenshots are left there to be looked at


class PageCase(unittest.TestCase):
    browser = None

    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="fiberloom-pages-"))
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        cls.browser = chromium.Chromium()
        cls.addClassCleanup(cls.browser.close)

    def setUp(self):
        self.browser.view(1400, 900)
        self.browser.complaints.clear()

    def screenshot(self, name, whole=False):
        """Takes one, as a user would; it must not be a blank."""
        data = self.browser.screenshot(pathlib.Path(KEEP) / (name + ".png") if KEEP else None, whole)
        self.assertGreater(len(data), 10000, "a blank screenshot")

    def text(self, selector):
        return self.browser.run(f"document.querySelector('{selector}').innerText")

    def assert_no_complaints(self):
        self.assertEqual(self.browser.complaints, [])

    def assert_no_sideways_scroll(self):
        wide = self.browser.run("document.documentElement.scrollWidth - document.documentElement.clientWidth")
        self.assertLessEqual(wide, 0, "the page is wider than the window")


def main():
    if not chromium.find():
        print("skipped: no Chromium (Debian: apt-get install chromium), and FIBERLOOM_CHROMIUM names none")
        sys.exit(SKIPPED)
    unittest.main(verbosity=2)
