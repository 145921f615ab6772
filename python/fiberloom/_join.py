# SPDX-License-Identifier: BSD-3-Clause
"""Frames of a few fibres each, extracted by others, as one."""
from typing import Any, Dict, Iterable, List, Optional, Tuple

import numpy as np

from . import _arguments as check
from . import _core
from ._frame import Frame
from ._types import Array

_COSMIC = 4
_ROWS = ("flux", "ivar", "resolution", "chi2pix", "xflux", "pixmask_fraction")
_FEW_HAVE = ("fiber_wave", "fine_resolution", "fiber_correlation")


def join_frames(frames: Iterable[Frame]) -> Frame:
    """One frame of the fibres of several, to the bit that of an extraction of all of them.

    Parameters
    ----------
    frames : iterable of Frame
        Of `extract_frame` with other `specmin` and `nspec`, in any order, on the same wavelengths; each fibre
        once, none left out in between.

    Returns
    -------
    Frame
        `mask` is made anew, since its bit 7 (BAD2DFIT) compares the fibres of a frame with each other.
        `header` is that of the first fibres, `path` None; `fibermap` is for you to set. There is no `model`: where
        bundles overlap its sum would depend on where the frame was cut. `fiber_correlation` is 0 where two parts meet
        inside a bundle.

    Raises
    ------
    TypeError, ValueError
        Fibres twice or missing, other wavelengths, arrays that are missing or of another shape.

    Examples
    --------
    >>> import fiberloom as fl
    >>> small = fl.simulate_frame(nfiber=5, nwave=20)
    >>> parts = [fl.extract_frame(small.image, small.ivar, small.psf, small.wave, specmin=i, nspec=n)
    ...          for i, n in ((2, 3), (0, 2))]
    >>> fl.join_frames(parts)
    <fiberloom.Frame 5 spectra x 20 bins, 6000.0-6015.2 Angstrom>
    """
    parts = _in_order(frames)
    first = parts[0]
    rows: Dict[str, Any] = {name: _stack(parts, name) for name in _ROWS}
    for name in _FEW_HAVE:
        have = sum(getattr(part, name) is not None for part in parts)
        if have not in (0, len(parts)):
            raise ValueError(f"frames: expected {name} of all frames or of none, got it of {have} of {len(parts)}")
        if have:
            rows[name] = _stack(parts, name)
    compared = [np.asarray(rows[name], float) for name in ("ivar", "chi2pix", "pixmask_fraction")]
    mask = _core.spectral_mask(*compared)
    for part in parts:  # which pixels were dropped, no other part knows
        if part.mask is not None:
            mask[part.specmin - first.specmin:][:part.nspec] |= part.mask & np.uint32(_COSMIC)
    return Frame(
        wave=first.wave, mask=mask, rejected=_rejected(parts), specmin=first.specmin, header=first.header,
        bundles=[bundle for part in parts for bundle in part.bundles],
        device=", ".join(dict.fromkeys(part.device for part in parts if part.device)) or None, **rows)


def _rejected(parts: List[Frame]) -> Optional[Array]:
    lists = [part.rejected for part in parts if part.rejected is not None]
    return np.concatenate(lists) if lists else None


def _in_order(frames: Iterable[Frame]) -> List[Frame]:
    try:
        given = iter(frames)
    except TypeError:
        raise TypeError(f"frames: expected several fiberloom.Frame, got {type(frames).__name__}") from None
    parts = list(given)
    for part in parts:
        if not isinstance(part, Frame):
            raise TypeError(f"frames: expected fiberloom.Frame, got {type(part).__name__}")
        if part.chi2pix is None or part.pixmask_fraction is None:
            raise ValueError(f"frames: expected frames of extract_frame, got {part!r} without what only they have")
    if not parts:
        raise ValueError("frames: expected at least one")
    parts.sort(key=lambda part: part.specmin)
    for before, part in zip(parts, parts[1:]):
        expected = before.specmin + before.nspec
        if part.specmin != expected:
            what = "twice" if part.specmin < expected else "missing"
            raise ValueError(f"frames: expected every fibre once, got fibres {min(part.specmin, expected)} to "
                             f"{max(part.specmin, expected) - 1} {what}")
        if not np.array_equal(part.wave, before.wave):
            raise ValueError(f"frames: expected the same wavelengths, got others from fibre {part.specmin} on")
    return parts


def _stack(parts: List[Frame], name: str) -> Array:
    nwave = parts[0].wave.size
    arrays = []
    for part in parts:
        shape: Tuple[Any, ...] = (part.nspec, nwave)
        if name in ("resolution", "fiber_correlation", "fine_resolution"):
            shape = (part.nspec, "ndiag", "n * nwave" if name == "fine_resolution" else nwave)
        arrays.append(check.real(f"frames: {name}", getattr(part, name), shape, keep_single=True))
    if len({array.shape[1:] for array in arrays}) > 1:
        raise ValueError(f"frames: expected {name} of the same shape, got {[array.shape for array in arrays]}")
    return np.concatenate(arrays)
