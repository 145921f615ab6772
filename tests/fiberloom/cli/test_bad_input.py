# SPDX-License-Identifier: BSD-3-Clause
"""Each bad input: its exit code, one line that names file and keyword, no partial file."""
import gzip
import os
import subprocess
import unittest

import tiny_fits as fits
from power import give_up_power
from run_fiberloom import PROGRAM, Case
from small_camera import NX, NY, psf_bytes


class BadInput(Case):
    def refused(self, code, *words, more=(), **files):
        self.assert_fails(self.extract("--quiet", *more, **files), code, *words)

    def test_missing_image(self):
        self.refused(10, "nowhere.fits", image=self.inputs / "nowhere.fits")

    def test_missing_psf(self):
        self.refused(10, "nopsf.fits", psf=self.inputs / "nopsf.fits")

    def test_image_is_a_folder(self):
        self.refused(10, self.inputs, image=self.inputs)

    def test_a_pipe_is_refused_wherever_a_file_is_read(self):
        pipe, job = self.inputs / "pipe.fits", self.inputs / "pipe.toml"
        for path in (pipe, job):
            os.mkfifo(path)
            self.addCleanup(path.unlink)
        said = (pipe, "is a pipe, expected a regular file")
        self.refused(10, *said, image=pipe)
        self.refused(10, *said, psf=pipe)
        self.refused(10, *said, more=["-f", pipe])
        for command in (["info", pipe], ["compare", pipe, self.image],
                        ["report", pipe, "-o", self.out / "r.html"],
                        ["night", pipe, "-o", self.out / "night"],
                        ["simulate", "-o", self.out, "--psf", pipe]):
            self.assert_fails(self.program(*command, timeout=20), 10, *said)
        self.assert_fails(self.program("night", job, "-o", self.out / "night", timeout=20), 10, job)

    def signed_image(self):
        """The image file with DATASUM in its first HDU, and where that one's data begin."""
        whole = self.image.read_bytes()
        rest = next(at for at in range(fits.BLOCK, len(whole), fits.BLOCK) if whole[at:at + 8] == b"XTENSION")
        first = fits.signed(whole[:rest])
        start = len(first) - (-(-(NY * NX * 4) // fits.BLOCK) * fits.BLOCK)
        return bytearray(first + whole[rest:]), start

    def test_checksums_of_inputs_are_compared(self):
        data, start = self.signed_image()
        good = self.put("signed.fits", data)
        self.extract_ok(image=good)
        self.frame.unlink()
        data[start + NX * 4 * (NY // 2) + 3] ^= 1
        bad = self.put("flipped.fits", data)
        said = ("flipped.fits", "HDU 0 'IMAGE'", "DATASUM is ", "but the data sum to ")
        self.refused(14, *said, image=bad)
        self.extract_ok("--no-verify", image=bad)
        listed = self.program("info", bad, good)
        self.assertEqual(listed.returncode, 14)
        self.assertIn("DAMAGED", listed.stdout)
        self.assertIn("do not match", listed.stdout)
        self.assertIn("all good", listed.stdout)
        self.assertIn("DATASUM is ", listed.stderr)

    def test_a_damaged_hdu_that_nobody_reads_is_said_by_info(self):
        self.extract_ok()
        frame = self.put("good-frame.fits", self.frame.read_bytes())
        self.frame.unlink()
        data = bytearray(frame.read_bytes())
        data[-1] ^= 1  # SCORES
        odd = self.put("odd.fits", data)
        self.assert_fails(self.program("info", odd), 14, "odd.fits", "'SCORES'", "DATASUM")
        self.assertEqual(self.program("info", "--no-verify", odd).returncode, 0)
        self.assertEqual(self.program("compare", odd, frame).returncode, 0)
        data[-1] ^= 1
        data[fits.by_name(frame)["FLUX"].start] ^= 1  # what compare reads
        self.assert_fails(self.program("compare", self.put("odd.fits", data), frame), 14, "odd.fits", "DATASUM")

    def test_devices_and_sockets_are_no_inputs(self):
        self.refused(10, "/dev/zero", "is a device", image="/dev/zero")

    def test_missing_fibermap_file(self):
        self.refused(10, "nomap.fits", more=["-f", self.inputs / "nomap.fits"])

    def test_missing_ivar(self):
        path = self.put("noivar.fits", self.camera.preproc_bytes(drop=("IVAR", "MASK", "FIBERMAP")))
        self.refused(11, "noivar.fits", "IVAR", image=path)

    def test_psf_without_ytrace(self):
        path = self.put("psf-noy.fits", psf_bytes(drop=("YTRACE",)))
        self.refused(11, "psf-noy.fits", "YTRACE", psf=path)

    def test_an_image_in_the_place_of_a_psf(self):
        path = self.put("in-place.fits", self.camera.preproc_bytes())
        self.refused(12, "in-place.fits", "is no PSF", "'preproc image'", psf=path)
        self.refused(12, "in-place.fits", "is no PSF", "'preproc image'",
                     psf=self.put("in-place.fits", self.camera.preproc_bytes(drop=("FIBERMAP",))))

    def test_psf_without_a_keyword(self):
        path = self.put("psf-nokey.fits", psf_bytes(drop=("NPIX_X",)))
        self.refused(12, "psf-nokey.fits", "NPIX_X", psf=path)

    def test_image_of_one_dimension(self):
        data = fits.image("IMAGE", -32, (50,), [0.0] * 50, first=True)
        data += fits.image("IVAR", -32, (50,), [1.0] * 50)
        self.refused(13, "flat.fits", "IMAGE", image=self.put("flat.fits", data))

    def test_ivar_of_another_size(self):
        path = self.put("ivarsize.fits", self.camera.preproc_bytes(ivar_shape=(NY - 1, NX)))
        self.refused(21, "ivarsize.fits", "IVAR", image=path)

    def test_image_and_psf_of_different_size(self):
        path = self.put("narrow.fits", self.camera.preproc_bytes(nx=NX - 10))
        self.refused(21, "narrow.fits", self.psf, NX - 10, NX, image=path)

    def test_truncated_image(self):
        path = self.put("short.fits", self.image.read_bytes()[:40000])
        self.refused(14, "short.fits", image=path)

    def test_truncated_gzip(self):
        data = gzip.compress(self.image.read_bytes(), mtime=0)
        path = self.put("short2.fits.gz", data[:len(data) // 2])
        self.refused(14, "short2.fits.gz", image=path)

    def test_corrupted_gzip(self):
        data = bytearray(gzip.compress(self.image.read_bytes(), mtime=0))
        data[len(data) // 2] ^= 0xFF
        self.refused(14, "bad.fits.gz", image=self.put("bad.fits.gz", bytes(data)))

    def test_not_a_fits_file(self):
        path = self.put("text.fits", b"this is no FITS file\n" * 300)
        self.refused(14, "text.fits", image=path)

    def test_empty_file(self):
        self.refused(14, "empty.fits", image=self.put("empty.fits", b""))

    def test_truncated_psf(self):
        path = self.put("psf-short.fits", self.psf.read_bytes()[:-5760])
        self.refused(14, "psf-short.fits", psf=path)

    def test_psf_of_another_kind(self):
        path = self.put("psf-spot.fits", psf_bytes(psftype="ELLIPSES"))
        self.refused(15, "psf-spot.fits", "PSFTYPE", "ELLIPSES", psf=path)

    def test_grid_that_the_psf_does_not_cover(self):
        self.refused(20, self.psf, wave="7000,7100,0.8")

    def test_specmin_out_of_range(self):
        self.refused(22, self.psf, more=["-s", "10", "-n", "1"])
        self.refused(22, self.psf, more=["-s", "-1"])

    def test_too_many_fibres(self):
        self.refused(22, self.psf, more=["-n", "11"])

    def test_fibermap_that_is_too_short(self):
        path = self.put("shortmap.fits", self.camera.preproc_bytes(fibermap_rows=4))
        self.refused(22, "shortmap.fits", "FIBERMAP", image=path)


class BadOutput(Case):
    def test_folder_that_cannot_be_made(self):
        self.assert_fails(self.extract("--quiet", output=self.psf / "no" / "frame.fits"), 30, "no/frame.fits",
                          f"{self.psf} is no folder")

    def test_folder_that_may_not_be_written(self):
        os.chmod(self.out, 0o500)
        try:
            if subprocess.run(["touch", self.frame], capture_output=True, preexec_fn=give_up_power).returncode == 0:
                self.skipTest("whoever runs this writes without permission, and cannot give that up")
            self.assert_fails(self.extract("--quiet", powerless=True), 30, self.frame)
        finally:
            os.chmod(self.out, 0o700)

    def test_device_is_never_replaced(self):
        result = self.extract("--quiet", output="/dev/null")
        self.assert_fails(result, 30, "/dev/null")
        self.assertFalse(os.path.isfile("/dev/null"))

    def test_full_disk_leaves_no_partial_file(self):
        self.assert_fails(self.extract("--quiet", file_limit=20000), 31, self.frame)

    def test_full_disk_leaves_an_existing_file_alone(self):
        self.frame.write_bytes(b"old")
        result = self.extract("--quiet", file_limit=20000)
        self.assertEqual(result.returncode, 31, result.stderr)
        self.assertEqual(self.files(), [self.frame.name])
        self.assertEqual(self.frame.read_bytes(), b"old")

    def test_real_full_disk(self):
        mount = ["unshare", "-rm", "sh", "-c",
                 'mount -t tmpfs -o size=64k none "$1" && shift && "$@"; r=$?; ls -A "$0"; exit $r']
        probe = subprocess.run([*mount[:4], 'mount -t tmpfs none "$0"', self.out],
                               capture_output=True)
        if probe.returncode != 0:
            self.skipTest("no private mounts here")
        command = [PROGRAM, *map(str, self.command("--quiet"))]
        result = subprocess.run([*mount, str(self.out), str(self.out), *command],
                                capture_output=True, text=True)
        self.assertEqual(result.returncode, 31, result.stderr)
        self.assertEqual(result.stdout, "", "files were left")

    def test_no_clobber_refuses(self):
        self.frame.write_bytes(b"old")
        result = self.extract("--quiet", "--no-clobber")
        self.assertEqual(result.returncode, 32, result.stderr)
        self.assertEqual(len(result.stderr.splitlines()), 1)
        self.assertEqual(self.frame.read_bytes(), b"old")
        self.assertEqual(self.files(), [self.frame.name])

    def test_an_output_that_is_an_input(self):
        before = self.image.read_bytes()
        self.assert_fails(self.extract("--quiet", output=self.image), 2, self.image)
        self.assertEqual(self.image.read_bytes(), before)

    def test_failure_leaves_an_existing_frame_alone(self):
        self.frame.write_bytes(b"old")
        result = self.extract("--quiet", image=self.inputs / "nowhere.fits")
        self.assertEqual(result.returncode, 10)
        self.assertEqual(self.frame.read_bytes(), b"old")

    def test_failure_of_the_frame_takes_a_new_model_away(self):
        model = self.out / "model.fits"
        size = 2880 * 40  # holds the model image, not the frame
        result = self.extract("--quiet", "-m", model, "--ndiag", "51", file_limit=size)
        self.assert_fails(result, 31, self.frame)

    def test_a_disk_that_fills_leaves_an_old_model_beside_its_old_frame(self):
        """The model would be of another run than the frame."""
        outputs = {name: self.out / f"{name}.fits" for name in ("model", "residual", "pixmask", "shifted-psf")}
        for path in (self.frame, *outputs.values()):
            path.write_bytes(b"old")
        more = [word for name in ("model", "residual") for word in (f"--{name}", outputs[name])]
        result = self.extract("--quiet", *more, "--ndiag", "51", file_limit=2880 * 40)
        self.assertEqual((result.returncode, len(result.stderr.splitlines())), (31, 1), result.stderr)
        self.assertEqual({path.read_bytes() for path in (self.frame, *outputs.values())}, {b"old"})
        self.assertEqual(len(self.files()), 1 + len(outputs))

    def test_a_disk_that_fills_leaves_an_old_camera_as_it_was(self):
        names = ("psf-r0.fits", "preproc-r0-00000001.fits", "truth-r0-00000001.fits")
        for old in (False, True):
            for name in names if old else ():
                (self.out / name).write_bytes(b"old")
            result = self.program("simulate", "-o", self.out, "--nspec", 5, "--quiet", file_limit=2_000_000)
            self.assertEqual((result.returncode, len(result.stderr.splitlines())), (31, 1), result.stderr)
            self.assertEqual(self.files(), sorted(names) if old else [])
        self.assertEqual({(self.out / name).read_bytes() for name in names}, {b"old"})

    def test_a_folder_that_was_made_for_nothing_goes_again(self):
        frame = self.out / "new" / "folder" / "frame.fits"
        result = self.extract("--quiet", "-m", self.out / "other" / "model.fits", output=frame, file_limit=20000)
        self.assert_fails(result, 31, "model.fits")
        self.assertEqual(self.files(), [])

    def test_json_and_trace_are_checked_first(self):
        for option in ("--json", "--trace"):
            result = self.extract("--quiet", option, self.psf / "no" / "x.json")
            self.assert_fails(result, 30, "x.json")


class BadCommandLine(Case):
    def usage(self, *arguments, words=()):
        result = self.program(*arguments)
        self.assert_fails(result, 2, "--help", *words)

    def test_nothing(self):
        self.usage(words=["extract", "night"])

    def test_unknown_command(self):
        self.usage("extrude", words=["extrude", "extract, expose"])
        self.usage("bench", "warp", words=["warp", "night, gpu"])

    def test_missing_option(self):
        self.usage("extract", "-i", self.image, words=["--psf"])

    def test_unknown_option(self):
        self.usage("extract", "--wavelenght", "1", words=["--wavelenght"])  # rather than what is missing, too
        self.usage(*self.command("--wavelenght", "1"), words=["--wavelenght"])

    def test_bad_values(self):
        for more in (["-n", "0"], ["-n", "x"], ["--method", "magic"], ["--gh00", "two"],
                     ["--backend", "abacus"], ["--threads", "0"], ["--loglevel", "loud"]):
            with self.subTest(more):
                self.usage(*self.command(*more), words=[more[0].split(",")[-1]])

    def test_limits_are_said_in_short_words(self):
        for more, expected in ((["-n", "0"], "a number above 0, got 0"), (["--psferr", "-1"], "of at least 0, got -1"),
                               (["--tolerance", "x"], "from 1e-12 to 1, got x")):
            with self.subTest(more):
                self.usage(*self.command(*more), words=[more[0].split(",")[-1], expected])

    def test_a_name_with_control_characters_stays_one_line(self):
        result = self.program("info", "no\nsuch\x1b[31m.fits")
        self.assert_fails(result, 10, "no\\nsuch\\x1b[31m.fits")

    def test_bad_grids(self):
        for wave in ("5000", "5000,5100", "5000,5100,0.8,1", "a,b,c", "5100,5000,0.8",
                     "5000,5100,0", "5000,5100,-1", "nan,5100,1"):
            with self.subTest(wave):
                self.assert_fails(self.extract("--quiet", wave=wave), 2)

    def test_a_file_that_is_no_fibermap(self):
        self.assert_fails(self.extract("--quiet", "-f", self.psf), 12, self.psf, "FIBER")

    def test_a_first_fibre_beyond_the_last(self):
        self.assert_fails(self.extract("--quiet", "-s", "10"), 22, "from 10 on", "0 to 9")

    def test_a_grid_outside_the_psf(self):
        for wave in ("4990,5085,0.8", "5005,5110,0.8", "6000,6100,0.8"):
            self.assert_fails(self.extract("--quiet", wave=wave), 20, self.image, self.psf,
                              "5000.00 to 5100.00", "expected no more than 5 %")

    def test_even_number_of_diagonals(self):
        self.assert_fails(self.extract("--quiet", "--ndiag", "10"), 2, "ndiag")

    def test_options_that_would_change_numbers_are_refused(self):
        self.assert_fails(self.extract("--quiet", "--backend", "cuda"), 60, "CUDA")
        for backend in ("cuda", "emulate"):
            self.assert_fails(self.extract("--quiet", "--backend", backend, "--method", "patch"), 2,
                              f"--backend {backend}: --method patch runs on the CPU only")

    def test_unknown_instruction_set(self):
        self.assert_fails(self.extract("--quiet", env={"FIBERLOOM_ISA": "v9"}), 2, "v9")


if __name__ == "__main__":
    unittest.main()
