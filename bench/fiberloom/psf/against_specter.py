#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Spots of every kind of PSF against specter's evaluation of the same files.

    against_specter.py BENCH_SPOTS [FILE.fits ...]

needs numpy, astropy, and specter (https://github.com/desihub/specter) on PYTHONPATH. Writes a file of each kind with
its own writer, with numbers from a seed, and takes PSF files that are named besides. Exit 1 where a spot differs by
more than 1e-12 or lies elsewhere.
"""
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
from astropy.io import fits

NX, NY, NFIBER = 200, 300, 10


def traces(kind, extra=()):
    x = np.zeros((NFIBER, 4))
    y = np.zeros((NFIBER, 4))
    x[:, 0] = 30 + 14 * np.arange(NFIBER)
    x[:, 1:] = [1.7, -0.6, 0.05]
    y[:, 0] = 150 + 0.37 * np.arange(NFIBER)
    y[:, 1:] = [120, 1.3, -0.2]
    hdus = [fits.PrimaryHDU(x), fits.ImageHDU(y)]
    for hdu, name in zip(hdus, ("XCOEFF", "YCOEFF")):
        hdu.header.update(EXTNAME=name, WAVEMIN=5000.0, WAVEMAX=5200.0)
    hdus[0].header.update(PSFTYPE=kind, NPIX_X=NX, NPIX_Y=NY, NSPEC=NFIBER, PSFERR=0.01, **dict(extra))
    return hdus


def blob(ny, nx, sigma_y, sigma_x, rng):
    y, x = np.mgrid[:ny, :nx]
    y, x = y - (ny - 1) / 2, x - (nx - 1) / 2
    return np.exp(-0.5 * ((x / sigma_x)**2 + (y / sigma_y)**2)) * (1 + 0.1 * rng.normal(size=(ny, nx)))


def spot_grid(rng, fine=5):
    n = 13 * fine
    spots = np.array([[blob(n, n, (1 + 0.1 * i) * fine, (1.2 + 0.05 * j) * fine, rng) for j in range(4)]
                      for i in range(3)])
    named = {"SPOTS": spots, "FIBERPOS": np.linspace(-9.5, 9.5, NFIBER), "SPOTPOS": np.array([-10.0, 1.0, 10.0]),
             "SPOTWAVE": np.array([4990.0, 5060.0, 5130.0, 5210.0])}
    return fits.HDUList(traces("SPOTGRID", {"CCDPIXSZ": 0.015, "PIXSIZE": 0.015 / fine - 1e-9}.items())
                        + [fits.ImageHDU(v, name=k) for k, v in named.items()])


def mono_spot(rng, fine=8):
    spot = fits.ImageHDU(blob(12 * fine, 14 * fine, 1.1 * fine, 1.3 * fine, rng), name="SPOT")
    spot.header["SCALE"] = fine
    return fits.HDUList(traces("MONOSPOT") + [spot])


def pca_pix(rng):
    powers = [(0, 0), (1, 0), (0, 1), (1, 1), (2, 0)]
    exponents = fits.BinTableHDU.from_columns([
        fits.Column("IMODEL", "J", array=np.arange(len(powers))),
        fits.Column("XEXP", "J", array=[p[0] for p in powers]), fits.Column("YEXP", "J", array=[p[1] for p in powers])])
    fibers = fits.BinTableHDU.from_columns([
        fits.Column("IGROUP", "J", array=np.arange(NFIBER) // 5),
        fits.Column("X0", "D", array=np.full(NFIBER, 100.0)), fits.Column("XSCALE", "D", array=np.full(NFIBER, 0.01)),
        fits.Column("Y0", "D", array=np.full(NFIBER, 150.0)), fits.Column("YSCALE", "D", array=np.full(NFIBER, 0.007))])
    images = np.array([[blob(15, 15, 1.2, 1.1, rng) * (1 if i == 0 else 0.05) for i in range(len(powers))]
                       for _ in range(2)])
    wave = fits.ImageHDU(np.zeros((1, 1)))
    return fits.HDUList(traces("PCA-PIX") + [wave, exponents, fibers, fits.ImageHDU(images)])


def compare(program, path):
    from specter.psf import load_psf
    psf = load_psf(str(path))
    rng = np.random.default_rng(3)
    places = [(int(f), float(w)) for f in range(psf.nspec)
              for w in rng.uniform(psf.wmin_all + 8, psf.wmax_all - 8, 12)]
    lines = subprocess.run([program, str(path), *(f"{f},{w!r}" for f, w in places)], check=True, capture_output=True,
                           text=True).stdout.splitlines()
    worst, misplaced = 0.0, 0
    for (fiber, wave), line in zip(places, lines):
        numbers = line.split()
        x0, y0, nx, ny = map(int, numbers[:4])
        ours = np.array(numbers[4:], float).reshape(ny, nx)
        xs, ys, theirs = psf._xypix(fiber, wave)
        if (xs.start, ys.start) != (x0, y0) or theirs.shape != ours.shape:
            misplaced += 1
        else:
            worst = max(worst, float(abs(ours - theirs).max()))
    print(f"{psf.__class__.__name__:20s} {len(places):5d} spots, {misplaced} elsewhere, largest difference {worst:.2g}")
    return misplaced == 0 and worst <= 1e-12 and len(lines) == len(places)


def main():
    program, files = sys.argv[1], [pathlib.Path(p) for p in sys.argv[2:]]
    good = True
    with tempfile.TemporaryDirectory() as folder:
        rng = np.random.default_rng(1)
        for make in (spot_grid, mono_spot, pca_pix):
            path = pathlib.Path(folder) / f"{make.__name__}.fits"
            make(rng).writeto(path)
            files.append(path)
        for path in files:
            good = compare(program, path) and good
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
