# SPDX-License-Identifier: BSD-3-Clause
"""fiberloom redshift on spectra, files and options that are wrong: a defined row, or one line and a code."""
import math
import os
import shutil
import struct
import subprocess
import unittest

import tiny_fits
from run_fiberloom import PROGRAM
from redshift_case import NODATA, TRUTH, Case
from small_exposures import exposures, spectra_bytes
from small_spectra import CAMERAS, HALF, Targets, archetype_bytes, read_table, resolution, template_bytes


class BadInput(Case):
    def row(self, change):
        targets = Targets(TRUTH)
        change(targets)
        return self.redshifts(inputs=self.put("changed.fits", targets.coadd()))

    def test_targets_without_a_good_pixel_have_a_row(self):
        def no_ivar(t):
            for name in CAMERAS:
                t.ivar[name][1] = [0.0] * len(t.ivar[name][1])

        def nan(t):
            for name in CAMERAS:
                t.flux[name][1] = [math.nan] * len(t.flux[name][1])

        def negative(t):
            for name in CAMERAS:
                t.ivar[name][1] = [-1.0] * len(t.ivar[name][1])

        def infinite(t):
            for name in CAMERAS:
                t.ivar[name][1] = [math.inf] * len(t.ivar[name][1])
        for change in (no_ivar, nan, negative, infinite):
            for method in ("fast", "redrock"):
                targets = Targets(TRUTH)
                change(targets)
                table = self.redshifts("--method", method, inputs=self.put("changed.fits", targets.coadd()))
                self.assertEqual(table["ZWARN"][1] & NODATA, NODATA)
                self.assertEqual((table["Z"][1], table["NPIXELS"][1], table["SPECTYPE"][1], table["FITMETHOD"][1]),
                                 (0, 0, "GALAXY", "NONE"))
                rest = {k: [v for i, v in enumerate(values) if i != 1] for k, values in table.items()}
                self.check_truth(rest, TRUTH[:1] + TRUTH[2:])

    def test_absurd_pixels_are_left_out(self):
        def change(t):
            t.flux["B"][0][100:104] = [math.nan, math.inf, -math.inf, -1e30]
            t.ivar["R"][0][50:53] = [math.nan, math.inf, -5.0]
            t.flux["R"][2][60] = 3e38
            t.ivar["R"][2][60] = 0.0
        clean = self.redshifts()
        table = self.row(change)
        self.check_truth(table)
        self.assertEqual(table["NPIXELS"][0], clean["NPIXELS"][0] - 7)
        self.assertEqual([table["Z"][i] for i in (1, 3, 4)], [clean["Z"][i] for i in (1, 3, 4)])

    def test_exposures_that_fiberstatus_forbids_are_left_out_as_coadd_does(self):
        bad, bad_amp_r = 1 << 16, 1 << 23
        status = {5: bad, 6: bad_amp_r, 4: bad, 9: bad}  # of the second exposure, of its camera R, of all of a target

        def spectra(name, status, drop):
            both = Targets(TRUTH * 2, seed=5)
            both.ids = both.ids[:5] * 2
            for row, cameras in drop.items():
                for camera in cameras:
                    both.ivar[camera][row] = [0.0] * CAMERAS[camera][1]
            data = tiny_fits.header([("SIMPLE", True), ("BITPIX", 8), ("NAXIS", 0), ("EXTEND", True)])
            data += both.fibermap(status, coadd=False, extra=[(("EXPID", "J", "i", None), lambda k: 11 + k // 5),
                                                              (("FIBER", "J", "i", None), lambda k: k % 5)])
            return self.put(name, data + both.camera_hdus("B") + both.camera_hdus("R"))

        told = spectra("told.fits", status, {})
        table = self.redshifts(inputs=told)
        zeros = self.redshifts(inputs=spectra("zeros.fits", {}, {5: "BR", 6: "R", 4: "BR", 9: "BR"}))
        for name in ("Z", "ZERR", "CHI2", "NPIXELS"):
            self.assertEqual(table[name], zeros[name], name)
        self.assertEqual([w & NODATA for w in table["ZWARN"]], [0, 0, 0, 0, NODATA])
        fibermap = self.redshift("--method", "redrock", inputs=told) and read_table(self.result, "FIBERMAP")
        self.assertEqual(fibermap["COADD_NUMEXP"], [1, 2, 2, 2, 0])
        peer = read_table(self.result, "REDSHIFTS")  # which does not look at it
        self.assertEqual(peer["CHI2"], self.redshifts("--method", "redrock", inputs=spectra("all.fits", {}, {}))["CHI2"])

    def test_a_repeated_targetid_is_one_target(self):
        targets = Targets(TRUTH)
        targets.ids[3] = targets.ids[2]
        table = self.redshifts(inputs=self.put("repeated.fits", targets.coadd()))
        self.assertEqual(len(table["TARGETID"]), 4)
        self.assertIn("1 rows of coadds repeat a TARGETID", self.warnings)

    def test_other_wavelengths_and_widths_of_r_go_together(self):
        other = Targets(TRUTH, seed=5)
        data = other.coadd(cameras="B")
        plain = self.put("no-r.fits", self.targets.coadd(with_resolution=False))
        table = self.redshifts(inputs=[self.put("b-only.fits", data), plain])
        self.assertEqual(table["SPECTYPE"], [kind for kind, _ in TRUTH])

    def test_light_that_is_given_twice_is_refused(self):
        """It would make errors too small by a square root of two."""
        link = self.inputs / "link.fits"
        link.symlink_to(self.coadd)
        for again in (self.coadd, link):
            self.assert_fails(self.redshift(inputs=[self.coadd, again]), 2, "is the same file as", "expected each file once")
        targets = exposures()
        whole, last = self.put("whole.fits", spectra_bytes(targets)), self.put("last.fits", spectra_bytes(targets, rows=range(4, 6)))
        self.assert_fails(self.redshift(inputs=[whole, last]), 2, "last.fits: camera B of fibre 40 in exposure 13", "whole.fits too")
        blue, red = (self.put(f"{c}.fits", spectra_bytes(targets, cameras=c)) for c in "BR")
        first = self.put("first.fits", spectra_bytes(targets, rows=range(4)))
        for parts in ([blue, red], [first, last]):
            self.assertEqual(self.redshift(inputs=parts).returncode, 0)
        self.result.unlink()
        coadds = [self.inputs / "coadd1.fits", self.inputs / "coadd2.fits"]
        for coadd, spectra in zip(coadds, (whole, last)):
            self.assertEqual(self.program("coadd", "-i", spectra, "-o", coadd, "-q").returncode, 0)
        self.assert_fails(self.redshift(inputs=coadds), 2, "coadd2.fits: camera B of fibre 40 in exposure 13", "coadd1.fits too")

    def test_a_copy_that_no_number_tells_from_the_first_is_found_by_its_light(self):
        """A coadd whose tables have no FIBER."""
        copy = self.put("copy.fits", self.coadd.read_bytes())
        self.assert_fails(self.redshift(inputs=[self.coadd, copy]), 2, f"copy.fits: target {self.targets.ids[0]}", f"as in {self.coadd}")

    def test_rows_without_targetid_are_no_targets_of_another_file(self):
        bare = self.put("bare.fits", self.targets.coadd(fibermap=False, scores=False))
        self.assert_fails(self.redshift(inputs=[self.coadd, bare]), 12, "bare.fits", "TARGETID", "coadd-0-80613.fits")

    def test_a_template_that_covers_nothing_is_named(self):
        far = self.put("far.fits", template_bytes("GALAXY", redshifts=[5 + 0.1 * i for i in range(9)]))
        result = self.program("redshift", "-i", self.coadd, "-o", self.result, "--quiet", "-t", far,
                              self.templates / "rrtemplate-STAR-A-v1.0.fits")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertRegex(result.stderr, "GALAXY is not tried: it covers [0-9.]+-[0-9.]+ Angstrom at none")

    def test_templates_that_are_none_are_named(self):
        for name, code, words in (("text.fits", 14, ["text.fits"]), ("coadd.fits", 80, ["BASIS_VECTORS"])):
            path = self.put(name, b"no template" if name == "text.fits" else self.coadd.read_bytes())
            result = self.program("redshift", "-i", self.coadd, "-o", self.result, "-t", path, "--quiet")
            self.assert_fails(result, code, *words)
        result = self.program("redshift", "-i", self.coadd, "-o", self.result, "-t", self.inputs / "none", "--quiet")
        self.assert_fails(result, 10, "none")
        far = self.put("far.fits", template_bytes("GALAXY", redshifts=[5 + 0.1 * i for i in range(9)]))
        result = self.program("redshift", "-i", self.coadd, "-o", self.result, "-t", far, "--quiet")
        self.assert_fails(result, 81, "covers")

    def test_files_that_are_none_are_named(self):
        self.assert_fails(self.redshift(inputs=self.inputs / "none.fits"), 10, "none.fits")
        inside = next(h for h in tiny_fits.read(self.coadd) if h.name == "B_FLUX").start + 100
        self.assert_fails(self.redshift(inputs=self.put("x.fits", self.coadd.read_bytes()[:inside])), 14, "x.fits")
        self.assert_fails(self.redshift(inputs=self.templates / "rrtemplate-STAR-A-v1.0.fits"), 11, "B_WAVELENGTH")
        signed = self.coadd.read_bytes()
        hdus = tiny_fits.read(self.coadd)
        flux = next(h for h in hdus if h.name == "B_FLUX")
        start = signed.rindex(b"XTENSION", 0, flux.start)
        end = flux.start + len(flux.data) + (-len(flux.data)) % 2880
        broken = bytearray(tiny_fits.signed(signed[start:end]))
        broken[-2880] ^= 1
        damaged = self.put("damaged.fits", signed[:start] + bytes(broken) + signed[end:])
        self.assert_fails(self.redshift(inputs=damaged), 14, "damaged.fits", "B_FLUX", "DATASUM")
        self.assertEqual(self.redshift("--no-verify", inputs=damaged).returncode, 0)

    def test_outputs_are_guarded(self):
        self.assert_fails(self.redshift(output=False), 2, "-o")
        self.assert_fails(self.redshift("--model", self.out / "m.fits", output=False), 2, "-o")
        self.assert_fails(self.redshift("--model", self.coadd), 2, "coadd-0-80613.fits")
        self.assert_fails(self.redshift("--model", self.result), 2, "redrock.fits")
        self.redshifts()
        before = self.result.read_bytes()
        result = self.redshift("--no-clobber")
        self.assertEqual(result.returncode, 32, result.stderr)
        self.assertEqual(self.result.read_bytes(), before)
        if os.geteuid() != 0:
            self.assertEqual(self.redshift("--model", "/proc/m.fits").returncode, 30)

    def test_templates_that_a_folder_a_list_or_the_environment_names_are_inputs(self):
        folder = self.inputs / "folder"
        shutil.copytree(self.templates, folder)
        star = folder / "rrtemplate-STAR-A-v1.0.fits"
        archetype = folder / "rrarchetype-galaxy.fits"
        archetype.write_bytes(archetype_bytes())
        names = self.put("list.txt", b"folder/rrtemplate-STAR-A-v1.0.fits\n")
        before = {path: path.read_bytes() for path in folder.iterdir()}
        output = ("-o", self.result)
        for words, env in ((("-t", folder, "-o", star), {}), (("-t", folder, *output, "--model", star), {}),
                           (("-t", folder, *output, "--json", star), {}), (("-t", names, "-o", star), {}),
                           (("-t", star, "--archetypes", folder, *output, "--model", archetype), {}),
                           (("-o", star), {"RR_TEMPLATE_DIR": str(folder)})):
            result = self.program("redshift", "-i", self.coadd, "--quiet", *words, env={**os.environ, **env})
            self.assert_fails(result, 2, "cannot be an output")
        self.assertEqual({path: path.read_bytes() for path in folder.iterdir()}, before)

    def test_targetids_that_have_lost_digits_are_refused(self):
        def coadd(ids):
            targets = Targets(TRUTH[:2])
            targets.ids = [struct.unpack(">q", struct.pack(">d", i))[0] for i in ids]
            return self.put("doubles.fits", targets.coadd().replace(b"TFORM1  = 'K ", b"TFORM1  = 'D "))
        self.assertEqual(self.redshifts(inputs=coadd([7.0, 8.0]))["TARGETID"], [7, 8])
        self.result.unlink()
        lost = coadd([39627788403084376.0, 3.0])
        self.assert_fails(self.redshift(inputs=lost), 14, "doubles.fits", "39627788403084376")
        self.assert_fails(self.program("coadd", "-i", lost, "-o", self.result, "-q"), 14, "doubles.fits", "TARGETID")
        columns = [("TARGETID", "D", "d", None), ("FUNCTION", "8A", "8s", None), ("Z", "D", "d", None), ("SIGMA", "D", "d", None)]
        priors = tiny_fits.header([("SIMPLE", True), ("BITPIX", 8), ("NAXIS", 0), ("EXTEND", True)]) + tiny_fits.table(
            "PRIORS", columns, [(39627788403084376.0, b"gaussian", 0.1, 0.1)])
        self.assert_fails(self.redshift("--priors", self.put("priors.fits", priors)), 14, "priors.fits", "TARGETID")

    def test_a_full_disk_leaves_nothing_and_says_why(self):
        for option in ((), ("--model", self.out / "m.fits"), ("-d", self.out / "d.h5")):
            result = self.redshift(*option, file_limit=5000)
            if result.returncode == 15:
                continue  # built without HDF5
            self.assertEqual((result.returncode, len(result.stderr.splitlines())), (31, 1), result.stderr)
            self.assertIn("File too large", result.stderr)
            self.assertEqual(list(self.out.iterdir()), [])

    def test_a_bin_of_an_absurd_ivar_is_left_out_and_told_of(self):
        targets = Targets(TRUTH)
        usual = self.redshifts(inputs=self.put("usual.fits", targets.coadd()))
        targets.ivar["B"][0][50], targets.ivar["R"][2][7] = 1e38, 1e13
        for method in ("fast", "exact"):
            table = self.redshifts("--method", method, inputs=self.put("absurd.fits", targets.coadd()))
            self.assertIn("2 bins of 2 targets (39627788403084375 first) are left out", self.warnings)
            self.assertEqual((table["ZWARN"], table["SPECTYPE"]), (usual["ZWARN"], usual["SPECTYPE"]))
            for z, before, error in zip(table["Z"], usual["Z"], usual["ZERR"]):
                self.assertLess(abs(z - before), error)

    def test_a_spectrum_that_no_detector_counts_has_no_data(self):
        clean = self.redshifts()
        for flux, scale in ((1e30, 0), (3e38, 0), (0, 1e10), (0, 1e30)):
            targets = Targets(TRUTH)
            for camera in targets.flux:
                targets.flux[camera][1] = [flux + scale * v for v in targets.flux[camera][1]]
            spectra = self.put("counts.fits", targets.coadd())
            for method in ("fast", "exact"):
                table = self.redshifts("--method", method, inputs=spectra)
                self.assertRegex(self.warnings, r"\d+ bins of 1 targets \(39627788403084386 first\) are left out")
                self.assertIn("their flux more than 1e+06 of its errors", self.warnings)
                self.assertTrue(table["ZWARN"][1] & NODATA, table["ZWARN"])
                self.assertEqual((table["Z"][1], table["FITMETHOD"][1], table["PROBABILITY"][1]), (0, "NONE", 0))
                self.check_truth({k: v[:1] + v[2:] for k, v in table.items()}, TRUTH[:1] + TRUTH[2:])
        # one camera alone, and the other one says what it is
        targets = Targets(TRUTH)
        targets.flux["B"][0] = [1e30] * CAMERAS["B"][1]
        one = self.redshifts(inputs=self.put("counts.fits", targets.coadd()))
        targets.ivar["B"][0] = [0.0] * CAMERAS["B"][1]
        targets.flux["B"][0] = [0.0] * CAMERAS["B"][1]
        without = self.redshifts(inputs=self.put("counts.fits", targets.coadd()))
        self.assertEqual([one[k][0] for k in ("Z", "CHI2", "ZWARN", "NPIXELS")], [without[k][0] for k in ("Z", "CHI2", "ZWARN", "NPIXELS")])
        self.assertEqual(clean["Z"][1:], one["Z"][1:])

    def test_a_resolution_that_is_none_spoils_its_own_target_alone(self):
        clean = self.redshifts()
        data, rows = self.targets.coadd(), struct.pack(">2f", *resolution(1)[:2])
        first = data.index(b"'B_RESOLUTION'")
        at = data.index(rows[:4] * 3, first) + 4 * (2 * HALF + 1) * CAMERAS["B"][1]  # of the second target
        size = 4 * (2 * HALF + 1) * CAMERAS["B"][1]
        for value in (1e30, -1e30, 3e38):
            harmed = data[:at] + struct.pack(">f", value) * (size // 4) + data[at + size:]
            for method in ("fast", "exact"):
                table = self.redshifts("--method", method, "--no-verify", inputs=self.put("wide.fits", harmed))
                self.assertIn(f"{CAMERAS['B'][1]} bins of 1 targets (39627788403084386 first) are left out", self.warnings)
                self.check_truth({k: v[:1] + v[2:] for k, v in table.items()}, TRUTH[:1] + TRUTH[2:])
                self.assertEqual(table["SPECTYPE"][1], TRUTH[1][0])  # its other camera says so
        self.assertEqual(clean["SPECTYPE"], [kind for kind, _ in TRUTH])

    def test_names_of_targets_that_are_no_numbers_are_no_numbers_of_rows(self):
        rows = tiny_fits.table("FIBERMAP", [("TARGETID", "5A", "5s", None)], [(b"%05d" % i,) for i in range(len(TRUTH))])
        data = tiny_fits.header([("SIMPLE", True), ("BITPIX", 8), ("NAXIS", 0), ("EXTEND", True)])
        named = self.put("named.fits", data + rows + self.targets.camera_hdus("B"))
        self.assert_fails(self.redshift(inputs=named), 12, "named.fits: FIBERMAP: no column TARGETID of numbers")

    def test_spectra_of_no_target_are_told_of(self):
        nobody = Targets([])
        nobody.truth = []
        data = tiny_fits.header([("SIMPLE", True), ("BITPIX", 8), ("NAXIS", 0), ("EXTEND", True)])
        nothing = self.put("nobody.fits", data + nobody.camera_hdus("B"))
        self.assert_fails(self.redshift(inputs=nothing), 13, "nobody.fits: HDU 2 'B_FLUX': shape 0 x 240: there is nothing in it")

    def test_folders_that_were_made_for_nothing_go_again(self):
        for option in (("--model", self.out / "a" / "b" / "m.fits"), ("-d", self.out / "a" / "d.h5")):
            result = self.redshift(*option, file_limit=5000)
            if result.returncode != 15:  # built without HDF5
                self.assertEqual((result.returncode, list(self.out.iterdir())), (31, []), result.stderr)
        for command in ("coadd", "redshift"):
            result = self.program(command, "-i", self.coadd, "-o", self.out / "new" / "x.fits", "-q", file_limit=3000)
            self.assertEqual((result.returncode, list(self.out.iterdir())), (31, []), result.stderr)

    def left_by_a_killed_run(self, details):
        """Its temporary file, or nothing where it was too fast."""
        command = [PROGRAM, "redshift", "-i", self.coadd, "-d", details, "-t", self.templates, "--method", "exact", "--quiet"]
        process = subprocess.Popen([*map(str, command)])
        left = []
        while process.poll() is None and not left:
            left = list(self.out.glob("*.tmp-*"))
        process.kill()
        process.wait()
        return [path for path in left if path.exists()]

    def test_the_next_run_removes_what_a_killed_one_left(self):
        details = self.out / "d.h5"
        if self.redshift("-d", details).returncode == 15:
            self.skipTest("built without HDF5, the others have no temporary names here")
        left = next(filter(None, (self.left_by_a_killed_run(details) for _ in range(20))), None)
        if left is None:
            self.skipTest("no run was killed in time")
        self.assertEqual(self.redshift("-d", details).returncode, 0)
        self.assertEqual(sorted(path.name for path in self.out.iterdir()), ["d.h5", "redrock.fits"])

    def test_absurd_options_are_one_line(self):
        for option, value in (("--nminima", "0"), ("--nminima", "x"), ("--zminfit-npoints", "2"), ("--zscan-star", "1,2"),
                              ("--zscan-star", "a,b,c"), ("--mintarget", "-1"), ("-n", "0"), ("--method", "guess"),
                              ("--archetype-nnearest", "1"), ("--archetype-legendre-percamera", "maybe"),
                              ("--cosmics-nsig", "-1"), ("--negflux-nsig", "nan"), ("--archetype-legendre-prior", "nan"), ("--archetype-legendre-degree", "-2")):
            self.assert_fails(self.redshift(option, value), 2, option.lstrip("-").split("-")[0])


if __name__ == "__main__":
    unittest.main()
