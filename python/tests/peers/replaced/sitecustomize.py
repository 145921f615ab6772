# SPDX-License-Identifier: BSD-3-Clause
"""Replaces the imports of specter and gpu_specter by fiberloom.compat's in every Python below run.py (their tests
start programs of their own). FIBERLOOM_PEERS=ours replaces; with "theirs" only the files below are given."""
import importlib.abc
import importlib.util
import os
import sys

OURS = os.environ.get("FIBERLOOM_PEERS") == "ours"
# A GAUSS-HERMITE file in place of all other kinds, for tests of extraction.
GAUSS_HERMITE = os.environ.get("FIBERLOOM_PEERS_PSF", "")
# A folder with files of the kinds that a checkout may lack, by the names that its tests know.
WRITTEN = os.environ.get("FIBERLOOM_PEERS_PSFS", "")
PREPROC = os.environ.get("FIBERLOOM_PEERS_PREPROC", "")


def _is_gauss_hermite(path):
    from astropy.io import fits
    try:
        return str(fits.getheader(path).get("PSFTYPE", "")).strip() == "GAUSS-HERMITE"
    except FileNotFoundError:
        return False


def _specter_psf(module):
    theirs = module.load_psf

    def load_psf(filename, psftype=None):
        if GAUSS_HERMITE and not _is_gauss_hermite(filename):
            filename = GAUSS_HERMITE
        if WRITTEN and not os.path.exists(filename):
            filename = os.path.join(WRITTEN, os.path.basename(filename))
        if OURS:
            from fiberloom.compat.specter import load_psf as ours
            return ours(filename)
        return theirs(filename, psftype)
    module.load_psf = load_psf


def _specter_ex2d(module):
    if OURS:
        from fiberloom.compat.specter import ex2d
        module.ex2d = ex2d


def _gpu_specter_core(module):
    if OURS:
        from fiberloom.compat.gpu_specter import extract_frame
        module.extract_frame = extract_frame


def _gpu_specter_files(module):
    theirs = module.find_test_file
    module.find_test_file = lambda kind: PREPROC if PREPROC and kind == "preproc" else theirs(kind)


AFTER = {"specter.psf": _specter_psf, "specter.extract.ex2d": _specter_ex2d, "gpu_specter.core": _gpu_specter_core,
         "gpu_specter.test.util": _gpu_specter_files}


class _Loader(importlib.abc.Loader):
    def __init__(self, loader, after):
        self._loader, self._after = loader, after

    def create_module(self, spec):
        return self._loader.create_module(spec)

    def exec_module(self, module):
        self._loader.exec_module(module)
        self._after(module)


class _Finder(importlib.abc.MetaPathFinder):
    """Lets the others find a module, and acts when it has been run."""

    def find_spec(self, name, path, target=None):
        after = AFTER.get(name)
        if after is None:
            return None
        for finder in sys.meta_path:
            spec = None if finder is self else finder.find_spec(name, path, target)
            if spec is not None and spec.loader is not None:
                spec.loader = _Loader(spec.loader, after)
                return spec
        return None


sys.meta_path.insert(0, _Finder())
