# SPDX-License-Identifier: BSD-3-Clause
"""Simulated data: whole cameras as files, small frames in memory."""
import dataclasses
from typing import List, Literal, Optional, Sequence, Tuple, Union

from . import _arguments as check
from . import _core
from ._errors import about
from ._extract import _progress
from ._html import Shown
from ._psf import Psf
from ._types import Array, PathLike, Progress


def simulate(directory: PathLike, *, cameras: Union[str, Sequence[str]] = "r0", nspec: int = 500,
             exposures: int = 1, seed: int = 1, psf: Optional[PathLike] = None, defects: bool = False,
             truth_grid: Literal["fine", "extraction"] = "fine", overwrite: bool = True,
             threads: Optional[int] = None, progress: Progress = None) -> List[str]:
    """``fiberloom simulate`` as a function: a DESI-like camera without any outside file.

    Parameters
    ----------
    directory : path
        Gets psf-CAM.fits, preproc-CAM-EXPID.fits and truth-CAM-EXPID.fits.
    cameras : str or list of str
        "r0", "b0,r0" or a list.
    nspec : int
        Lit fibres.
    exposures : int
        Exposures of each camera.
    seed : int
        Same seed, same bytes.
    psf : path, optional
        PSF to use.
    defects : bool
        Dead columns and blocks, saturated rows.
    truth_grid : {"fine", "extraction"}
        Where the light is: in bins of half the size, as a sky's lines are off the bin centres (pulls against the
        truth are then wide where lines are bright), or on the grid of the extraction, with which its model holds exactly.
    overwrite : bool
        Replace files that exist.
    threads : int, optional
        Default what the machine and the batch system grant.
    progress : function, optional
        Called as ``progress(stage, done, total)`` for every exposure.

    Returns
    -------
    list of str
        Paths of the files.

    Examples
    --------
    >>> import fiberloom as fl
    >>> narrow = fl.simulate_frame(nfiber=1, nwave=2326, wave_first=5760.0)  # a CCD of one fibre
    >>> fl.write_psf("narrow.fits", narrow.psf)
    >>> fl.simulate("night", cameras="r0", nspec=1, psf="narrow.fits")
    ['night/psf-r0.fits', 'night/preproc-r0-00000001.fits', 'night/truth-r0-00000001.fits']
    """
    names = cameras.split(",") if isinstance(cameras, str) else cameras
    if not isinstance(names, (list, tuple)) or not names or not all(isinstance(name, str) for name in names):
        raise TypeError(f"cameras: expected names such as 'r0', got {cameras!r}")
    options = {
        "directory": check.path("directory", directory), "cameras": list(names),
        "nspec": check.integer("nspec", nspec, 1),
        "exposures": check.integer("exposures", exposures, 1),
        "seed": check.integer("seed", seed, 0, 2**64 - 1),
        "psf": "" if psf is None else check.path("psf", psf), "defects": check.flag("defects", defects),
        "truth_grid": check.choice("truth_grid", truth_grid, ("fine", "extraction")),
        "overwrite": check.flag("overwrite", overwrite)}
    with about(str(options["directory"]), str(options["psf"])):
        return _core.simulate(options, check.threads(threads), _progress(progress))


@dataclasses.dataclass(eq=False, repr=False)
class SimulatedFrame(Shown):
    """A small CCD whose truth is exact: image = A electrons + noise. Can be pickled.

    Attributes
    ----------
    image, ivar, mean : array [npix_y][npix_x]
        Electrons and 1/electron^2; mean is without noise.
    wave : array [nwave]
        Angstrom, the grid to extract.
    lit_wave : array
        All bins that hold light, around it; lit_wave[first_bin] is wave[0].
    first_bin : int
    electrons : array [nfiber][lit_wave.size]
        Per bin.
    psf : Psf
    """

    image: Array
    ivar: Array
    mean: Array
    wave: Array
    lit_wave: Array
    first_bin: int
    electrons: Array
    psf: Psf

    @property
    def truth(self) -> Array:
        """[nfiber][nwave] electrons per bin on `wave`."""
        return self.electrons[:, self.first_bin:self.first_bin + self.wave.size]

    def __repr__(self) -> str:
        return (f"<fiberloom.SimulatedFrame {self.electrons.shape[0]} fibres x {self.wave.size} bins "
                f"on {self.image.shape[0]} x {self.image.shape[1]} pixels>")

    def _facts(self) -> List[Tuple[str, str]]:
        return [("fibres", str(self.electrons.shape[0])), ("bins", str(self.wave.size)),
                ("wavelengths", f"{self.wave[0]:.3f} to {self.wave[-1]:.3f} Angstrom"), ("PSF", repr(self.psf))]


def simulate_frame(*, nfiber: int = 25, nwave: int = 200, wave_first: float = 6000.0,
                   step: float = 0.8, noise: bool = True, readnoise: float = 3.0, seed: int = 1,
                   threads: Optional[int] = None) -> SimulatedFrame:
    """A frame small enough for a notebook or a test, in memory: sky-like light, Poisson and read noise.

    Parameters
    ----------
    nfiber, nwave : int
        Fibres, and bins of the grid to extract.
    wave_first, step : float
        Angstrom.
    noise : bool
        With noise.
    readnoise : float
        Electrons.
    seed : int
        Same seed, same bytes.
    threads : int, optional
        Default what the machine and the batch system grant.

    Returns
    -------
    SimulatedFrame

    Examples
    --------
    >>> import fiberloom as fl
    >>> fl.simulate_frame(nfiber=5, nwave=20)
    <fiberloom.SimulatedFrame 5 fibres x 20 bins on 250 x 55 pixels>
    """
    result = _core.simulate_frame({
        "nfiber": check.integer("nfiber", nfiber, 1, 1000),
        "nwave": check.integer("nwave", nwave, 1, 10000),
        "wave_first": check.number("wave_first", wave_first, 1000, 1e5),
        "step": check.number("step", step, 0.1, 100), "noise": check.flag("noise", noise),
        "readnoise": check.number("readnoise", readnoise, 1e-3, 1e6),
        "seed": check.integer("seed", seed, 0, 2**64 - 1)}, check.threads(threads))
    result["psf"] = Psf(result["psf"])
    return SimulatedFrame(**result)
