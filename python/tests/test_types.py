# SPDX-License-Identifier: BSD-3-Clause
"""The stubs say what is there, and the package passes a strict type check."""
import pathlib
import subprocess
import sys

import pytest

import fiberloom

PACKAGE = pathlib.Path(fiberloom.__file__).parent


def mypy(*arguments, cwd):
    pytest.importorskip("mypy")
    done = subprocess.run([sys.executable, "-m", *arguments], capture_output=True, text=True, cwd=cwd)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_stub_of_the_extension_matches_it(tmp_path):
    allowed = tmp_path / "allowed.txt"  # pybind11's metaclass, and constructors that only refuse
    allowed.write_text("fiberloom._core.(ForwardModel|Header|Psf|Table)\n"
                       "fiberloom._core.(Psf|Table).__init__\n")
    mypy("mypy.stubtest", "fiberloom._core", "--allowlist", str(allowed), cwd=tmp_path)


def test_the_package_passes_a_strict_type_check(tmp_path):
    mypy("mypy", "--strict", "--allow-untyped-calls", "--ignore-missing-imports",
         "--cache-dir", str(tmp_path), "-p", "fiberloom", cwd=tmp_path)


def test_the_package_is_marked_as_typed():
    assert (PACKAGE / "py.typed").exists() and (PACKAGE / "_core.pyi").exists()


def test_every_public_thing_is_documented():
    for name in fiberloom.__all__:
        if name != "__version__":
            assert getattr(fiberloom, name).__doc__, name
