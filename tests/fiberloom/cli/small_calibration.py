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


STARS = {f: 30.0 + 5 * f for f in range(1, FIBERS, 4)}  # fibre: flux at the first wavelength


def star_flux(fiber):
    """1e-17 erg/(s cm2 Angstrom)."""
    return [STARS[fiber] * (1 - 0.001 * i) for i in range(BINS)]


def throughput():
    """Electrons of a flux of 1, with a telluric line."""
    return [20 + 0.05 * i - (9 if i in (70, 71) else 0) for i in range(BINS)]


def star_light():
    """What each fibre of a field with standard stars sees beside the sky."""
    return {f: [c * t for c, t in zip(throughput(), star_flux(f))] for f in STARS}


def models_bytes(fibers=None, first=WAVE[0] - 8, scale=None):
    """The stars' spectra as desi_fit_stdstars leaves them, four times finer than the frames; `scale`: star -> factor."""
    wave = [first + 0.2 * i for i in range(4 * BINS + 80)]
    rows = [(scale or {}).get(s, 1) * v * (1 - 0.001 * (w - WAVE[0]) / 0.8) for s, v in enumerate(STARS.values()) for w in wave]
    return (fits.image("FLUX", -32, (len(STARS), len(wave)), rows, (), first=True)
            + fits.image("WAVELENGTH", -64, (len(wave),), wave)
            + fits.image("FIBERS", 32, (len(STARS),), fibers or list(STARS)))


def frame_bytes(light, flavor, seed, cards=(), status=None, objtype=None, tables=True, flux=None, wave=None, more=None, columns=None):
    """`more`: fibre -> light beside `light`; such fibres are standard stars; `columns`: name -> numbers of FIBERMAP."""
    rng = random.Random(seed)
    values, ivar, resolution = [], [], []
    for f in range(FIBERS):
        both = [a + b for a, b in zip(light, (more or {}).get(f, [0] * BINS))]
        for x in seen(f, both):
            variance = FLAT[f] * x + 25
            values.append(FLAT[f] * x + math.sqrt(variance) * rng.gauss(0, 1))
            ivar.append(1 / variance)
        k = kernel(f)  # the stored diagonal of offset HALF - row is that of column - row
        resolution += [k[2 * HALF - row] for row in range(2 * HALF + 1) for _ in range(BINS)]
    head = list({**{"CAMERA": "r0", "FLAVOR": flavor, "EXPID": 11}, **dict(cards)}.items())
    kinds = objtype or ["SKY" if s else "TGT" for s in SKY]
    further = columns or {}
    rows = [(100 + f, f, kinds[f].encode(), (status or {}).get(f, 0), (f in (more or {})) << 33, *(v[f] for v in further.values()))
            for f in range(FIBERS)]
    table = fits.table("FIBERMAP", [("TARGETID", "K", "q", None), ("FIBER", "J", "i", None), ("OBJTYPE", "3A", "3s", None),
                                    ("FIBERSTATUS", "J", "i", None), ("DESI_TARGET", "K", "q", None)]
                       + [(name, "D", "d", None) for name in further], rows)
    return (fits.image("FLUX", -32, (FIBERS, BINS), flux or values, head, first=True)
            + fits.image("IVAR", -32, (FIBERS, BINS), ivar) + fits.image("MASK", 32, (FIBERS, BINS), [0] * (FIBERS * BINS))
            + fits.image("WAVELENGTH", -64, (BINS,), wave or WAVE)
            + fits.image("RESOLUTION", -32, (FIBERS, 2 * HALF + 1, BINS), resolution) + (table if tables else b""))
