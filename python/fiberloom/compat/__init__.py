# SPDX-License-Identifier: BSD-3-Clause
"""The call signatures of other programs, so that a pipeline changes one import:

    from fiberloom.compat.gpu_specter import extract_frame   # was gpu_specter.core
    from fiberloom.compat.specter import ex2d, load_psf      # was specter.extract, specter.psf
    from fiberloom.compat.redrock import rrdesi              # was redrock.external.desi

What differs in the numbers, and why: docs/fiberloom/migration.md.
"""
from .gpu_specter import extract_frame
from .redrock import rrdesi
from .specter import ex2d, load_psf

__all__ = ["extract_frame", "ex2d", "load_psf", "rrdesi"]
