# SPDX-License-Identifier: BSD-3-Clause
"""What docs/skyloom/python.md shows runs, in order, and names every function that there is."""
import importlib.util
import pathlib
import re

import pytest

import skyloom

PAGE = pathlib.Path(__file__).parents[2] / "docs/skyloom/python.md"
BLOCKS = re.findall(r"^```python\n(.*?)^```$", PAGE.read_text(), re.M | re.S)


def test_the_first_block_runs():
    names = {}
    exec(compile(BLOCKS[0], str(PAGE), "exec"), names)
    assert len(BLOCKS) == 2 and names["maps"].converged


@pytest.mark.skipif(importlib.util.find_spec("toast") is None, reason="TOAST is not installed")
def test_the_block_of_the_peer_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = {}
    exec(compile(BLOCKS[1], str(PAGE), "exec"), names)
    assert (tmp_path / "mapper_map.fits").is_file()


def test_every_function_is_named():
    text = PAGE.read_text()
    for name in skyloom.__all__:
        assert name in text or name in ("__version__", "FocalPlane"), name
    operators = pathlib.Path(skyloom.__file__).parent / "compat/toast.py"
    for name in re.findall(r'"(\w+)"', operators.read_text().split("__all__")[1]):
        assert f"`{name}`" in text, name
