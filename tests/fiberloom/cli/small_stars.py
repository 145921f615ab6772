# SPDX-License-Identifier: BSD-3-Clause
"""Three cameras of a few fibres that see standard stars of known spectrum, their flats and skies, a grid of models and
passbands, with the standard library only."""
import math
import random

import small_calibration
import tiny_fits as fits

FIBERS, HALF, STEP = 5, 5, 2.0
CAMERAS = {"b": [3600 + STEP * i for i in range(900)], "r": [5400 + STEP * i for i in range(900)],
           "z": [7160 + STEP * i for i in range(800)]}
MODEL_WAVE = [3300 + 2.5 * i for i in range(2800)]
NODES = [(teff, logg, metal) for teff in (5600, 6000, 6400) for logg in (3.5, 4.5) for metal in (-2.0, -1.0)]
STARS = {1: (5850, 3.9, -1.6, 2e-4), 2: (6150, 4.2, -1.2, -1e-4), 4: (5750, 4.0, -1.8, 0.0)}  # fibre: node, redshift
BANDS = {"decam2014-g": 4800, "decam2014-r": 6400, "decam2014-z": 9100}
SKY, FLAT = 30.0, [0.9 + 0.05 * f for f in range(FIBERS)]


def star_shape(wave, teff, logg, metal):
    """1 at 6500 Angstrom, but for lines."""
    out = (wave / 6500) ** -5 * math.expm1(1.4388e8 / (6500 * teff)) / math.expm1(1.4388e8 / (wave * teff))
    for line in (6564.6, 4862.7, 4102.9, 3890.2):
        out *= 1 - (0.25 + 0.1 * (teff - 5500) / 1500) * math.exp(-0.5 * ((wave - line) / (5 + logg)) ** 2)
    number = round((wave - 3500) / 57.3)
    depth = 0.3 * 10 ** (0.3 * metal) * ((37 * number) % 11) / 11
    return out * (1 - depth * math.exp(-0.5 * ((wave - 3500 - 57.3 * number) / 2.5) ** 2))


def star_flux(fiber, wave):
    """1e-17 erg/(s cm2 Angstrom); fibre 2 shines most."""
    teff, logg, metal, z = STARS[fiber]
    return {1: 30, 2: 60, 4: 20}[fiber] * star_shape(wave / (1 + z), teff, logg, metal)


def throughput(wave):
    return 20 + 8 * math.sin(wave / 900)


def passband_points(name):
    return [(BANDS[name] - 500 + 20 * i, max(0.0, 1 - ((i - 25) / 25) ** 2)) for i in range(51)]


def write_passbands(folder):
    for name in BANDS:
        lines = ["# %ECSV 0.9", "# - {name: wavelength, unit: nm, datatype: float64}", "wavelength response"]
        lines += [f"{w / 10} {r}" for w, r in passband_points(name)]
        (folder / f"{name}.ecsv").write_text("\n".join(lines) + "\n")


def nanomaggies(fiber, name):
    points = passband_points(name)
    light = sum(star_flux(fiber, w) * w * r for w, r in points)
    zero = sum(3631e-23 * 2.99792458e18 * 1e17 / w * r for w, r in points)
    return 1e9 * light / zero


def fibermap(status=None, photometry=True, ebv=0.001, red=None, gaia=None):
    """`red`: FLUX_R of fibres that is not the stars' own; `gaia`: magnitudes of all."""
    rows = []
    for f in range(FIBERS):
        mags = [nanomaggies(f, name) if f in STARS and photometry else 0.0 for name in BANDS]
        mags[1] = (red or {}).get(f, mags[1])
        rows.append((200 + f, f, b"TGT" if f in STARS else b"SKY", (status or {}).get(f, 0), (f in STARS) << 33, *mags, ebv, b"S", *(gaia or ())))
    columns = [("TARGETID", "K", "q", None), ("FIBER", "J", "i", None), ("OBJTYPE", "3A", "3s", None),
               ("FIBERSTATUS", "J", "i", None), ("DESI_TARGET", "K", "q", None), ("FLUX_G", "E", "f", None),
               ("FLUX_R", "E", "f", None), ("FLUX_Z", "E", "f", None), ("EBV", "E", "f", None),
               ("PHOTSYS", "1A", "1s", None)] + [(f"GAIA_PHOT_{b}_MEAN_MAG", "E", "f", None) for b in ("G", "BP", "RP")[:len(gaia or ())]]
    return fits.table("FIBERMAP", columns, rows)


def cards_of(camera, expid, spectrograph=0):
    return [("CAMERA", f"{camera}{spectrograph}"), ("EXPID", expid), ("NIGHT", 20260101), ("FLAVOR", "science")]


def frame_bytes(camera, expid, clear=1.0, spectrograph=0, **table):
    """`clear`: how much of the stars' light comes through."""
    rng, wave = random.Random(expid), CAMERAS[camera]
    n, k = len(wave), small_calibration.kernel(3)
    values, ivar = [], []
    for f in range(FIBERS):
        light = [SKY + (clear * throughput(w) * star_flux(f, w) if f in STARS else 0) for w in wave]
        for i in range(n):
            x = FLAT[f] * sum(k[d + HALF] * light[min(n - 1, max(0, i + d))] for d in range(-HALF, HALF + 1))
            values.append(x + math.sqrt(0.1 * x) * rng.gauss(0, 1))
            ivar.append(1 / (0.1 * x))
    resolution = [k[2 * HALF - row] for row in range(2 * HALF + 1) for _ in range(n)] * FIBERS
    return (fits.image("FLUX", -32, (FIBERS, n), values, cards_of(camera, expid, spectrograph), first=True)
            + fits.image("IVAR", -32, (FIBERS, n), ivar) + fits.image("MASK", 32, (FIBERS, n), [0] * (FIBERS * n))
            + fits.image("WAVELENGTH", -64, (n,), wave)
            + fits.image("RESOLUTION", -32, (FIBERS, 2 * HALF + 1, n), resolution) + fibermap(**table))


def with_ivar(name, camera, cards, rows, more=b""):
    n = len(CAMERAS[camera])
    return (fits.image(name, -32, (FIBERS, n), [v for v in rows for _ in range(n)], cards, first=True)
            + fits.image("IVAR", -32, (FIBERS, n), [1e6] * (FIBERS * n))
            + fits.image("MASK", 32, (FIBERS, n), [0] * (FIBERS * n)) + more
            + fits.image("WAVELENGTH", -64, (n,), CAMERAS[camera]))


def flat_bytes(camera, spectrograph=0):
    n = len(CAMERAS[camera])
    return with_ivar("FIBERFLAT", camera, cards_of(camera, 1, spectrograph), FLAT, fits.image("MEANSPEC", -32, (n,), [1e4] * n))


def sky_bytes(camera, expid, spectrograph=0):
    return with_ivar("SKY", camera, cards_of(camera, expid, spectrograph), [SKY] * FIBERS)


def grid_bytes(first=0):
    """`first`: points of the models that are left out at the blue end."""
    wave = MODEL_WAVE[first:]
    flux = [star_shape(w, *node) for node in NODES for w in wave]
    rows = [(i, *node) for i, node in enumerate(NODES)]
    columns = [("TEMPLATEID", "J", "i", None), ("TEFF", "D", "d", None), ("LOGG", "D", "d", None), ("FEH", "D", "d", None)]
    return (fits.image("FLUX", -32, (len(NODES), len(wave)), flux, first=True) + fits.table("MODELS", columns, rows)
            + fits.image("WAVELENGTH", -64, (len(wave),), wave))
