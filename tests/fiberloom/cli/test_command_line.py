# SPDX-License-Identifier: BSD-3-Clause
"""Options as argparse takes them, what is said of slips, help that fits on a screen."""
import unittest

import tiny_fits as fits
from run_fiberloom import Case

COMMANDS = ("extract", "expose", "night", "status", "fiberflat", "sky", "stdstars", "fluxcalib", "calibrate", "qa", "coadd", "redshift", "simulate",
            "compare", "info", "report", "completion", "manual")


class Spelling(Case):
    def made(self, *arguments):
        result = self.program("extract", "--quiet", *arguments)
        self.assertEqual(result.returncode, 0, result.stderr)
        return self.frame.read_bytes()

    def test_all_ways_that_argparse_has(self):
        rest = ["-p", self.psf, "-o", self.frame, "--bundlesize", "5"]
        image = ["-i", self.image]
        whole = self.made(*image, *rest, "--wavelength", "5005.0,5085.0,0.8")
        for given in (["-w=5005.0,5085.0,0.8"], ["-w5005.0,5085.0,0.8"], ["--wave", "5005.0,5085.0,0.8"],
                      ["--wave=5005.0,5085.0,0.8"], ["--wavel=5005.0,5085.0,0.8"], ["-qw", "5005.0,5085.0,0.8"],
                      ["-w", "5000,5010,1", "-w", "5005.0,5085.0,0.8"], ["-vw=5005.0,5085.0,0.8"]):
            with self.subTest(given):
                self.assertEqual(self.made(*image, *rest, *given), whole)
        self.assertEqual(self.made(f"-i={self.image}", f"--psf={self.psf}", f"--outp={self.frame}", "--bundle=5",
                                   "--wave=5005.0,5085.0,0.8"), whole)

    def test_the_last_of_several_counts(self):
        self.made(*self.command("-n", "3", "--nspec=4", "-n", "2", "--ndiag", "5", "--ndiag", "7")[1:])
        self.assertEqual(fits.by_name(self.frame)["RESOLUTION"].shape[:2], (2, 7))

    def test_numbers_below_zero_are_values(self):
        self.assert_fails(self.extract("--quiet", "-s", "-1"), 22, "from -1 on")
        self.assert_fails(self.extract("--quiet", "-s-1"), 22, "from -1 on")
        self.assert_fails(self.extract("--quiet", wave="-5,5,1"), 20, "-5.00 to 5.00")

    def test_two_dashes_end_the_options(self):
        result = self.program("info", "--", "--help")
        self.assert_fails(result, 10, "--help")

    def test_an_option_is_no_value_of_another(self):
        self.assert_fails(self.program("extract", "-i", self.image, "-p", self.psf, "-o", "-m", "x.fits"), 2,
                          "-o: expected a value, got the option -m")
        self.assert_fails(self.program(*self.command("--json")), 2, "--json: expected a value")

    def test_a_beginning_of_several(self):
        self.assert_fails(self.program(*self.command("--no")), 2, "--no may be --no-scores or --no-clobber")
        self.assert_fails(self.program(*self.command("--wavep", "3")), 2, "--wavepad or --wavepad-frac")
        # a whole name is itself, though others begin with it
        self.assertEqual(self.extract("--quiet", "--method", "patch", "--wavepad", "10").returncode, 0)


class Slips(Case):
    def said(self, arguments, *words):
        self.assert_fails(self.program(*arguments), 2, "--help", *words)

    def test_of_options(self):
        for typed, meant in (("--wavelenght", "--wavelength"), ("--bundelsize", "--bundlesize"), ("--no-clober", "--no-clobber"),
                             ("--qiet", "--quiet"), ("--theads=2", "--threads")):
            with self.subTest(typed):
                self.said(self.command(typed), f"no such option: {typed.split('=')[0]}; did you mean {meant}?")

    def test_of_commands(self):
        for typed, meant in (("extrct", "extract"), ("nihgt", "night"), ("comapre", "compare"), ("simulat", "simulate")):
            self.said([typed], f"no such command: {typed}; did you mean {meant}?")
        self.said(["bench", "nigth"], "no such command: nigth; did you mean night?")
        self.said(["zzz"], "no such command: zzz; expected extract")

    def test_nothing_is_guessed_where_nothing_is_near(self):
        result = self.program(*self.command("--entirely-else"))
        self.assertNotIn("did you mean", result.stderr)

    def test_short_ones(self):
        self.said(self.command("-z"), "no such option: -z")

    def test_a_night_of_nothing(self):
        self.assert_fails(self.program("night", "nosuch", "-o", self.out / "run"), 10, "nosuch: no such file or folder")


class Numbers(Case):
    def test_grids_say_what_is_wrong_with_them(self):
        for wave, words in (("5000,5100,1e-9", ("bins, expected at most 1000000",)), ("5000,5100,1000", ("wider than the range",)),
                            ("5000,5100,40", ("step of 40", "pixels apart", "spots are")), ("5000,5100,inf", ("a step > 0",))):
            with self.subTest(wave):
                self.assert_fails(self.extract("--quiet", wave=wave), 2, wave.split(",")[2][:2], *words)

    def test_diagonals_have_a_range(self):
        for number in ("999", "0", "-3", "10"):
            with self.subTest(number):
                self.assert_fails(self.extract("--quiet", "--ndiag", number), 2, "ndiag", "odd", number)


class Help(Case):
    def test_the_options_stay_on_the_screen(self):
        for command in COMMANDS:
            text = self.program(command, "--help").stdout
            codes = text[text.index("Exit codes:"):]
            self.assertLessEqual(len(codes.splitlines()), 8, command)
            self.assertLessEqual(max(map(len, codes.splitlines())), 80)
            for words in ("0 success", "2 wrong command line", "fiberloom manual"):
                self.assertIn(words, codes)
            if command == "manual":
                self.assertEqual(self.program(command).stdout.count("wrong command line"), 1)
        self.assertNotIn("60", self.program("info", "--help").stdout)
        self.assertIn("60 GPU", self.program("extract", "--help").stdout)
        lines = self.program("--help").stdout.splitlines()
        commands = [line for line in lines if line.startswith("  ") and line[2].isalpha()]
        self.assertGreaterEqual(len(commands), len(COMMANDS))
        self.assertLess(len(lines) - len(commands), 12, "a line a command, and little besides")


if __name__ == "__main__":
    unittest.main()
