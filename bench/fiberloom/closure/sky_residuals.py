#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What the defects of simulated spectra are to a fit that takes each pixel's noise for its own.

    python3 bench/fiberloom/closure/sky_residuals.py [--targets 128] [--seed 12] [--snr 0.03,3] [--templates FILE...]
        [--program build/release/bin/fiberloom]

Simulates the same targets with and without defects (the noise is the same) and looks at the difference: its chi2 with
the weights of the file, with those of the fit (lines of the sky widened as docs/fiberloom/redshift-design.md says), and
what of that lies along the sky of each camera and its shift; then what is left where these two numbers are fitted to each
spectrum and subtracted, as redshift/sky_residual.cpp does, and what that does to spectra without defects. Wants numpy,
scipy and astropy.
"""
import argparse
import pathlib
import subprocess
import tempfile

import numpy as np
from astropy.io import fits
from scipy.ndimage import median_filter, percentile_filter

HALF, NOISE, SOFT, ROUNDS, LEAST, EXCESS = 12, 201, 2.5, 8, 0.01, 1.5  # redshift/sky_residual.cpp
WINDOW, QUARTILE, SHARE, SPIKE, OWN = 301, 25, 0.15, 6, 10  # redshift/sky_residual.cpp, redshift/robust.cpp, prepare.hpp; a spike is dropped by other means


def widened(weight):
    """The weights of the fit."""
    variance = np.where(weight > 0, 1 / np.where(weight > 0, weight, 1), np.nan)
    usual = np.array([percentile_filter(row, QUARTILE, size=WINDOW, mode="nearest") for row in variance])
    usual = np.where(np.isfinite(usual), usual, variance)
    excess = SHARE * np.maximum(variance / usual - 1, 0)
    return np.nan_to_num(1 / (variance + usual * excess ** 2)), variance


def along(vectors, weight, values):
    """Sum of w values^2 that lies along the vectors."""
    a = np.vstack(vectors)
    y = a @ (weight * values)
    return float(y @ np.linalg.lstsq((a * weight) @ a.T, y, rcond=None)[0])


def narrow(values, weight):
    """Minus the weighted mean over 2 HALF + 1 pixels."""
    sums = [np.concatenate([[0], np.cumsum(x)]) for x in (weight, weight * values)]
    low, high = np.clip(np.arange(len(values)) - HALF, 0, None), np.clip(np.arange(len(values)) + HALF + 1, None, len(values))
    total = sums[0][high] - sums[0][low]
    return np.where((weight > 0) & (total > 0), values - (sums[1][high] - sums[1][low]) / np.where(total > 0, total, 1), 0)


def shapes(variance):
    """The lines of the sky, and their slope."""
    v = np.nan_to_num(variance)
    usual = percentile_filter(v, QUARTILE, size=WINDOW, mode="nearest")
    if np.sum((v > 2 * usual) & (usual > 0)) < LEAST * len(v):
        return np.zeros((2, len(v)))
    lines = np.where(v > EXCESS * usual, v - usual, 0) / np.sqrt(np.maximum(usual, 1e-30))
    return np.vstack([lines, np.gradient(lines)])


def fitted_residual(flux, weight, sky):
    if not sky.any():
        return np.zeros(len(flux))
    rest, a = narrow(flux, weight), np.vstack([narrow(s, weight) for s in sky])
    rough = np.maximum(median_filter(np.abs(rest) * np.sqrt(weight), size=NOISE, mode="nearest") / 0.6745, 1)
    quiet, c = weight / rough ** 2, np.zeros(2)
    for _ in range(ROUNDS):
        share = 1 / (1 + ((rest - c @ a) / SOFT) ** 2 * quiet) ** 2
        m = (a * quiet * share) @ a.T
        c = np.linalg.solve(m + 1e-12 * np.trace(m) * np.eye(2), a @ (quiet * share * rest))
    return np.where(((rest - c @ a) ** 2 * quiet) > OWN ** 2, 0, c @ sky)


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
    sums = np.zeros((6, a.targets))
    whole = np.ones(a.targets, dtype=bool)
    for camera in "BRZ":
        flux = [f[camera + "_FLUX"].data.astype(float) for f in files]
        weight = clean[camera + "_IVAR"].data.astype(float)
        weight[(there[camera + "_IVAR"].data <= 0) | (there[camera + "_MASK"].data != 0)] = 0
        whole &= (weight > 0).sum(1) > 100
        fitted, variance = widened(weight)
        change = np.where(weight > 0, flux[0] - flux[1], 0)
        spike = np.abs(change) * np.sqrt(fitted) > SPIKE
        change[spike] = 0
        sky = np.nan_to_num(np.nanmedian(variance, axis=0))
        shift = np.gradient(sky)
        for t in range(a.targets):
            sums[0, t] += np.sum(weight[t] * change[t] ** 2)
            sums[1, t] += np.sum(fitted[t] * change[t] ** 2)
            sums[2, t] += along([sky], fitted[t], change[t])
            sums[3, t] += along([sky, shift], fitted[t], change[t])
            own, w = shapes(variance[t]), np.where(spike[t], 0, fitted[t])
            for row, of, without in ((4, flux[0][t], change[t]), (5, flux[1][t], 0)):
                sums[row, t] += np.sum(w * (without - fitted_residual(np.where(w > 0, of, 0), w, own)) ** 2)
    sums = sums[:, whole]
    for text, values in (("chi2 of the difference, weights of the file", sums[0]), ("weights of the fit", sums[1]),
                         ("of these along the sky of each camera", sums[2]),
                         ("along the sky and its shift", sums[3]), ("left", sums[1] - sums[3]),
                         ("left where two numbers a camera are fitted", sums[4]),
                         ("what that does without defects", sums[5])):
        print("%-45s 16, 50, 84, 100 %%: %6.0f %6.0f %6.0f %6.0f" % (text, *np.percentile(values, [16, 50, 84, 100])))


if __name__ == "__main__":
    main()
