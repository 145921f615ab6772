# SPDX-License-Identifier: BSD-3-Clause
"""Runs one case in a folder of its own, with its limits, and says what was wrong."""
import dataclasses
import os
import pathlib
import resource
import signal
import subprocess
import time

import case as bounds
import checks
import tiny_fits as fits

MEMORY_LIMIT = 3 << 30  # no case needs it; a machine that others use stays usable


@dataclasses.dataclass
class Result:
    name: str
    kind: str
    code: int = 0
    seconds: float = 0.0
    errors: str = ""
    stopped: bool = False  # it was long, and SIGTERM ended it
    faults: list = dataclasses.field(default_factory=list)


def prepare(limits, memory):
    """In the child: its limits. A core file of each fault would fill the disk."""
    wanted = {**({"AS": memory} if memory else {}), "CORE": 0, **limits}

    def apply():
        for name, value in wanted.items():
            resource.setrlimit(getattr(resource, f"RLIMIT_{name}"), (value, value))
    return apply


def environment(case, folder):
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("SLURM_", "OMPI_", "PMI", "FIBERLOOM_"))}
    return {**kept, "TMPDIR": str(folder / "tmp"), **case.env}


def activity(pid):
    """(does a thread want to run, CPU seconds so far)"""
    wants, ticks = False, 0
    for task in pathlib.Path(f"/proc/{pid}/task").glob("*/stat"):
        try:
            fields = task.read_text().rsplit(")", 1)[1].split()
        except OSError:
            continue
        wants = wants or fields[0] == "R"
        ticks += int(fields[11]) + int(fields[12])
    return wants, ticks / os.sysconf("SC_CLK_TCK")


def own_time(process, seconds):
    """Standard error when it ended within so many seconds of its own; else None. Seconds in which it wants to run
    and others hold the processor are not its own."""
    spent, cpu = 0.0, 0.0
    while spent < seconds:
        begin = time.monotonic()
        try:
            return process.communicate(timeout=min(0.25, seconds))[1]
        except subprocess.TimeoutExpired:
            wants, total = activity(process.pid)
            waited, used = time.monotonic() - begin, total - cpu
            cpu = total
            spent += min(waited, used) if wants else waited
    return None


def open_stdout(case, folder):
    if case.stdout == "closed":
        reader, writer = os.pipe()
        os.close(reader)
        return writer
    return os.open(folder / case.stdout, os.O_WRONLY | os.O_CREAT) if case.stdout else subprocess.DEVNULL


class Runner:
    """One worker's: the program, its corpus, the codes that are documented."""

    def __init__(self, program, corpus, codes):
        self.program, self.corpus, self.codes = program, corpus, codes
        self.folder = corpus.folder
        path = corpus.keep / "unharmed.fits"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(corpus.files["in/frame-r0-00000011.fits"])
        self.unharmed = fits.by_name(path)

    def start(self, case, argv, stdout):
        limits = prepare(case.limits, MEMORY_LIMIT if self.corpus.least_memory else 0)
        return subprocess.Popen([self.program, *argv], cwd=self.folder, stdin=subprocess.DEVNULL, stdout=stdout,
                                stderr=subprocess.PIPE, preexec_fn=limits, env=environment(case, self.folder))

    def wait(self, case, process, sent):
        """(stderr, stopped, faults); nothing is left running."""
        if case.signal:
            number, delay = case.signal
            try:
                process.wait(delay)
            except subprocess.TimeoutExpired:
                process.send_signal(number)
                sent.add(number)
        limits = [(case.patience_s, signal.SIGTERM)] if case.patience_s else []
        for seconds, number in [*limits, (bounds.STOP_LIMIT_S if limits else bounds.QUIET_LIMIT_S, None)]:
            errors = own_time(process, seconds)
            if errors is not None:
                return errors, bool(limits and number is None), []
            if number is not None:
                process.send_signal(number)
                sent.add(number)
        process.kill()
        _, errors = process.communicate()
        told = f"SIGTERM after {case.patience_s} s did not end it in {bounds.STOP_LIMIT_S} s" if limits else \
            f"hangs: not ended after {bounds.QUIET_LIMIT_S} s"
        return errors, False, [told]

    def run(self, case, kind):
        (self.folder / "tmp").mkdir(exist_ok=True)
        before = checks.fingerprints(self.folder / "in"), checks.fingerprints(self.folder / "out")
        result, sent, begin = Result(case.name, kind), set(), time.monotonic()
        stdout = open_stdout(case, self.folder)
        process = self.start(case, case.argv, stdout)
        if stdout >= 0:
            os.close(stdout)
        errors, result.stopped, hung = self.wait(case, process, sent)
        result.seconds, result.code = time.monotonic() - begin, process.returncode
        result.errors = errors.decode("utf-8", "replace")
        if hung:
            result.faults = hung
        else:
            result.faults = checks.exit_faults(case, result.code, sent, self.codes)
            if "stderr" not in case.stdout and result.code >= 0:
                result.faults += checks.line_faults(case, result.code, result.errors)
        result.faults += self.second_run(case)
        result.faults += self.after(case, result, before)
        return result

    def after(self, case, result, before):
        """The folder, when all is over."""
        try:
            faults = checks.output_faults(case, self.folder, result.code, before[1], result.errors)
            if not case.again:
                faults += checks.untouched_faults(case, self.folder, self.unharmed)
        except Exception as error:  # a check that cannot read what it finds tells of it
            faults = [f"cannot be checked: {type(error).__name__}: {error}"]
        faults += checks.input_faults(before[0], checks.fingerprints(self.folder / "in"), case.argv)
        words = checks.named(case.argv)
        for place in (self.folder, self.folder / "tmp"):
            known = {"in", "out", "tmp"} | words if place == self.folder else set()
            faults += [f"{path.name}: nobody asked for it" for path in place.iterdir() if path.name not in known]
        return faults

    def second_run(self, case):
        """After a kill: the same command succeeds, and cleans up."""
        if not case.again:
            return []
        done = subprocess.run([self.program, *case.again], cwd=self.folder, stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, timeout=60, check=False)
        if done.returncode != 0:
            return [f"the same command afterwards: exit code {done.returncode}: {done.stderr.strip()[:200]}"]
        if case.same_as:
            path = self.folder / "out/frame.fits"
            if path.read_bytes() != self.corpus.files[case.same_as]:
                return ["the frame that a second run makes has other bytes"]
        return []


def kept_folder(keep, name):
    return pathlib.Path(keep) / "failed" / name.replace(":", "-")
