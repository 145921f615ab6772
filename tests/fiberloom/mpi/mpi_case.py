# SPDX-License-Identifier: BSD-3-Clause
"""What the tests over several ranks share: the launchers that are here, and a night run by one of them."""
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "night"))
import night_case  # noqa: E402

# Five parts a frame instead of two.
night_case.OPTIONS = ["-w", night_case.GRID, "--bundlesize", "2"]
PROGRAM = night_case.PROGRAM
BIN = pathlib.Path(PROGRAM).parent
VENDOR = os.environ.get("FIBERLOOM_MPI_VENDOR", "")
CUT = ["--part-overhead", "0"]  # small frames are cut too


def launcher(ranks):
    if VENDOR == "openmpi":
        root = ["--allow-run-as-root"] if os.geteuid() == 0 else []
        return ["mpirun.openmpi", *root, "--oversubscribe", "--bind-to", "none", "-n", str(ranks)]
    return ["mpirun.mpich", "-n", str(ranks)]


def missing():
    if not (BIN / f"fiberloom_mpi_{VENDOR}.so").exists():
        return f"no module for {VENDOR} was built"
    if shutil.which(launcher(1)[0]) is None:
        return f"no {launcher(1)[0]} here"
    return None


# An inherited launcher's variables would make each process a rank of the outer job.
CLEAN = {k: v for k, v in os.environ.items() if not k.startswith(("OMPI_", "PMI_", "PMIX_", "SLURM_"))}


class MpiCase(night_case.Case):
    def on_ranks(self, ranks, *more, out=None, command="night"):
        arguments = [*launcher(ranks), PROGRAM, command, self.tree.root, "-o", out or self.out,
                     *night_case.OPTIONS, *more]
        # Two launchers of Open MPI that start at once quarrel about the folder that they share by default.
        session = tempfile.TemporaryDirectory(prefix="ompi-")
        self.addCleanup(session.cleanup)
        process = subprocess.Popen([str(a) for a in arguments], stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True, start_new_session=True,
                                   env={**CLEAN, "FIBERLOOM_TEST_JOB": str(self.work),
                                        "OMPI_MCA_orte_tmpdir_base": session.name})
        self.addCleanup(self.stop, process)
        return process

    @staticmethod
    def stop(process):
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()

    def run_ranks(self, ranks, *more, out=None, code=0, timeout=100, command="night"):
        process = self.on_ranks(ranks, *more, out=out, command=command)
        output, errors = night_case.finish(process, timeout)
        if code is not None:
            self.assertEqual(process.returncode, code, output + errors)
        return errors

    def rank_pids(self):
        """Process ids of the ranks of this test's job, in the order of their numbers."""
        found = {}
        for folder in pathlib.Path("/proc").glob("[0-9]*"):
            try:
                if os.path.realpath(folder / "exe") != os.path.realpath(PROGRAM):
                    continue
                variables = (folder / "environ").read_bytes().split(b"\0")
            except OSError:
                continue
            table = dict(v.split(b"=", 1) for v in variables if b"=" in v)
            if table.get(b"FIBERLOOM_TEST_JOB", b"").decode() != str(self.work):
                continue
            rank = table.get(b"OMPI_COMM_WORLD_RANK", table.get(b"PMI_RANK"))
            if rank is not None:
                found[int(rank)] = int(folder.name)
        return [found[r] for r in sorted(found)]


def main():
    reason = missing()
    if reason:
        print(f"skipped: {reason}")
        sys.exit(77)
    unittest.main()
