# SPDX-License-Identifier: BSD-3-Clause
"""Whatever is passed in, the answer is a result without NaN or a TypeError or ValueError that names
the argument. A crash of the interpreter would end the test run."""
import inspect

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import fiberloom as fl
from fiberloom import _core

SMALL = fl.simulate_frame(nfiber=3, nwave=12, seed=5)
SHAPE = SMALL.image.shape
COMMON = settings(max_examples=120, deadline=None, suppress_health_check=list(HealthCheck))
DTYPES = ["f4", "f8", ">f4", ">f8", "f2", "i2", "u1", "i8", "?", "c16", "O", "U3", "M8[s]", "g"]
ANYTHING = st.one_of(
    st.none(), st.booleans(), st.integers(-3, 40), st.integers(), st.floats(), st.text(max_size=3),
    st.just(np.int64(2)), st.just(np.float32(1.5)), st.just([1, 2]), st.just(object()), st.just({}))


@st.composite
def arrays(draw):
    """Arrays of nearly the right kind."""
    shape = draw(st.sampled_from([SHAPE, SHAPE, SHAPE, SHAPE[::-1], (SHAPE[0],), (0, 0), (), (1, *SHAPE),
                                  (SHAPE[0] - 1, SHAPE[1])]))
    kind = np.dtype(draw(st.sampled_from(DTYPES)))
    seed = draw(st.integers(0, 99))
    with np.errstate(all="ignore"):
        array = (np.random.default_rng(seed).normal(size=shape) * 30 + 10)
        array = np.asarray(array.real.astype("i8").astype(kind) if kind.kind == "M"
                           else np.asarray(array).astype(kind))
    if array.ndim == 2 and array.size and kind.kind == "f" and draw(st.booleans()):
        array = array.copy()
        array[draw(st.integers(0, array.shape[0] - 1)), :] = draw(
            st.sampled_from([np.nan, np.inf, -np.inf, 0, -1]))
    layout = draw(st.sampled_from(["plain", "fortran", "strided", "read-only", "masked"]))
    if layout == "fortran":
        array = np.asfortranarray(array)
    elif layout == "strided" and array.ndim == 2:
        array = np.repeat(array, 2, axis=1)[:, ::2]
    elif layout == "masked" and kind.kind == "f":
        array = np.ma.masked_array(array)
    elif layout == "read-only":
        array.flags.writeable = False
    return array


def check(call, names):
    """Runs it; a refusal must begin with the name of an argument, or come from the library."""
    try:
        result = call()
    except fl.Error as error:
        assert str(error) and "\n" not in str(error)
        return None
    except (TypeError, ValueError) as error:
        assert str(error).split(":")[0] in names, f"{type(error).__name__}: {error}"
        return None
    return result


def assert_sound(frame):
    for name in ("flux", "ivar", "chi2pix", "xflux", "pixmask_fraction", "resolution"):
        assert np.isfinite(getattr(frame, name)).all(), name
    assert (frame.ivar >= 0).all()


@COMMON
@given(image=arrays(), ivar=st.one_of(arrays(), st.just(SMALL.ivar)),
       mask=st.one_of(st.none(), arrays()))
def test_any_arrays(image, ivar, mask):
    frame = check(lambda: fl.extract_frame(image, ivar, SMALL.psf, SMALL.wave, mask=mask, threads=1),
                  {"image", "ivar", "mask"})
    if frame is not None:
        assert_sound(frame)


@COMMON
@given(options=st.dictionaries(
    st.sampled_from(["specmin", "nspec", "bundlesize", "psferr", "regularize", "ndiag", "tolerance",
                     "threads", "mask_bits", "progress"]), ANYTHING, max_size=3))
def test_any_options(options):
    if options.get("threads") not in (None, 1, 2):
        options["threads"] = "many"
    frame = check(lambda: fl.extract_frame(SMALL.image, SMALL.ivar, SMALL.psf, SMALL.wave, **options),
                  set(options))
    if frame is not None:
        assert_sound(frame)


@COMMON
@given(wave=st.one_of(
    ANYTHING, st.lists(st.floats(5990, 6030), max_size=20),
    st.lists(st.floats(5990, 6030), min_size=1, max_size=20, unique=True).map(sorted),
    st.lists(st.floats(), max_size=5),
    st.tuples(st.floats(5000, 7000), st.floats(5000, 7000), st.sampled_from([0.5, 1.0, 0.0, -1.0]))))
def test_any_wavelengths(wave):
    frame = check(lambda: fl.extract_frame(SMALL.image, SMALL.ivar, SMALL.psf, wave, threads=1),
                  {"wave"})
    if frame is not None:
        assert_sound(frame)
        assert frame.flux.shape == (3, frame.wave.size)


@COMMON
@given(flux=arrays(), wave=st.one_of(ANYTHING, st.just(np.linspace(6000, 6010, SHAPE[1]))),
       specmin=ANYTHING)
def test_any_projection(flux, wave, specmin):
    check(lambda: SMALL.psf.project(flux, wave, specmin=specmin), {"flux", "wave", "specmin", "nspec"})
    check(lambda: SMALL.psf.adjoint(flux, wave, specmin=specmin), {"image", "wave", "specmin", "nspec"})
    check(lambda: SMALL.psf.spots(wave, specmin), {"wave", "fibers"})


@COMMON
@given(first=ANYTHING, second=ANYTHING)
def test_any_objects_in_place_of_frames_and_psfs(first, second):
    names = {"a", "b", "psf", "image", "frame", "path", "truth", "img", "Psf"}
    for call in (lambda: fl.compare(first, second), lambda: fl.write_frame(second, first),
                 lambda: fl.extract_frame(SMALL.image, SMALL.ivar, first),
                 lambda: fl.write_psf(second, first), lambda: fl.Psf(first),
                 lambda: fl.compat.extract_frame(first, second, 25, 0, 1),
                 lambda: fl.compat.ex2d(SMALL.image, SMALL.ivar, first, 0, 1, SMALL.wave)):
        assert check(call, names) is None


@COMMON
@given(a=arrays(), b=arrays(), c=arrays())
def test_any_arrays_in_a_frame_to_be_written(tmp_path_factory, a, b, c):
    frame = fl.Frame(wave=np.arange(SHAPE[1]) + 6000.0, flux=a, ivar=b, chi2pix=c)
    check(lambda: fl.write_frame(tmp_path_factory.getbasetemp() / "any.fits", frame),
          {"wave", "flux", "ivar", "chi2pix"})


@COMMON
@given(arguments=st.lists(st.one_of(ANYTHING, arrays(), st.just(SMALL.psf._core)), max_size=9),
       name=st.sampled_from([n for n in dir(_core) if callable(getattr(_core, n)) and n[0] != "_"
                             and n not in ("simulate", "simulate_frame")]))
def test_even_the_private_module_does_not_crash(arguments, name):
    try:
        getattr(_core, name)(*arguments)
    except (TypeError, ValueError, KeyError, IndexError, fl.Error, RuntimeError, OverflowError):
        pass


@pytest.mark.parametrize("change, error, message", [
    ({"image": np.zeros((3, 4))}, ValueError, r"image: expected shape \(\d+, \d+\), got \(3, 4\)"),
    ({"image": np.zeros(SHAPE, complex)}, TypeError, "image: .* got dtype complex128"),
    ({"image": None}, TypeError, "image: .* got NoneType"),
    ({"ivar": "text"}, TypeError, "ivar: .* got str"),
    ({"mask": np.zeros(SHAPE)}, TypeError, "mask: expected an array of integers"),
    ({"mask": np.full(SHAPE, 2**32)}, ValueError, "mask: expected bits 0 to 31, got integers from 4294967296"),
    ({"image": np.ma.masked_array(np.zeros(SHAPE))}, TypeError, "image: .* masked array"),
    ({"image": list(np.ma.masked_array(np.zeros(SHAPE)))}, TypeError, "image: .* masked array"),
    ({"psf": "psf.fits"}, TypeError, "psf: expected fiberloom.Psf .* got str"),
    ({"wave": []}, ValueError, "wave: expected shape"),
    ({"wave": [2.0, 1.0]}, ValueError, "wave: expected increasing"),
    ({"wave": [1.0, np.nan]}, ValueError, "wave: expected finite"),
    ({"nspec": 0}, ValueError, "nspec: expected an integer from 1"),
    ({"nspec": 1.5}, TypeError, "nspec: expected an integer, got float"),
    ({"specmin": 3}, ValueError, "specmin: expected a fibre from 0 to 2, got 3"),
    ({"ndiag": 4}, ValueError, "ndiag: expected an odd number"),
    ({"tolerance": 1e-13}, ValueError, "tolerance"),  # as on the command line and in job files
    ({"tolerance": 1.5}, ValueError, "tolerance"),
    ({"max_iterations": 0}, ValueError, "max_iterations: expected an integer from 1 to 1000000, got 0"),
    ({"method": "best"}, ValueError, "method: expected 'exact' or 'patch'"),
    ({"threads": 0}, ValueError, "threads: expected an integer from 1"),
    ({"psferr": -1}, ValueError, "psferr: expected a number of at least 0"),
    ({"progress": 3}, TypeError, "progress: expected a function"),
])
def test_wrong_arguments_are_named_with_what_was_expected(change, error, message):
    arguments = {"image": SMALL.image, "ivar": SMALL.ivar, "psf": SMALL.psf, "wave": SMALL.wave}
    arguments.update(change)
    with pytest.raises(error, match=message):
        fl.extract_frame(**arguments)


def test_functions_have_every_option_of_the_table_with_its_default():
    table = _core.extract_options
    assert table["wavelength"]["unit"] == "Angstrom"
    names = {"psf_tails": "tails"}  # the argument of another name
    unset = {"nspec", "psferr", "mask_bits", "wavelength", "reject", "max_leak", "trace_shifts", "wings"}  # None stands for their default
    for function, without in ((fl.extract_file, set()),
                              (fl.extract_frame, {"wavelength", "wave_log10", "barycentric_correction", "barycentric_fibers", "gh00", "psf_tails", "psf_status",
                                                  "verify", "scores", "trace_shifts", "trace_widths", "wings"})):
        parameters = inspect.signature(function).parameters
        for key in set(table) - without:
            expected = None if key in unset else table[key]["default"]
            assert parameters[names.get(key, key)].default == expected, key


def test_numbers_in_units_are_not_taken_without_them():
    units = pytest.importorskip("astropy.units")
    for wave in (SMALL.wave / 10 * units.nm, SMALL.wave * units.AA):
        with pytest.raises(TypeError, match=f"wave: .* got ones in {wave.unit}"):
            fl.extract_frame(SMALL.image, SMALL.ivar, SMALL.psf, wave)
    plain = SMALL.image * units.dimensionless_unscaled
    assert (fl.extract_frame(plain, SMALL.ivar, SMALL.psf, SMALL.wave).flux == fl.extract_frame(SMALL.image, SMALL.ivar, SMALL.psf, SMALL.wave).flux).all()


def test_a_mask_of_astropy_is_not_lost():
    masked = pytest.importorskip("astropy.utils.masked").Masked(SMALL.image, mask=SMALL.image > 100)
    with pytest.raises(TypeError, match="image: .* masked array, whose mask would be lost"):
        fl.extract_frame(masked, SMALL.ivar, SMALL.psf, SMALL.wave)
