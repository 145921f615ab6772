# SPDX-License-Identifier: BSD-3-Clause
"""What a person does with the report page: reads the verdict, joins cameras, compares, searches, keeps a link, saves."""
import csv
import io
import struct
import time

from page_case import main
from report_case import LONG_ID, ReportCase, extract_small, fiberloom, fits, flux_of, write_frame
from small_camera import NFIBER

MANY, MANY_SECONDS, MANY_SIZE = 5000, 12.0, 9e6  # fibres; wide guards


class Saved:
    """A folder that the browser saves into."""

    def __init__(self, case):
        self.folder = case.folder / "saved"
        self.folder.mkdir(exist_ok=True)
        for old in self.folder.iterdir():
            old.unlink()
        case.browser.send("Browser.setDownloadBehavior", behavior="allow", downloadPath=str(self.folder))

    def file(self, ending):
        end = time.monotonic() + 15
        while time.monotonic() < end:
            for path in self.folder.iterdir():
                if path.suffix == ending and path.stat().st_size:
                    return path
            time.sleep(0.05)
        raise AssertionError(f"nothing was saved: {list(self.folder.iterdir())}")


class JoinedReport(ReportCase):
    """Cameras b, r and z of 12 fibres whose flux is known; r has a stretch that is flagged and a wild look."""
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.frames = []
        for camera, first in (("b5", 4000.0), ("r5", 4190.0), ("z5", 4400.0)):
            cls.frames.append(cls.folder / f"frame-{camera}.fits")
            write_frame(cls.frames[-1], camera, first, 12, 200)
        write_frame(cls.folder / "other.fits", "b6", 4000.0, 12, 200, fibers=list(range(500, 512)))
        cls.page, cls.blank = cls.folder / "joined.html", cls.folder / "blank.html"
        cls.blank.write_text("<!DOCTYPE html><title>blank</title>")
        fiberloom("report", *cls.frames, cls.folder / "other.fits", "-o", cls.page)

    def open_with(self, hash_text):
        self.browser.open(self.blank)  # a page that differs by its hash alone would not be loaded anew
        self.browser.open(f"file://{self.page}{hash_text}")
        self.browser.wait_for("document.body.dataset.ready === 'yes'")

    def test_cameras_of_one_exposure_are_one_spectrum(self):
        self.open_with("")
        low, high = self.x_range()
        self.assertAlmostEqual(low, 4000, delta=4)
        self.assertAlmostEqual(high, 4599, delta=4)
        left, top, width, height = self.browser.place("#plot")
        for part, band in ((0.1, "b:"), (0.5, "r:"), (0.95, "z:")):
            self.browser.mouse("Moved", left + 58 + part * (width - 68), top + height / 2)
            self.assertIn(band, self.text("#readout"))
        self.screenshot("report-joined", whole=True)
        self.browser.key("j")
        self.assertAlmostEqual(self.x_range()[1], 4199, delta=2)
        self.assertIn("join=0", self.hash())
        self.assert_no_complaints()

    def test_the_link_keeps_fibre_range_and_switches(self):
        self.open_with("#fibre=7&w=4100-4250&also=2,3,99&smooth=5&axis=linear&stack=1")
        self.assertEqual(self.value("#fiber"), "7")
        self.assertEqual((self.value("#smooth"), self.value("#axis")), ("5", "linear"))
        low, high = self.x_range()
        self.assertAlmostEqual(low, 4100, delta=2)
        self.assertAlmostEqual(high, 4250, delta=2)
        self.assertIn("fibre 3", self.text("#chips"))
        self.assertNotIn("99", self.text("#chips"))  # there is none
        kept = self.hash()
        for word in ("fibre=7", "w=4100-4250", "also=2,3", "smooth=5", "axis=linear", "stack=1"):
            self.assertIn(word, kept)
        self.browser.mouse("Moved", 1, 1)  # no cursor in the plot
        drawn = self.pixels("#plot canvas")
        self.open_with(kept)
        self.assertEqual(self.pixels("#plot canvas"), drawn)
        self.browser.run("location.hash = '#fibre=4&w=4300-4350'")
        self.browser.wait_for("document.querySelector('#fiber').value === '4'")
        self.assertAlmostEqual(self.x_range()[0], 4300, delta=2)
        self.assert_no_complaints()

    def test_a_link_of_nonsense_shows_the_plain_page(self):
        for odd in ("#fibre=%3Cimg%20src%3Dx%20onerror%3Dalert(1)%3E&w=9-1", "#w=a-b&smooth=4&axis=<b>&also=x,,;", "#&&==%%%", "#frame=nosuch.fits"):
            self.open_with(odd)
            self.assertEqual(self.browser.run("document.querySelectorAll('img, b b').length"), 0)
            self.assertEqual(self.value("#axis"), "asinh")
        self.open_with("#fibre=999999999")  # the nearest
        self.assertEqual(self.value("#fiber"), "11")
        self.assert_no_complaints()

    def test_the_link_opens_another_frame(self):
        self.open_with("#frame=other.fits&fibre=507")
        self.assertEqual(self.text("#title"), "other.fits")
        self.assertEqual(self.value("#fiber"), "507")
        self.assertIn("frame=other.fits", self.hash())

    def test_search_finds_by_number_targetid_and_type(self):
        self.open_with("")
        self.browser.key("/")
        self.assertEqual(self.browser.run("document.activeElement.id"), "search")
        self.set("#search", "7")
        self.assertEqual(self.browser.run("[...document.querySelectorAll('#found [role=option]')].map(e => e.dataset.fiber)"), ["7"])
        self.browser.key("Enter")
        self.assertEqual(self.value("#fiber"), "7")
        self.set("#search", str(LONG_ID + 4))
        self.assertIn(f"TARGETID {LONG_ID + 4}", self.text("#found"))  # every digit
        self.browser.key("/")
        self.browser.key("Enter")
        self.assertEqual(self.value("#fiber"), "4")
        self.set("#search", "sky")
        skies = self.browser.run("[...document.querySelectorAll('#found [role=option]')].map(e => Number(e.dataset.fiber))")
        self.assertEqual(skies, [0, 3, 6, 9, 501, 504, 507, 510])  # of both spectrographs, each exposure once
        self.set("#search", "tgt broken")
        self.assertEqual(self.browser.run("[...document.querySelectorAll('#found [role=option]')].map(e => Number(e.dataset.fiber))"), [11, 511])
        self.set("#search", "<img src=x onerror=alert(1)>")
        self.assertIn("nothing found", self.text("#found"))
        self.set("#search", "507")
        self.browser.key("/")
        self.browser.key("Enter")
        self.browser.wait_for("document.querySelector('#title').innerText === 'other.fits'")
        self.assertEqual(self.value("#fiber"), "507")
        self.assert_no_complaints()

    def test_fibres_are_compared_on_one_axis_and_over_each_other(self):
        self.open_with("#fibre=1")
        one = self.pixels("#plot canvas")
        self.set("#compare", "2, 4-6")
        self.assertEqual(self.browser.run("[...document.querySelectorAll('.chip')].map(e => e.innerText.replace('×', '').trim())"),
                         [f"fibre {f}" for f in (1, 2, 4, 5, 6)])
        together = self.pixels("#plot canvas")
        self.assertNotEqual(together, one)
        before = self.browser.place("#plot")[3]
        self.browser.key("o")
        self.assertGreater(self.browser.place("#plot")[3], before + 100)  # room for each
        self.assertNotEqual(self.pixels("#plot canvas"), together)
        left, top, width, height = self.browser.place("#plot")
        self.browser.run("document.querySelector('#plot').scrollIntoView({block: 'center'})")
        left, top, width, height = self.browser.place("#plot")
        self.browser.mouse("Moved", left + width / 2, top + height / 2)
        self.assertIn("; fibre 6 56", self.text("#readout"))  # flux_of(6)
        self.screenshot("report-compare")
        self.browser.run("document.querySelector('.chip button').click()")
        self.assertNotIn("fibre 2", self.text("#chips"))
        self.browser.key("x")
        self.assertTrue(self.browser.run("document.querySelector('#chips').hidden"))
        self.browser.key("p")
        self.assertIn("fibre 1", self.text("#chips"))
        self.assertEqual(self.value("#fiber"), "2")
        self.assert_no_complaints()

    def test_csv_holds_the_numbers_of_what_is_seen(self):
        self.open_with("#fibre=5&w=4150-4250&also=8")
        saved = Saved(self)
        self.browser.run("document.querySelector('#csv').click()")
        text = saved.file(".csv").read_text()
        comments = [line for line in text.splitlines() if line.startswith("#")]
        self.assertTrue(any("frame-b5.fits, frame-r5.fits, frame-z5.fits" in line for line in comments), comments)
        rows = list(csv.DictReader(io.StringIO("".join(line + "\n" for line in text.splitlines() if not line.startswith("#")))))
        wanted = [(f, camera, w) for f in (5, 8) for camera, w0 in (("b", 4000), ("r", 4190)) for w in range(w0, w0 + 200) if 4150 <= w <= 4250]
        self.assertEqual([(int(r["fibre"]), r["camera"], int(float(r["wavelength"]))) for r in rows], wanted)
        for r in rows:
            self.assertAlmostEqual(float(r["flux"]), flux_of(int(r["fibre"]), float(r["wavelength"])), delta=5e-4 * float(r["flux"]))
            self.assertAlmostEqual(float(r["sigma"]), 2, delta=0.016)
            self.assertEqual((r["rejected"], r["flags"]), ("0", "0"))

    def test_smoothing_is_the_mean_and_its_sigma_is_smaller(self):
        self.open_with("#fibre=5&w=4100-4120&smooth=9")
        saved = Saved(self)
        self.browser.run("document.querySelector('#csv').click()")
        rows = [line.split(",") for line in saved.file(".csv").read_text().splitlines() if line[0] == "5"]
        self.assertGreater(len(rows), 15)
        for r in rows:
            wave = int(float(r[2]))
            mean = sum(flux_of(5, w) for w in range(wave - 4, wave + 5)) / 9
            self.assertAlmostEqual(float(r[3]), mean, delta=1e-3 * mean)
            self.assertAlmostEqual(float(r[4]), 2 / 3, delta=0.01)
        self.browser.key("s")
        self.assertEqual(self.value("#smooth"), "15")

    def test_png_is_a_png_of_the_plot_with_a_title(self):
        self.open_with("#fibre=5")
        saved = Saved(self)
        self.browser.run("document.querySelector('#png').click()")
        path = saved.file(".png")
        self.assertEqual(path.name, "frame-b5-fibre5.png")
        data = path.read_bytes()
        self.assertEqual(data[:8], b"\x89PNG\r\n\x1a\n")
        self.assertEqual(data[-8:-4], b"IEND")
        width, height = struct.unpack(">II", data[16:24])
        _, _, box_width, box_height = self.browser.place("#plot")
        self.assertEqual((width, height), (2 * int(box_width), 2 * int(box_height) + 68))
        self.assertGreater(len(data), 20000)

    def test_the_focal_plane_is_coloured_and_picks_a_fibre(self):
        self.open_with("#fibre=0")
        self.browser.run("document.querySelector('#focal').scrollIntoView({block: 'center'})")
        self.assertIn("Focal plane", self.text("#focal"))
        drawn = set()
        for k in range(self.browser.run("document.querySelector('#focal-kind').options.length")):
            self.set("#focal-kind", k)
            drawn.add(self.pixels(".focal canvas"))
        self.assertGreaterEqual(len(drawn), 3)  # signal to noise, flagged bins, type
        left, top, width, height = self.browser.place(".focal")
        found = None
        for step in range(40):  # fibre 6 stands at the right end of the first row
            self.browser.mouse("Moved", left + width * 0.97 - step * width / 80, top + height / 2 + 40)
            tip = self.browser.run("(e => e && !e.hidden ? e.innerText : '')(document.querySelector('.tip'))")
            if "TARGETID" in tip:
                found = (left + width * 0.97 - step * width / 80, tip)
                break
        self.assertIsNotNone(found)
        fibre = found[1].split()[1].rstrip(",")
        self.browser.click(found[0], top + height / 2 + 40)
        self.browser.wait_for("document.body.dataset.ready === 'yes'")
        self.assertEqual(self.value("#fiber"), fibre)
        self.assert_no_complaints()

    def test_the_verdict_names_what_is_odd_and_shows_the_place(self):
        bad = self.folder / "bad.fits"
        n, m = 20, 300
        flux = [20.0 + (900.0 if j % 40 < 2 else 0.0) + 0.5 * ((7 * j + 3 * f) % 5 - 2) for f in range(n) for j in range(m)]
        for j in range(m):
            flux[9 * m + j] = 0.1  # a dead fibre that nobody knows of
        mask = [0] * (n * m)
        for f in range(4, 8):
            for j in range(100, 115):
                mask[f * m + j] = 1 << 7
        bad.write_bytes(fits.image("FLUX", -32, (n, m), flux, first=True) + fits.image("IVAR", -32, (n, m), [1.0] * (n * m))
                        + fits.image("MASK", 32, (n, m), mask) + fits.image("WAVELENGTH", -64, (m,), [6000.0 + j for j in range(m)]))
        fiberloom("report", bad, "-o", self.folder / "bad.html")
        self.show(self.folder / "bad.html")
        self.assertIn("dead fibres", self.text("#verdict .words"))
        self.assertIn("fibre 9", self.text('#verdict [data-check="dead fibres"]'))
        self.assertIn("fibres 4 to 7, 6100 to 6114 Angstrom", self.text('#verdict [data-check="bad fits"]'))
        self.assertIn("RESOLUTION", self.text("#notes"))
        self.browser.run("document.querySelector('[data-check=\"bad fits\"] button').click()")
        self.assertIn(self.value("#fiber"), ("4", "5", "6", "7"))
        low, high = self.x_range()
        self.assertTrue(6000 <= low < 6100 and 6114 < high < 6200, (low, high))
        seen = set()
        for _ in range(4):
            self.browser.key("n")
            seen.add(self.value("#fiber"))
        self.assertIn("9", seen)
        self.screenshot("report-verdict")
        self.assert_no_complaints()

    def test_what_a_file_holds_is_never_markup(self):
        evil = self.folder / "<img src=x onerror=alert(1)>.fits"
        write_frame(evil, "r0", 6000.0, 6, 60, unit="<img src=x onerror=alert(2)>", objtype=b"<b>")
        fiberloom("report", evil, self.frames[0], "-o", self.folder / "evil.html")
        self.show(self.folder / "evil.html")
        self.set("#fiber", 1)
        self.set("#search", "<b>")
        self.assertIn("4 found", self.text("#found"))
        self.assertIn("<b>", self.text("#fiber-note"))
        self.set("#focal-kind", self.browser.run("document.querySelector('#focal-kind').options.length - 1"))
        self.assertIn("<b>", self.text("#focal"))
        self.assertEqual(self.browser.run("document.querySelectorAll('img, .found b b, #focal b').length"), 0)
        saved = Saved(self)
        self.browser.run("document.querySelector('#csv').click()")
        self.assertEqual(saved.file(".csv").name, "_img_src_x_onerror_alert_1_-fibre1.csv")
        self.assertIn("fibre=1", self.hash())
        self.assert_no_complaints()

    def test_the_list_of_frames_opens_them(self):
        self.open_with("")
        self.assertEqual(self.browser.run("document.querySelectorAll('#frames button').length"), 4)
        self.browser.run("document.querySelector('#frames button[data-number=\"2\"]').click()")
        self.browser.wait_for("document.body.dataset.ready === 'yes'")
        self.assertEqual(self.text("#title"), "frame-z5.fits")
        self.browser.key("[")
        self.browser.wait_for("document.querySelector('#title').innerText === 'frame-r5.fits'")
        self.assert_no_complaints()

    def test_every_key_of_the_help_does_something(self):
        self.open_with("#fibre=5")
        self.browser.key("?")
        self.assertIn("next thing that is odd", self.text("#keys"))
        for key, fibre in (("ArrowRight", "6"), ("ArrowLeft", "5"), ("End", "11"), ("Home", "0")):
            self.browser.key(key)
            self.assertEqual(self.value("#fiber"), fibre)
        self.browser.key("a")
        self.assertEqual(self.value("#axis"), "linear")
        self.assert_no_complaints()


class ModelReport(ReportCase):
    """A small camera with model, PSF and truth."""
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        folder = cls.folder
        extract_small(folder)
        fine = [4990 + 0.8 * k for k in range(140)]
        (folder / "truth.fits").write_bytes(
            fits.image("FLUX", -32, (NFIBER, len(fine)), [25.0] * (NFIBER * len(fine)), first=True)
            + fits.image("WAVELENGTH", -64, (len(fine),), fine)
            + fits.table("FIBERMAP", [("FIBER", "J", "i", None), ("CLASS", "4A", "4s", None), ("REDSHIFT", "D", "d", None)],
                         [(f, b"ELG" if f % 2 else b"QSO", 0.5 + f) for f in range(NFIBER)]))
        cls.page = folder / "report.html"
        fiberloom("report", folder / "frame.fits", "--summary", folder / "summary.json", "--truth", folder / "truth.fits", "-o", cls.page)

    def test_model_and_truth_lie_over_the_data(self):
        self.show(self.page)
        plain = self.pixels("#plot canvas")
        for key in ("m", "t"):
            self.browser.key(key)
            self.assertNotEqual(self.pixels("#plot canvas"), plain)
            plain = self.pixels("#plot canvas")
        self.assertIn("model=1&truth=1", self.hash())
        saved = Saved(self)
        self.browser.run("document.querySelector('#csv').click()")
        text = saved.file(".csv").read_text()
        rows = list(csv.DictReader(io.StringIO("".join(line + "\n" for line in text.splitlines() if not line.startswith("#")))))
        good = [r for r in rows[8:-8] if r["rejected"] == "0"]
        self.assertGreater(len(good), 60)
        for r in good:  # R of a flat truth is flat but for what the stored diagonals leak, steps of the page 0.1 sigma
            self.assertAlmostEqual(float(r["truth"]), 25, delta=0.2 + 0.12 * float(r["sigma"]) + 0.06 * abs(float(r["flux"]) - 25))
        off = sorted(abs(float(r["flux"]) - float(r["model"])) / float(r["sigma"]) for r in good if r["model"])
        self.assertGreater(len(off), 50)
        self.assertLess(off[len(off) // 2], 1.5)  # the fit holds along the trace
        self.screenshot("report-model")
        self.assert_no_complaints()

    def test_search_knows_the_class_and_the_note_the_redshift(self):
        self.show(self.page)
        self.set("#search", "qso")
        self.assertEqual(self.browser.run("document.querySelectorAll('#found [role=option]').length"), NFIBER // 2)
        self.set("#fiber", 3)
        self.assertIn("z 3.5", self.text("#fiber-note"))
        self.assertIn("ELG", self.text("#fiber-note"))

    def test_the_cursor_tells_the_pixel_of_the_ccd(self):
        self.show(self.page)
        self.browser.run("document.querySelector('#plot').scrollIntoView({block: 'center'})")
        left, top, width, height = self.browser.place("#plot")
        self.browser.mouse("Moved", left + 58 + (width - 68) / 2, top + height / 2)
        self.assertIn("CCD column 12", self.text("#readout"))  # trace_x(0)
        self.assert_no_complaints()


class ManyFibres(ReportCase):
    def test_five_thousand_fibres_open_and_answer(self):
        frame, page = self.folder / "many.fits", self.folder / "many.html"
        write_frame(frame, "r0", 6000.0, MANY, 200)
        fiberloom("report", frame, "-o", page)
        seconds = min(self.show(page) for _ in range(2))
        print(f"{page.stat().st_size / 1e6:.2f} MB, {seconds:.2f} s until drawn")
        self.assertLess(seconds, MANY_SECONDS)
        self.assertLess(page.stat().st_size, MANY_SIZE)
        self.set("#search", str(LONG_ID + 4321))
        self.browser.key("/")
        self.browser.key("Enter")
        self.assertEqual(self.value("#fiber"), "4321")
        self.set("#search", "sky")
        self.assertIn("the first 60", self.text("#found"))
        self.assert_no_sideways_scroll()
        self.screenshot("report-many", whole=True)
        self.assert_no_complaints()


if __name__ == "__main__":
    main()
