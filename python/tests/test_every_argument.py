# SPDX-License-Identifier: BSD-3-Clause
"""Every argument of every public function is fuzzed: a good call with one or two arguments replaced gives a result, or a
TypeError or ValueError that names an argument, or the library's error. A function or an argument that is new and not
in the table fails a test."""
import inspect

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import fiberloom as fl
import fiberloom.compat.gpu_specter
import fiberloom.compat.redrock
import fiberloom.compat.specter

SMALL = fl.simulate_frame(nfiber=3, nwave=12, seed=5)
FRAME = fl.extract_frame(SMALL.image, SMALL.ivar, SMALL.psf, SMALL.wave, model=True)
FOUND = fl.fit_redshifts(np.ones((3, 12)), np.ones((3, 12)), SMALL.wave, models=True, scan=True)
ONE = {"wave": SMALL.wave, "flux": np.full((3, 12), 9.0), "ivar": np.ones((3, 12)), "resolution": np.ones((3, 1, 12)),
       "fibermap": {"OBJTYPE": ["SKY", "TGT", "SKY"], "TARGETID": [1, 2, 2], "DESI_TARGET": [0, 1 << 33, 0]}}
STARS = {"wave": np.arange(5000.0, 8000.0), "flux": np.full((2, 3000), 3.0), "rows": [1, 2]}
FLAT = fl.fiberflat(ONE)
SKY = fl.sky(ONE, FLAT)
FLUX = fl.FluxCalibration(wave=SMALL.wave, calib=np.ones((3, 12)), ivar=np.ones((3, 12)), mask=np.zeros((3, 12), "u4"), deconvolved=np.ones(12),
                          flat_to_psf=np.ones(3), rows=np.array([1]), scales=np.ones(1))
IMG = {"image": SMALL.image, "ivar": SMALL.ivar}
CONSTRUCTORS = ("Frame", "Image", "Comparison", "SimulatedFrame", "Spots", "Header", "Table", "Redshifts",
                "RedshiftFile", "Spectra", "SpectraOfCamera", "FiberFlat", "Sky", "StandardStars", "FluxCalibration", "Quality", "Depth", *(
    n for n in fl.__all__ if n.endswith("Error")))  # hold what they are given
FEW = settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
MODERATE = st.one_of(
    st.none(), st.booleans(), st.integers(-3, 40), st.sampled_from([-2**70, 2**70]), st.floats(allow_nan=True),
    st.text(max_size=3), st.just(np.int64(2)), st.just(np.float32(1.5)), st.just([1, 2]), st.just(object()),
    st.just({}), st.just(b"x"),
    st.builds(lambda shape, kind: np.ones(shape, kind), st.sampled_from([(), (0,), (3,), (12,), (3, 12), SMALL.image.shape, SMALL.image.shape[::-1]]),
              st.sampled_from(["f8", ">f4", "i4", "c16", "?", "U2"])),
    st.builds(lambda value: np.full(SMALL.image.shape, value), st.sampled_from([np.nan, np.inf, -1.0])),
    st.just(np.repeat(SMALL.image, 2, axis=1)[:, ::2]), st.just(np.asfortranarray(SMALL.image)))


@pytest.fixture(scope="module")
def paths(tmp_path_factory):
    folder = tmp_path_factory.mktemp("every")
    names = {name: str(folder / (name + ".fits")) for name in ("image", "psf", "frame", "out", "none")}
    header = fl._core.Header()
    header["CAMERA"], header["FLAVOR"] = "r0", "science"
    fl.write_image(names["image"], fl.Image(SMALL.image, SMALL.ivar, header=header, readnoise=3.0))
    fl.write_psf(names["psf"], SMALL.psf)
    fl.write_frame(names["frame"], FRAME)
    return names


def calls(p):
    """Name -> function, a good call's arguments. What would take long is given a file that is not there."""
    gpu, spec = fiberloom.compat.gpu_specter, fiberloom.compat.specter
    table = {
        "extract_frame": (fl.extract_frame, {"image": SMALL.image, "ivar": SMALL.ivar, "psf": SMALL.psf, "wave": SMALL.wave}),
        "extract_file": (fl.extract_file, {"input": p["none"], "psf": p["psf"], "output": p["out"]}),
        "read_image": (fl.read_image, {"path": p["image"]}), "read_psf": (fl.read_psf, {"path": p["psf"]}),
        "read_frame": (fl.read_frame, {"path": p["frame"]}),
        "write_image": (fl.write_image, {"path": p["out"], "image": fl.Image(SMALL.image, SMALL.ivar)}),
        "write_psf": (fl.write_psf, {"path": p["out"], "psf": SMALL.psf}),
        "write_frame": (fl.write_frame, {"path": p["out"], "frame": FRAME}),
        "compare": (fl.compare, {"a": FRAME, "b": FRAME}),
        "barycentric_factor": (fl.barycentric_factor, {"ra": 10.0, "dec": 20.0, "mjd": 59000.0}),
        "compare_truth": (fl.compare_truth, {"frame": FRAME, "truth": p["none"]}),
        "simulate": (fl.simulate, {"directory": p["none"] + ".d", "psf": p["none"]}),
        "simulate_frame": (fl.simulate_frame, {"nfiber": 2, "nwave": 5}),
        "fit_redshifts": (fl.fit_redshifts, {"flux": np.ones((3, 12)), "ivar": np.ones((3, 12)), "wave": SMALL.wave,
                                             "templates": p["none"]}),
        "fiberflat": (fl.fiberflat, {"lamp": ONE}), "sky": (fl.sky, {"frame": ONE}), "calibrate": (fl.calibrate, {"frame": ONE}),
        "depth": (fl.depth, {"frame": ONE, "fiberflat": FLAT, "sky": SKY, "fluxcalib": FLUX, "desimodel": p["none"], "camera": "r0",
                             "read_noise": 3.0}),
        "fluxcalib": (fl.fluxcalib, {"frame": ONE, "stars": STARS}), "coadd": (fl.coadd, {"spectra": {"R": ONE}}), "qa": (fl.qa, {"frames": {"r": ONE}}),
        "stdstars": (fl.stdstars, {"frames": {"b": ONE}, "models": {"wave": np.arange(5000.0, 8000.0), "flux": np.ones((1, 3000)), "teff": [6000.0],
                                                                    "logg": [4.0], "feh": [-1.0]}, "passbands": {}}),
        "read_spectra": (fl.read_spectra, {"path": p["frame"]}), "read_redshifts": (fl.read_redshifts, {"path": p["frame"]}),
        "plot_redshift": (fl.plot_redshift, {"found": FOUND, "flux": np.ones((3, 12)), "ivar": np.ones((3, 12)), "wave": SMALL.wave}),
        "compat.redrock.rrboss": (fiberloom.compat.redrock.rrboss, {"options": ["--spplate", p["none"], "--zbest", p["out"]]}),
        "compat.redrock.rrdesi": (fiberloom.compat.redrock.rrdesi, {"options": ["-i", p["none"], "-o", p["out"]]}),
        "Catalogue": (fl.Catalogue, {"url": p["none"]}), "Catalogue.query": (fl.Catalogue(p["none"]).query, {}),
        "Catalogue.load": (fl.Catalogue(p["out"] + ".sqlite").load, {"files": p["none"]}),
        "join_frames": (fl.join_frames, {"frames": [FRAME]}),
        "Frame.R": (FRAME.R, {"i": 1}),
        "Psf.project": (SMALL.psf.project, {"flux": np.ones((3, 12)), "wave": SMALL.wave}),
        "Psf.adjoint": (SMALL.psf.adjoint, {"image": SMALL.image, "wave": SMALL.wave}),
        "Psf.operator": (SMALL.psf.operator, {"wave": SMALL.wave}),
        "Psf.spots": (SMALL.psf.spots, {"wave": SMALL.wave}),
        **{"Psf." + n: (getattr(SMALL.psf, n), {"wave": SMALL.wave}) for n in ("x", "y", "sigma_x", "sigma_y")},
        "compat.gpu_specter.extract_frame": (gpu.extract_frame, {
            "img": IMG, "psf": SMALL.psf, "bundlesize": 3, "specmin": 0, "nspec": 3, "wavelength": "6000,6008,0.8"}),
        "compat.specter.ex2d": (spec.ex2d, {"image": SMALL.image, "imageivar": SMALL.ivar, "psf": SMALL.psf, "specmin": 0, "nspec": 3,
                                            "wavelengths": SMALL.wave}),
        "compat.specter.load_psf": (spec.load_psf, {"filename": p["psf"]}),
    }
    plot = {"images": {"image": SMALL.image, "ivar": SMALL.ivar}, "chi2": {}, "resolution": {}, "resolution_width": {},
            "spectrum": {"i": 1}, "pulls": {"other": FRAME}, "pixel_pulls": {"image": SMALL.image, "ivar": SMALL.ivar},
            "ivar": {}, "masks": {}}
    for name, more in plot.items():
        table["plot." + name] = (getattr(fl.plot, name), {"frame": FRAME, **more})
    return table


NAMES = list(calls(dict.fromkeys(("image", "psf", "frame", "out", "none"), "x")))


def parameters(function):
    """Names of the arguments that are fuzzed: threads only by words, axes and figures are matplotlib's."""
    return [n for n in inspect.signature(function).parameters if n not in ("ax", "fig", "self")]


def test_the_table_has_every_public_function():
    public = {name for name in fl.__all__ if callable(getattr(fl, name)) and name not in CONSTRUCTORS and name not in ("Psf", "compat", "plot")}
    public |= {"Psf." + name for name in vars(fl.Psf) if name[0] != "_" and callable(getattr(fl.Psf, name))}
    public |= {"Frame." + name for name in vars(fl.Frame) if name[0] != "_" and inspect.isfunction(vars(fl.Frame)[name])}
    public |= {"Catalogue." + name for name in vars(fl.Catalogue) if name[0] != "_"}
    public |= {"plot." + name for name, value in vars(fl.plot).items()
               if name[0] != "_" and inspect.isfunction(value) and value.__module__ == "fiberloom.plot"}
    for module in ("gpu_specter", "redrock", "specter"):
        home = getattr(fiberloom.compat, module)
        public |= {f"compat.{module}.{name}" for name, value in vars(home).items()
                   if name[0] != "_" and inspect.isfunction(value) and value.__module__ == home.__name__}
    public.discard("plot.report")  # draws the others
    assert public <= set(NAMES), public - set(NAMES)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", NAMES)
def test_any_value_of_any_argument(name, paths):
    function, good = calls(paths)[name]
    names = parameters(function)
    more = {"image", "ivar"} if name == "compat.gpu_specter.extract_frame" else set()  # of img
    more |= {"nspec"} if name == "Psf.project" else set()  # rows of flux

    @FEW
    @given(changes=st.dictionaries(st.sampled_from(names), MODERATE, min_size=1, max_size=2))
    def fuzz(changes):
        if type(changes.get("threads")) is int and abs(changes["threads"]) < 2**60:
            changes["threads"] = 2  # not forty
        if name == "simulate":
            changes.pop("psf", None)  # with it nothing is simulated
        if changes.get("path", changes.get("output")).__class__ is str and name.startswith(("write", "extract_file")):
            return  # would write into the current folder
        try:
            function(**{**good, **changes})
        except fl.Error as error:
            assert "\n" not in str(error)
        except NotImplementedError:
            assert name.startswith("compat.")
        except (TypeError, ValueError, IndexError) as error:  # of an index, as of any sequence
            assert str(error).split(":")[0] in {*names, *more}, f"{type(error).__name__}: {error}"
    fuzz()
    if name.startswith("plot."):
        import matplotlib.pyplot
        matplotlib.pyplot.close("all")
