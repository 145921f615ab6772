# SPDX-License-Identifier: BSD-3-Clause
"""Help, version, manual and completion of a sister program; exit codes in help and in the docs are the same."""
import os
import pathlib
import re
import unittest

from program_case import NAME, ProgramCase

SOURCE = pathlib.Path(os.environ.get("FIBERLOOM_SOURCE", "."))
COMMANDS = {"tomoloom": ("recon", "simulate", "info", "compare", "view", "completion", "manual"),
            "skyloom": ("simulate", "map", "info", "completion", "manual")}[NAME]
SLIP, MEANT = {"tomoloom": ("recno", "recon"), "skyloom": ("mpa", "map")}[NAME]


class CommandLine(ProgramCase):
    def test_every_command_has_help_that_ends_with_its_exit_codes(self):
        for name in COMMANDS:
            text = self.ok(name, "--help").stdout
            self.assertIn("Exit codes:", text, name)
            self.assertIn(f"{NAME} manual", text, name)

    def test_the_program_names_itself(self):
        self.assertRegex(self.ok("--version").stdout, rf"^{NAME} \d+\.\d+\.\d+\n$")
        self.assertIn(NAME.upper(), self.ok("manual").stdout.splitlines()[0].upper())
        for shell in ("bash", "zsh", "fish"):
            self.assertIn(NAME, self.ok("completion", shell).stdout)

    def test_a_slip_is_told(self):
        done = self.program(SLIP, "x")
        self.assertEqual(done.returncode, 2)
        self.assertIn(MEANT, done.stderr)

    def test_the_exit_codes_of_the_manual_are_those_of_the_docs(self):
        page = (SOURCE / f"docs/{NAME}/formats.md").read_text(encoding="utf-8")
        documented = set(re.findall(r"^\| (\d+) \|", page, re.M))
        told = set(re.findall(r"^\s*(\d+) {2}", self.ok("manual").stdout, re.M))
        self.assertEqual(told, documented)


if __name__ == "__main__":
    unittest.main()
