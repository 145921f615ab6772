# SPDX-License-Identifier: BSD-3-Clause
"""Steps of a reconstruction on arrays: the same text that `tomoloom recon` runs on files."""
import warnings
from typing import Any, Optional, Tuple

import numpy as np
import numpy.typing as npt

from . import _arguments as arguments
from . import _core
from ._errors import ArgumentError

_END = 1.0  # columns from the ends of where an axis is looked for: what is found there is not to be believed
_SEARCHED_ROWS = 8
_BLOCKED = ("osem", "ospml_quad", "ospml_hybrid", "bart")


def normalize(projections: Any, flats: Any, darks: Any = 0, *, averaging: str = "mean", log: bool = True,
              threads: Optional[int] = None) -> arguments.Floats:
    """Line integrals (or transmissions) of counts.

    p = -log(max(t, 1e-6)), t = (counts - dark) / (flat - dark); of a pixel whose flat is not above its dark, and of
    values that are not numbers, t is 1, so that the result is finite.

    Parameters
    ----------
    projections : array [angle][row][column]
        Counts; 16-bit ones are taken as they are.
    flats, darks : array [frame][row][column] or [row][column], or a number
        Without and with the beam closed.
    averaging : str
        "mean" or "median", of flats and of darks.
    log : bool
        False: transmissions.
    threads : int, optional
        Default: what the machine and the batch system grant.
    """
    counts = arguments.stack("projections", projections)
    shape = counts.shape[1:]
    frames = (arguments.frame("flats", flats, shape, averaging), arguments.frame("darks", darks, shape, averaging),
              bool(log), arguments.threads(threads))
    if counts.dtype == np.uint16:
        return _core.normalize_counts(np.ascontiguousarray(counts), *frames)
    return _core.normalize_floats(arguments.floats("projections", counts), *frames)


def remove_stripe(integrals: Any, method: str = "sf", *, threads: Optional[int] = None,
                  **parameters: Any) -> arguments.Floats:
    """Sinograms without stripes, which become rings.

    Parameters
    ----------
    integrals : array [angle][row][column]
        Values that are not numbers count as 0, as in recon().
    method : str
        "sf", "ti", "fw", "sorting", "filtering", "fitting", "interpolation", "large", "dead" or "all".
    size, large_size, snr, drop, sigma, sigma_x, sigma_y, order, alpha, blocks, level : number, optional
        What `tomoloom recon` calls --stripe-size and so on. A warning tells of those that are not of the method.
    """
    out = arguments.own_floats("integrals", integrals)
    arguments.counting_as(out, 0)
    names = {f"stripe_{name}": name for name in parameters}
    options = arguments.texts({"stripe": method, **{key: parameters[name] for key, name in names.items()}})
    arguments.tell_idle(options, {"stripe": "method", **names})
    _core.remove_stripes(out, options, arguments.threads(threads))
    return out


def remove_outlier(transmissions: Any, dif: float, size: int = 3, *,
                   threads: Optional[int] = None) -> arguments.Floats:
    """Values that are `dif` or more above the median of the `size` x `size` around them (angles x columns) become
    that median. Those that are not numbers stay, and count as 0 for others."""
    given = arguments.stack("transmissions", transmissions)
    out = arguments.own_floats("transmissions", given)
    none = arguments.counting_as(out, 0)
    _core.remove_outliers(out, arguments.number("dif", dif), arguments.integer("size", size, 1, 99),
                          arguments.threads(threads))
    out[none] = given[none]
    return out


def retrieve_phase(transmissions: Any, pixel_size: float = 1e-4, distance: float = 50.0, energy: float = 20.0,
                   alpha: float = 1e-3, *, delta_beta: float = 0.0, method: str = "paganin", pad: bool = True,
                   threads: Optional[int] = None) -> arguments.Floats:
    """Transmissions [angle][row][column] of a body of one material, without the fringes of the way to the detector.

    Each projection through alpha / (lambda z f^2 / (4 pi) + alpha), f in cycles a centimetre; alpha is
    beta / (4 pi^2 delta) of the material (Paganin et al. 2002). The negative logarithm is the next step.

    Parameters
    ----------
    transmissions : array [angle][row][column]
        Values that are not numbers count as 1, as in normalize(): one would spread over two projections.
    pixel_size, distance, energy : float
        Of the detector, cm; from body to detector, cm; of the beam, keV.
    alpha : float
        Or `delta_beta`, which takes its place where it is above 0.
    method : str
        "paganin", or "tomopy": with the numbers of its function, whose frequencies are half a step off.
    pad : bool
        False: as TomoPy's, of "tomopy" alone.
    """
    if method not in ("paganin", "tomopy"):
        raise ValueError(f"method: expected 'paganin' or 'tomopy', got {method!r}")
    out = arguments.own_floats("transmissions", transmissions)
    arguments.counting_as(out, 1)
    options = arguments.texts({"phase": method, "phase_energy": arguments.number("energy", energy),
                               "phase_distance": arguments.number("distance", distance),
                               "phase_pixel": arguments.number("pixel_size", pixel_size),
                               "phase_alpha": arguments.number("alpha", alpha),
                               "phase_delta_beta": arguments.number("delta_beta", delta_beta),
                               "phase_unpadded": "false" if pad else "true"})
    arguments.tell_idle(options, {"phase": "method", "phase_alpha": "alpha", "phase_delta_beta": "delta_beta",
                                  "phase_unpadded": "pad=False"})
    _core.retrieve_phase(out, options, arguments.threads(threads))
    return out


def recon(integrals: Any, theta: Any, center: Any = None, *, method: str = "exact", filter: str = "shepp",
          filter_cutoff: float = 0.5, filter_order: float = 8.0, filter_weights: Any = None, iterations: int = 100,
          blocks: int = 1, block_order: Any = None, reg_par: float = 0.0,
          reg_edge: float = 1.0, gram: str = "rays", tilt: float = 0.0, backend: str = "auto", sinograms: bool = False,
          threads: Optional[int] = None) -> arguments.Floats:
    """Slices of line integrals: [row][columns][columns], attenuation a pixel.

    Parameters
    ----------
    integrals : array [angle][row][column], or [row][angle][column] with `sinograms`
        Values that are not numbers count as 0.
    theta : array
        Radians, one for every projection.
    center : float or array, optional
        Column that the axis is projected to, from 0; one, or one for each row. Default: the middle, (columns - 1)/2.
    method, filter, filter_cutoff, filter_order, iterations, blocks, reg_par, reg_edge, gram
        As `tomoloom recon` has them: "exact", "gridrec", "fbp", "sirt", "cgls", "mlem", "osem", "tv", "tikh", "grad",
        "pml_quad", "pml_hybrid", "ospml_quad", "ospml_hybrid", "bart", "art". A warning tells of those that are not of
        the method.
    filter_weights : array, optional
        Of filter "custom" what each frequency of a padded line is multiplied by, ramp included, from 0 to below half a
        cycle a pixel; of "custom2d" [angle][frequency]. The line has next_power_of_2(columns) points with "gridrec",
        at least twice as many as columns with the others (an error says how many).
    block_order : array, optional
        With `blocks`: all projections, by number, as they go into one block after the other, of which the first have
        one more where not all are as long. Default: each `blocks`-th projection goes into one. An error with a
        method that has none.
    tilt : float, optional
        Degrees that the axis is tilted along the beam; `center` is one for all rows then.
    backend : {"auto", "cpu", "cuda"}
        Where "exact" and "gridrec" are computed: on a card where the package was built for one and one is there.
    """
    data = arguments.floats("integrals", integrals)
    angles = arguments.turning("theta", theta, data.shape[1 if sinograms else 0])
    centers = np.atleast_1d(np.asarray((data.shape[2] - 1) / 2 if center is None else center, dtype=np.float64))
    options = arguments.texts({"method": method, "filter": filter,
                               "filter_cutoff": arguments.number("filter_cutoff", filter_cutoff),
                               "filter_order": arguments.number("filter_order", filter_order),
                               "iterations": arguments.integer("iterations", iterations, 1),
                               "blocks": arguments.integer("blocks", blocks, 1),
                               "reg_par": arguments.number("reg_par", reg_par, 0),
                               "reg_edge": arguments.number("reg_edge", reg_edge), "gram": gram,
                               "tilt": arguments.number("tilt", tilt, -45, 45), "backend": backend})
    weights = arguments.filter_weights("filter_weights", filter, filter_weights, angles.size)
    order = arguments.order("block_order", block_order, angles.size)
    if order.size > 0 and method not in _BLOCKED:
        raise ValueError(f"block_order: goes with method {', '.join(map(repr, _BLOCKED))}, got method {method!r}")
    arguments.tell_idle(options, {})
    return _core.recon(data, angles, centers.ravel(), weights, order, bool(sinograms), options,
                       arguments.threads(threads))


def project(volume: Any, theta: Any, center: Any = None, *, columns: Optional[int] = None, sinograms: bool = False,
            threads: Optional[int] = None) -> arguments.Floats:
    """What a detector sees of a volume: line integrals [angle][row][columns], averaged over each column's width.

    Exactly, of slices that are constant in squares of the detector's pixel: the A of the methods that iterate, so that
    project(recon(integrals, theta, center, method="cgls"), theta, center) is near to the integrals.

    Parameters
    ----------
    volume : array [row][n][n]
        Slices as recon() makes them, the axis in their middle. Values that are not numbers count as 0.
    theta : array
        Radians.
    center : float or array, optional
        Column that the axis is projected to, from 0; one, or one for each row. Default: the middle, (columns - 1)/2.
    columns : int, optional
        Of the detector; what falls beyond it is lost. Default: n.
    sinograms : bool
        Line integrals come as [row][angle][columns].
    """
    data = arguments.floats("volume", volume)
    rows, n = data.shape[0], data.shape[2]
    if data.shape[1] != n:
        raise ValueError(f"volume: expected slices with as many rows as columns, got shape {data.shape}")
    width = n if columns is None else arguments.integer("columns", columns, 1, 2**20)
    angles = arguments.angles("theta", theta, np.size(theta))
    if angles.size == 0:
        raise ValueError("theta: expected at least one angle")
    centers = np.atleast_1d(np.asarray((width - 1) / 2 if center is None else center, dtype=np.float64)).ravel()
    if centers.size not in (1, rows):
        raise ValueError(f"center: expected one, or one for each of {rows} rows, got {centers.size}")
    for one in centers:
        arguments.number("center", one, 0, width - 1)
    return _core.project(data, angles, centers, width, bool(sinograms), arguments.threads(threads))


def find_center(integrals: Any, theta: Any, *, pairs: bool = False, within: Optional[Tuple[float, float]] = None,
                sinograms: bool = False, threads: Optional[int] = None) -> float:
    """The column that the axis is projected to, from up to eight rows spread over the stack.

    `pairs`: from projections half a turn apart alone, else from the transform of the whole turn. `within`: (first,
    last) column to look between, by default the middle half of the row; a warning tells of an axis at their ends. Raises ArgumentError where the angles do not
    cover half a turn, or with `pairs` where no two projections are half a turn apart.
    """
    data = arguments.stack("integrals", integrals)
    rows, columns = data.shape[0 if sinograms else 1], data.shape[2]
    count = min(_SEARCHED_ROWS, rows)
    chosen = [(2 * r + 1) * rows // (2 * count) for r in range(count)]
    part = arguments.floats("integrals", data[chosen] if sinograms else data[:, chosen])
    part = np.where(np.abs(part) < 1e20, part, np.float32(0))  # neither infinite nor no number
    angles = arguments.turning("theta", theta, part.shape[1 if sinograms else 0])
    low, high = (columns / 4, 3 * columns / 4) if within is None else within
    low = arguments.number("within", low, 0, columns - 1)
    high = arguments.number("within", high, low, columns - 1)
    found: Optional[float] = _core.find_centre(part, angles, bool(sinograms), low, high, bool(pairs),
                                               arguments.threads(threads))
    if found is None:
        expected = "projections half a turn apart" if pairs else "angles over 180 degrees"
        raise ArgumentError(f"theta: expected {expected}", 15, "unsupported")
    if min(found - low, high - found) < _END < (high - low) / 4:
        warnings.warn(f"the axis was found at {found:.1f}, at the end of where it is looked for ({low:g} to {high:g}): most "
                      "likely it lies elsewhere (within=), or nothing is seen of it", UserWarning, stacklevel=2)
    return found


def mask_circle(volume: Any, ratio: float = 1.0, value: float = 0.0) -> "npt.NDArray[np.float32]":
    """Slices [slice][n][n] whose values outside of a circle of `ratio` half widths are `value`."""
    out = arguments.own_floats("volume", volume)
    _core.mask(out, arguments.number("ratio", ratio, 0), arguments.number("value", value))
    return out
