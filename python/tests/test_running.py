# SPDX-License-Identifier: BSD-3-Clause
"""The package among other things that run: threads, signals, forks, the start of the interpreter."""
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time

import numpy as np
import pytest

import fiberloom as fl

LONG = textwrap.dedent("""
    import signal, time, fiberloom as fl
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell may have switched it off
    s = fl.simulate_frame(nfiber=250, nwave=1200)
    def work():
        return fl.extract_frame(s.image, s.ivar, s.psf, s.wave, method="patch", nsubbundles=5, threads=%d)
""")


def python(code, **more):
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120,
                          **more)


@pytest.mark.parametrize("threads", [1, 2])
def test_ctrl_c_stops_a_long_call(threads):
    code = LONG % threads + textwrap.dedent("""
        print("ready", flush=True)
        start = time.monotonic()
        try:
            work()
            print("finished", time.monotonic() - start)
        except KeyboardInterrupt:
            print("interrupted", flush=True)
        print(fl.extract_frame(s.image, s.ivar, s.psf, s.wave[:20], nspec=1))
    """)
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout.readline() == "ready\n"
        time.sleep(0.4)
        process.send_signal(signal.SIGINT)
        rest, _ = process.communicate(timeout=100)
    finally:
        process.kill()
    assert "interrupted" in rest and "<fiberloom.Frame 1 spectra" in rest, rest
    assert process.returncode == 0


def test_other_threads_run_meanwhile():
    s = fl.simulate_frame(nfiber=75, nwave=600)
    ticks, stop = [], threading.Event()

    def tick():
        while not stop.is_set():
            ticks.append(time.monotonic())
            time.sleep(0.002)
    thread = threading.Thread(target=tick)
    thread.start()
    start = time.monotonic()
    fl.extract_frame(s.image, s.ivar, s.psf, s.wave, method="patch", threads=1)
    end = time.monotonic()
    stop.set()
    thread.join()
    during = [t for t in ticks if start < t < end]
    assert len(during) > 5, (len(during), end - start)


def test_two_python_threads_may_extract_at_once(small, frame):
    results = [None] * 4

    def work(i):
        results[i] = fl.extract_frame(small.image, small.ivar, small.psf, small.wave, threads=2)
    workers = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for w in workers:
        w.start()
    for w in workers:
        w.join(60)
    assert all(r is not None and np.array_equal(r.flux, frame.flux) for r in results)


def test_a_forked_child_can_extract(small, frame):
    fl.extract_frame(small.image, small.ivar, small.psf, small.wave, threads=2)  # threads exist now
    child = os.fork()
    if child == 0:
        good = False
        try:
            got = fl.extract_frame(small.image, small.ivar, small.psf, small.wave, threads=2)
            good = np.array_equal(got.flux, frame.flux)
        finally:
            os._exit(0 if good else 1)
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            assert status == 0
            return
        time.sleep(0.02)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    pytest.fail("the child hangs")


@pytest.mark.parametrize("threads", [1, 2])
def test_a_daemon_thread_in_the_middle_of_a_call_does_not_disturb_the_end(threads):
    code = LONG % threads + textwrap.dedent("""
        import os, threading
        def last():  # atexit runs what came first last
            os.write(1, f"at the end {fl.simulate_frame(nfiber=1, nwave=3)}\\n".encode())
        def calls():
            while True:  # the second call comes after the end
                try:
                    work()
                    os.write(1, b"finished\\n")
                except RuntimeError:
                    os.write(1, b"stopped\\n")
        threading.Thread(target=calls, daemon=True).start()
        time.sleep(0.4)
        print("going", flush=True)
    """)
    done = python("import atexit\natexit.register(lambda: last())\n" + code)
    assert done.returncode == 0 and done.stderr == "", (done.returncode, done.stderr)
    # Which of the two writes first once the call has stopped, and whether the thread still may, is the interpreter's.
    lines = done.stdout.splitlines()
    assert lines[0] == "going" and "finished" not in lines, done.stdout
    rest = [line for line in lines[1:] if line != "stopped"]
    assert len(rest) == 1 and rest[0].startswith("at the end <fiberloom.SimulatedFrame"), done.stdout


def test_a_forked_child_does_not_wait_for_the_calls_of_its_parent():
    code = LONG % 1 + textwrap.dedent("""
        import os, sys, threading
        threading.Thread(target=work, daemon=True).start()
        time.sleep(0.2)
        start, child = time.monotonic(), os.fork()
        if child == 0:
            sys.exit(0)  # with atexit, unlike multiprocessing's children
        print(os.waitpid(child, 0)[1], time.monotonic() - start < 20)
    """)
    done = python(code)
    assert done.stdout == "0 True\n" and done.returncode == 0, (done.stdout, done.stderr)


def test_import_costs_little_above_numpy():
    code = ("import numpy, time; t = time.process_time(); import fiberloom; fiberloom.extract_frame; "
            "fiberloom.read_psf; fiberloom.compare; print(time.process_time() - t)")
    best = min(float(python(code).stdout) for _ in range(5))
    assert best < 0.05


def test_import_loads_neither_scipy_nor_matplotlib_nor_numpy():
    code = "import sys, fiberloom; print(sorted({'numpy', 'scipy', 'matplotlib'} & set(sys.modules)))"
    assert python(code).stdout.strip() == "[]"


def test_a_wrong_instruction_set_is_an_error_and_no_crash():
    done = python("import fiberloom as fl; s = fl.simulate_frame(nfiber=1, nwave=3); "
                  "fl.extract_frame(s.image, s.ivar, s.psf, s.wave)",
                  env={**os.environ, "FIBERLOOM_ISA": "v9"})
    assert done.returncode == 1 and "fiberloom._errors.ArgumentError" in done.stderr


def test_the_documented_names_are_there():
    for name in fl.__all__:
        assert getattr(fl, name) is not None
    assert set(dir(fl)) >= set(fl.__all__)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        fl.nothing
