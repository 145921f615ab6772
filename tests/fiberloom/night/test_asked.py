# SPDX-License-Identifier: BSD-3-Clause
"""What a user asks for in odd words: exposure numbers, lists, outputs in the folder one is in, answers over files of the run."""
import subprocess
import unittest

from night_case import OPTIONS, PROGRAM, Case


class Asked(Case):
    def run_in(self, folder, *arguments, code=0):
        result = subprocess.run([PROGRAM, *map(str, arguments)], cwd=folder, capture_output=True, text=True, timeout=120)
        self.assertEqual(result.returncode, code, result.stderr)
        return result

    def test_exposure_numbers_are_decimal_as_in_names_of_files(self):
        for exposure in (8, 9, 10):  # 00000010 would be 8 in octal, and 00000009 nothing
            self.tree.add("r0", exposure)
        for asked, exposure in (("00000010", 10), ("00000009", 9)):
            out = self.work / asked
            self.run_in(self.work, "night", self.tree.root, "-o", out, *OPTIONS, "-q", "-e", asked)
            self.assertEqual(list(self.outputs(out)), [f"20261121/{exposure:08d}/frame-r0-{exposure:08d}.fits"])

    def test_a_list_with_an_open_quote_loses_no_frame(self):
        self.tree.add_exposures(1, cameras=("b0", "r0"))
        frames = self.work / "list.txt"
        frames.write_text(f'"{self.tree.image_path("b0", 1)}\n{self.tree.image_path("r0", 1)}\n')
        result = self.run_in(self.work, "night", frames, "-o", self.out, *OPTIONS, "-q", code=2)
        self.assertIn("list.txt, line 1: a double quote is not closed", result.stderr)
        self.assertEqual(self.outputs(), {})

    def test_an_output_may_lie_in_the_folder_one_is_in(self):
        image = self.tree.add("r0", 1)
        (self.work / "list.txt").write_text(f'"{image}" "{self.tree.psf_path("r0", 1)}" here.fits\n')
        self.run_in(self.work, "night", "list.txt", "-o", self.out, *OPTIONS, "-q")
        self.assertEqual((self.work / "here.fits").read_bytes(), self.extracted("r0", 1))

    def test_frames_of_another_compress_are_told_of(self):
        self.tree.add_exposures(1, cameras=("b0", "r0"))
        self.assertEqual(self.night_ok("-q").stderr_text, "")
        said = self.night_ok("-q", "--compress").stderr_text
        self.assertEqual(len(said.splitlines()), 1)
        self.assertIn(f"{self.frame_path('b0', 1)} and 1 more are of a run with another --compress", said)

    def test_exposures_and_cameras_that_are_not_there_are_told_of(self):
        self.tree.add_exposures(1, cameras=("b0", "r0"))
        told = "no frame here of exposure 77, camera z0, which was asked for"
        for more in ((), ("--dry-run",)):
            said = self.night_ok("-q", "-e", "1,77", "--cameras", "r0,z0", *more).stderr_text
            self.assertEqual((len(said.splitlines()), told in said), (1, True), said)
        self.assertEqual(list(self.outputs()), ["20261121/00000001/frame-r0-00000001.fits"])

    def test_an_answer_is_no_file_of_the_run(self):
        image = self.tree.add("r0", 1)
        self.night_ok("-q")
        for path, why in ((self.state("plan.jsonl"), "among the run's own files"), (self.frame_path("r0", 1), "is an input"),
                          (image, "is an input")):
            before = path.read_bytes()
            for more in ((), ("--why", "r0-00000001")):
                said = self.run_in(self.work, "status", self.out, *more, "--json", path, code=2).stderr
                self.assertIn(why, said)
            self.assertEqual(path.read_bytes(), before)

    def test_a_summary_is_no_database_of_runs(self):
        self.tree.add("r0", 1)
        database = self.work / "state.sqlite"
        state = ("--state", f"sqlite:///{database}", "--json", database)
        self.night_ok("-q", *state[:2])
        before = database.read_bytes()
        self.assertIn("is an input (database of --state", self.night_ok("-q", *state, code=2).stderr_text)
        for run in ((), (self.out,), (self.out, "--why", "r0-00000001")):
            self.run_in(self.work, "status", *run, *state, code=2)
        self.assertEqual(database.read_bytes(), before)


if __name__ == "__main__":
    unittest.main()
