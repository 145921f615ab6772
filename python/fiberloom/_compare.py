# SPDX-License-Identifier: BSD-3-Clause
"""Two frames side by side, or a frame and the truth that it was simulated from."""
import dataclasses
from typing import Any, Dict, List, Optional, Tuple, Union

from . import _arguments as check
from . import _core
from ._errors import about
from ._files import read_frame
from ._frame import Frame
from ._html import Shown
from ._types import PathLike

_ALL_BITS = 2**32 - 1


@dataclasses.dataclass(repr=False)
class Comparison(Shown):
    """Differences over the bins that are good on both sides; printed, a table of pulls.

    Attributes
    ----------
    nspec, nwave, good : int
        Spectra and bins compared, and how many are good on both sides.
    pulls_below : dict
        {threshold: bins below it}; pull = |flux_a - flux_b| / sqrt(1/ivar_a + 1/ivar_b).
    max_pull : float
    max_pull_at : tuple
        (fibre, Angstrom).
    max_ivar : float
        Relative to the larger of the two.
    max_ivar_at : tuple
    max_resolution : float or None
        None when not in both.
    masked_a, masked_b, only_a, only_b : int
        Bins masked at all, and on one side only.
    list_only_a, list_only_b : list
        The first of them.
    mask_difference : float
        Fraction of all.
    """

    nspec: int
    nwave: int
    good: int
    pulls_below: Dict[float, int]
    max_pull: float
    max_pull_at: Tuple[int, float]
    max_ivar: float
    max_ivar_at: Tuple[int, float]
    max_resolution: Optional[float]
    masked_a: int
    masked_b: int
    only_a: int
    only_b: int
    list_only_a: List[Tuple[int, float]]
    list_only_b: List[Tuple[int, float]]
    mask_difference: float

    def __repr__(self) -> str:
        return (f"<fiberloom.Comparison of {self.nspec} spectra x {self.nwave} bins: max pull {self.max_pull:.3g}, "
                f"{self.only_a + self.only_b} bins masked on one side>")

    def _facts(self) -> List[Tuple[str, str]]:
        rows = [(f"pull < {t:g}", f"{100 * n / max(self.good, 1):.4f} %") for t, n in self.pulls_below.items()]
        return [*rows, ("max ivar difference", f"{self.max_ivar:.3g}"),
                ("masked in a, in b", f"{self.masked_a}, {self.masked_b}")]

    def __str__(self) -> str:
        lines = [f"{self.nspec} spectra x {self.nwave} bins, {self.good} good on both sides"]
        lines += [f"  pull < {t:g}: {100 * n / max(self.good, 1):.4f} %"
                  for t, n in self.pulls_below.items()]
        lines += [f"max pull {self.max_pull:.3g} at fibre {self.max_pull_at[0]}, "
                  f"{self.max_pull_at[1]:.3f} Angstrom",
                  f"max ivar difference {self.max_ivar:.3g} (relative)"]
        if self.max_resolution is not None:
            lines.append(f"max resolution difference {self.max_resolution:.3g}")
        lines.append(f"masked in a {self.masked_a}, in b {self.masked_b}; "
                     f"only in a {self.only_a}, only in b {self.only_b}")
        return "\n".join(lines)


def _frame(name: str, value: Any) -> Frame:
    if isinstance(value, Frame):
        return value
    return read_frame(check.path(name, value))


def compare(a: Union[Frame, PathLike], b: Union[Frame, PathLike], *, mask_bits: int = _ALL_BITS,
            list_bins: int = 0) -> Comparison:
    """Compares two frames on the same wavelengths.

    Parameters
    ----------
    a, b : Frame or path
        Rows are matched by fibre.
    mask_bits : int
        Bits of `mask` that make a bin bad where both frames have one.
    list_bins : int
        Name so many bins masked on one side only.

    Returns
    -------
    Comparison

    Examples
    --------
    >>> import fiberloom as fl
    >>> small = fl.simulate_frame(nfiber=5, nwave=20)
    >>> exact = fl.extract_frame(small.image, small.ivar, small.psf, small.wave)
    >>> patch = fl.extract_frame(small.image, small.ivar, small.psf, small.wave, method="patch")
    >>> fl.compare(exact, patch).max_pull < 0.1
    True
    """
    return Comparison(**_core.compare(
        _frame("a", a)._for_core(), _frame("b", b)._for_core(),
        check.integer("mask_bits", mask_bits, 0, _ALL_BITS),
        check.integer("list_bins", list_bins, 0)))


def compare_truth(frame: Union[Frame, PathLike], truth: PathLike, *, mask_bits: int = _ALL_BITS,
                  bundlesize: int = 25) -> Dict[str, Any]:
    """Pulls (flux - R truth) sqrt(ivar) of a frame against a truth file of `simulate`.

    Parameters
    ----------
    frame : Frame or path
        The spectra.
    truth : path
        What they were simulated from.
    mask_bits : int
        Bits of `mask` that make a bin bad.
    bundlesize : int
        Fibres of a row of "by_bundle".

    Returns
    -------
    dict
        {"all": row, "by_brightness": rows, "by_bundle": rows, ...}, a row being
        {"name", "bins", "mean", "width", "beyond_5"}.

    Examples
    --------
    >>> import fiberloom as fl
    >>> fl.write_psf("narrow.fits", fl.simulate_frame(nfiber=1, nwave=2326, wave_first=5760.0).psf)
    >>> psf, image, truth = fl.simulate("night", nspec=1, psf="narrow.fits", truth_grid="extraction")
    >>> done = fl.extract_file(image, psf, "frame.fits", wavelength="5760,7620,0.8")
    >>> abs(fl.compare_truth("frame.fits", truth)["all"]["width"] - 1) < 0.1
    True
    """
    name = check.path("truth", truth)
    spectra = _frame("frame", frame)._for_core()
    with about(name):
        return _core.compare_truth(spectra, name, check.integer("mask_bits", mask_bits, 0, _ALL_BITS),
                                   check.integer("bundlesize", bundlesize, 1, 100000))
