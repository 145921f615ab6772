# SPDX-License-Identifier: BSD-3-Clause
"""Fiberloom inside other people's engines: thread pools, process pools, cards, progress."""
import concurrent.futures
import errno
import functools
import inspect
import multiprocessing
import pickle
import threading

import numpy as np
import pytest

import fiberloom as fl
import fiberloom.compat.gpu_specter
import fiberloom.compat.specter


def functions():
    places = (fl, fl.plot, fl.compat.gpu_specter, fl.compat.specter)
    return {(place.__name__, name): value for place in places for name in getattr(place, "__all__", dir(place))
            if inspect.isfunction(value := getattr(place, name)) and name[0] != "_"}


def test_functions_pickle_by_name():
    pytest.importorskip("matplotlib")
    found = functions()
    assert len(found) > 22 and ("fiberloom", "join_frames") in found
    for name, function in found.items():
        assert pickle.loads(pickle.dumps(function)) is function, name


@pytest.mark.parametrize("start", ["fork", "spawn", "forkserver"])
def test_a_process_pool_gives_the_same_bytes(small, frame, files, tmp_path, start):
    fl.extract_frame(small.image, small.ivar, small.psf, small.wave, threads=2)  # threads exist before the fork
    (tmp_path / "bad.fits").write_bytes(b"junk")
    step = functools.partial(fl.extract_file, files["image"], wavelength="6000,6016,0.8")
    context = multiprocessing.get_context(start)
    with concurrent.futures.ProcessPoolExecutor(2, mp_context=context) as pool:
        parts = [pool.submit(fl.extract_frame, small.image, small.ivar, small.psf, small.wave, specmin=i, nspec=5, threads=i // 5 + 1)
                 for i in (0, 5)]
        missing, bad = pool.submit(fl.read_image, "nowhere.fits"), pool.submit(step, tmp_path / "bad.fits", tmp_path / "f.fits")
        results = [pool.submit(fl.read_image, files["image"]), pool.submit(fl.simulate_frame, nfiber=2, nwave=10),
                   pool.submit(fl.compare, frame, frame), pool.submit(fl.read_psf, files["psf"])]
        joined = fl.join_frames(part.result(120) for part in parts)
        with pytest.raises(FileNotFoundError, match="nowhere.fits") as caught:
            missing.result(120)
        assert (caught.value.exit_code, caught.value.filename, caught.value.errno) == (10, "nowhere.fits", errno.ENOENT)
        with pytest.raises(fl.FormatError) as caught:
            bad.result(120)
        assert (caught.value.exit_code, caught.value.filename) == (14, str(tmp_path / "bad.fits"))
        assert [repr(result.result(120)) for result in results] == [
            repr(fl.read_image(files["image"])), repr(fl.simulate_frame(nfiber=2, nwave=10)), repr(fl.compare(frame, frame)),
            repr(fl.read_psf(files["psf"]))]
    for name in ("flux", "ivar", "mask", "resolution", "chi2pix", "xflux"):
        assert getattr(joined, name).tobytes() == getattr(frame, name).tobytes(), name


def test_a_thread_pool_gives_the_same_bytes_and_runs_at_once(small, frame):
    inside, together = [], threading.Barrier(3)

    def work(i):
        def progress(stage, done, total):
            inside.append(i)
            together.wait(60)  # passes only when three calls are under way, each with Python's lock in turn
        return fl.extract_frame(small.image, small.ivar, small.psf, small.wave, threads=1, progress=progress)
    with concurrent.futures.ThreadPoolExecutor(3) as pool:
        got = list(pool.map(work, range(3)))
    assert sorted(inside) == [0, 1, 2]
    assert all(np.array_equal(g.flux, frame.flux) for g in got)


@pytest.mark.parametrize("threads", [1, 2])
def test_progress_is_called_once_for_every_bundle(threads):
    s = fl.simulate_frame(nfiber=30, nwave=20)
    calls, where = [], set()

    def progress(*arguments):
        calls.append(arguments)
        where.add(threading.get_ident())
    fl.extract_frame(s.image, s.ivar, s.psf, s.wave, bundlesize=5, threads=threads, progress=progress)
    assert calls == [("extract", i, 6) for i in range(1, 7)] and where == {threading.get_ident()}


def test_what_progress_raises_stops_the_work():
    s = fl.simulate_frame(nfiber=60, nwave=300)
    calls = []

    def progress(stage, done, total):
        calls.append(done)
        raise LookupError("enough")
    with pytest.raises(LookupError, match="enough"):
        fl.extract_frame(s.image, s.ivar, s.psf, s.wave, bundlesize=2, threads=1, progress=progress)
    assert len(calls) == 1


def test_the_emulated_card_computes_what_the_cpu_does(small, frame, files, tmp_path):
    got = fl.extract_frame(small.image, small.ivar, small.psf, small.wave, backend="emulate", gpu_memory=1.0,
                           on_device_error="cpu")
    assert "emulation" in got.device and frame.device is None
    assert np.abs((got.flux - frame.flux) * np.sqrt(frame.ivar)).max() < 1e-8
    done = fl.extract_file(files["image"], files["psf"], tmp_path / "f.fits", wavelength="6000,6016,0.8", backend="emulate")
    assert done["device"] == got.device
    with pytest.raises(fl.DeviceError, match="memory") as caught:
        fl.extract_frame(small.image, small.ivar, small.psf, small.wave, backend="emulate", gpu_memory=1e-5)
    assert caught.value.exit_code == 60


def test_a_card_that_is_not_there_is_an_error_and_auto_does_without(small, frame):
    try:
        got = fl.extract_frame(small.image, small.ivar, small.psf, small.wave, backend="cuda")
        assert got.device  # this machine has one
    except fl.DeviceError as error:
        assert error.exit_code == 60 and "\n" not in str(error)
        auto = fl.extract_frame(small.image, small.ivar, small.psf, small.wave, backend="auto")
        assert auto.device is None and np.array_equal(auto.flux, frame.flux)


@pytest.mark.parametrize("change, message", [
    ({"backend": "gpu"}, "backend: expected 'auto' or 'cpu' or 'cuda', got 'gpu'"),
    ({"backend": "cuda", "method": "patch"}, "backend: method='patch' runs on the CPU only"),
    ({"gpu_memory": 0}, "gpu_memory: expected a number from"), ({"on_device_error": "no"}, "on_device_error: expected 'fail' or 'cpu'")])
def test_wrong_words_about_cards_are_named(small, change, message):
    with pytest.raises(ValueError, match=message):
        fl.extract_frame(small.image, small.ivar, small.psf, small.wave, **change)
