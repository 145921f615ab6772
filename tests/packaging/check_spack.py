# SPDX-License-Identifier: BSD-3-Clause
"""Loads the Spack recipes with stand-ins for Spack's directives, where there is no Spack: it must execute, use only
variants that it declares and CMake options that exist, and depend on all that the build looks for."""
import contextlib
import pathlib
import re
import sys
import types

NEEDS = {"cfitsio": "cfitsio", "libdeflate": "libdeflate", "erfa": "erfa", "Eigen3": "eigen", "CLI11": "cli11", "nlohmann_json": "nlohmann-json",
         "SQLite3": "sqlite", "hdf5": "hdf5", "pybind11": "py-pybind11", "PkgConfig": "pkgconfig",
         "Python": "python"}
# Which of them a program alone asks for.
OF_PROGRAM = {"fiberloom": set(NEEDS), "tomoloom": set(NEEDS) - {"cfitsio", "erfa", "Eigen3", "pybind11", "Python"},
              "skyloom": set(NEEDS) - {"erfa", "Eigen3", "pybind11", "Python"}}
RECIPES = {"fiberloom": "packaging/spack/package.py", "tomoloom": "packaging/spack/tomoloom/package.py",
           "skyloom": "packaging/spack/skyloom/package.py"}
OPTIONAL = {"tomlplusplus", "libpq", "MPI", "CUDAToolkit", "Threads", "GTest", "benchmark", "rapidcheck", "Python3", "ZLIB", "BZip2"}


class Recorder:
    """What the directives of the recipe said."""

    def __init__(self):
        self.variants, self.packages, self.conditions, self.defines, self.of_variants, self.versions = {}, set(), [], {}, {}, []

    def module(self):
        record, spack = self, types.ModuleType("spack.package")

        class CMakePackage:
            run_tests = False

            def define(self, name, value):
                record.defines[name] = value
                return f"-D{name}={value}"

            def define_from_variant(self, name, variant):
                record.of_variants[name] = variant
                return self.define(name, record.variants[variant])

        @contextlib.contextmanager
        def when(condition):
            record.conditions.append(condition)
            yield

        def depends_on(name, type=("build", "link"), when=None):
            record.packages.add(re.split(r"[@+~%]", name)[0])
            record.conditions.append(when)

        def variant(name, default, description):
            assert description, name
            record.variants[name] = default
        spack.CMakePackage, spack.when, spack.depends_on, spack.variant = CMakePackage, when, depends_on, variant
        spack.version = lambda name, **_: record.versions.append(name)
        spack.conflicts = lambda spec, msg: None
        spack.extends = lambda name: record.packages.add(name)
        spack.license = spack.generator = lambda name: None
        spack.run_after = lambda step: lambda function: function
        spack.__all__ = [name for name in vars(spack) if not name.startswith("_")]
        return spack


def check(root, program):
    recipe = root / RECIPES[program]
    record = Recorder()
    sys.modules["spack"] = types.ModuleType("spack")
    sys.modules["spack.package"] = record.module()
    names = {"__name__": "package"}
    exec(compile(recipe.read_text(), str(recipe), "exec"), names)
    names[program.capitalize()]().cmake_args()
    lists = [root / "CMakeLists.txt", *(root / "cmake").glob("*.cmake"), root / "python/CMakeLists.txt"]
    cmake = "\n".join(path.read_text() for path in lists)
    options = set(re.findall(r"option\((FIBERLOOM_\w+)", cmake)) | set(re.findall(r"set\((FIBERLOOM_\w+) .* CACHE", cmake))
    assert record.defines and set(record.defines) <= options, f"no such option: {set(record.defines) - options}"
    assert record.defines["FIBERLOOM_PROGRAMS"] == program, "builds other programs than its own"
    assert set(record.of_variants.values()) == set(record.variants), "a variant that changes nothing"
    used = {word[1:] for condition in record.conditions if condition for word in re.findall(r"[+~]\w+", condition)}
    assert used <= set(record.variants), f"no such variant: {used - set(record.variants)}"
    wanted = set(re.findall(r"find_package\((\w+)", cmake)) | set(re.findall(r"IMPORTED_TARGET (\w+)", cmake))
    unknown = wanted - set(NEEDS) - OPTIONAL
    assert not unknown, f"the build looks for {unknown}: a dependency of the recipe, or optional?"
    missing = {NEEDS[name] for name in wanted & OF_PROGRAM[program]} - record.packages
    assert not missing, f"{recipe}: the build looks for {missing}, the recipe does not depend on it"
    foreign = {NEEDS[name] for name in set(NEEDS) - OF_PROGRAM[program]} & record.packages
    assert not foreign, f"{recipe}: depends on {foreign}, which {program} does not ask for"
    assert record.versions, "no version"
    return cmake


def main(root):
    for program in RECIPES:
        cmake = check(root, program)
    assert "COMPONENT python" in cmake, "the recipe installs the component python"


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]))
