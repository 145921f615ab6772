# SPDX-License-Identifier: BSD-3-Clause
"""FITS files in and out (docs/fiberloom/formats.md)."""
import dataclasses
from typing import TYPE_CHECKING, List, Literal, Optional, Tuple

import numpy as np

from . import _arguments as check
from . import _core
from ._errors import about
from ._frame import Frame
from ._html import Shown
from ._psf import Psf, PsfLike, unwrap
from ._types import Array, PathLike

if TYPE_CHECKING:
    from ._core import Header, Table


@dataclasses.dataclass(eq=False, repr=False)
class Image(Shown):
    """A preprocessed CCD as in the file.

    Attributes
    ----------
    image : array [npix_y][npix_x]
        Electrons.
    ivar : array [npix_y][npix_x]
        1/electron^2.
    mask : array of uint32 or None
        CCD mask bits; not applied to `ivar`.
    header : Header or None
        Of the HDU IMAGE.
    fibermap : Table or None
        ``fibermap["TARGETID"]`` is a column, ``fibermap.rows`` the structured array.
    readnoise : float or None
        Electrons.
    path : str or None
        The file.
    """

    image: Array
    ivar: Array
    mask: Optional[Array] = None
    header: "Optional[Header]" = None
    fibermap: "Optional[Table]" = None
    readnoise: Optional[float] = None
    path: Optional[str] = None

    def __repr__(self) -> str:
        return f"<fiberloom.Image {self.image.shape[0]} x {self.image.shape[1]} pixels>"

    def _facts(self) -> List[Tuple[str, str]]:
        good = np.count_nonzero(self.ivar > 0)
        camera = None if self.header is None else self.header.get("CAMERA")
        return [("file", str(self.path)), ("camera", str(camera)),
                ("pixels with ivar", f"{good} of {self.ivar.size}"),
                ("mask set", "no mask" if self.mask is None else str(np.count_nonzero(self.mask))),
                ("read noise", str(self.readnoise)), ("fibermap", repr(self.fibermap))]


def read_image(path: PathLike, *, verify: bool = True) -> Image:
    """Reads a preprocessed image (.fits, .fits.gz, .fits.fz; IMAGE, IVAR, MASK by name).

    Parameters
    ----------
    path : path
        The file.
    verify : bool
        Compare CHECKSUM and DATASUM, where the file has them; `FormatError` where they differ.

    Returns
    -------
    Image
        The mask is not applied: ``extract_frame(image.image, image.ivar, psf, mask=image.mask)`` does that.

    Raises
    ------
    NotFoundError
        The file is missing; a FileNotFoundError.
    FormatError
        The file is something else: a PSF, a frame, no FITS file, a truncated one.

    Examples
    --------
    >>> import fiberloom as fl
    >>> small = fl.simulate_frame(nfiber=2, nwave=10)
    >>> fl.write_image("image.fits", fl.Image(small.image, small.ivar))
    >>> fl.read_image("image.fits")
    <fiberloom.Image 233 x 33 pixels>
    """
    name = check.path("path", path)
    with about(name):
        return Image(**_core.read_image(name, check.flag("verify", verify)))


def write_image(path: PathLike, image: Image, *, overwrite: bool = True) -> None:
    """Writes a preprocessed image that `read_image` and the pipeline's readers take; float32.

    Parameters
    ----------
    path : path
        The file to write; it appears whole or not at all.
    image : Image
        What to write.
    overwrite : bool
        Replace a file that exists; else `OutputExistsError`.

    Examples
    --------
    >>> import fiberloom as fl
    >>> small = fl.simulate_frame(nfiber=2, nwave=10)
    >>> fl.write_image("image.fits", fl.Image(small.image, small.ivar, header=fl.Header({"CAMERA": "r0"})))
    >>> fl.read_image("image.fits").header["CAMERA"]
    'r0'
    """
    if not isinstance(image, Image):
        raise TypeError(f"image: expected fiberloom.Image, got {type(image).__name__}")
    pixels = check.real("image", image.image, ("npix_y", "npix_x")).astype(np.float32)
    shape = pixels.shape
    readnoise = image.readnoise
    name, replace = check.path("path", path), check.flag("overwrite", overwrite)
    content = {
        "image": pixels, "ivar": check.real("ivar", image.ivar, shape).astype(np.float32),
        "mask": None if image.mask is None else check.bits("mask", image.mask, shape),
        "header": check.header(image.header), "fibermap": check.fibermap(image.fibermap),
        "readnoise": None if readnoise is None else check.number("readnoise", readnoise, 0)}
    with about(name):
        _core.write_image(name, content, replace)


def read_psf(path: PathLike, *, gh00: Literal["file", "one"] = "file", tails: bool = False,
             verify: bool = True) -> Psf:
    """Reads a PSF: GAUSS-HERMITE version 1, 2 or 3, GAUSS-HERMITE2, SPOTGRID, MONOSPOT or PCA-PIX.

    Parameters
    ----------
    path, verify
        As in `read_image`.
    gh00 : {"file", "one"}
        "file" takes the row GH-0-0 as stored (as the peers do), "one" replaces it by 1.
    tails : bool
        Add the Lorentzian tails (specter does, gpu_specter does not).

    Returns
    -------
    Psf

    Examples
    --------
    >>> import fiberloom as fl
    >>> fl.write_psf("psf.fits", fl.simulate_frame(nfiber=2, nwave=10).psf)
    >>> fl.read_psf("psf.fits").nfiber
    2
    """
    name = check.path("path", path)
    with about(name):
        return Psf(_core.read_psf(name, check.choice("gh00", gh00, ("file", "one")), check.flag("tails", tails),
                                  check.flag("verify", verify)))


def write_psf(path: PathLike, psf: PsfLike, *, overwrite: bool = True) -> None:
    """Writes a PSF as GAUSS-HERMITE version 3.

    Parameters
    ----------
    path, overwrite
        As in `write_image`.
    psf : Psf
        What to write.

    Examples
    --------
    >>> import fiberloom as fl
    >>> fl.write_psf("psf.fits", fl.simulate_frame(nfiber=2, nwave=10).psf)
    """
    psf = unwrap(psf)
    if not isinstance(psf, Psf):
        raise TypeError(f"psf: expected fiberloom.Psf, got {type(psf).__name__}")
    name = check.path("path", path)
    with about(name):
        _core.write_psf(name, psf._core, check.flag("overwrite", overwrite))


def read_frame(path: PathLike, *, verify: bool = True) -> Frame:
    """Reads extracted spectra: those of fiberloom, desispec, spex or exspec.

    Parameters
    ----------
    path, verify
        As in `read_image`.

    Returns
    -------
    Frame

    Raises
    ------
    NotFoundError
        The file is missing; a FileNotFoundError.
    FormatError
        The file holds no spectra.

    Examples
    --------
    >>> import fiberloom as fl
    >>> small = fl.simulate_frame(nfiber=2, nwave=10)
    >>> fl.write_frame("frame.fits", fl.extract_frame(small.image, small.ivar, small.psf, small.wave))
    >>> fl.read_frame("frame.fits")
    <fiberloom.Frame 2 spectra x 10 bins, 6000.0-6007.2 Angstrom>
    """
    name = check.path("path", path)
    with about(name):
        return Frame(**_core.read_frame(name, check.flag("verify", verify)))


def write_frame(path: PathLike, frame: Frame, *, scores: bool = True, overwrite: bool = True) -> None:
    """Writes a frame as desispec does: float32, gzipped when the name ends in .gz.

    Parameters
    ----------
    path, overwrite
        As in `write_image`.
    frame : Frame
        What to write.
    scores : bool
        Add the HDU SCORES.

    Examples
    --------
    >>> import fiberloom as fl
    >>> small = fl.simulate_frame(nfiber=2, nwave=10)
    >>> frame = fl.extract_frame(small.image, small.ivar, small.psf, small.wave)
    >>> fl.write_frame("frame.fits.gz", frame)
    >>> fl.compare(frame, "frame.fits.gz").max_pull < 1e-3
    True
    """
    if not isinstance(frame, Frame):
        raise TypeError(f"frame: expected fiberloom.Frame, got {type(frame).__name__}")
    name = check.path("path", path)
    with about(name):
        _core.write_frame(name, frame._for_core(), check.flag("scores", scores), check.flag("overwrite", overwrite))
