# SPDX-License-Identifier: BSD-3-Clause
"""Fiberloom on a real dask.distributed cluster: two worker processes with two threads each."""
import os
import pickle
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

import fiberloom as fl

pytestmark = pytest.mark.filterwarnings("default")  # Dask's own are not our business


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    distributed = pytest.importorskip("distributed")
    folder = tmp_path_factory.mktemp("dask")
    with distributed.LocalCluster(n_workers=2, threads_per_worker=2, dashboard_address=None, local_directory=str(folder),
                                  memory_limit=0, silence_logs=50) as cluster, distributed.Client(cluster) as client:
        yield client


@pytest.fixture
def client(cluster):
    cluster.wait_for_workers(2, timeout=60)  # some tests kill one; its nanny starts another
    return cluster


@pytest.fixture(scope="module")
def camera():
    return fl.simulate_frame(nfiber=20, nwave=100, seed=8)


def bundle(camera, first, **more):
    """What the how-to page gives to a worker: one bundle on one thread."""
    return fl.extract_frame(camera.image, camera.ivar, camera.psf, camera.wave, bundlesize=5, specmin=first, nspec=5,
                            threads=1, **more)


def file_bytes(frame, path):
    fl.write_frame(path, frame)
    return path.read_bytes()


def test_bundles_of_many_workers_join_to_the_bytes_of_the_whole(client, camera, tmp_path):
    whole = fl.extract_frame(camera.image, camera.ivar, camera.psf, camera.wave, bundlesize=5)
    shared = client.scatter(camera, broadcast=True)
    tasks = client.map(lambda first, camera: (os.getpid(), bundle(camera, first)), range(0, 20, 5), camera=shared, pure=False)
    done = client.gather(tasks)
    assert os.getpid() not in {pid for pid, _ in done}
    joined = fl.join_frames([part for _, part in done])
    assert file_bytes(joined, tmp_path / "a.fits") == file_bytes(whole, tmp_path / "b.fits")


def test_delayed_steps_and_their_keys(client, camera, tmp_path):
    dask = pytest.importorskip("dask")
    from dask.base import tokenize
    assert tokenize(camera.psf) == tokenize(pickle.loads(pickle.dumps(camera.psf)))  # equal steps are one step
    extract, join, write = map(dask.delayed, (fl.extract_frame, fl.join_frames, fl.write_frame))
    parts = [extract(camera.image, camera.ivar, camera.psf, camera.wave, bundlesize=10, specmin=first, nspec=10, threads=1)
             for first in (0, 10)]
    write(tmp_path / "frame.fits", join(parts)).compute(scheduler=client)
    assert fl.read_frame(tmp_path / "frame.fits").nspec == 20


def test_errors_arrive_as_what_they_are(client, camera, tmp_path):
    missing = client.submit(fl.read_image, tmp_path / "nowhere.fits")
    with pytest.raises(FileNotFoundError, match="No such file") as caught:
        missing.result(60)
    assert isinstance(caught.value, fl.NotFoundError) and caught.value.exit_code == 10
    assert caught.value.filename == str(tmp_path / "nowhere.fits") and caught.value.status == "input file missing or unreadable"
    with pytest.raises(fl.ArgumentError, match="PSF covers") as caught:
        client.submit(fl.extract_frame, camera.image, camera.ivar, camera.psf, "1000,1001,0.8").result(60)
    assert caught.value.exit_code == 20
    with pytest.raises(ValueError, match="ndiag: expected an odd number"):
        client.submit(fl.extract_frame, camera.image, camera.ivar, camera.psf, ndiag=4).result(60)


def dies_once(camera, first, marker):
    def kill(stage, done, total):
        if not os.path.exists(marker):
            open(marker, "w").close()
            os.kill(os.getpid(), signal.SIGKILL)
    return os.getpid(), bundle(camera, first, progress=kill)


def test_a_worker_that_is_killed_in_the_middle_costs_time_only(client, camera, tmp_path):
    before = client.run(os.getpid).values()
    pid, part = client.submit(dies_once, camera, 5, str(tmp_path / "died"), retries=1).result(120)
    assert (tmp_path / "died").exists() and part.flux.tobytes() == bundle(camera, 5).flux.tobytes()
    client.wait_for_workers(2, timeout=60)
    after = client.run(os.getpid).values()
    assert len(set(before) & set(after)) == 1  # one of the two really died


def test_an_output_of_a_worker_that_is_killed_is_whole_or_absent(client, files, tmp_path):
    def step(marker, out):
        def kill(stage, done, total):
            if not os.path.exists(marker):
                open(marker, "w").close()
                os.kill(os.getpid(), signal.SIGKILL)
        return fl.extract_file(files["image"], files["psf"], out, wavelength="6000,6016,0.8", threads=1, progress=kill)
    files = {name: str(path) for name, path in files.items()}
    client.submit(step, str(tmp_path / "died"), str(tmp_path / "f.fits"), retries=1).result(120)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["died", "f.fits"]
    fl.extract_file(files["image"], files["psf"], tmp_path / "g.fits", wavelength="6000,6016,0.8")
    assert (tmp_path / "f.fits").read_bytes() == (tmp_path / "g.fits").read_bytes()


def os_threads(threads):
    """How many threads a call adds to those of this worker's process."""
    def count():
        return len(os.listdir("/proc/self/task"))
    camera, before, most = fl.simulate_frame(nfiber=20, nwave=20, threads=1), count(), []
    fl.extract_frame(camera.image, camera.ivar, camera.psf, camera.wave, bundlesize=2, threads=threads,
                     progress=lambda *_: most.append(count()))
    return max(most) - before


def test_a_task_takes_the_threads_that_it_is_given(client):
    alone = {"workers": list(client.scheduler_info()["workers"])[:1], "pure": False}
    assert client.submit(os_threads, 1, **alone).result(60) <= 1  # that of the call itself; the caller waits


def test_a_call_is_stopped_by_an_event_and_the_worker_serves_on(client):
    from distributed import Event

    def stoppable(name):
        event, begun = Event(name), Event(name + "-begun")

        def look(stage, done, total):
            begun.set()
            if event.is_set():
                raise TimeoutError(f"stopped after {done} of {total}")
        s = fl.simulate_frame(nfiber=200, nwave=100)
        while True:
            fl.extract_frame(s.image, s.ivar, s.psf, s.wave, bundlesize=2, threads=1, progress=look)
    future = client.submit(stoppable, "stop", pure=False)
    assert Event("stop-begun").wait(60)
    assert len(client.run(os.getpid)) == 2 and not future.done()  # no worker is held up
    Event("stop").set()
    with pytest.raises(TimeoutError, match="stopped after"):
        future.result(60)


def test_a_script_may_end_while_its_own_workers_work():
    pytest.importorskip("distributed")
    code = """if True:
        import fiberloom as fl
        from distributed import Client, Event

        def work():
            s, begun = fl.simulate_frame(nfiber=100, nwave=100), Event("begun")
            while True:
                fl.extract_frame(s.image, s.ivar, s.psf, s.wave, threads=1, progress=lambda *_: begun.set())
        client = Client(processes=False, n_workers=1, threads_per_worker=1, dashboard_address=None)
        future = client.submit(work)
        print(Event("begun").wait(60))
    """
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", code], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0 and done.stdout == "True\n" and "terminate" not in done.stderr, done.stderr


def test_what_is_cancelled_before_its_turn_never_runs(client, camera, tmp_path):
    def step(i, camera, folder):
        (folder / str(i)).touch()
        time.sleep(0.2)
        return bundle(camera, 0)
    shared = client.scatter(camera)
    futures = client.map(step, range(20), camera=shared, folder=tmp_path, pure=False)
    futures[0].result(60)
    client.cancel(futures[1:])
    assert all(future.cancelled() for future in futures[1:])
    time.sleep(0.5)
    assert len(list(tmp_path.iterdir())) < 20
    assert np.array_equal(futures[0].result(60).flux, bundle(camera, 0).flux)
