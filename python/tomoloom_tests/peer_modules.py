# SPDX-License-Identifier: BSD-3-Clause
"""A plugin of pytest that puts tomoloom.compat.tomopy in the place of TomoPy's modules, and lets tests run that want MKL."""
import sys
import types

import tomoloom.compat.tomopy as compat

for name in ("tomopy", "tomopy.prep", "tomopy.prep.normalize", "tomopy.prep.stripe", "tomopy.prep.phase", "tomopy.recon",
             "tomopy.recon.rotation", "tomopy.recon.algorithm", "tomopy.misc", "tomopy.misc.corr", "tomopy.misc.morph",
             "tomopy.misc.phantom"):
    module = types.ModuleType(name)
    module.__path__ = []  # type: ignore[attr-defined]
    module.__dict__.update({key: getattr(compat, key) for key in compat.__all__})
    sys.modules[name] = module


def _not_there(*_: object, **__: object) -> None:
    raise NotImplementedError


for name in ("inpainter_morph", "peppers"):  # that their modules are imported is not what is tested
    for module in ("tomopy.misc.corr", "tomopy.misc.phantom"):
        setattr(sys.modules[module], name, _not_there)
sys.modules["mkl_fft"] = types.ModuleType("mkl_fft")
