# SPDX-License-Identifier: BSD-3-Clause
"""Good files of every kind that the program reads, small: made once, and copied for each attack."""
import gzip
import math
import os
import pathlib
import shutil
import subprocess
import sys

import rice
import tiny_fits as fits
import small_spectra
from small_camera import NFIBER, NX, NY, Camera, psf_bytes

GRID = "5020,5060,0.8"
NWAVE = 51
IMAGE, PSF, FIBERMAP = "in/preproc-r0-00000011.fits", "in/psf-r0.fits", "in/fibermap.fits"
FRAME, OTHER, TRUTH, SUMMARY = "in/frame-r0-00000011.fits", "in/frame-b.fits", "in/truth.fits", "in/summary.json"
MODEL, RESIDUAL = "in/model.fits", "in/residual.fits"
GZ, FZ = IMAGE + ".gz", "in/preproc-r0-00000011.fits.fz"
WIDE, NARROW = "in/preproc-wide.fits", "in/preproc-narrow.fits"  # the image in other types
LIST, JOB = "in/list.txt", "in/job.toml"
NIGHT = "in/night"
COADD, TEMPLATE = "in/coadd.fits", "in/rrtemplate-GALAXY-None-v1.0.fits"
REDROCK, RRMODEL, RRDETAILS = "in/redrock.fits", "in/rrmodel.fits", "in/rrdetails.h5"
CATALOGUE = "in/catalogue.sqlite"
EXTRACT_OPTIONS = ["-w", GRID, "--bundlesize", "5", "--threads", "1"]

JOB_TEXT = f"""input = "{pathlib.Path(NIGHT).name}"
cameras = ["r0", "b0"]

[options]
bundlesize = 5
specmin = 0
nspec = 10
ndiag = 11
psferr = 0.01
tolerance = 1e-4
method = "exact"
scores = true

[r]
wave = [5020.0, 5060.0, 0.8]
psferr = 0.02

[b]
wave = [5020.0, 5060.0, 0.8]

[[frame]]
image = "{pathlib.Path(IMAGE).name}"
camera = "r1"
expid = 17
psf = "{pathlib.Path(PSF).name}"
output = "../out/odd/frame.fits"
night = "20261121"
"""


def extract(image=IMAGE, psf=PSF, output="out/frame.fits"):
    return ["extract", "-q", "-i", image, "-p", psf, "-o", output, *EXTRACT_OPTIONS]


def night(source=NIGHT, output="out"):
    return ["night", source, "-q", "-o", output, "-w", GRID, "--bundlesize", "5", "--threads", "1"]


def redshift(coadd=COADD, template=TEMPLATE, output="out/redrock.fits"):
    return ["redshift", "-q", "-i", coadd, "-t", template, "-o", output, "--threads", "1"]


def page(output="out/page.html"):
    """The page of redshifts, with all that belongs to it."""
    return ["report", REDROCK, "--spectra", COADD, "--details", RRDETAILS, "--model", RRMODEL, "-t", TEMPLATE, "-o", output, "--threads", "1"]


def fibermap(nrow=NFIBER):
    columns = [("FIBER", "J", "i", None), ("TARGETID", "K", "q", None), ("TARGET_RA", "D", "d", None),
               ("FLUX_R", "E", "f", None), ("OBJTYPE", "3A", "3s", None)]
    return fits.table("FIBERMAP", columns,
                      [(f, 39627700000 + f, 10.0 + 0.01 * f, 2.5, b"TGT") for f in range(nrow)], [("TILEID", 80000)])


def truth_bytes():
    flux = [20.0 + math.sin(0.1 * j) for _ in range(NFIBER) for j in range(NWAVE)]
    return (fits.image("FLUX", -64, (NFIBER, NWAVE), flux, first=True) +
            fits.image("WAVELENGTH", -64, (NWAVE,), [5020.0 + 0.8 * j for j in range(NWAVE)]) + fibermap())


def scaled(values, low, step):
    """16-bit integers that stand for these values with BZERO and BSCALE."""
    return [max(-2**15, min(2**15 - 1, round((v - low) / step) - 2**15)) for v in values]


def other_types(camera):
    """The frame in float64 with a mask of uint64, and in scaled 16-bit integers with a mask of uint32."""
    shape, flags = (NY, NX), camera.mask
    wide = fits.image("IMAGE", -64, shape, camera.image, [("CAMERA", "r0")], first=True) + \
        fits.image("IVAR", -64, shape, camera.ivar) + \
        fits.image("MASK", 64, shape, [v - 2**63 for v in flags], [("BZERO", 2**63)])
    step, ivar_step = 0.1, max(camera.ivar) / 65000

    def cards(low, size):
        return [("BZERO", low + size * 2**15), ("BSCALE", size)]
    narrow = fits.image("IMAGE", 16, shape, scaled(camera.image, -50.0, step),
                        [("CAMERA", "r0"), *cards(-50.0, step)], first=True) + \
        fits.image("IVAR", 16, shape, scaled(camera.ivar, 0.0, ivar_step), cards(0.0, ivar_step)) + \
        fits.image("MASK", 32, shape, [v - 2**31 for v in flags], [("BZERO", 2**31)])
    return {WIDE: wide, NARROW: narrow}


def small_images(camera):
    """The inputs that are no output of the program."""
    cards = [("CAMERA", "r0"), ("FLAVOR", "science"), ("NIGHT", 20260101), ("EXPID", 11), ("EXPTIME", 1000.0),
             ("MJD-OBS", 61041.25), ("SPECGRPH", 0), ("RDNOISE", 3.0)]
    plain = camera.preproc_bytes()
    head = fits.header([("SIMPLE", True), ("BITPIX", 8), ("NAXIS", 0), ("EXTEND", True)])
    targets = small_spectra.Targets([("GALAXY", 0.03), ("GALAXY", 0.07), ("GALAXY", 0.1)])
    return {**other_types(camera), COADD: targets.coadd(), TEMPLATE: small_spectra.template_bytes("GALAXY"), IMAGE: plain, GZ: gzip.compress(plain, 1, mtime=0),
            FZ: rice.packed_preproc(camera, NX, NY, cards), PSF: psf_bytes(), FIBERMAP: head + fibermap(), TRUTH: truth_bytes(), JOB: JOB_TEXT.encode(),
            LIST: f"# frames\n{pathlib.Path(IMAGE).name} {pathlib.Path(PSF).name} one/frame.fits\n"
                  f"{pathlib.Path(IMAGE).name} {pathlib.Path(PSF).name} two/frame.fits # the same\n".encode()}


def put(path, data):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)


class Corpus:
    """`files`: name -> bytes. `stamped`: a finished night, kept as a folder because time stamps count in it; they
    fit a case's folder of the one name `folder`, so every worker makes its own."""

    def __init__(self, program, folder, keep):
        self.program, self.folder, self.keep = program, pathlib.Path(folder), pathlib.Path(keep)
        self.camera = Camera()
        self.files = small_images(self.camera)
        self.clear()
        for name, data in self.files.items():
            put(self.folder / name, data)
        self.run(*extract(), "-m", "out/model.fits", "--residual", "out/residual.fits", "--json", "out/summary.json")
        made = {FRAME: "out/frame.fits", MODEL: "out/model.fits", RESIDUAL: "out/residual.fits",
                SUMMARY: "out/summary.json"}
        self.files.update({name: (self.folder / path).read_bytes() for name, path in made.items()})
        self.run(*extract(output="out/other.fits"), "--psferr", "0.05")
        self.files[OTHER] = (self.folder / "out/other.fits").read_bytes()
        self.run(*redshift(), "--model", "out/model.fits", "-d", "out/details.h5")
        made = {REDROCK: "out/redrock.fits", RRMODEL: "out/model.fits", RRDETAILS: "out/details.h5"}
        self.files.update({name: (self.folder / path).read_bytes() for name, path in made.items()})
        self.place(REDROCK, FRAME)
        self.run("catalogue", "load", REDROCK, FRAME, "--db", "out/catalogue.sqlite")
        self.files[CATALOGUE] = (self.folder / "out/catalogue.sqlite").read_bytes()
        self.make_night()

    def clear(self):
        shutil.rmtree(self.folder, ignore_errors=True)
        (self.folder / "in").mkdir(parents=True)
        (self.folder / "out").mkdir()

    def run(self, *arguments, code=0):
        done = subprocess.run([self.program, *arguments], cwd=self.folder, capture_output=True, text=True, timeout=120)
        if done.returncode != code:
            sys.exit(f"attack: the unharmed command fails: {' '.join(arguments)}: {done.returncode}: {done.stderr}")
        return done.stdout

    def night_tree(self, exposures=(11,), cameras=("b0", "r0")):
        """The inputs of a night, into the case's folder."""
        for exposure in exposures:
            below = self.folder / NIGHT / f"20261121/{exposure:08d}"
            for camera in cameras:
                put(below / f"preproc-{camera}-{exposure:08d}.fits", self.files[IMAGE])
                put(below / f"psf-{camera}.fits", self.files[PSF])

    def make_night(self):
        """One frame done, one failed: so there are receipts, a quarantine and a ledger."""
        self.clear()
        self.night_tree(cameras=("b0", "r0"))
        bad = self.folder / NIGHT / "20261121/00000011/preproc-b0-00000011.fits"
        put(bad, self.files[IMAGE][:9000])
        self.run(*night(), code=3)
        self.stamped = self.keep / "night"
        shutil.rmtree(self.stamped, ignore_errors=True)
        shutil.copytree(self.folder, self.stamped)
        os.makedirs(self.keep, exist_ok=True)

    def restore_night(self):
        shutil.rmtree(self.folder)
        shutil.copytree(self.stamped, self.folder)

    def place(self, *names):
        """Good files into the case's folder."""
        for name in names:
            put(self.folder / name, self.files[name])

    def put(self, name, data):
        put(self.folder / name, data)
