# SPDX-License-Identifier: BSD-3-Clause
"""`recon --preview`: a page while the scan is written, then the volume of the whole scan."""
import subprocess
import sys
import threading
import time
import unittest

from program_case import PROGRAM, InputCase

WRITER = """
import sys, time, h5py
source, grown = h5py.File(sys.argv[1]), h5py.File(sys.argv[2], "w", libver="latest")
frames, group = source["exchange/data"][:], grown.create_group("exchange")
data = group.create_dataset("data", (0, *frames.shape[1:]), "u2", maxshape=(None, *frames.shape[1:]), chunks=(1, *frames.shape[1:]))
for name in ("data_white", "data_dark", "theta"):
    group[name] = source["exchange/" + name][:]
grown.swmr_mode = True
for number, frame in enumerate(frames):
    data.resize(number + 1, axis=0)
    data[number] = frame
    data.flush()
    time.sleep(0.02)
grown.close()
"""

REOPENING = """
import sys, time, h5py
source = h5py.File(sys.argv[1])
frames = source["exchange/data"][:]
for first in range(0, len(frames), 10):
    with h5py.File(sys.argv[2], "a") as grown:
        if first == 0:
            for name in ("data_white", "data_dark", "theta"):
                grown["exchange/" + name] = source["exchange/" + name][:]
            grown.create_dataset("exchange/data", (0, *frames.shape[1:]), "u2", maxshape=(None, *frames.shape[1:]), chunks=(1, *frames.shape[1:]))
        grown["exchange/data"].resize(first + 10, axis=0)
        grown["exchange/data"][first:] = frames[first:first + 10]
    time.sleep(0.1)
"""


class Preview(InputCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.scan = cls.inputs / "scan.h5"
        cls.make("simulate", "-o", cls.scan, "--columns", 64, "--rows", 40, "--angles", 60)
        cls.make("recon", cls.scan, "-o", cls.inputs / "volume.h5")
        cls.want = (cls.inputs / "volume.h5").read_bytes()

    def recon(self, scan, *more):
        return self.program("recon", scan, "-o", self.out / "volume.h5", "--preview", self.out / "page.html",
                            "--preview-every", "0.1", *more)

    def test_a_scan_that_is_there_is_shown_and_made(self):
        done = self.recon(self.scan)
        self.assertEqual(done.returncode, 0, done.stderr)
        page = (self.out / "page.html").read_text()
        self.assertIn("60 of 60", page)
        self.assertNotIn('http-equiv="refresh"', page)
        self.assertEqual((self.out / "volume.h5").read_bytes(), self.want)

    def test_a_scan_that_comes_later_is_waited_for(self):
        later = self.out / "later.h5"
        timer = threading.Timer(0.5, lambda: later.write_bytes(self.scan.read_bytes()))
        timer.start()
        done = self.recon(later, "--preview-patience", "30")
        timer.join()
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual((self.out / "volume.h5").read_bytes(), self.want)
        done = self.recon(self.out / "never.h5", "--preview-patience", "0")
        self.assertEqual(done.returncode, 10, done.stderr)

    def test_a_scan_that_is_being_written_is_shown_before_it_is_whole(self):
        if subprocess.run([sys.executable, "-c", "import h5py"], capture_output=True).returncode != 0:
            self.skipTest("no h5py")
        grown, page = self.out / "grown.h5", self.out / "page.html"
        writer = subprocess.Popen([sys.executable, "-c", WRITER, str(self.scan), str(grown)])
        reader = subprocess.Popen([PROGRAM, "recon", grown, "-o", self.out / "volume.h5", "--preview", page, "--preview-every", "0.1"],
                                  stderr=subprocess.PIPE, text=True)
        early = set()
        while reader.poll() is None:
            text = page.read_text() if page.exists() else ""
            early.update(word for word in text.split('"') if word.endswith(" of 60"))
            time.sleep(0.05)
        said = reader.stderr.read()
        reader.stderr.close()
        self.assertEqual(writer.wait(), 0)
        self.assertEqual(reader.returncode, 0, said)
        self.assertGreater(len(early), 2)
        self.assertIn("60 of 60", page.read_text())
        self.assertTrue((self.out / "volume.h5").exists())

    def test_a_scan_that_does_not_say_how_long_it_is_is_whole_when_it_is_closed(self):
        if subprocess.run([sys.executable, "-c", "import h5py"], capture_output=True).returncode != 0:
            self.skipTest("no h5py")
        grown = self.out / "grown.h5"
        writer = WRITER.replace('"data_white", "data_dark", "theta"', '"data_white", "data_dark"')
        run = subprocess.Popen([sys.executable, "-c", writer, str(self.scan), str(grown)])
        done = self.recon(grown)
        self.assertEqual(run.wait(), 0)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("60 of 60", (self.out / "page.html").read_text())

    def test_a_writer_may_open_its_file_again(self):
        if subprocess.run([sys.executable, "-c", "import h5py"], capture_output=True).returncode != 0:
            self.skipTest("no h5py")
        grown = self.out / "grown.h5"
        run = subprocess.Popen([sys.executable, "-c", REOPENING, str(self.scan), str(grown)], stderr=subprocess.PIPE, text=True)
        done = self.recon(grown)
        said = run.communicate()[1]
        self.assertEqual(run.returncode, 0, said)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("60 of 60", (self.out / "page.html").read_text())

    def test_it_is_for_one_scan_in_one_file(self):
        self.assertEqual(self.program("recon", self.scan, self.scan, "-o", self.out, "--preview", self.out / "p.html").returncode, 2)


if __name__ == "__main__":
    unittest.main()
