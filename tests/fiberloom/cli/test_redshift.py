# SPDX-License-Identifier: BSD-3-Clause
"""fiberloom redshift end to end: files of spectra in, redshifts, models and details out."""
import json
import math
import os
import unittest

import tiny_fits
from redshift_case import (BAD_TARGET, COLUMNS, LITTLE_COVERAGE, NODATA, OURS, POORDATA, PROBABILITIES, SKY, TRUTH,
                           UNPLUGGED, Case)
from small_spectra import CAMERAS, SIGMA, Targets, archetype_bytes, prior_bytes, read_table


class Files(Case):
    def test_every_method_finds_the_truth(self):
        for method in ("fast", "exact", "redrock"):
            table = self.redshifts("--method", method)
            self.assertEqual(list(table), COLUMNS if method == "redrock" else OURS)
            self.assertEqual(table["TARGETID"], self.targets.ids)
            self.check_truth(table)
            self.assertEqual(set(table["FITMETHOD"]), {"PCA"})

    def test_the_file_has_what_redrocks_has(self):
        self.redshifts()
        hdus = tiny_fits.read(self.result)
        self.assertEqual([h.name for h in hdus], ["", "REDSHIFTS", "FIBERMAP", "EXP_FIBERMAP", "TSNR2", "CANDIDATES"])
        for hdu in hdus[:2]:
            self.assertEqual(hdu.cards["TEMNAM00"] + hdu.cards["TEMFIL00"], "GALAXYrrtemplate-GALAXY-None-v1.0.fits")
            self.assertEqual(hdu.cards["TEMNAM01"], "STAR:::A")
            self.assertEqual(len(hdu.cards["TEMSHA01"]), 64)
            self.assertEqual((hdu.cards["SPGRP"], hdu.cards["TILEID"]), ("cumulative", 80613))
        forms = [str(hdus[1].cards[f"TFORM{i}"]).strip() for i in range(1, 13)]
        self.assertEqual(forms, ["K", "D", "E", "J", "E", "4E", "4A", "J", "6A", "3A", "I", "E"])
        scores = read_table(self.result, "TSNR2")
        self.assertEqual(list(scores), ["TARGETID", "TSNR2_LRG_B", "TSNR2_LRG_R", "TSNR2_LRG"])
        self.assertEqual(scores["TSNR2_LRG"][0], 3.5)
        self.assertEqual(read_table(self.result, "FIBERMAP")["TARGETID"], self.targets.ids)

    def test_evidence_gives_probabilities_candidates_and_cuts(self):
        table = self.redshifts()
        self.assertTrue(all(0.99 < p <= 1 for p in table["PROBABILITY"]), table["PROBABILITY"])
        for near, anywhere in zip(table["PROBABILITY"], table["CLASS_PROBABILITY"]):
            self.assertLessEqual(near, anywhere + 1e-12)
        galaxy = [kind == "GALAXY" for kind, _ in TRUTH]
        self.assertEqual(table["GOOD_Z_BGS"], [d > 40 for d in table["DELTACHI2"]])
        self.assertEqual(table["GOOD_Z_QSO"], [False] * 5)
        seen = [math.sqrt(ivar) * flux > 5 for flux, ivar in zip(table["HBETA_FLUX"], table["HBETA_FLUX_IVAR"])]
        self.assertTrue(all(s for s, g, (_, z) in zip(seen, galaxy, TRUTH) if g and 4861 * (1 + z) < 4650), seen)
        self.assertEqual([s for s, g in zip(seen, galaxy) if not g], [False, False])  # there it is absorption
        candidates = read_table(self.result, "CANDIDATES")
        self.assertEqual(list(candidates), [*COLUMNS[:-1], "ZNUM", "DELTACHI2", *PROBABILITIES])
        rows = list(zip(candidates["TARGETID"], candidates["ZNUM"]))
        self.assertEqual(rows, sorted(rows))
        best = [k for k, (_, number) in enumerate(rows) if number == 0]
        for name in ("TARGETID", "Z", "CHI2", "COEFF", "PROBABILITY"):
            self.assertEqual([candidates[name][k] for k in best], table[name], name)
        self.assertGreater(len(rows), 5)
        two = self.redshifts("--candidates", "2")
        self.assertEqual(two, table)
        self.assertLessEqual(set(read_table(self.result, "CANDIDATES")["ZNUM"]), {0, 1})
        self.redshifts("--candidates", "0")
        self.assertNotIn("CANDIDATES", [h.name for h in tiny_fits.read(self.result)])
        bare = self.redshifts("--no-evidence")
        self.assertEqual(list(bare), COLUMNS)
        for name in ("Z", "CHI2", "COEFF", "ZWARN"):
            self.assertEqual(bare[name], table[name], name)

    def test_what_cannot_be_told_is_of_the_type_that_is_common(self):
        targets = Targets(TRUTH)
        for name in CAMERAS:
            targets.flux[name][1] = [0.0] * len(targets.flux[name][1])
        dark = self.put("dark.fits", targets.coadd())
        for shares, kind in (("1e4,1,1", "GALAXY"), ("1,1,1e4", "STAR")):
            table = self.redshifts("--type-shares", shares, inputs=dark)
            self.assertEqual(table["SPECTYPE"][1], kind)
            self.assertGreater(table["CLASS_PROBABILITY"][1], 0.99)
            rest = {k: [v for i, v in enumerate(values) if i != 1] for k, values in table.items()}
            self.check_truth(rest, TRUTH[:1] + TRUTH[2:])

    def test_without_templates_the_built_in_set_says_that_it_is_used(self):
        env = {"RR_TEMPLATE_DIR": ""}
        result = self.program("redshift", "-i", self.coadd, "-o", self.result, "--targetids", str(self.targets.ids[0]),
                              "--quiet", env=env)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(len(result.stderr.strip().splitlines()), 1, result.stderr)
        self.assertIn("built-in set physics-1", result.stderr)
        head = tiny_fits.by_name(self.result)["REDSHIFTS"].cards
        self.assertEqual((head["TEMVER00"], head["TEMFIL00"]), ("physics-1", "built-in"))
        folder = self.out / "many"
        result = self.program("redshift", "-i", self.coadd, "-o", f"{folder}/", "--quiet", env=env)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("built-in set physics-1", result.stderr)

    def test_models_are_the_spectra_without_noise(self):
        for method in ("fast", "redrock"):
            self.redshifts("--method", method, "--model", self.out / "model.fits")
            hdus = tiny_fits.by_name(self.out / "model.fits")
            self.assertEqual(list(hdus)[1:], ["REDSHIFTS", "B_WAVELENGTH", "B_MODEL", "R_WAVELENGTH", "R_MODEL"])
            for name, (_, n) in CAMERAS.items():
                models = hdus[name + "_MODEL"].values()
                for t, flux in enumerate(self.targets.flux[name]):
                    chi2 = sum(25 * (f - m) ** 2 for f, m in list(zip(flux, models[t * n:(t + 1) * n]))[8:-8])
                    self.assertLess(abs(chi2 / (n - 16) - 1), 0.5, (name, t))

    def test_a_frame_a_camera_and_exposures_are_one_target(self):
        """cframes of two cameras and two exposures, and spectra of both exposures in one file."""
        second = Targets(TRUTH, seed=2)
        frames = []
        for expid, targets in ((7, self.targets), (8, second)):
            for name in CAMERAS:
                n = CAMERAS[name][1]
                flat = [v for row in targets.flux[name] for v in row]
                head = [("EXTNAME", "FLUX"), ("CAMERA", name.lower() + "0"), ("EXPID", expid), ("NIGHT", 20261121)]
                data = tiny_fits.image("", -32, (len(TRUTH), n), flat, head, first=True)
                data += targets.camera_hdus(name, prefix="") + targets.fibermap(coadd=False)
                frames.append(self.put(f"cframe-{name.lower()}0-{expid:08d}.fits", data))
        table = self.redshifts(inputs=frames)
        self.check_truth(table)
        good = table["NPIXELS"][0]
        self.assertEqual(table["TARGETID"], self.targets.ids)
        exposures = read_table(self.result, "EXP_FIBERMAP")
        self.assertEqual(exposures["EXPID"], [7] * 5 + [8] * 5)  # of each camera's file once
        fibermap = read_table(self.result, "FIBERMAP")
        self.assertEqual(fibermap["COADD_NUMEXP"], [2] * 5)
        self.assertEqual(fibermap["COADD_NUMNIGHT"], [1] * 5)
        separate = self.redshifts("--allspec", inputs=frames)
        self.check_truth(separate)
        self.assertEqual(separate["NPIXELS"][0], 2 * good)
        one = self.redshifts(inputs=frames[:2])
        self.assertGreater(one["ZERR"][0], table["ZERR"][0])

    def test_targets_can_be_chosen(self):
        ids = self.targets.ids
        self.assertEqual(self.redshifts("--targetids", f"{ids[3]},{ids[1]}")["TARGETID"], [ids[1], ids[3]])
        self.assertEqual(self.redshifts("--mintarget", "1", "-n", "3")["TARGETID"], ids[1:4])
        self.assertEqual(self.redshifts("--ntargets", "2")["TARGETID"], ids[:2])
        self.assertEqual(self.redshifts("--targetids", f"{ids[0]},5")["TARGETID"], ids[:1])
        self.assertIn("1 of 2 targets asked for are in none of the files: 5", self.warnings)
        self.result.unlink()
        self.assert_fails(self.redshift("--targetids", "5"), 22, "none of the targets")
        self.assert_fails(self.redshift("--mintarget", "4", "-n", "2"), 22, "2 targets from 4 on", "has 5")
        self.assert_fails(self.redshift("--targetids", "5", "-n", "2"), 2, "--targetids")
        self.assert_fails(self.redshift("--targetids", "5;6"), 2, "--targetids")

    def test_tables_and_resolution_may_be_missing(self):
        bare = self.put("bare.fits", self.targets.coadd(fibermap=False, scores=False))
        table = self.redshifts(inputs=bare)
        self.assertEqual(table["TARGETID"], list(range(5)))
        self.assertIn("no FIBERMAP: targets are numbered by their rows", self.warnings)
        self.check_truth(table)
        self.assertEqual([h.name for h in tiny_fits.read(self.result)], ["", "REDSHIFTS", "CANDIDATES"])
        blurred = self.redshifts(inputs=self.put("no-r.fits", self.targets.coadd(with_resolution=False)))
        self.assertEqual(blurred["SPECTYPE"], [kind for kind, _ in TRUTH])
        camera = self.redshifts(inputs=self.put("b.fits", self.targets.coadd(cameras="B")))
        self.assertLess(camera["NPIXELS"][0], table["NPIXELS"][0])

    def test_a_width_takes_the_place_of_the_resolution(self):
        """Of each bin as an HDU SIGMA, of each bin of each spectrum, or one for all."""
        true = self.redshifts()
        bare = self.targets.coadd(with_resolution=False)
        none = self.redshifts(inputs=self.put("none.fits", bare))

        def sigma(name, rows):
            n = CAMERAS[name][1]
            return tiny_fits.image(name + "_SIGMA", -32, (rows, n) if rows else (n,), [SIGMA] * (n * max(rows, 1)))
        bins = self.put("bins.fits", bare + sigma("B", 0) + sigma("R", 0))
        every = self.put("every.fits", bare + sigma("B", 5) + sigma("R", 5))
        for inputs, *more in [[bins], [every], [self.put("none.fits", bare), "--resolution-sigma", str(SIGMA)]]:
            table = self.redshifts(*more, inputs=inputs)
            for k in range(5):
                self.assertLess(abs(table["Z"][k] - true["Z"][k]), 0.3 * true["ZERR"][k])
            off, off_none = (sum(abs(a - b) for a, b in zip(t["CHI2"], true["CHI2"])) for t in (table, none))
            self.assertLess(off, 0.5 * off_none)
        odd = self.put("odd.fits", bare + tiny_fits.image("B_SIGMA", -32, (7,), [1.0] * 7))
        self.result.unlink()
        self.assert_fails(self.redshift(inputs=odd), 13, "B_SIGMA")
        wide = self.redshift("--resolution-sigma", "20", inputs=self.put("none.fits", bare))
        self.assert_fails(wide, 13, "sigma of 20 bins")

    def test_fibermap_says_what_is_wrong(self):
        status = {0: 1 << 10, 1: 1 << 2, 2: 1 << 23}
        coadd = self.put("status.fits", self.targets.coadd(status=status, kinds={3: "SKY", 4: "BAD"}))
        table = self.redshifts(inputs=coadd)
        self.assertEqual(table["ZWARN"], [POORDATA, UNPLUGGED | NODATA, LITTLE_COVERAGE, SKY, BAD_TARGET | NODATA])
        for t in (1, 4):
            row = {name: values[t] for name, values in table.items()}
            self.assertEqual((row["Z"], row["SPECTYPE"], row["SUBTYPE"], row["FITMETHOD"]), (0, "GALAXY", "", "NONE"))
            self.assertEqual(row["COEFF"], [0] * 4)

    def test_the_same_bytes_for_any_number_of_threads(self):
        many = self.put("many.fits", Targets(TRUTH * 14).coadd())  # 70: more than one group
        seen = set()
        for threads in (1, 2, 5):
            model, details = self.out / "m.fits", self.out / "d.h5"
            more = ["-d", details] if self.has_hdf5() else []
            self.redshifts("--threads", threads, "--model", model, *more, inputs=many)
            seen.add(self.result.read_bytes() + model.read_bytes() + (details.read_bytes() if more else b""))
        self.assertEqual(len(seen), 1)
        self.assertEqual(read_table(self.result, "REDSHIFTS")["TARGETID"], Targets(TRUTH * 14).ids)

    def has_hdf5(self):
        probe = self.redshift("-d", self.out / "probe.h5")
        found = (self.out / "probe.h5").exists()
        (self.out / "probe.h5").unlink(missing_ok=True)
        if not found:
            self.assertEqual(probe.returncode, 15, probe.stderr)
            self.assertIn("built without HDF5", probe.stderr)
        return found

    @unittest.skipIf("FIBERLOOM_TEST_SLOWER" in os.environ, "a sanitizer keeps what was freed")
    def test_memory_does_not_grow_with_the_targets(self):
        """Spectra and blocks of such a target are 3 MB, of which 270 kB once stayed behind."""
        made = self.program("simulate", "-o", self.out, "--targets", "320", "--quiet", env={"RR_TEMPLATE_DIR": ""})
        self.assertEqual(made.returncode, 0, made.stderr)
        few_redshifts = ["--zscan-star", "-2e-4,2e-4,1e-4", "--zscan-galaxy", "0.1,0.102,3e-4", "--zscan-qso", "1,1.002,5e-4"]
        details = ["-d", self.out / "d.h5"] if self.has_hdf5() else []
        peaks = []
        for count in ("128", "320"):
            result = self.program("redshift", "-i", self.out / "coadd-0000.fits", "-o", self.result, *details, "-n", count,
                                  *few_redshifts, "--threads", "1", "--quiet", "--json", self.out / "s.json",
                                  env={"RR_TEMPLATE_DIR": ""})
            self.assertEqual(result.returncode, 0, result.stderr)
            peaks.append(json.loads((self.out / "s.json").read_text())["peak_memory_bytes"])
        self.assertLess((peaks[1] - peaks[0]) / (320 - 128), 100e3)

    def test_details_are_a_scan_that_can_be_used_again(self):
        if not self.has_hdf5():
            self.skipTest("built without HDF5")
        details = self.out / "details.h5"
        first = self.redshifts("-d", details, "--method", "exact", "--no-evidence")
        second = self.redshifts("--chi2-scan", details, "--method", "exact")
        self.assertEqual(first, second)
        self.assertEqual(list(second), COLUMNS)  # an earlier scan has no evidence
        self.assertEqual(details.read_bytes()[:8], b"\x89HDF\r\n\x1a\n")
        self.result.unlink()
        result = self.redshift("--chi2-scan", self.coadd)
        self.assertEqual(result.returncode, 14, result.stderr)
        cut = self.out / "cut.h5"
        cut.write_bytes(details.read_bytes()[:3000])
        result = self.redshift("--chi2-scan", cut)
        self.assertIn(result.returncode, (11, 14), result.stderr)
        self.assertEqual(len(result.stderr.splitlines()), 1, result.stderr)
        try:
            import h5py
        except ImportError:
            return
        with h5py.File(details) as file:
            self.assertEqual(list(file["targetids"]), self.targets.ids)
            self.assertEqual(sorted(file["zscan"]), ["GALAXY", "STAR:::A"])
            scan = file["zscan/GALAXY"]
            self.assertEqual((scan["zchi2"].shape, scan["zchi2"].dtype, scan["zchi2"].chunks), ((5, 60), "f4", (1, 60)))
            self.assertEqual(scan["zcoeff"].shape, (5, 60, 4))
            fit = file[f"zfit/{self.targets.ids[0]}/zfit"]
            self.assertEqual(list(fit["znum"]), list(range(len(fit))))
            self.assertEqual(fit["z"][0], first["Z"][0])
            self.assertEqual(file["zbest"]["spectype"][1], b"STAR")

    def test_archetypes_say_what_an_object_is(self):
        archetypes = self.put("rrarchetype-galaxy.fits", archetype_bytes())
        for method in ("fast", "redrock"):
            table = self.redshifts("--archetypes", archetypes, "--method", method, "--model", self.out / "m.fits")
            self.assertEqual(table["SPECTYPE"], [kind for kind, _ in TRUTH])
            self.assertEqual(table["SUBTYPE"][0], "ELG_0")
            self.assertEqual([m for m in table["FITMETHOD"]], ["ARCH", "PCA", "ARCH", "ARCH", "PCA"])
            self.assertEqual(len(table["LEGCOEFF"][0]), 4)
            self.assertAlmostEqual(table["COEFF"][0][0], 1, delta=0.2)
            self.assertEqual(len(table["PCA_COEFF"][0]), 4)
            self.assertEqual(self.dimensions("LEGCOEFF"), "(2,2)")  # redrock's: [camera][term]
            self.assertIsNone(self.dimensions("COEFF"))
            self.redshifts("--archetypes", archetypes, "--method", method, "--archetype-legendre-degree", "3")
            self.assertEqual(self.dimensions("LEGCOEFF"), "(3,2)")
            table = self.redshifts("--archetypes", archetypes, "--method", method, "--archetype-legendre-percamera", "False")
            self.assertEqual((len(table["LEGCOEFF"][0]), self.dimensions("LEGCOEFF")), (2, None))

    def dimensions(self, name):
        """TDIM of a column of REDSHIFTS."""
        cards = next(h for h in tiny_fits.read(self.result) if h.name == "REDSHIFTS").cards
        number = next(k for k in range(1, cards["TFIELDS"] + 1) if cards[f"TTYPE{k}"].strip() == name)
        return cards.get(f"TDIM{number}")

    def test_priors_decide(self):
        def prior(z, sigma, function=b"tophat"):
            return prior_bytes(self.targets.ids[0], z, sigma, function)
        table = self.redshifts("--priors", self.put("prior.fits", prior(0.08, 0.02)))
        self.assertIn("4 of 5 targets", self.warnings)
        self.assertTrue(0.07 <= table["Z"][0] <= 0.09, table["Z"][0])
        self.check_truth({k: v[1:] for k, v in table.items()}, TRUTH[1:])
        self.result.unlink()
        self.assert_fails(self.redshift("--priors", self.put("bad.fits", prior(0.1, -1))), 14, "SIGMA")
        self.assert_fails(self.redshift("--priors", self.put("bad.fits", prior(0.1, 1, b"box"))), 14, "FUNCTION")
        self.assert_fails(self.redshift("--priors", self.coadd), 11, "PRIORS")

    def test_options_of_rrdesi_are_taken(self):
        table = self.redshifts("--mp", "3", "--ncpu", "2", "--gpu", "--max-gpuprocs", "1", "--no-mpi-abort", "--debug",
                               "--nminima", "2", "--zscan-galaxy", "-0.005,1.7,3e-4", "--zscan-qso", "0.05,6.0,5e-4",
                               "--zscan-star", "-0.002,0.00201,4e-5", "--negflux-nsig", "5", "--no-skymask",
                               "--archetype-legendre-percamera", "False")
        self.check_truth(table)
        names = ("--mp", "--ncpu", "--gpu", "--max-gpuprocs", "--no-mpi-abort", "--debug",
                 "--archetype-legendre-percamera")
        self.assertEqual(len(self.warnings.splitlines()), len(names), self.warnings)
        for name in names:
            self.assertIn(name + " is ignored", self.warnings)

    def test_what_has_no_effect_is_said_to_have_none(self):
        many = ("--retry", "1", "--verify", "--readers", "1", "--writers", "1", "--memory", "1G", "--part-overhead", "1",
                "--claim-timeout", "9")
        shares = ("--type-shares", "5,2,2", "--candidates", "3")
        for options in (many, ("--method", "redrock", "--no-sky-continuum", *shares),
                        ("--method", "redrock", "--least-coverage", "0.9", *shares), ("--no-evidence", *shares),
                        ("--archetypes-no-legendre", "--archetype-nnearest", "2", "--archetype-legendre-prior", "1",
                         "--archetype-legendre-degree", "1"), ("--cosmics-nsig", "4", "--zminfit-npoints", "9"), ("--use-andmask",)):
            self.redshifts(*options, "-n", "1")
            for name in options:
                if name.startswith("--") and name not in ("--method", "--no-evidence"):
                    self.assertIn(f"{name} is ignored", self.warnings)
        self.result.unlink()
        for name in ("--dry-run", "--rebuild-ledger"):  # and nothing is done
            self.assert_fails(self.redshift(name), 2, name, "FOLDER")

    def test_an_emulated_card_finds_what_the_cpu_does(self):
        cpu = self.redshifts("--json", self.out / "cpu.json", "--backend", "cpu")
        card = self.redshifts("--json", self.out / "card.json", "--backend", "emulate")
        self.assertEqual({k: card[k] for k in ("SPECTYPE", "ZWARN", "NPIXELS")},
                         {k: cpu[k] for k in ("SPECTYPE", "ZWARN", "NPIXELS")})
        for key, most in (("Z", 1e-9), ("ZERR", 1e-9), ("CHI2", 1e-6), ("PROBABILITY", 1e-6)):
            for a, b in zip(card[key], cpu[key]):
                self.assertLessEqual(abs(a - b), most, key)
        said = {name: json.loads((self.out / f"{name}.json").read_text()) for name in ("cpu", "card")}
        self.assertIsNone(said["cpu"]["device"])
        self.assertRegex(said["card"]["device"]["name"], "^CPU emulation")
        self.assertEqual(said["card"]["taken_over_by_cpu"], {"scans": 0, "device_failure": ""})
        once = self.result.read_bytes()
        self.redshifts("--backend", "emulate", "--threads", "1")
        self.assertEqual(self.result.read_bytes(), once)

    def test_a_card_that_is_not_there_or_too_small_is_an_error(self):
        self.assert_fails(self.redshift("--backend", "cuda"), 60, "CUDA")
        self.assert_fails(self.redshift("--backend", "emulate", "--gpu-memory", "0.00001"), 60, "a scan needs at least")
        for method in ("exact", "redrock"):
            self.assert_fails(self.redshift("--backend", "emulate", "--method", method), 2,
                              f"--backend emulate: --method {method} runs on the CPU only")
        self.redshifts("--backend", "emulate", "--gpu-memory", "0.00001", "--on-device-error", "cpu", "--json",
                       self.out / "s.json")
        self.assertIn("the CPU scans these targets", self.warnings)
        taken = json.loads((self.out / "s.json").read_text())["taken_over_by_cpu"]
        self.assertEqual(taken["scans"], 1)
        self.assertIn("a scan needs at least", taken["device_failure"])

    def test_summary_tells_what_was_found(self):
        self.redshifts("--json", self.out / "s.json", "--trace", self.out / "t.json")
        summary = json.loads((self.out / "s.json").read_text())
        self.assertEqual(summary["targets"], {"all": 5, "zwarn_0": 5, "small_delta_chi2": 0, "no_data": 0,
                                              "probability_above_0.95": 5})
        self.assertEqual(summary["cuts"], {"BGS": 5, "LRG": 5, "ELG": 1, "QSO": 0})
        self.assertEqual(summary["types"], {"GALAXY": 3, "STAR": 2})
        self.assertIn("fit", summary["timers"])
        json.loads((self.out / "t.json").read_text())

    def test_info_knows_the_files(self):
        self.redshifts()
        result = self.program("info", self.result)
        self.assertEqual(result.returncode, 0, result.stderr)
        for word in ("redshifts", "5 targets", "GALAXY 3", "STAR 2", "ZWARN 0"):
            self.assertIn(word, result.stdout)
        archetypes = self.put("rrarchetype-galaxy.fits", archetype_bytes())
        for path, kind, words in ((self.templates / "rrtemplate-STAR-A-v1.0.fits", "template", "STAR:::A, "),
                                  (archetypes, "archetypes", "archetypes of GALAXY, 2 spectra")):
            result = self.program("info", path)
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertIn(f"{path.name}: {kind}\n", result.stdout)
            self.assertIn(words, result.stdout)


if __name__ == "__main__":
    unittest.main()
