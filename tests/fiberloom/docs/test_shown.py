# SPDX-License-Identifier: BSD-3-Clause
"""Every command that README.md, CONTRIBUTING.md, docs/ and the examples of --help show. Those of the program run, on
cameras of ten fibres under the names that the pages use; of others is checked that what they name is there. A line
that this test does not know fails it. (Blocks marked ```sh run are test_commands.py's.)"""
import json
import os
import pathlib
import re
import shutil
import sqlite3
import subprocess
import tempfile
import unittest

import shown
import stage

PROGRAM = pathlib.Path(os.environ["FIBERLOOM_PROGRAM"])
SOURCE = pathlib.Path(os.environ["FIBERLOOM_SOURCE"])
PAGES = [SOURCE / "README.md", SOURCE / "CONTRIBUTING.md", *sorted((SOURCE / "docs/fiberloom").glob("*.md"))]
PEERS = ("spex", "desi_extract_spectra")
FOREIGN = ("nvidia-cuda-mps-control", "echo", "exspec", "snakemake")  # not ours, and not to be had here
FIRST_WORDS = (r"fiberloom", r"build/.*", r"scripts/.*", r"bench/.*", r"\.ci/run", r"mpirun", r"srun", r"sbatch", r"sqlite3",
               r"cmake", r"ctest", r"pip", r"python3?", r"git", r"time", *PEERS, *FOREIGN)
COMMANDS = ("extract", "expose", "night", "status", "fiberflat", "sky", "stdstars", "fluxcalib", "calibrate", "qa", "coadd", "catalogue", "redshift", "simulate", "compare", "info", "report", "bench", "templates",
            "completion", "manual")
FAKE_SRUN = '#!/bin/sh\nwhile [ "${1#--}" != "$1" ]; do shift; done\nunset SLURM_STEP_NUM_TASKS\nexec "$@"\n'


def run(words, folder, **more):
    return subprocess.run(list(map(str, words)), cwd=folder, capture_output=True, text=True, timeout=120, **more)


class Shown(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="fiberloom-shown-"))
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        cls.helps = {name: run([PROGRAM, name, "--help"], cls.folder).stdout for name in COMMANDS}
        for name in ("bench night", "bench gpu", *("catalogue " + part for part in ("load", "query", "export", "serve"))):
            cls.helps[name] = run([PROGRAM, *name.split(), "--help"], cls.folder).stdout
        stage.prepare(cls.folder, lambda *words: run([PROGRAM, *words], cls.folder).check_returncode())

    def assert_options(self, words, text):
        for word in words:
            name = word.split("=")[0]
            if re.match(r"--?[a-z]", name):
                self.assertRegex(text, rf"(^|[\s,]){re.escape(name)}\b", f"no such option: {word}")

    def program(self, words, whole, environment):
        """Runs `fiberloom WORDS...`, or where the page leaves something out, looks whether its options are there."""
        if not words or words == ["--version"] or words[0] == "COMMAND":
            return
        self.assertIn(words[0], COMMANDS, "no such command")
        name = " ".join(words[:2]) if words[0] in ("bench", "catalogue") and len(words) > 1 else words[0]
        self.assert_options(words, self.helps[name])
        if not whole or len(words) == 1 or words[0] == "bench" or name == "catalogue serve":  # benchmarks are cli_bench's; a server does not end
            return
        words = [found for word in self.smaller(words) for found in self.expanded(word)]
        result = run([PROGRAM, *words], self.folder, env={**os.environ, **environment})
        allowed = (0, 1) if words[0] == "compare" else (0,)  # 1: beyond the limits
        self.assertIn(result.returncode, allowed, f"{' '.join(words)}: {result.stderr}")

    def expanded(self, word):
        """As a shell does with names that hold a star."""
        found = sorted(str(p.relative_to(self.folder)) for p in self.folder.glob(word)) if "*" in word else []
        return found or [word]

    @staticmethod
    def smaller(words):
        """The same command for ten fibres, few frames and no waiting."""
        words = ["10" if before in ("-n", "--nspec") else word for before, word in zip(["", *words], words)]
        if words[0] == "simulate" and "--help" not in words:
            words = [word for k, word in enumerate(words) if "--nspec" not in words[max(0, k - 1):k + 1]]
            words += [] if "--targets" in words else ["--nspec", "1"]
            words = ["1" if before == "--exposures" else "3" if before == "--targets" else word for before, word in zip(["", *words], words)]
            words = [word.split(",")[0] if before == "--cameras" else word for before, word in zip(["", *words], words)]
        if "--watch" in words:
            words += ["--watch-idle", "0.2", "--settle", "0.05", "--poll", "0.05"]
        if words[0] == "status":  # of a night of two frames; those of the page have not been run yet
            words = ["status-out" if word.lower() == "out" else "r0-00000012" if before == "--why" else word
                     for before, word in zip(["", *words], words)]
        places = {"INPUT": "preproc/20261121", "OUT": "out", "N": "1"}
        return [places.get(word, word) for word in words]

    def script(self, words):
        """A script of ours: there, and its options in its help."""
        path = SOURCE / words[0]
        self.assertTrue(os.access(path, os.X_OK), f"{words[0]} is not there")
        options = [word for word in words[1:words.index("--") if "--" in words else None] if word.startswith("--")]
        if options and words[0] != ".ci/run":
            done = run([path, "--help"], SOURCE)
            self.assert_options(options, done.stdout + done.stderr)

    def built(self, words):
        """A program of the build: its target is there; where it is built and asks for little, it runs."""
        name = words[0].rsplit("/", 1)[-1]
        lists = " ".join(path.read_text() for folder in ("src", "tests", "bench")
                         for path in (SOURCE / folder).rglob("CMakeLists.txt"))
        self.assertRegex(lists, rf"(add_executable|loom_test)\({name}\b|foreach\([^)]*\b{name.removeprefix('bench_')}\b")
        path = PROGRAM.parent / name
        if name == "bench_frame" and path.exists():
            words = ["1" if before == "--repeat" else word for before, word in zip(["", *words], words)]
            result = run([path, *words[1:]], self.folder)
            self.assertEqual(result.returncode, 0, result.stderr)

    def cmake(self, words):
        presets = {p["name"] for p in json.loads((SOURCE / "CMakePresets.json").read_text())["configurePresets"]}
        for before, word in zip(words, words[1:]):
            if before == "--preset":
                self.assertIn(word, presets)

    def peer(self, words):
        """A script changes one word: all that it gives to a peer, `fiberloom extract` takes."""
        self.assert_options([w for w in words if w.startswith("-")], self.helps["extract"])

    def sbatch(self, words, environment):
        """The job script with srun's part left out."""
        bin_folder = self.folder / "bin"
        bin_folder.mkdir(exist_ok=True)
        (bin_folder / "srun").write_text(FAKE_SRUN)
        (bin_folder / "srun").chmod(0o755)
        at = next(k for k, word in enumerate(words) if word.endswith(".sbatch"))
        environment = {**os.environ, **environment, "FIBERLOOM": str(PROGRAM), "SLURM_ARRAY_TASK_ID": "0",
                       "PATH": f"{bin_folder}{os.pathsep}{os.environ['PATH']}"}
        rest = [word.replace("$PWD/", "") for word in words[at + 1:]]
        result = run(["bash", SOURCE / words[at], *rest], self.folder, env=environment)
        self.assertEqual(result.returncode, 0, result.stderr)

    def ledger(self, words):
        path, question = words[1].replace("OUT/", "out/"), words[2]
        with sqlite3.connect(f"file:{self.folder / path}?mode=ro", uri=True) as ledger:
            self.assertEqual(ledger.execute(question).fetchall(), [])

    def check(self, line):
        environment, words, whole = shown.words(line)
        if words and words[0] in ("time", "source"):
            words = words[1:]
        if words and words[0] in ("mpirun", "srun") and any(word.endswith("fiberloom") for word in words):
            words = words[next(k for k, word in enumerate(words) if word.endswith("fiberloom")):]
        if words[:3] == ["python", "-m", "fiberloom"]:
            words = words[2:]
        if not words:
            return
        first = words[0]
        if first.rsplit("/", 1)[-1] == "fiberloom":
            self.program(words[1:], whole, environment)
        elif first.startswith("scripts/") or first.startswith("bench/") or first == ".ci/run":
            self.script(words)
            if any(word.endswith(".sbatch") for word in words):
                self.sbatch(words, {})
        elif first.startswith("build/"):
            self.built(words)
        elif first in ("cmake", "ctest"):
            self.cmake(words)
        elif first == "pip":
            extras = re.findall(r"\.\[(\w+)", line)
            for extra in extras:
                self.assertRegex((SOURCE / "pyproject.toml").read_text(), rf"(?m)^{extra} = \[")
        elif first in PEERS:
            self.peer(words)
        elif first == "sbatch":
            self.sbatch(words, environment)
        elif first == "snakemake":  # python/tests run them
            self.assertTrue((SOURCE / words[words.index("-s") + 1]).is_file(), line)
        elif first == "sqlite3":
            self.ledger(words)

    def test_what_the_pages_show(self):
        count = 0
        for page in PAGES:
            for line, _ in shown.commands(page.read_text(encoding="utf-8"), FIRST_WORDS):
                count += 1
                with self.subTest(page=page.name, command=line):
                    self.check(line)
        self.assertGreater(count, 80, "commands have gone: are they still found?")

    def test_the_examples_of_help(self):
        for name, text in self.helps.items():
            lines = shown.of_help(text)
            if name not in ("bench", "catalogue", "bench night", "bench gpu"):
                self.assertTrue(lines, f"{name} has no example")
            for line in lines:
                with self.subTest(command=line):
                    self.check(line)

    def test_faults_are_seen(self):
        for line in ("fiberloom extrude -i a", "fiberloom extract --wavelenght 1", "fiberloom compare --max-pul ...",
                     "fiberloom info nothere.fits", "scripts/none", "scripts/test --wrong", "cmake --preset none",
                     "build/release/bin/none_test", "spex --new-option", "sbatch -N 4 docs/fiberloom/slurm/night.sbatch nothere out",
                     "bench/fiberloom/versus --no-such -- spex", "snakemake -s docs/fiberloom/snakemake/none.smk"):
            with self.subTest(line), self.assertRaises(AssertionError):
                self.check(line)
        with self.assertRaisesRegex(ValueError, "fibreloom"):
            shown.commands("Text\n\n    fiberloom info a\n    fibreloom info b\n", FIRST_WORDS)


if __name__ == "__main__":
    unittest.main()
