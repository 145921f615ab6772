# SPDX-License-Identifier: BSD-3-Clause
"""FITS files in and out (docs/formats.md)."""
import dataclasses
from typing import TYPE_CHECKING, Any, Optional

import numpy as np
import numpy.typing as npt

from . import _arguments as check
from . import _core
from ._frame import Frame
from ._psf import Psf

if TYPE_CHECKING:
    from ._core import Header, Table

Array = npt.NDArray[Any]


@dataclasses.dataclass(eq=False, repr=False)
class Image:
    """A preprocessed CCD as in the file.

    image: [npix_y][npix_x] electrons. ivar: 1/electron^2. mask: uint32, or None. header: of IMAGE.
    fibermap: Table or None; fibermap.rows is a structured array. readnoise: electrons, or None.
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


def read_image(path: Any, *, verify: bool = True) -> Image:
    """Reads a preprocessed image (.fits, .fits.gz, .fits.fz; IMAGE, IVAR, MASK by name). The mask is
    not applied: extract_frame(image.image, image.ivar, psf, mask=image.mask) does that.

    verify: compare CHECKSUM and DATASUM, where the file has them; Error where they differ."""
    return Image(**_core.read_image(check.path("path", path), check.flag("verify", verify)))


def write_image(path: Any, image: Image, *, overwrite: bool = True) -> None:
    """Writes a preprocessed image that read_image and the pipeline's readers take; float32."""
    if not isinstance(image, Image):
        raise TypeError(f"image: expected fiberloom.Image, got {type(image).__name__}")
    pixels = check.real("image", image.image, ("npix_y", "npix_x")).astype(np.float32)
    shape = pixels.shape
    readnoise = image.readnoise
    _core.write_image(check.path("path", path), {
        "image": pixels, "ivar": check.real("ivar", image.ivar, shape).astype(np.float32),
        "mask": None if image.mask is None else check.bits("mask", image.mask, shape),
        "header": image.header, "fibermap": image.fibermap,
        "readnoise": None if readnoise is None else check.number("readnoise", readnoise, 0),
    }, check.flag("overwrite", overwrite))


def read_psf(path: Any, *, gh00: str = "file", tails: bool = False, verify: bool = True) -> Psf:
    """Reads a GAUSS-HERMITE PSF, version 1, 2 or 3.

    gh00: "file" takes the row GH-0-0 as stored (as the peers do), "one" replaces it by 1.
    tails: add the Lorentzian tails (specter does, gpu_specter does not).
    verify: compare CHECKSUM and DATASUM, where the file has them; Error where they differ.
    """
    return Psf(_core.read_psf(check.path("path", path), check.choice("gh00", gh00, ("file", "one")),
                              check.flag("tails", tails), check.flag("verify", verify)))


def write_psf(path: Any, psf: Psf, *, overwrite: bool = True) -> None:
    """Writes a PSF as GAUSS-HERMITE version 3."""
    if not isinstance(psf, Psf):
        raise TypeError(f"psf: expected fiberloom.Psf, got {type(psf).__name__}")
    _core.write_psf(check.path("path", path), psf._core, check.flag("overwrite", overwrite))


def read_frame(path: Any, *, verify: bool = True) -> Frame:
    """Reads extracted spectra: those of fiberloom, desispec, spex or exspec.

    verify: compare CHECKSUM and DATASUM, where the file has them; Error where they differ."""
    return Frame(**_core.read_frame(check.path("path", path), check.flag("verify", verify)))


def write_frame(path: Any, frame: Frame, *, scores: bool = True, overwrite: bool = True) -> None:
    """Writes a frame as desispec does (float32; gzipped when the name ends in .gz). The file appears
    whole or not at all; `scores` adds the HDU SCORES."""
    if not isinstance(frame, Frame):
        raise TypeError(f"frame: expected fiberloom.Frame, got {type(frame).__name__}")
    _core.write_frame(check.path("path", path), frame._for_core(), check.flag("scores", scores),
                      check.flag("overwrite", overwrite))
