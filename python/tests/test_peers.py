# SPDX-License-Identifier: BSD-3-Clause
"""The peers' own tests with the import replaced, where their checkouts are (python/tests/peers/run.py)."""
import importlib.util
import os
import pathlib
import re
import subprocess
import sys

import pytest

HERE = pathlib.Path(__file__).parent
PAGE = HERE.parents[1] / "docs" / "fiberloom" / "migration.md"


def run(*arguments):
    return subprocess.run([sys.executable, str(HERE / "peers" / "run.py"), *arguments], capture_output=True, text=True)


def module():
    spec = importlib.util.spec_from_file_location("peers_run", HERE / "peers" / "run.py")
    loaded = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loaded)
    return loaded


@pytest.mark.skipif(not any(os.environ.get(f"FIBERLOOM_{n}_DIR") for n in ("SPECTER", "GPU_SPECTER")),
                    reason="FIBERLOOM_SPECTER_DIR and FIBERLOOM_GPU_SPECTER_DIR are not set")
def test_the_peers_own_tests_pass():
    done = run()
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]


def test_without_a_checkout_the_script_says_what_it_needs(monkeypatch):
    for name in ("SPECTER", "GPU_SPECTER"):
        monkeypatch.delenv(f"FIBERLOOM_{name}_DIR", raising=False)
    done = run()
    assert done.returncode == 1 and "give --specter or --gpu-specter" in done.stderr


def test_the_script_tells_our_failures_from_theirs():
    judge = module().judge
    good, bad, none = ("passed", ""), ("failure", "why"), ("skipped", "no card")
    assert judge("test_psf.T.test_x", good, good)[0] == "passed"
    assert judge("test_psf.T.test_x", good, bad) == ("FAILED", "why")
    assert judge("test_psf.T.test_x", bad, bad)[0] == "as theirs"
    assert judge("test_psf.T.test_x", none, none) == ("skipped", "no card")
    assert judge("test_specio.T.test_x", good, bad)[0] == "not applicable"


def test_the_page_gives_every_reason_why_a_test_is_not_applicable():
    page = re.sub(r"\s+", " ", PAGE.read_text())
    for pattern, why in module().NOT_APPLICABLE.items():
        assert pattern.split(".")[-1].strip("*") in page or pattern.split(".")[0] in page, pattern
        assert why in page, why
