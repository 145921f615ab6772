# SPDX-License-Identifier: BSD-3-Clause
"""What is there already is not harmed, and what does not go together is told before anything is done."""
import resource
import shutil
import signal
import struct
import subprocess
import time
import unittest

from run_tomoloom import PROGRAM, Case


class Outputs(Case):
    def test_no_output_is_an_input_or_another_output(self):
        numbers, volume = self.out / "weights.txt", self.out / "other.h5"
        numbers.write_text("1\n" * 90)
        self.ok("recon", self.scan, "-o", volume, "--quiet")
        for outputs in (("-o", self.volume, "--json", self.volume), ("-o", self.volume, "--json", self.scan),
                        ("-o", self.volume, "--preview", self.scan), ("-o", numbers, "--weights", numbers),
                        ("-o", self.volume, "--weights", numbers, "--json", numbers),
                        ("-o", self.volume, "--preview", self.out / "x", "--json", self.out / "x")):
            self.fails(2, "output", "recon", self.scan, *outputs)
        self.fails(2, "is an input", "view", volume, "-o", volume)
        self.fails(2, "is an input", "view", volume, "-o", self.scan, "--scan", self.scan)
        self.fails(2, "is an input", "compare", volume, volume, "--json", volume)
        self.assertEqual(sorted(path.name for path in self.out.iterdir()), ["other.h5", "weights.txt"])
        self.assertIn("scan", self.ok("info", self.scan).stdout)

    def test_no_output_is_a_file_of_a_folder_that_is_read(self):
        slices, zarr = self.out / "slices", self.out / "volume.zarr"
        for path, form in ((slices, "tiff"), (zarr, "zarr")):
            self.ok("recon", self.scan, "-o", path, "--quiet", "--rows", "30:32", "--format", form)
        image = slices / "slice_00030.tiff"
        before = image.read_bytes()
        self.fails(2, "is an input", "recon", slices, "--input", "integrals", "-o", self.volume, "--json", image)
        self.fails(2, "is an input", "recon", self.scan, "-o", self.volume, "--preview", image, "--flats", slices)
        self.fails(2, "is an input", "view", slices, "-o", image)
        self.fails(2, "is an input", "view", zarr, "-o", zarr / ".zattrs")
        self.fails(2, "is an input", "compare", slices, slices, "--json", image)
        self.assertEqual(image.read_bytes(), before)
        for _ in range(2):  # a page of one's own may lie there, and be made anew
            self.ok("view", slices, "-o", slices / "page.html", "--quiet")

    def test_what_fails_leaves_no_empty_folder(self):
        def small_disk():
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (3000, 3000))
        new, volume = self.out / "new" / "further", self.inputs / "whole.h5"
        self.ok("recon", self.scan, "-o", volume, "--quiet")
        for words in (("view", volume, "-o", new / "page.html"), ("recon", self.scan, "-o", new / "volume.zarr"), ("recon", self.scan, "-o", new / "slices", "--format", "tiff"),
                      ("recon", self.scan, "-o", new / "volume.h5"),
                      ("recon", self.scan, "-o", new / "volume.h5", "--resume"), ("simulate", "-o", new / "scan.h5", "--columns", 64, "--rows", 4)):
            done = subprocess.run([PROGRAM, *map(str, words), "--quiet"], capture_output=True, text=True, timeout=120, preexec_fn=small_disk)
            self.assertEqual((done.returncode, len(done.stderr.splitlines())), (31, 1), done.stderr)
            self.assertEqual(list(self.out.iterdir()), [])

    def test_nothing_to_go_on_from_is_kept_where_a_disk_is_full_from_the_start(self):
        for bytes_left in (0, 40):  # no room for anything; for a part of the record
            def small_disk(most=bytes_left):
                signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
                resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))
            for name, *more in (("volume.h5",), ("volume.zarr",), ("slices", "--format", "tiff")):
                done = subprocess.run([PROGRAM, "recon", str(self.scan), "-o", str(self.out / "new" / name), "--resume", "--quiet", *more],
                                      capture_output=True, text=True, timeout=120, preexec_fn=small_disk)
                self.assertEqual((done.returncode, len(done.stderr.splitlines())), (31, 1), done.stderr)
                self.assertEqual(list(self.out.iterdir()), [], (name, bytes_left))

    def test_a_file_that_would_be_a_folder_is_told_of_before_anything_is_done(self):
        new = f"{self.out}/new/"
        self.fails(30, "directory", "recon", self.scan, "-o", self.volume, "--json", new)
        self.fails(30, "directory", "simulate", "-o", new, "--columns", 64, "--rows", 4)
        self.assertEqual(list(self.out.iterdir()), [])

    def test_a_scan_and_its_truth_are_made_together_or_not_at_all(self):
        truth = self.out / "truth.h5"
        truth.write_text("before")
        self.fails(32, "truth.h5", "simulate", "-o", self.out / "new.h5", "--truth", truth, "--no-clobber", "--columns", 32)
        self.assertEqual([path.name for path in self.out.iterdir()], ["truth.h5"])

    def test_a_volume_without_numbers_is_within_no_bound(self):
        good, bad = self.out / "good", self.out / "bad"
        self.ok("recon", self.scan, "-o", good, "--quiet", "--rows", "30:32", "--format", "tiff")
        shutil.copytree(good, bad)
        image = bad / "slice_00030.tiff"
        image.write_bytes(image.read_bytes()[:-4 * 64 * 20] + struct.pack("<f", float("nan")) * 64 * 20)
        self.ok("compare", good, bad)
        self.assertEqual(self.program("compare", bad, bad, "--max-rms", 0).returncode, 0)
        for one, other in ((good, bad), (bad, good)):
            self.assertEqual(self.program("compare", one, other, "--max-rms", 100).returncode, 1)
        self.fails(2, "--slice 0.5", "view", good, "-o", self.out / "page.html", "--slice", 0.5)

    def test_a_truth_that_would_be_infinite_is_none(self):
        self.fails(2, "--absorption", "simulate", "-o", self.out / "scan.h5", "--truth", self.volume, "--absorption", 1e300)

    def test_images_that_are_missing_or_of_another_kind_are_told_of(self):
        images = self.out / "images"
        self.ok("recon", self.scan, "-o", images, "--quiet", "--rows", "20:32", "--format", "tiff")
        (images / "._slice_00021.tiff").write_bytes(b"what macOS knows of it")

        def said(*more):
            return self.ok("recon", images, "-o", self.volume, "--input", "integrals", *more).stderr
        for told in ("no images of", "several names"):
            self.assertNotIn(told, said())
        (images / "slice_00025.tiff").unlink()
        for angles in ((), ("--theta", "0:170")):
            self.assertIn("no images of 1 of the numbers from 20 to 31 in names, the first of them 25: angles are spread evenly", said(*angles))
        self.assertNotIn("no images of", said("--stack", "sinograms"))
        listed = self.out / "angles.txt"
        listed.write_text("".join(f"{15 * i}\n" for i in range(12) if i != 5))
        self.assertNotIn("no images of", said("--theta", listed))
        shutil.copy(images / "slice_00020.tiff", images / "flat.tiff")
        self.assertIn("images of several names (1 flat.tiff, 11 slice_#.tiff), all taken as one scan", said())

    def test_options_that_change_nothing_are_told_of(self):
        said = self.ok("recon", self.scan, "-o", self.volume, "--rows", "30:32", "--phase-energy", 30, "--iterations", 5).stderr
        self.assertIn("--phase-energy changes nothing without --phase\n", said)
        self.assertIn("--iterations changes nothing without a --method that iterates\n", said)
        said = self.ok("recon", self.scan, "-o", self.volume, "--rows", "30:32", "--filter", "hann", "--filter-cutoff", 0.3).stderr
        self.assertNotIn("changes nothing", said)

    def test_angles_in_a_unit_that_is_not_known_are_no_degrees(self):
        data = self.scan.read_bytes()
        other = self.out / "other.h5"
        other.write_bytes(data.replace(b"degrees", b"arcsecs"))
        self.assertNotEqual(other.read_bytes(), data)
        self.fails(15, "units 'arcsecs'", "recon", other, "-o", self.volume)
        self.ok("recon", other, "-o", self.volume, "--rows", "30:32", "--theta", "0:178", "--quiet")

    def test_what_is_to_stay_is_seen_before_the_scan_is_waited_for(self):
        self.volume.write_text("before")
        self.fails(32, "volume.h5", "recon", self.out / "later.h5", "-o", self.volume, "--no-clobber",
                   "--preview", self.out / "page.html", "--preview-patience", 1000)
        self.fails(2, "--format tiff", "recon", self.scan, "-o", self.out / "volume.tif")

    def test_folders_of_many_scans_that_are_not_there_yet_are_made_without_clobbering(self):
        (self.out / "scans").mkdir()
        shutil.copy(self.scan, self.out / "scans" / "one.h5")
        for kind, name in (("tiff", "one_rec"), ("zarr", "one_rec.zarr")):
            command = ("recon", self.out / "scans", "-o", self.out / kind, "--format", kind, "--no-clobber", "--rows", "0:3", "--quiet")
            self.ok(*command)
            made = sorted((self.out / kind / name).rglob("*"))
            self.assertTrue(made)
            self.ok(*command)  # up to date
            self.assertEqual(self.program(*command, "--bin", 3).returncode, 3)
            self.assertEqual(sorted((self.out / kind / name).rglob("*")), made)

    def test_options_that_do_not_go_together_are_refused(self):
        self.fails(15, "--flats-at", "recon", self.scan, "-o", self.volume, "--input", "transmissions", "--flats-at", "0,45")
        self.fails(15, "--outlier", "recon", self.scan, "-o", self.volume, "--input", "integrals", "--outlier", 0.3)
        self.assertEqual(list(self.out.iterdir()), [])


class Resume(Case):
    def begun(self, output, *more):
        """A run that has written its first block, and is held there."""
        run = subprocess.Popen([PROGRAM, "recon", str(self.scan), "-o", str(output), "--quiet", "--resume", "--threads", "1",
                                "--method", "sirt", "--iterations", "40", *more], stderr=subprocess.DEVNULL)
        self.addCleanup(run.wait)
        self.addCleanup(run.kill)
        done = output.with_name(output.name + ".part.done")
        while run.poll() is None and not (done.exists() and done.read_bytes().count(b"\n") >= 2):
            time.sleep(0.002)
        run.send_signal(signal.SIGSTOP)
        self.assertIsNone(run.poll())
        return run

    def test_a_record_without_its_folder_tells_nothing(self):
        slices = self.out / "slices"
        run = self.begun(slices, "--rows", "0:64", "--format", "tiff")
        run.kill()
        run.wait()
        shutil.rmtree(self.out / "slices.part")
        self.ok("recon", self.scan, "-o", slices, "--quiet", "--resume", "--method", "sirt", "--iterations", 40,
                "--rows", "0:64", "--format", "tiff")
        self.assertEqual(len(list(slices.iterdir())), 64)

    def test_what_another_run_is_writing_is_left_alone(self):
        run = self.begun(self.volume)
        self.fails(30, "another run", "recon", self.scan, "-o", self.volume, "--resume")
        self.assertTrue((self.out / "volume.h5.part").exists())
        self.assertIsNone(run.poll())


if __name__ == "__main__":
    unittest.main()
