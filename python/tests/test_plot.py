# SPDX-License-Identifier: BSD-3-Clause
"""The figures are drawn and looked at: what is on them, not how they look."""
import dataclasses
import io

import numpy as np
import pytest

import fiberloom as fl

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")


@pytest.fixture(autouse=True)
def close_figures():
    yield
    import matplotlib.pyplot as plt
    plt.close("all")


@pytest.fixture(scope="module")
def masked(small):
    """A hole in the CCD, so that bins of all kinds are there."""
    ivar = small.ivar.copy()
    ivar[140:160, 20:70] = 0
    return ivar, fl.extract_frame(small.image, ivar, small.psf, small.wave, model=True)


def pixels(figure):
    """The drawn page, [rows][columns][RGB] 0-255."""
    buffer = io.BytesIO()
    figure.savefig(buffer, format="rgba", dpi=60)
    width, height = (int(n) for n in np.round(figure.get_size_inches() * 60))
    return np.frombuffer(buffer.getvalue(), np.uint8).reshape(height, width, 4)[:, :, :3].astype(int)


def near(page, colour, distance=24):
    want = np.array([int(colour[i:i + 2], 16) for i in (1, 3, 5)])
    return (np.abs(page - want).sum(axis=2) < distance).sum()


def test_the_report_page_holds_every_figure(small, masked):
    ivar, frame = masked
    figure = fl.plot.report(frame, small.image, ivar, 4)
    titles = {ax.get_title() for sub in figure.subfigs for ax in sub.axes} - {""}
    assert len(titles) == 9 and {"image", "model", "fibre 4", "width of the resolution"} <= titles
    page = pixels(figure)
    assert near(page, "#808080") > 50, "the masked block is grey"
    assert (page.sum(axis=2) < 720).mean() > 0.2, "not an empty page"


def test_the_images_show_the_arrays(small, masked):
    ivar, frame = masked
    figure = fl.plot.images(frame, small.image, ivar)
    image, model, residual = (ax.images[0].get_array() for ax in figure.axes[:3])
    assert np.array_equal(model, frame.model)
    hole = ~np.isfinite(np.ma.filled(image, np.nan))
    assert np.array_equal(hole, ivar == 0)
    inside = np.s_[100:120, 30:60]
    want = (small.image - frame.model) * np.sqrt(ivar)
    assert np.allclose(residual[inside], want[inside])


def test_a_large_image_is_thinned_without_losing_light():
    image = np.random.default_rng(1).normal(10, 1, (2500, 1300))
    small, side = fl.plot._shrink(image)
    assert side == 3 and max(small.shape) <= 1200
    assert abs(small.mean() - image[:2499, :1299].mean()) < 1e-9


def test_the_spectrum_shows_flux_band_mask_and_truth(small, masked):
    _, frame = masked
    truth = small.truth[4] / frame.bin_width
    ax = fl.plot.spectrum(frame, 4, truth=truth)
    lines = {line.get_label(): line for line in ax.lines}
    good = frame.ivar[4] > 0
    assert np.array_equal(lines["flux"].get_ydata()[good], frame.flux[4][good])
    assert np.isnan(lines["flux"].get_ydata()[~good]).all() and (~good).any()
    assert np.array_equal(lines["ALLBADPIX"].get_xdata(), frame.wave[(frame.mask[4] & 2) != 0])
    assert np.allclose(lines["R \u00d7 truth"].get_ydata(), frame.R(4) @ truth)
    band = ax.collections[0].get_paths()[0].vertices
    top = frame.flux[4][good] + 1 / np.sqrt(frame.ivar[4][good])
    assert abs(band[:, 1].max() - top.max()) < 1e-6 * top.max()


def test_the_maps_show_chi2_and_the_width_of_the_resolution(masked):
    _, frame = masked
    chi2 = fl.plot.chi2(frame).images[0].get_array()
    assert np.array_equal(np.ma.filled(chi2, np.nan)[frame.ivar > 0], frame.chi2pix[frame.ivar > 0])
    width = fl.plot.resolution_width(frame)
    r = frame.R(2).toarray()
    row, at = r[20], np.arange(60)
    mean = (np.maximum(row, 0) * at).sum() / np.maximum(row, 0).sum()
    want = np.sqrt((np.maximum(row, 0) * (at - mean)**2).sum() / np.maximum(row, 0).sum()) * 0.8
    assert abs(width[2, 20] - want) < 1e-5
    assert np.isnan(width[2, 0]) and np.isnan(width[2, -1])
    assert fl.plot.resolution(frame).images


def test_the_histogram_of_pulls_counts_every_bin(small, frame):
    ax = fl.plot.pulls(frame, small.truth / frame.bin_width)
    assert sum(p.get_height() for p in ax.patches) == 600
    text = ax.texts[0].get_text()
    assert "width 0.9" in text or "width 1.0" in text
    other = fl.extract_frame(fl.simulate_frame(nfiber=10, nwave=60, seed=9).image, small.ivar, small.psf,
                             small.wave)
    assert "600 bins" in fl.plot.pulls(frame, other).get_title()
    assert sum(p.get_height() for p in fl.plot.ivar(frame).patches) == 600


def test_given_axes_are_drawn_on(frame):
    import matplotlib.pyplot as plt
    _, ax = plt.subplots()
    for draw in (fl.plot.chi2, fl.plot.resolution, fl.plot.ivar):
        assert draw(frame, ax) is ax
    assert fl.plot.spectrum(frame, 0, ax) is ax


@pytest.mark.parametrize("call, message", [
    (lambda f: fl.plot.spectrum(f, 10), "i: expected an integer from 0 to 9"),
    (lambda f: fl.plot.images(f, np.zeros((2, 2)), np.zeros((2, 2))), "image: expected shape"),
    (lambda f: fl.plot.images(fl.Frame(f.wave, f.flux, f.ivar), 0, 0), "frame: it has no model"),
    (lambda f: fl.plot.chi2(fl.Frame(f.wave, f.flux, f.ivar)), "frame: it has no chi2pix"),
    (lambda f: fl.plot.chi2("frame"), "frame: expected fiberloom.Frame"),
    (lambda f: fl.plot.pulls(f, np.zeros(3)), "other: expected shape"),
])
def test_wrong_arguments_are_named(frame, call, message):
    with pytest.raises((TypeError, ValueError), match=message):
        call(frame)


def test_a_frame_without_information_can_be_drawn(small):
    dark = fl.extract_frame(small.image, np.zeros_like(small.ivar), small.psf, small.wave, model=True)
    fl.plot.report(dark, small.image, np.zeros_like(small.ivar)).canvas.draw()


def test_the_spectrum_shows_the_continuum_beside_a_bright_line(frame):
    bright = dataclasses.replace(frame, flux=frame.flux.copy())
    bright.flux[3, 30] = 1e5 * np.median(frame.flux[3])
    ax = fl.plot.spectrum(bright, 3, scale="linear")
    assert ax.get_yscale() == "linear"
    asinh = fl.plot.spectrum(bright, 3)
    low, high = asinh.get_ylim()
    place = asinh.transData.transform([(0, float(np.median(frame.flux[3]))), (0, low), (0, high)])[:, 1]
    assert (place[0] - place[1]) / (place[2] - place[1]) > 0.05
    assert len(asinh.get_yticks()) >= 4


def test_sky_lines_are_marked_where_they_are_and_can_be_left_out():
    wave = np.arange(6280.0, 6380.0, 0.8)
    lines = fl.Frame(wave=wave, flux=np.ones((1, wave.size)), ivar=np.ones((1, wave.size)))
    ax = fl.plot.spectrum(lines)
    named = [text for text in ax.texts if text.get_text() == "[OI]"]
    assert [round(text.get_position()[0]) for text in named] == [6302, 6366], "vacuum"
    assert not fl.plot.spectrum(lines, sky=False).texts


def test_masks_are_shares_of_a_bundles_bins():
    mask = np.zeros((50, 10), np.uint32)
    mask[25:, :4] = 2
    mask[25:, 4] = 1 | 2
    frame = fl.Frame(wave=np.arange(10) + 6000.0, flux=np.ones((50, 10)), ivar=np.ones((50, 10)), mask=mask)
    ax = fl.plot.masks(frame)
    assert [bar.get_height() for bar in ax.patches] == [0, 50]
    with pytest.raises(ValueError, match="frame: it has no mask"):
        fl.plot.masks(fl.Frame(wave=frame.wave, flux=frame.flux, ivar=frame.ivar))
