# SPDX-License-Identifier: BSD-3-Clause
"""What the steps of the calibration give."""
import dataclasses
from typing import Any, Dict, List, Optional, Tuple

import numpy as np

from ._html import Shown
from ._types import Array


@dataclasses.dataclass(eq=False, repr=False)
class FiberFlat(Shown):
    """How much of a lamp's light each fibre passes: wave and mean [nwave], flat, ivar, mask [nspec][nwave]; mean is the
    lamp's deconvolved spectrum."""

    wave: Array
    flat: Array
    ivar: Array
    mask: Array
    mean: Array
    chi2_per_dof: float = 0.0
    iterations: int = 0

    def __repr__(self) -> str:
        return f"<fiberloom.FiberFlat {self.flat.shape[0]} fibres x {self.flat.shape[1]} bins>"

    def _facts(self) -> List[Tuple[str, str]]:
        return [("fibres", str(self.flat.shape[0])), ("bins", str(self.flat.shape[1]))]


@dataclasses.dataclass(eq=False, repr=False)
class Sky(Shown):
    """The sky as each fibre sees it: flux, ivar, mask, stat_ivar [nspec][nwave], deconvolved [nwave]; throughput [nspec]: a
    factor on its lines, 1 but with method="desispec"; rows: sky fibres that it was made of, discarded: those of them that are
    far from the others; shift, widening [nspec][nwave], Angstrom: what lines were adjusted by, None: they were not."""

    wave: Array
    flux: Array
    ivar: Array
    mask: Array
    stat_ivar: Array
    deconvolved: Array
    throughput: Array
    rows: Array
    discarded: Array
    shift: Optional[Array] = None
    widening: Optional[Array] = None

    def __repr__(self) -> str:
        return f"<fiberloom.Sky {self.flux.shape[0]} fibres x {self.flux.shape[1]} bins, of {len(self.rows)} sky fibres>"

    def _facts(self) -> List[Tuple[str, str]]:
        return [("fibres", str(self.flux.shape[0])), ("sky fibres", str(len(self.rows)))]


@dataclasses.dataclass(eq=False, repr=False)
class StandardStars(Shown):
    """True spectra of standard stars: wave [nwave], flux [nstar][nwave] in 1e-17 erg/(s cm2 Angstrom) before any blur,
    rows of the frame; and what was found of each."""

    wave: Array
    flux: Array
    rows: Array
    teff: Array
    logg: Array
    feh: Array
    redshift: Array
    chi2_per_dof: Array
    color: Array
    model_color: Array

    def __len__(self) -> int:
        return len(self.rows)

    def __repr__(self) -> str:
        return f"<fiberloom.StandardStars {len(self)} stars>"

    def _facts(self) -> List[Tuple[str, str]]:
        return [("stars", str(len(self)))]


@dataclasses.dataclass(eq=False, repr=False)
class FluxCalibration(Shown):
    """Electrons that a flux of 1 gives: calib, ivar, mask [nspec][nwave], deconvolved [nwave], flat_to_psf [nspec]; rows
    and scales of the stars that it was made of; is_average: these were too faint, an average was scaled."""

    wave: Array
    calib: Array
    ivar: Array
    mask: Array
    deconvolved: Array
    flat_to_psf: Array
    rows: Array
    scales: Array
    is_average: bool = False

    def __repr__(self) -> str:
        return f"<fiberloom.FluxCalibration {self.calib.shape[0]} fibres x {self.calib.shape[1]} bins, of {len(self.rows)} stars>"

    def _facts(self) -> List[Tuple[str, str]]:
        return [("fibres", str(self.calib.shape[0])), ("stars", str(len(self.rows)))]


@dataclasses.dataclass(eq=False, repr=False)
class Quality(Shown):
    """How good the frames of one spectrograph are: status [nspec], FIBERSTATUS with what was found; cameras {"b": {"snr"
    [nspec], "median_snr", "without", "sky_fibers", "sky_chi2_per_dof", "sky_mean", "sky_width", "throughput"}}; stars that
    were compared with their models and star_rms; good_positions, good_fibers."""

    status: Array
    cameras: Dict[str, Dict[str, Any]]
    stars: int
    star_rms: float
    good_positions: int
    good_fibers: int

    def __repr__(self) -> str:
        return f"<fiberloom.Quality {self.good_fibers} of {len(self.status)} fibres good>"

    def _facts(self) -> List[Tuple[str, str]]:
        return [("good fibres", f"{self.good_fibers} of {len(self.status)}")]


@dataclasses.dataclass(eq=False, repr=False)
class Depth(Shown):
    """How deep a camera of an exposure is: tsnr2 {"ELG": [nspec], ...}, by kind of target the squared signal to noise that typical
    ones would have had in each fibre; read_noise_scale: what the read noise's variance was multiplied by, as the sky fibres' errors
    ask."""

    tsnr2: Dict[str, Array]
    read_noise_scale: float

    def __repr__(self) -> str:
        return f"<fiberloom.Depth {', '.join(self.tsnr2)} of {len(next(iter(self.tsnr2.values()), ()))} fibres>"

    def _facts(self) -> List[Tuple[str, str]]:
        return [(kind, f"median TSNR2 {float(np.median(values)):.4g}") for kind, values in self.tsnr2.items()]
