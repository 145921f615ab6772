# SPDX-License-Identifier: BSD-3-Clause
"""TOAST's own unit tests of the operators that compat has, with those in their place; skipped where TOAST is not installed. What fails
is listed here with its reason, and nothing else may."""
import importlib.util
import json
import os
import pathlib
import subprocess
import sys

import numpy as np
import pytest

MODULES = ("ops_pointing_detector", "ops_pointing_healpix", "ops_stokes_weights",
           "ops_mapmaker_binning", "ops_filterbin")
# what is refused: of BinMap weights of I alone (the first and the last), a folder of amplitudes (twice), one of parts
REFUSED = ["test_extend_turnaround", "test_filterbin_ground_binned", "test_filterbin_ground_poly", "test_filterbin_obsmatrix_cached",
           "test_filterbin_with_config"]
# with numpy before 2, whose assert_equal compares TOAST's arrays with 0, it fails with TOAST's own operators too
NOT_THERE = {"ops_filterbin": REFUSED, **({"ops_pointing_healpix": ["test_pixweight_pipe"]} if np.__version__ < "2" else {})}


@pytest.mark.skipif(importlib.util.find_spec("toast") is None, reason="TOAST is not installed")
@pytest.mark.parametrize("module", MODULES)
def test_the_peers_tests(module, tmp_path):
    runner = pathlib.Path(__file__).parent / "peer_operators.py"
    done = subprocess.run([sys.executable, str(runner), module], cwd=tmp_path, capture_output=True, text=True,
                          env={**os.environ, "TOAST_LOGLEVEL": "WARNING", "OMP_NUM_THREADS": "1"})
    assert done.stdout.strip(), done.stderr[-4000:]
    found = json.loads(done.stdout.splitlines()[-1])
    assert found["ran"] > 0
    assert set(found["failed"]) == set(NOT_THERE.get(module, ())), done.stderr[-8000:]
