# SPDX-License-Identifier: BSD-3-Clause
"""fiberloom report on redshifts end to end: what a page holds against the files that it is made of; bad input."""
import math
import shutil
import struct
import unittest

import redshift_page as pages
import tiny_fits
from run_fiberloom import Folders
from small_spectra import CAMERAS, Targets, archetype_bytes, template_bytes, write_templates

TRUTH = [("GALAXY", 0.0312), ("STAR", 0.0004), ("GALAXY", 0.0701), ("GALAXY", 0.0955)]


class Case(Folders):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.templates = write_templates(cls.inputs / "templates")
        cls.targets = Targets(TRUTH)
        for camera in cls.targets.ivar.values():
            camera[2][40:45] = [0.0] * 5
        cls.targets.flux["B"][1][7] = float("nan")
        cls.folder = cls.inputs / "files"
        cls.folder.mkdir()
        cls.coadd = cls.folder / "coadd-0-80613.fits"
        cls.coadd.write_bytes(cls.targets.coadd(status={3: 1 << 2}))
        cls.redrock, cls.models = cls.folder / "redrock-0-80613.fits", cls.folder / "rrmodel-0-80613.fits"
        cls.details = cls.folder / "rrdetails-0-80613.h5"
        find = ["redshift", "-i", cls.coadd, "-o", cls.redrock, "-t", cls.templates, "--model", cls.models, "--quiet"]
        done = cls.program(*find, "-d", cls.details)
        cls.has_hdf5 = done.returncode != 15  # of a build without
        if not cls.has_hdf5:
            done = cls.program(*find)
        assert done.returncode == 0, done.stderr

    def setUp(self):
        super().setUp()
        self.html = self.out / "page.html"

    def report(self, *arguments):
        return self.program("report", *arguments, "-o", self.html, env={"RR_TEMPLATE_DIR": ""})

    def page(self, *arguments):
        result = self.report(*arguments)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        return self.html.read_text()

    def bare(self, *names):
        """The redshifts in a folder of their own with these of the files beside them."""
        folder = self.out / "bare"
        folder.mkdir()
        for path in (self.redrock, *names):
            shutil.copy(path, folder)
        return folder / self.redrock.name

    def model_file(self, path=None):
        hdus = {h.name: h for h in tiny_fits.read(path or self.models)}
        n = len(TRUTH)
        return {camera: [struct.unpack(f">{m}f", hdus[f"{camera}_MODEL"].data[4 * m * r:4 * m * (r + 1)]) for r in range(n)]
                for camera, (_, m) in CAMERAS.items()}


class Holds(Case):
    def test_the_table_and_the_spectra_of_its_files(self):
        page = self.page(self.redrock)
        meta = pages.meta(page)
        self.assertEqual(meta["rows"], len(TRUTH))
        self.assertEqual(pages.column(meta, "TARGETID"), [str(i) for i in self.targets.ids])
        self.assertEqual(pages.column(meta, "SPECTYPE")[:3], [kind for kind, _ in TRUTH][:3])
        self.assertEqual(pages.column(meta, "OBJTYPE"), ["TGT"] * 4)
        for row, (_, true) in enumerate(TRUTH[:3]):
            self.assertAlmostEqual(pages.column(meta, "Z")[row], true, delta=3e-4)
            target = pages.target(page, row)
            self.assertEqual(len(target["cameras"]), 2)
            for camera in target["cameras"]:
                name = meta["waves"][camera["grid"]]["name"]
                self.check_camera(camera, self.targets.flux[name][row], self.targets.ivar[name][row])

    def check_camera(self, camera, flux, ivar):
        fitted = 0
        for f, s, true, w in zip(camera["flux"], camera["sigma"], flux, ivar):
            if s == 0:
                continue
            fitted += 1
            self.assertGreater(w, 0)
            self.assertAlmostEqual(s * w ** 0.5, 1, delta=0.0085)
            self.assertAlmostEqual(f, true, delta=0.5001 * camera["flux_step"] * s)
        self.assertEqual(camera["flux_step"], 0.1)
        self.assertGreater(fitted, 0.85 * len(flux))
        self.assertFalse(any(s for s, w, f in zip(camera["sigma"], ivar, flux) if w == 0 or f != f))

    def test_models_are_those_of_the_file_to_the_bound(self):
        page, models = self.page(self.redrock), self.model_file()
        meta = pages.meta(page)
        for row in range(3):
            for camera in pages.target(page, row)["cameras"]:
                expected = models[meta["waves"][camera["grid"]]["name"]][row]
                step = camera["steps"][0]
                self.assertLessEqual(step, 0.05 * 0.2 * 1.02)  # sigma is 0.2
                for found, value in zip(camera["models"][0], expected):
                    self.assertAlmostEqual(found, value, delta=0.501 * step + 1e-6)

    def test_models_made_from_templates_are_those_of_the_file(self):
        page = self.page(self.bare(self.coadd), "-t", self.templates)
        models, meta = self.model_file(), pages.meta(page)
        self.assertEqual(meta["notes"], [])
        for row in range(3):
            target = pages.target(page, row)
            self.assertGreater(len(target["fits"]), 1)
            for camera in target["cameras"]:
                expected = models[meta["waves"][camera["grid"]]["name"]][row]
                for found, value in zip(camera["models"][0], expected):
                    self.assertAlmostEqual(found, value, delta=0.501 * camera["steps"][0] + 1e-4)  # COEFF is float32
                self.assertNotIn(None, camera["models"])

    def test_models_of_archetypes_are_those_of_the_file(self):
        folder = self.out / "archetypes"
        folder.mkdir()
        shutil.copy(self.coadd, folder)
        archetypes, redrock, models = folder / "rrarchetype-galaxy.fits", folder / self.redrock.name, folder / "models.fits"
        archetypes.write_bytes(archetype_bytes())
        for degree in ("2", "3"):
            done = self.program("redshift", "-i", self.coadd, "-o", redrock, "-t", self.templates, "--model", models, "--archetypes", archetypes,
                                "--archetype-legendre-degree", degree, "--quiet")
            self.assertEqual(done.returncode, 0, done.stderr)
            page, expected = self.page(redrock, "-t", self.templates, "--archetypes", archetypes), self.model_file(models)
            meta = pages.meta(page)
            self.assertEqual(meta["notes"], [])
            for row in (0, 2):  # galaxies with data
                for camera in pages.target(page, row)["cameras"]:
                    model = expected[meta["waves"][camera["grid"]]["name"]][row]
                    self.assertLess(max(abs(a - b) for a, b in zip(camera["models"][0], model)), 0.01 * max(model))
        page = self.page(redrock, "-t", self.templates)
        self.assertIn("archetypes of GALAXY are not given", " ".join(pages.meta(page)["notes"]))
        archetypes.write_bytes(archetype_bytes(mixes=([1, 0, 0, 0], [1, 0, 1, 0])))
        page = self.page(redrock, "-t", self.templates, "--archetypes", archetypes)
        self.assertIn("or others", " ".join(pages.meta(page)["notes"]))

    def test_chi2_over_redshift_has_its_least_at_the_fit(self):
        for arguments in ([self.bare(self.coadd), "-t", self.templates], [self.redrock]):
            page = self.page(*arguments)
            meta, target = pages.meta(page), pages.target(page, 0)
            if not target["curves"]:
                self.assertFalse(self.has_hdf5)
                continue
            self.assertEqual({c["name"] for c in target["curves"]}, {"GALAXY", "STAR:::A"})
            galaxy = next(c for c in target["curves"] if c["name"] == "GALAXY")
            z = meta["redshifts"][galaxy["grid"]]
            least = min(range(len(z)), key=lambda i: galaxy["chi2"][i])
            self.assertAlmostEqual(z[least], TRUTH[0][1], delta=0.0021)
            self.assertAlmostEqual(target["fits"][0]["z"], TRUTH[0][1], delta=3e-4)

    def test_a_target_without_data_has_its_row(self):
        page = self.page(self.redrock)
        self.assertTrue(pages.column(pages.meta(page), "ZWARN")[3] & 512)
        self.assertEqual(len(pages.target(page, 3)["fits"]), 1)

    def test_the_same_bytes_for_any_number_of_threads(self):
        path = self.bare(self.coadd)
        first = self.page(path, "-t", self.templates, "--threads", "1")
        self.assertEqual(first, self.page(path, "-t", self.templates, "--threads", "3"))

    def test_a_script_may_ask_for_no_words(self):
        first = self.page(self.redrock)
        self.assertEqual(first, self.page(self.redrock, "--quiet"))


class Chooses(Case):
    def shown(self, page):
        return [row for row in range(len(TRUTH)) if pages.element(page, f"t{row}")]

    def test_by_targetid_condition_and_number(self):
        self.assertEqual(self.shown(self.page(self.redrock)), [0, 1, 2, 3])
        self.assertEqual(self.shown(self.page(self.redrock, "--targetids", f"{self.targets.ids[1]},{self.targets.ids[2]}")), [1, 2])
        some = self.report(self.redrock, "--targetids", f"{self.targets.ids[1]},77777")
        self.assertEqual((some.returncode, len(some.stderr.splitlines())), (0, 1), some.stderr)
        self.assertIn("1 of 2 targets of --targetids are in none of the files", some.stderr)
        self.assertEqual(self.shown(self.page(self.redrock, "--only", "SPECTYPE==GALAXY and ZWARN==0")), [0, 2])
        self.assertEqual(self.shown(self.page(self.redrock, "--only", "Z>5")), [])
        page = self.page(self.redrock, "--most", "2")
        self.assertEqual(len(self.shown(page)), 2)
        self.assertNotIn(3, self.shown(page))  # there is nothing to see
        self.assertIn("2 of the 4 targets", " ".join(pages.meta(page)["notes"]))

    def test_a_table_alone_says_why_in_one_line(self):
        page = self.page(self.bare())
        self.assertEqual(self.shown(page), [])
        self.assertEqual(len(pages.meta(page)["notes"]), 1)
        self.assertIn("no spectra", pages.meta(page)["notes"][0])

    def test_neighbours_are_found_by_a_name_in_capitals(self):
        path = self.bare(self.coadd)
        page = self.page(path.rename(path.with_suffix(".FITS")))
        self.assertEqual(self.shown(page), [0, 1, 2, 3])

    def test_spectra_without_models_say_so(self):
        page = self.page(self.bare(self.coadd))
        self.assertEqual(self.shown(page), [0, 1, 2, 3])
        self.assertIn("no models", " ".join(pages.meta(page)["notes"]))
        self.assertIsNone(pages.target(page, 0)["cameras"][0]["models"][0])

    def test_coefficients_of_other_templates_are_not_taken_for_these(self):
        other = self.out / "other"
        other.mkdir()
        (other / "rrtemplate-GALAXY-None-v1.1.fits").write_bytes(template_bytes("GALAXY", cards=[("CREATOR", "else")]))
        (other / "rrtemplate-STAR-A-v1.0.fits").write_bytes(template_bytes("STAR", "A"))
        page, models = self.page(self.bare(self.coadd), "-t", other), self.model_file()
        self.assertIn("GALAXY are of other templates", " ".join(pages.meta(page)["notes"]))
        for row in (0, 1):  # made anew; of stars as ever
            camera = pages.target(page, row)["cameras"][0]
            self.assertLess(max(abs(a - b) for a, b in zip(camera["models"][0], models["B"][row])), 0.05)
        if self.has_hdf5:  # nothing is fitted where details say what there is
            page = self.page(self.redrock, "-t", other, "--model", "-")
            self.assertIsNone(pages.target(page, 0)["cameras"][0]["models"][0])
            self.assertIsNotNone(pages.target(page, 1)["cameras"][0]["models"][0])

    def test_two_files_are_one_table(self):
        second = self.out / "redrock-1.fits"
        shutil.copy(self.redrock, second)
        page = self.page(self.redrock, second, "--spectra", "-", "--spectra", self.coadd)
        self.assertEqual(pages.meta(page)["rows"], 2 * len(TRUTH))
        self.assertIsNotNone(pages.element(page, "t4"))


class BadInput(Case):
    def fails(self, code, *words, arguments):
        self.assert_fails(self.report(*arguments), code, *words)

    def assert_fails(self, result, code, *words):
        self.assertEqual(result.returncode, code, result.stderr)
        self.assertEqual(len(result.stderr.splitlines()), 1, result.stderr)
        for word in words:
            self.assertIn(str(word), result.stderr)
        self.assertFalse(self.html.exists())

    def test_spectra_of_other_targets(self):
        other = Targets(TRUTH)
        other.ids = [i + 5 for i in other.ids]
        path = self.out / "coadd-else.fits"
        path.write_bytes(other.coadd())
        self.fails(22, "coadd-else.fits", "none of 4 targets", self.redrock.name, arguments=[self.redrock, "--spectra", path])

    def test_truncated_and_foreign_files(self):
        for name, option, where in ((self.coadd.name, "--spectra", b"R_FLUX"), (self.models.name, "--model", b"R_MODEL"), (self.redrock.name, None, b"REDSHIFTS")):
            data = (self.folder / name).read_bytes()
            header = data.index(b"'" + where)
            end = data.index(b"END" + b" " * 77, header)
            path = self.out / name
            path.write_bytes(data[:(end // 2880 + 1) * 2880 + 100])  # within its data
            with self.subTest(name=name):
                self.fails(14, name, where.decode(), arguments=[self.redrock, option, path] if option else [path])
        text = self.out / "text.fits"
        text.write_text("no FITS")
        self.fails(14, "text.fits", arguments=[text])
        self.fails(11, "MODEL", arguments=[self.redrock, "--model", self.redrock])
        self.fails(10, "none.fits", arguments=[self.redrock, "--spectra", self.out / "none.fits"])
        self.fails(80, "rrtemplate", arguments=[self.redrock, "-t", self.copy_of(self.redrock, "rrtemplate-x.fits")])

    def copy_of(self, path, name):
        shutil.copy(path, self.out / name)
        return self.out / name

    def test_details_that_are_none(self):
        if not self.has_hdf5:
            self.skipTest("built without HDF5")
        path = self.out / "rrdetails.h5"
        path.write_bytes(self.details.read_bytes()[:3000])
        self.fails(14, "rrdetails.h5", arguments=[self.redrock, "--details", path])

    def test_options_that_do_not_fit(self):
        self.fails(2, "--only", "expected", arguments=[self.redrock, "--only", "NOTHING>1"])
        self.fails(2, "--psf", "frames", arguments=[self.redrock, "--psf", self.coadd])
        self.fails(2, "--most", arguments=[self.redrock, "--most", "0"])
        self.fails(2, "--loglevel", arguments=[self.redrock, "--loglevel", "loud"])
        self.fails(2, "--details", arguments=[self.redrock, "--details", "a", "--details", "b"])
        self.fails(22, "--targetids", arguments=[self.redrock, "--targetids", "7"])
        frame = self.out / "frame.fits"
        frame.write_bytes(tiny_fits.image("FLUX", -32, (1, 9), [1.0] * 9, first=True) + tiny_fits.image("IVAR", -32, (1, 9), [1.0] * 9)
                          + tiny_fits.image("WAVELENGTH", -64, (9,), list(range(5000, 5009))))
        self.fails(2, "frame.fits", "not both", arguments=[self.redrock, frame])
        stars = sorted(self.templates.glob("*.fits"))  # -t takes one; what follows it are inputs
        self.fails(2, stars[1].name, "a -t of its own", arguments=[self.redrock, "-t", *stars])
        self.fails(2, "--only", "redshifts", arguments=[frame, "--only", "Z>1"])

    def test_the_page_is_none_of_its_files(self):
        result = self.program("report", self.redrock, "-o", self.coadd)
        self.assertEqual(result.returncode, 2, result.stderr)
        self.assertIn("coadd-0-80613", result.stderr)
        folder = self.out / "templates"
        shutil.copytree(self.templates, folder)
        star = folder / "rrtemplate-STAR-A-v1.0.fits"
        before = star.read_bytes()
        self.assertEqual(self.program("report", self.redrock, "-t", folder, "-o", star).returncode, 2)
        self.assertEqual(star.read_bytes(), before)

    def test_numbers_that_no_fit_gives_make_a_page(self):
        path = self.out / "absurd.fits"
        pages.absurd_redshifts(path, self.targets.ids)
        page = self.page(path, "--spectra", self.coadd, "-t", self.templates)
        meta = pages.meta(page)  # JSON has no NaN
        self.assertIsNone(pages.column(meta, "Z")[0])
        self.assertEqual(pages.column(meta, "FLAG")[3], str(-2**63 + 3))
        for row in range(4):
            for camera in pages.target(page, row)["cameras"]:
                self.assertTrue(all(math.isfinite(v) for v in camera["flux"] + camera["sigma"]))
                for model in camera["models"]:
                    self.assertTrue(model is None or all(math.isfinite(v) for v in model))

    def test_texts_of_a_file_are_texts(self):
        targets = Targets([("GALAXY", 0.03)])
        evil = "</script><img src=x onerror=alert(1)>"
        coadd, redrock = self.out / "coadd-<b>.fits", self.out / "redrock-<b>.fits"
        coadd.write_bytes(targets.coadd(cards=[("SURVEY", evil)]))
        done = self.program("redshift", "-i", coadd, "-o", redrock, "-t", self.templates, "--quiet")
        self.assertEqual(done.returncode, 0, done.stderr)
        page = self.page(redrock)
        self.assertNotIn("<img", page)
        self.assertNotIn("<b>.fits", page)


if __name__ == "__main__":
    unittest.main()
