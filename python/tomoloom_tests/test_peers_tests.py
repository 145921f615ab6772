# SPDX-License-Identifier: BSD-3-Clause
"""TomoPy's own tests of the functions that compat has, with the import replaced. TOMOPY_SOURCE names a checkout of TomoPy; without it
they are skipped. What fails is listed here with its reason, and nothing else may."""
import os
import pathlib
import subprocess
import sys

import pytest

SOURCE = os.environ.get("TOMOPY_SOURCE")
FILES = ("test_prep/test_normalize.py", "test_prep/test_stripe.py", "test_prep/test_phase.py",
         "test_recon/test_rotation.py", "test_recon/test_algorithm.py", "test_misc/test_corr.py", "test_misc/test_morph.py",
         "test_prep/test_alignment.py", "test_sim/test_project.py")
OTHER_VALUES = {"fbp",  # TomoPy's does not filter
                # another start and another model of rays
                "project", "art", "bart", "sirt", "mlem", "osem", "tv", "pml_hybrid", "pml_quad", "ospml_hybrid", "ospml_quad", "grad", "tikh"}


@pytest.mark.skipif(not SOURCE, reason="TOMOPY_SOURCE names no checkout of TomoPy")
def test_what_compat_has_passes_the_peers_tests():
    here = pathlib.Path(__file__).parent
    tests = pathlib.Path(SOURCE) / "test"
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-rA", "-p", "no:cacheprovider", "-p", "peer_modules", "-c", os.devnull,
         "--rootdir", str(tests), *(str(tests / "test_tomopy" / name) for name in FILES)],
        cwd=tests, capture_output=True, text=True, env={**os.environ, "PYTHONPATH": str(here)})
    lines = done.stdout.splitlines()
    failed = {line.split(" - ")[0].rpartition("::test_")[2] for line in lines if line.startswith("FAILED ")}
    passed = {line.rpartition("::test_")[2] for line in lines if line.startswith("PASSED ")}
    assert failed == OTHER_VALUES, done.stdout[-6000:]
    assert {"gridrec", "gridrec_custom", "normalize", "normalize_bg", "normalize_nf", "remove_stripe_fw", "remove_stripe_ti", "retrieve_phase",
            "find_center", "find_center_vo", "find_center_vo_with_downsampling", "find_center_pc", "write_center", "gaussian_filter",
            "median_filter", "median_filter3d", "median_filter_nonfinite", "remove_outlier3d", "downsample", "upsample",
            "distortion_correction_proj", "distortion_correction_sino", "detect_stripe", "stripe_detection", "stripe_mask", "inpainter2d", "inpainter3d", "inpainter3d_as_2d"} <= passed
