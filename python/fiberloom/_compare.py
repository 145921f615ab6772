# SPDX-License-Identifier: BSD-3-Clause
"""Two frames side by side, or a frame and the truth that it was simulated from."""
import dataclasses
from typing import Any, Dict, List, Optional, Tuple

from . import _arguments as check
from . import _core
from ._files import read_frame
from ._frame import Frame

_ALL_BITS = 2**32 - 1


@dataclasses.dataclass
class Comparison:
    """Differences over the bins that are good on both sides.

    pull = |flux_a - flux_b| / sqrt(1/ivar_a + 1/ivar_b). pulls_below: {threshold: bins below it};
    max_pull at (fibre, Angstrom) max_pull_at; max_ivar: relative to the larger of the two;
    max_resolution: None when not in both. masked_a, masked_b, only_a, only_b: bins masked at all, and
    on one side only; list_only_a, list_only_b: the first of them; mask_difference: fraction of all.
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


def compare(a: Any, b: Any, *, mask_bits: int = _ALL_BITS, list_bins: int = 0) -> Comparison:
    """Compares two frames (Frame or path) on the same wavelengths. mask_bits: bits of `mask` that
    make a bin bad where both frames have one. list_bins: name so many bins masked on one side only."""
    return Comparison(**_core.compare(
        _frame("a", a)._for_core(), _frame("b", b)._for_core(),
        check.integer("mask_bits", mask_bits, 0, _ALL_BITS),
        check.integer("list_bins", list_bins, 0)))


def compare_truth(frame: Any, truth: Any, *, mask_bits: int = _ALL_BITS,
                  bundlesize: int = 25) -> Dict[str, Any]:
    """Pulls (flux - R truth) sqrt(ivar) of a frame (Frame or path) against a truth file of
    simulate(): {"all": row, "by_brightness": rows, "by_bundle": rows, ...}, a row being
    {"name", "bins", "mean", "width", "beyond_5"}."""
    return _core.compare_truth(
        _frame("frame", frame)._for_core(), check.path("truth", truth),
        check.integer("mask_bits", mask_bits, 0, _ALL_BITS),
        check.integer("bundlesize", bundlesize, 1, 100000))
