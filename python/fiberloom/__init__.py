# SPDX-License-Identifier: BSD-3-Clause
"""Fiberloom: exact 2-D extraction of multi-fibre spectra.

    import fiberloom as fl
    image, psf = fl.read_image("preproc-r0-00000011.fits.gz"), fl.read_psf("psf-r0-00000011.fits")
    frame = fl.extract_frame(image.image, image.ivar, psf, wave=(5760, 7620, 0.8), mask=image.mask)
    frame.flux, frame.ivar, frame.R(0)

Numbers are float64, flux is electron/Angstrom, wavelengths are vacuum Angstrom, pixels are
[row][column] with an integer at the pixel's centre. `fiberloom.plot` draws, `fiberloom.compat` has
the call signatures of gpu_specter, specter and redrock, `python -m fiberloom` is the command line.
"""
import importlib
from typing import TYPE_CHECKING, Any, List

if TYPE_CHECKING:
    from . import compat as compat
    from . import plot as plot
    from ._calibration_results import Depth as Depth
    from ._calibration_results import FiberFlat as FiberFlat
    from ._calibration_results import FluxCalibration as FluxCalibration
    from ._calibration_results import Quality as Quality
    from ._calibration_results import Sky as Sky
    from ._calibration_results import StandardStars as StandardStars
    from ._calibration import calibrate as calibrate
    from ._calibration import coadd as coadd
    from ._calibration import fiberflat as fiberflat
    from ._calibration import fluxcalib as fluxcalib
    from ._calibration import qa as qa
    from ._calibration import sky as sky
    from ._calibration import stdstars as stdstars
    from ._catalogue import Catalogue as Catalogue
    from ._compare import Comparison as Comparison
    from ._compare import compare as compare
    from ._compare import compare_truth as compare_truth
    from ._core import Header as Header
    from ._core import Table as Table
    from ._depth import depth as depth
    from ._errors import ArgumentError as ArgumentError
    from ._errors import DeviceError as DeviceError
    from ._errors import DiskFullError as DiskFullError
    from ._errors import Error as Error
    from ._errors import FiberloomError as FiberloomError
    from ._errors import FormatError as FormatError
    from ._errors import NotFoundError as NotFoundError
    from ._errors import NumericalError as NumericalError
    from ._errors import OutputError as OutputError
    from ._errors import OutputExistsError as OutputExistsError
    from ._extract import barycentric_factor as barycentric_factor
    from ._extract import extract_file as extract_file
    from ._extract import extract_frame as extract_frame
    from ._files import Image as Image
    from ._files import read_frame as read_frame
    from ._files import read_image as read_image
    from ._files import read_psf as read_psf
    from ._files import write_frame as write_frame
    from ._files import write_image as write_image
    from ._files import write_psf as write_psf
    from ._frame import Frame as Frame
    from ._join import join_frames as join_frames
    from ._plot_redshift import plot_redshift as plot_redshift
    from ._psf import Psf as Psf
    from ._psf import Spots as Spots
    from ._redshift import RedshiftFile as RedshiftFile
    from ._redshift import Redshifts as Redshifts
    from ._redshift import Spectra as Spectra
    from ._redshift import SpectraOfCamera as SpectraOfCamera
    from ._redshift import fit_redshifts as fit_redshifts
    from ._redshift import read_redshifts as read_redshifts
    from ._redshift import read_spectra as read_spectra
    from ._simulate import SimulatedFrame as SimulatedFrame
    from ._simulate import simulate as simulate
    from ._simulate import simulate_frame as simulate_frame

    __version__: str

# What is asked for is imported then: `python -m fiberloom` starts without numpy.
_HOME = {
    "Depth": "_calibration_results", "FiberFlat": "_calibration_results", "FluxCalibration": "_calibration_results", "Quality": "_calibration_results", "Sky": "_calibration_results", "StandardStars": "_calibration_results",
    "calibrate": "_calibration", "coadd": "_calibration", "fiberflat": "_calibration", "fluxcalib": "_calibration", "qa": "_calibration", "sky": "_calibration", "stdstars": "_calibration", "depth": "_depth",
    "Catalogue": "_catalogue", "Comparison": "_compare", "compare": "_compare", "compare_truth": "_compare",
    "Header": "_core", "Table": "_core",
    "ArgumentError": "_errors", "DeviceError": "_errors", "DiskFullError": "_errors", "Error": "_errors",
    "FiberloomError": "_errors", "FormatError": "_errors", "NotFoundError": "_errors",
    "NumericalError": "_errors", "OutputError": "_errors", "OutputExistsError": "_errors",
    "barycentric_factor": "_extract", "extract_file": "_extract", "extract_frame": "_extract",
    "Image": "_files", "read_frame": "_files", "read_image": "_files", "read_psf": "_files",
    "write_frame": "_files", "write_image": "_files", "write_psf": "_files",
    "Frame": "_frame", "join_frames": "_join", "Psf": "_psf", "Spots": "_psf",
    "plot_redshift": "_plot_redshift",
    "RedshiftFile": "_redshift", "Redshifts": "_redshift", "Spectra": "_redshift", "SpectraOfCamera": "_redshift",
    "fit_redshifts": "_redshift", "read_redshifts": "_redshift", "read_spectra": "_redshift",
    "SimulatedFrame": "_simulate", "simulate": "_simulate", "simulate_frame": "_simulate",
}
_MODULES = ("compat", "plot")

__all__ = [*_HOME, *_MODULES, "__version__"]


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return importlib.import_module(f"fiberloom.{name}")
    if name == "__version__":
        value: Any = importlib.import_module("fiberloom._core").version
    elif name in _HOME:
        value = getattr(importlib.import_module(f"fiberloom.{_HOME[name]}"), name)
    else:
        raise AttributeError(f"module 'fiberloom' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> List[str]:
    return sorted(__all__)
