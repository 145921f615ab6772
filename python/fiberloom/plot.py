# SPDX-License-Identifier: BSD-3-Clause
"""Figures that show whether an extraction is good. Needs matplotlib.

    fig = fiberloom.plot.report(frame, image.image, image.ivar)
    fig.savefig("frame.png")

Each function draws on the axes given, or on a new figure, and returns the axes (several: the figure).
"""
from typing import TYPE_CHECKING, Any, List, Optional, Tuple

import numpy as np
import numpy.typing as npt

from . import _arguments as check
from . import _core
from ._frame import Frame

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Array = npt.NDArray[Any]

_MASK_BITS = ((2, "ALLBADPIX", "#d62728"), (128, "BAD2DFIT", "#9467bd"), (1, "SOMEBADPIX", "#ff9f1c"))
_WAVE = "wavelength [\N{LATIN CAPITAL LETTER A WITH RING ABOVE}]"
_NO_DATA = "#808080"
_SKY = "#8a5cc2"
_LARGEST = 1200  # a thumbnail's longest side


def _frame(frame: Any) -> Frame:
    if not isinstance(frame, Frame):
        raise TypeError(f"frame: expected fiberloom.Frame, got {type(frame).__name__}")
    return frame


def _axes(ax: "Optional[Axes]", size: Tuple[float, float] = (9.0, 3.2)) -> "Axes":
    if ax is not None:
        return ax
    import matplotlib.pyplot as plt
    return plt.subplots(figsize=size, layout="constrained")[1]


def _figure(ax: "Axes") -> Any:  # older matplotlib declares that it may be None
    return ax.figure


def _colours(name: str) -> Any:
    import matplotlib
    return matplotlib.colormaps[name].with_extremes(bad=_NO_DATA)


def _shrink(image: Array) -> Tuple[Array, int]:
    """Mean over blocks, and the block's side; NaN is left out."""
    side = max(1, -(-max(image.shape) // _LARGEST))
    if side == 1:
        return image, 1
    rows, cols = (n // side * side for n in image.shape)
    blocks = image[:rows, :cols].reshape(rows // side, side, cols // side, side)
    good = np.isfinite(blocks)
    count = good.sum(axis=(1, 3))
    total = np.where(good, blocks, 0).sum(axis=(1, 3))
    return np.where(count > 0, total / np.maximum(count, 1), np.nan), side


def _limits(values: Array, low: float, high: float) -> Tuple[float, float]:
    good = values[np.isfinite(values)]
    if good.size == 0:
        return 0.0, 1.0
    a, b = np.percentile(good, [low, high])
    return float(a), float(b if b > a else a + 1)


def _show_ccd(ax: "Axes", values: Array, title: str, label: str, norm: Any, cmap: str) -> None:
    small, side = _shrink(values)
    shown = ax.imshow(small, origin="lower", aspect="auto", norm=norm, cmap=_colours(cmap),
                      interpolation="nearest",
                      extent=(-0.5, small.shape[1] * side - 0.5, -0.5, small.shape[0] * side - 0.5))
    ax.set_title(title, fontsize=10)
    ax.set_xlabel("column")
    bar = _figure(ax).colorbar(shown, ax=ax, label=label, pad=0.02, extend="both")
    if hasattr(norm, "linear_width"):
        ticks = _asinh_ticks(norm.vmin, norm.vmax, norm.linear_width)
        bar.set_ticks(ticks, labels=[f"{tick:g}" for tick in ticks])
        bar.minorticks_off()


def images(frame: Frame, image: Any, ivar: Any, fig: "Optional[Figure]" = None) -> "Figure":
    """Image, model and residual in units of sigma, side by side; masked pixels are grey.

    frame: of extract_frame(..., model=True). image, ivar: [npix_y][npix_x], as it was given.
    """
    model = _frame(frame).model
    if model is None:
        raise ValueError("frame: it has no model; use extract_frame(..., model=True)")
    pixels = check.real("image", image, model.shape)
    weight = check.real("ivar", ivar, model.shape)
    used = (weight > 0) & np.isfinite(weight) & np.isfinite(pixels)
    pixels = np.where(used, pixels, np.nan)
    sigma = np.where(used, (pixels - model) * np.sqrt(np.where(used, weight, 0)), np.nan)
    if fig is None:
        import matplotlib.pyplot as plt
        fig = plt.figure(figsize=(12, 4.2), layout="constrained")
    from matplotlib.colors import AsinhNorm, Normalize
    axes = fig.subplots(1, 3, sharex=True, sharey=True)
    low, high = _limits(model, 1, 99.5)

    def stretch() -> Any:  # continuum and lines are both to be seen
        return AsinhNorm(linear_width=max(5.0, (high - low) / 50), vmin=low, vmax=high)
    _show_ccd(axes[0], pixels, "image", "electrons", stretch(), "viridis")
    _show_ccd(axes[1], model, "model", "electrons", stretch(), "viridis")
    _show_ccd(axes[2], sigma, "(image \N{MINUS SIGN} model) / \N{GREEK SMALL LETTER SIGMA}",
              "\N{GREEK SMALL LETTER SIGMA}", Normalize(-4, 4), "RdBu_r")
    axes[0].set_ylabel("row")
    return fig


def _map(ax: "Axes", frame: Frame, values: Array, title: str, label: str, vmin: float, vmax: float,
         cmap: str, extend: str) -> "Axes":
    edge = frame.bin_width / 2
    shown = ax.imshow(values, origin="lower", aspect="auto", interpolation="nearest", vmin=vmin,
                      vmax=vmax, cmap=_colours(cmap),
                      extent=(frame.wave[0] - edge[0], frame.wave[-1] + edge[-1],
                              frame.specmin - 0.5, frame.specmin + frame.nspec - 0.5))
    ax.set(title=title, xlabel=_WAVE, ylabel="fibre")
    ax.title.set_fontsize(10)
    _figure(ax).colorbar(shown, ax=ax, label=label, pad=0.02, extend=extend)
    return ax


def chi2(frame: Frame, ax: "Optional[Axes]" = None) -> "Axes":
    """Map of chi2pix over fibres and wavelengths; bins without information are grey."""
    chi2pix = _frame(frame).chi2pix
    if chi2pix is None:
        raise ValueError("frame: it has no chi2pix")
    values = np.where(frame.ivar > 0, chi2pix, np.nan)
    return _map(_axes(ax), frame, values, "\N{GREEK SMALL LETTER CHI}\u00b2 of the pixels under a bin",
                "\N{GREEK SMALL LETTER CHI}\u00b2", 0, max(2.0, _limits(values, 0, 99)[1]), "magma",
                "max")


def resolution_width(frame: Frame) -> Array:
    """Standard deviation of each row of the resolution matrix, Angstrom, [nspec][nwave]; NaN where
    the row meets the ends of the grid or there is no information."""
    if _frame(frame).resolution is None:
        raise ValueError("frame: it has no resolution")
    resolution = np.asarray(frame.resolution, dtype=float)
    ndiag = resolution.shape[1]
    half = ndiag // 2
    rows = np.full(resolution.shape, np.nan)  # rows[s, k, i] = R[i, i - half + k]
    for k in range(ndiag):
        source = ndiag - 1 - k
        shift = k - half
        kept = slice(max(0, -shift), frame.nwave - max(0, shift))
        rows[:, k, kept] = resolution[:, source, kept.start + shift:kept.stop + shift]
    weight = np.maximum(rows, 0)
    offset = (np.arange(ndiag) - half)[:, None]
    total = weight.sum(axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = (weight * offset).sum(axis=1) / total
        variance = (weight * offset**2).sum(axis=1) / total - mean**2
        width = np.sqrt(np.maximum(variance, 0)) * frame.bin_width
    return np.where(frame.ivar > 0, width, np.nan)


def resolution(frame: Frame, ax: "Optional[Axes]" = None) -> "Axes":
    """Map of the width of the resolution (see resolution_width)."""
    width = resolution_width(frame)
    low, high = _limits(width, 1, 99)
    return _map(_axes(ax), frame, width, "width of the resolution", "\N{GREEK SMALL LETTER SIGMA} "
                "[\N{LATIN CAPITAL LETTER A WITH RING ABOVE}]", low, high, "cividis", "both")


def _asinh_ticks(low: float, high: float, soft: float) -> List[float]:
    """0 and round numbers, not closer to each other than a line of text."""
    def place(value: float) -> float:
        return float(np.arcsinh(value / soft) / (np.arcsinh(high / soft) - np.arcsinh(min(low, 0) / soft)))
    sizes = [digit * 10.0 ** power for power in range(-3, 9) for digit in (1, 3)]
    found = [0.0]
    for value in [*sizes, *(-size for size in sizes)]:
        if low <= value <= high and all(abs(place(value) - place(other)) > 0.09 for other in found):
            found.append(value)
    return found


def _sky_lines(ax: "Axes", low: float, high: float) -> None:
    """Marks of the night sky's lines above the axes, names of the strongest where there is room."""
    lines = [line for line in _core.sky_lines() if low < line[0] < high]
    lines = sorted(lines, key=lambda line: -line[1])[:100]
    above = ax.get_xaxis_transform()
    for wave, _, _ in lines:
        mark = ax.plot([wave, wave], [1.0, 1.02], color=_SKY, linewidth=0.7, clip_on=False, transform=above)
        mark[0].set_in_layout(False)  # the title's distance leaves the room
    inches = _figure(ax).bbox.width / _figure(ax).dpi
    letter = 0.056 * (high - low) / inches  # width of one, Angstrom
    taken: List[Tuple[float, float]] = []
    for wave, _, name in lines:
        half = 0.5 * letter * (len(name) + 2)
        inside = low < wave - half and wave + half < high
        if inside and all(wave + half < a or wave - half > b for a, b in taken):
            taken.append((wave - half, wave + half))
            text = ax.text(wave, 1.03, name, color=_SKY, fontsize=6.5, ha="center", va="bottom", transform=above)
            text.set_in_layout(False)


def spectrum(frame: Frame, i: int = 0, ax: "Optional[Axes]" = None, truth: Any = None,
             scale: str = "asinh", sky: bool = True) -> "Axes":
    """Spectrum i (counted in the frame) with its 1-sigma band; masked bins are marked below it.

    truth: [nwave] electron/Angstrom, drawn as R(i) @ truth. scale: of the flux: "asinh" shows the
    continuum beside the night sky's lines, "linear". sky: mark and name these lines.
    """
    row = check.integer("i", i, 0, _frame(frame).nspec - 1)
    check.choice("scale", scale, ("asinh", "linear"))
    check.flag("sky", sky)
    ax = _axes(ax)
    flux, ivar = frame.flux[row], frame.ivar[row]
    good = ivar > 0
    shown = np.where(good, flux, np.nan)
    sigma = 1 / np.sqrt(np.where(good, ivar, np.inf))
    ax.fill_between(frame.wave, shown - sigma, shown + sigma, step="mid", color="#1f77b4", alpha=0.3,
                    linewidth=0, label="\u00b1 1 \N{GREEK SMALL LETTER SIGMA}")
    ax.step(frame.wave, shown, where="mid", color="#0b3c6f", linewidth=0.8, label="flux")
    if truth is not None:
        spectrum_true = check.finite("truth", truth, (frame.nwave,))
        ax.plot(frame.wave, frame.R(row) @ spectrum_true, color="#d95f02", linewidth=0.8,
                label="R \u00d7 truth")
    if frame.mask is not None:
        drawn = np.zeros(frame.nwave, dtype=bool)
        for bit, name, colour in _MASK_BITS:
            here = ((frame.mask[row] & bit) != 0) & ~drawn
            drawn |= here
            if here.any():
                ax.plot(frame.wave[here], np.full(here.sum(), 0.02), "|", color=colour, markersize=7,
                        transform=ax.get_xaxis_transform(), label=name)
    ax.set(xlabel=_WAVE, ylabel="electron / \N{LATIN CAPITAL LETTER A WITH RING ABOVE}",
           title=f"fibre {frame.specmin + row}", xlim=(frame.wave[0], frame.wave[-1]))
    ax.title.set_fontsize(10)
    low, high = _limits(np.concatenate([shown - sigma, shown + sigma]), 0, 100)
    if scale == "asinh":  # linear up to a few times the noise
        soft = max(4 * float(np.median(sigma[good])) if good.any() else 0.0, (high - low) / 2000)
        ax.set_yscale("asinh", linear_width=soft)
        ax.set_yticks(_asinh_ticks(low, high, soft))
        ax.yaxis.set_major_formatter(lambda value, _: f"{value:g}" if abs(value) < 1e5 else f"{value:.0e}")
        ax.minorticks_off()
        top = soft * np.sinh(1.22 * np.arcsinh(high / soft))  # room for the legend
        ax.set_ylim(min(0.0, low) - soft, max(float(top), soft))
    else:
        ax.set_ylim(min(0.0, low) - 0.06 * (high - low), high + 0.05 * (high - low))
    if sky:
        _sky_lines(ax, float(frame.wave[0]), float(frame.wave[-1]))
        ax.set_title(ax.get_title(), fontsize=10, pad=16)
    ax.legend(loc="upper right", fontsize=8, ncols=3, framealpha=0.85)
    return ax


def pulls(frame: Frame, other: Any, ax: "Optional[Axes]" = None) -> "Axes":
    """Histogram of pulls with the unit Gaussian.

    other: the truth, [nspec][nwave] electron/Angstrom: (flux - R truth) sqrt(ivar); or a second
    Frame of independent noise: difference / sqrt(1/ivar + 1/ivar).
    """
    good = _frame(frame).ivar > 0
    if isinstance(other, Frame):
        if other.flux.shape != frame.flux.shape:
            raise ValueError(f"other: expected a frame of {frame.flux.shape}, got {other.flux.shape}")
        good &= other.ivar > 0
        variance = 1 / frame.ivar[good] + 1 / other.ivar[good]
        values = (frame.flux - other.flux)[good] / np.sqrt(variance)
    else:
        truth = check.finite("other", other, frame.flux.shape)
        blurred = np.array([frame.R(i) @ truth[i] for i in range(frame.nspec)])
        values = ((frame.flux - blurred) * np.sqrt(frame.ivar))[good]
    return _histogram(_axes(ax, (5, 3.5)), values, f"pulls of {values.size} bins")


def _histogram(ax: "Axes", values: Array, title: str) -> "Axes":
    edges = np.linspace(-5, 5, 61)
    width = edges[1] - edges[0]
    inside = np.clip(values, -4.999, 4.999)
    ax.hist(inside, edges.tolist(), color="#7fa8d1", edgecolor="none", label="measured")
    centre = (edges[1:] + edges[:-1]) / 2
    ax.plot(centre, values.size * width * np.exp(-centre**2 / 2) / np.sqrt(2 * np.pi), color="#d95f02",
            linewidth=1.2, label="unit Gaussian")
    if values.size:
        far = int((np.abs(values) > 5).sum())
        ax.text(0.03, 0.96, f"mean {values.mean():+.3f}\nwidth {values.std():.3f}\nbeyond 5: {far}",
                transform=ax.transAxes, va="top", fontsize=8)
    ax.set(xlabel="pull [\N{GREEK SMALL LETTER SIGMA}]", ylabel="number", xlim=(-5, 5), title=title)
    ax.title.set_fontsize(10)
    ax.legend(fontsize=8, loc="upper right")
    return ax


def pixel_pulls(frame: Frame, image: Any, ivar: Any, ax: "Optional[Axes]" = None) -> "Axes":
    """Histogram of (image - model) sqrt(ivar) over the pixels that hold light (model > 0)."""
    model = _frame(frame).model
    if model is None:
        raise ValueError("frame: it has no model; use extract_frame(..., model=True)")
    pixels = check.real("image", image, model.shape)
    weight = check.real("ivar", ivar, model.shape)
    used = (weight > 0) & np.isfinite(weight) & np.isfinite(pixels) & (model > 0)
    values = (pixels[used] - model[used]) * np.sqrt(weight[used])
    return _histogram(_axes(ax, (5, 3.5)), values, f"residuals of {values.size} pixels")


def ivar(frame: Frame, ax: "Optional[Axes]" = None) -> "Axes":
    """Histogram of the errors of the bins, 1/sqrt(ivar)."""
    good = _frame(frame).ivar > 0
    ax = _axes(ax, (5, 3.5))
    sigma = 1 / np.sqrt(frame.ivar[good])
    if sigma.size:
        low, high = float(sigma.min()), float(sigma.max())
        edges = np.geomspace(low, high if high > low else 2 * low, 61)
        ax.hist(sigma, edges.tolist(), color="#7fa8d1", edgecolor="none")
        ax.set_xscale("log")
    empty = int(good.size - good.sum())
    ax.text(0.97, 0.96, f"{empty} of {good.size} bins\nwithout information", va="top", ha="right",
            transform=ax.transAxes, fontsize=8)
    ax.set(xlabel="\N{GREEK SMALL LETTER SIGMA} [electron / \N{LATIN CAPITAL LETTER A WITH RING ABOVE}]",
           ylabel="number", title="errors of the bins")
    ax.title.set_fontsize(10)
    return ax


def masks(frame: Frame, ax: "Optional[Axes]" = None, bundlesize: int = 25) -> "Axes":
    """Share of the bins with each bit of the mask, for each bundle of fibres, per cent. A bin counts
    for its worst bit."""
    if _frame(frame).mask is None:
        raise ValueError("frame: it has no mask")
    size = check.integer("bundlesize", bundlesize, 1)
    ax = _axes(ax, (5, 3.5))
    bundle = (frame.specmin + np.arange(frame.nspec)) // size
    numbers = np.unique(bundle)
    mask = np.asarray(frame.mask)
    left = mask != 0
    height = np.zeros(numbers.size)
    for bit, name, colour in (*_MASK_BITS, (~0, "other", "#8c564b")):
        here = left & ((mask & np.uint32(bit & 0xFFFFFFFF)) != 0)
        left &= ~here
        share = np.array([100 * here[bundle == number].mean() for number in numbers])
        if here.any():
            ax.bar(numbers, share, bottom=height, color=colour, label=name, width=0.8)
            height += share
    ax.set(xlabel=f"bundle of {size} fibres", ylabel="share of its bins [%]", title="masked bins",
           ylim=(0, max(1.0, 1.15 * float(height.max()))), xlim=(numbers[0] - 0.6, numbers[-1] + 0.6))
    ax.locator_params(axis="x", integer=True)
    ax.title.set_fontsize(10)
    if height.max() > 0:
        ax.legend(fontsize=8)
    else:
        ax.text(0.5, 0.5, "none", transform=ax.transAxes, ha="center", fontsize=9)
    return ax


def report(frame: Frame, image: Any, ivar_image: Any, i: Optional[int] = None) -> "Figure":
    """All of it on one page: images, maps, spectrum i (default the middle one), histograms."""
    import matplotlib.pyplot as plt
    row = _frame(frame).nspec // 2 if i is None else i
    page = plt.figure(figsize=(12, 14), layout="constrained")
    parts: Any = page.subfigures(2, 1, height_ratios=[4.2, 9.8])
    top, bottom = parts
    images(frame, image, ivar_image, fig=top)
    rows = bottom.add_gridspec(3, 1)
    maps, histograms = rows[1].subgridspec(1, 2), rows[2].subgridspec(1, 3)
    spectrum(frame, row, bottom.add_subplot(rows[0]))
    chi2(frame, bottom.add_subplot(maps[0]))
    resolution(frame, bottom.add_subplot(maps[1]))
    pixel_pulls(frame, image, ivar_image, bottom.add_subplot(histograms[0]))
    ivar(frame, bottom.add_subplot(histograms[1]))
    if frame.mask is not None:
        masks(frame, bottom.add_subplot(histograms[2]))
    return page
