# SPDX-License-Identifier: BSD-3-Clause
"""Blocks marked ```sh run in a sister's pages run, page by page, each in an empty folder."""
import os
import pathlib
import re
import subprocess
import tempfile
import unittest

from program_case import NAME, PROGRAM

PAGES = pathlib.Path(os.environ.get("FIBERLOOM_SOURCE", ".")) / "docs" / NAME
BLOCK = re.compile(r"^```sh run\n(.*?)^```$", re.M | re.S)
SAID = {"tomoloom": ("180 of 32 rows x 128 columns, uint16", "volume.h5: volume"),
        "skyloom": ("satellite_000001", "map.fits: HEALPix map")}[NAME]


class Commands(unittest.TestCase):
    def run_page(self, name):
        blocks = BLOCK.findall((PAGES / name).read_text(encoding="utf-8"))
        with tempfile.TemporaryDirectory(prefix=f"{NAME}-docs-") as folder:
            path = f"{pathlib.Path(PROGRAM).parent}{os.pathsep}{os.environ['PATH']}"
            done = subprocess.run(["bash", "-euo", "pipefail", "-c", "".join(blocks)], cwd=folder,
                                  env={**os.environ, "PATH": path}, capture_output=True, text=True, timeout=250)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout

    def test_the_first_steps_run(self):
        said = self.run_page("first-steps.md")
        for part in SAID:
            self.assertIn(part, said)

    def test_every_page_with_such_blocks_is_run(self):
        found = {page.name for page in PAGES.glob("*.md") if BLOCK.search(page.read_text(encoding="utf-8"))}
        self.assertEqual(found, {"first-steps.md"})


if __name__ == "__main__":
    unittest.main()
