#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""'Noise' decorrelation against gpu_specter's, patch for patch, and against the exact engine.

    against_gpu_specter.py FIBERLOOM IMAGE PSF [wmin,wmax,dw]

needs numpy, scipy, numba, astropy and gpu_specter (https://github.com/desihub/gpu_specter) on PYTHONPATH, whose patches
decorrelate 'noise' only where they are told: here. Five fibres in one sub-bundle of the bundle from fibre 0. Exit 1 where the
patch engine differs from gpu_specter by more than 1e-4 sigma (frames are float32).
"""
import functools
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
from astropy.io import fits
from gpu_specter import core
from gpu_specter.extract import cpu
from gpu_specter.io import read_img, read_psf

NSPEC = 5


def peer(image, psf, wave):
    plain, cpu.ex2d_patch = cpu.ex2d_patch, functools.partial(cpu.ex2d_patch, decorrelate="noise")
    try:
        frame = core.extract_frame(read_img(image), read_psf(psf), NSPEC, 0, NSPEC, wavelength=wave, nsubbundles=1,
                                   psferr=0.01)
    finally:
        cpu.ex2d_patch = plain
    return np.asarray(frame["specflux"]), np.asarray(frame["specivar"])


def ours(program, image, psf, wave, method, *more):
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder, "frame.fits")
        subprocess.run([program, "extract", "-q", "-i", image, "-p", psf, "-o", out, "-w", wave, "-n", str(NSPEC),
                        "--bundlesize", str(NSPEC), "--method", method, *more], check=True)
        with fits.open(out) as hdus:
            return hdus["FLUX"].data.astype(float), hdus["IVAR"].data.astype(float)


def main(program, image, psf, wave="5800.0,5879.2,0.8"):
    want = peer(image, psf, wave)
    worst = 0.0
    for method, more in (("patch", ["--decorrelate-fibers", "--nsubbundles", "1"]), ("exact", ["--decorrelate-fibers"]), ("exact", [])):
        got = ours(program, image, psf, wave, method, *more)
        pull = np.abs(got[0] - want[0]) * np.sqrt(want[1])
        ivar = np.abs(got[1] / want[1] - 1)
        print(f"{method:6s} {' '.join(more[:1]):22s} flux {pull.max():.2e} sigma, ivar {ivar.max():.2e}")
        if method == "patch":
            worst = pull.max()
    return 1 if worst > 1e-4 else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
