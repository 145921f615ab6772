# SPDX-License-Identifier: BSD-3-Clause
"""Extracted spectra."""
import dataclasses
from typing import TYPE_CHECKING, Any, Dict, List, Optional

import numpy as np
import numpy.typing as npt

from . import _arguments as check

if TYPE_CHECKING:
    import scipy.sparse

    from ._core import Header, Table

Array = npt.NDArray[Any]


@dataclasses.dataclass(eq=False, repr=False)
class Frame:
    """Spectra of one CCD, [nspec][nwave] throughout. Arrays look into the engine's own memory.

    wave: [nwave] float64, vacuum Angstrom.
    flux: electron/Angstrom, blurred by the resolution matrix; 0 where there is no information.
    ivar: (electron/Angstrom)^-2; 0 where there is no information.
    mask: uint32, desispec's specmask: 1 SOMEBADPIX, 2 ALLBADPIX, 128 BAD2DFIT. None: not in the file.
    resolution: float32 [nspec][ndiag][nwave], resolution[s, k, j] = R_s[j - ndiag // 2 + k, j]; see R().
    chi2pix: mean chi2 of the pixels under a bin.
    xflux: the deconvolved flux, electron/Angstrom (extract_frame only).
    pixmask_fraction: part of a bin's spot that fell on no good pixel (extract_frame only).
    model: float32 [npix_y][npix_x], electrons; extract_frame(..., model=True) only.
    specmin: index of the first fibre in the PSF.
    bundles: numerical report of each bundle (extract_frame only).
    header, fibermap: of the file (read_frame), or what write_frame is to write.
    """

    wave: Array
    flux: Array
    ivar: Array
    mask: Optional[Array] = None
    resolution: Optional[Array] = None
    chi2pix: Optional[Array] = None
    xflux: Optional[Array] = None
    pixmask_fraction: Optional[Array] = None
    model: Optional[Array] = None
    specmin: int = 0
    bundles: List[Dict[str, Any]] = dataclasses.field(default_factory=list)
    header: "Optional[Header]" = None
    fibermap: "Optional[Table]" = None
    fibers: Optional[List[int]] = None
    path: Optional[str] = None

    @property
    def nspec(self) -> int:
        """Number of spectra."""
        return int(self.flux.shape[0])

    @property
    def nwave(self) -> int:
        """Number of wavelength bins."""
        return int(self.flux.shape[1])

    @property
    def bin_width(self) -> Array:
        """[nwave] Angstrom: flux * bin_width is electrons per bin."""
        return np.gradient(self.wave) if self.nwave > 1 else np.ones(1)

    def R(self, i: int) -> "scipy.sparse.dia_matrix":
        """Resolution matrix of spectrum i, [nwave][nwave]: the flux of a true spectrum t
        (electron/Angstrom on `wave`) is R(i) @ t."""
        import scipy.sparse
        if self.resolution is None:
            raise ValueError("R: this frame has no resolution")
        i = check.integer("i", i, -2**31)
        if not -self.nspec <= i < self.nspec:
            raise IndexError(f"i: expected a spectrum from 0 to {self.nspec - 1}, got {i}")
        half = self.resolution.shape[1] // 2
        offsets = np.arange(half, half - self.resolution.shape[1], -1)
        data = self.resolution[i]
        return scipy.sparse.dia_matrix((data, offsets), shape=(self.nwave, self.nwave))

    def __repr__(self) -> str:
        return (f"<fiberloom.Frame {self.nspec} spectra x {self.nwave} bins, "
                f"{self.wave[0]:.1f}-{self.wave[-1]:.1f} Angstrom>")

    def _for_core(self) -> Dict[str, Any]:
        """Checked arrays for the extension."""
        from . import _arguments as check
        wave = check.wave("wave", self.wave)
        flux = check.real("flux", self.flux, ("nspec", wave.size))
        shape = flux.shape
        cube = (shape[0], "ndiag", shape[1])
        optional = {
            "mask": None if self.mask is None else check.bits("mask", self.mask, shape),
            "chi2pix": None if self.chi2pix is None else check.real("chi2pix", self.chi2pix, shape),
            "resolution": None if self.resolution is None
            else check.real("resolution", self.resolution, cube, keep_single=True),
        }
        resolution = optional["resolution"]
        if resolution is not None and resolution.shape[1] % 2 == 0:
            raise ValueError(f"resolution: expected an odd number of diagonals, got {resolution.shape}")
        return {"wave": wave, "flux": flux, "ivar": check.real("ivar", self.ivar, shape),
                "specmin": check.integer("specmin", self.specmin, 0), "header": self.header,
                "fibermap": self.fibermap, **optional}
