# SPDX-License-Identifier: BSD-3-Clause
"""fl.depth: TSNR2 of arrays is what `fiberloom calibrate --desimodel` leaves in SCORES."""
import os
import pathlib
import pickle
import subprocess
import sys

import numpy as np
import pytest

import fiberloom as fl

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "tests/fiberloom/cli"))
import small_calibration as small  # noqa: E402
import small_camera  # noqa: E402
import small_desimodel  # noqa: E402
import small_spectra  # noqa: E402

AMPLIFIERS = {"A": ("[1:66,1:160]", 1.2), "B": ("[67:140,1:160]", 1.7)}
CARDS = [(key + a, value) for a, both in AMPLIFIERS.items() for key, value in zip(("CCDSEC", "OBSRDN"), both)]
SHARES = [("ETCFRACP", 0.51), ("ETCFRACE", 0.37), ("ETCFRACB", 0.17)]
PLACES = {"FIBER_X": [30.0 * f for f in range(small.FIBERS)], "FIBER_Y": [-20.0 * f for f in range(small.FIBERS)],
          "EBV": [0.01 * f for f in range(small.FIBERS)]}


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """The inputs as files and objects, and what the command says of them: column -> numbers."""
    folder = tmp_path_factory.mktemp("depth")
    model = small_desimodel.write(folder / "desimodel")
    data = {"lamp": small.frame_bytes(small.lamp_light(), "flat", 1), "stars": small.models_bytes(),
            "frame": small.frame_bytes(small.sky_light(), "science", 8, CARDS + SHARES, more=small.star_light(), columns=PLACES),
            "psf": small_camera.psf_bytes(nfiber=small.FIBERS, npix_x=140, wmin=5990.0, wmax=6140.0)}
    path = {name: str(folder / (name + ".fits")) for name in (*data, "flat", "sky", "flux", "cframe")}
    for name, content in data.items():
        pathlib.Path(path[name]).write_bytes(content)
    both = ("--fiberflat", path["flat"], "--sky", path["sky"])
    for words in (("fiberflat", "-i", path["lamp"], "-o", path["flat"]),
                  ("sky", "-i", path["frame"], *both[:2], "-o", path["sky"]),
                  ("fluxcalib", "-i", path["frame"], *both, "--models", path["stars"], "-o", path["flux"]),
                  ("calibrate", "-i", path["frame"], *both, "--fluxcalib", path["flux"], "-o", path["cframe"],
                   "--desimodel", str(model), "--psf", path["psf"])):
        subprocess.run([sys.executable, "-m", "fiberloom", *words, "-q"], check=True, env={**os.environ, "DESIMODEL": ""})
    frame, flat = fl.read_frame(path["frame"]), fl.fiberflat(fl.read_frame(path["lamp"]))
    sky = fl.sky(frame, flat)
    wave = np.arange(small.WAVE[0] - 8, small.WAVE[-1] + 8, 0.2)
    stars = {"wave": wave, "rows": list(small.STARS),
             "flux": [v * (1 - 0.001 * (wave - small.WAVE[0]) / 0.8) for v in small.STARS.values()]}
    flux = fl.fluxcalib(frame, stars, fiberflat=flat, sky=sky)
    return {"frame": frame, "steps": (flat, sky, flux), "model": model, "psf": fl.read_psf(path["psf"]),
            "said": small_spectra.read_table(path["cframe"], "SCORES")}


def test_it_is_what_the_command_says(made):
    found = fl.depth(made["frame"], *made["steps"], made["model"], psf=made["psf"])
    assert sorted(found.tsnr2) == sorted(kind.upper() for kind in small_desimodel.KINDS)
    for kind, values in found.tsnr2.items():
        np.testing.assert_allclose(values, made["said"][f"TSNR2_{kind}_R"], rtol=2e-5, err_msg=kind)
    assert 0.8 <= found.read_noise_scale < 3
    again = pickle.loads(pickle.dumps(found))
    np.testing.assert_array_equal(again.tsnr2["ELG"], found.tsnr2["ELG"])
    assert repr(found).endswith(f"of {small.FIBERS} fibres>")


def test_read_noise_may_be_told(made):
    ask = (made["frame"], *made["steps"], made["model"])
    by_psf = fl.depth(*ask, psf=made["psf"])
    left = np.array([small_camera.trace_x(f) < 66 for f in range(small.FIBERS)])
    noise = np.tile(np.where(left, 1.2, 1.7)[:, None], (1, small.BINS))
    told = fl.depth(*ask, read_noise=noise)
    for kind, values in told.tsnr2.items():
        np.testing.assert_allclose(values, by_psf.tsnr2[kind], rtol=1e-12)
    louder = fl.depth(*ask, read_noise=40.0)
    assert (louder.tsnr2["ELG"] < told.tsnr2["ELG"]).all()


def test_arrays_without_a_header_do(made):
    frame = made["frame"]
    bare = {name: getattr(frame, name) for name in ("wave", "flux", "ivar", "mask", "resolution", "fibermap")}
    found = fl.depth(bare, *made["steps"], made["model"], camera="r0", read_noise=1.5)
    assert all(np.isfinite(values).all() and (values > 0).any() for values in found.tsnr2.values())


def test_what_does_not_fit_is_named(made):
    frame, (flat, sky, flux), model, psf = made["frame"], made["steps"], made["model"], made["psf"]
    for words, call in (("read_noise: expected it, or psf=", lambda: fl.depth(frame, flat, sky, flux, model)),
                        ("read_noise: expected numbers above 0", lambda: fl.depth(frame, flat, sky, flux, model, read_noise=0)),
                        ("sky: expected a fiberloom.Sky", lambda: fl.depth(frame, flat, None, flux, model, psf=psf)),
                        ("camera: expected a band and a number", lambda: fl.depth(frame, flat, sky, flux, model, psf=psf, camera="r")),
                        ("psf: expected fiberloom.Psf", lambda: fl.depth(frame, flat, sky, flux, model, psf="psf.fits"))):
        with pytest.raises((TypeError, ValueError), match=words):
            call()
    with pytest.raises(fl.NotFoundError, match="nowhere"):
        fl.depth(frame, flat, sky, flux, "nowhere", psf=psf)
    with pytest.raises(fl.NotFoundError, match="masternea_b1"):
        fl.depth(frame, flat, sky, flux, model, psf=psf, camera="b1")
    bare = {name: getattr(frame, name) for name in ("wave", "flux", "ivar", "mask", "resolution", "fibermap")}
    with pytest.raises(ValueError, match="read_noise: expected it"):
        fl.depth(bare, flat, sky, flux, model, camera="r0", psf=psf)
