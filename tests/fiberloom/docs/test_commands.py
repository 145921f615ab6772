# SPDX-License-Identifier: BSD-3-Clause
"""Blocks marked ```sh run in the documentation run, page by page, each in an empty folder."""
import os
import pathlib
import re
import subprocess
import tempfile
import unittest

PROGRAM = pathlib.Path(os.environ["FIBERLOOM_PROGRAM"])
SOURCE = pathlib.Path(os.environ["FIBERLOOM_SOURCE"])
PAGES = ("docs/fiberloom/tutorial.md", "docs/fiberloom/howto-pipeline.md", "docs/fiberloom/howto-engines.md", "docs/fiberloom/howto-night.md",
         "docs/fiberloom/howto-reprocessing.md", "docs/fiberloom/howto-site.md")
BLOCK = re.compile(r"^```sh run\n(.*?)^```$", re.M | re.S)


def run_blocks(blocks, folder):
    """All blocks as one script that stops at the first command that fails."""
    path = f"{PROGRAM.parent}{os.pathsep}{os.environ['PATH']}"
    return subprocess.run(["bash", "-euo", "pipefail", "-c", "".join(blocks)], cwd=folder,
                          env={**os.environ, "PATH": path}, capture_output=True, text=True,
                          timeout=250)


class Pages(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="fiberloom-docs-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def run_page(self, name):
        blocks = BLOCK.findall((SOURCE / name).read_text(encoding="utf-8"))
        self.assertGreater(len(blocks), 3, f"{name}: blocks to run have gone")
        result = run_blocks(blocks, self.folder)
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        return result.stdout


class Commands(Pages):
    def test_the_tutorial_runs_and_leaves_what_it_says(self):
        said = self.run_page("docs/fiberloom/tutorial.md")
        self.assertIn("spectra            25", said)
        self.assertIn("25 spectra x 2326 bins", said)
        for name in ("camera/truth-r0-00000001.fits", "frame-r0-00000001.fits",
                     "model-r0-00000001.fits", "summary.json", "report.html"):
            self.assertTrue((self.folder / name).stat().st_size > 0, name)

    def test_the_pipeline_page_runs_and_finds_what_it_says(self):
        said = self.run_page("docs/fiberloom/howto-pipeline.md")
        self.assertIn("the frame is there", said)
        self.assertIn("bins without information", said)
        self.assertIn("1 frames: 1 up-to-date", said)

    def test_the_page_about_engines_runs_and_its_receipts_tell_what_is_done(self):
        said = self.run_page("docs/fiberloom/howto-engines.md")
        self.assertIn("exit code 3", said)
        self.assertIn("done: frame-r0-00000001.fits", said)
        self.assertIn("truncated", said)
        self.assertIn("2 frames: 1 failed, 1 up-to-date", said)
        self.assertIn("2 frames: 2 up-to-date", said)

    def test_the_page_about_a_night_runs_and_finds_what_it_says(self):
        said = self.run_page("docs/fiberloom/howto-night.md")
        self.assertIn("redrock-0-1000-thru20200101.fits", said)
        self.assertIn("50 of 50 there already", said)
        self.assertIn("exit code 3", said)
        self.assertIn("r0-00000005: ", said)
        self.assertIn("mended", said)

    def test_every_page_with_such_blocks_is_run(self):
        files = [SOURCE / "README.md", *(SOURCE / "docs/fiberloom").glob("*.md")]
        found = {str(f.relative_to(SOURCE)) for f in files if BLOCK.search(f.read_text("utf-8"))}
        self.assertEqual(found, set(PAGES))

    def test_a_command_that_fails_is_seen(self):
        result = run_blocks(["fiberloom info nothere.fits\n", "echo after\n"], self.folder)
        self.assertEqual(result.returncode, 10, result.stderr)
        self.assertNotIn("after", result.stdout)


class MoreNights(Pages):
    """What nights do is seen by their own tests as well."""

    def test_the_page_about_all_data_again_runs_and_finds_what_it_says(self):
        said = self.run_page("docs/fiberloom/howto-reprocessing.md")
        self.assertRegex(said, r"26 tasks: 26 to do; about \d+ core-seconds")
        self.assertIn("['catalogue-0-1000-thru20200101', 'redshift-0-1000-thru20200101']", said)
        self.assertRegex(said, r"sure\n\d\d\nsure\n\d\d\n")

    def test_the_page_about_a_site_runs_and_leaves_what_it_says(self):
        said = self.run_page("docs/fiberloom/howto-site.md")
        self.assertRegex(said, r"26 tasks: 26 to do; about \d+ core-seconds")
        self.assertIn("catalogue  4 done", said)
        self.assertIn("GALAXY", said)
        self.assertGreater((self.folder / "redshifts.html").stat().st_size, 10000)


if __name__ == "__main__":
    unittest.main()
