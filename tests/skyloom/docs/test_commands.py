# SPDX-License-Identifier: BSD-3-Clause
"""Blocks marked ```sh run in skyloom's pages run, page by page, each in an empty folder."""
import os
import pathlib
import re
import subprocess
import tempfile
import unittest

PROGRAM = pathlib.Path(os.environ["SKYLOOM_PROGRAM"])
PAGES = pathlib.Path(os.environ["FIBERLOOM_SOURCE"]) / "docs/skyloom"
BLOCK = re.compile(r"^```sh run\n(.*?)^```$", re.M | re.S)


class Commands(unittest.TestCase):
    def run_page(self, name):
        blocks = BLOCK.findall((PAGES / name).read_text(encoding="utf-8"))
        with tempfile.TemporaryDirectory(prefix="skyloom-docs-") as folder:
            path = f"{PROGRAM.parent}{os.pathsep}{os.environ['PATH']}"
            done = subprocess.run(["bash", "-euo", "pipefail", "-c", "".join(blocks)], cwd=folder,
                                  env={**os.environ, "PATH": path}, capture_output=True, text=True, timeout=250)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout

    def test_the_first_steps_run(self):
        said = self.run_page("first-steps.md")
        self.assertIn("satellite_000001", said)
        self.assertIn("map.fits: HEALPix map", said)

    def test_every_page_with_such_blocks_is_run(self):
        found = {page.name for page in PAGES.glob("*.md") if BLOCK.search(page.read_text(encoding="utf-8"))}
        self.assertEqual(found, {"first-steps.md"})


if __name__ == "__main__":
    unittest.main()
