# SPDX-License-Identifier: BSD-3-Clause
"""A scan into a volume, by the program."""
import json
import pathlib
import resource
import signal
import struct
import subprocess
import time
import unittest

from program_case import MEMORY_TELLS
from run_tomoloom import PROGRAM, Case


class Recon(Case):
    def recon(self, *more, output=None):
        return self.ok("recon", self.scan, "-o", output or self.volume, "--quiet", *more)

    def test_every_row_becomes_a_slice(self):
        self.recon("--json", self.out / "summary.json")
        summary = json.loads((self.out / "summary.json").read_text())
        self.assertEqual(summary["volume"]["slices"], 70)
        self.assertEqual(summary["volume"]["center"], 31.5)
        self.assertEqual(summary["scan"]["type"], "uint16")
        for stage in ("read", "compute", "write"):
            self.assertGreater(summary["seconds"][stage]["wall_s"], 0)
        self.assertGreater(summary["memory"]["peak_bytes"], 0)
        said = self.ok("info", self.volume).stdout
        self.assertIn("volume", said)
        self.assertRegex(said, r"slices +70")
        self.assertRegex(said, r"method +exact")

    def test_any_number_of_threads_writes_the_same_bytes(self):
        for threads in (1, 2, 5):
            self.recon("--threads", threads, "--stripe", "sf", output=self.out / f"{threads}.h5")
        first = (self.out / "1.h5").read_bytes()
        self.assertEqual((self.out / "2.h5").read_bytes(), first)
        self.assertEqual((self.out / "5.h5").read_bytes(), first)

    def test_every_filter_and_both_methods(self):
        seen = set()
        for method in ("exact", "gridrec"):
            for name in ("shepp", "none", "ramlak", "cosine", "hann", "hamming", "parzen", "butterworth"):
                self.recon("--method", method, "--filter", name, "--rows", "30:34")
                seen.add(self.volume.read_bytes())
        self.assertEqual(len(seen), 16)

    def test_a_filter_of_ones_own(self):
        weights = self.out / "weights.txt"
        def written(numbers):
            weights.write_text("# a remark\n" + "\n".join(map(str, numbers)))
            return "--filter-weights", weights
        for method, frequencies in (("gridrec", 32), ("exact", 64), ("fbp", 64)):
            shown = "--method", method, "--rows", "30:34"
            self.recon(*shown, "--filter", "custom", *written([1] * frequencies), output=self.out / "own.h5")
            self.recon(*shown, "--filter", "custom2d", *written([1] * 90 * frequencies), output=self.out / "each.h5")
            self.recon(*shown, "--filter", "none")
            for own in ("own.h5", "each.h5"):
                self.ok("compare", self.out / own, self.volume, "--max-rms", 0)
        for status, word, name, numbers in (
                (20, "expected 64", "custom", [1] * 63), (20, "64 for each of 90 angles", "custom2d", [1] * 90),
                (20, "90 projections", "custom2d", [1] * 64), (13, "line 3: found nan", "custom", [1, "nan"]),
                (13, "line 2: found x", "custom", ["x"]), (20, "1e+20", "custom", [1e30] * 64),
                (20, "expected some", "custom", []), (2, "--filter-weights", "shepp", [1] * 64)):
            self.fails(status, word, "recon", self.scan, "-o", self.volume, "--filter", name, *written(numbers))
        self.fails(2, "--filter-weights", "recon", self.scan, "-o", self.volume, "--filter", "custom2d")

    def test_iterations_of_every_kind(self):
        for words in (("mlem",), ("osem", "--blocks", 6), ("tv", "--reg-par", 0.001), ("sirt",), ("cgls",),
                      ("cgls", "--gram", "fft"), ("tv", "--reg-par", 0.001, "--gram", "fft"),
                      ("tikh", "--reg-par", 2), ("grad",), ("pml_quad", "--reg-par", 5),
                      ("pml_hybrid", "--reg-par", 5, "--reg-edge", 0.01), ("ospml_quad", "--blocks", 3),
                      ("ospml_hybrid", "--blocks", 3), ("bart", "--blocks", 9), ("art",)):
            self.recon("--rows", "30:32", "--iterations", 4, "--method", *words)
            self.assertRegex(self.ok("info", self.volume).stdout, f"method +{words[0]}")
        self.fails(2, "--blocks", "recon", self.scan, "-o", self.volume, "--blocks", 0)
        self.fails(15, "--gram", "recon", self.scan, "-o", self.volume, "--method", "mlem", "--gram", "fft")
        self.fails(2, "--reg-edge", "recon", self.scan, "-o", self.volume, "--reg-edge", 0)
        self.fails(2, "--reg-par", "recon", self.scan, "-o", self.volume, "--reg-par", -1)

    def test_an_axis_that_is_tilted_along_the_beam(self):
        scan, truth = self.out / "tilted.h5", self.out / "truth.h5"
        self.ok("simulate", "-o", scan, "--truth", truth, "--phantom", "discs", "--columns", 64, "--rows", 70, "--angles", 180,
                "--arc", 360, "--tilt", 6, "--photons", 0)
        command = ("recon", scan, "-o", self.volume, "--method", "fbp", "--mask", 0, "--quiet")
        self.ok(*command, "--tilt", 6, "--json", self.out / "s.json")
        self.keeps_to("estimate_bytes", json.loads((self.out / "s.json").read_text())["memory"])
        self.ok("compare", self.volume, truth, "--circle", 0.9, "--max-relative", 0.3)
        whole = self.volume.read_bytes()
        self.ok(*command, "--tilt", 6, "--threads", 3)
        self.assertEqual(self.volume.read_bytes(), whole)
        # rows of another block, with what is beside them: the same but for rounding
        for name, rows in (("all", "0:70"), ("some", "29:41")):
            self.ok(*command[:3], self.out / name, *command[4:], "--tilt", 6, "--format", "tiff", "--rows", rows)
        for some in (self.out / "some").iterdir():
            both = [struct.unpack("<4096f", path.read_bytes()[-64 * 64 * 4:]) for path in (some, self.out / "all" / some.name)]
            self.assertLess(max(abs(a - b) for a, b in zip(*both)), 1e-5 * max(map(abs, both[0])))
        # the default method: the same text, and better than without the word
        self.ok("recon", scan, "-o", self.volume, "--mask", 0, "--quiet", "--tilt", 6)
        self.ok("compare", self.volume, truth, "--circle", 0.9, "--max-relative", 0.15)
        pages = []
        for words in ((), ("--tilt", 6)):
            self.ok("recon", scan, "-o", self.volume, "--quiet", "--rows", "30:32", "--preview", self.out / "now.html", *words)
            pages.append((self.out / "now.html").read_bytes())
        self.assertNotEqual(*pages)
        for words in (("gridrec",), ("art",), ("mlem",), ("cgls", "--gram", "fft"), ("exact", "--acquisition", "half", "--center", 20)):
            self.fails(15, "--tilt", "recon", scan, "-o", self.volume, "--tilt", 6, "--method", *words)
        self.fails(2, "--tilt", "recon", scan, "-o", self.volume, "--tilt", 50)

    def test_what_iterates_knows_a_tilted_axis(self):
        scan, truth = self.out / "tilted.h5", self.out / "truth.h5"
        self.ok("simulate", "-o", scan, "--truth", truth, "--columns", 64, "--rows", 40, "--angles", 60,
                "--arc", 360, "--tilt", 8, "--photons", 0)
        command = ("recon", scan, "-o", self.volume, "--mask", 0, "--quiet", "--iterations", 12, "--reg-par", 1, "--method")
        for method in ("cgls", "tikh"):
            self.ok(*command, method, "--tilt", 8, "--json", self.out / "s.json")
            self.ok("compare", self.volume, truth, "--circle", 0.9, "--max-relative", 0.3)
            self.keeps_to("estimate_bytes", json.loads((self.out / "s.json").read_text())["memory"])
            whole = self.volume.read_bytes()
            self.ok(*command, method, "--tilt", 8, "--threads", 3)
            self.assertEqual(self.volume.read_bytes(), whole)

    def test_phase_is_retrieved_before_the_logarithm(self):
        words = ("--rows", "30:34", "--phase-distance", 20, "--phase-pixel", 1e-4, "--phase-delta-beta", 100)
        self.recon(*words)
        plain = self.volume.read_bytes()
        seen = {plain}
        for phase in ("paganin", "tomopy"):
            self.recon(*words, "--phase", phase, "--json", self.out / "s.json")
            seen.add(self.volume.read_bytes())
            self.assertRegex(self.ok("info", self.volume).stdout, f"phase +{phase}")
            summary = json.loads((self.out / "s.json").read_text())
            self.assertTrue(summary["memory"]["spooled"])
            self.assertLessEqual(summary["seconds"]["phase"]["wall_s"], summary["seconds"]["read"]["wall_s"])
        self.assertEqual(len(seen), 3)
        refuse = lambda code, what, *more: self.fails(code, what, "recon", self.scan, "-o", self.volume, *more)
        refuse(15, "--phase wants", "--phase", "paganin", "--input", "integrals")
        refuse(2, "2^24", "--phase", "tomopy", "--phase-distance", 1e9)
        refuse(2, "--phase-energy", "--phase-energy", 0)

    def test_two_volumes_are_compared_and_shown(self):
        self.recon("--rows", "30:34")
        other, page = self.out / "gridrec", self.out / "page.html"
        self.recon("--rows", "30:34", "--method", "gridrec", "--format", "tiff", output=other)
        same = self.ok("compare", self.volume, self.volume, "--max-rms", 0, "--json", "-").stdout
        self.assertEqual(json.loads(same)["rms"], 0)
        self.assertTrue(json.loads(same)["within_bounds"])
        done = self.program("compare", self.volume, other, "--circle", 0.9, "--max-relative", 0.01)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertRegex(done.stdout, r"relative L2 +0\.\d+")
        self.assertEqual(self.program("compare", self.volume, other, "--max-rms", 100).returncode, 0)
        self.fails(13, "70 x", "compare", self.volume, self.scan)
        self.ok("view", self.volume, "-o", page, "--with", other)
        first = page.read_bytes()
        self.assertIn(b"</html>", first)
        self.ok("view", self.volume, "-o", page, "--with", other)
        self.assertEqual(page.read_bytes(), first)
        self.fails(22, "--row 64", "view", self.volume, "-o", page, "--row", 64)
        self.fails(10, "absent", "view", self.out / "absent.h5", "-o", page)
        self.assertEqual(page.read_bytes(), first)

    def test_rings_go_from_slices(self):
        self.recon("--rows", "30:34")
        before = self.volume.read_bytes()
        self.recon("--rows", "30:34", "--ring-width", 5, "--ring-threshold", 0.2, "--ring-angle", 45)
        self.assertNotEqual(self.volume.read_bytes(), before)
        self.fails(2, "--ring-angle", "recon", self.scan, "-o", self.volume, "--ring-angle", 181)

    def test_half_acquisition_makes_slices_as_wide_as_both_halves(self):
        turn = self.out / "turn.h5"
        self.ok("simulate", "-o", turn, "--columns", 40, "--rows", 4, "--angles", 120, "--arc", 360, "--center", 9, "--quiet")
        summary = self.out / "summary.json"
        said = self.ok("recon", turn, "-o", self.volume, "--acquisition", "half", "--center", 9, "--json", summary)
        self.assertIn("4 slices of 61 x 61", said.stdout + said.stderr)
        self.assertEqual(json.loads(summary.read_text())["volume"]["width"], 61)
        kept = self.volume.read_bytes()
        for words in ((), ("--center", "auto"), ("--center", "9:10"), ("--center", 9, "--method", "cgls")):
            self.fails(15, "--acquisition half", "recon", turn, "-o", self.volume, "--acquisition", "half", *words)
        self.fails(15, "whole turn", "recon", self.scan, "-o", self.volume, "--acquisition", "half", "--center", 9)
        self.assertEqual(self.volume.read_bytes(), kept)

    def test_an_output_that_is_there_is_replaced_or_kept(self):
        self.volume.write_text("before")
        self.fails(32, "volume.h5", "recon", self.scan, "-o", self.volume, "--no-clobber")
        self.assertEqual(self.volume.read_text(), "before")
        self.recon()
        self.assertNotEqual(self.volume.read_bytes()[:6], b"before")

    def test_an_interrupted_run_leaves_nothing(self):
        big = self.out / "big.h5"
        self.ok("simulate", "-o", big, "--columns", 512, "--rows", 96, "--angles", 30, "--photons", 0, "--quiet")
        run = subprocess.Popen([PROGRAM, "recon", str(big), "-o", str(self.volume), "--quiet", "--threads", "1"],
                               stderr=subprocess.PIPE, text=True)
        while run.poll() is None and len(list(self.out.iterdir())) == 1:  # until something of the volume is there
            time.sleep(0.002)
        run.send_signal(signal.SIGTERM)
        errors = run.communicate(timeout=60)[1]
        if run.returncode == 0:
            self.skipTest("done before the signal came")
        self.assertEqual(run.returncode, 50, errors)
        self.assertEqual(sorted(path.name for path in self.out.iterdir()), ["big.h5"])

    @unittest.skipUnless(MEMORY_TELLS, "a sanitizer keeps what was freed")
    def test_the_peak_is_not_above_the_estimate(self):
        big = self.out / "big.h5"
        self.ok("simulate", "-o", big, "--columns", 384, "--rows", 96, "--angles", 200, "--phantom", "disc", "--quiet")
        for more in ((), ("--threads", "1"), ("--center", "auto"), ("--method", "gridrec", "--threads", "4"),
                     ("--method", "cgls", "--iterations", "2"), ("--method", "fbp", "--threads", "3"),
                     ("--method", "ospml_quad", "--blocks", 20, "--iterations", 1), ("--method", "grad", "--iterations", 2),
                     ("--phase", "paganin"), ("--phase", "tomopy", "--outlier", 0.3, "--threads", 1)):
            self.ok("recon", big, "-o", self.volume, "--quiet", "--json", self.out / "s.json", *more)
            memory = json.loads((self.out / "s.json").read_text())["memory"]
            self.assertLessEqual(memory["peak_bytes"], memory["estimate_bytes"], more)
            self.assertGreater(memory["peak_bytes"], 0.5 * memory["estimate_bytes"], more)

    def kill_after_a_block(self, command):
        run = subprocess.Popen([PROGRAM, *map(str, command)], stderr=subprocess.DEVNULL)
        done = self.out / "volume.h5.part.done"
        while run.poll() is None and not (done.exists() and done.read_bytes().count(b"\n") >= 2):
            time.sleep(0.002)
        run.kill()
        run.wait()
        if self.volume.exists():
            self.skipTest("done before it was killed")

    def test_a_run_that_was_killed_is_gone_on_with(self):
        big = self.out / "big.h5"
        self.ok("simulate", "-o", big, "--columns", 384, "--rows", 128, "--angles", 30, "--photons", 0, "--quiet")
        command = ("recon", big, "-o", self.volume, "--quiet", "--resume", "--threads", "1")
        self.kill_after_a_block(command)
        self.ok(*command, "--json", self.out / "s.json")
        self.assertGreater(json.loads((self.out / "s.json").read_text())["volume"]["resumed_slices"], 0)
        resumed = self.volume.read_bytes()
        self.ok("recon", big, "-o", self.volume, "--quiet")
        self.assertEqual(self.volume.read_bytes(), resumed)
        self.assertEqual([p.name for p in self.out.glob("*.part*")], [])

    def test_a_tilted_axis_is_gone_on_with_too(self):
        # blocks need rows beside their own, of what is there already as well
        scan = self.out / "tilted.h5"
        self.ok("simulate", "-o", scan, "--columns", 96, "--rows", 128, "--angles", 90, "--arc", 360, "--tilt", 6, "--quiet")
        for words in (("exact",), ("cgls", "--iterations", 4)):
            self.volume.unlink(missing_ok=True)
            command = ("recon", scan, "-o", self.volume, "--quiet", "--tilt", 6, "--center", 47, "--threads", 1, "--method", *words)
            self.kill_after_a_block((*command, "--resume"))
            self.ok(*command, "--resume", "--json", self.out / "s.json")
            self.assertGreater(json.loads((self.out / "s.json").read_text())["volume"]["resumed_slices"], 0)
            resumed = self.volume.read_bytes()
            self.ok(*command)
            self.assertEqual(self.volume.read_bytes(), resumed, words)

    def test_a_folder_of_images_is_a_volume_too(self):
        slices = self.out / "slices"
        self.recon("--rows", "3:40", "--format", "tiff", output=slices)
        self.assertEqual(sorted(p.name for p in slices.iterdir()), [f"slice_{r:05d}.tiff" for r in range(3, 40)])
        self.assertRegex(self.ok("info", slices).stdout, r"(?s)volume.*slices +37.*method +exact")
        first = {p.name: p.read_bytes() for p in slices.iterdir()}
        self.recon("--rows", "3:40", "--format", "tiff", "--threads", 3, output=slices)
        self.assertEqual({p.name: p.read_bytes() for p in slices.iterdir()}, first)
        (slices / "mine.txt").write_text("mine")
        self.fails(32, "holds mine.txt", "recon", self.scan, "-o", slices, "--format", "tiff")
        self.assertEqual([p.name for p in self.out.iterdir()], ["slices"])

    def test_what_belongs_to_images_alone_is_told(self):
        self.fails(2, "--flats", "recon", self.scan, "-o", self.volume, "--flats", self.out)
        self.fails(10, "no images in it (*.tif, *.tiff), and no Data Exchange files in or below it (*.h5, *.hdf5", "recon", self.out, "-o", self.volume)
        self.fails(20, "expected 90", "recon", self.scan, "-o", self.volume, "--theta", self.angles(3))
        self.fails(20, "all of 90 projections have the angle 7", "recon", self.scan, "-o", self.volume, "--theta", "7:7")
        self.recon("--theta", self.angles(90))

    def angles(self, count):
        file = self.out / f"{count}.txt"
        file.write_text("".join(f"{2 * i}\n" for i in range(count)))
        return file

    def test_the_same_seed_makes_the_same_scan(self):
        scans = []
        for seed in (1, 1, 2):
            self.ok("simulate", "-o", self.out / "a.h5", "--columns", 32, "--rows", 2, "--angles", 5, "--seed", seed,
                    "--quiet")
            scans.append((self.out / "a.h5").read_bytes())
        self.assertEqual(scans[0], scans[1])
        self.assertNotEqual(scans[0], scans[2])


class BadInput(Case):
    def test_what_is_wrong_is_named(self):
        recon = lambda *more: ("recon", *more, "-o", self.volume)
        self.fails(10, "absent.h5", *recon(self.out / "absent.h5"))
        text = self.out / "text.h5"
        text.write_text("no HDF5")
        self.fails(14, "text.h5", *recon(text))
        cut = self.out / "cut.h5"
        cut.write_bytes(self.scan.read_bytes()[:5000])
        self.fails(14, "cut.h5", *recon(cut))
        self.fails(11, "exchange3/data", *recon(self.scan, "--group", "exchange3"))
        self.fails(21, "from 0 to 63", *recon(self.scan, "--center", "64"))
        self.fails(21, "--center 64", *recon(self.scan, "--center", "31:64"))
        self.fails(2, "entropy or pairs", *recon(self.scan, "--center", "nowhere"))
        self.fails(22, "rows 0 to 70", *recon(self.scan, "--rows", "10:71"))
        self.fails(2, "FIRST:END", *recon(self.scan, "--rows", "10"))
        self.fails(61, "--memory", *recon(self.scan, "--memory", "100K"))
        self.fails(2, "--memory", *recon(self.scan, "--memory", "much"))
        self.fails(30, "nowhere", "recon", self.scan, "-o", "/proc/nowhere/volume.h5")
        self.assertFalse(pathlib.Path(self.volume).exists())

    def test_a_scan_of_one_projection_is_reconstructed(self):
        one = self.out / "one.h5"
        self.ok("simulate", "-o", one, "--columns", 33, "--rows", 1, "--angles", 1, "--quiet")
        self.ok("recon", one, "-o", self.volume, "--quiet")

    def test_a_disk_that_is_too_small_is_told_once_and_nothing_is_left(self):
        def small_disk():
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
        done = subprocess.run([PROGRAM, "recon", self.scan, "-o", self.volume], capture_output=True, text=True, preexec_fn=small_disk)
        self.assertEqual(done.returncode, 31, done.stderr)
        self.assertEqual(done.stderr.count("tomoloom: error:"), 1)
        self.assertFalse(list(self.out.iterdir()))


if __name__ == "__main__":
    unittest.main()
