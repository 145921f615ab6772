# SPDX-License-Identifier: BSD-3-Clause
"""A folder as desimodel's, with the files by which the depth of an exposure is told, and what they hold as functions;
with the standard library only."""
import math

import tiny_fits as fits

SIGMAS, OFFSETS, RADII = [20.0, 32.0, 45.0, 60.0, 90.0], [0.0, 20.0, 50.0, 100.0, 200.0], [0.3, 0.5, 1.0, 1.6, 2.2]
FIBER_UM, FIBER_AS = 107.0, 1.52
PLATE = [(25.0 * i, 67.5 + 0.01 * i * i, 69.0 + 0.006 * i * i) for i in range(18)]  # mm, micron an arc second
KINDS = {"bgs": 160.0, "elg": 2.0, "gpbbackup": 300.0, "gpbbright": 100.0, "gpbdark": 50.0, "lrg": 4.0, "lya": 1.5, "qso": 3.0}
SCALE, SECONDS = {"lrg": 0.8}, {kind: 10.0 + i for i, kind in enumerate(KINDS)}
BANDS = {"B": (3600.0, 2751), "R": (5760.0, 2326), "Z": (7520.0, 2881)}  # 0.8 Angstrom
NEA_WAVE = [5500.0 + 100 * i for i in range(24)]


def point(sigma, offset):
    return (1 - math.exp(-53.5**2 / (2 * sigma**2))) * math.exp(-offset**2 / (2 * (sigma**2 + 900)))


def galaxy(radius, sigma, offset, bulge):
    return point(math.hypot(sigma, (70 if bulge else 50) * radius), offset) * (0.9 if bulge else 1)


def area(fiber, wave):
    """Pixels: a cubic, so that any spline through it is this."""
    x = (wave - 6500) / 1000
    return 3.4 + 0.002 * fiber + 0.3 * x - 0.2 * x**2 + 0.05 * x**3


def angstrom(fiber, wave):
    x = (wave - 6500) / 1000
    return 0.6 + 1e-4 * fiber + 0.02 * x + 0.004 * x**2 - 0.003 * x**3


def light(kind, wave):
    return SCALE.get(kind, 1) * KINDS[kind] * 0.01 * (1 + 0.5 * math.sin(wave / 37.0 + len(kind)))


def write(folder, cameras=("r0",), rows=500):
    for name in ("throughput", "focalplane", "specpsf/nea", "tsnr"):
        (folder / "data" / name).mkdir(parents=True)
    data = folder / "data"
    both = [(s, o) for s in SIGMAS for o in OFFSETS]
    shape = (len(SIGMAS), len(OFFSETS))
    (data / "throughput/galsim-fiber-acceptance.fits").write_bytes(
        fits.image("SIGMA", -64, (len(SIGMAS),), SIGMAS, first=True) + fits.image("OFFSET", -64, (len(OFFSETS),), OFFSETS)
        + fits.image("HLRAD", -64, (len(RADII),), RADII)
        + b"".join(fits.image(name, -64, shape, [point(s, o) for s, o in both]) for name in ("POINT", "PRMS"))
        + b"".join(fits.image(name, -64, (len(RADII), *shape), [galaxy(r, s, o, name[0] == "B") for r in RADII for s, o in both])
                   for name in ("DISK", "DRMS", "BULGE", "BRMS")))
    (data / "focalplane/platescale.txt").write_text(
        "# radius theta ... radial azimuthal arclength\n" + "".join(f"{r} 0 0 0 0 0 {m} {s} {r}\n" for r, m, s in PLATE))
    (data / "desi.yaml").write_text(
        f"spectro:\n  diameter_um: 1\nfibers:\n  # of DESI\n  diameter_um: {FIBER_UM}\n  diameter_arcsec: {FIBER_AS} # mean\nexptime: 1000\n")
    many = [(f, w) for f in range(rows) for w in NEA_WAVE]
    noise = (fits.image("WAVELENGTH", -64, (len(NEA_WAVE),), NEA_WAVE, first=True)
             + fits.image("ANGPERPIX", -64, (rows, len(NEA_WAVE)), [angstrom(*at) for at in many])
             + fits.image("NEA", -64, (rows, len(NEA_WAVE)), [area(*at) for at in many]))
    for camera in cameras:
        (data / f"specpsf/nea/masternea_{camera}.fits").write_bytes(noise)
    for kind in KINDS:
        cards = [("TRACER", kind), ("SNR2TIME", SECONDS[kind])] + ([("FLUXSCAL", SCALE[kind])] if kind in SCALE else [])
        hdus = fits.image("", 8, (), [], cards, first=True)
        for band, (first, n) in BANDS.items():
            wave = [first + 0.8 * i for i in range(n)]
            hdus += fits.image(f"WAVE_{band}", -64, (n,), wave)
            hdus += fits.image(f"DFLUX_{band}", -64, (1, n), [light(kind, w) / SCALE.get(kind, 1) for w in wave])
        (data / f"tsnr/tsnr-ensemble-{kind}.fits").write_bytes(hdus)
    return folder
