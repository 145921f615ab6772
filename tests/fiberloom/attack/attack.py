# SPDX-License-Identifier: BSD-3-Clause
"""Repeats attacks on the program: thousands of random cases from a seed, each checked (see checks.py).

A case has a name, KIND:SEED:NUMBER, which makes the same files and the same command again. What fails is kept in
OUT/failed/NAME: the files, the command, what was wrong.
"""
import argparse
import collections
import contextlib
import ctypes
import json
import multiprocessing
import os
import pathlib
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
import traceback

import case
import checks
import kinds
import kinds_catalogue
import kinds_run
import option_table
from corpus import Corpus
from runner import Result, Runner

ROOT = pathlib.Path(__file__).resolve().parents[3]
# kind: (what makes a case, how often in a round)
KINDS = {
    "bytes-image": (kinds.bytes_image, 6), "bytes-gz": (kinds.bytes_gz, 4), "bytes-fz": (kinds.bytes_fz, 6),
    "bytes-psf": (kinds.bytes_psf, 6), "bytes-fibermap": (kinds.bytes_fibermap, 3),
    "bytes-frame": (kinds.bytes_frame, 5), "value-image": (kinds.value_image, 6), "pixels": (kinds.pixels, 6),
    "value-psf": (kinds.value_psf, 6), "value-fibermap": (kinds.value_fibermap, 1),
    "value-frame": (kinds.value_frame, 5),
    "card-image": (kinds.card_image, 6), "card-psf": (kinds.card_psf, 6), "card-fibermap": (kinds.card_fibermap, 2),
    "card-frame": (kinds.card_frame, 4), "info": (kinds.info_inputs, 3), "summary": (kinds.text_summary, 3),
    "job": (kinds.text_job, 4),
    "bytes-redshift": (kinds.bytes_redshift, 4), "value-redshift": (kinds.value_redshift, 5),
    "card-redshift": (kinds.card_redshift, 4), "bytes-page": (kinds.bytes_page, 4), "value-page": (kinds.value_page, 3), "card-page": (kinds.card_page, 3),
    "bytes-load": (kinds_catalogue.bytes_load, 2), "value-load": (kinds_catalogue.value_load, 2), "card-load": (kinds_catalogue.card_load, 2),
    "harmed-catalogue": (kinds_catalogue.harmed_catalogue, 3), "questions": (kinds_catalogue.questions, 4),
    "night-input": (kinds.night_input, 3), "night-state": (kinds.night_state, 4),
    "options": (kinds_run.options, 12), "over-input": (kinds_run.over_input, 5),
    "one-name-twice": (kinds_run.one_name_twice, 2), "special-input": (kinds_run.special_input, 4),
    "special-output": (kinds_run.special_output, 3), "limits": (kinds_run.limits, 6), "disk": (kinds_run.small_disk, 3),
    "full-stdout": (kinds_run.full_stdout, 2), "closed-stdout": (kinds_run.closed_stdout, 1),
    "signals": (kinds_run.signals, 6), "environment": (kinds_run.environment, 3),
}


def names(seed, count, only):
    """Kinds take turns, each as often as it says, spread over the round."""
    chosen = [kind for kind in KINDS if not only or any(kind.startswith(o) for o in only)]
    if not chosen:
        sys.exit(f"attack: no such kind; there are {', '.join(KINDS)}")
    most = max(KINDS[kind][1] for kind in chosen)
    round_ = [kind for turn in range(most) for kind in chosen if turn < KINDS[kind][1]]
    return [f"{round_[i % len(round_)]}:{seed}:{i}" for i in range(count)]


def least_memory(program):
    """The smallest address space with which the program starts at all; 0: a sanitizer's wants more than there is."""
    for megabytes in range(8, 2048, 4):
        done = subprocess.run(["prlimit", f"--as={megabytes << 20}", program, "--version"], capture_output=True,
                              check=False)
        if done.returncode == 0:
            return megabytes << 20
    return 0


class Arena(Corpus):
    """A worker's corpus, and what it knows of the program and of the machine."""

    def __init__(self, program, folder, shared):
        super().__init__(program, folder / "case", folder / "keep")
        self.table, self.writes, self.least_memory = shared["table"], shared["writes"], shared["least_memory"]
        self.usual_s, self.disk = shared["usual_s"], folder / "disk"
        self.may_mount = shared["may_mount"]

    def small_disk(self, size):
        self.disk.mkdir(exist_ok=True)
        subprocess.run(["umount", self.disk], capture_output=True, check=False)
        subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "none", self.disk], check=True)
        (self.folder / "out").rmdir()
        (self.folder / "out").symlink_to(self.disk)


@contextlib.contextmanager
def own_folder():
    """A temporary folder; disks that were mounted in it are taken away first."""
    with tempfile.TemporaryDirectory(prefix="fiberloom-attack-") as folder:
        try:
            yield pathlib.Path(folder)
        finally:
            for disk in pathlib.Path(folder).glob("*/disk"):
                subprocess.run(["umount", "-l", disk], capture_output=True, check=False)


def private_mounts():
    """Mounts of ours, gone with this process; False where that may not be."""
    if os.geteuid() != 0:
        return False
    clone_newns = 0x00020000
    if ctypes.CDLL(None, use_errno=True).unshare(clone_newns) != 0:
        return False
    return subprocess.run(["mount", "--make-rprivate", "/"], capture_output=True, check=False).returncode == 0


def learn(program, folder):
    """What all workers share, found by running the program."""
    shared = {"table": option_table.read_table(program), "writes": {}, "least_memory": least_memory(program),
              "usual_s": {}, "may_mount": private_mounts()}
    probe = Arena(program, folder / "probe", shared)
    shared["writes"] = kinds_run.find_writers(probe)
    for command, (argv, inputs) in kinds_run.base_commands().items():
        if command in ("simulate", "bench"):
            continue
        probe.clear()
        kinds_run.place_all(probe, inputs)
        begin = time.monotonic()
        subprocess.run([program, *argv], cwd=probe.folder, capture_output=True, check=False)
        shared["usual_s"][command] = time.monotonic() - begin
    return shared


WORKER = {}


def begin_worker(program, folder, shared, keep):
    place = folder / f"worker-{os.getpid()}"
    arena = Arena(program, place, shared)
    WORKER.update(arena=arena, runner=Runner(program, arena, checks.documented_codes(ROOT)), keep=keep)


def run_case(name):
    arena, runner = WORKER["arena"], WORKER["runner"]
    arena.clear()
    kind = case.split_name(name)[0]
    try:
        made = KINDS[kind][0](arena, case.rng_of(name), name)
        result = runner.run(made, kind)
    except Exception:  # the attack's own fault; it counts, and the others go on
        return Result(name, kind, faults=["the attack itself: " + traceback.format_exc(limit=-3).replace("\n", " | ")])
    if result.faults and WORKER["keep"]:
        keep_case(made, result, arena, WORKER["keep"])
    return result


def keep_case(made, result, arena, keep):
    """The files as they are now, what was run, what was wrong."""
    folder = keep / "failed" / made.name.replace(":", "-")
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    subprocess.run(["cp", "-a", arena.folder, folder / "files"], capture_output=True, check=False)
    text = shlex.join([*(f"{key}={value}" for key, value in made.env.items()), arena.program, *made.argv])
    told = {"name": made.name, "note": made.note, "command": text, "limits": made.limits, "stdout": made.stdout,
            "signal": made.signal, "exit_code": result.code, "seconds": round(result.seconds, 3),
            "faults": result.faults, "stderr": result.errors[:4000]}
    (folder / "case.json").write_text(json.dumps(told, indent=1) + "\n", encoding="utf-8", errors="replace")


def replay(name, times):
    """One case again, with everything said; how often it was wrong."""
    wrong = 0
    for _ in range(times):
        result = run_case(name)
        wrong += bool(result.faults)
        arena = WORKER["arena"]
        arena.clear()
        again = KINDS[result.kind][0](arena, case.rng_of(name), name)
        print(f"{name}: {again.note}\n  {shlex.join(['fiberloom', *again.argv])}\n  exit code {result.code}, "
              f"{result.seconds:.2f} s\n  {result.errors.strip()[:2000]}")
        print("\n".join(f"  FAULT: {fault}" for fault in result.faults) or "  no fault")
    return wrong


def table(results):
    rows = collections.defaultdict(lambda: [0, 0, 0, 0.0, 0.0])
    for result in results:
        row = rows[result.kind]
        row[0] += not result.faults
        row[1] += bool(result.faults)
        row[2] += result.stopped
        row[3] += result.seconds
        row[4] = max(row[4], result.seconds)
    lines = [f"{'kind':<16} {'passed':>7} {'failed':>7} {'stopped':>8} {'seconds':>8} {'longest':>8}"]
    for kind, row in rows.items():
        lines.append(f"{kind:<16} {row[0]:>7} {row[1]:>7} {row[2]:>8} {row[3]:>8.1f} {row[4]:>8.2f}")
    return "\n".join(lines)


def attack(options, program, folder, keep, shared):
    """All cases, as far as the time goes."""
    wanted = names(options.seed, options.cases, options.only)
    if not shared["may_mount"]:
        wanted = [name for name in wanted if not name.startswith("disk:")]
    results, deadline = [], time.monotonic() + options.seconds
    with multiprocessing.Pool(options.jobs, begin_worker, (program, folder, shared, keep)) as pool:
        for result in pool.imap_unordered(run_case, wanted, chunksize=4):
            results.append(result)
            if result.faults and len([r for r in results if r.faults]) <= options.show:
                print(f"FAILED {result.name}: {'; '.join(result.faults)}", flush=True)
            if time.monotonic() > deadline:
                print(f"attack: {options.seconds} s are over: {len(results)} of {len(wanted)} cases")
                pool.terminate()
                break
    return results


def main():
    parser = argparse.ArgumentParser(prog="scripts/attack", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    built = str(ROOT / "build/release/bin/fiberloom")
    parser.add_argument("--program", default=os.environ.get("FIBERLOOM_PROGRAM", built))
    parser.add_argument("--cases", type=int, default=10000)
    parser.add_argument("--seconds", type=float, default=1800, help="no new case after so long")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--only", action="append", default=[], metavar="KIND",
                        help="kinds that begin so; may be repeated")
    parser.add_argument("--hang", type=float, default=case.QUIET_LIMIT_S, help="seconds after which a run hangs")
    parser.add_argument("--show", type=int, default=100, help="how many failures to print")
    parser.add_argument("--replay", metavar="CASE", help="one case, KIND:SEED:NUMBER or the folder where it was kept")
    parser.add_argument("--times", type=int, default=1, help="how often to replay; signals need it")
    parser.add_argument("--out", type=pathlib.Path, default=ROOT / "build/attack")
    options = parser.parse_args()
    case.QUIET_LIMIT_S = options.hang
    program = pathlib.Path(options.program).resolve()
    if not os.access(program, os.X_OK):
        sys.exit(f"attack: {program}: no program; build it or name it with --program")
    keep = options.out.resolve()
    with own_folder() as folder:
        program = str(shutil.copy2(program, folder / "fiberloom"))  # what is built anew meanwhile is another
        shared = learn(program, folder)
        if options.replay:
            kept = pathlib.Path(options.replay)
            name = json.loads((kept / "case.json").read_text())["name"] if kept.is_dir() else options.replay
            begin_worker(program, folder, shared, None)
            return 1 if replay(name, options.times) else 0
        shutil.rmtree(keep / "failed", ignore_errors=True)
        begin = time.monotonic()
        results = attack(options, program, folder, keep, shared)
    failed = sum(bool(result.faults) for result in results)
    print(table(results))
    print(f"{time.monotonic() - begin:.0f} s, seed {options.seed}" + (f", kept in {keep}/failed" if failed else ""))
    print(f"{len(results) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
