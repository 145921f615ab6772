# SPDX-License-Identifier: BSD-3-Clause
"""Attacks on how the program is run: options, names of files, limits, full disks, signals."""
import os
import pathlib
import signal
import socket
import subprocess

import corpus
from case import Case
from corpus import COADD, FIBERMAP, FRAME, IMAGE, JOB, LIST, MODEL, NIGHT, OTHER, PSF, RESIDUAL, SUMMARY, TEMPLATE, TRUTH
from kinds import NIGHT_OUTPUTS

INPUTS = (IMAGE, PSF, FIBERMAP, FRAME, OTHER, MODEL, RESIDUAL, SUMMARY, TRUTH, LIST, JOB)
VALUES = ("", "0", "-1", "1", "2", "3", "5", "11", "999", "65536", "2147483648", "4294967296", "18446744073709551615",
          "18446744073709551616", "-9223372036854775808", "nan", "inf", "-inf", "1e-300", "1e-5", "0.5", "0.02", "1e9",
          "1e300", "1e999", "x", "1,2", "1,2,3", "5020,5060,0.8", "5020,5060,0", "5020,5060,1e-9", "5020,5060,0.05",
          "5020,5060,1000", "5060,5020,0.8", "4900,5200,0.8", "1e300,1e301,1e299", "nan,nan,nan", ",,", "0:5", "r0",
          "r0,r0", "b9,z9", "../..", "a\nb", "\udcff", "\u00e9", "x" * 5000, "%s%n", "1G", "0G", "-1G", "1e99G",
          "64M", "8E", "in", "out", "-", "--", "/dev/null")
PATIENCE_S = 6.0


def base_commands():
    """A quick, unharmed run of each command."""
    below = f"{NIGHT}/20261121/00000011"
    grid = ["-w", corpus.GRID, "--bundlesize", "5", "--threads", "1"]
    return {
        "extract": (corpus.extract(), (IMAGE, PSF)),
        "night": (corpus.night(), (NIGHT,)),
        "expose": (["expose", below, "-q", "-o", "out", *grid], (NIGHT,)),
        "redshift": (corpus.redshift(), (COADD, TEMPLATE)),
        "simulate": (["simulate", "-q", "-o", "out", "--nspec", "1", "--threads", "1"], (PSF,)),
        "compare": (["compare", FRAME, OTHER], (FRAME, OTHER)),
        "info": (["info", FRAME], (FRAME,)),
        "report": (["report", FRAME, "-o", "out/report.html"], (FRAME,)),
        "bench": (["bench", "gpu"], ()),
        "manual": (["manual"], ()),
        "completion": (["completion", "bash"], ()),
    }


def place_all(c, names):
    for name in names:
        if name == NIGHT:
            c.night_tree()
        else:
            c.place(name)


COMMANDS = ("extract",) * 6 + ("redshift", "redshift", "night", "night", "expose", "compare", "report", "info", "simulate", "bench",
                               "completion", "manual")


def options(c, rng, name):
    """One to three options with values at and beyond their limits."""
    command = rng.choice([n for n in COMMANDS if n in c.table])
    base, inputs = base_commands().get(command, ([command], ()))
    place_all(c, {*inputs, *(rng.sample(INPUTS, 2))})
    argv = list(base)
    for option in rng.sample(c.table[command], min(len(c.table[command]), rng.choice((1, 1, 2, 3)))):
        if not option.value:
            argv.append(option.name)
            continue
        value = rng.choice(VALUES)
        if option.words and rng.random() < 0.7:
            value = rng.choice(option.words)
        elif option.file and rng.random() < 0.5:
            value = rng.choice((*INPUTS, "in", "out", "out/made", "/dev/null", "/dev/full", "nowhere", "out/no/such"))
        if option.name in argv and rng.random() < 0.8:  # instead of the good one
            argv[argv.index(option.name) + 1] = value
        else:
            argv += rng.choice(([option.name, value], [f"{option.name}={value}"]))
    if rng.random() < 0.1:
        argv.append(rng.choice(VALUES))
    argv = [word.replace("\0", "") for word in argv]
    return Case(name, argv, " ".join(argv[1:])[:300], outputs=["out/*"], patience_s=PATIENCE_S, out_is_state=True)


def alias(c, rng, path):
    """Another name of the same file."""
    plain = c.folder / path
    kind = rng.choice(("plain", "dot", "up", "link", "hard", "folder", "absolute"))
    if kind == "link":
        (c.folder / "out/link").symlink_to(os.path.relpath(plain, c.folder / "out"))
        return "out/link"
    if kind == "hard" and plain.exists():
        os.link(plain, c.folder / "out/hard")
        return "out/hard"
    if kind == "folder":
        if not (c.folder / "out/way").exists():
            (c.folder / "out/way").symlink_to("../" + str(pathlib.PurePath(path).parent))
        return f"out/way/{plain.name}"
    return {"dot": "./" + path, "up": f"in/../{path}", "absolute": str(plain)}.get(kind, path)


def file_options(c, command):
    return [option for option in c.table[command] if option.file]


def over_input(c, rng, name):
    """An option that takes a file gets an input's: nothing may be written over it."""
    command = rng.choice([n for n in ("extract", "extract", "night", "expose", "report", "compare", "simulate")
                          if file_options(c, n)])
    base, inputs = base_commands()[command]
    place_all(c, inputs)
    files = [str(p.relative_to(c.folder)) for p in sorted((c.folder / "in").rglob("*")) if p.is_file()]
    option = rng.choice(file_options(c, command))
    victim = alias(c, rng, rng.choice(files))
    argv = list(base)
    short = {"--output": "-o", "--image": "-i", "--psf": "-p"}.get(option.name)
    if short in argv:
        argv[argv.index(short) + 1] = victim
    else:
        argv += [option.name, victim]
    return Case(name, argv, f"{option.name} {victim}", ["out/*"], out_is_state=True, patience_s=PATIENCE_S)


def one_name_twice(c, rng, name):
    """Two outputs of one name, or one over the other."""
    outputs = [n for n in ("extract", "extract", "extract", "night", "report") if len(c.writes.get(n, ())) > 1]
    command = rng.choice(outputs)
    base, inputs = base_commands()[command]
    place_all(c, inputs)
    first, second = rng.sample(c.writes[command], 2)
    if rng.random() < 0.3:
        c.put("out/same", b"old")
    argv = list(base)
    if "-o" in argv and command != "night":
        at = argv.index("-o")
        del argv[at:at + 2]
    aliases = rng.sample(("out/same", "./out/same", "out/../out/same", str(c.folder / "out/same")), 2)
    for option, path in zip((first, second), aliases):
        argv += [option, path]
    return Case(name, argv, f"{first} {aliases[0]} {second} {aliases[1]}", ["out/*"], out_is_state=True,
                codes=(2, 30, 32))


def make_special(kind, path):
    """Something at the path that is no plain file; what to call it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if kind == "fifo":
        os.mkfifo(path)
    elif kind == "socket":
        with socket.socket(socket.AF_UNIX) as made:
            here = os.getcwd()
            os.chdir(path.parent)  # names of sockets are short
            try:
                made.bind(path.name)
            finally:
                os.chdir(here)
    elif kind == "folder":
        path.mkdir()
    elif kind == "loop":
        path.symlink_to(path.name)
    elif kind == "dangling":
        path.symlink_to("nowhere")
    elif kind == "empty":
        path.write_bytes(b"")
    elif kind.startswith("/"):
        path.symlink_to(kind)


SPECIAL_INPUTS = ("fifo", "fifo", "socket", "folder", "loop", "dangling", "empty", "missing", "/dev/zero", "/dev/null",
                  "/dev/full", "/dev/random", "/proc/self/mem", "/proc/self/status", "/dev/tty", "/dev/stdin")


def special_input(c, rng, name):
    """An input that is no file."""
    harmed = rng.choice((IMAGE, PSF, FIBERMAP, FRAME, OTHER, SUMMARY, MODEL, TRUTH, LIST, JOB))
    place_all(c, [n for n in INPUTS if n != harmed])
    kind = rng.choice(SPECIAL_INPUTS)
    make_special(kind, c.folder / harmed)
    if harmed in (IMAGE, PSF, FIBERMAP):
        argv = rng.choice(([*corpus.extract(), "-f", FIBERMAP], ["info", harmed]))
    elif harmed in (LIST, JOB):
        argv = ["night", harmed, "-q", "-o", "out"]
    else:
        from kinds import reader_command
        argv, _ = reader_command(rng, harmed)
    return Case(name, argv, f"{harmed} is {kind}", ["out/*"], at_fault=[harmed], out_is_state=True)


NAMES = ("out/a\nb.fits", "out/a b.fits", "out/\udcff.fits", "out/\u00e9.fits", "out/" + "x" * 250 + ".fits",
         "out/" + "x" * 300, "out/-o.fits", "out/[1:2].fits", "out/a+b(c).fits", "out/!x.fits", "out/x.fits.gz",
         "out/%d%s.fits", "out/frame", "out/no/such/folder/x.fits", "out/" + "d/" * 3000 + "x", "")
SPECIAL_OUTPUTS = ("fifo", "socket", "folder", "loop", "dangling", "empty", "/dev/full", "/dev/null")


def special_output(c, rng, name):
    """An output with an odd name, or that is no file."""
    command = rng.choice([n for n in ("extract", "extract", "extract", "report", "night") if c.writes.get(n)])
    base, inputs = base_commands()[command]
    place_all(c, inputs)
    path = rng.choice(NAMES)
    note = "name"
    if rng.random() < 0.5:
        path, note = "out/made.fits", rng.choice(SPECIAL_OUTPUTS)
        make_special(note, c.folder / path)
    option = rng.choice(c.writes[command])
    argv = list(base)
    if option == "--output" and "-o" in argv:
        argv[argv.index("-o") + 1] = path
    else:
        argv += [option, path]
    return Case(name, argv, f"{option} {path[:60]!r} ({note})", ["out/*"], out_is_state=True)


def worker_command(c, rng):
    """A command that does some work and writes."""
    command = rng.choice(("extract", "extract", "extract", "night", "report", "compare", "info", "expose"))
    base, inputs = base_commands()[command]
    place_all(c, inputs)
    argv = list(base)
    if command == "extract":
        argv += rng.choice(([], [], ["-m", "out/model.fits"], ["--json", "out/s.json"], ["--trace", "out/t.json"],
                            ["--method", "patch"]))
        if rng.random() < 0.2:
            argv[argv.index("out/frame.fits")] = "out/frame.fits.gz"
    if "--threads" in argv and rng.random() < 0.5:
        argv[argv.index("--threads") + 1] = rng.choice("234")
    made = {"extract": ["out/frame.fits*", "out/model.fits", "out/s.json", "out/t.json"],
            "report": ["out/report.html"]}.get(command, NIGHT_OUTPUTS)
    return argv, made


def limits(c, rng, name):
    """Too little memory, too few files, too short files. Not so little that the loader cannot open one library, or that
    a thread has less than 1 MB of stack: there the system ends a program, whatever it does."""
    argv, made = worker_command(c, rng)
    memory = ("AS", "AS", "AS", "STACK") if c.least_memory else ()
    kind = rng.choice((*memory, "FSIZE", "FSIZE", "NOFILE"))
    value = {"AS": int(c.least_memory * 2 ** rng.uniform(0, 4)), "FSIZE": int(2 ** rng.uniform(0, 18)),
             "NOFILE": rng.randrange(4, 24), "STACK": rng.randrange(1024, 8192) << 10}[kind]
    return Case(name, argv, f"{kind} {value}", made, limits={kind: value}, out_is_state=argv[0] in ("night", "expose"))


PRINTERS = ("info", "compare", "manual", "completion", "report", "json", "dry-run", "help", "version")


def printing_command(c, rng):
    kind = rng.choice(PRINTERS)
    c.place(IMAGE, PSF, FRAME, OTHER)
    c.night_tree()
    return {"info": ["info", FRAME], "compare": ["compare", FRAME, FRAME], "manual": ["manual"],
            "completion": ["completion", rng.choice(("bash", "zsh", "fish"))], "report": ["report", FRAME, "-o", "-"],
            "json": [*corpus.extract(), "--json", "-"], "dry-run": [*corpus.night(), "--dry-run"], "help": ["--help"],
            "version": ["--version"]}[kind]


def full_stdout(c, rng, name):
    """What is said cannot be written: that is a failure, and no half of it is a success."""
    return Case(name, printing_command(c, rng), "> /dev/full", ["out/frame.fits", *NIGHT_OUTPUTS], stdout="/dev/full",
                codes=(30, 31), out_is_state=True)


def closed_stdout(c, rng, name):
    """Who listens has gone."""
    return Case(name, printing_command(c, rng), "| true", ["out/frame.fits", *NIGHT_OUTPUTS], stdout="closed",
                out_is_state=True)


def small_disk(c, rng, name):
    """The folder of the outputs is a disk that fills."""
    argv, made = worker_command(c, rng)
    size = int(2 ** rng.uniform(12, 18.5))
    c.small_disk(size)
    return Case(name, argv, f"a disk of {size} bytes", made, out_is_state=argv[0] in ("night", "expose"))


def signals(c, rng, name):
    """Ended at any moment: nothing is left, and the same command does the work."""
    argv, made = worker_command(c, rng)
    number = rng.choice((signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGKILL, signal.SIGKILL))
    delay = rng.uniform(0.0, 1.2) * c.usual_s.get(argv[0], 0.1)
    again, same = [], ""
    if number == signal.SIGKILL and argv[0] != "compare":
        again = argv
        same = FRAME if argv[0] == "extract" and "patch" not in argv and "out/frame.fits" in argv else ""
    return Case(name, argv, f"{number.name} after {delay:.3f} s", made, signal=(int(number), delay), again=again,
                same_as=same, out_is_state=True)


VARIABLES = ("FIBERLOOM_ISA", "FIBERLOOM_RANKS", "SLURM_CPUS_PER_TASK", "SLURM_NTASKS", "SLURM_PROCID", "SLURM_LOCALID",
             "SLURM_STEP_ID", "SLURM_JOB_ID", "SLURM_NTASKS_PER_NODE", "SLURM_TASKS_PER_NODE", "OMPI_COMM_WORLD_SIZE",
             "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_LOCAL_SIZE", "PMI_SIZE", "PMI_RANK", "PMIX_RANK", "MPI_LOCALNRANKS",
             "OMP_NUM_THREADS", "HOME", "TMPDIR", "LANG", "LC_ALL", "LC_NUMERIC", "TZ", "COLUMNS", "TERM", "PATH",
             "LD_LIBRARY_PATH")


def environment(c, rng, name):
    """Variables that the program, or a library below it, may read."""
    argv, made = worker_command(c, rng)
    env = {rng.choice(VARIABLES): rng.choice([v for v in VALUES if "\0" not in v and "G" not in v])
           for _ in range(rng.choice((1, 1, 2, 3)))}
    return Case(name, argv, str(env)[:300], [*made, "out/*"], env=env, out_is_state=True, patience_s=PATIENCE_S)


def find_writers(c):
    """command -> options that write a file, found by trying."""
    writes = {}
    for command, (base, inputs) in base_commands().items():
        if command not in c.table or command in ("simulate", "bench"):
            continue
        for option in c.table[command]:
            if not option.value or option.words:
                continue
            c.clear()
            place_all(c, inputs)
            argv = [word for word in base]
            if option.name == "--output" and "-o" in argv:
                argv[argv.index("-o") + 1] = "out/probe"
            else:
                argv += [option.name, "out/probe"]
            done = subprocess.run([c.program, *argv], cwd=c.folder, capture_output=True, stdin=subprocess.DEVNULL,
                                  timeout=60, check=False)
            if done.returncode in (0, 1) and (c.folder / "out/probe").is_file():
                writes.setdefault(command, []).append(option.name)
    return writes
