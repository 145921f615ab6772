# SPDX-License-Identifier: BSD-3-Clause
"""Help, version, manual and completion of skyloom; exit codes in help and in the docs are the same."""
import os
import pathlib
import re
import unittest

from run_skyloom import Case

SOURCE = pathlib.Path(os.environ.get("FIBERLOOM_SOURCE", "."))
COMMANDS = ("simulate", "map", "info", "completion", "manual")


class CommandLine(unittest.TestCase):
    def said(self, *arguments):
        done = Case.program(*arguments)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def test_every_command_has_help_that_ends_with_its_exit_codes(self):
        for name in COMMANDS:
            text = self.said(name, "--help")
            self.assertIn("Exit codes:", text, name)
            self.assertIn("skyloom manual", text, name)

    def test_the_program_names_itself(self):
        self.assertRegex(self.said("--version"), r"^skyloom \d+\.\d+\.\d+\n$")
        self.assertIn("SKYLOOM", self.said("manual").splitlines()[0].upper())
        for shell in ("bash", "zsh", "fish"):
            self.assertIn("skyloom", self.said("completion", shell))

    def test_a_slip_is_told(self):
        done = Case.program("mpa", "x")
        self.assertEqual(done.returncode, 2)
        self.assertIn("map", done.stderr)

    def test_the_exit_codes_of_the_manual_are_those_of_the_docs(self):
        page = (SOURCE / "docs/skyloom/formats.md").read_text(encoding="utf-8")
        documented = set(re.findall(r"^\| (\d+) \|", page, re.M))
        manual = self.said("manual")
        told = set(re.findall(r"^\s*(\d+) {2}", manual, re.M))
        self.assertEqual(told, documented)


if __name__ == "__main__":
    unittest.main()
