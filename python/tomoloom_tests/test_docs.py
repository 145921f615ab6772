# SPDX-License-Identifier: BSD-3-Clause
"""What docs/tomoloom/python.md shows runs, in order, and names every function that there is; so does migration.md."""
import pathlib
import re

import tomoloom
import tomoloom.compat.tomopy as tomopy

DOCS = pathlib.Path(__file__).parents[2] / "docs/tomoloom"
PAGE = DOCS / "python.md"


def test_the_blocks_run():
    names = {}
    found = re.findall(r"^```python\n(.*?)^```$", PAGE.read_text(), re.M | re.S)
    for block in found:
        exec(compile(block, str(PAGE), "exec"), names)
    assert len(found) == 2
    assert abs(names["rot_center"] - 33.25) < 0.3 and names["rec"].shape == (4, 64, 64)


def test_every_function_is_named():
    text = PAGE.read_text()
    for name in tomoloom.__all__:
        assert name in text or name in ("TomoloomError", "__version__"), name
    for name in tomopy.__all__:
        assert f"`{name}`" in text or name.startswith("remove_") or name == "sino_360_t0_180", name


def test_migration_says_of_every_function_of_tomopy_what_differs():
    table = (DOCS / "migration.md").read_text().partition("## From calls")[0]
    rows = [line.split("|")[1] for line in table.splitlines() if line.startswith("| `")]
    named = [name for row in rows for name in re.findall(r"`(\w+)`", row)]
    assert sorted(named) == sorted(tomopy.__all__)
