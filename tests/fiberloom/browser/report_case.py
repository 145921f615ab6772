# SPDX-License-Identifier: BSD-3-Clause
"""What the tests of the report page share: the program, a page that is opened and looked at, frames whose numbers are
known."""
import json
import os
import pathlib
import subprocess
import sys
import time

from page_case import PageCase

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "cli"))
import tiny_fits as fits  # noqa: E402
from small_camera import GRID, Camera, psf_bytes  # noqa: E402

PROGRAM = os.environ.get("FIBERLOOM_PROGRAM", "")


def fiberloom(*arguments):
    subprocess.run([PROGRAM, *map(str, arguments)], check=True)


def extract_small(folder, *more):
    """The small camera's preproc.fits, psf.fits, frame.fits, model.fits and summary.json."""
    (folder / "preproc.fits").write_bytes(Camera().preproc_bytes())
    (folder / "psf.fits").write_bytes(psf_bytes())
    fiberloom("extract", "-i", folder / "preproc.fits", "-p", folder / "psf.fits", "-o", folder / "frame.fits", "-w", GRID, "--bundlesize", "5",
              "-m", folder / "model.fits", "--json", folder / "summary.json", "--quiet", *more)


class ReportCase(PageCase):
    def show(self, page):
        """Opens the page; returns the seconds until all of it is drawn."""
        start = time.monotonic()
        self.browser.open(page)
        self.browser.wait_for("document.body.dataset.ready === 'yes'")
        return time.monotonic() - start

    def set(self, selector, value):
        """Puts a value into a field as a person does."""
        self.browser.run("(([s, v]) => { const e = document.querySelector(s); e.value = v; for (const name of ['input', 'change']) "
                         f"e.dispatchEvent(new Event(name)); }})({json.dumps([selector, str(value)])})")

    def value(self, selector):
        return self.browser.run(f"document.querySelector('{selector}').value")

    def hash(self):
        """What the address keeps, once it has been brought up to date."""
        time.sleep(0.2)
        return self.browser.run("location.hash")

    def pixels(self, selector):
        """The drawing of a canvas, as text that changes when it does."""
        return self.browser.run(f"document.querySelector('{selector}').toDataURL()")

    def x_range(self):
        """What the cursor reads at both ends of the plot."""
        self.browser.run("document.querySelector('#plot').scrollIntoView({block: 'center'})")
        left, top, width, height = self.browser.place("#plot")
        found = []
        for x in (left + 59, left + width - 11):
            self.browser.mouse("Moved", x, top + height / 2)
            found.append(float(self.text("#readout b").split()[0]))
        return found


LONG_ID = 39627634548773000  # more than a double holds


def flux_of(fiber, wave):
    """What write_frame() puts into a bin: the same in a browser's half precision to 0.05 %."""
    return 8.0 * (fiber % 16 + 1) + (512.0 if int(wave) % 50 < 2 else 0.0)


def write_frame(path, camera, first, n, nwave, fibers=None, unit="electron/Angstrom", objtype=b"TGT"):
    """A frame of n fibres from `first`, bins of 1 Angstrom, sigma 2; every third fibre a sky, the last one broken."""
    wave = [first + j for j in range(nwave)]
    fibers = fibers or list(range(n))
    flux = [flux_of(f, w) for f in fibers for w in wave]
    keys = [("CAMERA", camera), ("EXPID", 77), ("NIGHT", 20260101), ("BUNIT", unit)]
    rows = [(f, LONG_ID + f, b"SKY" if f % 3 == 0 else objtype, 0 if k < n - 1 else 4, 10.0 * (k % 7), 10.0 * (k // 7))
            for k, f in enumerate(fibers)]
    path.write_bytes(
        fits.image("FLUX", -32, (n, nwave), flux, keys, first=True) + fits.image("IVAR", -32, (n, nwave), [0.25] * (n * nwave))
        + fits.image("WAVELENGTH", -64, (nwave,), wave)
        + fits.table("FIBERMAP", [("FIBER", "J", "i", None), ("TARGETID", "K", "q", None), ("OBJTYPE", "3A", "3s", None),
                                  ("FIBERSTATUS", "J", "i", None), ("FIBER_X", "D", "d", None), ("FIBER_Y", "D", "d", None)], rows))
