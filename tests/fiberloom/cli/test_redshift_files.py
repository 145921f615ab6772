# SPDX-License-Identifier: BSD-3-Clause
"""fiberloom redshift on many files: each its results, restarts, faults."""
import json
import shutil
import unittest

from redshift_case import TRUTH, Case
from small_spectra import Targets, prior_bytes


class ManyFiles(Case):
    def setUp(self):
        super().setUp()
        self.tree = self.out / "in"
        for folder, seed in (("a", 1), ("b", 2)):
            (self.tree / folder).mkdir(parents=True)
            (self.tree / folder / f"coadd-{folder}.fits").write_bytes(Targets(TRUTH, seed=seed).coadd())
        self.results = self.out / "out"

    def survey(self, *more, inputs=None, code=0):
        result = self.program("redshift", "-i", *(inputs or [self.tree]), "-o", f"{self.results}/", "-t", self.templates,
                              *more)
        self.assertEqual(result.returncode, code, result.stderr)
        return result

    def test_each_file_has_its_results_once(self):
        self.survey("--model", f"{self.results}/", "--json", self.out / "s.json")
        self.assertEqual(sorted(str(p.relative_to(self.results)) for p in self.results.rglob("*.fits")),
                         ["a/redrock-a.fits", "a/rrmodel-a.fits", "b/redrock-b.fits", "b/rrmodel-b.fits"])
        summary = json.loads((self.out / "s.json").read_text())
        self.assertEqual(summary["counts"]["done"], 2)
        self.assertEqual([f["targets"] for f in summary["files"]], [5, 5])
        self.redshifts(inputs=self.tree / "a" / "coadd-a.fits")
        self.assertEqual(self.result.read_bytes(), (self.results / "a" / "redrock-a.fits").read_bytes())
        status = json.loads((self.results / "status.json").read_text())
        self.assertEqual((status["finished"], status["counts"]), (True, {"done": 2}))
        self.assertIn("a-a", (self.results / "status.html").read_text())
        again = self.survey("--model", f"{self.results}/", "--dry-run")
        self.assertEqual([line.split()[0] for line in again.stdout.splitlines()], ["up-to-date"] * 2)

    def test_a_card_scans_for_all_files_as_for_one(self):
        self.survey("--backend", "emulate", "--json", self.out / "s.json")
        summary = json.loads((self.out / "s.json").read_text())
        self.assertRegex(summary["device"]["name"], "^CPU emulation")
        self.assertEqual((summary["taken_over_by_cpu"]["scans"], summary["counts"]["done"]), (0, 2))
        self.redshifts("--backend", "emulate", inputs=self.tree / "a" / "coadd-a.fits")
        self.assertEqual(self.result.read_bytes(), (self.results / "a" / "redrock-a.fits").read_bytes())
        self.survey("--backend", "cpu", "--json", self.out / "s.json")  # another backend is no other option
        self.assertEqual(json.loads((self.out / "s.json").read_text())["counts"]["up_to_date"], 2)
        shutil.rmtree(self.results)
        self.survey("--backend", "emulate", "--gpu-memory", "0.00001", "--json", self.out / "s.json", code=3)
        files = json.loads((self.out / "s.json").read_text())["files"]
        self.assertEqual({f["exit_code"] for f in files}, {60})

    def test_what_has_changed_is_done_again(self):
        self.survey()
        before = (self.results / "b" / "redrock-b.fits").read_bytes()
        (self.tree / "b" / "coadd-b.fits").write_bytes(Targets(TRUTH, seed=9).coadd())
        self.survey("--json", self.out / "s.json")
        counts = json.loads((self.out / "s.json").read_text())["counts"]
        self.assertEqual((counts["done"], counts["up_to_date"]), (1, 1))
        self.assertNotEqual((self.results / "b" / "redrock-b.fits").read_bytes(), before)
        self.survey("--nminima", "2", "--json", self.out / "s.json")
        self.assertEqual(json.loads((self.out / "s.json").read_text())["counts"]["done"], 2)

    def test_priors_that_are_not_there_are_missing_where_none_were_used(self):
        self.survey()
        self.survey("--priors", self.out / "none.fits", code=3)
        priors = self.out / "priors.fits"
        priors.write_bytes(prior_bytes(Targets(TRUTH).ids[0], 0.03, 0.1))
        self.survey("--priors", priors, "--json", self.out / "s.json")
        self.assertEqual(json.loads((self.out / "s.json").read_text())["counts"]["done"], 2)
        priors.unlink()  # what was an input then may be gone
        self.survey("--priors", priors, "--json", self.out / "s.json")
        self.assertEqual(json.loads((self.out / "s.json").read_text())["counts"]["up_to_date"], 2)

    def test_a_bad_file_is_set_aside_and_the_rest_goes_on(self):
        bad = self.tree / "b" / "coadd-bad.fits"
        bad.write_bytes(b"no spectra")
        self.survey("--json", self.out / "s.json", code=3)
        files = {f["name"]: f for f in json.loads((self.out / "s.json").read_text())["files"]}
        self.assertEqual(files["b-bad"]["state"], "failed")
        self.assertEqual(files["b-bad"]["exit_code"], 14)
        self.assertEqual(files["a-a"]["state"], "done")
        self.survey("--json", self.out / "s.json", code=3)
        self.assertEqual(json.loads((self.out / "s.json").read_text())["counts"]["up_to_date"], 2)
        bad.write_bytes(Targets(TRUTH, seed=3).coadd())
        self.survey()
        self.assertTrue((self.results / "b" / "redrock-bad.fits").exists())

    def test_results_stay_in_their_folder_where_links_lead_elsewhere(self):
        data = self.out / "archive" / "c"
        data.mkdir(parents=True)
        shutil.move(self.tree / "b" / "coadd-b.fits", data / "coadd-c.fits")
        (self.tree / "b" / "c").symlink_to(data)
        (self.tree / "around").symlink_to(self.tree)
        self.survey()
        self.assertEqual(sorted(str(p.relative_to(self.out)) for p in self.out.rglob("redrock-*.fits")),
                         ["out/a/redrock-a.fits", "out/b/c/redrock-c.fits"])

    def test_a_link_that_leads_nowhere_is_missed(self):
        (self.tree / "b" / "coadd-gone.fits").symlink_to("/nowhere/coadd-gone.fits")
        self.assertIn("coadd-gone.fits: is not there", self.survey(inputs=[self.tree], code=3).stderr)
        self.assertEqual(len(list(self.results.rglob("redrock-*.fits"))), len(list(self.tree.rglob("coadd-*.fits"))) - 1)

    def test_names_with_blanks_stand_in_quotes_in_a_list(self):
        folder, names, templates = self.out / "my data", self.out / "list.txt", self.out / "templates.txt"
        folder.mkdir()
        shutil.copy(self.tree / "a" / "coadd-a.fits", folder)
        names.write_text('"my data/coadd-a.fits\n')
        self.assertIn("list.txt: line 1: a double quote is not closed", self.survey(inputs=[names], code=2).stderr)
        shutil.copytree(self.templates, folder / "t")
        names.write_text('"my data/coadd-a.fits"  # mine\n')
        templates.write_text("".join(f'"my data/t/{path.name}"\n' for path in sorted(self.templates.glob("*.fits"))))
        result = self.program("redshift", "-i", names, "-o", f"{self.results}/", "-t", templates, "-q")
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertTrue((self.results / "redrock-a.fits").exists())

    def test_lists_and_names_that_clash(self):
        names = self.out / "list.txt"
        names.write_text("# two\nin/a/coadd-a.fits\nin/b/coadd-b.fits\n")
        before = names.read_bytes()
        self.assertIn("is an input", self.survey("--json", names, inputs=[names], code=2).stderr)
        self.assertEqual((names.read_bytes(), self.results.exists()), (before, False))
        self.survey(inputs=[names])
        self.assertTrue((self.results / "redrock-a.fits").exists())
        shutil.copy(self.tree / "a" / "coadd-a.fits", self.tree / "b" / "spectra-a.fits")
        clash = self.survey(inputs=[self.tree / "a" / "coadd-a.fits", self.tree / "b" / "spectra-a.fits"], code=2)
        self.assertIn("same name", clash.stderr)
        (self.out / "empty").mkdir()
        self.survey(inputs=[self.out / "empty"], code=10)
        self.survey("--details", self.out / "file.h5", code=2)


if __name__ == "__main__":
    unittest.main()
