# SPDX-License-Identifier: BSD-3-Clause
"""The checks must be able to fail: each is shown a violation."""
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

SOURCE = pathlib.Path(os.environ["FIBERLOOM_SOURCE"])
COMMANDS = ("scripts/demo", "scripts/test", "scripts/test-python", "scripts/test-packages")
SPDX = "// SPDX-License-Identifier: BSD-3-Clause\n"


class Scratch(unittest.TestCase):
    def setUp(self):
        self.root = pathlib.Path(tempfile.mkdtemp(prefix="fiberloom-check-"))
        self.addCleanup(shutil.rmtree, self.root)

    def put(self, path, text):
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        return file

    def run_script(self, name, *arguments):
        return subprocess.run([SOURCE / "scripts" / name, *arguments], capture_output=True, text=True)


class Lengths(Scratch):
    def verdict(self, text, path="src/loom/base/a.cpp"):
        self.put(path, SPDX + text)
        result = self.run_script("check-lengths", self.root)
        return result.returncode, result.stdout

    @staticmethod
    def function(lines, above="", signature="int f(int x,\n      int y) {"):
        return f"{above}{signature}\n" + "  ++x;\n" * lines + "}\n"

    def test_finds_long_files_and_long_functions(self):
        for text in ("\n" * 400, self.function(58), "namespace a {\n" + self.function(70) + "}\n"):
            code, said = self.verdict(text)
            self.assertEqual(code, 1, said)
            self.assertIn("src/loom/base/a.cpp", said)
        self.assertIn(":3: 73 lines", said)

    def test_lets_pass_what_is_short_or_has_its_reason_or_is_a_test(self):
        for text in ("\n" * 398, self.function(57), self.function(57) + "\n" + self.function(57),
                     self.function(80, "// Long: one loop in straight lines.\n"), "// Long: a table.\n" + "\n" * 500,
                     self.function(80, signature="TEST(A, B) {"), "struct A {\n" + "  int x;\n" * 80 + "};\n"):
            code, said = self.verdict(text)
            self.assertEqual(code, 0, said)

    def test_holds_the_house(self):
        result = self.run_script("check-lengths")
        self.assertEqual(result.returncode, 0, result.stdout)


class Layers(Scratch):
    def verdict(self, path, line):
        self.put(path, SPDX + line + "\n")
        result = self.run_script("check-layers", self.root)
        (self.root / path).unlink()
        return result.returncode, result.stdout

    def test_finds_each_kind_of_violation(self):
        for path, line in (
                ("src/loom/base/a.hpp", '#include "fiberloom/psf/psf_model.hpp"'),
                ("src/fiberloom/extract/a.cpp", '#include "loom/fits/hdu.hpp"'),
                ("src/fiberloom/formats/a.cpp", "#include <fitsio.h>"),
                ("src/fiberloom/recipes/a.cpp", "#include <erfa.h>"),
                ("src/fiberloom/recipes/a.cpp", "#include <erfam.h>"),
                ("src/fiberloom/recipes/a.cpp", "#include <mpi.h>"),
                ("src/loom/linalg/a.cpp", "#include <cuda_runtime.h>"),
                ("src/fiberloom/extract/exact/a.cpp", "#include <Eigen/Dense>"),
                ("src/fiberloom/psf/a.cpp", "#include <immintrin.h>"),
                ("src/fiberloom/psf/a.cpp", '#include "loom/simd/pack.hpp"'),
                ("src/loom/device/a.cu", '#include "loom/simd/isa.hpp"'),
                ("src/fiberloom/extract/a.cpp", "#include <iostream>"),
                ("src/fiberloom/extract/a.cpp", 'int f() { return std::printf("x"); }'),
                ("python/src/a.cpp", '#include "fiberloom/cli/command.hpp"'),
                ("src/fiberloom/cli/a.cpp", "#include <CLI/CLI.hpp>"),
                ("src/loom/program/a.cpp", "#include <CLI/CLI.hpp>"),
                ("src/loom/program/a.cpp", '#include "fiberloom/extract/extract.hpp"'),
                ("src/fiberloom/new/a.cpp", "int x;"),
                ("src/fiberloom/psf/new/a.cpp", "int x;"),
                ("src/fiberloom/extract/patch/a.cpp", '#include "fiberloom/extract/exact/bundle.hpp"')):
            with self.subTest(path=path, line=line):
                code, text = self.verdict(path, line)
                self.assertEqual(code, 1, text)
                self.assertIn(path, text)

    def test_wants_a_licence_line(self):
        self.put("src/loom/base/a.cpp", "int x;\n")
        self.assertEqual(self.run_script("check-layers", self.root).returncode, 1)

    def test_lets_good_files_pass(self):
        for path, line in (
                ("src/fiberloom/extract/a.cpp", '#include "loom/base/array.hpp"'),
                ("src/loom/fits/a.cpp", "#include <fitsio.h>"),
                ("src/fiberloom/astro/a.cpp", "#include <erfa.h>"),
                ("src/fiberloom/psf/a_cpu.cpp", '#include "loom/simd/pack.hpp"'),
                ("src/fiberloom/extract/patch/a.cpp", "#include <Eigen/Dense>"),
                ("src/loom/base/a.cpp", "int f(char* s) { return std::snprintf(s, 1, s); }"),
                ("src/loom/program/parse.cpp", "#include <CLI/CLI.hpp>"),
                ("src/fiberloom/cli/a.cpp", '#include "fiberloom/recipes/extract_frame.hpp"')):
            with self.subTest(path=path, line=line):
                code, text = self.verdict(path, line)
                self.assertEqual(code, 0, text)


class WeakSymbols(Scratch):
    def verdict(self, text):
        source = self.put("a_cpu.cpp", text)
        folder = self.root / "fiberloom_x_v4.dir"
        folder.mkdir(exist_ok=True)
        subprocess.run([os.environ.get("CXX", "c++"), "-std=c++20", "-O0", "-c", source, "-o",
                        folder / "a.o"], check=True)
        return self.run_script("check-weak-symbols", self.root).returncode

    def test_an_inline_function_outside_the_namespace_is_found(self):
        self.assertEqual(self.verdict("inline int f() { return 1; } int g() { return f(); }"), 1)

    def test_inside_the_namespace_it_passes(self):
        self.assertEqual(
            self.verdict("namespace isa_v4 { inline int f() { return 1; } } "
                         "int g() { return isa_v4::f(); }"), 0)

    def test_no_objects_is_an_error(self):
        self.assertNotEqual(self.run_script("check-weak-symbols", self.root).returncode, 0)


class Shell(unittest.TestCase):
    def test_scripts_parse(self):
        for name in (*COMMANDS, "scripts/lib.sh", ".ci/run"):
            result = subprocess.run(["bash", "-n", SOURCE / name], capture_output=True, text=True)
            self.assertEqual(result.returncode, 0, result.stderr)

    def test_scripts_explain_themselves(self):
        for name in (*COMMANDS, "scripts/docs-site"):
            result = subprocess.run([SOURCE / name, "--help"], capture_output=True, text=True)
            self.assertEqual(result.returncode, 0)
            self.assertIn(name, result.stdout)


if __name__ == "__main__":
    unittest.main()
