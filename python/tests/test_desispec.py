# SPDX-License-Identifier: BSD-3-Clause
"""Frames of simulated exposures on their way to redshifts: desispec groups and coadds them, redrock reads them.

Where desispec and redrock are installed, they do it. Everywhere, the frames are held against what those ask for:
the cards and columns without which they stop.
"""
import numpy as np
import pytest

import fiberloom as fl

fits = pytest.importorskip("astropy.io.fits")
CAMERAS = {"b0": (4500, 4560, 0.8), "r0": (6300, 6360, 0.8), "z0": (8300, 8360, 0.8)}
NSPEC = 5
CARDS = ["NIGHT", "EXPID", "TILEID", "MJD-OBS", "CAMERA", "FLAVOR", "EXPTIME", "DETECTOR", "SPECGRPH"]
FINITE = ["FIBER_X", "FIBER_Y", "DELTA_X", "DELTA_Y", "FIBER_RA", "FIBER_DEC",
          "GAIA_PHOT_G_MEAN_MAG", "GAIA_PHOT_BP_MEAN_MAG", "GAIA_PHOT_RP_MEAN_MAG"]
COLUMNS = ["TARGETID", "FIBER", "PETAL_LOC", "DEVICE_LOC", "LOCATION", "TARGET_RA", "TARGET_DEC", "OBJTYPE",
           "DESI_TARGET", "FIBERSTATUS"]


@pytest.fixture(scope="module")
def frames(tmp_path_factory):
    """{(exposure, camera): frame file} of two exposures in three cameras."""
    folder = tmp_path_factory.mktemp("exposures")
    fl.simulate(folder, cameras=list(CAMERAS), nspec=NSPEC, exposures=2)
    out = {}
    for camera, wave in CAMERAS.items():
        for exposure in (1, 2):
            path = folder / f"frame-{camera}-{exposure:08d}.fits"
            fl.extract_file(folder / f"preproc-{camera}-{exposure:08d}.fits", folder / f"psf-{camera}.fits",
                            path, wavelength=wave, nspec=NSPEC)
            out[exposure, camera] = path
    return out


def test_the_frames_have_what_grouping_and_coadding_ask_for(frames):
    targets = {}
    for (exposure, camera), path in frames.items():
        with fits.open(path, checksum=True) as hdus:
            header, table = hdus["FLUX"].header, hdus["FIBERMAP"].data
            assert [card for card in CARDS if card not in header] == []
            assert header["EXPID"] == exposure and header["CAMERA"] == camera
            assert [name for name in COLUMNS + FINITE if name not in table.names] == []
            assert all(np.isfinite(table[name]).all() for name in FINITE)
            assert len(table) == NSPEC and "SCORES" in hdus
            targets[exposure, camera] = list(table["TARGETID"])
            reached = np.hypot(table["DELTA_X"], table["DELTA_Y"])
            assert (reached > 0).all() and (reached < 0.1).all()  # mm
    assert len(set(map(tuple, targets.values()))) == 1, "one target keeps its number"


def test_desispec_coadds_and_redrock_reads_them(frames, tmp_path):
    pixgroup = pytest.importorskip("desispec.pixgroup", exc_type=ImportError)
    io = pytest.importorskip("desispec.io", exc_type=ImportError)
    coaddition = pytest.importorskip("desispec.coaddition", exc_type=ImportError)
    desi = pytest.importorskip("redrock.external.desi", exc_type=ImportError)

    lite = {}
    for (exposure, camera), path in frames.items():
        with fits.open(path) as hdus:
            night = hdus["FLUX"].header["NIGHT"]
        lite[night, exposure, camera] = pixgroup.FrameLite.read(str(path))
    spectra = pixgroup.frames2spectra(lite, onetile=True)
    assert len(spectra.fibermap) == 2 * NSPEC
    spectra_file, coadd_file = tmp_path / "spectra.fits", tmp_path / "coadd.fits"
    io.write_spectra(str(spectra_file), spectra)
    coadded = io.read_spectra(str(spectra_file))
    coaddition.coadd(coadded, onetile=True)
    io.write_spectra(str(coadd_file), coadded)
    for path in (spectra_file, coadd_file):
        targets = desi.DistTargetsDESI([str(path)])
        assert len(targets.all_target_ids) == NSPEC
        mine = targets.local()
        assert len(mine) == NSPEC and all(len(t.spectra) == len(CAMERAS) for t in mine)
        assert all((s.ivar > 0).any() for t in mine for s in t.spectra)
