# SPDX-License-Identifier: BSD-3-Clause
"""The status page of a run in a real browser: it shows the run, follows a file that changes, and runs no hostile text."""
import os
import struct
import subprocess
import time
import zlib

from page_case import PageCase, main

WRITE = os.environ.get("FIBERLOOM_WRITE_STATUS", "")


class StatusPage(PageCase):
    def write(self, exposures, done, name="status.html", *more):
        """As the night does it: under another name, then renamed."""
        path = self.folder / name
        temporary = path.with_suffix(".tmp")
        subprocess.run([WRITE, str(temporary), str(exposures), str(done), *more], check=True)
        os.replace(temporary, path)
        return path

    def test_shows_the_run_without_complaint(self):
        self.browser.open(self.write(30, 700))
        self.assertEqual(self.browser.run("document.querySelectorAll('#grid td.cell').length"), 900)
        self.assertIn("of 900", self.text("#tiles"))
        self.assertIn("2\u202f117", self.text("#tiles"))
        self.assertEqual(self.browser.run("document.querySelectorAll('.chart svg').length"), 4)
        self.assertEqual(self.browser.run("document.querySelectorAll('#slowest tr').length"), 12)
        self.screenshot("status-wide", whole=True)
        self.assert_no_sideways_scroll()
        self.assert_no_complaints()

    def test_shows_hostile_text_as_text(self):
        self.browser.open(self.write(30, 700, "hostile.html", "hostile"))
        self.assertIn("<img src=x", self.text("#failures"))
        self.assertIn("<b>\"&{{js}}", self.text("#title"))
        self.assertIsNone(self.browser.run("window.hacked"))
        self.assertEqual(self.browser.run("document.querySelectorAll('img, #failures b').length"), 0)

    def test_a_night_to_redshifts_shows_its_tree_and_how_each_exposure_looks(self):
        pixels = zlib.compress(b"".join(b"\0" + bytes(480) for _ in range(50)))
        chunks = ((b"IHDR", struct.pack(">IIBBBBB", 480, 50, 8, 0, 0, 0, 0)), (b"IDAT", pixels), (b"IEND", b""))
        png = b"\x89PNG\r\n\x1a\n" + b"".join(struct.pack(">I", len(d)) + k + d + struct.pack(">I", zlib.crc32(k + d)) for k, d in chunks)
        for expid in range(101, 107):
            folder = self.folder / "20261121" / f"{expid:08d}"
            folder.mkdir(parents=True, exist_ok=True)
            (folder / f"exposure-{expid:08d}.png").write_bytes(png)
        self.browser.open(self.write(12, 6, "chain.html", "chain"))
        self.assertEqual(self.count(".exposures tbody tr"), 6)
        self.browser.run("document.querySelector('.exposures').scrollIntoView()")
        self.browser.wait_for("[...document.querySelectorAll('.exposures img')].every(i => i.complete && i.naturalWidth === 480)")
        self.assertIn("498 of 500", self.text(".exposures"))
        self.assertEqual([self.count(f".tree i.{kind}") for kind in ("done", "failed", "blocked")], [12, 1, 1])
        self.assertIn("<img src=x", self.text("tr.failed"), "text that came from a file")
        self.assertIsNone(self.browser.run("window.hacked"))
        self.screenshot("chain-wide", whole=True)
        self.assert_no_sideways_scroll()
        self.assert_no_complaints()

    def test_takes_up_a_changed_file_without_loading_anew(self):
        self.browser.open(self.write(60, 700, "live.html"))
        self.browser.run("window.same = 1; window.scrollTo(0, 150); document.querySelector('#grid-box').scrollTop = 90;"
                         "window.first = document.querySelector('#grid td.cell')")
        before = self.text("#tiles")

        self.write(60, 870, "live.html")
        self.browser.wait_for("document.querySelectorAll('#grid td.good, #grid td.odd, #grid td.bad').length > 800")

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

    def count(self, selector):
        return self.browser.run(f"document.querySelectorAll('{selector}').length")

    def press(self, box, text):
        self.browser.run(f"[...document.querySelectorAll('#{box} button')].find(b => b.innerText === '{text}').click()")

    def test_cells_are_coloured_by_the_verdict_or_one_number_or_the_progress(self):
        self.browser.open(self.write(30, 700))
        odd, bad = self.count("#grid td.odd"), self.count("#grid td.bad")
        self.assertGreater(odd, 5)
        self.assertGreater(bad, 0)
        self.assertEqual(self.count("#grid td.failed"), 7)
        self.assertIn(f"{odd} odd", self.text("#verdicts"))
        self.press("view", "χ²")
        of_chi2 = self.count("#grid td.odd")
        self.assertTrue(0 < of_chi2 < odd, of_chi2)
        self.press("view", "progress")
        self.assertEqual(self.count("#grid td.odd, #grid td.bad, #grid td.good"), 0)
        self.assertGreater(self.count("#grid td.done"), 500)
        self.press("view", "verdict")
        self.browser.run("document.querySelector('#grid td.bad').scrollIntoView({block: 'center'})")
        x, y, width, height = self.browser.place("#grid td.bad")
        self.browser.mouse("Moved", x + width / 2, y + height / 2)
        for word in ("S/N", "χ²", "(bad)", "flagged", "resolution"):
            self.assertIn(word, self.text(".tip"))
        self.screenshot("status-verdict")
        self.assert_no_complaints()

    def test_a_click_or_the_key_opens_the_report_of_the_frame(self):
        path = self.write(2, 60)
        (self.folder / "20261121").mkdir(exist_ok=True)
        for name in ("b0-00000101", "b1-00000101"):
            (self.folder / "20261121" / f"frame-{name}.html").write_text(f"<title>{name}</title>")
        self.browser.open(path)
        x, y, width, height = self.browser.place("#grid tbody td a")
        self.browser.click(x + width / 2, y + height / 2)
        self.browser.wait_for("document.title === 'b0-00000101'")
        self.browser.open(path)
        self.browser.run("document.querySelector('#grid-box').focus()")
        for key in ("ArrowRight", "ArrowRight", "ArrowRight", "ArrowRight"):
            self.browser.key(key)
        self.browser.key("Enter")
        self.browser.wait_for("document.title === 'b1-00000101'")

    def test_history_is_shown_by_metric_and_camera_and_read_by_the_mouse(self):
        self.browser.open(self.write(30, 900))
        every = self.browser.run("document.querySelector('#history svg').outerHTML")
        self.press("history-metric", "resolution")
        self.assertNotEqual(self.browser.run("document.querySelector('#history svg').outerHTML"), every)
        self.press("history-metric", "χ²")
        self.assertEqual(self.browser.run("document.querySelector('#history svg').getAttribute('aria-label').split(' of')[0]"),
                         "median χ²")
        self.browser.run("(s => { s.value = 'r3'; s.dispatchEvent(new Event('change')); })(document.querySelector('#history-camera'))")
        self.assertEqual(self.count("#history .thread"), 1)
        first = self.browser.run("document.querySelector('#history .thread').getAttribute('d').match(/[0-9.]+/g).slice(0, 2).map(Number)")
        self.browser.run("document.querySelector('#history').scrollIntoView({block: 'center'})")
        left, top, _, _ = self.browser.place("#history")
        self.browser.mouse("Moved", left + first[0], top + first[1])
        self.assertIn("r3-00000101", self.text(".tip"))
        self.assert_no_complaints()

    def test_outliers_are_listed_farthest_first_with_links(self):
        self.browser.open(self.write(30, 900))
        self.assertEqual(self.count("#outliers tbody tr"), 12)
        self.assertEqual(self.count("#outliers tbody a"), 12)
        sigmas = [float(t.split()[0]) for t in self.browser.run(
            "[...document.querySelectorAll('#outliers tbody td:last-child')].map(e => e.innerText)")]
        self.assertEqual(sigmas, sorted(sigmas, reverse=True))
        self.browser.open(self.write(2, 0))
        self.assertIn("none", self.text("#no-outliers"))

    def test_axes_at_the_start_are_in_plain_numbers(self):
        self.browser.open(self.write(2, 0, "start.html", "start"))
        self.assertEqual(self.count("#rate svg, #queue svg"), 2)
        for box in ("#rate", "#queue", "#stages"):
            self.assertNotRegex(self.text(box), r"\de[−-]?\d")
        self.assertIn("no frame has been made yet", self.text("#history"))
        self.screenshot("status-start", whole=True)

    def test_fits_a_phone_and_the_dark(self):
        path = self.write(30, 700)
        for name, width, dark in (("phone", 360, False), ("phone-dark", 420, True), ("dark", 1400, True)):
            self.browser.view(width, 800, dark, touch=width < 500)
            self.browser.open(path)
            self.screenshot("status-" + name, whole=True)
            self.assert_no_sideways_scroll()
        dark = self.browser.run("getComputedStyle(document.body).backgroundColor")
        self.assertLess(max(int(v) for v in dark[4:-1].split(",")), 60, dark)
        self.assert_no_complaints()

    def test_hundreds_of_exposures_are_drawn(self):
        self.browser.open(self.write(300, 8000))
        self.assertEqual(self.browser.run("document.querySelectorAll('#grid td.cell').length"), 9000)
        self.screenshot("status-many")
        self.assert_no_complaints()

    def test_a_run_without_frames(self):
        self.browser.open(self.write(0, 0))
        self.assertIn("of 0", self.text("#tiles"))
        self.assert_no_complaints()


if __name__ == "__main__":
    main()
