# SPDX-License-Identifier: BSD-3-Clause
import dataclasses
import pickle

import numpy as np
import pytest

import fiberloom as fl


def test_a_frame_has_the_documented_arrays(small, frame):
    shape = (10, 60)
    for name, dtype in (("flux", "f8"), ("ivar", "f8"), ("mask", "u4"), ("chi2pix", "f8"),
                        ("xflux", "f8"), ("pixmask_fraction", "f8")):
        array = getattr(frame, name)
        assert array.shape == shape and array.dtype == dtype, name
        assert array.flags.c_contiguous and array.flags.writeable
    assert frame.resolution.shape == (10, 11, 60) and frame.resolution.dtype == np.float32
    assert frame.model.shape == small.image.shape and frame.model.dtype == np.float32
    assert np.array_equal(frame.wave, small.wave)
    assert frame.bundles[0]["nfiber"] == 10 and frame.bundles[0]["bound_sigma"] < 1e-4


def test_results_look_into_memory_that_outlives_the_frame(small):
    flux = fl.extract_frame(small.image, small.ivar, small.psf, small.wave).flux
    assert not flux.flags.owndata and type(flux.base).__name__ == "PyCapsule"
    copy = flux.copy()
    fl.extract_frame(small.image * 0, small.ivar, small.psf, small.wave)
    assert np.array_equal(flux, copy)


def test_pulls_against_the_truth_are_normal():
    s = fl.simulate_frame(nfiber=25, nwave=200)
    f = fl.extract_frame(s.image, s.ivar, s.psf, s.wave)
    truth = s.truth / f.bin_width
    pulls = np.array([(f.flux[i] - f.R(i) @ truth[i]) * np.sqrt(f.ivar[i]) for i in range(f.nspec)])
    assert abs(pulls.mean()) < 0.06 and abs(pulls.std() - 1) < 0.05


def test_R_is_the_resolution_matrix(frame):
    r = frame.R(3).toarray()
    half = frame.resolution.shape[1] // 2
    for j in (0, 7, 59):
        for k in range(frame.resolution.shape[1]):
            row = j - half + k
            if 0 <= row < 60:
                assert r[row, j] == frame.resolution[3, k, j]
    assert np.allclose(r.sum(axis=1)[10:-10], 1, atol=2e-3)
    assert np.array_equal(frame.R(-1).toarray(), frame.R(9).toarray())
    with pytest.raises(IndexError):
        frame.R(10)


def test_a_fibre_range_and_any_number_of_threads_give_the_same_bytes(small, frame):
    part = fl.extract_frame(small.image, small.ivar, small.psf, small.wave, specmin=4, nspec=3,
                            threads=2)
    assert part.specmin == 4
    for name in ("flux", "ivar", "resolution", "chi2pix", "xflux"):
        assert np.array_equal(getattr(part, name), getattr(frame, name)[4:7]), name


@pytest.mark.parametrize("change", ["strided", "reversed", "big-endian", "read-only", "float32",
                                    "fortran", "list"])
def test_the_layout_of_an_input_does_not_matter(small, frame, change):
    def altered(a):
        if change == "strided":
            return np.repeat(a, 2, axis=1)[:, ::2]
        if change == "reversed":
            return a[::-1, ::-1].copy()[::-1, ::-1]
        if change == "big-endian":
            return a.astype(">f8")
        if change == "fortran":
            return np.asfortranarray(a)
        if change == "list":
            return a.tolist()
        if change == "float32":
            return a.astype(np.float32)
        b = a.copy()
        b.flags.writeable = False
        return b

    got = fl.extract_frame(altered(small.image), altered(small.ivar), small.psf, small.wave)
    if change == "float32":
        assert fl.compare(got, frame).max_pull < 1e-3
    else:
        assert np.array_equal(got.flux, frame.flux)


def test_inputs_are_left_alone(small):
    image, ivar = small.image.copy(), small.ivar.copy()
    image[150, 45], ivar[151, 46] = np.nan, -1
    before = image.copy(), ivar.copy()
    fl.extract_frame(image, ivar, small.psf, small.wave)
    assert np.array_equal(image, before[0], equal_nan=True) and np.array_equal(ivar, before[1])


def test_a_mask_drops_pixels_as_zero_ivar_does(small):
    mask = np.zeros(small.image.shape, dtype=np.int16)
    mask[150:153, 50:80] = 16
    mask[200, :] = 256  # BADREADNOISE: not among the default bits
    ivar = small.ivar * (mask != 16)
    masked = fl.extract_frame(small.image, small.ivar, small.psf, small.wave, mask=mask)
    zeroed = fl.extract_frame(small.image, ivar, small.psf, small.wave)
    assert np.array_equal(masked.flux, zeroed.flux)
    every_bit = fl.extract_frame(small.image, small.ivar, small.psf, small.wave, mask=mask,
                                 mask_bits=2**32 - 1)
    assert not np.array_equal(every_bit.flux, masked.flux)
    bad = fl.extract_frame(small.image, small.ivar, small.psf, small.wave,
                           mask=np.ones(small.image.shape, bool))
    assert (bad.flux == 0).all() and (bad.ivar == 0).all() and (bad.mask & 2).all()


def test_bad_pixels_are_said_through_logging(small, caplog):
    image = small.image.copy()
    image[150, 45] = np.nan
    with caplog.at_level("INFO", logger="fiberloom"):
        fl.extract_frame(image, small.ivar, small.psf, small.wave)
    assert any("1 pixels with NaN" in record.message and record.levelname == "WARNING"
               for record in caplog.records)


def test_the_patch_method_agrees(small, frame):
    patch = fl.extract_frame(small.image, small.ivar, small.psf, small.wave, method="patch",
                             nsubbundles=2)
    assert fl.compare(frame, patch).max_pull < 0.1


def test_the_default_grid_is_the_range_of_the_psf(small):
    f = fl.extract_frame(small.image, small.ivar, small.psf)
    assert f.wave[0] == small.psf.wave_range[0] and abs(f.wave[1] - f.wave[0] - 0.8) < 1e-9


def test_progress_is_called_and_may_stop_the_work(small):
    calls = []
    fl.extract_frame(small.image, small.ivar, small.psf, small.wave, progress=lambda *a: calls.append(a))
    assert calls and calls[-1] == ("extract", 1, 1)

    def stop(stage, done, total):
        raise LookupError("enough")
    with pytest.raises(LookupError, match="enough"):
        fl.extract_frame(small.image, small.ivar, small.psf, small.wave, progress=stop)


def test_errors_carry_the_library_s_message_and_code(small):
    with pytest.raises(fl.ArgumentError, match="the PSF covers .*, the grid runs from 9000.* no more than 5 % of that range") as caught:
        fl.extract_frame(small.image, small.ivar, small.psf, (9000, 9100, 0.8))
    assert caught.value.exit_code == 20 and "cover" in caught.value.status
    assert isinstance(caught.value, ValueError) and isinstance(caught.value, fl.Error)
    again = pickle.loads(pickle.dumps(caught.value))
    assert str(again) == str(caught.value) and again.exit_code == 20


def test_compare_counts_what_differs(small, frame):
    same = fl.compare(frame, frame)
    assert same.max_pull == 0 and same.good == 600 and same.max_resolution == 0
    other = fl.extract_frame(small.image, small.ivar, small.psf, small.wave)
    other.flux[2, 30] += 3 / np.sqrt(other.ivar[2, 30])
    other.ivar[5, 5] = 0
    got = fl.compare(frame, other, list_bins=3)
    assert abs(got.max_pull - 3 / np.sqrt(2)) < 1e-9 and got.max_pull_at[0] == 2
    assert got.only_b == 1 and got.list_only_b == [(5, frame.wave[5])]
    assert "max pull" in str(got)


@pytest.fixture(scope="module")
def wild():
    """A frame with bad pixels, and a track of light, which only a comparison with other fibres marks as BAD2DFIT."""
    s = fl.simulate_frame(nfiber=20, nwave=80, seed=5)
    mask = np.zeros(s.image.shape, np.uint32)
    x, y = s.psf.x(s.wave[40])[:, 0].astype(int), int(s.psf.y(s.wave[40], 7)[0, 0])
    s.image[y:y + 2, x[6] - 2:x[8] + 3] += np.linspace(0, 3000, x[8] - x[6] + 5)  # across three fibres
    mask[y + 20:y + 40, x[7] - 3:x[7] + 4] = 1

    def extract(specmin=0, nspec=None):
        return fl.extract_frame(s.image, s.ivar, s.psf, s.wave, mask=mask, bundlesize=5, specmin=specmin, nspec=nspec)
    return extract


def test_parts_join_to_the_bytes_of_the_whole(wild, tmp_path):
    whole = wild()
    assert set(np.unique(whole.mask)) >= {0, 1 | 2, 128}
    parts = [wild(first, count) for first, count in ((15, 5), (0, 5), (5, 3), (8, 7))]
    joined = fl.join_frames(iter(parts))
    for name in ("wave", "flux", "ivar", "mask", "resolution", "chi2pix", "xflux", "pixmask_fraction"):
        a, b = getattr(joined, name), getattr(whole, name)
        assert a.dtype == b.dtype and a.tobytes() == b.tobytes(), name
    assert joined.specmin == 0 and len(joined.bundles) == 5 and joined.model is None and joined.device == whole.device
    for name, frame in (("joined", joined), ("whole", whole)):
        fl.write_frame(tmp_path / name, frame)
    assert (tmp_path / "joined").read_bytes() == (tmp_path / "whole").read_bytes()
    stacked = np.concatenate([part.mask for part in sorted(parts, key=lambda part: part.specmin)])
    assert (stacked != whole.mask).any()  # else this test would not see a mask that is merely stacked


@pytest.mark.parametrize("change, message", [
    (lambda p: p[:1] + p[2:], "fibres 5 to 9 missing"), (lambda p: p + p[1:2], "fibres 5 to 9 twice"),
    (lambda p: [], "at least one"), (lambda p: p[:1] + [dataclasses.replace(p[1], wave=p[1].wave + 1)], "same wavelengths"),
    (lambda p: p[:1] + [dataclasses.replace(p[1], chi2pix=p[1].chi2pix[:2])], r"chi2pix: expected shape \(5, 80\), got \(2, 80\)"),
    (lambda p: p[:1] + [dataclasses.replace(p[1], resolution=p[1].resolution[:, 1:-1])], "resolution of the same shape"),
    (lambda p: [dataclasses.replace(part, pixmask_fraction=None) for part in p], "frames of extract_frame")])
def test_parts_that_do_not_fit_are_named(wild, change, message):
    with pytest.raises(ValueError, match=message):
        fl.join_frames(change([wild(first, 5) for first in (0, 5, 10)]))
    with pytest.raises(TypeError, match="expected fiberloom.Frame, got int"):
        fl.join_frames([1])


def test_hits_are_rejected_and_listed():
    s = fl.simulate_frame(nfiber=5, nwave=60)
    image = s.image.copy()
    row, column = (int(np.ravel(trace(s.wave[30], 2)).round()[0]) for trace in (s.psf.y, s.psf.x))
    image[row, column] += 5000
    f = fl.extract_frame(image, s.ivar, s.psf, s.wave, reject=6, model_variance=True, readnoise=3.0)
    assert [row, column] in f.rejected.tolist() and len(f.rejected) < 5
    assert f.mask[2, 30] & 4 and not f.mask[0].any()
    clean = fl.extract_frame(s.image, s.ivar, s.psf, s.wave)
    assert clean.rejected is None
    assert abs((f.flux - clean.flux) * np.sqrt(clean.ivar)).max() < 3
    two = [fl.extract_frame(image, s.ivar, s.psf, s.wave, reject=6, model_variance=True, readnoise=np.full(image.shape, 3.0),
                            specmin=i, nspec=n) for i, n in ((2, 3), (0, 2))]
    assert np.array_equal(fl.join_frames(two).mask, f.mask)
    with pytest.raises(fl.FiberloomError, match="read noise"):
        fl.extract_frame(image, s.ivar, s.psf, s.wave, reject=6)
