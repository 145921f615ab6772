# SPDX-License-Identifier: BSD-3-Clause
"""No output over an input or another output, whatever the files are called; folders are made; what the dead left goes."""
import ctypes
import gzip
import os
import pathlib
import shutil
import struct
import subprocess
import time
import unittest

import small_spectra
from run_fiberloom import PROGRAM, Case
from small_camera import GRID


class Over(Case):
    def setUp(self):
        super().setUp()
        self.before = {p: p.read_bytes() for p in self.inputs.iterdir()}

    def tearDown(self):
        for path, data in self.before.items():
            self.assertEqual(path.read_bytes(), data, f"{path} was changed")

    def refused(self, result, *words):
        self.assertEqual(result.returncode, 2, result.stderr)
        self.assertEqual(len(result.stderr.splitlines()), 1, result.stderr)
        for word in words:
            self.assertIn(str(word), result.stderr)

    def names_of(self, path):
        """Other names of one file."""
        folder = self.out / "names"
        folder.mkdir(exist_ok=True)
        (folder / "link").symlink_to(path)
        (folder / "chain").symlink_to("link")
        os.link(path, folder / "hard")
        self.addCleanup(shutil.rmtree, folder)
        return [path, f"{path.parent}/./{path.name}", f"{path.parent}/../{path.parent.name}/{path.name}",
                os.path.relpath(path), folder / "link", folder / "chain", folder / "hard"]

    def test_every_output_of_extract_against_every_input(self):
        for given in (self.image, self.psf):
            for name in self.names_of(given):
                for option in ("-o", "-m", "--residual", "--json", "--trace"):
                    with self.subTest(option=option, name=name):
                        arguments = self.command("--quiet", option, name)  # the last -o wins
                        self.refused(self.program(*arguments), name, "is an input")
                        self.assertFalse(self.frame.exists())
            self.doCleanups()
            self.setUp()

    def test_the_fibermap_is_an_input_too(self):
        fibermap = self.put("map.fits", self.camera.preproc_bytes())
        self.before[fibermap] = fibermap.read_bytes()
        self.refused(self.extract("-f", fibermap, "--json", fibermap), fibermap, "is an input")

    def test_an_input_that_is_read_under_another_name(self):
        packed = self.put("packed.fits.gz", gzip.compress(self.image.read_bytes(), mtime=0))
        self.before[packed] = packed.read_bytes()
        self.refused(self.extract(image=self.inputs / "packed.fits", output=packed), packed, "is an input")

    def test_two_outputs_that_are_one_file_which_is_not_there_yet(self):
        here = os.path.relpath(self.out)
        (self.out / "later").symlink_to("o1.fits")
        for first, second in ((self.out / "o1.fits", f"{here}/./o1.fits"), (self.out / "o1.fits", self.out / "later"),
                              (self.out / "o1.fits", self.out / "none" / ".." / "o1.fits"),
                              (self.out / "new" / "o1.fits", f"{here}/new/../new/o1.fits")):
            for option in ("-m", "--residual", "--json", "--trace"):
                with self.subTest(first=first, second=second, option=option):
                    self.refused(self.extract(option, second, output=first), "two different outputs")
        self.assertEqual(self.files(), ["later"])

    def test_devices_may_be_named_twice(self):
        self.extract_ok("--json", "/dev/null", "--trace", "/dev/null")

    def test_the_page_against_all_that_it_is_made_of(self):
        model, summary = self.out / "model.fits", self.out / "summary.json"
        self.extract_ok("-m", model, "--json", summary)
        for path in (self.frame, model, summary, self.image):  # the image is named by the summary alone
            before = path.read_bytes()
            self.refused(self.program("report", self.frame, "--summary", summary, "-o", path), path, "is an input")
            self.assertEqual(path.read_bytes(), before)

    def test_a_simulated_psf_does_not_replace_the_one_that_it_is_made_from(self):
        psf = self.out / "psf-r0.fits"
        psf.write_bytes(self.psf.read_bytes())
        self.refused(self.program("simulate", "-o", self.out, "--psf", psf), psf, "is an input")
        self.assertEqual(psf.read_bytes(), self.psf.read_bytes())
        self.refused(self.program("simulate", "-o", self.out / "a", "--cameras", "r0,r0"), "two different outputs")

    def test_no_simulated_file_is_written_beside_one_that_is_to_stay(self):
        for kind, name, more in (("camera", "truth-r0-00000002.fits", ["--exposures", "2"]),
                                 ("night", "truth/truth-r0-00000001.fits", ["--night", "--lamps", "1", "--tiles", "0"])):
            folder = self.out / kind
            kept = folder / name
            kept.parent.mkdir(parents=True)
            kept.write_bytes(b"mine")
            result = self.program("simulate", "-q", "-o", folder, "--nspec", "1", "--no-clobber", *more)
            self.assertEqual((result.returncode, len(result.stderr.splitlines())), (32, 1), result.stderr)
            self.assertIn(str(kept), result.stderr)
            self.assertEqual([p for p in folder.rglob("*") if p.is_file()], [kept])
            shutil.rmtree(folder)

    def test_no_fibres_are_simulated_that_the_psf_does_not_have(self):
        for fibres, psf in ((501, []), (26, ["--psf", self.psf])):
            result = self.program("simulate", "-q", "-o", self.out / "none", "--nspec", fibres, *psf)
            self.assertEqual((result.returncode, len(result.stderr.splitlines())), (22, 1), result.stderr)
            self.assertIn(f"--nspec {fibres} asks for more", result.stderr)
            self.assertFalse((self.out / "none").exists())

    @staticmethod
    def line(*paths):
        return " ".join(f'"{path}"' for path in paths) + "\n"

    def night(self, *more, source=None, out=None):
        return self.program("night", source or self.inputs, "-o", out or self.out / "run", "-w", GRID, "--bundlesize", "5", *more)

    def test_a_night_against_its_frames_lists_and_own_files(self):
        run = self.out / "run"
        listed = self.put("frames.txt", self.line(self.image, self.psf, self.out / "named.fits").encode())
        self.before[listed] = listed.read_bytes()
        for option in ("--json", "--trace"):
            for path in (self.image, self.psf, listed, self.out / "named.fits", run / "status.json", run / "status.html"):
                with self.subTest(option=option, path=path):
                    self.refused(self.night(option, path, source=listed), path)
            self.refused(self.night(option, run / ".fiberloom" / "receipts" / "x.json"), "run's own files")
            self.refused(self.night(option, run / "frame-r0-00000011.fits"), "two different outputs")
        self.refused(self.night("--json", self.out / "a", "--trace", f"{self.out}/./a"), "two different outputs")
        self.assertFalse(run.exists())

    def test_a_list_that_a_job_file_names_is_an_input_too(self):
        listed = self.put("named.txt", self.line(self.image, self.psf, self.out / "named.fits").encode())
        job = self.put("job.toml", f'input = "named.txt"\noutput = "{self.out}/run"\n'.encode())
        self.before.update({path: path.read_bytes() for path in (listed, job)})
        for option in ("--json", "--trace"):
            for path in (job, listed, self.image):
                self.refused(self.program("night", job, "-w", GRID, "--bundlesize", "5", option, path), path, "is an input")
        self.assertEqual(self.files(), [])

    def test_what_the_steps_of_a_night_read_and_its_catalogue(self):
        folder = self.out / "in"
        for name in ("filters/r.ecsv", "flats/fiberflatnight-r0-20261121.fits", "stars/stdstars-0-00000011.fits"):
            (folder / name).parent.mkdir(parents=True)
            (folder / name).write_bytes(b"x")
        image = folder / self.image.name
        image.write_bytes(self.camera.preproc_bytes())
        (folder / self.psf.name).write_bytes(self.psf.read_bytes())
        catalogue = self.out / "mine.sqlite"
        catalogue.write_bytes(b"")
        before = {path: path.read_bytes() for path in self.out.rglob("*") if path.is_file()}
        for path in before:
            if path.suffix == ".ecsv":
                continue  # read by fits of stars, which --stdstars takes the place of
            self.refused(self.night("--until", "catalogue", "--fiberflats", folder / "flats", "--stdstars", folder / "stars",
                                    "--catalogue", catalogue, "--json", path, source=folder), path, "is an input")
        self.assertEqual({path: path.read_bytes() for path in self.out.rglob("*") if path.is_file()}, before)
        for name in ("catalogue.sqlite", "catalogue.sqlite-wal"):
            self.refused(self.night("--until", "catalogue", "--fiberflats", folder / "flats", "--stdstars", folder / "stars",
                                    "--json", self.out / "run" / name, source=folder), name, "is an input")
        self.assertFalse((self.out / "run").exists())

    def test_simulated_targets_do_not_replace_what_they_are_drawn_from(self):
        templates = self.out / "truth-0000.fits"
        templates.write_bytes(small_spectra.template_bytes("GALAXY"))
        before = templates.read_bytes()
        for more in (("--targets", "2"), ("--night", "--nspec", "2")):
            folder = self.out if "--targets" in more else self.out / "n"
            if folder != self.out:
                (folder / "20200101").mkdir(parents=True)
                templates = folder / "20200101" / "psf-r0.fits"
                templates.write_bytes(before)
            self.refused(self.program("simulate", "-q", "-o", folder, *more, "-t", templates), templates, "is an input")
            self.assertEqual(templates.read_bytes(), before)

    def test_a_list_that_names_an_input_as_output(self):
        listed = self.put("over.txt", self.line(self.image, self.psf, self.psf).encode())
        self.before[listed] = listed.read_bytes()
        self.refused(self.night(source=listed), self.psf, "is an input")

    def test_two_frames_with_one_output(self):
        other = self.put("preproc-r0-00000012.fits", self.image.read_bytes())
        listed = self.put("twice.txt", "".join(self.line(i, self.psf, self.out / "one.fits") for i in (self.image, other)).encode())
        self.addCleanup(other.unlink)
        self.refused(self.night(source=listed), "two different outputs")

    def test_a_list_called_as_the_status_of_its_run(self):
        listed = self.out / "status.json"
        listed.write_text(self.line(self.image, self.psf))
        self.refused(self.night(source=listed, out=self.out), "is an input")
        self.assertIn(str(self.image), listed.read_text())


class Folders(Case):
    def test_the_folder_of_each_output_is_made(self):
        out = self.out / "a"
        self.extract_ok("-m", out / "m" / "model.fits", "--json", out / "j" / "x.json", "--trace", out / "t" / "x.json",
                        output=out / "b" / "frame.fits")
        for path in ("b/frame.fits", "m/model.fits", "j/x.json", "t/x.json"):
            self.assertTrue((out / path).is_file(), path)
        self.assertEqual(self.program("report", out / "b" / "frame.fits", "-o", out / "r" / "page.html").returncode, 0)
        self.assertTrue((out / "r" / "page.html").is_file())

    def test_none_is_made_when_the_run_fails(self):
        self.assert_fails(self.extract("--quiet", image=self.inputs / "none.fits", output=self.out / "a" / "frame.fits"), 10)

    def test_a_file_where_a_folder_should_be(self):
        (self.out / "file").write_text("")
        for option in ("-o", "--json"):
            result = self.extract("--quiet", option, self.out / "file" / "x.fits")
            self.assertEqual(result.returncode, 30, result.stderr)
            self.assertIn("file is no folder", result.stderr)

    def test_a_name_that_only_a_folder_can_have(self):
        for option in ("-o", "-m", "--json", "--trace"):
            result = self.extract("--quiet", option, f"{self.out}/new/")
            self.assertEqual((result.returncode, len(result.stderr.splitlines())), (30, 1), result.stderr)
            self.assertIn("is the name of a directory", result.stderr)
            self.assertFalse((self.out / "new").exists() or self.frame.exists())

    def test_a_link_is_written_through(self):
        (self.out / "far").mkdir()
        self.frame.symlink_to("far/real.fits")
        for _ in range(2):  # there is no such file at first, then there is
            self.extract_ok()
            self.assertTrue(self.frame.is_symlink())
            self.assertEqual((self.out / "far" / "real.fits").read_bytes()[:6], b"SIMPLE")

    def test_standard_output_by_a_link_as_dev_stdout_is_one(self):
        link = self.out / "stdout"  # not the one in /dev: a program that replaces it would hurt the machine
        link.symlink_to("/proc/self/fd/1")
        command = [PROGRAM, *map(str, self.command("--quiet", "--json", link))]
        with open(self.out / "x.json", "wb") as out:
            self.assertEqual(subprocess.run(command, stdout=out).returncode, 0)
        piped = subprocess.run(command, stdout=subprocess.PIPE, text=True)
        for text in ((self.out / "x.json").read_text(), piped.stdout):
            self.assertIn('"fiberloom extract"', text)
        self.assertTrue(link.is_symlink())


class Looks:
    """Counts who reads the list of a folder's files, as the kernel tells it (inotify)."""

    ACCESS, CLOSE = 0x1, 0x10  # IN_ACCESS, IN_CLOSE_NOWRITE: equal events in a row are told once

    def __init__(self, folder):
        self.folder = os.fsencode(folder)

    def __enter__(self):
        libc = ctypes.CDLL(None, use_errno=True)
        self.events = libc.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
        if libc.inotify_add_watch(self.events, self.folder, self.ACCESS | self.CLOSE) < 0:
            raise unittest.SkipTest("no inotify here")
        return self

    def __exit__(self, *_):
        try:
            self.told = os.read(self.events, 1 << 20)
        except BlockingIOError:
            self.told = b""
        os.close(self.events)

    def count(self):
        count = at = 0
        while at < len(self.told):
            _, mask, _, size = struct.unpack_from("iIII", self.told, at)
            count += size == 0 and mask & self.ACCESS != 0  # of the folder itself, no file in it
            at += 16 + size
        return count


class Left(Case):
    """Temporaries of processes that were killed."""

    def temporary(self, pid, start, machine):
        path = self.out / f"{self.frame.name}.tmp-{pid}-{start}-{machine}-0"
        path.write_bytes(b"half")
        return path

    def test_the_next_run_removes_what_the_dead_left_and_nothing_else(self):
        machine, start = self.machine(), pathlib.Path("/proc/self/stat").read_text().rsplit(")", 1)[1].split()[19]
        dead = subprocess.Popen(["true"])
        dead.wait()
        gone = [self.temporary(dead.pid, 4711, machine), self.temporary(os.getpid(), int(start) + 1, machine)]
        stays = [self.temporary(os.getpid(), start, machine),  # alive
                 self.temporary(dead.pid, 4711, "0123456789abcdef"),  # of another machine
                 self.out / f"{self.frame.name}.tmp-{dead.pid}-0", self.out / f"other.fits.tmp-{dead.pid}-4711-{machine}-0"]
        for path in stays[2:]:
            path.write_bytes(b"half")
        self.extract_ok()
        self.assertEqual([p for p in gone if p.exists()], [])
        self.assertEqual([p for p in stays if not p.exists()], [])

    def test_each_folder_is_looked_through_once_for_results_and_once_for_texts(self):
        texts = ("--json", self.out / "s.json", "--trace", self.out / "t.json")
        with Looks(self.out) as looks:
            self.extract_ok("-m", self.out / "m.fits", "--residual", self.out / "r.fits", *texts)
        self.assertEqual(looks.count(), 2)
        spectra, templates = self.out / "in" / "coadd.fits", self.out / "in" / "templates"
        spectra.parent.mkdir()
        small_spectra.write_templates(templates)
        spectra.write_bytes(small_spectra.Targets([("GALAXY", 0.03)]).coadd())
        with Looks(self.out) as looks:
            done = self.program("redshift", "-q", "-i", spectra, "-t", templates, "-o", self.out / "z.fits",
                                "--model", self.out / "m.fits", *texts)
        self.assertEqual((done.returncode, looks.count()), (0, 2), done.stderr)

    def machine(self):
        """The name's part that tells the machine: FNV-1a of boot and process-id namespace."""
        text = pathlib.Path("/proc/sys/kernel/random/boot_id").read_text().strip() + " " + os.readlink("/proc/self/ns/pid")
        tag = 0xcbf29ce484222325
        for byte in text.encode():
            tag = (tag ^ byte) * 0x100000001b3 % 2 ** 64
        return f"{tag:016x}"

    def test_sigkill_at_any_moment_leaves_nothing_that_stays(self):
        start = time.monotonic()
        self.extract_ok("-m", self.out / "model.fits")
        took = time.monotonic() - start
        for k in range(12):
            process = subprocess.Popen([PROGRAM, *map(str, self.command("--quiet", "-m", self.out / "model.fits"))])
            time.sleep(took * (k + 0.5) / 12)
            process.kill()
            process.wait()
        self.extract_ok("-m", self.out / "model.fits")
        self.assertEqual(self.files(), [self.frame.name, "model.fits"])


if __name__ == "__main__":
    unittest.main()
