# SPDX-License-Identifier: BSD-3-Clause
"""Small templates and spectra of known redshift, with the standard library only: a continuum and narrow lines, two
cameras, a Gaussian resolution. The template is sampled so finely that a pixel's mean is that of a few points."""
import math
import random
import struct

import tiny_fits

FIRST, STEP, KNOTS = 2500.0, 1.0, 3600
LINES = {"GALAXY": [[(3727, 3), (4861, 1), (5007, 4)], [(3934, -2), (3969, -2), (4305, -1)]],
         "STAR": [[(4102, -3), (4341, -3), (4861, -3)], [(4227, -2), (5175, -2), (5890, -1)]]}
GRIDS = {"GALAXY": [0.002 * i for i in range(60)], "STAR": [-0.002 + 2e-4 * i for i in range(21)]}
CAMERAS = {"B": (4000.0, 240), "R": (4440.0, 260)}
SIGMA, HALF = 1.2, 3


def vectors(kind):
    """[continuum, slope, lines, lines] on the template's wavelengths."""
    wave = [FIRST + STEP * i for i in range(KNOTS)]
    rows = [[1.0] * KNOTS, [(w - 4300) / 1800 for w in wave]]
    for group in LINES[kind]:
        rows.append([sum(h * math.exp(-0.5 * ((w - m) / 4) ** 2) for m, h in group) for w in wave])
    return rows


def template_bytes(kind, subtype="", redshifts=None, cards=()):
    rows = vectors(kind)
    head = [("CRVAL1", FIRST), ("CDELT1", STEP), ("LOGLAM", 0), ("RRTYPE", kind), ("RRSUBTYP", subtype),
            ("VERSION", "1.0"), ("RRIGM", "None"), *cards]
    zs = redshifts or GRIDS[kind]
    return (tiny_fits.image("BASIS_VECTORS", -64, (len(rows), KNOTS), [v for row in rows for v in row], head, first=True)
            + tiny_fits.image("REDSHIFTS", -64, (len(zs),), zs))


def write_templates(folder):
    """A new folder with a set that finds the redshifts of `Targets`."""
    folder.mkdir()
    (folder / "rrtemplate-GALAXY-None-v1.0.fits").write_bytes(template_bytes("GALAXY"))
    (folder / "rrtemplate-STAR-A-v1.0.fits").write_bytes(template_bytes("STAR", "A"))
    return folder


def archetype_bytes(mixes=([2, .5, 1, .7], [1, -.5, 0, 1]), names=(b"ELG", b"LRG")):
    """Two galaxies, of the template's vectors."""
    rows = [[sum(c * v for c, v in zip(mix, column)) for column in zip(*vectors("GALAXY"))] for mix in mixes]
    data = tiny_fits.header([("SIMPLE", True), ("BITPIX", 8), ("NAXIS", 0), ("EXTEND", True)])
    return data + tiny_fits.table("ARCHETYPES", [("ARCHETYPE", f"{KNOTS}E", f"{KNOTS}f", None), ("SUBTYPE", "3A", "3s", None)],
                                  list(zip(rows, names)),
                                  [("CRVAL1", FIRST), ("CDELT1", STEP), ("LOGLAM", False), ("RRTYPE", "GALAXY"), ("VERSION", "1")])


def prior_bytes(targetid, z, sigma, function=b"tophat"):
    """What is known beforehand of one target."""
    columns = [("TARGETID", "K", "q", None), ("FUNCTION", "10A", "10s", None), ("Z", "D", "d", None), ("SIGMA", "D", "d", None)]
    return (tiny_fits.header([("SIMPLE", True), ("BITPIX", 8), ("NAXIS", 0), ("EXTEND", True)])
            + tiny_fits.table("PRIORS", columns, [(targetid, function, z, sigma)]))


def weights():
    """A column of the resolution matrix."""
    w = [math.exp(-0.5 * (d / SIGMA) ** 2) for d in range(-HALF, HALF + 1)]
    return [x / sum(w) for x in w]


def resolution(n):
    """[2 HALF + 1][n] as DESI stores it."""
    return [w for w in weights() for _ in range(n)]


def model(kind, coefficients, z, first, n):
    """Blurred means over pixels."""
    total = [sum(c * v for c, v in zip(coefficients, column)) for column in zip(*vectors(kind))]

    def at(w):
        x = (w / (1 + z) - FIRST) / STEP
        i = min(max(int(x), 0), KNOTS - 2)
        return total[i] + (x - i) * (total[i + 1] - total[i])
    sharp = [sum(at(first + i + (k + 0.5) / 8 - 0.5) for k in range(8)) / 8 for i in range(-HALF, n + HALF)]
    return [sum(w * sharp[i + k] for k, w in enumerate(weights())) for i in range(n)]


class Targets:
    """Spectra of `truth`: (kind, z) each."""

    def __init__(self, truth, ivar=25.0, seed=1):
        self.truth, self.ids = truth, [39627788403084375 + 11 * i for i in range(len(truth))]
        noise = random.Random(seed)
        self.flux, self.ivar = {}, {}
        for name, (first, n) in CAMERAS.items():
            self.flux[name] = [[v + noise.gauss(0, ivar ** -0.5) for v in model(kind, [2, 0.5, 1, 0.7], z, first, n)]
                               for kind, z in truth]
            self.ivar[name] = [[ivar] * n for _ in truth]

    def camera_hdus(self, name, rows=None, prefix=None, with_resolution=True):
        first, n = CAMERAS[name]
        rows = range(len(self.truth)) if rows is None else rows
        prefix = name + "_" if prefix is None else prefix
        flat = lambda table: [v for r in rows for v in table[name][r]]  # noqa: E731
        count = len(list(rows))
        out = tiny_fits.image(prefix + "WAVELENGTH", -64, (n,), [first + i for i in range(n)])
        out += tiny_fits.image(prefix + "FLUX", -32, (count, n), flat(self.flux))
        out += tiny_fits.image(prefix + "IVAR", -32, (count, n), flat(self.ivar))
        out += tiny_fits.image(prefix + "MASK", 32, (count, n), [0] * (count * n))
        if with_resolution:
            out += tiny_fits.image(prefix + "RESOLUTION", -32, (count, 2 * HALF + 1, n), resolution(n) * count)
        return out

    def fibermap(self, status=None, kinds=None, coadd=True, rows=None, extra=()):
        rows = list(range(len(self.truth)) if rows is None else rows)
        status, kinds = status or {}, kinds or {}
        name = "COADD_FIBERSTATUS" if coadd else "FIBERSTATUS"
        columns = [("TARGETID", "K", "q", None), (name, "J", "i", None), ("OBJTYPE", "3A", "3s", None)]
        columns += [c[0] for c in extra]
        return tiny_fits.table("FIBERMAP", columns, [
            (self.ids[r], status.get(r, 0), kinds.get(r, "TGT").encode(), *(c[1](k) for c in extra))
            for k, r in enumerate(rows)], [("SURVEY", "main")])

    def coadd(self, cameras="BR", status=None, kinds=None, fibermap=True, scores=True, cards=(), **more):
        out = tiny_fits.header([("SIMPLE", True), ("BITPIX", 8), ("NAXIS", 0), ("EXTEND", True),
                                ("SPGRP", "cumulative"), ("TILEID", 80613), *cards])
        if fibermap:
            out += self.fibermap(status, kinds)
            out += tiny_fits.table("EXP_FIBERMAP", [("TARGETID", "K", "q", None), ("EXPID", "J", "i", None)],
                                   [(t, 7) for t in self.ids])
        for camera in cameras:
            out += self.camera_hdus(camera, **more)
        if scores:
            out += tiny_fits.table("SCORES", [("TARGETID", "K", "q", None), ("TSNR2_LRG_B", "E", "f", None),
                                              ("TSNR2_LRG_R", "E", "f", None), ("MEDIAN", "E", "f", None)],
                                   [(t, 1.5, 2.0, 9.0) for t in self.ids])
        return out


def read_table(path, name):
    """Columns of a table of plain numbers and texts: {name: [values]}."""
    hdu = next(h for h in tiny_fits.read(path) if h.name == name)
    code, names = ">", []
    for i in range(1, hdu.cards["TFIELDS"] + 1):
        form = str(hdu.cards[f"TFORM{i}"]).strip()
        count, letter = int(form[:-1] or 1), form[-1]
        code += f"{count}s" if letter == "A" else f"{count}" + {"K": "q", "J": "i", "I": "h", "B": "B", "E": "f",
                                                              "D": "d", "L": "c"}[letter]
        names.append((str(hdu.cards[f"TTYPE{i}"]).strip(), 1 if letter == "A" else count, letter))
    out = {n: [] for n, _, _ in names}
    size, rows = struct.calcsize(code), hdu.cards["NAXIS2"]
    for r in range(rows):
        values, at = struct.unpack(code, hdu.data[r * size:(r + 1) * size]), 0
        for n, count, letter in names:
            part = values[at:at + count]
            part = [value == b"T" for value in part] if letter == "L" else part
            out[n].append(part[0].decode().rstrip("\0 ") if letter == "A" else part[0] if count == 1 else list(part))
            at += count
    return out
