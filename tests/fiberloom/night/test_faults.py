# SPDX-License-Identifier: BSD-3-Clause
"""Each fault caused for real: the bad frame is told of and set aside, the rest is finished, the exit
code says so."""
import gzip
import json
import os
import shutil
import struct
import subprocess
import time
import unittest

from night_case import NX, Case, Tree, finish
from power import give_up_power
from small_camera import NY, psf_bytes

SOME_FAILED = 3


class BadFrames(Case):
    """One bad frame among good ones."""

    powerless = False  # root without the power to read what no permission allows

    def setUp(self):
        super().setUp()
        self.tree.add_exposures(1, cameras=("b0", "z0"))

    def check(self, code, *words, refused=True):
        """The frame r0 fails with this exit code and words in its message, the others are done. Later runs refuse it
        and name --retry, or try it again by themselves."""
        summary = self.summary(code=SOME_FAILED, powerless=self.powerless)
        self.assertEqual(summary["exit_code"], SOME_FAILED)
        frames = {f["camera"]: f for f in summary["frames"]}
        self.assertEqual({c: f["state"] for c, f in frames.items()},
                         {"b0": "done", "r0": "failed", "z0": "done"})
        self.assertEqual(frames["r0"]["exit_code"], code, frames["r0"]["message"])
        for word in words:
            self.assertIn(word, frames["r0"]["message"])
        self.assertEqual(len(self.outputs()), 2)
        record = json.loads(self.state("failed", "r0-00000001.json").read_text())
        self.assertEqual(record["message"], frames["r0"]["message"])
        self.assertEqual(record["exit_code"], code)
        self.assert_tidy()
        again = self.summary(code=SOME_FAILED, powerless=self.powerless)
        self.assertEqual((again["counts"]["up_to_date"], again["counts"]["failed"]), (2, 1))
        told = next(f for f in again["frames"] if f["camera"] == "r0")
        self.assertEqual(told["attempts"], 1 if refused else 2)
        self.assertEqual("--retry" in told["message"], refused, told["message"])

    def test_missing_hdu(self):
        self.tree.add("r0", 1, image=Tree.camera.preproc_bytes(drop=("IVAR",)))
        self.check(11, "IVAR")

    def test_truncated_gzip(self):
        packed = gzip.compress(self.tree.image_bytes(1))
        self.tree.add("r0", 1, image=packed[:len(packed) // 2], ending=".fits.gz")
        self.check(14, "truncated")

    def test_truncated_fits(self):
        self.tree.add("r0", 1, image=self.tree.image_bytes(1)[:70000])
        self.check(14, "truncated")

    def test_psf_of_another_ccd(self):
        self.tree.add("r0", 1, psf=psf_bytes(npix_x=NX + 50))
        self.check(21)

    def test_psf_of_another_band(self):
        self.tree.add("r0", 1, psf=psf_bytes(wmin=8000.0, wmax=8100.0))
        self.check(20)

    def test_psf_that_is_none(self):
        self.tree.add("r0", 1, psf=b"PSF" * 3000)
        self.check(14)

    def test_nan_everywhere(self):
        pixels = struct.pack(">f", float("nan")) * (NX * NY)
        image = bytearray(self.tree.image_bytes(1))
        start = image.find(struct.pack(">f", Tree.camera.image[0]))
        image[start:start + len(pixels)] = pixels
        self.tree.add("r0", 1, image=bytes(image))
        self.check(14, "no good pixel", "NaN")

    def test_unreadable_image(self):
        image = self.tree.add("r0", 1)
        image.chmod(0)
        self.powerless = True
        read = subprocess.run(["cat", image], capture_output=True, check=False, preexec_fn=give_up_power)
        if read.returncode == 0:
            self.skipTest("whoever runs this reads files without permission, and cannot give that up")
        self.check(10, "preproc-r0", "ermission", refused=False)
        self.tree.image_path("r0", 1).chmod(0o644)
        self.assertEqual(self.counts(powerless=self.powerless), {"done": 1, "up_to_date": 2})
        self.assertEqual(self.names("failed"), [])

    def test_a_failure_of_an_earlier_version_is_judged_by_its_code(self):
        for code, expected in ((14, {"up_to_date": 2, "failed": 1}), (60, {"up_to_date": 2, "done": 1})):
            self.tree.add("r0", 1, image=b"bad")
            self.counts("--retry", "1", code=SOME_FAILED)
            path = self.state("failed", "r0-00000001.json")
            record = json.loads(path.read_text())
            self.tree.add("r0", 1)
            image, psf = self.tree.image_path("r0", 1).stat(), self.tree.psf_path("r0", 1).stat()
            record["exit_code"] = code
            for stamp, stat in zip(record["inputs"], (image, psf)):
                stamp["size"], stamp["mtime_ns"] = stat.st_size, stat.st_mtime_ns
            for key in ("system_error", "changed_ns"):  # as version 0.1.0 wrote it first
                del record[key]
            path.write_text(json.dumps(record))
            self.assertEqual(self.counts(code=SOME_FAILED if "failed" in expected else 0), expected)

    def test_two_images_of_one_frame_fail_it_and_nothing_else_until_one_is_gone(self):
        self.tree.add("r0", 1)
        copy = self.tree.root / "20261122" / "00000001"
        copy.mkdir(parents=True)
        shutil.copy(self.tree.image_path("r0", 1), copy)
        self.check(2, "two images of one frame, r0-00000001", "20261122")
        shutil.rmtree(copy.parent)
        self.assertEqual(self.counts(), {"done": 1, "up_to_date": 2})

    def test_missing_psf(self):
        self.tree.add("r0", 1, psf=False)
        summary = self.summary(code=SOME_FAILED)
        missing = [f for f in summary["frames"] if f["state"] == "missing"]
        self.assertEqual([f["name"] for f in missing], ["r0-00000001"])
        self.assertIn("psf-r0.fits", missing[0]["message"])
        self.tree.psf_path("r0", 1).write_bytes(Tree.psf)
        self.assertEqual(self.counts(), {"done": 1, "up_to_date": 2})


class Retry(Case):
    def setUp(self):
        super().setUp()
        self.tree.add_exposures(1)
        self.tree.add("r0", 1, image=b"bad")

    def attempts(self):
        return json.loads(self.state("failed", "r0-00000001.json").read_text())["attempts"]

    def test_retry_tries_so_often_and_counts_on(self):
        self.counts("--retry", "2", code=SOME_FAILED)
        self.assertEqual(self.attempts(), 3)
        self.counts(code=SOME_FAILED)
        self.assertEqual(self.attempts(), 3)
        self.counts("--retry", "1", code=SOME_FAILED)
        self.assertEqual(self.attempts(), 4)

    def test_a_mended_input_is_tried_without_being_asked(self):
        self.counts(code=SOME_FAILED)
        self.tree.add("r0", 1)
        self.assertEqual(self.counts(), {"done": 1, "up_to_date": 2})
        self.assertEqual(self.names("failed"), [])

    def test_content_replaced_under_the_same_size_and_time_is_another_try(self):
        good = self.tree.image_bytes(1)
        path = self.tree.add("r0", 1, image=good[:20000] + bytes(len(good) - 20000))
        stat = path.stat()
        self.counts(code=SOME_FAILED)
        path.write_bytes(good)
        os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))
        self.assertEqual(self.counts(), {"done": 1, "up_to_date": 2})

    def test_other_options_are_another_try(self):
        self.counts(code=SOME_FAILED)
        self.assertEqual(self.counts("--redo", "--psferr", "0.3", code=SOME_FAILED),
                         {"done": 2, "failed": 1})


class ChangingInput(Case):
    """A file that grows while it is read."""

    def setUp(self):
        super().setUp()
        self.tree.add_exposures(1, cameras=("b0", "z0"))
        # Padding that FITS ignores, so that unpacking takes long enough to be disturbed.
        image = gzip.compress(self.tree.image_bytes(1) + bytes(100_000_000), 1)
        self.path = self.tree.add("r0", 1, image=image, ending=".fits.gz")
        # Another process, so that nothing of Python's stands between two appends.
        self.writer = subprocess.Popen(
            ["/bin/sh", "-c", 'while printf more; do :; done >> "$0"', str(self.path)])
        self.addCleanup(self.end_writer)

    def mend(self):
        self.end_writer()
        complete = self.path.with_name("new")
        complete.write_bytes(gzip.compress(self.tree.image_bytes(1)))
        complete.rename(self.path)

    def end_writer(self):
        self.writer.kill()
        self.writer.wait()

    def test_is_a_failure_that_mends_itself(self):
        summary = self.summary(code=SOME_FAILED)
        frame = next(f for f in summary["frames"] if f["camera"] == "r0")
        self.assertEqual(frame["exit_code"], 16, frame["message"])
        self.assertIn("changed while it was read", frame["message"])
        self.assertFalse(self.frame_path("r0", 1).exists())
        self.mend()
        self.assertEqual(self.counts(), {"done": 1, "up_to_date": 2})

    def test_retry_waits_it_out(self):
        process = self.start("--retry", "100")
        self.wait_for(lambda: self.frame_path("b0", 1).exists())
        time.sleep(0.5)
        self.mend()
        _, errors = finish(process, 60)
        self.assertEqual(process.returncode, 0, errors)
        self.assertEqual(len(self.frame_path("r0", 1).read_bytes()),
                         len(self.extracted("b0", 1)))


class Outputs(Case):
    def setUp(self):
        super().setUp()
        self.tree.add_exposures(2)

    def test_a_file_size_limit_stops_the_run_and_loses_nothing(self):
        result = self.night("-q", file_limit=60000)  # a frame has 100 kB
        self.assertEqual(result.returncode, 31, result.stderr_text)
        self.assertEqual(self.outputs(), {})
        self.assert_tidy()
        self.assertEqual(self.names("failed"), [])  # it was not the frames' fault
        self.assertEqual(self.counts(), {"done": 6})

    def test_a_full_disk_stops_the_run_and_loses_nothing(self):
        disk = self.work / "disk"
        disk.mkdir()
        mounted = os.geteuid() == 0 and subprocess.run(
            ["mount", "-t", "tmpfs", "-o", "size=400k", "tmpfs", disk],
            capture_output=True).returncode == 0
        if not mounted:
            self.skipTest("a small disk needs root")
        self.addCleanup(subprocess.run, ["umount", disk])
        self.out = disk / "out"
        result = self.night("-q")
        self.assertEqual(result.returncode, 31, result.stderr_text)
        self.assertIn("No space left", result.stderr_text)
        made = self.outputs()
        self.assertLess(len(made), 6)
        self.assertEqual([str(p) for p in self.out.rglob("frame-*.tmp-*")], [])
        subprocess.run(["mount", "-o", "remount,size=10M", disk], check=True)
        counts = self.counts()
        self.assertEqual(counts["done"] + counts.get("up_to_date", 0), 6)
        self.assertLessEqual(counts["done"], 6 - len(made) + 1)  # a receipt may not have fitted
        for path, data in made.items():
            self.assertEqual(self.outputs()[path], data)

    def test_a_read_only_output_is_said_before_any_work(self):
        if os.geteuid() != 0:
            self.out.mkdir()
            self.out.chmod(0o555)
        else:
            disk = self.work / "disk"
            disk.mkdir()
            if subprocess.run(["mount", "-t", "tmpfs", "-o", "ro,size=1M", "tmpfs", disk],
                              capture_output=True).returncode != 0:
                self.skipTest("cannot mount a read-only disk here")
            self.addCleanup(subprocess.run, ["umount", disk])
            self.out = disk / "out"
        result = self.night()
        self.assertEqual(result.returncode, 30, result.stderr_text)
        self.assertIn("out", result.stderr_text)

    def test_one_output_that_cannot_be_written_is_one_failure(self):
        self.frame_path("r0", 1).mkdir(parents=True)
        self.assertEqual(self.counts(code=SOME_FAILED), {"done": 5, "failed": 1})


if __name__ == "__main__":
    unittest.main()
