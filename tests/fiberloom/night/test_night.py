# SPDX-License-Identifier: BSD-3-Clause
# Long: nights end to end, on one set of frames.
"""A night end to end: what is written, what is done again, what is told."""
import gzip
import json
import os
import shutil
import sqlite3
import subprocess
import unittest

from night_case import GRID, NIGHT, OPTIONS, PROGRAM, Case, finish


class Outputs(Case):
    def test_every_frame_has_the_bytes_of_extract(self):
        self.tree.add_exposures(2)
        self.assertEqual(self.counts(), {"done": 6})
        outputs = self.outputs()
        self.assertEqual(len(outputs), 6)
        for exposure in (1, 2):
            for camera in ("b0", "r0", "z0"):
                name = f"{NIGHT}/{exposure:08d}/frame-{camera}-{exposure:08d}.fits"
                self.assertEqual(outputs[name], self.extracted(camera, exposure), name)
        self.assertNotEqual(outputs[f"{NIGHT}/00000001/frame-r0-00000001.fits"],
                            outputs[f"{NIGHT}/00000002/frame-r0-00000002.fits"])
        self.assert_tidy()

    def test_bytes_do_not_depend_on_threads_readers_writers_or_memory(self):
        self.tree.add_exposures(2)
        self.night_ok("-q", "--threads", "1")
        expected = self.outputs()
        for more in (["--threads", "3", "--readers", "2", "--writers", "2"], ["--memory", "60M"]):
            self.out = self.work / "-".join(more)
            self.night_ok("-q", *more)
            self.assertEqual(self.outputs(), expected, more)

    def test_compressed_outputs_unpack_to_the_same_bytes(self):
        self.tree.add_exposures(1)
        self.night_ok("-q", "--compress")
        packed = self.frame_path("r0", 1).with_suffix(".fits.gz").read_bytes()
        self.assertEqual(gzip.decompress(packed), self.extracted("r0", 1))

    def test_packed_input_gives_the_same_spectra(self):
        self.tree.add("r0", 1, image=gzip.compress(self.tree.image_bytes(1)), ending=".fits.gz")
        self.night_ok("-q")
        path = self.frame_path("r0", 1)
        packed = path.read_bytes()
        self.tree.image_path("r0", 1, ".fits.gz").unlink()
        self.tree.add("r0", 1)
        self.night_ok("-q")
        # IN_IMG in the header names the file; all else is equal.
        plain = path.read_bytes()
        self.assertEqual(len(packed), len(plain))
        self.assertEqual(packed[8640:], plain[8640:])

    def test_a_flat_folder_gives_flat_outputs(self):
        self.tree.add("r0", 1)
        flat = self.work / "flat"
        flat.mkdir()
        self.tree.image_path("r0", 1).rename(flat / "preproc-r0-00000001.fits")
        self.tree.psf_path("r0", 1).rename(flat / "psf-r0.fits")
        self.tree.root = flat
        self.night_ok("-q")
        self.assertEqual(list(self.outputs()), ["frame-r0-00000001.fits"])

    def test_expose_takes_one_exposure_only(self):
        self.tree.add_exposures(2)
        result = self.night_ok("-q", command="expose", code=2)
        self.assertIn("2 exposures", result.stderr_text)
        self.night_ok("-q", "-e", "2", command="expose")
        self.assertEqual(len(self.outputs()), 3)

    def test_a_job_file_says_it_all(self):
        self.tree.add_exposures(1)
        wave = "[" + GRID + "]"
        job = self.work / "job.toml"
        job.write_text(f"input = 'in'\noutput = 'out'\ncameras = ['r0']\n"
                       f"[options]\nbundlesize = 5\n[r]\nwave = {wave}\n")
        result = subprocess.run([PROGRAM, "night", job, "-q"], capture_output=True, text=True)
        if result.returncode == 15 and "toml++" in result.stderr:
            self.skipTest("built without toml++")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(list(self.outputs().values()), [self.extracted("r0", 1)])
        shouted = job.rename(self.work / "JOB.TOML")
        result = subprocess.run([PROGRAM, "night", shouted, "--dry-run"], capture_output=True, text=True)
        self.assertEqual((result.returncode, result.stdout.split()[0]), (0, "up-to-date"), result.stderr)

    def test_a_job_file_has_the_limits_of_the_command_line(self):
        self.tree.add("r0", 1)
        job = self.work / "job.toml"
        for value in ("1e-13", "1.5", "nan"):
            job.write_text(f"input = 'in'\noutput = 'out'\n[options]\ntolerance = {value}\n")
            result = subprocess.run([PROGRAM, "night", job, "-q"], capture_output=True, text=True)
            if result.returncode == 15 and "toml++" in result.stderr:
                self.skipTest("built without toml++")
            self.assertEqual(result.returncode, 2, result.stderr)
            self.assertIn("job.toml: tolerance ", result.stderr)
            self.assertIn("from 1e-12 to 1", result.stderr)
            self.assertIn("1e-12", self.night_ok("-q", "--tolerance", value, code=2).stderr_text)
        self.assertFalse(self.out.exists())


class Again(Case):
    def test_what_is_done_is_not_done_again(self):
        self.tree.add_exposures(2)
        self.assertEqual(self.counts(), {"done": 6})
        before = {p: p.stat().st_mtime_ns for p in self.out.rglob("frame-*.fits")}
        self.assertEqual(self.counts(), {"up_to_date": 6})
        self.assertEqual({p: p.stat().st_mtime_ns for p in before}, before)

    def test_a_changed_input_is_done_again_and_only_that(self):
        self.tree.add_exposures(2)
        self.counts()
        self.tree.add("r0", 2, image=self.tree.image_bytes(7))
        self.assertEqual(self.counts(), {"done": 1, "up_to_date": 5})

    def test_a_removed_or_damaged_output_is_done_again(self):
        self.tree.add_exposures(1)
        self.counts()
        good = self.outputs()
        self.frame_path("b0", 1).unlink()
        os.truncate(self.frame_path("r0", 1), 3000)
        self.assertEqual(self.counts(), {"done": 2, "up_to_date": 1})
        self.assertEqual(self.outputs(), good)

    def test_verify_finds_damage_that_stamps_do_not_show(self):
        self.tree.add_exposures(1)
        self.counts()
        path = self.frame_path("r0", 1)
        good, stat = path.read_bytes(), path.stat()
        path.write_bytes(good[:20000] + b"?" + good[20001:])
        os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))
        self.assertEqual(self.counts(), {"up_to_date": 3})
        self.assertEqual(self.counts("--verify"), {"done": 1, "up_to_date": 2})
        self.assertEqual(path.read_bytes(), good)

    def test_a_moved_output_folder_is_still_done(self):
        self.tree.add_exposures(1)
        self.counts()
        self.out = self.out.rename(self.work / "moved")
        self.assertEqual(self.counts(), {"up_to_date": 3})


class OtherOptions(Case):
    """A folder's frames are made with one set of options a band."""

    def setUp(self):
        super().setUp()
        self.tree.add_exposures(2)

    def refused(self, *more):
        """What a run with these options says; nothing is written."""
        before = {p: p.stat().st_mtime_ns for p in self.out.rglob("*") if p.is_file()}
        told = self.night_ok("-q", *more, code=2).stderr_text
        self.assertEqual({p: p.stat().st_mtime_ns for p in self.out.rglob("*") if p.is_file()}, before)
        self.assertEqual(len(told.splitlines()), 1, told)
        for word in (str(self.out), "-o", "--redo"):
            self.assertIn(word, told)
        return told

    def test_are_refused_by_name_and_the_same_go_on(self):
        self.counts("-e", "1")
        self.assertIn("--psferr 0.04", self.refused("-e", "2", "--psferr", "0.02"))
        self.assertIn("--ndiag 11 there, 9 here", self.refused("--ndiag", "9"))
        self.assertIn("--specmin and --nspec", self.refused("--specmin", "2", "--dry-run"))
        self.assertIn("--no-scores on there, off here", self.refused("--no-scores"))
        self.assertIn("--method exact there, patch here", self.refused("--method", "patch"))
        self.assertEqual(self.counts(), {"done": 3, "up_to_date": 3})

    def test_redo_makes_the_frames_again_and_tells_of_those_it_leaves(self):
        self.counts()
        told = self.night_ok("-e", "1", "--redo", "--psferr", "0.02").stderr_text
        self.assertIn("3 frames that this run leaves alone are made with other options", told)
        self.assertIn("--psferr", self.refused())
        self.assertEqual(self.counts("--psferr", "0.02"), {"done": 3, "up_to_date": 3})
        again, self.out = self.outputs(), self.work / "fresh"
        self.counts("--psferr", "0.02")
        self.assertEqual(self.outputs(), again)

    def test_a_folder_of_a_version_that_did_not_remember_is_judged_by_its_receipts(self):
        self.counts("-e", "1")
        shutil.rmtree(self.state("options"))
        self.refused("--psferr", "0.02")
        self.assertEqual(self.counts(), {"done": 3, "up_to_date": 3})
        self.assertEqual(self.names("options"), ["b.json", "r.json", "z.json"])

    def test_of_two_runs_at_once_one_is_refused(self):
        runs = [self.start("-q", "--psferr", error) for error in ("0.02", "0.03")]
        told = [finish(run, 60)[1] for run in runs]
        self.assertEqual(sorted(run.returncode for run in runs), [0, 2], told)
        self.assertEqual(len(self.outputs()), 6)

    def test_a_watch_is_refused_too(self):
        self.counts("-e", "1")
        self.assertIn("--psferr", self.refused_watch("--psferr", "0.02"))

    def refused_watch(self, *more):
        watch = ["--watch", "--poll", "0.05", "--settle", "0.1", "--watch-idle", "5"]
        return self.night_ok("-q", *watch, *more, code=2).stderr_text


class Names(Case):
    """A path may be any bytes."""

    def setUp(self):
        super().setUp()
        folder = self.work / os.fsdecode(b"n\xe9 'night' \xff")
        self.tree.root, self.out = folder / "in", folder / "out"
        self.tree.add_exposures(1)
        self.tree.add("r1", 1, image=b"no FITS file")

    def test_that_are_no_utf_8_work_and_are_known_again(self):
        summary = self.summary("--reports", code=3)
        self.assertEqual((summary["counts"]["done"], summary["counts"]["failed"]), (3, 1))
        again = {"up_to_date": 3, "failed": 1}
        self.assertEqual(self.counts("--reports", code=3), again)
        status = json.loads((self.out / "status.json").read_text(encoding="utf-8"))
        self.assertEqual(len(status["frames"]), 4)
        for page in self.out.rglob("*.html"):
            page.read_text(encoding="utf-8")
        for record in self.state().rglob("*.json"):
            json.loads(record.read_text(encoding="utf-8"))
        ledger = self.state("ledger.sqlite")
        if ledger.exists():
            with sqlite3.connect(ledger) as db:
                self.assertEqual(len(db.execute("SELECT * FROM frames").fetchall()), 4)
            self.night_ok("-q", "--rebuild-ledger")
        self.assertEqual(self.night_ok("--dry-run").returncode, 0)


class QualityOfFrames(Case):
    """Numbers and pages of the frames, made with them."""

    def setUp(self):
        super().setUp()
        self.tree.add_exposures(2, cameras=("b0", "r0"))

    def receipt(self, camera, exposure):
        return json.loads(self.state("receipts", f"{camera}-{exposure:08d}.json").read_text())

    def page_path(self, camera, exposure):
        return self.frame_path(camera, exposure).with_suffix(".html")

    def test_numbers_stand_in_receipt_summary_status_and_ledger(self):
        summary = self.summary()
        quality = self.receipt("r0", 1)["quality"]
        self.assertEqual(list(quality), ["snr", "chi2", "flagged", "resolution"])
        self.assertGreater(quality["snr"], 1)
        self.assertTrue(0.5 < quality["chi2"] < 2, quality)
        self.assertTrue(0 < quality["flagged"] < 0.1, quality)  # the camera's dead block
        self.assertTrue(1000 < quality["resolution"] < 5000, quality)
        frame = next(f for f in summary["frames"] if f["name"] == "r0-00000001")
        self.assertEqual(frame["quality"], quality)
        self.counts()  # up to date: the numbers come from the receipts
        status = json.loads((self.out / "status.json").read_text())
        for frame in status["frames"]:
            self.assertEqual(frame["quality"]["verdict"], "good", frame)
        ledger = self.state("ledger.sqlite")
        if ledger.exists():
            with sqlite3.connect(ledger) as db:
                self.assertEqual(db.execute("SELECT snr, chi2, flagged, resolution FROM frames WHERE name = "
                                            "'r0-00000001'").fetchone(), tuple(quality.values()))

    def test_limits_are_the_users(self):
        self.counts("--limit", "snr=1e6,1e5", "--limit", "flagged=0,0.9")
        status = json.loads((self.out / "status.json").read_text())
        self.assertEqual({f["quality"]["verdict"] for f in status["frames"]}, {"bad"})
        self.assertEqual(status["limits"]["snr"], [1e6, 1e5])
        for text in ("chi3=1,2", "chi2=1", "chi2=2,1", "snr=1,2", "chi2=1,x", "chi2"):
            self.assertIn(f"--limit {text}", self.night_ok("-q", "--limit", text, code=2).stderr_text)

    def test_a_page_is_made_with_its_frame_and_only_what_lacks_again(self):
        self.assertEqual(self.counts("--reports"), {"done": 4})
        page, frame = self.page_path("r0", 1), self.frame_path("r0", 1)
        made, page_made = frame.stat().st_mtime_ns, page.stat().st_mtime_ns
        alone = self.work / "alone.html"
        subprocess.run([PROGRAM, "report", frame, "--image", self.tree.image_path("r0", 1), "--bundlesize", "5",
                        "-o", alone], check=True)
        self.assertEqual(page.read_bytes(), alone.read_bytes())
        status = json.loads((self.out / "status.json").read_text())
        self.assertEqual({f["report"] for f in status["frames"]},
                         {f"{NIGHT}/0000000{e}/frame-{c}0-0000000{e}.html" for e in (1, 2) for c in "br"})

        self.page_path("b0", 2).unlink()
        self.assertEqual(self.counts("--reports"), {"up_to_date": 4})
        self.assertTrue(self.page_path("b0", 2).exists())
        self.assertEqual((frame.stat().st_mtime_ns, page.stat().st_mtime_ns), (made, page_made))
        self.assert_tidy()

    def test_pages_may_be_asked_for_later_and_one_that_cannot_be_made_is_a_warning(self):
        self.counts()
        made = self.frame_path("r0", 1).stat().st_mtime_ns
        self.page_path("r0", 2).mkdir()
        result = self.night_ok("--reports")
        self.assertIn("r0-00000002: no report: ", result.stderr_text)
        self.assertTrue(self.page_path("r0", 1).exists())
        self.assertEqual(self.frame_path("r0", 1).stat().st_mtime_ns, made)
        self.page_path("r0", 2).rmdir()
        self.assertEqual(self.counts("--reports"), {"up_to_date": 4})
        self.assertTrue(self.page_path("r0", 2).is_file())

    def test_receipts_and_ledger_of_before_are_read(self):
        self.counts()
        for path in self.state("receipts").iterdir():
            record = json.loads(path.read_text())
            del record["quality"]
            path.write_text(json.dumps(record, indent=1))
        ledger = self.state("ledger.sqlite")
        if ledger.exists():
            with sqlite3.connect(ledger) as db:
                for column in ("snr", "chi2", "flagged", "resolution", "report"):
                    db.execute(f"ALTER TABLE frames DROP COLUMN {column}")
        self.tree.add("z0", 1)
        self.assertEqual(self.counts(), {"done": 1, "up_to_date": 4})
        if ledger.exists():
            with sqlite3.connect(ledger) as db:
                self.assertEqual(db.execute("SELECT COUNT(*), COUNT(snr) FROM frames").fetchone(), (5, 1))


class Told(Case):
    def test_a_dry_run_lists_and_writes_nothing(self):
        self.tree.add_exposures(2)
        self.night_ok("-q", "-e", "1")
        self.tree.psf_path("b0", 2).unlink()
        self.tree.image_path("z0", 2).unlink()
        before = sorted(map(str, self.out.rglob("*")))
        lines = self.night_ok("--dry-run", code=3).stdout_text.splitlines()
        states = [line.split()[0] for line in lines[:5]]
        self.assertEqual(sorted(states), ["missing", "to", "up-to-date", "up-to-date",
                                          "up-to-date"])
        self.assertIn("exposure 2 has no image of z0", "\n".join(lines))
        self.assertIn("5 frames: 1 missing, 1 to do, 3 up-to-date", lines)
        self.assertIn("core-s", lines[-1])
        self.assertEqual(sorted(map(str, self.out.rglob("*"))), before)

    def test_json_trace_and_status_tell_the_same(self):
        self.tree.add_exposures(1)
        trace = self.work / "trace.json"
        summary = self.summary("--trace", trace, "--threads", "2")
        self.assertEqual(summary["counts"]["done"], 3)
        for frame in summary["frames"]:
            self.assertEqual(frame["state"], "done")
            self.assertEqual(set(frame["seconds"]), {"read", "compute", "write"})
            self.assertGreater(frame["bytes_out"], 0)
        events = json.loads(trace.read_text())["traceEvents"]
        names = {e["name"] for e in events}
        self.assertLessEqual({"frame/read", "frame/compute", "frame/write", "wait/compute",
                              "wait/write", "wait/memory", "thread_name"}, names)
        of_frame = [e for e in events if e.get("args", {}).get("what") == "r0-00000001"]
        self.assertGreaterEqual(len(of_frame), 6)
        status = json.loads((self.out / "status.json").read_text())
        self.assertTrue(status["finished"])
        self.assertEqual({f["state"] for f in status["frames"]}, {"done"})
        self.assertIn("<html", (self.out / "status.html").read_text())

    def test_nothing_to_do_anywhere_is_an_error(self):
        (self.work / "in").mkdir()
        result = self.night_ok(code=10)
        self.assertIn("no frames", result.stderr_text)
        self.assertFalse(self.out.exists())

    def test_a_job_file_that_leaves_no_frame_is_named(self):
        job = self.work / "job.toml"
        job.write_text("output = 'out'\ncameras = ['b9']\n[[frame]]\nimage = 'i.fits'\npsf = 'p.fits'\n"
                       "camera = 'r0'\nexpid = 1\n")
        result = subprocess.run([PROGRAM, "night", job, "-q"], capture_output=True, text=True)
        if result.returncode == 15 and "toml++" in result.stderr:
            self.skipTest("built without toml++")
        self.assertEqual(result.returncode, 10, result.stderr)
        self.assertIn(f"{job}: no frames", result.stderr)


class TheLedger(Case):
    def setUp(self):
        super().setUp()
        self.tree.add_exposures(1)
        self.ledger = self.state("ledger.sqlite")

    def rows(self):
        with sqlite3.connect(self.ledger) as db:
            return db.execute("SELECT name, state, exit_code, size FROM frames ORDER BY name"
                              ).fetchall()

    def run_or_skip(self):
        result = self.night("-q")
        if "no SQLite" in result.stderr_text:
            self.skipTest("built without SQLite")
        return result

    def test_holds_every_frame(self):
        self.tree.add("r1", 1, image=b"no FITS file")
        result = self.run_or_skip()
        self.assertEqual(result.returncode, 3)
        size = self.frame_path("r0", 1).stat().st_size
        self.assertEqual(self.rows(), [("b0-00000001", "done", 0, size),
                                       ("r0-00000001", "done", 0, size),
                                       ("r1-00000001", "failed", 14, 0),
                                       ("z0-00000001", "done", 0, size)])

    def test_is_rebuilt_from_the_files(self):
        self.tree.add("r1", 1, image=b"no FITS file")
        self.run_or_skip()
        rows = self.rows()
        self.ledger.write_bytes(b"rubbish" * 1000)
        self.night_ok("-q", "--rebuild-ledger")
        self.assertEqual(self.rows(), rows)

    def check_run_goes_on(self):
        result = self.run_or_skip()
        self.assertEqual(result.returncode, 0, result.stderr_text)
        self.assertEqual(len(self.outputs()), 3)
        self.assertIn("WARNING", result.stderr_text)
        self.assertIn("ledger", result.stderr_text)

    def test_a_corrupt_one_is_a_warning(self):
        self.state().mkdir(parents=True)
        self.ledger.write_bytes(b"rubbish" * 1000)
        self.check_run_goes_on()

    def test_a_locked_one_is_a_warning(self):
        self.state().mkdir(parents=True)
        db = sqlite3.connect(self.ledger, isolation_level=None)
        db.execute("CREATE TABLE other(x)")
        db.execute("BEGIN EXCLUSIVE")
        try:
            self.check_run_goes_on()
        finally:
            db.close()

    def test_one_that_cannot_be_written_is_a_warning(self):
        self.ledger.mkdir(parents=True)  # root may write everywhere, but not into a folder
        self.check_run_goes_on()


if __name__ == "__main__":
    unittest.main()
