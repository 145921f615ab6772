#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Barycentric velocities of the program against astropy's, at random times and directions.

    against_astropy.py PROGRAM [--count 2000] [--first 1990] [--last 2050] [--seed 1] [--kitt-peak] [--print N]

PROGRAM is build/release/bin/bench_barycentric. Needs numpy and astropy. Sites are random places on the Earth, up to
5 km high; --kitt-peak takes Kitt Peak alone. --print writes N lines as in src/fiberloom/astro/barycentric_test.cpp.
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
iers.conf.auto_max_age = None  # the table that came with astropy, however old
iers.conf.iers_degraded_accuracy = "ignore"
warnings.simplefilter("ignore")  # "dubious year": leap seconds and UT1 of the future are guesses


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program")
    parser.add_argument("--count", type=int, default=2000)
    parser.add_argument("--first", type=float, default=1990)
    parser.add_argument("--last", type=float, default=2050)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--kitt-peak", action="store_true")
    parser.add_argument("--print", type=int, default=0)
    args = parser.parse_args()
    random = np.random.default_rng(args.seed)

    def on_sphere():
        return (np.round(random.uniform(0, 360, args.count), 4),
                np.round(np.degrees(np.arcsin(random.uniform(-1, 1, args.count))), 4))
    mjd = np.round(51544.5 + 365.25 * (random.uniform(args.first, args.last, args.count) - 2000), 4)
    ra, dec = on_sphere()
    longitude, latitude = on_sphere()
    height = np.round(random.uniform(0, 5000, args.count), 0)
    if args.kitt_peak:
        latitude, longitude, height = (np.full(args.count, x) for x in (31.96403, -111.59989, 2097.0))
    site = EarthLocation.from_geodetic(lat=latitude * units.deg, lon=longitude * units.deg, height=height * units.m)
    theirs = SkyCoord(ra=ra * units.deg, dec=dec * units.deg, frame="icrs").radial_velocity_correction(
        "barycentric", obstime=Time(mjd, format="mjd"), location=site).to_value(units.m / units.s)
    lines = "".join(" ".join(repr(x) for x in row) + "\n"
                    for row in np.transpose([mjd, ra, dec, latitude, longitude, height]).tolist())
    done = subprocess.run([args.program], input=lines, capture_output=True, text=True, check=True)
    ours = np.array(done.stdout.split(), dtype=float)
    difference = ours - theirs
    print(f"{args.count} times, directions and sites, {args.first:g}-{args.last:g}: ours - astropy mean {difference.mean():+.3f}, "
          f"rms {difference.std():.3f}, largest {np.abs(difference).max():.3f} m/s")
    for k in range(args.print):
        print(f"    {{{mjd[k]:.4f}, {{{ra[k]:.4f}, {dec[k]:.4f}}}, "
              f"{{{latitude[k]:.4f}, {longitude[k]:.4f}, {height[k]:.0f}}}, {theirs[k]:.3f}}},")


if __name__ == "__main__":
    main()
