# SPDX-License-Identifier: BSD-3-Clause
"""The figure of one target: spectrum, best model, lines at its redshift, chi2(z) of every class. Needs matplotlib."""
from typing import TYPE_CHECKING, Any, Dict, List, Optional, Tuple

import numpy as np
import numpy.typing as npt

from . import _arguments as check
from . import _core
from ._redshift import PerCamera, Redshifts, _cameras

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Array = npt.NDArray[Any]

_COLOURS = {"GALAXY": "#0b3c6f", "QSO": "#d95f02", "STAR": "#1b7f4b"}
_MORE = ("#8a5cc2", "#8c564b", "#666666")
_LINE = {"emission": "#1b7f4b", "absorption": "#b2182b", "both": "#666666"}


def _smoothed(flux: Array, ivar: Array, width: int) -> Array:
    """Weighted mean over `width` pixels; NaN where there is none."""
    kernel = np.ones(width)
    weight = np.convolve(ivar, kernel, "same")[:flux.size] if flux.size >= width else np.full(flux.size, ivar.sum())
    light = np.convolve(ivar * flux, kernel, "same")[:flux.size] if flux.size >= width else np.full(flux.size, (ivar * flux).sum())
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where((weight > 0) & (ivar > 0), light / weight, np.nan)


def _mark_lines(ax: "Axes", z: float, low: float, high: float) -> None:
    letter = 0.012 * (high - low)
    taken: List[float] = []
    above = ax.get_xaxis_transform()
    for rest, name, kind in sorted(_core.named_lines(), key=lambda line: (line[2] != "both", line[0])):  # hydrogen first
        wave = rest * (1 + z)
        if not low < wave < high:
            continue
        ax.axvline(wave, color=_LINE[kind], linewidth=0.7, linestyle=":", zorder=0)
        if wave > low + letter and all(abs(wave - other) > letter for other in taken):  # names do not cover each other
            ax.text(wave, 0.985, name, color=_LINE[kind], fontsize=7, rotation=90, ha="right", va="top", transform=above)
            taken.append(wave)


def _draw_spectrum(ax: "Axes", cameras: Dict[str, Dict[str, Any]], models: Dict[str, Array], row: int, width: int) -> Tuple[float, float]:
    """Draws and returns the first and last wavelength."""
    ends: List[float] = []
    seen: List[Array] = []
    for k, (name, camera) in enumerate(cameras.items()):
        wave, ivar = camera["wave"], np.asarray(camera["ivar"][row], dtype=float)
        flux = np.asarray(camera["flux"][row], dtype=float)
        good = np.isfinite(flux) & np.isfinite(ivar) & (ivar > 0)
        ivar, flux = np.where(good, ivar, 0.0), np.where(good, flux, 0.0)
        ax.step(wave, np.where(good, flux, np.nan), where="mid", color="#b8c7d9", linewidth=0.5,
                label="flux" if k == 0 and width > 1 else None)
        smooth = _smoothed(flux, ivar, width)
        ax.step(wave, smooth, where="mid", color="#0b3c6f", linewidth=0.8,
                label=None if k else f"mean of {width} pixels" if width > 1 else "flux")
        seen.append(smooth)
        ends += [float(wave[0]), float(wave[-1])]
        if name in models:
            ax.plot(wave, models[name][row], color="#d95f02", linewidth=1.0, label=None if k else "best model")
            seen.append(np.asarray(models[name][row], dtype=float))
    values = np.concatenate(seen)
    values = values[np.isfinite(values)]
    if values.size:
        low, high = (float(v) for v in np.percentile(values, [0.2, 99.8]))
        high = max([high] + [float(np.nanmax(models[name][row])) for name in cameras if name in models])  # its lines are whole
        room = 0.12 * (high - low) or 1.0
        ax.set_ylim(min(low - room, 0.0), high + 2 * room)
    return min(ends), max(ends)


def _draw_scan(ax: "Axes", found: Redshifts, row: int) -> None:
    best = [c for c in found.candidates[row] if np.isfinite(c["chi2"])]
    curves: Dict[str, List[Tuple[Array, Array]]] = {}
    for name, (z, chi2) in found.scan.items():
        curves.setdefault(name.split(":::")[0], []).append((np.asarray(z), np.asarray(chi2[row], dtype=float)))
    least = min([float(np.nanmin(chi2)) for parts in curves.values() for _, chi2 in parts if chi2.size]
                + [float(c["chi2"]) for c in best], default=0.0)
    more = iter(_MORE * 4)
    for kind, parts in curves.items():
        colour = _COLOURS.get(kind) or next(more)
        for k, (z, chi2) in enumerate(parts):
            ax.plot(z, chi2 - least, color=colour, linewidth=0.7, label=None if k else kind)
    for k, candidate in enumerate(best):
        ax.plot([candidate["z"]], [candidate["chi2"] - least], "o", markersize=4 if k else 7, color=_COLOURS.get(candidate["spectype"], "#666666"),
                markerfacecolor="none" if k else None, zorder=3)
    ax.set_yscale("asinh", linear_width=10)
    ax.set(xlabel="z", ylabel="\N{GREEK SMALL LETTER CHI}\u00b2 above the least")
    ax.set_yticks([0, 10, 100, 1000, 10000, 100000], labels=["0", "10", "100", "1000", "1e4", "1e5"])
    ax.minorticks_off()
    ax.set_ylim(bottom=-3)
    ax.legend(fontsize=8, loc="lower right", ncols=4)


def plot_redshift(found: Redshifts, flux: PerCamera, ivar: PerCamera, wave: PerCamera, i: int = 0, smooth: int = 5,
                  fig: "Optional[Figure]" = None) -> "Figure":
    """Draws target i: its spectrum with the best model and lines at its redshift, and chi2 over redshift.

    Parameters
    ----------
    found : Redshifts
        Of ``fit_redshifts(..., models=True, scan=True)``; without models or scan these are left out.
    flux, ivar, wave : array, or {camera: array}
        As they were given to `fit_redshifts`.
    i : int
        Number of the target.
    smooth : int
        Pixels of the running mean that is drawn over the spectrum; 1: none.
    fig : matplotlib figure, optional
        To draw on; default: a new one.

    Returns
    -------
    matplotlib.figure.Figure

    Examples
    --------
    >>> import fiberloom as fl, numpy as np
    >>> wave, flux = np.arange(3600.0, 9800.0, 4.0), np.ones((1, 1550))
    >>> found = fl.fit_redshifts(flux, flux, wave, models=True, scan=True)
    >>> fl.plot_redshift(found, flux, flux, wave).savefig("target.png")  # doctest: +SKIP
    """
    if not isinstance(found, Redshifts):
        raise TypeError(f"found: expected fiberloom.Redshifts, got {type(found).__name__}")
    cameras = _cameras(flux, ivar, wave, None, None)
    count = next(iter(cameras.values()))["flux"].shape[0]
    if count != len(found):
        raise ValueError(f"flux: expected {len(found)} spectra, as many as were fitted, got {count}")
    for name, model in found.models.items():
        if name in cameras and model.shape != cameras[name]["flux"].shape:
            raise ValueError(f"wave: camera {name!r} has another number of pixels than what was fitted")
    row = check.integer("i", i, 0, len(found) - 1)
    width = check.integer("smooth", smooth, 1, 1001)
    if fig is None:
        import matplotlib.pyplot as plt
        fig = plt.figure(figsize=(11, 6 if found.scan else 4), layout="constrained")
    axes: Any = fig.subplots(2 if found.scan else 1, 1, squeeze=False, height_ratios=[3, 2] if found.scan else None)
    top = axes[0, 0]
    low, high = _draw_spectrum(top, cameras, found.models, row, width)
    z = float(found.z[row])
    if np.isfinite(z) and z > -1 and not found.zwarn[row] & 512:
        _mark_lines(top, z, low, high)
    probability = f", p = {found.probability[row]:.3f}" if found.probability[row] > 0 else ""
    top.set(xlim=(low, high), xlabel="wavelength [\N{LATIN CAPITAL LETTER A WITH RING ABOVE}]", ylabel="flux",
            title=f"{found.targetid[row]}: {found.spectype[row]} {found.subtype[row]}".rstrip()
            + f", z = {z:.5f} \u00b1 {found.zerr[row]:.5f}, ZWARN {found.zwarn[row]}{probability}")
    top.title.set_fontsize(10)
    top.legend(fontsize=8, loc="upper right")
    if found.scan:
        _draw_scan(axes[1, 0], found, row)
    return fig
