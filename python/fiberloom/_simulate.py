# SPDX-License-Identifier: BSD-3-Clause
"""Simulated data: whole cameras as files, small frames in memory."""
import dataclasses
from typing import Any, List, Optional, Sequence, Union

import numpy.typing as npt

from . import _arguments as check
from . import _core
from ._extract import Progress, _progress
from ._psf import Psf

Array = npt.NDArray[Any]


def simulate(directory: Any, *, cameras: Union[str, Sequence[str]] = "r0", nspec: int = 500,
             exposures: int = 1, seed: int = 1, psf: Any = None, defects: bool = False,
             truth_grid: str = "fine", overwrite: bool = True, threads: Optional[int] = None,
             progress: Progress = None) -> List[str]:
    """`fiberloom simulate` as a function: a DESI-like camera without any outside file.

    Writes psf-CAM.fits, preproc-CAM-EXPID.fits and truth-CAM-EXPID.fits below `directory` and
    returns their paths. cameras: "r0", "b0,r0" or a list. nspec: lit fibres. psf: path of a PSF to
    use. defects: dead columns and blocks, saturated rows. truth_grid: "fine", or "extraction", with
    which the model of the extraction holds exactly. Same seed, same bytes.
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
    return _core.simulate(options, check.threads(threads), _progress(progress))


@dataclasses.dataclass(eq=False, repr=False)
class SimulatedFrame:
    """A small CCD whose truth is exact: image = A electrons + noise.

    image, ivar, mean: [npix_y][npix_x], electrons and 1/electron^2; mean is without noise.
    wave: [nwave] Angstrom, the grid to extract. lit_wave: all bins that hold light, around it;
    lit_wave[first_bin] is wave[0]. electrons: [nfiber][lit_wave.size], per bin. psf: Psf.
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


def simulate_frame(*, nfiber: int = 25, nwave: int = 200, wave_first: float = 6000.0,
                   step: float = 0.8, noise: bool = True, readnoise: float = 3.0, seed: int = 1,
                   threads: Optional[int] = None) -> SimulatedFrame:
    """A frame small enough for a notebook or a test, in memory: nfiber fibres, nwave bins of `step`
    Angstrom from wave_first on, sky-like light, Poisson and read noise (electrons)."""
    result = _core.simulate_frame({
        "nfiber": check.integer("nfiber", nfiber, 1, 1000),
        "nwave": check.integer("nwave", nwave, 1, 10000),
        "wave_first": check.number("wave_first", wave_first, 1000, 1e5),
        "step": check.number("step", step, 0.1, 100), "noise": check.flag("noise", noise),
        "readnoise": check.number("readnoise", readnoise, 1e-3, 1e6),
        "seed": check.integer("seed", seed, 0, 2**64 - 1)}, check.threads(threads))
    result["psf"] = Psf(result["psf"])
    return SimulatedFrame(**result)
