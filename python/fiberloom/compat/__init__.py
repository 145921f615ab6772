# SPDX-License-Identifier: BSD-3-Clause
"""The call signatures of two other programs, so that a pipeline changes one import:

    from fiberloom.compat.gpu_specter import extract_frame   # was gpu_specter.core
    from fiberloom.compat.specter import ex2d, load_psf      # was specter.extract, specter.psf

What differs in the numbers, and why: docs/fiberloom/migration.md.
"""
from .gpu_specter import extract_frame
from .specter import ex2d, load_psf

__all__ = ["extract_frame", "ex2d", "load_psf"]
