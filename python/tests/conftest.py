# SPDX-License-Identifier: BSD-3-Clause
"""What the tests share. They run against the installed package, never the source folder."""
import os
import pathlib

import pytest

import fiberloom as fl


@pytest.fixture(scope="session")
def small():
    """Ten fibres, 60 bins."""
    return fl.simulate_frame(nfiber=10, nwave=60, seed=3)


@pytest.fixture(scope="session")
def frame(small):
    return fl.extract_frame(small.image, small.ivar, small.psf, small.wave, model=True)


@pytest.fixture(scope="session")
def files(small, tmp_path_factory):
    """The small frame as a preproc image and a PSF file."""
    folder = tmp_path_factory.mktemp("files")
    header = fl.read_frame.__globals__["_core"].Header()
    header["CAMERA"] = "r0"
    header["FLAVOR"] = "science"
    image, psf = folder / "preproc.fits", folder / "psf.fits"
    fl.write_image(image, fl.Image(small.image, small.ivar, header=header, readnoise=3.0))
    fl.write_psf(psf, small.psf)
    return {"image": image, "psf": psf, "folder": folder}


@pytest.fixture(scope="session")
def parity():
    folder = os.environ.get("FIBERLOOM_PARITY_DIR")
    if not folder:
        pytest.skip("FIBERLOOM_PARITY_DIR is not set")
    return pathlib.Path(folder)
