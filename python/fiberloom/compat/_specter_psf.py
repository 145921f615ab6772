# SPDX-License-Identifier: BSD-3-Clause
"""specter's PSF object on a fiberloom.Psf: the same methods, arguments, shapes and rules. It knows nothing of
extraction."""
import sys
from typing import Any, Dict, Iterator, List, Optional, Tuple

import numpy as np
import numpy.typing as npt
from numpy.polynomial import legendre as _legendre

from .._psf import Psf

Array = npt.NDArray[Any]
legendre: Any = _legendre  # numpy 1.26 has no types for it
_INVERSE_SAMPLES = 1000  # specter's inverse of y(wavelength): a fit of this many points, two degrees higher


def _is_integer(value: Any) -> bool:
    return isinstance(value, (int, np.integer))


class TraceSet:
    """Legendre series, one a fibre: coefficients [nspec][deg + 1] on a domain."""

    def __init__(self, coeff: Any, domain: Tuple[float, float] = (-1.0, 1.0)) -> None:
        self._coeff = np.array(coeff, dtype=float)
        self._xmin, self._xmax = float(domain[0]), float(domain[1])

    @property
    def ntrace(self) -> int:
        """Number of fibres."""
        return int(self._coeff.shape[0])

    def eval(self, ispec: Any, x: Any) -> Any:
        """Values at x. ispec: an integer gives the shape of x; None (all), a list or an array give
        [n] + the shape of x; a tuple (first, last) is a range, last not included."""
        u = (np.asarray(x, dtype=float) - self._xmin) * (2.0 / (self._xmax - self._xmin)) - 1.0
        if _is_integer(ispec):
            return legendre.legval(u, self._coeff[ispec])
        if ispec is None:
            chosen = self._coeff
        elif isinstance(ispec, tuple):
            chosen = self._coeff[ispec[0]:ispec[1]]
        else:
            chosen = self._coeff[np.asarray(ispec, dtype=int)]
        return np.array([legendre.legval(u, c) for c in chosen])

    def invert(self, domain: Any = None, deg: Optional[int] = None) -> "TraceSet":
        """x of y, fitted with a polynomial of degree `deg`, by default two above this one's length; `domain` is ignored."""
        del domain
        ends = self.eval(None, np.array([self._xmin, self._xmax]))
        low, high = float(ends.min()), float(ends.max())
        x = np.linspace(self._xmin, self._xmax, _INVERSE_SAMPLES)
        degree = self._coeff.shape[1] + 2 if deg is None else deg
        scaled = (self.eval(None, x) - low) * (2.0 / (high - low)) - 1.0
        return TraceSet([legendre.legfit(u, x, degree) for u in scaled], (low, high))


class _Box:
    """Pixels [y0, y1) x [x0, x1) of a spot, cut to a window of the CCD."""

    def __init__(self, x0: int, y0: int, shape: Tuple[int, int], window: Tuple[int, int, int, int]) -> None:
        self.xmin, xmax, self.ymin, ymax = window
        self.x0, self.x1 = max(x0, self.xmin), min(x0 + shape[1], xmax)
        self.y0, self.y1 = max(y0, self.ymin), min(y0 + shape[0], ymax)
        self.empty = self.x0 >= self.x1 or self.y0 >= self.y1
        self.cut = np.s_[self.y0 - y0:self.y1 - y0, self.x0 - x0:self.x1 - x0]
        self.slices = (slice(self.x0 - self.xmin, self.x1 - self.xmin),
                       slice(self.y0 - self.ymin, self.y1 - self.ymin))


def _sigma_of(profile: Array) -> float:
    """Width of the Gaussian, integrated over pixels, that is nearest to a spot's profile."""
    import scipy.optimize
    import scipy.special
    light = profile / profile.sum()
    pixel = np.arange(light.size)
    edges = np.arange(light.size + 1) - 0.5
    mean = float(light @ pixel)

    def gaussian(_: Any, center: float, sigma: float) -> Any:
        return np.diff(0.5 * scipy.special.erf((edges - center) / (np.sqrt(2.0) * sigma)))

    start = (mean, max(float(np.sqrt(max(light @ (pixel - mean) ** 2, 0.0))), 0.3))
    return float(abs(scipy.optimize.curve_fit(gaussian, pixel, light, p0=start)[0][1]))


class SpecterPsf:
    """What specter.psf.load_psf() gives for a file, of any kind that Fiberloom reads. `fiberloom_psf` is the fiberloom.Psf beneath,
    whose project() is some twenty times faster than this one's."""

    def __init__(self, psf: Psf) -> None:
        self.fiberloom_psf = psf
        self.npix_y, self.npix_x = psf.shape
        self.nspec = psf.nfiber
        self.psferr = psf.psferr
        self.coeff: Dict[str, TraceSet] = {
            name: TraceSet(values, (low, high)) for name, (low, high, values) in psf._core.series().items()}
        self._x, self._y = self.coeff["X"], self.coeff["Y"]
        self._w = self._y.invert()
        numbers = psf._numbers
        self._kind = str(numbers.get("kind", "GAUSS-HERMITE"))
        self._widths: Dict[Tuple[int, int], Any] = {}
        self._polyparams: Dict[str, Any] = {
            "PSFTYPE": self._kind, "NPIX_X": self.npix_x, "NPIX_Y": self.npix_y,
            "HSIZEX": numbers["hsize_x"], "HSIZEY": numbers["hsize_y"],
            "GHDEGX": numbers["gh_deg_x"], "GHDEGY": numbers["gh_deg_y"],
            "FIBERMIN": numbers["fiber_min"], "FIBERMAX": numbers["fiber_min"] + self.nspec - 1}
        self._wmin_spec: Array = self.wavelength(None, -0.5)
        self._wmax_spec: Array = self.wavelength(None, self.npix_y - 0.5)

    @property
    def wmin(self) -> float:
        """Smallest wavelength on the CCD, any fibre."""
        return float(self._wmin_spec.min())

    @property
    def wmax(self) -> float:
        """Largest wavelength on the CCD, any fibre."""
        return float(self._wmax_spec.max())

    @property
    def wmin_all(self) -> float:
        """Smallest wavelength that all fibres have on the CCD."""
        return float(self._wmin_spec.max())

    @property
    def wmax_all(self) -> float:
        """Largest wavelength that all fibres have on the CCD."""
        return float(self._wmax_spec.min())

    def x(self, ispec: Any = None, wavelength: Any = None) -> Any:
        """Column of the trace; ispec: integer, list or None (all); wavelength: number, array, or None (every row)."""
        if wavelength is not None:
            return self._x.eval(ispec, wavelength)
        if _is_integer(ispec):
            return self._x.eval(ispec, self.wavelength(ispec))
        chosen = range(self.nspec) if ispec is None else ispec
        return np.array([self._x.eval(i, self.wavelength(i)) for i in chosen])

    def y(self, ispec: Any = None, wavelength: Any = None) -> Any:
        """Row of the trace, as x(); a wavelength is needed."""
        if wavelength is None:
            raise ValueError("wavelength: expected a number or an array, got None")
        return self._y.eval(ispec, wavelength)

    def xy(self, ispec: Any = None, wavelength: Any = None) -> Tuple[Any, Any]:
        """x() and y()."""
        return self.x(ispec, wavelength), self.y(ispec, wavelength)

    def wavelength(self, ispec: Any = None, y: Any = None) -> Any:
        """Wavelength of row y (default: every row), as x()."""
        return self._w.eval(ispec, np.arange(self.npix_y) if y is None else y)

    def angstroms_per_pixel(self, ispec: int, wavelength: Any) -> Any:
        """Height of a CCD row in Angstrom."""
        rows = self.wavelength(ispec)
        return np.interp(wavelength, rows, np.gradient(rows))

    def xsigma(self, ispec: Any, wavelength: Any) -> Any:
        """Width across the trace, pixels: GHSIGX, or of other kinds that of the spots."""
        return self._sigma("GHSIGX", 0, ispec, wavelength)

    def ysigma(self, ispec: Any, wavelength: Any) -> Any:
        """Width along the trace, pixels, as xsigma()."""
        return self._sigma("GHSIGY", 1, ispec, wavelength)

    def _sigma(self, name: str, axis: int, ispec: Any, wavelength: Any) -> Any:
        """Of kinds without such a series: specter's rule, a polynomial of degree 5 through the widths of 20 spots."""
        if self._kind == "GAUSS-HERMITE":
            return self.coeff[name].eval(ispec, wavelength)
        if (ispec, axis) not in self._widths:
            wave = self.wavelength(ispec, y=np.linspace(10, self.npix_y - 10, 20))
            sigma = [_sigma_of(self.pix(ispec, float(w)).sum(axis=axis)) for w in wave]
            self._widths[ispec, axis] = legendre.Legendre.fit(wave, sigma, 5)
        return self._widths[ispec, axis](wavelength)

    def wdisp(self, ispec: int, wavelength: Any) -> Any:
        """ysigma() in Angstrom."""
        return self.angstroms_per_pixel(ispec, wavelength) * self.ysigma(ispec, wavelength)

    def pix(self, ispec: int, wavelength: float) -> Array:
        """The spot, [iy][ix], cut at the edges of the CCD."""
        return self.xypix(ispec, wavelength)[2]

    def _xypix(self, ispec: int, wavelength: float, ispec_cache: Any = None,
               iwave_cache: Any = None) -> Tuple[slice, slice, Array]:
        """The whole spot, wherever it falls."""
        spots = self.fiberloom_psf.spots([wavelength], [ispec], threads=1)
        value, y0, x0 = spots.value[0, 0], int(spots.y0[0, 0]), int(spots.x0[0, 0])
        return slice(x0, x0 + value.shape[1]), slice(y0, y0 + value.shape[0]), value

    def xypix(self, ispec: int, wavelength: float, xmin: int = 0, xmax: Optional[int] = None, ymin: int = 0,
              ymax: Optional[int] = None, ispec_cache: Any = None,
              iwave_cache: Any = None) -> Tuple[slice, slice, Array]:
        """(xslice, yslice, pixels[iy][ix]) of the spot within the window, slices counted from xmin and ymin:
        image[yslice, xslice] += photons * pixels. Empty, (0, 0), where the spot misses it."""
        right = self.npix_x if xmax is None else xmax
        top = self.npix_y if ymax is None else ymax
        nothing = np.zeros((0, 0))
        if wavelength < self._wmin_spec[ispec]:
            return slice(0, 0), slice(0, 0), nothing
        if wavelength > self._wmax_spec[ispec]:
            return slice(0, 0), slice(top, top), nothing
        xx, yy, pixels = self._xypix(ispec, wavelength)
        box = _Box(xx.start, yy.start, (pixels.shape[0], pixels.shape[1]), (xmin, right, ymin, top))
        if not box.empty:
            return (*box.slices, pixels[box.cut])
        edge_y = top if yy.start >= top else ymin if yy.stop <= ymin else 0
        edge_x = 0 if edge_y else right if xx.start >= right else xmin if xx.stop <= xmin else 0
        return slice(edge_x, edge_x), slice(edge_y, edge_y), nothing

    def _on_ccd(self, ispec: int, low: float, high: float, bottom: float) -> Tuple[Array, Array]:
        """Columns and wavelengths of a trace between two wavelengths, one a row and both ends."""
        rows = self.wavelength(ispec)
        wave = np.concatenate((rows[(low <= rows) & (rows <= high)], (low, high)))
        x, y = self.xy(ispec, wave)
        inside = (bottom <= y) & (y < self.npix_y - 0.5)
        return x[inside], wave[inside]

    def xyrange(self, spec_range: Any, wavelengths: Any) -> Tuple[int, int, int, int]:
        """(xmin, xmax, ymin, ymax): pixels that cover these spectra. spec_range: (first, last), last not included,
        or one; wavelengths: (first, last) or a sorted array, or one."""
        first, last = (spec_range, spec_range + 1) if _is_integer(spec_range) else spec_range
        ends = np.atleast_1d(wavelengths)
        low, high = max(float(ends[0]), self.wmin), min(float(ends[-1]), self.wmax)
        lowest = int(first + np.argmin(self.y(None, low)[first:last]))
        highest = int(first + np.argmax(self.y(None, high)[first:last]))
        ymin = self.xypix(lowest, low)[1].start
        ymax = self.xypix(highest, high)[1].stop
        x, wave = self._on_ccd(first, low, high, 0.5)
        xmin = 0 if x.min() < 0 else self.xypix(first, float(wave[x.argmin()]))[0].start
        x, wave = self._on_ccd(last - 1, low, high, -0.5)
        xmax = self.npix_x if x.max() > self.npix_x else self._xypix(last - 1, float(wave[x.argmax()]))[0].stop
        return int(xmin), int(xmax), int(ymin), int(ymax)

    def _spots(self, ispec: int, wave: Array, window: Tuple[int, int, int, int]) -> Iterator[Tuple[int, _Box, Array]]:
        """(index, box, pixels) of the spots of one fibre that fall into the window."""
        on_ccd = np.flatnonzero((self._wmin_spec[ispec] <= wave) & (wave <= self._wmax_spec[ispec]))
        if on_ccd.size == 0:
            return
        spots = self.fiberloom_psf.spots(wave[on_ccd], [ispec])
        for k, j in enumerate(on_ccd):
            pixels = spots.value[0, k]
            box = _Box(int(spots.x0[0, k]), int(spots.y0[0, k]), pixels.shape, window)
            if not box.empty:
                yield int(j), box, pixels[box.cut]

    def project(self, wavelength: Any, phot: Any, specmin: int = 0, xyrange: Any = None,
                verbose: bool = False) -> Array:
        """The CCD of spectra. phot: [nwave], [nspec][nwave] or [nimage][nspec][nwave] photons per bin;
        wavelength: [nwave] or [nspec][nwave]. [ny][nx], or [nimage][ny][nx] for three dimensions."""
        wave, photons = np.asarray(wavelength, dtype=float), np.asarray(phot, dtype=float)
        if specmin >= self.nspec:
            raise ValueError(f"specmin: expected a fibre from 0 to {self.nspec - 1}, got {specmin}")
        if photons.shape[-1] != wave.shape[-1]:
            raise ValueError(f"phot: expected {wave.shape[-1]} wavelengths, got shape {photons.shape}")
        cube = np.atleast_2d(photons)
        cube = cube if cube.ndim == 3 else cube[np.newaxis]
        if specmin + cube.shape[1] > self.nspec:
            print(f"WARNING: fibres {self.nspec} to {specmin + cube.shape[1] - 1} are not in the PSF",
                  file=sys.stderr)
        window = (0, self.npix_x, 0, self.npix_y) if xyrange is None else tuple(int(v) for v in xyrange)
        xmin, xmax, ymin, ymax = window
        image = np.zeros((cube.shape[0], ymax - ymin, xmax - xmin))
        for i in range(min(cube.shape[1], self.nspec - specmin)):
            if verbose:
                print(specmin + i)
            grid = wave[i] if wave.ndim == 2 else wave
            low, high = self.wavelength(specmin + i, y=np.array([0, self.npix_y]))
            lit = np.flatnonzero(np.any(cube[:, i] != 0, axis=0) & (low <= grid) & (grid <= high))
            for j, box, pixels in self._spots(specmin + i, grid[lit], (xmin, xmax, ymin, ymax)):
                for k in range(cube.shape[0]):
                    image[k][box.slices[1], box.slices[0]] += pixels * cube[k, i, lit[j]]
        return image if photons.ndim == 3 else image[0]

    def projection_matrix(self, spec_range: Any, wavelengths: Any, xyrange: Any, use_cache: Any = None) -> Any:
        """A as scipy.sparse.csr_matrix: (A @ photons.ravel()).reshape(ny, nx) is the image of the window."""
        import scipy.sparse
        first, last = (spec_range, spec_range + 1) if _is_integer(spec_range) else spec_range
        wave = np.asarray(wavelengths, dtype=float)
        xmin, xmax, ymin, ymax = (int(v) for v in xyrange)
        nx, ny = xmax - xmin, ymax - ymin
        pixel = np.arange(ny * nx).reshape(ny, nx)
        rows: List[Array] = []
        columns: List[Array] = []
        values: List[Array] = []
        for i in range(first, last):
            for j, box, pixels in self._spots(i, wave, (xmin, xmax, ymin, ymax)):
                keep = pixels.ravel() != 0
                rows.append(pixel[box.slices[1], box.slices[0]].ravel()[keep])
                columns.append(np.full(rows[-1].size, (i - first) * wave.size + j))
                values.append(pixels.ravel()[keep])
        shape = (ny * nx, (last - first) * wave.size)
        if not rows:
            return scipy.sparse.csr_matrix(shape)
        entries = (np.concatenate(values), (np.concatenate(rows), np.concatenate(columns)))
        return scipy.sparse.coo_matrix(entries, shape=shape).tocsr()

    def cache_params(self, specrange: Any, wavelengths: Any) -> None:
        """Nothing to do: no series is kept."""

    def shift_xy(self, dx: Any, dy: Any) -> None:
        """Not there, as in specter."""
        raise NotImplementedError("shift_xy: moving the traces is not implemented")

    def __repr__(self) -> str:
        return f"<fiberloom.compat.specter.SpecterPsf of {self.fiberloom_psf!r}>"
