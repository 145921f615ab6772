# SPDX-License-Identifier: BSD-3-Clause
"""What the tests of nights share: a tree of small frames, the program, and what its bytes should be."""
import json
import os
import pathlib
import resource
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "cli"))
from power import give_up_power  # noqa: E402
from small_camera import GRID, NX, Camera, psf_bytes  # noqa: E402

PROGRAM = os.environ.get("FIBERLOOM_PROGRAM", "")
NIGHT = "20261121"
OPTIONS = ["-w", GRID, "--bundlesize", "5"]
PSFERR = {"b": "0.04", "r": "0.01", "z": "0.01"}


class Tree:
    """preproc/NIGHT/EXPID/preproc-CAM-EXPID.fits. Exposures differ in one pixel, so do their frames."""

    camera = None

    def __init__(self, root):
        self.root = pathlib.Path(root)
        if Tree.camera is None:
            Tree.camera = Camera()
            Tree.image = Tree.camera.preproc_bytes()
            Tree.psf = psf_bytes()

    def folder(self, exposure):
        return self.root / NIGHT / f"{exposure:08d}"

    def image_path(self, camera, exposure, ending=".fits"):
        return self.folder(exposure) / f"preproc-{camera}-{exposure:08d}{ending}"

    def psf_path(self, camera, exposure):
        return self.folder(exposure) / f"psf-{camera}.fits"

    def image_bytes(self, exposure):
        """The image with the exposure's number in a corner that every fit sees."""
        header = 2880 * 2 if b"END" + b" " * 77 not in Tree.image[:2880] else 2880
        at = header + 4 * (80 * NX + 20)
        return Tree.image[:at] + (exposure).to_bytes(2, "big").rjust(4, b"\x42") + Tree.image[at + 4:]

    def add(self, camera, exposure, image=None, psf=None, ending=".fits"):
        self.folder(exposure).mkdir(parents=True, exist_ok=True)
        path = self.image_path(camera, exposure, ending)
        path.write_bytes(image if image is not None else self.image_bytes(exposure))
        if psf is not False:
            self.psf_path(camera, exposure).write_bytes(psf or Tree.psf)
        return path

    def add_exposures(self, count, cameras=("b0", "r0", "z0"), first=1):
        for exposure in range(first, first + count):
            for camera in cameras:
                self.add(camera, exposure)


def descendants(pid):
    """The process and all below it."""
    try:
        children = (pathlib.Path("/proc") / str(pid) / "task" / str(pid) / "children").read_text()
    except OSError:
        return [pid]
    return [pid] + [d for child in children.split() for d in descendants(int(child))]


def threads_of(pid):
    """(name, state, where it waits in the kernel) of each thread."""
    found = []
    for task in pathlib.Path(f"/proc/{pid}/task").glob("*"):
        try:
            name, rest = (task / "stat").read_text().rsplit(")", 1)
            found.append((name.split("(", 1)[1], rest.split()[0], (task / "wchan").read_text()))
        except OSError:
            pass  # gone
    return found


def finish(process, seconds):
    """communicate() with a limit. Time while the processes, or this one, are suspended does not count: that is
    no hang. Of what does hang the message says where."""
    while seconds > 0:
        try:
            return process.communicate(timeout=1)
        except subprocess.TimeoutExpired:
            threads = {pid: threads_of(pid) for pid in descendants(process.pid)}
            if not any(state in "Tt" for of_one in threads.values() for _, state, _ in of_one):
                seconds -= 1
    process.kill()
    _, errors = process.communicate()
    raise AssertionError(f"does not end: {threads}\n{errors}")


class Case(unittest.TestCase):
    def setUp(self):
        self.work = pathlib.Path(tempfile.mkdtemp(prefix="fiberloom-night-"))
        self.addCleanup(shutil.rmtree, self.work, True)
        self.tree = Tree(self.work / "in")
        self.out = self.work / "out"

    def start(self, *more, command="night", file_limit=None, env=None, powerless=False):
        def limit():
            if file_limit:
                resource.setrlimit(resource.RLIMIT_FSIZE, (file_limit, file_limit))
            if powerless:
                give_up_power()
        arguments = [PROGRAM, command, self.tree.root, "-o", self.out, *OPTIONS, *more]
        return subprocess.Popen([str(a) for a in arguments], stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, text=True, errors="surrogateescape", preexec_fn=limit,
                                env={**os.environ, **(env or {})})

    def night(self, *more, timeout=120, **keywords):
        process = self.start(*more, **keywords)
        process.stdout_text, process.stderr_text = finish(process, timeout)
        return process

    def night_ok(self, *more, code=0, **keywords):
        result = self.night(*more, **keywords)
        self.assertEqual(result.returncode, code, result.stderr_text)
        return result

    def summary(self, *more, code=0, **keywords):
        """The --json of a run."""
        path = self.work / "summary.json"
        self.night_ok("--quiet", "--json", path, *more, code=code, **keywords)
        return json.loads(path.read_text())

    def counts(self, *more, code=0, **keywords):
        """Only the counts that are not 0, without the number of frames."""
        counts = self.summary(*more, code=code, **keywords)["counts"]
        return {k: v for k, v in counts.items() if v and k != "frames"}

    def outputs(self, out=None):
        out = out or self.out
        return {str(p.relative_to(out)): p.read_bytes() for p in sorted(out.rglob("frame-*"))
                if ".fiberloom" not in p.parts}

    def extracted(self, camera, exposure, *more):
        """What `fiberloom extract` makes of one frame with the same options."""
        path = self.work / "alone.fits"
        subprocess.run([PROGRAM, "extract", "-q", "-i", self.tree.image_path(camera, exposure),
                        "-p", self.tree.psf_path(camera, exposure), "-o", path, *OPTIONS,
                        "--psferr", PSFERR[camera[0]], *more], check=True)
        return path.read_bytes()

    def frame_path(self, camera, exposure):
        return self.out / NIGHT / f"{exposure:08d}" / f"frame-{camera}-{exposure:08d}.fits"

    def state(self, *parts):
        return self.out.joinpath(".fiberloom", *parts)

    def names(self, folder):
        path = self.state(folder)
        return sorted(p.name for p in path.iterdir()) if path.exists() else []

    def assert_tidy(self):
        """No claim, no run, no temporary file is left."""
        self.assertEqual(self.names("claims"), [])
        self.assertEqual(self.names("runs"), [])
        self.assertEqual([str(p) for p in self.out.rglob("*.tmp-*")], [])

    def wait_for(self, what, seconds=60):
        end = time.monotonic() + seconds
        while not what():
            self.assertLess(time.monotonic(), end, "waited in vain")
            time.sleep(0.01)
