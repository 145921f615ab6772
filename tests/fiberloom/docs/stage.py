# SPDX-License-Identifier: BSD-3-Clause
"""A folder in which the commands of the documentation can run: under the names that they use lie cameras of ten
fibres that cover the grids of production, dark but for their noise."""
import gzip
import pathlib
import shutil
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "cli"))
import small_calibration  # noqa: E402
import small_camera  # noqa: E402
import small_exposures  # noqa: E402
import small_spectra  # noqa: E402
import small_stars  # noqa: E402
import test_redshift_sdss  # noqa: E402
import tiny_fits as fits  # noqa: E402

GRIDS = {"b": (3600.0, 5800.0), "r": (5760.0, 7620.0), "z": (7520.0, 9824.0)}
STEP, MARGIN, READ_NOISE = 0.8, 60.0, 3.0


def camera_bytes(name):
    """PSF, preprocessed image, truth of camera `name`."""
    low, high = GRIDS[name[0]]
    shape = {"WMIN": low - MARGIN, "WMAX": high + MARGIN, "NY": int(1.5 * (high - low + 2 * MARGIN)) + 20}
    kept = {key: getattr(small_camera, key) for key in shape}
    for key, value in shape.items():
        setattr(small_camera, key, value)
    try:
        pixels = small_camera.NX * small_camera.NY
        psf = small_camera.psf_bytes(wmin=shape["WMIN"], wmax=shape["WMAX"])
        dark = small_camera.Camera.__new__(small_camera.Camera)
        dark.image = [READ_NOISE * (1 - 2 * (k * 7919 % 13 > 5)) for k in range(pixels)]
        dark.ivar, dark.mask = [1 / READ_NOISE**2] * pixels, [0] * pixels
        image = dark.preproc_bytes()
    finally:
        for key, value in kept.items():
            setattr(small_camera, key, value)
    nwave = round((high - low) / STEP) + 1
    truth = fits.image("FLUX", -32, (small_camera.NFIBER, nwave), [0.0] * (small_camera.NFIBER * nwave), first=True)
    truth += fits.image("WAVELENGTH", -64, (nwave,), [low + STEP * j for j in range(nwave)])
    card = f"'{name:8}'".encode()
    return psf.replace(b"'r0      '", card), image.replace(b"'r0      '", card), truth


def spectra(put):
    """Templates and spectra for the pages about redshifts."""
    for kind, subtype in (("GALAXY", ""), ("STAR", "A")):
        put(f"redrock-templates/rrtemplate-{kind}-{subtype or None}-v1.0.fits", small_spectra.template_bytes(kind, subtype))
    put("rrtemplate-STAR-CV-v0.1.fits", small_spectra.template_bytes("STAR", "CV"))
    for name in ("rrtemplate-galaxy.fits", "rrtemplate-galaxy-0.2.fits"):
        put(name, small_spectra.template_bytes("GALAXY", ""))
    targets = small_spectra.Targets([("GALAXY", 0.03), ("STAR", 0.0004)])
    put("coadd-0-80613-thru20210324.fits", targets.coadd())
    put("spectra-0-80613.fits", small_exposures.spectra_bytes(small_exposures.exposures()))
    put("spectro/redux/healpix/main/dark/100/10016/coadd-main-dark-10016.fits", targets.coadd())
    for name, (_, n) in small_spectra.CAMERAS.items():
        for expid in (11, 12):
            flux = [v for row in targets.flux[name] for v in row]
            head = [("EXTNAME", "FLUX"), ("CAMERA", name.lower() + "0"), ("EXPID", expid)]
            put(f"cframe-{name.lower()}0-{expid:08d}.fits",
                fits.image("", -32, (2, n), flux, head, first=True) + targets.camera_hdus(name, prefix="") +
                targets.fibermap(coadd=False))


def calibration(put, program):
    """A lamp's frame, one of the sky, and what the pages' steps make of them."""
    lamp, science, flat = "frame-z0-00000001.fits", "frame-z0-00000011.fits", "fiberflat-z0-00000001.fits"
    put(lamp, small_calibration.frame_bytes(small_calibration.lamp_light(), "flat", 1))
    stars = small_calibration.star_light()
    put(science, small_calibration.frame_bytes(small_calibration.sky_light(), "science", 2, more=stars))
    put("stdstars-0-00000011.fits", small_calibration.models_bytes())
    program("fiberflat", "-i", lamp, "-o", flat, "-q")
    program("sky", "-i", science, "--fiberflat", flat, "-o", "sky-z0-00000011.fits", "-q")
    program("calibrate", "-i", science, "--fiberflat", flat, "--sky", "sky-z0-00000011.fits", "-o", "sframe-z0-00000011.fits", "-q")
    program("fluxcalib", "-i", "sframe-z0-00000011.fits", "--models", "stdstars-0-00000011.fits", "-o",
            "fluxcalib-z0-00000011.fits", "-q")
    program("calibrate", "-i", "sframe-z0-00000011.fits", "--fluxcalib", "fluxcalib-z0-00000011.fits", "-o",
            "cframe-z0-00000011.fits", "-q")


def stars(put, folder):
    """Cameras of a spectrograph that see standard stars, and what their spectra are found with."""
    (folder / "filters").mkdir()
    small_stars.write_passbands(folder / "filters")
    put("stdstar_templates_v2.2.fits", small_stars.grid_bytes())
    for camera in small_stars.CAMERAS:
        put(f"frame-{camera}1-00000011.fits", small_stars.frame_bytes(camera, 11, spectrograph=1))
        put(f"fiberflat-{camera}1-00000001.fits", small_stars.flat_bytes(camera, spectrograph=1))
        put(f"sky-{camera}1-00000011.fits", small_stars.sky_bytes(camera, 11, spectrograph=1))


def sdss(put):
    """Two plates that know their targets, the exposures of one, and the spectra of its fibres."""
    plate = test_redshift_sdss.Sdss
    plate.setUpClass()
    for path in plate.specs:
        put(path.name, path.read_bytes())
    for name, data in plate.plate_files().items():
        put(name, data)
    put("spPlate-3587-55182.fits", plate.plate_bytes(cards=(("PLATEID", 3587), ("MJD", 55182))))
    for name in ("3586-55181", "3587-55182"):
        put(f"photoPosPlate-{name}.fits", plate.photo_bytes(range(11, 16)))
    put(f"boss/spectro/redux/v5_13_2/3586/{plate.plate.name}", plate.plate.read_bytes())
    plate.tearDownClass()


def prepare(folder, program):
    """Fills `folder`; program(arguments) runs fiberloom in it."""
    made = {name: camera_bytes(name) for name in ("b0", "r0", "z0")}
    made["z3"] = camera_bytes("z3")

    def put(path, data):
        path = folder / path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(gzip.compress(data, 1) if path.suffix == ".gz" else data)
    spectra(put)
    sdss(put)
    calibration(put, program)
    stars(put, folder)
    program("simulate", "-o", ".", "--targets", "60", "--quiet")
    program("redshift", "-i", "coadd-0-80613-thru20210324.fits", "-o", "redrock-0-80613-thru20210324.fits", "-t", "redrock-templates", "-q")
    for name in ("redrock-ours.fits", "redrock-theirs.fits"):
        shutil.copyfile(folder / "redrock-0-80613-thru20210324.fits", folder / name)
    program("redshift", "-i", "coadd-0000.fits", "-o", "redrock-0000.fits", "-q")
    for name in ("redrock-0000.fits", "coadd-0000.fits"):
        (folder / "redux").mkdir(exist_ok=True)
        shutil.copyfile(folder / name, folder / "redux" / name)
    program("catalogue", "load", "redux", "-q")
    for name, (psf, image, truth) in made.items():
        for path in (f"psf-{name}.fits", f"psf-{name}-00000011.fits", f"DIR/psf-{name}.fits", f"preproc/20261121/psf-{name}.fits"):
            put(path, psf)
        for path in (f"preproc-{name}-00000011.fits", f"preproc-{name}-00000011.fits.gz", f"DIR/preproc-{name}-00000001.fits"):
            put(path, image)
        for path in (f"truth-{name}.fits", f"truth-{name}-00000001.fits", f"DIR/truth-{name}-00000001.fits"):
            put(path, truth)
        if name != "z3":
            put(f"preproc/20261121/00000012/preproc-{name}-00000012.fits", image)
    program("night", "preproc/20261121", "-o", "status-out", "--cameras", "b0,r0", "-q")
    shutil.copyfile(folder / "psf-r0.fits", folder / "PSF")
    shutil.copyfile(folder / "preproc-r0-00000011.fits", folder / "IMAGE")
    (folder / "nights.txt").write_text("preproc/20261121\n" * 3)
    for name in ("b0", "z3", "r0"):  # the summary is that of r0
        low, high = GRIDS[name[0]]
        program("extract", "-i", f"preproc-{name}-00000011.fits", "-p", f"psf-{name}.fits", "-w", f"{low},{high},{STEP}",
                "-o", f"frame-{name}.fits", "-m", f"model-{name}.fits", "--json", "summary.json", "-q")
    shutil.copyfile(folder / "frame-z3.fits", folder / "z-theirs.fits")
    program("extract", "-i", "DIR/preproc-z0-00000001.fits", "-p", "DIR/psf-z0.fits", "-w", "9390.4,9409.6,0.8", "-o", "z-one.fits", "-q")
    for name in ("frame-r0-00000011.fits", "frame-r0-00000001.fits", "ours.fits", "theirs.fits", "FRAME"):
        shutil.copyfile(folder / "frame-r0.fits", folder / name)
    for name in ("frame-r0-00000011.fits.gz", "theirs.fits.gz"):
        put(name, (folder / "frame-r0.fits").read_bytes())
