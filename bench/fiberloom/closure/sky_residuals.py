#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What the defects of simulated spectra are to a fit that takes each pixel's noise for its own.

    python3 bench/fiberloom/closure/sky_residuals.py [--targets 128] [--seed 12] [--snr 0.03,3] [--templates FILE...]
        [--program build/release/bin/fiberloom]

Simulates the same targets with and without defects (the noise is the same) and looks at the difference: its chi2 with
the weights of the file, with those of the fit (lines of the sky widened as docs/fiberloom/redshift-design.md says), and
what of that lies along the sky of each camera and its shift. Wants numpy, scipy and astropy.
"""
import argparse
import pathlib
import subprocess
import tempfile

import numpy as np
from astropy.io import fits
from scipy.ndimage import median_filter

WINDOW, SHARE, SPIKE = 101, 0.15, 6  # redshift/robust.cpp, prepare.hpp; a spike is dropped by other means


def widened(weight):
    """The weights of the fit."""
    variance = np.where(weight > 0, 1 / np.where(weight > 0, weight, 1), np.nan)
    usual = np.array([median_filter(row, size=WINDOW, mode="nearest") for row in variance])
    usual = np.where(np.isfinite(usual), usual, variance)
    excess = SHARE * np.maximum(variance / usual - 1, 0)
    return np.nan_to_num(1 / (variance + usual * excess ** 2)), variance


def along(vectors, weight, values):
    """Sum of w values^2 that lies along the vectors."""
    a = np.vstack(vectors)
    y = a @ (weight * values)
    return float(y @ np.linalg.lstsq((a * weight) @ a.T, y, rcond=None)[0])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--targets", type=int, default=128)
    parser.add_argument("--seed", default="12")
    parser.add_argument("--snr", default="0.03,3")
    parser.add_argument("--templates", nargs="*", default=[])
    parser.add_argument("--program", default="build/release/bin/fiberloom")
    a = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="sky-residuals-") as name:
        files = []
        for folder, more in (("with", []), ("without", ["--no-defects"])):
            out = pathlib.Path(name) / folder
            templates = ["-t", *a.templates] if a.templates else []
            subprocess.run([a.program, "simulate", "-o", out, "--targets", str(a.targets), "--seed", a.seed, "--snr", a.snr,
                            *templates, *more, "--quiet"], check=True)
            files.append(fits.open(out / "coadd-0000.fits", memmap=False))
    there, clean = files
    sums = np.zeros((4, a.targets))
    whole = np.ones(a.targets, dtype=bool)
    for camera in "BRZ":
        flux = [f[camera + "_FLUX"].data.astype(float) for f in files]
        weight = clean[camera + "_IVAR"].data.astype(float)
        weight[(there[camera + "_IVAR"].data <= 0) | (there[camera + "_MASK"].data != 0)] = 0
        whole &= (weight > 0).sum(1) > 100
        fitted, variance = widened(weight)
        change = np.where(weight > 0, flux[0] - flux[1], 0)
        change[np.abs(change) * np.sqrt(fitted) > SPIKE] = 0
        sky = np.nan_to_num(np.nanmedian(variance, axis=0))
        shift = np.gradient(sky)
        for t in range(a.targets):
            sums[0, t] += np.sum(weight[t] * change[t] ** 2)
            sums[1, t] += np.sum(fitted[t] * change[t] ** 2)
            sums[2, t] += along([sky], fitted[t], change[t])
            sums[3, t] += along([sky, shift], fitted[t], change[t])
    sums = sums[:, whole]
    for text, values in (("chi2 of the difference, weights of the file", sums[0]), ("weights of the fit", sums[1]),
                         ("of these along the sky of each camera", sums[2]),
                         ("along the sky and its shift", sums[3]), ("left", sums[1] - sums[3])):
        print("%-45s 16, 50, 84 %%: %6.0f %6.0f %6.0f" % (text, *np.percentile(values, [16, 50, 84])))


if __name__ == "__main__":
    main()
