# SPDX-License-Identifier: BSD-3-Clause
"""The status page of a run in a real browser: it shows the run, follows a file that changes, and runs no hostile text."""
import os
import subprocess
import time

from page_case import PageCase, main

WRITE = os.environ.get("FIBERLOOM_WRITE_STATUS", "")


class StatusPage(PageCase):
    def write(self, exposures, done, name="status.html"):
        """As the night does it: under another name, then renamed."""
        path = self.folder / name
        temporary = path.with_suffix(".tmp")
        subprocess.run([WRITE, str(temporary), str(exposures), str(done)], check=True)
        os.replace(temporary, path)
        return path

    def test_shows_the_run_without_complaint(self):
        self.browser.open(self.write(30, 700))
        self.assertEqual(self.browser.run("document.querySelectorAll('#grid td.cell').length"), 900)
        self.assertIn("of 900", self.text("#tiles"))
        self.assertIn("2\u2009117", self.text("#tiles"))
        self.assertEqual(self.browser.run("document.querySelectorAll('.chart svg').length"), 3)
        self.assertEqual(self.browser.run("document.querySelectorAll('#slowest tr').length"), 12)
        self.screenshot("status-wide", whole=True)
        self.assert_no_sideways_scroll()
        self.assert_no_complaints()

    def test_shows_hostile_text_as_text(self):
        self.browser.open(self.write(30, 700))
        self.assertIn("<img src=x", self.text("#failures"))
        self.assertIn("<b>\"&{{js}}", self.text("#title"))
        self.assertIsNone(self.browser.run("window.hacked"))
        self.assertEqual(self.browser.run("document.querySelectorAll('img, #failures b').length"), 0)

    def test_takes_up_a_changed_file_without_loading_anew(self):
        self.browser.open(self.write(60, 700, "live.html"))
        self.browser.run("window.same = 1; window.scrollTo(0, 150); document.querySelector('#grid-box').scrollTop = 90;"
                         "window.first = document.querySelector('#grid td.cell')")
        before = self.text("#tiles")

        self.write(60, 870, "live.html")
        self.browser.wait_for("document.querySelectorAll('#grid td.done, #grid td.up-to-date').length > 800")

        self.assertNotEqual(self.text("#tiles"), before)
        self.assertEqual(self.browser.run("window.same"), 1, "the page was loaded anew")
        self.assertEqual(self.browser.run("window.scrollY"), 150)
        self.assertEqual(self.browser.run("document.querySelector('#grid-box').scrollTop"), 90)
        self.assertTrue(self.browser.run("window.first === document.querySelector('#grid td.cell')"), "grid built anew")
        self.assert_no_complaints()

    def test_follows_to_the_end_and_survives_a_missing_file(self):
        path = self.write(2, 50, "end.html")
        self.browser.open(path)
        path.unlink()
        time.sleep(3)  # one look at a file that is not there
        self.assertIn("running", self.browser.run("document.querySelector('#phase').className + ' running'"))
        self.write(2, 60, "end.html")
        self.browser.wait_for("document.querySelector('#phase').innerText === 'finished'")
        self.assertTrue(self.browser.run("document.title").startswith("100 %"))

    def test_grid_is_read_by_mouse_and_keyboard(self):
        self.browser.open(self.write(30, 700))
        self.browser.run("document.querySelector('#grid td.failed').scrollIntoView({block: 'center'})")
        x, y, width, height = self.browser.place("#grid td.failed")
        self.browser.mouse("Moved", x + width / 2, y + height / 2)
        self.assertIn("truncated or damaged", self.text(".tip"))
        self.screenshot("status-tip")
        self.browser.run("document.querySelector('#grid-box').focus()")
        for key in ("ArrowRight", "ArrowRight", "ArrowDown"):
            self.browser.key(key)
        self.assertIn("r0-00000102", self.text(".tip"))
        self.assert_no_complaints()

    def test_fits_a_phone_and_the_dark(self):
        path = self.write(30, 700)
        for name, width, dark in (("phone", 360, False), ("phone-dark", 360, True), ("dark", 1400, True)):
            self.browser.view(width, 800, dark, touch=width < 500)
            self.browser.open(path)
            self.screenshot("status-" + name, whole=True)
            self.assert_no_sideways_scroll()
        dark = self.browser.run("getComputedStyle(document.body).backgroundColor")
        self.assertLess(max(int(v) for v in dark[4:-1].split(",")), 60, dark)
        self.assert_no_complaints()

    def test_hundreds_of_exposures_are_drawn_quickly(self):
        seconds = self.browser.open(self.write(300, 8000))
        self.assertEqual(self.browser.run("document.querySelectorAll('#grid td.cell').length"), 9000)
        self.assertLess(seconds, 10)
        self.screenshot("status-many")
        self.assert_no_complaints()

    def test_a_run_without_frames(self):
        self.browser.open(self.write(0, 0))
        self.assertIn("of 0", self.text("#tiles"))
        self.assert_no_complaints()


if __name__ == "__main__":
    main()
