# SPDX-License-Identifier: BSD-3-Clause
"""Faults that are made on purpose, each by a script around the real program, must be seen by the checks of an attack;
the program itself passes them, and a case's name makes the same case again."""
import os
import pathlib
import stat
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "cli"))
import attack  # noqa: E402
import case as bounds  # noqa: E402
import checks  # noqa: E402
import corpus  # noqa: E402
import runner  # noqa: E402
from case import Case, rng_of  # noqa: E402

PROGRAM = os.environ.get("FIBERLOOM_PROGRAM", "")
FRAME = "out/frame.fits"
REAL = f'"{PROGRAM}" "$@" || exit $?; '
NAN_IN_FLUX = """python3 - <<'END'
import pathlib
path = pathlib.Path("out/frame.fits")
data = bytearray(path.read_bytes())
at = data.index(b"END" + b" " * 77) // 2880 * 2880 + 2880
data[at:at + 4] = b"\\x7f\\xc0\\x00\\x00"
path.write_bytes(data)
END"""


class Harness(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="fiberloom-harness-")
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)
        shared = {"table": {}, "writes": {}, "least_memory": 1 << 30, "usual_s": {}, "may_mount": False}
        cls.arena = attack.Arena(PROGRAM, cls.folder / "w", shared)
        cls.codes = checks.documented_codes(attack.ROOT)

    def faults(self, script="", **changes):
        """What the checks say of a program that does this."""
        program = PROGRAM
        if script:
            program = self.folder / "program"
            program.write_text(f"#!/bin/sh\n{script}\n")
            program.chmod(program.stat().st_mode | stat.S_IXUSR)
        self.arena.clear()
        self.arena.place(corpus.IMAGE, corpus.PSF)
        made = Case("harness:0:0", corpus.extract(), outputs=[FRAME], wanted=[FRAME], at_fault=[corpus.IMAGE])
        for name, value in changes.items():
            setattr(made, name, value)
        return runner.Runner(str(program), self.arena, self.codes).run(made, "harness").faults

    def assert_seen(self, words, script, **changes):
        faults = self.faults(script, **changes)
        self.assertTrue(any(words in fault for fault in faults), f"{words!r} not in {faults}")


class Good(Harness):
    def test_the_program_itself_passes(self):
        self.assertEqual(self.faults(), [])
        self.assertEqual(self.faults(REAL), [])
        self.assertEqual(self.faults(untouched=tuple(range(10))), [])
        self.arena.clear()

    def test_a_name_makes_the_same_case_again(self):
        for kind in ("bytes-image", "value-psf", "card-image", "pixels", "job"):
            made = []
            for _ in range(2):
                self.arena.clear()
                name = f"{kind}:7:11"
                one = attack.KINDS[kind][0](self.arena, rng_of(name), name)
                made.append((one, checks.fingerprints(self.arena.folder / "in")))
            self.assertEqual(made[0], made[1])

    def test_every_kind_gets_its_turns(self):
        names = attack.names(1, 400, [])
        self.assertEqual({name.split(":")[0] for name in names}, set(attack.KINDS))


class Deliberate(Harness):
    def test_deaths_and_codes(self):
        self.assert_seen("died of SIGSEGV", "kill -SEGV $$")
        self.assert_seen("died of SIGABRT", "kill -ABRT $$")
        self.assert_seen("a defect of the program", f"echo 'fiberloom: error: {corpus.IMAGE}' >&2; exit 70")
        self.assert_seen("not in the table", f"echo 'fiberloom: error: {corpus.IMAGE}' >&2; exit 99")
        self.assert_seen("expected one of", REAL, codes=(14,))

    def test_a_hang(self):
        before, bounds.QUIET_LIMIT_S = bounds.QUIET_LIMIT_S, 0.5
        try:
            self.assert_seen("hangs", "exec sleep 60")
            self.assert_seen("hangs", "while :; do :; done")
        finally:
            bounds.QUIET_LIMIT_S = before
        stop, bounds.STOP_LIMIT_S = bounds.STOP_LIMIT_S, 0.5
        try:
            self.assert_seen("did not end it", "trap '' TERM; while :; do :; done", patience_s=0.5)
        finally:
            bounds.STOP_LIMIT_S = stop

    def test_lines(self):
        self.assert_seen("0 lines with an error", "exit 14")
        self.assert_seen("2 lines with an error",
                         f"for i in 1 2; do echo 'fiberloom: error: {corpus.IMAGE}' >&2; done; exit 14")
        self.assert_seen("names none of", "echo 'fiberloom: error: something' >&2; exit 14")
        self.assert_seen("nobody's", "echo 'terminate called' >&2; exit 0")

    def test_inputs(self):
        self.assert_seen("an input was changed", REAL + f"echo >> {corpus.IMAGE}")
        self.assert_seen("an input was changed", REAL + f"rm {corpus.PSF}")
        self.assert_seen("left among the inputs", REAL + "touch in/new")

    def test_what_a_command_is_told_to_write(self):
        for argv, asked in ((["extract", "-i", "in/a", "-o", "out/b", "--model=in/c"], {"out/b", "in/c"}),
                            (["extract", "-i", "in/a", "-o", "in/a"], set()), (["night", "in/job.toml", "--json", "in/psf.fits"], set()),
                            (["extract", "-i", "in/a", "-o", "out/b", "-m", "in/job.toml"], {"out/b", "in/job.toml"}),
                            (["night", "in/night", "-o", "out", "--json=in/c"], {"out", "in/c"}),
                            (["night", "in/night", "-o", "out", "--trace", "in/job.toml"], {"out", "in/job.toml"}),
                            (["redshift", "-i", "in/a", "-o", "out/b", "-d", "in/job.toml"], {"out/b", "in/job.toml"}),
                            (["redshift", "-i", "in/list.txt", "-o", "out/", "--json", "in/a"], set()),
                            (["night", "in/night", "-o", "out", "--json", "in/night/c"], {"out"})):
            self.assertEqual(checks.written(argv), asked)

    def test_outputs(self):
        self.assert_seen("not there, though", "exit 0")
        self.assert_seen("a temporary is left", REAL + f"touch {FRAME}.tmp-1-1")
        self.assert_seen("nobody asked for it", REAL + "touch out/other")
        self.assert_seen("nobody asked for it", REAL + 'touch "$TMPDIR/x"')
        self.assert_seen("in spite of exit code 14",
                         REAL + f"echo 'fiberloom: error: {corpus.IMAGE}' >&2; exit 14")
        self.assert_seen("frame.fits", REAL + f"truncate -s 9000 {FRAME}")
        self.assert_seen("no file of any kind", REAL + f"echo text > {FRAME}")

    def test_numbers(self):
        self.assert_seen("with ivar > 0", REAL + NAN_IN_FLUX)
        self.assert_seen("CHECKSUM does not fit", REAL + NAN_IN_FLUX)
        other = f'"{PROGRAM}" "$@" --psferr 0.5 --regularize 0.3'
        self.assert_seen("its bundle was not harmed", other, untouched=(7,))

    def test_a_second_run_that_does_not_mend(self):
        self.assert_seen("the same command afterwards", "exit 3", again=corpus.extract())


if __name__ == "__main__":
    unittest.main()
