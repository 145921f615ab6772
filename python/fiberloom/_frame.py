# SPDX-License-Identifier: BSD-3-Clause
"""Extracted spectra."""
import dataclasses
from typing import TYPE_CHECKING, Any, Dict, List, Optional, Tuple

import numpy as np

from . import _arguments as check
from ._html import Shown
from ._types import Array

if TYPE_CHECKING:
    import scipy.sparse

    from ._core import Header, Table


@dataclasses.dataclass(eq=False, repr=False)
class Frame(Shown):
    """Spectra of one CCD, [nspec][nwave] throughout. Can be pickled.

    Attributes
    ----------
    wave : array [nwave]
        Vacuum Angstrom, float64.
    flux : array [nspec][nwave]
        electron/Angstrom, blurred by the resolution matrix; 0 where there is no information.
    ivar : array [nspec][nwave]
        (electron/Angstrom)^-2; 0 where there is no information.
    mask : array of uint32 or None
        desispec's specmask: 1 SOMEBADPIX, 2 ALLBADPIX, 4 COSMIC, 128 BAD2DFIT. None: not in the file.
    resolution : array of float32 [nspec][ndiag][nwave] or None
        resolution[s, k, j] = R_s[j - ndiag // 2 + k, j]; see `R`.
    chi2pix : array or None
        Mean chi2 of the pixels under a bin.
    xflux : array or None
        The deconvolved flux, electron/Angstrom (`extract_frame` only).
    pixmask_fraction : array or None
        Part of a bin's spot that fell on no good pixel (`extract_frame` only).
    model : array of float32 [npix_y][npix_x] or None
        Electrons; ``extract_frame(..., model=True)`` only.
    rejected : array of int32 [n][2] or None
        Row and column of the pixels that ``extract_frame(..., reject=NSIG)`` dropped.
    fiber_wave : array [nspec][nwave] or None
        Each fibre's own wavelengths, of which `wave` is then the mean.
    fine_resolution : array of float32 [nspec][ndiag][n * nwave] or None
        fine_resolution[s, k, j] is the response of bin j // n - ndiag // 2 + k to light of the part j of bin j // n
        (``extract_frame(..., oversample=n)``).
    fiber_correlation : array of float32 [nspec][ndiag][nwave] or None
        fiber_correlation[s, k, j] is the correlation coefficient of flux[s, j] and flux[s + 1, j - ndiag // 2 + k]
        (``extract_frame(..., fiber_correlation=True)``).
    fiber_heliocor : array [nspec] or None
        Barycentric factor of each fibre (files of ``extract_file(..., barycentric_fibers=True)``).
    specmin : int
        Index of the first fibre in the PSF.
    bundles : list of dict
        Numerical report of each bundle (`extract_frame` only).
    header, fibermap : Header or None, Table or None
        Of the file (`read_frame`), or what `write_frame` is to write.
    fibers : list of int or None
        Fibre numbers (`read_frame` only).
    path : str or None
        The file.
    device : str or None
        The card that computed; None: the CPU.

    Examples
    --------
    >>> import fiberloom as fl
    >>> small = fl.simulate_frame(nfiber=5, nwave=20)
    >>> frame = fl.extract_frame(small.image, small.ivar, small.psf, small.wave)
    >>> frame.flux.shape, frame.resolution.shape
    ((5, 20), (5, 11, 20))
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
    device: Optional[str] = None
    rejected: Optional[Array] = None
    fiber_wave: Optional[Array] = None
    fine_resolution: Optional[Array] = None
    fiber_correlation: Optional[Array] = None
    fiber_heliocor: Optional[Array] = None

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
        """Resolution matrix of spectrum i.

        Parameters
        ----------
        i : int
            Row of `flux`; negative counts from the end.

        Returns
        -------
        scipy.sparse.dia_matrix [nwave][nwave]
            The flux of a true spectrum t (electron/Angstrom on `wave`) is ``R(i) @ t``.

        Examples
        --------
        >>> import fiberloom as fl
        >>> small = fl.simulate_frame(nfiber=5, nwave=20)
        >>> frame = fl.extract_frame(small.image, small.ivar, small.psf, small.wave)
        >>> expected = frame.R(2) @ (small.truth[2] / frame.bin_width)
        >>> float(abs((frame.flux[2] - expected) * frame.ivar[2] ** 0.5).max()) < 6
        True
        """
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

    def _facts(self) -> List[Tuple[str, str]]:
        good = self.ivar > 0
        snr = np.median((np.abs(self.flux) * np.sqrt(self.ivar))[good]) if good.any() else 0.0
        facts = [("spectra", str(self.nspec)), ("bins", str(self.nwave)),
                 ("wavelengths", f"{self.wave[0]:.3f} to {self.wave[-1]:.3f} Angstrom"),
                 ("bins without information", f"{good.size - np.count_nonzero(good)} of {good.size}"),
                 ("median |flux| / sigma", f"{snr:.3g}")]
        if self.mask is not None:
            facts += [(name, str(np.count_nonzero(self.mask & bit)))
                      for name, bit in (("SOMEBADPIX", 1), ("ALLBADPIX", 2), ("BAD2DFIT", 128))]
        return facts + [("file", str(self.path)), ("fibermap", repr(self.fibermap))]

    def _for_core(self) -> Dict[str, Any]:
        """Checked arrays for the extension."""
        from . import _arguments as check
        wave = check.wave("wave", self.wave)
        flux = check.real("flux", self.flux, ("nspec", wave.size))
        shape = flux.shape
        cube = (shape[0], "ndiag", shape[1])
        fine = None if self.fine_resolution is None \
            else check.real("fine_resolution", self.fine_resolution, (shape[0], "ndiag", "n * nwave"), keep_single=True)
        if fine is not None and fine.shape[2] % shape[1]:
            raise ValueError(f"fine_resolution: expected a multiple of {shape[1]} columns, got {fine.shape}")
        optional = {
            "fine_resolution": fine,
            "fiber_wave": None if self.fiber_wave is None else check.finite("fiber_wave", self.fiber_wave, shape),
            "fiber_heliocor": None if self.fiber_heliocor is None
            else check.finite("fiber_heliocor", self.fiber_heliocor, shape[:1]),
            "fiber_correlation": None if self.fiber_correlation is None
            else check.real("fiber_correlation", self.fiber_correlation, cube, keep_single=True),
            "mask": None if self.mask is None else check.bits("mask", self.mask, shape),
            "chi2pix": None if self.chi2pix is None else check.real("chi2pix", self.chi2pix, shape),
            "resolution": None if self.resolution is None
            else check.real("resolution", self.resolution, cube, keep_single=True),
        }
        for name in ("resolution", "fine_resolution", "fiber_correlation"):
            matrix = optional[name]
            if matrix is not None and matrix.shape[1] % 2 == 0:
                raise ValueError(f"{name}: expected an odd number of diagonals, got {matrix.shape}")
        return {"wave": wave, "flux": flux, "ivar": check.real("ivar", self.ivar, shape),
                "specmin": check.integer("specmin", self.specmin, 0), "header": check.header(self.header),
                "fibermap": check.fibermap(self.fibermap, shape[0]), **optional}
