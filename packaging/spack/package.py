# SPDX-License-Identifier: BSD-3-Clause
"""Spack recipe. In a Spack repository this file is packages/fiberloom/package.py."""
from spack.package import *


class Fiberloom(CMakePackage):
    """Exact 2-D extraction of multi-fibre spectra (spectro-perfectionism)."""

    # No release is published yet: build from a checkout with
    #   spack dev-build fiberloom@main
    homepage = "https://example.org/fiberloom"
    license("BSD-3-Clause")

    version("main", branch="main")

    variant("patch", default=True, description="Build the peers' method too (Eigen)")
    variant("python", default=False, description="Build the Python extension")

    depends_on("cxx", type="build")
    depends_on("cmake@3.24:", type="build")
    depends_on("ninja", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("cfitsio")
    depends_on("libdeflate")
    depends_on("erfa")
    depends_on("cli11", type="build")
    depends_on("nlohmann-json", type="build")
    depends_on("eigen@3.3:", type="build", when="+patch")
    depends_on("sqlite")
    depends_on("hdf5~mpi")

    with when("+python"):
        extends("python")
        depends_on("python@3.9:", type=("build", "run"))
        depends_on("py-pybind11@2.13:", type="build")
        depends_on("py-numpy@1.26:", type=("build", "run"))

    generator("ninja")
    conflicts("%gcc@:11", msg="C++20 is needed: g++ 12 or later")

    def cmake_args(self):
        return [
            self.define("FIBERLOOM_PROGRAMS", "fiberloom"),
            self.define("FIBERLOOM_TESTS", self.run_tests),
            self.define("FIBERLOOM_BENCH", False),
            self.define_from_variant("FIBERLOOM_ORACLE", "patch"),
            self.define_from_variant("FIBERLOOM_PYTHON", "python"),
        ]

    @run_after("install")
    def install_python(self):
        if self.spec.satisfies("+python"):
            with working_dir(self.build_directory):
                cmake("--install", ".", "--component", "python", "--prefix", python_platlib)
            install_tree("python/fiberloom", join_path(python_platlib, "fiberloom"))
