# SPDX-License-Identifier: BSD-3-Clause
"""What was built can be installed, moved, built against and packed."""
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

BUILD = pathlib.Path(os.environ["FIBERLOOM_BUILD"])
SOURCE = pathlib.Path(os.environ["FIBERLOOM_SOURCE"])
CMAKE = os.environ.get("FIBERLOOM_CMAKE", "cmake")
CONSUMER = SOURCE / "tests" / "packaging" / "consumer"


def run(*arguments, **more):
    done = subprocess.run(list(map(str, arguments)), capture_output=True, text=True, **more)
    if done.returncode != 0:
        raise AssertionError(f"{arguments}: exit {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


class Installed(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.root = pathlib.Path(tempfile.mkdtemp(prefix="fiberloom-install-"))
        cls.addClassCleanup(shutil.rmtree, cls.root)
        run(CMAKE, "--install", BUILD, "--prefix", cls.root / "first")
        cls.prefix = cls.root / "moved"  # nothing may remember the first place
        (cls.root / "first").rename(cls.prefix)

    def find(self, name):
        found = [p for p in self.prefix.rglob(name) if p.is_file()]
        self.assertTrue(found, f"{name} is not installed")
        return found[0]

    def test_the_program_runs_and_has_its_texts(self):
        version = run(self.prefix / "bin" / "fiberloom", "--version")
        self.assertRegex(version, r"^fiberloom \d+\.\d+\.\d+\n$")
        self.assertIn(".TH FIBERLOOM 1", self.find("fiberloom.1").read_text())
        for path in ("share/bash-completion/completions/fiberloom", "share/zsh/vendor-completions/_fiberloom",
                     "share/fish/vendor_completions.d/fiberloom.fish"):
            self.assertIn("fiberloom", (self.prefix / path).read_text())

    def test_no_test_header_and_no_path_of_the_build_is_installed(self):
        headers = [p.relative_to(self.prefix).as_posix() for p in self.prefix.rglob("*.hpp")]
        self.assertIn("include/fiberloom/extract/extract.hpp", headers)
        self.assertIn("include/fiberloom/recipes/version.hpp", headers)
        self.assertFalse([h for h in headers if "test" in h or "/cli/" in h or h.endswith("_library.hpp")])
        for pattern in ("*.cmake", "*.pc", "*.hpp"):
            for file in self.prefix.rglob(pattern):
                for path in (str(BUILD), str(SOURCE), str(self.root / "first")):
                    self.assertNotIn(path, file.read_text(), file)

    def test_a_cmake_project_builds_against_it(self):
        work = self.root / "by-cmake"
        run(CMAKE, "-S", CONSUMER, "-B", work, f"-DCMAKE_PREFIX_PATH={self.prefix}",
            f"-DCMAKE_CXX_COMPILER={os.environ.get('CXX', 'c++')}", "-DCMAKE_BUILD_TYPE=Debug")
        run(CMAKE, "--build", work)
        self.check_consumer(work / "consumer")

    @unittest.skipUnless(shutil.which("pkg-config"), "no pkg-config here")
    def test_a_makefile_builds_against_it(self):
        environment = {**os.environ, "PKG_CONFIG_PATH": str(self.find("fiberloom.pc").parent)}
        flags = run("pkg-config", "--cflags", "--libs", "fiberloom", env=environment).split()
        program = self.root / "by-pkg-config"
        run(os.environ.get("CXX", "c++"), CONSUMER / "consumer.cpp", "-o", program, *flags)
        self.check_consumer(program)

    def check_consumer(self, program):
        frame = self.root / "frame.fits"
        self.assertRegex(run(program, frame), r"^fiberloom \d+\.\d+\.\d+: flux \d+\.\d+\n$")
        self.assertIn("frame", run(self.prefix / "bin" / "fiberloom", "info", frame))


@unittest.skipUnless(shutil.which("dpkg-deb") and shutil.which("dpkg-shlibdeps"), "no Debian tools here")
class Debian(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.root = pathlib.Path(tempfile.mkdtemp(prefix="fiberloom-deb-"))
        cls.addClassCleanup(shutil.rmtree, cls.root)
        cpack = shutil.which("cpack", path=str(pathlib.Path(CMAKE).parent)) or "cpack"
        run(cpack, "-G", "DEB", "--config", BUILD / "CPackConfig.cmake", "-B", cls.root, cwd=BUILD)
        cls.packages = {p.name.split("_")[0]: p for p in cls.root.glob("*.deb")}

    def test_the_program_runs_from_an_unpacked_package(self):
        tree = self.root / "tree"
        run("dpkg-deb", "-x", self.packages["fiberloom"], tree)
        self.assertRegex(run(tree / "usr/bin/fiberloom", "--version"), r"^fiberloom ")
        self.assertTrue(list(tree.glob("usr/share/man/man1/fiberloom.1*")))
        self.assertTrue((tree / "usr/share/doc/fiberloom/copyright").exists())
        self.assertFalse(list(tree.rglob("*.a")) + list(tree.rglob("*.hpp")))

    def test_it_depends_on_what_it_links(self):
        depends = run("dpkg-deb", "-f", self.packages["fiberloom"], "Depends")
        self.assertRegex(depends, r"libcfitsio\d*")
        self.assertRegex(depends, r"libdeflate0")
        self.assertRegex(depends, r"liberfa\d")
        self.assertRegex(run("dpkg-deb", "-f", self.packages["fiberloom"], "Version"), r"^\d+\.\d+\.\d+")

    def test_tomography_is_a_package_of_its_own(self):
        if "tomoloom" not in self.packages:
            self.skipTest("fiberloom is built alone")
        tree = self.root / "tomography"
        run("dpkg-deb", "-x", self.packages["tomoloom"], tree)
        self.assertRegex(run(tree / "usr/bin/tomoloom", "--version"), r"^tomoloom ")
        self.assertTrue(list(tree.glob("usr/share/man/man1/tomoloom.1*")))
        self.assertTrue((tree / "usr/share/doc/tomoloom/copyright").exists())
        self.assertFalse(list(tree.rglob("*fiberloom*")))
        depends = run("dpkg-deb", "-f", self.packages["tomoloom"], "Depends")
        self.assertNotRegex(depends, r"cfitsio|erfa")
        self.assertNotIn("tomoloom", run("dpkg-deb", "-c", self.packages["fiberloom"]))

    def test_skies_are_a_package_of_their_own(self):
        if "skyloom" not in self.packages:
            self.skipTest("fiberloom is built alone")
        tree = self.root / "skies"
        run("dpkg-deb", "-x", self.packages["skyloom"], tree)
        self.assertRegex(run(tree / "usr/bin/skyloom", "--version"), r"^skyloom ")
        self.assertTrue(list(tree.glob("usr/share/man/man1/skyloom.1*")))
        self.assertFalse(list(tree.rglob("*fiberloom*")))
        self.assertNotRegex(run("dpkg-deb", "-f", self.packages["skyloom"], "Depends"), r"sqlite|libpq")

    def test_the_library_is_a_package_of_its_own(self):
        content = run("dpkg-deb", "-c", self.packages["libfiberloom-dev"])
        self.assertRegex(content, r"libfiberloom\.a")
        self.assertTrue(re.search(r"include/fiberloom/extract/extract\.hpp", content))
        self.assertNotIn("/usr/bin/", content)


if __name__ == "__main__":
    unittest.main()
