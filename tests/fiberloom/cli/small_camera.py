# SPDX-License-Identifier: BSD-3-Clause
"""A camera small enough to write in Python: 10 fibres in two bundles of 5, a CCD of 110 x 160 pixels, a
Gaussian PSF in the real file format (GAUSS-HERMITE version 3)."""
import math
import random

import tiny_fits as fits

NX, NY, NFIBER, BUNDLE = 110, 160, 10, 5
WMIN, WMAX = 5000.0, 5100.0
GRID = "5005.0,5085.0,0.8"
DEGREE = 6


def trace_x(fiber):
    return 12.0 + 8.0 * fiber + (8.0 if fiber >= BUNDLE else 0.0)


def trace_y(wave):
    return 5.0 + 1.5 * (wave - WMIN)


def psf_bytes(psftype="GAUSS-HERMITE", npix_x=NX, drop=(), nfiber=NFIBER, wmin=WMIN, wmax=WMAX,
              stretch=1.0, bundle_of=lambda fiber: fiber // BUNDLE):
    """`drop` names HDUs and keywords to leave out; `stretch` the traces along y, beyond the CCD; `bundle_of` a fibre."""
    keys = [("FIBERMIN", 0), ("FIBERMAX", nfiber - 1), ("WAVEMIN", wmin), ("WAVEMAX", wmax)]
    kind = [("PSFTYPE", psftype), ("PSFVER", 3)]
    xs, ys = [], []
    for fiber in range(nfiber):
        xs += [trace_x(fiber), 0.2]
        ys += [trace_y(0.5 * (WMIN + WMAX)), 0.5 * stretch * (trace_y(WMAX) - trace_y(WMIN))]
    rows = []

    def row(name, value, slope=0.0):
        rows.append((name.encode(), [value, slope] * nfiber, 0, 0))

    row("GHSIGX", 1.1, 0.05)
    row("GHSIGY", 1.2, 0.02)
    for j in range(DEGREE + 1):
        for i in range(DEGREE + 1):
            row(f"GH-{i}-{j}", 1.0 if i == j == 0 else (0.02 if (i, j) == (2, 0) else 0.0))
    for name in ("TAILAMP", "TAILCORE", "TAILXSCA", "TAILYSCA", "TAILINDE"):
        row(name, {"TAILAMP": 0.005, "TAILINDE": 2.0}.get(name, 1.0))
    rows.append((b"BUNDLE", [v for f in range(nfiber) for v in (float(bundle_of(f)), 0.0)], 0, 0))
    row("STATUS", 0.0)
    row("CONT", 0.0)
    psf_keys = [k for k in kind[:1] + [("PSFVER", "3")] + keys + [
        ("CAMERA", "r0"), ("NPIX_X", npix_x), ("NPIX_Y", NY), ("HSIZEX", 8), ("HSIZEY", 5),
        ("GHDEGX", DEGREE), ("GHDEGY", DEGREE), ("LEGDEG", 1), ("NPARAMS", len(rows) - 2)]
        if k[0] not in drop]
    columns = [("PARAM", "8A", "8s", None), ("COEFF", f"{2 * nfiber}D", f"{2 * nfiber}d",
                                             f"( 2, {nfiber})"),
               ("LEGDEGX", "J", "i", None), ("LEGDEGW", "J", "i", None)]
    out = fits.image("XTRACE", -64, (nfiber, 2), xs, kind + keys, first=True)
    if "YTRACE" not in drop:
        out += fits.image("YTRACE", -64, (nfiber, 2), ys, keys)
    if "PSF" not in drop:
        out += fits.table("PSF", columns, rows, psf_keys)
    return out


def pixels(noise=3.0, seed=7):
    """Image and ivar, flat: a line forest and continuum through a Gaussian PSF, Gaussian noise."""
    rng = random.Random(seed)
    image = [0.0] * (NX * NY)
    for fiber in range(NFIBER):
        for k in range(125):
            wave = WMIN + 0.8 * k
            flux = 20.0 + (2000.0 if k % 23 == 5 else 0.0)
            x, y = trace_x(fiber) + 0.2 * (2 * (wave - WMIN) / (WMAX - WMIN) - 1), trace_y(wave)
            for py in range(int(y) - 5, int(y) + 7):
                for px in range(int(x) - 5, int(x) + 7):
                    if 0 <= px < NX and 0 <= py < NY:
                        r2 = ((px - x) / 1.1) ** 2 + ((py - y) / 1.2) ** 2
                        image[py * NX + px] += flux * math.exp(-0.5 * r2) / (6.2832 * 1.1 * 1.2)
    ivar = [1.0 / (noise * noise + v) for v in image]
    return [v + rng.gauss(0, 1) / math.sqrt(w) for v, w in zip(image, ivar)], ivar


class Camera:
    """The arrays once, files of them as often as wanted."""

    def __init__(self):
        self.image, self.ivar = pixels()
        self.mask = [0] * (NX * NY)
        for y in range(70, 74):
            self.mask[y * NX + 28] = 16  # a cosmic
        for y in range(100, 112):
            for x in range(62, 74):
                self.mask[y * NX + x] = 1  # a dead block: no information in some bins

    def preproc_bytes(self, drop=(), ivar_shape=None, nx=NX, image=None, ivar=None,
                      fibermap_rows=NFIBER, bitpix=-32):
        cards = [("CAMERA", "r0"), ("FLAVOR", "science"), ("NIGHT", 20260101), ("EXPID", 11),
                 ("EXPTIME", 1000.0), ("MJD-OBS", 61041.25), ("SPECGRPH", 0), ("RDNOISE", 3.0),
                 ("DEPNAM00", "python"), ("DEPVER00", "3.11")]
        shape = (len(self.image) // NX, NX)
        if nx != NX:
            cut = [v for y in range(NY) for v in self.image[y * NX:y * NX + nx]]
            cut_ivar = [v for y in range(NY) for v in self.ivar[y * NX:y * NX + nx]]
            mask = [v for y in range(NY) for v in self.mask[y * NX:y * NX + nx]]
            shape = (NY, nx)
        else:
            cut, cut_ivar, mask = self.image, self.ivar, self.mask
        out = fits.image("IMAGE", bitpix, shape, image or cut,
                         [c for c in cards if c[0] not in drop], first=True)
        if "IVAR" not in drop:
            values = ivar or cut_ivar
            if ivar_shape:
                values = values[:ivar_shape[0] * ivar_shape[1]]
            out += fits.image("IVAR", bitpix, ivar_shape or shape, values)
        if "MASK" not in drop:
            out += fits.image("MASK", 16, shape, mask)
        if "FIBERMAP" not in drop:
            out += fits.table("FIBERMAP", [("FIBER", "J", "i", None), ("TARGET_RA", "D", "d", None),
                                           ("OBJTYPE", "3A", "3s", None)],
                              [(f, 10.0 + 0.01 * f, b"TGT") for f in range(fibermap_rows)],
                              [("TILEID", 80000)])
        return out
