# SPDX-License-Identifier: BSD-3-Clause
"""Programs under a real MPI launcher, for the tests of all programs: FIBERLOOM_MPI_VENDOR says whose."""
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest

VENDOR = os.environ.get("FIBERLOOM_MPI_VENDOR", "")
# An inherited launcher's variables would make each process a rank of the outer job.
CLEAN = {k: v for k, v in os.environ.items() if not k.startswith(("OMPI_", "PMI_", "PMIX_", "SLURM_"))}
JOB = "FIBERLOOM_TEST_JOB"  # tells the ranks of one test's job from all others


def launcher(ranks):
    if VENDOR == "openmpi":
        root = ["--allow-run-as-root"] if os.geteuid() == 0 else []
        return ["mpirun.openmpi", *root, "--oversubscribe", "--bind-to", "none", "-n", str(ranks)]
    return ["mpirun.mpich", "-n", str(ranks)]


def missing(program):
    if not (pathlib.Path(program).parent / f"fiberloom_mpi_{VENDOR}.so").exists():
        return f"no module for {VENDOR} was built"
    if shutil.which(launcher(1)[0]) is None:
        return f"no {launcher(1)[0]} here"
    return None


def start(test, ranks, words, job):
    """The launcher of `words`, which ends with the test at the latest; `job` names it for pids()."""
    # Two launchers of Open MPI that start at once quarrel about the folder that they share by default.
    session = tempfile.TemporaryDirectory(prefix="ompi-")
    test.addCleanup(session.cleanup)
    process = subprocess.Popen([*launcher(ranks), *map(str, words)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                               start_new_session=True, env={**CLEAN, JOB: str(job), "OMPI_MCA_orte_tmpdir_base": session.name})
    test.addCleanup(stop, process)
    return process


def stop(process):
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)
    process.communicate()


def pids(program, job):
    """Process ids of the ranks of this job, by their numbers, in order."""
    found = {}
    for folder in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            if os.path.realpath(folder / "exe") != os.path.realpath(program):
                continue
            variables = (folder / "environ").read_bytes().split(b"\0")
        except OSError:
            continue
        table = dict(v.split(b"=", 1) for v in variables if b"=" in v)
        if table.get(JOB.encode(), b"").decode() != str(job):
            continue
        rank = table.get(b"OMPI_COMM_WORLD_RANK", table.get(b"PMI_RANK"))
        if rank is not None:
            found[int(rank)] = int(folder.name)
    return dict(sorted(found.items()))


def main(program):
    reason = missing(program)
    if reason:
        print(f"skipped: {reason}")
        sys.exit(77)
    unittest.main()
