# SPDX-License-Identifier: BSD-3-Clause
"""Frames of a small camera whose fibre flat and sky are known, with the standard library only."""
import math
import random

import tiny_fits as fits

FIBERS, BINS, HALF = 15, 160, 5
WAVE = [6000 + 0.8 * i for i in range(BINS)]
LINES = ((40, 4000.0), (100, 1500.0))
FLAT = [0.8 + 0.03 * f for f in range(FIBERS)]
SKY = [f % 2 == 0 for f in range(FIBERS)]


def kernel(fiber):
    """A row of R: a Gaussian of 0.8 to 1 bin."""
    sigma = (0.8 + 0.2 * fiber / FIBERS) * math.sqrt(2)
    return [0.5 * (math.erf((d + 0.5) / sigma) - math.erf((d - 0.5) / sigma)) for d in range(-HALF, HALF + 1)]


def seen(fiber, light):
    k = kernel(fiber)
    return [sum(k[d + HALF] * light[i + d] for d in range(-HALF, HALF + 1) if 0 <= i + d < BINS) for i in range(BINS)]


def lamp_light():
    return [20000 + 60 * i for i in range(BINS)]


def sky_light():
    return [50 + sum(h * math.exp(-2 * (i - at) ** 2) for at, h in LINES) for i in range(BINS)]


def frame_bytes(light, flavor, seed, cards=(), status=None, objtype=None, tables=True, flux=None, wave=None):
    rng = random.Random(seed)
    values, ivar, resolution = [], [], []
    for f in range(FIBERS):
        for x in seen(f, light):
            variance = FLAT[f] * x + 25
            values.append(FLAT[f] * x + math.sqrt(variance) * rng.gauss(0, 1))
            ivar.append(1 / variance)
        k = kernel(f)  # the stored diagonal of offset HALF - row is that of column - row
        resolution += [k[2 * HALF - row] for row in range(2 * HALF + 1) for _ in range(BINS)]
    head = [("CAMERA", "r0"), ("FLAVOR", flavor), ("EXPID", 11), *cards]
    kinds = objtype or ["SKY" if s else "TGT" for s in SKY]
    rows = [(100 + f, f, kinds[f].encode(), (status or {}).get(f, 0)) for f in range(FIBERS)]
    table = fits.table("FIBERMAP", [("TARGETID", "K", "q", None), ("FIBER", "J", "i", None), ("OBJTYPE", "3A", "3s", None),
                                    ("FIBERSTATUS", "J", "i", None)], rows)
    return (fits.image("FLUX", -32, (FIBERS, BINS), flux or values, head, first=True)
            + fits.image("IVAR", -32, (FIBERS, BINS), ivar) + fits.image("MASK", 32, (FIBERS, BINS), [0] * (FIBERS * BINS))
            + fits.image("WAVELENGTH", -64, (BINS,), wave or WAVE)
            + fits.image("RESOLUTION", -32, (FIBERS, 2 * HALF + 1, BINS), resolution) + (table if tables else b""))
