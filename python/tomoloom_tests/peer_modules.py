# SPDX-License-Identifier: BSD-3-Clause
"""A plugin of pytest that puts tomoloom.compat.tomopy in the place of TomoPy's modules, and lets tests run that want MKL."""
import os
import pathlib
import sys
import types

import numpy as np

import tomoloom.compat.tomopy as compat

for name in ("tomopy", "tomopy.prep", "tomopy.prep.normalize", "tomopy.prep.stripe", "tomopy.prep.phase", "tomopy.prep.alignment", "tomopy.recon",
             "tomopy.recon.rotation", "tomopy.recon.algorithm", "tomopy.misc", "tomopy.misc.corr", "tomopy.misc.morph",
             "tomopy.misc.phantom", "tomopy.sim", "tomopy.sim.project"):
    module = types.ModuleType(name)
    module.__path__ = []  # type: ignore[attr-defined]
    module.__dict__.update({key: getattr(compat, key) for key in compat.__all__})
    sys.modules[name] = module


def peppers(size: int) -> np.ndarray:
    """TomoPy's image of that name: 512 x 512 bytes behind what says so."""
    path = pathlib.Path(os.environ["TOMOPY_SOURCE"]) / "source" / "tomopy" / "data" / "peppers.tif"
    pixels = np.frombuffer(path.read_bytes(), dtype=np.uint8, count=size * size, offset=148)
    return pixels.reshape(1, size, size).astype(np.float32)


for name in ("tomopy.misc.corr", "tomopy.misc.phantom"):
    setattr(sys.modules[name], "peppers", peppers)
setattr(sys.modules["tomopy.prep.stripe"], "_detect_stripe", compat.prep.stripe._detect_stripe)
sys.modules["mkl_fft"] = types.ModuleType("mkl_fft")
