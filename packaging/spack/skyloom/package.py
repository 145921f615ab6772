# SPDX-License-Identifier: BSD-3-Clause
"""Spack recipe of the program for skies. In a Spack repository this file is packages/skyloom/package.py."""
from spack.package import *


class Skyloom(CMakePackage):
    """Simulates and maps the time-ordered data of CMB telescopes."""

    # No release is published yet: build from a checkout with
    #   spack dev-build skyloom@main
    homepage = "https://example.org/fiberloom"
    license("BSD-3-Clause")

    version("main", branch="main")

    depends_on("cxx", type="build")
    depends_on("cmake@3.24:", type="build")
    depends_on("ninja", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("cfitsio")
    depends_on("libdeflate")
    depends_on("cli11", type="build")
    depends_on("nlohmann-json", type="build")
    depends_on("sqlite")
    depends_on("hdf5~mpi")

    generator("ninja")
    conflicts("%gcc@:11", msg="C++20 is needed: g++ 12 or later")

    def cmake_args(self):
        return [
            self.define("FIBERLOOM_PROGRAMS", "skyloom"),
            self.define("FIBERLOOM_TESTS", self.run_tests),
            self.define("FIBERLOOM_BENCH", False),
        ]
