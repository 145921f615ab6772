# SPDX-License-Identifier: BSD-3-Clause
"""Completion scripts and the manual page offer what --help shows; real shells run them."""
import os
import pathlib
import re
import shutil
import subprocess
import unittest

PROGRAM = os.environ.get("FIBERLOOM_PROGRAM", "")


def run(*arguments):
    return subprocess.run([PROGRAM, *arguments], capture_output=True, text=True)


def output(*arguments):
    done = run(*arguments)
    assert done.returncode == 0, done.stderr
    return done.stdout


def commands():
    """name -> long options, as help shows them."""
    text = output("--help")
    names = re.findall(r"^  ([a-z]+) {2,}", text[text.index("\nSubcommands:"):],
                       re.M)
    assert "extract" in names
    return {name: sorted(set(re.findall(r"(?<![\w-])--[a-z][a-z0-9-]+", options(name))))
            for name in names}


def options(name):
    """The lines of help that begin with an option."""
    return "\n".join(line[:34] for line in output(name, "--help").splitlines()
                     if re.match(r"  (-\w,)?-", line))


def bash(words, after=""):
    """What bash offers for the last word."""
    script = output("completion", "bash") + f"""
COMP_WORDS=({' '.join(repr(w) for w in words)}); COMP_CWORD={len(words) - 1}
_fiberloom; printf '%s\\n' "${{COMPREPLY[@]}}"
"""
    done = subprocess.run(["bash", "--norc", "-c", script], capture_output=True, text=True)
    assert done.returncode == 0 and not done.stderr, done.stderr
    return done.stdout.split()


class Bash(unittest.TestCase):
    def test_commands_and_options_are_offered(self):
        table = commands()
        self.assertLessEqual(set(table), set(bash(["fiberloom", ""])))
        for name, wanted in table.items():
            self.assertLessEqual(set(wanted), set(bash(["fiberloom", name, "-"])) | {"--help"}, name)
        self.assertEqual(bash(["fiberloom", "extract", "--psf-"]), ["--psf-tails", "--psf-status"])

    def test_values_are_offered_and_files_left_to_the_shell(self):
        self.assertEqual(bash(["fiberloom", "extract", "--method", ""]), ["exact", "patch"])
        self.assertEqual(bash(["fiberloom", "extract", "--method", "p"]), ["patch"])
        self.assertEqual(bash(["fiberloom", "completion", "z"]), ["zsh"])
        self.assertEqual(bash(["fiberloom", "extract", "-i", "pre"]), [])
        self.assertIn("-o default", output("completion", "bash"))


@unittest.skipUnless(shutil.which("zsh"), "no zsh here")
class Zsh(unittest.TestCase):
    def test_the_script_loads_and_defines_the_completion(self):
        script = ("autoload -Uz compinit && compinit -u -D\n" + output("completion", "zsh") +
                  '\n[ "$_comps[fiberloom]" = _fiberloom ] && print good')
        done = subprocess.run(["zsh", "-f", "-c", script], capture_output=True, text=True)
        self.assertEqual((done.stdout, done.stderr), ("good\n", ""))

    def test_every_option_is_there(self):
        text = output("completion", "zsh")
        for name, wanted in commands().items():
            part = text[text.index(f"\n    {name})\n"):].split(";;")[0]
            for option in wanted:
                self.assertIn(f"'*{option}[", part)


@unittest.skipUnless(shutil.which("fish"), "no fish here")
class Fish(unittest.TestCase):
    def offered(self, line):
        script = output("completion", "fish") + f"\ncomplete -C '{line}'"
        done = subprocess.run(["fish", "--no-config", "-c", script], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        return [row.split("\t")[0] for row in done.stdout.splitlines()]

    def test_commands_options_and_values_are_offered(self):
        self.assertLessEqual(set(commands()), set(self.offered("fiberloom ")))
        self.assertIn("--method", self.offered("fiberloom extract --me"))
        self.assertEqual(self.offered("fiberloom extract --method p"), ["patch"])


class Manual(unittest.TestCase):
    def test_it_holds_every_option_and_exit_code(self):
        text = output("manual").replace("\\-", "-")
        for name, wanted in commands().items():
            part = text[text.index(f".SS fiberloom {name}\n"):].split("\n.SS ")[0]
            for option in wanted:
                self.assertIn(f"\\fB{option}\\fR", part, name)
        status = text[text.index('.SH "EXIT STATUS"'):text.index(".SH ENVIRONMENT")]
        page = (pathlib.Path(__file__).parents[3] / "docs/fiberloom/formats.md").read_text()
        codes = re.findall(r"^\| (\d+) \|", page[page.index("## Exit codes"):], re.M)
        self.assertGreater(len(codes), 20)
        self.assertEqual(re.findall(r"^ +(\d+) ", status, re.M), codes)

    @unittest.skipUnless(shutil.which("groff"), "no groff here")
    def test_groff_has_no_complaint(self):
        done = subprocess.run(["groff", "-man", "-Tutf8", "-ww"], input=output("manual"),
                              capture_output=True, text=True)
        self.assertEqual(done.stderr, "")
        self.assertIn("extract the spectra", done.stdout)


class Refusals(unittest.TestCase):
    def test_an_unknown_shell_is_a_usage_error(self):
        done = run("completion", "tcsh")
        self.assertEqual(done.returncode, 2)
        self.assertIn("tcsh", done.stderr)


if __name__ == "__main__":
    unittest.main()
