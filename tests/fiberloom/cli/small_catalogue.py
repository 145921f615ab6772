# SPDX-License-Identifier: BSD-3-Clause
"""Files that a catalogue is made of, with the standard library alone: redshifts of a tile's petal, a frame, and a
PostgreSQL server of one's own."""
import glob
import os
import pathlib
import pwd
import shutil
import subprocess
import tempfile

import tiny_fits

CLASSES = ("GALAXY", "QSO", "STAR")


def redrock_bytes(tile, night, rows, candidates=0, petal=0):
    """rows: (targetid, z, zwarn, spectype, ra, dec). `candidates`: of each target, beside the best."""
    labels = [("SPGRP", "cumulative"), ("SPGRPVAL", night), ("NIGHT", night), ("TILEID", tile), ("PETAL", petal),
              ("SURVEY", "main"), ("PROGRAM", "dark"), ("RRVER", "test")]
    head = tiny_fits.header([("SIMPLE", True), ("BITPIX", 8), ("NAXIS", 0), ("EXTEND", True)] + labels)
    redshifts = [("TARGETID", "K", "q", None), ("Z", "D", "d", None), ("ZERR", "E", "f", None),
                 ("ZWARN", "J", "i", None), ("CHI2", "E", "f", None), ("COEFF", "3E", "3f", None),
                 ("SPECTYPE", "6A", "6s", None), ("SUBTYPE", "3A", "3s", None), ("DELTACHI2", "E", "f", None)]
    values = [(t, z, 1e-4, warn, 100.0, [1.0, 2.0, float(t % 7)], name.encode().ljust(6), b"   ", 50.0 + t)
              for t, z, warn, name, ra, dec in rows]
    fibermap = [("TARGETID", "K", "q", None), ("TARGET_RA", "D", "d", None), ("TARGET_DEC", "D", "d", None),
                ("TILEID", "J", "i", None), ("FIBER", "J", "i", None), ("FLUX_R", "E", "f", None)]
    places = [(t, ra, dec, tile, i, 2.5) for i, (t, z, warn, name, ra, dec) in enumerate(rows)]
    exposures = [("TARGETID", "K", "q", None), ("EXPID", "J", "i", None), ("NIGHT", "J", "i", None),
                 ("TILEID", "J", "i", None), ("MJD", "D", "d", None), ("EXPTIME", "D", "d", None),
                 ("FIBER", "J", "i", None)]
    taken = [(row[0], tile * 10 + e, night, tile, 59000.5 + e, 900.0, i) for i, row in enumerate(rows) for e in (0, 1)]
    tsnr2 = [("TARGETID", "K", "q", None), ("TSNR2_LRG", "E", "f", None)]
    data = (head + tiny_fits.table("REDSHIFTS", redshifts, values) + tiny_fits.table("FIBERMAP", fibermap, places)
            + tiny_fits.table("EXP_FIBERMAP", exposures, taken)
            + tiny_fits.table("TSNR2", tsnr2, [(row[0], 10.0 + tile % 5) for row in rows]))
    if candidates:
        more = [("TARGETID", "K", "q", None), ("ZNUM", "I", "h", None), ("Z", "D", "d", None), ("CHI2", "E", "f", None),
                ("SPECTYPE", "6A", "6s", None)]
        data += tiny_fits.table("CANDIDATES", more, [(row[0], k, row[1] + 0.1 * k, 100.0 + k, row[3].encode().ljust(6))
                                                     for row in rows for k in range(candidates + 1)])
    return data


def targets(first, n, ra=150.0, dec=2.0):
    """`n` targets in a line of one every 36 arcsec of declination."""
    return [(first + i, 0.01 * i, 4 if i % 10 == 9 else 0, CLASSES[i % 3], ra, dec + 0.01 * i) for i in range(n)]


def frame_bytes(expid, night, tile, camera, fibers=3, bins=4):
    cards = [("EXPID", expid), ("NIGHT", night), ("TILEID", tile), ("CAMERA", camera.upper()), ("EXPTIME", 900.0),
             ("MJD-OBS", 59000.25), ("FLAVOR", "science"), ("AIRMASS", 1.25), ("TILERA", 150.0), ("TILEDEC", 2.0)]
    shape, n = (fibers, bins), fibers * bins
    scores = [("TARGETID", "K", "q", None), ("MEDIAN_CALIB_SNR_" + camera[0].upper(), "E", "f", None)]
    fibermap = [("TARGETID", "K", "q", None), ("FIBER", "J", "i", None), ("TARGET_RA", "D", "d", None),
                ("TARGET_DEC", "D", "d", None)]
    return (tiny_fits.image("FLUX", -32, shape, [1.0] * n, cards, first=True)
            + tiny_fits.image("IVAR", -32, shape, [1.0] * n) + tiny_fits.image("MASK", 32, shape, [0] * n)
            + tiny_fits.image("WAVELENGTH", -64, (bins,), [5000.0 + i for i in range(bins)])
            + tiny_fits.table("FIBERMAP", fibermap, [(900 + i, i, 150.0, 2.0) for i in range(fibers)])
            + tiny_fits.table("SCORES", scores, [(900 + i, 1.0 + i) for i in range(fibers)]))


class Server:
    """A PostgreSQL server in a folder that goes away, reached by a socket in it alone. None: none is installed."""

    @staticmethod
    def programs():
        return max(glob.glob("/usr/lib/postgresql/*/bin"), default=None)

    def __init__(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="fiberloom-pg-", dir="/tmp"))
        self.user = []
        if os.geteuid() == 0:  # the server does not run as root
            names = {entry.pw_name for entry in pwd.getpwall()}
            name = "postgres" if "postgres" in names else "nobody"
            shutil.chown(self.folder, name)
            self.user = ["runuser", "-u", name, "--"]
        self.call("initdb", "-D", self.folder / "data", "-A", "trust", "-U", "loom", "-E", "UTF8", "--locale=C", "--no-sync")
        self.start()

    def call(self, name, *arguments):
        log = open(self.folder.with_suffix(".log"), "wb")
        with log:  # a file and no pipe: the server would hold the pipe open
            subprocess.run([*self.user, os.path.join(self.programs(), name), *map(str, arguments)], check=True, cwd="/",
                           stdout=log, stderr=log)

    def start(self):
        self.call("pg_ctl", "-D", self.folder / "data", "-w", "-l", self.folder / "log", "-o",
                  f"-k {self.folder} -c listen_addresses='' -c fsync=off", "start")

    def stop(self):
        self.call("pg_ctl", "-D", self.folder / "data", "-m", "immediate", "-w", "stop")

    def make(self, name):
        self.call("psql", "-h", self.folder, "-U", "loom", "-d", "postgres", "-c", f"CREATE DATABASE {name}")
        return f"postgresql://loom@/{name}?host={self.folder}"

    def remove(self):
        try:
            self.stop()
        except subprocess.CalledProcessError:
            pass  # it was stopped by the test
        shutil.rmtree(self.folder)
        self.folder.with_suffix(".log").unlink(missing_ok=True)
