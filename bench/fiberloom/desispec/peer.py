# SPDX-License-Identifier: BSD-3-Clause
"""desispec's own scripts, one in a process: peer.py SCRIPT [its options]; runs where desispec can be imported.
peer.py read KIND=FILE ... opens files with desispec's readers and says in JSON what came: {KIND: [rows, bins ...]}.

The last line of output is JSON: CPU seconds of the script's main function and of the function that the step is about.
What a point loses against a lamp's light comes from tables of desimodel that are in no public package: 1 for each
fibre, as Fiberloom has it where FIBERMAP does not say.
"""
import importlib
import json
import os
import sys
import time

os.environ.setdefault("DESI_LOGLEVEL", "error")
# {script of desispec: the function that it is about}
ABOUT = {"fiberflat": "compute_fiberflat", "sky": "compute_sky", "fluxcalibration": "compute_flux_calibration",
         "procexp": "calc_tsnr2" if "PSF" in os.environ else "apply_flux_calibration", "coadd_spectra": None, "stdstars": None}


def read(files):
    from desispec.coaddition import coadd_cameras
    from desispec.io import read_fiberflat, read_flux_calibration, read_frame, read_sky, read_spectra
    from desispec.io.fluxcalibration import read_stdstar_models

    def of_flat(path):
        flat = read_fiberflat(path)
        return [*flat.fiberflat.shape, len(flat.meanspec), int((flat.ivar > 0).sum() > 0)]

    def of_sky(path):
        sky = read_sky(path)
        return [*sky.flux.shape, *sky.stat_ivar.shape]

    def of_stars(path):
        flux, wave, fibers, table = read_stdstar_models(path)
        return [*flux.shape, len(wave), len(fibers), len(table["CHI2DOF"])]

    def of_flux(path):
        calibration = read_flux_calibration(path)
        return [*calibration.calib.shape, len(calibration.fibercorr)]

    def of_frame(path):
        frame = read_frame(path)
        return [*frame.flux.shape, len(frame.R), len(frame.fibermap), len(frame.scores)]

    def of_spectra(path):
        spectra = read_spectra(path)
        joint = coadd_cameras(spectra)
        return [spectra.num_spectra(), *(len(spectra.wave[b]) for b in spectra.bands), len(spectra.fibermap),
                len(spectra.exp_fibermap), *(len(spectra.R[b]) for b in spectra.bands), *joint.flux[joint.bands[0]].shape]

    readers = {"fiberflat": of_flat, "sky": of_sky, "stdstars": of_stars, "fluxcalib": of_flux, "frame": of_frame,
               "cframe": of_frame, "coadd": of_spectra, "spectra": of_spectra}
    pairs = [word.split("=", 1) for word in files]
    print(json.dumps({kind: [int(n) for n in readers[kind](path)] for kind, path in pairs}))


def use_passbands(module, folder):
    """Passbands of a simulated night in the place of speclite's, which its models do not reach over."""
    import numpy as np
    import speclite.filters

    def passband(band, **_):
        wave, response = np.loadtxt(os.path.join(folder, f"decam2014-{band.lower()[0]}.ecsv"), comments=("#", "wavelength"), unpack=True)
        return speclite.filters.FilterResponse(wave, response, {"group_name": "simulated", "band_name": band.lower()[0]})
    module.load_legacy_survey_filter = passband
    module.load_gaia_filter = lambda band, dr: passband("g")


def use_model(psf):
    """Of TSNR2: what desispec looks for in the folders of a production, and numbers that desimodel's own files say."""
    import desispec.tsnr
    import numpy as np
    desispec.tsnr.findcalibfile = lambda *_: psf
    desispec.tsnr.findfile = lambda *_, **__: "none"
    desispec.tsnr.load_desiparams = lambda: {"fibers": {"diameter_um": 107.0, "diameter_arcsec": 1.52}}
    desispec.tsnr.fb_rdnoise = lambda fibers, frame, traces: np.full(frame.flux.shape, frame.meta["RDNOISE"])


def main(script, options):
    if script == "read":
        return read(options)
    import desispec.fiberfluxcorr
    import numpy as np
    for name in ("flat_to_psf_flux_correction", "psf_to_fiber_flux_correction"):
        setattr(desispec.fiberfluxcorr, name, lambda fibermap, *_, **__: np.ones(len(fibermap)))
    if "PSF" in os.environ:
        use_model(os.environ["PSF"])
    module = importlib.import_module("desispec.scripts." + script)
    if "SIMULATED_FILTERS" in os.environ:
        use_passbands(module, os.environ["SIMULATED_FILTERS"])
    spent = {}
    if ABOUT[script]:
        function = getattr(module, ABOUT[script])

        def timed(*args, **named):
            start = time.process_time()
            result = function(*args, **named)
            spent["function"] = time.process_time() - start
            return result
        setattr(module, ABOUT[script], timed)
    start = time.process_time()
    module.main(module.parse(options))
    spent["script"] = time.process_time() - start
    print(json.dumps(spent))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
