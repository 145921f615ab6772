#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""How well a frame's sky is taken from fibres that it was not made of: every other sky fibre is called a target, and what
`fiberloom sky` with each of several sets of options leaves of it is compared with its errors (there should be nothing).

    held_out_sky.py FRAME FIBERFLAT [--fiberloom PROGRAM]

FRAME: one of a science exposure with 20 sky fibres or more; FIBERFLAT: of the same camera. Needs astropy. rms are those
of residual / error near lines (sky above a tenth of its highest) and elsewhere: by the frame's own error, and with that
of the sky, by which a width of 1 is honest."""
import argparse
import pathlib
import subprocess
import tempfile

import numpy as np
from astropy.io import fits

ROOT = pathlib.Path(__file__).resolve().parents[3]
BOTH = "--adjust-wavelength --adjust-lsf"
SETS = ["", "--adjust-wavelength", BOTH, BOTH + " --no-extra-variance", "--method desispec", BOTH + " --method desispec"]


def hold_out(frame, to):
    """The frame with every other sky fibre called a target; rows of those."""
    with fits.open(frame) as f:
        kinds = f["FIBERMAP"].data["OBJTYPE"]
        held = np.flatnonzero(np.char.strip(kinds) == "SKY")[1::2]
        kinds[held] = "TGT"
        f.writeto(to, checksum=True)
    return held


def left_over(frame, flat, sky, held):
    """Residuals of the held rows, their variance without and with the sky's, which bins are near lines."""
    with fits.open(frame) as f, fits.open(flat) as g, fits.open(sky) as s:
        c, v, w = (x.data[held].astype("f8") for x in (g[0], g["IVAR"], f["IVAR"]))
        good = (c > 0) & (v > 0) & (w > 0) & (s["IVAR"].data[held] > 0) & (f["MASK"].data[held] == 0)
        c, v, w, t = (np.where(good, x, 1) for x in (c, v, w, s["IVAR"].data[held].astype("f8")))
        flux = f["FLUX"].data[held] / c
        own = 1 / (w * c**2) + flux**2 / (v * c**2)
        mean = s[0].data.mean(axis=0)
        return np.where(good, flux - s[0].data[held], np.nan), own, own + 1 / t, mean > 0.1 * mean.max()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("frame")
    parser.add_argument("flat")
    parser.add_argument("--fiberloom", default=str(ROOT / "build/release/bin/fiberloom"))
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        frame, sky = f"{folder}/frame.fits", f"{folder}/sky.fits"
        held = hold_out(given.frame, frame)
        print(f"{len(held)} sky fibres held out; rms of residual / error: near lines own, with the sky's; elsewhere own, with the sky's")
        for options in SETS:
            subprocess.run([given.fiberloom, "sky", "-i", frame, "--fiberflat", given.flat, "-o", sky, "-q", *options.split()], check=True)
            left, own, all_, lines = left_over(frame, given.flat, sky, held)
            rms = [np.sqrt(np.nanmean((left**2 / variance)[:, where])) for where in (lines, ~lines) for variance in (own, all_)]
            print("  ".join(f"{x:.3f}" for x in rms), " ", options or "(none)", flush=True)


if __name__ == "__main__":
    main()
