# SPDX-License-Identifier: BSD-3-Clause
"""scripts/docs-site makes the pages of this checkout without a dead link, and says where there is one."""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

SOURCE = pathlib.Path(os.environ["FIBERLOOM_SOURCE"])
SCRIPT = SOURCE / "scripts/docs-site"


def has_markdown():
    for python in (sys.executable, "/usr/bin/python3"):  # the script, too, tries both
        if os.path.exists(python) and subprocess.run(
                [python, "-c", "import markdown"], capture_output=True, check=False).returncode == 0:
            return True
    return False


class Site(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="fiberloom-site-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.out = self.folder / "out"

    def make(self, *options, program=os.environ["FIBERLOOM_PROGRAM"]):
        return subprocess.run([sys.executable, "-B", SCRIPT, "--program", program, "--out", self.out, *options],
                              capture_output=True, text=True, timeout=120)

    def small_source(self, text):
        root = self.folder / "source"
        (root / "docs/fiberloom").mkdir(parents=True)
        for name in ("site.css", "site.js"):
            shutil.copyfile(SOURCE / "docs" / name, root / "docs" / name)
        (root / "README.md").write_text(text)
        (root / "docs/fiberloom/page.md").write_text("# A page\n\n## Second part: *more*\n\n[back](../../README.md)\n")
        return self.make("--source", root)


@unittest.skipUnless(has_markdown(), "Python's Markdown is not here: apt-get install python3-markdown")
class Made(Site):
    def test_all_pages_of_this_checkout_without_a_dead_link(self):
        result = self.make()
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        expected = {path.stem + ".html" for path in (SOURCE / "docs/fiberloom").glob("*.md")}
        for sister in ("tomoloom", "skyloom"):
            expected |= {f"{sister}-{path.stem}.html" for path in (SOURCE / "docs" / sister).glob("*.md")}
        expected |= {"index.html", "commands.html", "architecture.html", "changelog.html", "contributing.html"}
        expected |= {"reference-python.html", "reference-cpp.html"}
        made = {path.name for path in self.out.glob("*.html") if not path.name.startswith("cpp-")}
        self.assertEqual(made, expected)
        tutorial = (self.out / "tutorial.html").read_text(encoding="utf-8")
        self.assertIn('href="howto-pipeline.html"', tutorial)
        self.assertIn("<table>", tutorial)
        self.assertNotIn("```", tutorial)
        self.assertNotIn('.md"', tutorial)
        self.assertTrue((self.out / "images/tutorial-report.png").is_file())
        commands = (self.out / "commands.html").read_text(encoding="utf-8")
        for name in ("fiberloom extract", "fiberloom night", "Exit codes"):
            self.assertIn(f">{name}</h2>", commands)

    def test_pages_ask_for_nothing_from_elsewhere_and_hang_together(self):
        self.assertEqual(self.make().returncode, 0)
        order, page = [], "index.html"
        while page and page not in order:
            order.append(page)
            text = (self.out / page).read_text(encoding="utf-8")
            self.assertNotRegex(text, r'(?:src|<link[^>]*href)="(?:https?:)?//')
            found = re.search(r'rel="next" href="([^"]*)"', text)
            page = found and found[1]
        self.assertGreater(len(order), 15)
        self.assertEqual(order[-1], "changelog.html")
        index = (self.out / "search-index.js").read_text(encoding="utf-8")
        entries = json.loads(index[index.index("["):index.rindex(";")])
        for wanted in ("troubleshooting.html#14-truncated-or-corrupted-file", "reference-python.html#fiberloom.Frame",
                       "cpp-ccd.html#pixel_mask-apply_mask", "commands.html#fiberloom-night"):
            self.assertIn(wanted, [link for _, _, link, _ in entries])
        self.assertIn("<mfrac>", (self.out / "algorithm.html").read_text(encoding="utf-8"))

    def test_an_equation_that_cannot_be_set_is_named(self):
        result = self.small_source("# Read me\n\n```equation\na # b\n```\n")
        self.assertEqual(result.returncode, 2, result.stdout)
        self.assertIn("a # b", result.stderr)

    def test_good_links_pass(self):
        result = self.small_source("# Read me\n\n[there](docs/fiberloom/page.md#second-part-more) [away](https://example.org)\n")
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        self.assertIn('href="page.html#second-part-more"', (self.out / "index.html").read_text())
        self.assertIn('href="index.html"', (self.out / "page.html").read_text())

    def test_dead_links_are_named(self):
        result = self.small_source("# Read me\n\n[a](docs/fiberloom/none.md) [b](docs/fiberloom/page.md#none) ![c](docs/none.png)\n")
        self.assertEqual(result.returncode, 1, result.stdout + result.stderr)
        for link in ("docs/fiberloom/none.md", "page.html#none", "docs/none.png"):
            self.assertIn(f"README.md: {link}: no such", result.stdout)

    def test_a_missing_program_is_named(self):
        result = self.make(program="/nowhere/fiberloom")
        self.assertEqual(result.returncode, 2)
        self.assertIn("/nowhere/fiberloom", result.stderr)


class Missing(Site):
    def test_without_markdown_it_says_what_to_install(self):
        code = ("import runpy, sys; sys.modules['markdown'] = None; sys.executable = '/usr/bin/python3'; "
                f"sys.argv = ['docs-site']; runpy.run_path({str(SCRIPT)!r}, run_name='__main__')")
        result = subprocess.run([sys.executable, "-B", "-c", code], capture_output=True, text=True)
        self.assertEqual(result.returncode, 2, result.stderr)
        self.assertIn("python3-markdown", result.stderr)


if __name__ == "__main__":
    unittest.main()
