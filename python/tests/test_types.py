# SPDX-License-Identifier: BSD-3-Clause
"""The stubs say what is there, and the package passes a strict type check."""
import doctest
import importlib
import inspect
import pathlib
import re
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
    mypy("mypy", "--strict", "--ignore-missing-imports", "--cache-dir", str(tmp_path), "-p", "fiberloom", cwd=tmp_path)


GOOD = """
import pathlib
import numpy as np
import numpy.typing as npt
import fiberloom as fl
from fiberloom.compat.specter import ex2d, load_psf

image: fl.Image = fl.read_image(pathlib.Path("i.fits"))
psf: fl.Psf = fl.read_psf("p.fits", tails=True)
frame: fl.Frame = fl.extract_frame(image.image, image.ivar, psf, (6000, 6010, 0.8), mask=image.mask, backend="cuda")
flux: npt.NDArray[np.float64] = frame.flux
fl.extract_frame([[1.0]], np.ones((1, 1)), load_psf("p.fits"), "6000,6010,0.8", progress=lambda stage, done, total: None)
fl.compare(frame, "f.fits").max_pull + 1.0
if frame.fibermap is not None:
    frame.fibermap["TARGETID"].sum()
try:
    fl.write_frame("f.fits", frame)
except fl.OutputExistsError as error:
    print(error.exit_code + 1, error.filename)
"""
WRONG = """
import fiberloom as fl
fl.read_image(3)
fl.extract_frame([1.0], [1.0], "psf.fits")
fl.extract_file("a", "b", "c", method="best")
fl.extract_file("a", "b", "c", backend="gpu")
fl.extract_file("a", "b", "c", progress=lambda: None)
fl.simulate("d", truth_grid="coarse")
fl.read_frame("f.fits").flux.nothing
fl.compare("a", 3.0)
"""


def test_the_types_tell_good_calls_from_wrong_ones(tmp_path):
    pytest.importorskip("mypy")
    for name, text in (("good", GOOD), ("wrong", WRONG)):
        (tmp_path / f"{name}.py").write_text(text)
    done = subprocess.run([sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(tmp_path / "cache"), "good.py", "wrong.py"],
                          capture_output=True, text=True, cwd=tmp_path)
    errors = [line for line in done.stdout.splitlines() if ": error: " in line]
    assert {line.split(":")[0] for line in errors} == {"wrong.py"}, done.stdout
    assert sorted({int(line.split(":")[1]) for line in errors}) == list(range(3, 11)), done.stdout


def test_the_package_is_marked_as_typed():
    assert (PACKAGE / "py.typed").exists() and (PACKAGE / "_core.pyi").exists()


def test_every_public_function_says_its_parameters_and_shows_an_example():
    functions = {n: getattr(fiberloom, n) for n in fiberloom.__all__ if inspect.isfunction(getattr(fiberloom, n))}
    functions.update({f"Psf.{n}": f for n, f in vars(fiberloom.Psf).items() if n in ("spots", "project", "adjoint", "operator")})
    assert len(functions) > 12
    for name, function in functions.items():
        text = inspect.getdoc(function)
        # "name : type" or "one, two : type"; those of the patch method are named in the words of `method`
        named = set(re.findall(r"\w+", " ".join(re.findall(r"^(\w[\w, ]*)(?: :|$)", text, re.M)))) | set(re.findall(r"`(\w+)`", text))
        for parameter in inspect.signature(function).parameters:
            assert parameter == "self" or parameter in named, (name, parameter)
        assert "Examples\n--------\n>>> " in text, name


@pytest.mark.parametrize("module", ["_calibration", "_errors", "_extract", "_files", "_frame", "_join", "_psf", "_compare", "_simulate"])
def test_the_examples_of_the_docstrings_run(module, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result = doctest.testmod(importlib.import_module(f"fiberloom.{module}"), optionflags=doctest.ELLIPSIS)
    assert result.attempted > 0 and result.failed == 0, result


def test_every_public_thing_is_documented():
    for name in fiberloom.__all__:
        if name != "__version__":
            assert getattr(fiberloom, name).__doc__, name
