#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Barycentric velocities of the program against astropy's, at random times and directions.

    against_astropy.py PROGRAM [--count 2000] [--first 2015] [--last 2050] [--print N]

PROGRAM is build/release/bin/bench_barycentric. Needs numpy and astropy. --print writes N lines as in
src/fiberloom/astro/barycentric_test.cpp.
"""
import argparse
import subprocess
import warnings

import numpy as np
from astropy import units
from astropy.coordinates import EarthLocation, SkyCoord
from astropy.time import Time
from astropy.utils import iers

iers.conf.auto_download = False
iers.conf.iers_degraded_accuracy = "ignore"
warnings.simplefilter("ignore")  # "dubious year": leap seconds and UT1 of the future are guesses


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program")
    parser.add_argument("--count", type=int, default=2000)
    parser.add_argument("--first", type=float, default=2015)
    parser.add_argument("--last", type=float, default=2050)
    parser.add_argument("--print", type=int, default=0)
    args = parser.parse_args()
    random = np.random.default_rng(1)
    mjd = np.round(51544.5 + 365.25 * (random.uniform(args.first, args.last, args.count) - 2000), 4)
    ra = np.round(random.uniform(0, 360, args.count), 4)
    dec = np.round(np.degrees(np.arcsin(random.uniform(-1, 1, args.count))), 4)
    site = EarthLocation.from_geodetic(lat=31.96403 * units.deg, lon=-111.59989 * units.deg,
                                       height=2097 * units.m)
    theirs = SkyCoord(ra=ra * units.deg, dec=dec * units.deg, frame="icrs").radial_velocity_correction(
        "barycentric", obstime=Time(mjd, format="mjd"), location=site).to_value(units.m / units.s)
    lines = "".join(f"{t!r} {a!r} {d!r}\n" for t, a, d in zip(mjd.tolist(), ra.tolist(), dec.tolist()))
    done = subprocess.run([args.program], input=lines, capture_output=True, text=True, check=True)
    ours = np.array(done.stdout.split(), dtype=float)
    difference = ours - theirs
    print(f"{args.count} directions, {args.first:g}-{args.last:g}: ours - astropy mean {difference.mean():+.3f}, "
          f"rms {difference.std():.3f}, largest {np.abs(difference).max():.3f} m/s")
    for k in range(args.print):
        print(f"    {{{mjd[k]:.4f}, {{{ra[k]:.4f}, {dec[k]:.4f}}}, {theirs[k]:.2f}}},")


if __name__ == "__main__":
    main()
