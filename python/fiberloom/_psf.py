# SPDX-License-Identifier: BSD-3-Clause
"""The PSF: traces, spots, and the forward model p = A f as a linear operator."""
import math
from typing import TYPE_CHECKING, Any, Dict, List, NamedTuple, Optional, Protocol, Sequence, Tuple, Union

import numpy as np
import numpy.typing as npt

from . import _arguments as check
from . import _core
from ._html import Shown
from ._types import Array, Wave

if TYPE_CHECKING:
    import scipy.sparse.linalg

Fibers = Union[None, int, Sequence[int], "npt.NDArray[np.integer[Any]]"]
Points = Union[str, npt.ArrayLike]  # wavelengths in any order, or "first,last,step"


class Spots(NamedTuple):
    """Images of monochromatic light.

    Attributes
    ----------
    value : array [nfiber][nwave][ny][nx]
        Each spot sums to 1 over its whole stamp; all zero where it misses the CCD.
    y0, x0 : array [nfiber][nwave]
        CCD pixel of value[..., 0, 0].
    """

    value: Array
    y0: Array
    x0: Array

    def __repr__(self) -> str:
        nfiber, nwave, ny, nx = self.value.shape
        return f"<fiberloom.Spots {nfiber} fibres x {nwave} wavelengths of {ny} x {nx} pixels>"


class Psf(Shown):
    """A PSF. Made by `read_psf` or `simulate_frame`; one of kind GAUSS-HERMITE can be pickled.

    Examples
    --------
    >>> import fiberloom as fl
    >>> psf = fl.simulate_frame(nfiber=5, nwave=20).psf
    >>> psf.x([6000.0, 6010.0], fibers=2).shape
    (1, 2)
    """

    def __init__(self, core: _core.Psf) -> None:
        if not isinstance(core, _core.Psf):
            raise TypeError(f"Psf: use fiberloom.read_psf(path), got {type(core).__name__}")
        self._core = core
        self._numbers = core.numbers()

    @property
    def nfiber(self) -> int:
        """Number of fibres."""
        return self._core.nfiber

    @property
    def shape(self) -> Tuple[int, int]:
        """(npix_y, npix_x) of the CCD."""
        return self._numbers["npix_y"], self._numbers["npix_x"]

    @property
    def stamp(self) -> Tuple[int, int]:
        """(ny, nx) of a spot."""
        return self._numbers["stamp_ny"], self._numbers["stamp_nx"]

    @property
    def wave_range(self) -> Tuple[float, float]:
        """Angstrom, the domain of the shape: the default range of an extraction."""
        return self._core.wave_range

    @property
    def psferr(self) -> float:
        """Fractional error of the model, for chi2pix."""
        return float(self._numbers["psferr"])

    @property
    def bundle(self) -> Array:
        """[nfiber] bundle of each fibre; empty when the file does not say."""
        return np.array(self._numbers["bundle"], dtype=int)

    @property
    def path(self) -> str:
        """The file, or ''."""
        return self._core.path

    @property
    def header(self) -> _core.Header:
        """Header of the PSF HDU."""
        return self._core.header

    def x(self, wave: Points, fibers: Fibers = None) -> Array:
        """Column of the trace, pixels, [nfiber][nwave]."""
        return self._evaluate("x", wave, fibers)

    def y(self, wave: Points, fibers: Fibers = None) -> Array:
        """Row of the trace, pixels, [nfiber][nwave]."""
        return self._evaluate("y", wave, fibers)

    def sigma_x(self, wave: Points, fibers: Fibers = None) -> Array:
        """Width of the core along a row, pixels, [nfiber][nwave]."""
        return self._evaluate("sigma_x", wave, fibers)

    def sigma_y(self, wave: Points, fibers: Fibers = None) -> Array:
        """Width of the core along a column, pixels, [nfiber][nwave]."""
        return self._evaluate("sigma_y", wave, fibers)

    def spots(self, wave: Points, fibers: Fibers = None, *, threads: Optional[int] = None) -> Spots:
        """Images of monochromatic light of 1 electron.

        Parameters
        ----------
        wave : array [nwave] or "first,last,step"
            Angstrom, in any order.
        fibers : int or array of int, optional
            Default all.
        threads : int, optional
            As in `adjoint`.

        Returns
        -------
        Spots

        Examples
        --------
        >>> import fiberloom as fl
        >>> psf = fl.simulate_frame(nfiber=5, nwave=20).psf
        >>> psf.spots([6000.0, 6010.0], fibers=[0, 4])
        <fiberloom.Spots 2 fibres x 2 wavelengths of 11 x 17 pixels>
        """
        grid = check.points("wave", wave)
        chosen = self._fibers(fibers)
        value, y0, x0 = self._core.spots(chosen, grid.tolist(), check.threads(threads))
        return Spots(value, y0, x0)

    def project(self, flux: npt.ArrayLike, wave: Wave, *, specmin: int = 0,
                threads: Optional[int] = None) -> Array:
        """The noiseless CCD of spectra, p = A f.

        Parameters
        ----------
        flux : array [nspec][nwave]
            Electrons per bin (times `Frame.bin_width`, when it is per Angstrom), of fibres specmin,
            specmin + 1 ...
        wave, specmin, threads
            As in `adjoint`.

        Returns
        -------
        array [npix_y][npix_x]
            Electrons.

        Examples
        --------
        >>> import fiberloom as fl
        >>> import numpy as np
        >>> psf = fl.simulate_frame(nfiber=5, nwave=20).psf
        >>> round(float(psf.project(np.full((5, 3), 10.0), "6004,6005.6,0.8").sum()), 6)
        150.0
        """
        grid = check.wave("wave", wave)
        first = check.integer("specmin", specmin, 0)
        electrons = check.finite("flux", flux, ("nspec", grid.size))
        first, count = check.fibers(first, electrons.shape[0], self.nfiber)
        return _core.ForwardModel(self._core, grid, first, count).project(
            electrons, check.threads(threads))

    def adjoint(self, image: npt.ArrayLike, wave: Wave, *, specmin: int = 0, nspec: Optional[int] = None,
                threads: Optional[int] = None) -> Array:
        """The transpose of `project`: the sum of an image under the spot of every bin.

        Parameters
        ----------
        image : array [npix_y][npix_x]
            Set pixels that must not count to 0.
        wave : (first, last, step), "first,last,step" or array [nwave]
            Angstrom, increasing.
        specmin, nspec : int, optional
            First fibre and number of fibres, default all.
        threads : int, optional
            Default what the machine and the batch system grant.

        Returns
        -------
        array [nspec][nwave]

        Examples
        --------
        >>> import fiberloom as fl
        >>> import numpy as np
        >>> psf = fl.simulate_frame(nfiber=5, nwave=20).psf
        >>> bool(np.allclose(psf.adjoint(np.ones(psf.shape), "6004,6005.6,0.8"), 1))
        True
        """
        grid = check.wave("wave", wave)
        first, count = check.fibers(specmin, nspec, self.nfiber)
        pixels = check.finite("image", image, self.shape)
        return _core.ForwardModel(self._core, grid, first, count).adjoint(
            pixels, check.threads(threads))

    def operator(self, wave: Wave, *, specmin: int = 0, nspec: Optional[int] = None,
                 threads: Optional[int] = None) -> "scipy.sparse.linalg.LinearOperator":
        """p = A f as scipy's LinearOperator.

        Parameters
        ----------
        wave, specmin, nspec, threads
            As in `adjoint`.

        Returns
        -------
        scipy.sparse.linalg.LinearOperator
            Of shape (npix_y * npix_x, nspec * nwave): f is flux in electrons per bin and p the CCD, both
            flattened in C order; `rmatvec` is the transpose.

        Examples
        --------
        >>> import fiberloom as fl
        >>> import numpy as np
        >>> small = fl.simulate_frame(nfiber=5, nwave=20)
        >>> A = small.psf.operator(small.wave, nspec=2)
        >>> f, p = np.ones(A.shape[1]), np.ones(A.shape[0])
        >>> bool(np.isclose(p @ (A @ f), f @ (A.T @ p)))
        True
        """
        import scipy.sparse.linalg
        grid = check.wave("wave", wave)
        first, count = check.fibers(specmin, nspec, self.nfiber)
        model = _Projection(self, grid, first, count, check.threads(threads))
        return scipy.sparse.linalg.LinearOperator(
            (self.shape[0] * self.shape[1], count * grid.size), matvec=model.matvec, rmatvec=model.rmatvec,
            dtype=np.float64)

    def _fibers(self, fibers: Any) -> "list[int]":
        if fibers is None:
            return list(range(self.nfiber))
        chosen = np.atleast_1d(np.asarray(fibers))
        if chosen.dtype.kind not in "iu" or chosen.ndim != 1:
            raise TypeError(f"fibers: expected integers, got {chosen.dtype} {chosen.shape}")
        if chosen.size == 0:
            raise ValueError("fibers: expected at least one")
        if chosen.min() < 0 or chosen.max() >= self.nfiber:
            raise ValueError(f"fibers: expected fibres from 0 to {self.nfiber - 1}, "
                             f"got {chosen.min()} to {chosen.max()}")
        return [int(f) for f in chosen]

    def _evaluate(self, name: str, wave: Any, fibers: Any) -> Array:
        grid = check.points("wave", wave)
        return self._core.evaluate(name, self._fibers(fibers), grid.tolist())

    def __repr__(self) -> str:
        low, high = self.wave_range
        return (f"<fiberloom.Psf {self.nfiber} fibres on {self.shape[0]} x {self.shape[1]} pixels, "
                f"{low:.0f}-{high:.0f} Angstrom>")

    def _facts(self) -> List[Tuple[str, str]]:
        low, high = self.wave_range
        bundles = len(set(self.bundle.tolist()))
        return [("fibres", str(self.nfiber)), ("bundles", str(bundles) if bundles else "the file does not say"),
                ("CCD", f"{self.shape[0]} x {self.shape[1]} pixels"),
                ("spot", f"{self.stamp[0]} x {self.stamp[1]} pixels"),
                ("range", f"{low:.2f} to {high:.2f} Angstrom"), ("psferr", f"{self.psferr:g}"), ("file", self.path)]

    def __reduce__(self) -> Any:
        if self._numbers["kind"] != "GAUSS-HERMITE":  # its images stay in the file
            return _of_file, (self.path,)
        return _from_series, (self._core.series(), self._numbers, self.path, self.header)


class _Projection:
    """The products of `Psf.operator`; what pickles of them is how to make them again."""

    def __init__(self, psf: Psf, grid: Array, first: int, count: int, threads: int) -> None:
        self._arguments = (psf, grid, first, count, threads)
        self._model = _core.ForwardModel(psf._core, grid, first, count)
        self._threads = threads

    def matvec(self, f: Any) -> Array:
        spectra = (self._model.nfiber, self._model.nwave)
        flux = check.finite("f", np.ravel(f), (math.prod(spectra),))
        return self._model.project(flux.reshape(spectra), self._threads).ravel()

    def rmatvec(self, p: Any) -> Array:
        pixels = (self._model.npix_y, self._model.npix_x)
        image = check.finite("p", np.ravel(p), (math.prod(pixels),))
        return self._model.adjoint(image.reshape(pixels), self._threads).ravel()

    def __reduce__(self) -> Any:
        return _Projection, self._arguments


class _HoldsPsf(Protocol):
    """An object of fiberloom.compat."""

    fiberloom_psf: Psf


PsfLike = Union[Psf, _HoldsPsf]


def unwrap(psf: Any) -> Any:
    """The Psf beneath an object of fiberloom.compat; anything else as it is."""
    return getattr(psf, "fiberloom_psf", psf)


def _of_file(path: str) -> Psf:
    """A Psf of another kind than GAUSS-HERMITE, read again."""
    from ._files import read_psf
    return read_psf(path)


def _from_series(series: Dict[str, Tuple[float, float, Array]], numbers: Dict[str, Any], path: str = "",
                 header: Optional[_core.Header] = None) -> Psf:
    """A Psf from Legendre series {parameter: (wave_min, wave_max, coefficients [nfiber][ncoef])}; the header's
    WAVEMIN and WAVEMAX are its default range."""
    checked = {
        name: (check.number(name, low, -math.inf), check.number(name, high, -math.inf),
               check.real(name, coef, ("nfiber", "ncoef")))
        for name, (low, high, coef) in series.items()}
    return Psf(_core.Psf.from_series(checked, numbers, path, header or _core.Header()))
