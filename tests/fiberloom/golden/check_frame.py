#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Reads files that the golden writer made the way astropy and desispec do, warnings being errors.

    check_frame.py FOLDER     frame.fits, frame.fits.gz, preproc.fits, psf.fits, coadd.fits from write_samples

Exit 0 when all hold, 1 with one line for each that does not, 77 (skipped) without astropy.
"""
import pathlib
import sys
import warnings

try:
    import numpy as np
    from astropy.io import fits
except ImportError:
    print("skipped: this Python has no astropy")
    sys.exit(77)

FRAME_HDUS = [
    ("FLUX", "float32", -32), ("IVAR", "float32", -32), ("MASK", "uint32", 32),
    ("WAVELENGTH", "float64", -64), ("RESOLUTION", "float32", -32), ("FIBERMAP", None, 8),
    ("CHI2PIX", "float32", -32), ("SCORES", None, 8),
]
failures = []


def check(good, what):
    if not good:
        failures.append(what)


def native(dtype):
    return dtype.newbyteorder("=").name


def open_strictly(path):
    """All HDUs, their data and cards touched, checksums verified, the standard obeyed."""
    with fits.open(path, checksum=True, uint=True, memmap=False) as hdus:
        hdus.verify("exception")
        for hdu in hdus:
            hdu.data  # noqa: B018 - reading it is the test
            for card in hdu.header.cards:
                card.verify("exception")
    return path


def check_checksums(path):
    with fits.open(path, disable_image_compression=True) as hdus:
        for hdu in hdus:
            check("CHECKSUM" in hdu.header and "DATASUM" in hdu.header, f"{path}: {hdu.name} unsigned")
            check(hdu.verify_checksum() == 1, f"{path}: {hdu.name} CHECKSUM")
            check(hdu.verify_datasum() == 1, f"{path}: {hdu.name} DATASUM")
            for key in ("CHECKSUM", "DATASUM"):
                comment = hdu.header.comments[key]
                check(not any(c.isdigit() for c in comment), f"{path}: {key} comment '{comment}'")
            check("DATE" not in hdu.header, f"{path}: {hdu.name} has DATE")


def check_frame(path):
    """desispec.io.read_frame's rules on types, shapes and keywords."""
    with fits.open(path, uint=True, memmap=False) as f:
        check([h.name for h in f] == [n for n, _, _ in FRAME_HDUS], f"{path}: HDUs {[h.name for h in f]}")
        for name, dtype, bitpix in FRAME_HDUS:
            if dtype is not None:
                check(native(f[name].data.dtype) == dtype, f"{path}: {name} is {f[name].data.dtype}")
            check(f[name].header["BITPIX"] == bitpix, f"{path}: {name} BITPIX")
        nspec, nwave = f["FLUX"].shape
        for name in ("IVAR", "MASK", "CHI2PIX"):
            check(f[name].shape == (nspec, nwave), f"{path}: {name} {f[name].shape}")
        check(f["WAVELENGTH"].shape == (nwave,), f"{path}: WAVELENGTH")
        resolution = f["RESOLUTION"].shape
        check(resolution[0] == nspec and resolution[1] % 2 == 1 and resolution[2] == nwave,
              f"{path}: RESOLUTION {resolution}")
        header = f["FLUX"].header
        check(header["BUNIT"] == "electron/Angstrom", f"{path}: BUNIT")
        check(f["WAVELENGTH"].header["BUNIT"] == "Angstrom", f"{path}: WAVELENGTH BUNIT")
        check(header["FLAVOR"] == "science" and header["CAMERA"] == "r3", f"{path}: copied cards")
        fibers = np.asarray(f["FIBERMAP"].data["FIBER"])
        check(header["FIBERMIN"] == fibers.min() == 1502, f"{path}: FIBERMIN")
        check(int(f["MASK"].data[1, 3]) == 0x80000002, f"{path}: MASK bits")
        check_scores(path, f)


def check_scores(path, f):
    """desispec.specscore.compute_frame_scores with flux_per_angstrom=False."""
    wave = f["WAVELENGTH"].data
    flux = f["FLUX"].data.astype("f8")
    ivar = f["IVAR"].data.astype("f8")
    inside = (wave >= 5800) & (wave < 7600)
    width = np.gradient(wave)
    expected = {
        "SUM_RAW_COUNT_R": flux[:, inside].sum(axis=1),
        "MEDIAN_RAW_COUNT_R": np.median(flux[:, inside] / width[inside], axis=1),
        "MEDIAN_RAW_SNR_R": np.median(np.sqrt(ivar[:, inside]) * flux[:, inside]
                                      / np.sqrt(width[inside]), axis=1),
    }
    scores = f["SCORES"]
    check(list(scores.columns.names) == list(expected), f"{path}: SCORES {scores.columns.names}")
    for name, values in expected.items():
        # the scores come from the result in double precision, FLUX here is its float32
        check(np.allclose(scores.data[name], values, rtol=3e-7, atol=1e-5), f"{path}: {name}")
        comment = scores.header.comments[f"TTYPE{list(expected).index(name) + 1}"]
        check("in wave. range 5800,7600A" in comment, f"{path}: {name} comment '{comment}'")


def check_preproc(path):
    """desispec.io.read_image's rules, the mask with its bits."""
    with fits.open(path, uint=True, memmap=False) as f:
        check([h.name for h in f] == ["IMAGE", "IVAR", "MASK", "FIBERMAP"], f"{path}: HDUs")
        check(isinstance(f["MASK"], fits.CompImageHDU), f"{path}: MASK is not compressed")
        mask = f["MASK"].data.astype(np.uint16)
        check(mask.shape == f["IMAGE"].shape == f["IVAR"].shape, f"{path}: shapes")
        expected = np.where(np.arange(mask.size) % 31 == 0, 16, 0).reshape(mask.shape)
        check(np.array_equal(mask, expected), f"{path}: MASK values")
        check(f["IMAGE"].header["CAMERA"] == "r3" and f["IMAGE"].header["RDNOISE"] == 3.5,
              f"{path}: keywords")


def check_psf(path):
    """What specter and gpu_specter ask of a version 3 PSF."""
    with fits.open(path, memmap=False) as f:
        check([h.name for h in f] == ["XTRACE", "YTRACE", "PSF"], f"{path}: HDUs")
        table = f["PSF"].data
        names = [str(n).strip() for n in table["PARAM"]]
        check(names[:4] == ["GHSIGX", "GHSIGY", "GH-0-0", "GH-1-0"], f"{path}: rows {names[:4]}")
        check(table["COEFF"].shape == (len(names), 6, 2), f"{path}: COEFF {table['COEFF'].shape}")
        check(f["PSF"].header["PSFVER"] == "3" and f["XTRACE"].header["PSFVER"] == 3,
              f"{path}: PSFVER")


def check_coadd(path):
    """desispec.io.read_spectra's rules, and redrock's."""
    cameras = [f"{band}_{kind}" for band in "BZ" for kind in ("WAVELENGTH", "FLUX", "IVAR", "MASK", "RESOLUTION")]
    dtypes = {"WAVELENGTH": "float64", "FLUX": "float32", "IVAR": "float32", "MASK": "int32", "RESOLUTION": "float32"}
    with fits.open(path, uint=True, memmap=False) as f:
        check([h.name for h in f] == ["PRIMARY", "FIBERMAP", "EXP_FIBERMAP", *cameras, "SCORES"],
              f"{path}: HDUs {[h.name for h in f]}")
        check(f[0].data is None, f"{path}: PRIMARY has data")
        for name in cameras:
            check(native(f[name].data.dtype) == dtypes[name.split("_")[1]], f"{path}: {name} is {f[name].data.dtype}")
        check(f["B_FLUX"].header["BUNIT"] == "10**-17 erg/(s cm2 Angstrom)", f"{path}: BUNIT")
        check(f["B_MASK"].data[1, 1] == 2 and f["Z_RESOLUTION"].shape == (3, 5, 15), f"{path}: values")
        check(len(f["FIBERMAP"].data) == 3 and len(f["EXP_FIBERMAP"].data) == 5, f"{path}: rows")


def main(folder):
    warnings.simplefilter("error")
    frame, packed = folder / "frame.fits", folder / "frame.fits.gz"
    preproc, psf, coadd = folder / "preproc.fits", folder / "psf.fits", folder / "coadd.fits"
    for path in (frame, packed, preproc, psf, coadd):
        open_strictly(path)
        check_checksums(path)
    check_frame(frame)
    check_frame(packed)
    check_preproc(preproc)
    check_psf(psf)
    check_coadd(coadd)
    check(packed.read_bytes()[4:8] == b"\0\0\0\0", f"{packed}: time in the gzip header")
    for failure in failures:
        print(failure)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1])))
