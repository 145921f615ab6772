# SPDX-License-Identifier: BSD-3-Clause
"""The figure of one target is drawn and looked at: what is on it, not how it looks."""
import io

import numpy as np
import pytest

import fiberloom as fl

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")
pytest.importorskip("astropy.io.fits")

from test_redshift import CAMERAS, TRUTH, spectra, templates  # noqa: E402, F401


@pytest.fixture(autouse=True)
def close_figures():
    yield
    import matplotlib.pyplot as plt
    plt.close("all")


@pytest.fixture(scope="module")
def fitted(templates):  # noqa: F811
    flux, ivar, resolution = spectra()
    flux["B"][0, 100:110], ivar["B"][0, 100:110] = 1e6, 0
    found = fl.fit_redshifts(flux, ivar, CAMERAS, resolution, templates, scan=True, models=True, targetid=[5, 7, -9])
    return found, flux, ivar


def drawn(figure):
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=60)
    return buffer.getvalue()


def test_a_target_is_drawn_with_its_model_lines_and_chi2(fitted):
    found, flux, ivar = fitted
    figure = fl.plot_redshift(found, flux, ivar, CAMERAS, 0)
    top, bottom = figure.axes
    assert top.get_title().startswith(f"5: GALAXY, z = {found.z[0]:.5f} ") and "ZWARN 0" in top.get_title()
    assert found.z[0] == pytest.approx(TRUTH[0][1], abs=5 * found.zerr[0])
    curves = {line.get_label(): line for line in top.lines if not line.get_label().startswith("_")}
    assert {"flux", "mean of 5 pixels", "best model"} <= set(curves)
    assert np.array_equal(curves["best model"].get_ydata(), found.models["B"][0])
    assert top.get_ylim()[1] < 100, "a pixel without weight does not set the scale"
    names = [text.get_text() for text in top.texts]
    assert "H\u03b3" in names and "H\u03b1" not in names, "lines that the spectra hold, at z"
    chi2 = {line.get_label(): line for line in bottom.lines if not line.get_label().startswith("_")}
    assert set(chi2) == {"GALAXY", "STAR"}
    z, values = chi2["GALAXY"].get_data()
    assert np.array_equal(z, found.scan["GALAXY"][0]) and values.min() >= 0
    assert len(drawn(figure)) > 5000


def test_lines_move_with_the_redshift(fitted):
    found, flux, ivar = fitted
    def place(i, name):
        return next(t.get_position()[0] for t in fl.plot_redshift(found, flux, ivar, CAMERAS, i).axes[0].texts if t.get_text() == name)
    assert place(2, "G") / place(0, "G") == pytest.approx((1 + TRUTH[2][1]) / (1 + TRUTH[0][1]), rel=1e-3)


def test_what_was_not_kept_is_left_out(fitted, templates):  # noqa: F811
    _, flux, ivar = fitted
    bare = fl.fit_redshifts(flux["B"], ivar["B"], CAMERAS["B"], templates=templates)
    figure = fl.plot_redshift(bare, flux["B"], ivar["B"], CAMERAS["B"], 1, smooth=1)
    assert len(figure.axes) == 1
    assert "best model" not in [line.get_label() for line in figure.axes[0].lines]
    nothing = fl.fit_redshifts(flux["B"], 0 * ivar["B"], CAMERAS["B"], templates=templates, scan=True, models=True)
    assert len(drawn(fl.plot_redshift(nothing, flux["B"], 0 * ivar["B"], CAMERAS["B"]))) > 1000


def test_arguments_are_checked(fitted):
    found, flux, ivar = fitted
    with pytest.raises(TypeError, match="found: expected fiberloom.Redshifts"):
        fl.plot_redshift(flux, flux, ivar, CAMERAS)
    with pytest.raises(ValueError, match="flux: expected 3 spectra"):
        fl.plot_redshift(found, flux["B"][:2], ivar["B"][:2], CAMERAS["B"])
    with pytest.raises(ValueError, match="i: expected"):
        fl.plot_redshift(found, flux, ivar, CAMERAS, 3)
